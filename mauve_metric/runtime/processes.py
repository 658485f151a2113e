"""Several processes that featurize the same texts together, each its share, through torch.distributed."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import numpy as np

from mauve_metric.arrays import Array, Integers
from mauve_metric.runtime.optional_imports import import_torch

Item = TypeVar("Item")


def in_process_group() -> bool:
    """Return whether this process belongs to a running process group."""
    distributed = import_torch().distributed
    return bool(distributed.is_available() and distributed.is_initialized())


def rank_and_size() -> tuple[int, int]:
    """This process's number and the number of processes in the running process group; (0, 1) without one."""
    if not in_process_group():
        return 0, 1
    distributed = import_torch().distributed
    return int(distributed.get_rank()), int(distributed.get_world_size())


def launched_processes() -> int:
    """Number of processes that torchrun or accelerate launch started, 1 if none did."""
    size = os.environ.get("WORLD_SIZE", "1")
    return int(size) if size.isdigit() and "MASTER_ADDR" in os.environ and "RANK" in os.environ else 1


@contextlib.contextmanager
def process_group() -> Iterator[int | None]:
    """Context that joins the processes that a launcher started; yields this one's rank, None if there are no others.

    Without a launcher torch is not imported.
    """
    if launched_processes() == 1:
        yield None
        return
    torch = import_torch()
    if torch.distributed.is_initialized():
        yield rank_and_size()[0]
        return
    if torch.cuda.is_available():
        torch.cuda.set_device(int(os.environ.get("LOCAL_RANK", "0")) % torch.cuda.device_count())
    torch.distributed.init_process_group("gloo")
    try:
        yield rank_and_size()[0]
        torch.distributed.barrier()  # no process leaves while another one still uses it
    finally:
        torch.distributed.destroy_process_group()


def agree(value: Item) -> Item:
    """The value of process 0, on every process."""
    if rank_and_size()[1] == 1:
        return value
    box = [value]
    import_torch().distributed.broadcast_object_list(box, src=0)
    return box[0]


def gather(part: Item) -> list[Item]:
    """The parts of all processes in their order, on process 0; empty on the others."""
    rank, size = rank_and_size()
    if size == 1:
        return [part]
    parts: list[Any] | None = [None] * size if rank == 0 else None
    import_torch().distributed.gather_object(part, parts, dst=0)
    return [] if parts is None else parts


def computed_by_first(work: Callable[[], Array]) -> Array:
    """The rows that the first process computes, on every process.

    Raises:
        RuntimeError: on every other process, if `work` failed.
    """

    def part() -> tuple[Array, Integers]:
        rows = work() if rank_and_size()[0] == 0 else np.empty((0, 0))
        return rows, np.arange(len(rows))

    return together(part)


def together(work: Callable[[], tuple[Array, Integers]]) -> Array:
    """Combine the rows that each process computed, by their positions; every process gets all of them.

    Args:
        work: gives this process's rows (m, d) and their positions (m,).

    Raises:
        RuntimeError: on every process, if `work` failed on another one; its own error where it failed.
    """
    part: tuple[Array, Integers] | None = None
    failure: Exception | None = None
    try:
        part = work()
    except Exception as error:  # any error must reach the other processes, or they wait for ever
        failure = error
    reports: list[Any] = [None] * rank_and_size()[1]
    import_torch().distributed.all_gather_object(reports, (None if failure is None else repr(failure), part))
    if failure is not None:
        raise failure
    errors = [f"process {rank}: {error}" for rank, (error, _) in enumerate(reports) if error is not None]
    if errors:
        raise RuntimeError(f"featurizing failed on another process: {'; '.join(errors)}")
    rows, positions = zip(*(part for _, part in reports if len(part[0])), strict=True)
    whole: Array = np.concatenate(rows)[np.argsort(np.concatenate(positions))]
    return whole
