"""A calibration as tables: for the terminal, Markdown, CSV and LaTeX."""

from __future__ import annotations

from collections.abc import Sequence

from mauve_metric.results.baseline_numbers import BaselineNumbers
from mauve_metric.results.digits import digits, rounded_up
from mauve_metric.results.table_forms import (
    Column,
    TableRow,
    csv_table,
    latex_table,
    markdown_table,
    markdown_text,
    plain_table,
)
from mauve_metric.results.wording.featurizer_words import on_features
from mauve_metric.results.wording.words import wrapped

SIZE_COLUMNS = (
    Column("texts", "texts a set", "d"),
    Column("num_buckets", "k", "d"),
    Column("source", "from"),
    Column("pairs", "pairs", "d"),
    Column("mauve", "MAUVE", ".4f"),
    Column("mauve_std", "std", ".4f"),
    Column("mauve_low", "5 %", ".4f"),
    Column("mauve_high", "95 %", ".4f"),
    Column("debiased", "debiased", ".4f"),
    Column("debiased_std", "std", ".4f"),
    Column("debiased_low", "5 %", ".4f"),
)
NEEDED_COLUMNS = (
    Column("difference", "difference", ".3g"),
    Column("from_human", "a model from people"),
    Column("between", "two models"),
)
NOTE = (
    "split: disjoint random parts of your texts, clustered anew each time; forecast: sets drawn from the histogram of "
    "all your texts. MAUVE: as in the literature; debiased: without sampling bias, where equal sets have 1."
)


def size_rows(found: BaselineNumbers) -> list[TableRow]:
    """One row a size."""
    return [
        {
            "texts": item.texts,
            "num_buckets": item.num_buckets,
            "source": item.source,
            "pairs": item.pairs,
            "mauve": item.mauve.mean,
            "mauve_std": item.mauve.std,
            "mauve_low": item.mauve.low,
            "mauve_high": item.mauve.high,
            "debiased": item.mauve_debiased.mean,
            "debiased_std": item.mauve_debiased.std,
            "debiased_low": item.mauve_debiased.low,
        }
        for item in found.sizes
    ]


def needed_rows(found: BaselineNumbers, words: bool = True) -> list[TableRow]:
    """One row a difference; with `words`, numbers are rounded up to two digits."""

    def shown(number: int | None) -> str | int | None:
        return "over a billion" if number is None and words else rounded_up(number) if number and words else number

    return [
        {"difference": item.difference, "from_human": shown(item.from_human), "between": shown(item.between)}
        for item in found.needed
    ]


def facts(found: BaselineNumbers) -> list[str]:
    """What the tables say, in sentences."""
    halves = found.halves
    low, high = (digits(value, ".3f") for value in (halves.mauve.low, halves.mauve.high))
    return [
        f"Two halves of your own human texts, {halves.texts} each on {halves.num_buckets} buckets, score "
        f"{digits(halves.mauve.mean, '.3f')} ({low} to {high} in 9 of 10 splits) "
        f"{on_features(found.signature_entries)}: the ceiling at this size, which no model can be expected "
        f"to pass. Without sampling bias it is {digits(halves.mauve_debiased.mean, '.3f')}, and "
        f"19 of 20 splits lie above {digits(halves.mauve_debiased.low, '.3f')}.",
        f"Sets with nothing in common score {digits(found.floor, '.4f')}.",
    ]


def needed_sentence(found: BaselineNumbers) -> str:
    """What the second table holds."""
    return (
        f"Texts a set that show a difference in 8 of 10 cases, on {found.num_buckets} buckets: of a model that scores "
        f"so much below 1 from people, and between two models that score {digits(found.around, '.2f')} and so much "
        "less. These are forecasts: models that depart from people in other ways take up to twice or half as many."
    )


def baseline_table(found: BaselineNumbers) -> str:
    """The calibration for the terminal."""
    lines = [f"{found.texts} human texts", ""]
    for sentence in facts(found):
        lines += wrapped(sentence, "  ", "  ")
    lines += ["", *plain_table(SIZE_COLUMNS, size_rows(found)), "", *wrapped(NOTE, "  ", "  "), ""]
    lines += [*plain_table(NEEDED_COLUMNS, needed_rows(found)), "", *wrapped(needed_sentence(found), "  ", "  ")]
    return "\n".join([*lines, "", f"signature: {found.signature}"])


def baseline_markdown(found: BaselineNumbers) -> str:
    """The tables in Markdown, with what they say."""
    parts = ["\n".join(map(markdown_text, facts(found)))]
    parts += [markdown_table(SIZE_COLUMNS, size_rows(found)), markdown_text(NOTE)]
    parts += [markdown_table(NEEDED_COLUMNS, needed_rows(found)), markdown_text(needed_sentence(found))]
    signature = found.signature.replace("`", " ")
    return "\n\n".join([*parts, f"`{signature}`"]) + "\n"


def baseline_latex(found: BaselineNumbers) -> str:
    """The tables as LaTeX `tabular`s; they need the package booktabs."""
    tables: list[tuple[Sequence[Column], list[TableRow]]] = [
        (SIZE_COLUMNS, size_rows(found)),
        (NEEDED_COLUMNS, needed_rows(found)),
    ]
    return "\n\n".join([*(latex_table(*table) for table in tables), f"% {found.signature}"]) + "\n"


def baseline_csv(found: BaselineNumbers, table: str = "sizes") -> str:
    """One table as CSV, numbers in full."""
    if table not in ("sizes", "needed"):
        raise ValueError(f"table must be one of sizes, needed, got {table!r}")
    if table == "needed":
        return csv_table(NEEDED_COLUMNS, needed_rows(found, words=False))
    return csv_table(SIZE_COLUMNS, size_rows(found))
