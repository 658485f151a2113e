"""Several models at once: one partition, paired intervals, corrected decisions, forecasts, tables, page, figures."""

from __future__ import annotations

import csv
import html
import io
import itertools
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from mauve_metric import Comparison, Reference, compare, compute_mauve
from mauve_metric.config import MauveConfig
from mauve_metric.hosts.cli import main
from mauve_metric.hosts.cli_files import model_names
from mauve_metric.results import tables, words
from mauve_metric.results.charts import of_comparison
from mauve_metric.uncertainty import intervals, jackknife
from mauve_metric.uncertainty.buckets import holm
from mauve_metric.uncertainty.differences import difference_of, joint_errors

Floats = NDArray[np.float64]
EVIL = '<script>alert("x")</script> & | _b_ \\% $'


def features(shift: float, n: int = 120, seed: int = 0, scale: float = 1.0) -> Floats:
    return shift + scale * np.random.default_rng(seed).normal(size=(n, 5))


HUMAN = features(0, seed=100)
MODELS = {"bad": features(1.5, seed=1), "good": features(0.05, seed=2), "middle": features(0.6, seed=3)}


@pytest.fixture(scope="module")
def comparison() -> Comparison:
    return compare(p_features=HUMAN, models=MODELS, num_runs=2)


# --- scores -------------------------------------------------------------------------------------------------------


def test_models_are_ranked_by_how_close_they_are(comparison: Comparison) -> None:
    assert comparison.ranking == ("good", "middle", "bad")
    assert list(comparison.models) == ["bad", "good", "middle"]
    scores = [comparison.models[name].mauve_debiased or 0 for name in comparison.ranking]
    assert scores == sorted(scores, reverse=True)


def test_all_scores_live_on_one_partition(comparison: Comparison) -> None:
    for a, b in itertools.combinations(comparison.models.values(), 2):
        np.testing.assert_array_equal(a.p_labels, b.p_labels)
        np.testing.assert_array_equal(a.p_hist, b.p_hist)
    for name, result in comparison.models.items():
        assert result.num_buckets == 12 and result.n_q == 120
        assert "partition:common to bad, good, middle" in result.signature and f"model:{name}" in result.signature
    assert len({result.signature for result in comparison.models.values()}) == 3


def test_own_scores_are_those_of_compute_mauve(comparison: Comparison) -> None:
    for name, rows in MODELS.items():
        expected = compute_mauve(p_features=HUMAN, q_features=rows, num_runs=2)
        assert comparison.own[name].mauve == expected.mauve
        assert comparison.own[name].signature == expected.signature


def test_one_model_is_scored_as_by_compute_mauve() -> None:
    found = compare(p_features=HUMAN, models={"only": MODELS["bad"]}, num_runs=2, row_order="pq")
    expected = compute_mauve(p_features=HUMAN, q_features=MODELS["bad"], num_runs=2, row_order="pq")
    result = found.models["only"]
    for name in ("mauve", "mauve_debiased", "mauve_ci", "frontier_integral", "precision", "recall", "mauve_std"):
        assert getattr(result, name) == getattr(expected, name)
    assert found.differences == () and found.smallest_difference is None and found.texts_needed is None
    assert "only" in str(found) and found.to_latex() and found.to_markdown()


def test_row_order_moves_the_humans(comparison: Comparison) -> None:
    other = compare(p_features=HUMAN, models=MODELS, num_runs=2, row_order="pq")
    assert other.ranking == comparison.ranking
    assert any(other.models[name].mauve != comparison.models[name].mauve for name in MODELS)


def test_inputs_of_all_kinds_agree(comparison: Comparison) -> None:
    models = {"bad": MODELS["bad"].tolist(), "good": Reference(MODELS["good"]), "middle": MODELS["middle"]}
    assert compare(p=Reference(HUMAN), models=models, num_runs=2).to_dict() == comparison.to_dict()


# --- differences --------------------------------------------------------------------------------------------------


def test_clear_differences_are_real_and_none_is_not(comparison: Comparison) -> None:
    assert [(item.a, item.b) for item in comparison.differences] == [
        ("good", "middle"),
        ("good", "bad"),
        ("middle", "bad"),
    ]
    assert comparison.differences[1].real and comparison.differences[1].p_value < 1e-6
    twins = compare(p_features=HUMAN, models={"a": MODELS["good"], "b": MODELS["good"]}, num_runs=1)
    (item,) = twins.differences
    assert item.difference == 0 and item.p_value == 1 and not item.real and item.ci[0] <= 0 <= item.ci[1]
    assert twins.texts_needed is None
    assert [warning.code for warning in twins.warnings] == ["equal_models"]


def test_difference_is_zou_and_donner() -> None:
    a, b = intervals.Estimate(0.8, 0.03, (0.7, 0.85)), intervals.Estimate(0.6, 0.04, (0.5, 0.72))
    found = intervals.estimate_difference(a, b, 0.3)
    low = 0.2 - (0.1**2 + 0.12**2 - 2 * 0.3 * 0.1 * 0.12) ** 0.5
    high = 0.2 + (0.05**2 + 0.1**2 - 2 * 0.3 * 0.05 * 0.1) ** 0.5
    assert found.ci == pytest.approx((low, high), abs=1e-12)
    mirrored = intervals.estimate_difference(b, a, 0.3)
    assert mirrored.ci == pytest.approx((-high, -low), abs=1e-12) and mirrored.p_value == found.p_value
    normal = NormalDist()
    assert found.p_value == pytest.approx(2 * normal.cdf(-normal.inv_cdf(0.975) * 0.2 / (0.2 - low)), abs=1e-12)


@pytest.mark.parametrize("level", [0.8, 0.95])
def test_p_value_and_interval_agree(level: float) -> None:
    rng = np.random.default_rng(0)
    for _ in range(100):
        x, y = rng.uniform(0.3, 0.9, 2)
        ends = rng.uniform(0.01, 0.1, 4)
        a, b = (
            intervals.Estimate(x, 0.01, (x - ends[0], x + ends[1])),
            intervals.Estimate(y, 0.01, (y - ends[2], y + ends[3])),
        )
        found = intervals.estimate_difference(a, b, rng.uniform(-1, 1), level)
        assert (found.p_value < 1 - level) == (found.ci[0] > 0 or found.ci[1] < 0)


def test_an_upper_end_cut_off_at_one_proves_nothing() -> None:
    sure, wide = intervals.Estimate(1.0, 0.0, (1.0, 1.0)), intervals.Estimate(0.99, 0.03, (0.9, 1.0))
    found = intervals.estimate_difference(sure, wide, 0.0)
    assert found.p_value == pytest.approx(2 * NormalDist().cdf(-0.01 / 0.03), abs=1e-12)
    assert intervals.estimate_difference(sure, sure, 0.0).p_value == 1


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


def scored(labels: list[NDArray[np.int64]], k: int) -> list[intervals.Estimate]:
    counts = [np.bincount(side, minlength=k) for side in labels]
    return [intervals.estimate_scores(jackknife.debiased_frontier(counts[0], side))[0] for side in counts[1:]]


@pytest.mark.parametrize(("aligned", "shift"), [(False, 0.8), (True, 0.8)])
def test_errors_are_those_of_repeated_samples(aligned: bool, shift: float) -> None:
    """The shared human texts, and shared rows of aligned models, against the spread of 150 draws."""
    k, n, repeats = 12, 200, 150
    rng = np.random.default_rng(0)
    p, q = equal_models(k, shift, rng)
    values, variances, between = [], [], []
    for repeat in range(repeats):
        rows = rng.choice(k, n, p=q)  # aligned: half of the rows fall into one bucket in both models
        shared = rng.random(n) < (0.5 if aligned else 0.0)
        labels = [rng.choice(k, n, p=p), rows, np.where(shared, rows, rng.choice(k, n, p=q))]
        values.append([estimate.value for estimate in scored(labels, k)])
        if repeat % 5 == 0:  # estimates differ less among themselves than scores do
            groups = [np.arange(n), n + np.arange(n), n + np.arange(n)] if aligned else []
            errors = joint_errors([labels], MauveConfig(num_buckets=k), groups)
            variances.append(errors.variance(0)[0])
            between.append(errors.parts(0, 1)[0])
    seen = np.cov(np.array(values), rowvar=False)
    # a variance from 150 draws errs by √(2/150) = 12 %, three of those
    assert np.mean(variances) == pytest.approx(seen[0, 0], rel=0.35)
    assert np.mean(between) == pytest.approx(seen[0, 0] + seen[1, 1] - 2 * seen[0, 1], rel=0.35)
    assert np.mean(between) < 1.7 * np.mean(variances)  # less than 2: the scores share the human texts


def test_intervals_cover_and_are_narrower_than_unpaired_ones() -> None:
    k, n, repeats = 20, 300, 80
    rng = np.random.default_rng(1)
    p, q = equal_models(k, 0.5, rng)
    covered, narrower = 0, 0.0
    for _ in range(repeats):
        labels = [rng.choice(k, n, p=p), rng.choice(k, n, p=q), rng.choice(k, n, p=q)]
        a, b = scored(labels, k)
        found = difference_of([a, b], joint_errors([labels], MauveConfig(num_buckets=k)), 0, 1)
        plain = intervals.estimate_difference(a, b, 0.0)
        covered += found.ci[0] <= 0 <= found.ci[1]
        narrower += (found.ci[1] - found.ci[0]) / (plain.ci[1] - plain.ci[0]) / repeats
    # 95 % of 80 with a standard deviation of 1.9, less three of them
    assert covered >= 0.95 * repeats - 3 * 1.9
    assert narrower < 0.95


# --- input --------------------------------------------------------------------------------------------------------


def test_aligned_models_have_equal_rows() -> None:
    assert compare(p_features=HUMAN, models=MODELS, aligned=True, num_runs=1).design == "aligned"
    uneven = {"a": MODELS["good"], "b": MODELS["bad"][1:]}
    with pytest.raises(ValueError, match=r"equal size, the human one included, got human 120, a 120, b 119:"):
        compare(p_features=HUMAN, models=uneven, aligned=True)
    assert [w.code for w in compare(p_features=HUMAN, models=uneven, num_runs=1).warnings] == ["unequal_models"]


def test_wrong_input() -> None:
    with pytest.raises(TypeError, match="models must be a dict"):
        compare(p_features=HUMAN, models=[HUMAN])  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="at least one model"):
        compare(p_features=HUMAN, models={})
    with pytest.raises(TypeError, match="names must be non-empty"):
        compare(p_features=HUMAN, models={" ": HUMAN})
    with pytest.raises(ValueError, match=r"p, p_features, p_tokens, p_text must be given"):
        compare(models={"a": HUMAN})
    with pytest.raises(ValueError, match="same number of columns"):
        compare(p_features=HUMAN, models={"a": HUMAN, "b": HUMAN[:, :4]})
    with pytest.raises(ValueError, match=r"models\['a'\] must hold at least 2 texts to be compared, got 1"):
        compare(p_features=HUMAN, models={"a": HUMAN[:1]})
    with pytest.raises(TypeError, match=r"models\['a'\] text must be a list of texts, got a single str"):
        compare(p_features=HUMAN, models={"a": "one text"})
    with pytest.raises(ValueError, match=r"NaN|nan|finite"):
        compare(p_features=HUMAN, models={"a": np.full((5, 5), np.nan)})
    other = Reference(HUMAN, {"model": "x", "revision": "1"})
    with pytest.raises(ValueError, match="featurized differently"):
        compare(p_features=HUMAN, models={"a": other, "b": Reference(HUMAN, {"model": "x", "revision": "2"})})


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


def test_csv_holds_the_numbers(told: Comparison) -> None:
    rows = list(csv.DictReader(io.StringIO(told.to_csv())))
    assert [row["model"] for row in rows] == list(told.ranking)
    assert float(rows[0]["mauve"]) == told.models[told.ranking[0]].mauve
    pairs = list(csv.DictReader(io.StringIO(told.to_csv("differences"))))
    assert len(pairs) == 1 and float(pairs[0]["p_value"]) == told.differences[0].p_value
    with pytest.raises(ValueError, match="models, differences"):
        told.to_csv("other")  # type: ignore[arg-type]


def test_markdown_and_latex_escape_names(told: Comparison) -> None:
    for line in told.to_markdown().split("\n\n")[0].splitlines():
        assert len(re.findall(r"(?<!\\)\|", line)) == len(tables.MODEL_COLUMNS) + 1
    body = told.to_latex().split("\n%")[0]
    assert not re.search(r"(?<!\\)[$%#_]", body)
    for line in body.splitlines():
        if line.endswith(r"\\"):
            assert len(re.findall(r"(?<!\\)&", line)) in (
                len(tables.MODEL_COLUMNS) - 1,
                len(tables.DIFFERENCE_COLUMNS) - 1,
            )


def test_terminal_table_has_everything(comparison: Comparison) -> None:
    shown = str(comparison)
    for name in comparison.ranking:
        assert f"{comparison.models[name].mauve:.4f}" in shown and f"{comparison.own[name].mauve:.4f}" in shown
    assert "few_texts" in shown and shown.endswith(comparison.signature)
    assert shown.count("120 texts are few") == 1  # what is true of all models is said once
    assert words.rounded_up(1) == "1" and words.rounded_up(100) == "100" and words.rounded_up(101) == "110"


class Page(HTMLParser):
    """The tags and addresses of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.sources: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.sources += [value or "" for name, value in attrs if name in ("src", "href") or name.startswith("on")]


def test_report_is_self_contained_and_escaped(told: Comparison, tmp_path: Path) -> None:
    path = told.save_report(tmp_path / "report.html")
    content, page = path.read_text(encoding="utf-8"), Page()
    page.feed(content)
    assert "script" not in page.tags and "link" not in page.tags and page.tags.count("img") == 2 + len(told.models)
    assert page.sources and all(source.startswith("data:image/svg+xml;base64,") for source in page.sources)
    assert "<script" not in content and "&lt;script&gt;" in content
    assert told.models["b"].signature in html.unescape(content) and page.tags.count("details") == 3
    with pytest.raises(ValueError, match=r"\.html"):
        told.save_report(tmp_path / "report.pdf")


def test_explanations_are_those_of_the_common_partition(told: Comparison) -> None:
    for name, explanation in told.explanations.items():
        assert explanation.result is told.models[name] and len(explanation.buckets) == 2
        assert explanation.contributions.sum() == pytest.approx(1 - told.models[name].mauve, abs=1e-12)


def rows_of(chart: Any) -> list[dict[str, Any]]:
    spec = chart.to_dict()
    data = spec["layer"][0].get("data", spec.get("data"))
    rows: list[dict[str, Any]] = data["values"] if "values" in data else spec["datasets"][data["name"]]
    return rows


def test_charts_hold_the_numbers(comparison: Comparison) -> None:
    rows = rows_of(of_comparison.forest_chart(comparison))
    assert [row["model"] for row in rows] == list(comparison.ranking)
    assert [row["mauve"] for row in rows] == [comparison.models[name].mauve for name in comparison.ranking]
    assert "vconcat" in comparison.plot().to_dict()


# --- command line -------------------------------------------------------------------------------------------------


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    np.save(tmp_path / "human.npy", HUMAN)
    for name in ("x", "y"):
        (tmp_path / name).mkdir()
    np.save(tmp_path / "x" / "model.npy", MODELS["bad"])
    np.save(tmp_path / "y" / "model.npy", MODELS["good"])
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
    starts = {"--markdown": "| rank", "--csv": "rank,model", "--csv-differences": "a,b,", "--latex": r"\begin{tabular}"}
    assert capsys.readouterr().out.startswith(starts.get(flag, "2 models against 120 human texts"))


def test_command_writes_report_and_figure(files: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    report, figure = tmp_path / "out.html", tmp_path / "out.svg"
    assert main(["compare", *files, "--num-runs", "1", "--report", str(report), "--plot", str(figure)]) == 0
    assert "What makes the gaps" in report.read_text() and figure.read_text().startswith("<svg")
    assert capsys.readouterr().err == ""


def test_command_errors(files: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", "-", "-", files[1]]) == 1
    assert "standard input" in capsys.readouterr().err
    assert main(["compare", *files, "--json", "--latex"]) == 1
    assert "--json" in capsys.readouterr().err
    assert main(["compare", *files, "missing.jsonl"]) == 1
    for arguments in (
        ["compare", files[0]],
        ["compare", *files, "--report", "x.pdf"],
        ["explain", *files[:2], "--texts", "x"],
    ):
        with pytest.raises(SystemExit) as caught:
            main(arguments)
        assert caught.value.code == 2
        assert capsys.readouterr().out == ""


def test_names_are_unique() -> None:
    assert model_names(["a/b.jsonl", "c/b.txt", "d.npy"]) == ["a/b", "c/b", "d"]
    assert model_names(["a/b.jsonl", "a/b.txt", "a/b.jsonl"]) == ["b", "b-2", "b-3"]
    assert model_names(["texts/", "-", "./x.y.jsonl"]) == ["texts", "stdin", "x.y"]
