"""Which scores order systems as people do, by featurizer and question.

    python experiments/people.py FOLDER

FOLDER holds, for each set of data NAME, `NAME.people.json` (a system each with people's scores of it by question, such
as {"tgen": {"fluency": 2.3}}), the texts `NAME/SYSTEM.jsonl` of every system (a prompt and a text on each line) and
those by people, `NAME/human.jsonl`; optionally `NAME/human2.jsonl`, other texts by people for the same prompts, and
`NAME.QUESTION_pairs.csv`, judgements of pairs that `mauve-metric preferences` reads. The repository has no such texts.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import altair as alt
from common import AXIS, argument_parser, marks_of, progress, save

from mauve_metric import describe, rank_by_preferences
from mauve_metric.apps.describing.description import Description
from mauve_metric.apps.judging.judgement import QuestionScores
from mauve_metric.apps.judging.measured_values import given_measures
from mauve_metric.apps.judging.statistics.rank_correlation import bootstrap_correlations
from mauve_metric.report.document import Column, TableRow

HUMAN, SECOND = "human", "human2"
SCORES = ("closeness", "mauve", "mauve_debiased", "mauve_classifier", "precision", "recall", "frechet_distance")
WORDS = ("distinct_4", "diversity", "self_bleu", "compression_ratio", "entropy_4", "zipf", "mean_length")
OF_WORDS = "words"  # in the column of featurizers: measures that need none
PAIRS = (("closeness", "mauve"), ("precision", "mauve"), ("precision", "closeness"))  # whose correlations are compared
NAMES = {"mauve_debiased": "by groups", "mauve_classifier": "by classifier", "frechet_distance": "Fréchet"}
Measured = dict[str, dict[str, float | None]]  # by measure and system, the human texts' value too where it has one


class People(NamedTuple):
    """What people said of the systems of one set of data: `rank_by_preferences` takes each of the tables."""

    name: str
    folder: Path
    tables: list[list[dict[str, Any]] | Path]


def read_people(folder: Path) -> Iterator[People]:
    """The sets of data in a folder.

    Raises:
        FileNotFoundError: there is none.
    """
    found = sorted(folder.glob("*.people.json"))
    if not found:
        raise FileNotFoundError(f"there is no NAME.people.json in {str(folder)!r}")
    for path in found:
        name = path.name.removesuffix(".people.json")
        scores: Mapping[str, Mapping[str, float]] = json.loads(path.read_text(encoding="utf-8"))
        rows = [{"model": system, **values} for system, values in scores.items() if system not in (HUMAN, SECOND)]
        yield People(name, folder / name, [rows, *sorted(folder.glob(f"{name}.*_pairs.csv"))])


def read_texts(path: Path) -> tuple[list[str], list[str]]:
    """The texts of a system, and their prompts."""
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return [row["text"] for row in rows], [row["prompt"] for row in rows]


def describe_systems(folder: Path, featurizer: str | None, options: argparse.Namespace) -> Description:
    """Scores of every system, and of the second human set, against the human texts; without featurizer of words."""
    texts, prompts = read_texts(folder / f"{HUMAN}.jsonl")
    paths = sorted(path for path in folder.glob("*.jsonl") if path.stem != HUMAN)
    sets = {path.stem: read_texts(path) for path in paths}
    more: dict[str, Any] = {} if featurizer is None else {"featurize_model_name": featurizer, "frechet_distance": True}
    return describe(
        texts,
        {name: side for name, (side, _) in sets.items()},
        measures=WORDS if featurizer is None else "score",
        p_groups=prompts,
        q_groups={name: side for name, (_, side) in sets.items()},
        seed=options.seed,
        device=options.device,
        verbose=False,
        empty_texts="drop",
        **more,
    )


def values_of(description: Description) -> Measured:
    """The measures of the systems, without the second human set."""
    results = {} if description.comparison is None else description.comparison.models
    values: Measured = {
        measure: {name: getattr(result, measure) for name, result in results.items() if name != SECOND}
        for measure in SCORES
        if results
    }
    for measure in WORDS if not results else ():
        of_systems = {name: of[measure].value for name, of in description.models.items() if name != SECOND}
        values[measure] = {**of_systems, HUMAN: description.human[measure]}
    return values


def row_of(data: str, name: str, featurizer: str, scores: QuestionScores, values: Measured, seed: int) -> TableRow:
    """Correlations of every measure with people's scores, with intervals, and the differences of `PAIRS`."""
    row: TableRow = {"data": data, "question": name, "featurizer": featurizer, "systems": len(scores.models)}
    for entry in scores.agreement:
        low, high = entry.ci or (None, None)
        row |= {entry.measure: entry.correlation, f"{entry.measure}_low": low, f"{entry.measure}_high": high}
    strengths = scores.strengths()
    measured = given_measures(values)
    for first, second in PAIRS:
        if first in row and second in row:
            sides = [measured[measure].orders(list(strengths)) for measure in (first, second)]
            interval = bootstrap_correlations(sides, list(strengths.values()), seed=seed).leading
            key = f"{first}_minus_{second}"
            row |= {key: float(str(row[first])) - float(str(row[second]))}
            row |= dict(zip((f"{key}_low", f"{key}_high"), interval or (None, None), strict=True))
    return row


def rows_of(people: People, featurizer: str | None, options: argparse.Namespace) -> tuple[list[TableRow], str]:
    """A row for each question, and what the second human set scores."""
    description = describe_systems(people.folder, featurizer, options)
    values, shown = values_of(description), featurizer or OF_WORDS
    rows: list[TableRow] = []
    for table in people.tables:
        judgement = rank_by_preferences(table, values, common_models=True, seed=options.seed)
        for name, scores in judgement.questions.items():
            title = f"{table.stem.split('.')[-1].removesuffix('_pairs')}, by pairs" if isinstance(table, Path) else name
            rows.append(row_of(people.name, title, shown, scores, values, options.seed))
    if description.comparison is None or SECOND not in description.comparison.models:
        return rows, ""
    second = description.comparison.models[SECOND]
    low, high = second.closeness_ci or (float("nan"),) * 2
    said = f"{people.name}, {shown}: closeness {second.closeness:.3f} [{low:.3f}, {high:.3f}], MAUVE {second.mauve:.3f}"
    return rows, said


def figure(rows: Sequence[TableRow]) -> alt.FacetChart:
    """The correlation of each score with people, a panel for each question."""
    values = [
        {
            "panel": f"{row['data']}: {row['question']}",
            "measure": NAMES.get(name, name),
            "featurizer": row["featurizer"],
            **{key: row.get(f"{name}{end}") for key, end in (("value", ""), ("low", "_low"), ("high", "_high"))},
        }
        for row in rows
        for name in (*SCORES, *WORDS)
        if row.get(name) is not None
    ]
    featurizers = list(dict.fromkeys(str(row["featurizer"]) for row in rows))
    order = [NAMES.get(name, name) for name in (*SCORES, *WORDS)]
    y = alt.Y("measure:N", title=None, sort=order, axis=alt.Axis(**AXIS))
    offset = alt.YOffset("featurizer:N", sort=featurizers)
    base = alt.Chart().encode(y=y, yOffset=offset, color=marks_of(featurizers, "featurizer")["color"])
    x = alt.X("value:Q", title="Spearman", scale=alt.Scale(domain=[-1, 1]), axis=alt.Axis(**AXIS))
    layers = alt.layer(
        base.mark_rule(opacity=0.5).encode(x=alt.X("low:Q", title="Spearman"), x2="high:Q"),
        base.mark_point(filled=True, size=45, opacity=1).encode(x=x),
        data=alt.InlineData(values=values),
    ).properties(width=220, height={"step": 9})
    chart: alt.FacetChart = layers.facet(facet=alt.Facet("panel:N", title=None), columns=2).properties(
        title="Agreement with people",
        description="Spearman's correlation of each score with people's, by featurizer and question, as in the table.",
    )
    return chart


def main(arguments: Sequence[str] | None = None) -> list[Path]:
    """Run the study."""
    parser = argument_parser(__doc__)
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="of texts and people's scores")
    parser.add_argument("--featurizers", nargs="+", default=["ngrams", "minilm"], help="ngrams and minilm by default")
    parser.add_argument("--device", default="auto", help="of the featurizers")
    options = parser.parse_args(arguments)
    started = time.monotonic()
    jobs = [(people, name) for people in read_people(options.folder) for name in (*options.featurizers, None)]
    done = [rows_of(people, name, options) for people, name in progress(jobs, "agreement with people")]
    rows, seconds = [row for rows, _ in done for row in rows], [said for _, said in done if said]
    notes = [
        "Spearman's correlation of each score, in its better direction, with people's scores of the systems; in "
        "parentheses the 95 % bootstrap interval over systems. Human texts for the same prompts are the reference, and "
        "are no system.",
        *[f"The second human set against the first: {'; '.join(seconds)}."] * bool(seconds),
    ]
    pages = []
    for name, title, measures, of_words in (
        ("people", "Agreement with people", SCORES, False),
        ("people_words", "Agreement of lexical measures with people", WORDS, True),
    ):
        chosen = [row for row in rows if (row["featurizer"] == OF_WORDS) == of_words]
        keys = [f"{first}_minus_{second}" for first, second in PAIRS] if not of_words else []
        columns = [
            *(Column(key, key) for key in ("data", "question", "featurizer")),
            Column("systems", "systems", "d"),
            *(Column(key, NAMES.get(key, key.replace("_", " ")), "+.2f") for key in (*measures, *keys)),
        ]
        took = time.monotonic() - started
        pages.append(save(name, title, columns, chosen, figure(chosen), seconds=took, notes=notes, out=options.out))
    return pages


if __name__ == "__main__":
    main()
