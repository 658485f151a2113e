"""Who is given which item, on a stand-in for Ray that answers in the order a test wants."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from mauve_metric.runtime import ray_pool
from mauve_metric.runtime.ray_pool import Places, cluster_places, ray_cluster, work_on_ray
from mauve_metric.runtime.shared_folder import SharedFolder, shared_folder


class RayError(Exception):
    """What the stand-in raises for a worker that is lost."""


class RayTaskError(RayError):
    """What it raises for what a worker raised."""

    def __init__(self, cause: Exception) -> None:
        super().__init__("ray::_Worker (pid=1, ip=10.0.0.9, actor_id=2)\ntraceback")
        self.cause = cause


class Ray:
    """Actors are numbered, and each has the machine of `hosts` at its number, the last one from there on.

    never: those that do not start. dead: those that fail to. lose: which actor dies of which item.
    """

    exceptions = SimpleNamespace(RayError=RayError, RayTaskError=RayTaskError)

    def __init__(
        self,
        never: tuple[int, ...] = (),
        dead: tuple[int, ...] = (),
        hosts: str = "a",
        lose: Callable[[int, Any], bool] = lambda *_: False,
        cpus: Callable[[int], float] = lambda _: 8.0,
    ) -> None:
        self.never, self.dead, self.hosts, self.lose, self.cpus = never, dead, hosts, lose, cpus
        self.actors = 0
        self.options: dict[str, Any] = {}
        self.killed: list[int] = []
        self.given: list[tuple[int, Any]] = []

    def put(self, value: Any) -> Any:
        return value

    def host(self, number: int) -> str:
        return self.hosts[min(number, len(self.hosts) - 1)]

    def remote(self, kind: Any) -> Any:
        def start() -> Any:
            number, own = self.actors, kind()
            self.actors += 1

            def work(make: Any, item: Any) -> Any:
                self.given.append((number, item))
                return ("work", number, item, lambda: own.work(lambda: make(self.host(number)), item))

            ready = SimpleNamespace(remote=lambda *_: ("ready", number))
            return SimpleNamespace(ready=ready, work=SimpleNamespace(remote=work), number=number)

        def options(**given: Any) -> Any:
            self.options = given
            return SimpleNamespace(remote=start)

        return SimpleNamespace(options=options)

    def wait(self, tasks: list[Any], num_returns: int, timeout: float) -> Any:
        ended = [task for task in tasks if not (task[0] == "ready" and task[1] in self.never)][:1]
        return ended, [task for task in tasks if task not in ended]

    def get(self, task: Any) -> Any:
        number = task[1]
        if task[0] == "ready":
            if number in self.dead:
                raise RayTaskError(OSError("torch 1 is there"))
            return self.host(number)
        if self.lose(number, task[2]):
            raise RayError("The actor died.\nMore about it.")
        try:
            return task[3]()
        except ZeroDivisionError as error:
            raise RayTaskError(error) from error

    def kill(self, actor: Any) -> None:
        self.killed.append(actor.number)

    def nodes(self) -> list[dict[str, str]]:
        return [{"NodeManagerAddress": name, "NodeManagerHostname": f"host-{name}"} for name in self.hosts]

    def cluster_resources(self) -> dict[str, float]:
        return {"CPU": self.cpus(len(self.given)), "GPU": 2.0}


def outcomes(
    ray: Ray, monkeypatch: pytest.MonkeyPatch, items: list[float], workers: int | None, bad: str = ""
) -> list[Any]:
    """One divided by each item; on the machine `bad`, nothing can be divided."""
    monkeypatch.setattr(ray_pool, "import_ray", lambda: ray)

    def make(host: Any = None) -> Any:
        return lambda item: 1 / (0 if host == bad else item)

    return sorted(work_on_ray(make, items, Places(workers)), key=lambda one: one.number)


def test_an_actor_without_room_is_given_nothing_and_all_give_their_places_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ray = Ray(never=(0,))
    found = outcomes(ray, monkeypatch, [1.0, 2.0, 4.0, 0.0, 5.0], workers=3)
    assert [one.answers for one in found] == [(1.0,), (0.5,), (0.25,), (), (0.2,)]
    assert found[3].error == "float division by zero (on host-a (a))"
    assert {number for number, _ in ray.given} <= {1, 2} and sorted(ray.killed) == [0, 1, 2]
    assert len(ray.given) == 4 + 3 and ray.options["num_cpus"] == 1.0


def test_actors_that_are_refused_are_done_without_and_named_unless_there_is_no_other(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    assert len(outcomes(Ray(dead=(0,)), monkeypatch, [1.0, 2.0], workers=2)) == 2
    assert caplog.messages == ["a worker cannot be started on a machine (10.0.0.9): torch 1 is there"]
    with pytest.raises(OSError, match=r"no worker can be started on a machine \(10.0.0.9\): torch 1 is there$"):
        outcomes(Ray(dead=(0, 1)), monkeypatch, [1.0, 2.0], workers=2)


@pytest.mark.parametrize("hosts", ["ab", "aaab", "ba"])
def test_what_fails_on_one_machine_is_done_by_another(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, hosts: str
) -> None:
    """As where the model is missing on one: however many workers it has, and however fast it fails."""
    ray = Ray(hosts=hosts)
    found = outcomes(ray, monkeypatch, [1.0, 2.0, 4.0, 5.0], workers=len(hosts), bad="a")
    assert [one.answers for one in found] == [(1.0,), (0.5,), (0.25,), (0.2,)]
    by_a = [item for number, item in ray.given if ray.host(number) == "a"]
    assert len(set(by_a)) == len(by_a)
    assert caplog.messages == ["work failed on host-a (a), and is tried again: division by zero"]


def test_a_lost_worker_is_replaced_and_its_item_done_by_another(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    ray = Ray(hosts="abc", lose=lambda actor, _: actor == 0)
    found = outcomes(ray, monkeypatch, [1.0, 2.0, 4.0, 5.0, 8.0, 10.0], workers=2)
    assert all(one.answers for one in found) and ray.actors == 3
    assert caplog.messages == ["a worker on host-a (a) was lost, another one does its work: The actor died."]


def test_an_item_that_three_workers_die_of_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    ray = Ray(lose=lambda _, item: item == 2.0)
    found = outcomes(ray, monkeypatch, [1.0, 2.0, 4.0], workers=1)
    assert [bool(one.answers) for one in found] == [True, False, True]
    assert found[1].error == "its worker on host-a (a) was lost: The actor died." and ray.actors == 4


def test_machines_that_come_are_used(monkeypatch: pytest.MonkeyPatch) -> None:
    ray = Ray(hosts="ab", cpus=lambda given: 1.0 if given < 3 else 2.0)
    assert len(outcomes(ray, monkeypatch, [float(number) for number in range(1, 9)], workers=None)) == 8
    assert {number for number, _ in ray.given} == {0, 1}


def test_of_a_worker_without_the_package_the_missing_module_is_said() -> None:
    error = RayError(
        "The actor died because of an error raised in its creation task, ip=10.0.0.9\n"
        "RuntimeError: The actor failed to import on the worker:\n\nTraceback (most recent call last):\n"
        "ModuleNotFoundError: No module named 'mauve_metric'\n"
    )
    assert ray_pool._reason(error) == "ModuleNotFoundError: No module named 'mauve_metric'"


def test_a_worker_says_what_does_not_fit(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    here = SimpleNamespace(util=SimpleNamespace(get_node_ip_address=lambda: "10.0.0.1"))
    monkeypatch.setattr(ray_pool, "import_ray", lambda: here)
    ready = ray_pool._Worker().ready
    versions, shared = ray_pool._versions(), shared_folder(tmp_path)
    assert ready(versions, shared) == "10.0.0.1"
    with pytest.raises(OSError, match="is another folder there: the output folder must be one that all workers share"):
        ready(versions, SharedFolder(tmp_path, "another word"))
    monkeypatch.setattr(ray_pool, "_versions", lambda: {**versions, "torch": "1"})
    with pytest.raises(OSError, match=r"^it has torch 1, and the job was started with torch 2$"):
        ready({**versions, "torch": "2"}, shared)


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
