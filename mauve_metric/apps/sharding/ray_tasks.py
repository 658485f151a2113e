"""Calls of a function as tasks of a Ray cluster.

A task is one call. Ray places the tasks, runs them again when a worker or a machine is lost, and uses
machines that come later. The function is loaded once in each worker process, which Ray uses again for the next task: a
model in it stays in memory.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import logging
import os
import pickle
import secrets
import socket
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

from mauve_metric.results.signature import VERSIONS, versions
from mauve_metric.runtime.checks import check_count, check_number
from mauve_metric.runtime.errors import message_of
from mauve_metric.runtime.optional_imports import import_ray
from mauve_metric.runtime.outputs import written_whole

Argument = TypeVar("Argument")
Answer = TypeVar("Answer")

RETRIES = 3  # of a task whose worker was lost, or that met a problem of its machine (OSError)
_QUEUED = 1000  # tasks that Ray has at once, if no number of workers is given
TOKEN_FILE = "folder.id"

logger = logging.getLogger(__name__)


def check_workers(workers: int | None, cpus_per_worker: float, gpus_per_worker: float) -> None:
    """Refuse numbers of concurrent tasks and shares of a machine that Ray does not take."""
    if workers is not None:
        check_count("workers", workers)
    check_number("cpus_per_worker", cpus_per_worker, "(0, 1e+06)")
    check_number("gpus_per_worker", gpus_per_worker, "[0, 1e+06)")
    if gpus_per_worker > 1 and gpus_per_worker % 1:
        raise ValueError(f"gpus_per_worker must be a whole number above 1, got {gpus_per_worker:g}")


@contextlib.contextmanager
def ray_cluster(address: str) -> Iterator[None]:
    """Connect to a cluster: "local" starts one on this machine and ends it afterwards; else its address, or "auto".

    A connection that the program has already is used and kept.

    Raises:
        ImportError: Ray is not installed. OSError: there is no cluster at that address.
    """
    ray = import_ray()
    if ray.is_initialized():
        yield
        return
    options: dict[str, Any] = {}
    if address == "local":
        options = {"include_dashboard": False}
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    else:  # one try, of forty seconds, where Ray makes twenty
        os.environ.setdefault("RAY_gcs_server_port_wait_time_s", "1")
    try:
        ray.init(address=address, log_to_driver=False, configure_logging=False, **options)
    except Exception as error:  # Ray raises Exception itself too, where a machine is too busy to start in time
        raise OSError(f"there is no Ray cluster to work with at {address!r}: {message_of(error)}") from error
    try:
        yield
    finally:
        ray.shutdown()


def run_on_ray(
    function: Callable[[Argument], Answer],
    arguments: Sequence[Argument],
    folder: Path,
    workers: int | None,
    cpus_per_worker: float,
    gpus_per_worker: float,
) -> Iterator[tuple[int, Answer]]:
    """Yield the number and the answer of each argument as it is done.

    Args:
        function: is pickled, and loaded once in each worker process. arguments: can be pickled.
        folder: must be the same folder on all machines. workers, cpus_per_worker, gpus_per_worker: see `score_sharded`.

    Raises:
        OSError: a machine does not fit, or a task failed four times because of its machine or with its worker; the
            machine is named. Any other error of the function is raised at once.
    """
    ray = import_ray()
    if not _token_of(folder):
        with written_whole(folder / TOKEN_FILE) as file:
            file.write_text(secrets.token_hex(8), encoding="utf-8")
    work = ray.put(ray.cloudpickle.dumps((versions(*VERSIONS), folder, _token_of(folder), function)))
    task = ray.remote(
        num_cpus=cpus_per_worker,
        num_gpus=gpus_per_worker,
        max_calls=0,  # no limit: Ray would end a worker with a GPU, and with it the loaded model, after each task
        max_retries=RETRIES,
        retry_exceptions=[OSError],
    )(_run)
    left = iter(enumerate(arguments))
    running: dict[Any, int] = {}
    while True:
        free = (workers or _QUEUED) - len(running)
        running.update((task.remote(work, argument), number) for number, argument in itertools.islice(left, free))
        if not running:
            return
        for done in ray.wait(list(running), num_returns=1)[0]:
            number = running.pop(done)
            try:
                answer = ray.get(done)
            except ray.exceptions.RayError as error:
                cause = error.cause if isinstance(error, ray.exceptions.RayTaskError) else error
                raise _failure(cause, arguments[number]) from error
            yield number, answer


def _run(work: bytes, argument: Argument) -> object:
    """Call the function on one argument, in a worker process."""
    try:
        return _load(work)(argument)
    except OSError as error:
        raise OSError(f"{message_of(error)} (on {socket.gethostname()})") from error


@functools.lru_cache(maxsize=1)
def _load(work: bytes) -> Callable[[Any], object]:
    """Load the function, if this machine can take part.

    Raises:
        OSError: other versions are installed here, or the folder is not the one that the job was started with.
    """
    function: Callable[[Any], object]
    there, folder, token, function = pickle.loads(work)
    here = versions(*VERSIONS)
    other = [name for name in here if here[name] != there[name]]
    if other:
        installed, expected = (", ".join(f"{name} {packages[name]}" for name in other) for packages in (here, there))
        raise OSError(f"this machine has {installed}, and the job was started with {expected}")
    if _token_of(folder) != token:
        what = "is another folder" if folder.is_dir() else "is not there"
        raise OSError(f"{str(folder)!r} {what} on this machine: the output folder must be one that all workers share")
    return function


def _token_of(folder: Path) -> str:
    """The random text by which a folder is recognised, empty if it has none."""
    with contextlib.suppress(OSError):
        return (folder / TOKEN_FILE).read_text(encoding="utf-8")
    return ""


def _failure(error: BaseException, argument: object) -> Exception:
    """The error to raise for a task: that of the function, or, if it is Ray's, an `OSError` that names the argument."""
    if isinstance(error, (ValueError, OSError)):
        return error
    lines = [line.strip() for line in str(error).split("\n") if line.strip()]
    return OSError(f"{argument}: {lines[-1] if lines else type(error).__name__}")
