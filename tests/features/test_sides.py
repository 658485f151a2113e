"""Texts in every accepted form, the log of a run, and lengths that distort a score."""

from __future__ import annotations

import dataclasses
import inspect
import json
import logging
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from samples import texts_of

from mauve_metric import FeatureSet, compute_mauve
from mauve_metric.features import encoder, featurize
from mauve_metric.features.encoder import load_encoder
from mauve_metric.features.feature_set import FeaturizeJob, InputSide
from mauve_metric.features.feature_set import featurize as featurized
from mauve_metric.features.sides import open_sides
from mauve_metric.inputs import sources
from mauve_metric.inputs.fingerprints import TextHashes
from mauve_metric.options import RunOptions, split_options
from mauve_metric.results.result import MauveResult
from mauve_metric.runtime.errors import RowsDiffer

SMALL: dict[str, Any] = {"num_buckets": 4, "knn": False, "num_runs": 1, "kmeans_num_redo": 1, "cache": False}


HUMAN, MODEL = texts_of(40, 0), texts_of(30, 1)


def as_list(texts: list[str]) -> Any:
    return texts


def as_tuple(texts: list[str]) -> Any:
    return tuple(texts)


def as_array(texts: list[str]) -> Any:
    return np.array(texts)


def as_object_array(texts: list[str]) -> Any:
    return np.array(texts, dtype=object)


def as_generator(texts: list[str]) -> Any:
    return (text for text in texts)


def as_map(texts: list[str]) -> Any:
    return map(str, texts)


def as_dataset(texts: list[str]) -> Any:
    import datasets

    return datasets.Dataset.from_dict({"text": texts, "number": list(range(len(texts)))})


def as_shuffled_dataset(texts: list[str]) -> Any:
    order = np.random.default_rng(0).permutation(len(texts))
    return as_dataset([texts[index] for index in order]).select(np.argsort(order))


def as_dataset_column(texts: list[str]) -> Any:
    return as_dataset(texts)["text"]


def as_iterable_dataset(texts: list[str]) -> Any:
    return as_dataset(texts).to_iterable_dataset(num_shards=3)


def as_generated_dataset(texts: list[str]) -> Any:
    import datasets

    return datasets.IterableDataset.from_generator(_rows, gen_kwargs={"texts": texts})


def _rows(texts: list[str]) -> Iterator[dict[str, str]]:
    for text in texts:
        yield {"text": text}


def as_iterable_column(texts: list[str]) -> Any:
    return as_iterable_dataset(texts)["text"]


def as_pandas_column(texts: list[str]) -> Any:
    import pandas

    return pandas.Series(texts, index=range(100, 100 + len(texts)))


def as_pandas_frame(texts: list[str]) -> Any:
    import pandas

    return pandas.DataFrame({"text": texts, "number": range(len(texts))})


def as_arrow(texts: list[str]) -> Any:
    import pyarrow

    return pyarrow.array(texts)


def as_chunked_arrow(texts: list[str]) -> Any:
    import pyarrow

    return pyarrow.chunked_array([texts[:7], texts[7:]])


FORMS = [
    as_tuple, as_array, as_object_array, as_generator, as_map, as_dataset, as_shuffled_dataset, as_dataset_column,
    as_iterable_dataset, as_generated_dataset, as_iterable_column, as_pandas_column, as_pandas_frame, as_arrow,
    as_chunked_arrow,
]  # fmt: skip


# --- forms --------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def expected(tiny_gpt2: str) -> MauveResult:
    """The score of lists."""
    return compute_mauve(p_text=HUMAN, q_text=MODEL, featurize_model_name=tiny_gpt2, **SMALL)


@pytest.mark.more
@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.__name__)
def test_every_form_gives_the_same_score(tiny_gpt2: str, expected: MauveResult, form: Any) -> None:
    pytest.importorskip("datasets")
    found = compute_mauve(p_text=form(HUMAN), q_text=form(MODEL), featurize_model_name=tiny_gpt2, **SMALL)
    assert found.to_dict() == expected.to_dict()


@pytest.mark.parametrize("form", [as_dataset, as_iterable_dataset, as_pandas_frame], ids=lambda form: form.__name__)
def test_column_by_name(tiny_gpt2: str, expected: MauveResult, form: Any) -> None:
    pytest.importorskip("datasets")
    human, model = ({"prompt": ["a"] * len(texts), "story": texts} for texts in (HUMAN, MODEL))

    def renamed(columns: dict[str, list[str]]) -> Any:
        if form is as_pandas_frame:
            import pandas

            return pandas.DataFrame(columns)
        import datasets

        made = datasets.Dataset.from_dict(columns)
        return made.to_iterable_dataset() if form is as_iterable_dataset else made

    options = {"featurize_model_name": tiny_gpt2, **SMALL}
    found = compute_mauve(p_text=renamed(human), q_text=renamed(model), text_field="story", **options)
    assert found.to_dict() == expected.to_dict()
    assert compute_mauve(p_text=renamed(human), q_text=renamed(model), **options).to_dict() == expected.to_dict()
    with pytest.raises(ValueError, match=r"p_text has no field 'tale'; it has 'prompt' \('a'\), 'story' "):
        compute_mauve(p_text=renamed(human), q_text=MODEL, text_field="tale", **options)


@pytest.mark.parametrize("form", [as_list, as_generator, as_iterable_dataset, as_arrow], ids=lambda form: form.__name__)
def test_empty_texts_in_every_form(tiny_gpt2: str, expected: MauveResult, form: Any) -> None:
    texts = [HUMAN[0], "", *HUMAN[1:], "  \n"]
    with pytest.raises(ValueError, match=r"p_text holds .*empty or whitespace-only text.* position"):
        compute_mauve(p_text=form(texts), q_text=MODEL, featurize_model_name=tiny_gpt2, **SMALL)
    found = compute_mauve(p_text=form(texts), q_text=MODEL, featurize_model_name=tiny_gpt2, empty_texts="drop", **SMALL)
    assert found.mauve == expected.mauve and found.p_dropped == 2 and found.n_p == len(HUMAN)


@pytest.mark.parametrize("empty", ["", None])
@pytest.mark.parametrize("form", [as_list, as_tuple, as_array, as_dataset, pd.Series, as_arrow])
def test_rows_stay_aligned_where_empty_texts_are_dropped(form: Any, empty: str | None) -> None:
    """In columns the rows after the empty one of each side were pairs of a row and the next one."""
    human, model = [*HUMAN[:2], empty, *HUMAN[3:8]], [*MODEL[:5], "<think>never ends", *MODEL[6:8]]
    config, run = split_options({"empty_texts": "drop", "strip": "reasoning"})
    sides = {name: InputSide("text", name, form(texts)) for name, texts in {"p": human, "q": model}.items()}
    codes = open_sides(sides, config, run, True).codes({"p": 7, "q": 7})
    assert codes is not None
    rows = np.array([0, 1, 3, 4, 5, 6, 7]), np.array([0, 1, 2, 3, 4, 6, 7])
    np.testing.assert_array_equal(codes["p"][:, None] == codes["q"], rows[0][:, None] == rows[1])


def test_aligned_sets_that_lack_rows_are_refused() -> None:
    options: dict[str, Any] = {"featurize_model_name": "ngrams", "cache": False, "empty_texts": "drop"}
    human, model = ([*texts[:row], " ", *texts[row + 1 : 24]] for row, texts in ((2, HUMAN), (5, MODEL)))
    message = r"aligned=True needs every row, and of {} 1 empty text was left out, from places that are not known"
    sets = {side: featurized(texts, **options) for side, texts in (("p", human), ("q", model))}
    with pytest.raises(RowsDiffer, match=message.format("p")):
        compute_mauve(**sets, aligned=True)
    with pytest.raises(RowsDiffer, match=message.format("p_text")):
        compute_mauve(p_text=iter(human), q_text=iter(model), aligned=True, **options)


@pytest.mark.parametrize("data", [iter([]), (text for text in ()), iter(["", " "])])
def test_an_empty_stream_is_refused(tiny_gpt2: str, data: Any) -> None:
    with pytest.raises(ValueError, match=r"p_text must hold at least one non-empty text"):
        compute_mauve(p_text=data, q_text=MODEL, featurize_model_name=tiny_gpt2, empty_texts="drop", **SMALL)


def test_what_is_no_text_in_a_stream_is_named(tiny_gpt2: str) -> None:
    with pytest.raises(TypeError, match=r"q_text must hold strings only, got int at position 3"):
        compute_mauve(p_text=HUMAN, q_text=iter(["a b", "b c", "c d", 4]), featurize_model_name=tiny_gpt2, **SMALL)


# --- streams ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", [as_generator, as_iterable_dataset], ids=lambda form: form.__name__)
def test_a_stream_is_worked_through_in_windows(tiny_gpt2: str, monkeypatch: pytest.MonkeyPatch, form: Any) -> None:
    pytest.importorskip("datasets")
    texts = texts_of(100, 3)
    whole = featurized(texts, featurize_model_name=tiny_gpt2, cache=False)
    read, read_at_batch = [0], []
    source_of = sources.text_source

    def counted(texts: Iterable[str]) -> Iterator[str]:
        for text in texts:
            read[0] += 1
            yield text

    def counting_source(*arguments: Any, **options: Any) -> Any:
        source = source_of(*arguments, **options)
        source.texts = counted(source.texts)
        return source

    run_batch = featurize.run_batch

    def noted(encoder: Any, rows: Any) -> NDArray[Any]:
        read_at_batch.append(read[0])
        return run_batch(encoder, rows)

    monkeypatch.setattr("mauve_metric.features.feature_set.text_source", counting_source)
    monkeypatch.setattr(featurize, "run_batch", noted)
    monkeypatch.setattr(featurize, "WINDOW_TEXTS", 16)
    found = featurized(form(texts), featurize_model_name=tiny_gpt2, cache=False)
    assert sorted(set(read_at_batch)) == [16, 32, 48, 64, 80, 96, 100] and read_at_batch == sorted(read_at_batch)
    # other batches: rounding of float32 is 6e-8, two layers of sums over 32 to 128 terms lose two digits of that
    difference = np.linalg.norm(found.features - whole.features, axis=1) / np.linalg.norm(whole.features, axis=1)
    assert difference.max() <= 1e-5
    np.testing.assert_array_equal(found.lengths, whole.lengths)
    np.testing.assert_array_equal(found.text_hashes, whole.text_hashes)


def test_a_stream_is_not_read_twice(tiny_gpt2: str) -> None:
    stream = iter(HUMAN)
    featurized(stream, featurize_model_name=tiny_gpt2, cache=False)
    assert next(stream, None) is None
    with pytest.raises(ValueError, match="at least one non-empty text"):
        featurized(stream, featurize_model_name=tiny_gpt2, cache=False)


def test_identical_texts_are_computed_once(tiny_gpt2: str, monkeypatch: pytest.MonkeyPatch) -> None:
    run_batch, rows_run = featurize.run_batch, []

    def noted(encoder: Any, rows: Any) -> NDArray[Any]:
        rows_run.extend(rows)
        return run_batch(encoder, rows)

    monkeypatch.setattr(featurize, "run_batch", noted)
    found = featurized([HUMAN[0], HUMAN[1], HUMAN[0]] * 4, featurize_model_name=tiny_gpt2, cache=False)
    assert len(rows_run) == 2 and len(found) == 12
    assert np.array_equal(found.features[0], found.features[11])


# --- lengths ------------------------------------------------------------------------------------------------------

LONG, SHORT = texts_of(40, 4, 14, 10), texts_of(40, 5, 4, 3)


@pytest.mark.more
def test_lengths_that_differ_are_a_warning(tiny_gpt2: str) -> None:
    options = {"featurize_model_name": tiny_gpt2, **SMALL}
    found = compute_mauve(p_text=LONG, q_text=SHORT, **options)
    (warning,) = (warning for warning in found.warnings if warning.code == "length_mismatch")
    lengths = {"p_median_length": found.p_median_length, "q_median_length": found.q_median_length}
    assert warning.numbers == lengths | {"units": "tokens"}
    assert found.p_median_length is not None and found.q_median_length is not None
    assert found.p_median_length > 2 * found.q_median_length
    assert "match_lengths='truncate'" in warning.message
    for texts in (LONG, SHORT):
        same = compute_mauve(p_text=texts, q_text=texts[::-1], **options)
        assert "length_mismatch" not in [warning.code for warning in same.warnings]
    # tokens after truncation count, not those of the whole texts
    cut = compute_mauve(p_text=LONG, q_text=SHORT, max_text_length=5, **options)
    assert "length_mismatch" not in [warning.code for warning in cut.warnings]
    assert cut.p_truncated == 40
    (warning,) = (
        warning for warning in cut.warnings if warning.code == "truncated_texts" and warning.numbers["set"] == "human"
    )
    assert warning.numbers["share"] == 1.0 and "100.0 %" in warning.message


@pytest.fixture(scope="module")
def cut_by_hand(tiny_gpt2: str) -> tuple[int, MauveResult]:
    """The shorter median length, and the score of texts cut to it."""
    options = {"featurize_model_name": tiny_gpt2, **SMALL}
    plain = compute_mauve(p_text=LONG, q_text=SHORT, **options)
    assert plain.q_median_length is not None
    length = int(plain.q_median_length)
    return length, compute_mauve(p_text=LONG, q_text=SHORT, max_text_length=length, **options)


@pytest.mark.more
@pytest.mark.parametrize("form", [as_list, as_generator, as_arrow], ids=lambda form: form.__name__)
def test_lengths_cut_to_the_shorter_median(tiny_gpt2: str, cut_by_hand: tuple[int, MauveResult], form: Any) -> None:
    length, by_hand = cut_by_hand
    options = {"featurize_model_name": tiny_gpt2, **SMALL}
    found = compute_mauve(p_text=form(LONG), q_text=form(SHORT), match_lengths="truncate", **options)
    assert found.p_median_length == found.q_median_length == length
    assert f"max_text_length:{length}|" in found.signature and "match_lengths:truncate" in found.signature
    assert found.mauve == by_hand.mauve and "match_lengths:no" in by_hand.signature
    assert found.p_truncated == 40 and 0 < found.q_truncated < 40
    assert "length_mismatch" not in [warning.code for warning in found.warnings]


def test_matched_lengths_need_texts(tiny_gpt2: str) -> None:
    kept = FeatureSet.from_texts(HUMAN, featurize_model_name=tiny_gpt2)
    with pytest.raises(ValueError, match=r"match_lengths='truncate' needs texts on both sides, got features as p$"):
        compute_mauve(p=kept, q_text=MODEL, match_lengths="truncate", **SMALL)
    with pytest.raises(ValueError, match=r"needs texts on both sides, got features as q_features"):
        compute_mauve(
            p_text=HUMAN, q_features=np.ones((3, 32)), match_lengths="truncate", featurize_model_name=tiny_gpt2, **SMALL
        )
    with pytest.raises(ValueError, match=r"needs a featurizer with tokens, such as minilm, and builtins\.len has none"):
        compute_mauve(p_text=HUMAN, q_text=MODEL, match_lengths="truncate", featurize_model_name=len, **SMALL)


# --- options ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "kind", "message"),
    [
        ({"batch_size": 0}, ValueError, "batch_size must be an integer of at least 1, got 0"),
        ({"batch_size": True}, ValueError, "batch_size must be an integer of at least 1, got True"),
        ({"max_batch_tokens": 1.5}, ValueError, "max_batch_tokens must be an integer of at least 1, got 1.5"),
        ({"device_id": -2}, ValueError, "device_id must be an integer of at least -1, got -2"),
        ({"text_field": 3}, TypeError, "text_field must be the name of a column, got 3"),
        ({"cache": None}, TypeError, "cache must be True, False or a folder, got None"),
        ({"cache": 1}, TypeError, "cache must be True, False or a folder, got 1"),
        ({"max_batch_token": 5}, TypeError, "unknown option 'max_batch_token' .did you mean 'max_batch_tokens'"),
        ({"use_float64": True, "dtype": "float32"}, ValueError, "contradict each other"),
        ({"use_float64": 1}, TypeError, "use_float64 must be True or False, got 1"),
    ],
)
def test_wrong_options_are_refused(options: dict[str, Any], kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message):
        compute_mauve(p_features=np.ones((3, 2)), q_features=np.ones((3, 2)), **options)


def test_options_go_where_they_belong() -> None:
    config, run = split_options({"seed": 3, "batch_size": np.int64(4), "use_float64": True})
    assert config.seed == 3 and config.dtype == "float64" and run == RunOptions(batch_size=4)
    shown = inspect.signature(compute_mauve).parameters
    assert {"seed", "dtype", "cache", "max_batch_tokens", "text_field", "use_float64", "p_text"} <= set(shown)


@pytest.mark.parametrize("options", [{"batch_size": 3}, {"max_batch_tokens": 40}, {"device": "cpu"}, {"device_id": -1}])
def test_run_options_do_not_change_the_score(tiny_gpt2: str, expected: MauveResult, options: dict[str, Any]) -> None:
    found = compute_mauve(p_text=HUMAN, q_text=MODEL, featurize_model_name=tiny_gpt2, **options, **SMALL)
    assert found.signature == expected.signature
    # 1e-5 of a feature's length moves no text over the border of one of four buckets
    assert found.mauve == expected.mauve


def test_a_device_that_does_not_exist_is_refused(tiny_gpt2: str) -> None:
    import torch

    number = torch.cuda.device_count()
    with pytest.raises(ValueError, match=f"device 'cuda:{number}' does not exist"):
        compute_mauve(p_text=HUMAN, q_text=MODEL, featurize_model_name=tiny_gpt2, device=f"cuda:{number}", **SMALL)


def test_the_encoder_is_loaded_once_and_only_if_needed(tiny_gpt2: str, monkeypatch: pytest.MonkeyPatch) -> None:
    loaded = []
    load = encoder.load_encoder

    def noted(*arguments: Any, **options: Any) -> Any:
        loaded.append(arguments)
        return load(*arguments, **options)

    monkeypatch.setattr("mauve_metric.features.feature_set.load_encoder", noted)
    compute_mauve(p_features=np.eye(5), q_features=np.eye(5), **SMALL)
    assert loaded == []
    compute_mauve(p_text=HUMAN, q_text=MODEL, featurize_model_name=tiny_gpt2, **SMALL)
    assert loaded == [(tiny_gpt2,)]


# --- what a run says ----------------------------------------------------------------------------------------------


def test_a_run_is_announced_and_summed_up(tiny_gpt2: str, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, logger="mauve_metric"):
        featurized(HUMAN, featurize_model_name=tiny_gpt2, cache=False)
    messages = [record.getMessage() for record in caplog.records]
    assert "featurizing 40 texts" in messages[0] and "(float32) on cpu: about 1 second," in messages[0]
    assert tiny_gpt2 in messages[0]
    assert "featurized with" in messages[-1] and "tokens/s" in messages[-1] and "% padding" in messages[-1]
    assert "40 texts (40 distinct, 0 from the cache)" in messages[-1]
    assert {record.levelno for record in caplog.records} == {logging.INFO}
    caplog.clear()
    with caplog.at_level(logging.INFO, logger="mauve_metric"):
        featurized(iter(HUMAN), featurize_model_name=tiny_gpt2, cache=False)
    assert "featurizing a stream" in caplog.records[0].getMessage()


@pytest.mark.parametrize("units", [False, True])
def test_a_very_long_run_is_announced_with_advice(
    tiny_gpt2: str, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch, units: bool
) -> None:
    tokens = []
    monkeypatch.setattr(featurize, "has_units", lambda: units)
    monkeypatch.setattr(
        featurize, "estimated_seconds", lambda encoder, count: tokens.append(count) or 86_400.0
    )  # fmt: skip
    with caplog.at_level(logging.WARNING, logger="mauve_metric"):
        found = featurized(HUMAN, featurize_model_name=tiny_gpt2, cache=False, device="cpu")
    assert found.lengths is not None and tokens == [pytest.approx(found.lengths.sum())]
    (record,) = caplog.records
    assert record.levelno == logging.WARNING
    assert "about 24 hours" in record.getMessage() and "minilm" in record.getMessage() and "GPU" in record.getMessage()
    assert ("bfloat16" in record.getMessage()) is units  # where the processor is faster at it


def test_a_very_long_run_on_a_gpu_is_advised_to_take_its_fast_format(
    tiny_gpt2: str, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(featurize, "estimated_seconds", lambda encoder, count: 86_400.0)
    encoder = dataclasses.replace(load_encoder(tiny_gpt2, device="cpu"), device="cuda:0")
    featurize.announce(encoder, [[1] * 1000], 10**9)
    assert "faster: fewer or shorter texts, dtype='float16'" in caplog.text


def test_estimate_grows_with_the_tokens(
    tiny_gpt2: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    with FeaturizeJob(*split_options({"featurize_model_name": tiny_gpt2})) as job:
        encoder = job.load()
    monkeypatch.setattr(featurize, "matmul_rate", lambda device, dtype: 1e9)
    embeddings = sum(table.weight.numel() for table in (encoder.model.wte, encoder.model.wpe))
    weights = sum(parameter.numel() for parameter in encoder.model.parameters()) - embeddings
    # two operations a weight and token, at half of the rate of matrix products
    assert featurize.estimated_seconds(encoder, 1e9) == pytest.approx(2 * weights * 1e9 / 0.5e9)
    featurize.announce(dataclasses.replace(encoder, name="minilm"), [[1] * 1000], 10**9)
    assert "days" in caplog.text and "featurize_model_name" not in caplog.text  # who has it is not sent to it


@pytest.mark.parametrize(("terminal", "verbose"), [(False, True), (True, False), (True, True)])
def test_progress_only_on_a_terminal(
    tiny_gpt2: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, terminal: bool, verbose: bool
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: terminal, raising=False)
    featurized(HUMAN, featurize_model_name=tiny_gpt2, cache=False, verbose=verbose)
    captured = capsys.readouterr()
    assert captured.out == ""
    if terminal and verbose:
        assert "featurize" in captured.err and "40/40" in captured.err and "texts/s" in captured.err
    else:
        assert captured.err == ""


def test_hashes_find_equal_texts_and_equal_openings() -> None:
    hashes = TextHashes()
    opening = "one two three four five six seven eight"
    list(hashes.watch([f"{opening} nine", f"{opening}  ten", "another", f"{opening} nine"]))
    assert hashes.texts[0] == hashes.texts[3] and len(set(hashes.texts)) == 3
    assert hashes.openings[0] == hashes.openings[1] != hashes.openings[2]


# --- prompts that files name ---------------------------------------------------------------------------------------


def prompted(path: Path, texts: list[str], prompts: list[Any], field: str = "prompt") -> Path:
    rows = [json.dumps({"text": text, field: prompt}) for text, prompt in zip(texts, prompts, strict=True)]
    path.write_text("\n".join(rows), encoding="utf-8")
    return path


@pytest.mark.more
@pytest.mark.parametrize(
    ("human", "model", "design"),
    [
        (range(30), range(30), "aligned"),
        ([*range(15)] * 2, range(30), "prompts"),
        (range(30), [*range(100, 115)] * 2, "prompts"),  # several answers to prompts that people did not answer
        (range(30), range(100, 130), "undeclared"),
        ([0] * 30, [0] * 30, "undeclared"),  # one instruction for all is no prompt of a text
        ([None] * 30, [""] * 30, "undeclared"),
    ],
)
def test_equal_prompts_in_two_files_make_the_design(
    human: Any, model: Any, design: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    sides = {
        "p_text": prompted(tmp_path / "human.jsonl", HUMAN[:30], [*human]),
        "q_text": prompted(tmp_path / "model.jsonl", MODEL, [*model]),
    }
    with caplog.at_level(logging.INFO, "mauve_metric.features.sides"):
        found = compute_mauve(**sides, featurize_model_name="ngrams", **SMALL)
    assert found.design == design
    assert ("have several texts in all files together: scored as sharing prompts" in caplog.text) == (
        design != "undeclared"
    )
    lists = {"p_text": HUMAN[:30], "q_text": MODEL}
    if design == "undeclared":
        assert found.to_dict() == compute_mauve(**lists, featurize_model_name="ngrams", **SMALL).to_dict()
    else:
        groups = {"p_groups": [*human], "q_groups": [*model]}
        assert found.to_dict() == compute_mauve(**lists, **groups, featurize_model_name="ngrams", **SMALL).to_dict()


def test_aligned_files_have_the_prompts_of_their_rows(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    human = prompted(tmp_path / "human.jsonl", HUMAN[:30], [*range(30)])
    moved = prompted(tmp_path / "moved.jsonl", MODEL[:30], [1, 0, *range(2, 30)])
    others = prompted(tmp_path / "others.jsonl", MODEL[:30], [f"other {row}" for row in range(30)])
    run = {"featurize_model_name": "ngrams", **SMALL}
    table = tmp_path / "moved.csv"  # whose numbers are texts
    pd.DataFrame({"text": MODEL[:30], "prompt": [1, 0, *range(2, 30)]}).to_csv(table, index=False)
    message = "2 of 30 rows of q_text answer that of another row of p_text: leave aligned out"
    for texts in (moved, table):
        with pytest.raises(ValueError, match=message):
            compute_mauve(p_text=human, q_text=texts, aligned=True, **run)
    numbered = prompted(tmp_path / "numbered.jsonl", MODEL[:30], [*range(29, -1, -1)], "doc_id")
    for texts in (others, numbered):  # in other words, or in another field
        assert compute_mauve(p_text=human, q_text=texts, aligned=True, **run).design == "aligned"
    caplog.clear()
    with caplog.at_level("INFO", "mauve_metric"):
        assert compute_mauve(p_text=human, q_text=moved, independent=True, **run).design == "independent"
    assert "scored as sharing prompts" not in caplog.text


def test_a_field_that_only_one_file_has_or_some_rows_lack_is_ignored(tmp_path: Path) -> None:
    human = prompted(tmp_path / "human.jsonl", HUMAN[:30], [*range(30)], "doc_id")
    model = prompted(tmp_path / "model.jsonl", MODEL, [*range(30)])
    assert compute_mauve(p_text=human, q_text=model, featurize_model_name="ngrams", **SMALL).design == "undeclared"
    human = prompted(tmp_path / "other.jsonl", HUMAN[:30], [*range(30)])
    with human.open("a", encoding="utf-8") as file:
        file.write('\n{"text": "One without a prompt."}')
    assert compute_mauve(p_text=human, q_text=model, featurize_model_name="ngrams", **SMALL).design == "undeclared"


def test_prompts_beside_texts_of_tables_are_named_unless_declared(caplog: pytest.LogCaptureFixture) -> None:
    keys = [row // 2 for row in range(30)]
    human, model = (pd.DataFrame({"prompt": keys, "text": texts[:30]}) for texts in (HUMAN, MODEL))
    said = "15 of 15 prompts in the column 'prompt' have several texts, which count as independent of each other: give"
    for options, of_p, of_q, is_said in (
        ({}, None, None, True),
        ({"independent": True}, None, None, False),
        ({"text_field": "prompt"}, None, None, False),
        ({}, keys, keys, False),
    ):
        caplog.clear()
        sides = {
            name: InputSide("text", f"{name}_text", table, None, groups, f"{name}_groups")
            for name, table, groups in (("p", human, of_p), ("q", model, of_q))
        }
        opened = open_sides(sides, *split_options(options, "compute_mauve"))
        assert (f"{said} the prompts as p_groups and q_groups" in caplog.text) == is_said
        assert (opened.codes({"p": 30, "q": 30}) is None) == (of_p is None)  # named, and no more


MISSING = [None, "", " ", float("nan"), np.float32("nan"), np.datetime64("NaT"), pd.NA, pd.NaT, np.ma.masked, "nan"]


P, Q = np.random.default_rng(0).normal(size=(2, 60, 4))
KEYS: list[Any] = [f"prompt {row}" for row in range(20)] * 2


@pytest.fixture(scope="module")
def distinct() -> MauveResult:
    """The score with a prompt of its own for each text that has none."""
    alone, model = [f"alone {row}" for row in range(20)], [f"model {row}" for row in range(60)]
    return compute_mauve(p_features=P, q_features=Q, p_groups=KEYS + alone, q_groups=model)


@pytest.mark.parametrize("missing", MISSING, ids=repr)
def test_missing_prompts_are_no_prompt(missing: object, distinct: MauveResult) -> None:
    found = compute_mauve(p_features=P, q_features=Q, p_groups=KEYS + [missing] * 20, q_groups=[missing] * 60)
    assert (found.design, found.mauve_debiased_ci, found.p_prompts) == (
        distinct.design,
        distinct.mauve_debiased_ci,
        distinct.p_prompts,
    )


@pytest.mark.parametrize(
    ("p_groups", "q_groups", "is_said"),
    [
        (KEYS, KEYS, False),
        (["one"] * 40, ["one"] * 40, False),
        ([*range(40)], [*range(40)], False),
        ([*range(40)], [*range(40, 80)], True),
        ([*range(40)], None, False),
        ([None] * 40, [None] * 40, True),
    ],
    ids=["shared", "one prompt", "aligned", "all different", "of one side", "all missing"],
)
def test_prompts_that_no_two_texts_have_are_named(
    p_groups: list[Any], q_groups: list[Any] | None, is_said: bool, caplog: pytest.LogCaptureFixture
) -> None:
    more = {"p_groups": p_groups} | ({} if q_groups is None else {"q_groups": q_groups})
    compute_mauve(p_features=P[:40], q_features=Q[:40], **more)
    assert (f"{', '.join(more)}: no two texts have the same prompt" in caplog.text) == is_said


@pytest.mark.parametrize("library", ["pandas", "numpy", "pyarrow", "torch"])
def test_a_column_of_any_library_has_its_keys_and_its_missing_ones(library: str) -> None:
    numbers, lacks = np.array([*range(30)] * 2), np.arange(60) >= 30
    pa, torch = (pytest.importorskip(name) if name == library else None for name in ("pyarrow", "torch"))
    columns: dict[str, Callable[[], Any]] = {
        "pandas": lambda: pd.Series(np.where(lacks, np.nan, numbers)),
        "numpy": lambda: np.ma.array(numbers, mask=lacks),
        "pyarrow": lambda: pa.array(numbers, mask=lacks),
        "torch": lambda: torch.where(torch.tensor(lacks), torch.nan, torch.tensor(numbers)),
    }
    column = columns[library]()
    found = compute_mauve(p_features=P, q_features=Q, p_groups=column, q_groups=[*range(30)] * 2)
    assert (found.p_prompts, found.q_prompts, found.partners) == (60, 30, 60)


@pytest.mark.parametrize("other", [1, b"1", (1,)], ids=repr)
def test_keys_of_two_types_are_refused(other: Any) -> None:
    rng = np.random.default_rng(0)
    p, q = rng.normal(size=(30, 4)), rng.normal(size=(30, 4))
    with pytest.raises(ValueError, match="q_groups must hold texts only, as p_groups does"):
        compute_mauve(p_features=p, q_features=q, p_groups=["1"] * 30, q_groups=[None, *[other] * 29])
    with pytest.raises(ValueError, match="p_groups must hold texts only"):
        compute_mauve(p_features=p, q_features=q, p_groups=["1"] * 29 + [other])


def test_published_fields_do_not_depend_on_the_design() -> None:
    rng = np.random.default_rng(0)
    p, q = rng.normal(size=(120, 4)), rng.normal(0.3, size=(120, 4))
    answers, prompt = [*range(30)] * 4, ["same"] * 120
    plain, grouped, single = (
        compute_mauve(p_features=p, q_features=q, **given)
        for given in ({}, {"p_groups": answers, "q_groups": answers}, {"p_groups": prompt, "q_groups": prompt})
    )
    for name in ("mauve", "mauve_star", "frontier_integral", "frontier_integral_star", "num_buckets"):
        assert getattr(plain, name) == getattr(grouped, name) == getattr(single, name)
    assert np.array_equal(plain.p_hist, grouped.p_hist)
    assert np.array_equal(plain.divergence_curve, grouped.divergence_curve)
    assert (plain.mauve_debiased_ci, plain.closeness_ci) == (single.mauve_debiased_ci, single.closeness_ci)


def test_the_default_number_of_buckets_suits_few_prompts() -> None:
    rng = np.random.default_rng(0)
    prompts = np.repeat(np.arange(12), 20)
    p, q = rng.normal(size=(240, 4)), rng.normal(size=(240, 4))
    groups = {"p_groups": prompts, "q_groups": prompts}
    usual, many = (compute_mauve(p_features=p, q_features=q, **groups, **more) for more in ({}, {"num_buckets": 20}))
    found = [{warning.code for warning in result.warnings} for result in (usual, many)]
    assert usual.num_buckets == 24 and not found[0] & {"few_prompts_a_bucket", "empty_buckets"}
    assert "few_prompts_a_bucket" in found[1]
