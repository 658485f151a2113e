"""Time and memory of a score from features, ours against mauve-text, in one run on the same features.

    python benchmarks/score.py [--rows 500 5000 20000] [--repeats 3] [--minilm] [--score-device cuda]

For each number of rows a side (d = 1280 with the spectrum of a language model's features, k = rows / 10 but at most
500): our fields that mauve-text has too (`knn=False, num_runs=1`), everything that we give by default, and mauve-text;
the best of a few alternating repeats. Then the whole process, from `python` to the printed score, with its peak memory.
`--minilm` adds MiniLM features of sentences of the example texts (featurized first, which takes minutes).
`--score-device` adds our default on that device, from arrays in the computer's memory and from tensors in the device's,
and leaves out the whole process.

The first line names the machine. The cases one by one: `--rows 500`, `--rows 5000`, `--rows 50000 --repeats 1`,
`--rows --minilm`.
"""

from __future__ import annotations

import argparse
import contextlib
import logging
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from machine import machine
from numpy.typing import NDArray

Array = NDArray[Any]
OURS = "mauve_metric, mauve-text's fields"
DEFAULT = "mauve_metric, everything"
PEER = "mauve-text"


def language_model_like(n: int, d: int = 1280, seed: int = 0) -> tuple[Array, Array]:
    """Two sets of rows with a common direction, a slowly falling spectrum and sixty topics."""
    rng = np.random.default_rng(seed)
    scale = np.arange(1, d + 1) ** -0.45
    topics, common = rng.normal(size=(60, d)) * scale * 0.7, rng.normal(size=d) * 3
    shares = (np.full(60, 1 / 60), rng.dirichlet(np.full(60, 8.0)))
    human, model = (
        (common + rng.normal(size=(n, d)) * scale + topics[rng.choice(60, n, p=share)]).astype(np.float32)
        for share in shares
    )
    return human, model


def of_kinds(n: int, d: int = 384, kinds: int = 400, seed: int = 0) -> tuple[Array, Array]:
    """Two sets of rows of the same kinds, of which the model's has other shares."""
    rng = np.random.default_rng(seed)
    centres = 2 * rng.normal(size=(kinds, d))
    human, model = (
        (centres[rng.choice(kinds, n, p=share)] + rng.normal(size=(n, d))).astype(np.float32)
        for share in (np.full(kinds, 1 / kinds), rng.dirichlet(np.full(kinds, 2.0)))
    )
    return human, model


def minilm(n: int) -> tuple[Array, Array]:
    """MiniLM features of sentences of the human and of the model's example texts, at most n a side."""
    from mauve_metric.features.feature_set import FeatureSet
    from mauve_metric.inputs.files import examples_folder, read_texts

    sides = []
    for names in (("human", "human_other"), ("nucleus", "sampling", "top_k")):
        texts = [text for name in names for text in read_texts(examples_folder() / f"{name}.jsonl")]
        sentences = list(dict.fromkeys(part.strip() for text in texts for part in text.split(". ") if len(part) > 20))
        sides.append(FeatureSet.from_texts(sentences[:n], featurize_model_name="minilm").features)
    return sides[0], sides[1]


def contenders(human: Array, model: Array, buckets: int, device: str = "") -> dict[str, Callable[[], Any]]:
    """The functions to time, by name; with a device also the default score there."""
    import mauve

    from mauve_metric.scoring.compute import compute_mauve

    plain = {"num_buckets": buckets, "knn": False, "num_runs": 1}
    on_device: dict[str, Callable[[], Any]] = {}
    if device:
        from mauve_metric.runtime.optional_imports import import_torch

        torch = import_torch()
        tensors = [torch.from_numpy(side).to(device) for side in (human, model)]
        on_device = {
            f"{DEFAULT}, on {device}": lambda: compute_mauve(
                p_features=human, q_features=model, num_buckets=buckets, score_device=device
            ),
            f"{DEFAULT}, from tensors on {device}": lambda: compute_mauve(
                p_features=tensors[0], q_features=tensors[1], num_buckets=buckets
            ),
        }
    return on_device | {
        OURS: lambda: compute_mauve(p_features=human, q_features=model, **plain),
        DEFAULT: lambda: compute_mauve(p_features=human, q_features=model, num_buckets=buckets),
        PEER: lambda: mauve.compute_mauve(p_features=human, q_features=model, num_buckets=buckets, verbose=False),
    }


def best_times(functions: dict[str, Callable[[], Any]], repeats: int) -> tuple[dict[str, float], dict[str, float]]:
    """The least seconds of each, taking turns, and the scores."""
    seconds = dict.fromkeys(functions, float("inf"))
    scores = {}
    for _ in range(repeats):
        for name, function in functions.items():
            with without_warnings_of_faiss():
                started = time.perf_counter()
                scores[name] = float(function().mauve)
                seconds[name] = min(seconds[name], time.perf_counter() - started)
    return seconds, scores


@contextlib.contextmanager
def without_warnings_of_faiss() -> Iterator[None]:
    """Drop what is written to the process's standard error: faiss writes there that mauve-text gives it few rows."""
    with open(os.devnull, "w", encoding="utf-8") as nowhere:
        kept = os.dup(2)
        os.dup2(nowhere.fileno(), 2)
        try:
            yield
        finally:
            os.dup2(kept, 2)
            os.close(kept)


def stages(human: Array, model: Array, buckets: int) -> str:
    """Seconds of our projection and clustering, and the clustering's bound by brute-force matrix products."""
    from mauve_metric.clustering import kmeans, projection
    from mauve_metric.features.featurize import matmul_rate

    rows = np.concatenate([model, human])
    started = time.perf_counter()
    projected = projection.project(rows)
    projection = time.perf_counter() - started
    counts: list[int] = []
    handler = _Iterations(counts)
    kmeans.logger.addHandler(handler)
    kmeans.logger.setLevel(logging.INFO)
    started = time.perf_counter()
    kmeans.kmeans(projected, buckets)
    clustering = time.perf_counter() - started
    kmeans.logger.removeHandler(handler)
    kmeans.logger.setLevel(logging.NOTSET)
    work = 2.0 * sum(counts) * len(projected) * buckets * projected.shape[1]
    bound = work / matmul_rate("cpu", "float32", size=2048)
    return (
        f"projection to {projected.shape[1]} columns {projection:.2f} s, clustering {clustering:.2f} s "
        f"({sum(counts)} iterations; by brute-force matrix products {bound:.2f} s)"
    )


def label_agreement(human: Array, model: Array, buckets: int) -> float:
    """Share of rows in the same bucket as by scikit-learn's full PCA of the float32 rows and faiss's own k-means."""
    import faiss
    from sklearn.decomposition import PCA
    from sklearn.preprocessing import normalize

    from mauve_metric.clustering import kmeans, projection

    rows = np.concatenate([model, human])
    unit = normalize(rows, norm="l2", axis=1)
    pca = PCA(svd_solver="full").fit(unit)
    kept = int(np.argmax(np.cumsum(pca.explained_variance_ratio_) >= 0.9)) + 1
    projected = np.ascontiguousarray(pca.transform(unit)[:, :kept], dtype=np.float32)
    clustering = faiss.Kmeans(kept, buckets, niter=500, nredo=5, update_index=True, seed=27, min_points_per_centroid=1)
    clustering.train(projected)
    theirs = clustering.index.search(projected, 1)[1][:, 0]
    return float((kmeans.kmeans(projection.project(rows), buckets) == theirs).mean())


class _Iterations(logging.Handler):
    """Collects the number of iterations that the clustering logs."""

    def __init__(self, counts: list[int]) -> None:
        super().__init__()
        self.counts = counts

    def emit(self, record: logging.LogRecord) -> None:
        self.counts.append(int(record.args[2]))  # type: ignore[index,arg-type]


_OURS_PROCESS = "from mauve_metric import compute_mauve as score"
PROCESS = {
    OURS: f"{_OURS_PROCESS}\nprint(score(p_features=p, q_features=q, num_buckets={{k}}, knn=False, num_runs=1).mauve)",
    DEFAULT: f"{_OURS_PROCESS}\nprint(score(p_features=p, q_features=q, num_buckets={{k}}).mauve)",
    PEER: "import mauve\nprint(mauve.compute_mauve(p_features=p, q_features=q, num_buckets={k}, verbose=False).mauve)",
}


_PRINT_PEAK = (  # Linux
    "\nprint(next(line.split()[1] for line in open('/proc/self/status') if line.startswith('VmHWM')))"
)


def whole_process(human: Array, model: Array, buckets: int, repeats: int) -> dict[str, tuple[float, float]]:
    """Seconds and peak megabytes of a process that loads the features and prints the score."""
    found = dict.fromkeys(PROCESS, (float("inf"), 0.0))
    with tempfile.TemporaryDirectory() as folder:
        np.save(Path(folder) / "p.npy", human)
        np.save(Path(folder) / "q.npy", model)
        for _ in range(repeats):
            for name, body in PROCESS.items():
                load = f"import numpy as np\np, q = (np.load(r'{folder}/' + s + '.npy') for s in 'pq')\n"
                started = time.perf_counter()
                command = [sys.executable, "-c", load + body.format(k=buckets) + _PRINT_PEAK]
                done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True)
                seconds = min(found[name][0], time.perf_counter() - started)
                found[name] = (seconds, int(done.stdout.split()[-1]) / 1024)
    return found


def report(title: str, human: Array, model: Array, repeats: int, device: str = "") -> None:
    """Print one case."""
    buckets = max(2, min(500, len(human) // 10))
    seconds, scores = best_times(contenders(human, model, buckets, device), repeats)
    process = {} if device else whole_process(human, model, buckets, max(1, repeats - 1))
    print(f"\n**{title}**, {len(human)} + {len(model)} rows, d = {human.shape[1]}, k = {buckets}\n")
    print("| | score | seconds | mauve-text / this | whole process, s | peak memory, MB |\n|---|--:|--:|--:|--:|--:|")
    for name, value in seconds.items():
        cells = [f"{scores[name]:.5f}", f"{value:.2f}", f"{seconds[PEER] / value:.2f}"]
        if process:
            whole, memory = process[name]
            cells += [f"{whole:.2f} ({process[PEER][0] / whole:.2f})", f"{memory:.0f}"]
        cells += [""] * (5 - len(cells))
        print(f"| {name} | {' | '.join(cells)} |")
    if device:
        return
    print(f"\n{stages(human, model, buckets)}", flush=True)
    if len(human) <= 5000:
        agreement = label_agreement(human, model, buckets)
        print(f"rows in the same bucket as by a full PCA and faiss's k-means: {100 * agreement:.2f} %", flush=True)


def main() -> None:
    """Run the cases."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="*", default=[500, 5000, 20000])
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--minilm", action="store_true")
    parser.add_argument("--score-device", default="", help="a torch device such as cuda")
    options = parser.parse_args()
    logging.getLogger("mauve_metric").setLevel(logging.ERROR)
    print(machine())
    for rows in options.rows:
        report("language-model-like features", *language_model_like(rows), options.repeats, options.score_device)
    if options.minilm:
        report("MiniLM features", *minilm(5000), options.repeats, options.score_device)


if __name__ == "__main__":
    main()
