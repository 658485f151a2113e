"""What half precision moves: closeness of pairs of sets from features in float32, bfloat16 and float16.

    python benchmarks/dtypes.py [HUMAN MODEL ...] [--model minilm smollm2] [--texts 600] [--device cuda]

Pairs of files of texts; by default the human file of the examples with each of the others. Both sets of a pair are
featurized in the same number format. `moved` is the difference of closeness from that in float32, `share` the same as
a part of the width of float32's interval.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from machine import machine

from mauve_metric import MauveResult, compute_mauve
from mauve_metric.features.encoder import load_encoder
from mauve_metric.features.featurize import featurize_texts
from mauve_metric.features.pretrained import folder_of
from mauve_metric.inputs.files import read_texts
from mauve_metric.options import RunOptions
from mauve_metric.runtime.devices import resolve_device

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
SETS = ("human_other", "nucleus", "sampling", "temperature", "top_k", "greedy")
PAIRS = [EXAMPLES / f"{name}.jsonl" for model in SETS for name in ("human", model)]


def main() -> None:
    """Print the table as Markdown, a row a model, pair and format."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", type=Path, default=PAIRS)
    parser.add_argument("--model", nargs="+", default=["minilm", "smollm2"])
    parser.add_argument("--texts", type=int, default=600, help="of each set, the first ones")
    parser.add_argument("--device", default="auto")
    options = parser.parse_args()
    device = resolve_device(options.device)
    texts = {path: list(read_texts(path))[: options.texts] for path in options.files}
    print(machine(), device, sep=", ", file=sys.stderr)
    print("| model | texts | format | closeness | moved | share | MAUVE | seconds |\n|---|---|---|--:|--:|--:|--:|--:|")
    for model in options.model:
        exact: dict[tuple[Path, Path], MauveResult] = {}
        for dtype in ("float32", "bfloat16", "float16") if device.startswith("cuda") else ("float32", "bfloat16"):
            encoder = load_encoder(str(folder_of(model) or model), dtype=dtype, device=device)
            begun = time.perf_counter()
            features = {path: featurize_texts(encoder, rows, RunOptions())[0] for path, rows in texts.items()}
            seconds = time.perf_counter() - begun
            for human, other in zip(options.files[::2], options.files[1::2], strict=True):
                result = compute_mauve(p_features=features[human], q_features=features[other])
                low, high = exact.setdefault((human, other), result).closeness_ci
                moved = result.closeness - exact[human, other].closeness
                cells = [f"{result.closeness:.3f} [{result.closeness_ci[0]:.3f}, {result.closeness_ci[1]:.3f}]"]
                cells += [f"{moved:+.4f}", f"{abs(moved) / (high - low):.0%}" if high > low else "-"]
                cells += [f"{result.mauve:.3f}", f"{seconds:.1f}"]
                print(f"| {model} | {other.stem} | {dtype} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
