"""The same texts through every door have the same headline, and what must not matter does not."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from samples import texts_of, write_jsonl
from visitors import CALLER

from mauve_metric import MauveResult, compute_mauve, score_sharded
from mauve_metric.hosts.cli.main import main
from mauve_metric.hosts.space.limits import Limits

pytestmark = pytest.mark.slow
HEADLINE = (
    "closeness",
    "closeness_ci",
    "verdict",
    "mauve_debiased",
    "mauve_debiased_ci",
    "mauve_classifier",
    "auc",
    "n_p",
    "n_q",
)
HUMAN, MODEL = texts_of(120, seed=0), texts_of(110, seed=1, longest=20)
OPTIONS: dict[str, Any] = {"featurize_model_name": "ngrams", "num_buckets": 10}


def headline(found: Any) -> dict[str, Any]:
    """The headline of a result or of its dict."""
    values = found.to_dict() if hasattr(found, "to_dict") else found
    return {name: values[name] for name in HEADLINE}


def check_same(found: Any, expected: Any, rel: float) -> None:
    for name, value in headline(expected).items():
        exact = isinstance(value, (str, int)) or value is None
        assert headline(found)[name] == (value if exact else pytest.approx(value, rel=rel)), name


@pytest.fixture(scope="module")
def expected() -> MauveResult:
    return compute_mauve(p_text=HUMAN, q_text=MODEL, **OPTIONS)


# --- forms of texts -----------------------------------------------------------------------------------------------


def pyarrow_array(texts: list[str]) -> Any:
    return pytest.importorskip("pyarrow").array(texts)


def pyarrow_table(texts: list[str]) -> Any:
    return pytest.importorskip("pyarrow").table({"text": texts})


def dataset_column(texts: list[str]) -> Any:
    return pytest.importorskip("datasets").Dataset.from_dict({"text": texts})["text"]


def dataset_stream(texts: list[str]) -> Any:
    return pytest.importorskip("datasets").Dataset.from_dict({"text": texts}).to_iterable_dataset()


FORMS: dict[str, Callable[[list[str]], Any]] = {
    "tuple": tuple,
    "numpy": np.array,
    "numpy objects": lambda texts: np.array(texts, dtype=object),
    "Series": lambda texts: pd.Series(texts),
    "DataFrame": lambda texts: pd.DataFrame({"text": texts}),
    "pyarrow array": pyarrow_array,
    "pyarrow table": pyarrow_table,
    "column": dataset_column,
    "stream": dataset_stream,
    "generator": lambda texts: (text for text in texts),
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_texts(form: str, expected: MauveResult) -> None:
    check_same(compute_mauve(p_text=FORMS[form](HUMAN), q_text=FORMS[form](MODEL), **OPTIONS), expected, rel=0)


WRITERS: dict[str, Callable[[pd.DataFrame, Path], None]] = {
    "jsonl": lambda table, path: table.to_json(path, orient="records", lines=True),
    "json": lambda table, path: table.to_json(path, orient="records"),
    "csv": lambda table, path: table.to_csv(path, index=False),
    "tsv": lambda table, path: table.to_csv(path, index=False, sep="\t"),
    "txt": lambda table, path: path.write_text("\n".join(table["text"]) + "\n", encoding="utf-8") and None,
    "parquet": lambda table, path: table.to_parquet(path, index=False),
    "xlsx": lambda table, path: table.to_excel(path, index=False),
}


@pytest.fixture
def files(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[str, str]:
    """Two files of texts with the ending that is asked for."""
    paths = [tmp_path / f"{name}.{request.param}" for name in ("human", "model")]
    for path, texts in zip(paths, (HUMAN, MODEL), strict=True):
        WRITERS[request.param](pd.DataFrame({"text": texts}), path)
    return str(paths[0]), str(paths[1])


@pytest.mark.parametrize("files", WRITERS, indirect=True)
def test_every_format_of_files_in_python_and_in_the_shell(
    files: tuple[str, str], expected: MauveResult, capsys: pytest.CaptureFixture[str]
) -> None:
    check_same(compute_mauve(p_text=files[0], q_text=files[1], **OPTIONS), expected, rel=0)
    assert main(["score", *files, "--featurizer", "ngrams", "--num-buckets", "10", "--json", "--quiet"]) == 0
    check_same(json.loads(capsys.readouterr().out), expected, rel=0)


# --- hosts --------------------------------------------------------------------------------------------------------


def shards(folder: Path) -> Any:
    for name, texts in (("human", HUMAN), ("model", MODEL)):
        (folder / name).mkdir()
        for number, start in enumerate(range(0, len(texts), 50)):
            write_jsonl(folder / name / f"{number}.jsonl", texts[start : start + 50])
    return score_sharded(folder / "human", folder / "model", folder / "out", **OPTIONS)


def evaluate_metric(folder: Path) -> Any:
    pytest.importorskip("evaluate")
    from mauve_metric.hosts.evaluate.metric import Mauve

    return Mauve(cache_dir=str(folder)).compute(predictions=MODEL, references=HUMAN, row_order="qp", **OPTIONS)


def torchmetrics_class(folder: Path) -> Any:
    pytest.importorskip("torchmetrics")
    from mauve_metric.hosts.harness.torchmetrics import MauveScore

    metric = MauveScore(**OPTIONS)
    for side, texts in ((True, HUMAN), (False, MODEL)):
        for start in range(0, len(texts), 50):
            metric.update(texts[start : start + 50], real=side)
    metric.compute()
    return metric.result


def page(folder: Path) -> Any:
    pytest.importorskip("gradio")
    from mauve_metric.hosts.space.server.endpoints import Endpoints
    from mauve_metric.hosts.space.session.queue import Turns
    from mauve_metric.hosts.space.session.scoring import Encoders

    limits = Limits()
    score = Endpoints(limits, ["ngrams"], Encoders(), Turns(limits)).function("score")
    return score(CALLER, references=HUMAN, predictions=MODEL, num_buckets=10)


HOSTS = {"shards": shards, "evaluate": evaluate_metric, "torchmetrics": torchmetrics_class, "page": page}


@pytest.mark.parametrize("host", HOSTS)
def test_every_host(host: str, expected: MauveResult, tmp_path: Path) -> None:
    """On Ray: tests/apps/sharding/test_score_sharded.py."""
    check_same(HOSTS[host](tmp_path), expected, rel=1e-9)


# --- what must not matter -----------------------------------------------------------------------------------------

RNG = np.random.default_rng(0)
P = RNG.normal(size=(150, 12)).astype(np.float32)
Q = (RNG.normal(size=(140, 12)) + 0.3).astype(np.float32)
KEYWORDS: dict[str, Any] = {"num_buckets": 12}


@pytest.fixture(scope="module")
def of_features() -> MauveResult:
    return compute_mauve(p_features=P, q_features=Q, **KEYWORDS)


def test_order_of_rows(of_features: MauveResult) -> None:
    """Rounding of sums in another order: n·2**-24 ≈ 1e-5 of a projected row, far from the borders of buckets."""
    order = np.random.default_rng(1)
    found = compute_mauve(p_features=P[order.permutation(150)], q_features=Q[order.permutation(140)], **KEYWORDS)
    check_same(found, of_features, rel=1e-6)


def test_scale_by_a_power_of_two(of_features: MauveResult) -> None:
    """Multiplied by 8 only the exponents of floats differ: the last bits of a double are left to libraries."""
    check_same(compute_mauve(p_features=8 * P, q_features=8 * Q, **KEYWORDS), of_features, rel=1e-9)


def test_names_of_groups() -> None:
    """Groups are numbered as they occur: the numbers do not depend on the names at all."""
    groups = [row // 3 for row in range(150)], [50 + row // 2 for row in range(140)]
    names = {number: ("z", number * 37 % 211) for side in groups for number in side}
    found = []
    for p_groups, q_groups in (groups, [[names[number] for number in side] for side in groups]):
        found.append(compute_mauve(p_features=P, q_features=Q, p_groups=p_groups, q_groups=q_groups, **KEYWORDS))
    check_same(found[1], found[0], rel=0)


def check_near(found: MauveResult, expected: MauveResult) -> None:
    """Rows that are the same but for rounding or the basis: other folds and buckets, less than other texts would do."""
    assert found.verdict == expected.verdict
    for value, interval in (("closeness", "closeness_ci"), ("mauve_debiased", "mauve_debiased_ci")):
        for one, other in ((found, expected), (expected, found)):
            low, high = getattr(one, interval)
            assert low <= getattr(other, value) <= high, value


def test_rotation_and_half_precision(of_features: MauveResult) -> None:
    basis = np.linalg.qr(np.random.default_rng(5).normal(size=(12, 12)))[0]
    check_near(compute_mauve(p_features=P @ basis, q_features=Q @ basis, **KEYWORDS), of_features)
    halves = [rows.astype(np.float16) for rows in (P, Q)]
    check_near(compute_mauve(p_features=halves[0], q_features=halves[1], **KEYWORDS), of_features)


def test_swapped_sides(of_features: MauveResult) -> None:
    """MAUVE is symmetric: on the same buckets only the order of sums differs, 1e-16 of each of a hundred terms."""
    found = compute_mauve(p_features=Q, q_features=P, **KEYWORDS)
    check_near(found, of_features)
    assert found.mauve_debiased == pytest.approx(of_features.mauve_debiased, rel=1e-9)
    assert (found.precision, found.recall) == (of_features.recall, of_features.precision)


def test_copies_that_are_declared_as_groups(of_features: MauveResult) -> None:
    """Four copies of each row are as many draws as before: taken for draws of their own, they would halve the error."""
    groups = np.repeat(np.arange(290), 4)
    found = compute_mauve(
        p_features=np.repeat(P, 4, axis=0),
        q_features=np.repeat(Q, 4, axis=0),
        p_groups=groups[: 4 * 150],
        q_groups=groups[4 * 150 :],
        **KEYWORDS,
    )
    check_near(found, of_features)
    assert found.mauve_debiased_stderr is not None and of_features.mauve_debiased_stderr is not None
    # the buckets are others, so that the error is not the same: it may not be near half
    assert 0.7 < found.mauve_debiased_stderr / of_features.mauve_debiased_stderr < 1.5
