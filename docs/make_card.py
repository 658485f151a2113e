"""Writes the metric's card for the Hub, beside the script that evaluate loads: python docs/make_card.py

The card is `README.md` beside the metric's script, where `evaluate` keeps the cards of its own metrics.
"""

from __future__ import annotations

import csv
from pathlib import Path

from mauve_metric.hosts.cli.warning_guide import ADVICE
from mauve_metric.hosts.evaluate.metric_card import CITATION, CODEBASE_URLS, DEFAULTS, DESCRIPTION, REFERENCE_URLS
from mauve_metric.measures.measure import Measure
from mauve_metric.options import config_fields
from mauve_metric.results.scores import SCORES
from mauve_metric.uncertainty.score_warnings import SEVERE

ROOT = Path(__file__).parent.parent
CARD = ROOT / "mauve_metric" / "README.md"
PUBLISHED = ROOT / "examples" / "published" / "web_text.csv"

HEAD = """---
title: MAUVE
emoji: 🪻
sdk: gradio
license: apache-2.0
tags:
  - evaluate
  - metric
description: How close is a model's text to human text, and should you believe the number?
---

# Metric card for MAUVE

## Metric description

{description}
## How to use

```python
import evaluate

import mauve_metric

mauve = evaluate.load(mauve_metric.evaluate_path())  # in a checkout, or from the Hub, also its name
out = mauve.compute(predictions=model_texts, references=human_texts, featurize_model_name="minilm")
out["mauve"], out.mauve_debiased_ci, out["signature"]
```

`predictions` are the model's texts, `references` the human ones; they need not be as many, and no text has a
counterpart. In their place `prediction_features=` and `reference_features=` take arrays (n, d). Several hundred texts
a side are the least that gives a useful number, some thousand are better.
"""
LIMITATIONS = """## Limitations and bias

* A score compares only with one of the same featurizer, options and number of texts: report the signature.
* What the featurizer does not see, the score does not see. With the last token's state of a GPT-2 it hardly reacts
  to errors in the middle of a text (He et al. 2023).
* It compares sets of free text. It says nothing about a single text, and is not for short answers.
* It measures likeness to the references, with whatever bias they have; not truth, safety or usefulness.
* It estimates a divergence of features in buckets, not of the distributions of strings (Pimentel et al. 2023).

After these warnings the score may not mean what it seems to mean:
"""


def card() -> str:
    """The whole card."""
    parts = [HEAD.format(description=DESCRIPTION), _inputs(), _outputs(), _published(), LIMITATIONS, _severe()]
    further = "\n".join(f"* <{url}>" for url in (*REFERENCE_URLS, *CODEBASE_URLS))
    parts += [f"## Citation\n\n```bibtex\n{CITATION.strip()}\n```\n", f"## Further references\n\n{further}\n"]
    return "\n".join([*parts, "This card is written by `docs/make_card.py`.\n"])


def _inputs() -> str:
    rows = []
    for name, item in config_fields().items():
        default = DEFAULTS.get(name, item.default)
        rows.append(f"| `{name}` | `{default!r}` | {_cell(item.metadata['help'])} |")
    return "\n".join(["### Inputs\n", "| option | default | what it is |", "|---|---|---|", *rows]) + "\n"


def _outputs() -> str:
    rows = [
        f"| `{name}` | {score.better} | {_range(score)} | {_cell(score.meaning)} | {_cell(score.trap)} |"
        for name, score in SCORES.items()
    ]
    head = ["### Output values\n", "| value | better | range | what it is | mind |", "|---|---|---|---|---|"]
    rest = (
        "\nand the intervals `mauve_debiased_ci` and `frontier_integral_debiased_ci`, `mauve_ceiling` (what two human\n"
        "sets score), `mauve_floor`, the histograms `p_hist` (references) and `q_hist` (predictions),\n"
        "`divergence_curve`, `warnings`, `signature`.\n"
    )
    return "\n".join([*head, *rows, rest])


def _range(score: Measure) -> str:
    return f"{score.low:g} … {'∞' if score.high is None else f'{score.high:.6g}'}"


def _cell(text: str) -> str:
    return str(text).replace("|", "\\|").replace("*", "\\*").replace("<", "&lt;")


def _published() -> str:
    """MAUVE of the literature's own table: for the orders of magnitude."""
    with PUBLISHED.open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["mauve"]]
    lines = [f"| GPT-2 {row['size']} | {row['decoding']} | {row['mauve']} |" for row in rows if row["size"]]
    about = (
        "Of web text continued by GPT-2, 5000 texts a side, gpt2-large features, c = 5 (Pillutla et al. 2021). They\n"
        "compare with scores of the same set-up only.\n"
    )
    head = ["#### Values from the literature\n", about, "| model | decoding | MAUVE |", "|---|---|--:|"]
    return "\n".join([*head, *lines]) + "\n"


def _severe() -> str:
    return "\n".join(f"* `{code}`: {ADVICE[code].cause}" for code in ADVICE if code in SEVERE) + "\n"


if __name__ == "__main__":
    CARD.write_text(card(), encoding="utf-8")
