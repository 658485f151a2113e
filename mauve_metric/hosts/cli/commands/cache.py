"""`mauve-metric cache`: the features that are kept on disk."""

from __future__ import annotations

import argparse

from mauve_metric.hosts.cli.flags import CommandParser
from mauve_metric.hosts.cli.inputs_and_outputs import json_of, show

HELP = "look after the features kept on disk"


def add_arguments(parser: CommandParser) -> None:
    """Add the action and its limit."""
    actions = ("info", "prune", "clear")
    text = f"{', '.join(actions)}; prune deletes what was used longest ago"
    parser.add_argument("action", metavar="ACTION", choices=actions, help=text)
    parser.add_argument("--max-bytes", type=int, help="what prune leaves at most; unset: the cache's own limit")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(options: argparse.Namespace) -> None:
    """Delete what is asked for and show what is left."""
    from mauve_metric.features.cache import FeatureCache

    with FeatureCache() as cache:
        deleted = None
        if options.action == "clear":
            deleted = cache.clear()
        elif options.action == "prune":
            deleted = cache.prune(cache.max_bytes if options.max_bytes is None else options.max_bytes)
            cache.compact()
        facts = cache.info()
    if deleted is not None:
        facts["deleted"] = deleted
    show(json_of(facts) if options.json else "\n".join(f"{key:<10} {value}" for key, value in facts.items()))
