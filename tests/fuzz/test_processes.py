"""Scores in processes of their own, of a package that its user may not write to, and with another user's cache."""

from __future__ import annotations

import multiprocessing
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from samples import ROOT

from mauve_metric import compute_mauve

PATIENCE = 1200
NOBODY = 65_534


def sets(seed: int) -> dict[str, Any]:
    draws = np.random.default_rng(seed)
    return {"p_features": draws.normal(size=(120, 4)), "q_features": draws.normal(size=(120, 4)) + 0.5}


def scored(seed: int) -> tuple[float, float | None]:
    result = compute_mauve(**sets(seed), num_runs=1)
    return result.mauve, result.closeness


@pytest.mark.parametrize("method", ["fork", pytest.param("spawn", marks=pytest.mark.slow)])
def test_processes_give_the_scores_of_one(method: str) -> None:
    """Also where the parent has used its threads before."""
    if method not in multiprocessing.get_all_start_methods():
        pytest.skip("no such processes here")
    here = [scored(seed) for seed in (1, 2)]
    with multiprocessing.get_context(method).Pool(2) as pool:
        for there, one in zip(pool.map_async(scored, (1, 2)).get(PATIENCE), here, strict=True):
            assert there == pytest.approx(one, rel=1e-6)


AFTER_THREADS = """
import multiprocessing, sys
sys.path.insert(0, sys.argv[1])
from test_processes import scored
if __name__ == "__main__":
    here = scored(1)
    with multiprocessing.get_context("fork").Pool(1) as pool:
        (there,) = pool.map_async(scored, [1]).get(100)
    assert all(abs(a - b) < 1e-6 for a, b in zip(here, there)), (here, there)
"""


AFTER_TORCH = """
import multiprocessing, torch
from mauve_metric import featurize
def work(_):
    return float(torch.softmax(torch.ones(2000, 2000), -1).sum())
if __name__ == "__main__":
    here = work(0)
    with multiprocessing.get_context("fork").Pool(1) as pool:
        assert pool.map_async(work, [0]).get(300) == [here]
"""


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="no such processes here")
@pytest.mark.parametrize("program", [AFTER_THREADS, AFTER_TORCH])
def test_a_fork_of_a_process_with_threads_does_not_wait_for_them(program: str) -> None:
    """OpenMP of a forked process waits for ever for threads that only its parent has, whoever used them there."""
    command = [sys.executable, "-c", program, str(Path(__file__).parent)]
    environment = {
        **os.environ,
        "OMP_NUM_THREADS": "4",
        "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "tests")]),
    }
    subprocess.run(command, cwd=ROOT, env=environment, timeout=PATIENCE, check=True)


# root without the rights by which root reads and writes what belongs to others, or is read-only
BOUND = "-dac_override,-dac_read_search,-fowner,-chown"
ORDINARY = ["setpriv", f"--inh-caps={BOUND}", f"--bounding-set={BOUND}"]
needs_root = pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() != 0 or shutil.which("setpriv") is None,
    reason="only root can make folders of another user",
)


def said_by_ordinary_user(program: str, *arguments: str, **environment: str) -> str:
    """What a program prints to which permissions of files apply."""
    done = subprocess.run(
        [*ORDINARY, sys.executable, "-c", program, *arguments],
        cwd="/",
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1", **environment},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout + done.stderr


EVALUATE = """
import os, sys
sys.path.insert(0, sys.argv[1])
try:
    open(os.path.join(sys.argv[1], "file"), "w")
except PermissionError:
    import evaluate, mauve_metric
assert mauve_metric.__file__.startswith(sys.argv[1])
metric = evaluate.load(mauve_metric.evaluate_path(), cache_dir=sys.argv[2])
texts = [f"the ship number {n} left the harbour" for n in range(30)]
print(metric.compute(predictions=texts, references=texts[::-1], featurize_model_name="ngrams").mauve)
"""
SCORE = """
import sys
from mauve_metric import compute_mauve
texts = [f"the ship number {n} left the harbour" for n in range(30)]
for cache in sys.argv[1:]:
    print(compute_mauve(p_text=texts, q_text=texts[::-1], featurize_model_name="minilm", cache=cache).mauve)
"""


@needs_root
@pytest.mark.slow
def test_the_metric_is_loaded_from_packages_that_must_not_be_changed(tmp_path: Path) -> None:
    pytest.importorskip("evaluate")
    site, home = tmp_path / "site-packages", tmp_path / "home"
    shutil.copytree(ROOT / "mauve_metric", site / "mauve_metric", ignore=shutil.ignore_patterns("__pycache__"))
    for path in (site, *site.rglob("*")):
        path.chmod(0o555 if path.is_dir() else 0o444)
    before = sorted(site.rglob("*"))
    said = said_by_ordinary_user(EVALUATE, str(site), str(home), HF_HOME=str(home), PYTHONPATH="", HF_HUB_OFFLINE="1")
    assert "1.0" in said and sorted(site.rglob("*")) == before


@needs_root
@pytest.mark.slow
def test_the_cache_of_another_user_is_left_alone(tmp_path: Path) -> None:
    """It cannot be read, or not be written: the score is made without it, and a warning says so."""
    caches = [tmp_path / name for name in ("unreadable", "readable")]
    for cache, mode in zip(caches, (0o700, 0o755), strict=True):
        cache.mkdir(mode=mode)
        os.chown(cache, NOBODY, NOBODY)
    said = said_by_ordinary_user(SCORE, *map(str, caches), PYTHONPATH=str(ROOT), HF_HOME=str(tmp_path))
    assert said.count("1.0\n") == 2 and "Traceback" not in said
    assert all(str(cache) in said and not list(cache.iterdir()) for cache in caches)
