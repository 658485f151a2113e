"""What each experiment is held to: the paper's direction, ours, whether they agree, and the test on the table.

`make_page.py` makes the overview of docs/experiments.md of it. A test fails where a sentence of ours no longer follows
from the numbers, so that it is written anew when an experiment was run again.
"""

from __future__ import annotations

import csv
from collections.abc import Callable
from typing import Literal, NamedTuple

from common import RESULTS

Agrees = Literal["yes", "partly", "no"]
DECODERS = ("sampling", "top_p", "top_k", "temperature", "greedy")  # the more truncated, the later


class Rows:
    """The table of an experiment: numbers by column and by the values of other columns."""

    def __init__(self, name: str) -> None:
        with (RESULTS / f"{name}.csv").open(encoding="utf-8", newline="") as file:
            self.rows = list(csv.DictReader(file))

    def column(self, name: str, **where: str) -> list[float]:
        """The numbers of a column in the rows whose cells begin with these texts."""
        chosen = [row for row in self.rows if all(row[key].startswith(text) for key, text in where.items())]
        if not chosen:
            raise ValueError(f"no row has {where}")
        return [float(row[name]) for row in chosen if row[name]]

    def value(self, name: str, **where: str) -> float:
        """The number in the first of these rows."""
        return self.column(name, **where)[0]

    def across(self, row: int, first: int, last: int) -> list[float]:
        """The numbers of one row in columns from one number to another, the last included."""
        return [float(cell) for cell in list(self.rows[row].values())[first : last + 1]]


class Claim(NamedTuple):
    """One sentence on one experiment. holds: whether ours follows from the table."""

    page: str
    paper: str
    ours: str
    agrees: Agrees
    holds: Callable[[Rows], bool]


def rises(values: list[float]) -> bool:
    """Return whether each number is at least as large as the one before."""
    return values == sorted(values)


CLAIMS = (
    Claim(
        "decoders",
        "nucleus above sampling above greedy by MAUVE",
        "so by classifier; by MAUVE greedy is first",
        "partly",
        lambda t: (
            t.value("mauve_classifier", decoder="top_p")
            > t.value("mauve_classifier", decoder="sampling")
            > t.value("mauve_classifier", decoder="greedy")
            and t.value("mauve", decoder="greedy") == max(t.column("mauve", model="smollm2"))
        ),
    ),
    Claim(
        "decoders",
        "greedy text has the lowest perplexity, most repetition, fewest distinct 4-grams",
        "so",
        "yes",
        lambda t: (
            t.value("perplexity", decoder="greedy") == min(t.column("perplexity"))
            and t.value("repetition", decoder="greedy") == max(t.column("repetition"))
            and t.value("distinct_4", decoder="greedy") == min(t.column("distinct_4"))
        ),
    ),
    Claim(
        "text_length",
        "MAUVE falls as texts get longer",
        "so for all decoders, clearly by classifier",
        "yes",
        lambda t: all(
            rises([t.value(score, set=name, tokens=n) for n in ("120", "50", "25")])
            for name in DECODERS
            for score in ("mauve_classifier", "mauve_debiased")
        ),
    ),
    Claim(
        "detection",
        "longer texts are easier to detect; truncated ones by their ranks",
        "longer ones are by words and features; by ranks the more truncated ones, at every length",
        "partly",
        lambda t: (
            all(
                t.value(by, decoder=name, tokens="120") > t.value(by, decoder=name, tokens="25")
                for name in DECODERS
                for by in ("words", "features")
            )
            and all(rises([t.value("ranks", decoder=name, tokens=n) for name in DECODERS]) for n in ("25", "50", "120"))
            and max(t.column("ranks", decoder="sampling")) < 0.6
        ),
    ),
    Claim(
        "transfer",
        "discriminators do not transfer between decoders",
        "those of sampled and of greedy text are worse on all others, the other three better on one; none at chance",
        "partly",
        lambda t: all(
            min(found := t.across(row, 1, 5)) > 0.55 and (max(found) == found[row]) == (row in (0, 4))
            for row in range(5)
        ),
    ),
    Claim(
        "nucleus_sizes",
        "the size of the nucleus varies from token to token",
        "from 1 to 100 and more in every set",
        "yes",
        lambda t: min(t.column("one")) > 0 and min(t.column("many")) > 0.3,
    ),
    Claim(
        "quality_diversity",
        "truncation trades recall for precision",
        "precision rises with truncation, but for greedy; recall stays",
        "no",
        lambda t: (
            t.value("precision", swept="top-p", value="0.5") > t.value("precision", swept="top-p", value="1")
            and t.value("precision", swept="top-p", value="0.5") > t.value("precision", swept="temperature", value="0")
            and min(t.column("recall", model="smollm2")) > 0.9
        ),
    ),
    Claim(
        "topics",
        "recall falls alone where topics are left out, precision alone where some are added",
        "so",
        "yes",
        lambda t: (
            rises(t.column("recall")[:3])
            and t.column("recall")[0] < 0.5
            and min(t.column("precision")[:3]) > 0.9
            and max(t.column("precision")[3:]) < 0.85
            and min(t.column("recall")[3:]) > 0.9
        ),
    ),
    Claim(
        "encoder_agreement",
        "encoders agree on precision and recall",
        "both put other human text first by precision; the order of decoders differs",
        "partly",
        lambda t: (
            all(values[0] == max(values) for values in (t.column("precision minilm"), t.column("precision ngrams")))
            and sorted(range(1, 6), key=t.column("precision minilm").__getitem__)
            != sorted(range(1, 6), key=t.column("precision ngrams").__getitem__)
        ),
    ),
    Claim(
        "diverse_decoders",
        "samples are the most diverse and least probable, beams the other way round",
        "so; oversampling between, other searches like beams",
        "yes",
        lambda t: (
            t.value("distinct_2", decoder="sampling")
            > t.value("distinct_2", decoder="oversampl")
            > max(t.value("distinct_2", decoder=name) for name in ("beams", "NPAD", "Hamming"))
            and t.value("perplexity", decoder="sampling") == max(t.column("perplexity"))
        ),
    ),
    Claim(
        "duplication",
        "measures of quality and diversity do not see copies of training texts",
        "MAUVE rises with them; memorisation and authenticity see them",
        "yes",
        lambda t: (
            rises(t.column("mauve")) and rises(t.column("memorised")) and rises([-x for x in t.column("authenticity")])
        ),
    ),
    Claim(
        "repeated_texts",
        "passages that training texts repeat have a lower perplexity",
        "so for those in five or more licences",
        "yes",
        lambda t: t.value("perplexity_high", group="in 5") < t.value("perplexity_low", group="in one"),
    ),
    Claim(
        "hyperparameters",
        "fewer texts raise the score; c does not change the ranking",
        "so with k = n/10; c changes places of two tied decoders alone; more buckets lower every score",
        "yes",
        lambda t: (
            rises([t.value("greedy", knob=f"n = {n}") for n in (600, 400, 200, 100)])
            and all(rho > 0.94 for rho in t.column("default", knob="c ="))
            and all(t.across(row, 1, 6)[0] == max(t.across(row, 1, 6)) for row in range(len(t.rows)))
            and all(t.value("sampling", knob=f"k = {k}") == min(t.across(6 + i, 1, 6)) for i, k in enumerate((10, 20)))
            and rises([t.value("human_other", knob=f"k = {k}") for k in (300, 150, 60, 10)])
        ),
    ),
    Claim(
        "quantizers",
        "k-means, DRMM and lattice rank alike (.99)",
        "all have human text first and sampling last; the decoders between change places",
        "partly",
        lambda t: (
            all(t.across(row, 1, 6)[0] == max(t.across(row, 1, 6)) for row in range(len(t.rows)))
            and all(t.across(row, 1, 6)[4] == min(t.across(row, 1, 6)) for row in range(len(t.rows)))
            and 0.3 < t.value("standard", way="lattice") < 0.95
        ),
    ),
    Claim(
        "sample_complexity",
        "smoothing converges faster than the plug-in",
        "Krichevsky–Trofimov does at every size; without bias is better still from three texts a bucket on",
        "yes",
        lambda t: (
            all(kt < plain for kt, plain in zip(t.column("krichevsky_trofimov"), t.column("none"), strict=True))
            and all(
                float(row["debiased"]) <= min(float(row[rule]) for rule in ("none", "laplace", "krichevsky_trofimov"))
                for row in t.rows
                if int(row["n"]) >= 3 * int(row["k"])
            )
        ),
    ),
    Claim(
        "people",
        "MAUVE agrees with people best",
        "k-NN precision is first in most rows; closeness is nowhere significantly above MAUVE",
        "no",
        lambda t: (
            sum(
                float(row["precision"]) >= max(float(row[key]) for key in ("mauve", "closeness", "recall"))
                for row in t.rows
            )
            > len(t.rows) / 2
            and max(t.column("closeness_minus_mauve_low")) <= 0
        ),
    ),
    Claim(
        "people_words",
        "distinct-4 and self-BLEU near the human value agree with people",
        "most correlations are negative",
        "no",
        lambda t: sum(value < 0 for value in t.column("distinct_4") + t.column("self_bleu")) > len(t.rows),
    ),
)


def overview() -> str:
    """The table of all claims in Markdown."""
    lines = ["| experiment | the paper | here | agrees |", "|---|---|---|---|"]
    for claim in CLAIMS:
        link = f"[{claim.page}](../experiments/results/{claim.page}.md)"
        lines.append(f"| {link} | {claim.paper} | {claim.ours} | {claim.agrees} |")
    return "\n".join(lines) + "\n"
