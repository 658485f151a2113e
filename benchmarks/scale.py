"""Time and memory of a score from feature files, from ten thousand rows to a million.

    python benchmarks/scale.py [--rows 10000 100000 1000000] [--folder DIR] [--plot FILE.png]

Each case writes two `.npy` files of rows / 2 rows of 1280 float32 numbers (5.1 GB for a million rows) with the spectrum
of a language model's features and scores them in a process of its own, whose wall time and peak resident memory (on
Linux) are reported. k = 500.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from machine import machine

D, BUCKETS, BLOCK = 1280, 500, 20_000


def write_rows(path: Path, rows: int, shift: float, seed: int) -> None:
    """An `.npy` file of rows with a common direction, a slowly falling spectrum and sixty topics."""
    rng = np.random.default_rng(seed)
    fixed = np.random.default_rng(0)
    scale = (np.arange(1, D + 1) ** -0.45).astype(np.float32)
    topics = (fixed.normal(size=(60, D)) * scale * 0.7).astype(np.float32)
    common = (fixed.normal(size=D) * 3).astype(np.float32)
    with path.open("wb") as file:
        header = {"descr": "<f4", "fortran_order": False, "shape": (rows, D)}
        np.lib.format.write_array_header_1_0(file, header)
        for start in range(0, rows, BLOCK):
            count = min(BLOCK, rows - start)
            block = rng.standard_normal((count, D), dtype=np.float32) * scale + shift * scale
            file.write((block + topics[rng.integers(0, 60, count)] + common).tobytes())


def measure(folder: Path) -> tuple[float, float, str]:
    """Seconds, peak megabytes and score of a process that scores the two files."""
    code = (
        "from mauve_metric import compute_mauve\n"
        f"out = compute_mauve(p_features=r'{folder}/p.npy', q_features=r'{folder}/q.npy', num_buckets={BUCKETS})\n"
        "print(f'{out.mauve:.5f}')\n"
        "print(next(line.split()[1] for line in open('/proc/self/status') if line.startswith('VmHWM')))"
    )
    started = time.perf_counter()
    done = subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True)
    seconds = time.perf_counter() - started
    score, kilobytes = done.stdout.decode().split()
    return seconds, int(kilobytes) / 1024, score


def draw(found: list[dict[str, Any]], path: Path) -> None:
    """Time and memory against rows, on logarithmic axes."""
    import altair as alt

    from mauve_metric.report.html_and_images import save_chart

    charts = []
    for field, title in (("seconds", "seconds"), ("megabytes", "peak memory, MB")):
        axes = alt.Chart(alt.Data(values=found)).mark_line(point=True, color="#0072B2")
        x = alt.X("rows:Q", scale=alt.Scale(type="log"), title="rows in all")
        charts.append(axes.encode(x=x, y=alt.Y(f"{field}:Q", scale=alt.Scale(type="log"), title=title)))
    save_chart(alt.hconcat(*charts), path)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="+", default=[10_000, 100_000, 1_000_000])
    parser.add_argument("--folder", type=Path, help="where the files are written; unset: the temporary folder")
    parser.add_argument("--plot", type=Path)
    options = parser.parse_args()
    found: list[dict[str, Any]] = []
    print(f"{machine()}\n")
    print("| rows in all | files, MB | seconds | peak memory, MB | score |\n|--:|--:|--:|--:|--:|", flush=True)
    for rows in options.rows:
        with tempfile.TemporaryDirectory(dir=options.folder) as name:
            folder = Path(name)
            write_rows(folder / "p.npy", rows // 2, 0.0, seed=1)
            write_rows(folder / "q.npy", rows // 2, 0.05, seed=2)
            size = sum(file.stat().st_size for file in folder.iterdir()) / 1e6
            seconds, megabytes, score = measure(folder)
        found.append({"rows": rows, "seconds": seconds, "megabytes": megabytes})
        print(f"| {rows} | {size:.0f} | {seconds:.1f} | {megabytes:.0f} | {score} |", flush=True)
    if options.plot is not None:
        draw(found, options.plot)


if __name__ == "__main__":
    main()
