"""Errors that each featurizer detects, as numbers, tables and a figure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from mauve_metric.report.document import Column, Document, Heading, Prose, Table
from mauve_metric.results.methods import Result, plain
from mauve_metric.runtime.plain_text import digits, figure_text, in_brackets, percent, printable, shown_names
from mauve_metric.uncertainty.score_warnings import ScoreWarning

if TYPE_CHECKING:
    import altair as alt

CSV_COLUMNS = Column.each(
    "s", "featurizer", "perturbation", "strength", "closeness", "low", "high", "p_value", "seen", "changed"
)
_ERROR = Column("perturbation", "error")
_CELL_WIDTH, _CELL_HEIGHT = 64, 22  # pixels of an error at one strength
_DARK = 0.55  # scores below it are drawn in colours on which white is read


@dataclass(frozen=True)
class StressedScore:
    """Closeness of human texts with a known error of one strength to other human texts.

    closeness, ci: as in `MauveResult`. p_value: of "the error makes no difference", the smaller one of the tests by
    groups and by classifier, corrected for both and for the number of errors and strengths (Holm). seen: true if it is
    told apart from equal. changed: share of the texts that the error changed or left out.
    """

    strength: float = field(metadata={"in_dict": False})
    closeness: float
    ci: tuple[float, float] | None
    p_value: float
    seen: bool = field(metadata={"in_dict": False})
    changed: float = field(metadata={"in_dict": False})


@dataclass(frozen=True)
class FeaturizerStress:
    """Errors that one featurizer detects.

    equal: of the unperturbed texts, strength 0. perturbations: by name, the strengths rising.
    """

    equal: StressedScore
    perturbations: Mapping[str, tuple[StressedScore, ...]]
    signature: str

    def smallest_seen(self, perturbation: str) -> float | None:
        """The smallest strength that is told apart from equal; None if none is."""
        return next((score.strength for score in self.perturbations[perturbation] if score.seen), None)

    @property
    def unseen(self) -> tuple[str, ...]:
        """The errors of which no strength is told apart from equal."""
        return tuple(name for name in self.perturbations if self.smallest_seen(name) is None)

    def to_dict(self) -> dict[str, Any]:
        """Each perturbation as lists over its strengths."""
        return {
            name: {
                "strengths": [score.strength for score in scores],
                "closeness": [score.closeness for score in scores],
                "ci": [score.ci and list(score.ci) for score in scores],
                "smallest_seen": self.smallest_seen(name),
                "p_value": [score.p_value for score in scores],
                "changed": [score.changed for score in scores],
            }
            for name, scores in self.perturbations.items()
        }


@dataclass(frozen=True)
class StressTest(Result):
    """Human texts with known errors, scored against other human texts by several featurizers.

    Attributes:
        featurizers: the errors that each detects, by name, in the order given.
        failed: featurizers that could not be used, with the reason. left_out: errors that cannot be put into these
            texts, with the reason.
        n_reference, n_perturbed: texts of the half that stays as it is, and of the half that is given errors.
        confidence_level: of the intervals, and of what counts as seen.
        warnings: about the sizes.
    """

    featurizers: Mapping[str, FeaturizerStress]
    failed: Mapping[str, str]
    left_out: Mapping[str, str]
    n_reference: int
    n_perturbed: int
    confidence_level: float
    warnings: tuple[ScoreWarning, ...]

    @property
    def strengths(self) -> tuple[float, ...]:
        """The strengths of every perturbation, rising."""
        first = next(iter(self.featurizers.values()))
        return tuple(score.strength for score in next(iter(first.perturbations.values())))

    @property
    def perturbations(self) -> tuple[str, ...]:
        """The names of the perturbations, in the order of the tables."""
        return tuple(next(iter(self.featurizers.values())).perturbations)

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain Python values."""
        stresses = self.featurizers.items()
        return super().to_dict() | {
            "equal": {name: plain(stress.equal) for name, stress in stresses},
            "unseen": {name: list(stress.unseen) for name, stress in stresses},
            "signatures": {name: stress.signature for name, stress in stresses},
        }

    def document(self) -> Document:
        """The table of each featurizer with a row an error, that of the smallest strengths seen, and the notes."""
        columns = [_ERROR, *(Column(f"{strength:g}", f"{strength:g}") for strength in self.strengths)]
        columns += [Column("smallest_seen", "seen from", "g"), Column("changed", "texts changed")]
        parts: list[Heading | Table] = []
        for name, stress in self.featurizers.items():
            errors = [
                (error, *map(score_text, scores), stress.smallest_seen(error), percent(scores[-1].changed, 1.0))
                for error, scores in stress.perturbations.items()
            ]
            parts += [Heading(name), Table.of(columns, errors)]
        if len(self.featurizers) > 1:
            labels = shown_names(list(self.featurizers))
            columns = [_ERROR, *(Column(name, labels[name], "g") for name in self.featurizers)]
            each = self.featurizers.values()
            seen = [(error, *(stress.smallest_seen(error) for stress in each)) for error in self.perturbations]
            parts += [Heading("smallest strength seen"), Table.of(columns, seen)]
        rows = [  # the first of each featurizer is of no error
            Table.row(CSV_COLUMNS, score, featurizer=name, perturbation=error)
            for name, stress in self.featurizers.items()
            for error, scores in {"equal": (stress.equal,), **stress.perturbations}.items()
            for score in scores
        ]
        tables = {"scores": Table(CSV_COLUMNS, rows)}
        signatures = [("", stress.signature) for stress in self.featurizers.values()]
        return Document("", [*parts, Prose(self._notes(), advice=True)], tables, signatures)

    def plot(self) -> alt.HConcatChart:
        """Closeness by error and strength, one map a featurizer; =: not told apart from no error."""
        from mauve_metric.report.charts import figure  # says how to install Altair where it is missing

        import altair as alt  # isort: skip

        labels = shown_names(list(self.featurizers), figure_text)
        titles = figure.short_labels([labels[name] for name in self.featurizers], most=32)
        each = zip(titles, self.featurizers.values(), strict=True)
        maps = [_heat_map(self, stress, title, axis=title == titles[0]) for title, stress in each]
        blind = {labels[name]: ", ".join(stress.unseen) for name, stress in self.featurizers.items()}
        unseen = "; ".join(
            f"{name} does not see {errors}" if errors else f"{name} sees each of these errors"
            for name, errors in blind.items()
        )
        title = figure.heading(
            "Which errors lower closeness", "closeness of human texts with errors", "=: not told apart from no error"
        )
        chart = alt.HConcatChart(hconcat=maps, spacing=figure.GAP)
        return chart.properties(title=title, description=f"Closeness by error and strength: {unseen}.")

    def _notes(self) -> list[str]:
        level = f"{100 * self.confidence_level:g} %"
        notes = [
            f"Closeness of {self.n_perturbed} human texts with an error of each strength to {self.n_reference} others, "
            f"with {level} intervals. =: not told apart from no error by groups or by classifier (tests at {level}, "
            "Holm's correction over all errors and strengths). seen from: the smallest strength that is, or –."
        ]
        labels = shown_names(list(self.featurizers))
        for name, stress in self.featurizers.items():
            notes.append(f"{labels[name]}, no error at all: {score_text(stress.equal)}.")
            unseen = ", ".join(stress.unseen)
            every = f"{labels[name]} tells the strongest form of each of these errors apart at this size."
            notes.append(f"{labels[name]} does not see, at this size: {unseen}." if unseen else every)
        notes += [f"Left out: {name}, since {reason}." for name, reason in self.left_out.items()]
        notes += [f"No scores of {printable(name)}: {printable(reason)}." for name, reason in self.failed.items()]
        return [*notes, *(f"{warning.message} [{warning.code}]." for warning in self.warnings)]


def score_text(score: StressedScore) -> str:
    """Closeness with its interval, after = where it is not told apart from equal."""
    return f"{'' if score.seen else '= '}{digits(score.closeness, '.3f')}{in_brackets(score.ci, '.2f')}"


def _heat_map(stress: StressTest, of_featurizer: FeaturizerStress, title: str, axis: bool) -> alt.LayerChart:
    """The cells of one featurizer."""
    from mauve_metric.report.charts import figure  # says how to install Altair where it is missing

    import altair as alt  # isort: skip

    strengths = [f"{strength:g}" for strength in stress.strengths]
    errors = list(stress.perturbations)
    rows = [
        {"error": name, "strength": f"{score.strength:g}", "closeness": score.closeness}
        | dict(zip(("low", "high"), score.ci or (None, None), strict=True))
        | {"p": score.p_value, "shown": f"{'' if score.seen else '= '}{digits(score.closeness, '.2f')}"}
        for name, scores in of_featurizer.perturbations.items()
        for score in scores
    ]
    named = alt.Axis(labelLimit=200, **figure.AXIS_STYLE) if axis else None
    base = figure.of_rows(rows).encode(
        x=alt.X("strength:N", sort=strengths, title="strength", axis=alt.Axis(labelAngle=0, **figure.AXIS_STYLE)),
        y=alt.Y("error:N", sort=errors, title=None, axis=named),
        tooltip=[
            *("error:N", "strength:N"),
            *figure.numbers(".3f", "closeness", "low", "high"),
            *figure.numbers(".2g", "p"),
        ],
    )
    scale = alt.Scale(domain=[0, 1], scheme="viridis")
    key = alt.Legend(title="closeness", orient="bottom", gradientLength=3 * _CELL_WIDTH, titleFontSize=11)
    cells = base.mark_rect().encode(color=alt.Color("closeness:Q", scale=scale, legend=key if axis else None))
    numbers = base.mark_text(fontSize=11).encode(
        text="shown:N",
        color=alt.condition(f"datum.closeness < {_DARK}", alt.value("white"), alt.value("black")),
    )
    chart = alt.LayerChart(layer=[cells, numbers])
    return chart.properties(width=_CELL_WIDTH * len(strengths), height=_CELL_HEIGHT * len(errors), title=title)
