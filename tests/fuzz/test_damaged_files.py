"""Single bits flipped in every format that has a checksum: an error with the file's name, or the content of before."""

from __future__ import annotations

import gzip
import random
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from samples import texts_of

from mauve_metric import FeatureSet, read_texts
from mauve_metric.apps.describing.memorisation import corpus_texts
from mauve_metric.features.array_files import NpyRows
from mauve_metric.runtime import errors

FLIPS = 150  # of each file
TEXTS = texts_of(40, seed=0)
ROWS = np.random.default_rng(0).normal(size=(40, 5)).astype(np.float32)


def features(path: Path) -> Path:
    identity = {"model": "some/model", "pooling": "mean", "max_text_length": "64"}
    hashes = np.arange(40, dtype=np.uint64) * 2**57
    return FeatureSet(ROWS, identity, np.arange(40), 3, 1, hashes, hashes, None, {"think": 2}, "jsonl/text").save(path)


def parquet(path: Path) -> Path:
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    parquet.write_table(pyarrow.table({"text": TEXTS}), path, write_page_checksum=True)
    return path


def zipped(path: Path) -> Path:
    path.write_bytes(gzip.compress("\n".join(TEXTS).encode()))
    return path


def inspect_log(path: Path) -> Path:
    log = pytest.importorskip("inspect_ai.log")
    from inspect_ai.model import ModelOutput

    spec = log.EvalSpec(
        created="2026-01-01T00:00:00+00:00", task="t", model="m", dataset=log.EvalDataset(), config=log.EvalConfig()
    )
    samples = [
        log.EvalSample(id=number, epoch=1, input=text, target=text, output=ModelOutput.from_content("m", text.upper()))
        for number, text in enumerate(TEXTS[:5])
    ]
    log.write_eval_log(log.EvalLog(status="success", eval=spec, samples=samples), str(path))
    return path


def facts(value: Any) -> list[Any]:
    """A reader's result, fit for a comparison."""
    return [
        (item.dtype.str, item.shape, item.tobytes()) if isinstance(item, np.ndarray) else item
        for item in (asdict(value).values() if hasattr(value, "__dataclass_fields__") else value)
    ]


def read_features(path: Path) -> list[Any]:
    return facts(FeatureSet.load(path))


FORMATS: dict[str, tuple[Callable[[Path], Path], Callable[[Path], list[Any]], str]] = {
    "features.npz": (features, read_features, ""),
    "features.npy": (features, read_features, ""),
    "beside.npy": (features, read_features, ".json"),
    "features.parquet": (features, read_features, ""),
    "texts.parquet": (parquet, lambda path: read_texts(path), ""),
    "corpus.parquet": (parquet, lambda path: list(corpus_texts(path)), ""),
    "corpus.txt.gz": (zipped, lambda path: list(corpus_texts(path)), ""),
    "log.eval": (inspect_log, lambda path: read_texts(path, side="prediction"), ""),
}


def flipped(content: bytes, seed: int) -> Iterator[bytes]:
    """A content with one bit changed, at random and near both ends, where the headers are."""
    rng, size = random.Random(seed), len(content)
    for number in range(FLIPS):
        low, high = [(0, size), (0, min(size, 200)), (max(size - 300, 0), size)][number % 3]
        changed = bytearray(content)
        changed[rng.randrange(low, high)] ^= 1 << rng.randrange(8)
        yield bytes(changed)


@pytest.mark.parametrize("name", FORMATS)
def test_a_flipped_bit_is_an_error_or_changes_nothing(name: str, tmp_path: Path) -> None:
    make, read, beside = FORMATS[name]
    path = make(tmp_path / name)
    damaged = path.with_name(path.name + beside)
    content, whole = damaged.read_bytes(), read(path)
    refused, wrong = 0, []
    for number, changed in enumerate(flipped(content, seed=0)):
        damaged.write_bytes(changed)
        try:
            found = read(path)
        except (ValueError, OSError) as error:
            refused += 1
            assert path.name in str(error), error
            assert type(error) in (ValueError, OSError, errors.DamagedFile), error
            continue
        if found != whole:
            wrong.append(number)
    assert not wrong
    assert refused > FLIPS / 10


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b"(40, 5), ", b"(20, 5), "),
        (b"(40, 5), ", b"(40, 4), "),
        (b"(40, 5), ", b"(True,5),"),
        (b"(40, 5), ", b"(40,True)"),
        (b"'<f4'", b"'<f2'"),
        (b"'<f4'", b"'|i1'"),
    ],
)
def test_an_array_that_is_not_all_of_its_file_is_refused(old: bytes, new: bytes, tmp_path: Path) -> None:
    path = tmp_path / "rows.npy"
    np.save(path, ROWS)
    content = path.read_bytes()
    assert old in content
    path.write_bytes(content.replace(old, new))
    for read in (FeatureSet.load, NpyRows.of_file):
        with pytest.raises(ValueError, match=r"rows\.npy (is not a numpy file of numbers|must hold numbers of shape)"):
            read(path)
    path.write_bytes(content + b"\0" * 20)
    with pytest.raises(ValueError, match="it goes on, to"):
        FeatureSet.load(path)
