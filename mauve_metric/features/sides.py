"""Sets of features that are to be scored together: what each must be, and whether they fit each other."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from mauve_metric.config import MauveConfig, is_bool, shown
from mauve_metric.features.reference import Featurizing, Reference
from mauve_metric.options import RunOptions
from mauve_metric.texts.files import READERS, Side, SideTexts, TextFile
from mauve_metric.texts.joined import join

logger = logging.getLogger(__name__)

Forms = Mapping[str, object]  # of one side by name, as `Featurizing.side` takes them; the name of texts ends in "text"


def check_columns(sides: Mapping[str, Reference]) -> None:
    """`ValueError` unless the features of all sides have the same number of columns."""
    if len({side.features.shape[1] for side in sides.values()}) > 1:
        *most, last = sides
        shapes = [str(side.features.shape) for side in sides.values()]
        raise ValueError(
            f"{', '.join(most)} and {last} must have the same number of columns, got shapes "
            f"{', '.join(shapes[:-1])} and {shapes[-1]}"
        )


class OpenedSides(NamedTuple):
    """Sides of which none is a file of texts any more.

    forms: of each side. origins: of those that came from a file of a known format, for the signature. aligned: whether
    the files say that row i of every model answers prompt i.
    """

    forms: dict[str, Forms]
    origins: dict[str, str]
    aligned: bool = False

    def told(self, name: str, side: Reference) -> Reference:
        """The features of a side, which know where their texts come from."""
        return replace(side, origin=self.origins[name]) if name in self.origins else side

    def kept(self) -> OpenedSides:
        """The same with lists in place of streams, so that each of several featurizers reads from the beginning."""
        return self._replace(forms={name: _kept(forms) for name, forms in self.forms.items()})


def _kept(forms: Forms) -> Forms:
    return {name: list(data) if isinstance(data, Iterator) else data for name, data in forms.items()}


def check_texts_alone(sides: Mapping[str, Forms]) -> None:
    """`ValueError` for what only one of several featurizers can have made."""
    for forms in sides.values():
        for name, value in forms.items():
            if value is not None and not name.endswith("text"):
                what = f"{name}_features" if name in ("p", "q") else name.rsplit(" ", 1)[0]
                raise ValueError(
                    f"featurizers needs the texts of both sides, which each of them featurizes, and {what} holds what "
                    "one featurizer made: give texts, or leave featurizers out"
                )


def open_sides(
    sides: Mapping[str, Forms], config: MauveConfig, run: RunOptions, *, common_rows: bool = False
) -> OpenedSides:
    """Read the texts of sides that are given as files; a human side that is not given is read from the models' files.

    Args:
        sides: the human one first. config: says what becomes of empty texts. run: has the field of the texts.
        common_rows: see `joined.join`.

    Raises:
        OSError, ValueError, ImportError: see `TextFile` and `joined.join`.
    """
    if not is_bool(common_rows):
        raise TypeError(f"common_rows must be True or False, got {shown(common_rows)}")
    human, *models = sides
    files = {name: file for name in sides if (file := _file_of(sides[name], run)) is not None}
    of_models = {name: files[name] for name in models if name in files}
    asked = bool(of_models) and all(value is None for value in sides[human].values())
    found: dict[str, SideTexts] = {}
    aligned = False
    if of_models:
        joined = join(of_models, human=asked, common_rows=common_rows)
        found = dict(joined.models) if joined.human is None else {human: joined.human, **joined.models}
        aligned = joined.aligned and len(of_models) == len(models)
        if any(joined.left_out.values()):
            counts = ", ".join(f"{name} {count}" for name, count in joined.left_out.items())
            logger.warning("rows that not all models have are left out: %s", counts)
    if human in files:
        found[human] = files[human].side("reference")
    for name, file in files.items():
        read: list[Side] = ["reference"] if name == human else ["reference", "prediction"] if asked else ["prediction"]
        said = file.says(*read)
        if said:
            logger.info("%s", said)
    return OpenedSides(
        {name: _with_texts(forms, found.get(name), config) for name, forms in sides.items()},
        {name: side.origin for name, side in found.items() if side.origin is not None},
        aligned and _rows_are_kept([found[name] for name in models], config),
    )


def _file_of(forms: Forms, run: RunOptions) -> TextFile | None:
    """The file that is given in the place of texts; None for texts, and for what is a text itself."""
    data = next((data for name, data in forms.items() if name.endswith("text")), None)
    if isinstance(data, str) and not os.path.exists(data) and Path(data).suffix.lower() not in READERS:
        return None
    if isinstance(data, (str, Path)):
        return TextFile(data, run.text_field)
    return data if isinstance(data, TextFile) else None


def _with_texts(forms: Forms, found: SideTexts | None, config: MauveConfig) -> Forms:
    if found is None:
        return forms
    if config.empty_texts == "error":
        found.check_filled()
    return {**forms, next(name for name in forms if name.endswith("text")): found.texts}


def _rows_are_kept(models: Sequence[SideTexts], config: MauveConfig) -> bool:
    """Whether rows that the files align stay so: no empty text is dropped."""
    blank = sum(not text.strip() for side in models for text in side.texts)
    if blank and config.empty_texts == "drop":
        logger.warning("the models' rows are not aligned: %d empty texts are dropped", blank)
        return False
    logger.info("row by row, the models' texts answer the same prompts: they are compared as aligned")
    return True


def read_sides(job: Featurizing, sides: OpenedSides) -> dict[str, tuple[Reference, list[str] | None]]:
    """The features of each side and its texts where they are given."""
    read = {name: _read_side(job, forms) for name, forms in job.prepared(sides.forms).items()}
    return {name: (sides.told(name, side), texts) for name, (side, texts) in read.items()}


def _read_side(job: Featurizing, forms: Forms) -> tuple[Reference, list[str] | None]:
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


IDENTITY_KEYS = (
    "revision",
    "tokenizer",
    "pooling",
    "max_text_length",
    "dtype",
    "text_prefix",
    "match_lengths",
    "strip",
    "prompts",
)


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
        entries = ", ".join(f"{key} {p.get(key)} and {q.get(key)}" for key in different)
        raise ValueError(
            f"the two sets were featurized differently (P by {p.get('model')}, Q by {q.get('model')}): {entries}"
        )
