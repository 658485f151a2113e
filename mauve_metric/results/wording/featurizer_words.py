"""The featurizer as a part of a sentence, with the errors that it was measured not to see."""

from __future__ import annotations

from collections.abc import Mapping

from mauve_metric.results.names import printable
from mauve_metric.uncertainty.blind_spots import blind_spots, is_measured

_NAMED = 3  # errors in a sentence


def on_features(entries: Mapping[str, object]) -> str:
    """Words for the features of a verdict, and the errors that their featurizer does not detect.

    Args:
        entries: of the signature.

    >>> on_features({"p_input": "features"})
    'on the features given'
    >>> on_features({"featurize_model_name": "org/name"})
    'on the features of org/name, whose blind spots were not measured'
    """
    said = on_named_features(entries)
    unseen = unseen_words(entries)
    if unseen:
        return f"{said}, which was measured not to see {unseen}"
    known = "featurize_model_name" not in entries or is_measured(_identity(entries))
    return said if known else f"{said}, whose blind spots were not measured"


def on_named_features(entries: Mapping[str, object]) -> str:
    """Words for the features, with their featurizer's name.

    >>> on_named_features({"featurize_model_name": "minilm"})
    'on the features of minilm'
    """
    name = entries.get("featurize_model_name")
    return "on the features given" if name is None else f"on the features of {printable(str(name))}"


def unseen_words(entries: Mapping[str, object]) -> str:
    """The first errors that the featurizer of a signature does not see, and how many more; empty if not known."""
    found = blind_spots(_identity(entries))
    if found is None:
        return ""
    errors = found.said.split(", ")
    more = len(errors) - _NAMED
    shown = [*errors[:_NAMED], f"{more} more errors"] if more > 1 else errors
    return " or ".join([", ".join(shown[:-1]), shown[-1]] if len(shown) > 1 else shown)


def _identity(entries: Mapping[str, object]) -> dict[str, str]:
    return {name: str(value) for name, value in entries.items()}
