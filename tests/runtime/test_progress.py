"""Progress: a bar on a terminal, lines elsewhere, nothing unless asked for."""

from __future__ import annotations

import sys

import pytest

from mauve_metric.runtime import progress


def test_where_stderr_is_no_terminal_there_are_lines(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "LINE_SECONDS", 0.0)  # of ten
    assert [*progress.watched("compare", "abc", True, " models")] == ["a", "b", "c"]
    lines = capsys.readouterr().err.splitlines()
    assert lines and all(line.startswith("mauve-metric: compare: ") and "\r" not in line for line in lines)
    assert ["3 of 3 models" in line for line in lines].count(True) == 1 and "3 of 3 models" in lines[-1]
    assert [*progress.watched("compare", "abc", False, " models")] == ["a", "b", "c"]
    assert capsys.readouterr().err == ""


def test_quick_work_has_no_line(capsys: pytest.CaptureFixture[str]) -> None:
    with progress.progress_bar("featurize", True) as advance:
        assert advance is not None
        advance(3, 10)
    assert capsys.readouterr().err == ""


def test_a_terminal_has_a_bar(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    assert [*progress.watched("compare", "abc", True, " models")] == ["a", "b", "c"]
    assert "3/3" in capsys.readouterr().err
