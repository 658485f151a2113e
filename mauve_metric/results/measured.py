"""Measures of several models, read from the output of `describe` or `compare`, or from a table."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Literal, NamedTuple, TypeAlias

from mauve_metric.catalogue.table import MEASURES
from mauve_metric.runtime.checks import quoted
from mauve_metric.texts.records import read_json
from mauve_metric.texts.tables import Table, number_at, open_table

Reading: TypeAlias = Literal["higher", "lower", "human", "as it is"]
_TABLES = (".csv", ".tsv")


class Measured(NamedTuple):
    """One measure of several models.

    values: by the model's name; None where it could not be computed. human: of the human texts, if it is known.
    reading: the better direction: "higher", "lower", "human" for closer to `human`; "as it is" if unknown.
    """

    values: dict[str, float | None]
    human: float | None
    reading: Reading

    def orders(self, models: list[str]) -> list[float]:
        """A number for each of these models, the larger the better; `ValueError` that names a model without one.

        >>> Measured({"a": 3.0, "b": 8.0}, 5.0, "human").orders(["a", "b"])
        [-2.0, -3.0]
        """
        lacking = [model for model in models if self.values.get(model) is None]
        if lacking:
            raise ValueError(f"it has no value for {quoted(lacking)}")
        found = [value for model in models if (value := self.values[model]) is not None]
        if self.reading == "human":
            if self.human is None:
                raise ValueError("the human texts' value, which it is compared with, is missing")
            # without the rounding error of the subtraction, which would break ties
            return [float(f"{-abs(value - self.human):.12g}") for value in found]
        return [-value for value in found] if self.reading == "lower" else found


def reading_of(measure: str) -> Reading:
    """Return the better direction of a measure.

    >>> reading_of("mauve"), reading_of("frontier_integral"), reading_of("my_score")
    ('higher', 'lower', 'as it is')
    """
    return MEASURES[measure].better if measure in MEASURES else "as it is"


def read_measures(path: str | Path, human: str = "human") -> dict[str, Measured]:
    """The measures in a file, by name.

    `.json`: what `mauve-metric describe --json` or `compare --json` printed. `.csv`, `.tsv`: a column `model` and one
    for each measure; the row of the human texts is called `human`, and a measure that has one and is not known by name
    counts as the better the closer to it.

    Raises:
        FileNotFoundError, ValueError: the file has no measures of several models.
    """
    path = Path(path)
    if path.suffix.lower() in _TABLES:
        return _of_table(open_table("measures", path), human)
    try:
        content = read_json(path)
    except OSError as error:
        raise type(error)(f"measures: {error}") from error
    models = content.get("models") if isinstance(content, Mapping) else None
    if not isinstance(content, Mapping) or not isinstance(models, Mapping) or not models:
        raise ValueError(f"{path} must be what describe --json or compare --json printed: it has no 'models'")
    numbers = {str(name): _numbers(values) for name, values in models.items()}
    of_human = _numbers(content.get("human"))
    names = dict.fromkeys(name for values in numbers.values() for name, value in values.items() if value is not None)
    if not names:
        raise ValueError(f"{path} holds no measure of {quoted(list(numbers))}")
    return {
        name: Measured(
            {model: values.get(name) for model, values in numbers.items()}, of_human.get(name), reading_of(name)
        )
        for name in names
    }


def _numbers(values: object) -> dict[str, float | None]:
    """The measures of one set: an entry with a value, or a number under the name of a score."""
    if not isinstance(values, Mapping):
        return {}
    found = {}
    for name, entry in values.items():
        if isinstance(entry, Mapping) and "value" in entry:
            found[str(name)] = _number(entry["value"])
        elif name in MEASURES:
            found[str(name)] = _number(entry)
    return found


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        return None
    return float(value)


def _of_table(table: Table, human: str) -> dict[str, Measured]:
    column = table.column("model", "name")
    if column is None:
        raise ValueError(f"{table.name} must have a column 'model': it has {quoted(table.columns)}")
    found: dict[str, dict[str, float | None]] = {name: {} for name in table.columns if name not in (column, "")}
    for line in table.lines:
        model = line.values[column]
        for name, values in found.items():
            if model in values:
                raise ValueError(f"{line.where}: {model!r} is given twice")
            values[model] = number_at(line, name, "a number") if line.values[name] else None
    return {name: _with_human(name, values, values.pop(human, None)) for name, values in found.items()}


def _with_human(name: str, values: dict[str, float | None], human: float | None) -> Measured:
    reading = reading_of(name)
    return Measured(values, human, "human" if reading == "as it is" and human is not None else reading)


def given_measures(measures: Mapping[str, Mapping[str, float | None]], human: str = "human") -> dict[str, Measured]:
    """Check the caller's measures, a mapping from models to values each; directions as in `read_measures`.

    >>> given_measures({"perplexity": {"human": 12.6, "a": 23.8, "b": 101.9}})["perplexity"].reading
    'human'
    """
    found = {}
    for name, values in measures.items():
        if not isinstance(values, Mapping):
            raise TypeError(f"measures[{name!r}] must map models to numbers, got {type(values).__name__}")
        numbers = {str(model): None if value is None else _number(float(value)) for model, value in values.items()}
        found[str(name)] = _with_human(str(name), numbers, numbers.pop(human, None))
    return found
