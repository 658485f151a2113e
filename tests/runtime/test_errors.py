"""The page of errors and warnings: that of the code, with a line for every code and every kind of error."""

from __future__ import annotations

import ast
import builtins
import pickle
from typing import Any

import numpy as np
import pytest
from samples import PACKAGE, ROOT, script

from mauve_metric import compute_mauve
from mauve_metric.hosts.cli.warning_guide import ADVICE
from mauve_metric.runtime.checks import check_count
from mauve_metric.runtime.errors import KINDS, CodedError, NotFinite, code_of

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
    assert (ROOT / "docs/errors.md").read_text(encoding="utf-8") == script("docs/make_errors").page(), (
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
    assert set(KINDS) == set(script("docs/make_errors").EXAMPLES) and not set(KINDS) & set(ADVICE)
    for code, kind in KINDS.items():
        assert all(part.endswith(".") for part in kind.advice()), code


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (MemoryError(), "no_memory"),
        (RuntimeError("CUDA out of memory. Tried to allocate 2 GiB"), "no_memory"),
        (NotFinite("p must be finite"), "not_finite"),
        (pickle.loads(pickle.dumps(NotFinite("p must be finite"))), "not_finite"),
        (ValueError("p must be finite"), None),
        (SystemExit(2), None),
    ],
)
def test_the_code_of_an_error(error: BaseException, code: str | None) -> None:
    assert code_of(error) == code
    try:
        raise RuntimeError("the worker failed") from error
    except RuntimeError as outer:
        assert code_of(outer) == code


ROWS = np.random.default_rng(0).normal(size=(30, 3))


@pytest.mark.parametrize(
    ("given", "argument"),
    [
        ({"seed": "x"}, "seed"),
        ({"cache": 5}, "cache"),
        ({"cache": ""}, "cache"),
        ({"strip": "all"}, "strip"),
        ({"featurize_model_name": 5}, "featurize_model_name"),
        ({"num_buckets": 99}, "num_buckets"),
        ({"device": "gpu7?"}, "device"),
        ({"p_features": ROWS.astype(str)}, "p_features"),
        ({"p_features": ROWS * np.nan}, "p_features"),
        ({"p_features": ROWS[0]}, "p_features"),
        ({"p_groups": [1], "q_groups": [1] * 30}, "p_groups"),
        ({"p_groups": 5, "q_groups": [1] * 30}, "p_groups"),
        ({"p_features": None, "p_text": "one text"}, "p_text"),
        ({"p_features": None, "p_text": ["", "one"]}, "p_text"),
        ({"p_features": None, "p_text": [5]}, "p_text"),
        ({"aligned": True, "q_features": ROWS[:9]}, None),  # about two sets
    ],
)
def test_an_error_about_an_argument_has_its_name(given: dict[str, Any], argument: str | None) -> None:
    with pytest.raises(CodedError) as caught:
        compute_mauve(**({"p_features": ROWS, "q_features": ROWS} | given))
    copy = pickle.loads(pickle.dumps(caught.value))
    assert caught.value.argument == copy.argument == argument and str(copy) == str(caught.value)
    assert argument is None or str(caught.value).startswith(f"{argument} ")


@pytest.mark.parametrize("value", [0, "1", None, True, 2.0])
def test_a_wrong_value_is_an_error_of_its_type_and_of_its_value(value: object) -> None:
    for kind in (ValueError, TypeError):
        with pytest.raises(kind, match="folds must be an integer of at least 2") as caught:
            check_count("folds", value, 2)
        assert code_of(caught.value) == "wrong_option"
