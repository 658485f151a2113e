"""Several models at once: one partition, corrected decisions, input, the command."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from samples import EVIL, HUMAN, HUMAN_FEATURES, MODEL_FEATURES, ngrams
from tools import harness_file, harness_rows

from mauve_metric import Comparison, FeatureSet, compare, compute_mauve
from mauve_metric.features.row_blocks import ArrayRows
from mauve_metric.hosts.cli.main import main
from mauve_metric.inputs.files import TextFile
from mauve_metric.measures.p_values import holm

Floats = NDArray[np.float64]


@pytest.fixture(scope="module")
def comparison() -> Comparison:
    return compare(p_features=HUMAN_FEATURES, models=MODEL_FEATURES, num_runs=2)


# --- scores -------------------------------------------------------------------------------------------------------


def test_models_are_ranked_by_how_close_they_are(comparison: Comparison) -> None:
    assert comparison.ranking == ("good", "middle", "bad")
    assert list(comparison.models) == ["bad", "good", "middle"]
    scores = [comparison.models[name].mauve_debiased or 0 for name in comparison.ranking]
    assert scores == sorted(scores, reverse=True)


def test_all_scores_use_one_partition(comparison: Comparison) -> None:
    for a, b in itertools.combinations(comparison.models.values(), 2):
        np.testing.assert_array_equal(a.p_labels, b.p_labels)
        np.testing.assert_array_equal(a.p_hist, b.p_hist)
    for name, result in comparison.models.items():
        assert result.num_buckets == 12 and result.n_q == 120
        assert "partition:common to bad, good, middle" in result.signature and f"model:{name}" in result.signature
    assert len({result.signature for result in comparison.models.values()}) == 3


def test_own_scores_are_those_of_compute_mauve(comparison: Comparison) -> None:
    for name, rows in MODEL_FEATURES.items():
        expected = compute_mauve(p_features=HUMAN_FEATURES, q_features=rows, num_runs=2)
        assert comparison.own[name].mauve == expected.mauve
        assert comparison.own[name].signature == expected.signature
        assert comparison.own[name].mauve_ceiling == expected.mauve_ceiling


def test_neighbours_do_not_depend_on_the_other_models() -> None:
    rng = np.random.default_rng(0)
    human, model = rng.normal(size=(2, 100, 20)) * 0.7 ** np.arange(20)
    labels = ["a"] * 40 + ["b"] * 60
    alone = compare(p_features=human, models={"model": model}, by={"human": labels})
    models = {"far": 5 * rng.normal(size=(100, 20)), "model": model}  # one projection of both keeps other columns
    beside = compare(p_features=human, models=models, by={"human": labels})
    expected = compute_mauve(p_features=human, q_features=model)
    for name in ("precision", "recall", "density", "coverage", "precision_ci", "recall_ci", "human_halves"):
        assert getattr(beside.models["model"], name) == getattr(expected, name)
    recalls = [[item.recall for item in found.subgroups if item.model == "model"] for found in (alone, beside)]
    assert recalls[0] == recalls[1] and 0.4 * recalls[0][1] + 0.6 * recalls[0][0] == pytest.approx(expected.recall)


def test_own_scores_have_the_permutation_test_of_compute_mauve() -> None:
    human, model = HUMAN_FEATURES[:40], HUMAN_FEATURES[40:80]  # equal sets, whose p-value is not the least
    few: dict[str, Any] = {"num_runs": 1, "knn": False, "permutations": 99, "kmeans_num_redo": 1}
    expected = compute_mauve(p_features=human, q_features=model, **few)
    found = compare(p_features=human, models={"m": model}, **few)
    assert found.own["m"][:4] == (expected.mauve, 4, expected.p_value, expected.signature)
    assert expected.p_value is not None
    assert found.models["m"].p_value == expected.p_value
    assert list(found.signature_entries)[-1] == "mauve_metric" and found.design == expected.design
    names = ("mauve", "mauve_mean", "mauve_debiased", "closeness", "closeness_ci", "verdict", "auc", "num_buckets")
    for name in names:
        assert getattr(found.models["m"], name) == getattr(expected, name), name
    np.testing.assert_array_equal(found.models["m"].q_labels, expected.q_labels)


def test_one_model_is_scored_as_by_compute_mauve() -> None:
    found = compare(p_features=HUMAN_FEATURES, models={"only": MODEL_FEATURES["bad"]}, num_runs=2, row_order="pq")
    expected = compute_mauve(p_features=HUMAN_FEATURES, q_features=MODEL_FEATURES["bad"], num_runs=2, row_order="pq")
    result = found.models["only"]
    for name in (
        "mauve",
        "mauve_debiased",
        "mauve_debiased_ci",
        "frontier_integral",
        "precision",
        "recall",
        "mauve_std",
    ):
        assert getattr(result, name) == getattr(expected, name)
    assert found.differences == () and found.smallest_difference is None and found.texts_needed is None
    assert "only" in str(found) and found.to_latex() and found.to_markdown()


def test_row_order_moves_the_humans(comparison: Comparison) -> None:
    other = compare(p_features=HUMAN_FEATURES, models=MODEL_FEATURES, num_runs=2, row_order="pq")
    assert other.ranking == comparison.ranking
    assert any(other.models[name].mauve != comparison.models[name].mauve for name in MODEL_FEATURES)


def test_inputs_of_all_kinds_agree(comparison: Comparison) -> None:
    models = {
        "bad": MODEL_FEATURES["bad"].tolist(),
        "good": FeatureSet(MODEL_FEATURES["good"]),
        "middle": MODEL_FEATURES["middle"],
    }
    assert compare(p=FeatureSet(HUMAN_FEATURES), models=models, num_runs=2).to_dict() == comparison.to_dict()


# --- differences --------------------------------------------------------------------------------------------------


def test_clear_differences_are_real_and_a_zero_difference_is_not(comparison: Comparison) -> None:
    assert [(item.a, item.b) for item in comparison.differences] == [
        ("good", "middle"),
        ("good", "bad"),
        ("middle", "bad"),
    ]
    assert comparison.differences[1].real and comparison.differences[1].p_value < 1e-6
    twins = compare(
        p_features=HUMAN_FEATURES, models={"a": MODEL_FEATURES["good"], "b": MODEL_FEATURES["good"]}, num_runs=1
    )
    (item,) = twins.differences
    assert item.difference == 0 and item.p_value == 1 and not item.real and item.ci[0] <= 0 <= item.ci[1]
    assert twins.texts_needed is None
    assert [warning.code for warning in twins.warnings] == ["equal_models"]
    assert "\n! a and b hold the same features\n" in str(twins) + "\n"


def test_decisions_are_corrected_for_the_number_of_pairs(comparison: Comparison) -> None:
    corrected = holm([item.p_value for item in comparison.differences])
    assert [item.real for item in comparison.differences] == [bool(value < 0.05) for value in corrected]
    assert holm([0.01, 0.04, 0.03, 0.5]).tolist() == pytest.approx([0.04, 0.09, 0.09, 0.5])
    assert holm([]).tolist() == []


def equal_models(k: int, shift: float, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """P and a Q at some distance from it."""
    p = rng.dirichlet(np.full(k, 5.0))
    q = p * np.exp(shift * rng.normal(size=k))
    return p, q / q.sum()


# --- input --------------------------------------------------------------------------------------------------------


def test_buckets_and_their_texts_are_shown_where_they_are_asked_for() -> None:
    human, model = HUMAN_FEATURES[:40], HUMAN_FEATURES[40:80]  # equal sets, whose p-value is not the least
    few: dict[str, Any] = {"num_runs": 1, "knn": False, "num_buckets": 3}
    for more, texts in (({}, 3), ({"texts": 0}, 0)):
        (bucket,) = compare(p_features=human, models={"m": model}, buckets=1, **more, **few).explanations["m"].buckets
        assert len(bucket.p_texts) == len(bucket.q_texts) == texts
    for name in ("buckets", "texts"):
        with pytest.raises(ValueError, match=f"{name} must be an integer of at least 0, got -1"):
            compare(p_features=human, models={"m": model}, **few | {name: -1})

    in_blocks = [FeatureSet(ArrayRows(rows)) for rows in (human, model)]
    assert compare(p=in_blocks[0], models={"m": in_blocks[1]}, **few).explanations == {}
    with pytest.raises(ValueError, match="features must be in memory to be explained"):
        compare(p=in_blocks[0], models={"m": in_blocks[1]}, buckets=1, **few)


def test_rows_that_not_all_files_have_are_left_out_where_that_is_asked_for(tmp_path: Path) -> None:
    gold = [f"{words} {number}" for number, words in enumerate(HUMAN[:14])]
    rows = {name: harness_rows(gold, [f"{name} {text}" for text in gold]) for name in "ab"}
    files = {
        name: TextFile(harness_file(tmp_path, name, some, day=day))
        for day, (name, some) in enumerate({"a": rows["a"][1:], "b": rows["b"][:12]}.items(), start=1)
    }
    options: dict[str, Any] = {"featurize_model_name": ngrams, "num_runs": 1, "knn": False}
    with pytest.raises(ValueError, match="same 14 rows: model a lacks 1"):
        compare(models=files, **options)
    found = compare(models=files, common_rows=True, **options).models
    assert [(result.n_p, result.n_q) for result in found.values()] == [(11, 11)] * 2


@pytest.mark.more
def test_aligned_models_have_equal_rows() -> None:
    assert compare(p_features=HUMAN_FEATURES, models=MODEL_FEATURES, aligned=True, num_runs=1).design == "aligned"
    uneven = {"a": MODEL_FEATURES["good"], "b": MODEL_FEATURES["bad"][1:]}
    with pytest.raises(ValueError, match=r"equal size, .* got p_features 120, models\['a'\] 120, models\['b'\] 119:"):
        compare(p_features=HUMAN_FEATURES, models=uneven, aligned=True)
    assert [w.code for w in compare(p_features=HUMAN_FEATURES, models=uneven, num_runs=1).warnings] == [
        "unequal_models"
    ]


def test_wrong_input() -> None:
    with pytest.raises(TypeError, match="models must be a dict"):
        compare(p_features=HUMAN_FEATURES, models=[HUMAN_FEATURES])  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="at least one model"):
        compare(p_features=HUMAN_FEATURES, models={})
    with pytest.raises(TypeError, match="names must be non-empty"):
        compare(p_features=HUMAN_FEATURES, models={" ": HUMAN_FEATURES})
    with pytest.raises(ValueError, match=r"p, p_features, p_tokens, p_text must be given"):
        compare(models={"a": HUMAN_FEATURES})
    with pytest.raises(ValueError, match="same number of columns"):
        compare(p_features=HUMAN_FEATURES, models={"a": HUMAN_FEATURES, "b": HUMAN_FEATURES[:, :4]})
    with pytest.raises(ValueError, match=r"models\['a'\] must hold at least 2 texts to be compared, got 1"):
        compare(p_features=HUMAN_FEATURES, models={"a": HUMAN_FEATURES[:1]})
    with pytest.raises(TypeError, match=r"models\['a'\] must be a list of texts, got a single str"):
        compare(p_features=HUMAN_FEATURES, models={"a": "one text"})
    with pytest.raises(ValueError, match=r"NaN|nan|finite"):
        compare(p_features=HUMAN_FEATURES, models={"a": np.full((5, 5), np.nan)})
    other = FeatureSet(HUMAN_FEATURES, {"model": "x", "revision": "1"})
    with pytest.raises(ValueError, match="featurized differently"):
        compare(
            p_features=HUMAN_FEATURES,
            models={"a": other, "b": FeatureSet(HUMAN_FEATURES, {"model": "x", "revision": "2"})},
        )


# --- output -------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def told() -> Comparison:
    """A comparison of texts with names and texts that must be escaped."""
    rng = np.random.default_rng(0)
    texts = {name: [f"{EVIL} {name} {i}" for i in range(40)] for name in ("human", EVIL, "b")}
    vectors = {text: rng.normal(size=4) + 3 * (name == "b") for name, every in texts.items() for text in every}

    def embed(every: list[str]) -> Floats:
        return np.array([vectors[text] for text in every])

    human = texts.pop("human")
    return compare(human, texts, featurize_model_name=embed, num_runs=1, buckets=2)


def test_dict_is_fit_for_json(comparison: Comparison) -> None:
    values = json.loads(json.dumps(comparison.to_dict(), allow_nan=False))
    assert values["models"]["good"] == json.loads(json.dumps(comparison.models["good"].to_dict()))
    assert [sorted(item) for item in values["differences"]] == [["a", "b", "ci", "difference", "p_value", "real"]] * 3
    assert values["mauve_own"]["bad"] == comparison.own["bad"].mauve and values["ranking"][0] == "good"


def test_explanations_are_those_of_the_common_partition(told: Comparison) -> None:
    for name, explanation in told.explanations.items():
        result = explanation.result  # the model's, with the learned score of the normalised texts
        assert result.signature == told.models[name].signature and len(explanation.buckets) == 2
        assert explanation.contributions.sum() == pytest.approx(1 - told.models[name].mauve, abs=1e-12)
        assert result.mauve == told.models[name].mauve


# --- command line -------------------------------------------------------------------------------------------------


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    np.save(tmp_path / "human.npy", HUMAN_FEATURES)
    for name in ("x", "y"):
        (tmp_path / name).mkdir()
    np.save(tmp_path / "x" / "model.npy", MODEL_FEATURES["bad"])
    np.save(tmp_path / "y" / "model.npy", MODEL_FEATURES["good"])
    return [str(tmp_path / name) for name in ("human.npy", "x/model.npy", "y/model.npy")]


def test_command_prints_json(files: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", *files, "--json", "--num-runs", "1"]) == 0
    out, err = capsys.readouterr()
    found = json.loads(out)
    assert err == "" and out.count("\n") == 1
    assert list(found["models"]) == ["x/model", "y/model"] and found["differences"][0]["real"] is True


@pytest.mark.parametrize("flag", ["--markdown", "--csv", "--csv-differences", "--latex", "--aligned"])
def test_command_prints_tables(flag: str, files: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", *files, flag, "--num-runs", "1"]) == 0
    starts = {"--csv": "rank,model", "--csv-differences": "a,b,", "--latex": r"\begin{tabular}"}
    starts["--markdown"] = "    2 models against 120 human texts"
    assert capsys.readouterr().out.startswith(starts.get(flag, "2 models against 120 human texts"))


def test_command_writes_report_and_figure(files: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    report, figure = tmp_path / "out.html", tmp_path / "out.svg"
    assert main(["compare", *files, "--num-runs", "1", "--report", str(report), "--plot", str(figure)]) == 0
    assert "What makes the gaps" in report.read_text() and figure.read_text().startswith("<svg")
    assert capsys.readouterr().err == ""


def test_command_errors(files: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", "-", "-", files[1]]) == 1
    assert "standard input" in capsys.readouterr().err
    assert main(["compare", *files, "missing.jsonl"]) == 1
    for arguments in (
        ["compare", files[0]],
        ["compare", *files, "--json", "--latex"],
        ["compare", *files, "--report", "x.pdf"],
        ["explain", *files[:2], "--texts", "x"],
    ):
        with pytest.raises(SystemExit) as caught:
            main(arguments)
        assert caught.value.code == 2
        assert capsys.readouterr().out == ""


@pytest.mark.parametrize("aligned", [False, True])
def test_the_order_of_the_texts_has_no_part_in_a_comparison(aligned: bool) -> None:
    rng = np.random.default_rng(0)
    human, one, two = (rng.normal(shift, 1, size=(100, 6)) for shift in (0.0, 0.2, 0.5))
    found = compare(p_features=human, models={"one": one, "two": two}, aligned=aligned)
    orders = [rng.permutation(100) for _ in range(3)]
    orders = [orders[0]] * 3 if aligned else orders
    other = compare(p_features=human[orders[0]], models={"one": one[orders[1]], "two": two[orders[2]]}, aligned=aligned)
    for own, new in zip(found.differences, other.differences, strict=True):  # sums over texts in another order
        assert (own.a, own.b, own.real, own.difference) == (new.a, new.b, new.real, new.difference)
        assert (*own.ci, own.stderr) == pytest.approx((*new.ci, new.stderr), rel=1e-9, abs=0)
    assert (found.ranking, found.texts_needed) == (other.ranking, other.texts_needed)
    assert found.smallest_difference == pytest.approx(other.smallest_difference, rel=1e-9, abs=0)
    for name in ("one", "two"):
        assert found.models[name].mauve_debiased_ci == other.models[name].mauve_debiased_ci
        assert found.signature_entries[f"digest_{name}"] != other.signature_entries[f"digest_{name}"]


def test_a_level_that_rounds_to_none_is_no_division_by_zero() -> None:
    rng = np.random.default_rng(0)
    human, same = rng.normal(size=(2, 40, 4))
    found = compare(
        p_features=human, models={"far": human + 1, "same": same}, confidence_level=1e-148, num_buckets=2, num_runs=1
    )
    assert all(np.isfinite(item.difference) for item in found.differences)
    json.dumps(found.to_dict(), allow_nan=False)


@pytest.mark.more
@pytest.mark.parametrize("aligned", [False, True])
def test_a_model_whose_rows_are_not_in_step_touches_no_other(aligned: bool) -> None:
    rng = np.random.default_rng(0)
    common = rng.normal(size=(200, 50))
    human, good = (common + 0.5 * rng.normal(size=(200, 50)) for _ in range(2))
    models = {"good": good, "shuffled": good[rng.permutation(200)], "other": rng.normal(size=(200, 50))}
    found = compare(p_features=human, models=models, aligned=aligned, knn=False).models
    for name, side in models.items():
        alone = compute_mauve(p_features=human, q_features=side, aligned=aligned, knn=False)
        own = found[name]
        assert (own.verdict, own.verdict_reason, own.design) == (alone.verdict, alone.verdict_reason, alone.design)
        assert (own.auc, own.mauve_classifier, own.closeness_ci is None) == (
            alone.auc,
            alone.mauve_classifier,
            alone.closeness_ci is None,
        )
        assert ("rows_not_aligned" in {warning.code for warning in own.warnings}) == (aligned and name == "shuffled")
    assert found["good"].verdict_reason is None
