"""The page of judgements: files, escaped texts, the order of its parts."""

from __future__ import annotations

from pathlib import Path

import pytest
from visitors import CALLER


def test_texts_are_escaped_and_files_within_limits(tmp_path: Path) -> None:
    pytest.importorskip("gradio")
    from mauve_metric.hosts.space.limits import Limits
    from mauve_metric.hosts.space.session.judgings import Round
    from mauve_metric.hosts.space.view.judging import judged_sets, round_shown
    from mauve_metric.hosts.space.view.markup import render

    bad = "<img src=x onerror=1>"
    this = Round("m 1", "m", ("Fine.", bad, bad), 3)
    assert bad not in round_shown(this, 2) + round_shown(this, 3, True) + render("two_texts", texts=(bad, bad))
    assert round_shown(this, 1).count("<li>") == 1 and "Model:" not in round_shown(this, 3)
    assert round_shown(this, 3, True).count("Model:") == 1

    def write(name: str) -> str:
        path = tmp_path / name
        path.write_text("One. Two.\n" * 3, encoding="utf-8")
        return str(path)

    human, models = judged_sets(write("h.txt"), [write("human.txt"), write("m.txt")], Limits())
    assert (len(human.texts), list(models)) == (3, ["human 1", "m"])
    for names, limits, message in (
        ([], Limits(), "“Models' texts: a file each” is empty: choose a file there too"),
        (["m.txt"], Limits(texts=2), "at most 2 texts are taken here"),
        (["m.txt", "n.txt"], Limits(model_sets=1), "at most 1 files of models' texts"),
        (["m.txt"], Limits(total_texts=5), "at most 5 texts here, got 6"),
    ):
        with pytest.raises(ValueError, match=message):
            judged_sets(write("h.txt"), [write(name) for name in names], limits)
    for folder in "xy":
        (tmp_path / folder).mkdir()
    _, models = judged_sets(write("h.txt"), [write("m 3.txt"), write("x/m.txt"), write("y/m.txt")], Limits())
    assert len(models) == 3 and {"m 3", "m"} < {*models}
    human, models = judged_sets(None, None, Limits())
    assert len(human.texts) == 600 and len(models) == 1


def test_a_refused_start_leaves_the_files_for_the_next_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gradio = pytest.importorskip("gradio")
    from mauve_metric.hosts.space.limits import Limits
    from mauve_metric.hosts.space.session.sessions import Sessions
    from mauve_metric.hosts.space.view.judging import JudgingPage

    monkeypatch.setenv("GRADIO_TEMP_DIR", str(tmp_path))
    with gradio.Blocks() as blocks:
        page = JudgingPage(blocks, Sessions(1), Limits())
    files = [tmp_path / name / f"{name}.txt" for name in "hbm"]  # as gradio stores uploads
    for file, text in zip(files, ("One. Two. Three.\n" * 30, "", "Four. Five. Six.\n" * 30), strict=True):
        file.parent.mkdir()
        file.write_text(text, encoding="utf-8")
    human, bad, model = map(str, files)
    for models in ([], [bad]):
        with pytest.raises(gradio.Error):
            page._begin({}, "ann", human, models, CALLER)
    assert page._begin({}, "ann", human, [model], CALLER)[page.models] is None
    assert [file.exists() for file in files] == [False, True, False]


def test_the_reason_stands_between_the_text_and_the_buttons_and_start_shows_the_text() -> None:
    gradio = pytest.importorskip("gradio")
    from mauve_metric.hosts.space.limits import Limits
    from mauve_metric.hosts.space.session.sessions import Sessions
    from mauve_metric.hosts.space.view.judging import JudgingPage

    with gradio.Blocks() as page:
        JudgingPage(page, Sessions(1), Limits())
    tree = str(page.get_config_file()["layout"])
    numbers = {block.elem_id: number for number, block in page.blocks.items() if block.elem_id}
    order = [tree.index(f"'id': {numbers[name]}") for name in ("boundary_shown", "reason", "machine")]
    assert order == sorted(order)
    assert any("scrollIntoView" in str(event["js"]) for event in page.get_config_file()["dependencies"])
