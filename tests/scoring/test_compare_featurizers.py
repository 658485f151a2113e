"""Several featurizers in one comparison: the first makes the ranking, and all of them a verdict."""

from __future__ import annotations

import csv
import html
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from samples import HUMAN, MODEL, ngrams, texts_of, write_jsonl

from mauve_metric import Comparison, FeatureSet, compare, compute_mauve
from mauve_metric.hosts.cli.main import main
from mauve_metric.report import html_and_images
from mauve_metric.report.charts import of_comparison
from mauve_metric.report.wording.verdict_sentence import ranking_sentence
from mauve_metric.report.wording.words import collected_warnings

TEXTS = texts_of(60, 0)
MODELS = {"plain_": texts_of(60, 1), "loud": [f"{text}!!" for text in texts_of(60, 2)]}
OPTIONS: dict[str, Any] = {"num_runs": 1, "knn": False, "num_buckets": 4}


def words(texts: list[str]) -> np.ndarray:
    """Letter frequencies: noise, as the words of all texts are drawn alike."""
    return np.array([[text.count(letter) for letter in "aeioru"] for text in texts], dtype=float)


def marks(texts: list[str]) -> np.ndarray:
    """Sees the marks too."""
    return words(texts) + 50.0 * np.array([[text.count("!")] * 6 for text in texts])


@pytest.fixture(scope="module")
def several() -> Comparison:
    return compare(TEXTS, MODELS, featurizers={"word_s": words, "marks": marks}, buckets=1, **OPTIONS)


@pytest.mark.more
def test_the_first_makes_the_comparison_and_each_is_its_own(several: Comparison) -> None:
    assert [*several.by_featurizer] == ["word_s", "marks"]
    own = several.to_dict()
    for name, one in (("word_s", words), ("marks", marks)):
        alone = compare(TEXTS, MODELS, featurize_model_name=one, **OPTIONS)
        assert several.by_featurizer[name].to_dict() == alone.to_dict() == own["by_featurizer"][name]
        assert alone.by_featurizer == {} and "by_featurizer" not in alone.to_dict()
    first = own["by_featurizer"]["word_s"]
    assert "|featurizers:" in own["signature"] and "|featurizers:" not in first["signature"]
    ranked = (
        "signature",
        "ranking",
        "ranked_by",
        "differences",
        "smallest_difference",
        "texts_needed",
        "together_differences",
    )
    added = {name: own[name] for name in ("by_featurizer", "together_ranking", "together_differences", *ranked)}
    judged = ("signature", "together", "closeness", "closeness_ci", "verdict", "verdict_reason", "shown_by")
    judged += ("shown_p_value", "texts_needed", "warnings")
    judged += ("closeness_without_layout", "closeness_without_layout_ci", "by_layout_alone")
    models = {name: one | {key: own["models"][name][key] for key in judged} for name, one in first["models"].items()}
    for name, one in own["models"].items():
        assert one["closeness"] <= min(part["models"][name]["closeness"] for part in own["by_featurizer"].values())
    assert own == first | added | {"models": models}
    assert json.loads(json.dumps(own, allow_nan=False)) == own
    assert several.explanations and not several.by_featurizer["marks"].explanations


@pytest.mark.more
def test_one_classifier_has_the_features_of_all(several: Comparison) -> None:
    """Equal to the learned scores of a comparison of features that are put side by side."""

    def both(texts: list[str]) -> np.ndarray:
        return np.concatenate([words(texts), marks(texts)], axis=1)

    alone = compare(TEXTS, MODELS, featurize_model_name=both, **OPTIONS)
    for name, result in several.models.items():
        expected = alone.models[name]
        assert result.together is not None and result.together.auc == expected.auc
        assert result.together.mauve_classifier_ci == expected.mauve_classifier_ci
    assert several.together_ranking == alone.learned_ranking == ("plain_", "loud")
    one, other = several.together_differences[0], alone.learned_differences[0]
    assert one.difference == other.difference and one.real and other.real
    assert not several.learned_differences[0].real
    said = " ".join(several.document().terminal().split())
    assert "Differences by one classifier of the features of all featurizers" in said and alone.together_ranking == ()
    rows = list(csv.DictReader(io.StringIO(several.to_csv("together_differences"))))
    assert [row["real"] for row in rows] == ["yes"]


@pytest.mark.more
def test_the_classifier_of_all_allows_for_prompts_that_features_show() -> None:
    rng = np.random.default_rng(0)
    common = rng.normal(size=(60, 40))
    of_text = {str(row): common[row % 60] + 0.3 * rng.normal(size=40) for row in range(120)}
    human, model = [*of_text][:60], [*of_text][:59:-1]

    def one(texts: list[str]) -> np.ndarray:
        return np.array([of_text[text] for text in texts])

    def two(texts: list[str]) -> np.ndarray:
        return np.tanh(one(texts))

    given: dict[str, Any] = {"featurizers": {"one": one, "two": two}, **OPTIONS}
    compared = compare(human, {"same": model}, **given).models["same"]
    alone = compute_mauve(p_text=human, q_text=model, **given)
    for found in (compared, alone):
        assert found.design == "found" and found.bounds[-1].codes is not None
    np.testing.assert_array_equal(compared.bounds[-1].codes, alone.bounds[-1].codes)
    assert compared.closeness_ci == alone.closeness_ci


def test_the_verdict_names_the_featurizer_that_alone_tells_models_apart(several: Comparison) -> None:
    loud = several.models["loud"]
    assert not several.by_featurizer["word_s"].differences[0].real
    assert (loud.verdict, loud.verdict_reason) == ("different", "layout") and "classifier by marks" in loud.shown_by
    # the marks are layout: without them no model is ahead
    assert loud.by_layout_alone and not several.differences[0].real
    assert several.ranking == ("loud", "plain_") == several.together_ranking[::-1]
    assert several.together_differences[0].real
    assert all("|featurizers:" in found.signature for found in (several, *several.models.values()))
    assert not several.by_featurizer["marks"].differences[0].real


def test_a_single_featurizer_has_no_classifier_of_all() -> None:
    models = {name: texts[:20] for name, texts in MODELS.items()}
    found = compare(TEXTS[:20], models, featurizers={"w": words}, **OPTIONS)
    assert [*found.by_featurizer] == ["w"] and found.together_ranking == found.together_differences == ()
    assert all(result.together is None for result in found.models.values())


@pytest.mark.more
def test_every_form_has_the_rows_of_all(several: Comparison) -> None:
    rows = list(csv.DictReader(io.StringIO(several.to_csv())))
    each = [(name, model) for name, one in several.by_featurizer.items() for model in one.ranking]
    joint = [(name, model) for name in ("all", "joined") for model in several.ranking]
    expected = [*joint[:2], *each, *joint[2:]]
    assert sorted((row["featurizer"], row["model"]) for row in rows) == sorted(expected)
    assert [row["model"] for row in rows[:2]] == [*several.ranking]
    for row in rows[2:6]:
        assert float(row["mauve"]) == several.by_featurizer[row["featurizer"]].models[row["model"]].mauve
    pairs = list(csv.DictReader(io.StringIO(several.to_csv("differences"))))
    assert [(row["featurizer"], row["real"]) for row in pairs] == [("word_s", "no"), ("marks", "no")]
    for text in (
        several.document().terminal(),
        several.to_markdown(),
        several.to_latex(every=True),
        html_and_images.report_page(several),
    ):
        assert all(one.signature in html.unescape(text) for one in several.by_featurizer.values())
    said = ranking_sentence(several)
    for text in (
        several.document().terminal(),
        several.to_markdown().replace("\\", ""),
        html.unescape(html_and_images.report_page(several)),
    ):
        assert said in " ".join(text.split())
    table = several.to_markdown().partition("| featurizer |")[2].split("\n\n")[0]
    assert len(table.splitlines()) == len(expected) + 2
    assert r"word\_s & " in several.to_latex(every=True)
    assert "featurizer" not in several.by_featurizer["marks"].to_csv().splitlines()[0].split(",")


def test_the_figure_has_the_intervals_of_all(several: Comparison) -> None:
    spec = of_comparison.forest_chart(several).to_dict()
    data = spec["layer"][0].get("data", spec.get("data"))
    rows = data["values"] if "values" in data else spec["datasets"][data["name"]]
    each = several.by_featurizer
    assert [row["label"] for row in rows] == [f"{name}: {model}" for name in each for model in each[name].ranking]
    assert [row["low"] for row in rows] == [
        ci and ci[0] for one in each.values() for ci in (one.models[model].closeness_ci for model in one.ranking)
    ]


@pytest.mark.more
def test_one_that_cannot_be_used_is_named_and_the_others_run() -> None:
    def broken(texts: list[str]) -> np.ndarray:
        raise RuntimeError("no room")

    streams: dict[str, Any] = {name: iter(texts) for name, texts in MODELS.items()}
    found = compare(iter(TEXTS), streams, featurize_model_name=words, featurizers=[marks, broken], **OPTIONS)
    assert [*found.by_featurizer] == [f"{__name__}.words", f"{__name__}.marks"]
    assert found.warnings[-1].code == "featurizer_missing" and "no room" in found.warnings[-1].message
    who = [who for who, _ in collected_warnings(found)]
    assert f"{__name__}.marks, all models" in who  # what only the second one warns of
    with pytest.raises(RuntimeError, match="no room"):
        compare(TEXTS, MODELS, featurizers=[broken, marks], **OPTIONS)


@pytest.mark.parametrize(
    ("sides", "name"),
    [
        (lambda: {"p_features": np.eye(9), "models": MODELS}, "p_features"),
        (lambda: {"p_text": TEXTS, "models": {"a b": np.eye(9)}}, r"models\['a b'\]"),
        (lambda: {"p_text": TEXTS, "models": {"a": FeatureSet(np.eye(9))}}, r"models\['a'\]"),
    ],
)
def test_what_one_featurizer_made_is_refused(sides: Callable[[], dict[str, Any]], name: str) -> None:
    with pytest.raises(ValueError, match=f"featurizers needs the texts of both sides, .* and {name} holds what one"):
        compare(**sides(), featurizers=[ngrams, words])


@pytest.mark.more
def test_the_shell_takes_the_flag_again(tmp_path: Path, tiny_gpt2: str, capsys: pytest.CaptureFixture[str]) -> None:
    files = [write_jsonl(tmp_path / f"{name}.jsonl", texts) for name, texts in (("human", HUMAN), ("model", MODEL))]
    flags = [
        "--featurizer",
        "ngrams",
        "--featurizer",
        tiny_gpt2,
        "--num-runs",
        "1",
        "--no-cache",
        "-q",
        "--signature",
        "--all",
    ]
    assert main(["compare", *files, f"again={write_jsonl(tmp_path / 'again.jsonl', MODEL[::-1])}", *flags]) == 0
    out, err = capsys.readouterr()
    lines = [line.split() for line in out.splitlines()]
    assert err == "" and [line for line in lines if line[:1] == [tiny_gpt2] and line[1] in ("model", "again")]
    assert "hese texts do not tell the models apart." in out and f"signature of {tiny_gpt2}: " in out
    assert out.splitlines()[-1].startswith("signature: featurize_model_name:ngrams|")
