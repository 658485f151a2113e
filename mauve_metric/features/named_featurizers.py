"""Several featurizers, each with a name of its own."""

from __future__ import annotations

from collections.abc import Mapping

from mauve_metric.features.text_functions import name_of
from mauve_metric.options import Featurizer, config_fields
from mauve_metric.runtime.checks import shown
from mauve_metric.runtime.errors import WrongOption


def named_featurizers(featurizers: object, first: Featurizer | None = None) -> dict[str, Featurizer]:
    """Featurizers by name, each checked as `MauveConfig` checks it.

    Args:
        featurizers: a list or tuple of them, a mapping that gives them names, or one; a (model, tokenizer) pair is one.
        first: put before them, and removed from the rest.

    Raises:
        TypeError, ValueError: an invalid featurizer, an empty name, no featurizers, duplicate names.

    >>> list(named_featurizers(["gpt2-large", "minilm"], first="minilm"))
    ['minilm', 'gpt2-large']
    """
    if isinstance(featurizers, Mapping):
        named = list(featurizers.items())
    elif isinstance(featurizers, (list, tuple)) and not _is_pair(featurizers):
        named = [(featurizer_name(one), one) for one in featurizers]
    elif isinstance(featurizers, (str, tuple)) or callable(featurizers):
        named = [(featurizer_name(featurizers), featurizers)]
    else:
        known = "a list of featurizers, a mapping that gives them names, or one featurizer"
        got = f"{type(featurizers).__name__}: {shown(featurizers)}"
        raise WrongOption.of("featurizers", f"must be {known}, got {got}")
    if first is not None:
        others = [(name, one) for name, one in named if one is not first and one != first]
        named = [(featurizer_name(first), first), *others]
    found: dict[str, Featurizer] = {}
    for name, one in named:
        if not isinstance(name, str) or not name.strip():
            raise TypeError(f"featurizers: names must be non-empty strings, got {shown(name)}")
        if name in found:
            raise ValueError(f"featurizers: two are called {name!r}; a dict gives each a name of its own")
        found[name] = config_fields()["featurize_model_name"].metadata["check"](f"featurizers[{name!r}]", one)
    if not found:
        raise WrongOption.of("featurizers", "must hold at least one featurizer, got none")
    return found


def _is_pair(value: list[object] | tuple[object, ...]) -> bool:
    """Return whether a value is a (model, tokenizer) pair, which is one featurizer."""
    return isinstance(value, tuple) and len(value) == 2 and hasattr(value[0], "state_dict")


def featurizer_name(featurizer: object) -> str:
    """A name as it is; for a (model, tokenizer) pair that of the model, for a function its own."""
    if isinstance(featurizer, str):
        return featurizer
    model = featurizer[0] if isinstance(featurizer, tuple) and featurizer else featurizer
    return str(getattr(model, "name_or_path", None) or name_of(model))
