"""The featurizer as a part of a sentence, with the errors that it was measured not to see."""

from __future__ import annotations

from collections.abc import Mapping

from mauve_metric.results.names import printable
from mauve_metric.uncertainty.blind_spots import blind_spots, is_measured


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
    identity = {name: str(value) for name, value in entries.items()}
    unseen = blind_spots(identity)
    if unseen:
        return f"{said}, which was measured not to see {unseen.said}"
    known = "featurize_model_name" not in entries or is_measured(identity)
    return said if known else f"{said}, whose blind spots were not measured"


def on_named_features(entries: Mapping[str, object]) -> str:
    """Words for the features, with their featurizer's name.

    >>> on_named_features({"featurize_model_name": "minilm"})
    'on the features of minilm'
    """
    name = entries.get("featurize_model_name")
    return "on the features given" if name is None else f"on the features of {printable(str(name))}"
