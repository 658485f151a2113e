"""A robustness analysis as tables: for the terminal, Markdown, CSV and LaTeX."""

from __future__ import annotations

from collections.abc import Sequence

from mauve_metric.results.digits import digits
from mauve_metric.results.names import printable, shown_names
from mauve_metric.results.robustness_numbers import PairStability, RobustnessNumbers
from mauve_metric.results.table_forms import (
    Column,
    TableRow,
    csv_table,
    latex_table,
    markdown_table,
    markdown_text,
    plain_table,
)
from mauve_metric.results.wording.words import wrapped

PAIR_COLUMNS = (
    Column("a", "ahead"),
    Column("b", "behind"),
    Column("difference", "difference", "+.4f"),
    Column("smallest", "smallest", "+.4f"),
    Column("largest", "largest", "+.4f"),
    Column("ahead", "settings ahead"),
    Column("real", "told apart"),
    Column("turned", "turned", "d"),
    Column("depends_on", "moved most by"),
    Column("moved", "by", "+.4f"),
    Column("verdict", "verdict"),
)
FACTOR_COLUMNS = (
    Column("factor", "factor"),
    Column("settings", "settings", "d"),
    Column("lowest_tau", "lowest τ", "+.3f"),
    Column("moved", "moves a difference by", ".4f"),
    Column("pair", "of"),
    Column("effect", "in the design", "+.4f"),
    Column("effect_pair", "of", "s"),
)
CSV_COLUMNS = (
    Column("setting", "setting"),
    Column("factor", "factor"),
    Column("num_buckets", "k", "d"),
    Column("texts", "n", "d"),
    Column("tau", "τ", "+.3f"),
    Column("model", "model"),
    Column("rank", "rank", "d"),
    Column("mauve_debiased", "debiased", ".4f"),
    Column("low", "low", ".4f"),
    Column("high", "high", ".4f"),
    Column("mauve", "MAUVE", ".4f"),
)
_NAMED = 4  # pairs or settings in a sentence
NOTE = (
    "Cells: debiased MAUVE and, in brackets, the rank. τ: Kendall's, of the ranking to the default's. told apart: in "
    "so many settings, with all pairs of a setting taken together; one setting alone errs in as many cases as its "
    "level says, so that of many settings one may turn a pair of equal models by chance. in the design: the mean "
    "change where several factors are changed at once; a setting of the design that is tried already is not listed "
    "again. Differences with another c are on another scale, and only signs count. Models of one score are ordered by "
    "their frontier integral."
)


def verdict(found: RobustnessNumbers) -> str:
    """Whether another setting changes the ranking, in words."""
    labels = shown_names(list(found.ranking))
    others = len(found.settings) - 1
    turned = [pair for pair in found.pairs if pair.turned]
    if turned:
        pairs = _some([f"{labels[pair.a]} and {labels[pair.b]} under {_some(pair.turned)}" for pair in turned])
        return (
            f"The ranking depends on the settings: {pairs} turn, the one behind by default being ahead and told apart."
        )
    if others == 0:
        return "There is no other setting than the default: nothing can be said of the ranking."
    firm = sum(pair.verdict == "holds" for pair in found.pairs)
    if found.agreeing == others:
        ranked = f"all {others} other settings rank" if others > 1 else "the other setting ranks"
        return (
            f"No setting changes the ranking: {ranked} the models alike. {firm} of {len(found.pairs)} differences "
            f"{'is' if firm == 1 else 'are'} told apart whatever the setting."
        )
    return (
        f"No setting turns the ranking: {found.agreeing} of {others} other settings rank the models alike, and where "
        f"models change places they are not told apart. {firm} of {len(found.pairs)} differences are told apart "
        "whatever the setting."
    )


def facts(found: RobustnessNumbers) -> list[str]:
    """What else is to be said, in sentences."""
    labels = shown_names(list(found.ranking))
    part = [pair for pair in found.pairs if pair.verdict == "in part"]
    never = [f"{labels[pair.a]} and {labels[pair.b]}" for pair in found.pairs if pair.verdict == "never told apart"]
    lines = [
        f"{labels[pair.a]} and {labels[pair.b]} are told apart in {pair.real} of {pair.settings} settings; their "
        f"difference moves most by {_factor(pair)}."
        for pair in part[:_NAMED]
    ]
    lines += [f"Never told apart: {_some(never)}."] if never else []
    lines += [f"Not tried, {printable(name)}: {printable(reason)}." for name, reason in found.failed.items()]
    lines += [f"Not varied, {name}: {printable(reason)}." for name, reason in found.left_out.items()]
    return lines


def _factor(pair: PairStability) -> str:
    return "nothing" if pair.moved is None else f"{pair.depends_on} ({digits(pair.moved, '+.3f')})"


def _some(names: Sequence[str]) -> str:
    """The first few names, and how many more there are."""
    shown = [printable(name) for name in names[:_NAMED]]
    return "; ".join(shown) + (f" and {len(names) - _NAMED} more" if len(names) > _NAMED else "")


def _setting_columns(found: RobustnessNumbers) -> list[Column]:
    labels = shown_names(list(found.ranking))
    models = [Column(f"model {name}", labels[name]) for name in found.ranking]
    first = (Column("setting", "setting"), Column("k", "k", "d"), Column("n", "n", "d"), Column("tau", "τ", "+.3f"))
    return [*first, *models]


def setting_rows(found: RobustnessNumbers) -> list[TableRow]:
    """One row a setting: k, texts, τ, and each model's score with its rank."""
    rows: list[TableRow] = []
    for setting in found.settings:
        row: TableRow = {"setting": printable(setting.name), "k": setting.num_buckets, "n": setting.texts}
        row["tau"] = setting.tau
        for name, score in setting.models.items():
            row[f"model {name}"] = f"{digits(score.mauve_debiased)} ({score.rank})"
        rows.append(row)
    return rows


def pair_rows(found: RobustnessNumbers) -> list[TableRow]:
    """One row a pair."""
    labels = shown_names(list(found.ranking))
    return [
        {
            "a": labels[pair.a],
            "b": labels[pair.b],
            "difference": pair.default.difference,
            "smallest": pair.smallest,
            "largest": pair.largest,
            "ahead": f"{pair.ahead} of {pair.settings}",
            "real": f"{pair.real} of {pair.settings}",
            "turned": len(pair.turned),
            "depends_on": pair.depends_on,
            "moved": pair.moved,
            "verdict": pair.verdict,
        }
        for pair in found.pairs
    ]


def factor_rows(found: RobustnessNumbers) -> list[TableRow]:
    """One row a factor."""
    labels = shown_names(list(found.ranking))

    def pair(names: tuple[str, str] | None) -> str | None:
        return None if names is None else " and ".join(labels[name] for name in names)

    return [
        {
            "factor": item.factor,
            "settings": item.settings,
            "lowest_tau": item.lowest_tau,
            "moved": item.moved,
            "pair": pair(item.pair),
            "effect": item.effect,
            "effect_pair": pair(item.effect_pair),
        }
        for item in found.factors
    ]


def model_rows(found: RobustnessNumbers) -> list[TableRow]:
    """One row a setting and model, for programs."""
    rows: list[TableRow] = []
    for setting in found.settings:
        own: TableRow = {"setting": setting.name, "factor": setting.factor, "num_buckets": setting.num_buckets}
        own |= {"texts": setting.texts, "tau": setting.tau}
        for name in setting.ranking:
            score = setting.models[name]
            scores: TableRow = {"model": name, "rank": score.rank, "mauve_debiased": score.mauve_debiased}
            rows.append(own | scores | {"low": score.ci[0], "high": score.ci[1], "mauve": score.mauve})
    return rows


def robustness_table(found: RobustnessNumbers) -> str:
    """The analysis for the terminal: what it says, settings, pairs, factors, the signature."""
    settings = f"{len(found.settings)} settings" if len(found.settings) > 1 else "one setting"
    lines = [f"{len(found.ranking)} models under {settings}", ""]
    for sentence in (verdict(found), *facts(found)):
        lines += wrapped(sentence, "  ", "  ")
    lines.append("")
    for columns, rows in _tables(found):
        lines += [*plain_table(columns, rows), ""] if rows else []
    lines += wrapped(NOTE, "  ", "  ")
    return "\n".join([*lines, "", f"signature: {found.signature}"])


def robustness_markdown(found: RobustnessNumbers) -> str:
    """The tables in Markdown, with what they say."""
    parts = [f"**{markdown_text(verdict(found))}**", "\n".join(map(markdown_text, facts(found)))]
    parts += [markdown_table(columns, rows) for columns, rows in _tables(found) if rows]
    signature = found.signature.replace("`", " ")
    return "\n\n".join([*(part for part in parts if part), markdown_text(NOTE), f"`{signature}`"]) + "\n"


def robustness_latex(found: RobustnessNumbers) -> str:
    """The tables as LaTeX `tabular`s; they need the package booktabs."""
    parts = [latex_table(columns, rows) for columns, rows in _tables(found) if rows]
    return "\n\n".join([*parts, f"% {found.signature}"]) + "\n"


def robustness_csv(found: RobustnessNumbers, table: str = "settings") -> str:
    """One table as CSV, numbers in full."""
    tables = {
        "settings": (CSV_COLUMNS, model_rows),
        "pairs": (PAIR_COLUMNS, pair_rows),
        "factors": (FACTOR_COLUMNS, factor_rows),
    }
    if table not in tables:
        raise ValueError(f"table must be one of {', '.join(tables)}, got {table!r}")
    columns, rows = tables[table]
    return csv_table(columns, rows(found))


def _tables(found: RobustnessNumbers) -> list[tuple[Sequence[Column], list[TableRow]]]:
    has_design = any(setting.in_design for setting in found.settings)
    factors = FACTOR_COLUMNS if has_design else FACTOR_COLUMNS[:5]
    return [
        (_setting_columns(found), setting_rows(found)),
        (PAIR_COLUMNS, pair_rows(found)),
        (factors, factor_rows(found)),
    ]
