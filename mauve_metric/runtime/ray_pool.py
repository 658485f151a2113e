"""Items of work on the machines of a Ray cluster: a pool of actors, one item at a time each.

Ray places actors, and says when one is lost. Who is given what is decided here: an actor gets work only once it runs,
on a machine that fits; what failed, or was lost with its machine, goes to another machine if there is one; actors are
added as machines come. So neither a cluster that is smaller than asked for, nor a lost machine, nor one without the
model holds up the rest.
"""

from __future__ import annotations

import contextlib
import logging
import os
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, TypeVar

from mauve_metric.config import shown
from mauve_metric.runtime.attempts import ATTEMPTS, Outcome, said
from mauve_metric.runtime.packages import import_ray, package_versions
from mauve_metric.runtime.shared_folder import SharedFolder
from mauve_metric.version import __version__

Item = TypeVar("Item")
Answer = TypeVar("Answer")

_LOOK_SECONDS = 5.0  # after which it is looked whether machines have come
_ADDRESS = re.compile(r"\bip=([^\s,)]+)")  # of the machine, in what Ray writes of an error
_RAISED = re.compile(r"(?m)^\s*([\w.]*(?:Error|Exception): .+)$")  # the last line of a traceback in it
_FIT = ("numpy", "faiss-cpu", "torch", "transformers")  # whose versions a signature names

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

    def ready(self, versions: dict[str, str], shared: SharedFolder | None) -> str:
        """The address of this machine, once the actor runs there.

        Raises:
            OSError: other versions are installed here, or the folder that all share is not seen.
        """
        here = _versions()
        other = [name for name in here if here[name] != versions[name]]
        if other:
            found, expected = (", ".join(f"{name} {one[name]}" for name in other) for one in (here, versions))
            raise OSError(f"it has {found}, and the job was started with {expected}")
        if shared is not None:
            shared.check()
        address: str = import_ray().util.get_node_ip_address()
        return address

    def work(self, make: Callable[[], Callable[[Item], Answer]], item: Item) -> Answer:
        """One item."""
        self.function = self.function or make()
        return self.function(item)


def _versions() -> dict[str, str]:
    return {**package_versions(*_FIT), "mauve_metric": __version__}


def work_on_ray(
    make: Callable[[], Callable[[Item], Answer]],
    items: Sequence[Item],
    places: Places,
    shared: SharedFolder | None = None,
) -> Iterator[Outcome[Answer]]:
    """The outcome of each item as it comes; an item that fails three times, or whose worker is lost so often, has none.

    Args:
        make: gives the function that works; called once an actor. items: what can be sent. places: of the actors.
        shared: a folder that the machines of all actors must see.

    Raises:
        OSError: no actor can be started at all.
    """
    pool: _Pool[Item, Answer] = _Pool(import_ray(), make, items, places, shared)
    try:
        yield from pool.outcomes()
    finally:
        pool.dismiss()


class _Hand(NamedTuple):
    """An actor that runs, and its machine."""

    actor: Any
    host: str


class _Pool(Generic[Item, Answer]):
    """Actors, and which item each is given.

    left: items that nobody works on, the next one last. failures: the machines on which an item failed. refused: how
    many actors could not be started.
    """

    def __init__(
        self,
        ray: Any,
        make: Callable[[], Callable[[Item], Answer]],
        items: Sequence[Item],
        places: Places,
        shared: SharedFolder | None,
    ) -> None:
        self.ray, self.items, self.places = ray, items, places
        self.made, self.checks = ray.put(make), (_versions(), shared)
        self.kind = ray.remote(_Worker).options(num_cpus=places.cpus_per_worker, num_gpus=places.gpus_per_worker)
        self.left = list(range(len(items)))[::-1]
        self.failures: dict[int, list[str]] = {}
        self.starting: dict[Any, Any] = {}
        self.running: dict[Any, tuple[int, _Hand]] = {}
        self.idle: list[_Hand] = []
        self.refused = 0
        self.warned: set[str] = set()

    def outcomes(self) -> Iterator[Outcome[Answer]]:
        """Those of all items, as they come."""
        while self.left or self.running:
            self._grow()
            ended, _ = self.ray.wait([*self.starting, *self.running], num_returns=1, timeout=_LOOK_SECONDS)
            for task in ended:
                if task in self.starting:
                    self._started(task)
                elif (outcome := self._ended(task)) is not None:
                    yield outcome
            self._hand_out()

    def dismiss(self) -> None:
        """Give all places back."""
        hands = [*self.idle, *(hand for _, hand in self.running.values())]
        for actor in (*self.starting.values(), *(hand.actor for hand in hands)):
            self.ray.kill(actor)

    def _grow(self) -> None:
        """Ask for as many actors as there is room and work for."""
        most = min(cluster_places(self.places) - self.refused, len(self.left) + len(self.running))
        for _ in range(most - len(self.starting) - len(self.running) - len(self.idle)):
            actor = self.kind.remote()
            self.starting[actor.ready.remote(*self.checks)] = actor

    def _started(self, task: Any) -> None:
        """An actor is there; one that is refused is done without, unless there is no other (`OSError`)."""
        actor = self.starting.pop(task)
        try:
            self.idle.append(_Hand(actor, self._named(self.ray.get(task))))
        except self.ray.exceptions.RayError as error:
            self.refused += 1
            self.ray.kill(actor)
            address = _ADDRESS.search(str(error))
            where = f" on {self._named(address[1])}" if address else ""
            if not (self.starting or self.running or self.idle):
                raise OSError(f"no worker can be started{where}: {_reason(error)}") from error
            self._warn(f"a worker cannot be started{where}: {_reason(error)}")

    def _ended(self, task: Any) -> Outcome[Answer] | None:
        """What came of an item; None if it is to be tried again."""
        number, hand = self.running.pop(task)
        try:
            answer = self.ray.get(task)
            self.idle.append(hand)
            return Outcome(number, (answer,))
        except self.ray.exceptions.RayTaskError as error:
            reason = f"{_reason(error)} (on {hand.host})"
            self.idle.append(hand)
            self._warn(f"work failed on {hand.host}, and is tried again: {_reason(error)}", once=hand.host)
        except self.ray.exceptions.RayError as error:
            reason = f"its worker on {hand.host} was lost: {_reason(error)}"
            self.ray.kill(hand.actor)
            self._warn(f"a worker on {hand.host} was lost, another one does its work: {_reason(error)}")
        failures = self.failures.setdefault(number, [])
        failures.append(hand.host)
        if len(failures) == ATTEMPTS:
            return Outcome(number, error=reason)
        self.left.append(number)
        return None

    def _hand_out(self) -> None:
        """Give those who wait an item: one that failed to another machine, as long as there is another."""
        hosts = {hand.host for hand in (*self.idle, *(hand for _, hand in self.running.values()))}
        for hand in tuple(self.idle):
            place = self._next_for(hand.host, hosts)
            if place is not None:
                self.idle.remove(hand)
                number = self.left.pop(place)
                self.running[hand.actor.work.remote(self.made, self.items[number])] = (number, hand)
            elif any(other.host == hand.host for other in self.idle if other is not hand):
                self.idle.remove(hand)
                self.ray.kill(hand.actor)

    def _next_for(self, host: str, hosts: set[str]) -> int | None:
        """Where among those left the next item for a machine is."""
        for place in range(len(self.left) - 1, -1, -1):
            failures = self.failures.get(self.left[place], [])
            if host not in failures or hosts.issubset(failures):
                return place
        return None

    def _named(self, address: str) -> str:
        """A machine's name and address."""
        names = (node["NodeManagerHostname"] for node in self.ray.nodes() if node["NodeManagerAddress"] == address)
        return f"{next(names, 'a machine')} ({address})"

    def _warn(self, message: str, once: str = "") -> None:
        """Warn once of the same, which is the message itself if `once` does not name it."""
        if (once or message) not in self.warned:
            self.warned.add(once or message)
            logger.warning("%s", message)


def _reason(error: Exception) -> str:
    """What the function itself raised, or what Ray says, as a part of a sentence."""
    cause = getattr(error, "cause", None)
    if isinstance(cause, BaseException) and "Traceback (most" not in str(cause):
        return said(cause)
    text = str(cause or error)
    raised = _RAISED.findall(text)
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return next(iter([*raised[-1:], *lines]), type(error).__name__)
