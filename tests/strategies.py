"""Values of any kind for arguments, and the rule that a refusal follows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from hypothesis import strategies as st

DOCUMENTED = (TypeError, ValueError, OSError, ImportError)  # what every public function says that it raises
LONGEST_MESSAGE = 600

ANYTHING = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.integers(-3, 40),
    st.integers().map(lambda number: number**9 * 10**300),
    st.floats(),
    st.floats(0, 10),
    st.text(max_size=9),
    st.binary(max_size=4),
    st.lists(st.integers(), max_size=2),
    st.sampled_from(
        ["auto", "True", "false", "", "qp", "mean", "float64", "drop", np.int8(3), np.float32(0.5), np.nan]
    ),
    st.sampled_from([np.bool_(True), np.array(3), np.array([1, 2]), object(), 5e-324, -0.0, 10**400]),
)
TEXTS = st.lists(st.one_of(st.text(max_size=12), st.sampled_from(["one two", "three", " ", "\ud800"])), max_size=6)
STRUCTURES = st.one_of(
    TEXTS,
    TEXTS.map(tuple),
    TEXTS.map(np.array),
    TEXTS.map(lambda texts: pd.Series(texts, dtype=object)),
    TEXTS.map(lambda texts: pd.DataFrame({"text": pd.Series(texts, dtype=object)})),
    st.dictionaries(st.one_of(st.text(max_size=5), st.integers()), st.one_of(TEXTS, st.none()), max_size=3),
    st.lists(
        st.dictionaries(st.sampled_from(["winner", "loser", "boundary", "guess"]), ANYTHING, max_size=3), max_size=3
    ),
    st.lists(st.lists(st.floats(-5, 5), min_size=2, max_size=3), max_size=5),
    st.sampled_from([Path("nowhere"), Path("nowhere.csv"), "nowhere.jsonl", "nowhere.json", Path(), "no\0where"]),
    st.sampled_from([{1}, frozenset("a"), iter("ab"), range(3), len, Ellipsis, ("ngrams", len), ("a", 1)]),
)
VALUES = st.one_of(ANYTHING, STRUCTURES)
# What a request to an endpoint can hold.
JSON = st.one_of(
    st.recursive(
        st.one_of(st.none(), st.booleans(), st.integers(), st.integers(-3, 40), st.floats(), st.text(max_size=9)),
        lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=5), inner, max_size=3)),
        max_leaves=6,
    ),
    TEXTS,
    st.dictionaries(st.text(max_size=5), TEXTS, max_size=3),
)


def check_message(error: Exception, *names: str) -> None:
    """A refusal is one short line that names what was wrong."""
    message = str(error)
    if any(said in message for said in ("there is no file", "cannot be read", "cannot be loaded")):
        names = (*names, "file", "read", "model")  # it names the file, or the model
    assert "\n" not in message and len(message) < LONGEST_MESSAGE, error
    assert any(name in message for name in names), f"{message!r} names none of {names}"


def content(value: Any) -> Any:
    """Content of a value, to check that a call left it unchanged."""
    if isinstance(value, np.ndarray):
        return value.dtype.str, value.shape, value.tobytes() if value.dtype != object else value.tolist()
    if isinstance(value, (pd.Series, pd.DataFrame)):
        return value.to_dict()
    if isinstance(value, dict):
        return {key: content(item) for key, item in value.items()}
    return [content(item) for item in value] if isinstance(value, (list, tuple)) else repr(value)
