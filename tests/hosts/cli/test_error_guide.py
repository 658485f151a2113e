"""The page of errors and warnings: that of the code, with a line for every code and every kind of error."""

from __future__ import annotations

import ast
import builtins

import pytest
from samples import PACKAGE, ROOT, script

from mauve_metric.hosts.cli.error_guide import GUIDES, code_of
from mauve_metric.hosts.cli.pages import page
from mauve_metric.uncertainty.warning_guide import ADVICE

SPACE = PACKAGE / "hosts" / "space"  # the page shows its errors itself


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
