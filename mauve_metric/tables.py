"""Results, comparisons and explanations as tables: for the terminal, Markdown, CSV and LaTeX."""

from __future__ import annotations

import csv
import io
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from mauve_metric.scores import SCORES

if TYPE_CHECKING:
    from mauve_metric.comparison import Comparison
    from mauve_metric.explanation import Explanation, GapBucket, NearText
    from mauve_metric.result import MauveResult, ScoreWarning

WIDTH = 110  # characters of a line of prose in the terminal
EXCERPT = 160  # characters shown of a text


class Column(NamedTuple):
    """A column: key for programs, title for people, and the format of its numbers."""

    key: str
    title: str
    form: str = "s"


MODEL_COLUMNS = (
    Column("rank", "rank", "d"),
    Column("model", "model"),
    Column("mauve_debiased", "debiased", ".4f"),
    Column("low", "low", ".4f"),
    Column("high", "high", ".4f"),
    Column("mauve", "MAUVE", ".4f"),
    Column("mauve_own", "MAUVE own", ".4f"),
    Column("precision", "precision", ".3f"),
    Column("recall", "recall", ".3f"),
    Column("frontier_integral", "frontier int.", ".4f"),
    Column("n", "texts", "d"),
)
DIFFERENCE_COLUMNS = (
    Column("a", "better"),
    Column("b", "than"),
    Column("difference", "difference", "+.4f"),
    Column("low", "low", "+.4f"),
    Column("high", "high", "+.4f"),
    Column("p_value", "p", ".2g"),
    Column("real", "real"),
)
Row = dict[str, Any]


def model_rows(comparison: Comparison) -> list[Row]:
    """One row a model, the best first, by the keys of `MODEL_COLUMNS`."""
    rows = []
    for rank, name in enumerate(comparison.ranking, start=1):
        result = comparison.models[name]
        low, high = result.mauve_ci or (None, None)
        row: Row = {"rank": rank, "model": name, "low": low, "high": high, "n": result.n_q}
        for key in ("mauve", "mauve_debiased", "precision", "recall", "frontier_integral"):
            row[key] = getattr(result, key)
        rows.append(row | {"mauve_own": comparison.own[name].mauve})
    return rows


def difference_rows(comparison: Comparison) -> list[Row]:
    """One row a pair, by the keys of `DIFFERENCE_COLUMNS`."""
    rows = []
    for item in comparison.differences:
        values = {"a": item.a, "b": item.b, "difference": item.difference, "low": item.ci[0], "high": item.ci[1]}
        rows.append(values | {"p_value": item.p_value, "real": "yes" if item.real else "no"})
    return rows


def cell(value: Any, form: str) -> str:
    """A value as text; a dash for None.

    >>> cell(0.12345, ".3f"), cell(None, ".3f"), cell(1e-9, ".2g")
    ('0.123', '–', '<0.0001')
    """
    if value is None:
        return "–"
    if form == ".2g" and value < 1e-4:
        return "<0.0001"
    return format(value, form)


def forecast_sentence(comparison: Comparison) -> str:
    """What these sets could show, in words; empty for one model."""
    if comparison.smallest_difference is None:
        return ""
    best, second = comparison.ranking[:2]
    n = min(min(result.n_p, result.n_q) for result in comparison.models.values())
    sentence = f"Sets of {n} texts would show a difference of {comparison.smallest_difference:.3f} between {best} and "
    sentence += f"{second} in 8 of 10 cases; "
    if comparison.texts_needed is None:
        return sentence + "they do not differ here at all."
    difference = comparison.differences[0].difference
    texts = rounded_up(comparison.texts_needed)
    return sentence + f"if they truly differ by {difference:.3f}, that takes about {texts} texts a set."


def rounded_up(number: int) -> str:
    """A number with two leading digits, rounded up.

    >>> rounded_up(12345), rounded_up(87)
    ('13,000', '87')
    """
    unit = 10 ** max(len(str(number)) - 2, 0)
    return f"{-(-number // unit) * unit:,}"


def conclusion(comparison: Comparison) -> str:
    """One sentence on which differences are real."""
    pairs = comparison.differences
    if not pairs:
        return ""
    real = sum(item.real for item in pairs)
    level = f"{100 * (1 - comparison.confidence_level):.3g} %"
    if not real:
        return f"No difference is real at the level of {level} (corrected for {len(pairs)} pairs)."
    doubtful = [f"{item.a} and {item.b}" for item in pairs if not item.real]
    sentence = f"{real} of {len(pairs)} differences are real at the level of {level} (corrected for all pairs)"
    if not doubtful:
        return sentence + "."
    shown = ", ".join(doubtful[:6]) + (f" and {len(doubtful) - 6} more pairs" if len(doubtful) > 6 else "")
    return f"{sentence}; not told apart: {shown}."


NOTES = (
    "MAUVE: on the buckets that all models share. MAUVE own: on buckets of each pair's own, the literature's number.",
    "debiased, low, high: the shared buckets' score without sampling bias, and its interval; ranks and differences "
    "are of it.",
)


def collected_warnings(comparison: Comparison) -> list[tuple[str, ScoreWarning]]:
    """Each warning once, with the models it is about: "all models", names, or "" for the comparison's own."""
    owners: dict[tuple[str, str], list[str]] = {}
    first: dict[tuple[str, str], ScoreWarning] = {}
    for name, result in comparison.models.items():
        for warning in result.warnings:
            key = (warning.code, warning.message)
            first.setdefault(key, warning)
            owners.setdefault(key, []).append(name)
    found = [("", warning) for warning in comparison.warnings]
    for key, names in owners.items():
        everyone = len(names) == len(comparison.models) > 1
        found.append(("all models" if everyone else ", ".join(names), first[key]))
    return found


# --- score ----------------------------------------------------------------------------------------------------------


def score_table(result: MauveResult, title: str) -> str:
    """The result for people: warnings first, then the scores, what they rest on, and the signature."""
    lines = [title, ""]
    for warning in result.warnings:
        lines.append(f"  ! {warning.message}  [{warning.code}]")
    if result.warnings:
        lines.append("")
    for name, score in SCORES.items():
        value = getattr(result, name)
        if value is not None:
            lines.append(f"  {score.title:<24} {value:7.4f}  {_ci(result, name):<17}  {score.better}; {score.meaning}")
    lines += [
        "",
        f"  {'floor … ceiling':<24} {result.mauve_floor:7.4f} … {result.mauve_ceiling:.4f}  MAUVE of sets with ",
    ]
    lines[-1] += "nothing in common … of two samples of one distribution"
    if result.mauve_std is not None:
        runs = f"{result.mauve_mean:7.4f} ± {result.mauve_std:.4f}"
        lines.append(
            f"  {'MAUVE over seeds':<24} {runs}  mean and standard deviation of {len(result.mauve_runs)} clusterings"
        )
    if result.p_value is not None:
        lines.append(f"  {'p-value':<24} {result.p_value:7.4f}  that both sets come from one distribution")
    lines.append(f"  {'texts':<24} {result.n_p} human, {result.n_q} model{_lengths(result)}")
    lines.append(f"  {'buckets':<24} {result.num_buckets}")
    if result.mauve_ci is not None:
        lines.append(f"  {'intervals':<24} {_level(result)} {result.ci_scope}")
    return "\n".join([*lines, "", f"signature: {result.signature}"])


def _ci(result: MauveResult, name: str) -> str:
    interval = {
        "mauve_debiased": result.mauve_ci,
        "frontier_integral_debiased": result.frontier_integral_ci,
    }.get(name)
    return "" if interval is None else f"[{interval[0]:.4f}, {interval[1]:.4f}]"


def _level(result: MauveResult) -> str:
    level = dict(entry.split(":", 1) for entry in result.signature.split("|"))["confidence_level"]
    return f"{100 * float(level):g} %"


def _lengths(result: MauveResult) -> str:
    if result.p_median_length is None or result.q_median_length is None:
        return ""
    return f"; median length {result.p_median_length:.0f} and {result.q_median_length:.0f} tokens"


# --- comparison ---------------------------------------------------------------------------------------------------


def comparison_table(comparison: Comparison) -> str:
    """The comparison for the terminal: warnings, models, differences, what they rest on, signature."""
    results = list(comparison.models.values())
    level, common = f"{100 * comparison.confidence_level:g} %", results[0]
    lines = [f"{len(results)} models against {common.n_p} human texts, {common.num_buckets} common buckets", ""]
    for who, warning in collected_warnings(comparison):
        message = f"! {who}: {warning.message}" if who else f"! {warning.message}"
        lines += _wrapped(f"{message}  [{warning.code}]", "  ", "    ")
    lines += ["", *_plain(MODEL_COLUMNS, model_rows(comparison)), ""]
    for note in NOTES:
        lines += _wrapped(note, "  ", "  ")
    lines += _wrapped(f"Intervals: {level}, {common.ci_scope}.", "  ", "  ")
    if comparison.differences:
        lines += ["", *_plain(DIFFERENCE_COLUMNS, difference_rows(comparison)), ""]
        lines += _wrapped(conclusion(comparison), "  ", "  ")
        lines += _wrapped(forecast_sentence(comparison), "  ", "  ")
    return "\n".join([*lines, "", f"signature: {comparison.signature}"])


def comparison_markdown(comparison: Comparison) -> str:
    """Both tables in Markdown, with the notes."""
    parts = [_markdown(MODEL_COLUMNS, model_rows(comparison)), "\n".join(NOTES)]
    if comparison.differences:
        parts.append(_markdown(DIFFERENCE_COLUMNS, difference_rows(comparison)))
        parts.append(_markdown_text(f"{conclusion(comparison)} {forecast_sentence(comparison)}"))
    return "\n\n".join([*parts, f"`{comparison.signature.replace('`', ' ')}`"]) + "\n"


def comparison_csv(comparison: Comparison, table: str = "models") -> str:
    """One table as CSV, numbers in full; a missing value is an empty field."""
    tables = {"models": (MODEL_COLUMNS, model_rows), "differences": (DIFFERENCE_COLUMNS, difference_rows)}
    if table not in tables:
        raise ValueError(f"table must be one of {', '.join(tables)}, got {table!r}")
    columns, rows = tables[table]
    out = io.StringIO()
    writer = csv.DictWriter(out, [column.key for column in columns], lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows(comparison))
    return out.getvalue()


def comparison_latex(comparison: Comparison) -> str:
    """Both tables as LaTeX `tabular`s; they need the package booktabs."""
    parts = [_latex(MODEL_COLUMNS, model_rows(comparison))]
    if comparison.differences:
        parts.append(_latex(DIFFERENCE_COLUMNS, difference_rows(comparison)))
    signature = comparison.signature.replace("\n", " ")
    return "\n\n".join([*parts, f"% {signature}"]) + "\n"


def _plain(columns: Sequence[Column], rows: Sequence[Row]) -> list[str]:
    """Aligned columns: words to the left, numbers to the right."""
    cells = [[cell(row[column.key], column.form) for column in columns] for row in rows]
    widths = [
        max(len(text) for text in [column.title, *texts])
        for column, texts in zip(columns, zip(*cells, strict=True), strict=True)
    ]
    lines = []
    for texts in [[column.title for column in columns], *cells]:
        parts = [
            text.ljust(width) if column.form == "s" else text.rjust(width)
            for column, text, width in zip(columns, texts, widths, strict=True)
        ]
        lines.append(("  " + "  ".join(parts)).rstrip())
    return lines


def _markdown(columns: Sequence[Column], rows: Sequence[Row]) -> str:
    lines = ["| " + " | ".join(column.title for column in columns) + " |"]
    lines.append("|" + "|".join("---" if column.form == "s" else "---:" for column in columns) + "|")
    for row in rows:
        texts = [_markdown_text(cell(row[column.key], column.form)) for column in columns]
        lines.append("| " + " | ".join(texts) + " |")
    return "\n".join(lines)


def _markdown_text(text: str) -> str:
    for mark in ("\\", "|", "*", "_", "`", "[", "]", "<"):
        text = text.replace(mark, "\\" + mark)
    return " ".join(text.split())


def _latex(columns: Sequence[Column], rows: Sequence[Row]) -> str:
    places = "".join("l" if column.form == "s" else "r" for column in columns)
    lines = [f"\\begin{{tabular}}{{{places}}}", "\\toprule"]
    lines.append(" & ".join(latex_text(column.title) for column in columns) + r" \\")
    lines.append("\\midrule")
    for row in rows:
        texts = [latex_text(cell(row[column.key], column.form)) for column in columns]
        lines.append(" & ".join(texts) + r" \\")
    return "\n".join([*lines, "\\bottomrule", "\\end{tabular}"])


def latex_text(text: str) -> str:
    r"""Text with LaTeX's special characters made plain.

    >>> latex_text("a_b & 5 %")
    'a\\_b \\& 5 \\%'
    """
    special = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "–": "--"}
    special |= {"<": r"\textless{}", ">": r"\textgreater{}"}
    special |= {mark: "\\" + mark for mark in "&%$#_{}"}
    return " ".join("".join(special.get(mark, mark) for mark in text).split())


# --- explanation --------------------------------------------------------------------------------------------------


def explanation_table(explanation: Explanation) -> str:
    """The explanation for the terminal: the gap and its two parts, then each bucket with its words and texts."""
    result, gap = explanation.result, explanation.gap
    lines = [f"MAUVE {result.mauve:.4f}: the gap to 1 is {gap:.4f}, in {result.num_buckets} buckets", ""]
    for value, meaning in (
        (explanation.type_one, "from buckets with too many model texts (Type I)"),
        (explanation.type_two, "from buckets with too few (Type II): human text that the model misses"),
        (explanation.noise, "of it from buckets that could be noise"),
    ):
        lines.append(f"  {value:.4f}  {_percent(value, gap):>5}  {meaning}")
    for bucket in explanation.buckets:
        lines += ["", *_bucket_lines(bucket)]
    lines += ["", *_wrapped(STABILITY_NOTE, "", "")]
    return "\n".join([*lines, "", f"signature: {result.signature}"])


STABILITY_NOTE = (
    "Under another seed: how much of a bucket's texts another clustering keeps together (Jaccard index), and the rank "
    "of that bucket there."
)


def bucket_title(bucket: GapBucket) -> str:
    """What a bucket is, in one line."""
    side = {"too much": "TOO MUCH", "missed": "MISSED", "even": "EVEN"}[bucket.side]
    noise = ", could be noise" if bucket.noise else ""
    return (
        f"{bucket.rank}. {side}: {_percent(bucket.share, 1)} of the gap, {bucket.p_count} human and {bucket.q_count} "
        f"model texts{noise}"
    )


def bucket_facts(bucket: GapBucket) -> list[tuple[str, str]]:
    """What stands below a bucket's title: names and values, without those that are empty."""
    facts = [
        ("about", ", ".join(bucket.words)),
        ("human texts say", ", ".join(bucket.p_words)),
        ("model texts say", ", ".join(bucket.q_words)),
        ("model repeats", ", ".join(bucket.repeated)),
        ("under another seed", f"overlap {bucket.overlap:.2f}, rank {bucket.other_rank}"),
    ]
    return [(name, value) for name, value in facts if value]


def excerpt(text: str, length: int = EXCERPT) -> str:
    """The beginning of a text on one line, without control characters.

    >>> excerpt("one two three", 10)
    'one two …'
    """
    line = " ".join("".join(mark if mark.isprintable() else " " for mark in text).split())
    return line if len(line) <= length else line[: length - 2].rsplit(" ", 1)[0] + " …"


def _bucket_lines(bucket: GapBucket) -> list[str]:
    lines = [bucket_title(bucket)]
    for name, value in bucket_facts(bucket):
        lines += _wrapped(f"{name}: {value}", "   ", "      ")
    for side, texts in (("human", bucket.p_texts), ("model", bucket.q_texts)):
        for near in texts:
            lines += _wrapped(f"{side} {near_label(near)}: {excerpt(near.text or '')}".rstrip(": "), "   - ", "     ")
    return lines


def near_label(near: NearText) -> str:
    """The number of a text, and whether it lies in the bucket.

    >>> from mauve_metric.explanation import NearText
    >>> near_label(NearText(7, 0.5, False, None))
    'text 7 (outside, nearest)'
    """
    return f"text {near.row}" + ("" if near.in_bucket else " (outside, nearest)")


def _percent(value: float, total: float) -> str:
    return f"{100 * value / total:.1f} %" if total > 0 else "0 %"


def _wrapped(text: str, first: str, other: str) -> list[str]:
    return textwrap.wrap(text, WIDTH, initial_indent=first, subsequent_indent=other, break_on_hyphens=False)
