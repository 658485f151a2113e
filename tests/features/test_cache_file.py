"""Identification of a damaged cache, files left unchanged, and permissions."""

from __future__ import annotations

import contextlib
import logging
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from programs import Programs
from samples import ROOT, texts_of

from mauve_metric.features.cache import FILE_NAME, TABLE, FeatureCache
from mauve_metric.features.feature_set import featurize
from mauve_metric.hosts.cli import main as cli

KEYS = [number.to_bytes(20, "little") for number in range(5)]
ROWS = np.arange(20, dtype=np.float32).reshape(5, 4)


def made(folder: Path, before: bool = False) -> bytes:
    """The content of a cache with five features; `before`: as files were that did not say whose they are."""
    with FeatureCache(folder) as cache:
        cache.put(KEYS, ROWS)
    if before:
        with contextlib.closing(sqlite3.connect(folder / FILE_NAME)) as connection:
            connection.execute("PRAGMA application_id=0")
    return (folder / FILE_NAME).read_bytes()


def usable(folder: Path) -> None:
    with FeatureCache(folder) as cache:
        cache.put(KEYS, ROWS)
        for found, row in zip(cache.get(KEYS), ROWS, strict=True):
            assert found is not None
            np.testing.assert_array_equal(found, row)


def test_one_bad_byte_in_the_definition_is_set_aside(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    content = made(tmp_path)
    start = content.index(b"CREATE TABLE features")
    for place in range(start, start + len(TABLE.strip()), 3):
        folder = tmp_path / str(place)
        folder.mkdir()
        caplog.clear()
        damaged = bytearray(content)
        damaged[place] ^= 0x80  # no character any more, so that SQLite's message is no text either
        (folder / FILE_NAME).write_bytes(damaged)
        usable(folder)
        aside = [path for path in folder.glob(f"{FILE_NAME}.corrupt-*") if not path.name.endswith(("-wal", "-shm"))]
        assert [path.read_bytes() for path in aside] == [bytes(damaged)]
        assert caplog.text.count("it is set aside as") == 1


def test_clear_gets_rid_of_a_damaged_definition(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    content = made(tmp_path)
    damaged = content.replace(b"CREATE TABLE features", b"CREATE TABLE feat\xf5res")
    (tmp_path / FILE_NAME).write_bytes(damaged)
    monkeypatch.setenv("MAUVE_METRIC_CACHE", str(tmp_path))
    assert cli.main(["cache", "clear"]) == 0
    out, err = capsys.readouterr()
    assert "deleted    0" in out and "is corrupt" in err and "Traceback" not in err
    assert [path.name for path in tmp_path.iterdir()] == [FILE_NAME]


@pytest.mark.parametrize(
    "statements",
    [
        ["CREATE TABLE mails (id INTEGER PRIMARY KEY, body TEXT)", "INSERT INTO mails VALUES (1, 'dear')"],
        ["CREATE TABLE features (key, something_else)"],
        ["PRAGMA application_id=7"],
        ["PRAGMA journal_mode=WAL", "CREATE TABLE other (a)"],
    ],
)
def test_a_database_of_another_program_is_left_alone(
    tiny_gpt2: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture,
    capsys: pytest.CaptureFixture[str], statements: list[str],
) -> None:  # fmt: skip
    file = tmp_path / FILE_NAME
    with contextlib.closing(sqlite3.connect(file)) as connection, connection:
        for statement in statements:
            connection.execute(statement)
    file.chmod(0o644)
    content = file.read_bytes()
    texts = texts_of(6)
    options: dict[str, Any] = {"featurize_model_name": tiny_gpt2, "batch_size": 2}
    with caplog.at_level(logging.WARNING, logger="mauve_metric"):
        found = featurize(texts, **options, cache=tmp_path).features
    assert np.array_equal(found, featurize(texts, **options, cache=False).features)
    assert caplog.text.count("features are not kept") == 1 and "database of another program" in caplog.text
    monkeypatch.setenv("MAUVE_METRIC_CACHE", str(tmp_path))
    for action in ("info", "clear", "prune"):
        assert cli.main(["cache", action]) == 1
        err = capsys.readouterr().err
        assert err.startswith(f"mauve-metric: error: {file} is no feature cache") and err.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == [FILE_NAME]
    assert file.read_bytes() == content and file.stat().st_mode & 0o777 == 0o644


def test_a_damaged_database_of_another_program_is_left_alone(tmp_path: Path) -> None:
    file = tmp_path / FILE_NAME
    with contextlib.closing(sqlite3.connect(file)) as connection, connection:
        connection.execute("CREATE TABLE mails (id INTEGER PRIMARY KEY, body TEXT)")
    damaged = file.read_bytes().replace(b"CREATE TABLE mails", b"CREATE TAB\xccE mails")
    for content in (damaged, damaged[:4096]):
        file.write_bytes(content)
        with pytest.raises(OSError, match="it is left as it is"):
            FeatureCache(tmp_path)
        assert file.read_bytes() == content


def test_a_cache_of_an_older_version_is_still_used(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    made(tmp_path, before=True)
    with FeatureCache(tmp_path) as cache:
        assert all(found is not None for found in cache.get(KEYS))
    assert caplog.text == ""


def test_folder_and_files_are_for_their_user_alone(tmp_path: Path) -> None:
    def modes(folder: Path) -> dict[str, int]:
        return {path.name: path.stat().st_mode & 0o777 for path in folder.iterdir()}

    command = f"""
import os
os.umask(0o002)
from mauve_metric.features.cache import FeatureCache
import numpy as np
with FeatureCache({str(tmp_path / "new" / "cache")!r}) as cache:
    cache.put([b"k" * 20], np.ones((1, 4), np.float32))
    os._exit(0)  # the journals stay
"""
    subprocess.run([sys.executable, "-c", command], cwd=ROOT, check=True, timeout=300)
    folder = tmp_path / "new" / "cache"
    assert folder.stat().st_mode & 0o777 == 0o700
    assert modes(folder) == {FILE_NAME: 0o600, f"{FILE_NAME}-wal": 0o600, f"{FILE_NAME}-shm": 0o600}
    for path in folder.iterdir():
        path.chmod(0o666)  # as files of before are
    with FeatureCache(folder) as cache:
        assert cache.get([b"k" * 20])[0] is not None
        assert set(modes(folder).values()) == {0o600}


def test_a_folder_that_is_there_keeps_its_permissions(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    made(tmp_path)
    assert tmp_path.stat().st_mode & 0o777 == 0o755 and (tmp_path / FILE_NAME).stat().st_mode & 0o777 == 0o600


FULL = """
import logging, resource, sys
from samples import texts_of
from mauve_metric.features.feature_set import featurize
logging.basicConfig(level=logging.WARNING, format="%(message)s")
featurize(["one"], featurize_model_name=sys.argv[1], cache=False)  # loads what needs a temporary file
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[3]), resource.RLIM_INFINITY))
features = featurize(texts_of(600), featurize_model_name=sys.argv[1], cache=sys.argv[2]).features
print(features.shape)
"""


@pytest.mark.parametrize(("space", "what"), [(0, "used"), (100_000, "written now")])
@pytest.mark.slow
def test_a_full_disk_is_reported_once_a_run(
    tiny_gpt2: str, tmp_path: Path, programs: Programs, space: int, what: str
) -> None:
    pytest.importorskip("resource")
    done = programs.run(FULL, tiny_gpt2, tmp_path, space)
    assert done.returncode == 0 and done.stdout == "(600, 32)\n", done.stderr
    told = [line for line in done.stderr.splitlines() if "feature cache" in line]
    assert len(told) == 1 and f"cannot be {what}, features are not kept" in told[0] and FILE_NAME in told[0]


@pytest.mark.more
def test_a_full_disk_ends_a_command_with_one_sentence(tmp_path: Path) -> None:
    pytest.importorskip("resource")
    content = made(tmp_path)
    code = """
import resource, sys
resource.setrlimit(resource.RLIMIT_FSIZE, (0, resource.RLIM_INFINITY))
from mauve_metric.hosts.cli.main import main
sys.exit(main(["cache", "clear"]))
"""
    environment: dict[str, Any] = {"MAUVE_METRIC_CACHE": str(tmp_path), "PATH": "", "PYTHONDONTWRITEBYTECODE": "1"}
    environment["PYTHONPYCACHEPREFIX"] = sys.pycache_prefix or ""
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 1 and done.stdout == ""
    assert done.stderr.startswith(f"mauve-metric: error: {tmp_path / FILE_NAME}: ") and done.stderr.count("\n") == 1
    assert (tmp_path / FILE_NAME).read_bytes() == content
    usable(tmp_path)
