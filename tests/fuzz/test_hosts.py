"""Classes and endpoints with any value in the place of one argument: a refusal that names it, or a sound result."""

from __future__ import annotations

import inspect
import json
import math
import warnings
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from samples import ngrams, texts_of
from strategies import DOCUMENTED, JSON, VALUES, check_message, content
from visitors import CALLER, LIMITS

from mauve_metric.options import config_fields

HUMAN, MODEL = texts_of(20, seed=0), texts_of(20, seed=1)
SMALL: dict[str, Any] = {"featurize_model_name": ngrams, "num_buckets": 2, "num_runs": 1, "knn": False, "cache": False}
COSTLY = {"num_runs", "permutations", "divergence_curve_discretization_size", "kmeans_num_redo", "seed"}
ENDPOINTS: dict[str, dict[str, Any]] = {
    "score": {"references": HUMAN, "predictions": MODEL},
    "compare": {"references": HUMAN, "models": {"a": MODEL, "b": HUMAN[::-1]}},
    "describe": {"references": HUMAN, "models": {"a": MODEL}, "measures": ["distinct_2"]},
}
ALSO: dict[str, tuple[str, ...]] = {
    "texts": ("FeatureSet", "features", "preds"),
    "real": ("MauveScore has no",),
    "reference_features": ("FeatureSet", "references", "human set"),
    "prediction_features": ("FeatureSet", "predictions", "of features"),
    "reset_real_features": (),
    "featurizers": ("featurizer", "featurize_model_name"),
    "models": ("model",),
    "prompts": ("prompt",),
    "featurize_model_name": ("the featurizer",),
    "references": ("human texts", "folder"),
    "save_texts": ("cannot be written",),
}


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files named "nowhere" are looked for here, and nothing is loaded from the network."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")


def too_costly(name: str, value: object) -> bool:
    return name in COSTLY and isinstance(value, int) and value > 20


def refused(error: Exception, value: object, before: object, name: str) -> None:
    """A refusal names the argument and leaves it alone."""
    check_message(error, name, *ALSO.get(name, ()))
    assert content(value) == before or hasattr(value, "__next__")


# --- torchmetrics -------------------------------------------------------------------------------------------------


def of_torchmetrics(changed: str, value: object) -> tuple[dict[str, float], str]:
    """Scores and signature of a metric with one value changed: of an option, of the texts or of their side."""
    from mauve_metric.hosts.harness.torchmetrics import MauveScore

    metric = MauveScore(**(SMALL if changed in ("texts", "real") else SMALL | {changed: value}))
    metric.update(HUMAN, real=True)
    metric.update(value if changed == "texts" else MODEL, real=value if changed == "real" else False)  # type: ignore[arg-type]
    found = {name: float(score) for name, score in metric.compute().items()}
    return found, metric.result.signature


@pytest.mark.more
@given(data=st.data())
def test_any_value_of_the_torchmetrics_class(data: st.DataObject) -> None:
    pytest.importorskip("torchmetrics")
    name = data.draw(st.sampled_from(["texts", "real", "reset_real_features", *config_fields()]))
    value = data.draw(VALUES, label=name)
    if too_costly(name, value):
        return
    before = content(value)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", RuntimeWarning)
            scores, signature = of_torchmetrics(name, value)
    except DOCUMENTED as error:
        refused(error, value, before, name)
        return
    assert content(value) == before or hasattr(value, "__next__")
    assert 0 <= scores["mauve"] <= 1
    verdict = scores["verdict"]
    assert math.isnan(verdict) or verdict in (-1, 0, 1)
    assert all(math.isnan(score) or score >= 0 for name, score in scores.items() if name != "verdict")
    good, expected = of_torchmetrics("reset_real_features", True)
    assert signature != expected or scores == pytest.approx(good, rel=0, abs=0, nan_ok=True)


# --- evaluate -----------------------------------------------------------------------------------------------------


@pytest.mark.slow
@given(data=st.data())
def test_any_value_of_the_evaluate_metric(data: st.DataObject, tmp_path_factory: pytest.TempPathFactory) -> None:
    pytest.importorskip("evaluate")
    from mauve_metric.hosts.evaluate.metric import Mauve

    own = ["predictions", "references", "prediction_features", "reference_features", "aligned", "featurizers"]
    name = data.draw(st.sampled_from([*own, *config_fields()]))
    value = data.draw(VALUES, label=name)
    if too_costly(name, value):
        return
    before = content(value)
    metric = Mauve(cache_dir=str(tmp_path_factory.getbasetemp() / "metric"), keep_in_memory=True)
    given = {"predictions": MODEL, "references": HUMAN, **SMALL}
    for side in ("prediction", "reference"):
        if name == f"{side}_features":
            del given[f"{side}s"]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", RuntimeWarning)
            found = metric.compute(**given | {name: value})
    except DOCUMENTED as error:
        refused(error, value, before, name)
        found = None
    assert content(value) == before or hasattr(value, "__next__")
    good = metric.compute(predictions=MODEL, references=HUMAN, **SMALL)  # a refused call leaves nothing behind
    assert good is not None and good["n_p"] == good["n_q"] == 20
    if found is not None:
        json.dumps(dict(found.result.to_dict()), allow_nan=False)
        if found["signature"] == good["signature"]:
            assert [found[score] for score in ("mauve", "mauve_debiased")] == [good["mauve"], good["mauve_debiased"]]


# --- the callback -------------------------------------------------------------------------------------------------


@given(data=st.data())
def test_any_value_of_the_callback(data: st.DataObject) -> None:
    from mauve_metric import MauveCallback

    names = [name for name in inspect.signature(MauveCallback).parameters if name not in ("tokenizer", "trainer")]
    name = data.draw(st.sampled_from(names))
    value = data.draw(VALUES, label=name)
    before = content(value)
    given: dict[str, Any] = {"prompts": HUMAN, "references": HUMAN, **SMALL} | {name: value}
    if name == "dataset":
        given |= {"prompts": None}
    try:
        callback = MauveCallback(**given)
    except DOCUMENTED as error:
        refused(error, value, before, name)
        return
    assert content(value) == before or hasattr(value, "__next__")
    assert callback.history == [] and callback.result is None
    assert isinstance(callback.every, int) and callback.every >= 1
    assert isinstance(callback.embed_at_start, bool)
    assert isinstance(callback.table_rows, int) and callback.table_rows >= 0


# --- the page's endpoints -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ENDPOINTS)
@given(data=st.data())
def test_any_value_of_an_endpoint(name: str, data: st.DataObject) -> None:
    gradio = pytest.importorskip("gradio")
    from mauve_metric.hosts.space.server.endpoints import Endpoints
    from mauve_metric.hosts.space.session.queue import Turns
    from mauve_metric.hosts.space.session.scoring import Encoders

    endpoints = Endpoints(LIMITS, ["ngrams"], Encoders({"ngrams": ngrams}), Turns(LIMITS))
    function = partial(endpoints.function(name), CALLER)
    changed = data.draw(st.sampled_from(sorted(endpoints.parameters(name))))
    value = data.draw(JSON, label=changed)
    before = content(value)
    try:
        found = function(**ENDPOINTS[name] | {changed: value})
    except gradio.Error as error:
        check_message(error, changed, *ALSO.get(changed, ()))
        found = None
    assert content(value) == before or hasattr(value, "__next__")
    if found is not None:
        json.dumps(found, allow_nan=False)
        good = function(**ENDPOINTS[name])
        if found.get("signature") == good["signature"]:
            assert {**found, "seconds": 0} == {**good, "seconds": 0}
