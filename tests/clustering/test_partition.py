"""One partition of several sets: forms of the rows, seeds of repeated runs, sizes."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from mauve_metric import compute_mauve
from mauve_metric.arrays import Labels, Rows
from mauve_metric.clustering import histograms, kmeans, partition, projection
from mauve_metric.clustering.checkpoint import CHECKPOINT_FILE
from mauve_metric.clustering.nearest_centres import assign
from mauve_metric.clustering.num_buckets import auto_num_buckets, is_auto
from mauve_metric.clustering.partition import closeness_configs, config_by_content, partition_sets
from mauve_metric.clustering.quantizers import QUANTIZERS, StackedSets
from mauve_metric.features.array_files import BlockwiseRows, NpyRows, feature_rows
from mauve_metric.features.row_blocks import ArrayRows, CheckedRows, ConcatenatedRows, content_order
from mauve_metric.measures.frontier import exact_area
from mauve_metric.options import MauveConfig, RunOptions
from mauve_metric.runtime.threads import side_by_side
from mauve_metric.scoring.evaluation import resolve_config
from mauve_metric.uncertainty.closeness import Bound

DRMM: dict[str, Any] = {
    "quantizer": "drmm", "drmm_layers": 2, "drmm_components": 3, "drmm_steps": 40, "num_runs": 1
}  # fmt: skip


def sets(n: int = 90, shift: float = 1.0, d: int = 5) -> tuple[Rows, Rows]:
    rng = np.random.default_rng(n)
    rows = rng.normal(size=(2, n, d)).astype(np.float32)
    rows[1, :, 0] += shift
    return rows[0], rows[1]


@pytest.mark.parametrize(("asked", "made"), [("auto", 1), (3, 3), (5, 5)])
def test_clusterings_by_content_have_one_start_unless_another_number_is_asked_for(asked: Any, made: int) -> None:
    config = resolve_config(MauveConfig(kmeans_num_redo=asked), 40, 40)
    assert config_by_content(config, StackedSets(np.repeat([0, 1], 40))).kmeans_num_redo == made


@pytest.mark.more
def test_runs_have_seeds_of_their_own() -> None:
    p, q = sets()
    found = compute_mauve(p_features=p, q_features=q, **(DRMM | {"num_runs": 3}))
    alone = [compute_mauve(p_features=p, q_features=q, seed=seed, **DRMM).mauve for seed in (25, 26, 27)]
    assert found.mauve_runs[0] == alone[0] and len(set(found.mauve_runs.tolist())) == 3 and found.mauve_std > 0
    # a clustering by content is that of sets whose rows are in this order, whatever set a row is of
    rows = np.concatenate([q, p])
    order = content_order(rows)
    sorted_rows = partition_sets(
        [rows[order][:1], rows[order][1:]], resolve_config(MauveConfig(**(DRMM | {"row_order": "pq"})), 90, 90)
    )
    of_sets = partition_sets([p, q], resolve_config(MauveConfig(**(DRMM | {"num_runs": 3})), 90, 90))
    first, second = (np.concatenate(one.labels[1]) for one in (sorted_rows, of_sets))
    assert np.array_equal(first, np.concatenate([second[len(p) :], second[: len(p)]])[order])


def test_clusterings_by_content_are_kmeans_plus_plus_and_the_first_is_the_literatures(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    kmeans, calls = QUANTIZERS["kmeans"], []

    def label(*values: Any) -> Any:
        calls.append(("published", values[3]))
        return kmeans.label(*values)

    def by_content(*values: Any) -> Any:
        calls.append(("by content", values[3]))
        assert kmeans.by_content is not None
        return kmeans.by_content(*values)

    monkeypatch.setitem(QUANTIZERS, "kmeans", kmeans._replace(label=label, by_content=by_content))
    partition_sets([*sets()], resolve_config(MauveConfig(num_buckets=4, num_runs=3), 90, 90))
    published, *others = calls  # closeness has the usual number of buckets
    assert published == ("published", 25) and others == 2 * [("by content", 26), ("by content", 27)]


@pytest.mark.parametrize(("runs", "count"), [(1, 2), (2, 3), (3, 3), (5, 5)])
def test_every_score_has_a_clustering_by_content(runs: int, count: int) -> None:
    p, q = sets()
    config = resolve_config(MauveConfig(num_buckets=4, num_runs=runs), 90, 90)
    assert len(partition_sets([p, q], config).labels) == count == partition.number_of_clusterings(config)
    assert len(partition_sets([p, q], config, clusterings=1).labels) == 1


def test_rows_that_are_read_in_blocks_follow_the_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    p, q = sets()
    np.save(tmp_path / "p.npy", p)
    monkeypatch.setattr(partition, "_fit_together", lambda *_: False)
    found = compute_mauve(p_features=tmp_path / "p.npy", q_features=q, num_buckets=4, num_runs=1, knn=False)
    assert len(found.mauve_runs) == 1 and found.ci_scope == "for this partition" and found.mauve_debiased_ci is not None


@pytest.mark.parametrize("form", [".npy", "map", "sequential"])
def test_sets_that_are_read_in_blocks_and_fitted_together_keep_every_bit(
    form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    p, q = sets(400, d=6)
    config = resolve_config(MauveConfig(num_buckets=8), 400, 400)
    expected = partition_sets([p, q], config)
    np.save(tmp_path / "p.npy", p)
    monkeypatch.setattr(partition, "MOST_NUMBERS_READ", 0)
    lazy: dict[str, Any] = {
        ".npy": NpyRows.of_file(tmp_path / "p.npy"),
        "map": feature_rows("p", np.load(tmp_path / "p.npy", mmap_mode="r")),
        "sequential": CheckedRows("p", ConcatenatedRows([BlockwiseRows(p.shape, lambda: iter([p[:150], p[150:]]))])),
    }
    for many in (10**9, 0):  # one projection serves both orders here, whose last bits move no row between buckets
        monkeypatch.setattr(partition, "MANY_TEXTS", many)
        found = partition_sets([lazy[form], q], config)
        np.testing.assert_array_equal(found.rows[0], expected.rows[0])
        for run, other in zip(expected.labels, found.labels, strict=True):
            assert all(np.mean(one == two) > 0.99 for one, two in zip(run, other, strict=True))
        np.testing.assert_array_equal(found.labels[0], expected.labels[0])


def test_memory_maps_take_no_copy_beside_their_unit_rows_and_projection(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    p, q = sets(20_000, d=60)
    for name, rows in (("p", p), ("q", q)):
        np.save(tmp_path / f"{name}.npy", rows)
    maps = [feature_rows(name, np.load(tmp_path / f"{name}.npy", mmap_mode="r")) for name in "pq"]
    monkeypatch.setattr(partition, "MOST_NUMBERS_READ", 0)
    monkeypatch.setattr(partition, "MANY_TEXTS", 0)
    monkeypatch.setattr(partition, "closeness_configs", lambda *_: iter(()))  # which have many centres
    config = resolve_config(MauveConfig(num_buckets=4, kmeans_num_redo=1, kmeans_max_iter=2), 20_000, 20_000)
    assert all(rows is not None for rows in maps)
    partition_sets([rows for rows in maps if rows is not None], config)  # imports
    tracemalloc.start()
    try:
        partition_sets([rows for rows in maps if rows is not None], config)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 3 * (p.nbytes + q.nbytes)


@pytest.mark.more
def test_files_are_read_as_a_whole_and_refused_where_they_do_not_fit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    p, q = sets()
    np.save(tmp_path / "p.npy", p)
    read = compute_mauve(p_features=tmp_path / "p.npy", q_features=q, **DRMM)
    assert read.mauve == compute_mauve(p_features=p, q_features=q, **DRMM).mauve
    monkeypatch.setattr(partition, "MOST_NUMBERS_AT_ONCE", 900)
    assert read.mauve == compute_mauve(p_features=tmp_path / "p.npy", q_features=q, **DRMM).mauve
    monkeypatch.setattr(partition, "MOST_NUMBERS_AT_ONCE", 899)
    message = "quantizer='drmm' does not work in blocks, and reads at most 899 numbers in all sets together, got 900"
    with pytest.raises(ValueError, match=message):
        compute_mauve(p_features=tmp_path / "p.npy", q_features=q, **DRMM)
    compute_mauve(p_features=p, q_features=q, **DRMM)  # what is in memory is


def test_learned_buckets_of_files_that_do_not_fit_are_those_of_arrays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    p, q = sets()
    np.save(tmp_path / "p.npy", p)
    expected = compute_mauve(p_features=p, q_features=q, quantizer="classifier", num_runs=1)
    monkeypatch.setattr(partition, "MOST_NUMBERS_AT_ONCE", 899)
    found = compute_mauve(p_features=tmp_path / "p.npy", q_features=q, quantizer="classifier", num_runs=1)
    # rounding in blocks may move a text over the border of a bucket, of which each side has 150 / k or so
    assert np.abs(found.p_hist - expected.p_hist).max() <= 2 / len(p) and found.num_buckets == expected.num_buckets
    assert found.mauve == pytest.approx(expected.mauve, abs=0.02) and found.precision == expected.precision


def test_tensors_stay_tensors() -> None:
    p, q = sets()
    assert isinstance(partition._stacked([p, q], None), np.ndarray)
    assert isinstance(partition._stacked([p, q], torch.device("cpu")), torch.Tensor)
    config = resolve_config(MauveConfig(**(DRMM | {"num_buckets": 9})), 90, 90)
    plain = partition_sets([p, q], config)
    there = partition_sets([p, q], config, RunOptions(score_device="cpu"))
    assert all(isinstance(rows, torch.Tensor) for rows in there.rows)
    for one, two in zip(plain.labels[0], there.labels[0], strict=True):
        assert np.array_equal(one, two)
    assert all(
        np.array_equal(one, two) for one, two in zip(plain.labels_without_sets, there.labels_without_sets, strict=True)
    )


@pytest.mark.more
@pytest.mark.parametrize(
    ("change", "truth"),
    [
        (lambda rows: rows, 1.0),
        (lambda rows: 2 * rows, 0.698),  # MAUVE of N(0, 1) and N(0, 4) in 4000 bins
        (lambda rows: rows + 0.5, 0.951),
    ],
)
def test_a_single_column_is_more_than_its_sign(change: Callable[[Rows], Rows], truth: float) -> None:
    """Rows of length 1 are all -1 or 1: by content they are put in buckets by their ranks."""
    p, q = np.random.default_rng(1).normal(size=(2, 600, 1))
    found = compute_mauve(p_features=p, q_features=change(q))
    assert found.mauve_debiased == pytest.approx(truth, abs=0.06)  # standard error .015, four of them
    assert (found.verdict == "different") == (truth < 1)
    moved = compute_mauve(p_features=np.exp(p[::-1]), q_features=np.exp(change(q)))
    assert moved.mauve_debiased == pytest.approx(found.mauve_debiased, abs=1e-12)


@pytest.mark.parametrize("offset", [1e4, 1e6, 1e8])
def test_a_common_offset_that_float64_holds_leaves_a_verdict(offset: float) -> None:
    p, q = np.random.default_rng(2).normal(size=(2, 400, 20))
    q[:, ::2] += 0.6
    found = compute_mauve(p_features=p + offset, q_features=q + offset)
    assert (found.verdict, found.verdict_reason) == ("different", None)
    assert found.mauve_debiased is not None and found.mauve_debiased < 0.95  # the buckets see it as well


def buckets_of(lists: Sequence[Sequence[Labels]]) -> int:
    return max(int(labels.max()) for run in lists for labels in run) + 1


@pytest.mark.parametrize(
    ("prompts", "texts", "number", "finer"), [(20, 5, 10, 0), (50, 1, 5, 20), (50, 3, 15, 20), (15, 10, 7, 0)]
)
def test_a_bucket_has_two_prompts_or_more(prompts: int, texts: int, number: int, finer: int) -> None:
    p, q = sets(prompts * texts)
    codes = np.repeat(np.arange(prompts), texts)
    found = partition_sets([p, q], resolve_config(MauveConfig(), len(p), len(q)), groups=[codes, codes])
    assert {buckets_of([run]) for run in found.labels[1:]} == {number}
    sizes = [buckets_of(runs) for runs in found.closeness]
    assert sizes[0] == number and len(sizes) == (2 if finer else 1)
    assert not finer or number < sizes[1] <= finer


def test_texts_that_are_like_no_other_have_no_finer_bucket_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """A third of 120 texts a side is; the others are of ten kinds."""
    monkeypatch.setattr(histograms, "MOST_SINGLES", 0)
    rng = np.random.default_rng(3)
    p, q = np.repeat(rng.normal(size=(10, 30)), 8, axis=0) + 0.1 * rng.normal(size=(2, 80, 30))
    p, q = (np.vstack([rows, rng.normal(size=(40, 30))]) for rows in (p, q))
    found = partition_sets([p, q], resolve_config(MauveConfig(), 120, 120))
    totals = np.bincount(np.concatenate(found.closeness[1][0]))
    assert 10 < len(totals) < 48 and totals.min() > 1


@pytest.mark.parametrize(
    ("n", "buckets"), [(49, None), (50, 20), (400, 160), (1990, 796), (2010, 804), (2500, 1000), (6000, 2000)]
)
def test_there_are_finer_clusterings_of_any_size(n: int, buckets: int | None, monkeypatch: pytest.MonkeyPatch) -> None:
    """One bucket for two and a half texts, up to 2000."""
    monkeypatch.setattr(partition, "FINER_RUNS", 3)
    config = resolve_config(MauveConfig(), n, n + 7)
    made = [*closeness_configs(config, StackedSets(np.repeat([0, 1], [n, n + 7])), range(1, 5))]
    assert made[0][0].num_buckets == auto_num_buckets(n, n) and made[0][1:] == (range(1, 5), False)
    assert {one.kmeans_num_redo for one, *_ in made} == {1}
    assert [(one.num_buckets, is_finer) for one, _, is_finer in made[1:]] == ([(buckets, True)] if buckets else [])
    assert not buckets or len(made[1][1]) == (3 if n < partition.FEW_FOR_FINER_RUNS else 1)


@pytest.mark.parametrize(
    "options",
    [
        {"num_buckets": 7},
        {"num_buckets": 31},
        {"kmeans_num_redo": 2, "kmeans_max_iter": 9},
        DRMM,
        {"quantizer": "classifier"},
    ],
)
def test_closeness_has_the_same_clusterings_whatever_the_options_of_the_published_score(
    options: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(partition, "FINER_RUNS", 2)
    p, q = sets(120)
    expected, found = (
        partition_sets([p, q], resolve_config(MauveConfig(**({"num_runs": 1} | more)), 120, 120)).closeness
        for more in ({}, options)
    )
    assert [len(runs) for runs in found] == [len(runs) for runs in expected] == [1, 2]
    for runs, others in zip(found, expected, strict=True):
        for run, other in zip(runs, others, strict=True):
            assert all(np.array_equal(one, two) for one, two in zip(run, other, strict=True))


@pytest.mark.parametrize(
    ("sizes", "buckets"),
    [
        ((50_000, 50_000), (5000, False)),
        ((20_000, 90_000), (2000, False)),
        ((20_010, 90_000), (2001, True)),
        ((60_000, 70_000), (5000, True)),
    ],
)
def test_closeness_has_a_bounded_number_of_buckets_over_a_hundred_thousand_rows(
    sizes: tuple[int, int], buckets: tuple[int, bool]
) -> None:
    config, stacked = resolve_config(MauveConfig(), *sizes), StackedSets(np.repeat([0, 1], sizes))
    made = [*closeness_configs(config, stacked, range(1, 2))]
    assert [(one.num_buckets, is_finer) for one, _, is_finer in made] == [buckets]


@pytest.mark.parametrize("options", [{}, {"num_buckets": 9}, {"num_buckets": 7}])
def test_closeness_of_many_rows_is_that_of_any_options_and_of_blocks(
    options: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The nine buckets are fitted to 144 of 240 rows, so that all rows would give other ones."""
    for name, number in (("MANY_ROWS", 200), ("MOST_FINER", 4), ("MOST_OF_MANY", 9)):
        monkeypatch.setattr(partition, name, number)
    p, q = sets(120)
    blockwise = [ArrayRows(p), ArrayRows(q)], RunOptions(checkpoint=tmp_path)
    expected, found, in_blocks = (
        partition_sets(rows, resolve_config(MauveConfig(num_runs=1, **more), 120, 120), run).closeness
        for more, (rows, run) in (
            ({"num_buckets": 30}, ([p, q], None)),
            (options, ([p, q], None)),
            (options, blockwise),
        )
    )
    assert [len(runs) for runs in found] == [len(runs) for runs in in_blocks] == [1]
    assert len(np.unique(np.concatenate(expected[0][0]))) == 9
    for one, two, three in zip(expected[0][0], found[0][0], in_blocks[0][0], strict=True):
        np.testing.assert_array_equal(one, two)
        assert np.mean(one == three) > 0.95  # the last bits of the projection may move a row on a border


@pytest.mark.parametrize("rows_a_bucket", [8, 100])
def test_texts_alone_in_a_fine_bucket_join_another_in_memory_and_in_blocks(
    rows_a_bucket: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The buckets are fitted to 320 of the rows or to all; 100 texts are far from others, a fifth of them alone."""
    for name, number in (("MANY_ROWS", 200), ("MOST_FINER", 4), ("MOST_OF_MANY", 40), ("ROWS_OF_MANY", rows_a_bucket)):
        monkeypatch.setattr(partition, name, number)
    near = np.eye(103)[np.arange(400) % 3]
    p, q = (
        np.concatenate([5 * near[:350] + 0.2 * side, 0.5 * near[350:] + far])
        for side, far in zip(sets(350, d=103), np.split(np.eye(103)[3:], 2), strict=True)
    )
    config = resolve_config(MauveConfig(kmeans_explained_var=1.0), 400, 400)
    in_memory = partition_sets([p, q], config).closeness
    in_blocks = partition_sets([ArrayRows(p), ArrayRows(q)], config, RunOptions(checkpoint=tmp_path)).closeness
    for found, other in zip(in_memory[0], in_blocks[0], strict=True):
        labels = np.concatenate(found)
        counts = np.bincount(labels)
        assert counts.min() > 1 and len(counts) < 40
        assert np.sum(labels != np.concatenate(other)) < 5  # last bits


@pytest.mark.more
def test_closeness_does_not_depend_on_the_door(tmp_path: Path) -> None:
    """By number of buckets, quantizer, checkpoint, device and order of rows: last bits may move single texts."""
    p, q = sets(150, shift=0.6)
    alone = compute_mauve(p_features=p, q_features=q, knn=False)
    others: dict[str, dict[str, Any]] = {
        "a number": {"num_buckets": 40},
        "drmm": DRMM | {"num_runs": "auto"},
        "device": {"score_device": "cpu"},
    }
    for name, options in others.items():
        found = compute_mauve(p_features=p, q_features=q, knn=False, **options)
        assert found.closeness == pytest.approx(alone.closeness, abs=1e-6), name
        assert found.closeness_ci == pytest.approx(alone.closeness_ci, abs=1e-6), name
    in_blocks = compute_mauve(p_features=p, q_features=q, knn=False, checkpoint=tmp_path)
    assert in_blocks.closeness == pytest.approx(alone.closeness, abs=0.02)


@pytest.mark.more
def test_intervals_of_few_prompts_cover_mauve_of_the_distributions() -> None:
    """Of 20 kinds, which two buckets would blur; 24 of 30 are four standard errors below 96 %."""
    covered = 0
    for seed in range(30):
        rng = np.random.default_rng(seed)
        p, centres = rng.dirichlet(np.full(20, 4.0)), 1.5 * rng.normal(size=(20, 10))
        q = p * np.exp(0.8 * rng.normal(size=20))
        q /= q.sum()
        codes, of_prompt = np.repeat(np.arange(20), 5), rng.random(20)
        rows = []
        for side in (p, q):
            ranks = np.where(rng.random(100) < 0.7, of_prompt[codes], rng.random(100))
            kinds = np.searchsorted(np.cumsum(side)[:-1], ranks)
            rows.append((centres[kinds] + 0.4 * rng.normal(size=(100, 10))).astype(np.float32))
        config = resolve_config(MauveConfig(num_runs=5), 100, 100)
        labels = partition_sets(rows, config, groups=[codes, codes]).labels[1:]
        found = Bound("groups", [(run[0], run[1]) for run in labels], (codes, codes)).estimates(config)
        covered += found.mauve.ci[0] <= exact_area(p, q) <= found.mauve.ci[1]
    assert covered >= 24


@pytest.mark.parametrize("options", [{}, {"row_order": "pq"}, {"pca_max_data": 50}, {"d": 1}, {"many": 100}])
def test_projected_rows_are_handed_on_before_they_are_clustered(
    options: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    options, announced = dict(options), list[Sequence[Any]]()
    monkeypatch.setattr(partition, "MANY_TEXTS", options.pop("many", 100_000))
    p, q = sets(d=options.pop("d", 5))
    config = resolve_config(MauveConfig(**options), len(p), len(q))
    cluster = partition._cluster

    def watched_cluster(*arguments: Any, **more: Any) -> Any:
        assert announced
        return cluster(*arguments, **more)

    monkeypatch.setattr(partition, "_cluster", watched_cluster)
    made = partition_sets([p, q], config, on_projected=announced.append)
    assert len(announced) == 1
    for rows, expected in zip(announced[0], made.rows, strict=True):
        np.testing.assert_array_equal(rows, expected)


@pytest.mark.parametrize("options", [{}, {"row_order": "pq"}, {"d": 1}, {"many": 100}, {"rows": 200}, DRMM])
def test_finer_clusterings_are_the_same_beside_the_others(
    options: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    options, started = dict(options), list[Any]()
    sizes = {"MANY_TEXTS": options.pop("many", 100_000), "MANY_ROWS": options.pop("rows", 100_000)}
    for name, number in (sizes | {"MOST_FINER": 50, "MOST_OF_MANY": 9, "FINER_FROM": 100}).items():
        monkeypatch.setattr(partition, name, number)
    p, q = sets(120, d=options.pop("d", 5))
    config = resolve_config(MauveConfig(**options), 120, 120)
    expected = partition_sets([p, q], config)
    with side_by_side() as run:

        def begin(*call: Any) -> Any:
            started.append(call)
            return run(*call)

        found = partition_sets([p, q], config, start=begin)
    assert started
    for one, other in zip((expected.labels, *expected.closeness), (found.labels, *found.closeness), strict=True):
        np.testing.assert_array_equal(one, other)


def test_buckets_of_a_single_column_by_content_are_neighbours_in_rank() -> None:
    """Its rows of length 1 are all alike, of which the published clustering makes one bucket."""
    p, q = np.random.default_rng(6).lognormal(size=(2, 60, 1))
    found = partition_sets([p, q], resolve_config(MauveConfig(num_buckets=4, num_runs=1), 60, 60))
    published, by_content = (np.concatenate(run) for run in found.labels)
    assert np.ptp(published) == 0
    in_order = by_content[np.argsort(np.concatenate([p, q])[:, 0])]
    assert len(np.unique(in_order)) == 4 == 1 + np.count_nonzero(np.diff(in_order))


@pytest.mark.parametrize(("p_first", "order"), [(True, [0, 1, 2]), (False, [1, 2, 0])])
def test_stacked_sets_are_split_with_the_first_set_in_front(p_first: bool, order: list[int]) -> None:
    parts = [np.arange(2), 10 + np.arange(3), 20 + np.arange(4)]
    stacking = partition.Stacking((2, 3, 4), p_first)
    stacked = np.concatenate(stacking.ordered(parts))
    assert stacked.tolist() == np.concatenate([parts[number] for number in order]).tolist()
    for found, part in zip(stacking.split(stacked), parts, strict=True):
        np.testing.assert_array_equal(found, part)


def test_a_number_of_buckets_is_that_of_auto_for_k_means_of_the_sets_it_was_made_for() -> None:
    config = resolve_config(MauveConfig(), 100, 150)
    assert is_auto(config, 100) and not is_auto(config, 200)
    for other in (MauveConfig(num_buckets=10), MauveConfig(quantizer="classifier")):
        assert not is_auto(resolve_config(other, 100, 150), 100)


def test_texts_of_a_set_without_prompts_are_each_alone() -> None:
    prompts = np.array([0, 0, 7])
    for groups, given in (([prompts, None], slice(0, 3)), ([None, prompts], slice(4, 7))):
        sizes = (3, 4) if groups[0] is not None else (4, 3)
        found = partition._sets_of_rows(partition.Stacking(sizes, True), groups).groups
        assert found is not None and found[given].tolist() == prompts.tolist()
        assert len(found) == 7 and len(np.unique(found)) == 2 + 4


def test_a_set_holds_as_much_as_its_groups_weigh_and_the_fewest_groups_limit_the_buckets() -> None:
    alone, paired = np.arange(8), 100 + np.arange(8) // 2
    for order in ((alone, paired), (paired, alone)):
        stacked = StackedSets(np.repeat([0, 1], 8), np.concatenate(order))
        found = [partition._effective(stacked, number) for number in (0, 1)]
        assert found == [8.0 if codes is alone else 4.0 for codes in order]
        assert [partition._at_most_groups(number, stacked) for number in (1, 2, 3, 9)] == [1, 2, 2, 2]
    uneven = StackedSets(np.zeros(4, dtype=int), np.array([0, 0, 0, 1]))
    assert partition._effective(uneven, 0) == 1.6  # 4² / (3² + 1²)
    three = StackedSets(np.repeat([0, 1, 2], [12, 8, 6]), np.arange(26))
    assert partition._at_most_groups(9, three) == 3 and partition._effective(three, 2) == 6
    few = StackedSets(np.repeat([0, 1], 3), np.array([0, 0, 0, 1, 2, 3]))
    assert partition._at_most_groups(9, few) == 2


@pytest.mark.parametrize("rows_a_bucket", [2, 100])
def test_a_finer_clustering_starts_by_single_draws_from_its_own_seed(
    rows_a_bucket: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Fitted to some rows, or to all."""
    monkeypatch.setattr(partition, "FINER_ROWS", rows_a_bucket)
    monkeypatch.setattr(histograms, "MOST_SINGLES", 10**9)
    rows, stacked = np.concatenate(sets(120)), StackedSets(np.repeat([0, 1], 120))
    config, places = resolve_config(MauveConfig(num_buckets=30, kmeans_num_redo=2), 120, 120), np.arange(240)
    if rows_a_bucket == 2:
        some = np.sort(np.random.default_rng(28).choice(240, 60, replace=False))
        expected = assign(rows, kmeans.fit(rows[some], 30, 2, 500, seed=30, plus_plus=1))
    else:
        expected = kmeans.kmeans(rows, 30, 2, 500, seed=28, plus_plus=1)
    np.testing.assert_array_equal(partition._finer(rows, places, stacked, config, 3), expected)
    np.testing.assert_array_equal(partition._finer(rows, places[::-1], stacked, config, 3), expected[::-1])


@pytest.mark.parametrize(
    ("case", "blockwise"),
    [
        ({}, False),
        ({"most": 899}, True),
        ({"most": 900}, False),
        ({"checkpoint": True}, True),
        ({"checkpoint": True, "every_row": True}, None),
        ({"checkpoint": True, "every_row": True, "device": "cpu"}, False),
        ({"checkpoint": True, "device": "cpu"}, False),
        ({"checkpoint": True, "arrays": True}, False),
        ({"checkpoint": True, "d": 1}, False),  # ranks need all rows
        ({"most": 899, "n": 1800}, False),  # scikit-learn's solver does
        ({"checkpoint": True, "n": 1800}, True),
        ({"most": 899, "n": 1800, "pca_max_data": 20}, True),
    ],
)
def test_features_that_are_not_in_memory_stay_outside_where_they_are_many_or_kept(
    case: dict[str, Any], blockwise: bool | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """900 numbers in 12 rows are few enough where most are 900; a checkpoint is of what is read in blocks."""
    monkeypatch.setattr(partition, "MOST_NUMBERS_READ", case.get("most", 900))
    monkeypatch.setattr(partition, "_in_blocks", lambda *_: None)
    n, d = case.get("n", 12), case.get("d", 75)
    p, q = np.random.default_rng(0).normal(size=(2, n // 2, d)).astype(np.float32)
    config = resolve_config(MauveConfig(num_buckets=2, pca_max_data=case.get("pca_max_data", -1)), n // 2, n // 2)
    run = RunOptions(checkpoint=tmp_path if "checkpoint" in case else None, score_device=case.get("device"))
    rows: list[Any] = [p, q] if "arrays" in case else [ArrayRows(p), q]

    def made() -> bool:
        return partition_sets(rows, config, run, clusterings=1, every_row=case.get("every_row", False)) is None

    if blockwise is None:
        with pytest.raises(ValueError, match="features must be in memory to be explained, as arrays"):
            made()
    else:
        assert made() == blockwise


@pytest.mark.parametrize(
    ("clusterings", "options"), [(1, {}), (3, {}), (3, {"num_buckets": 9}), (2, {"num_buckets": 6})]
)
def test_clusterings_in_blocks_are_those_in_memory(clusterings: int, options: dict[str, Any], tmp_path: Path) -> None:
    """Sets of which one has pairs of texts to a prompt, which the other lacks, and the last bits of the projection."""
    p, q = sets(120)
    groups = [np.arange(120) // 2, 100 + np.arange(120)]
    config = resolve_config(MauveConfig(kmeans_num_redo=1, knn=False, **options), 120, 120)
    in_memory, in_blocks = (
        partition_sets(rows, config, run, clusterings=clusterings, groups=groups)
        for rows, run in (([p, q], None), ([ArrayRows(p), ArrayRows(q)], RunOptions(checkpoint=tmp_path)))
    )
    assert [len(rows) for rows in in_blocks.rows] == [0, 0] and (tmp_path / CHECKPOINT_FILE).is_file()
    both = [[one.labels, *one.closeness] for one in (in_memory, in_blocks)]
    assert [len(runs) for runs in both[0]] == [len(runs) for runs in both[1]]
    assert len(both[0]) == (1 if clusterings == 1 else 3)
    for runs, others in zip(*both, strict=True):
        for run, other in zip(runs, others, strict=True):
            assert np.mean(np.concatenate(run) == np.concatenate(other)) > 0.95


def test_a_permutation_test_has_the_first_clustering_by_content() -> None:
    first, second, third = ([np.array([number])] for number in range(3))
    assert partition.Partition([], [first, second, third]).labels_without_sets is second
    assert partition.Partition([], [first]).labels_without_sets is first


def test_finer_clusterings_are_fitted_to_eight_rows_a_bucket_and_those_of_many_rows_to_sixteen() -> None:
    found = [len(partition._rows_of_finer(10**6, k, 1)) for k in (5, 2000, 2001)]
    assert found == [40, 16_000, 32_016] and partition._rows_of_finer(39, 5, 1).tolist() == list(range(39))


def test_a_text_alone_joins_the_nearest_bucket_of_two_or_more() -> None:
    """By centres that are not the means of their rows."""
    rows = np.array([[0.0], [0.1], [3.0], [3.1], [1.4], [0.5], [9.0], [-5.0], [8.0], [-6.0]], dtype=np.float32)
    labels = np.array([1, 1, 2, 2, 0, 3, 4, 5, 6, 7])
    centres = np.array([[1.4], [0.0], [2.0], [0.5], [9.0], [-5.0], [8.0], [-6.0]], dtype=np.float32)
    found = partition._without_singles(rows.__getitem__, labels, centres)
    assert found.tolist() == [0, 0, 1, 1, 1, 0, 1, 0, 1, 0]


@pytest.mark.parametrize("row_order", ["qp", "pq"])
def test_a_projection_that_is_fitted_to_some_rows_is_that_of_the_rows_as_they_are_stacked(row_order: Any) -> None:
    p, q = sets(30, d=8)
    config = resolve_config(MauveConfig(pca_max_data=20, row_order=row_order), 30, 30)
    rows = projection.project(np.concatenate([p, q] if row_order == "pq" else [q, p]), pca_max_data=20)
    found = partition_sets([p, q], config).rows
    np.testing.assert_array_equal(np.concatenate(found if row_order == "pq" else found[::-1]), rows)
