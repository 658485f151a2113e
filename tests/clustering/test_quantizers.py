"""Every quantizer under every verb: what follows from counts holds for all."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np
import pytest

from mauve_metric import (
    compare,
    compute_mauve,
    describe,
    explain,
    human_baseline,
    robustness,
    score_sharded,
    stress_test,
)
from mauve_metric.arrays import Rows
from mauve_metric.clustering import drmm, lattice
from mauve_metric.clustering.histograms import Quantized
from mauve_metric.clustering.kmeans import kmeans
from mauve_metric.clustering.quantizers import (
    QUANTIZERS,
    StackedSets,
    num_buckets_of,
    quantizer_options,
    scoring_options,
)
from mauve_metric.options import MauveConfig, config_fields
from mauve_metric.results.signature import signature_options
from mauve_metric.scoring.evaluation import resolve_config

DRMM: dict[str, Any] = {
    "quantizer": "drmm", "drmm_layers": 2, "drmm_components": 3, "drmm_steps": 40, "num_runs": 1
}  # fmt: skip


def sets(n: int = 90, shift: float = 1.0, d: int = 5) -> tuple[Rows, Rows]:
    rng = np.random.default_rng(n)
    rows = rng.normal(size=(2, n, d)).astype(np.float32)
    rows[1, :, 0] += shift
    return rows[0], rows[1]


def test_the_config_offers_the_quantizers_that_there_are() -> None:
    assert set(config_fields()["quantizer"].metadata["choices"]) == set(QUANTIZERS)
    owners = {knob.metadata["of"] for knob in config_fields().values()} - {None}
    assert owners <= set(QUANTIZERS)


def test_the_number_of_buckets_is_the_quantizers() -> None:
    p, q = sets()
    found = compute_mauve(p_features=p, q_features=q, **DRMM)
    assert found.num_buckets == 9 == len(found.p_hist) and found.p_labels.max() < 9
    again = compute_mauve(p_features=p, q_features=q, num_buckets=9, **DRMM)
    assert again.mauve == found.mauve and again.signature == found.signature


@pytest.mark.parametrize("name", ["drmm", "lattice"])
@pytest.mark.parametrize("n", [50, 80, 100, 200, 300, 600, 1000, 5000])
def test_buckets_hold_about_ten_texts_whatever_their_number(name: str, n: int) -> None:
    assert 6 <= n / num_buckets_of(MauveConfig(quantizer=name), n, 2 * n) <= 15  # type: ignore[arg-type]


def test_given_shapes_stay_and_a_given_number_of_buckets_chooses_one() -> None:
    def k(n: int = 100, **options: Any) -> int:
        return num_buckets_of(MauveConfig(**options), n, n)

    assert k(quantizer="drmm", drmm_layers=3, drmm_components=10) == 1000 == k(quantizer="drmm", drmm_preset="paper")
    assert k(quantizer="lattice", lattice_squared_radius=50) == 744 == k(quantizer="lattice", lattice_preset="paper")
    assert k(quantizer="drmm", drmm_preset="paper", drmm_layers=2) == 100
    assert k(400, quantizer="drmm", drmm_layers=1) == 40 and k(400, quantizer="drmm", drmm_components=6) == 36
    assert k(quantizer="drmm", num_buckets=27) == 27 and k(quantizer="lattice", num_buckets=48) == 48
    assert k(quantizer="drmm", drmm_layers=5, drmm_components=10) == 100_000
    assert quantizer_options(MauveConfig(), 4545, 4546)["lattice_epochs"] == 10  # eleven would be 100,001 rows
    with pytest.raises(ValueError, match=r"num_buckets must be .* quantizer='lattice', which makes 24, got 20"):
        num_buckets_of(MauveConfig(quantizer="lattice", num_buckets=20))


def test_another_number_of_buckets_is_refused_before_the_work() -> None:
    message = "num_buckets must be 'auto' or left out with quantizer='drmm', which makes 9, got 7"
    texts: list[str] = ["never read"] * 300

    def never(texts: list[str]) -> NoReturn:
        raise AssertionError("texts were featurized")

    options: dict[str, Any] = {**DRMM, "num_buckets": 7, "featurize_model_name": never}
    del options["num_runs"]
    for call in (
        lambda: compute_mauve(p_text=texts, q_text=texts, **options),
        lambda: explain(p_text=texts, q_text=texts, **options),
        lambda: compare(texts, {"m": texts}, **options),
        lambda: describe(p_text=texts, models={"m": texts}, **options),
        lambda: human_baseline(p_text=texts, **options),
        lambda: robustness(p_text=texts, models={"m": texts}, **options),
        lambda: stress_test(texts, **options),
        lambda: score_sharded("nowhere", "nowhere", "nowhere", **options),
    ):
        with pytest.raises(ValueError, match=message):
            call()
    with pytest.raises(ValueError, match=r"to the power of drmm_layers must be at most 100000, got 9\^9"):
        num_buckets_of(MauveConfig(quantizer="drmm", drmm_components=9, drmm_layers=9))
    assert num_buckets_of(MauveConfig(num_buckets=7)) == 7


def test_there_are_at_most_as_many_buckets_of_k_means_as_texts() -> None:
    assert num_buckets_of(MauveConfig(num_buckets=9), 4, 5) == 9
    for sizes, which in (((4, 5), "both sets, 4 [+] 5"), ((4, 3, 2), "all sets, 4 [+] 3 [+] 2")):
        with pytest.raises(ValueError, match=f"num_buckets must be at most the number of texts of {which}, got 10"):
            num_buckets_of(MauveConfig(num_buckets=10), *sizes)


def test_scores_of_drmm_are_those_of_its_labels() -> None:
    p, q = sets()
    labels = drmm.drmm(np.concatenate([q, p]), 2, 3, 40, seed=25).labels
    found = compute_mauve(p_features=p, q_features=q, **DRMM)
    assert np.array_equal(found.q_labels, labels[:90]) and np.array_equal(found.p_labels, labels[90:])
    same = compute_mauve(p_features=p, q_features=q, **(DRMM | {"row_order": "pq"}))
    assert np.array_equal(same.p_labels, drmm.drmm(np.concatenate([p, q]), 2, 3, 40, seed=25).labels[:90])


@pytest.mark.more
def test_the_papers_presets_are_resolved_and_named_in_the_signature(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: dict[str, tuple[object, ...]] = {}

    def spy(name: str) -> Callable[..., Quantized]:
        def quantizer(rows: Rows, *options: object) -> Quantized:
            seen[name] = options
            return Quantized(np.arange(len(rows)) % 4)

        return quantizer

    monkeypatch.setattr(drmm, "drmm", spy("drmm"))
    monkeypatch.setattr(lattice, "lattice", spy("lattice"))
    p, q = sets()
    found = compute_mauve(p_features=p, q_features=q, quantizer="drmm", drmm_preset="paper", num_runs=1)
    # Pillutla et al.'s code: 20 (90 + 90) batches by tensorflow's Adam, whose decays are .9 and .999; the first
    # means are drawn around the rows' mean with their deviation, the first variances a hundredth of theirs
    assert seen["drmm"][:3] == (3, 10, 3600) and seen["drmm"][-1] == (0.005, 0.999, 1.0, 0.01)
    assert "|drmm_steps:3600|drmm_preset:paper|" in found.signature and "lattice" not in found.signature
    again = compute_mauve(p_features=p, q_features=q, **signature_options(found.signature_entries, texts=False))
    assert again.signature == found.signature
    found = compute_mauve(p_features=p, q_features=q, quantizer="lattice", lattice_preset="paper", num_runs=1)
    assert seen["lattice"][:4] == (50, 200, 768, 1.0) and seen["lattice"][-1] is True
    assert "|lattice_epochs:200|lattice_hidden:768|" in found.signature and "|lattice_preset:paper|" in found.signature
    compute_mauve(p_features=p, q_features=q, quantizer="lattice", lattice_epochs=3, num_runs=1)
    assert seen["lattice"][:3] == (1, 3, 256) and seen["lattice"][-1] is False
    p, q = sets(1250)  # 40 passes over 2500 rows are 100,000
    found = compute_mauve(p_features=p, q_features=q, quantizer="lattice", num_runs=1)
    assert seen["lattice"][:3] == (13, 40, 256) and "|lattice_epochs:40|" in found.signature
    again = compute_mauve(p_features=p, q_features=q, **signature_options(found.signature_entries, texts=False))
    assert again.signature == found.signature and seen["lattice"][1] == 40


def test_what_follows_from_counts_holds_for_drmm() -> None:
    p, q = sets(shift=2.0)
    found = compute_mauve(p_features=p, q_features=q, permutations=99, **DRMM)
    usual = compute_mauve(p_features=p, q_features=q, num_runs=1)
    assert found.mauve_debiased_ci is not None and found.mauve_debiased is not None
    assert found.mauve_debiased_ci[0] <= found.mauve_debiased <= found.mauve_debiased_ci[1] < 1
    assert found.mauve < found.mauve_ceiling <= 1 and found.p_value == 0.01
    assert (found.precision, found.recall) == (usual.precision, usual.recall)  # neighbours among projected rows
    equal = compute_mauve(p_features=p, q_features=sets(91)[0][:90], permutations=99, **DRMM)
    assert equal.mauve > found.mauve and equal.p_value is not None and equal.p_value > 0.05


@pytest.mark.more
def test_models_are_compared_and_explained_on_buckets_of_drmm() -> None:
    p, near = sets(shift=0.0)
    far = near + np.float32(3)
    found = compare(p_features=p, models={"far": far, "near": near}, buckets=2, **DRMM)
    assert found.ranking == ("near", "far") and found.differences[0].real
    assert "|quantizer:drmm|num_buckets:9|" in found.signature
    assert len(found.explanations["far"].buckets) == 2
    told = explain(p_features=p, q_features=far, buckets=3, **DRMM)
    assert told.result.num_buckets == 9 and abs(told.contributions.sum() - told.gap) < 1e-12
    assert told.buckets[0].contribution >= told.buckets[1].contribution > 0


def test_options_of_another_quantizer_are_named(caplog: pytest.LogCaptureFixture) -> None:
    scoring_options({"quantizer": "drmm", "drmm_layers": 2, "lattice_epochs": "auto"})
    scoring_options({"lattice_epochs": 3}, "robustness")  # which varies the quantizer
    assert not caplog.messages
    scoring_options({"drmm_layers": 2, "lattice_epochs": 3, "kmeans_num_redo": 2})
    assert caplog.messages == ["no effect with the quantizer kmeans: drmm_layers=2, lattice_epochs=3"]


def test_a_training_that_is_too_short_is_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    p, q = sets()
    found = compute_mauve(p_features=p, q_features=q, **(DRMM | {"num_runs": 2}))
    told = [warning for warning in found.warnings if warning.code == "quantizer_not_converged"]
    # the published buckets, and two of the rows sorted by content
    assert [warning.numbers for warning in told] == [{"runs": 3}] and "drmm_steps" in told[0].message
    assert "quantizer_not_converged: the mixtures of quantizer='drmm' were still improving" in caplog.text
    codes = {warning.code for warning in compute_mauve(p_features=p, q_features=q).warnings}
    assert "quantizer_not_converged" not in codes


def test_bad_features_are_refused() -> None:
    p, q = sets()
    with pytest.raises(ValueError, match="drmm_components must be at most the number of texts of all sets, 2, got 3"):
        compute_mauve(p_features=p[:1], q_features=q[:1], **DRMM)
    with pytest.raises(ValueError, match="quantizer='drmm' needs features that differ"):
        compute_mauve(p_features=np.ones((9, 2)), q_features=np.ones((9, 2)), **DRMM)


def test_k_means_by_content_starts_by_k_means_plus_plus() -> None:
    rows, config = np.concatenate(sets(200)), resolve_config(MauveConfig(num_buckets=20, kmeans_num_redo=1), 200, 200)
    quantizer, stacked = QUANTIZERS["kmeans"], StackedSets(np.repeat([0, 1], 200))
    assert quantizer.by_content is not None
    for label, plus_plus in ((quantizer.label, False), (quantizer.by_content, True)):
        expected = kmeans(rows, 20, 1, config.kmeans_max_iter, 7, plus_plus)
        np.testing.assert_array_equal(label(rows, stacked, config, 7, None).labels, expected)


def test_learned_buckets_tell_a_wide_set_from_a_narrow_one() -> None:
    """Which no line does; the last buckets are the most model-like."""
    rng, config = np.random.default_rng(2), resolve_config(MauveConfig(quantizer="classifier"), 60, 60)
    rows = np.concatenate([rng.normal(size=(60, 3)), 4 * rng.normal(size=(60, 3))])
    labels = QUANTIZERS["classifier"].label(rows, StackedSets(np.repeat([0, 1], 60)), config, 25, None).labels
    assert labels[60:].mean() - labels[:60].mean() > 0.3 * labels.max()


def test_learned_buckets_are_of_their_seed_and_of_their_groups() -> None:
    rows = np.concatenate(sets(60, shift=0.2))
    config, set_of = resolve_config(MauveConfig(quantizer="classifier"), 60, 60), np.repeat([0, 1], 60)

    def labels(seed: int, groups: Any = None) -> list[int]:
        return QUANTIZERS["classifier"].label(rows, StackedSets(set_of, groups), config, seed, None).labels.tolist()

    assert labels(25) == labels(25) != labels(26)
    assert labels(25, np.arange(120)) == labels(25) != labels(25, np.tile(np.arange(20), 6))
