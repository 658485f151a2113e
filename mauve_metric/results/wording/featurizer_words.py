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
    name = entries.get("featurize_model_name")
    if name is None:
        return "on the features given"
    unseen = unseen_words(entries)
    said = f"on the features of {printable(str(name))}"
    if unseen:
        return f"{said}, which was measured not to see {unseen}"
    return said if is_measured(_identity(entries)) else f"{said}, whose blind spots were not measured"


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
