"""Who is given which item, on a stand-in for Ray that answers in the order a test wants."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from mauve_metric.runtime import ray_pool
from mauve_metric.runtime.ray_pool import Places, cluster_places, ray_cluster, work_on_ray


class RayError(Exception):
    """What the stand-in raises for a task."""

    cause: Exception | None = None


class Ray:
    """Actors are numbered; those in `never` do not start, and those in `dead` fail to."""

    exceptions = SimpleNamespace(RayError=RayError)

    def __init__(self, never: tuple[int, ...] = (), dead: tuple[int, ...] = ()) -> None:
        self.never, self.dead = never, dead
        self.actors, self.options = 0, {}
        self.killed: list[int] = []
        self.given: list[tuple[int, Any]] = []

    def put(self, value: Any) -> Any:
        return value

    def remote(self, kind: Any) -> Any:
        def start() -> Any:
            number, own = self.actors, kind()
            self.actors += 1

            def work(make: Any, item: Any) -> Any:
                self.given.append((number, item))
                return ("work", number, lambda: own.work(make, item))

            method = SimpleNamespace(remote=work)
            ready = SimpleNamespace(remote=lambda: ("ready", number, None))
            return SimpleNamespace(ready=ready, work=SimpleNamespace(options=lambda **_: method), number=number)

        def options(**given: Any) -> Any:
            self.options = given
            return SimpleNamespace(remote=start)

        return SimpleNamespace(options=options)

    def wait(self, tasks: list[Any], num_returns: int) -> Any:
        ended = next(task for task in tasks if not (task[0] == "ready" and task[1] in self.never))
        return [ended], [task for task in tasks if task is not ended]

    def get(self, task: Any) -> Any:
        if task[0] == "ready":
            if task[1] in self.dead:
                raise RayError("The actor died.\nMore about it.")
            return None
        try:
            return task[2]()
        except ZeroDivisionError as error:
            failed = RayError("traceback")
            failed.cause = error
            raise failed from error

    def kill(self, actor: Any) -> None:
        self.killed.append(actor.number)

    def cluster_resources(self) -> dict[str, float]:
        return {"CPU": 8.0, "GPU": 2.0}


def outcomes(ray: Ray, monkeypatch: pytest.MonkeyPatch, items: list[float], workers: int) -> list[Any]:
    monkeypatch.setattr(ray_pool, "import_ray", lambda: ray)
    return sorted(work_on_ray(lambda: lambda item: 1 / item, items, Places(workers)), key=lambda one: one.number)


def test_an_actor_without_room_is_given_nothing_and_all_give_their_places_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ray = Ray(never=(0,))
    found = outcomes(ray, monkeypatch, [1.0, 2.0, 4.0, 0.0, 5.0], workers=3)
    assert [one.answers for one in found] == [(1.0,), (0.5,), (0.25,), (), (0.2,)]
    assert found[3].error == "float division by zero"
    assert {number for number, _ in ray.given} == {1, 2} and sorted(ray.killed) == [0, 1, 2]
    assert ray.options["max_restarts"] == -1 and ray.options["num_cpus"] == 1.0


def test_actors_that_die_at_the_start_are_done_without_unless_there_is_no_other(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert len(outcomes(Ray(dead=(0,)), monkeypatch, [1.0, 2.0], workers=2)) == 2
    with pytest.raises(OSError, match=r"no worker can be started: .*The actor died\.$"):
        outcomes(Ray(dead=(0, 1)), monkeypatch, [1.0, 2.0], workers=2)


@pytest.mark.parametrize(
    ("places", "count"), [(Places(), 8), (Places(3), 3), (Places(None, 3.0), 2), (Places(None, 0.5, 0.25), 8)]
)
def test_there_are_as_many_places_as_the_cluster_has(
    places: Places, count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ray_pool, "import_ray", Ray)
    assert cluster_places(places) == count


def test_a_cluster_that_is_not_there_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    def init(**_: object) -> None:
        raise ConnectionError("no GCS\nat all")

    absent = SimpleNamespace(is_initialized=lambda: False, init=init)
    monkeypatch.setattr(ray_pool, "import_ray", lambda: absent)
    with (
        pytest.raises(OSError, match="there is no Ray cluster to work with at 'auto': no GCS at all"),
        ray_cluster("auto"),
    ):
        pass
