"""Several models on the page and in `/compare`: the same numbers as `compare`, every set named, nothing dropped."""

from __future__ import annotations

import html
import json
import re
import shlex
import struct
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from samples import HOSTILE, HUMAN, MODEL, NASTY, ngrams, write_jsonl
from visitors import LIMITS, archived, give, press, rows_read, spec, visitor

from mauve_metric import Comparison, compare, compute_mauve
from mauve_metric.hosts.cli import main as cli
from mauve_metric.hosts.flags_and_labels import PAGE
from mauve_metric.hosts.space.limits import Limits
from mauve_metric.hosts.space.session.scoring import Encoders
from mauve_metric.hosts.space.session.sessions import Shown
from mauve_metric.hosts.space.view import takeaway
from mauve_metric.hosts.space.view.handlers import Handlers
from mauve_metric.hosts.space.view.showing import plot_value
from mauve_metric.hosts.space.view.text_map import map_chart
from mauve_metric.report.charts.figure import COLORS
from mauve_metric.report.charts.of_result import precision_recall_reading
from mauve_metric.report.html_and_images import save_chart
from mauve_metric.report.wording.verdict_sentence import headline, ranking_sentence
from mauve_metric.runtime.plain_text import digits

gr = pytest.importorskip("gradio")

SHOUTING = [text.upper() for text in HUMAN[:24]]
BARKING = [text.replace("slept", "barks") for text in HUMAN[:24]]  # another word in the same layout
MODELS = {"again": MODEL, "loud": BARKING, "same": HUMAN[3:27]}
OPTIONS: dict[str, Any] = {"featurize_model_name": ngrams, "num_buckets": 4, "seed": 7}


@pytest.fixture(scope="module")
def wanted() -> Comparison:
    """The page's outputs about the models."""
    return compare(p_text=HUMAN, models=MODELS, buckets=4, **OPTIONS)


def give_models(
    desk: Handlers, tmp_path: Path, models: dict[str, list[str]] = MODELS, human: list[str] = HUMAN
) -> list[Any]:
    desk.take_file(write_jsonl(tmp_path / "human.jsonl", human), visitor(desk))
    paths = [write_jsonl(tmp_path / f"{name}.jsonl", texts) for name, texts in models.items()]
    return desk.add_files(paths, visitor(desk))


def said(shown: dict[str, Any]) -> str:
    return html.unescape(shown["model_problem"])


def names(desk: Handlers) -> list[str]:
    return list(desk.sessions.get("a").models)


def shown_of(desk: Handlers) -> Shown:
    shown = desk.sessions.get("a").shown
    assert shown is not None
    return shown


def rows_of(chart: Any) -> list[dict[str, Any]]:
    """The data of a figure, or of its first layer."""
    found = spec(chart)
    data = found.get("data") or found["layer"][0]["data"]
    rows: list[dict[str, Any]] = data["values"] if "values" in data else found["datasets"][data["name"]]
    return rows


# --- sets come and go ---------------------------------------------------------------------------------------------


def test_several_files_are_sets_under_their_names(desk: Handlers, tmp_path: Path) -> None:
    shown = give_models(desk, tmp_path)
    assert names(desk) == ["again", "loud", "same"] and said(shown) == ""
    assert "model_file" not in shown  # the page empties it, but for what was chosen meanwhile
    groups, titles, previews = (
        [shown[f"model_{number}{part}"] for number in range(1, 9)] for part in ("", "_name", "_preview")
    )
    assert [group["visible"] for group in groups] == [True] * 3 + [False] * 5
    assert titles == ["again", "loud", "same", *[""] * 5]
    assert all("24 texts" in preview for preview in previews[:3]) and previews[3:] == [""] * 5
    assert not desk.remove_model(2, visitor(desk))["model_3"]["visible"]
    desk.remove_model(0, visitor(desk))
    assert names(desk) == ["loud"]
    # of a page that has not seen that two are gone
    for change, *given in ((desk.remove_model,), (desk.rename_model, "other"), (desk.choose_column, "text")):
        shown = desk.change_place(partial(change, 0), previews, *given, visitor(desk))
        assert names(desk) == ["loud"] and "this page was behind" in said(shown)
    assert said(desk.change_place(partial(desk.remove_model, 0), previews[:1], visitor(desk))) == ""
    assert names(desk) == []
    assert sorted(path.name for path in tmp_path.glob("*.jsonl")) == ["human.jsonl"]


def test_a_ninth_set_an_empty_one_and_too_many_texts_are_named_and_the_others_stay(
    desk: Handlers, tmp_path: Path
) -> None:
    paths = [write_jsonl(tmp_path / f"m{number}.jsonl", MODEL[:2]) for number in range(9)]
    (tmp_path / "empty.txt").write_text("", encoding="utf-8")
    shown = desk.add_files([paths[0], str(tmp_path / "empty.txt"), *paths[1:]], visitor(desk))
    assert names(desk) == [f"m{number}" for number in range(8)]
    assert "model set “empty” holds no texts" in said(shown)
    assert "model set “m8” was not taken: at most 8 model sets are compared here, remove one first" in said(shown)
    assert not (tmp_path / "empty.txt").exists() and not Path(paths[8]).exists()  # what is not a set is not kept
    for _ in range(7):
        desk.remove_model(0, visitor(desk))
    for number in range(3):
        desk.add_files([write_jsonl(tmp_path / f"many{number}.jsonl", [*HUMAN, *HUMAN[:10]])], visitor(desk))
    shown = desk.add_files([write_jsonl(tmp_path / "more.jsonl", HUMAN)], visitor(desk))
    assert "model set “more” was not taken: all sets together may hold at most 150 texts here, got 152" in said(shown)
    assert names(desk) == ["m7", "many0", "many1", "many2"]


@pytest.mark.more
@pytest.mark.usefixtures("undrawn")
def test_names_are_unique_and_can_be_changed(desk: Handlers, tmp_path: Path) -> None:
    give_models(desk, tmp_path)
    (tmp_path / "more").mkdir()
    shown = desk.add_files([write_jsonl(tmp_path / "more" / "again.jsonl", MODEL[:9])], visitor(desk))
    assert "a set called “again” is there: the new one is “again-2”" in said(shown)
    problem, name = desk.rename_model(1, "same", visitor(desk)).values()
    assert "model set “loud” cannot be called “same”: another set has this name" in problem and name == "loud"
    assert "a name must not be empty" in desk.rename_model(1, " \t", visitor(desk))["model_problem"]
    assert desk.rename_model(1, f" {NASTY}", visitor(desk)) == {"model_problem": "", "model_2_name": NASTY}
    assert desk.rename_model(1, NASTY, visitor(desk)) == {}
    assert names(desk) == ["again", NASTY, "same", "again-2"]
    problem = desk.rename_model(2, NASTY, visitor(desk))["model_problem"]
    assert "<img" not in problem and NASTY in html.unescape(problem)
    press(desk)
    rows = rows_read(shown_of(desk).scored)
    desk.rename_model(1, "loud", visitor(desk))
    assert re.search(r"<a href='#model-\d'[^>]*>loud</a>", press(desk)["score"])
    assert rows_read(shown_of(desk).scored) == rows  # nothing was read again


@pytest.mark.usefixtures("undrawn")
def test_pasted_lines_are_a_set_until_another_is_begun(desk: Handlers) -> None:
    desk.add_paste("one\ntwo", visitor(desk))
    desk.add_paste("one\ntwo\nthree", visitor(desk))
    assert {name: len(side.texts) for name, side in desk.sessions.get("a").models.items()} == {"pasted": 3}
    assert desk.paste_another("one\ntwo\nthree\nfour", visitor(desk))["model_paste"] == ""
    desk.add_paste("five\nsix", visitor(desk))
    assert {name: len(side.texts) for name, side in desk.sessions.get("a").models.items()} == {
        "pasted": 4,
        "pasted-2": 2,
    }
    assert "model_paste" not in desk.add_paste(" ", visitor(desk))
    assert list(desk.sessions.get("a").models) == ["pasted"]  # the set goes with what its box held
    desk.add_paste("five\nsix", visitor(desk))
    assert desk.remove_model(1, visitor(desk))["model_paste"] == ""  # the box is emptied with its set
    with pytest.raises(gr.Error) as refused:
        press(desk, human="\n".join(HUMAN), model="a\n" * 41)
    assert refused.value.message == "model set “pasted-2”: at most 40 texts are taken here, got 41"
    press(desk, human="\n".join(HUMAN), model="\n".join(MODEL))  # the button takes what the boxes hold
    assert [len(side.texts) for side in desk.sessions.get("a").models.values()] == [4, 24]


def test_a_column_of_one_model_is_chosen(desk: Handlers, tmp_path: Path) -> None:
    rows = "".join(f"{number},{text},note {number}\n" for number, text in enumerate(MODEL))
    (tmp_path / "m.csv").write_text("id,story,remark\n" + rows, encoding="utf-8")
    shown = desk.add_files([str(tmp_path / "m.csv")], visitor(desk))
    assert shown["model_1_column"]["value"] == "story" and shown["model_1_column"]["visible"]
    assert "<em>remark</em>" in desk.choose_column(0, "remark", visitor(desk))["model_1_preview"]
    assert desk.sessions.get("a").models["m"].texts[:2] == ["note 0", "note 1"]


# --- results ------------------------------------------------------------------------------------------------------


@pytest.mark.more
def test_the_page_shows_what_compare_gives(desk: Handlers, tmp_path: Path, wanted: Comparison) -> None:
    give_models(desk, tmp_path)
    told: list[str] = []
    shown = press(desk, tell=lambda share, desc: told.append(desc))
    found = shown_of(desk).scored.comparison
    assert found is not None and found.to_dict() == wanted.to_dict()
    assert shown["signature"] == wanted.signature
    assert PAGE.respell(ranking_sentence(wanted)) in html.unescape(shown["score"])
    for name, result in wanted.models.items():
        for value in (f"{result.mauve:.4f}", f"{result.mauve_debiased:.4f}", f"{wanted.own[name].mauve:.4f}"):
            assert value in shown["tables"]
    rows = re.findall(r"<tr class='mm-real'>", shown["tables"])
    differences = [*wanted.differences, *wanted.learned_differences]
    assert len(rows) == sum(item.real for item in differences) > 0
    assert "reading model 2 of 3" in told and "scoring model 3 of 3" in told and told[0] == "loading the model"
    rows = re.findall(r"<tr( class='mm-picked')?>\s*<th[^>]*><a href='#model-(\d)'[^>]*>(.*?)</a>", shown["score"])
    assert rows == [
        (" class='mm-picked'" if place == 0 else "", str(place), name) for place, name in enumerate(wanted.ranking)
    ]


@pytest.mark.slow
@pytest.mark.usefixtures("undrawn")
def test_play_and_alignment_give_what_compare_gives_without_reading_again(desk: Handlers, tmp_path: Path) -> None:
    give_models(desk, tmp_path, human=HUMAN[:24])
    press(desk, aligned=True)
    kept = rows_read(shown_of(desk).scored)
    for c, buckets, seed, level in ((2, 4, 7, 0.9), (2, 3, 5, 0.9)):
        desk.replay([c, buckets, seed, level], visitor(desk))
        wanted = compare(
            p_text=HUMAN[:24],
            models=MODELS,
            featurize_model_name=ngrams,
            aligned=True,
            mauve_scaling_factor=c,
            num_buckets=buckets,
            seed=seed,
            confidence_level=level,
        )
        found = shown_of(desk).scored.comparison
        assert found is not None and found.to_dict()["differences"] == wanted.to_dict()["differences"]
        assert {name: own.mauve for name, own in found.own.items()} == wanted.to_dict()["mauve_own"]
        assert rows_read(shown_of(desk).scored) == kept  # no text was read again


@pytest.mark.slow
@pytest.mark.usefixtures("undrawn")
def test_no_text_is_read_twice(desk: Handlers, tmp_path: Path) -> None:
    """Texts without their layout, which are tried as by `compare`, are other texts."""
    read: list[tuple[str, ...]] = []

    def recorded(texts: list[str]) -> np.ndarray:
        read.append(tuple(texts))
        return ngrams(texts)

    desk.encoders.functions["ngrams"] = recorded
    give(desk, tmp_path)
    press(desk)
    assert read[:2] == [tuple(HUMAN), tuple(MODEL)]
    press(desk)
    desk.replay([2, 4, 7, 0.95], visitor(desk))
    desk.add_files([write_jsonl(tmp_path / "loud.jsonl", SHOUTING[:20])], visitor(desk))
    press(desk)
    assert tuple(SHOUTING[:20]) in read and len(set(read)) == len(read)
    desk.remove_model(0, visitor(desk))
    press(desk)
    assert len(set(read)) == len(read)
    wanted = compute_mauve(p_text=HUMAN, q_text=SHOUTING[:20], **OPTIONS | {"featurize_model_name": recorded})
    assert shown_of(desk).scored.results["loud"].to_dict() == wanted.to_dict()


@pytest.mark.slow
def test_a_model_is_picked_and_its_buckets_are_explained(desk: Handlers, tmp_path: Path, wanted: Comparison) -> None:
    give_models(desk, tmp_path)
    press(desk)
    for name, explanation in wanted.explanations.items():
        place = wanted.ranking.index(name)
        shown: dict[str, Any] = desk.pick_model(f"{place} 1699999999999", visitor(desk))
        bars, rows = spec(shown["contributions"])["layer"][0], rows_of(shown["contributions"])
        np.testing.assert_array_equal(
            [row["contribution"] for row in rows],
            sorted(explanation.contributions[explanation.contributions > 0])[::-1],
        )
        assert bars["encoding"]["href"] and all(row["link"] == f"#bucket-{row['bucket']}" for row in rows)
        assert name in shown["table"] and f"{wanted.models[name].mauve:.4f}" in shown["table"]
        first = explanation.buckets[0]
        assert shown["bucket"]["value"] == first.bucket
        assert f"Human: {first.p_count} of 30" in shown["bucket_texts"]
        assert f"Model: {first.q_count} of 24" in shown["bucket_texts"]
        # nothing of another model is shown with it
        result = wanted.models[name]
        assert f"closeness of {name} <strong>{result.closeness:.3f}</strong>" in shown["score"]
        assert PAGE.respell(headline(result)) in html.unescape(shown["score"])
        own = wanted.own[name]
        reach = digits(own.mauve_ceiling or 0)
        assert f"{own.mauve:.4f}; two human sets of this size reach {reach}." in shown["score"]
        assert f"A text of {name}" in shown["pair"]
        points = [[row["quality"], row["coverage"]] for row in rows_of(shown["divergence_curve"])]
        np.testing.assert_array_equal(points, result.divergence_curve)
        points = [[row["coverage"], row["quality"]] for row in rows_of(shown["precision_recall"])]
        np.testing.assert_array_equal(points, result.prd_curve)
        assert precision_recall_reading(result) in html.unescape(shown["precision_recall_reading"])
        for chart in ("divergence_curve", "precision_recall"):
            assert spec(shown[chart])["layer"][2]["mark"]["color"] == COLORS[place]
    for nobody in ("nobody", "3", "-1", "", NASTY):
        with pytest.raises(gr.Error, match="there is no such model"):
            desk.pick_model(nobody, visitor(desk))


@pytest.mark.slow
def test_a_click_picks_the_bucket_and_the_model_of_the_text(desk: Handlers, tmp_path: Path) -> None:
    give_models(desk, tmp_path)
    press(desk)
    points = desk.replay([5, 4, 7, 0.95], visitor(desk))["text_map"]
    rows = rows_of(points)
    assert len(rows) == 30 + 3 * 24 and {row["set"] for row in rows} == {"human texts", *MODELS}
    # a model has one colour in all figures
    colors = spec(points)["layer"][0]["encoding"]["color"]["scale"]
    assert colors["domain"][1:] == list(shown_of(desk).scored.best_first)
    assert colors["range"][1:] == list(COLORS[:3])
    text = next(row for row in rows if row["set"] == "again")
    shown: dict[str, Any] = desk.click_bucket(text["link"].removeprefix("#bucket-") + " 1699999999999", visitor(desk))
    assert "closeness of again" in shown["score"] and shown["bucket"]["value"] == text["bucket"]
    assert html.escape(text["text"]) in re.sub("</?mark[^>]*>", "", shown["bucket_texts"])
    human = next(row for row in rows if row["set"] == "human texts")
    assert "score" not in desk.click_bucket(f"{human['bucket']}-0 1", visitor(desk))  # the model stays
    assert shown_of(desk).picked == "again"
    for clicked in ("", "99 1", "x", "-1", "4 1", NASTY):
        with pytest.raises(gr.Error, match="there is no such bucket"):
            desk.click_bucket(clicked, visitor(desk))


@pytest.mark.slow
@pytest.mark.usefixtures("undrawn")
def test_the_commands_give_the_same_comparison(
    tmp_path: Path, minilm: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    desk = Handlers(LIMITS, [minilm], Encoders())
    give_models(desk, tmp_path, {"a": MODEL[:12], "b b": BARKING[:12]}, HUMAN[:12])
    desk.rename_model(0, "-x = 1", visitor(desk))
    shown = press(desk, (5, 3, 4, 0.9), featurizer=minilm, aligned=True)
    monkeypatch.chdir(tmp_path)
    ran: dict[str, Any] = {}
    exec(shown["python"], ran)
    assert ran["out"].signature == shown["signature"]
    capsys.readouterr()
    assert cli.main([*shlex.split(shown["shell"])[1:], "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == ran["out"].to_dict()
    comparison = shown_of(desk).scored.comparison
    assert comparison is not None and comparison.to_dict() == ran["out"].to_dict()


@pytest.mark.slow
@pytest.mark.usefixtures("undrawn")
def test_files_of_a_comparison(desk: Handlers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def save_svg(chart: Any, path: Path) -> None:
        save_chart(chart, path) if path.suffix == ".svg" else path.write_text("drawn")  # other tests draw each format

    monkeypatch.setattr(takeaway, "save_chart", save_svg)
    give_models(desk, tmp_path, MODELS | {NASTY.replace("/", ""): MODEL[:10]})
    press(desk)
    content = archived(desk)
    wanted = shown_of(desk).scored.comparison
    assert wanted is not None
    assert json.loads(content["mauve.json"]) == json.loads(json.dumps(wanted.to_dict()))
    assert content["models.csv"].decode() == wanted.to_csv("models")
    assert content["differences.csv"].decode() == wanted.to_csv("differences")
    report = content["report.html"].decode()
    assert "<img src=x" not in report and "<script" not in report and "What makes the gaps" in report
    assert {"mauve.svg", "mauve.pdf", "mauve.png", "signature.txt"} <= content.keys()
    assert struct.unpack(">II", content["card.png"][16:24]) == (1200, 630)


@pytest.mark.slow
def test_hostile_names_and_texts_are_shown_as_they_are(desk: Handlers, tmp_path: Path) -> None:
    give_models(desk, tmp_path, {"bad": [*HOSTILE, *MODEL[:20]], "good": MODEL})
    for number, name in enumerate((NASTY, "${alert(1)} {{this}} `x`")):
        desk.rename_model(number, name, visitor(desk))
    shown = press(desk)
    pages = [shown[name] for name in ("warnings", "score", "tables", "bucket_texts", "table")]
    of_model = desk.pick_model(str(shown_of(desk).scored.best_first.index(NASTY)), visitor(desk))
    pages += [of_model[name] for name in ("score", "pair", "bucket_texts", "table")]
    session = visitor(desk)
    pages += [desk.click_bucket(f"{bucket} 0", session)["bucket_texts"] for _, bucket in shown["bucket"]["choices"]]
    shown = desk.add_files(None, visitor(desk))
    pages += [shown[f"model_{number}_preview"] for number in range(1, 9)]
    assert not any(bad in str(page) for page in pages for bad in ("<script", "<img", "\x00", "\u202e", "${", "{{"))


def test_errors_of_a_comparison_name_the_set(desk: Handlers, tmp_path: Path) -> None:
    give_models(desk, tmp_path, {"a": MODEL, "b": MODEL[:9]})
    with pytest.raises(gr.Error, match=r"equal size, .* got the human set 30, model set “a” 24, model set “b” 9"):
        press(desk, aligned=True)
    desk.add_files([write_jsonl(tmp_path / "gaps.jsonl", ["one", " ", "two"])], visitor(desk))
    with pytest.raises(gr.Error, match="model set “gaps” holds 1 empty or whitespace-only text of"):
        press(desk)
    desk.remove_model(2, visitor(desk))
    desk.add_files([write_jsonl(tmp_path / "one.jsonl", ["one"])], visitor(desk))
    with pytest.raises(gr.Error, match="model set “one” must hold at least 2 texts"):
        press(desk)


@pytest.mark.more
@pytest.mark.usefixtures("undrawn")
def test_a_comparison_is_stopped_between_two_sets(desk: Handlers, tmp_path: Path) -> None:
    give_models(desk, tmp_path)
    press(desk)
    before, read = shown_of(desk), []

    def stopping(texts: list[str]) -> np.ndarray:
        read.append(len(texts))
        if len(read) == 2:
            desk.sessions.get("a").run.cancel()
        return ngrams(texts)

    desk.encoders.functions["ngrams"] = stopping
    shown = press(desk)
    assert read == [30, 24] and shown_of(desk) is before
    assert shown == {}


# --- map ----------------------------------------------------------------------------------------------------------


def test_the_map_draws_a_stated_random_subset() -> None:
    rng = np.random.default_rng(0)
    rows = [rng.normal(size=(n, 3)) for n in (50, 30)]
    labels = [rng.integers(0, 4, n) for n in (50, 30)]
    texts = [[f"{name} {row}" for row in range(n)] for name, n in (("h", 50), ("m", 30))]
    names = ["human", "human"]  # a model may have the same name

    def points(most: int, rows: list[Any] = rows) -> Any:
        chart = map_chart(names, rows, labels, texts, (0.25, 0.125), most=most)
        return chart.to_dict(), rows_of(plot_value(chart))

    chart, values = points(1000)
    assert len(values) == 80 and "all 80 texts" in chart["title"]["subtitle"][0]
    for value in values:
        which = 0 if value["set"] == "human (reference)" else 1
        row = int(value["text"].split()[1])
        assert value["text"] == texts[which][row] and value["bucket"] == labels[which][row]
        np.testing.assert_allclose([value["x"], value["y"]], rows[which][row][:2], atol=1e-4)
    chart, some = points(20)
    assert some == values[:20] and "20 of 80 texts, drawn at random" in chart["title"]["subtitle"][0]
    assert "25 % of the variance" in chart["layer"][0]["encoding"]["x"]["title"]
    _, flat = points(5, [part[:, :1] for part in rows])
    assert {value["y"] for value in flat} == {0.0}


@pytest.mark.more
def test_lines_of_the_map_hold_half_and_nine_tenths_of_a_set() -> None:
    """Those of a normal distribution are ellipses, of two clusters that are far apart two."""
    normal = np.random.default_rng(0).normal(size=(20_000, 2))

    def lines(part: Any) -> list[dict[str, Any]]:
        buckets, texts = [np.zeros(len(part), int)] * 2, [["t"] * len(part)] * 2
        chart = map_chart(["h", "m"], [part, part], buckets, texts, (0, 0)).to_dict()
        rows = chart["datasets"][chart["layer"][1]["data"]["name"]]
        return [row for row in rows if row["set"] == "m"]

    ellipses, clusters = lines(normal * [2, 1]), lines(np.concatenate([normal[:500] - 5, normal[500:1000] + 5]))
    for share in (0.5, 0.9):
        around = np.array([(row["x"] / 2, row["y"]) for row in ellipses if row["share"] == share])
        radius = np.sqrt(-2 * np.log(1 - share))
        # a line lies within half a cell, an eighth of the radius; smoothing widens it by 2 %
        np.testing.assert_allclose(np.hypot(*around.T), radius, rtol=0.15)
        assert np.hypot(*around.T).mean() == pytest.approx(radius, rel=0.05)
        assert len({row["loop"] for row in clusters if row["share"] == share}) == 2


# --- the endpoint -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("more", [{}, {"empty_texts": "drop"}])
def test_endpoint_compare_gives_what_compare_gives(client: Any, more: dict[str, str]) -> None:
    """Of aligned sets, also where texts that are left out are not the same rows of each."""
    sets = {name: [" ", *texts[1:]] for name, texts in MODELS.items()} | {"same": MODELS["same"]} if more else MODELS
    answer = client.predict(
        references=HUMAN[:24], models=sets, aligned=True, num_buckets=4, seed=7, **more, api_name="/compare"
    )
    wanted = compare(p_text=HUMAN[:24], models=sets, aligned=True, **OPTIONS, **more)
    assert answer == json.loads(json.dumps(wanted.to_dict()))


@pytest.mark.more
@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"models": {}}, "models must hold 2 to 8 models here (/score is for one), got 0"),
        ({"models": {"a": MODEL}}, "models must hold 2 to 8 models here (/score is for one), got 1"),
        ({"models": {str(number): MODEL[:2] for number in range(9)}}, "models must hold 2 to 8 models here"),
        ({"models": [MODEL, MODEL]}, "models must be a dict from names to lists of texts, got list"),
        ({"models": {"a": MODEL, " ": MODEL}}, "models: names must be non-empty strings"),
        ({"models": {"a": MODEL, "b": "text"}}, "models['b'] must be a list of texts, got str"),
        ({"models": {"a": MODEL, "b": ["x", 3]}}, "models['b'] must hold strings only, got int at position 1"),
        ({"models": {"a": MODEL, "b": []}}, "models['b'] must hold at least one non-empty text"),
        ({"models": {"a": MODEL, "b": ["x"] * 41}}, "models['b']: at most 40 texts are taken here, got 41"),
        ({"models": dict.fromkeys("abcde", HUMAN)}, "all sets together may hold at most 150 texts here, got 180"),
        ({"aligned": True, "models": {"a": MODEL, "b": MODEL[:9]}}, "aligned=True needs sets of equal size"),
        ({"aligned": "perhaps"}, "aligned must be True or False, got 'perhaps'"),
        ({"featurize_model_name": "gpt2-large"}, "featurize_model_name must be one of ngrams here"),
    ],
)
def test_endpoint_compare_refuses_in_one_sentence(client: Any, change: dict[str, Any], message: str) -> None:
    with pytest.raises(Exception, match=re.escape(message)):
        client.predict(**({"references": HUMAN, "models": MODELS} | change), api_name="/compare")


def test_total_limits_come_from_the_environment() -> None:
    from mauve_metric.hosts.space.limits import check_together, read_limits

    limits = read_limits({"MAUVE_METRIC_MAX_MODEL_SETS": "3", "MAUVE_METRIC_MAX_TOTAL_MEGABYTES": "1"})
    assert limits == Limits(model_sets=3, total_megabytes=1)
    with pytest.raises(ValueError, match="at most 1048576 characters here, got 1100000"):
        check_together([["x" * 100_000] * 11], limits)
