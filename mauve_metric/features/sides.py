"""Sets of features that are to be scored together: what each must be, and whether they fit each other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from mauve_metric.features.reference import Featurizing, Reference


def check_columns(sides: Mapping[str, Reference]) -> None:
    """`ValueError` unless the features of all sides have the same number of columns."""
    if len({side.features.shape[1] for side in sides.values()}) > 1:
        *most, last = sides
        shapes = [str(side.features.shape) for side in sides.values()]
        raise ValueError(
            f"{', '.join(most)} and {last} must have the same number of columns, got shapes "
            f"{', '.join(shapes[:-1])} and {shapes[-1]}"
        )


def read_sides(
    job: Featurizing, sides: Mapping[str, Mapping[str, object]]
) -> dict[str, tuple[Reference, list[str] | None]]:
    """The features of each side and its texts where they are given.

    Args:
        job: of featurizing.
        sides: for each side its forms by name, as `Featurizing.side` takes them; the name of texts ends in "text".
    """
    return {name: _read_side(job, forms) for name, forms in job.prepared(sides).items()}


def _read_side(job: Featurizing, forms: Mapping[str, object]) -> tuple[Reference, list[str] | None]:
    name, data = next(((name, data) for name, data in forms.items() if name.endswith("text")), ("", None))
    if data is None:
        return job.side(forms), None
    source = job.source(name, data)
    texts = list(source.texts)
    own = next(other for other, value in forms.items() if value is not None) == name
    side = job.side({**forms, name: replace(source, texts=texts)})
    if len(side) != len(texts):
        other = next(other for other, value in forms.items() if value is not None)
        raise ValueError(f"{name} must hold one text for each row of {other}, got {len(texts)} for {len(side)}")
    return side if own else replace(side, dropped=side.dropped + source.dropped), texts


IDENTITY_KEYS = ("revision", "tokenizer", "pooling", "max_text_length", "dtype", "match_lengths", "strip", "prompts")


def check_same_encoder(p: Mapping[str, str] | None, q: Mapping[str, str] | None) -> None:
    """Refuse to mix features of two encoders, as far as both are known.

    Raises:
        ValueError: with what differs.
    """
    if p is None or q is None:
        return
    keys = IDENTITY_KEYS if "revision" in p or "revision" in q else ("model", *IDENTITY_KEYS)  # functions have a name
    different = [key for key in keys if p.get(key) != q.get(key)]
    if different:
        shown = ", ".join(f"{key} {p.get(key)} and {q.get(key)}" for key in different)
        raise ValueError(
            f"the two sets were featurized differently (P by {p.get('model')}, Q by {q.get('model')}): {shown}"
        )
