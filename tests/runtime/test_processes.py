"""Several processes on one machine featurize together: the same features in all of them, in order, and no deadlock."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from programs import TWO_PROCESSES, Programs
from samples import texts_of

from mauve_metric import FeatureSet
from mauve_metric.hosts.cli import main as cli
from mauve_metric.runtime.processes import agree, launched_processes, process_group, rank_and_size

GLOO = torch.distributed.is_available() and torch.distributed.is_gloo_available()
pytestmark = pytest.mark.skipif(not GLOO, reason="torch was built without gloo")


FEATURIZES = """
import json, pathlib, sys
import numpy as np
from mauve_metric import FeatureSet, compute_mauve
from mauve_metric.features import featurize
from mauve_metric.runtime.processes import process_group
folder, model = pathlib.Path(sys.argv[1]), sys.argv[2]
texts = json.loads((folder / "texts.json").read_text())
run_batch, rows_run = featurize.run_batch, []
def counted(encoder, rows):
    rows_run.append(len(rows))
    return run_batch(encoder, rows)
featurize.run_batch = counted
options = {"featurize_model_name": model, "max_batch_tokens": 96, "distributed": True}
with process_group() as rank:
    made = FeatureSet.from_texts(texts, cache=False, **options)
    computed = sum(rows_run)
    single = FeatureSet.from_texts(iter(texts[:1]), cache=False, **options)
    featurize.WINDOW_TEXTS = 16
    stream = FeatureSet.from_texts(iter(texts), cache=False, **options)
    featurize.WINDOW_TEXTS = 8192
    first = FeatureSet.from_texts(texts, **options)
    before = len(rows_run)
    again = FeatureSet.from_texts(texts, **options)
    cached = len(rows_run) - before
    score = compute_mauve(p=made, q_text=texts[:20], num_buckets=4, cache=False, **options)
    ids = [[1, 2, 3], [4, 5], [6]] * 4
    tokens = compute_mauve(p_tokens=ids, q_tokens=ids, num_buckets=2, cache=False, **options)
np.savez(
    folder / f"rank{rank}.npz", made=made.features, single=single.features, stream=stream.features,
    first=first.features, again=again.features, computed=computed, cached=cached, score=score.mauve,
    lengths=made.lengths, hashes=made.text_hashes,
)
"""


ALL = """
import pathlib, runpy, sys
from mauve_metric.runtime.processes import process_group
with process_group():  # torch finds the others once only; all that is run uses the group that there is
    for name in ("featurizes", "fails", "shell"):
        runpy.run_path(str(pathlib.Path(sys.argv[1]) / f"{name}.py"), run_name="__main__")
"""


@pytest.mark.slow
def test_two_processes(tiny_gpt2: str, tmp_path: Path, programs: Programs, capsys: pytest.CaptureFixture[str]) -> None:
    """All that needs two processes, one after the other, since starting them is what takes long."""
    for name, script in (("all", ALL), ("featurizes", FEATURIZES), ("fails", FAILS), ("shell", SHELL)):
        (tmp_path / f"{name}.py").write_text(script)
    expected = prepare_features(tiny_gpt2, tmp_path)
    arguments = prepare_shell(tiny_gpt2, tmp_path)
    cache = str(tmp_path / "shared cache")
    process = programs.run(
        TWO_PROCESSES, tmp_path / "all.py", tmp_path, tiny_gpt2, seconds=120, MAUVE_METRIC_CACHE=cache
    )  # an endless wait would take longer
    assert process.returncode == 0, process.stderr
    check_features(expected, tmp_path)
    check_failure(process.stdout)
    check_shell(arguments, tmp_path, capsys)


def prepare_features(tiny_gpt2: str, tmp_path: Path) -> FeatureSet:
    """The texts, and the features that one process gives them."""
    texts = texts_of(60)
    texts[50] = texts[3]
    (tmp_path / "texts.json").write_text(json.dumps(texts))
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # as torchrun's processes have: then the same batches give the same bits
    try:
        return FeatureSet.from_texts(texts, featurize_model_name=tiny_gpt2, max_batch_tokens=96, cache=False)
    finally:
        torch.set_num_threads(threads)


def check_features(expected: FeatureSet, tmp_path: Path) -> None:
    """The features of one process, from both, and each text computed by one of them."""
    ranks = [dict(np.load(tmp_path / f"rank{rank}.npz")) for rank in (0, 1)]
    for found in ranks:
        for name in ("made", "first", "again"):
            np.testing.assert_array_equal(found[name], expected.features)
        # other windows, other batches: rounding of float32 is 6e-8, two layers of sums lose two digits of that
        lengths = np.linalg.norm(expected.features, axis=1)
        assert (np.linalg.norm(found["stream"] - expected.features, axis=1) / lengths).max() <= 1e-5
        assert np.linalg.norm(found["single"][0] - expected.features[0]) / lengths[0] <= 1e-5
        np.testing.assert_array_equal(found["lengths"], expected.lengths)
        np.testing.assert_array_equal(found["hashes"], expected.text_hashes)
        assert found["cached"] == 0
    assert ranks[0]["score"] == ranks[1]["score"]
    # 59 distinct texts, each computed by one of the two, which have about equal shares
    assert ranks[0]["computed"] + ranks[1]["computed"] == 59
    assert min(ranks[0]["computed"], ranks[1]["computed"]) >= 20


FAILS = """
import sys
from mauve_metric import FeatureSet
from mauve_metric.features import featurize
from mauve_metric.runtime.processes import process_group
run_batch = featurize.run_batch
with process_group() as rank:
    def broken(encoder, rows):
        if rank == 1:
            raise RuntimeError("the second device burns")
        return run_batch(encoder, rows)
    featurize.run_batch = broken
    texts = ["ships and rain", "lists of numbers", "the quick harbour"]
    options = {"featurize_model_name": sys.argv[2], "cache": False, "distributed": True, "batch_size": 1}
    try:
        FeatureSet.from_texts(texts, **options)
    except RuntimeError as error:
        print(f"<rank {rank}: {error}>", flush=True)
    featurize.run_batch = run_batch
    print(f"<rank {rank} goes on: {len(FeatureSet.from_texts(texts, **options))}>", flush=True)
"""


def check_failure(said: str) -> None:
    """An error in one process is raised in all, and none waits for ever."""
    assert "<rank 1: the second device burns>" in said
    assert "<rank 0: featurizing failed on another process: process 1: RuntimeError('the second" in said
    assert "<rank 0 goes on: 3>" in said and "<rank 1 goes on: 3>" in said


SHELL = """
import contextlib, json, os, pathlib, sys
from mauve_metric.hosts.cli import main as cli
folder = pathlib.Path(sys.argv[1])
with open(folder / f"said{os.environ['RANK']}", "w") as said, contextlib.redirect_stdout(said):
    assert cli.main(json.loads((folder / "arguments.json").read_text())) == 0
"""


def prepare_shell(tiny_gpt2: str, tmp_path: Path) -> list[str]:
    """The arguments of a call of the shell's command."""
    for name, seed in (("human.txt", 0), ("model.txt", 1)):
        (tmp_path / name).write_text("\n".join(texts_of(30, seed)) + "\n")
    arguments = [
        "score", str(tmp_path / "human.txt"), str(tmp_path / "model.txt"), "--featurize-model-name", tiny_gpt2,
        "--num-buckets", "4", "--max-batch-tokens", "96", "--json", "--no-cache",
    ]  # fmt: skip
    (tmp_path / "arguments.json").write_text(json.dumps(arguments))
    return arguments


def check_shell(arguments: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The shell's command under torchrun prints one result."""
    found = json.loads((tmp_path / "said0").read_text())  # exactly one JSON object
    assert (tmp_path / "said1").read_text() == ""
    assert cli.main(arguments) == 0
    expected = json.loads(capsys.readouterr().out)
    assert found["mauve"] == expected["mauve"] and found["signature"] == expected["signature"]


# --- without other processes --------------------------------------------------------------------------------------


def test_one_process_is_the_usual_run(tiny_gpt2: str) -> None:
    assert rank_and_size() == (0, 1) and agree("x") == "x"
    options = {"featurize_model_name": tiny_gpt2, "cache": False}
    with process_group() as rank:
        assert rank is None
        found = FeatureSet.from_texts(texts_of(10), distributed=True, **options)
    np.testing.assert_array_equal(found.features, FeatureSet.from_texts(texts_of(10), **options).features)


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({}, 1),
        ({"WORLD_SIZE": "4"}, 1),  # set by a scheduler, but no launcher says where to meet
        ({"WORLD_SIZE": "4", "RANK": "1", "MASTER_ADDR": "localhost"}, 4),
        ({"WORLD_SIZE": "all", "RANK": "1", "MASTER_ADDR": "localhost"}, 1),
    ],
)
def test_launched_processes_are_counted(
    monkeypatch: pytest.MonkeyPatch, environment: dict[str, str], expected: int
) -> None:
    for name in ("WORLD_SIZE", "RANK", "MASTER_ADDR"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert launched_processes() == expected
