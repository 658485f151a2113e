"""The guide to warnings: every code that the package gives has a cause and a cure."""

from __future__ import annotations

import ast
from pathlib import Path

from samples import PACKAGE

from mauve_metric.apps.describing.duplicates import duplication_warnings
from mauve_metric.hosts.cli.warning_guide import ADVICE
from mauve_metric.uncertainty import format_check
from mauve_metric.uncertainty.score_warnings import SEVERE

SPACE = PACKAGE / "hosts" / "space"  # the page shows its errors itself


def calls(path: Path, name: str) -> list[ast.Call]:
    source = path.read_text(encoding="utf-8")
    found = [node for node in ast.walk(ast.parse(source if f"{name}(" in source else "")) if isinstance(node, ast.Call)]
    return [call for call in found if isinstance(call.func, ast.Name) and call.func.id == name]


def codes_in(value: ast.expr) -> set[str]:
    """The codes that an expression may be; of a variable, those of the tables of duplication and of defects."""
    if isinstance(value, ast.Constant):
        return {value.value}
    if isinstance(value, ast.IfExp):
        return codes_in(value.body) | codes_in(value.orelse)
    assert isinstance(value, ast.Name) and value.id == "code", ast.unparse(value)
    return {code for _, code in duplication_warnings.DUPLICATION.values()} | {*format_check.DEFECTS}


def test_every_code_has_a_cause_and_a_cure() -> None:
    files = [path for path in PACKAGE.rglob("*.py") if SPACE not in path.parents]
    codes = set().union(
        *(codes_in(call.args[0]) for path in files for call in (*calls(path, "ScoreWarning"), *calls(path, "warn")))
    )
    assert len(codes) > 25 and codes == set(ADVICE) and codes >= SEVERE
    for code, advice in ADVICE.items():
        assert advice.cause.endswith(".") and advice.cure.endswith("."), code
