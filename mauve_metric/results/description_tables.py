"""A description as tables: for the terminal, Markdown, CSV and LaTeX."""

from __future__ import annotations

from mauve_metric.catalogue.table import MEASURES
from mauve_metric.results.document import (
    Column,
    TableRow,
    csv_table,
    latex_table,
    markdown_table,
    markdown_text,
    plain_table,
    wrapped,
)
from mauve_metric.results.names import printable, shown_names
from mauve_metric.results.numbers import Described, DescriptionNumbers
from mauve_metric.results.wording.words import collected_warnings

_BEST, _REAL = "◂", "*"
CSV_COLUMNS = (
    Column("measure", "measure"),
    Column("model", "model"),
    Column("value", "value", ".4g"),
    Column("human", "human", ".4g"),
    Column("difference", "difference", "+.4g"),
    Column("low", "low", "+.4g"),
    Column("high", "high", "+.4g"),
    Column("p_value", "p", ".2g"),
    Column("better", "better"),
)


def title_of(measure: str) -> str:
    """What people call a measure; for what is none, as the features that many share, its own name."""
    return MEASURES[measure].title if measure in MEASURES else measure


def better_of(measure: str) -> str:
    """Which direction is better: "higher", "lower" or, nearest to the human texts, "human"."""
    return MEASURES[measure].better


def best_model(description: DescriptionNumbers, measure: str) -> str | None:
    """The model with the best value, if its interval lies apart from those of all others; else None."""
    distances: dict[str, tuple[float, float]] = {}
    for name, found in description.models.items():
        item = found.get(measure)
        if item is None or item.ci is None:
            return None
        distances[name] = _distance(item, better_of(measure))
    if len(distances) < 2:
        return None
    best = min(distances, key=lambda name: distances[name][1])
    return best if all(distances[best][1] < low for name, (low, _) in distances.items() if name != best) else None


def _distance(item: Described, better: str) -> tuple[float, float]:
    """The ends of an interval of how far a model is from the best value, up to what all models share."""
    low, high = item.ci or (item.value, item.value)
    if better == "higher":
        return -high, -low
    if better == "lower":
        return low, high
    nearest = 0.0 if low <= 0 <= high else min(abs(low), abs(high))
    return nearest, max(abs(low), abs(high))


def columns(description: DescriptionNumbers) -> tuple[Column, ...]:
    """The columns of `rows`: of one model its difference and interval too, of several their values."""
    first = (Column("title", "measure"), Column("better", "better"), Column("human", "human", ">"))
    labels = shown_names(list(description.models))
    models = tuple(Column(f"model {name}", labels[name], ">") for name in description.models)
    if len(models) > 1:
        return (*first, *models)
    return (*first, *models, Column("difference", "difference", ">"), Column("interval", "interval", ">"))


def rows(description: DescriptionNumbers, best: str = _BEST) -> list[TableRow]:
    """One row a measure, numbers as text; `best` follows the best value where the difference to the next is real."""
    found: list[TableRow] = []
    for measure in description.measures:
        row: TableRow = {"title": title_of(measure), "better": better_of(measure)}
        row["human"] = _number(description.human.get(measure))
        winner = best_model(description, measure)
        for name, values in description.models.items():
            item = values.get(measure)
            row[f"model {name}"] = "–" if item is None else _cell(item) + (best if name == winner else "")
            row["difference"] = "–" if item is None else _number(item.difference, "+")
            row["interval"] = "–" if item is None else _interval(item)
        found.append(row)
    return found


def _cell(item: Described) -> str:
    return _number(item.value) + (_REAL if is_real(item) else "")


def is_real(item: Described) -> bool:
    """Whether a model's difference from the human texts is more than chance, by its interval."""
    return item.difference is not None and item.ci is not None and not item.ci[0] <= 0 <= item.ci[1]


def _number(value: float | None, sign: str = "") -> str:
    return "–" if value is None else format(value, f"{sign}.4g")


def _interval(item: Described) -> str:
    if item.ci is None:
        return "–"
    sign = "" if item.difference is None else "+"
    return f"[{_number(item.ci[0], sign)}, {_number(item.ci[1], sign)}]"


def csv_rows(description: DescriptionNumbers) -> list[TableRow]:
    """One row a measure and model, by the keys of `CSV_COLUMNS`, numbers in full."""
    return [
        {
            "measure": measure,
            "model": name,
            "value": found[measure].value,
            "human": description.human.get(measure),
            "difference": found[measure].difference,
            "low": None if (ci := found[measure].ci) is None else ci[0],
            "high": None if ci is None else ci[1],
            "p_value": found[measure].p_value,
            "better": better_of(measure),
        }
        for measure in description.measures
        for name, found in description.models.items()
        if measure in found
    ]


def csv(description: DescriptionNumbers) -> str:
    """`csv_rows` as CSV."""
    return csv_table(CSV_COLUMNS, csv_rows(description))


def notes(description: DescriptionNumbers) -> list[str]:
    """What the table's marks mean, what is missing and why, and what took long."""
    level = f"{100 * description.confidence_level:g} %"
    lines = [
        f"{_REAL} differs from the human texts by more than chance ({level} interval of the difference); {_BEST} the "
        "best value, apart from all others by its interval. better: human means the nearer to the human texts' value "
        "the better. Measures without an interval have none that a bootstrap would give honestly."
    ]
    if description.same_size is not None:
        lines.append(
            f"Measures that move with the number of texts are those of {description.same_size} texts of each set, "
            "drawn by the seed."
        )
    lines += [f"{title_of(name)} is missing: {reason}" for name, reason in description.failed.items()]
    slow = {name: seconds for name, seconds in description.seconds.items() if seconds >= 1}
    if slow:
        times = ", ".join(f"{title_of(name)} {slow[name]:.1f} s" for name in sorted(slow, key=lambda key: -slow[key]))
        lines.append(f"Time: {times}.")
    return lines


def warning_lines(description: DescriptionNumbers) -> list[str]:
    """Every warning, those of the comparison first, with the models it is about."""
    found = [] if description.comparison is None else collected_warnings(description.comparison)
    found += [(name, warning) for name, warnings in description.model_warnings.items() for warning in warnings]
    return [f"! {f'{who}: ' if who else ''}{warning.message} [{warning.code}]" for who, warning in found]


def terminal(description: DescriptionNumbers) -> str:
    """The table for the terminal, with its notes and the signature."""
    sizes = ", ".join(f"{printable(name)} {size}" for name, size in description.sizes.items())
    lines = [f"texts: {sizes}", "", *plain_table(columns(description), rows(description)), ""]
    for note in [*warning_lines(description), *notes(description)]:
        lines += wrapped(printable(note), "  ", "  ")
    return "\n".join([*lines, "", f"signature: {description.signature}"])


def markdown(description: DescriptionNumbers) -> str:
    """The table in Markdown, with its notes and the signature."""
    table = markdown_table(columns(description), rows(description))
    signature = description.signature.replace("`", " ")
    return (
        "\n\n".join(
            [
                table,
                *(markdown_text(note) for note in [*warning_lines(description), *notes(description)]),
                f"`{signature}`",
            ]
        )
        + "\n"
    )


def latex(description: DescriptionNumbers) -> str:
    """The table as a LaTeX `tabular`."""
    table = latex_table(columns(description), rows(description, best=" (best)"))
    return f"{table}\n\n% {description.signature}\n"
