"""Many measures of a set of models, side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from mauve_metric.apps.describing.catalogue.all_measures import MEASURES
from mauve_metric.apps.describing.distances.discriminators import TransferTable
from mauve_metric.report.document import Column, Document, Heading, Part, Prose, Table, TableRow
from mauve_metric.report.wording.words import collected_warnings, warnings_prose
from mauve_metric.results.comparison import Comparison
from mauve_metric.results.methods import SignedResult, plain
from mauve_metric.runtime.checks import check_known
from mauve_metric.runtime.plain_text import printable, shown_names
from mauve_metric.uncertainty.score_warnings import ScoreWarning

if TYPE_CHECKING:
    import altair as alt

_BEST, _REAL = "◂", "*"
_SHARED = "shared MAUVE"  # the title of MAUVE on the buckets that several models share
CSV_COLUMNS = Column.each("s", "measure", "model", "value", "human", "difference", "low", "high", "p_value", "better")
TRANSFER_COLUMNS = Column.each("s", "trained_on", "tested_on", "accuracy", "low", "high", "auc")


class Described(NamedTuple):
    """One measure of one model.

    value: the number. difference: from the human texts' value; None where the measure is of both sets.
    ci: the interval of the difference, where there is one, else of the value; None if no valid interval is known.
    no_interval: the reason, where the sets are why.
    p_value: of "both sets are draws from one distribution", None without a test.
    """

    value: float
    difference: float | None = None
    ci: tuple[float, float] | None = None
    p_value: float | None = None
    no_interval: str = ""


@dataclass(frozen=True)
class Description(SignedResult):
    """Every selected measure of every model, and of the human texts where it is of one set.

    Attributes:
        measures: names, in the order of the tables; `catalogue.all_measures.MEASURES` describes each.
        human: the human texts' values by measure. models: by model and measure.
        failed: the reason for a missing measure, by its name.
        left_out: texts, or prompts, that have no value, as too short ones, by the title of the measure and the set.
        seconds: how long each took, for all models.
        sizes: how many texts each set holds; the human one first, under "human".
        answers_a_prompt: of each set whose prompts have different numbers of texts, the fewest and the most. Means are
            over texts all the same, so that a prompt with more texts counts more; the intervals allow for that.
        same_size: texts of each set that measures which move with their number were computed on; None where the sets
            are of one size as they are.
        confidence_level: of the intervals.
        model_warnings: about each model's texts, by its name; those of the comparison are in it.
        comparison: MAUVE of the models on common buckets; None if it was not asked for.
        signature_entries: what fixes the numbers. signature: the same as `key:value|key:value|…`.
        transfer: of several models, if discriminators of the features were asked for: those trained on one model's
            texts and tested on another's (Ippolito 2021, §3.4); else None.
        by_subgroup: with `by`, the description of the texts of each label that human texts and models have enough of.
    """

    measures: tuple[str, ...] = field(metadata={"in_dict": False})
    human: Mapping[str, float]
    models: Mapping[str, Mapping[str, Described]]
    failed: Mapping[str, str]
    left_out: Mapping[str, Mapping[str, int]]
    seconds: Mapping[str, float]
    sizes: Mapping[str, int]
    answers_a_prompt: Mapping[str, tuple[int, int]]
    same_size: int | None
    confidence_level: float
    model_warnings: Mapping[str, tuple[ScoreWarning, ...]]
    comparison: Comparison | None = field(repr=False, metadata={"in_dict": False})
    signature_entries: Mapping[str, object] = field(repr=False, metadata={"in_dict": False})
    signature: str = field(init=False)
    transfer: TransferTable | None = field(default=None, repr=False, metadata={"in_dict": False})
    by_subgroup: Mapping[str, Description] = field(default_factory=dict, repr=False, metadata={"in_dict": False})

    def to_dict(self) -> dict[str, Any]:
        """Everything but the comparison as plain Python values, fit for JSON.

        With `by` also `by_subgroup`, and with discriminators of several models `transfer`.
        """
        values = super().to_dict() | {"warnings": [] if self.comparison is None else plain(self.comparison.warnings)}
        values |= {} if self.transfer is None else {"transfer": self._transfer_table().rows}
        return values | ({"by_subgroup": plain(self.by_subgroup)} if self.by_subgroup else {})

    def document(self) -> Document:
        """Build the document: one row per measure, meaning of the marks, missing measures, and times."""
        sizes = ", ".join(f"{printable(name)} {size}" for name, size in self.sizes.items())
        of_comparison = [] if self.comparison is None else collected_warnings(self.comparison)
        of_models = [(name, warning) for name, warnings in self.model_warnings.items() for warning in warnings]
        parts = (
            self._table(_BEST)._replace(views=("terminal", "markdown", "html")),
            self._table(" (best)")._replace(views=("latex",)),
            warnings_prose([*of_comparison, *of_models]),
            Prose(self._notes(), paragraphs=True),
            *self._parts_of_transfer(),
            *self._parts_of_subgroups(),
        )
        each = {"": self, **self.by_subgroup}
        rows: list[TableRow] = []
        for label, description in each.items():
            for measure in description.measures:
                shared: TableRow = {"label": label, "measure": measure, "better": MEASURES[measure].better}
                shared["human"] = description.human.get(measure)
                values = {name: entries[measure] for name, entries in description.models.items() if measure in entries}
                rows += [Table.row(CSV_COLUMNS, entry, model=name, **shared) for name, entry in values.items()]
        columns = (Column("label", "label"), *CSV_COLUMNS) if self.by_subgroup else CSV_COLUMNS
        tables = {"measures": Table(columns, rows), "transfer": self._transfer_table()}
        return Document(f"texts: {sizes}", parts, tables, [("", self.signature)])

    def plot(self) -> alt.FacetChart:
        """Each measure with its intervals: differences from the human texts, or values of measures of both sets."""
        from mauve_metric.report.charts.intervals import intervals_chart

        values = [
            (self._title(measure), name, entry.value if entry.difference is None else entry.difference, entry.ci)
            for measure in self.measures
            for name, entries in self.models.items()
            if (entry := entries.get(measure)) is not None
        ]
        level = f"{100 * self.confidence_level:g} % intervals"
        return intervals_chart(
            values, "Every measure", "differences from the human texts, or values of both sets", level
        )

    def save_report(self, path: str | Path) -> Path:
        """Write one HTML page with the table of measures, and where MAUVE is among them the page of the comparison.

        Raises:
            ValueError: the name does not end in .html or .htm.
            ImportError: Altair or vl-convert-python is not installed.
            OSError: the file cannot be written.
        """
        return (
            super().save_report(path) if self.comparison is None else self.comparison.save_report(path, self.document())
        )

    def best_model(self, measure: str) -> str | None:
        """The model with the best value, if its interval lies apart from those of all others; else None.

        Raises:
            WrongOption: there is no measure of this name.
        """
        check_known("measure", measure, MEASURES)
        better = MEASURES[measure].better
        distances: dict[str, tuple[float, float]] = {}  # ends of how far each is from the best value
        for name, entries in self.models.items():
            entry = entries.get(measure)
            if entry is None or entry.ci is None:
                return None
            low, high = entry.ci
            if better == "higher":
                low, high = -high, -low
            elif better == "human":
                nearest = 0.0 if low <= 0 <= high else min(abs(low), abs(high))
                low, high = nearest, max(abs(low), abs(high))
            distances[name] = low, high
        if len(distances) < 2:
            return None
        best, *others = sorted(distances, key=lambda name: distances[name][1])
        return best if all(distances[best][1] < distances[name][0] for name in others) else None

    def _title(self, measure: str) -> str:
        """The title of a measure, as `compare` has it: MAUVE of several models is on buckets that all share."""
        return _SHARED if measure == "mauve" and len(self.models) > 1 else title_of(measure)

    def _table(self, best: str) -> Table:
        """One row a measure, numbers as text; `best` follows the best value where no other interval reaches it.

        With one model also difference and interval.
        """
        labels = shown_names(list(self.models))
        columns = [Column("title", "measure"), Column("better", "better"), Column("human", "human", ">")]
        columns += [Column(f"model {name}", labels[name], ">") for name in self.models]
        if len(self.models) == 1:
            columns += [Column("difference", "difference", ">"), Column("interval", "interval", ">")]
        rows: list[TableRow] = []
        for measure in self.measures:
            row: TableRow = {"title": self._title(measure), "better": MEASURES[measure].better}
            row["human"] = _number(self.human.get(measure))
            winner = self.best_model(measure)
            for name, values in self.models.items():
                entry = values.get(measure)
                row[f"model {name}"] = _value(entry) + (best if name == winner else "")
                row["difference"] = _number(entry and entry.difference, "+")
                row["interval"] = _interval(entry)
            rows.append(row)
        return Table(columns, rows)

    def _transfer_table(self) -> Table:
        """One row for each model that a discriminator was trained on, "all" last, and each that it was tested on."""
        if self.transfer is None:
            return Table(TRANSFER_COLUMNS, [])
        tests = [
            (name, other, self.transfer.accuracy[name][other], self.transfer.auc[name][other])
            for name in self.transfer.models
            for other in self.transfer.models
        ]
        tests += [("all", other, both.accuracy, both.auc) for other, both in self.transfer.mixed.items()]
        rows = [(*names, accuracy.value, *(accuracy.ci or (None, None)), auc.value) for *names, accuracy, auc in tests]
        return Table.of(TRANSFER_COLUMNS, rows)

    def _parts_of_transfer(self) -> list[Part]:
        """The accuracies: a row for each training set, a column for each test set."""
        if self.transfer is None:
            return []
        labels, transfer = shown_names(list(self.models)), self.transfer
        rows: list[Sequence[str | float]] = [
            (labels[name], *(transfer.accuracy[name][other].value for other in labels)) for name in labels
        ]
        rows.append(("all of them", *(transfer.mixed[other].accuracy.value for other in labels)))
        columns = Column("trained on", "trained on"), *(Column(f"on {name}", labels[name], ".3f") for name in labels)
        note = "Accuracy of discriminators of the features on unseen texts of each model and people; 0.5: by chance."
        return [Heading("Discriminators across models"), Table.of(columns, rows), Prose([note])]

    def _parts_of_subgroups(self) -> list[Part]:
        """A table a model: one row a measure, with a column for each subgroup."""
        parts: list[Part] = []
        for name in self.models:
            subgroups = {label: subgroup for label, subgroup in self.by_subgroup.items() if name in subgroup.models}
            models = [subgroup.models[name] for subgroup in subgroups.values()]
            values = {measure: [_value(entries.get(measure)) for entries in models] for measure in self.measures}
            rows = [(self._title(measure), MEASURES[measure].better, *cells) for measure, cells in values.items()]
            columns = [Column("title", "measure"), Column("better", "better")]
            titles = {label: f"{printable(label)} ({subgroup.sizes[name]})" for label, subgroup in subgroups.items()}
            columns += [Column(f"label {label}", title, ">") for label, title in titles.items()]
            parts += [Heading(f"{printable(name)} by subgroup"), Table.of(columns, rows)] if subgroups else []
        return parts

    def _notes(self) -> list[str]:
        level = f"{100 * self.confidence_level:g} %"
        lines = [
            f"{_REAL} differs from the human texts by more than chance ({level} interval of the difference); {_BEST} "
            "the best value, apart from all others by its interval. better: human means the nearer to the human texts' "
            "value the better. Measures without an interval have none that a bootstrap would give honestly."
        ]
        if _SHARED in map(self._title, self.measures):
            lines.append(f"{_SHARED}: on the buckets that all models share; the published number is that of `compare`.")
        if any(MEASURES[name].group == "lexical" for name in self.measures):
            lines.append(
                "Measures of words say how near a set is to the human texts, not how good its texts are: people's "
                "ratings need not follow them."
            )
        if self.same_size is not None:
            lines.append(
                f"Measures that move with the number of texts are those of {self.same_size} texts of each set, drawn "
                "by the seed."
            )
        if self.answers_a_prompt:
            sets = ", ".join(
                f"{printable(name)} {low} to {most}" for name, (low, most) in self.answers_a_prompt.items()
            )
            lines.append(
                f"Texts a prompt: {sets}. Values of texts are means over all texts of a set, in which a prompt with "
                "more texts counts more; those of prompts are means over prompts."
            )
        lines += [f"{title_of(name)} is missing: {reason}" for name, reason in self.failed.items()]
        for title, counts in self.left_out.items():
            numbers = ", ".join(f"{count} of {printable(name)}" for name, count in counts.items())
            lines.append(f"{title} leaves out what is too short for it: {numbers}.")
        slow = {name: seconds for name, seconds in self.seconds.items() if seconds >= 1}
        times = ", ".join(f"{title_of(name)} {slow[name]:.1f} s" for name in sorted(slow, key=lambda key: -slow[key]))
        return [*lines, f"Time: {times}."] if slow else lines


def title_of(measure: str) -> str:
    """The title of a measure; other names, as that of the shared features, stay."""
    return MEASURES[measure].title if measure in MEASURES else measure


def _value(entry: Described | None) -> str:
    """A value, marked where its difference from the human texts is more than chance, by its interval."""
    if entry is None:
        return "–"
    is_real = entry.difference is not None and entry.ci and not entry.ci[0] <= 0 <= entry.ci[1]
    return f"{_number(entry.value)}{_REAL if is_real else ''}"


def _number(value: float | None, sign: str = "") -> str:
    return "–" if value is None else format(value, f"{sign}.4g")


def _interval(entry: Described | None) -> str:
    if entry is None or entry.ci is None:
        return (entry and entry.no_interval) or "–"
    sign = "" if entry.difference is None else "+"
    return f"[{_number(entry.ci[0], sign)}, {_number(entry.ci[1], sign)}]"
