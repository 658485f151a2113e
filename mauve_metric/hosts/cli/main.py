"""The command line, a view of `compute_mauve`: results on stdout, everything else on stderr.

What computes is imported by the command that needs it, so that help and wrong usage are answered at once.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import logging
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from mauve_metric.hosts.cli.arguments import given_options, parsed
from mauve_metric.hosts.cli.copies import deduplicate_text, memorised_text
from mauve_metric.hosts.cli.files import check_output_files, human_side, sides_of_models, two_sides
from mauve_metric.hosts.cli.flags import featurizers_given, in_form
from mauve_metric.hosts.cli.guides import guide_text
from mauve_metric.hosts.cli.judgements import boundaries_scored, judged
from mauve_metric.hosts.cli.robustness import baseline_of, robustness_of
from mauve_metric.hosts.cli.shards import score_in_shards
from mauve_metric.hosts.cli.stress_test import stressed
from mauve_metric.results.names import printable
from mauve_metric.texts.files import read_texts

if TYPE_CHECKING:
    from mauve_metric.results.result_methods import Result


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; the exit status: 0, 1 for an input or runtime error, 2 for wrong usage."""
    options = parsed(arguments)
    if sys.stdout is None:
        _tell("error: standard output is closed, so that nothing can be shown: open it, or send it to a file")
        return 1
    with _logging_to_stderr(options):
        try:
            check_output_files(options)
            return COMMANDS[options.command](options)
        except KeyboardInterrupt:
            _tell("interrupted")
            return 130
        except BrokenPipeError:  # whoever reads the output has seen enough, `head` for one
            _drop_output()
            return 128 + 13
        except (ValueError, TypeError, OSError, ImportError, RuntimeError, MemoryError) as error:
            if options.debug:
                raise
            _tell(f"error: {_with_code(' '.join(str(error).split()) or type(error).__name__)}")
            return 1


def _with_code(message: str) -> str:
    """An error's message with its code, where it has one: `mauve-metric errors CODE` says more."""
    from mauve_metric.hosts.cli.error_guide import code_of

    code = code_of(message)
    return message if code is None else f"{message}  [{code}]"


def _tell(message: str) -> None:
    """A line on stderr, if there is one."""
    if sys.stderr is not None:
        print(f"mauve-metric: {printable(message)}", file=sys.stderr)


def _show(text: object) -> None:
    """A result on stdout, down to its last byte; `OSError` that says so where there is no room for it."""
    try:
        print(text, flush=True)
    except BrokenPipeError:
        raise
    except OSError as error:
        _drop_output()
        raise OSError(f"standard output cannot be written: {error.strerror}") from error


def _drop_output() -> None:
    """Send what stdout still holds to nowhere, so that Python does not try again on its way out."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


class _Line(logging.Formatter):
    """A record as lines that a terminal only shows."""

    def format(self, record: logging.LogRecord) -> str:
        return "\n".join(map(printable, super().format(record).split("\n")))


@contextlib.contextmanager
def _logging_to_stderr(options: argparse.Namespace) -> Iterator[None]:
    """The package's log on stderr: what takes long and what is odd; with --verbose, everything."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_Line("mauve-metric: %(message)s"))
    package = logging.getLogger("mauve_metric")
    package.addHandler(handler)
    package.setLevel(logging.INFO if options.verbose else logging.ERROR if options.quiet else logging.WARNING)
    scores = logging.getLogger("mauve_metric.api.score")
    scores.setLevel(logging.ERROR)  # the warnings of a result stand in the result
    several = logging.getLogger("mauve_metric.api.each_featurizer")
    several.setLevel(logging.ERROR)  # so do those about several featurizers
    files = logging.getLogger("mauve_metric.features.sides")
    files.setLevel(logging.ERROR if options.quiet else logging.INFO)  # what a file was taken for is always said
    plans = logging.getLogger("mauve_metric.api.robustness")
    plans.setLevel(logging.ERROR if options.quiet else logging.INFO)  # how long it will take
    tests = logging.getLogger("mauve_metric.api.stress_test")
    tests.setLevel(logging.ERROR if options.quiet else logging.INFO)  # so is how long it takes
    jobs = logging.getLogger("mauve_metric.runtime.progress")
    jobs.setLevel(logging.ERROR if options.quiet else logging.INFO)  # and how far a job of hours has come
    try:
        yield
    finally:
        package.removeHandler(handler)
        for logger in (package, scores, several, files, plans, tests, jobs):
            logger.setLevel(logging.NOTSET)


def _score(options: argparse.Namespace) -> int:
    title = f"{options.model} (model) against {options.human} (human)"
    if options.model is None:
        title = f"{options.human} (model and human)"
    given = given_options(options) | featurizers_given(options)
    if options.folder is not None:
        return _show_result(score_in_shards(options, given), options, title)
    return _compute_and_show(two_sides(options), given | {"aligned": options.aligned}, options, title)


def _explain(options: argparse.Namespace) -> int:
    from mauve_metric.api.explain import explain

    sides = two_sides(options)
    with _processes() as rank:
        explanation = explain(
            **sides,
            **given_options(options),
            aligned=options.aligned,
            buckets=options.buckets,
            texts=options.texts,
            distributed=rank is not None,
        )
    if rank in (None, 0):
        _show_result(explanation, options)
    return 0


def _compare(options: argparse.Namespace) -> int:
    from mauve_metric.api.compare import compare

    sides = sides_of_models(options)
    with _processes() as rank:
        comparison = compare(
            **sides,
            **given_options(options),
            **featurizers_given(options),
            aligned=options.aligned,
            common_rows=options.common_rows,
            buckets=options.buckets if options.report else 0,
            distributed=rank is not None,
        )
    if rank in (None, 0):
        _show_result(comparison, options)
    return 0


def _describe(options: argparse.Namespace) -> int:
    from mauve_metric.api.describe import describe

    sides = sides_of_models(options)
    description = describe(
        **sides,
        **given_options(options),
        measures=options.measures,
        language_model=options.language_model,
        tokenizer=options.tokenizer,
        training=options.training,
        aligned=options.aligned,
        common_rows=options.common_rows,
    )
    return _show_result(description, options)


def _robustness(options: argparse.Namespace) -> int:
    return _show_result(robustness_of(sides_of_models(options), given_options(options), options), options)


def _stress(options: argparse.Namespace) -> int:
    return _show_result(stressed(options, given_options(options)), options)


def _baseline(options: argparse.Namespace) -> int:
    return _show_result(baseline_of(human_side(options), given_options(options), options), options)


def _demo(options: argparse.Namespace) -> int:
    from mauve_metric.texts.examples import examples_folder

    folder = examples_folder()
    human, model = folder / "human.jsonl", folder / "nucleus.jsonl"
    if not hasattr(options, "featurize_model_name"):
        options.featurize_model_name = "minilm"
    sides = {"p_text": read_texts(human), "q_text": read_texts(model)}
    title = f"examples/{model.name} (model) against examples/{human.name} (human)"
    return _compute_and_show(sides, given_options(options), options, title)


def _compute_and_show(sides: dict[str, Any], given: dict[str, Any], options: argparse.Namespace, title: str) -> int:
    """`given`: the keywords of a score that stand on the command line."""
    from mauve_metric.api.compute import compute_mauve

    with _processes() as rank:
        result = compute_mauve(**sides, **given, distributed=rank is not None)
    return _show_result(result, options, title) if rank in (None, 0) else 0


def _show_result(result: Result, options: argparse.Namespace, title: str | None = None) -> int:
    """A result on stdout, and the figure and the page that were asked for."""
    try:
        _show(in_form(result, options, title))
    finally:  # files are written for those too who read no more than the first lines
        if options.plot is not None:
            from mauve_metric.results.figure_files import save_chart

            save_chart(result.plot(), options.plot)
        if options.report is not None:
            result.save_report(options.report)
    return 0


@contextlib.contextmanager
def _processes() -> Iterator[int | None]:
    """This process's rank when torchrun or accelerate launch started several, else None (and torch not imported)."""
    from mauve_metric.runtime import processes

    if processes.launched_processes() == 1:
        yield None
    else:
        with processes.process_group() as rank:
            yield rank


def _featurize(options: argparse.Namespace) -> int:
    from mauve_metric.features.feature_set import FeatureSet

    texts = read_texts(options.texts, options.text_field, filter=options.filter)
    with _processes() as rank:
        reference = FeatureSet.from_texts(texts, **given_options(options), distributed=rank is not None)
    if rank in (None, 0):
        reference.save(options.output)
        shape = reference.features.shape
        _tell(f"{shape[0]} features of {shape[1]} numbers in {options.output}")
    return 0


def _lm_eval_task(options: argparse.Namespace) -> int:
    from mauve_metric.hosts.plugins.lm_eval_task import task_name, write_task
    from mauve_metric.options import split_options

    split_options(given_options(options))  # the task keeps those of the score; the others are checked all the same

    task = write_task(
        read_texts(options.texts, options.text_field),
        options.folder,
        options.name or task_name(options.texts),
        prompt_words=options.prompt_words,
        new_tokens=options.new_tokens,
        options={name: value for name, value in given_options(options).items() if name != "verbose"},
    )
    _tell(task.summary())
    _show(task.command())
    return 0


def _cache(options: argparse.Namespace) -> int:
    from mauve_metric.features.cache import FeatureCache

    with FeatureCache() as cache:
        deleted = None
        if options.action == "clear":
            deleted = cache.clear()
        elif options.action == "prune":
            deleted = cache.prune(cache.max_bytes if options.max_bytes is None else options.max_bytes)
            cache.compact()
        info = cache.info()
    facts = {"path": str(info.path), "features": info.features, "bytes": info.bytes, "max_bytes": info.max_bytes}
    if deleted is not None:
        facts["deleted"] = deleted
    _show(json.dumps(facts) if options.json else "\n".join(f"{key:<10} {value}" for key, value in facts.items()))
    return 0


def _shown(text: Callable[[argparse.Namespace], str]) -> Callable[[argparse.Namespace], int]:
    """A command that shows a text."""

    def command(options: argparse.Namespace) -> int:
        _show(text(options))
        return 0

    return command


COMMANDS: dict[str, Callable[[argparse.Namespace], int]] = {
    "score": _score,
    "compare": _compare,
    "describe": _describe,
    "robustness": _robustness,
    "baseline": _baseline,
    "stress-test": _stress,
    "explain": _explain,
    "demo": _demo,
    "featurize": _featurize,
    "lm-eval-task": _lm_eval_task,
    "deduplicate": _shown(deduplicate_text),
    "memorised": _shown(memorised_text),
    "preferences": lambda options: _show_result(judged(options), options),
    "boundaries": lambda options: _show_result(boundaries_scored(options), options),
    "cache": _cache,
    "warnings": _shown(guide_text),
    "errors": _shown(guide_text),
}
