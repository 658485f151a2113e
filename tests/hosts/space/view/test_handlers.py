"""The page's own functions: files and pasted texts in, results out, nothing of a visitor kept or shown to another."""

from __future__ import annotations

import html
import json
import re
import shlex
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import numpy as np
import pytest
from markupsafe import Markup
from samples import HOSTILE, HUMAN, MODEL, ngrams
from visitors import LIMITS, close, give, press, rows_read, unpacked, visitor

from mauve_metric import MauveResult, compute_mauve, explain
from mauve_metric.hosts.cli import main as cli
from mauve_metric.hosts.space.session.run import Run
from mauve_metric.hosts.space.session.scoring import Encoders, Scored, job_of, read, score
from mauve_metric.hosts.space.session.uploads import TextSet
from mauve_metric.hosts.space.view.handlers import Handlers
from mauve_metric.hosts.space.view.settings import panel_names
from mauve_metric.report.first_screen import verdict_line
from mauve_metric.report.wording.verdict_sentence import headline

gr = pytest.importorskip("gradio")


# --- files --------------------------------------------------------------------------------------------------------


def the_human(desk: Handlers) -> TextSet:
    human = desk.sessions.get("a").human
    assert human is not None
    return human


def the_result(desk: Handlers) -> MauveResult:
    shown = desk.sessions.get("a").shown
    assert shown is not None
    (result,) = shown.scored.results.values()
    return result


# --- results ------------------------------------------------------------------------------------------------------


def test_button_shows_the_result(desk: Handlers, tmp_path: Path, expected: MauveResult) -> None:
    give(desk, tmp_path)
    shown = press(desk)
    assert f"<strong>{expected.closeness:.3f}</strong>" in shown["score"]
    assert headline(expected) in html.unescape(shown["score"]) and f"{expected.mauve:.4f}" in shown["score"]
    assert all(
        warning.message.split(":")[0] in html.unescape(shown["warnings"] + shown["score"])
        for warning in expected.warnings
    )
    assert len(shown["bucket"]["choices"]) == 4 and shown["bucket"]["value"] == shown["bucket"]["choices"][0][1]
    assert "<h4>Human:" in shown["bucket_texts"] and f">{expected.mauve:.4f}<" in shown["table"]
    assert "<table" not in shown["tables"] and "mm-models" not in shown["score"]  # nothing about several models
    assert shown["all_curves"] is None
    assert shown["signature"] == expected.signature
    assert "num_buckets=4" in shown["python"] and "--num-buckets 4" in shown["shell"]


@pytest.mark.more
def test_no_part_of_the_page_calls_a_named_reference_human(desk: Handlers, tmp_path: Path) -> None:
    """Only names of fields, classes and files are left, and the text of both sides."""
    give(desk, tmp_path)
    shown = press(desk, reference_name="release 1.2")
    assert "release 1.2" in shown["score"] and "--reference-name 'release 1.2'" in shown["shell"]
    charts = {name: json.dumps(value.plot) for name, value in shown.items() if hasattr(value, "plot")}
    parts = {name: value for name, value in shown.items() if isinstance(value, str) and name not in ("python", "shell")}
    parts |= charts | {"buckets": " ".join(name for name, _ in shown["bucket"]["choices"])}
    for name, text in parts.items():
        said = re.sub(r'class=.?"?.?mm-human|\\*"(field.{5,9})?human(:Q)?\\*"', "", html.unescape(text))
        assert not re.search(r"\b(human|people)\b", said, re.IGNORECASE), (name, re.findall(".{30}uman.{30}", said)[:3])
    again = press(desk)
    assert "human text" in html.unescape(again["score"]) and the_result(desk).reference_name == "human"


@pytest.mark.more
@pytest.mark.usefixtures("undrawn")
def test_buckets_hold_every_text_once_and_on_its_side(desk: Handlers, tmp_path: Path) -> None:
    give(desk, tmp_path, model=[*MODEL[:15], *HOSTILE])
    shown = press(desk)
    choices = shown["bucket"]["choices"]
    pages = [desk.click_bucket(str(bucket), visitor(desk))["bucket_texts"] for _, bucket in choices]
    assert desk.pick_bucket(choices[-1][1], visitor(desk)) == {}  # it is there already
    assert desk.pick_bucket(choices[0][1], visitor(desk)) == {"bucket_texts": pages[0]}
    assert desk.pick_bucket(None, visitor(desk)) == {}
    counts = [page.split("<h4>Human: ")[1].split(" of")[0] for page in pages]
    assert sum(map(int, counts)) == len(HUMAN)
    assert {"<script", "<img", "\x00", "\u202e", "${", "{{"} & {
        bad for bad in HOSTILE if bad in "".join(pages)
    } == set()
    assert not any(bad in page for page in pages for bad in ("<script", "<img", "\x00", "\u202e", "${", "{{"))
    found = explain(
        p_text=HUMAN, q_text=[*MODEL[:15], *HOSTILE], featurize_model_name=ngrams, num_buckets=4, seed=7, buckets=4
    )
    parts = [found.contributions[bucket] for _, bucket in choices]
    assert parts == sorted(parts, reverse=True)
    for item in found.buckets:  # what is shown of a bucket is what `explain` says of it
        page = html.unescape(pages[[bucket for _, bucket in choices].index(item.bucket)])
        assert item.title in page
        assert all(value in page for _, value in item.facts)


@pytest.mark.slow
@pytest.mark.usefixtures("undrawn")
def test_play_is_the_score_with_those_values_and_fast(desk: Handlers, tmp_path: Path) -> None:
    give(desk, tmp_path)
    press(desk)
    features = rows_read(desk.sessions.get("a").shown.scored)
    for c, buckets, seed, level in ((2, 4, 7, 0.95), (2, 3, 7, 0.95), (1.5, 0, 3, 0.8)):
        shown = desk.replay([c, buckets, seed, level], visitor(desk))
        wanted = compute_mauve(
            p_text=HUMAN,
            q_text=MODEL,
            featurize_model_name=ngrams,
            mauve_scaling_factor=c,
            num_buckets=buckets or "auto",
            seed=seed,
            confidence_level=level,
        )
        assert the_result(desk).to_dict() == wanted.to_dict()
        assert shown["signature"] == wanted.signature
        assert rows_read(desk.sessions.get("a").shown.scored) == features  # no text was read again


@pytest.mark.more
def test_play_clusters_again_only_where_the_buckets_would_change() -> None:
    texts = [[f"{word} {number} {number % 7}" for number in range(100)] for word in ("old", "new")]
    encoders = Encoders({"ngrams": ngrams})
    config = encoders.config({"featurize_model_name": "ngrams"})
    sets = {"p": texts[0], "q": texts[1]}
    first = score(read(sets, ["q"], job_of(config, encoders), Run()))
    again, other = (
        score(read(sets, ["q"], job_of(changed, encoders, first.kept), Run(), last=first))
        for changed in (replace(config, seed=3), replace(config, mauve_scaling_factor=2))
    )
    assert again.evaluation.partition is not first.evaluation.partition
    assert other.evaluation.partition is first.evaluation.partition


@pytest.mark.usefixtures("undrawn")
def test_the_commands_give_the_same_result(
    tmp_path: Path, minilm: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    desk = Handlers(LIMITS, [minilm, "ngrams"], Encoders())
    for which, texts in (("human", HUMAN[:12]), ("model", MODEL[:12])):
        rows = "".join(json.dumps({"story text": text, "prompt": f"no. {n}"}) + "\n" for n, text in enumerate(texts))
        (tmp_path / f"{which} set.jsonl").write_text(rows, encoding="utf-8")
    desk.take_file(str(tmp_path / "human set.jsonl"), visitor(desk))
    desk.add_files([str(tmp_path / "model set.jsonl")], visitor(desk))
    shown = press(desk, (2, 3, 4, 0.9), featurizer=minilm, knn=False, others=["ngrams"])
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    exec(shown["python"], names)
    assert names["out"].design == "aligned" and "TextFile" in shown["python"]  # both files name the same prompts
    assert names["out"].signature == shown["signature"] and headline(names["out"]) in Markup(shown["score"]).striptags()
    assert f">{names['out'].mauve:.4f}<" in shown["table"]
    capsys.readouterr()
    assert cli.main([*shlex.split(shown["shell"])[1:], "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == names["out"].to_dict()


def letters(texts: list[str]) -> np.ndarray:
    """A second featurizer without a model."""
    return np.array([[text.count(letter) for letter in "aeiorst "] for text in texts], dtype=float)


_OPTIONS: dict[str, Any] = {"num_buckets": 4, "seed": 7}


@pytest.fixture
def offering_two(desk: Handlers) -> Handlers:
    """A page that offers two featurizers."""
    return Handlers(LIMITS, ["ngrams", "letters"], Encoders({"ngrams": ngrams, "letters": letters}))


@pytest.mark.slow
@pytest.mark.usefixtures("undrawn")
def test_additional_featurizers_are_scored(offering_two: Handlers, tmp_path: Path) -> None:
    desk, told = offering_two, []
    give(desk, tmp_path)
    shown = press(desk, others=["letters", "ngrams"], tell=lambda share, desc: told.append((share, desc)))
    result = the_result(desk)
    wanted = compute_mauve(p_text=HUMAN, q_text=MODEL, featurizers={"ngrams": ngrams, "letters": letters}, **_OPTIONS)
    assert result.to_dict() == wanted.to_dict()
    so_far = f"so far, by ngrams alone: {verdict_line(wanted.by_featurizer['ngrams'])}. letters: "
    assert any(words.startswith(so_far) for _, words in told)
    assert [*result.by_featurizer] == ["ngrams", "letters"] and headline(result) in html.unescape(shown["score"])
    assert all(f"<td class='mm-name'>{name}</td>" in shown["tables"] for name in result.by_featurizer)
    shares = [share for share, _ in told]
    assert shares == sorted(shares) and told[0][1].startswith("ngrams: ") and "letters: " in told[-2][1]
    assert stale(desk, others=["letters"]) == "" and "compare again" in stale(desk)
    scored = desk.sessions.get("a").shown.scored  # type: ignore[union-attr]
    desk.replay([2, 4, 7, 0.95], visitor(desk))
    again = desk.sessions.get("a").shown.scored  # type: ignore[union-attr]
    assert isinstance(scored, Scored) and isinstance(again, Scored)
    for name in ("ngrams", "letters"):
        assert rows_read(again.each[name]) == rows_read(scored.each[name])  # nothing was read again
        assert again.results["a_model"].by_featurizer[name].mauve != result.by_featurizer[name].mauve
    query = dict(parse_qsl(desk.link(settings(others=["letters"]))))
    assert desk.arrive(query, "", "", "a")["featurizers"] == ["letters"]
    query = {"featurizers": "letters,gpt9"}
    assert "featurize_model_name must be one of ngrams, letters here" in str(
        desk.arrive(query, "", "", "a")["link_problems"]
    )
    with pytest.raises(gr.Error, match="must be one of ngrams, letters here, got"):
        press(desk, others=["gpt9"])


@pytest.mark.slow
@pytest.mark.usefixtures("undrawn")
def test_files_are_made_and_only_the_report_holds_texts(desk: Handlers, tmp_path: Path) -> None:
    give(desk, tmp_path)
    press(desk)
    archive = Path(str(desk.make_files(visitor(desk))["files"]["value"]))
    content = unpacked(archive)
    assert {Path(name).suffix for name in content} == {".svg", ".pdf", ".png", ".json", ".txt", ".html"}
    assert next(iter(content)) == "report.html" and list(archive.parent.iterdir()) == [archive]
    result = the_result(desk)
    assert json.loads(content["mauve.json"]) == json.loads(json.dumps(result.to_dict()))
    assert result.signature in content["signature.txt"].decode()
    assert {name for name, data in content.items() if b"slept" in data} == {"report.html"}
    assert headline(result).encode() in content["report.html"]
    close(desk)
    assert not archive.exists()


def test_missing_inputs_are_requested(desk: Handlers) -> None:
    with pytest.raises(gr.Error, match="choose a file, paste texts or take an example first"):
        press(desk)
    for call in (lambda: desk.replay([5, 0, 25, 0.95], visitor(desk)), lambda: desk.make_files(visitor(desk))):
        with pytest.raises(gr.Error, match="compare two sets first"):
            call()
    with pytest.raises(gr.Error, match="Featurizer must be one of ngrams here"):
        press(desk, human="a\nb", model="c\nd", featurizer="gpt2-large")
    for option, value, said in (
        ("strip", "all", "Strip must be .*no.* or a comma-joined list"),
        ("permutations", 10**6, "Permutations may be at most 9999 here"),
    ):
        with pytest.raises(gr.Error, match=said):
            press(desk, human="a\nb", model="c\nd", **{option: value})


# --- the flow of the page -----------------------------------------------------------------------------------------


def settings(**more: Any) -> list[object]:
    """Featurizer, `PLAY`, the panel and other featurizers, as `press` gives them."""
    panel = (more.get(name) for name in panel_names())
    return [more.get("featurizer", "ngrams"), *more.get("play", (5, 4, 7, 0.95)), *panel, more.get("others", [])]


def stale(desk: Handlers, **more: Any) -> str:
    return desk.stale([more.get("aligned", False), *settings(**more)], visitor(desk))


@pytest.mark.usefixtures("undrawn")
def test_a_result_is_stale_until_the_inputs_are_its_own_again(desk: Handlers, tmp_path: Path) -> None:
    assert stale(desk) == ""  # no result, nothing to say
    give(desk, tmp_path)
    press(desk)
    assert stale(desk) == ""
    assert "compare again" in stale(desk, knn=False) and "compare again" in stale(desk, play=(5, 4, 8, 0.95))
    desk.replay([5, 4, 8, 0.95], visitor(desk))
    assert stale(desk, play=(5, 4, 8, 0.95)) == "" and "compare again" in stale(desk)
    desk.rename_model(0, "other", visitor(desk))
    assert "compare again" in stale(desk, play=(5, 4, 8, 0.95))
    desk.rename_model(0, "a_model", visitor(desk))
    assert stale(desk, play=(5, 4, 8, 0.95)) == ""
    human = the_human(desk)
    desk.take_paste("one\ntwo", visitor(desk))
    assert "compare again" in stale(desk, play=(5, 4, 8, 0.95))
    desk.sessions.get("a").human = human
    assert stale(desk, play=(5, 4, 8, 0.95)) == ""


def test_a_link_goes_once_the_settings_are_not_its_own(desk: Handlers) -> None:
    for link, now, stays in (
        ("https://a.b/?num_buckets=4&seed=7", {}, True),
        ("num_buckets=4&seed=7", {}, True),  # before the page has written the address to it
        ("https://a.b/?num_buckets=4&seed=7", {"play": (5, 4, 8, 0.95)}, False),
        ("https://a.b/?num_buckets=4&seed=7", {"strip": "html"}, False),
        ("https://a.b/", {"play": (5, 0, 25, 0.95)}, True),
        (None, {}, True),
    ):
        shown = desk.checks("", [False, *settings(**now)], link, visitor(desk))
        assert ("settings_link" in shown) != stays, (link, now)


@pytest.mark.usefixtures("undrawn")
def test_a_play_value_out_of_range_is_named_and_put_back(desk: Handlers, tmp_path: Path) -> None:
    give(desk, tmp_path)
    press(desk)
    before = the_result(desk)
    note, *values = desk.play("[50, 4, 7, 0.95]", visitor(desk)).items()
    assert "Scaling factor c must be from 0.5 to 20 here, got 50; the figures are still" in str(note)
    assert values == [("mauve_scaling_factor", 5), ("num_buckets", 4), ("seed", 7), ("confidence_level", 0.95)]
    assert the_result(desk) is before
    with pytest.raises(gr.Error, match=r"Scaling factor c must be from 0\.5 to 20 here, got 50"):
        press(desk, (50, 4, 7, 0.95))
