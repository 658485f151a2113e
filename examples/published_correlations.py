"""The published correlations of measures with people's judgement, again from the published tables.

    python examples/published_correlations.py

Pillutla et al. (NeurIPS 2021) asked people to compare web texts by eight language models and decoders, and texts by
people; the Bradley–Terry scores of the answers are their Table 13 (`published/human_judgement.csv`), the measures of
the same texts their tables of results (`published/web_text.csv`), and Spearman's correlations their Tables 5 and 14.
MAUVE is better the higher, every other measure the closer to its value for human texts. The Zipf coefficient and the
repetition come out otherwise than they were printed, since rounding made ties of them in the tables.
"""

from __future__ import annotations

from pathlib import Path

from mauve_metric.apps.judging.judgement_tables import open_table
from mauve_metric.apps.judging.measured_values import Measured
from mauve_metric.apps.judging.statistics.boundary_detection import chance_points
from mauve_metric.apps.judging.statistics.rank_correlation import spearman

PUBLISHED = Path(__file__).parent / "published"
MEASURES = ("mauve", "generation_perplexity", "distinct_4", "self_bleu", "zipf", "repetition")
HIGHER = ("mauve",)


def column(file: str, name: str) -> dict[str, float]:
    """One number of each model in a published table."""
    lines = open_table(file, PUBLISHED / file).lines
    return {line.value["model"]: float(line.value[name]) for line in lines if line.value[name]}


def correlation(measure: str, question: str) -> float:
    """Spearman's correlation of a measure of web text with people's answers to a question."""
    values, strength = column("web_text.csv", measure), column("human_judgement.csv", question)
    models = [model for model in strength if model != "human"]
    measured = Measured(dict(values), values.get("human"), "higher" if measure in HIGHER else "human")
    return spearman(measured.orders(models), [strength[model] for model in models]).value


def story_correlation(measure: str) -> float:
    """Spearman's correlation of a measure of stories with how well they escape a trained discriminator."""
    values, accuracy = column("stories.csv", measure), column("stories.csv", "discriminator_accuracy")
    measured = Measured(dict(values), values.get("human"), "higher" if measure in HIGHER else "human")
    return spearman(measured.orders(list(accuracy)), [-share for share in accuracy.values()]).value


def main() -> None:
    """Print both tables, and what players of Real or Fake Text get who do not read."""
    questions = ("human-like", "interesting", "sensible")
    print(f"{'web text':<24}" + "".join(f"{question:>13}" for question in questions))
    for measure in MEASURES:
        print(f"{measure:<24}" + "".join(f"{correlation(measure, question):>13.3f}" for question in questions))
    print(f"\n{'stories':<24}{'discriminator':>13}")
    for measure in ("mauve", "generation_perplexity", "distinct_4"):
        print(f"{measure:<24}{story_correlation(measure):>13.3f}")
    random, always_last = chance_points(range(2, 12))
    print(f"\nReal or Fake Text: {random:.2f} points by guessing at random, {always_last:.2f} by always saying human")


if __name__ == "__main__":
    main()
