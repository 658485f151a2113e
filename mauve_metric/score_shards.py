"""Two sides in many files → the score of one machine, on as many machines as there are.

Three passes over shards, whose work stands in `features.shards` and `quantize.shards`: texts → features, one file each;
features → moments, whose sum gives the projection; features → buckets. Between the second and the third the centres are
fitted here, on 256 rows a bucket. What is done is found again in the output folder.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar, Unpack

import numpy as np

from mauve_metric.arrays import Labels
from mauve_metric.config import MauveConfig, shown
from mauve_metric.features.row_files import NpyRows
from mauve_metric.features.rows import MOST_NUMBERS_AT_ONCE, ArrayRows, ConcatenatedRows, as_rows, some_rows
from mauve_metric.features.shards import (
    FEATURES_FOLDER,
    ShardFeatures,
    ShardFeaturizer,
    ShardTask,
    has_no_texts,
    in_memory,
    joined_shards,
    read_shard,
    shard_tasks,
)
from mauve_metric.features.sides import check_columns, check_same_encoder
from mauve_metric.options import Options, RunOptions, split_options, with_options
from mauve_metric.quantize import blocks
from mauve_metric.quantize.moments import MomentSums
from mauve_metric.quantize.partition import KNN_MOST_ROWS, Partition, Stacking
from mauve_metric.quantize.projection import Projection, fit_projection
from mauve_metric.quantize.quantizers import QUANTIZERS
from mauve_metric.quantize.shards import LABELS_FOLDER, MOMENTS_FOLDER, ShardLabels, ShardMoments, StoredRows
from mauve_metric.results.result import MauveResult
from mauve_metric.runtime.crew import Crew, Done, Work
from mauve_metric.runtime.outputs import check_outputs
from mauve_metric.runtime.ray_pool import Places, ray_cluster
from mauve_metric.runtime.shared_folder import WORD_FILE, shared_folder
from mauve_metric.runtime.whole_files import naming
from mauve_metric.score import resolve_config, score_features, score_partition
from mauve_metric.texts.shards import list_shards

Answer = TypeVar("Answer")
Kept = TypeVar("Kept")
TextFiles = str | Path | Sequence[str | Path]

PASSES = ("features", "moments", "centres", "buckets")

_STALE_SECONDS = 3600  # after which a file that was being written is nobody's any more


def score_sharded(
    human: TextFiles,
    model: TextFiles,
    folder: str | Path,
    *,
    ray: str | None = None,
    workers: int | None = None,
    cpus_per_worker: float = 1.0,
    gpus_per_worker: float = 0.0,
    **options: Unpack[Options],
) -> MauveResult:
    """Score a model's texts in many files against human ones, on the machines of a Ray cluster or one after the other.

    Up to 2**28 numbers (a gigabyte of features) the score is computed in one process from all features, and is to the
    last bit that of `compute_mauve`; above, or with `checkpoint`, the passes over the features are shared out as well.
    `quantizer="drmm"` and `"lattice"` are always computed in one process, and refuse more numbers than that.
    Neither the number of workers nor the order in which shards are done has a part in the result.

    Args:
        human, model: .jsonl or .parquet files, folders of them, patterns, or lists of these; also URLs that fsspec
            opens. A set is what they hold, in the order of the files' names.
        folder: where features and what follows from them are kept, one file a shard; all workers must see it. Started
            again with it, a job does only what is missing, damaged or of another model.
        ray: the address of a cluster, "auto" for the one that this machine belongs to, "local" for one of this machine
            alone; None: this process, without Ray.
        workers: at most how many at once; None: as many as the cluster has room for.
        cpus_per_worker, gpus_per_worker: what each takes; parts of a GPU are shared.
        **options: as for `compute_mauve`. The featurizer is a name, a folder that all workers see, or a function;
            there is no `distributed`, no `match_lengths`, and no feature cache: the folder is one.

    Returns:
        The `MauveResult` of `compute_mauve`.

    Raises:
        ValueError: an argument or a text that cannot be scored; or shards that failed three times: the others are kept.
        TypeError, OSError, ImportError: as `compute_mauve`; without Ray where it is asked for.
    """
    config, run = _checked_options(options)
    places = Places(workers, cpus_per_worker, gpus_per_worker)
    output = _output_folder(folder)
    tasks = _tasks(human, model, output, config, run)
    with contextlib.ExitStack() as stack:
        if ray is not None:
            stack.enter_context(ray_cluster(_address(ray)))
        crew = Crew(None, run.verbose) if ray is None else Crew(places, run.verbose, shared_folder(output))
        sides = _featurized(crew, tasks, config, run)
        named = zip(("human", "model"), sides, strict=True)
        p, q = (joined_shards(name, [part.reference for part in side]) for name, side in named)
        check_columns({"the features of human": p, "the features of model": q})
        check_same_encoder(p.identity, q.identity)
        if QUANTIZERS[config.quantizer].on == "features":  # one process reads them all, or refuses what does not fit
            return score_features(p, q, config, run=run)
        if run.checkpoint is None and (len(p) + len(q)) * p.features.shape[1] <= MOST_NUMBERS_AT_ONCE:
            return score_features(in_memory(p), in_memory(q), config, run=run)
        config = resolve_config(config, len(p), len(q))
        partition = _partition(crew, (_with_texts(sides[0]), _with_texts(sides[1])), config, output, run)
    return score_partition(p, q, partition, config, with_learned=False)


score_sharded.__signature__ = with_options(score_sharded, "MauveResult", "distributed", "cache")  # type: ignore[attr-defined]


def shard_pass(
    name: str, human: TextFiles, model: TextFiles, folder: str | Path, **options: Unpack[Options]
) -> tuple[list[Any], Callable[[Any], Any]]:
    """One pass of `score_sharded` for an engine of your own: the items that there are, and the function that does one.

    "features" has an item for each file of texts, and so have "moments" and "buckets"; "centres" has one in all. A pass
    begins when the one before it is done. Its items are the same list wherever it is asked for, and can be done on any
    machine that sees the folder, in any order, and again: what is done is kept there, and found by the same item
    again and by `score_sharded(human, model, folder, checkpoint=folder, **options)`, which puts it together.

    Args:
        name: "features", "moments", "centres" or "buckets".
        human, model, folder, **options: as for `score_sharded`.

    Returns:
        The items, and a function of one of them; both can be pickled if a function that featurizes can.

    Raises:
        ValueError, TypeError: an argument is wrong.
        FileNotFoundError: an earlier pass is not done.
    """
    if not isinstance(name, str) or name not in PASSES:
        raise ValueError(f"name must be one of {', '.join(map(repr, PASSES))}, got {shown(name)}")
    config, run = _checked_options(options)
    if name != "features" and QUANTIZERS[config.quantizer].on == "features":
        raise ValueError(
            f"quantizer={config.quantizer!r} needs all features at once: it has the pass 'features' alone, then "
            f"score_sharded; got {name!r}"
        )
    output = _output_folder(folder)
    sides = _tasks(human, model, output, config, run)
    tasks = [*sides[0], *sides[1]]
    if name == "features":
        return tasks, ShardFeaturizer(config, run)
    human_tasks, model_tasks = ([task for task in side if not has_no_texts(task.target)] for side in sides)
    sides, tasks = (human_tasks, model_tasks), [*human_tasks, *model_tasks]
    shapes = [_shape_of_features(task) for task in tasks]
    if name == "moments":
        return tasks, partial(_with_features, ShardMoments(output))
    sizes = [sum(rows for rows, _ in some) for some in (shapes[: len(sides[0])], shapes[len(sides[0]) :])]
    config = resolve_config(config, *sizes)
    if name == "centres":
        ordered = [task for side in _stacking(sizes, config).ordered(sides) for task in side]
        return [ordered], partial(_keep_centres, config, output, run.verbose)
    stored = blocks.load_clustering(*_clustering_file(output, (sum(sizes), shapes[0][1]), config))
    if stored is None:
        raise FileNotFoundError(f"the pass 'centres' is not done: there are none for these texts in {str(output)!r}")
    return tasks, partial(_with_features, ShardLabels(output, stored[0]))


def _tasks(
    human: TextFiles, model: TextFiles, output: Path, config: MauveConfig, run: RunOptions
) -> tuple[list[ShardTask], list[ShardTask]]:
    """What the first pass has to do for either side.

    Raises:
        ValueError: a file of texts lies where results will be written.
    """
    shards = list_shards("human", human), list_shards("model", model)
    inputs = [shard.name for side in shards for shard in side if "://" not in shard.name]
    checkpoint = Path(output if run.checkpoint is None else run.checkpoint).expanduser() / blocks.CHECKPOINT_FILE
    written = [output / name for name in (FEATURES_FOLDER, MOMENTS_FOLDER, LABELS_FOLDER)]
    check_outputs([output / WORD_FILE, checkpoint], [*inputs, *_folders(human, model)], written)
    return (
        shard_tasks(shards[0], "reference", output, config, run),
        shard_tasks(shards[1], "prediction", output, config, run),
    )


def _folders(*sides: TextFiles) -> list[Path]:
    """The folders that sides are read from as a whole."""
    places = [place for side in sides for place in ([side] if isinstance(side, (str, Path)) else side)]
    return [path for place in places if "://" not in str(place) and (path := Path(place).expanduser()).is_dir()]


def _shape_of_features(task: ShardTask) -> tuple[int, int]:
    try:
        return as_rows(NpyRows.of_file(task.target)).shape
    except FileNotFoundError:
        raise FileNotFoundError(
            f"the pass 'features' is not done: there are none of {task.shard.name} in {str(task.target.parent)!r}"
        ) from None


def _with_features(work: Callable[[StoredRows], Answer], task: ShardTask) -> Answer:
    """A later pass over the features of one shard."""
    return work(_stored_rows(read_shard(task.target)))


def _stored_rows(part: ShardFeatures) -> StoredRows:
    return StoredRows(as_rows(part.reference.features), part.content)


def _keep_centres(config: MauveConfig, output: Path, verbose: bool, tasks: Sequence[ShardTask]) -> None:
    """Fit the centres on the features of all shards, in the order of the rows."""
    _clustering(Crew(None, verbose), [_stored_rows(read_shard(task.target)) for task in tasks], config, output)


def _checked_options(options: Options) -> tuple[MauveConfig, RunOptions]:
    """The options, without those that need all texts, or one process, at once."""
    config, run = split_options(dict(options))
    if config.match_lengths != "no":
        raise ValueError(f"match_lengths={config.match_lengths!r} needs all texts at once: it is not for shards")
    if run.distributed:
        raise ValueError("distributed=True is for torch's process groups: shards are shared out by ray")
    if isinstance(config.featurize_model_name, tuple):
        raise TypeError(
            "featurize_model_name must be a name, a folder or a function for shards, got a (model, tokenizer) pair: "
            "save it, and give its folder"
        )
    return config, run


def _address(ray: object) -> str:
    if not isinstance(ray, str) or not ray.strip():
        raise ValueError(f"ray must be 'local', 'auto' or the address of a cluster, got {shown(ray)}")
    return ray


def _output_folder(folder: str | Path) -> Path:
    """The folder of the results, made; what a killed job left half-written goes."""
    marks = ("://", "\0")
    if not isinstance(folder, (str, Path)) or not str(folder).strip() or any(mark in str(folder) for mark in marks):
        raise ValueError(f"folder must be a folder of the file system that all workers share, got {shown(folder)}")
    path = Path(folder).expanduser().absolute()
    with naming(path):
        (path / FEATURES_FOLDER).mkdir(parents=True, exist_ok=True)
        for part in path.glob("*/.mauve_metric-*.part"):
            with contextlib.suppress(FileNotFoundError):
                if time.time() - part.stat().st_mtime > _STALE_SECONDS:
                    part.unlink()
    return path


def _featurized(
    crew: Crew, sides: tuple[list[ShardTask], list[ShardTask]], config: MauveConfig, run: RunOptions
) -> tuple[list[ShardFeatures], list[ShardFeatures]]:
    """The first pass: what is known of the features of the human shards, and of the model's."""
    tasks = [*sides[0], *sides[1]]
    work = Work("featurize", [task.shard.name for task in tasks], [max(task.shard.size, 1) for task in tasks])
    done = crew.answers(
        work, partial(ShardFeaturizer, config, run), tasks, lambda _, made: (made, Done(len(made.reference), made.kept))
    )
    return done[: len(sides[0])], done[len(sides[0]) :]


def _with_texts(shards: list[ShardFeatures]) -> list[ShardFeatures]:
    return [shard for shard in shards if len(shard.reference)]


def _partition(
    crew: Crew,
    sides: tuple[list[ShardFeatures], list[ShardFeatures]],
    config: MauveConfig,
    output: Path,
    run: RunOptions,
) -> Partition:
    """The second and third pass: the buckets of all texts."""
    stacking = _stacking([sum(len(part.reference) for part in side) for side in sides], config)
    shards = [_stored_rows(part) for side in stacking.ordered(sides) for part in side]
    clustering = _clustering(crew, shards, config, output if run.checkpoint is None else Path(run.checkpoint))
    labels = _work_on_rows(crew, "buckets", partial(ShardLabels, output, clustering), shards, lambda made: made)
    stacked = np.concatenate(labels, axis=1).astype(np.int64)
    runs: list[list[Labels]] = [[some[place] for place in stacking.slices()] for some in stacked]
    most = KNN_MOST_ROWS if config.knn else 0
    joined = [ConcatenatedRows([as_rows(part.reference.features) for part in side]) for side in sides]
    near = [clustering.projection.apply_all(ArrayRows(some_rows(rows, most, config.seed))) for rows in joined]
    return Partition(near, runs, stacking, None)


def _stacking(sizes: Sequence[int], config: MauveConfig) -> Stacking:
    return Stacking(tuple(sizes), config.row_order == "pq")


def _work_on_rows(
    crew: Crew,
    title: str,
    make: Callable[[], Callable[[StoredRows], Answer]],
    shards: Sequence[StoredRows],
    keep: Callable[[Answer], Kept],
) -> list[Kept]:
    """A pass over features, which needs no GPU."""
    if crew.places is not None:
        crew = replace(crew, places=replace(crew.places, gpus_per_worker=0.0))
    sizes = [shard.rows.shape[0] for shard in shards]
    work = Work(title, [str(getattr(shard.rows, "path", title)) for shard in shards], sizes)
    return crew.answers(work, make, shards, lambda number, answer: (keep(answer), Done(sizes[number])))


def _clustering(crew: Crew, shards: Sequence[StoredRows], config: MauveConfig, folder: Path) -> blocks.Clustering:
    """Projection and centres of all shards' rows in their order, kept in a folder."""
    rows = ConcatenatedRows([shard.rows for shard in shards])
    file, key = _clustering_file(folder, rows.shape, config)
    content = hashlib.sha256("".join(shard.content for shard in shards).encode()).hexdigest()
    stored = blocks.load_clustering(file, key)
    if stored is not None and stored[1] == content:
        return stored[0]
    made = blocks.fit_centres(rows, _projection(crew, shards, rows, config, folder), _settings(config))
    with naming(file):
        file.parent.mkdir(parents=True, exist_ok=True)
    blocks.save_clustering(file, key, content, made)
    return made


def _clustering_file(folder: Path, shape: tuple[int, int], config: MauveConfig) -> tuple[Path, str]:
    """Where the clustering of rows of this shape is kept, and under which key."""
    return folder.expanduser() / blocks.CHECKPOINT_FILE, json.dumps(
        [*map(int, shape), _settings(config)], sort_keys=True
    )


def _settings(config: MauveConfig) -> blocks.Settings:
    return {
        "num_buckets": int(config.num_buckets),
        "explained_variance": config.kmeans_explained_var,
        "pca_max_data": config.pca_max_data,
        "num_redo": config.kmeans_num_redo,
        "max_iter": config.kmeans_max_iter,
        "seed": config.seed,
        "num_runs": int(config.num_runs),
    }


def _projection(
    crew: Crew, shards: Sequence[StoredRows], rows: ConcatenatedRows, config: MauveConfig, folder: Path
) -> Projection:
    """From the moments of all shards; from the rows themselves where it is fitted on few."""
    n, d = rows.shape
    if 0 < config.pca_max_data < n or n < d:
        return fit_projection(rows, config.kmeans_explained_var, config.pca_max_data, config.seed)
    sums = MomentSums()
    _work_on_rows(crew, "moments", partial(ShardMoments, folder), shards, sums.add)
    return sums.projection(config.kmeans_explained_var)
