"""Scores by a column of metadata: subgroups that a model misses, and what buckets are made of."""

from __future__ import annotations

import itertools
import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from mauve_metric import Comparison, compare, compute_mauve, describe, explain
from mauve_metric.apps.describing.likelihood.likelihood_measures import generation_perplexity
from mauve_metric.apps.describing.likelihood.likelihoods import likelihoods
from mauve_metric.hosts.cli.main import main
from mauve_metric.measures.knn_precision_recall import ball_counts
from mauve_metric.options import MauveConfig
from mauve_metric.results.comparison import Subgroup
from mauve_metric.scoring import subgroups
from mauve_metric.uncertainty.mean_intervals import difference_interval, mean_interval
from tests.samples import HUMAN, ngrams

TOPICS = ("sport", "news", "law")


def topics(sizes: dict[str, int], seed: int) -> tuple[NDArray[np.float64], list[str]]:
    """Rows of one normal cloud a topic, around an axis each, in random order, with their topics."""
    rng = np.random.default_rng(seed)
    labels = rng.permutation([label for label, size in sizes.items() for _ in range(size)])
    centres = 8 * np.eye(4)[[TOPICS.index(label) for label in labels]]
    return centres + rng.normal(size=(len(labels), 4)), labels.tolist()


P, P_LABELS = topics({"sport": 80, "news": 60, "law": 40}, 0)
ALL, ALL_LABELS = topics({"sport": 80, "news": 60, "law": 40}, 1)
NO_LAW, NO_LAW_LABELS = topics({"sport": 90, "news": 90}, 2)


@pytest.fixture(scope="module")
def comparison() -> Comparison:
    models = {"all": ALL, "no law": NO_LAW, "unknown": ALL[::-1].copy()}
    return compare(
        p_features=P,
        models=models,
        by={"human": P_LABELS, "all": ALL_LABELS, "no law": NO_LAW_LABELS},
        kmeans_explained_var=1,
        num_runs=1,
    )


def naive(p: NDArray[np.float64], q: NDArray[np.float64], k: int) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """For each human row: in a ball around a model's row, and with a model's row in its own ball."""
    between, own, of_model = (np.linalg.norm(a[:, None] - b, axis=-1) for a, b in ((p, q), (p, p), (q, q)))
    radii, q_radii = np.sort(own, axis=1)[:, k], np.sort(of_model, axis=1)[:, k]  # column 0 is the row itself
    return (between <= q_radii).any(axis=1), (between <= radii[:, None]).any(axis=1)


def unit(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    found: NDArray[np.float64] = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return found


def test_recall_and_coverage_are_those_of_each_subgroup_by_brute_force(comparison: Comparison) -> None:
    labels = np.array(P_LABELS)
    assert [item.label for item in comparison.subgroups] == ["sport", "news", "law"] * 3
    for model, rows in (("all", ALL), ("no law", NO_LAW)):
        recalled, covered = naive(unit(P), unit(rows), 4)
        for item in comparison.subgroups:
            if item.model == model:
                inside = labels == item.label
                assert item.recall == pytest.approx(recalled[inside].mean(), abs=0.5 / inside.sum())
                assert item.coverage == pytest.approx(covered[inside].mean(), abs=0.5 / inside.sum())
                assert item.coverage_of_others == pytest.approx(covered[~inside].mean(), abs=0.5 / inside.sum())
                assert item.coverage_ci is not None
                assert item.coverage_ci[0] <= covered[inside].mean() <= item.coverage_ci[1]
    for model, result in comparison.models.items():
        parts = [(item.recall, item.coverage, item.n_p) for item in comparison.subgroups if item.model == model]
        recall, coverage = (sum(part[place] * part[2] for part in parts) / len(P) for place in (0, 1))  # type: ignore
        assert (recall, coverage) == pytest.approx((result.recall, result.coverage), abs=1e-12)


LINE = np.array([*range(10), *range(100, 114)], float)[:, None]  # each point with its neighbour 1 away
NEAR = np.array([*np.arange(9) + 0.5, 100.5, 101.5, 110.2, 110.3])[:, None]  # balls of 1, and of .1 for the last two


@pytest.mark.parametrize(("codes", "is_missed"), [(None, True), (np.arange(24) // 2, False)], ids=["alone", "pairs"])
def test_recall_and_coverage_of_points_on_a_line(
    codes: NDArray[np.int64] | None, is_missed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    levels: list[float] = []

    def interval(p: Any, q: Any, level: float, *groups: Any) -> tuple[float, float] | None:
        levels.append(level)
        return difference_interval(p, q, level, *groups)

    monkeypatch.setattr(subgroups, "difference_interval", interval)
    rows = {"low": np.arange(10), "high": np.arange(10, 24), "few": np.arange(9)}
    of_near = {"low": np.arange(9), "high": np.arange(9, 13), "few": np.arange(0)}
    labels = {label: (numbers, of_near[label], None) for label, numbers in rows.items()}
    config, models = MauveConfig(knn=True, knn_k=1), {"near": NEAR, "same": LINE}

    def expected(label: str, model: str, n_q: int | None, recalled: str, covered: str, *rest: Any) -> Subgroup:
        prompts, scores = None if codes is None else codes[rows[label]], list[Any]()
        for marks in (recalled, covered):
            values = np.array([*map(float, marks)])
            scores += [pytest.approx(values.mean()), mean_interval(values, 0.95, prompts)]
        return Subgroup(label, model, len(rows[label]), n_q, *scores, *rest)

    ones, found = ("1" * 10, "1" * 14), subgroups.recall_of_subgroups
    shown = [
        found([LINE, of], name, number, labels, codes, config) for number, (name, of) in enumerate(models.items(), 1)
    ]
    assert [*itertools.chain(*shown)] == [
        expected("low", "near", 9, ones[0], ones[0], pytest.approx(5 / 14), False),
        expected("high", "near", 4, "11100000000000", "11100000001100", 1.0, is_missed),
        Subgroup("few", "near", 9, 0),
        expected("low", "same", None, ones[0], ones[0], 1.0, False),
        expected("high", "same", None, ones[1], ones[1], 1.0, False),
        Subgroup("few", "same", 9, None),
    ]
    assert levels == [pytest.approx(1 - 0.05 / 6)] * 4  # Bonferroni: three subgroups of two models
    alone = {"all": (np.arange(24), None)}
    assert [item[8:] for item in found([LINE, NEAR], "near", 1, alone, codes, config)] == [(None, None)]
    (item,) = found([LINE, NEAR], "near", 1, {"low": (rows["low"], None)}, codes, config)
    assert item.missed is False and levels[4:] == [pytest.approx(0.95)]
    assert [*found([LINE, NEAR], "near", 1, alone, codes, MauveConfig(knn=False))] == [
        Subgroup("all", "near", 24, None)
    ]


def test_what_a_model_leaves_out_is_missed_and_nothing_else(comparison: Comparison) -> None:
    missed = {(item.model, item.label) for item in comparison.subgroups if item.missed}
    assert missed == {("no law", "law")}
    sizes = {(item.model, item.label): item.n_q for item in comparison.subgroups}
    assert sizes["no law", "law"] == 0 and sizes["all", "news"] == 60 and sizes["unknown", "law"] is None
    assert "no law misses law (coverage" in comparison.document().terminal()
    assert json.loads(json.dumps(comparison.to_dict()))["by_subgroup"]["sport"]["models"].keys() == {"all", "no law"}


@pytest.mark.slow
def test_a_report_has_the_table(comparison: Comparison, tmp_path: Path) -> None:
    page = comparison.save_report(tmp_path / "report.html").read_text(encoding="utf-8")
    assert "no law misses law (coverage" in page and page.count("<h2>Subgroups</h2>") == 1
    models = {"all": ALL, "no law": NO_LAW}
    labels = {"human": P_LABELS, "all": ALL_LABELS}
    found = describe(p_features=P, models=models, by=labels, measures="score,discriminator_auc")
    page = found.save_report(tmp_path / "measures.html").read_text(encoding="utf-8")
    assert "<h3>all by subgroup</h3>" in page and "<h3>Discriminators across models</h3>" in page
    assert "no law by subgroup" not in page and "all by subgroup" in found.to_markdown()


def test_the_scores_of_a_subgroup_are_those_of_its_texts_alone(comparison: Comparison) -> None:
    assert list(comparison.by_subgroup) == ["sport", "news", "law"] and list(comparison.by_subgroup["law"].models) == [
        "all"
    ]
    human, model = (rows[np.array(labels) == "law"] for rows, labels in ((P, P_LABELS), (ALL, ALL_LABELS)))
    alone = compare(p_features=human, models={"all": model}, kmeans_explained_var=1, num_runs=1)
    own = comparison.by_subgroup["law"].models["all"]
    assert own.mauve == alone.models["all"].mauve and own.mauve_debiased_ci == alone.models["all"].mauve_debiased_ci


def test_repeats_in_a_subgroup_count_as_in_its_texts_alone() -> None:
    rng = np.random.default_rng(5)
    human, model, labels = rng.normal(size=(80, 3)), rng.normal(size=(80, 3)), ["a", "b"] * 40
    model[::2] = model[np.arange(40) // 8 * 16]  # of "a", each row eight times
    few: dict[str, Any] = {"num_runs": 1, "knn": False}
    found = compare(p_features=human, models={"m": model}, by={"human": labels, "m": labels}, **few)
    alone = compute_mauve(p_features=human[::2], q_features=model[::2], **few)
    (own, other) = (found.by_subgroup[label].models["m"] for label in "ab")
    assert (own.q_repeated, own.repeats_p_value, own.shown_by) == (1.0, alone.repeats_p_value, alone.shown_by)
    assert own.closeness_ci == alone.closeness_ci and other.q_repeated == 0


def test_repeats_in_a_subgroup_are_named_where_pairs_were_found_among_all_texts() -> None:
    rng = np.random.default_rng(3)
    human, others, numbers = rng.normal(size=(240, 16)), rng.normal(size=(6, 16)), np.arange(240)
    model, labels = human + rng.normal(size=(240, 16)) * 0.2, ["a", "b"] * 120
    model[3::4] = others[numbers[3::4] // 4 % 6]  # of "b", every second text is one of six
    few: dict[str, Any] = {"num_runs": 1, "knn": False}
    found = compare(p_features=human, models={"m": model}, by={"human": labels, "m": labels}, **few)
    of_a, of_b = (found.by_subgroup[label].models["m"] for label in "ab")
    assert found.design == of_a.design == of_b.design == "found"
    assert (of_a.q_repeated, of_b.q_repeated) == (0, 0.5) and "repeats" in of_b.shown_by
    assert "repeated_texts" in {warning.code for warning in of_b.warnings}


def test_labels_that_human_texts_and_model_have_often_enough_are_compared_on_their_own() -> None:
    rng = np.random.default_rng(4)
    human, near, far = rng.normal(size=(40, 3)), rng.normal(size=(35, 3)), rng.normal(size=(30, 3)) + 1
    labels = {"human": ["a"] * 25 + ["b"] * 12 + ["c"] * 3, "near": ["a"] * 15 + ["b"] * 9 + ["c"] * 11}
    labels["far"] = ["b"] * 5 + ["a"] * 15 + ["b"] * 10
    few: dict[str, Any] = {"num_runs": 1, "num_buckets": 2, "kmeans_num_redo": 1, "knn": False}
    found = compare(p_features=human, models={"near": near, "far": far}, by=labels, buckets=1, texts=1, **few)
    assert {label: [*each.models] for label, each in found.by_subgroup.items()} == {"a": ["near", "far"], "b": ["far"]}
    far_b = [row for row, label in enumerate(labels["far"]) if label == "b"]
    for label, name, rows in (("a", "near", (human[:25], near[:15])), ("b", "far", (human[25:37], far[far_b]))):
        alone = compute_mauve(p_features=rows[0], q_features=rows[1], **few)
        assert found.by_subgroup[label].own[name].mauve == alone.mauve
    assert [(item.label, item.model, item.n_p, item.n_q) for item in found.subgroups] == [
        *(("a", "near", 25, 15), ("b", "near", 12, 9), ("c", "near", 3, 11)),
        *(("a", "far", 25, 15), ("b", "far", 12, 15), ("c", "far", 3, 0)),
    ]
    assert [*found.explanations] == ["near", "far"]
    for name, explained in found.explanations.items():
        (bucket,) = explained.buckets
        result, of_models = found.models[name], np.array(labels[name])
        assert explained.result is result and bucket.q_count == (result.q_labels == bucket.bucket).sum()
        counts = Counter(of_models[result.q_labels == bucket.bucket].tolist())
        assert {label: pair[1] for label, pair in bucket.composition.items() if pair[1]} == counts


def test_counts_of_balls_are_at_the_places_of_the_rows() -> None:
    rng = np.random.default_rng(3)
    p = rng.normal(size=(40, 2))
    p = np.concatenate([p, p[:10][::-1]])  # copies, far from their originals
    q = rng.normal(size=(30, 2))[rng.integers(30, size=45)]
    recalled, covered = naive(p, q, 3)
    np.testing.assert_array_equal(ball_counts(q, p, 3)[0] > 0, recalled)
    np.testing.assert_array_equal(ball_counts(p, q, 3)[1] > 0, covered)


def test_buckets_say_what_they_are_made_of() -> None:
    found = explain(p_features=P, q_features=ALL, by={"human": P_LABELS, "model": ALL_LABELS}, num_buckets=5, buckets=5)
    for bucket in found.buckets:
        own = [
            Counter(np.array(labels)[of_side == bucket.bucket].tolist())
            for labels, of_side in ((P_LABELS, found.result.p_labels), (ALL_LABELS, found.result.q_labels))
        ]
        assert bucket.composition == {label: (own[0][label], own[1][label]) for label in own[0] | own[1]}
    assert "human texts by subgroup: " in found.document().terminal()
    assert found.to_csv("subgroups").splitlines()[0] == "bucket,label,p_count,q_count"


def write(path: Path, texts: list[str], labels: list[str], order: list[int]) -> str:
    rows = [{"text": texts[row], "animal": labels[row]} for row in order]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return str(path)


def test_files_have_the_labels_in_a_field(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    labels = ["big" if "horse" in text or "fox" in text else "small" for text in HUMAN]
    order = list(range(len(HUMAN)))
    human, model = (
        write(tmp_path / f"{name}.jsonl", HUMAN, labels, order[::step]) for name, step in (("h", 1), ("m", -1))
    )
    found = describe(human, {"m": model}, by="animal", measures="distinct_2,self_bleu", featurize_model_name=ngrams)
    small = [text for text, label in zip(HUMAN, labels, strict=True) if label == "small"]
    alone = describe(small, {"m": small[::-1]}, measures="distinct_2,self_bleu")
    assert dict(found.by_subgroup["small"].human) == dict(alone.human)
    assert found.by_subgroup["small"].sizes == {"human": len(small), "m": len(small)}
    assert list(found.by_subgroup) == ["small", "big"] and "m by subgroup" in str(found)
    assert "small,distinct_2,m," in found.to_csv()
    assert main(["describe", human, model, "--by", "animal", "--measures", "zipf", "--json"]) == 0
    assert set(json.loads(capsys.readouterr().out)["by_subgroup"]) == {"small", "big"}
    lines = (tmp_path / "m.jsonl").read_text(encoding="utf-8").splitlines()
    (tmp_path / "m.jsonl").write_text("\n".join(['{"text": "one without"}', *lines]), encoding="utf-8")
    assert main(["explain", human, model, "--by", "animal", "--featurizer", "ngrams"]) == 1
    assert "m.jsonl, line 1 has no field 'animal'" in capsys.readouterr().err
    assert main(["explain", human, model, "--by", "beast", "--featurizer", "ngrams"]) == 1
    assert "got 'beast'" in capsys.readouterr().err


def test_wrong_labels() -> None:
    wrong: list[tuple[object, str]] = [
        ("topic", "by must be a field of the human texts, got 'topic'"),
        ({"human": P_LABELS[1:]}, r"by\['human'\] must hold one label for each of the 180 texts"),
        ({"m": ALL_LABELS}, "by must have labels of the human texts"),
        ({"human": P_LABELS, "n": ALL_LABELS}, "by must have labels of 'human', 'm', got 'n'"),
        ({"human": 3}, r"by\['human'\] must hold one label, such as its topic, for each text, got 3"),
        ({"human": P_LABELS, "m": [{}] * 180}, r"by\['m'\] must hold texts or numbers"),
        ({"human": ["x" * 201] * 180}, "by: labels may have at most 200 characters, got one of 201"),
        ({"human": range(180)}, "by must group the texts by at most 50 values, got 180"),
        (3, "by must be the name of a field, or a dict of labels by side, got 3"),
    ]
    for by, message in wrong:
        with pytest.raises((TypeError, ValueError), match=message):
            compare(p_features=P, models={"m": ALL}, by=by)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="'human' stands for the human texts in by: give the model another name"):
        compare(p_features=P, models={"human": ALL}, by={"human": P_LABELS})
    with pytest.raises(ValueError, match="by must have labels of 'human', 'model', got 'm'"):
        explain(p_features=P, q_features=ALL, by={"human": P_LABELS, "m": ALL_LABELS})


def test_perplexity_of_duplicated_and_unique_texts(tiny_gpt2: str) -> None:
    texts = [*HUMAN[:12], *HUMAN[:12], *HUMAN[12:26]]
    labels = ["duplicated" if texts.count(text) > 1 else "unique" for text in texts]
    found = describe(
        texts,
        {"m": texts[::-1]},
        by={"human": labels, "m": labels[::-1]},
        measures="generation_perplexity",
        language_model=tiny_gpt2,
    )
    for label, own in (("duplicated", HUMAN[:12]), ("unique", HUMAN[12:26])):
        expected = generation_perplexity(likelihoods(own, tiny_gpt2)).mean()
        assert found.by_subgroup[label].human["generation_perplexity"] == pytest.approx(expected, rel=1e-4)


def test_texts_and_subgroups_that_are_left_out_are_named(caplog: pytest.LogCaptureFixture) -> None:
    by = {"human": [None, *P_LABELS[1:171], *["chess"] * 9], "all": ALL_LABELS}
    description = describe(p_features=P, models={"all": ALL}, by=by, measures="mmd", num_runs=1)
    assert "chess" not in description.by_subgroup
    assert "human: 1 of 180 texts have no label, and are in no subgroup" in caplog.messages
    assert "subgroup chess is missing: fewer than 10 texts of the human set, or of every model" in caplog.messages


def test_neighbours_of_a_subgroup_need_as_many_other_texts() -> None:
    config = MauveConfig(knn=True, knn_k=4)
    assert [subgroups.config_of_subgroup(config, range(9), range(size)).knn for size in (4, 5)] == [False, True]


def test_a_subgroup_with_too_few_texts_for_neighbours_has_the_other_scores() -> None:
    by = {"human": ["few"] * 15 + ["many"] * 165, "all": ["few"] * 15 + ["many"] * 165}
    options = {"by": by, "knn": True, "knn_k": 16, "num_runs": 1}
    compared = compare(p_features=P, models={"all": ALL}, **options).by_subgroup  # type: ignore[arg-type]
    assert compared["few"].models["all"].precision is None and compared["few"].models["all"].closeness is not None
    assert compared["many"].models["all"].precision is not None
    described = describe(p_features=P, models={"all": ALL}, measures="score", **options).by_subgroup  # type: ignore[arg-type]
    assert "precision" not in described["few"].models["all"] and "mauve" in described["few"].models["all"]
