"""Writes docs/measures.md, a card for each score and measure: python docs/make_measures.py

The examples' values are in docs/measures.json; `--run` computes them again (the packaged texts, minilm; minutes), and
`--only NAME` those of one measure.
"""

from __future__ import annotations

import argparse
import itertools
import json
import re
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from mauve_metric.apps.describing.catalogue.all_measures import MEASURES
from mauve_metric.measures.measure import Measure
from mauve_metric.results.scores import SCORES

ROOT = Path(__file__).parent.parent
VALUES = ROOT / "docs" / "measures.json"
MODELS = ("nucleus", "greedy")

GROUPS = {
    "lexical": "Of the texts of one set, by their tokens: words and punctuation marks, or the ids of `--tokenizer`. "
    "Near the human texts' value is better, not more or less of it, unless a card says otherwise; "
    "[people's ratings](people.md) need not follow them.",
    "distance": "Of features.",
    "buckets": "Of the histograms that MAUVE is computed from, on the buckets common to all models.",
    "estimators": "MAUVE of the projected features without buckets: no ceiling, no p-value "
    "([which to use when](../benchmarks/results/estimators.md)).",
    "language-model": "Of the texts under a causal language model (`--language-model`); one cached pass for all.",
    "discriminator": "How well a classifier tells unseen texts apart; copies and texts of one prompt share a fold.",
    "duplication": "Copies within a set and of the human texts. A model that copies its references scores MAUVE 1.",
}
_TESTS_ELSEWHERE = {
    "closeness": "uncertainty/test_closeness.py",
    "mauve": "scoring/test_compute.py",
    "mauve_debiased": "uncertainty/test_jackknife.py",
    "mauve_finer": "scoring/test_verdict.py",
    "mauve_classifier": "uncertainty/test_learned_score.py",
    "auc": "measures/test_cross_fitting.py",
    "mauve_star": "scoring/test_compute.py",
    "mauve_exact": "measures/test_frontier.py",
    "frontier_integral": "measures/test_frontier.py",
    "frontier_integral_debiased": "uncertainty/test_jackknife.py",
    "frontier_integral_star": "scoring/test_compute.py",
    "jensen_shannon": "apps/describing/distances/test_divergences.py",
    "decoder_choices": "apps/describing/likelihood/test_likelihoods.py",
    "near_duplicates_across": "apps/describing/duplicates/test_repeated_substrings.py",
    **dict.fromkeys(("precision", "recall", "density", "coverage"), "measures/test_knn_precision_recall.py"),
    **dict.fromkeys(("prd_precision", "prd_recall", "prd_area"), "measures/test_precision_recall.py"),
}
HEAD = """# Measures

Read [closeness](#score) first: it decides. Each number has a card: meaning with a link to its formula, value on the
example texts, range and better direction, how it misleads, function, test, paper.

* [Scores](#score) come from `compute_mauve` and `mauve-metric score`, all others from `describe` and
  `mauve-metric describe HUMAN MODEL [MODEL …]`: a table with the human texts' value, the difference and, where one is
  valid, an interval. Of several models it has MAUVE on the buckets that all share, as *shared MAUVE*.
  `--measures` takes groups, names or `all`; without it none of those **on request**.
* **Better: human** means near the human texts' value.
* A measure that **depends on n** is computed on equal numbers of texts, drawn by the seed.
* A mean is over texts, so that a prompt with more texts counts for more. Intervals of means are Welch's, longer where
  values are skewed (Hall's), of shares of texts Newcombe's (texts of one prompt count as one draw); other measures have
  their own or none.
* Values are of `examples/` with minilm, scores on each model's own buckets, measures on common ones; on another
  processor they may differ by some percent.

<!-- Written by docs/make_measures.py. -->
"""
SCORE_HEAD = """## score

Attributes of the result of `compute_mauve(p_text=human, q_text=model)`, and keys of `mauve-metric score --json`.
`frechet_distance` needs `frechet_distance=True`.
"""

_GIVEN = {
    "a language model": "`--language-model`",
    "a decoder": "`--decoder`",
    "prompts": "`--prompt-field` (`q_groups`)",
    "prompt texts": "the prompts' texts: `--prompt-field` (`q_groups`)",
    "training": "`training` texts",
}


def page() -> str:
    """The whole page."""
    values = json.loads(VALUES.read_text(encoding="utf-8"))
    parts = [HEAD, SCORE_HEAD, *_cards(SCORES, values["score"], SCORES)]
    for group, about in GROUPS.items():
        rows = {name: row for name, row in MEASURES.items() if row.group == group}
        request = "" if any(row.cheap for row in rows.values()) else " On request."
        others = "".join(f" Also [`{name}`](#{name})." for name, row in rows.items() if row.in_result)
        parts.append(f"## {group}\n\n{about}{request}{others}\n")
        own = {name: row for name, row in rows.items() if not row.in_result}
        parts += _cards(own, values["describe"], rows)
    return "\n".join(parts)


def _cards(rows: Mapping[str, Measure], values: Mapping[str, Any], group: Mapping[str, Measure]) -> list[str]:
    """A card for each measure; neighbours that differ only in name and meaning share one."""
    for name, row in rows.items():
        _check(name, row, values)
    families = itertools.groupby(rows, lambda name: (_about(rows[name], group), _sources(name, rows[name])))
    return [_card({name: rows[name] for name in names}, *shared, values) for shared, names in families]


def _card(rows: Mapping[str, Measure], about: str, sources: str, values: Mapping[str, Any]) -> str:
    titles = {name: f"[{row.title}](mathematics.md#{row.formula})".replace("*", "\\*") for name, row in rows.items()}
    lines = [f"**{titles[name]}**: {row.meaning}.{_examples(name, values)}" for name, row in rows.items()]
    meaning = lines[0] if len(lines) == 1 else "\n".join(f"* {line}" for line in lines)
    return f"### {', '.join(rows)}\n\n{meaning}\n\n{about}\n{sources}\n"


def _about(row: Measure, group: Mapping[str, Measure]) -> str:
    """Range, better direction, and how the measure misleads."""
    size = "; depends on n" if row.sizes_matter and not row.in_result else ""
    request = "; on request" if not row.cheap and any(other.cheap for other in group.values()) else ""
    low, high = (None if end is None else f"{end:.6g}" for end in (row.low, row.high))
    ends = f"{'(-∞' if low is None else f'[{low}'}, {'∞)' if high is None else f'{high}]'}"
    trap = row.trap[:1].upper() + row.trap[1:]
    return f"{ends}; better: {row.better}{size}{request}. {trap}.{_needs(row, group)}"


def _sources(measure: str, row: Measure) -> str:
    """The function of a measure, its test and paper; a score is what `compute_mauve` returns."""
    function = _function(row)
    name = f"{function.__module__.removeprefix('mauve_metric.')}.{function.__qualname__}"
    name += f"(…).{row.part}" if row.part else ""
    source = "" if row.in_result else f"`{name}`, "
    return f"{source}[test](../tests/{_test(measure, row)}), {row.paper}."


def _examples(name: str, values: Mapping[str, Any]) -> str:
    shown = [(who, values[who].get(name)) for who in ("human", *MODELS)]
    known = ", ".join(f"{who} {_number(value)}" for who, value in shown if value is not None)
    return f" *{known}.*" if known else ""


def _needs(row: Measure, group: Mapping[str, Measure]) -> str:
    """A sentence on what the measure needs and not all of its group do."""
    shared = set.intersection(*(set(other.inputs.given) for other in group.values()))
    own = [_GIVEN.get(given, given) for given in row.inputs.given if given not in shared]
    return f" Needs {' and '.join(own)}." if own else ""


def _number(value: float) -> str:
    if abs(value) >= 1000:
        return f"{value:.0f}"
    return f"{value:.3g}" if value == 0 or abs(value) >= 1e-4 else f"{value:.1e}"


def _function(row: Measure) -> Callable[..., Any]:
    """The function under a row: what a partial application fixes, or the one that a lambda calls."""
    function: Any = row.compute
    while isinstance(function, partial):
        function = function.func
    if function.__name__ == "<lambda>":
        function = function.__globals__[function.__code__.co_names[0]]
    return function  # type: ignore[no-any-return]


def _test(name: str, row: Measure) -> str:
    """The test that compares the measure with something independent, in `tests/`; of most that of its function."""
    *folders, file = _function(row).__module__.split(".")[1:]
    return _TESTS_ELSEWHERE.get(name) or "/".join([*folders, f"test_{file}.py"])


def _check(name: str, row: Measure, values: Mapping[str, Any]) -> None:
    """Raise `ValueError` that says what to add, where the card would lack something."""
    function = _function(row).__name__
    tests = ROOT / "tests" / _test(name, row)
    if not row.paper:
        advice = "add paper= to its row: who defined it, and when"
    elif not row.meaning:
        advice = "add meaning= to its row: what its value says"
    elif row.formula not in _anchors():
        advice = f"add formula= to its row: the anchor of a heading in docs/mathematics.md, got {row.formula!r}"
    elif not row.trap:
        advice = "add trap= to its row: how it misleads"
    elif not tests.exists():
        advice = f"add tests/{_test(name, row)}"
    elif function != "_in_result" and not {name, function} & {*re.findall(r"\w+", tests.read_text(encoding="utf-8"))}:
        advice = f"add a test of {function} to tests/{_test(name, row)}"
    elif _on_examples(row) and not any(name in values[model] for model in MODELS):
        advice = f"add its values on the examples: run python docs/make_measures.py --only {name}"
    else:
        return
    raise ValueError(f"the measure {name!r} is incomplete: {advice}")


def _on_examples(row: Measure) -> bool:
    """Return whether the examples' texts and their features are enough for the measure."""
    return {"texts", "features"}.issuperset(row.inputs.given)


def _anchors() -> set[str]:
    """The anchors of the headings in docs/mathematics.md."""
    heads = re.findall(r"^#+ (.+)$", (ROOT / "docs" / "mathematics.md").read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", head.lower()).replace(" ", "-") for head in heads}


def run(only: str | None = None) -> dict[str, dict[str, dict[str, float]]]:
    """Compute the values of the example texts: of one measure, or of all without a language model and training texts.

    Raises:
        KeyError: there is no measure of this name whose value on the examples can be computed.
    """
    from mauve_metric import compute_mauve, describe
    from mauve_metric.inputs.files import read_texts

    human = read_texts(ROOT / "examples" / "human.jsonl")
    models = {name: read_texts(ROOT / "examples" / f"{name}.jsonl") for name in MODELS}
    scores = [name for name in SCORES if only in (None, name)]
    measures = [
        name
        for name, row in MEASURES.items()
        if row.group != "score" and _on_examples(row) and only in (None, name) and name not in scores
    ]
    if not scores and not measures:
        raise KeyError(only)
    values = {part: {who: dict[str, float]() for who in ("human", *MODELS)} for part in ("score", "describe")}
    for name, texts in models.items() if scores else ():
        out = compute_mauve(p_text=human, q_text=texts, featurize_model_name="minilm", frechet_distance=True)
        values["score"][name] = {key: _short(getattr(out, key)) for key in scores}
    if measures:
        found = describe(human, models, measures=measures, featurize_model_name="minilm")
        values["describe"]["human"] = {name: _short(value) for name, value in found.human.items()}
        for model, rows in found.models.items():
            values["describe"][model] = {name: _short(row.value) for name, row in rows.items()}
    return values


def _short(value: float) -> float:
    return float(f"{value:.6g}")


if __name__ == "__main__":
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--run", action="store_true")
    arguments.add_argument("--only", choices=[*SCORES, *MEASURES], metavar="NAME")
    given = arguments.parse_args()
    if given.run:
        VALUES.write_text(json.dumps(run(), indent=1) + "\n", encoding="utf-8")
    elif given.only:
        stored = json.loads(VALUES.read_text(encoding="utf-8"))
        for part, sets in run(given.only).items():
            for who, values in sets.items():
                stored[part].setdefault(who, {}).update(values)
        VALUES.write_text(json.dumps(stored, indent=1) + "\n", encoding="utf-8")
    (ROOT / "docs" / "measures.md").write_text(page(), encoding="utf-8")
