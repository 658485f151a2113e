"""Time and memory of the measures beside MAUVE, ours against the usual implementations, in one run, in turns.

    python benchmarks/measures.py [--texts 5000] [--tokens 200] [--repeats 3] [--only self_bleu …]

A case is a row of `CASES`: a name, the input that it makes from a `Size`, our function, the peer's, and what part of
the work the peer does, where all of it would take hours: its time is then extrapolated and marked with ≈. Where the
part is the whole, both must give one number. One thread each.
"""

from __future__ import annotations

import argparse
import os
import time
import tracemalloc
from collections import Counter
from collections.abc import Callable
from typing import Any, NamedTuple

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from machine import machine

from mauve_metric.apps.describing.word_diversity.self_bleu import self_bleu, self_repetition, vendi_ngrams
from mauve_metric.apps.describing.word_diversity.token_statistics import compression_ratio, entropy_n
from mauve_metric.apps.lexical.diversity import distinct_n, repetition

NLTK_TEXTS = 2  # hypotheses of NLTK's Self-BLEU: each goes through all texts again


class Size(NamedTuple):
    """The size of a case's input."""

    texts: int
    tokens: int


class Case(NamedTuple):
    """The timed work. share: the part of the work that the peer does, of an input; None for all of it."""

    name: str
    make: Callable[[Size], Any]
    ours: Callable[[Any], float]
    peer: Callable[[Any], float]
    peer_name: str
    share: Callable[[Any], float] | None = None


def zipfian(size: Size) -> list[list[str]]:
    """Texts of words with frequencies after Zipf's law, of 50 000."""
    shares = np.cumsum(1 / np.arange(1, 50_001))
    drawn = np.searchsorted(shares / shares[-1], np.random.default_rng(0).random((size.texts, size.tokens)))
    return [[f"w{word}" for word in row] for row in drawn.tolist()]


def joined(size: Size) -> list[str]:
    """The same texts as strings."""
    return [" ".join(tokens) for tokens in zipfian(size)]


def nltk_self_bleu(texts: list[list[str]]) -> float:
    """The mean of NLTK's BLEU over the first texts, each against all others."""
    from nltk.translate.bleu_score import SmoothingFunction, sentence_bleu

    smoothing = SmoothingFunction().method1
    scores = [
        sentence_bleu(texts[:index] + texts[index + 1 :], texts[index], smoothing_function=smoothing)
        for index in range(min(NLTK_TEXTS, len(texts)))
    ]
    return float(np.mean(scores))


def counted(texts: list[list[str]], n: int) -> Counter[tuple[str, ...]]:
    """N-grams in a Counter, as the usual scripts have them."""
    counts: Counter[tuple[str, ...]] = Counter()
    for tokens in texts:
        counts.update(zip(*(tokens[start:] for start in range(n)), strict=False))
    return counts


def script_distinct(texts: list[list[str]]) -> float:
    """Distinct-4 of a Counter."""
    counts = counted(texts, 4)
    return len(counts) / counts.total()


def script_entropy(texts: list[list[str]]) -> float:
    """Ent-4 of a Counter."""
    shares = np.array(list(counted(texts, 4).values())) / sum(max(len(tokens) - 3, 0) for tokens in texts)
    return float(-(shares * np.log(shares)).sum())


def script_self_repetition(texts: list[list[str]]) -> float:
    """Sets of n-grams and a Counter over the sets."""
    own = [set(zip(*(tokens[start:] for start in range(4)), strict=False)) for tokens in texts]
    counts = Counter(gram for grams in own for gram in grams)
    return float(np.mean([np.log(1 + sum(counts[gram] for gram in grams) - len(grams)) for grams in own]))


def script_repetition(texts: list[list[str]]) -> float:
    """The definition: slices of the end are compared for every length."""
    flagged = 0
    for tokens in texts:
        copies = []
        for n in range(1, 91):
            times = 1
            while (times + 1) * n <= len(tokens) and tokens[-(times + 1) * n : -times * n] == tokens[-n:]:
                times += 1
            copies.append(times)
        longest = copies.index(max(copies)) + 1
        flagged += max(copies) > 1 and (longest >= 3 or max(copies) > 50)
    return flagged / len(texts)


def gzip_ratio(texts: list[str]) -> float:
    """Python's gzip of the joined texts."""
    import gzip

    data = " ".join(texts).encode()
    return len(data) / len(gzip.compress(data, 9))


def vendi_of_its_authors(texts: list[list[str]]) -> float:
    """Kernels of scikit-learn's counts, and the eigenvalues by vendi-score."""
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.preprocessing import normalize
    from vendi_score import vendi

    kernel = np.zeros((len(texts), len(texts)))
    for n in range(1, 5):
        rows = normalize(
            CountVectorizer(analyzer=lambda tokens: tokens, ngram_range=(1, 1)).fit_transform(
                [list(zip(*(tokens[start:] for start in range(n)), strict=False)) for tokens in texts]
            )
        )
        kernel += (rows @ rows.T).toarray() / 4
    return float(vendi.score_K(kernel))


def share_of_nltk(texts: list[list[str]]) -> float:
    """Hypotheses that NLTK scores, of all."""
    return min(NLTK_TEXTS, len(texts)) / len(texts)


CASES = [
    Case("self_bleu", zipfian, self_bleu, nltk_self_bleu, "NLTK", share_of_nltk),
    Case("distinct_4", zipfian, distinct_n, script_distinct, "a Counter"),
    Case("entropy_4", zipfian, entropy_n, script_entropy, "a Counter"),
    Case("repetition", zipfian, repetition, script_repetition, "slices"),
    Case("self_repetition", zipfian, self_repetition, script_self_repetition, "sets and a Counter"),
    Case("compression_ratio", joined, compression_ratio, gzip_ratio, "gzip"),
    Case("vendi_ngrams", zipfian, vendi_ngrams, vendi_of_its_authors, "scikit-learn and vendi-score"),
]


def seconds(function: Callable[[Any], float], data: Any) -> float:
    """Processor seconds of one call."""
    started = time.process_time()
    function(data)
    return time.process_time() - started


def megabytes(function: Callable[[Any], float], data: Any) -> float:
    """The most that one call holds at once, beside its input."""
    tracemalloc.start()
    function(data)
    most = tracemalloc.get_traced_memory()[1] / 1e6
    tracemalloc.stop()
    return most


def line(case: Case, size: Size, repeats: int) -> str:
    """A row of the table."""
    data = case.make(size)
    for function in (case.ours, case.peer):
        function(case.make(Size(20, 20)))  # imports what it needs
    share = case.share(data) if case.share else 1.0
    if share == 1 and abs(case.ours(data) - case.peer(data)) > 1e-6 * max(abs(case.peer(data)), 1):
        raise SystemExit(f"{case.name} differs: {case.ours(data)} and {case.peer(data)}")
    ours, peer = np.array([[seconds(case.ours, data), seconds(case.peer, data)] for _ in range(repeats)]).min(axis=0)
    about = "" if share == 1 else "≈ "
    memory = f"{megabytes(case.ours, data):.0f} MB | {megabytes(case.peer, data):.0f} MB"
    ratio = peer / share / max(ours, 1e-9)
    return f"| {case.name} | {ours:.2f} s | {case.peer_name} | {about}{peer / share:.2f} s | {ratio:.1f} | {memory} |"


def main() -> None:
    """Print the table as Markdown."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--texts", type=int, default=5000)
    parser.add_argument("--tokens", type=int, default=200)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--only", nargs="+", choices=[case.name for case in CASES])
    options = parser.parse_args()
    size = Size(options.texts, options.tokens)
    print(f"{machine()}; {size.texts} texts of {size.tokens} tokens; processor time\n")
    print("| measure | mauve_metric | peer | its time | times faster | peak memory | the peer's |")
    print("|---|---|---|---|---|---|---|")
    for case in CASES:
        if not options.only or case.name in options.only:
            print(line(case, size, options.repeats), flush=True)


if __name__ == "__main__":
    main()
