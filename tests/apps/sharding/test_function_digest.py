"""The hash of a function follows what it depends on."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from typing import Any

import pytest

from mauve_metric.apps.sharding.function_digest import function_digest

SCALE = 1.0


def own_length(text: str) -> float:
    return len(text) * SCALE


def called_length(texts: list[str]) -> list[list[float]]:
    return [[own_length(text)] for text in texts]


class Scaled:
    def __init__(self, scale: float) -> None:
        self.scale = scale

    def __call__(self, texts: list[str]) -> list[list[float]]:
        return [[self.scale * len(text)] for text in texts]


def scaled(scale: float) -> Callable[[list[str]], object]:
    return lambda texts: [[scale * len(text)] for text in texts]


def test_the_digest_of_a_function_follows_what_it_depends_on(monkeypatch: pytest.MonkeyPatch) -> None:
    for make in (scaled, Scaled, lambda scale: Scaled(scale).__call__, lambda x: functools.partial(called_length, s=x)):
        assert function_digest(make(1.0)) == function_digest(make(1.0)) != function_digest(make(2.0))
    before = function_digest(called_length)
    monkeypatch.setitem(globals(), "SCALE", 2.0)
    assert function_digest(called_length) != before
    monkeypatch.setitem(globals(), "own_length", lambda text: 1.0)
    assert function_digest(called_length) != before
    monkeypatch.undo()
    assert function_digest(called_length) == before


def test_a_function_that_cannot_be_hashed_needs_a_revision() -> None:
    lock = threading.Lock()

    def locked(texts: list[str]) -> Any:
        with lock:
            return [[1.0] for _ in texts]

    with pytest.raises(ValueError, match=r"locked depends on an object that cannot be hashed .*attribute revision"):
        function_digest(locked)
    found = []
    for revision in ("1", "2"):
        locked.revision = revision  # type: ignore[attr-defined]
        found.append(function_digest(locked))
    assert found[0] != found[1]
