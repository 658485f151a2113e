"""One number hides what precision and recall tell apart: models that write about one topic, two, or four.

    python benchmarks/topics.py [--texts 600] [--plot FILE]

In small, the experiment of Le Bronnec et al. 2024 (figure 2). The example texts are cut into four topics by k-means on
their MiniLM features. The human set is half of the texts of two topics. The models are human too, so that nothing but
their topics differs: the other half of one topic, of both, and of both with two topics more.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mauve_metric import MauveResult, compute_mauve
from mauve_metric.features.reference import featurize
from mauve_metric.quantize import kmeans, projection
from mauve_metric.results.charts.figure import save_chart
from mauve_metric.texts.examples import examples_folder
from mauve_metric.texts.files import read_texts

TOPICS = 4
SCORES = ("precision", "recall", "prd_precision", "prd_recall", "density", "coverage")


def topic_halves(features: NDArray[Any], seed: int) -> list[tuple[NDArray[Any], NDArray[Any]]]:
    """The rows of each topic in two random halves, the topics with most rows first."""
    labels = kmeans.kmeans(projection.project(features, 0.9, -1, seed), TOPICS, seed=seed)
    order = np.random.default_rng(seed).permutation(len(features))
    topics = [order[labels[order] == topic] for topic in np.argsort(-np.bincount(labels, minlength=TOPICS))]
    return [(features[rows[::2]], features[rows[1::2]]) for rows in topics]


def drawn(topics: list[NDArray[Any]], rows: int, rng: np.random.Generator) -> NDArray[Any]:
    """As many rows from each topic, without repetition, `rows` in all."""
    each = rows // len(topics)
    return np.concatenate([topic[rng.permutation(len(topic))[:each]] for topic in topics])


def experiment(features: NDArray[Any], seed: int) -> dict[str, MauveResult]:
    """The three models against the two topics."""
    halves = topic_halves(features, seed)
    rng = np.random.default_rng(seed)
    human, model = [half for half, _ in halves], [half for _, half in halves]
    smallest = [min(len(half) for half in model[:count]) * count for count in (1, 2, TOPICS)]
    rows = min(smallest)
    reference = drawn(human[:2], rows, rng)
    models = {"one of the two topics": model[:1], "both topics": model[:2], "both and two more": model}
    return {
        name: compute_mauve(p_features=reference, q_features=drawn(topics, rows, rng), seed=seed)
        for name, topics in models.items()
    }


def chart(results: dict[str, MauveResult]) -> Any:
    """Precision against recall, one point a model, with MAUVE written beside it."""
    import altair as alt

    values = [
        {
            "model": name,
            "recall": result.recall,
            "precision": result.precision,
            "label": f"{name}: MAUVE {result.mauve:.2f}",
        }
        for name, result in results.items()
    ]
    scale = alt.Scale(domain=[0, 1])
    base = alt.Chart(alt.Data(values=values)).encode(
        x=alt.X("recall:Q", title="recall: human texts that the model could have written", scale=scale),
        y=alt.Y("precision:Q", title="precision: model texts that a human could have written", scale=scale),
    )
    points = base.mark_point(size=120, filled=True).encode(
        color=alt.Color("model:N", legend=None), shape=alt.Shape("model:N", legend=None)
    )
    return (points + base.mark_text(align="right", dx=-10, dy=14).encode(text="label:N")).properties(
        width=420, height=420, title="Precision and recall against a reference of two topics"
    )


def main() -> None:
    """Print the table as Markdown, and draw the figure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--texts", type=int, default=600, help="of each of the two human files")
    parser.add_argument("--tokens", type=int, default=64, help="kept of each text")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--plot", type=Path, metavar="FILE", help=".png, .svg, .pdf, .html or .json")
    options = parser.parse_args()
    texts = [
        text
        for name in ("human.jsonl", "human_other.jsonl")
        for text in read_texts(examples_folder() / name)[: options.texts]
    ]
    features = featurize(texts, featurize_model_name="minilm", max_text_length=options.tokens).features
    results = experiment(features, options.seed)
    print(f"| model | texts | MAUVE | {' | '.join(SCORES)} |\n|---|---|---|{'---|' * len(SCORES)}")
    for name, result in results.items():
        numbers = " | ".join(f"{getattr(result, score):.2f}" for score in SCORES)
        print(f"| {name} | {result.n_q} | {result.mauve:.2f} | {numbers} |")
    if options.plot is not None:
        save_chart(chart(results), options.plot)


if __name__ == "__main__":
    main()
