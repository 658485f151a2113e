"""Writes docs/measures.md, a card for each score and measure: python docs/make_measures.py

The examples' values stand in docs/measures.json; `--run` computes them again (the packaged texts, minilm; a minute).
"""

from __future__ import annotations

import ast
import json
import sys
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from mauve_metric.catalogue.row import Measure
from mauve_metric.catalogue.scores import SCORES, Score
from mauve_metric.catalogue.table import MEASURES

ROOT = Path(__file__).parent.parent
VALUES = ROOT / "docs" / "measures.json"
MODELS = ("nucleus", "greedy")

GROUPS = {
    "lexical": "Texts of one set, by their tokens: words and punctuation marks, or the ids of `--tokenizer`.",
    "distance": "Features of both sets, or of one.",
    "buckets": "The histograms that MAUVE is computed from, on the buckets common to all models.",
    "estimators": "MAUVE of the projected features without buckets. There is no interval, ceiling or p-value of these; "
    "[which to use when](../benchmarks/results/estimators.md).",
    "language-model": "What a causal language model (`--language-model`) says of the texts; one cached pass for all.",
    "discriminator": "How well a classifier tells unseen texts apart; copies and texts of one prompt share a fold.",
    "duplication": "Copies within a set and of the human texts. A model that copies its references scores MAUVE 1.",
}
HEAD = """# Measures

A card for each number that the package computes: what it means, its range, which way is better, how it misleads,
what it is on the example texts, and which test holds it to something independent.

* `compute_mauve` and `mauve-metric score` give [the scores](#score), with MAUVE at their head.
* `describe` and `mauve-metric describe HUMAN MODEL [MODEL …]` give all the others, in one table beside the value for
  the human texts, with the difference and an interval where an honest one can be had. `--measures` takes groups,
  names, or `all`; those marked ● are computed without being asked for. In the table, \\* says that a model differs from
  the human texts by more than chance, ◂ that a value is the best and apart from all others by its interval.

**better**: *human* means the nearer to the human texts' value the better. **interval**: of a mean over texts it is
Welch's, which is what a bootstrap over texts comes to (where prompts are given, texts of one prompt count as one draw);
other measures bring their own, or have none, since resampling a biased number would put the interval beside it.
**moves with the size**: computed on as many texts of each set, drawn by the seed, where sets differ in size.

*On the examples* gives values of the 600 human passages, of nucleus sampling and of greedy decoding by the small model
of `examples/`, featurized by minilm; scores on each model's own buckets, measures on common ones.

This page is written by `docs/make_measures.py` from the tables in the code.
"""
SCORE_HEAD = """## score

What `compute_mauve(p_text=human, q_text=model)` returns as attributes, and what stands in the JSON of
`mauve-metric score HUMAN MODEL --json`.
"""

_OF_FILES = {  # file of the function → part of the page of formulas
    "distinct": "lexical-measures",
    "zipf": "lexical-measures",
    "repetition": "lexical-measures",
    "self_bleu": "lexical-measures",
    "compression": "lexical-measures",
    "ngram_similarity": "lexical-measures",
    "mmd": "kernel-distance",
    "frechet": "distance-of-gaussians",
    "sliced_wasserstein": "sliced-wasserstein-distance",
    "clipped": "clipped-density-and-coverage",
    "vendi": "vendi-score",
    "copying": "copies-of-training-texts",
    "divergence_intervals": "other-divergences-of-the-buckets",
    "without_buckets": "mauve-without-buckets",
    "likelihood_measures": "under-a-language-model",
    "discriminators": "discriminators",
    "near_duplicates": "duplicates-and-copied-passages",
    "repeated_substrings": "duplicates-and-copied-passages",
    "copied_text": "duplicates-and-copied-passages",
}
_OF_SCORES = {  # score → part of the page of formulas, test
    "mauve": ("mauve", "api/test_compute.py"),
    "mauve_debiased": ("the-bias-of-sampling", "uncertainty/test_jackknife.py"),
    "mauve_classifier": ("learned-buckets", "uncertainty/test_learned.py"),
    "auc": ("learned-buckets", "measures/test_cross_fitting.py"),
    "mauve_star": ("smoothing", "api/test_compute.py"),
    "mauve_exact": ("the-exact-area", "measures/test_frontier.py"),
    "frontier_integral": ("frontier-integral-and-mid-point", "measures/test_frontier.py"),
    "frontier_integral_debiased": ("the-bias-of-sampling", "uncertainty/test_jackknife.py"),
    "frontier_integral_star": ("smoothing", "api/test_compute.py"),
    "jensen_shannon": ("frontier-integral-and-mid-point", "measures/test_divergences.py"),
    "precision": ("nearest-neighbours", "measures/test_support.py"),
    "recall": ("nearest-neighbours", "measures/test_support.py"),
    "density": ("nearest-neighbours", "measures/test_support.py"),
    "coverage": ("nearest-neighbours", "measures/test_support.py"),
    "prd_precision": ("precision-and-recall-curves", "measures/test_precision_recall.py"),
    "prd_recall": ("precision-and-recall-curves", "measures/test_precision_recall.py"),
    "prd_area": ("precision-and-recall-curves", "measures/test_precision_recall.py"),
    "frechet_distance": ("distance-of-gaussians", "measures/test_frechet.py"),
}
_NEEDS = {  # what a measure is not computed without
    "tokens": "texts",
    "texts": "texts",
    "features": "features",
    "likelihoods": "texts and a language model",
    "prompts": "texts, several of each prompt (`q_groups`, `--prompt-field`)",
    "both texts": "texts",
    "both features": "features",
    "three features": "features, and those of the training texts (`training`)",
    "both histograms": "features",
    "both likelihoods": "texts and a language model",
}


def page() -> str:
    """The whole page."""
    values = json.loads(VALUES.read_text(encoding="utf-8"))
    cards = [_card(name, score, values["score"], *_OF_SCORES[name]) for name, score in SCORES.items()]
    parts = [HEAD, SCORE_HEAD, _table(SCORES), *cards]
    for group, about in GROUPS.items():
        rows = {name: row for name, row in MEASURES.items() if row.group == group}
        parts += [f"## {group}\n\n{about}\n", _table(rows)]
        for name, row in rows.items():
            if name not in SCORES:  # one card for what stands in both tables
                parts.append(_card(name, row, values["describe"], *_places(row)))
    return "\n".join(parts)


def _table(rows: Mapping[str, Score | Measure]) -> str:
    lines = ["| measure | | better | range | what it is |", "|---|---|---|---|---|"]
    for name, row in rows.items():
        asked = row.of_features is None if isinstance(row, Score) else row.cheap
        cells = (f"[`{name}`](#{name})", "●" if asked else "", row.better, _range(row), row.meaning)
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines) + "\n"


def _range(row: Score | Measure) -> str:
    return " … ".join("∞" if end is None else f"{end:.6g}" for end in (row.low, row.high)).replace("∞ …", "-∞ …")


def _card(name: str, row: Score | Measure, values: Mapping[str, Any], formula: str, test: str) -> str:
    better = "the nearer to the human value the better" if row.better == "human" else f"{row.better} is better"
    size = "; moves with the size" if isinstance(row, Measure) and row.sizes_matter else ""
    lines = [
        f"### {name}\n",
        f"**{row.title.replace('*', '')}**: {row.meaning}.\n",
        f"* Range {_range(row)}; {better}{size}.",
        f"* Mind: {row.trap}.",
        f"* Call: {_call(name, row)}.",
        f"* Formula: [{formula.replace('-', ' ')}](mathematics.md#{formula}). Paper: {row.paper}.",
        f"* Held to: {_docstring(test)} ([test](../tests/{test}))",
    ]
    shown = [(who, values[who].get(name)) for who in ("human", *MODELS)]
    known = [f"{who} {_number(value)}" for who, value in shown if value is not None]
    if known:
        lines.insert(5, f"* On the examples: {', '.join(known)}.")
    return "\n".join(lines) + "\n"


def _number(value: float) -> str:
    return f"{value:.4g}" if value == 0 or abs(value) >= 1e-4 else f"{value:.1e}"


def _call(name: str, row: Score | Measure) -> str:
    if isinstance(row, Score):
        asked = ", frechet_distance=True" if name == "frechet_distance" else ""
        return f"`compute_mauve(p_text=human, q_text=model{asked}).{name}`"
    function = f"`{_function(row).__module__}.{_function(row).__qualname__}`"
    return f"`mauve-metric describe HUMAN MODEL --measures {name}`, {function}; needs {_NEEDS[row.needs]}"


def _function(row: Measure) -> Callable[..., Any]:
    """The function under a row: what a partial application fixes, or the one that a lambda calls."""
    function: Any = row.compute
    while isinstance(function, partial):
        function = function.func
    if function.__name__ == "<lambda>":
        function = function.__globals__[function.__code__.co_names[0]]
    return function  # type: ignore[no-any-return]


def _places(row: Measure) -> tuple[str, str]:
    """The part of the page of formulas, and the test beside the function's file."""
    *folders, file = _function(row).__module__.split(".")[1:]
    return _OF_FILES[file], "/".join([*folders, f"test_{file}.py"])


def _docstring(test: str) -> str:
    """What a test's file says of itself."""
    said = ast.get_docstring(ast.parse((ROOT / "tests" / test).read_text(encoding="utf-8")))
    if said is None:
        raise ValueError(f"tests/{test} does not say what it tests")
    return said.split("\n\n")[0].replace("\n", " ").replace("*", "\\*")


def run() -> dict[str, dict[str, dict[str, float]]]:
    """The values of the example texts, all but those that need a language model, training texts or prompts."""
    from mauve_metric import compute_mauve, describe
    from mauve_metric.texts.files import read_texts

    human = read_texts(ROOT / "examples" / "human.jsonl")
    models = {name: read_texts(ROOT / "examples" / f"{name}.jsonl") for name in MODELS}
    score: dict[str, dict[str, float]] = {"human": {}}
    for name, texts in models.items():
        out = compute_mauve(p_text=human, q_text=texts, featurize_model_name="minilm", frechet_distance=True)
        score[name] = {key: _short(getattr(out, key)) for key in SCORES}
    asked = [name for name, row in MEASURES.items() if "likelihoods" not in row.needs and row.needs != "prompts"]
    found = describe(
        human,
        models,
        measures=[name for name in asked if MEASURES[name].needs != "three features"],
        featurize_model_name="minilm",
    )
    described = {"human": {name: _short(value) for name, value in found.human.items()}}
    for model, rows in found.models.items():
        described[model] = {name: _short(row.value) for name, row in rows.items()}
    return {"score": score, "describe": described}


def _short(value: float) -> float:
    return float(f"{value:.6g}")


if __name__ == "__main__":
    if sys.argv[1:] == ["--run"]:
        VALUES.write_text(json.dumps(run(), indent=1) + "\n", encoding="utf-8")
    (ROOT / "docs" / "measures.md").write_text(page(), encoding="utf-8")
