"""Number of threads to use: as many as the process has CPUs, by affinity and by the quota of its container.

OpenMP, BLAS and torch start a thread for each CPU of the affinity mask and know nothing of quotas: with a quota of two
CPUs on a machine of sixty-four, sixty-two threads wait for the other two's turn.
"""

from __future__ import annotations

import itertools
import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from functools import cache, lru_cache, partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

if TYPE_CHECKING:
    from threadpoolctl import ThreadpoolController

_WITH_OPENMP = {"faiss", "sklearn", "torch"}  # what the package, or its caller, may have used before a fork
_CGROUPS = Path("/sys/fs/cgroup")
_MEMBERSHIP = Path("/proc/self/cgroup")
_MOST_WORKERS = 4  # sixteen wait for each other: the same small steps of k-means took nine times as long
Value = TypeVar("Value")
Start: TypeAlias = Callable[..., Callable[[], Any]]  # starts a function, and returns one that waits for its value


def usable_cpus() -> int:
    """CPUs that this process may keep busy: the smaller of its affinity and its quota, 1 at least.

    >>> 1 <= usable_cpus() <= (os.cpu_count() or 1)
    True
    """
    quota = cpu_quota()
    return _allowed_cpus() if quota is None else max(1, min(_allowed_cpus(), round(quota)))


def _allowed_cpus() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@cache  # several files, which each part of a score would read
def cpu_quota(cgroups: Path = _CGROUPS, membership: Path = _MEMBERSHIP) -> float | None:
    """CPU quota of the process when first asked for, in CPUs, by its control groups (both versions); None: no bound.

    Args:
        cgroups: where they are mounted. membership: the file that says which ones the process belongs to.
    """
    try:
        lines = membership.read_text(encoding="utf-8").split("\n")
    except OSError:  # not Linux
        return None
    groups: list[Path] = []
    for line in lines:
        number, controllers, path = [*line.split(":", 2), "", ""][:3]
        if number == "0" or "cpu" in controllers.split(","):
            root = cgroups if number == "0" else cgroups / "cpu"
            lowest = root / path.lstrip("/")
            groups += [group for group in (lowest, *lowest.parents) if group.is_relative_to(root)]
    quotas = []
    for group, names in itertools.product(groups, (["cpu.max"], ["cpu.cfs_quota_us", "cpu.cfs_period_us"])):
        with suppress(OSError, ValueError, IndexError):  # not there, or "max"
            words = " ".join((group / name).read_text(encoding="ascii") for name in names).split()
            quota, period = int(words[0]), int(words[1])
            if quota > 0 and period > 0:
                quotas.append(quota / period)
    return min(quotas, default=None)


def prepare_threads() -> None:
    """Set how libraries that are not loaded yet wait and how many threads they start, unless that is set already.

    For programs of the package, before numpy, faiss or torch are imported. Threads that wait sleep: on processors that
    others use too, spinning ones take the time of those that work.
    """
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    if usable_cpus() < _allowed_cpus():
        for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
            os.environ.setdefault(name, str(usable_cpus()))


@contextmanager
def fitting_threads() -> Iterator[int]:
    """Limit the threads of every library to the CPUs of the process; yield that number.

    Matters only under a CPU quota (libraries honour affinity); lower user settings are kept.
    """
    usable = usable_cpus()
    if usable >= _allowed_cpus():
        yield usable
        return
    libraries = thread_libraries()
    above = [pool | {"num_threads": usable} for pool in libraries.info() if pool["num_threads"] > usable]
    torch = sys.modules.get("torch")
    fewer = torch is not None and torch.get_num_threads() > usable
    with libraries.limit(limits=above), torch_threads(usable) if fewer else nullcontext():
        yield usable


def blas_threads() -> int:
    """The threads for BLAS: as many as the process has CPUs, or fewer where the user has set fewer."""
    pools: list[int] = [pool["num_threads"] for pool in thread_libraries().info() if pool["user_api"] == "blas"]
    return min([usable_cpus(), *pools])


class Shared:
    """A context that several threads are in at once: begun by the first of them, ended by the last.

    make: returns the context, which changes what all threads have.
    """

    def __init__(self, make: Callable[[], AbstractContextManager[object]]) -> None:
        self.make = make
        self.reset()
        if hasattr(os, "register_at_fork"):  # another thread may be in it
            os.register_at_fork(after_in_child=self.reset)

    def reset(self) -> None:
        """Begin anew, without callers."""
        self.lock, self.callers = threading.Lock(), 0

    def __enter__(self) -> None:
        with self.lock:
            if not self.callers:
                self.context = self.make()
                self.context.__enter__()
            self.callers += 1

    def __exit__(self, *error: object) -> None:
        with self.lock:
            self.callers = max(self.callers - 1, 0)  # 0 before, if it was forked in it
            if not self.callers:
                self.context.__exit__(None, None, None)


def _limited_blas() -> AbstractContextManager[object]:
    """BLAS with one thread; one that is made with OpenMP takes the threads of OpenMP with it."""
    import_module("scipy.linalg")  # which has a BLAS of its own: a limit is of those that are loaded
    limited: AbstractContextManager[object] = thread_libraries().limit(limits=1, user_api="blas")
    return limited


_one_thread = Shared(_limited_blas)
_workers = 0  # threads that functions run in side by side; 0: none do


def one_blas_thread() -> AbstractContextManager[None]:
    """Limit BLAS to one thread, for scipy's amid numpy's: each has threads of its own, which spin after a product."""
    return _one_thread


@contextmanager
def in_one_thread() -> Iterator[Start]:
    """As `side_by_side`, in the thread of the caller."""
    with one_blas_thread():
        yield run_when_asked


@contextmanager
def side_by_side(wanted: bool = True) -> Iterator[Start]:
    """Context whose value starts a function with arguments in a thread of a pool, and returns a function that waits.

    A wait for a function that has not begun runs it in the waiting thread, so that a function may start others. The
    libraries have one thread then for each of ours. On one CPU, or where it is not wanted, each wait runs its function.
    """
    global _workers
    workers = min(blas_threads(), _MOST_WORKERS) if wanted else 1
    if workers == 1:
        yield run_when_asked
        return
    from concurrent.futures import ThreadPoolExecutor  # which takes 40 ms to import

    def start(function: Callable[..., Value], *arguments: Any) -> Callable[[], Value]:
        call = cache(one_each(partial(function, *arguments)))
        future = pool.submit(call)
        return lambda: call() if future.cancel() else future.result()

    one_each = thread_libraries().wrap(limits=1, user_api="openmp")  # of the thread that calls it
    with one_blas_thread(), ThreadPoolExecutor(workers) as pool:
        _workers = workers
        try:
            yield start
        finally:
            pool.shutdown(cancel_futures=True)
            _workers = 0


def pool_threads() -> int:
    """Threads for a pool of ours: as many as OpenMP would start, or as functions run in side by side."""
    from mauve_metric.runtime.optional_imports import import_faiss

    return _workers or int(import_faiss().omp_get_max_threads())


def run_when_asked(function: Callable[..., Value], *arguments: Any) -> Callable[[], Value]:
    """Return a function that runs another one when it is first called, with as many threads as there are CPUs."""
    return cache(fitting_threads()(partial(function, *arguments)))


def thread_libraries() -> ThreadpoolController:
    """The loaded libraries that have threads of their own, BLAS and OpenMP."""
    return _find_libraries(len(sys.modules))


@lru_cache(maxsize=1)  # the search reads the memory map of the process: milliseconds, several times a score
def _find_libraries(_modules: int) -> ThreadpoolController:
    """Find the libraries; a new number of modules is a new search, since an import may load another library."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def _limit_after_fork() -> None:
    """Limit OpenMP to one thread in a forked process, which has none of the threads that the library waits for.

    Nothing where no library that uses OpenMP was loaded before the fork: the search takes 30 ms. Processes started by
    spawn have threads of their own.
    """
    global _workers
    _workers = 0
    if not _WITH_OPENMP.isdisjoint(sys.modules):
        thread_libraries().limit(limits=1, user_api="openmp")


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_limit_after_fork)


def one_torch_thread() -> AbstractContextManager[None]:
    """Limit torch to one CPU thread, for many small steps: more only wait for each other.

    Sums are then added in one order, whatever the number of CPUs.
    """
    return torch_threads(1)


def torch_threads(number: int) -> AbstractContextManager[None]:
    """Context in which torch has so many CPU threads."""
    import torch

    return changed(torch.get_num_threads, torch.set_num_threads, number)


@contextmanager
def changed(read: Callable[[], Value], write: Callable[[Value], object], value: Value) -> Iterator[None]:
    """Context in which a setting of a library has another value."""
    before = read()
    write(value)
    try:
        yield
    finally:
        write(before)
