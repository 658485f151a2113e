"""Every form of the same features gives the same headline, and copies of texts are one draw."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from samples import ngrams, texts_of

from mauve_metric import FeatureSet, MauveResult, compare, compute_mauve, explain
from mauve_metric.clustering import partition
from mauve_metric.features import feature_set, row_blocks
from mauve_metric.features.row_blocks import ArrayRows, content_keys
from mauve_metric.options import MauveConfig, RunOptions, config_fields
from mauve_metric.results.signature import signature_options
from mauve_metric.scoring import evaluation
from mauve_metric.scoring.evaluation import Evaluation, _signature_entries, resolve_config
from mauve_metric.uncertainty import learned_score

HEADLINE = (
    "closeness",
    "closeness_ci",
    "verdict",
    "mauve_debiased",
    "mauve_debiased_ci",
    "mauve_classifier",
    "auc",
    "partners",
)


def sets(n: int = 120, d: int = 20) -> tuple[np.ndarray, np.ndarray]:
    """Numbers that every format holds: those of half precision."""
    rng = np.random.default_rng(0)
    human, model = rng.normal(size=(n, d)), rng.normal(0.3, 1, size=(n, d))
    return human.astype(np.float16).astype(np.float32), model.astype(np.float16).astype(np.float32)


def mapped(rows: np.ndarray, folder: Path) -> Any:
    path = folder / f"{len(list(folder.iterdir()))}.npy"
    np.save(path, rows)
    return np.load(path, mmap_mode="r")


def file(rows: np.ndarray, folder: Path) -> Any:
    path = folder / f"{len(list(folder.iterdir()))}.npy"
    np.save(path, rows)
    return str(path)


def stored(suffix: str) -> Callable[[np.ndarray, Path], Any]:
    """A file of a `FeatureSet`."""
    return lambda rows, folder: FeatureSet(rows).save(folder / f"{len(list(folder.iterdir()))}{suffix}")


def loaded(rows: np.ndarray, folder: Path) -> Any:
    return FeatureSet.load(stored(".npz")(rows, folder)).features


def strided(rows: np.ndarray, folder: Path) -> Any:
    return np.repeat(rows, 2, axis=1)[::-1, ::2][::-1]


FORMS: dict[str, Callable[[np.ndarray, Path], Any]] = {
    "float64": lambda rows, folder: rows.astype(np.float64),
    "float16": lambda rows, folder: rows.astype(np.float16),
    "other byte order": lambda rows, folder: rows.astype(rows.dtype.newbyteorder()),
    "strided": strided,
    "list": lambda rows, folder: rows.tolist(),
    "list of arrays": lambda rows, folder: list(rows),
    "Fortran order": lambda rows, folder: np.asfortranarray(rows),
    "tensor": lambda rows, folder: torch.from_numpy(rows),
    "tensor with gradient": lambda rows, folder: torch.from_numpy(rows).double().requires_grad_(),
    "DataFrame": lambda rows, folder: pd.DataFrame(rows),
    "memory map": mapped,
    "file": file,
    "parquet": stored(".parquet"),
    "npz": loaded,
    "blocks": lambda rows, folder: (rows[start : start + 50] for start in range(0, len(rows), 50)),
}


@pytest.fixture(scope="module")
def of_arrays() -> MauveResult:
    p, q = sets()
    return compute_mauve(p_features=p, q_features=q, num_runs=1)


@pytest.mark.more
@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_the_same_features_has_the_same_headline(
    form: str, of_arrays: MauveResult, tmp_path: Path
) -> None:
    p, q = sets()
    found = compute_mauve(p_features=FORMS[form](p, tmp_path), q_features=FORMS[form](q, tmp_path), num_runs=1)
    for name in HEADLINE:
        value = getattr(of_arrays, name)
        assert getattr(found, name) == (value if name == "verdict" else pytest.approx(value, rel=1e-6)), name


def test_rows_that_are_read_in_blocks_are_clustered_as_in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    p, q = sets(n=300)
    config = MauveConfig(num_runs=2)
    expected = Evaluation.of_sets([FeatureSet(p), FeatureSet(q)], config).partition
    monkeypatch.setattr(partition, "MOST_NUMBERS_READ", 0)
    monkeypatch.setattr(partition, "_fit_together", lambda *_: False)
    order = np.random.default_rng(1).permutation(300)
    rows = ArrayRows(p), ArrayRows(q[order])
    found = Evaluation.of_sets([FeatureSet(side) for side in rows], config).partition
    for run, other in zip(expected.labels[1:], found.labels[1:], strict=True):
        counts = [np.sort(np.bincount(labels[1], minlength=30)) for labels in (run, other)]
        assert np.abs(counts[0] - counts[1]).sum() <= 6  # the last bits of a projection may move single rows
        assert np.mean(run[0] == other[0]) > 0.95


def test_rows_that_are_read_in_blocks_have_as_many_rows_a_prompt_of_each_side(monkeypatch: pytest.MonkeyPatch) -> None:
    """Five answers to a prompt are no kind of texts, in memory or not."""
    rng = np.random.default_rng(0)
    prompts = np.repeat(np.arange(60), 5)
    answers = rng.normal(size=(60, 40))[prompts] + 0.3 * rng.normal(size=(300, 40))
    sides = [rng.normal(size=(300, 40)) * np.sqrt(1.09), answers]
    given = [FeatureSet(sides[0], groups=np.arange(300) + 60), FeatureSet(answers, groups=prompts)]
    config = MauveConfig(num_buckets=20, num_runs=2)
    in_memory = Evaluation.of_sets(given, config).partition
    monkeypatch.setattr(partition, "MOST_NUMBERS_READ", 0)
    monkeypatch.setattr(partition, "_fit_together", lambda *_: False)
    in_blocks = Evaluation.of_sets(
        [replace(side, features=ArrayRows(side.features)) for side in given], config
    ).partition
    for human, model in (*in_memory.labels[1:], *in_blocks.labels[1:]):
        assert np.all(model == np.repeat(model[::5], 5))  # the others follow one of them
        assert len(np.unique(human)) > 15
    assert not np.array_equal(in_blocks.labels[0][1], np.repeat(in_blocks.labels[0][1][::5], 5))


def test_the_published_score_does_not_depend_on_groups(of_arrays: MauveResult) -> None:
    p, q = sets()
    alone = of_arrays
    grouped = compute_mauve(p_features=p, q_features=q, q_groups=np.arange(120) // 6, num_runs=1)
    assert (alone.mauve, alone.num_buckets) == (grouped.mauve, grouped.num_buckets)
    np.testing.assert_array_equal(alone.p_hist, grouped.p_hist)
    assert grouped.mauve_debiased != alone.mauve_debiased  # on 10 buckets, of two prompts each, in place of 12


@pytest.mark.slow
@pytest.mark.parametrize("both", [False, True])
def test_texts_that_people_repeat_are_one_draw(both: bool) -> None:
    """Of 6 pairs of equal sets with each row three times one may differ: 5 % of 12 would be 0.6."""
    different = 0
    for seed in range(6):
        rng = np.random.default_rng(seed)
        p, q = np.repeat(rng.normal(size=(50, 10)), 3, axis=0), rng.normal(size=(150, 10))
        q = np.repeat(q[:50], 3, axis=0) if both else q
        different += compute_mauve(p_features=p, q_features=q, knn=False).verdict == "different"
    assert different <= 2


@pytest.mark.more
def test_equal_sets_whose_prompts_nobody_declares_are_not_different() -> None:
    rng = np.random.default_rng(1)
    prompts = rng.normal(size=(200, 100))
    models = {name: prompts[::step] + 0.4 * rng.normal(size=(200, 100)) for name, step in (("a", 1), ("b", -1))}
    human = prompts + 0.4 * rng.normal(size=(200, 100))
    found = compare(p_features=human, models=models, knn=False)
    for result in found.models.values():
        assert result.design == "found" and result.partners is not None and result.partners > 180
        assert result.verdict != "different" and result.closeness_ci is not None and result.closeness_ci[1] == 1


def test_the_rows_of_a_set_are_read_once_for_their_order_by_content(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[int] = []

    def counted(features: np.ndarray) -> np.ndarray:
        read.append(len(features))
        return content_keys(features)

    monkeypatch.setattr(feature_set, "content_keys", counted)
    for module in (learned_score, row_blocks):
        monkeypatch.setattr(module, "content_keys", None)
    rng = np.random.default_rng(0)
    human, one, two = (rng.normal(size=(size, 5)) for size in (40, 41, 42))
    compare(p_features=human, models={"one": one, "two": two}, knn=False)
    assert read == [40, 41, 42]


def of_names(count: int = 2, **options: Any) -> Evaluation:
    """Some models of 40 texts each."""
    rng = np.random.default_rng(0)
    sides = {name: FeatureSet(rng.normal(size=(40, 3))) for name in ("human", "model a", "model b")[: count + 1]}
    settings = {name: options.pop(name) for name in ("watch", "memory", "clusterings", "every_row") if name in options}
    config = MauveConfig(**{"num_runs": 1, "knn": False, "num_buckets": 3} | options)
    return Evaluation.of_sets(sides, config, **settings)


def test_stages_are_announced_with_the_number_of_the_set() -> None:
    seen: list[tuple[str, int]] = []
    compared = of_names(watch=lambda *stage: seen.append(stage))
    compared.comparison()
    assert seen == [("cluster", 0), ("score", 1), ("score", 2)]
    alone = of_names(1, watch=lambda *stage: seen.append(stage))
    assert alone.result_of("a") is alone.result_of("a") and seen[3:] == [("cluster", 0), ("score", 1)]
    assert compared.result_of("b") is compared.comparison().models["b"]
    assert "partition" in compared.result_of("b").signature_entries
    assert "partition" not in alone.result_of("a").signature_entries
    whole = compared.comparison()
    digests = [whole.signature_entries[name] for name in ("p_digest", "digest_a", "digest_b")]
    assert whole.explanations == {} and digests == [side.digest for side in compared.sides]
    explained = compared.comparison(1).explanations["a"]
    assert [len(bucket.p_texts) for bucket in explained.buckets] == [3] and explained.most_human != ()
    assert compared.explanation("a", 1, 2, with_extremes=False).most_human == ()


def test_an_evaluation_keeps_what_was_asked_for() -> None:
    forms: dict[str, Any] = {"set": None, "features": np.eye(3), "tokens": None, "text": None}
    sides = {name: feature_set.given_side(name, forms, None) for name in "pq"}
    plain = Evaluation.open("compute_mauve", {"seed": 3}, sides)
    assert (plain.chosen, plain.listed, plain.every_row, plain.inputs.aligned) == ({"seed"}, False, False, False)
    asked = Evaluation.open("explain", {}, sides, True, listed=True, every_row=True)
    assert (asked.chosen, asked.listed, asked.every_row, asked.inputs.aligned) == (set(), True, True, True)
    changed = asked.with_options(seed=4, verbose=True)
    assert (changed.config.seed, changed.run.verbose, changed.listed, changed.every_row) == (4, True, True, True)
    assert changed.chosen == {"seed", "verbose"} and not (of_names().listed or of_names().every_row)
    with plain as entered:
        assert entered is plain
    declared = Evaluation.open("compute_mauve", {"independent": True}, sides)
    assert (plain.sides[1].design, declared.sides[1].design) == ("undeclared", "independent")


def test_prompts_in_the_files_of_texts_are_taken_off_where_that_is_asked_for(tmp_path: Path) -> None:
    human, model, starts = (texts_of(30, seed) for seed in range(3))
    prompts = [f"Tell me of {start}" for start in starts]
    rows = [{"prompt": prompt, "text": f"{prompt} {text}"} for prompt, text in zip(prompts, model, strict=True)]
    path = tmp_path / "model.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    sides = {"p": feature_set.given_side("p", {"text": human}), "q": feature_set.given_side("q", {"text": str(path)})}
    for strip, expected in (("prompts", model), ("no", [row["text"] for row in rows])):
        opened = Evaluation.open("compute_mauve", {"strip": strip}, sides)
        assert opened.texts == [human, expected] and opened.inputs.prompts


def test_layout_is_tried_on_the_texts_of_each_model(monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[Any] = []
    monkeypatch.setattr(evaluation, "needs_trial", lambda _: True)
    monkeypatch.setattr(evaluation, "without_layout", lambda result, *given: tried.append(given) or result)
    human, one, two = (texts_of(count, seed) for seed, count in enumerate((30, 28, 26)))
    options: dict[str, Any] = {"featurize_model_name": ngrams, "num_runs": 1, "knn": False, "confidence_level": 0.9}
    found = compare(iter(human), {"one": one, "two": two}, **options)
    assert [given[0] for given in tried] == [[human, one], [human, two]] and found.confidence_level == 0.9
    scores = {name: result.mauve_classifier for name, result in found.models.items()}
    assert list(found.learned_ranking) == sorted(scores, key=lambda name: -(scores[name] or 0))
    assert [{pair.a, pair.b} for pair in found.learned_differences] == [{"one", "two"}]
    tried.clear()
    compute_mauve(p_text=human, q_text=two, **options)
    (texts, codes, config, job, prompts) = tried[0]
    assert texts == [human, two] and codes is None and config is job.config and prompts == ()


def test_clusterings_are_kept_for_the_same_rows_options_and_groups_alone() -> None:
    memory: dict[Any, Any] = {}
    first = of_names(memory=memory)
    again = first.with_options(confidence_level=0.9)
    assert again.partition is first.partition and again.declared is first.declared
    assert "declared" not in vars(first.with_options(pooling="mean"))
    grouped = [replace(side, groups=np.arange(40) // 4) for side in first.declared]
    by_groups = Evaluation.of_sets(dict(zip(first.inputs.sides, grouped, strict=True)), first.config, memory=memory)
    alone = Evaluation.of_sets(dict(zip(first.inputs.sides, first.declared, strict=True)), first.config, clusterings=1)
    alone.memory = memory
    for other in (first.with_options(num_buckets=4), by_groups, alone):
        assert other.partition is not first.partition
    assert len(memory) == 4 and [len(run) for run in by_groups.partition.labels] == [3, 3]
    assert len(alone.partition.labels) == 1
    assert of_names(memory=memory).partition is not first.partition  # of other rows
    assert len(memory) == 4 and first.with_options(confidence_level=0.8).partition is not first.partition


def test_a_checkpoint_of_several_models_has_a_folder_for_each_clustering(tmp_path: Path) -> None:
    run = RunOptions(checkpoint=str(tmp_path))
    for names, part in ((("human", "model a"), tmp_path / "common"), (("p_features", "q_features"), tmp_path)):
        sides = {name: FeatureSet(np.eye(3)) for name in names}
        assert Path(str(Evaluation.of_sets(sides, MauveConfig(), run)._run_of("common").checkpoint)) == part
    assert of_names()._run_of("common").checkpoint is None


def test_a_signature_names_the_origin_of_each_model_where_they_differ() -> None:
    def entries(*origins: str | None) -> dict[str, object]:
        rows = np.random.default_rng(0).normal(size=(5, 2))
        models = {name: FeatureSet(rows, origin=origin) for name, origin in zip("ab", origins, strict=True)}
        config = resolve_config(MauveConfig(), 20, 20)
        found = _signature_entries(FeatureSet(rows, origin="lines"), models, config)
        assert (found["p_texts"], found["n_a"], found["n_b"], found["n_p"]) == ("lines", 5, 5, 5)
        assert {"digest_a", "digest_b", "design"} <= set(found)
        return {name: value for name, value in found.items() if "texts" in name and name != "p_texts"}

    assert entries("csv", "csv") == {"q_texts": "csv"} and entries(None, None) == {}
    assert entries("csv", "json") == {"texts_a": "csv", "texts_b": "json"}
    assert entries(None, "json") == {"texts_b": "json"} and entries("csv", None) == {"texts_a": "csv"}


def test_every_model_is_compared_with_the_encoders_of_the_human_set_and_of_the_first_model() -> None:
    def featurized(*models: str | None) -> list[FeatureSet]:
        rows = np.random.default_rng(0).normal(size=(5, 2))
        return [
            FeatureSet(rows, identity=None if name is None else {"model": "m", "revision": name}) for name in models
        ]

    for names in ((None, "x", "y"), ("x", None, "y"), ("x", "x", "y"), ("x", "y", None)):
        human, *models = featurized(*names)
        with pytest.raises(ValueError, match="the two sets were featurized differently"):
            compare(p=human, models=dict(zip("ab", models, strict=True)))
    human, model = featurized(None, "x")
    two = FeatureSet(np.eye(2))
    assert compare(p=two, models={"a": two}, num_runs=1, knn=False).models["a"].verdict_reason == "too_few"
    with pytest.raises(ValueError, match=r"models\['b'\] must hold at least 2 texts to be compared, got 1"):
        compare(p=human, models={"a": model, "b": FeatureSet(np.ones((1, 2)))})


def test_parts_of_sets_keep_the_pairs_that_were_found_in_the_whole() -> None:
    rng = np.random.default_rng(0)
    human, other, noise = rng.normal(size=(3, 40, 10))
    for model, design in ((other, "undeclared"), (human + 0.01 * noise, "found")):
        whole = Evaluation.of_sets([FeatureSet(human), FeatureSet(model)], MauveConfig())
        assert whole.sides[1].design == design
        assert whole.divisible is (whole.sides if design == "found" else whole.declared)


def test_recall_of_labels_has_the_prompts_of_the_human_texts(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Any] = []
    monkeypatch.setattr(evaluation, "recall_of_subgroups", lambda *given: seen.append(given) or [])
    sides = {
        name: replace(side, groups=np.arange(40) // texts)
        for texts, (name, side) in enumerate(zip(("human", "model a", "model b"), of_names().declared, strict=True), 2)
    }
    compared = Evaluation.of_sets(sides, of_names().config)
    compared.comparison()
    assert [given[1:3] for given in seen] == [("a", 1), ("b", 2)]
    assert all(given[4] is compared.sides[0].groups for given in seen)


def test_labels_need_features_in_memory() -> None:
    human, model = (FeatureSet(ArrayRows(rows)) for rows in sets(40, 3))
    with pytest.raises(ValueError, match="by needs features in memory, as an array"):
        compare(p=human, models={"a": model}, by={"human": ["x"] * 40, "a": ["x"] * 40}, knn=False, num_runs=1)


def test_neighbours_are_looked_for_up_to_ten_thousand_texts_and_need_as_many() -> None:
    assert [resolve_config(MauveConfig(), 50, size).knn for size in (10_000, 10_001)] == [True, False]
    assert resolve_config(MauveConfig(knn=True, knn_k=4), 50, 5).knn is True
    with pytest.raises(ValueError, match="knn_k must be below the number of texts of the smallest set, 4, got 4"):
        resolve_config(MauveConfig(knn=True, knn_k=4), 50, 4)


def test_the_other_reading_of_repeats_is_that_of_declared_prompts(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(6)
    human, answers, alone = (rng.normal(size=(size, 40)) for size in (80, 15, 20))
    model = np.concatenate([alone, np.repeat(answers, 4, axis=0) + 0.05 * rng.normal(size=(60, 40))])
    options: dict[str, Any] = {"knn": False, "num_runs": 1}
    monkeypatch.setattr(evaluation, "MOST_READ_TWICE", 80)
    found = compute_mauve(p_features=human, q_features=model, **options)
    prompts: dict[str, Any] = {"p_groups": range(80), "q_groups": [*range(200, 220), *(100 + np.arange(60) // 4)]}
    declared = compute_mauve(p_features=human, q_features=model, **prompts, **options)
    assert found.repeated_groups == 15 and found.closeness_as_prompts is not None and declared.closeness_ci is not None
    assert found.closeness_as_prompts == pytest.approx((declared.closeness, *declared.closeness_ci), rel=1e-9)


def test_auto_is_replaced_by_numbers_that_follow_from_the_sizes() -> None:
    config = resolve_config(MauveConfig(), 300, 250)
    assert (config.num_buckets, config.num_runs, config.knn) == (25, 5, True)
    assert resolve_config(replace(config, num_buckets=7), 300, 250).num_buckets == 7
    of_the_smaller = [resolve_config(MauveConfig(), 2000, size).num_runs for size in (999, 1000)]
    assert of_the_smaller == [5, 1]
    assert [resolve_config(MauveConfig(knn_k=4), 50, size).knn for size in (4, 5)] == [False, True]  # 4 others
    with pytest.raises(ValueError, match="num_runs must be resolved, got 'auto'"):
        replace(config, num_runs="auto")


SIZES = 300, 250
PRESETS: list[dict[str, Any]] = [{}, {"drmm_preset": "paper", "lattice_preset": "paper"}]


@pytest.mark.parametrize("preset", PRESETS, ids=str)
@pytest.mark.parametrize("name", config_fields())
def test_an_explicit_value_is_kept_also_where_it_is_the_default_or_what_auto_gives(
    name: str, preset: dict[str, Any]
) -> None:
    of_default = resolve_config(MauveConfig(**preset), *SIZES)
    usual = vars(of_default) if preset else vars(of_default) | {"lattice_epochs": 50}  # an earlier default
    quantizer = {"quantizer": config_fields()[name].metadata["of"] or "kmeans"}
    explicit = MauveConfig(**quantizer | preset | {name: usual[name]})
    made = resolve_config(explicit, *SIZES)
    assert getattr(made, name) == usual[name] and name not in made.auto
    other_sizes = resolve_config(explicit, 2 * SIZES[0], 40 * SIZES[1])
    assert getattr(other_sizes, name) == usual[name]
    assert resolve_config(made, *SIZES) == made and resolve_config(made, *SIZES).auto == made.auto


EXPLICIT_OF_QUANTIZERS = [
    ("lattice", {"lattice_epochs": 50}, {"lattice_epochs": 50}),
    ("drmm", {"drmm_preset": "paper", "drmm_steps": 2000}, {"drmm_steps": 2000}),
    ("lattice", {"lattice_preset": "paper", "lattice_hidden": 256}, {"lattice_hidden": 256, "lattice_epochs": 200}),
]


@pytest.mark.parametrize(("quantizer", "given", "kept"), EXPLICIT_OF_QUANTIZERS)
def test_training_that_was_asked_for_is_done(quantizer: Any, given: dict[str, Any], kept: dict[str, int]) -> None:
    made = resolve_config(MauveConfig(quantizer=quantizer, **given), 20_000, 20_000)
    assert {name: getattr(made, name) for name in kept} == kept


@pytest.mark.slow
def test_buckets_and_starts_that_were_asked_for_are_those_of_the_debiased_clusterings() -> None:
    """As "auto" makes them: one start, and two prompts a bucket; a signature says which it was, and gives it again."""
    p, q = sets(150, 6)
    prompts = np.repeat(np.arange(10), 15)
    both: dict[str, Any] = {"p_features": p, "q_features": q, "p_groups": prompts, "q_groups": prompts}
    auto = compute_mauve(**both)
    asked = compute_mauve(**both, num_buckets=15, kmeans_num_redo=5)
    assert (auto.num_buckets, auto.mauve, auto.closeness) == (asked.num_buckets, asked.mauve, asked.closeness)
    assert auto.mauve_debiased != asked.mauve_debiased
    assert "few_prompts_a_bucket" in {warning.code for warning in asked.warnings}
    assert "explicit" not in auto.signature and "|explicit:kmeans_num_redo,num_buckets|" in asked.signature
    for result in (auto, asked):
        again = compute_mauve(**both | signature_options(result.signature_entries))
        assert (again.mauve_debiased, again.signature) == (result.mauve_debiased, result.signature)


@pytest.mark.slow
def test_answers_to_the_prompts_of_one_set_are_no_kinds_of_texts() -> None:
    """Both sets are draws of one distribution; k-means of all rows has buckets of a prompt each."""
    rng = np.random.default_rng(2)
    of = np.repeat(np.arange(40), 5)
    model = np.sqrt(0.8) * rng.normal(size=(40, 100))[of] + np.sqrt(0.2) * rng.normal(size=(200, 100))
    groups = {"p_groups": list(range(40, 240)), "q_groups": of.tolist()}
    human = rng.normal(size=(200, 100))
    found, undeclared = (compute_mauve(p_features=human, q_features=model, knn=False, **more) for more in (groups, {}))
    assert found.verdict != "different"
    assert found.mauve_debiased is not None and found.mauve_debiased > 0.9
    assert found.mauve < 0.85  # the published score takes them for kinds
    assert (undeclared.verdict, undeclared.design) == ("different", "undeclared")  # it repeats itself
    assert undeclared.closeness_as_prompts is not None
    assert undeclared.closeness_as_prompts[0] == pytest.approx(found.closeness, abs=0.05)


def test_texts_left_out_beside_features_are_those_that_were_left_out_of_the_features() -> None:
    human, model = sets(40, 4)
    texts = [f"word {number} here" for number in range(40)]
    earlier = FeatureSet(model, dropped=5)
    sides = {"p_text": [*texts, "", " "], "q_text": ["", *texts]}
    explained = explain(p_features=human, q=earlier, **sides, empty_texts="drop", knn=False, num_runs=1)  # type: ignore[arg-type]
    assert (explained.result.p_dropped, explained.result.q_dropped) == (2, 5)
