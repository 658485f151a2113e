"""Values of measures by model, from the files that commands print, from tables and from the caller."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, TypeAlias, get_args

from mauve_metric.apps.judging.judgement import Reading
from mauve_metric.apps.judging.judgement_tables import (
    MODELS,
    TABLE_ENDINGS,
    JudgementTable,
    is_count,
    number_at,
    open_table,
)
from mauve_metric.inputs.json_rows import read_json
from mauve_metric.results.scores import REGISTRY
from mauve_metric.runtime.checks import check_number, check_path, is_missing_key, listed, quoted, shown
from mauve_metric.runtime.errors import WrongOption

Measures: TypeAlias = str | Path | Mapping[str, Mapping[str, float | None]]
_OTHER_MEASURES = "what describe, compare or preferences printed with --json, or numbers by model"


class Measured(NamedTuple):
    """One measure of several models.

    values: by the model's name; None where it could not be computed. human: of the human texts, if it is known.
    reading: the better direction: "higher", "lower", "human" for closer to `human`; "as it is" if unknown.
    """

    values: dict[str, float | None]
    human: float | None
    reading: Reading

    def towards(self, better: str | None) -> Measured:
        """The measure with the better direction that the caller gives; None leaves it."""
        readings: dict[str, Reading] = {reading: reading for reading in get_args(Reading)}
        return self if better is None else self._replace(reading=readings[better])

    def orders(self, models: list[str]) -> list[float]:
        """A number for each of these models, the larger the better; `ValueError` that names a model without one.

        >>> Measured({"a": 3.0, "b": 8.0}, 5.0, "human").orders(["a", "b"])
        [-2.0, -3.0]
        """
        lacking = [model for model in models if self.values.get(model) is None]
        if lacking:
            raise ValueError(f"it has no value for {quoted(lacking)}")
        values = [value for model in models if (value := self.values[model]) is not None]
        if self.reading == "human":
            if self.human is None:
                raise ValueError("the human texts' value, which it is compared with, is missing")
            # without the rounding error of the subtraction, which would break ties
            return [float(f"{-abs(value - self.human):.12g}") for value in values]
        return [-value for value in values] if self.reading == "lower" else values


def reading_of(measure: str) -> Reading:
    """Return the better direction of a measure.

    >>> reading_of("mauve"), reading_of("frontier_integral"), reading_of("my_score")
    ('higher', 'lower', 'as it is')
    """
    return REGISTRY[measure].better if measure in REGISTRY else "as it is"


def read_measures(path: str | Path, human: str = "human") -> dict[str, Measured]:
    """The measures in a file, by name.

    `.json`: what `mauve-metric describe --json` or `compare --json` printed; the scores of people that `preferences
    --json` printed, a question each; or numbers by model, `{"gpt2": {"fluency": 3.1}}`. A table (see `open_table`): a
    column `model` and one for each measure; a column `n_NAME` beside NAME is a number of ratings. The row of the human
    texts is called `human`, and a measure that has one and is not known by name counts as the better the closer to it,
    unless `better` says otherwise.

    Raises:
        FileNotFoundError, ValueError: the file has no measures of several models.
    """
    path = check_path("measures", path)
    if path.suffix.lower() in TABLE_ENDINGS:
        return _of_table(open_table("measures", path), human)
    content = read_json(path)
    if isinstance(content, Mapping) and isinstance(content.get("questions"), Mapping):
        return _of_judgement(content["questions"], str(path), human)
    if not isinstance(content, Mapping) or not content:
        raise ValueError(f"{path} must be {_OTHER_MEASURES}: it has no 'models'")
    models = content.get("models")
    if not isinstance(models, Mapping) or not models:
        if all(isinstance(values, Mapping) for values in content.values()):
            return _by_model(content, str(path), human)
        raise ValueError(f"{path} must be {_OTHER_MEASURES}: it has no 'models'")
    numbers = {str(name): _numbers(values, str(path), name) for name, values in models.items()}
    of_human = _numbers(content.get("human"), str(path), "human")
    names = dict.fromkeys(name for values in numbers.values() for name, value in values.items() if value is not None)
    if not names:
        raise ValueError(f"{path} holds no measure of {quoted(list(numbers))}")
    return {
        name: Measured(
            {model: values.get(name) for model, values in numbers.items()}, of_human.get(name), reading_of(name)
        )
        for name in names
    }


def _of_judgement(questions: Mapping[str, object], file: str, human: str) -> dict[str, Measured]:
    """People's scores of other judgements, in their direction; the people's own texts are left out."""
    measured = {}
    for name, question in questions.items():
        entries = question if isinstance(question, Mapping) else {}
        models = entries.get("models")
        scores = {} if not isinstance(models, Mapping) else models
        values = {
            str(model): _number(of.get("score") if isinstance(of, Mapping) else None, file, model, name)
            for model, of in scores.items()
            if model != human
        }
        measured[str(name)] = Measured(values, None, "lower" if entries.get("better") == "lower" else "higher")
    return measured


def _by_model(content: Mapping[str, Mapping[str, object]], name: str, human: str) -> dict[str, Measured]:
    """Numbers by model and then by measure; a value that is no number is refused."""
    columns: dict[str, dict[str, float | None]] = {}
    for model, values in content.items():
        for measure, value in values.items():
            columns.setdefault(str(measure), {})[str(model)] = _number(value, name, model, measure)
    columns = {measure: values for measure, values in columns.items() if not is_count(measure, columns)}
    return {measure: _with_human(measure, values, values.pop(human, None)) for measure, values in columns.items()}


def _numbers(values: object, file: str, model: object) -> dict[str, float | None]:
    """The measures of one set: an entry with a value, or a number under the name of a score."""
    if not isinstance(values, Mapping):
        return {}
    numbers = {}
    for name, entry in values.items():
        if isinstance(entry, Mapping) and "value" in entry:
            numbers[str(name)] = _number(entry["value"], file, model, name)
        elif name in REGISTRY:
            numbers[str(name)] = _number(entry, file, model, name)
    return numbers


def _number(value: object, file: str, model: object, measure: object) -> float | None:
    """A finite number; None for a missing one, `ValueError` for anything else."""
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not abs(value) <= sys.float_info.max:
        raise ValueError(f"{file}: expected a number at {model!r}, {measure!r}, got {shown(value)}")
    return float(value)


def _of_table(table: JudgementTable, human: str) -> dict[str, Measured]:
    column = table.column(*MODELS)
    if column is None:
        raise ValueError(f"{table.name} must have a column 'model': it has {quoted(table.columns)}")
    columns: dict[str, dict[str, float | None]] = {
        name: {} for name in table.columns if name not in (column, "") and not is_count(name, table.columns)
    }
    for line in table.lines:
        model = line.value[column]
        for name, values in columns.items():
            if model in values:
                raise ValueError(f"{line.where}: {model!r} is given twice")
            values[model] = number_at(line, name, "a number") if line.value[name] else None
    return {name: _with_human(name, values, values.pop(human, None)) for name, values in columns.items()}


def _with_human(name: str, values: dict[str, float | None], human: float | None) -> Measured:
    reading = reading_of(name)
    return Measured(values, human, "human" if reading == "as it is" and human is not None else reading)


def given_measures(measures: Mapping[str, Mapping[str, float | None]], human: str = "human") -> dict[str, Measured]:
    """Check the caller's measures, a mapping from models to values each; directions as in `read_measures`.

    >>> given_measures({"perplexity": {"human": 12.6, "a": 23.8, "b": 101.9}})["perplexity"].reading
    'human'
    """
    measured = {}
    for name, values in measures.items():
        if not isinstance(values, Mapping):
            raise TypeError(f"measures[{name!r}] must map models to numbers, got {type(values).__name__}")
        numbers = {
            str(model): None
            if is_missing_key(value)
            else check_number(f"measures[{name!r}][{model!r}]", value, "(-inf, inf)")
            for model, value in values.items()
        }
        measured[str(name)] = _with_human(str(name), numbers, numbers.pop(human, None))
    return measured


def measured_by_name(measures: Measures | Sequence[str | Path] | None, human: str) -> dict[str, Measured]:
    """Measures of the caller or of files by name; the name of one that is in several files includes the file's."""
    if measures is None:
        return {}
    if isinstance(measures, Mapping):
        return given_measures(measures, human)
    paths = [measures] if isinstance(measures, (str, Path)) else measures
    if not isinstance(paths, (list, tuple)) or not all(isinstance(path, (str, Path)) for path in paths):
        raise TypeError(
            f"measures must be a file, a list of files, or a dict from measures to values, got {shown(measures)}"
        )
    files = {str(path): read_measures(path, human) for path in paths}
    names = [name for of_file in files.values() for name in of_file]
    return {
        name if names.count(name) == 1 else f"{name} ({path})": measured
        for path, of_file in files.items()
        for name, measured in of_file.items()
    }


def check_directions(better: Mapping[str, str] | None, questions: Sequence[str], measures: Sequence[str]) -> None:
    """`WrongOption` or `TypeError` unless `better` names questions and measures, with directions that they have."""
    if better is None:
        return
    if not isinstance(better, Mapping):
        raise TypeError(f"better must be a dict from names to directions, got {shown(better)}")
    for name, direction in better.items():
        if name not in (*questions, *measures):
            names = quoted([*questions, *measures])
            raise WrongOption.of("better", f"must name a question or a measure, {names}, got {shown(name)}")
        allowed = ("higher", "lower") if name in questions else ("higher", "lower", "human")
        if direction not in allowed:
            raise WrongOption.of("better", f"of {name} must be {listed(allowed, 'or')}, got {shown(direction)}")
