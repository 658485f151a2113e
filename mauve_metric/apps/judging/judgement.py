"""Results of human judgement: Bradley–Terry scores with their correlations, and boundary guesses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from mauve_metric.report.document import Column, Document, Heading, Part, Prose, Table, TableRow
from mauve_metric.results.methods import SignedResult, plain
from mauve_metric.runtime.plain_text import counted, digits, percent, printable, shown_names

if TYPE_CHECKING:
    import altair as alt

Reading: TypeAlias = Literal["higher", "lower", "human", "as it is"]
Kind: TypeAlias = Literal["pairs", "ratings"]

QUESTION = Column("question", "question")
SCORE_COLUMNS = (
    Column("rank", "rank", "d"),
    Column("model", "model"),
    *Column.each("+.1f", ends=(), score="Bradley–Terry", low="low", high="high"),  # any number, and 0 is the mean
    Column("wins", "wins", "g"),
    Column("judgements", "judgements", "d"),
)
RATING_COLUMNS = (
    *SCORE_COLUMNS[:2],
    Column("score", "mean", ".4g", ()),
    *Column.each(".4g", "low", "high", ends=()),
    Column("judgements", "ratings", "d"),
)
AGREEMENT_COLUMNS = (
    Column("measure", "measure"),
    *Column.each("+.3f", correlation="Spearman", low="low", high="high"),
    Column("p_value", "p", ".2g"),
    Column("pearson", "Pearson", "+.3f"),
    Column("models", "models", "d"),
    Column("reading", "better"),
)
GAME_COLUMNS = (
    Column("model", "model"),
    *Column.each(".3f", "points", "low", "high", "random", always_last="always last"),
    *Column.each(".3f", "accuracy", accuracy_low="from", accuracy_high="to"),
    *Column.each(".3f", "exact", "eventually", false_alarms="false alarms", alpha="alpha"),
    Column("seconds", "s/sentence", ".1f"),
    *Column.each("d", "players", "rounds"),
)
PAIR_COLUMNS = (
    *Column.each("s", a="player", b="and"),
    *Column.each(".3f", "agreement", "low", "high"),
    Column("texts", "texts", "d"),
)
_PAIRS_SHOWN = 15  # pairs of players in what is printed; all of them are in the CSV
_NAMED = 6  # pairs of neighbours without a significant difference that are named
CORRELATION_NOTE = (
    "Spearman: 1 where a measure orders the models as people do; better: human is closeness to the human texts' value, "
    "as it is: larger is taken for better. Intervals are over other models. p: of no relation, by "
    "permutation, for each measure alone. Pearson: of the measure and people's scores; 1 on a rising line."
)


@dataclass(frozen=True)
class ModelScore:
    """Strength of one model in people's judgement.

    score: of pairs Bradley–Terry times 100, see `bradley_terry`; higher is better, the sum over the models is 0. Of
    ratings their mean. ci: its interval; None for a single rating. wins: of its judgements, a tie counting as half
    unless it was settled otherwise; None of ratings.
    """

    model: str = field(metadata={"in_dict": False})
    score: float
    ci: tuple[float, float] | None
    wins: float | None
    judgements: int


@dataclass(frozen=True)
class ScoreDifference:
    """Difference of the scores of a and b, and its interval (of this pair alone; None for single ratings)."""

    a: str
    b: str
    difference: float
    ci: tuple[float, float] | None


@dataclass(frozen=True)
class Agreement:
    """Agreement of a measure's order of the models with people's.

    correlation: Spearman's, in [-1, 1], 1 for the same order, of the measure so taken that larger is better. ci: its
    bootstrap interval over other models; None for fewer than five. reading: the better direction, see `Measured`.
    p_value: of "no relation", by permutation, for this measure alone. pearson: Pearson's r with people's scores,
    likewise. models: how many were ordered.
    """

    measure: str = field(metadata={"in_dict": False})
    correlation: float
    ci: tuple[float, float] | None
    p_value: float
    pearson: float
    models: int
    reading: Reading


@dataclass(frozen=True)
class QuestionScores:
    """The judgements on one question.

    models: the best first. differences: of every pair, the better first. agreement: of each measure that was
    given, the highest correlation first. leading: the difference of the first two correlations, with its bootstrap
    interval over other models. failed: why other measures have none. ties: None of ratings. items: that were rated.
    missing: rows without a rating. better: the better direction of the scores. group: the part of the judgements,
    None for all.
    """

    question: str
    judgements: int
    ties: int | None
    annotators: int | None
    models: tuple[ModelScore, ...]
    differences: tuple[ScoreDifference, ...]
    items: int | None = None
    missing: int = 0
    better: Literal["higher", "lower"] = "higher"
    group: str | None = None
    agreement: tuple[Agreement, ...] = ()
    leading: ScoreDifference | None = None
    failed: Mapping[str, str] = field(default_factory=dict)

    def strengths(self) -> dict[str, float]:
        """A number for each model, the larger the better."""
        sign = -1.0 if self.better == "lower" else 1.0
        return {score.model: sign * score.score for score in self.models}

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain Python values, models and measures by name."""
        names = ("group", "better", "judgements", "ties", "annotators", "items", "missing")
        values = {name: getattr(self, name) for name in names}
        models = {score.model: score for score in self.models}
        values |= {"ranking": [*models], "models": models, "differences": self.differences}
        values |= {"correlations": {entry.measure: entry for entry in self.agreement}, "failed": self.failed}
        values["leading"] = self.leading
        return {name: plain(value) for name, value in values.items()}


@dataclass(frozen=True)
class Judgement(SignedResult):
    """Preferences or ratings of people, by question.

    Attributes:
        kind: "pairs" or "ratings".
        questions: by the name of the column of answers; those of a part of the judgements by that and the group.
        confidence_level: of the intervals.
        quick: judgements that were left out for being too quick.
        human: the name of the people's own texts among the models, which correlations leave out; None if it is not
            there.
        left_out: models that were measured or judged but not both, with `common_models`.
        failed_groups: why the judgements of a group have no scores, by question and group.
        signature_entries: what fixes the numbers, in order. signature: the same as `key:value|key:value|…`.
    """

    kind: Kind
    questions: Mapping[str, QuestionScores]
    confidence_level: float
    quick: int
    human: str | None
    left_out: tuple[str, ...]
    failed_groups: Mapping[str, str]
    signature_entries: Mapping[str, object] = field(repr=False, metadata={"in_dict": False})
    signature: str = field(init=False)
    also = ("rank_sums",)

    @property
    def rank_sums(self) -> dict[str, float]:
        """The sum of each model's ranks over all questions, the smallest, which is best, first (Ippolito 2021, §3.3).

        Equal scores share the mean of their ranks; models that a question does not judge, and groups, are left out.
        """
        from scipy.stats import rankdata

        sums: dict[str, list[float]] = {}
        whole = [question.strengths() for question in self.questions.values() if question.group is None]
        for strengths in whole:
            ranks = rankdata([-strength for strength in strengths.values()]).tolist()
            for model, rank in zip(strengths, ranks, strict=True):
                sums.setdefault(model, []).append(rank)
        full = {name: sum(ranks) for name, ranks in sums.items() if len(ranks) == len(whole)}
        return dict(sorted(full.items(), key=lambda pair: pair[1]))

    def document(self) -> Document:
        """Build the document: models of each question, sources of their scores, and correlations of measures."""
        columns = SCORE_COLUMNS if self.kind == "pairs" else RATING_COLUMNS
        parts: list[Part] = []
        models: list[TableRow] = []
        correlations: list[TableRow] = []
        for name, scores in self.questions.items():
            keys: TableRow = {"question": printable(scores.question), "group": scores.group}
            labels = shown_names([score.model for score in scores.models])
            strengths = [*scores.strengths().values()]  # models of equal score have the same rank
            ranked = [
                Table.row(columns, score, **keys, rank=1 + strengths.index(strength), model=label)
                for score, label, strength in zip(scores.models, labels.values(), strengths, strict=True)
            ]
            agreement = [
                Table.row(AGREEMENT_COLUMNS, correlation, **keys, measure=printable(correlation.measure))
                for correlation in scores.agreement
            ]
            parts += [Heading(printable(name), counted(len(ranked), "model")), Table(columns, ranked).filled()]
            parts += [Prose(_facts(scores, self)), Table(AGREEMENT_COLUMNS, agreement).filled()]
            parts += [Prose(_leading(scores))]
            models, correlations = models + ranked, correlations + agreement
        parts.append(Prose(self._notes(bool(correlations)), paragraphs=True))
        keyed = (QUESTION, *[Column("group", "group")] * any(row["group"] is not None for row in models))
        tables = {"models": Table((*keyed, *columns), models)}
        tables["correlations"] = Table((*keyed, *AGREEMENT_COLUMNS), correlations)
        return Document("", parts, tables, [("", self.signature)])

    def _notes(self, correlated: bool) -> list[str]:
        """Notes on all questions. correlated: whether there are correlations."""
        notes = [CORRELATION_NOTE] if correlated else []
        whole = sum(question.group is None for question in self.questions.values())
        if whole > 1:
            sums = ", ".join(f"{printable(name)} {total:g}" for name, total in self.rank_sums.items())
            notes.append(f"Sum of the ranks over the {whole} questions, the best first: {sums}.")
        if correlated and whole < len(self.questions):
            notes.append("Correlations of a group are of its judgements and of the measures of all texts.")
        notes += [f"No scores of {printable(name)}: {printable(why)}." for name, why in self.failed_groups.items()]
        if self.left_out:
            names = ", ".join(map(printable, self.left_out))
            notes.append(f"Not both judged and measured, and so in no correlation: {names}.")
        return notes

    def plot(self) -> alt.FacetChart:
        """The models' scores with their intervals, a panel for each question."""
        from mauve_metric.report.charts.intervals import intervals_chart

        values = [(name, each.model, each.score, each.ci) for name, of in self.questions.items() for each in of.models]
        title = "Bradley–Terry scores" if self.kind == "pairs" else "Mean ratings"
        return intervals_chart(values, title, f"{100 * self.confidence_level:g} % intervals")


@dataclass(frozen=True)
class RoundScores:
    """Scores of the boundary guesses of some rounds.

    Attributes:
        points: the mean, in [0, 5], see `boundary_points`; the higher, the easier it is to distinguish a model's
            text from a person's. ci: its interval, None for a single player or round.
        random, always_last: the mean points of players who do not read, on the same texts.
        accuracy: the share of rounds with the right verdict: "machine" at or after the boundary, or "no machine" where
            there is none; accuracy_ci: its interval.
        exact: the share of right guesses. eventually: of the rounds with a machine's text, the share
            in which the player said "machine" at or after the boundary; None without such rounds.
        machine: rounds with a machine's text. human: rounds without, and false_alarms: the share of those in which one
            was found; None without such rounds.
        alpha: Krippendorff's, of those who saw the same text: they agree if both said "machine" at or after the
            boundary, or both "no machine"; None where it is not defined.
        players: None where the table does not name them.
        seconds: the mean on a sentence, looks longer than the limit cut to it; None without times.
    """

    model: str = field(metadata={"in_dict": False})
    rounds: int
    players: int | None
    points: float
    ci: tuple[float, float] | None
    random: float
    always_last: float
    accuracy: float
    accuracy_ci: tuple[float, float] | None
    exact: float
    eventually: float | None
    machine: int
    human: int
    false_alarms: float | None
    alpha: float | None
    seconds: float | None


@dataclass(frozen=True)
class PlayerPair:
    """Agreement of two players: the share of the texts that both judged with the same verdict, as in `RoundScores`."""

    a: str
    b: str
    texts: int
    agreement: float
    ci: tuple[float, float] | None


@dataclass(frozen=True)
class BoundaryGame(SignedResult):
    """Real or Fake Text, scored: all rounds, and those of each model.

    Attributes:
        total: of all rounds. models: by name, the hardest to tell from people first, human texts last; empty where no
            model is named.
        groups: likewise by the column that groups the rounds, numbers in their order. pairs: of players with texts in
            common, by name.
        confidence_level: of the intervals. in_runs: rounds that were left out, since their player gave the same guess
            again and again.
        signature_entries: what fixes the numbers, in order. signature: the same as `key:value|key:value|…`.
    """

    total: RoundScores = field(metadata={"in_dict": False})
    models: Mapping[str, RoundScores]
    groups: Mapping[str, RoundScores]
    pairs: tuple[PlayerPair, ...]
    confidence_level: float
    in_runs: int
    signature_entries: Mapping[str, object] = field(repr=False, metadata={"in_dict": False})
    signature: str = field(init=False)

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain Python values, fit for JSON, the numbers of all rounds at the top."""
        total: dict[str, Any] = plain(self.total)
        return total | super().to_dict()

    def document(self) -> Document:
        """Build the document: a row for each model, for all rounds, for each group and pair; the meaning of points."""
        table, groups = _game_table("model", self._labelled()), _game_table("group", [*self.groups.items()])
        pairs = Table(PAIR_COLUMNS, [Table.row(PAIR_COLUMNS, pair) for pair in self.pairs])
        parts: list[Part] = [table.filled(), Prose(self._notes())]
        if self.groups:
            by = printable(str(self.signature_entries["by"]))
            parts += [Heading(f"Rounds by {by}", f"{len(self.groups)} groups"), groups.filled()]
        if self.pairs:
            parts.append(Heading("Agreement of pairs of players", "both found the machine or both named none"))
            parts.append(Table(PAIR_COLUMNS, pairs.rows[:_PAIRS_SHOWN]))
            left = len(self.pairs) - _PAIRS_SHOWN
            parts += [Prose([f"{counted(left, 'more pair')}: --csv-pairs."])] if left > 0 else []
        return Document("", parts, {"models": table, "groups": groups, "pairs": pairs}, [("", self.signature)])

    def plot(self) -> alt.FacetChart:
        """The mean points with their intervals."""
        from mauve_metric.report.charts.intervals import intervals_chart

        values = [("points", label, scores.points, scores.ci) for label, scores in self._labelled()]
        level = f"{100 * self.confidence_level:g} % intervals"
        return intervals_chart(values, "Points for finding the boundary", level, "lower: harder to tell from people")

    def _labelled(self) -> list[tuple[str, RoundScores]]:
        """The scores of each model, the hardest to tell from people first, and those of all rounds."""
        labels = shown_names(list(self.models))
        return [*((labels[name], scores) for name, scores in self.models.items()), ("(all)", self.total)]

    def _notes(self) -> list[str]:
        total = self.total
        notes = [
            f"Points: 5 for the very sentence, one less for each sentence after it; those who do not read get "
            f"{digits(total.random, '.2f')} by guessing at random and {digits(total.always_last, '.2f')} by always "
            "saying that no machine wrote. The lower, the harder a text is to tell from a person's.",
            f"{percent(total.exact, 1)} of the guesses name the very boundary (exact); {percent(total.accuracy, 1)} "
            "have the right verdict: machine at or after the boundary, or no machine where there is none (accuracy).",
        ]
        if total.eventually is not None:
            notes[-1] += f" {percent(total.eventually, 1)} of the machine's texts are found at or after the boundary."
        if total.ci is not None:
            over = "rounds" if total.players is None else "rounds by other players"
            notes.append(f"Intervals: {100 * self.confidence_level:g} %, over other {over}.")
        if self.in_runs:
            notes.append(f"{self.in_runs} rounds are left out, in runs of five or more equal guesses by one player.")
        return notes


def _game_table(title: str, labelled: Sequence[tuple[str, RoundScores]]) -> Table:
    """One row for each of some scores of rounds."""
    columns = [Column("model", title), *GAME_COLUMNS[1:]]
    rows = []
    for label, scores in labelled:
        low, high = scores.accuracy_ci or (None, None)
        rows.append(Table.row(columns, scores, model=printable(label), accuracy_low=low, accuracy_high=high))
    return Table(columns, rows)


def _facts(scores: QuestionScores, judgement: Judgement) -> list[str]:
    """Sentences on the judgements, the intervals and the close pairs of a question."""
    lines = [f"{_judgements(scores, judgement)}. {_intervals(scores, judgement)}"]
    labels = shown_names([score.model for score in scores.models])
    intervals = {(difference.a, difference.b): difference.ci for difference in scores.differences}
    between = {(a.model, b.model): intervals[a.model, b.model] for a, b in pairwise(scores.models)}
    close = [f"{labels[a]} and {labels[b]}" for (a, b), ci in between.items() if ci is not None and ci[0] <= 0 <= ci[1]]
    more = [counted(len(close) - _NAMED, "more pair")] if len(close) > _NAMED else []
    pairs = "; ".join([*close[:_NAMED], *more])
    lines += [f"Neighbours that these judgements do not tell apart: {pairs}."] if close else []
    lines += [f"No correlation of {printable(name)}: {printable(reason)}." for name, reason in scores.failed.items()]
    return lines


def _judgements(scores: QuestionScores, judgement: Judgement) -> str:
    """The number of judgements, items and annotators."""
    who = "" if scores.annotators is None else f" by {counted(scores.annotators, 'annotator')}"
    what = "" if scores.items is None else f" of {counted(scores.items, 'item')}"
    unit = "judgement" if scores.ties is not None else "rating"
    parts = [f"{counted(scores.judgements, unit)}{what}{who}"]
    parts += [] if scores.ties is None else [f"{scores.ties} ties"]
    parts += [f"{counted(scores.missing, 'empty cell')}"] if scores.missing else []
    parts += ["lower is better"] if scores.better == "lower" else []
    quick = f"{', ' * bool(judgement.quick)}{judgement.quick} too quick ones left out" if judgement.quick else ""
    return ", ".join(parts) + quick


def _intervals(scores: QuestionScores, judgement: Judgement) -> str:
    """Over what the intervals are."""
    if all(score.ci is None for score in scores.models):
        return "No intervals: one number a model."
    several = scores.annotators is not None and scores.annotators > 1
    unit = "judgements" if scores.ties is not None else "ratings"
    by = " by other annotators" if several else ""
    of = " of other items" if scores.items is not None and scores.items > 1 else ""
    return f"Intervals: {100 * judgement.confidence_level:g} %, over other {unit}{of}{by}."


def _leading(scores: QuestionScores) -> list[str]:
    """The difference between the two measures with the highest correlations."""
    if scores.leading is None or scores.leading.ci is None:
        return []
    first, second = printable(scores.leading.a), printable(scores.leading.b)
    low, high = scores.leading.ci
    interval = f"{digits(scores.leading.difference, '+.3f')} [{digits(low, '+.3f')}, {digits(high, '+.3f')}]"
    if low > 0:
        return [f"{first} is above {second} by {interval}, over other models; they were chosen after looking."]
    return [f"{first} and {second} cannot be told apart: difference {interval}, over other models."]
