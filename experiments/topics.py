"""Topics that a model leaves out lower its recall, topics that it adds its precision, and each alone.

    python experiments/topics.py [--texts 240] [--seeds 5] [--own NAME=FILE … --foreign NAME=FILE …]

After Le Bronnec et al. 2024. The human texts are of three topics in equal parts. The models are human too, so that
nothing but their topics differs: other texts of the three, of two, of one; of the three with one, two, three more.
Without files the topics are prose that every installation of the package has.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from common import argument_parser, progress, save
from domains import FOREIGN, OWN
from feature_sets import named_file

from mauve_metric import FeatureSet, compute_mauve
from mauve_metric.arrays import Array
from mauve_metric.inputs.files import read_texts
from mauve_metric.report.charts.figure import COLORS
from mauve_metric.report.document import Column, TableRow

if TYPE_CHECKING:
    import altair as alt

SCORES = {
    "mauve": "MAUVE",
    "precision": "precision",
    "recall": "recall",
    "prd_precision": "PRD precision",
    "prd_recall": "PRD recall",
    "density": "density",
    "coverage": "coverage",
}
DRAWN = ("precision", "recall", "mauve")


def topic_texts(options: argparse.Namespace) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    """The texts of each topic of the human texts, and of each other topic."""
    if options.own:
        own, foreign = ({name: read_texts(path) for name, path in files} for files in (options.own, options.foreign))
        return own, foreign
    return tuple({name: make() for name, make in topics.items()} for topics in (OWN, FOREIGN))  # type: ignore[return-value]


def chosen(texts: Sequence[str], count: int, name: str, rng: np.random.Generator) -> list[str]:
    """Some of a topic's texts.

    Raises:
        SystemExit: it has too few.
    """
    if len(texts) < count:
        raise SystemExit(f"the topic {name!r} needs {count} texts, got {len(texts)}: give more, or a smaller --texts")
    return [texts[place] for place in rng.permutation(len(texts))[:count]]


def models_of(own: Sequence[str], foreign: Sequence[str]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The name of each model, and its topics."""
    for count in range(1, len(own)):
        yield f"{count} of the {len(own)} topics", tuple(own[:count])
    yield f"the {len(own)} topics", tuple(own)
    for count in range(1, len(foreign) + 1):
        yield f"the {len(own)} and {count} more", (*own, *foreign[:count])


def drawn(rows: Mapping[str, Array], topics: Sequence[str], n: int) -> Array:
    """n rows in equal parts from the first ones of each topic; the first topics have one more where n leaves a rest."""
    parts = [n // len(topics) + (place < n % len(topics)) for place in range(len(topics))]
    return np.concatenate([rows[topic][:part] for topic, part in zip(topics, parts, strict=True)])


def scores(
    features: Mapping[str, Array], own: Sequence[str], foreign: Sequence[str], n: int, seed: int
) -> dict[str, dict[str, float]]:
    """The scores of each model; which texts are whose, and which topic is left out first, is drawn by the seed."""
    rng = np.random.default_rng(seed)
    shuffled = {name: features[name][rng.permutation(len(features[name]))] for name in (*own, *foreign)}
    human = drawn(shuffled, own, n)
    part = -(-n // len(own))
    others = {name: rows[part:] if name in own else rows for name, rows in shuffled.items()}
    orders = [[names[place] for place in rng.permutation(len(names))] for names in (own, foreign)]
    found = {}
    for model, topics in models_of(*orders):
        result = compute_mauve(p_features=human, q_features=drawn(others, topics, n), seed=seed, num_runs=1)
        found[model] = {score: float(getattr(result, score)) for score in SCORES}
    return found


def table(runs: Sequence[Mapping[str, Mapping[str, float]]]) -> list[TableRow]:
    """One row for each model: means over the seeds."""
    return [
        {"model": model} | {score: float(np.mean([run[model][score] for run in runs])) for score in SCORES}
        for model in runs[0]
    ]


def chart(runs: Sequence[Mapping[str, Mapping[str, float]]]) -> alt.LayerChart:
    """Precision, recall and MAUVE of each model: the means as a line, every seed a point."""
    import altair as alt

    models, names = list(runs[0]), [SCORES[score] for score in DRAWN]
    values = [
        {"model": model, "score": SCORES[score], "value": run[model][score], "place": place}
        for run in runs
        for place, model in enumerate(models)
        for score in DRAWN
    ]
    base = alt.Chart(alt.InlineData(values=values)).encode(
        x=alt.X("model:N", title=None, sort=models, axis=alt.Axis(labelAngle=-25)),
        color=alt.Color("score:N", title=None, sort=names, scale=alt.Scale(domain=names, range=COLORS[: len(names)])),
    )
    scale = alt.Scale(domain=[0, 1])
    points = base.mark_point(filled=True, size=18, opacity=0.5).encode(y=alt.Y("value:Q", title=None, scale=scale))
    lines = base.mark_line(strokeWidth=2).encode(y=alt.Y("mean(value):Q", title=None, scale=scale), order="place:Q")
    return alt.layer(lines, points).properties(
        width=460,
        height=280,
        description="Recall falls with the topics that a model leaves out, precision with those that it adds, "
        "and MAUVE with both.",
    )


def main() -> None:
    """Run, and keep the table and the figure."""
    parser = argument_parser(__doc__)
    parser.add_argument("--own", type=named_file, nargs="+", metavar="NAME=FILE", help="topics of the human texts")
    parser.add_argument("--foreign", type=named_file, nargs="+", metavar="NAME=FILE", help="other topics")
    parser.add_argument("--texts", type=int, default=240, help="of each set (default: %(default)s)")
    parser.add_argument("--seeds", type=int, default=5, help="draws of the texts (default: %(default)s)")
    parser.add_argument("--featurizer", default="minilm", help="as featurize_model_name (default: %(default)s)")
    options = parser.parse_args()
    if bool(options.own) != bool(options.foreign) or (options.own and len(options.own) < 2):
        parser.error("--own needs at least two files, and --own and --foreign go together")
    start, n = time.perf_counter(), options.texts
    own, foreign = topic_texts(options)
    rng = np.random.default_rng(options.seed)
    needed = dict.fromkeys(own, n + -(-n // len(own))) | dict.fromkeys(foreign, -(-n // (len(own) + 1)))
    features: dict[str, Array] = {}
    for name, texts in progress((own | foreign).items(), "featurizing"):
        some = chosen(texts, needed[name], name, rng)
        features[name] = FeatureSet.from_texts(some, featurize_model_name=options.featurizer).features
    seeds = range(options.seed, options.seed + options.seeds)
    runs = [scores(features, list(own), list(foreign), n, seed) for seed in progress(seeds, "seeds")]
    save(
        "topics",
        "Topics left out and topics added",
        [Column("model", "model"), *(Column(key, title, ".2f") for key, title in SCORES.items())],
        table(runs),
        chart(runs),
        seconds=time.perf_counter() - start,
        notes=[
            f"Human texts: {n} of {', '.join(own)} in equal parts. Others: {', '.join(foreign)}. Every model has {n} "
            f"texts, too, by the featurizer {options.featurizer}; means of {options.seeds} draws of the texts and of "
            "the order of the topics. One clustering, k = n/10.",
        ],
        out=options.out,
    )


if __name__ == "__main__":
    main()
