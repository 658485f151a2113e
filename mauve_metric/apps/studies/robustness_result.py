"""Stability of a ranking of models: the scores of all settings, of pairs and of factors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from mauve_metric.report.document import Column, Document, Heading, Part, Prose, Table
from mauve_metric.results.comparison import Difference
from mauve_metric.results.methods import AsDict, SignedResult, plain
from mauve_metric.runtime.checks import first_few, listed
from mauve_metric.runtime.plain_text import digits, figure_text, printable, shown_names

if TYPE_CHECKING:
    import altair as alt

DESIGN = "design"
DEFAULT = "default"
RESCALING = "mauve_scaling_factor"  # changes the scale of all differences, so only ranks are compared

PAIR_COLUMNS = (
    *Column.each("s", a="ahead", b="behind"),
    *Column.each("+.4f", "difference", "smallest", "largest"),
    *Column.each("s", ahead="settings ahead", real="told apart"),
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
    *Column.each("s", "setting", "factor", "num_buckets", "texts", "tau"),
    *Column.each("s", "ranked_by", "model", "rank", "closeness", "low", "high", "mauve_debiased", "mauve"),
    *Column.each("s", "precision", "recall", "closeness_without_layout"),
)
_WITHOUT = "*"  # marks a closeness without layout
_NAMED = 4  # pairs or settings in a sentence
_SETTING, _RANK = 18, 70  # pixels of a setting and of a rank in the figure
_LONGEST_SETTING = 60  # characters of a setting in the figure
NOTE = (
    "Cells: closeness and, in brackets, the rank. by groups: closeness is near 0 for all models, so that the score by "
    "groups ranks them. τ: Kendall's, of the ranking to the default's. told apart: in so many settings, with all pairs "
    "of a setting taken together; one setting alone errs in as many cases as its level says, so that of many settings "
    "one may turn a pair of equal models by chance. in the design: the mean change where several factors are changed "
    "at once; a setting of the design that is tried already is not listed again. Differences with another c are on "
    "another scale, and only signs count. Models of one score are ordered by their frontier integral."
)


@dataclass(frozen=True)
class SettingScore:
    """One model under one setting: its rank (1 is the best), closeness with its interval, and scores as in `compare`.

    closeness, ci, mauve_debiased: None where they are not known. closeness_without_layout: by which the model is
    ranked, where layout makes a difference (differs_by_layout) and it is known. precision, recall: where knn_k is
    varied.
    """

    rank: int
    closeness: float | None
    ci: tuple[float, float] | None
    mauve_debiased: float | None
    mauve: float
    precision: float | None = None
    recall: float | None = None
    closeness_without_layout: float | None = None
    closeness_without_layout_ci: tuple[float, float] | None = None
    differs_by_layout: bool = False


@dataclass(frozen=True)
class Setting:
    """The scores of the models under one setting.

    name: what is changed of the default, in words. factor: what is varied; "default", or "design" where several things
    are. changes: by factor, as text. num_buckets, texts: k, and texts of the smallest set. ranking: the best first.
    ranked_by: "closeness"; where that is near 0 for all models "precision", or "groups" without neighbours, see
        `Comparison`. models: by name.
    differences: of every pair, the better one first. tau: Kendall's, to the default's ranking. in_design: how many
    settings of the small design are this one; 0 where there is none.
    """

    name: str
    factor: str
    changes: Mapping[str, str]
    num_buckets: int
    texts: int
    ranking: tuple[str, ...]
    ranked_by: Literal["closeness", "precision", "groups"]
    models: Mapping[str, SettingScore]
    differences: tuple[Difference, ...]
    tau: float
    in_design: int = 0

    @property
    def without_error(self) -> tuple[str, ...]:
        """The models whose score has no error bar, and which are told apart from none."""
        return tuple(name for name, score in self.models.items() if score.ci is None)

    def difference(self, a: str, b: str) -> Difference:
        """The difference of two models, a minus b."""
        difference = next(pair for pair in self.differences if {pair.a, pair.b} == {a, b})
        if difference.a == a:
            return difference
        ci = difference.ci and (-difference.ci[1], -difference.ci[0])
        return Difference(a, b, -difference.difference, ci, difference.p_value, difference.real, difference.stderr)


@dataclass(frozen=True)
class PairStability(AsDict):
    """Stability of the difference of two models, a ahead by default, over all settings.

    default: the difference there. smallest, largest: over the settings on the default's scale. ahead: settings in
    which a is ahead. real: settings in which a is ahead and told apart from b. turned: settings in which b is ahead and
    told apart from a. depends_on: the factor that moves the difference most, alone, from its default, and moved: by how
    much, signed; None where no factor alone moves it.
    """

    a: str
    b: str
    default: Difference
    smallest: float
    largest: float
    settings: int
    ahead: int
    real: int
    turned: tuple[str, ...]
    depends_on: str | None
    moved: float | None
    also = ("verdict",)

    @property
    def verdict(self) -> str:
        """Verdict on the pair: turned, holds (told apart everywhere), in part, or never told apart."""
        if self.turned:
            return "turned"
        if self.real == self.settings:
            return "holds"
        return "in part" if self.real else "never told apart"


@dataclass(frozen=True)
class FactorEffect:
    """Effect of one factor on the models' differences.

    settings: in which it alone is changed. lowest_tau: among them. moved: the largest change of a difference from the
    default among them, and pair: of which models; None of c, which scales them all. effect: the largest mean change of
    a difference by the factor over the small design, signed, and effect_pair: of which models; None without a design.
    Differences by groups and by closeness are on two scales, and are not compared.
    """

    factor: str
    settings: int
    lowest_tau: float
    moved: float | None
    pair: tuple[str, str] | None
    effect: float | None
    effect_pair: tuple[str, str] | None


@dataclass(frozen=True)
class Robustness(SignedResult):
    """The same models under many settings.

    Attributes:
        settings: the default first, then one factor at a time, then the small design.
        failed: featurizers and settings that failed, with the reason. left_out: factors likewise.
        seconds: that it took. confidence_level: of the intervals.
        default, ranking: the setting that was asked for, and its ranking. agreeing: other settings that rank alike.
        holds: true if no setting turns a pair, the lower ranked model being ahead and told apart.
        pairs: the stability of each difference. factors: the effect of each factor, the strongest first.
        signature_entries: what fixes the default, in order. signature: the same as `key:value|key:value|…`.
    """

    settings: tuple[Setting, ...]
    failed: Mapping[str, str]
    left_out: Mapping[str, str]
    seconds: float
    confidence_level: float
    signature_entries: Mapping[str, object] = field(repr=False, metadata={"in_dict": False})
    signature: str = field(init=False)

    @property
    def default(self) -> Setting:
        """The requested setting, with which all others are compared."""
        return self.settings[0]

    @property
    def ranking(self) -> tuple[str, ...]:
        """The default's, the best first."""
        return self.default.ranking

    @property
    def agreeing(self) -> int:
        """Settings other than the default that rank the models as it does."""
        return sum(setting.ranking == self.ranking for setting in self.settings[1:])

    @property
    def holds(self) -> bool:
        """True if no setting turns a pair: none has the lower ranked model ahead and told apart."""
        return not any(pair.turned for pair in self.pairs)

    @cached_property
    def pairs(self) -> tuple[PairStability, ...]:
        """Every pair in the order of the default's differences."""
        return tuple(map(self._pair, self.default.differences))

    def _on_its_scale(self, setting: Setting) -> bool:
        """Return whether the differences of a setting can be compared with the default's."""
        return setting.factor != RESCALING and setting.ranked_by == self.default.ranked_by

    def _pair(self, default: Difference) -> PairStability:
        pairs = [(setting, setting.difference(default.a, default.b)) for setting in self.settings]
        values = [pair.difference for setting, pair in pairs if self._on_its_scale(setting)]
        ahead = [setting.ranking.index(default.a) < setting.ranking.index(default.b) for setting in self.settings]
        moves = [
            (setting.factor, pair.difference - default.difference)
            for setting, pair in pairs[1:]
            if setting.factor != DESIGN and self._on_its_scale(setting) and pair.difference != default.difference
        ]
        apart = [(setting.name, first) for (setting, pair), first in zip(pairs, ahead, strict=True) if pair.real]
        turned = tuple(name for name, first in apart if not first)
        counts = len(pairs), sum(ahead), len(apart) - len(turned)
        move = max(moves, key=lambda move: abs(move[1]), default=(None, None))
        return PairStability(default.a, default.b, default, min(values), max(values), *counts, turned, *move)

    @cached_property
    def factors(self) -> tuple[FactorEffect, ...]:
        """Every factor that was varied alone, the one that moves a difference most first."""
        names = dict.fromkeys(setting.factor for setting in self.settings[1:] if setting.factor != DESIGN)
        return tuple(sorted((self._factor(name) for name in names), key=lambda effect: -(effect.moved or 0.0)))

    def _factor(self, factor: str) -> FactorEffect:
        settings = [setting for setting in self.settings if setting.factor == factor]
        tau = min(gap.tau for gap in settings)
        moves = [
            (abs(setting.difference(gap.a, gap.b).difference - gap.difference), (gap.a, gap.b))
            for setting in filter(self._on_its_scale, settings)
            for gap in self.default.differences
        ]
        moved, pair = max(moves, default=(None, None))
        effects = [(self._effect(factor, gap.a, gap.b), (gap.a, gap.b)) for gap in self.default.differences]
        measured = [(effect, pair) for effect, pair in effects if effect is not None]
        effect, effect_pair = max(measured, key=lambda entry: abs(entry[0]), default=(None, None))
        return FactorEffect(factor, len(settings), tau, moved, pair, effect, effect_pair)

    def _effect(self, factor: str, a: str, b: str) -> float | None:
        """The mean difference over the design's settings that change the factor, minus that over the others."""
        groups: tuple[list[float], list[float]] = ([], [])
        in_design = [setting for setting in self.settings if setting.in_design]
        if not all(map(self._on_its_scale, in_design)):
            return None
        for setting in in_design:
            groups[factor in setting.changes].extend([setting.difference(a, b).difference] * setting.in_design)
        return float(np.mean(groups[1]) - np.mean(groups[0])) if all(groups) else None

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain Python values, fit for JSON."""
        order = ("holds", "ranking", "agreeing", "settings", "pairs", "factors")
        return {name: plain(getattr(self, name)) for name in order} | super().to_dict()

    def document(self) -> Document:
        """Build the document: verdict on the ranking, tables of settings, pairs and factors, and notes."""
        settings = f"{len(self.settings)} settings" if len(self.settings) > 1 else "one setting"
        labels = shown_names(list(self.ranking))
        has_design = any(setting.in_design for setting in self.settings)
        pairs = Table.of(PAIR_COLUMNS, [_pair_row(pair, labels) for pair in self.pairs])
        factors = Table.of(FACTOR_COLUMNS, [_factor_row(factor, labels) for factor in self.factors])
        shown = factors if has_design else Table(FACTOR_COLUMNS[:5], factors.rows)
        prose = Prose(self._facts(labels), lead=self._verdict(labels))
        columns = [Column("setting", "setting"), *Column.each("d", "k", "n"), Column("tau", "τ", "+.3f")]
        columns += [Column(f"model {name}", labels[name]) for name in self.ranking]
        rows: list[Sequence[str | float | None]] = []
        cells: list[Sequence[str | float]] = []
        for setting in self.settings:
            first = (setting.name, setting.factor, setting.num_buckets, setting.texts, setting.tau)
            for name, score in ((name, setting.models[name]) for name in setting.ranking):
                ends = score.ci or (None, None)
                scores = (score.closeness, *ends, score.mauve_debiased, score.mauve, score.precision, score.recall)
                plain = score.closeness_without_layout
                rows.append((*first, setting.ranked_by, name, score.rank, *scores, plain))
            by = "" if setting.ranked_by == "closeness" else f", by {setting.ranked_by}"
            ranked = (_cell(setting, name) for name in self.ranking)
            cells.append((f"{printable(setting.name)}{by}", *first[2:], *ranked))
        parts = (prose, Table.of(columns, cells), *self._neighbours(columns), pairs, shown, Prose([NOTE]))
        tables = {"settings": Table.of(CSV_COLUMNS, rows), "pairs": pairs, "factors": factors}
        return Document(f"{len(self.ranking)} models under {settings}", parts, tables, [("", self.signature)])

    def _neighbours(self, columns: Sequence[Column]) -> list[Part]:
        """Precision and recall of every model under every setting, where they are known."""
        if self.default.models[self.ranking[0]].precision is None:
            return []
        rows: list[Sequence[str | float | None]] = []
        for setting in self.settings:
            cells = (_both(setting.models[name]) for name in self.ranking)
            rows.append((printable(setting.name), setting.num_buckets, setting.texts, setting.tau, *cells))
        return [Heading("Precision / recall", "by nearest neighbours"), Table.of(columns, rows)]

    def plot(self) -> alt.LayerChart:
        """Rank against setting: a line that is straight is a model whose rank does not depend on the setting.

        A point is filled where the model is told apart from the one ranked below it (the last: above it).
        """
        from mauve_metric.report.charts import figure  # says how to install Altair where it is missing

        import altair as alt  # isort: skip

        labels = shown_names(list(self.ranking), figure_text)
        names = list(labels.values())
        settings = figure.short_labels([figure_text(setting.name) for setting in self.settings], _LONGEST_SETTING)
        rows: figure.ChartRows = []
        for position, (setting, called) in enumerate(zip(self.settings, settings, strict=True)):
            real = {frozenset((difference.a, difference.b)): difference.real for difference in setting.differences}
            for number, name in enumerate(setting.ranking):
                other = setting.ranking[number + 1 if number + 1 < len(setting.ranking) else number - 1]
                row: figure.ChartRow = {"place": position, "setting": called, "tau": setting.tau, "model": labels[name]}
                score, apart = setting.models[name], int(real[frozenset((name, other))])
                rows.append(row | {"rank": score.rank, "closeness": score.closeness, "apart": apart})
        count = len(names)
        axis = alt.Axis(values=list(range(1, count + 1)), format="d", orient="top", **figure.AXIS_STYLE)
        base = figure.of_rows(rows).encode(
            x=alt.X("rank:Q", title="rank", axis=axis, scale=alt.Scale(domain=[0.7, count + 0.3], nice=False)),
            y=alt.Y("setting:N", title=None, sort=settings, axis=alt.Axis(labelLimit=420, **figure.AXIS_STYLE)),
            color=figure.model_channel(alt.Color, names, figure.legend(names)),
        )
        tooltip = ["setting:N", "model:N", "rank:Q", *figure.numbers(".4f", "closeness", "tau")]
        lines = base.mark_line(strokeWidth=1.5, opacity=0.5).encode(order="place:Q")
        points = base.mark_point(size=60, opacity=1).encode(
            shape=figure.model_channel(alt.Shape, names, figure.legend(names)),
            fillOpacity=alt.condition("datum.apart == 1", alt.value(1), alt.value(0)),
            fill=alt.Fill(
                "model:N", scale=alt.Scale(domain=names, range=figure.cycle(figure.COLORS, count)), legend=None
            ),
            tooltip=tooltip,
        )
        title = (
            "Ranks by closeness under each setting",
            "filled: told apart from the model ranked next below (the last: above)",
        )
        same = f"{self.agreeing} of {len(self.settings) - 1} settings rank the models as the default does"
        description = f"The rank of each model under each setting; by default {', '.join(names)}, best first; {same}."
        return figure.layered([lines, points], _RANK * count, _SETTING * len(settings), title, description)

    def _verdict(self, labels: Mapping[str, str]) -> str:
        """Sentence on the settings that change the ranking."""
        others = len(self.settings) - 1
        turned = [pair for pair in self.pairs if pair.turned]
        if turned:
            pairs = _some([f"{labels[pair.a]} and {labels[pair.b]} under {_some(pair.turned)}" for pair in turned])
            return (
                f"The ranking depends on the settings: {pairs} turn, the one behind by default being ahead and told "
                "apart."
            )
        if others == 0:
            return "There is no other setting than the default: nothing can be said of the ranking."
        firm = sum(pair.verdict == "holds" for pair in self.pairs)
        if self.agreeing == others:
            ranked = f"all {others} other settings rank" if others > 1 else "the other setting ranks"
            return (
                f"No setting changes the ranking: {ranked} the models alike. {firm} of {len(self.pairs)} differences "
                f"{'is' if firm == 1 else 'are'} told apart whatever the setting."
            )
        return (
            f"No setting turns the ranking: {self.agreeing} of {others} other settings rank the models alike, and "
            f"where models change places they are not told apart. {firm} of {len(self.pairs)} differences are told "
            "apart whatever the setting."
        )

    def _facts(self, labels: Mapping[str, str]) -> list[str]:
        """Further sentences on the settings."""
        part = [pair for pair in self.pairs if pair.verdict == "in part"]
        never = [f"{labels[pair.a]} and {labels[pair.b]}" for pair in self.pairs if pair.verdict == "never told apart"]
        bare = [(setting.name, setting.without_error) for setting in self.settings if setting.without_error]
        without = _some([f"{name} ({', '.join(labels[model] for model in models)})" for name, models in bare])
        lines = []
        for pair in part[:_NAMED]:
            by = "nothing" if pair.moved is None else f"{pair.depends_on} ({digits(pair.moved, '+.3f')})"
            apart = f"{labels[pair.a]} and {labels[pair.b]} are told apart in {pair.real} of {pair.settings} settings"
            lines.append(f"{apart}; their difference moves most by {by}.")
        lines += [f"Never told apart: {_some(never)}."] if never else []
        lines += [f"Without an error bar: {without}."] if without else []
        lines += self._of_layout(labels)
        lines += [f"Not tried, {printable(name)}: {printable(reason)}." for name, reason in self.failed.items()]
        lines += [f"Not varied, {name}: {printable(reason)}." for name, reason in self.left_out.items()]
        return lines

    def _of_layout(self, labels: Mapping[str, str]) -> list[str]:
        """Sentences on the models that differ by layout, with and without a score without it."""
        plain: dict[str, list[str]] = {}
        unknown: dict[str, list[str]] = {}
        for setting in self.settings:
            for name, score in setting.models.items():
                if score.differs_by_layout:
                    is_known = score.closeness_without_layout is not None
                    (plain if is_known else unknown).setdefault(labels[name], []).append(setting.name)
        lines = [f"{_WITHOUT} closeness without the layout that differs, of {listed([*plain])}."] if plain else []
        return lines + [
            f"Layout alone may put {name} behind: its closeness without that is not known under {_some(settings)}."
            for name, settings in unknown.items()
        ]


def _cell(setting: Setting, model: str) -> str:
    """The score that a setting ranks by, and the rank."""
    score = setting.models[model]
    plain = score.closeness_without_layout
    closeness = score.closeness if plain is None else plain
    values = {"closeness": closeness, "precision": score.precision, "groups": score.mauve_debiased}
    value, mark = values[setting.ranked_by], _WITHOUT if setting.ranked_by == "closeness" and plain is not None else ""
    return f"{'–' if value is None else digits(value)}{mark} ({score.rank})"


def _both(score: SettingScore) -> str:
    """Precision and recall of a model."""
    if score.precision is None or score.recall is None:
        return "–"
    return f"{digits(score.precision)} / {digits(score.recall)}"


def _pair_row(pair: PairStability, labels: Mapping[str, str]) -> tuple[str | float | None, ...]:
    counts = (f"{pair.ahead} of {pair.settings}", f"{pair.real} of {pair.settings}", len(pair.turned))
    values = (pair.default.difference, pair.smallest, pair.largest, *counts, pair.depends_on, pair.moved, pair.verdict)
    return labels[pair.a], labels[pair.b], *values


def _factor_row(factor: FactorEffect, labels: Mapping[str, str]) -> tuple[str | float | None, ...]:
    named = [pair and f"{labels[pair[0]]} and {labels[pair[1]]}" for pair in (factor.pair, factor.effect_pair)]
    return factor.factor, factor.settings, factor.lowest_tau, factor.moved, named[0], factor.effect, named[1]


def _some(names: Sequence[str]) -> str:
    """The first few names, and how many more there are."""
    return first_few([printable(name) for name in names], _NAMED, "; ")
