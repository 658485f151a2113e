"""Scores of histograms, and the field of the options that each signature names."""

from __future__ import annotations

import json
import re
import statistics
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from changed_options import CHANGES
from numpy.typing import NDArray
from samples import HUMAN, MODEL, ngrams, write_jsonl

from mauve_metric import FeatureSet, Histograms, MauveConfig, MauveResult, compute_mauve
from mauve_metric.clustering.histograms import count_labels
from mauve_metric.clustering.partition import Partition
from mauve_metric.features.feature_set import Dependence
from mauve_metric.inputs.fingerprints import TRAITS
from mauve_metric.measures.frontier import curve_area, divergence_curve
from mauve_metric.options import config_fields
from mauve_metric.scoring import score
from mauve_metric.scoring.evaluation import Evaluation, resolve_config
from mauve_metric.scoring.score import _tested, score_histograms
from mauve_metric.uncertainty import score_warnings
from mauve_metric.uncertainty.ceilings import null_scores

TEXTS = [f"Ship number {i} left the {'harbour' if i % 3 else 'river'} with {i * 7 % 11} sailors." for i in range(24)]

OTHERS = [f"Boat number {i} left the {'village' if i % 3 else 'mines'} with {i * 5 % 11} farmers." for i in range(18)]


def gaussians(
    seed: int, n_p: int, n_q: int, d: int, shift: float, decay: float = 0.0
) -> tuple[NDArray[Any], NDArray[Any]]:
    rng = np.random.default_rng(seed)
    scale = np.exp(-decay * np.arange(d))
    return rng.normal(size=(n_p, d)) * scale, (rng.normal(size=(n_q, d)) + shift) * scale


def test_score_histograms_uses_the_histograms_alone() -> None:
    counts = Histograms(np.array([5, 3, 2]), np.array([2, 3, 5]))
    scores = score_histograms(counts, MauveConfig())
    assert scores["mauve_exact"] == pytest.approx(0.8216512693, rel=0, abs=0.51e-10)  # measures/test_frontier.py
    assert scores["frontier_integral"] == pytest.approx(0.0891395121, rel=0, abs=0.51e-10)
    assert scores["mauve"] < scores["mauve_star"] < 1  # equal sizes: smoothing never lowers


def test_smoothed_scores_are_those_of_half_a_text_more_in_each_bucket() -> None:
    counts = Histograms(np.array([5, 3, 0]), np.array([0, 3, 7]))
    scores = score_histograms(counts, MauveConfig(mauve_scaling_factor=2, divergence_curve_discretization_size=7))
    smooth = np.array([5.5, 3.5, 0.5]) / 9.5, np.array([0.5, 3.5, 7.5]) / 11.5
    plain = np.array([5, 3, 0]) / 8, np.array([0, 3, 7]) / 10
    for name, (p, q) in (("mauve", plain), ("mauve_star", smooth)):
        assert scores[name] == pytest.approx(curve_area(divergence_curve(p, q, 2, 7)), rel=1e-12)
    np.testing.assert_allclose(scores["curve_mixtures"][:, 0], np.linspace(1e-6, 1 - 1e-6, 7))
    for column, side in ((1, plain[1]), (2, plain[0])):  # KL of the model's shares, then of the human ones
        for weight, *divergences in scores["curve_mixtures"]:
            mixture = weight * plain[0] + (1 - weight) * plain[1]
            expected = sum(a * np.log(a / r) for a, r in zip(side, mixture, strict=True) if a)
            assert divergences[column - 1] == pytest.approx(expected, rel=1e-9)


def test_buckets_beyond_the_number_that_was_asked_for_are_counted_on_both_sides() -> None:
    sides = [FeatureSet(np.zeros((size, 1)), groups=np.arange(size) // 2) for size in (4, 3)]
    runs = [[np.array([0, 1, 5, 5]), np.array([7]), np.array([2, 2, 0])], [np.zeros(size, int) for size in (4, 1, 3)]]
    config = resolve_config(MauveConfig(num_buckets=3), 20, 20)
    first, second = score.count_buckets(*sides, Partition((), runs), 2, config)
    assert first.p_counts.tolist() == [1, 1, 0, 0, 0, 2, 0, 0] and first.q_counts.tolist() == [1, 0, 2, 0, 0, 0, 0, 0]
    assert (second.p_counts.tolist(), second.q_counts.tolist()) == ([4, 0, 0], [3, 0, 0])
    assert first.groups is not None and first.groups.p_sizes.tolist() == [2, 2]


def test_warnings_follow_from_the_scores_by_content(monkeypatch: pytest.MonkeyPatch) -> None:
    p, q = gaussians(5, 44, 40, 3, 0.5)
    seen: list[Any] = []
    monkeypatch.setattr(score_warnings, "all_warnings", lambda *given: seen.extend(given) or ())
    options: dict[str, Any] = {"num_buckets": 4, "knn": False}
    for runs in (1, 2):
        seen.clear()
        result = compute_mauve(p_features=p, q_features=q, num_runs=runs, **options)
        evaluation = Evaluation.of_sets([FeatureSet(p), FeatureSet(q)], MauveConfig(num_runs=runs, **options))
        by_content = evaluation.partition.labels[1:]
        counts = [[np.bincount(side, minlength=4) for side in run] for run in by_content]
        areas = [curve_area(divergence_curve(run[0] / 44, run[1] / 40, 5.0, 25)) for run in counts]
        null = null_scores(*counts[0], 5.0, 25).tolist()
        assert seen[2].p_counts.tolist() == np.bincount(result.p_labels, minlength=4).tolist()
        assert seen[3:7] == pytest.approx(
            [statistics.fmean(areas), result.mauve_floor, statistics.fmean(null), statistics.stdev(null)], rel=1e-9
        )
        assert seen[7].tolist() == (counts[0][0] + counts[0][1]).tolist()
        assert [bound.kind for bound in result.bounds] == ["groups", "classifier"]  # too few texts for finer buckets
        assert result.mauve_finer is result.mauve_finer_ci is None and result.curve_band is not None


@pytest.mark.parametrize(
    ("filled", "is_auto", "is_grouped", "empty", "too_many"),
    [(3, True, False, 1, None), (3, False, True, 1, None), (3, True, True, 0, None), (11, True, True, 0, 11)],
)
def test_buckets_by_content_are_as_many_as_hold_texts_where_auto_counts_prompts(
    filled: int, is_auto: bool, is_grouped: bool, empty: int, too_many: int | None
) -> None:
    """Of 40 texts a side, "auto" makes four buckets; of 20 prompts, two in each bucket by content are enough."""
    rng, rows = np.random.default_rng(0), np.arange(40)
    sides = [FeatureSet(rng.normal(size=(40, 2)), groups=rows // 2 if is_grouped else None) for _ in "pq"]
    labels = [[rows % buckets, rng.permutation(rows % buckets)] for buckets in (4, filled)]
    config = resolve_config(MauveConfig(num_runs=1, knn=False, num_buckets="auto" if is_auto else 4), 40, 40)
    result = score.score_buckets(*sides, Partition((), labels), 1, config, score.neighbours_of(*sides, (), config)())
    numbers = {warning.code: warning.numbers for warning in result.warnings}
    assert numbers.get("empty_buckets", {"empty": 0})["empty"] == empty
    assert numbers.get("few_prompts_a_bucket", {}).get("num_buckets") == too_many


def test_layout_is_looked_for_where_a_classifier_is_fitted(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Any] = []
    telling: tuple[str, ...] = ()
    monkeypatch.setattr(score, "check_format", lambda *given: seen.append(given) or (0.7, {"length": 0.6}, telling))
    for texts, looked_at, telling in ((40, True, ("length",)), (40, True, ()), (4, False, ())):
        seen.clear()
        sides = [
            FeatureSet(rows, format_numbers=np.full((texts, len(TRAITS)), number), unseen_formats={"capitals"})
            for number, rows in enumerate(gaussians(6, texts, texts, 3, 0.2))
        ]
        result = compute_mauve(p=sides[0], q=sides[1], num_runs=1, knn=False, seed=4)
        assert (result.learned is not None) == looked_at == bool(seen)
        if looked_at:
            assert (seen[0][0].max(), seen[0][1].max(), *seen[0][2:]) == (0, 1, None, 4, {"capitals"})
            assert (result.format_auc, result.format_aucs) == (0.7, {"length": 0.6})
            assert result.normalised_missing == (score.NOT_READ_AGAIN if telling else None)
            found = [warning.code for warning in result.warnings if "format" in warning.code]
            assert found == ["format_differs"] * len(telling)


def test_prompts_of_a_side_are_counted_where_texts_share_some() -> None:
    labels = [np.array([0, 1, 1, 0, 1]), np.array([1, 0, 0])]
    codes = [np.array([4, 4, 7, 7, 7]), np.array([7, 9, 2])]
    counts = count_labels(*labels, 2, *codes)
    lengths = np.array([3, 8, 2, 9, 40])
    for design, prompts in (("prompts", (2, 3)), ("aligned", (2, 3)), ("found", (2, 3)), ("undeclared", (None, None))):
        sides = [
            FeatureSet(np.zeros((len(side), 1)), lengths=lengths[: len(side)], dependence=Dependence(design))
            for side in labels
        ]
        found = [score._fields_of_side(name, side, counts) for name, side in zip("pq", sides, strict=True)]
        assert (found[0]["p_prompts"], found[1]["q_prompts"]) == prompts
        assert (found[0]["p_median_length"], found[1]["q_median_length"]) == (8, 3)
    alone = score._fields_of_side("p", replace(sides[0], dependence=Dependence("prompts")), count_labels(*labels, 2))
    assert alone["p_prompts"] is None


def test_the_interval_is_over_clusterings_from_two_by_content_on() -> None:
    config = resolve_config(MauveConfig(num_runs=2), 20, 20)
    null, one = np.array([0.9, 0.8]), resolve_config(MauveConfig(num_runs=1), 20, 20)
    found = score._fields_of_clusterings([0.5, 0.4, 0.6], null, config)
    assert (found["ci_scope"], found["mauve_mean"]) == ("over clusterings", pytest.approx(0.45))
    assert found["mauve_std"] == pytest.approx(statistics.stdev([0.5, 0.4]))
    found = score._fields_of_clusterings([0.5, 0.4], null, one)
    assert (found["ci_scope"], found["mauve_mean"], found["mauve_std"]) == ("for this partition", 0.5, None)


def test_permuted_classifiers_count_where_they_separate_as_well(monkeypatch: pytest.MonkeyPatch) -> None:
    """But for the rounding of the AUC, and with the sides as they are among them."""
    monkeypatch.setattr(score, "permuted_aucs", lambda *_: np.array([0.7, 0.6, 0.7 - 1e-13, 0.8, 0.69]))
    sides = [FeatureSet(np.zeros((20, 1)))] * 2
    config = resolve_config(MauveConfig(quantizer="classifier", permutations=4), 20, 20)
    assert score.permutation_p_value(*sides, Partition((), ()), config) == pytest.approx(3 / 5)
    without = resolve_config(MauveConfig(quantizer="classifier"), 20, 20)
    assert score.permutation_p_value(*sides, Partition((), ()), without) is None


@pytest.mark.parametrize("form", ["array", "tensor"])
def test_neighbours_of_many_rows_are_those_of_rows_drawn_by_the_seed(
    form: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    import torch

    rng, config = np.random.default_rng(0), MauveConfig(knn=True, knn_k=2, seed=3, confidence_level=0.9)
    rows = [rng.normal(size=(size, 2)).astype(np.float32) for size in (90, 70)]
    groups = [np.arange(90) // 2, np.arange(70) // 2]
    drawn = [np.sort(np.random.default_rng(3).choice(size, 60, replace=False)) for size in (90, 70)]

    def fields(rows: list[NDArray[Any]], groups: list[NDArray[Any]] | list[None], form: str) -> dict[str, Any]:
        sides = [FeatureSet(side, groups=codes) for side, codes in zip(rows, groups, strict=True)]
        projected: list[Any] = [torch.from_numpy(side) if form == "tensor" else side for side in rows]
        return score.neighbours_of(*sides, projected, config)()

    few = [side[some] for side, some in zip(rows, drawn, strict=True)]
    expected = fields(few, [codes[some] for codes, some in zip(groups, drawn, strict=True)], "array")
    alone = fields(few, [None, None], "array")
    monkeypatch.setattr(score, "KNN_MOST_ROWS", 60)
    assert expected != alone and expected["precision"] != expected["recall"]
    for codes, numbers in ((groups, expected), ([None, None], alone)):
        found = fields(rows, codes, form)
        assert {
            name: found[name] == pytest.approx(value, abs=1e-6) for name, value in numbers.items()
        } == dict.fromkeys(found, True)


def test_spread_over_clusterings_and_of_equal_sets_is_that_of_a_sample() -> None:
    p, q = gaussians(3, 60, 60, 3, 0.5)
    result = compute_mauve(p_features=p, q_features=q, num_buckets=6, num_runs=3, independent=True)
    assert result.mauve_runs.shape == (3,) and result.mauve_runs[0] == result.mauve
    assert result.mauve_mean == pytest.approx(result.mauve_runs.mean(), rel=1e-12)
    assert result.mauve_std == pytest.approx(statistics.stdev(result.mauve_runs.tolist()), rel=1e-9)
    counts = [np.bincount(labels, minlength=6) for labels in (result.p_labels, result.q_labels)]  # of the published one
    null = null_scores(counts[0], counts[1], 5.0, 25)
    assert result.mauve_ceiling_std == pytest.approx(statistics.stdev(null.tolist()), rel=1e-9)


QUICK: dict[str, Any] = {"drmm_steps": 20, "lattice_epochs": 1, "lattice_hidden": 8, "num_runs": 1}
SHAPES: dict[str, Any] = {"drmm_layers": 3, "drmm_components": 2, "lattice_squared_radius": 1}


def features_of(quantizer: str) -> dict[str, Any]:
    p, q = gaussians(29, 40, 30, 4, 0.5)
    return {"p_features": p, "q_features": q, "quantizer": quantizer} | QUICK | SHAPES


@pytest.fixture(scope="module")
def signatures() -> dict[str, str]:
    """Of features, by quantizer; the same when computed again."""
    found = {name: compute_mauve(**features_of(name)).signature for name in ("kmeans", "drmm", "lattice")}
    assert found == {name: compute_mauve(**features_of(name)).signature for name in found}
    return found


@pytest.mark.parametrize(
    "name", [name for name, knob in config_fields().items() if knob.metadata["stage"] != "featurize"]
)
def test_each_field_changes_the_signature_of_features(name: str, signatures: dict[str, str]) -> None:
    quantizer = config_fields()[name].metadata["of"] or "kmeans"
    before = signatures[quantizer]
    after = compute_mauve(**(features_of(quantizer) | {name: CHANGES[name]})).signature
    assert before != after
    changed = {entry.split(":")[0] for entry in set(before.split("|")) ^ set(after.split("|"))}
    assert name in changed and (name == "quantizer" or changed <= {name, "num_buckets", "design"})


def test_a_signature_leaves_out_options_of_unused_quantizers() -> None:
    p, q = gaussians(29, 40, 30, 4, 0.5)
    usual = compute_mauve(p_features=p, q_features=q, **QUICK).signature
    assert "|kmeans_num_redo:5|" in usual and "quantizer" not in usual and "drmm" not in usual
    other = compute_mauve(p_features=p, q_features=q, quantizer="drmm", **QUICK).signature
    assert "|quantizer:drmm|num_buckets:" in other and "|drmm_steps:20|" in other and "|torch:" in other
    assert "kmeans_num_redo" not in other and "kmeans_max_iter" not in other


@pytest.mark.more
def test_each_field_of_featurizers_changes_the_signature_of_texts(tiny_gpt2: str, tiny_roberta: str) -> None:
    options: dict[str, Any] = {"p_text": TEXTS, "q_text": OTHERS, "featurize_model_name": tiny_gpt2} | QUICK
    before = compute_mauve(**options).signature
    assert before == compute_mauve(**options).signature
    for name in [name for name, knob in config_fields().items() if knob.metadata["stage"] == "featurize"]:
        change = tiny_roberta if name == "featurize_model_name" else CHANGES[name]
        after = compute_mauve(**(options | {name: change})).signature
        assert before != after, name
        assert name in {entry.split(":")[0] for entry in set(before.split("|")) ^ set(after.split("|"))}


def test_signature_names_sizes_versions_and_itself_last() -> None:
    import faiss

    import mauve_metric

    p, q = gaussians(30, 40, 30, 4, 0.5)
    entries = dict(entry.split(":", 1) for entry in compute_mauve(p_features=p, q_features=q).signature.split("|"))
    assert entries["n_p"] == "40" and entries["n_q"] == "30" and entries["num_buckets"] == "3"
    assert entries["p_input"] == entries["q_input"] == "features"
    assert entries["faiss-cpu"] == faiss.__version__ and entries["numpy"] == np.__version__
    assert list(entries)[-1] == "mauve_metric" and entries["mauve_metric"] == mauve_metric.__version__
    swapped = compute_mauve(p_features=q, q_features=p).signature
    assert swapped != compute_mauve(p_features=p, q_features=q).signature


def test_speed_options_are_not_in_the_signature(tiny_gpt2: str) -> None:
    options: dict[str, Any] = {"p_text": TEXTS, "q_text": OTHERS, "featurize_model_name": tiny_gpt2} | QUICK
    before = compute_mauve(**options).signature
    for speed in ({"batch_size": 2}, {"max_batch_tokens": 64}, {"device": "cpu"}, {"device_id": -1}, {"verbose": True}):
        assert compute_mauve(**options, **speed).signature == before


def test_other_weights_give_another_signature(tiny_gpt2: str, tmp_path: Path) -> None:
    import torch
    from transformers import AutoModel, AutoTokenizer

    model, tokenizer = AutoModel.from_pretrained(tiny_gpt2), AutoTokenizer.from_pretrained(tiny_gpt2)
    texts: dict[str, Any] = {"p_text": TEXTS, "q_text": OTHERS} | QUICK
    before = compute_mauve(**texts, featurize_model_name=(model, tokenizer)).signature
    with torch.no_grad():
        model.wte.weight[5, 0] += 1e-3
    assert compute_mauve(**texts, featurize_model_name=(model, tokenizer)).signature != before


def headline(result: MauveResult) -> tuple[Any, ...]:
    return (
        result.mauve_debiased,
        result.mauve_debiased_ci,
        result.mauve_debiased_stderr,
        result.frontier_integral_debiased,
        result.frontier_integral_debiased_ci,
        result.p_value,
        result.mauve_classifier,
        result.mauve_classifier_ci,
        result.auc,
        result.auc_p_value,
    )


@pytest.mark.parametrize("runs", [1, 2, "auto"])
def test_the_order_of_the_texts_has_no_part_in_the_headline(runs: int | str) -> None:
    p, q = gaussians(0, 150, 140, 8, 0.4)
    rng = np.random.default_rng(1)
    options: dict[str, Any] = {"num_runs": runs, "permutations": 19}
    one = compute_mauve(p_features=p, q_features=q, **options)
    for order in ("qp", "pq"):
        shuffled = rng.permutation(p), rng.permutation(q)
        other = compute_mauve(p_features=shuffled[0], q_features=shuffled[1], row_order=order, **options)
        assert headline(one) == headline(other)  # to the last bit
        assert one.mauve != other.mauve  # the published number depends on the order by construction


@pytest.mark.parametrize("grouped", [False, True])
def test_the_order_of_the_texts_has_no_part_in_intervals_of_neighbours(grouped: bool) -> None:
    p, q = gaussians(0, 150, 140, 8, 0.4)
    rng = np.random.default_rng(1)
    found = []
    for order in ((np.arange(150), np.arange(140)), (rng.permutation(150), rng.permutation(140))):
        groups = {"p_groups": order[0] // 5, "q_groups": order[1] // 4} if grouped else {}
        result = compute_mauve(p_features=p[order[0]], q_features=q[order[1]], num_runs=1, **groups)
        found.append((result.precision_ci, result.recall_ci, result.human_halves))
    assert found[0] == found[1] and None not in found[0]


def test_equal_signatures_mean_equal_scores() -> None:
    def digests(result: MauveResult) -> tuple[object, object]:
        return result.signature_entries["p_digest"], result.signature_entries["q_digest"]

    options: dict[str, Any] = {"featurize_model_name": ngrams, "num_buckets": 4}
    one = compute_mauve(p_text=TEXTS, q_text=OTHERS, **options)
    assert one.signature == compute_mauve(p_text=TEXTS, q_text=OTHERS, **options).signature
    p_digest, q_digest = digests(one)
    assert re.fullmatch("[0-9a-f]{12}", str(p_digest)) and p_digest != q_digest
    reversed_texts = compute_mauve(p_text=TEXTS[::-1], q_text=OTHERS, **options)
    assert digests(reversed_texts)[0] != p_digest and digests(reversed_texts)[1] == q_digest
    changed = compute_mauve(p_text=TEXTS, q_text=[*OTHERS[:-1], OTHERS[-1] + "!"], **options)
    assert digests(changed)[0] == p_digest and digests(changed)[1] != q_digest
    streamed = compute_mauve(p_text=iter(TEXTS), q_text=OTHERS, **options)
    assert streamed.signature == one.signature
    functions = [lambda texts, size=size: np.array([[len(t) % size, t.count("e")] for t in texts]) for size in (3, 50)]
    one, other = (compute_mauve(p_text=TEXTS, q_text=OTHERS, featurize_model_name=own) for own in functions)
    assert one.mauve != other.mauve and one.signature != other.signature  # two functions of one name
    p, q = gaussians(0, 30, 20, 3, 0.0)
    rows = compute_mauve(p_features=p, q_features=q, num_buckets=3)
    assert digests(rows) != digests(compute_mauve(p_features=p[::-1], q_features=q, num_buckets=3))
    assert digests(rows) == digests(compute_mauve(p_features=np.asfortranarray(p), q_features=q, num_buckets=3))


def test_every_host_gives_the_same_headline(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from mauve_metric.hosts.cli.main import main
    from mauve_metric.hosts.evaluate.metric import Mauve
    from mauve_metric.hosts.harness import lm_eval, torchmetrics

    human, model = HUMAN[:24], MODEL
    options: dict[str, Any] = {"featurize_model_name": "ngrams", "num_buckets": 4}
    direct = compute_mauve(p_text=human, q_text=model, **options)
    assert direct.mauve_debiased_ci is not None
    wanted = (direct.mauve_debiased, *direct.mauve_debiased_ci)
    metric = Mauve(**options).compute(predictions=model, references=human)
    assert (metric.mauve_debiased, *metric.mauve_debiased_ci) == wanted
    harness = lm_eval.task_functions(**options)
    pairs = [
        harness.process_results({"target": one}, [other])["mauve"] for one, other in zip(human, model, strict=True)
    ]
    # row i of a harness is a document with both its texts
    aligned = compute_mauve(p_text=human, q_text=model, aligned=True, **options)
    assert aligned.closeness_ci is not None
    shown = (harness.closeness(pairs), harness.closeness_ci_low(pairs), harness.closeness_ci_high(pairs))
    assert shown == (aligned.closeness, *aligned.closeness_ci)
    assert harness.mauve(pairs) == direct.mauve  # the order is that of the data
    batches = torchmetrics.MauveScore(**options)
    for start in range(0, len(human), 7):
        batches.update(human[start : start + 7], real=True)
        batches.update(model[start : start + 7], real=False)
    batches.compute()
    assert (batches.result.mauve_debiased, *batches.result.mauve_debiased_ci) == wanted
    assert batches.result.signature == direct.signature
    files = [write_jsonl(tmp_path / name, texts) for name, texts in (("human.jsonl", human), ("model.jsonl", model))]
    flags = ["--featurize-model-name", "ngrams", "--num-buckets", "4", "--json", "--quiet"]
    assert main(["score", *files, *flags]) == 0
    shell = json.loads(capsys.readouterr().out)
    assert (shell["mauve_debiased"], *shell["mauve_debiased_ci"]) == wanted


def test_a_permutation_test_counts_where_it_can_reach_the_level() -> None:
    """Of 18 permutations the least p-value is 1/19, above .05."""
    for permutations, level, counts in ((18, 0.95, False), (19, 0.95, True), (19, 0.99, False), (99, 0.99, True)):
        config = MauveConfig(permutations=permutations, confidence_level=level)
        assert _tested(0.2, config) == (0.2 if counts else None)
