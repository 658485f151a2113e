"""The first screen of a result: the verdict, the main number with what it rests on, and the rows of its numbers."""

from __future__ import annotations

from collections.abc import Mapping

from mauve_metric.options import HUMAN
from mauve_metric.report.document import Column, Table, TableRow, plain_table
from mauve_metric.report.wording import words
from mauve_metric.report.wording.verdict_sentence import (
    MOST_NOTES,
    facts_of,
    featurizers_of,
    has_layout_scores,
    headline,
    notes_of,
    ranking_sentence,
    runs_ranking_sentence,
    said_of_models,
    several_featurizers,
)
from mauve_metric.report.wording.words import as_in_papers, ngram_sentence
from mauve_metric.results.comparison import Comparison, OwnScore, ranking_score
from mauve_metric.results.explanation import Explanation, GapBucket, NearText, ScoredText
from mauve_metric.results.result import MauveResult
from mauve_metric.results.signature import format_value, parse_signature
from mauve_metric.runtime.plain_text import counted, digits, excerpt, printable, shown_names
from mauve_metric.scoring.verdict import is_same

_SMALL = 0.1  # of a score: two decimals of an interval are too few
ALL, TOGETHER = "all", "joined"  # closeness over all featurizers; one classifier of the features of all
_TOGETHER_LEGEND = f"{TOGETHER}: one classifier of the features of all featurizers"
FEATURIZER_COLUMN = Column("featurizer", "featurizer")
FEATURIZER_COLUMNS = (
    FEATURIZER_COLUMN,
    *Column.each(".4f", "closeness", "low", "high"),
    Column("decides", "decides"),
    *Column.each(".4f", mauve_debiased="by groups", mauve_finer="by finer groups", mauve_classifier="by classifier"),
    *Column.each(".3f", auc="AUC"),
    Column("mauve", "MAUVE", ".4f"),
    *Column.each(".3f", "precision", "recall"),
    Column("p_value", "p", ".2g"),
)


def with_interval(value: float | None, ends: tuple[float, float] | None, form: str = ".3f", of: str = "") -> str:
    """A score with its interval.

    Args:
        form: of the ends, those of a small score with three decimals. of: form of the score; empty: three decimals.

    >>> with_interval(0.25, (0.2, 0.3), ".2f"), with_interval(None, None)
    ('0.250 [0.20, 0.30]', '–')
    >>> with_interval(0.007, (0.006, 0.009), ".2f")
    '0.007 [0.006, 0.009]'
    """
    if value is None:
        return "–"
    form = ".3f" if form == ".2f" and value < _SMALL else form
    interval = "" if ends is None else f" [{digits(ends[0], form)}, {digits(ends[1], form)}]"
    return digits(value, of or ".3f") + interval


def verdict_words(result: MauveResult) -> str:
    """The verdict, and the code of its reason in brackets."""
    verdict = result.verdict.replace(HUMAN, printable(result.reference_name))
    return verdict + (f" ({result.verdict_reason})" if result.verdict_reason else "")


def rows_by_featurizer(result: MauveResult, each: Mapping[str, MauveResult]) -> list[TableRow]:
    """A row for each featurizer, with its own numbers, and one for the classifier of all; the one that decides marked.

    Args:
        result: by all featurizers. each: the result of the same sets by each.
    """
    labels, rows, is_open = shown_names(list(each)), list[TableRow](), True
    for name, single in each.items():
        decides = is_open and is_same(single.closeness, result.closeness)
        is_open = is_open and not decides
        more = {"featurizer": labels[name], "decides": "yes" if decides else None}
        rows.append(Table.row(FEATURIZER_COLUMNS, single, "closeness_ci", **more))
    if (joint := result.together) is not None:
        score, decides = joint.mauve_classifier, is_open and is_same(joint.mauve_classifier, result.closeness)
        more = {"featurizer": TOGETHER, "decides": "yes" if decides else None}
        rows.append(Table.row(FEATURIZER_COLUMNS, joint, "mauve_classifier_ci", closeness=score, **more))
    return rows


def featurizers_table(result: MauveResult) -> Table:
    """One row a featurizer, with the columns that hold anything."""
    return Table(FEATURIZER_COLUMNS, rows_by_featurizer(result, result.by_featurizer)).filled()


def rows_of_model(comparison: Comparison, name: str) -> list[TableRow]:
    """The same of one model of several; none for a single featurizer."""
    each = {label: single.models[name] for label, single in comparison.by_featurizer.items()}
    return rows_by_featurizer(comparison.models[name], each) if len(each) > 1 else []


def parts_of(result: MauveResult) -> list[tuple[str, float, tuple[float, float] | None, bool]]:
    """The scores of one featurizer that closeness is the lowest of: name, score, interval, and if it decides.

    Finer groups are left out where they neither decide nor reach lower than the others.
    """
    scores = [
        ("by groups", result.mauve_debiased, result.mauve_debiased_ci),
        ("by finer groups", result.mauve_finer, result.mauve_finer_ci),
        ("by classifier", result.mauve_classifier, result.mauve_classifier_ci),
    ]
    low, _ = min(filter(None, (result.mauve_debiased_ci, result.mauve_classifier_ci)), default=(1.0, 1.0))
    parts, is_open = list[tuple[str, float, tuple[float, float] | None, bool]](), True
    for name, value, ends in scores:
        decides = is_open and is_same(value, result.closeness)
        is_open = is_open and not decides
        if value is not None and (decides or "finer" not in name or (ends is not None and ends[0] < low)):
            parts.append((name, value, ends, decides))
    return parts


def support_words(*results: MauveResult, featurizer: str = "") -> str:
    """The scores that two halves of the human texts reach, beside precision and recall; empty where it is not known."""
    shares = sorted({digits(result.human_halves, ".2f") for result in results if result.human_halves is not None})
    by = f" by {featurizer}" if featurizer else ""
    reach = " to ".join(dict.fromkeys([*shares[:1], *shares[-1:]]))
    return f"two halves of the {printable(results[0].reference_name)} texts reach {reach} in both{by}" if shares else ""


def without_layout_cell(result: MauveResult) -> str:
    """The closeness by which a model is ranked, with its interval."""
    plain = result.closeness_without_layout is not None
    return with_interval(
        ranking_score(result), result.closeness_without_layout_ci if plain else result.closeness_ci, ".2f"
    )


_SHORT = 90  # characters of a text
_MOST_SHOWN = 3  # things of a kind in an explanation
_KINDS = (
    ("missed", "Kinds of texts (groups of similar ones) that the model writes less than {people}:"),
    ("too much", "Kinds of texts that it writes more than {people}:"),
)


def first_screen(result: MauveResult, title: str = "", more: str = "") -> str:
    """At most 15 lines: the sets, the verdict, closeness and what it rests on, MAUVE, notes.

    With several featurizers, a row for each and one for a classifier of the features of all.

    Args:
        title: of the sets; empty: their sizes alone. more: the last line.
    """
    facts = facts_of(result)
    numbers = _several_lines(result) if len(result.by_featurizer) > 1 else _single_lines(result)
    blocks = [
        [_head(result, title)],
        [headline(result, facts), *numbers],
        [f"! {note}" for note in facts.notes],
        [more] if more else [],
    ]
    return "\n\n".join(map("\n".join, filter(None, blocks)))


def _head(result: MauveResult, title: str) -> str:
    """The sets, their sizes and featurizers, and their design."""
    design = {
        "aligned": "same prompts",
        "prompts": "shared prompts",
        "found": f"shared prompts, found for {result.partners} of {result.n_q} texts",
        "independent": "each row a draw of its own",
        "undeclared": "",
    }[result.design]
    return " · ".join(filter(None, (printable(title), _sizes(result), featurizers_of(result), design)))


def _closeness_line(result: MauveResult) -> tuple[str, str, str]:
    level = f"{100 * result.confidence_level:g} % interval; " if result.closeness_ci else ""
    return (
        "closeness",
        with_interval(result.closeness, result.closeness_ci),
        f"{level}1 = like other {printable(result.reference_name)} texts",
    )


def _single_lines(result: MauveResult) -> list[str]:
    """The numbers of one featurizer, a line each."""
    gloss = {"by groups": "groups of similar texts", "by finer groups": "groups of two or three texts a side"}
    if result.auc is not None:
        gloss["by classifier"] = f"picks the model's text {round(100 * result.auc)} times in 100 (50 = chance)"
    name = printable(result.reference_name)
    reach = f"{as_in_papers(result.signature_entries)}; two {name} sets reach {digits(result.mauve_ceiling, '.3f')}"
    rows = [_closeness_line(result)]
    for name, value, ends, decides in parts_of(result):
        said = "; ".join(filter(None, ("decides, as the lowest" if decides else "", gloss.get(name))))
        rows.append((f"  {name}", with_interval(value, ends), said))
    rows.append(("MAUVE", digits(result.mauve, ".3f"), reach))
    lines = [f"  {name:<17} {number:<23} {said}".rstrip() for name, number, said in rows]
    if result.precision is not None and result.recall is not None:
        shown = f"precision {_support_cell(result, 'precision')}", f"recall {_support_cell(result, 'recall')}"
        lines.append("  ".join(["", *shown, support_words(result)]).rstrip())
    return lines


_SEVERAL_COLUMNS = (
    Column("featurizer", ""),
    *Column.each("s", "closeness"),
    *Column.each(".3f", mauve_debiased="by groups", mauve_classifier="by classifier"),
    Column("picks", "picked", ">"),
    *Column.each(".3f", mauve="MAUVE"),
    *Column.each(">", "precision", "recall"),
)


def _several_lines(result: MauveResult) -> list[str]:
    """Closeness, and a row for each featurizer."""
    rows = []
    for row in rows_by_featurizer(result, result.by_featurizer):
        auc, low, high = row["auc"], row["low"], row["high"]
        ends = (low, high) if isinstance(low, float) and isinstance(high, float) else None
        closeness = row["closeness"]
        shown: TableRow = {
            "closeness": with_interval(closeness if isinstance(closeness, float) else None, ends),
            "picks": f"{round(100 * auc)} in 100" if isinstance(auc, float) else None,
            "featurizer": f"{row['featurizer']}{' *' if row['decides'] else ''}",
        }
        single = words.each_result(result).get(str(row["featurizer"]))
        shown |= {name: _support_cell(single, name) for name in ("precision", "recall")}
        rows.append(row | shown)
    first, single = next(iter(words.each_result(result).items()))
    scale = "*: decides, as the lowest; picked: the model's text, by a classifier; 50 = chance"
    joined = _TOGETHER_LEGEND if result.together is not None else ""
    name = printable(result.reference_name)
    reach = f"MAUVE: two {name} sets reach {digits(single.mauve_ceiling, '.3f')} by {first}"
    title, number, said = _closeness_line(result)
    return [
        f"  {title} {number}    {said}",
        *plain_table(_SEVERAL_COLUMNS, rows),
        f"  {'; '.join(filter(None, (scale, joined, reach, support_words(single, featurizer=first))))}",
    ]


def _support_cell(result: MauveResult | None, name: str) -> str | None:
    value = getattr(result, name, None)
    return None if value is None else with_interval(value, getattr(result, f"{name}_ci"), ".2f", ".2f")


def verdict_line(result: MauveResult) -> str:
    """The verdict and closeness.

    >>> from mauve_metric import compute_mauve
    >>> verdict_line(compute_mauve(p_features=[[0.0], [1.0]] * 9, q_features=[[0.0], [1.0]] * 9))[:37]
    'no verdict (too_few): closeness 1.000'
    """
    return f"{verdict_words(result)}: closeness {with_interval(result.closeness, result.closeness_ci)}"


def comparison_screen(comparison: Comparison, title: str = "", more: str = "") -> str:
    """At most 20 lines for three models: a row a model in the order of the ranking, what differs, notes."""
    first = next(iter(comparison.models.values()))
    design = {"aligned": "same prompts", "prompts": "shared prompts", "found": "shared prompts, found"}
    texts = counted(first.n_p, f"{printable(first.reference_name)} text")
    sizes = f"{counted(len(comparison.models), 'model')} against {texts}"
    named = comparison.by_featurizer or {str(first.signature_entries.get("featurize_model_name", "")): comparison}
    featurizers = " + ".join(printable(name) for name in named if name)
    head = " · ".join(filter(None, (title or sizes, featurizers, design.get(comparison.design, ""))))
    said = comparison_sentences(comparison)
    severe = [warning.message for warning in comparison.warnings if warning.severe]
    of_models = said_of_models({name: notes_of(result) for name, result in comparison.models.items()})
    notes = [*severe, *of_models][:MOST_NOTES]
    table = [*models_lines(comparison), f"  {scale_sentence(comparison)}"]
    if comparison.by_subgroup:
        subgroups = counted(len(comparison.by_subgroup), "subgroup")
        said = [*said, f"Scores of {subgroups}: --all and --report show them (in Python by_subgroup)."]
    blocks = [[head], table, said, [f"! {note}" for note in notes], [more] if more else []]
    return "\n\n".join(map("\n".join, filter(None, blocks)))


def comparison_sentences(comparison: Comparison) -> list[str]:
    """The differences, in a sentence or two, a sentence for each model with several runs, and the order of these."""
    by_runs = runs_ranking_sentence(comparison)
    return [ranking_sentence(comparison), *runs_sentences(comparison), *([by_runs] if by_runs else [])]


def models_lines(comparison: Comparison) -> list[str]:
    """The table of models: closeness, what it is the lowest of, and the verdict."""
    called = shown_names(list(comparison.models))
    several = len(comparison.by_featurizer) > 1
    at_floor = comparison.ranked_by == "precision"
    columns = [*Column.each("s", "model", "closeness")]
    columns += [*Column.each("s", plain="without layout")] if has_layout_scores(comparison) else []
    if several:
        labels = [*rows_of_model(comparison, comparison.ranking[0])]
        columns += [Column(f"by {row['featurizer']}", str(row["featurizer"]), ">") for row in labels]
    else:
        columns += [*Column.each(".3f", groups="by groups", mauve="MAUVE")]
    if not several or at_floor:
        by = f" by {next(iter(comparison.by_featurizer))}" if several else ""
        columns += [Column("precision", f"precision{by}"), Column("recall", f"recall{by}")]
    columns.append(Column("verdict", "verdict"))
    rows = []
    for name in comparison.ranking:
        result = comparison.models[name]
        row: TableRow = {
            "model": called[name],
            "closeness": with_interval(result.closeness, result.closeness_ci, ".2f"),
            "plain": without_layout_cell(result),
            "groups": result.mauve_debiased,
            "mauve": comparison.own[name].mauve,
            "precision": _support_cell(result, "precision"),
            "recall": _support_cell(result, "recall"),
            "verdict": verdict_words(result),
        }
        for scored in rows_of_model(comparison, name):
            mark, value = "*" if scored["decides"] else " ", scored["closeness"]
            row[f"by {scored['featurizer']}"] = f"{digits(value, '.3f')}{mark}" if isinstance(value, float) else None
        rows.append({column.key: None for column in columns} | row)
    return plain_table([column for column in columns if any(row[column.key] is not None for row in rows)], rows)


def scale_sentence(comparison: Comparison) -> str:
    """The sentence below the table of models: the level of the intervals, and what equal sets reach."""
    first, reach = comparison.models[comparison.ranking[0]], comparison.own[comparison.ranking[0]].mauve_ceiling
    said = [f"brackets: {100 * comparison.confidence_level:g} % intervals"]
    if len(comparison.by_featurizer) > 1:
        if first.together is not None:
            said.append(_TOGETHER_LEGEND)
        said.append("*: the lowest, which closeness is")
    else:
        said.append("by groups: on buckets common to all models")
        if reach is not None:
            said.append(f"MAUVE: two {printable(first.reference_name)} sets reach about {digits(reach, '.2f')}")
    if len(comparison.by_featurizer) < 2 or comparison.ranked_by == "precision":
        said.append(support_words(*comparison.models.values()))
    return "; ".join(filter(None, said))


def _sizes(result: MauveResult) -> str:
    """The number of texts of each side, and of those that were missing and left out."""
    dropped = result.p_dropped + result.q_dropped
    left_out = f" ({result.p_dropped} + {result.q_dropped} missing left out)" if dropped else ""
    return f"{result.n_p} + {result.n_q} texts{left_out}"


def runs_sentences(comparison: Comparison) -> list[str]:
    """A sentence for each model of which several runs were compared."""
    lines = []
    for name, summary in comparison.runs.items():
        scored = f"{printable(name)}, {len(summary.runs)} runs: "
        if summary.closeness is not None and summary.deviation is not None:
            scored += f"closeness {with_interval(summary.closeness, summary.ci, '.2f')} on average, "
            scored += f"deviation {digits(summary.deviation, '.3f')}; "
        mauve, deviation = digits(summary.mauve, ".3f"), digits(summary.mauve_deviation, ".3f")
        lines.append(f"{scored}MAUVE {mauve}, deviation {deviation}.")
    return lines


def explanation_screen(explanation: Explanation, title: str = "", more: str = "") -> str:
    """At most 40 lines: the verdict, what gives the model away, and the kinds of texts it misses or overdoes."""
    result = explanation.result
    blocks = [[_head(result, title)], [headline(result)], _giveaways(explanation)]
    for side, heading in _KINDS:
        kinds = [bucket for bucket in explanation.buckets if bucket.side == side and not bucket.noise][:_MOST_SHOWN]
        said = [line for bucket in kinds for line in _kind_lines(bucket, printable(result.reference_name))]
        name = result.reference_name
        people = "people do" if name == HUMAN else f"{printable(name)} does"
        blocks.append([heading.format(people=people), *said] if said else [])
    if not any(blocks[2:]):
        blocks.append(["Nothing here is more than chance would show."])
    return "\n\n".join(map("\n".join, filter(None, [*blocks, [more] if more else []])))


def _giveaways(explanation: Explanation) -> list[str]:
    """The n-grams that differ most, and two texts at each end of a classifier that tells the sets apart."""
    lines = [
        f"  {printable(ngram_sentence(use, explanation.result.reference_name))}"
        for use in explanation.ngrams[:_MOST_SHOWN]
    ]
    result = explanation.result
    is_told = result.auc is not None and result.auc > 0.5 and result.auc_p_value is not None
    if is_told and (result.auc_p_value or 0.0) <= 1 - result.confidence_level:
        for model, human in zip(explanation.most_model[:2], explanation.most_human[:2], strict=False):
            lines += [
                f"  {side}: {_short(near)}"
                for side, near in (("model", model), (printable(result.reference_name), human))
            ]
    return ["What gives the model away:", *lines] if lines else []


def _kind_lines(bucket: GapBucket, name: str) -> list[str]:
    """A bucket in two lines: its numbers with its words, and its most typical text of the side that has more there."""
    words_of = f"; telling words: {printable(', '.join(bucket.words))}" if bucket.words else ""
    texts = bucket.p_texts if bucket.side == "missed" else bucket.q_texts
    shown = [f"    {_short(near)}" for near in texts if near.in_bucket][:1]
    return [f"  a kind with {bucket.p_count} {name} and {bucket.q_count} model texts{words_of}", *shown]


def _short(near: NearText | ScoredText) -> str:
    """The number of a text and its beginning."""
    return f"text {near.row + 1}" + ("" if near.text is None else f": {excerpt(near.text, _SHORT)}")


def paper_table(comparison: Mapping[str, tuple[MauveResult, float]], ranked_by: str = "closeness") -> Table:
    """The columns of a paper, that by which the models are ranked among them.

    Args:
        comparison: for each model its result and the published MAUVE. ranked_by: see `Comparison`.
    """
    results = [result for result, _ in comparison.values()]
    by = "".join(f" by {featurizer}" for featurizer in several_featurizers(results[0])[:1])
    plain = any(result.closeness_without_layout is not None for result in results)
    columns = [
        Column("model", "model"),
        Column("mauve", f"MAUVE{by}", ".3f"),
        *Column.each("s", "closeness"),
        *(Column.each("s", plain="without layout") if plain else ()),
        *(Column.each("s", groups=f"by groups{by}") if ranked_by == "groups" else ()),
        *Column.each("s", precision=f"precision{by}", recall=f"recall{by}"),
    ]
    table: list[TableRow] = [
        {
            "model": name,
            "mauve": mauve,
            "closeness": with_interval(result.closeness, result.closeness_ci),
            "plain": without_layout_cell(result),
            "groups": with_interval(result.mauve_debiased, result.mauve_debiased_ci),
            "precision": _support_cell(result, "precision"),
            "recall": _support_cell(result, "recall"),
        }
        for name, (result, mauve) in comparison.items()
    ]
    return Table(columns, table)


def paper_note(models: Mapping[str, MauveResult], published: OwnScore | MauveResult) -> str:
    """The note below the table of a paper: the sets, the settings and the meaning of the columns.

    published: has the MAUVE of the first model.
    """
    first = next(iter(models.values()))
    sizes = sorted({result.n_q for result in models.values()})
    of_models = str(sizes[0]) if len(sizes) == 1 else f"{sizes[0]} to {sizes[-1]}"
    scaling = format_value(first.signature_entries["mauve_scaling_factor"])
    features = f", features of {featurizers_of(first)}" if featurizers_of(first) else ""
    by = "".join(f" by {featurizer}" for featurizer in several_featurizers(first)[:1])
    ceiling, name = published.mauve_ceiling, printable(first.reference_name)
    reach = "" if ceiling is None else f": two {name} sets of this size reach {digits(ceiling, '.3f')}{by}"
    kind = as_in_papers(parse_signature(published.signature))
    support = support_words(*models.values())
    halves = f" Precision and recall: {support}{by}." if support else ""
    return (
        f"{counted(first.n_p, f'{name} text')} and {of_models} of each model{features}, "
        f"{counted(first.num_buckets, 'bucket')}, "
        f"c = {scaling}. Closeness: MAUVE without sampling bias, by groups of similar texts or by a classifier, with "
        f"{100 * first.confidence_level:g} % intervals; 1 = like other {name} texts. MAUVE {kind} "
        f"(Pillutla et al., 2021){reach}.{halves}"
    )


def caveats(models: Mapping[str, MauveResult]) -> list[str]:
    """The verdicts with their notes as sentences, each once, with the models that they are about."""
    said = {name: (headline(result).removesuffix("."), *notes_of(result)) for name, result in models.items()}
    return [sentence if sentence.endswith("?") else f"{sentence}." for sentence in said_of_models(said)]
