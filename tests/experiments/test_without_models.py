"""The experiments that generate no text: their pieces on small data, and the page of their results."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np
import pytest
from samples import ROOT

sys.path.append(str(ROOT / "experiments"))

import domains
import feature_sets
import hyperparameters
import make_page
import quantizers
import sample_complexity
import topics

# --- sample complexity --------------------------------------------------------------------------------------------


def test_the_errors_of_many_texts_are_small_and_those_of_few_are_the_bias() -> None:
    p = sample_complexity.zipf(10, 1)
    assert p.sum() == pytest.approx(1) and p[0] / p[9] == pytest.approx(10)
    rng = np.random.default_rng(0)
    many, few = (sample_complexity.errors(p, p, 0.0, n, 20, rng) for n in (100_000, 100))
    assert set(many) == set(sample_complexity.NAMES)
    # of equal sets the plug-in is about (k - 1)(1/n + 1/n)/6
    assert few["none"] == pytest.approx(9 * 2 / 100 / 6, rel=0.35)
    assert max(many.values()) < 1e-4 and few["debiased"] < few["none"] / 2


def test_cells_of_normal_distributions_approach_the_truth() -> None:
    rows = sample_complexity.of_cells([1_000_000], 2, seed=0)
    by_cells = {row["k"]: row["error"] for row in rows}
    # two cells lose a third of the truth, .1514; 64 cells of a million texts are close
    assert by_cells[2] > 0.04 and by_cells[64] < 0.002
    assert sample_complexity.best_cells([{"n": 5, "k": 2, "error": 0.2}, {"n": 5, "k": 4, "error": 0.1}]) == {5: 4}


# --- hyperparameters ----------------------------------------------------------------------------------------------


def test_each_knob_moves_alone_and_its_default_is_there() -> None:
    found = list(hyperparameters.settings(600))
    assert {item.knob for item in found} == {"n", "k", "c"}
    for item in found:
        changed = {
            "n": item.n != 600,
            "k": item.n == 600 and item.k != 60,
            "c": item.c != hyperparameters.DEFAULT_FACTOR,
        }
        assert not any(moved for knob, moved in changed.items() if knob != item.knob), item
    assert [item.value for item in found if (item.n, item.k, item.c) == (600, 60, 5)] == [600, 60, 5]


@pytest.mark.more
def test_a_table_of_hyperparameters(monkeypatch: pytest.MonkeyPatch) -> None:
    for knob, some in (("SHARES", ()), ("BUCKETS", (1 / 20,)), ("FACTORS", (20,))):
        monkeypatch.setattr(hyperparameters, knob, some)
    rng = np.random.default_rng(0)
    human = rng.normal(size=(60, 4))
    models = {"far": human + 3, "same": rng.normal(size=(60, 4)), "near": human + 0.7}
    found = hyperparameters.measured(human, models, seeds=2, seed=0)
    rows = {str(row["knob"]): row for row in hyperparameters.table(found, list(models))}
    assert list(rows) == ["n = 60", "k = 3", "k = 6", "c = 5", "c = 20"]
    default = rows["c = 5"]
    assert default["far"] < default["near"] < default["same"] and default["default"] == 1.0
    assert rows["c = 20"]["near"] < default["near"] and rows["c = 20"]["default"] == 1.0
    assert {**rows["k = 6"], "knob": ""} == {**default, "knob": ""} == {**rows["n = 60"], "knob": ""}


# --- quantizers ---------------------------------------------------------------------------------------------------


def test_a_table_of_quantizers() -> None:
    rising, falling = np.array([[0.1, 0.2, 0.3], [0.2, 0.3, 0.4]]), np.array([[0.3, 0.2, 0.1], [0.1, 0.2, 0.3]])
    found = {
        quantizers.STANDARD: quantizers.Found(rising, rising, 1.0),
        "other": quantizers.Found(falling, -rising, 2.0),
        "all the same": quantizers.Found(np.ones((2, 3)), rising, 3.0),
    }
    standard, other, same = quantizers.table(found, ["a", "b", "c"])
    assert (standard["standard"], standard["seeds"], standard["seconds"]) == (1.0, 1.0, 1.0)
    assert (other["debiased"], other["seeds"], other["deviation"]) == (-1.0, -1.0, pytest.approx(0.1))
    assert (same["standard"], same["seeds"]) == (None, None)
    assert other["a"] == pytest.approx(0.2)


def test_a_clustering_scores_every_model() -> None:
    rng = np.random.default_rng(0)
    human, near, far = (rng.normal(shift, 1, size=(80, 4)) for shift in (0, 0.1, 3))
    config = quantizers.settings(240, paper=False)["k-means, k = 60"]
    found = quantizers.clustered(human, {"near": near, "far": far}, config, seed=1)
    assert found.mauve.shape == found.debiased.shape == (1, 2)
    assert found.mauve[0, 0] > found.mauve[0, 1] and found.debiased[0, 0] > found.mauve[0, 0]


# --- topics -------------------------------------------------------------------------------------------------------


def test_topics_left_out_lower_recall_and_topics_added_precision() -> None:
    rng = np.random.default_rng(0)
    corners = np.eye(6) * 20
    features = {name: rng.normal(corners[place], 1.0, size=(90, 6)) for place, name in enumerate("abcdef")}
    found = topics.scores(features, "abc", "def", 60, seed=1)
    assert list(found) == [
        *("1 of the 3 topics", "2 of the 3 topics", "the 3 topics"),
        *("the 3 and 1 more", "the 3 and 2 more", "the 3 and 3 more"),
    ]
    precision, recall = ([scores[key] for scores in found.values()] for key in ("precision", "recall"))
    # shares of topics: k-NN balls of one corner never reach another; within one a few texts lie outside
    assert recall[:3] == pytest.approx([1 / 3, 2 / 3, 1], abs=0.12)
    assert min(precision[:3]) > 0.85 and min(recall[3:]) > 0.85
    assert precision[3:] == pytest.approx([3 / 4, 3 / 5, 1 / 2], abs=0.12)


def test_parts_of_topics() -> None:
    rows = {name: np.full((5, 1), place) for place, name in enumerate("ab")}
    assert topics.drawn(rows, "ab", 5).ravel().tolist() == [0, 0, 0, 1, 1]
    with pytest.raises(SystemExit, match="the topic 'a' needs 3 texts, got 2"):
        topics.chosen(["x", "y"], 3, "a", np.random.default_rng(0))


def test_prose_is_what_is_kept_of_docstrings(tmp_path: Path) -> None:
    prose = "This function does a thing that takes " + "many words and " * 10 + "then ends."
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "x.py").write_text(f'"""{prose} In a test."""\n', encoding="utf-8")
    (tmp_path / "broken.py").write_text("def (", encoding="utf-8")
    code = "Call it as f(x) = [1, 2] " + "and so on " * 10 + "."
    (tmp_path / "a.py").write_text(
        f'def f():\n    """Short.\n\n    {prose}\n\n    {code}\n\n    {prose}"""\n', encoding="utf-8"
    )
    assert domains.passages(domains.docstrings(tmp_path)) == [prose]
    assert len(domains.passages(["A long one " + "word " * 99 + "end."])[0].split()) == domains.MOST_WORDS


def test_a_file_needs_a_name(tmp_path: Path) -> None:
    path = tmp_path / "x.txt"
    path.write_text("a\n", encoding="utf-8")
    assert feature_sets.named_file(f"news={path}") == ("news", path)
    for wrong in (str(path), f"={path}", "news=missing.txt"):
        with pytest.raises(argparse.ArgumentTypeError, match="expected NAME=FILE with a file that exists"):
            feature_sets.named_file(wrong)


# --- the page -----------------------------------------------------------------------------------------------------


def test_the_page_of_experiments_is_that_of_the_results() -> None:
    assert make_page.PAGE.read_text(encoding="utf-8") == make_page.page(), "run: python experiments/make_page.py"
    for result in make_page.results():
        light, dark = make_page.figures(result).items()
        assert light[1] != dark[1]
        for name, drawn in (light, dark):
            assert (make_page.FIGURES / name).read_text(encoding="utf-8") == drawn, (
                "run: python experiments/make_page.py"
            )
    assert len(make_page.results()) >= 4


def test_a_result_without_a_word_on_the_paper_is_named(tmp_path: Path) -> None:
    lacking = tmp_path / "lacking.md"
    lacking.write_text("# Title\n\n    python experiments/lacking.py\n\n![what](lacking.svg)\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"lacking\.md must have"):
        make_page.section(lacking)
