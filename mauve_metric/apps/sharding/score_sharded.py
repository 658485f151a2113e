"""Two sides in many files → the score of one machine, on as many machines as there are.

Featurizing, which takes nearly all of the time, is shared out: one file of texts in, one file of features out. The
features are then scored in one process, which reads them in blocks where they are many.
"""

from __future__ import annotations

import contextlib
import logging
import time
from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Unpack

from mauve_metric.apps.job_progress import job_progress
from mauve_metric.apps.sharding import shards
from mauve_metric.apps.sharding.ray_tasks import TOKEN_FILE, check_workers, ray_cluster, run_on_ray
from mauve_metric.apps.sharding.shards import ShardTask
from mauve_metric.clustering.checkpoint import CHECKPOINT_FILE
from mauve_metric.clustering.quantizers import scoring_options
from mauve_metric.features.feature_set import given_side, prompts_of
from mauve_metric.features.row_blocks import MOST_NUMBERS_AT_ONCE, all_rows
from mauve_metric.features.sides import check_columns, check_same_encoder, checked_inputs
from mauve_metric.inputs.files import TextFile
from mauve_metric.inputs.stripping import Stripping
from mauve_metric.options import Options, with_options
from mauve_metric.results.result import MauveResult
from mauve_metric.runtime.checks import shown
from mauve_metric.runtime.errors import RowsDiffer
from mauve_metric.runtime.outputs import check_outputs, make_folder, naming
from mauve_metric.runtime.plain_text import is_blank
from mauve_metric.scoring.evaluation import Evaluation
from mauve_metric.scoring.score import log_warnings

logger = logging.getLogger(__name__)

TextFiles = str | Path | Sequence[str | Path]

_STALE_SECONDS = 3600  # the age at which a half-written file is removed


@with_options()
def score_sharded(
    p_text: TextFiles,
    q_text: TextFiles,
    folder: str | Path,
    *,
    ray: str | None = None,
    workers: int | None = None,
    cpus_per_worker: float = 1.0,
    gpus_per_worker: float = 0.0,
    aligned: bool = False,
    p_groups: Sequence[Hashable] | None = None,
    q_groups: Sequence[Hashable] | None = None,
    prompt_field: str | None = None,
    encoding: str | None = None,
    **options: Unpack[Options],
) -> MauveResult:
    """Score a model's texts in many files against human ones, on the machines of a Ray cluster or one after the other.

    The texts are featurized on all machines, and scored in this process: up to 2**28 numbers (a gigabyte of features)
    from memory, to the last bit as `compute_mauve` scores them; above, in blocks. The result does not depend on the
    number of workers, on the order in which shards are done, or on how the features are cut into files.

    Args:
        p_text, q_text: the human side and the model's: .jsonl or .parquet files, folders of them, patterns, or lists
            of these; also URLs that fsspec opens. A set is what they hold, in the order of the files' names.
        folder: keeps one file of features a shard; all workers must see it. Started again with it, a job does only
            what is missing, damaged or of another model.
        ray: the address of a cluster, "auto" for the one that this machine belongs to, "local" for one of this machine
            alone; None: this process, without Ray.
        workers: at most how many at once; None: as many as the cluster has room for.
        cpus_per_worker, gpus_per_worker: what each takes; parts of a GPU are shared.
        aligned, p_groups, q_groups: see `compute_mauve`; groups in the order of the texts.
        prompt_field: the field of the prompt of each text, in place of groups (see `TextFile`).
        encoding: of files that are not UTF-8.
        **options: as for `compute_mauve`. The featurizer is a name, a folder that all workers see, or a function;
            there is no `distributed`, no `match_lengths`, and no feature cache: the folder is one.

    Returns:
        The `MauveResult` of `compute_mauve`, without `normalised`, for which texts are read again.

    Raises:
        ValueError: an argument, or a text that cannot be scored, with its shard; what was done before is kept.
        OSError: a shard failed because of a machine, its packages or its model, and on Ray failed again three times;
            the shard and the machine are named.
        TypeError, ImportError: as `compute_mauve`; without Ray where it is asked for.
    """
    groups = {"p": p_groups, "q": q_groups}
    inputs = checked_inputs({name: given_side(name, {"text": None}, groups[name]) for name in groups}, aligned)
    limits = workers, cpus_per_worker, gpus_per_worker
    check_workers(*limits)
    job = _Job(p_text, q_text, folder, options, encoding)
    if prompt_field is not None:
        if aligned or any(side.groups is not None for side in inputs.sides.values()):
            raise RowsDiffer.of("prompt_field", "contradicts aligned, p_groups and q_groups: give one of them")
        for name, tasks_of_side in (("p", job.p), ("q", job.q)):
            inputs.sides[name] = inputs.sides[name]._replace(groups=job.prompts(tasks_of_side, prompt_field))
    elif not inputs.aligned and all(side.groups is None for side in inputs.sides.values()):
        job.name_prompts()
    tasks = [*job.p, *job.q]
    if ray is not None and (not isinstance(ray, str) or not ray.strip()):
        raise ValueError(f"ray must be 'local', 'auto' or the address of a cluster, got {shown(ray)}")
    with (
        contextlib.nullcontext() if ray is None else ray_cluster(ray),
        job_progress("featurize", [max(task.shard.size, 1) for task in tasks], job.run.verbose) as advance,
    ):
        answers = enumerate(map(job.work, tasks)) if ray is None else run_on_ray(job.work, tasks, job.output, *limits)
        done: dict[int, shards.ShardCounts] = {}
        for number, counts in answers:
            done[number] = counts
            advance(number, counts[0])
    ordered = [done[number] for number in range(len(tasks))]
    p = shards.joined_shards("p_text", job.p, ordered[: len(job.p)])
    q = shards.joined_shards("q_text", job.q, ordered[len(job.p) :])
    check_columns({"the features of p_text": p, "the features of q_text": q})
    check_same_encoder(p.identity, q.identity)
    p, q = inputs.with_design({"p": p, "q": q}).values()
    if (len(p) + len(q)) * p.features.shape[1] <= MOST_NUMBERS_AT_ONCE:
        p, q = (replace(side, features=all_rows(side.features)) for side in (p, q))
    result = Evaluation.of_sets([p, q], job.config, job.run).result()
    log_warnings(result)
    return result


def shard_pass(
    p_text: TextFiles, q_text: TextFiles, folder: str | Path, *, encoding: str | None = None, **options: Unpack[Options]
) -> tuple[list[ShardTask], Callable[[ShardTask], object]]:
    """Return the work of `score_sharded` for an engine of your own: one task a file of texts, and what does a task.

    The tasks are the same list wherever it is asked for, and can be done on any machine that sees the folder, in any
    order, and again: what is done is kept there, and found by `score_sharded(p_text, q_text, folder, **options)`, which
    then scores.

    Args:
        p_text, q_text, folder, encoding, **options: as for `score_sharded`.

    Returns:
        The tasks, and a function that writes the features of one; both can be pickled if a function that featurizes
        can.

    Raises:
        ValueError, TypeError, OSError: an argument is wrong.
    """
    job = _Job(p_text, q_text, folder, options, encoding)
    return [*job.p, *job.q], job.work


class _Job:
    """The tasks of the human side and of the model's, `p` and `q`, what does one, the output folder, and the options.

    Raises:
        ValueError: a file of texts is where results will be written.
    """

    def __init__(
        self, p_text: TextFiles, q_text: TextFiles, folder: str | Path, options: Options, encoding: str | None
    ) -> None:
        self.config, self.run = scoring_options(options, "score_sharded")
        if isinstance(self.config.featurize_model_name, tuple):
            raise TypeError(
                "featurize_model_name must be a name, a folder or a function for shards, got a (model, tokenizer) "
                "pair: save it, and give its folder"
            )
        marks = ("://", "\0")
        if not isinstance(folder, (str, Path)) or not str(folder).strip() or any(mark in str(folder) for mark in marks):
            raise ValueError(f"folder must be a folder of the file system that all workers share, got {shown(folder)}")
        self.output = Path(folder).expanduser().absolute()
        features = self.output / shards.FEATURES_FOLDER
        make_folder(self.output)
        make_folder(features)
        with naming(self.output):
            for part in self.output.glob("*/.mauve_metric-*.part"):  # what a killed job left half-written
                with contextlib.suppress(FileNotFoundError):
                    if time.time() - part.stat().st_mtime > _STALE_SECONDS:
                        part.unlink()
        files = shards.list_shards("p_text", p_text), shards.list_shards("q_text", q_text)
        checkpoint = [] if self.run.checkpoint is None else [Path(self.run.checkpoint).expanduser() / CHECKPOINT_FILE]
        read = [shard.name for side in files for shard in side if "://" not in shard.name]
        inputs = [entry for side in (p_text, q_text) for entry in ([side] if isinstance(side, (str, Path)) else side)]
        folders = [path for entry in inputs if "://" not in str(entry) and (path := Path(entry).expanduser()).is_dir()]
        check_outputs([self.output / TOKEN_FILE, *checkpoint], [*read, *folders], [features])
        self.p = shards.shard_tasks(files[0], "reference", self.output, self.config, self.run, encoding)
        self.q = shards.shard_tasks(files[1], "prediction", self.output, self.config, self.run, encoding)
        self.work = shards.ShardFeaturizer(self.config, self.run)

    def name_prompts(self) -> None:
        """Warn of a field of prompts in the first file of the model's texts, which `compute_mauve` would use."""
        task, field = self.q[0], None
        with contextlib.suppress(ValueError, OSError), shards.on_this_machine(task.shard) as path:  # the task says why
            field, _ = TextFile(path, self.run.text_field, encoding=task.encoding).likely_prompts(task.side)
        if field is not None:
            logger.warning(
                "the texts of shards count as independent of each other, and %s has a field %r: where texts share "
                "prompts, give prompt_field=%r",
                task.shard.file_name,
                field,
                field,
            )

    def prompts(self, tasks: Sequence[ShardTask], field: str) -> list[Hashable] | None:
        """The prompt of each text of a side that is scored; None if its files lack the field.

        Raises:
            ValueError, OSError: a file of the model's texts lacks it, or cannot be read.
        """
        groups: list[Hashable] = []
        strip = Stripping(str(self.config.strip), prompts_of(self.run)).strip
        for task in tasks:
            with shards.on_this_machine(task.shard) as path:
                side = shards.ShardFile(path, self.run.text_field, prompt_field=field, encoding=task.encoding).side(
                    task.side
                )
            if side.groups is None:
                return None
            kept = [not is_blank(strip(text)) or self.config.empty_texts == "error" for text in side.texts]
            groups += [group for group, is_kept in zip(side.groups, kept, strict=True) if is_kept]
        return groups
