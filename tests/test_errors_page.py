"""The page of errors and warnings: that of the code, with a line for every code and every kind of error."""

from __future__ import annotations

import ast
import builtins
import json
from pathlib import Path

import pytest
from samples import PACKAGE, ROOT, script

from mauve_metric.hosts.cli import main
from mauve_metric.hosts.pages import page
from mauve_metric.uncertainty import duplication_warnings
from mauve_metric.uncertainty.score_warnings import SEVERE
from mauve_metric.uncertainty.warning_guide import ADVICE

SPACE = PACKAGE / "hosts" / "space"  # the page shows its errors itself


def calls(path: Path, name: str) -> list[ast.Call]:
    found = [node for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(node, ast.Call)]
    return [call for call in found if isinstance(call.func, ast.Name) and call.func.id == name]


def codes_in(value: ast.expr) -> set[str]:
    """The codes that an expression may be; of a variable, those of the tables of duplication."""
    if isinstance(value, ast.Constant):
        return {value.value}
    if isinstance(value, ast.IfExp):
        return codes_in(value.body) | codes_in(value.orelse)
    assert isinstance(value, ast.Name) and value.id == "code", ast.unparse(value)
    tables = (duplication_warnings._ACROSS, duplication_warnings._WITHIN)
    return {row[1] for table in tables for row in table.values()}


def test_every_code_has_a_cause_and_a_cure() -> None:
    files = [path for path in PACKAGE.rglob("*.py") if SPACE not in path.parents]
    codes = set().union(*(codes_in(call.args[0]) for path in files for call in calls(path, "ScoreWarning")))
    assert len(codes) > 25 and codes == set(ADVICE) and codes >= SEVERE
    for code, advice in ADVICE.items():
        assert advice.cause.endswith(".") and advice.cure.endswith("."), code


def test_every_kind_of_error_that_is_raised_is_on_the_page() -> None:
    raised = set()
    for path in PACKAGE.rglob("*.py"):
        if SPACE in path.parents:
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            kind = node.exc.func if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call) else None
            if isinstance(kind, ast.Name) and hasattr(builtins, kind.id):
                raised.add(kind.id)
    known = script("docs/make_errors").EXCEPTIONS
    assert len(raised) > 5
    for name in raised:  # itself or what it is a kind of
        assert set(known) & {kind.__name__ for kind in getattr(builtins, name).__mro__}, name


def test_the_page_is_that_of_the_code() -> None:
    assert page("errors") == "docs/errors.md"
    assert (ROOT / page("errors")).read_text(encoding="utf-8") == script("docs/make_errors").page(), (
        "run: python docs/make_errors.py"
    )


def test_a_call_without_an_error_is_refused() -> None:
    with pytest.raises(AssertionError, match="raises no error"):
        script("docs/make_errors").said("compare(p_features=p, models={'a': p, 'b': q}, num_buckets=4)")


def test_the_shell_says_what_a_warning_means(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["warnings", "few_texts"]) == 0
    said = capsys.readouterr().out
    assert said == f"few_texts\n  {ADVICE['few_texts'].cause}\n  → {ADVICE['few_texts'].cure}\n"
    assert main(["warnings", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {code: advice._asdict() for code, advice in ADVICE.items()}
    assert main(["warnings", "many_texts"]) == 1
    assert "CODE must be among few_texts, " in capsys.readouterr().err


def test_help_points_to_pages(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--help"])
    said = " ".join(capsys.readouterr().out.split())
    assert page("errors") in said and page("measures") in said and "mauve-metric warnings CODE" in said
