"""Features are computed once, a broken cache is never used, and its errors never prevent a score."""

from __future__ import annotations

import logging
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from programs import Programs
from samples import ROOT, texts_of

from mauve_metric import compute_mauve
from mauve_metric.features import cache, featurize
from mauve_metric.features import cache as feature_cache
from mauve_metric.features import cache as feature_cache_module
from mauve_metric.features.cache import (
    FILE_NAME,
    LOCK_SECONDS,
    FeatureCache,
    max_cache_bytes,
    open_cache,
)
from mauve_metric.features.encoder import load_encoder
from mauve_metric.features.feature_set import featurize as featurized
from mauve_metric.hosts.cli import main as cli
from mauve_metric.runtime.cache_folder import cache_folder


def keys_of(count: int, start: int = 0) -> list[bytes]:
    return [index.to_bytes(20, "little") for index in range(start, start + count)]


def rows_of(count: int, width: int = 8, dtype: Any = np.float32) -> NDArray[Any]:
    return np.random.default_rng(count).normal(size=(count, width)).astype(dtype)


def found_in(cache: FeatureCache, keys: list[bytes]) -> NDArray[Any]:
    """Features that the cache holds for keys, all of which it must have."""
    found = cache.get(keys)
    assert all(row is not None for row in found)
    return np.stack([row for row in found if row is not None])


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The sizes of all batches that the language model is asked for."""
    sizes: list[int] = []
    original = featurize.run_batch

    def counted(encoder: Any, rows: Any) -> NDArray[Any]:
        sizes.append(len(rows))
        return original(encoder, rows)

    monkeypatch.setattr(featurize, "run_batch", counted)
    return sizes


@pytest.fixture
def warned(caplog: pytest.LogCaptureFixture) -> Iterator[pytest.LogCaptureFixture]:
    """The package's warnings."""
    with caplog.at_level(logging.WARNING, logger="mauve_metric.features.cache"):
        yield caplog


# --- the store ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_round_trip_keeps_every_bit_the_type_and_the_order(tmp_path: Path, dtype: Any) -> None:
    keys, rows = keys_of(7), rows_of(7, dtype=dtype)
    rows[0, :3] = [-0.0, np.finfo(dtype).tiny / 4, np.finfo(dtype).max]
    with FeatureCache(tmp_path) as cache:
        cache.put(keys, rows)
    order = [3, 0, 6, 3]
    with FeatureCache(tmp_path) as cache:
        found = cache.get([keys[index] for index in order] + keys_of(1, start=100))
        assert cache.info()["features"] == 7
    assert found[-1] is None
    for row, index in zip(found, order, strict=False):
        assert row is not None and row.dtype == dtype and row.tobytes() == rows[index].tobytes()


def test_what_is_stored_first_stays(tmp_path: Path) -> None:
    with FeatureCache(tmp_path) as cache:
        cache.put(keys_of(3), rows_of(3))
        cache.put(keys_of(5), np.zeros((5, 8), dtype=np.float32))
        np.testing.assert_array_equal(found_in(cache, keys_of(5)), np.concatenate([rows_of(3), np.zeros((2, 8))]))


def test_many_keys_at_once(tmp_path: Path) -> None:
    keys, rows = keys_of(1203), rows_of(1203)
    with FeatureCache(tmp_path) as cache:
        assert cache.get([]) == [] and cache.get(keys[:2]) == [None, None]
        cache.put(keys, rows)
        np.testing.assert_array_equal(found_in(cache, keys[::-1]), rows[::-1])


def test_rows_that_are_not_contiguous(tmp_path: Path) -> None:
    rows = np.asfortranarray(rows_of(4))[:, ::2]
    with FeatureCache(tmp_path) as cache:
        cache.put(keys_of(4), rows)
        np.testing.assert_array_equal(found_in(cache, keys_of(4)), rows)


def test_a_batch_is_stored_whole_or_not_at_all(tmp_path: Path) -> None:
    with FeatureCache(tmp_path) as cache:
        with pytest.raises(ValueError, match="argument"):
            cache.put(keys_of(3), rows_of(2))
        assert cache.info()["features"] == 0


def test_the_oldest_go_when_the_file_grows_too_large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    limit = 200_000
    with FeatureCache(tmp_path, max_bytes=limit) as cache:
        now = time.time()
        for batch in range(40):  # 40 batches of 10 rows of 1 kB: twice the limit
            monkeypatch.setattr(feature_cache.time, "time", lambda batch=batch: now + batch)
            cache.put(keys_of(10, start=10 * batch), rows_of(10, width=256))
        assert cache.info()["bytes"] <= limit
        kept = [row is not None for row in cache.get(keys_of(400))]
        assert not kept[0] and kept[-1]
        assert kept == sorted(kept)  # from some point on all are there
    # the file may have grown by one batch before the oldest went; its journal is folded in when it is closed
    assert (tmp_path / FILE_NAME).stat().st_size < limit + 50_000


def test_features_in_use_stay_longer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now = time.time()
    with FeatureCache(tmp_path) as cache:
        cache.put(keys_of(8), rows_of(8, width=512))
        monkeypatch.setattr(feature_cache.time, "time", lambda: now + 3 * 86_400)
        cache.put(keys_of(8, start=8), rows_of(8, width=512))
        monkeypatch.setattr(feature_cache.time, "time", lambda: now + 6 * 86_400)
        cache.get(keys_of(8))
        assert cache.prune(cache.info()["bytes"] - 1) == 2  # an eighth of 16
        assert [row is None for row in cache.get(keys_of(16))] == [False] * 8 + [True] * 2 + [False] * 6


def test_prune_clear_and_info(tmp_path: Path) -> None:
    with FeatureCache(tmp_path, max_bytes=10**9) as cache:
        cache.put(keys_of(300), rows_of(300, width=256))
        info = cache.info()
        assert (info["path"], info["features"], info["max_bytes"]) == (str(tmp_path / FILE_NAME), 300, 10**9)
        assert 300 * 1024 < info["bytes"] < 3 * 300 * 1024
        assert cache.prune(info["bytes"]) == 0
        deleted = cache.prune(info["bytes"] // 2)
        assert 100 < deleted < 200 and cache.info()["features"] == 300 - deleted
        cache.compact()
        assert cache.clear() == 300 - deleted
        assert cache.info()["features"] == 0
    assert (tmp_path / FILE_NAME).stat().st_size < 50_000


def test_a_limit_below_the_empty_file_ends(tmp_path: Path) -> None:
    with FeatureCache(tmp_path, max_bytes=1) as cache:
        cache.put(keys_of(5), rows_of(5))
        assert cache.info()["features"] == 0


# --- where it lies ------------------------------------------------------------------------------------------------


def test_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    monkeypatch.setenv("MAUVE_METRIC_CACHE", str(tmp_path / "own"))
    assert cache_folder() == tmp_path / "own"
    monkeypatch.setenv("MAUVE_METRIC_CACHE", "~/of/home")
    assert cache_folder() == tmp_path / "home" / "of" / "home"
    monkeypatch.delenv("MAUVE_METRIC_CACHE")
    assert cache_folder() == tmp_path / "xdg" / "mauve_metric"
    monkeypatch.setenv("XDG_CACHE_HOME", "")
    assert cache_folder() == tmp_path / "home" / ".cache" / "mauve_metric"
    monkeypatch.delenv("XDG_CACHE_HOME")
    with FeatureCache() as cache:
        assert cache.path == tmp_path / "home" / ".cache" / "mauve_metric" / FILE_NAME and cache.path.is_file()


def test_limit_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    assert max_cache_bytes() == 10 * 2**30
    monkeypatch.setenv("MAUVE_METRIC_CACHE_BYTES", "12345")
    assert max_cache_bytes() == 12345
    for value in ("ten", "²", "٣", "", "-1", "9" * 5000):
        monkeypatch.setenv("MAUVE_METRIC_CACHE_BYTES", value)
        with pytest.raises(ValueError, match=rf"MAUVE_METRIC_CACHE_BYTES must be a number of bytes, got '{value[:9]}"):
            max_cache_bytes()


# --- damage -------------------------------------------------------------------------------------------------------


def filled(folder: Path, count: int = 60) -> tuple[list[bytes], NDArray[Any]]:
    """A closed cache with features in it."""
    keys, rows = keys_of(count), rows_of(count, width=64)
    with FeatureCache(folder) as cache:
        cache.put(keys, rows)
    return keys, rows


@pytest.mark.parametrize("column", ["value", "dtype", "checksum", "key"])
def test_a_changed_row_is_not_believed(tmp_path: Path, warned: pytest.LogCaptureFixture, column: str) -> None:
    keys, rows = filled(tmp_path)
    changed = {"value": rows[4].tobytes()[:-1] + b"\x7f", "dtype": "<i4", "checksum": 7, "key": b"another"}[column]
    with sqlite3.connect(tmp_path / FILE_NAME) as connection:
        connection.execute(f"UPDATE features SET {column} = ? WHERE key = ?", (changed, keys[4]))
    connection.close()
    with FeatureCache(tmp_path) as cache:
        assert [row is None for row in cache.get(keys)] == [index == 4 for index in range(60)]
        assert ("1 features" in warned.text and "checksum" in warned.text) == (column != "key")
        cache.put(keys[4:5], rows[4:5])
        np.testing.assert_array_equal(found_in(cache, keys), rows)


def test_a_key_that_was_exchanged_is_not_believed(tmp_path: Path, warned: pytest.LogCaptureFixture) -> None:
    keys, rows = filled(tmp_path, 3)
    with sqlite3.connect(tmp_path / FILE_NAME) as connection:
        connection.execute("DELETE FROM features WHERE key = ?", (keys[1],))
        connection.execute("UPDATE features SET key = ? WHERE key = ?", (keys[1], keys[0]))
    connection.close()
    with FeatureCache(tmp_path) as cache:
        found = cache.get(keys)
    assert found[0] is None and found[1] is None and found[2] is not None
    np.testing.assert_array_equal(found[2], rows[2])


@pytest.mark.parametrize("damage", ["garbage", "header", "truncated", "half a page"])
def test_a_broken_file_is_set_aside_and_begun_anew(
    tmp_path: Path, warned: pytest.LogCaptureFixture, damage: str
) -> None:
    keys, rows = filled(tmp_path)
    file = tmp_path / FILE_NAME
    content = file.read_bytes()
    if damage == "garbage":
        file.write_bytes(b"this was never a database\n" * 1000)
    elif damage == "header":
        file.write_bytes(b"x" + content[1:])
    elif damage == "truncated":
        file.write_bytes(content[: len(content) // 8192 * 4096])
    else:
        file.write_bytes(content[: len(content) - 2048])
    broken = file.read_bytes()
    with FeatureCache(tmp_path) as cache:
        assert cache.get(keys) == [None] * len(keys)
        assert "corrupt" in warned.text and str(file) in warned.text
        cache.put(keys, rows)
        np.testing.assert_array_equal(found_in(cache, keys), rows)
        aside = [path for path in tmp_path.glob(f"{FILE_NAME}.corrupt-*") if path.suffix[-4:] not in ("-wal", "-shm")]
        assert [path.read_bytes() for path in aside] == [broken]
        cache.clear()
    assert not list(tmp_path.glob("*corrupt*"))


def test_an_empty_file_is_a_new_cache(tmp_path: Path) -> None:
    (tmp_path / FILE_NAME).touch()
    with FeatureCache(tmp_path) as cache:
        assert cache.get(keys_of(1)) == [None]
        cache.put(keys_of(1), rows_of(1))
        assert cache.info()["features"] == 1


def test_a_garbage_journal_is_not_believed(tmp_path: Path) -> None:
    keys, rows = filled(tmp_path)
    for suffix in ("-wal", "-shm"):
        (tmp_path / (FILE_NAME + suffix)).write_bytes(random.Random(0).randbytes(40_000))
    with FeatureCache(tmp_path) as cache:
        for row, expected in zip(cache.get(keys), rows, strict=True):
            assert row is None or row.tobytes() == expected.tobytes()
        cache.put(keys, rows)
        np.testing.assert_array_equal(found_in(cache, keys), rows)


def test_no_flipped_byte_gives_a_wrong_feature_or_an_error(tmp_path: Path) -> None:
    source = tmp_path / "source"
    keys, rows = filled(source, 24)
    content = (source / FILE_NAME).read_bytes()
    rng = random.Random(1)
    # half of the places in the first page and the last kilobytes of each page, where headers and cells begin
    places = [rng.randrange(4096) for _ in range(25)] + [rng.randrange(len(content)) for _ in range(50)]
    for number, place in enumerate(places):
        folder = tmp_path / str(number)
        folder.mkdir()
        flipped = bytearray(content)
        flipped[place] ^= 1 << rng.randrange(8)
        (folder / FILE_NAME).write_bytes(flipped)
        with FeatureCache(folder) as cache:
            for row, expected in zip(cache.get(keys), rows, strict=True):
                assert row is None or row.tobytes() == expected.tobytes(), place
            cache.put(keys, rows)
            for row, expected in zip(cache.get(keys), rows, strict=True):
                assert row is None or row.tobytes() == expected.tobytes(), place
        shutil.rmtree(folder)


def test_damage_costs_time_and_not_the_score(
    tiny_gpt2: str, tmp_path: Path, runs: list[int], warned: pytest.LogCaptureFixture
) -> None:
    texts = texts_of(30)
    options = {"featurize_model_name": tiny_gpt2, "max_batch_tokens": 128, "cache": tmp_path}
    expected = featurized(texts, **options).features
    batches = len(runs)
    with sqlite3.connect(tmp_path / FILE_NAME) as connection:
        connection.execute("UPDATE features SET value = zeroblob(length(value)) WHERE rowid = 3")
    connection.close()
    runs.clear()
    assert featurized(texts, **options).features.tobytes() == expected.tobytes()
    assert len(runs) == 1 < batches and "checksum" in warned.text
    (tmp_path / FILE_NAME).write_bytes(b"nothing")
    runs.clear()
    assert featurized(texts, **options).features.tobytes() == expected.tobytes()
    assert len(runs) == batches and "corrupt" in warned.text
    runs.clear()
    assert featurized(texts, **options).features.tobytes() == expected.tobytes()
    assert runs == []


# --- unreachable -------------------------------------------------------------------------------------------------


def test_a_locked_file_is_a_warning(
    tiny_gpt2: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, warned: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(feature_cache_module, "LOCK_SECONDS", 0.1)
    texts = texts_of(6)
    options: dict[str, Any] = {"featurize_model_name": tiny_gpt2, "cache": tmp_path}
    expected = featurized(texts, **options | {"cache": False}).features
    with FeatureCache(tmp_path):
        writer = sqlite3.connect(tmp_path / FILE_NAME, isolation_level=None)
        writer.execute("BEGIN EXCLUSIVE")  # readers of a write-ahead log go on, writers wait
        assert featurized(texts, **options).features.tobytes() == expected.tobytes()
        assert "cannot be written now" in warned.text and "locked" in warned.text
        writer.execute("ROLLBACK")
        writer.close()
    with FeatureCache(tmp_path) as cache:
        assert cache.info()["features"] == 0


def test_a_file_locked_against_reading_is_a_warning(
    tiny_gpt2: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(cache, "LOCK_SECONDS", 0.1)
    texts = texts_of(6)
    options: dict[str, Any] = {"featurize_model_name": tiny_gpt2, "cache": tmp_path}
    expected = featurized(texts, **options | {"cache": False}).features
    lock = sqlite3.connect(tmp_path / FILE_NAME, isolation_level=None)
    lock.execute("BEGIN EXCLUSIVE")
    with caplog.at_level(logging.WARNING, logger="mauve_metric"):
        assert featurized(texts, **options).features.tobytes() == expected.tobytes()
    assert "the feature cache cannot be used" in caplog.text and "locked" in caplog.text
    lock.close()


def test_a_lock_is_waited_for_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, warned: pytest.LogCaptureFixture
) -> None:
    waits: list[float] = []
    connect = sqlite3.connect
    monkeypatch.setattr(
        feature_cache.sqlite3, "connect", lambda *args, **options: waits.append(options["timeout"]) or connect(
            *args, **options | {"timeout": 0.05}
        )
    )  # fmt: skip
    with FeatureCache(tmp_path) as cache:
        writer = connect(tmp_path / FILE_NAME, isolation_level=None)
        writer.execute("BEGIN EXCLUSIVE")
        for _ in range(3):
            cache.put(keys_of(1), rows_of(1))
        writer.close()
        assert waits == [LOCK_SECONDS, 1.0, 1.0]
        cache.put(keys_of(1), rows_of(1))
        assert cache.info()["features"] == 1


@pytest.mark.parametrize("obstacle", ["a file for the folder", "a folder for the file", "no such place"])
def test_a_folder_that_cannot_be_written_is_a_warning(
    tiny_gpt2: str, tmp_path: Path, caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str], obstacle: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    folder = tmp_path / "place"
    if obstacle == "a file for the folder":
        folder.write_text("here is a file")
    elif obstacle == "a folder for the file":
        (folder / FILE_NAME).mkdir(parents=True)
    else:
        folder = Path("/proc/mauve_metric")
        if not Path("/proc").is_dir():
            folder = Path("/dev/null/mauve_metric")
    texts = texts_of(6)
    options: dict[str, Any] = {"featurize_model_name": tiny_gpt2}
    expected = featurized(texts, **options, cache=False).features
    with caplog.at_level(logging.WARNING, logger="mauve_metric"):
        assert featurized(texts, **options, cache=folder).features.tobytes() == expected.tobytes()
    assert "the feature cache cannot be used, features are not kept" in caplog.text
    monkeypatch.setenv("MAUVE_METRIC_CACHE", str(folder))
    assert cli.main(["cache", "info"]) == 1
    assert capsys.readouterr().err.startswith("mauve-metric: error: ")


def test_a_full_disk_is_a_warning(tmp_path: Path, warned: pytest.LogCaptureFixture) -> None:
    keys, rows = filled(tmp_path)
    with FeatureCache(tmp_path) as cache:
        connection = cache._connection
        assert connection is not None
        pages = connection.execute("PRAGMA page_count").fetchone()[0]
        connection.execute(f"PRAGMA max_page_count = {pages}")  # SQLite then reports a full disk
        cache.put(keys_of(50, start=1000), rows_of(50, width=256))
        assert "cannot be written now" in warned.text and "full" in warned.text
        np.testing.assert_array_equal(found_in(cache, keys), rows)
        assert cache.get(keys_of(50, start=1000)) == [None] * 50
    assert not list(tmp_path.glob("*corrupt*"))


# --- several processes --------------------------------------------------------------------------------------------

WRITER = """
import sys
import threading
import numpy as np
from mauve_metric.features.cache import FeatureCache
first = int(sys.argv[2])
with FeatureCache(sys.argv[1]) as cache:
    print("ready", flush=True)
    sys.stdin.readline()
    for start in range(first, first + 300, 10):
        numbers = range(start, start + 10)
        keys = [number.to_bytes(20, "little") for number in numbers]
        rows = np.array([[number] * 16 for number in numbers], dtype=np.float32)
        cache.put(keys, rows)
        assert all(row is not None for row in cache.get(keys))
"""


def test_processes_write_at_once(tmp_path: Path) -> None:
    command = [sys.executable, "-c", WRITER, str(tmp_path)]
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True, "cwd": ROOT}
    writers = [subprocess.Popen([*command, str(first)], **pipes) for first in (0, 150, 150)]
    for writer in writers:
        assert writer.stdout is not None and writer.stdout.readline() == "ready\n"
    for writer in writers:
        assert writer.stdin is not None
        writer.stdin.write("go\n")
        writer.stdin.flush()
    for writer in writers:
        writer.communicate(timeout=300)
        assert writer.returncode == 0
    with FeatureCache(tmp_path) as cache:
        assert cache.info()["features"] == 450
        found = found_in(cache, keys_of(450))
    np.testing.assert_array_equal(found, np.repeat(np.arange(450, dtype=np.float32)[:, None], 16, axis=1))
    assert not list(tmp_path.glob("*corrupt*"))


KILLED = """
import sys
import threading
import time
from mauve_metric.features import featurize
original = featurize.run_batch
def slow(encoder, rows):
    time.sleep(0.1)
    return original(encoder, rows)
featurize.run_batch = slow
from mauve_metric import FeatureSet
from samples import texts_of
FeatureSet.from_texts(
    texts_of(60), featurize_model_name=sys.argv[1], cache=sys.argv[2], max_batch_tokens=96
)
"""


def stored(folder: Path) -> int:
    """Number of features that other processes have stored so far."""
    if not (folder / FILE_NAME).is_file():
        return 0
    connection = sqlite3.connect(folder / FILE_NAME, timeout=300)
    try:
        return int(connection.execute("SELECT COUNT(*) FROM features").fetchone()[0])
    except sqlite3.OperationalError:  # the table is not there yet
        return 0
    finally:
        connection.close()


@pytest.mark.slow
def test_killed_and_taken_up_again(tiny_gpt2: str, tmp_path: Path, runs: list[int], programs: Programs) -> None:
    texts = texts_of(60)
    options: dict[str, Any] = {"featurize_model_name": tiny_gpt2, "max_batch_tokens": 96}
    expected = featurized(texts, **options, cache=False).features
    sizes = list(runs)
    assert len(sizes) > 15
    finished = np.cumsum([0, *sizes]).tolist()
    process = programs.start(KILLED, tiny_gpt2, tmp_path)
    while stored(tmp_path) < finished[4]:
        assert process.poll() is None, f"it ended before it could be killed: {process.stderr}"
        time.sleep(0.02)
    process.kill()
    assert process.wait() == -signal.SIGKILL
    kept = stored(tmp_path)
    assert kept in finished[4:-1]  # whole batches, in the order of the plan
    runs.clear()
    found = featurized(texts, **options, cache=tmp_path).features
    assert found.tobytes() == expected.tobytes()
    assert runs == sizes[finished.index(kept) :]
    runs.clear()
    assert featurized(texts, **options, cache=tmp_path).features.tobytes() == expected.tobytes()
    assert runs == []


# --- never twice --------------------------------------------------------------------------------------------------


@pytest.mark.more
def test_the_second_run_computes_nothing(tiny_gpt2: str, runs: list[int], tmp_path: Path) -> None:
    human, model = texts_of(40), texts_of(40, seed=1)
    options: dict[str, Any] = {"featurize_model_name": tiny_gpt2, "num_buckets": 4, "knn": False, "num_runs": 1}
    first = compute_mauve(p_text=human, q_text=model, **options)
    assert sum(runs) == 80 and (tmp_path / "cache" / FILE_NAME).is_file()
    runs.clear()
    second = compute_mauve(p_text=human, q_text=model, **options)
    assert runs == [] and second.mauve == first.mauve and second.signature == first.signature
    np.testing.assert_array_equal(second.divergence_curve, first.divergence_curve)
    # the next checkpoint: only its own texts are embedded
    compute_mauve(p_text=human, q_text=texts_of(40, seed=2), **options)
    assert sum(runs) == 40
    runs.clear()
    assert compute_mauve(p_text=human, q_text=model, cache=False, **options).mauve == first.mauve
    assert sum(runs) == 80
    assert compute_mauve(p_text=human, q_text=model, cache=tmp_path / "elsewhere", **options).mauve == first.mauve
    assert sum(runs) == 160 and (tmp_path / "elsewhere" / FILE_NAME).is_file()


def test_what_is_stored_stays_whatever_other_sets_are_featurized(
    tiny_gpt2: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another batch can give a text other last bits, here its number, and repeated scores would differ."""
    run, batches = featurize.run_with_back_off, list[int]()

    def numbered(*arguments: Any) -> Any:
        batches.append(len(batches))
        return run(*arguments) + len(batches)

    monkeypatch.setattr(featurize, "run_with_back_off", numbered)
    options: dict[str, Any] = {"featurize_model_name": tiny_gpt2, "cache": str(tmp_path)}
    texts = texts_of(12, 0)
    sets = [texts[:8], texts[4:], texts]
    first = [featurized(some, **options).features for some in sets]
    assert len(batches) > 1
    for some, before in zip(sets, first, strict=True):
        np.testing.assert_array_equal(featurized(some, **options).features, before)


def test_without_a_cache_there_is_no_file(tiny_gpt2: str, tmp_path: Path) -> None:
    featurized(["ships and rain"], featurize_model_name=tiny_gpt2, cache=False)
    assert not (tmp_path / "cache").exists()


@pytest.mark.parametrize("change", ["pooling", "dtype", "weights", "tokenizer"])
def test_another_encoder_never_meets_old_features(tiny_gpt2: str, tmp_path: Path, runs: list[int], change: str) -> None:
    texts = texts_of(10)
    folder = Path(shutil.copytree(tiny_gpt2, tmp_path / "model"))
    options: dict[str, Any] = {"featurize_model_name": str(folder)}
    first = featurized(texts, **options).features
    runs.clear()
    if change == "pooling":
        options["pooling"] = "mean"
    elif change == "dtype":
        options["dtype"] = "float64"
    elif change == "weights":
        from transformers import GPT2Model

        model = GPT2Model.from_pretrained(folder)
        with torch.no_grad():
            model.ln_f.bias[0] += 1
        model.save_pretrained(folder)
    else:
        file = folder / "tokenizer.json"
        file.write_text(file.read_text().replace('"add_prefix_space":false', '"add_prefix_space":true'))
        file.write_text(file.read_text().replace('"add_prefix_space": false', '"add_prefix_space": true'))
    second = featurized(texts, **options).features
    assert sum(runs) == 10
    assert second.dtype != first.dtype or not np.array_equal(second, first)
    assert np.array_equal(second, featurized(texts, **options, cache=False).features)


def test_the_same_model_elsewhere_and_alive_is_the_same(tiny_gpt2: str, tmp_path: Path, runs: list[int]) -> None:
    texts = texts_of(10)
    first = featurized(texts, featurize_model_name=tiny_gpt2).features
    moved = shutil.copytree(tiny_gpt2, tmp_path / "moved")
    runs.clear()
    assert np.array_equal(featurized(texts, featurize_model_name=str(moved)).features, first) and runs == []
    encoder = load_encoder(tiny_gpt2)
    pair = (encoder.model, encoder.tokenizer)
    alive = featurized(texts, featurize_model_name=pair).features
    with torch.no_grad():
        encoder.model.ln_f.weight *= 2
    trained = featurized(texts, featurize_model_name=pair).features
    np.testing.assert_array_equal(alive, first)
    assert not np.allclose(trained, first)


def test_length_limit_that_cuts_nothing_shares_features(tiny_gpt2: str, runs: list[int]) -> None:
    texts = texts_of(10, longest=4)
    featurized(texts, featurize_model_name=tiny_gpt2)
    runs.clear()
    featurized(texts, featurize_model_name=tiny_gpt2, max_text_length=90)
    assert runs == []
    featurized(texts, featurize_model_name=tiny_gpt2, max_text_length=3)
    assert sum(runs) > 0


def test_the_file_holds_no_text(tiny_gpt2: str, tmp_path: Path) -> None:
    secret = "harbourmaster Wilhelmina counts"
    featurized([secret, *texts_of(5)], featurize_model_name=tiny_gpt2, cache=tmp_path)
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert files
    for path in files:
        content = path.read_bytes()
        for word in (*secret.split(), "quick", tiny_gpt2):
            for encoding in ("utf-8", "utf-16-le"):
                assert word.encode(encoding) not in content
    ids = load_encoder(tiny_gpt2).tokenizer(secret)["input_ids"]
    for kind in (np.int64, np.int32, np.int16):
        assert np.array(ids, dtype=kind).tobytes() not in b"".join(path.read_bytes() for path in files)


@pytest.mark.more
def test_caches_opened_at_once_lose_nothing(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """SQLite does not wait while another connection makes a new file, or closes it: the cache does."""
    start = threading.Barrier(2, timeout=300)

    def use(first: int) -> int:
        found = 0
        for turn in range(50):
            start.wait()
            with FeatureCache(tmp_path / str(turn)) as cache:
                cache.put(keys_of(2, first), rows_of(2))
            start.wait()
            with FeatureCache(tmp_path / str(turn)) as cache:
                found += sum(row is not None for row in cache.get(keys_of(4)))
        return found

    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(use, (0, 2))) == [200, 200]
    assert caplog.text == ""


def test_the_identity_is_hashed_once(tiny_gpt2: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from mauve_metric.features import encoder, feature_set

    calls: list[int] = []
    whole = encoder.identity_digest
    monkeypatch.setattr(encoder, "identity_digest", lambda identity: calls.append(1) or whole(identity))
    texts = [f"text number {number}" for number in range(9)]
    feature_set.FeatureSet.from_texts(texts, featurize_model_name=tiny_gpt2, batch_size=2, cache=tmp_path, device="cpu")
    assert len(calls) == 1


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="Windows has no such permissions")
@pytest.mark.parametrize("what", ["folder", "file"])
@pytest.mark.parametrize("how", ["of another user", "writable by all", "writable by a group"])
def test_a_cache_that_others_can_have_written_is_not_believed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, what: str, how: str
) -> None:
    folder = tmp_path / "cache"
    with FeatureCache(folder) as cache:
        cache.put([b"k" * 20], np.zeros((1, 3), dtype=np.float32))
    place = folder if what == "folder" else folder / cache.path.name
    if how == "of another user":
        if os.getuid() != 0:
            pytest.skip("only root gives files away")
        os.chown(place, 12345, 12345)
    else:
        monkeypatch.setattr("mauve_metric.features.cache._is_private_group", lambda number: False)
        folder.chmod(0o755)
        place.chmod(0o777 if how == "writable by all" else 0o770)
    with pytest.raises(PermissionError, match="name a folder of your own by cache= or MAUVE_METRIC_CACHE"):
        FeatureCache(folder)
    assert open_cache(folder) is None
    assert "the feature cache cannot be used, features are not kept" in caplog.text


def test_a_cache_that_others_may_read_and_one_of_a_private_group_are_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mauve_metric.features.cache._is_private_group", lambda number: True)
    for mode in (0o700, 0o755, 0o775):
        tmp_path.chmod(mode)
        FeatureCache(tmp_path).close()
