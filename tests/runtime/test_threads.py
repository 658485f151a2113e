"""As many threads as CPUs: control groups of both versions, and the settings of the libraries."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

from mauve_metric import compare, compute_mauve
from mauve_metric.runtime import threads
from mauve_metric.runtime.threads import (
    cpu_quota,
    fitting_threads,
    one_blas_thread,
    pool_threads,
    prepare_threads,
    side_by_side,
    thread_libraries,
    usable_cpus,
)


def group(root: Path, path: str, **files: str) -> None:
    folder = root / path.lstrip("/")
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (folder / name.replace("__", ".")).write_text(content + "\n", encoding="ascii")


def quota(tmp_path: Path, membership: str) -> float | None:
    (tmp_path / "cgroup").write_text(membership, encoding="utf-8")
    cpu_quota.cache_clear()
    return cpu_quota(tmp_path / "fs", tmp_path / "cgroup")


def test_the_smallest_bound_of_a_group_and_those_above_it_holds(tmp_path: Path) -> None:
    group(tmp_path / "fs", "/jobs", cpu__max="350000 100000")
    group(tmp_path / "fs", "/jobs/mine", cpu__max="max 100000")
    assert quota(tmp_path, "0::/jobs/mine\n") == 3.5
    group(tmp_path / "fs", "/jobs/mine", cpu__max="50000 100000")
    assert quota(tmp_path, "0::/jobs/mine\n") == 0.5


def test_a_container_sees_its_bound_at_the_root(tmp_path: Path) -> None:
    group(tmp_path / "fs", "/", cpu__max="200000 100000")
    assert quota(tmp_path, "0::/\n") == 2.0


def test_the_first_version_of_control_groups(tmp_path: Path) -> None:
    group(tmp_path / "fs", "/cpu/docker/a", **{"cpu__cfs_quota_us": "150000", "cpu__cfs_period_us": "100000"})
    assert quota(tmp_path, "4:memory:/docker/a\n3:cpu,cpuacct:/docker/a\n") == 1.5
    group(tmp_path / "fs", "/cpu/docker/a", **{"cpu__cfs_quota_us": "-1"})
    assert quota(tmp_path, "3:cpu,cpuacct:/docker/a\n") is None


@pytest.mark.parametrize("membership", ["", "nonsense", "0::/nowhere\n", "x:cpu:/\n0::\n"])
def test_without_a_quota_there_is_no_bound(tmp_path: Path, membership: str) -> None:
    assert quota(tmp_path, membership) is None
    assert cpu_quota(tmp_path, tmp_path / "missing") is None


def test_a_quota_bounds_the_threads_and_what_was_there_comes_back(monkeypatch: pytest.MonkeyPatch) -> None:
    import faiss
    import torch
    from threadpoolctl import threadpool_info

    monkeypatch.setattr(threads, "_allowed_cpus", lambda: 64)
    monkeypatch.setattr(threads, "cpu_quota", lambda: 1.2)
    before = faiss.omp_get_max_threads(), torch.get_num_threads()
    faiss.omp_set_num_threads(3)
    torch.set_num_threads(3)
    with fitting_threads() as number:
        assert number == usable_cpus() == 1
        assert {pool["num_threads"] for pool in threadpool_info()} == {1}
        assert torch.get_num_threads() == faiss.omp_get_max_threads() == 1
    assert torch.get_num_threads() == faiss.omp_get_max_threads() == 3
    faiss.omp_set_num_threads(before[0])
    torch.set_num_threads(before[1])


def blas_threads_set() -> set[int]:
    return {pool["num_threads"] for pool in thread_libraries().info() if pool["user_api"] == "blas"}


def test_functions_run_side_by_side_and_the_libraries_get_their_threads_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "blas_threads", lambda: 2)
    with thread_libraries().limit(limits=2, user_api="blas"):
        before = blas_threads_set()
        meeting = threading.Barrier(2, timeout=120)

        def meet() -> set[int]:
            with one_blas_thread(), fitting_threads():
                meeting.wait()  # both are here at once
                return blas_threads_set()

        with side_by_side() as run:
            found = [run(meet) for _ in range(2)]
            assert [wait() for wait in found] == [{1}, {1}]
            failed = run(int, "no number")
            with pytest.raises(ValueError, match="no number"):
                failed()
            assert blas_threads_set() == {1}
        assert blas_threads_set() == before
        with pytest.raises(KeyError), side_by_side() as run:
            run(meet)
            run(meet)
            raise KeyError
        assert blas_threads_set() == before


def test_no_more_run_side_by_side_than_help(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "blas_threads", lambda: 64)
    with side_by_side() as run:
        waits = [run(threading.current_thread) for _ in range(200)]
        assert len({wait() for wait in waits} - {threading.current_thread()}) <= 4 == pool_threads()


def test_a_shared_context_lasts_from_the_first_to_the_last() -> None:
    setting = [3]
    shared = threads.Shared(lambda: threads.changed(lambda: setting[0], lambda value: setting.__setitem__(0, value), 1))
    inside, leave = threading.Event(), threading.Event()

    def stay() -> None:
        with shared:
            inside.set()
            assert leave.wait(120)

    with shared:
        other = threading.Thread(target=stay)
        other.start()
        assert inside.wait(120)
    assert setting == [1]  # the other is in it
    leave.set()
    other.join(120)
    assert setting == [3]
    for _ in range(2):
        with shared:
            shared.reset()  # as a process that is forked in it
        assert setting == [3]


def test_functions_that_start_and_wait_for_others_come_to_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "blas_threads", lambda: 2)
    calls: list[int] = []
    with side_by_side() as run:

        def tree(depth: int) -> int:
            calls.append(depth)
            branches = [run(tree, depth - 1) for _ in range(2)] if depth else []
            return 1 + sum(branch() for branch in branches)

        assert tree(6) == 127 and len(calls) == 127  # no worker waits for what waits behind it
        wait = run(tree, 0)
        assert wait() == wait() == 1 and len(calls) == 128


def test_a_quota_bounds_the_threads_of_what_runs_side_by_side(monkeypatch: pytest.MonkeyPatch) -> None:
    import faiss

    monkeypatch.setattr(threads, "_allowed_cpus", lambda: 64)
    monkeypatch.setattr(threads, "cpu_quota", lambda: 2.0)
    monkeypatch.setattr(threads, "blas_threads", lambda: 2)
    before = faiss.omp_get_max_threads()
    faiss.omp_set_num_threads(5)
    with side_by_side() as run:
        assert run(faiss.omp_get_max_threads)() == 1
        with fitting_threads():
            assert faiss.omp_get_max_threads() <= 2 == pool_threads() and blas_threads_set() == {1}
        assert blas_threads_set() == {1}
    assert faiss.omp_get_max_threads() == 5
    faiss.omp_set_num_threads(before)


@pytest.mark.parametrize("wanted", [False, True])
def test_on_one_thread_functions_run_when_they_are_waited_for(wanted: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "blas_threads", lambda: 1 if wanted else 2)
    calls: list[threading.Thread] = []
    with side_by_side(wanted) as run:
        wait = run(lambda thread: calls.append(threading.current_thread()) or thread, 7)
        assert not calls and wait() == wait() == 7 and calls == [threading.current_thread()]
        failed = run(int, "no number")
        with pytest.raises(ValueError, match="no number"):
            failed()


@pytest.mark.more
def test_a_score_in_threads_is_the_score(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    p, q, r = (rng.normal(size=(450, 300)) for _ in "pqr")  # fewer numbers have one thread
    monkeypatch.setattr(threads, "blas_threads", lambda: 1)
    expected = [compute_mauve(p_features=p, q_features=q), compare(p_features=p, models={"q": q, "r": r})]
    monkeypatch.setattr(threads, "blas_threads", lambda: 4)
    found = [compute_mauve(p_features=p, q_features=q), compare(p_features=p, models={"q": q, "r": r})]
    assert [str(result) for result in found] == [str(result) for result in expected]
    assert found[0].mauve == expected[0].mauve


def test_libraries_are_searched_for_once_until_a_module_is_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    with one_blas_thread():
        known = thread_libraries()
    assert thread_libraries() is known
    monkeypatch.setitem(sys.modules, "a_module_that_may_bring_a_library", threads)
    assert thread_libraries() is not known


def test_a_score_under_a_quota_is_the_score(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    p, q = rng.normal(size=(300, 12)), rng.normal(size=(300, 12))
    expected = compute_mauve(p_features=p, q_features=q)
    monkeypatch.setattr(threads, "_allowed_cpus", lambda: 64)
    monkeypatch.setattr(threads, "cpu_quota", lambda: 1.0)
    np.testing.assert_array_equal(compute_mauve(p_features=p, q_features=q).p_labels, expected.p_labels)


def test_programs_prepare_the_libraries_unless_somebody_has(monkeypatch: pytest.MonkeyPatch) -> None:
    names = ("OMP_WAIT_POLICY", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
    for name in names:
        monkeypatch.setenv(name, "")  # so that what was there comes back
        monkeypatch.delenv(name)
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    monkeypatch.setattr(threads, "_allowed_cpus", lambda: 64)
    monkeypatch.setattr(threads, "cpu_quota", lambda: 2.0)
    prepare_threads()
    assert [os.environ.get(name) for name in names] == ["passive", "7", "2", "2"]


def test_the_command_line_prepares_before_anything_is_imported() -> None:
    script = (
        "import sys, mauve_metric.__main__ as main, mauve_metric.runtime.threads as threads\n"
        "assert 'numpy' not in sys.modules\n"
        "threads.prepare_threads = lambda: print('prepared', 'numpy' in sys.modules)\n"
        "sys.argv = ['mauve-metric', '--version']\n"
        "main.main()"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.stdout.startswith("prepared False\n"), done.stderr
