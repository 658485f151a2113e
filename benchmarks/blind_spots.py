"""The table of what featurizers do not see, from the JSON of `mauve-metric stress-test`.

    mauve-metric stress-test examples/human.jsonl --featurize-model-name minilm --json > minilm.json
    python benchmarks/blind_spots.py "speeches=minilm.json"

replaces what `mauve_metric/uncertainty/blind_spots.json` says of the same featurizer and texts; the signature of each
row names the errors and strengths of its run, the flags --perturbations and --strengths.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import mauve_metric.uncertainty.blind_spots as package
from mauve_metric.apps.studies.perturbations.text_errors import PERTURBATIONS

TABLE = Path(package.__file__).with_name("blind_spots.json")
ENCODER_KEYS = ("revision", "pooling", "dtype")  # of the signature, which tell featurizers apart
DIGITS = 4


def row(texts: str, found: dict[str, Any], featurizer: str) -> dict[str, Any]:
    """One stress test in short."""
    signature = dict(part.split(":", 1) for part in found["signatures"][featurizer].split("|"))
    return {
        "featurizer": featurizer,
        "encoder": {key: signature[key] for key in ENCODER_KEYS if key in signature},  # a function has no pooling
        "texts": texts,
        "n": found["n_perturbed"],
        "confidence_level": found["confidence_level"],
        "signature": found["signatures"][featurizer],
        "perturbations": {
            name: {
                "said": PERTURBATIONS[name].said,
                "strengths": scores["strengths"],
                "closeness": [round(value, DIGITS) for value in scores["closeness"]],
                "smallest_seen": scores["smallest_seen"],
            }
            for name, scores in found["featurizers"][featurizer].items()
        },
    }


def main(arguments: list[str]) -> None:
    """Write the table."""
    rows = json.loads(TABLE.read_text(encoding="utf-8")) if TABLE.exists() else []
    for argument in arguments:
        texts, path = argument.rsplit("=", 1)
        found = json.loads(Path(path).read_text(encoding="utf-8"))
        new = [row(texts, found, featurizer) for featurizer in found["featurizers"]]
        known = {(item["featurizer"], item["texts"]) for item in new}
        rows = [item for item in rows if (item["featurizer"], item["texts"]) not in known] + new
    lines = ",\n".join(" " + json.dumps(item) for item in rows)
    TABLE.write_text(f"[\n{lines}\n]\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
