"""The packaged featurizers on the examples: processor time, closeness and AUC, as a Markdown table.

    OMP_NUM_THREADS=1 python benchmarks/packaged.py > benchmarks/results/packaged.md

Processor time depends little on what else the machine does.
"""

from __future__ import annotations

import time
from pathlib import Path

from mauve_metric import FeatureSet, compute_mauve, read_texts

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
FEATURIZERS = ("minilm", "use", "ngrams")
SETS = {"human_other": "other human texts", "sampling": "sampling", "nucleus": "nucleus", "greedy": "greedy"}


def featurized(name: str, featurizer: str) -> tuple[FeatureSet, float]:
    """The features of an example, and the seconds of processor time that they took."""
    texts = read_texts(EXAMPLES / f"{name}.jsonl")
    began = time.process_time()
    return FeatureSet.from_texts(texts, featurize_model_name=featurizer, cache=False), time.process_time() - began


def main() -> None:
    """Print the table."""
    print("Closeness (and how often in 100 a classifier picks the model's text) of 600 texts against 600 speeches.\n")
    print(f"| featurizer | seconds for 1000 texts | {' | '.join(SETS.values())} |")
    print(f"|---|{'--:|' * (1 + len(SETS))}")
    for featurizer in FEATURIZERS:
        FeatureSet.from_texts(["loads it", "first"], featurize_model_name=featurizer, cache=False)
        human, seconds = featurized("human", featurizer)
        cells = [f"`{featurizer}`", f"{seconds / len(human) * 1000:.1f}"]
        for name in SETS:
            out = compute_mauve(p=human, q=featurized(name, featurizer)[0], verbose=False)
            cells.append(f"{out.closeness:.3f} ({100 * (out.auc or 0):.0f})")
        print(f"| {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
