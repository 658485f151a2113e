"""Bad input: a clear error that names the argument, or a right number with a warning; never a wrong number."""

from __future__ import annotations

import codecs
import io
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from mauve_metric import FeatureSet, MauveResult, compute_mauve
from mauve_metric.features.feature_files import read_features
from mauve_metric.inputs.files import read_texts
from mauve_metric.runtime.errors import EmptyTexts, NotFeatures

RNG = np.random.default_rng(0)
P = RNG.normal(size=(40, 6))
Q = RNG.normal(size=(30, 6)) + 0.5
TEXTS = [f"text number {i}" for i in range(20)]


def lengths(texts: list[str]) -> Any:
    return np.array([[len(text), sum(map(ord, text)) % 7] for text in texts], dtype=float)


def spoiled(value: float) -> Any:
    features = P.copy()
    features[3, 0] = features[7, 1] = value
    return features


class Fails(NamedTuple):
    """The exception and a pattern that its message must match."""

    error: type[Exception]
    message: str


class Scores(NamedTuple):
    """A right number and the warnings that must come with it, among others.

    `None` for the number: the same as for P and Q.
    """

    mauve: float | None
    warnings: tuple[str, ...] = ()


def features(p: Any = P, q: Any = Q, **options: Any) -> Callable[[], MauveResult]:
    return lambda: compute_mauve(p_features=p, q_features=q, **options)


def texts(p: Any = TEXTS, q: Any = TEXTS, model: Any = lengths, **options: Any) -> Callable[[], MauveResult]:
    return lambda: compute_mauve(p_text=p, q_text=q, featurize_model_name=model, **options)


def tokens(p: Any, model: Any = "minilm") -> Callable[[], MauveResult]:
    return lambda: compute_mauve(p_tokens=p, q_features=Q, featurize_model_name=model)


FLOOR = 0.0040720962619612555  # disjoint histograms on the literature's grid
HALF = 0.2781137254  # (.5, .5) against (1, 0) on that grid, to ten digits

TABLE: dict[str, tuple[Callable[[], MauveResult], Fails | Scores]] = {
    # --- features
    "NaN": (features(spoiled(np.nan)), Fails(ValueError, r"p_features must be finite: 2 rows .* first is row 3$")),
    "infinity": (features(Q, spoiled(np.inf)), Fails(ValueError, "q_features must be finite: 2 rows .* row 3$")),
    "minus infinity": (features(spoiled(-np.inf)), Fails(ValueError, "p_features must be finite")),
    "beyond float64": (
        features(P.astype(np.longdouble) * np.longdouble("1e1000")),
        Fails(ValueError, "p_features must be finite"),
    ),
    "different d": (
        features(P, Q[:, :3]),
        Fails(ValueError, r"p_features and q_features must have the same number of columns.*\(40, 6\) and \(30, 3\)"),
    ),
    "0-d": (features(3.0), Fails(ValueError, r"p_features must have shape \(n, d\).*got \(\)")),
    "1-d": (features(P[0]), Fails(ValueError, r"p_features must have shape \(n, d\).*got \(6,\)")),
    "3-d": (features(P, Q[None]), Fails(ValueError, r"q_features must have shape \(n, d\).*got \(1, 30, 6\)")),
    "objects": (features(P.astype(object)), Fails(TypeError, "p_features must be an array of numbers, got dtype obj")),
    "a mapping": (features({"features": P}), Fails(TypeError, "p_features must be an array of numbers, got dict$")),
    "strings": (features(P, Q.astype(str)), Fails(TypeError, "q_features must be an array of numbers, got dtype <U")),
    "booleans": (features(P > 0), Fails(TypeError, "p_features must be an array of numbers, got dtype bool")),
    "complex": (features(P + 1j), Fails(TypeError, "p_features must be an array of numbers, got dtype complex")),
    "no rows": (features(P[:0]), Fails(ValueError, r"p_features must have shape.*got \(0, 6\)")),
    "no columns": (features(P[:, :0], Q[:, :0]), Fails(ValueError, r"p_features must have shape.*got \(40, 0\)")),
    "empty list": (features([]), Fails(ValueError, r"p_features must have shape.*got \(0,\)")),
    "ragged list": (features([[1.0, 2.0], [3.0]]), Fails(ValueError, "p_features must be one array .* different len")),
    "None in a list": (features([[1.0, None]]), Fails(TypeError, "p_features must be an array of numbers")),
    "no side": (lambda: compute_mauve(), Fails(ValueError, "one of p, p_features, p_tokens, p_text must be given")),
    "one side": (lambda: compute_mauve(P), Fails(ValueError, "one of q, q_features, q_tokens, q_text must be given")),
    "one sample each": (features(P[:1], Q[:1]), Scores(FLOOR, ("no_interval",))),
    "one sample, twice": (features(P[:1], P[:1]), Scores(1.0, ("no_interval", "constant_features"))),
    "one of two directions": (features([[1, 0]], [[1, 0], [0, 1]]), Scores(HALF, ("no_interval",))),
    "constant": (features(np.full((20, 4), 3.3), np.full((30, 4), 3.3)), Scores(1.0, ("constant_features",))),
    "all zero": (features(np.zeros((20, 4)), np.zeros((30, 4))), Scores(1.0, ("constant_features",))),
    "constant, two kinds": (features([[1, 0]] * 20, [[0, 1]] * 30), Scores(FLOOR)),
    "zero against constant": (features(np.zeros((20, 2)), np.ones((30, 2))), Scores(FLOOR)),
    "1e30": (features(P * 1e30, Q * 1e30), Scores(None)),
    "1e30, float32": (features(np.float32(P) * np.float32(1e30), Q), Scores(None)),
    "1e300": (features(P * 1e300, Q * 1e300), Scores(None)),
    "1e-300": (features(P * 1e-300, Q), Scores(None)),
    "integers": (features([[1, 0]] * 20, np.array([[1, 0], [0, 1]] * 10, dtype=np.uint8)), Scores(1 - (1 - HALF))),
    # --- options
    "num_buckets 0": (features(num_buckets=0), Fails(ValueError, "num_buckets must be an integer from 1 .* got 0")),
    "num_buckets negative": (features(num_buckets=-3), Fails(ValueError, "num_buckets must be .* got -3")),
    "num_buckets above n + n'": (
        features(num_buckets=71),
        Fails(ValueError, r"num_buckets must be at most the number of texts of both sets, 40 \+ 30, got 71"),
    ),
    "knn_k of the smaller set": (
        features(knn=True, knn_k=30),
        Fails(ValueError, "knn_k must be below the number of texts of the smallest set, 30, got 30"),
    ),
    "knn_k of the smaller set, knn auto": (
        features(knn_k=30),
        Fails(ValueError, "knn_k must be below the number of texts of the smallest set, 30, got 30"),
    ),
    "num_buckets of a float": (features(num_buckets=10.0), Fails(TypeError, r"num_buckets must be .* got 10\.0")),
    "num_buckets of a bool": (features(num_buckets=True), Fails(TypeError, "num_buckets must be .* got True")),
    "num_buckets of numpy's bool": (
        features(num_buckets=np.True_),
        Fails(TypeError, "num_buckets must be .* got .*True"),
    ),
    "num_buckets of a string": (
        features(num_buckets="many"),
        Fails(TypeError, "num_buckets must be .* 'auto', got 'many'"),
    ),
    "num_buckets None": (features(num_buckets=None), Fails(TypeError, "num_buckets must be .* got None")),
    "c 0": (features(mauve_scaling_factor=0), Fails(ValueError, r"mauve_scaling_factor must be .*\[1e-06, .* got 0")),
    "c negative": (features(mauve_scaling_factor=-1), Fails(ValueError, "mauve_scaling_factor must be .* got -1")),
    "c NaN": (features(mauve_scaling_factor=np.nan), Fails(ValueError, "mauve_scaling_factor must be .* got nan")),
    "c infinite": (features(mauve_scaling_factor=np.inf), Fails(ValueError, "mauve_scaling_factor must be .* got inf")),
    "c of a string": (features(mauve_scaling_factor="5"), Fails(TypeError, "mauve_scaling_factor must be .* got '5'")),
    "discretization 1": (
        features(divergence_curve_discretization_size=1),
        Fails(ValueError, "divergence_curve_discretization_size must be an integer from 2 .* got 1"),
    ),
    "discretization of a float": (
        features(divergence_curve_discretization_size=25.0),
        Fails(TypeError, "divergence_curve_discretization_size must be an integer"),
    ),
    "explained variance 0": (features(kmeans_explained_var=0), Fails(ValueError, r"kmeans_explained_var .*\(0, 1\]")),
    "explained variance 1.5": (features(kmeans_explained_var=1.5), Fails(ValueError, r"kmeans_explained_var .* 1\.5")),
    "explained variance NaN": (features(kmeans_explained_var=np.nan), Fails(ValueError, "kmeans_explained_var .* nan")),
    "explained variance of a bool": (features(kmeans_explained_var=True), Fails(TypeError, "kmeans_explained_var")),
    "pca_max_data 0": (features(pca_max_data=0), Fails(ValueError, "pca_max_data must be .* or -1, got 0")),
    "pca_max_data negative": (features(pca_max_data=-2), Fails(ValueError, "pca_max_data must be .* got -2")),
    "pca_max_data huge": (features(pca_max_data=10**9), Scores(None)),
    "pca_max_data beyond integers": (features(pca_max_data=2**70), Fails(ValueError, "pca_max_data must be")),
    "seed negative": (features(seed=-1), Fails(ValueError, "seed must be an integer from 0 .* got -1")),
    "seed of 32 bits": (features(seed=2**31), Fails(ValueError, "seed must be an integer")),
    "seed of a float": (features(seed=2.5), Fails(TypeError, "seed must be an integer")),
    "no restarts": (features(kmeans_num_redo=0), Fails(ValueError, "kmeans_num_redo must be .* got 0")),
    "no iterations": (features(kmeans_max_iter=0), Fails(ValueError, "kmeans_max_iter must be .* got 0")),
    "row_order": (features(row_order="qq"), Fails(ValueError, r"row_order must be one of 'qp', 'pq', got 'qq'")),
    "pooling": (
        features(pooling="meen"),
        Fails(ValueError, r"pooling must be .* got 'meen' \(did you mean 'mean'\?\)"),
    ),
    "text_prefix": (features(text_prefix=3), Fails(TypeError, "text_prefix must be text .* got 3")),
    "half of a prefix": (
        features(text_prefix="\ud800"),
        Fails(ValueError, "text_prefix must be text, got .*surrogate"),
    ),
    "dtype": (features(dtype="float23"), Fails(ValueError, "dtype must be one of .*did you mean 'float32'")),
    "empty_texts": (features(empty_texts="skip"), Fails(ValueError, "empty_texts must be one of 'error', 'drop'")),
    "max_text_length 0": (features(max_text_length=0), Fails(ValueError, "max_text_length must be .* got 0")),
    "max_text_length of a bool": (features(max_text_length=True), Fails(TypeError, "max_text_length must be")),
    "batch_size 0": (features(batch_size=0), Fails(ValueError, "batch_size must be an integer of at least 1, got 0")),
    "batch_size of a float": (features(batch_size=2.5), Fails(ValueError, "batch_size must be an integer")),
    "max_batch_tokens 0": (features(max_batch_tokens=0), Fails(ValueError, "max_batch_tokens must be")),
    "device_id": (features(device_id=-2), Fails(ValueError, "device_id must be an integer of at least -1, got -2")),
    "device_id of a string": (
        features(device_id="cuda"),
        Fails(ValueError, "device_id must be an integer of at least -1, got 'cuda'"),
    ),
    "device that is not there": (
        texts(model="minilm", device="cuda:99"),
        Fails(ValueError, r"device 'cuda:99' does not exist: this machine has \d+ CUDA device"),
    ),
    "device": (
        texts(model="minilm", device="gpu"),
        Fails(ValueError, "device must be 'auto' or a torch device .* 'gpu'"),
    ),
    "two devices": (
        texts(model="minilm", device="cuda:1", device_id=-1),
        Fails(ValueError, "device='cuda:1' and device_id=-1 name two devices"),
    ),
    "text_field": (features(text_field=3), Fails(TypeError, "text_field must be the name of a column, got 3")),
    "use_float64": (features(use_float64="yes"), Fails(TypeError, "use_float64 must be True or False, got 'yes'")),
    "two dtypes": (
        features(use_float64=True, dtype="float32"),
        Fails(ValueError, "use_float64=True and dtype='float32'"),
    ),
    "unknown option": (
        features(num_bucket=3),
        Fails(TypeError, r"unknown option 'num_bucket' \(did you mean 'num_buckets'\?\)"),
    ),
    "unknown argument": (
        features(align=True, q_group=[1]),
        Fails(
            TypeError, r"unknown option 'align' \(did you mean 'aligned'\?\); .*'q_group' \(did you mean 'q_groups'\?\)"
        ),
    ),
    "unknown option, nothing near": (features(zzz=3), Fails(TypeError, r"unknown option 'zzz'$")),
    # --- texts
    "bare string": (texts("hello"), Fails(TypeError, "p_text must be a list of texts, got a single str: 'hello'")),
    "open file": (
        texts(io.StringIO("one\ntwo\n")),
        Fails(TypeError, "p_text must be a list of texts, got an open file"),
    ),
    "open file without IOBase": (
        texts(codecs.getreader("utf-8")(io.BytesIO(b"one\ntwo\n"))),
        Fails(TypeError, "p_text must be a list of texts, got an open file"),
    ),
    "bare bytes": (texts(TEXTS, b"hello"), Fails(TypeError, "q_text must be a list of texts, got a single bytes")),
    "array of no dimension": (texts(np.array("hello")), Fails(TypeError, "p_text must .* got a single str: 'hello'")),
    "a number": (texts(3), Fails(TypeError, "p_text must be a list of texts, got int")),
    "a dict": (texts({"a": "b"}), Fails(TypeError, "p_text must be a list of texts, got dict")),
    "a set": (texts({"a", "b"}), Fails(TypeError, "p_text must be a list of texts, got set")),
    "None among texts": (texts(["a", None]), Fails(TypeError, "p_text must hold strings .* NoneType at position 1")),
    "bytes among texts": (
        texts(TEXTS, ["a", b"x"]),
        Fails(TypeError, "q_text must hold strings .* bytes at position 1"),
    ),
    "number among texts": (texts(["a", "b", 3]), Fails(TypeError, "p_text must hold strings .* int at position 2: 3")),
    "NaN among texts": (
        texts(["a", float("nan")]),
        Fails(TypeError, "p_text must hold strings .* float at position 1"),
    ),
    "None in a stream": (
        texts(iter(["a", None])),
        Fails(TypeError, "p_text must hold strings .* NoneType at position 1"),
    ),
    "lists of lists": (texts([["a"], ["b"]]), Fails(TypeError, "p_text must hold strings .* list at position 0")),
    "features as texts": (
        texts(np.zeros((9, 2))),
        Fails(TypeError, "p_text must hold strings only, got numbers: give features as p_features= or tokens as p_tok"),
    ),
    "rows as texts": (texts(TEXTS, [[0.5], [1.5]]), Fails(TypeError, "q_text must .* give features as q_features= or")),
    "texts as tokens": (
        lambda: compute_mauve(p_tokens=TEXTS, q_tokens=TEXTS),  # before any model is loaded
        Fails(TypeError, "p_tokens must be a list of token id lists, got texts: give them as p_text="),
    ),
    "an array as a set": (
        lambda: compute_mauve(p=np.zeros((9, 2)), q=np.zeros((9, 2))),
        Fails(TypeError, "p must be a mauve_metric.FeatureSet, got ndarray: give an array as p_features=, texts as p_"),
    ),
    "a file of a set as a set": (
        lambda: compute_mauve(p="human.npz", q="model.npz"),
        Fails(TypeError, "p must be a mauve_metric.FeatureSet, got str: .*a file of one by FeatureSet.load"),
    ),
    "half a character": (texts(["a", "b\ud800"]), Fails(ValueError, "p_text holds half of a surrogate .* position 1")),
    "no texts": (texts([]), Fails(ValueError, "p_text must hold at least one non-empty text")),
    "an empty stream": (texts(iter([])), Fails(ValueError, "p_text must hold at least one non-empty text")),
    "empty texts": (
        texts(["a", "", " \n", "b"]),
        Fails(
            ValueError, "p_text holds 2 empty or whitespace-only texts of 4, at positions 1, 2: .*empty_texts='drop'"
        ),
    ),
    "many empty texts": (texts([""] * 9), Fails(ValueError, "p_text holds 9 empty .* at positions 0, 1, 2, 3, 4, …")),
    "an empty text in a stream": (
        texts(iter(["a", " "])),
        Fails(ValueError, "p_text holds an empty or whitespace-only text at position 1: .*empty_texts='drop'"),
    ),
    "only empty texts, dropped": (
        texts(["", " "], empty_texts="drop"),
        Fails(ValueError, "p_text must hold at least one non-empty text, got 2"),
    ),
    "empty texts dropped": (texts([*TEXTS, "", " "], empty_texts="drop"), Scores(1.0, ("dropped_texts",))),
    "empty texts of a stream dropped": (
        texts(iter([*TEXTS, "\t"]), empty_texts="drop"),
        Scores(1.0, ("dropped_texts",)),
    ),
    # --- tokens
    "tokens of a string": (tokens("abc"), Fails(TypeError, "p_tokens must be a list of token id lists, got str")),
    "tokens of a number": (tokens(3), Fails(TypeError, "p_tokens must be a list of token id lists, got int")),
    "a flat list": (
        tokens([1, 2]),
        Fails(ValueError, "p_tokens, row 0: expected a non-empty list of token ids, got 1"),
    ),
    "fractions": (tokens([[1], [1.5]]), Fails(ValueError, "p_tokens, row 1: expected a non-empty list of token ids")),
    "negative ids": (tokens([[-1]]), Fails(ValueError, r"p_tokens, row 0: token ids must be in \[0, 30522\)")),
    "ids above the vocabulary": (
        tokens([[10**6]]),
        Fails(ValueError, r"p_tokens, row 0: .* \[0, 30522\), got 1000000"),
    ),
    "no tokens": (tokens([]), Fails(ValueError, "p_tokens must hold at least one list")),
    "an empty row": (tokens([[1], []]), Fails(ValueError, "p_tokens, row 1: expected a non-empty list")),
    "too many tokens": (tokens([[5] * 600]), Fails(ValueError, "p_tokens, row 0: 600 tokens are more than the 512")),
    "tokens for a function": (
        tokens([[1]], lengths),
        Fails(ValueError, "p_tokens cannot be given with the featurizer"),
    ),
    # --- featurizers
    "no model name": (features(featurize_model_name=" "), Fails(TypeError, "featurize_model_name must be .* got ' '")),
    "a number for a model": (
        features(featurize_model_name=3),
        Fails(TypeError, "featurize_model_name must be .* got 3"),
    ),
    "a triple": (features(featurize_model_name=(1, 2, 3)), Fails(TypeError, "featurize_model_name must be")),
    "not a model": (texts(model=(1, 2)), Fails(TypeError, r"featurize_model_name as a pair .* got \(int, int\)")),
    "a missing folder": (texts(model="./nowhere"), Fails(OSError, r"featurize_model_name '\./nowhere' .*folder")),
    "not a name": (texts(model="a b?c"), Fails(ValueError, r"featurize_model_name 'a b\?c' is not a model name")),
    "a name with a line break": (texts(model="0\n"), Fails(ValueError, r"'0\\n' is not a model name: .* 96: '0 '\.$")),
    "function with too few rows": (
        texts(model=lambda batch: np.ones((3, 2))),
        Fails(ValueError, "must give one row a text, got 3 for 20"),
    ),
    "function with NaN": (
        texts(model=lambda batch: np.full((len(batch), 2), np.nan)),
        Fails(ValueError, "features that the featurizer .*lambda.* gives for p_text must be finite"),
    ),
    "function with nothing": (
        texts(model=lambda batch: None),
        Fails(TypeError, "features that the featurizer .*lambda.* gives for p_text must be an array of numbers"),
    ),
}


@pytest.mark.parametrize("row", TABLE)
def test_bad_input(row: str, request: pytest.FixtureRequest) -> None:
    call, expected = TABLE[row]
    if "30522" in str(expected) or call.__qualname__.startswith("tokens"):
        request.getfixturevalue("minilm")
    if isinstance(expected, Fails):
        with pytest.raises(expected.error) as caught:
            call()
        message = str(caught.value)
        assert re.search(expected.message, message), message
        assert "\n" not in message.strip()
        return
    out = call()
    reference = features()().mauve if expected.mauve is None else expected.mauve
    # ten digits of the oracles; scale changes no bucket, so that the other numbers are equal
    assert out.mauve == pytest.approx(reference, rel=0, abs=0.51e-10)
    assert set(expected.warnings) <= {warning.code for warning in out.warnings}
    assert all(warning.message for warning in out.warnings)


def test_num_buckets_above_the_smaller_set_warns() -> None:
    (warning,) = (warning for warning in features(num_buckets=31)().warnings if warning.code == "num_buckets_large")
    assert "num_buckets" in warning.message and warning.numbers["num_buckets"] == 31


def test_dropped_texts_are_counted() -> None:
    out = texts([*TEXTS, "", " "], [*TEXTS, "\n"], empty_texts="drop")()
    assert (out.n_p, out.n_q, out.p_dropped, out.q_dropped) == (20, 20, 2, 1)


def test_errors_of_a_function_come_through() -> None:
    with pytest.raises(ZeroDivisionError):
        texts(model=lambda batch: 1 / 0)()


# --- files: what lies there, and what the message must say --------------------------------------------------------

FILES: dict[str, tuple[str, bytes | None, str | None, Fails]] = {
    "missing": ("a.txt", None, None, Fails(FileNotFoundError, "there is no file '.*a.txt'")),
    "missing, unknown ending": ("a.doc", None, None, Fails(FileNotFoundError, "there is no file '.*a.doc'")),
    "features in place of texts": ("a.npz", b"PK", None, Fails(ValueError, r"a\.npz holds features, and texts are")),
    "unknown ending": (
        "a.doc",
        b"text",
        None,
        Fails(ValueError, r"a\.doc has an unknown ending '\.doc': expected \.txt"),
    ),
    "compressed": (
        "a.jsonl.gz",
        b"text",
        None,
        Fails(ValueError, r"a\.jsonl\.gz, line 1: not JSON"),
    ),
    "compressed otherwise": (
        "a.zst",
        b"\x28\xb5\x2f\xfd",
        None,
        Fails(ValueError, r"a\.zst is not a zstd file that can be read: "),
    ),
    "empty txt": ("a.txt", b"", None, Fails(ValueError, r"a\.txt holds no texts")),
    "empty jsonl": ("a.jsonl", b"\n\n", None, Fails(ValueError, r"a\.jsonl holds no texts")),
    "empty json": ("a.json", b"", None, Fails(ValueError, r"a\.json holds no texts")),
    "empty csv": ("a.csv", b"", None, Fails(ValueError, r"a\.csv is empty: expected a header")),
    "csv of a header": ("a.csv", b"text\n", None, Fails(ValueError, r"a\.csv holds no texts")),
    "empty parquet": ("a.parquet", b"", None, Fails(ValueError, r"a\.parquet is not a parquet file")),
    "not UTF-8": (
        "a.txt",
        b"one\ntwo\ncaf\xe9\n",
        None,
        Fails(ValueError, "a.txt is not UTF-8: byte 11 on line 3 is 0xe9"),
    ),
    "UTF-16": ("a.jsonl", "{}".encode("utf-16-le"), None, Fails(ValueError, "it looks like UTF-16")),
    "broken JSON": (
        "a.jsonl",
        b'{"text": "a"}\n\n{"text": "b"\n',
        None,
        Fails(ValueError, r"a\.jsonl, line 3: not JSON: .* at column"),
    ),
    "missing field": (
        "a.jsonl",
        b'{"text": "a"}\n{"body": "b", "id": 3}\n',
        None,
        Fails(ValueError, r"a\.jsonl, line 2 has no field 'text'; it has 'body' \('b'\), 'id' \(3\)"),
    ),
    "missing named field": (
        "a.jsonl",
        b'{"text": "a"}\n',
        "story",
        Fails(ValueError, r"a\.jsonl, line 1 has no field 'story'; it has 'text'"),
    ),
    "field of a number": (
        "a.jsonl",
        b'{"text": 3}\n',
        None,
        Fails(ValueError, r"a\.jsonl, line 1: expected a text in 'text', got int: 3"),
    ),
    "JSON of an object": (
        "a.json",
        b'{"text": "a"}',
        None,
        Fails(ValueError, r"a\.json must hold a JSON list .* got dict"),
    ),
    "broken JSON list": ("a.json", b'["a",\n "b"', None, Fails(ValueError, r"a\.json, line 2: not JSON")),
    "entry of a list": ("a.json", b'["a", 3]', None, Fails(ValueError, r"a\.json, entry 1: expected a text, got int")),
    "csv without the column": (
        "a.csv",
        b"id,name\n1,a\n",
        None,
        Fails(ValueError, r"a\.csv has several fields that may be the text: 'name' \('a'\), 'id' \('1'\); name one"),
    ),
    "csv without the named column": (
        "a.csv",
        b"id,body\n1,a\n",
        "text",
        Fails(
            ValueError,
            r"a\.csv has no field 'text'; it has 'id' \('1'\), 'body' \('a'\): name one, such as .*a\.csv:body",
        ),
    ),
    "csv with a short row": (
        "a.csv",
        b"id,text\n1,a\n2\n",
        None,
        Fails(ValueError, r"a\.csv, line 3: no value in column 'text'"),
    ),
    "csv with a long row": (
        "a.csv",
        b"text\none, two\n",
        None,
        Fails(ValueError, r"a\.csv, line 2: more values than the header"),
    ),
}


@pytest.mark.parametrize("row", FILES)
def test_bad_files(row: str, tmp_path: Path) -> None:
    name, content, field, expected = FILES[row]
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(expected.error) as caught:
        read_texts(tmp_path / name, field)
    assert re.search(expected.message, str(caught.value)), str(caught.value)


def test_bad_folders(tmp_path: Path) -> None:
    (tmp_path / "notes.md").write_text("a")
    with pytest.raises(ValueError, match=r"the folder .* holds no \.txt files"):
        read_texts(tmp_path)
    with pytest.raises(FileNotFoundError, match="there is no file"):
        read_texts(tmp_path / "nowhere")


def test_bad_parquet(tmp_path: Path) -> None:
    import pyarrow
    import pyarrow.parquet as parquet

    parquet.write_table(pyarrow.table({"text": ["a", None]}), tmp_path / "null.parquet")
    with pytest.raises(EmptyTexts, match=r"null\.parquet, row 1: the text in 'text' is null, a missing value .1 of 2"):
        compute_mauve(p_text=tmp_path / "null.parquet", q_text=["a", "b"])
    parquet.write_table(pyarrow.table({"a": ["x"], "b": ["y"]}), tmp_path / "two.parquet")
    with pytest.raises(
        ValueError, match=r"two\.parquet has several fields that may be the text: 'a' \('x'\), 'b' \('y'\)"
    ):
        read_texts(tmp_path / "two.parquet")


@pytest.mark.parametrize("suffix", [".npy", ".npz"])
def test_bad_feature_files(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"a{suffix}"
    with pytest.raises(FileNotFoundError, match="there is no file"):
        read_features(path)
    for content in (b"", b"not numpy", b"PK\x03\x04broken"):
        path.write_bytes(content)
        with pytest.raises(ValueError, match=rf"a\{suffix} is not a numpy file"):
            read_features(path)


def test_feature_files_with_objects_or_several_arrays(tmp_path: Path) -> None:
    np.save(tmp_path / "o.npy", np.array([{"a": 1}], dtype=object), allow_pickle=True)
    with pytest.raises(ValueError, match=r"o\.npy is not a numpy file of numbers"):
        read_features(tmp_path / "o.npy")
    np.savez(tmp_path / "two.npz", a=np.ones(2), b=np.ones(2))
    with pytest.raises(ValueError, match=r"two\.npz must hold one array or one called 'features', it holds a, b"):
        read_features(tmp_path / "two.npz")
    np.savez(tmp_path / "o.npz", features=np.array([{"a": 1}], dtype=object))
    with pytest.raises(ValueError, match=r"o\.npz is not a numpy file of numbers"):
        read_features(tmp_path / "o.npz")


def test_a_file_of_a_feature_set_is_not_called_damaged(tmp_path: Path) -> None:
    path = FeatureSet(P).save(tmp_path / "human.npz")
    with pytest.raises(NotFeatures, match=r"p_features must be an \.npy or .*, got an \.npz: give FeatureSet\.load\('"):
        compute_mauve(p_features=str(path), q_features=Q)
    path.rename(tmp_path / "human.pt")  # torch.save writes zip archives, too
    with pytest.raises(NotFeatures, match=r"got a zip archive, '.*human\.pt': load what torch has saved, and give the"):
        compute_mauve(p_features=tmp_path / "human.pt", q_features=Q)
    path = (tmp_path / "human.pt").rename(path)
    assert compute_mauve(p_features=FeatureSet.load(path), q_features=Q, num_runs=1).n_p == len(P)
