"""`mauve-metric compare`: the ranking of several models, and the pairs that differ."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from mauve_metric.hosts.cli.exit_status import failed_gate
from mauve_metric.hosts.cli.flags import CommandParser, count, keywords_of
from mauve_metric.hosts.cli.inputs_and_outputs import show, show_result_of, sides_of_models, tell

if TYPE_CHECKING:
    from mauve_metric.hosts.cli.gate import Change
    from mauve_metric.results.comparison import Comparison

HELP = "say which of several models is closest, and which differ"
EXAMPLES = """examples:
  mauve-metric compare human.jsonl a.jsonl b.jsonl --report report.html
  mauve-metric compare human.jsonl small=1.jsonl large=2.jsonl --markdown
  mauve-metric compare human.jsonl m=seed1.jsonl m=seed2.jsonl m=seed3.jsonl    (runs of one model)"""


def add_arguments(parser: CommandParser) -> None:
    """Add the models, the forms of the tables and the report."""
    parser.add_models()
    tables = ("models", "differences", "runs_differences", "learned_differences", "together_differences", "subgroups")
    parser.add_score_options("compare", *tables, featurizers="the lowest closeness decides, MAUVE is by the first")
    parser.add_by("recall and scores of the texts")
    parser.add_number("--buckets", 5, "buckets a model in the report", type=count)
    gate = parser.add_argument_group("gate (for automatic jobs)")
    text = "test each model against what compare --json printed earlier, by groups and by classifier"
    gate.add_argument("--baseline", metavar="FILE", help=text)
    text = "exit status 3 for a model significantly worse than in --baseline, 4 without a verdict"
    gate.add_argument("--fail-if-worse", action="store_true", help=text)


def usage_error(options: argparse.Namespace) -> str | None:
    """The reason why the flags of the gate are incomplete, if they are."""
    return "--fail-if-worse needs --baseline FILE" if options.fail_if_worse and options.baseline is None else None


def run(options: argparse.Namespace) -> int:
    """Compare the models, show the result and write its files; the exit status of the gate, 3 or 4 if it fails."""
    from mauve_metric.hosts.cli.gate import changes, check_before, document_of, read_scores
    from mauve_metric.scoring.compare import compare

    before = {} if options.baseline is None else read_scores(options.baseline)
    shown = {} if options.report else {"buckets": 0}
    keywords, sides = keywords_of(compare, options), sides_of_models(options, runs=True)
    if options.baseline is not None:
        check_before(before, sides["models"], keywords, sides.get("p"))
        for name in [name for name in sides["models"] if name in before]:
            _check_stored(options.baseline, name, before[name])
    result = show_result_of(partial(_with_runs, compare), options, keywords | sides | shown)
    changed = changes(result, before) if options.baseline is not None else {}
    for change in changed.values():
        tell(change.sentence)
    reasons: list[str] = []
    status = _gate(result, before, changed, reasons) if options.fail_if_worse else 0
    if options.markdown and changed:
        why = "; ".join(reasons) or "no model is significantly worse"
        outcome = f"Exit status {status}: {why}." if options.fail_if_worse else ""
        show(f"\n{document_of(changed.values(), outcome).markdown().rstrip()}")
    return status


def _gate(result: Comparison, before: Mapping[str, Any], changed: Mapping[str, Change], reasons: list[str]) -> int:
    """The exit status of --fail-if-worse; adds the reasons, and prints them."""
    from mauve_metric.hosts.cli.gate import stored_without_verdict, without_verdict

    worse = [f"{name} is worse than before{change.doubt}" for name, change in changed.items() if change.is_worse]
    unknown = [(name, without_verdict(scores)) for name, scores in result.models.items()]
    stored = {name: before[name] for name in result.models if name in before}
    unknown += [(f"the earlier result of {name}", stored_without_verdict(values)) for name, values in stored.items()]
    undecidable = [f"{name}: {reason}" for name, reason in unknown if reason]
    reasons += [*undecidable, *worse]
    return failed_gate(worse, undecidable)


def _with_runs(compare: Callable[..., Comparison], **keywords: Any) -> Comparison:
    """The comparison, with the means of the models of which several runs were given."""
    from mauve_metric.results.runs import runs_of_names

    return compare(**keywords).with_runs(runs_of_names(keywords["models"]))


def _check_stored(path: str, name: str, values: Mapping[str, Any]) -> None:
    """Refuse an earlier result whose numbers contradict each other; `ValueError` names its model."""
    from mauve_metric.hosts.stored_results import check_stored

    try:
        check_stored(values)
    except ValueError as error:
        raise ValueError(
            f"--baseline must be what compare --json printed, got {path!r} (the earlier result of {name}: {error})"
        ) from error
