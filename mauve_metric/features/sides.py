"""Sets of features to score together: checks of each, and of their compatibility."""

from __future__ import annotations

import logging
import os
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from numbers import Number
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from mauve_metric.arrays import Integers
from mauve_metric.features.feature_files import is_feature_file
from mauve_metric.features.feature_set import FeatureSet, InputSide, Kind, prompts_of
from mauve_metric.inputs.file_types import read_endings
from mauve_metric.inputs.files import PROMPT_FIELDS, SideTexts, TextFile
from mauve_metric.inputs.fingerprints import OPENING_WORDS, opening_hash
from mauve_metric.inputs.match_rows import join
from mauve_metric.inputs.records import split_field
from mauve_metric.inputs.sources import column_beside, text_source
from mauve_metric.inputs.stripping import PromptEcho, Stripping, count_echoes, field_prompts, known_prompts
from mauve_metric.measures.groups import FEWEST_GROUPS, code_groups
from mauve_metric.options import MauveConfig, RunOptions
from mauve_metric.runtime.checks import check_bool, is_missing_key, listed, shown
from mauve_metric.runtime.errors import NoSuchField, RowsDiffer, UnlikeFeatures, WrongOption
from mauve_metric.runtime.plain_text import counted, is_blank

logger = logging.getLogger(__name__)

Groups = dict[str, Sequence[Hashable] | None]  # by side
PromptColumns = Mapping[str, tuple[str | None, Sequence[Hashable] | None]]  # by side the field of prompts, its values
Subgroups = Mapping[str, Sequence[Integers | None]]  # by label the rows on each side; None for one without labels
By = str | Mapping[str, Sequence[Hashable]]  # the field of the texts' labels, or the labels by side
MOST_SUBGROUPS = 50
MOST_LABEL_CHARACTERS = 200  # of a label, which the tables repeat


def check_columns(sides: Mapping[str, FeatureSet]) -> None:
    """`ValueError` unless the features of all sides have the same number of columns."""
    if len({side.features.shape[1] for side in sides.values()}) > 1:
        shapes = [str(side.features.shape) for side in sides.values()]
        raise UnlikeFeatures(
            f"{listed([*sides])} must have the same number of columns, got shapes {listed(shapes)}: "
            "use one featurizer for all"
        )


class Inputs(NamedTuple):
    """Sides, by name, whose text files have all been read, with their design.

    aligned: row i of every side answers prompt i. prompts: that files have beside the texts, or that the caller gave.
    rules: what is taken off the texts before empty ones are dropped, see `Stripping`. text_field: of tables.
    """

    sides: dict[str, InputSide]
    aligned: bool = False
    prompts: tuple[str, ...] = ()
    rules: str = "no"
    text_field: str | None = None

    def with_design(self, sides: Mapping[str, FeatureSet]) -> dict[str, FeatureSet]:
        """The features of sides with the codes of their groups, their origin, and how many texts begin with a prompt.

        Raises:
            ValueError: a side has another number of groups than texts; aligned sides are of unequal size, or lack rows.
        """
        codes, designed = self.codes({name: len(features) for name, features in sides.items()}), {**sides}
        for name, features in sides.items():
            side = self.sides[name]
            if self.aligned and features.dropped and self.listed_texts(name) is None:
                left_out = counted(features.dropped, "empty text was", "empty texts were")
                raise RowsDiffer(
                    f"aligned=True needs every row, and of {side.argument} {left_out} left out, from places "
                    "that are not known: give lists of texts, or p_groups and q_groups"
                )
            changes: dict[str, Any] = {} if side.origin is None else {"origin": side.origin}
            echoes = self._echoes(side, features)
            if echoes is not None and features.marks is not None:
                changes["marks"] = replace(features.marks, wrapped={**features.marks.wrapped, "prompts": echoes})
            if codes is not None:
                changes |= {"groups": codes[name], "by_rows": self.aligned}
            if changes:
                designed[name] = replace(features, **changes)
        return designed

    def _echoes(self, side: InputSide, features: FeatureSet) -> int | None:
        """The number of texts that begin with a prompt; of texts that cannot be read again by their first words."""
        if not self.prompts or "prompts" in features.stripped:
            return 0 if self.prompts else None
        if side.echoes is not None or features.opening_hashes is None:
            return side.echoes
        openings = [opening_hash(prompt) for prompt in self.prompts if len(prompt.split()) > OPENING_WORDS]
        is_known = len(openings) == len(self.prompts)
        return int(np.isin(features.opening_hashes, np.array(openings, np.uint64)).sum()) if is_known else None

    def codes(self, sizes: Mapping[str, int]) -> dict[str, Integers] | None:
        """The codes of the groups of sides of these sizes, without those of empty texts that were dropped.

        Raises:
            ValueError: aligned sides are of unequal size; a side has another number of groups than texts; groups are
                of two types.
        """
        groups: Groups = {name: side.groups for name, side in self.sides.items() if side.groups is not None}
        if self.aligned:
            counts = {name: len(self.listed_texts(name) or range(size)) for name, size in sizes.items()}
            if len(set(counts.values())) > 1:
                got = ", ".join(f"{self.sides[name].argument} {count}" for name, count in counts.items())
                raise RowsDiffer(
                    f"aligned=True needs sets of equal size, the human one included, got {got}: where only some "
                    "texts share prompts, give p_groups and q_groups"
                )
            groups = {name: range(count) for name, count in counts.items()}
        if not groups:
            return None
        arguments = {name: self.sides[name].groups_argument for name in sizes}
        kept = {name: self._kept(name, groups.get(name), size, arguments[name]) for name, size in sizes.items()}
        present = {
            name: None if keys is None else [None if is_missing_key(key) else key for key in keys]
            for name, keys in kept.items()
        }
        declared = {arguments[name]: keys for name, keys in present.items() if keys is not None}
        _check_one_type(declared)
        codes = code_groups(present, sizes)
        different = {key for keys in declared.values() for key in keys} - {None}
        if codes is None and len(declared) == len(sizes) and len(different) != 1:
            said = "%s: no two texts have the same prompt, the score is that of texts without declared prompts"
            logger.warning(said, ", ".join(declared))
        return codes

    def prompt_texts(self, sizes: Mapping[str, int]) -> dict[str, list[str] | None]:
        """The prompt of each text of sides of these sizes; None for a side whose groups are missing or no texts.

        Raises:
            ValueError: a side has another number of groups than texts.
        """
        prompts: dict[str, list[str] | None] = {}
        for name, size in sizes.items():
            side = self.sides[name]
            kept = self._kept(name, side.groups, size, side.groups_argument) or ()
            texts = [key for key in kept if isinstance(key, str)]
            prompts[name] = texts if len(texts) == size else None
        return prompts

    def rows_of_subgroups(self, sizes: Mapping[str, int]) -> Subgroups:
        """The rows of each subgroup, the texts of one label, on each side that has labels; the largest human one first.

        Texts without a label (see `is_missing_key`) are in none, and are counted in a warning.

        Raises:
            ValueError: a side has another number of labels than texts.
        """
        rows: dict[str, dict[str, list[int]]] = {}
        labelled = {name: side.labels for name, side in self.sides.items() if side.labels is not None}
        for name, labels in labelled.items():
            kept = self._kept(name, labels, sizes[name], f"by[{_name_in_by(name)!r}]", "label") or ()
            missing = 0
            for row, label in enumerate(kept):
                if is_missing_key(label):
                    missing += 1
                else:
                    rows.setdefault(_label_text(label), {}).setdefault(name, []).append(row)
            if missing:
                said = "%s: %d of %d texts have no label, and are in no subgroup"
                logger.warning(said, _name_in_by(name), missing, len(kept))
        human = next(iter(self.sides))
        return {
            label: [np.array(numbers.get(name, ()), np.int64) if name in labelled else None for name in self.sides]
            for label, numbers in sorted(rows.items(), key=lambda subgroup: -len(subgroup[1].get(human, ())))
        }

    def listed_texts(self, name: str) -> Sequence[object] | None:
        """The texts of a side with the empty ones, where they are a list or a column."""
        side, texts = self.sides[name], self.sides[name].texts
        if isinstance(texts, (list, tuple)):
            return texts
        if side.kind != "text" or not hasattr(texts, "__len__"):
            return None
        read = text_source(side.argument, texts, text_field=self.text_field, empty_texts="keep", missing=True)
        return read.texts  # type: ignore[return-value]

    def _kept(
        self, name: str, entries: Sequence[Hashable] | None, size: int, argument: str, noun: str = "group"
    ) -> Sequence[Hashable] | None:
        """The entries of one argument for the texts of a side, without those of empty texts that were dropped."""
        if entries is None or len(entries) == size:
            return entries
        strip = Stripping(self.rules, self.prompts).strip
        filled = [isinstance(text, str) and not is_blank(strip(text)) for text in self.listed_texts(name) or ()]
        if len(filled) != len(entries) or sum(filled) != size:
            expected = f"must hold one {noun} for each of the {size} texts that are scored"
            raise WrongOption.of(argument, f"{expected}, got {len(entries)}")
        return [entry for entry, is_filled in zip(entries, filled, strict=True) if is_filled]

    def materialised(self) -> Inputs:
        """Return the sides with lists in place of streams, for several featurizers to read from the beginning."""
        streams = {name: side for name, side in self.sides.items() if isinstance(side.texts, Iterator)}
        lists = {name: side.with_texts([*side.texts]) for name, side in streams.items()}
        return self._replace(sides=self.sides | lists)

    @property
    def are_texts(self) -> bool:
        """Return whether every side is given as texts."""
        return all(side.kind == "text" for side in self.sides.values())


def sides_of_models(human: InputSide, models: object, q_groups: object) -> dict[str, InputSide]:
    """The side "human" and those of models, "model NAME".

    Args:
        models: by name. q_groups: of the texts of models, by name.

    Raises:
        TypeError, ValueError: these are no dicts of sets; `q_groups` names another model.
    """
    if not isinstance(models, Mapping):
        expected = "a dict from names to texts, features or FeatureSets"
        raise WrongOption.of("models", f"must be {expected}, got {type(models).__name__}")
    if not models:
        raise WrongOption.of("models", "must hold at least one model, got none")
    for name in models:
        if not isinstance(name, str) or not name.strip():
            raise TypeError(f"models: names must be non-empty strings, got {name!r}")
    if q_groups is not None and not isinstance(q_groups, Mapping):
        raise RowsDiffer.of("q_groups", f"must be a dict from names of models to groups, got {type(q_groups).__name__}")
    groups = dict(q_groups or {})
    for name in groups:
        if name not in models:
            raise RowsDiffer.of("q_groups", f"must have names of models as keys ({', '.join(models)}), got {name!r}")
    sides = {"human": human}
    for name, data in models.items():
        sides[f"model {name}"] = side_of(f"models[{name!r}]", data, groups.get(name), f"q_groups[{name!r}]")
    return sides


def side_of(argument: str, data: object, groups: object = None, groups_argument: str = "") -> InputSide:
    """Make the side of one model; the type of its data determines the kind."""
    if hasattr(data, "signature_entries"):
        raise TypeError(f"{argument} must hold texts, features or a FeatureSet, got a result")
    if isinstance(data, (str, Path)) and is_feature_file(data):
        data = FeatureSet.load(data)
    if isinstance(data, FeatureSet):
        return InputSide("set", argument, data, None, groups, groups_argument)
    is_table = hasattr(data, "columns") or hasattr(data, "column_names")
    is_rows = isinstance(data, (list, tuple)) and len(data) > 0 and isinstance(data[0], (list, tuple, np.ndarray))
    is_numbers = getattr(getattr(data, "dtype", None), "kind", None) in ("f", "i", "u")
    is_matrix = getattr(data, "ndim", None) == 2 and not is_table
    kind: Kind = "features" if is_matrix or is_rows or is_numbers else "text"
    return InputSide(kind, argument, data, None, groups, groups_argument, (argument,))


def checked_inputs(sides: Mapping[str, InputSide], aligned: object) -> Inputs:
    """The sides with the design that the caller gave.

    Raises:
        TypeError, ValueError: an argument is wrong, or two contradict each other.
    """
    is_aligned, checked = check_bool("aligned", aligned), {**sides}
    for name, side in sides.items():
        if side.groups is not None and is_aligned:
            raise RowsDiffer(f"aligned=True and {side.groups_argument} contradict each other: give one of them")
        if side.groups is not None:
            groups = one_each(side.groups_argument, side.groups, "group, such as its prompt,")
            checked[name] = side._replace(groups=groups)
    return Inputs(checked, is_aligned)


def one_each(argument: str, values: object, kind: str) -> list[Hashable]:
    """Groups or labels of the texts of a side; `TypeError` for what is no list of texts or numbers."""
    unordered = isinstance(values, (Mapping, set, frozenset)) or getattr(values, "ndim", 1) != 1
    if isinstance(values, (str, bytes)) or unordered or not isinstance(values, Iterable):
        raise WrongOption.of(argument, f"must hold one {kind} for each text, got {shown(values)}")
    entries = [_plain_key(entry) for entry in values]
    for entry in entries:
        if not isinstance(entry, Hashable):
            raise WrongOption.of(argument, f"must hold texts or numbers, got {shown(entry)}")
    return entries


def _plain_key(entry: Any) -> Any:
    """A group or label as Python has it: scalars of other libraries do not compare with it, or equal themselves alone.

    >>> [_plain_key(entry) for entry in (np.int8(1), np.ma.masked, "a")]
    [1, None, 'a']
    """
    if hasattr(entry, "as_py"):  # pyarrow's
        return entry.as_py()
    if getattr(entry, "ndim", None) != 0:
        return entry
    return None if entry is np.ma.masked else entry.item()


def check_texts_alone(sides: Iterable[InputSide]) -> None:
    """Raise `ValueError` for features or tokens, which only one of several featurizers can have made."""
    for side in sides:
        if side.kind != "text":
            raise ValueError(
                f"featurizers needs the texts of both sides, which each of them featurizes, and {side.argument} holds "
                "what one featurizer made: give texts, or leave featurizers out"
            )


def open_sides(
    sides_given: Mapping[str, InputSide],
    config: MauveConfig,
    run: RunOptions,
    aligned: object = False,
    *,
    common_rows: bool = False,
    by: By | None = None,
) -> Inputs:
    """Read the texts of sides that are given as files; a human side that is not given is read from the models' files.

    Args:
        sides_given: by name, the human one first. config: says what becomes of empty texts. run: has the field of the
            texts. aligned: see `compute_mauve`; where neither it nor a side has a design, files may.
        common_rows: see `join`. by: the field of the texts' labels, or these by "human", "model" or the names of
            models; the human texts have them.

    Raises:
        TypeError: see `checked_inputs`. WrongOption: groups of independent texts. OSError, ValueError, ImportError: see
            `TextFile` and `match_rows.join`.
    """
    sides, is_aligned, *_ = checked_inputs(sides_given, aligned)
    has_groups = any(side.groups is not None for side in sides.values())
    if config.independent and (is_aligned or has_groups):
        raise not_independent("aligned" if is_aligned else "p_groups or q_groups")
    check_bool("common_rows", common_rows)
    labels = _checked_labels(by, sides)
    field = by if isinstance(by, str) else None
    human, *models = sides
    files = {name: file for name in sides if (file := _file_of(sides[name], run)) is not None}
    if config.independent and any(file.has_declared_prompts for file in files.values()):
        raise not_independent("prompt_field")
    of_models = {name: files[name] for name in models if name in files}
    asked = bool(of_models) and sides[human].content is None
    from_files: dict[str, SideTexts] = {}
    rows: Sequence[Hashable] | None = None
    if asked or len(of_models) > 1:
        gold, texts, rows, left_out = join(of_models, human=asked, common_rows=common_rows, by=field)
        from_files = texts if gold is None else {human: gold, **texts}
        rows = rows if len(of_models) == len(models) else None
        if any(left_out.values()):
            counts = ", ".join(f"{name} {count}" for name, count in left_out.items())
            logger.warning("rows that not all models have are left out: %s", counts)
    else:
        for name, file in of_models.items():
            from_files[name] = file.side("prediction", field)
    if human in files:
        from_files[human] = files[human].side("reference", field)
    for said in dict.fromkeys(side.said for side in from_files.values() if side.said):
        logger.info("%s", said)
    if by is not None:
        labels |= {name: side.labels for name, side in from_files.items() if side.labels is not None}
        _check_subgroups(by, labels.get(human), labels.values())
    for name, side_texts in from_files.items():
        if config.empty_texts == "error":
            side_texts.check_filled()
        sides[name] = sides[name].with_texts(side_texts.texts)._replace(origin=side_texts.origin)
    if is_aligned:
        _check_rows(human, sides, _prompts_of_one_field(_prompt_columns(from_files)))
    if from_files and not is_aligned and not has_groups and not config.independent:
        for name, groups in _groups_of_files(from_files, rows, human, asked).items():
            sides[name] = sides[name]._replace(groups=groups)
    if not (is_aligned or config.independent or any(side.groups is not None for side in sides.values())):
        _tell_prompts([side for side in sides.values() if side.kind == "text"], run.text_field)
    prompts = prompts_of(run) or (_prompts_in(files, from_files) if from_files else ())
    inputs = Inputs(sides, is_aligned, prompts, str(config.strip), run.text_field)
    echo = PromptEcho(prompts) if prompts else None
    for name, side in sides.items():
        listed_texts = None if echo is None else inputs.listed_texts(name)
        echoes = None if echo is None or listed_texts is None else count_echoes(echo, listed_texts)
        sides[name] = side._replace(labels=labels.get(name), echoes=echoes)
    return inputs


def _check_rows(human: str, sides: Mapping[str, InputSide], prompts: Mapping[str, Sequence[Hashable]]) -> None:
    """`RowsDiffer` for aligned sides whose files have the prompts of human rows in other rows.

    prompts: see `_prompts_of_one_field`.
    """
    of_human = prompts.get(human, ())
    elsewhere = {*of_human} - {None}
    for name, of_side in prompts.items():
        if len(of_side) == len(of_human):
            moved = sum(key != first and key in elsewhere for key, first in zip(of_side, of_human, strict=True))
            if moved:
                raise RowsDiffer(
                    "aligned=True needs row i of every set to answer one prompt, and by their field of prompts "
                    f"{moved} of {len(of_side)} rows of {sides[name].argument} answer that of another row of "
                    f"{sides[human].argument}: leave aligned out, and texts are matched by this field"
                )


def _check_subgroups(by: By, of_human: Sequence[Hashable] | None, of_sides: Iterable[Sequence[Hashable]]) -> None:
    """`ValueError` for labels that the human texts lack, that are too many, or that are whole texts."""
    if of_human is None:
        raise NoSuchField.of("by", f"must be a field of the human texts, got {shown(by)}")
    subgroups = {_label_text(label) for side in of_sides for label in side if not is_missing_key(label)}
    if len(subgroups) > MOST_SUBGROUPS:
        raise WrongOption.of("by", f"must group the texts by at most {MOST_SUBGROUPS} values, got {len(subgroups)}")
    longest = max(map(len, subgroups), default=0)
    if longest > MOST_LABEL_CHARACTERS:
        raise WrongOption(f"by: labels may have at most {MOST_LABEL_CHARACTERS} characters, got one of {longest}")


def _prompts_in(files: Mapping[str, TextFile], from_files: Mapping[str, SideTexts]) -> tuple[str, ...]:
    """Prompts that files have in other fields than the texts: those that some texts begin with, or all known ones."""
    fields: list[Sequence[object]] = []
    prompts: list[Sequence[Hashable]] = []
    for name, side in from_files.items():
        prompts += [column for column in (side.prompts, side.groups) if column is not None]
        fields += files[name].text_columns(len(side.texts)) if name in files else []
    echoed = field_prompts([*prompts, *fields], [side.texts for side in from_files.values()])
    return echoed or known_prompts(*prompts)


def _checked_labels(by: object, sides: Iterable[str]) -> dict[str, Sequence[Hashable]]:
    """Labels that the caller gave, by side; `TypeError` or `ValueError` for others than a field or these."""
    if by is None or (isinstance(by, str) and by):
        return {}
    if not isinstance(by, Mapping):
        raise WrongOption.of("by", f"must be the name of a field, or a dict of labels by side, got {shown(by)}")
    names: dict[str, str] = {}
    for side in sides:
        if names.setdefault(_name_in_by(side), side) != side:
            raise WrongOption("models: 'human' stands for the human texts in by: give the model another name")
    for name in by:
        if name not in names:
            raise WrongOption.of("by", f"must have labels of {', '.join(map(repr, names))}, got {shown(name)}")
    if "human" not in by:
        raise WrongOption.of("by", "must have labels of the human texts")
    return {names[name]: one_each(f"by[{name!r}]", labels, "label, such as its topic,") for name, labels in by.items()}


def _name_in_by(side: str) -> str:
    """The key of a side's labels in `by`."""
    return {"p": "human", "q": "model"}.get(side, side.removeprefix("model "))


def not_independent(argument: str) -> WrongOption:
    """The error for an argument by which texts depend on each other, beside one that says that they do not."""
    return WrongOption.of(argument, "must be left out beside independent=True: only one of the two can be true")


def _label_text(label: object) -> str:
    """A label as text; whole numbers without a point, since a column with missing cells holds floats.

    >>> _label_text(2.0), _label_text("2.0")
    ('2', '2.0')
    """
    return str(int(label)) if isinstance(label, float) and label.is_integer() else str(label)


def _check_one_type(groups: Mapping[str, Sequence[Hashable]]) -> None:
    """Raise `ValueError` for groups of two types, which are never equal; `groups` by argument, None if missing."""
    first: tuple[str, Hashable] | None = None
    for argument, keys in groups.items():
        for key in keys:
            if key is None:
                continue
            first = first or (argument, key)
            if _kind(key) != _kind(first[1]):
                expected = f"must hold {_kind(first[1])} only, as {first[0]} does"
                raise WrongOption.of(argument, f"{expected} ({shown(first[1])}), got {shown(key)}: keys never match")


def _kind(key: Hashable) -> str:
    """The type of a key as a message says it."""
    return "texts" if isinstance(key, str) else "numbers" if isinstance(key, Number) else f"{type(key).__name__}s"


def _file_of(side: InputSide, run: RunOptions) -> TextFile | None:
    """The file that is given in the place of texts; None for texts, and for what is a text itself."""
    data = side.texts
    is_name = isinstance(data, str) and Path(data).suffix.lower() in read_endings()
    if isinstance(data, str) and not is_name and not os.path.exists(split_field(data)[0]):
        return None
    if isinstance(data, (str, Path)):
        return TextFile(data, run.text_field)
    return data if isinstance(data, TextFile) else None


def _groups_of_files(
    from_files: Mapping[str, SideTexts], rows: Sequence[Hashable] | None, human: str, human_is_in_rows: bool
) -> Groups:
    """The groups that files have, by side, which are logged.

    rows: what tells one document from another, alike for all models, and for the human texts beside theirs.
    """
    groups: Groups = {name: side.groups for name, side in from_files.items() if side.groups is not None}
    if groups and human not in groups:
        logger.info("the human texts have no field of prompts: they are taken as independent of each other")
    if not groups and rows is not None:
        groups = dict.fromkeys((name for name in from_files if name != human or human_is_in_rows), rows)
        whose = "the human texts and the models' texts" if human in groups else "the models' texts"
        logger.info("row by row, %s answer the same %d prompts: scored as aligned", whose, len(set(rows)))
    return groups or shared_prompts(_prompt_columns(from_files))


def _tell_prompts(sides: Iterable[InputSide], text_field: str | None) -> None:
    """Warn of a column of prompts beside the texts of tables, by which several texts depend on each other."""
    names = [name for name in PROMPT_FIELDS if name != text_field]
    columns = {side.groups_argument: column_beside(side.content, names) for side in sides if side.groups_argument}
    groups = _prompts_of_one_field(columns)
    if (shared := _shared(groups)) is not None:
        logger.warning(
            "%d of %d prompts in the column %r have several texts, which count as independent of each other: give the "
            "prompts as %s",
            *shared,
            columns[next(iter(groups))][0],
            listed([*groups]),
        )


def _prompt_columns(from_files: Mapping[str, SideTexts]) -> PromptColumns:
    return {name: (side.prompt_field, side.prompts) for name, side in from_files.items()}


def _prompts_of_one_field(columns: PromptColumns) -> dict[str, list[str | None]]:
    """The prompts of the sides whose files name them in one field, the last one's, by side; None for a missing prompt.

    Prompts are texts, since a table has no numbers. columns: see `shared_prompts`.
    """
    fields = [field for field, _ in columns.values() if field is not None]
    return {
        name: [None if is_missing_key(prompt) else _label_text(prompt) for prompt in prompts]
        for name, (field, prompts) in columns.items()
        if prompts is not None and field == fields[-1]
    }


def shared_prompts(columns: PromptColumns) -> Groups:
    """The prompts of sides whose files name them in one field, if several texts answer some of at least ten prompts.

    columns: the field of `PROMPT_FIELDS` in the file of each side, with its value for each text; None for a file
    without. Empty where texts share no prompts.
    """
    groups = _prompts_of_one_field(columns)
    shared = _shared(groups)
    if shared is None:
        return {}
    logger.info(
        "%d of %d prompts in %r have several texts in all files together: scored as sharing prompts",
        *shared,
        next(columns[name][0] for name in groups),
    )
    return {**groups}


def _shared(groups: Mapping[str, Sequence[str | None]]) -> tuple[int, int] | None:
    """The numbers of prompts that several texts answer, and of all; None where none is shared, or all are too few."""
    texts = Counter(prompt for prompts in groups.values() for prompt in prompts if prompt is not None)
    shared = sum(count > 1 for count in texts.values())
    return (shared, len(texts)) if shared and len(texts) >= FEWEST_GROUPS else None


def check_same_encoder(p: Mapping[str, str] | None, q: Mapping[str, str] | None) -> None:
    """Refuse to mix features of two encoders, as far as both are known.

    Raises:
        ValueError: with what differs.
    """
    if p is None or q is None or p == q:
        return
    names = {"model"} if "revision" in p or "revision" in q else set()  # functions have nothing but a name
    different = [key for key in {**p, **q} if key not in names and p.get(key) != q.get(key)]
    if different:
        entries = ", ".join(f"{key} {p.get(key)} and {q.get(key)}" for key in different)
        raise UnlikeFeatures(
            f"the two sets were featurized differently (P by {p.get('model')}, Q by {q.get('model')}): {entries}"
        )
