"""Items of work on the machines of a Ray cluster: a pool of actors, one item at a time each.

Ray does what is hard: it places and restarts actors, repeats what failed, and grows the cluster. An actor is given work
only once it runs, and one that has no more work gives its place back, so that neither a cluster that is smaller than
asked for nor a machine that is lost for good holds up the rest.
"""

from __future__ import annotations

import contextlib
import logging
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from mauve_metric.config import shown
from mauve_metric.runtime.attempts import ATTEMPTS, Outcome, said
from mauve_metric.runtime.packages import import_ray

Item = TypeVar("Item")
Answer = TypeVar("Answer")

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Places:
    """Where actors run: how many at most (None: one a CPU, or GPU share, that the cluster has), and what each takes."""

    workers: int | None = None
    cpus_per_worker: float = 1.0
    gpus_per_worker: float = 0.0

    def __post_init__(self) -> None:
        if self.workers is not None and (type(self.workers) is not int or self.workers < 1):
            raise ValueError(f"workers must be a whole number of at least 1, got {shown(self.workers)}")
        for name, low in (("cpus_per_worker", "above 0"), ("gpus_per_worker", "of at least 0")):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, (int, float)):
                raise TypeError(f"{name} must be a number {low}, got {shown(value)}")
            if not (0 < value < 1e6 or (value == 0 and name == "gpus_per_worker")):
                raise ValueError(f"{name} must be a number {low}, got {shown(value)}")
        if self.gpus_per_worker > 1 and self.gpus_per_worker % 1:
            raise ValueError(f"gpus_per_worker must be a whole number above 1, got {self.gpus_per_worker:g}")


@contextlib.contextmanager
def ray_cluster(address: str) -> Iterator[None]:
    """A connection to a cluster: "local" starts one of this machine, which goes afterwards; else its address, or auto.

    A connection that the program has already is used, and left.

    Raises:
        ImportError: without Ray. OSError: there is no cluster at that address.
    """
    ray = import_ray()
    if ray.is_initialized():
        yield
        return
    alone: dict[str, Any] = {}
    if address == "local":
        alone = {"include_dashboard": False}
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    try:
        ray.init(address=address, log_to_driver=False, configure_logging=False, **alone)
    except Exception as error:  # Ray raises the plain class too, where a machine is too busy to start in time
        raise OSError(f"there is no Ray cluster to work with at {address!r}: {said(error)}") from error
    try:
        yield
    finally:
        ray.shutdown()


def cluster_places(places: Places) -> int:
    """How many actors to ask for."""
    if places.workers is not None:
        return places.workers
    has = import_ray().cluster_resources()
    shares = [has.get("CPU", 1) / places.cpus_per_worker]
    if places.gpus_per_worker:
        shares.append(has.get("GPU", 0) / places.gpus_per_worker)
    return max(1, int(min(shares)))


class _Worker(Generic[Item, Answer]):
    """What an actor is: the function, made where it works, once."""

    def __init__(self) -> None:
        self.function: Callable[[Item], Answer] | None = None

    def ready(self) -> None:
        """Answers once the actor runs."""

    def work(self, make: Callable[[], Callable[[Item], Answer]], item: Item) -> Answer:
        """One item."""
        self.function = self.function or make()
        return self.function(item)


def work_on_ray(
    make: Callable[[], Callable[[Item], Answer]], items: Sequence[Item], places: Places
) -> Iterator[Outcome[Answer]]:
    """The outcome of each item as it comes; an item that fails three times, or whose worker is lost so often, has none.

    Args:
        make: gives the function that works; called once an actor. items: what can be sent. places: of the actors.

    Raises:
        OSError: no actor can be started at all.
    """
    ray = import_ray()
    made = ray.put(make)
    options = {
        "num_cpus": places.cpus_per_worker,
        "num_gpus": places.gpus_per_worker,
        "max_restarts": -1,
        "max_task_retries": ATTEMPTS - 1,
    }
    kind = ray.remote(_Worker).options(**options)
    count = min(cluster_places(places), len(items))
    starting = {actor.ready.remote(): actor for actor in (kind.remote() for _ in range(count))}
    running: dict[Any, tuple[int, Any]] = {}
    left = list(range(len(items)))[::-1]
    done = 0
    while done < len(items):
        (ended,), _ = ray.wait([*starting, *running], num_returns=1)
        number, actor = running.pop(ended, (-1, None))
        if actor is None:
            actor = starting.pop(ended)
            if not _has_started(ray, ended, bool(starting or running)):
                continue
        else:
            done += 1
            yield _outcome(ray, ended, number)
        if left:
            number = left.pop()
            task = actor.work.options(retry_exceptions=True, max_task_retries=ATTEMPTS - 1).remote(made, items[number])
            running[task] = (number, actor)
        else:
            ray.kill(actor)
    for actor in starting.values():
        ray.kill(actor)


def _has_started(ray: Any, task: Any, others: bool) -> bool:
    """Whether an actor runs; `OSError` if it does not, and there are no others."""
    try:
        ray.get(task)
        return True
    except ray.exceptions.RayError as error:
        if not others:
            raise OSError(f"no worker can be started: {_reason(error)}") from error
        logger.warning("a worker cannot be started: %s", _reason(error))
        return False


def _outcome(ray: Any, task: Any, number: int) -> Outcome[Any]:
    try:
        return Outcome(number, (ray.get(task),))
    except ray.exceptions.RayError as error:
        return Outcome(number, error=_reason(error))


def _reason(error: Exception) -> str:
    """What the function itself raised, or that its worker was lost."""
    cause = getattr(error, "cause", None)
    if isinstance(cause, BaseException):
        return said(cause)
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return f"its worker was lost: {lines[0] if lines else type(error).__name__}"
