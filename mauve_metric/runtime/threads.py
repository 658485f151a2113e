"""Number of threads to use: as many as the process has CPUs, by affinity and by the quota of its container.

OpenMP, BLAS and torch start a thread for each CPU of the affinity mask and know nothing of quotas: with a quota of two
CPUs on a machine of sixty-four, sixty-two threads wait for the other two's turn.
"""

from __future__ import annotations

import itertools
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from threadpoolctl import ThreadpoolController

_CGROUPS = Path("/sys/fs/cgroup")
_MEMBERSHIP = Path("/proc/self/cgroup")
Value = TypeVar("Value")


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


def cpu_quota(cgroups: Path = _CGROUPS, membership: Path = _MEMBERSHIP) -> float | None:
    """CPU quota of the process, in CPUs, by its control groups (both versions); None: no bound.

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


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Limit BLAS to one thread, for scipy's amid numpy's: each has threads of its own, which spin after a product."""
    with thread_libraries().limit(limits=1, user_api="blas"):
        yield


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

    Nothing where this package has not worked before the fork. Processes started by spawn have threads of their own.
    """
    if _find_libraries.cache_info().currsize:
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
