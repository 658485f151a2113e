"""The pieces that the experiments share, and one of them from its arguments to its page, on texts made here."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import numpy as np
import pytest
from samples import ROOT, ngrams, texts_of, write_jsonl

sys.path.append(str(ROOT / "experiments"))

import altair as alt
import common
import torch

from mauve_metric import FeatureSet


def chart() -> alt.Chart:
    data = alt.InlineData(values=[{"a": 1, "b": 2, "model": "x"}])
    drawn = alt.Chart(data).mark_point().encode(x=alt.X("a:Q", axis=alt.Axis(**common.AXIS)), y="b:Q")
    return drawn.encode(**common.marks_of(["x"])).properties(description="one point")


COLUMNS = (common.Column("a", "A"), common.Column("b", "B", ".2f"))


def saved(folder: Path, rows: list[common.TableRow]) -> str:
    path = common.save("t", "A title", COLUMNS, rows, chart(), seconds=3, notes=["A note."], out=folder)
    return path.read_text(encoding="utf-8")


def test_a_page_has_command_table_and_figure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", [str(ROOT / "experiments" / "t.py"), "--seed", "7"])
    page = saved(tmp_path / "new", [{"a": "x", "b": 2.0}, {"a": "y"}])
    assert page.startswith("# A title\n\n    python experiments/t.py --seed 7\n\n3 s on ")
    assert "\nA note.\n\n| A | B |\n|---|---:|\n| x | 2.00 |\n| y | – |\n\n![one point](t.svg)\n" in page
    assert (tmp_path / "new" / "t.csv").read_text(encoding="utf-8") == "a,b\nx,2.0\ny,\n"


def test_what_a_person_wrote_stays_and_the_table_is_new(tmp_path: Path) -> None:
    saved(tmp_path, [{"a": "old", "b": 1.0}])
    with (tmp_path / "t.md").open("a", encoding="utf-8") as file:
        file.write(f"\n{common.BY_HAND}\n\nBy hand.\n")
    page = saved(tmp_path, [{"a": "new", "b": 1.0}])
    assert "| new |" in page and "| old |" not in page
    assert page.endswith(f"\n\n{common.BY_HAND}\n\nBy hand.\n") and page.count(common.BY_HAND) == 1


def test_a_figure_has_no_background_and_greys_for_both_pages(tmp_path: Path) -> None:
    saved(tmp_path, [{"a": "x"}])
    svg = (tmp_path / "t.svg").read_text(encoding="utf-8")
    assert 'fill="white"' not in svg and 'fill="black"' not in svg
    assert {found.lower() for found in re.findall(r'<text[^>]* fill="([^"]+)"', svg)} == {common.INK.lower()}


def test_a_table_without_rows_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="at least one row, got none"):
        saved(tmp_path, [])


def test_example_texts() -> None:
    assert len(common.example_texts("nucleus")) == 600
    with pytest.raises(ValueError, match=r"greedy, human, .*got 'novels'"):
        common.example_texts("novels")


# --- models ---------------------------------------------------------------------------------------------------------


def test_adversarial_text_is_as_probable_as_was_asked_for(tiny_gpt2: str) -> None:
    """By one pass over each whole text alone, without filling: the loop's masks and places are right then."""
    from decoding import RANDOM_SHARE, adversarial
    from transformers import AutoModelForCausalLM

    model = AutoModelForCausalLM.from_pretrained(tiny_gpt2).eval()
    torch.manual_seed(0)
    rows, count, end = [[5, 6, 7], [8], [9, 5]], 20, 0
    target = -float(np.log(model.config.vocab_size)) - 0.3
    written = adversarial(model, rows, count, target, end)
    for start, new in zip(rows, written, strict=True):
        assert len(new) == count and end not in new
        with torch.no_grad():
            logs = model(torch.tensor([start + new])).logits[0].log_softmax(-1)
        each = logs[len(start) - 1 : -1].gather(1, torch.tensor(new)[:, None])[:, 0]
        # a step moves the mean by at most its token's distance from the target, over all steps: the last one lands
        # within half of the spacing of log-probabilities, here far below a hundredth
        assert float(each.mean()) == pytest.approx(target, abs=0.01)
        first = round(RANDOM_SHARE * count)
        assert abs(float(each[:first].mean()) - target) > 0.01  # drawn at random, not matched


def test_prompts_stand_behind_the_token_between_texts(tiny_gpt2: str) -> None:
    from models import prompts_of
    from transformers import AutoModelForCausalLM, AutoTokenizer

    model, tokenizer = AutoModelForCausalLM.from_pretrained(tiny_gpt2), AutoTokenizer.from_pretrained(tiny_gpt2)
    text = "one two three four five"
    (prompt,) = prompts_of(model, tokenizer, [text], 2)
    ids = tokenizer(text, add_special_tokens=False)["input_ids"]
    assert prompt.text == "one two" and prompt.ids[0] == tokenizer.eos_token_id  # it has no other
    assert len(prompt.ids) - 1 + prompt.new_tokens == len(ids)


def options_of(folder: Path, *more: str) -> list[str]:
    return ["--folder", str(folder), "--texts", "40", "--words", "12", "--models", "1x8", *more]


def test_what_a_workshop_refuses(tmp_path: Path) -> None:
    from models import Workshop, add_arguments, train

    def workshop(*arguments: str) -> Workshop:
        parser = common.argument_parser("A script.")
        add_arguments(parser)
        return Workshop(parser.parse_args(arguments))

    with pytest.raises(ValueError, match="--texts must be between 2 and 600, got 601"):
        workshop("--texts", "601")
    with pytest.raises(ValueError, match="--prompt-words must be from 1 to below --words=70, got 70"):
        workshop("--prompt-words", "70")
    human = str(write_jsonl(tmp_path / "human.jsonl", texts_of(20, 0)))
    with pytest.raises(ValueError, match=r"--models must name ready models where --human is given, .* got 2x128"):
        workshop("--human", human)
    with pytest.raises(ValueError, match="--texts must be between 2 and 10, got 300"):
        workshop("--human", human, "--models", "smollm2")
    with pytest.raises(ValueError, match="--others and --training need --human"):
        workshop("--others", human)
    with pytest.raises(ValueError, match="a multiple of 4, got 1x10"):
        train("1x10", None, tmp_path, 1, 0)


def test_a_ready_model_continues_texts_of_a_file(tmp_path: Path, tiny_gpt2: str) -> None:
    from models import Workshop, add_arguments

    human = write_jsonl(tmp_path / "human.jsonl", texts_of(12, 0))
    parser = common.argument_parser("A script.")
    add_arguments(parser, texts=6)
    given = ["--human", str(human), "--models", tiny_gpt2, "--words", "12", "--folder", str(tmp_path / "work")]
    workshop = Workshop(parser.parse_args(given))
    written = workshop.write(tiny_gpt2, "greedy", {"do_sample": False})
    assert len(written) == 6 and not set(workshop.human) & set(workshop.other_human)
    for text, whole in zip(written, workshop.human, strict=True):
        assert text.startswith(" ".join(whole.split()[:8]))
    assert f"`{human}`" in workshop.said() and "Django" not in workshop.said()


# --- one experiment from its arguments to its page ------------------------------------------------------------------


def test_copies_of_a_smaller_share_are_among_those_of_a_larger_one() -> None:
    from duplication import copied

    written, training = [f"w{i}" for i in range(50)], [f"t{i}" for i in range(50)]
    few, many = (copied(written, training, share, seed=3) for share in (0.2, 0.6))
    assert [sum(text in training for text in texts) for texts in (few, many)] == [10, 30]
    assert all(b == a for a, b in zip(few, many, strict=True) if a in training)
    assert copied(written, training, 0.0, seed=3) == written and copied(written, training, 1.0, seed=3) == training


def test_duplication_sees_copies_of_training_texts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import duplication
    from models import Workshop

    folder = tmp_path / "work"
    training, prompts, others, written = (texts_of(80, seed, 30, 15) for seed in range(4))
    (folder / "texts").mkdir(parents=True)
    (folder / "passages.json").write_text(json.dumps([training, [], prompts, others]), encoding="utf-8")
    kept = folder / "texts" / "1x8-nucleus 0.95-40-12-8-7-0.json"
    kept.write_text(json.dumps([" ".join(text.split()[:12]) for text in written[:40]]), encoding="utf-8")
    monkeypatch.setattr(Workshop, "features", lambda self, texts: FeatureSet(ngrams(list(texts))))
    more = ["--shares", "1", "0", "0.5", "--window", "8", "--out", str(tmp_path / "out")]
    page = duplication.main(options_of(folder, *more)).read_text(encoding="utf-8")
    lines = [line.split(" | ") for line in page.splitlines() if re.match(r"\| [01]\.", line)]
    shares, memorised, authentic = ([float(line[place].strip("| ")) for line in lines] for place in (0, 7, 8))
    assert shares == [0.0, 0.5, 1.0]
    assert memorised[0] == 0 and 0.4 < memorised[1] < 0.6 and memorised[2] == 1
    assert authentic[0] > authentic[1] > authentic[2] == 0
