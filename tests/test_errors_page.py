"""The page of errors and warnings: that of the code, with a line for every code and every kind of error."""

from __future__ import annotations

import ast
import builtins
import json
from pathlib import Path

import pytest
from samples import PACKAGE, ROOT, script

from mauve_metric.hosts.cli import main
from mauve_metric.hosts.error_guide import GUIDES, code_of
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
    said = script("docs/make_errors").said
    for call in ("compare(p_features=p, models={'a': p, 'b': q}, num_buckets=4)", "mauve-metric errors no_file"):
        with pytest.raises(AssertionError, match="raises no error"):
            said(call)
    with pytest.raises(AssertionError, match="must be of the code 'no_memory', is of 'no_file'"):
        said("mauve-metric score nowhere.npy nowhere.npy", "no_memory")


def test_every_error_with_a_code_has_a_cause_and_a_cure() -> None:
    assert set(GUIDES) == set(script("docs/make_errors").EXAMPLES) - {""} and not set(GUIDES) & set(ADVICE)
    for code, guide in GUIDES.items():
        assert guide.cause.endswith(".") and guide.cure.endswith("."), code


@pytest.mark.parametrize(
    ("message", "code"),
    [
        ("figures need Altair: pip install 'mauve_metric[space]'", "no_package"),
        ("MemoryError", "no_memory"),
        ("CUDA out of memory. Tried to allocate 2 GiB", "no_memory"),
        ("CODE must be among few_texts, got 'many_texts'", None),
        ("there is no Ray cluster to work with at 'auto'", None),
    ],
)
def test_the_code_of_a_message(message: str, code: str | None) -> None:
    assert code_of(message) == code


@pytest.mark.parametrize(("command", "code"), [("warnings", "few_texts"), ("errors", "no_file")])
def test_the_shell_says_what_a_code_means(command: str, code: str, capsys: pytest.CaptureFixture[str]) -> None:
    known = {name: {"cause": entry.cause, "cure": entry.cure} for name, entry in (ADVICE | GUIDES).items()}
    assert main([command, code]) == 0
    assert capsys.readouterr().out == f"{code}\n  {known[code]['cause']}\n  → {known[code]['cure']}\n"
    assert main([command, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found == {name: known[name] for name in (ADVICE if command == "warnings" else GUIDES)}
    assert main([command, "many_texts"]) == 1
    assert f"CODE must be among {next(iter(found))}, " in capsys.readouterr().err


def test_help_points_to_pages(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--help"])
    said = " ".join(capsys.readouterr().out.split())
    assert page("errors") in said and page("measures") in said and "mauve-metric warnings CODE" in said
    assert "mauve-metric errors CODE" in said
