"""Whole results of small and varied inputs, as `tests/scoring/recorded_results.json` has them.

`PYTHONPATH=. python tests/record_results.py` writes the file anew, and prints each number that moved.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mauve_metric import FeatureSet, compare, compute_mauve, explain

FILE = Path(__file__).with_name("scoring") / "recorded_results.json"
TOLERANCE = 1e-4  # inputs that differ by the rounding of float32, and other kernels, move these numbers less
LEFT_OUT = ("signature", "message", "featurizer")  # versions, words, and the module of a function
WORDS = "the quick harbour counts lists of ships and raises errors when rain walks over lazy numbers".split()
DIGITS = 8
LONGEST = 12  # numbers of a list that are recorded one by one

Rows = NDArray[np.float64]


def rows(seed: int, count: int, scale: float = 1.0, shift: float = 0.0) -> Rows:
    return shift + scale * np.random.Generator(np.random.PCG64(seed)).normal(size=(count, 4))


def texts(seed: int, count: int, words: Sequence[str] = WORDS, gap: str = " ") -> list[str]:
    draws = np.random.Generator(np.random.PCG64(seed)).random(size=(count, 12))
    lengths = 5 + (7 * draws[:, 0]).astype(int)
    chosen = (draws * len(words)).astype(int)
    return [gap.join(words[word] for word in row[:length]) for row, length in zip(chosen, lengths, strict=True)]


def letters(batch: Sequence[str]) -> Rows:
    """Share of some letters and blanks in each text, (n, 6)."""
    return np.array([[text.count(letter) / len(text) for letter in "aehis\n"] for text in batch])


def lengths(batch: Sequence[str]) -> Rows:
    """Length of a text and of its words, and where its letters are, so that no two texts are equal, (n, 3)."""
    places = [sum(ord(letter) * (index % 7) for index, letter in enumerate(text)) / 15_000 for text in batch]
    return np.array(
        [[len(text) / 60, len(text) / (6 * len(text.split())), at] for text, at in zip(batch, places, strict=True)]
    )


def kinds(seed: int, count: int, number: int) -> Rows:
    """Rows around as many centres."""
    return rows(seed, count, 0.3) + 4 * rows(99, number)[np.arange(count) % number]


def repeats(seed: int, count: int, distinct: int, noise: float) -> Rows:
    return rows(seed, distinct)[np.arange(count) % distinct] + rows(seed + 1, count, noise)


def stored(features: Rows, *, cut: int) -> FeatureSet:
    tokens = np.arange(len(features)) % 40 + 5
    return FeatureSet(features, identity={"model": "small"}, lengths=tokens, truncated=cut, dropped=2)


def score(p: Rows, q: Rows, **options: Any) -> Any:
    return compute_mauve(p_features=p, q_features=q, **options)


SMALL: dict[str, Any] = {"num_runs": 1, "knn": False}
THREE = ("near", "narrow", "far")
NARROW = [word for word in WORDS if len(word) > 4]
TOPICS = {"human": ["a", "b"] * 16, "far": ["a", "a", "b"] * 10}
INPUTS: dict[str, Callable[[], Any]] = {
    "narrower": lambda: score(rows(0, 60), rows(1, 60, 0.5), permutations=40, confidence_level=0.9, num_runs=2),
    "wider, unequal sizes": lambda: score(rows(2, 100), rows(3, 45, 1.6), frechet_distance=True, knn_k=3),
    "shifted, few": lambda: score(rows(4, 30), rows(5, 24, 1, 1.5), knn=True),
    "one distribution": lambda: score(rows(6, 70), rows(7, 70)),
    "exact copies, too few for a classifier": lambda: score(rows(8, 9), rows(8, 9)),
    "near repeats": lambda: score(rows(9, 60), repeats(10, 60, 15, 1e-3)),
    "a fifth of the kinds": lambda: score(kinds(51, 60, 5), kinds(52, 60, 1) + 0.1),
    "prompts with several answers": lambda: score(
        repeats(13, 60, 20, 0.5),
        repeats(13, 80, 20, 0.7) + 0.3,
        p_groups=[row % 20 for row in range(60)],
        q_groups=[row % 20 for row in range(80)],
        permutations=30,
    ),
    "aligned": lambda: score(rows(15, 60), rows(15, 60) + rows(16, 60, 0.5, 0.3), aligned=True, permutations=30),
    "groups on one side": lambda: score(
        rows(17, 50), repeats(18, 60, 12, 0.4), q_groups=[row % 12 for row in range(60)], num_runs=2
    ),
    "drmm": lambda: score(rows(19, 50), rows(20, 50, 0.6), quantizer="drmm", drmm_steps=20, **SMALL),
    "classifier": lambda: score(rows(23, 50), rows(24, 50, 1, 0.7), quantizer="classifier", num_buckets=6, **SMALL),
    "options": lambda: score(
        rows(25, 60),
        rows(26, 50, 1.2, 0.4),
        **{"num_buckets": 9, "kmeans_num_redo": 2, "row_order": "pq", "mauve_scaling_factor": 2.0, "num_runs": 3},
        **{"divergence_curve_discretization_size": 11, "kmeans_explained_var": 0.6, "independent": True},
    ),
    "stored features": lambda: compute_mauve(p=stored(rows(27, 50), cut=3), q=stored(rows(28, 55, 1, 0.5), cut=20)),
    "one row": lambda: score(rows(29, 1), rows(30, 1)),
    "layout": lambda: compute_mauve(p_text=texts(31, 40), q_text=texts(32, 40, gap="\n"), featurize_model_name=letters),
    "ngrams": lambda: compute_mauve(p_text=texts(33, 50), q_text=texts(34, 50, NARROW), featurize_model_name="ngrams"),
    "two featurizers": lambda: compute_mauve(
        p_text=[*texts(35, 45), ""],
        q_text=[*texts(36, 50, NARROW), "  "],
        **{"featurizers": {"letters": letters, "lengths": lengths}, "empty_texts": "drop"},
    ),
    "three models": lambda: compare(
        p_features=rows(37, 40),
        models=dict(zip(THREE, (rows(38, 40), rows(39, 30, 0.5), rows(40, 45, 1, 1.5)), strict=True)),
        **{"buckets": 2, "num_runs": 2, "permutations": 20},
    ),
    "aligned models": lambda: compare(
        p_features=rows(41, 50),
        models={"near": rows(41, 50) + rows(42, 50, 0.3), "far": rows(41, 50) + rows(43, 50, 1.5, 0.5)},
        aligned=True,
        num_runs=2,
    ),
    "labels": lambda: compare(
        p_text=texts(54, 32),
        models={"far": texts(55, 30, NARROW)},
        **{"featurize_model_name": letters, "by": TOPICS, "num_runs": 1, "buckets": 1, "texts": 1},
    ),
    "explanation": lambda: explain(
        p_text=texts(47, 60),
        q_text=texts(48, 50, NARROW) + [f"{text} again and again" for text in texts(49, 20)],
        **{"featurize_model_name": letters, "buckets": 3, "texts": 2, "num_buckets": 6, "num_runs": 2},
        by={"human": ["a", "b"] * 30, "model": ["a", "b"] * 35},
    ),
}


def entries(value: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """Yield numbers and words of a result with their dotted names; of long lists of numbers the length and two sums."""
    if isinstance(value, dict):
        for key, part in value.items():
            if key not in LEFT_OUT:
                yield from entries(part, f"{name}.{key}" if name else str(key))
    elif isinstance(value, list):
        try:
            numbers = np.asarray(value, np.float64).ravel()
        except (TypeError, ValueError):
            numbers = np.empty(0)
        if numbers.size > LONGEST:
            weights = np.arange(1, numbers.size + 1) / numbers.size
            value = [numbers.size, float(numbers.sum()), float(numbers @ weights)]
        yield f"{name}.length", len(value)
        for index, part in enumerate(value):
            yield from entries(part, f"{name}.{index}")
    elif isinstance(value, float):
        yield name, float(f"{value:.{DIGITS}g}") if math.isfinite(value) else str(value)
    else:
        yield name, value


def outcome(name: str) -> dict[str, Any]:
    """Return the whole result of an input, fit for JSON."""
    return dict(entries(INPUTS[name]().to_dict()))


def moved(before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    """Return, for each entry that differs beyond the tolerance, its name with both values."""
    return [
        f"{key}: {before.get(key, 'absent')} -> {after.get(key, 'absent')}"
        for key in [*before, *(key for key in after if key not in before)]
        if not _is_close(before.get(key, "absent"), after.get(key, "absent"), 0.5 if "p_value" in key else TOLERANCE)
    ]


def _is_close(a: Any, b: Any, tolerance: float) -> bool:
    """Whether two values agree; small p-values follow the ranks of permuted sides, in which last bits move texts."""
    if type(a) is type(b) is float:
        return math.isclose(a, b, rel_tol=tolerance, abs_tol=1e-8)
    return bool(a == b)


def recorded() -> dict[str, dict[str, Any]]:
    return dict(json.loads(FILE.read_text(encoding="utf-8"))) if FILE.is_file() else {}


def main() -> None:
    before, after = recorded(), {name: outcome(name) for name in INPUTS}
    for name, values in after.items():
        print(*(f"{name}: {line}" for line in moved(before.get(name, {}), values)), sep="\n", end="")
    FILE.write_text(json.dumps(after, indent=0) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
