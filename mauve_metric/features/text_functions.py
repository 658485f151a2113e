"""Featurizers that are functions of texts, without a model: the packaged ones by name, and a user's own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from mauve_metric.features import ngrams


class TextFunction(NamedTuple):
    """A function from a list of n texts to features (n, d), and what a signature says of it."""

    function: Callable[[list[str]], object]
    identity: Mapping[str, str]


TEXT_FUNCTIONS = {
    "ngrams": TextFunction(ngrams.ngram_features, {"model": "ngrams", "revision": ngrams.REVISION}),
}


def text_function(model: object) -> TextFunction | None:
    """The function that a featurizer is; None for a language model: a name, a folder or a pair.

    >>> text_function("ngrams").identity["model"], text_function("minilm")
    ('ngrams', None)
    """
    if isinstance(model, str):
        return TEXT_FUNCTIONS.get(model)
    if isinstance(model, tuple) or not callable(model):
        return None
    return TextFunction(model, {"model": name_of(model)})


def name_of(function: object) -> str:
    """The full name of a function, or of the class of a callable object."""
    module = getattr(function, "__module__", type(function).__module__)
    return f"{module}.{getattr(function, '__qualname__', type(function).__qualname__)}"
