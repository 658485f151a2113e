"""The quick profile draws the same examples whatever modules are imported."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

VALUES = st.one_of(st.integers(), st.integers(0, 10**6), st.floats(), st.text(), st.binary())


def drawn() -> list[str]:
    """Examples of every kind that may be a constant of a module."""
    found: list[str] = []

    @settings(settings.get_profile("quick"), max_examples=300)
    @given(value=st.lists(VALUES, min_size=4))
    def draw(value: list[object]) -> None:
        found.append(repr(value))

    draw()
    return found


@pytest.mark.more
def test_examples_do_not_depend_on_imported_modules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = drawn()
    module = ModuleType("other")
    module.__file__ = str(tmp_path / "other.py")
    Path(module.__file__).write_text("A, B, C, D = 918273, 27.182, 'a constant', b'of another module'\n")
    monkeypatch.setitem(sys.modules, "other", module)
    assert drawn() == before
