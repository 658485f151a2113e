"""A checkpoint is used only for the same rows that it was made of, and only if it is complete."""

from __future__ import annotations

import random
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from changed_options import CHANGES
from samples import ROOT

from mauve_metric import options
from mauve_metric.arrays import Array, Integers
from mauve_metric.clustering import blocks, checkpoint, kmeans
from mauve_metric.clustering.blocks import Run, label_rows
from mauve_metric.clustering.checkpoint import CHECKPOINT_FILE
from mauve_metric.clustering.projection import project
from mauve_metric.features.row_blocks import ArrayRows
from mauve_metric.options import MauveConfig, ResolvedConfig, config_fields, option
from mauve_metric.runtime.checks import integer_check
from mauve_metric.scoring.evaluation import resolve_config

ROWS = np.random.default_rng(0).normal(size=(3000, 6)).astype(np.float32)


class Counted(ArrayRows):
    """Rows that count how often they are read from front to end."""

    passes = 0

    def blocks(self) -> Iterator[Array]:
        self.passes += 1
        return super().blocks()


def labels_of(data: Array, checkpoint: Path | None = None, pca_max_data: int = -1) -> tuple[Integers, int]:
    """The buckets of the rows, and how many passes over them it took."""
    rows = Counted(data)
    config = resolve_config(
        MauveConfig(num_buckets=5, pca_max_data=pca_max_data, kmeans_num_redo=1, kmeans_max_iter=20, seed=3), 300, 300
    )
    labels, _ = label_rows(rows, config, checkpoint=checkpoint)
    return labels[0], rows.passes


@pytest.fixture
def fits(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """One entry for each k-means that is really computed."""
    calls: list[int] = []
    whole = kmeans.fit
    monkeypatch.setattr(kmeans, "fit", lambda *given, **options: calls.append(1) or whole(*given, **options))
    return calls


@pytest.mark.parametrize("pca_max_data", [-1, 500])
def test_the_same_rows_are_recognised_without_a_pass_of_their_own(
    tmp_path: Path, fits: list[int], pca_max_data: int
) -> None:
    expected, passes = labels_of(ROWS, pca_max_data=pca_max_data)
    kept, passes_to_keep = labels_of(ROWS, tmp_path, pca_max_data)
    assert passes_to_keep == 2 and passes == (2 if pca_max_data < 0 else 1)  # a projection of some rows takes no pass
    fits.clear()
    found, passes_again = labels_of(ROWS, tmp_path, pca_max_data)
    assert passes_again == 1 and fits == []
    np.testing.assert_array_equal(kept, expected)
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("place", [0, 1, 1500, 2046, 2998, 2999])
def test_one_changed_number_is_other_data(
    tmp_path: Path, fits: list[int], caplog: pytest.LogCaptureFixture, place: int
) -> None:
    labels_of(ROWS, tmp_path)
    other = ROWS.copy()
    other[place] = 100 * ROWS[place, ::-1] + 1
    fits.clear()
    found, passes = labels_of(other, tmp_path)
    assert len(fits) == 1 and passes == 3 and caplog.text.count("belongs to other data or settings") == 1
    np.testing.assert_array_equal(found, labels_of(other)[0])
    fits.clear()
    np.testing.assert_array_equal(labels_of(other, tmp_path)[0], found)
    assert fits == []


def test_the_hash_depends_on_the_format_and_not_on_the_blocks(tmp_path: Path, fits: list[int]) -> None:
    class InSmallBlocks(ArrayRows):
        def blocks(self) -> Iterator[Array]:
            yield self.array[:0]  # an empty part of a file
            for start in range(0, len(self.array), 7):
                yield self.array[start : start + 7]

    def content(rows: ArrayRows) -> str:
        return blocks.WatchedRows(rows, blocks.unwatched, hashed=True).content()

    whole = np.arange(60, dtype=np.int32).reshape(20, 3)
    assert content(ArrayRows(whole)) == content(InSmallBlocks(whole)) == content(ArrayRows(np.asfortranarray(whole)))
    assert content(ArrayRows(whole.view(np.float32))) != content(ArrayRows(whole))
    assert content(ArrayRows(whole[::-1])) != content(ArrayRows(whole))
    with pytest.raises(RuntimeError, match="rows that are not hashed"):
        blocks.WatchedRows(ArrayRows(whole), blocks.unwatched, hashed=False).content()


def test_rows_that_change_while_they_are_read_are_an_error_and_leave_no_checkpoint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data, whole = ROWS.copy(), kmeans.fit

    def fit_and_change(*given: Any, **others: Any) -> Any:
        data[17] += 1
        return whole(*given, **others)

    monkeypatch.setattr(kmeans, "fit", fit_and_change)
    for _ in range(2):  # on a full disk too
        with pytest.raises(ValueError, match="features must stay as they are while they are read"):
            labels_of(data, tmp_path / "in" / "folders")
        assert list(tmp_path.glob("in/folders/*")) == []
        monkeypatch.setattr(np, "savez", full)


def full(*_: Any, **__: Any) -> None:
    raise OSError(28, "No space left on device")


def damaged(content: bytes) -> Iterator[bytes]:
    """A file cut off, emptied, replaced, and with single bits flipped."""
    yield b""
    yield b"hello"
    rng = random.Random(0)
    for length in (1, 21, 100, len(content) // 2, len(content) - 30, len(content) - 1):
        yield content[:length]
    for place in [*range(0, 120, 7), *(rng.randrange(len(content)) for _ in range(80)), *range(-150, 0, 5)]:
        flipped = bytearray(content)
        flipped[place] ^= 1 << rng.randrange(8)
        yield bytes(flipped)


def test_a_damaged_checkpoint_counts_as_absent(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    expected, _ = labels_of(ROWS, tmp_path)
    file = tmp_path / CHECKPOINT_FILE
    stored = checkpoint.load_clustering(file, _key(file))
    assert stored is not None
    content = file.read_bytes()
    unseen = 0
    for data in damaged(content):
        file.write_bytes(data)
        caplog.clear()
        found = checkpoint.load_clustering(file, _key_of(content, tmp_path))
        if found is None:
            assert [record.levelname for record in caplog.records] == ["WARNING"] and str(file) in caplog.text
            continue
        unseen += 1  # dates and the like: what is taken from it is what was stored
        pairs = ((*found[0].projection, found[0].centres), (*stored[0].projection, stored[0].centres))
        for one, two in zip(*pairs, strict=True):
            np.testing.assert_array_equal(one, two)
        assert found[1] == stored[1]
    assert unseen < 60
    file.write_bytes(content[: len(content) // 2])
    np.testing.assert_array_equal(labels_of(ROWS, tmp_path)[0], expected)
    assert file.read_bytes()[:2] == b"PK" and checkpoint.load_clustering(file, _key(file)) is not None


def _key(file: Path) -> str:
    with np.load(file) as stored:
        return str(stored["key"])


def _key_of(content: bytes, folder: Path) -> str:
    (folder / "sound.npz").write_bytes(content)
    return _key(folder / "sound.npz")


@pytest.mark.parametrize("kind", ["npy", "npz of another program", "pickle"])
def test_a_file_of_another_kind_counts_as_absent(tmp_path: Path, caplog: pytest.LogCaptureFixture, kind: str) -> None:
    file = tmp_path / CHECKPOINT_FILE
    with file.open("wb") as target:
        if kind == "npy":
            np.save(target, ROWS)
        elif kind == "pickle":
            np.savez(target, **{name: np.array([None], dtype=object) for name in checkpoint._NAMES})
        else:
            np.savez(target, centres=ROWS)
    np.testing.assert_array_equal(labels_of(ROWS, tmp_path)[0], labels_of(ROWS)[0])
    assert caplog.text.count("is damaged or of another version: it is replaced") == 1


def test_a_checkpoint_has_the_centres_of_each_clustering(tmp_path: Path, fits: list[int]) -> None:
    config, every = resolve_config(MauveConfig(num_buckets=5, kmeans_num_redo=1), 300, 300), np.arange(len(ROWS))
    runs = [Run(every, replace(config, num_buckets=k), 6, True) for k in (3, 7)]
    (labels, made), (found, loaded) = (label_rows(ArrayRows(ROWS), config, runs, checkpoint=tmp_path) for _ in range(2))
    assert len(fits) == 3
    for one, two in zip([*labels, *made.centres], [*found, *loaded.centres], strict=True):
        np.testing.assert_array_equal(one, two)


def test_a_folder_that_cannot_be_one_is_refused_before_the_work(tmp_path: Path, fits: list[int]) -> None:
    (tmp_path / "taken").write_text("a file")
    (tmp_path / "full" / CHECKPOINT_FILE).mkdir(parents=True)
    for folder, said in (
        ("taken", "/taken' .* expected a folder"),
        ("full", f"/full/{CHECKPOINT_FILE}' cannot be written"),
    ):
        with pytest.raises(OSError, match=said):
            labels_of(ROWS, tmp_path / folder)
    assert fits == []


def test_a_full_disk_costs_the_checkpoint_and_not_the_buckets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    labels_of(ROWS[::-1].copy(), tmp_path)
    before = (tmp_path / CHECKPOINT_FILE).read_bytes()
    monkeypatch.setattr(np, "savez", full)
    np.testing.assert_array_equal(labels_of(ROWS, tmp_path)[0], labels_of(ROWS)[0])
    assert f"{CHECKPOINT_FILE}' cannot be written: No space left on device" in caplog.text
    assert (tmp_path / CHECKPOINT_FILE).read_bytes() == before and len(list(tmp_path.iterdir())) == 1


KILLED = """
import os, signal, sys
from pathlib import Path
import numpy as np
sys.path.insert(0, sys.argv[2])
from quantize_rows import label

def killed(file, **arrays):
    file.write(b"PK\\x03\\x04 half of a checkpoint")
    file.flush()
    os.kill(os.getpid(), signal.SIGKILL)

np.savez = killed
label(Path(sys.argv[1]))
"""
LABEL = """
import numpy as np
from mauve_metric.scoring.evaluation import resolve_config
from mauve_metric.features.row_blocks import ArrayRows
from mauve_metric import options
from mauve_metric.options import MauveConfig, ResolvedConfig, config_fields, option
from mauve_metric.clustering.blocks import Run, label_rows

def label(folder):
    rows = ArrayRows(np.random.default_rng(5).normal(size=(3000, 6)).astype(np.float32))
    config = resolve_config(MauveConfig(num_buckets=5, kmeans_num_redo=1, kmeans_max_iter=20, seed=3), 300, 300)
    label_rows(rows, config, checkpoint=folder)
"""


def test_a_run_killed_while_it_writes_leaves_the_old_checkpoint_whole(tmp_path: Path, fits: list[int]) -> None:
    kept = tmp_path / "kept"
    expected, _ = labels_of(ROWS, kept)
    before = (kept / CHECKPOINT_FILE).read_bytes()
    (tmp_path / "quantize_rows.py").write_text(LABEL)
    command = [sys.executable, "-c", KILLED, str(kept), str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, timeout=600, check=False)
    assert done.returncode == -9, done.stderr
    assert (kept / CHECKPOINT_FILE).read_bytes() == before and len(list(kept.iterdir())) == 2
    fits.clear()
    np.testing.assert_array_equal(labels_of(ROWS, kept)[0], expected)
    assert fits == []


def test_two_processes_write_under_different_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole, seen = np.savez, []

    def interrupted(file: Any, **arrays: Any) -> None:
        seen.append(sorted(path.name for path in tmp_path.iterdir()))
        if len(seen) == 1:  # while one is at it, another one writes all of its own
            labels_of(ROWS[::-1].copy(), tmp_path)
        whole(file, **arrays)

    monkeypatch.setattr(np, "savez", interrupted)
    expected, _ = labels_of(ROWS, tmp_path)
    assert len(seen) == 2 and len(seen[1]) == 2
    assert [path.name for path in tmp_path.iterdir()] == [CHECKPOINT_FILE]
    np.testing.assert_array_equal(labels_of(ROWS, tmp_path)[0], expected)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("different", [2, 20, 60])
def test_repeated_rows_share_the_buckets_that_they_share_in_memory(different: int, seed: int) -> None:
    """Starts hold equal centres, and there are fewer kinds of rows than buckets, or more."""
    data = np.concatenate([ROWS[:different, :3], np.repeat(ROWS[-1:, :3], 9, axis=0)])
    data = data[np.random.default_rng(seed).permutation(len(data))]
    config = resolve_config(
        MauveConfig(num_buckets=3, kmeans_explained_var=0.5, kmeans_num_redo=1, kmeans_max_iter=50, seed=seed), 300, 300
    )
    labels, _ = label_rows(ArrayRows(data), config)
    expected = kmeans.kmeans(project(ArrayRows(data), 0.5, -1, seed), 3, 1, 50, seed)
    np.testing.assert_array_equal(labels[0][:, None] == labels[0], expected[:, None] == expected)


def test_the_sample_of_a_clustering_by_content_does_not_depend_on_the_order_of_the_rows() -> None:
    """512 of 3000 rows are drawn: rows in another order with their places by content are the same draw."""
    config = resolve_config(MauveConfig(num_buckets=2, kmeans_num_redo=1, seed=3), 300, 300)
    order = np.random.default_rng(2).permutation(len(ROWS))
    (_, expected), _ = label_rows(ArrayRows(ROWS), config, [Run(np.arange(len(ROWS)), config, 6, True)])
    (_, found), _ = label_rows(ArrayRows(ROWS[order]), config, [Run(np.argsort(order), config, 6, True)])
    # the last bits of the projection may move a row on a border; another sample moves every 30th or more
    assert np.mean(found == expected[order]) > 0.999


def test_a_clustering_by_content_has_its_own_options_and_starts_by_k_means_plus_plus() -> None:
    """As in memory: the same rows in the same order, options, seed and starts."""
    config = resolve_config(MauveConfig(num_buckets=12, kmeans_num_redo=4, kmeans_max_iter=3, seed=3), 300, 300)
    by_content = replace(config, num_buckets=14, kmeans_num_redo=1)
    order = np.random.default_rng(2).permutation(len(ROWS))
    (published, found), made = label_rows(ArrayRows(ROWS), config, [Run(order, by_content, 6, True)])
    rows = made.projection.apply_all(ArrayRows(ROWS))
    np.testing.assert_array_equal(published, kmeans.kmeans(rows, 12, 4, 3, 3))
    np.testing.assert_array_equal(found[order], kmeans.kmeans(rows[order], 14, 1, 3, 4, plus_plus=True))


OF_CLUSTERING = [name for name, field in config_fields().items() if field.metadata["stage"] == "quantize"]


@pytest.mark.more
@pytest.mark.parametrize("name", OF_CLUSTERING)
@pytest.mark.parametrize("by_content", [False, True])
def test_a_checkpoint_is_of_all_options_of_its_clustering(
    name: str, by_content: bool, tmp_path: Path, fits: list[int]
) -> None:
    config = resolve_config(MauveConfig(num_buckets=5, num_runs=2, kmeans_num_redo=1), 300, 300)
    changed = replace(config, **{name: CHANGES[name]})
    every = np.arange(len(ROWS))

    def made(first: ResolvedConfig, second: ResolvedConfig) -> int:
        label_rows(ArrayRows(ROWS), first, [Run(every, second, 6, True)], checkpoint=tmp_path)
        return len(fits)

    before = made(config, config)
    assert made(config, config) == before > 0
    assert made(config if by_content else changed, changed) == 2 * before


@pytest.mark.parametrize("change", [{"seed": 7}, {"plus_plus": 2}, {"plus_plus": False}])
def test_a_checkpoint_is_of_the_seed_and_start_of_each_clustering(
    change: dict[str, Any], tmp_path: Path, fits: list[int]
) -> None:
    config = resolve_config(MauveConfig(num_buckets=5, kmeans_num_redo=1), 300, 300)
    run = Run(np.arange(len(ROWS)), config, 6, True)
    for runs, made in (([run], 2), ([run], 2), ([run._replace(**change)], 4)):
        label_rows(ArrayRows(ROWS), config, runs, checkpoint=tmp_path)
        assert len(fits) == made


def test_a_checkpoint_is_of_the_rows_and_the_order_of_each_clustering(tmp_path: Path, fits: list[int]) -> None:
    """As many other rows are another clustering: those of a prompt or its copies may be left out of one."""
    config, every = resolve_config(MauveConfig(num_buckets=5, kmeans_num_redo=1), 300, 300), np.arange(len(ROWS))
    for order in (every[:100], every[100:200], every[:100][::-1]):
        made = len(fits)
        label_rows(ArrayRows(ROWS), config, [Run(order, config, 6, True)], checkpoint=tmp_path)
        assert len(fits) == made + 2


@dataclass(frozen=True, kw_only=True)
class MoreOptions(MauveConfig):
    """The options with one more, as `CONTRIBUTING.md` says."""

    kmeans_trimmed: int = option(0, integer_check(0), "a new option", stage="quantize", of="kmeans")


def test_a_new_option_of_k_means_is_read_in_blocks_and_is_of_the_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    passed: list[int] = []
    whole = kmeans.fit

    def fit(*given: Any, trimmed: int, **others: Any) -> Any:
        passed.append(trimmed)
        return whole(*given, **others)

    monkeypatch.setattr(options, "MauveConfig", MoreOptions)
    monkeypatch.setattr(kmeans, "fit", fit)
    for trimmed in (3, 3, 4):
        config: Any = MoreOptions(num_buckets=5, num_runs=1, kmeans_num_redo=1, kmeans_trimmed=trimmed)
        label_rows(ArrayRows(ROWS), config, checkpoint=tmp_path)
    assert passed == [3, 4]
