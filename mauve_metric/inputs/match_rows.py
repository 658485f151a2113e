"""Several models' files of the same documents, row by row: matched, checked and put in one order."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

from mauve_metric.inputs.files import SideTexts, TextFile
from mauve_metric.runtime.errors import NotOneSet

_SHOWN = 3  # how many keys an error lists


def join(
    files: Mapping[str, TextFile], *, human: bool, common_rows: bool = False, by: str | None = None
) -> tuple[SideTexts | None, dict[str, SideTexts], Sequence[Hashable] | None, dict[str, int]]:
    """The models' texts of several files, with rows of one order where the files say which row is which.

    Args:
        files: by the name of the model. human: whether to take the human texts from them too.
        common_rows: leave out rows that not all files have, which are an error else. by: see `TextFile.side`.

    Returns:
        The gold texts on which all files agree, None if they were not asked for; the texts of each model; the document
        of each row, the same in every side, None where it is not known; how many rows of each model not all have.

    Raises:
        ValueError: the files disagree about their documents or their human texts, or none has human texts.
    """
    models = {name: file.side("prediction", by) for name, file in files.items()}
    order = _order(models, common_rows) if all(side.keys is not None for side in models.values()) else None
    keys = next(iter(models.values())).keys or ()
    left_out = {} if order is None else {name: len(models[name].texts) - len(rows) for name, rows in order.items()}
    golds = {name: file.side("reference", by) for name, file in files.items() if human and file.holds_both}
    if human and not golds:
        for file in files.values():
            if file.has_two_fields:
                file.side("reference")  # the message lists missing rows
        names = " or ".join(file.name for file in files.values())
        raise NotOneSet(f"there are no human texts beside the model's in {names}: give them, or name their field")
    if order is not None:
        note = "/common_rows" if any(left_out.values()) else ""
        models = {name: _rows(side, order[name], note) for name, side in models.items()}
        golds = {name: _rows(side, order[name], note) for name, side in golds.items()}
    if len({len(side.texts) for side in golds.values()}) > 1:
        shown = ", ".join(f"{name} {len(side.texts)}" for name, side in golds.items())
        raise NotOneSet(f"the files differ in their number of human texts ({shown}): give those as a file of their own")
    first, gold = next(iter(golds.items()), ("", None))
    for name, other in golds.items():
        pairs = enumerate(zip(golds[first].texts, other.texts, strict=True))
        row = next((row for row, (text, other_text) in pairs if text != other_text), None)
        if row is not None:
            places = [str(row) if side.where is None else side.where[row] for side in (golds[first], other)]
            raise NotOneSet(
                f"the human texts of {first} and {name} differ, first at {places[0]} and {places[1]}: give the human "
                "texts as a file of their own"
            )
    common = None if order is None else [keys[row] for row in order[next(iter(files))]]
    if common is None and gold is not None and {len(side.texts) for side in models.values()} == {len(gold.texts)}:
        common = list(range(len(gold.texts)))
    return gold, models, common if human or len(models) > 1 else None, left_out


def _order(models: Mapping[str, SideTexts], common_rows: bool) -> dict[str, list[int]] | None:
    """The rows of each model in the order of the first one's; None where keys neither match nor must be unique.

    Raises:
        ValueError: rows that only some have, or rows of one key that belong to different documents.
    """
    keys = {name: list(side.keys or ()) for name, side in models.items()}
    first, *others = keys
    if all(keys[name] == keys[first] for name in others):
        order = {name: list(range(len(row_keys))) for name, row_keys in keys.items()}
    elif any(len(set(row_keys)) < len(row_keys) for row_keys in keys.values()):
        return None
    else:
        places = {name: {key: row for row, key in enumerate(row_keys)} for name, row_keys in keys.items()}
        common = [key for key in keys[first] if all(key in rows for rows in places.values())]
        if not common_rows or not common:
            _check_same_keys(places, len(common))
        order = {name: [rows[key] for key in common] for name, rows in places.items()}
    side = models[first]
    for name in others:
        other = models[name]
        if side.documents is None or other.documents is None:
            continue
        for mine, its in zip(order[first], order[name], strict=True):
            if side.documents[mine] != other.documents[its]:
                where, other_where = (side.where or ())[mine], (other.where or ())[its]
                raise NotOneSet(
                    f"row {keys[first][mine]!r} is another document for {first} ({where}) than for {name} "
                    f"({other_where}): compare runs of one task and one version of it"
                )
    return order


def _check_same_keys(places: Mapping[str, Mapping[Hashable, int]], num_common: int) -> None:
    """Raise `ValueError` with the rows that only some of the models have."""
    everything = list(dict.fromkeys(key for rows in places.values() for key in rows))
    lacking = []
    for name, rows in places.items():
        missing = [key for key in everything if key not in rows]
        if missing:
            more = ", …" if len(missing) > _SHOWN else ""
            lacking.append(f"{name} lacks {len(missing)} ({', '.join(map(repr, missing[:_SHOWN]))}{more})")
    choice = f"pass common_rows=True (--common-rows) to compare the {num_common} that all have"
    if lacking:
        raise NotOneSet(
            f"the models' files do not hold the same {len(everything)} rows: {'; '.join(lacking)}; "
            f"{choice if num_common else 'none is in all'}"
        )


def _rows(side: SideTexts, numbers: Sequence[int], note: str) -> SideTexts:
    """Some of the rows, in this order; the note is added to the origin."""
    if side.where is None or (list(numbers) == list(range(len(side.texts))) and not note):
        return side
    columns = {name: getattr(side, name) for name in ("texts", "where", "groups", "prompts", "labels")}
    chosen: dict[str, Any] = {name: [of[row] for row in numbers] for name, of in columns.items() if of is not None}
    return side._replace(**chosen, origin=f"{side.origin}{note}", keys=None, documents=None)
