"""Make the features of the human texts and of the models': `human.npz`, `greedy.npz` and so on.

    python make_features.py

It reads the texts beside it with the packaged featurizer, which takes some minutes on two CPU cores, and is run again
when the texts, the featurizer or the format of the files change.
"""

from __future__ import annotations

from pathlib import Path

from mauve_metric import FeatureSet, read_texts

FOLDER = Path(__file__).resolve().parent

if __name__ == "__main__":
    for name in ("human", "nucleus", "greedy", "top_k", "sampling", "temperature"):
        texts = read_texts(FOLDER / f"{name}.jsonl")
        print(FeatureSet.from_texts(texts, featurize_model_name="minilm", cache=False).save(FOLDER / f"{name}.npz"))
