"""Who works on a pass over many items: this process or the actors of a Ray cluster, watched, with what failed named."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

from mauve_metric.runtime.attempts import Outcome, work_in_process
from mauve_metric.runtime.ray_pool import Places, work_on_ray
from mauve_metric.runtime.shared_folder import SharedFolder
from mauve_metric.runtime.whole_job import watched_job

logger = logging.getLogger(__name__)

Item = TypeVar("Item")
Answer = TypeVar("Answer")
Kept = TypeVar("Kept")

_SHOWN = 5  # failures that an error names


@dataclass(frozen=True)
class Crew:
    """Who works: the actors of a Ray cluster, who all see the folder `shared`; without places, this process."""

    places: Places | None
    verbose: bool
    shared: SharedFolder | None = None

    def outcomes(
        self, make: Callable[[], Callable[[Item], Answer]], items: Sequence[Item]
    ) -> Iterator[Outcome[Answer]]:
        """What becomes of each item, as it comes."""
        if self.places is None:
            return work_in_process(make, items)
        return work_on_ray(make, items, self.places, self.shared)

    def answers(
        self,
        work: Work,
        make: Callable[[], Callable[[Item], Answer]],
        items: Sequence[Item],
        keep: Callable[[int, Answer], tuple[Kept, Done]],
    ) -> list[Kept]:
        """What is kept of the answer to each item, in the items' order.

        Raises:
            ValueError: items failed; it names them, after all others are done.
        """
        found: dict[int, Kept] = {}
        failed: dict[int, str] = {}
        with watched_job(work.title, work.weights, self.verbose) as progress:
            for outcome in self.outcomes(make, items):
                number = outcome.number
                if outcome.answers:
                    found[number], done = keep(number, outcome.answers[0])
                    progress.done(number, done.texts, done.found)
                else:
                    failed[number] = outcome.error
                    logger.warning("%s failed: %s", work.names[number], outcome.error)
                    progress.fail(number)
        if failed:
            raise ValueError(_failures(work, failed))
        return [found[number] for number in range(len(items))]


class Work(NamedTuple):
    """A pass over shards: what it is called, the shards' names, and how much work each is."""

    title: str
    names: list[str]
    weights: list[int]


class Done(NamedTuple):
    """Texts of a shard that is done, and whether it was before."""

    texts: int
    found: bool = False


def _failures(work: Work, failed: dict[int, str]) -> str:
    first = "; ".join(f"{work.names[number]}: {failed[number]}" for number in sorted(failed)[:_SHOWN])
    more = "; …" if len(failed) > _SHOWN else ""
    return (
        f"{work.title}: {len(failed)} of {len(work.names)} shards failed three times, the others are kept: "
        f"{first}{more}"
    )
