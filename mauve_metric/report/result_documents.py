"""The documents of results: prose and tables, which every renderer shows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from mauve_metric.report.document import (
    FILES,
    Column,
    Document,
    Heading,
    Line,
    Paper,
    Part,
    Preformatted,
    Prose,
    Table,
    TableRow,
)
from mauve_metric.report.first_screen import (
    ALL,
    FEATURIZER_COLUMN,
    TOGETHER,
    caveats,
    comparison_screen,
    featurizers_table,
    first_screen,
    paper_note,
    paper_table,
    rows_of_model,
    support_words,
    verdict_words,
)
from mauve_metric.report.wording import words
from mauve_metric.report.wording.verdict_sentence import has_layout_scores, ranking_sentence
from mauve_metric.report.wording.words import columns_with_reference, reference_text, with_reference
from mauve_metric.results.comparison import Comparison, Difference
from mauve_metric.results.explanation import Explanation, NearText, ScoredText
from mauve_metric.results.result import MauveResult
from mauve_metric.results.scores import SCORES
from mauve_metric.runtime.plain_text import counted, digits, excerpt, percent, printable
from mauve_metric.uncertainty.score_warnings import ScoreWarning

SCORE_COLUMNS = (
    *Column.each("s", "score", title="score"),
    *Column.each(".4f", "value", "low", "high"),
    *Column.each("s", "better", "meaning"),
)
WARNING_COLUMNS = Column.each("s", "verdict", "warnings")  # of CSV: the verdict, and the codes of warnings
FACT_COLUMNS = Column.each("s", name="rests on", value="value", meaning="meaning")
MODEL_COLUMNS = (
    Column("rank", "rank", "d"),
    Column("model", "model"),
    *Column.each(".4f", "closeness", "low", "high", closeness_without_layout="without layout"),
    *Column.each(".4f", mauve_debiased="by groups", mauve_finer="by finer groups", mauve_classifier="by classifier"),
    Column("auc", "AUC", ".3f"),
    *Column.each(".4f", mauve_own="MAUVE", mauve="shared MAUVE"),
    *Column.each(".3f", "precision", precision_low="low", precision_high="high"),
    *Column.each(".3f", "recall", recall_low="low", recall_high="high"),
    Column("frontier_integral", "frontier int.", ".4f"),
    Column("n", "texts", "d"),
)
SUBGROUP_COLUMNS = (
    *Column.each("s", label="subgroup", model="model"),
    *Column.each("d", n_p="human", n_q="texts"),
    *Column.each(".3f", "recall", "coverage", coverage_low="low", coverage_high="high"),
    Column("missed", "missed"),
    *Column.each(".4f", "closeness", "low", "high"),
    Column("auc", "AUC", ".3f"),
)
CSV_COLUMNS = (  # what the table of models has in CSV besides: the difference from the first one
    *Column.each("s", "difference", "difference_low", "difference_high", "difference_p", "differs"),
    *WARNING_COLUMNS,
)
_JUDGED = tuple(column.key for column in CSV_COLUMNS)
TEST_COLUMN = Column("p_value", "p", ".2g")
DIFFERENCE_COLUMNS = (
    *Column.each("s", a="model", b="against"),
    *Column.each("+.4f", "difference", "low", "high"),
    TEST_COLUMN,
    Column("real", "real"),
)
GAP_COLUMNS = (Column("part", "part", ".4f"), Column("share", "share", ">"), Column("meaning", "of the gap"))
BUCKET_COLUMNS = (
    *Column.each("d", "rank", "bucket"),
    Column("side", "side"),
    Column("contribution", "part of the gap", ".4f"),
    Column("share", "share", ".3f"),
    *Column.each("d", p_count="human", q_count="model"),
    Column("p_value", "p", ".2g"),
    Column("overlap", "overlap", ".2f"),
    Column("other_rank", "other rank", "d"),
    Column("about", "about"),
)
SUBGROUP_TEXT_COLUMNS = Column.each("s", "bucket", "label", "p_count", "q_count")
TEXT_COLUMNS = Column.each("s", "bucket", "side", "row", "distance", "in_bucket", "text")
_ITEM = (" " * 4 + "- ", " " * 6)  # indents of a text


def of_result(result: MauveResult) -> Document:
    """Build the document of a score."""
    each = result.by_featurizer if len(result.by_featurizer) > 1 else {}
    rows = []
    for name, score in SCORES.items():
        if (value := getattr(result, name)) is not None:
            low, high = getattr(result, f"{name}_ci", None) or (None, None)
            meaning = with_reference(score.meaning, result.reference_name)
            rows.append((name, score.title, value, low, high, score.better, meaning))
    scores = Table.of(SCORE_COLUMNS, rows)
    only = f"All numbers below but closeness are by {next(iter(words.each_result(result)))}." if each else ""
    halves = f"Precision and recall: {support_words(result)}." if support_words(result) else ""
    parts: tuple[Part, ...] = (
        Preformatted(first_screen(result)),
        words.warnings_prose(words.result_warnings(result)),
        *([featurizers_table(result)] if each else []),
        Prose([only]),
        Table(SCORE_COLUMNS[1:], scores.rows),
        Prose([halves]),
        Prose([words.learned_sentence(result)], advice=True),
        Table.of(FACT_COLUMNS, words.facts(result)),
    )
    more: TableRow = {"verdict": verdict_words(result), "warnings": codes_of_warnings(result.warnings)}
    by: tuple[Column, ...] = ()
    if each:
        by, first = (FEATURIZER_COLUMN,), next(iter(words.each_result(result)))
        scores = scores._replace(
            rows=[row | {"featurizer": ALL if row["score"] == "closeness" else first} for row in scores.rows]
        )
    columns = (*by, *SCORE_COLUMNS[:1], *SCORE_COLUMNS[2:6], *WARNING_COLUMNS)
    tables = {"scores": Table(columns, [row | more for row in scores.rows])}
    tables |= {"featurizers": featurizers_table(result)} if each else {}
    of_each = [(printable(name), single.signature) for name, single in each.items()]
    reference = f"{printable(result.reference_name)} text"
    title = f"{counted(result.n_q, 'model text')} against {counted(result.n_p, reference)}"
    models = {"model": result}
    table = paper_table({"model": (result, result.mauve)})
    paper = Paper(table, paper_note(models, result), caveats(models))
    return Document(title, parts, tables, [("", result.signature), *of_each], paper)


def codes_of_warnings(warnings: Iterable[ScoreWarning]) -> str:
    """The codes of warnings, each once, the most important first."""
    return " ".join(dict.fromkeys(warning.code for warning in sorted(warnings, key=lambda warning: -warning.weight)))


RUNS_NOTE = (
    "Intervals of several runs of one model are over other runs and other texts; they allow for the runs' own errors "
    "as if these did not average out, since the runs share the human texts. In a difference of two such models the "
    "errors of the shared human texts cancel. A model of one run has no deviation between runs, and no such difference."
)


def of_comparison(comparison: Comparison) -> Document:
    """Build the document of a comparison."""
    first, tables = next(iter(comparison.models.values())), _comparison_tables(comparison)
    models = counted(len(comparison.models), "model")
    level = f"Intervals: {100 * comparison.confidence_level:g} %, {first.ci_scope}."
    several = [words.DIFFERENCE_NOTE] if len(comparison.differences) > 1 else []
    warnings = words.warnings_prose(words.collected_warnings(comparison))
    parts: list[Part] = [Preformatted(comparison_screen(comparison)), warnings]
    models_table = tables["models"]
    unranked = all(row["rank"] is None for row in models_table.rows)
    empty = {"rank"} if unranked else set()
    if not has_layout_scores(comparison):
        empty.add("closeness_without_layout")
    shown = [column for column in models_table.columns if column.key not in empty]
    parts += [models_table._replace(columns=shown), Prose([*words.notes(comparison), level])]
    parts += [Prose([with_reference(RUNS_NOTE, comparison.reference_name)])] if comparison.runs else []
    parts += [tables["differences"], Prose([*several, words.forecast_sentence(comparison)])]
    for title, key in (
        (words.RUNS_DIFFERENCES, "runs_differences"),
        (words.RECALL_DIFFERENCES, "recall_differences"),
        (words.LEARNED_DIFFERENCES, "learned_differences"),
        (words.TOGETHER_DIFFERENCES, "together_differences"),
    ):
        parts += [Heading(title), tables[key]] if tables[key].rows else []
    if comparison.subgroups:
        parts += [Heading("Subgroups"), Prose([words.missed_sentence(comparison.subgroups)])]
        parts += [tables["subgroups"], Prose([words.subgroup_note(comparison)])]
    of_each = [(printable(name), single.signature) for name, single in comparison.by_featurizer.items()]
    tables |= {"models": models_table._replace(columns=(*models_table.columns, *CSV_COLUMNS))}
    title = f"{models} against {first.n_p} {printable(first.reference_name)} texts, {first.num_buckets} common buckets"
    called = words.with_labels(comparison)
    rows = {name: (called.models[name], called.own[name].mauve) for name in called.ranking}
    table = paper_table(rows, comparison.ranked_by)
    below = [ranking_sentence(comparison)] if len(comparison.models) > 1 else []
    note = paper_note(called.models, next(iter(called.own.values())))
    paper = Paper(table, note, [*below, *caveats(called.models)])
    return Document(title, parts, tables, [("", comparison.signature), *of_each], paper)


def _comparison_tables(comparison: Comparison) -> dict[str, Table]:
    """The tables of models and differences, each featurizer's rows under its name where there are several."""
    each = words.each_featurizer(comparison)
    before = (FEATURIZER_COLUMN,) if len(each) > 1 else ()
    tested = (TEST_COLUMN,) if any(result.p_value is not None for result in comparison.models.values()) else ()

    def table(columns: Sequence[Column], rows: Callable[[Comparison], list[TableRow]]) -> Table:
        return Table(
            (*before, *columns), [row | {"featurizer": name} for name, scored in each.items() for row in rows(scored)]
        )

    return {
        "models": Table((*before, *MODEL_COLUMNS, *tested), _all_model_rows(comparison)),
        "differences": table(DIFFERENCE_COLUMNS, lambda scored: _difference_rows(scored.differences)),
        "runs_differences": Table(DIFFERENCE_COLUMNS, _difference_rows(words.with_labels(comparison).runs_differences)),
        "recall_differences": Table(
            DIFFERENCE_COLUMNS, _difference_rows(words.with_labels(comparison).recall_differences)
        ),
        "learned_differences": table(DIFFERENCE_COLUMNS, lambda scored: _difference_rows(scored.learned_differences)),
        "together_differences": Table(
            DIFFERENCE_COLUMNS, _difference_rows(words.with_labels(comparison).together_differences)
        ),
        "subgroups": table(columns_with_reference(SUBGROUP_COLUMNS, comparison.reference_name), _subgroup_rows),
    }


def _all_model_rows(comparison: Comparison) -> list[TableRow]:
    """The rows of models by all featurizers, by each, and by the classifier of all: each with its own numbers alone."""
    each = words.each_featurizer(comparison)
    if len(each) < 2:
        return _model_rows(next(iter(each.values())))
    called = words.with_labels(comparison)
    kept = ("rank", "model", "closeness", "low", "high", "closeness_without_layout", "n", *_JUDGED)
    rows = [
        {key: value if key in kept else None for key, value in row.items()} | {"featurizer": ALL}
        for row in _model_rows(called)
    ]
    rows += [row | {"featurizer": name} for name, scored in each.items() for row in _model_rows(scored)]
    for name in called.together_ranking:
        row = rows_of_model(called, name)[-1]
        empty = dict.fromkeys(rows[0])
        scores = {key: row[key] for key in ("closeness", "low", "high", "mauve_classifier", "auc")}
        rows.append(empty | scores | {"model": name, "featurizer": TOGETHER, "n": called.models[name].n_q})
    return rows


def _model_rows(comparison: Comparison) -> list[TableRow]:
    """The rows of one featurizer, the best model first; equal models share a rank, and without a difference none."""
    is_doubtful = any(result.verdict == "no verdict" for result in comparison.models.values())
    is_ranked = any(pair.real for pair in comparison.differences) and not is_doubtful
    equal = {(pair.a, pair.b) for pair in comparison.differences if pair.difference == 0}
    rows: list[TableRow] = []
    for position, name in enumerate(comparison.ranking):
        rank = rows[-1]["rank"] if position and (comparison.ranking[position - 1], name) in equal else position + 1
        rank = rank if is_ranked else None
        result, mauve = comparison.models[name], comparison.own[name].mauve
        columns = (*MODEL_COLUMNS, TEST_COLUMN)
        rows.append(Table.row(columns, result, "closeness_ci", rank=rank, model=name, mauve_own=mauve, n=result.n_q))
        rows[-1] |= {"verdict": verdict_words(result), "warnings": codes_of_warnings(result.warnings)}
        for score in ("precision", "recall"):
            low, high = getattr(result, f"{score}_ci") or (None, None)
            rows[-1] |= {f"{score}_low": low, f"{score}_high": high}
        first = next(
            (pair for pair in comparison.differences if (pair.a, pair.b) == (comparison.ranking[0], name)), None
        )
        low, high = (None, None) if first is None else first.ci or (None, None)
        rows[-1] |= {
            "difference": None if first is None else -first.difference,
            "difference_low": None if high is None else -high,
            "difference_high": None if low is None else -low,
            "difference_p": None if first is None else first.p_value,
            "differs": None if first is None else "yes" if first.real else "no",
        }
    return rows


def _subgroup_rows(comparison: Comparison) -> list[TableRow]:
    """A row a label and model: its recall, and the scores on the texts of the label."""
    rows = []
    for subgroup in comparison.subgroups:
        of_label = comparison.by_subgroup.get(subgroup.label)
        scores = Table.row(SUBGROUP_COLUMNS, of_label and of_label.models.get(subgroup.model), "closeness_ci")
        low, high = subgroup.coverage_ci or (None, None)
        missed = None if subgroup.missed is None else "yes" if subgroup.missed else "no"
        rows.append(scores | subgroup._asdict() | {"coverage_low": low, "coverage_high": high, "missed": missed})
    return rows


def _difference_rows(differences: Sequence[Difference]) -> list[TableRow]:
    return [
        Table.row(DIFFERENCE_COLUMNS, difference, real="yes" if difference.real else "no" if difference.ci else None)
        for difference in differences
    ]


def of_explanation(explanation: Explanation) -> Document:
    """Build the document of an explanation."""
    result, name = explanation.result, explanation.result.reference_name
    buckets = Table(
        columns_with_reference(BUCKET_COLUMNS, name),
        [Table.row(BUCKET_COLUMNS, bucket, about=", ".join(bucket.words)) for bucket in explanation.buckets],
    )
    gaps = (
        (explanation.type_one, "from buckets with too many model texts (Type I)"),
        (explanation.type_two, f"from buckets with too few (Type II): {reference_text(name)} that the model misses"),
        (explanation.noise, "from buckets that could be noise"),
    )
    parts: tuple[Part, ...] = (
        Preformatted(first_screen(result)),
        words.warnings_prose(words.result_warnings(result)),
        Prose([f"The gap of MAUVE to 1 is {digits(explanation.gap)}, in {result.num_buckets} buckets."]),
        Table.of(GAP_COLUMNS, [(value, percent(value, explanation.gap), text) for value, text in gaps]),
        Table(buckets.columns, buckets.rows, views=FILES),
        *_evidence(explanation),
    )
    texts = [
        (bucket.bucket, with_reference(side, name), *near)
        for bucket in explanation.buckets
        for side, near in bucket.texts
    ]
    labels = [(part.bucket, label, *sizes) for part in explanation.buckets for label, sizes in part.composition.items()]
    tables = {"buckets": buckets, "texts": Table.of(TEXT_COLUMNS, texts)}
    tables["subgroups"] = Table.of(SUBGROUP_TEXT_COLUMNS, labels)
    title = f"The gap between {result.n_q} model texts and {result.n_p} {printable(name)} texts"
    return Document(title, parts, tables, [("", result.signature)])


def _evidence(explanation: Explanation) -> list[Prose]:
    """The buckets with their texts, then the texts and n-grams by which a classifier separates the two sets."""
    prose, name = [], explanation.result.reference_name
    for bucket in explanation.buckets:
        lines = [Line(f"{fact}: {value}", " " * 4, " " * 7) for fact, value in words.bucket_facts(bucket, name)]
        lines += [_text_line(with_reference(side, name), near) for side, near in bucket.texts]
        prose.append(Prose(lines, lead=with_reference(bucket.title, name), paragraphs=True))
    extremes = [
        _text_line(with_reference(side, name), text)
        for side, texts in (("human", explanation.most_human), ("model", explanation.most_model))
        for text in texts
    ]
    uses = [Line(words.ngram_sentence(use, name), *_ITEM) for use in explanation.ngrams]
    return [
        *prose,
        Prose([words.STABILITY_NOTE] if explanation.buckets else []),
        Prose([with_reference(words.EXTREMES_NOTE, name), *extremes] if extremes else []),
        Prose([words.NGRAMS_NOTE, *uses] if uses else []),
        Prose([words.learned_sentence(explanation.result)] if explanation.result.normalised else []),
    ]


def _text_line(side: str, near: NearText | ScoredText) -> Line:
    return Line(f"{side} {near.label}: {excerpt(near.text or '')}".rstrip(": "), *_ITEM)
