"""`mauve-metric reproduce`: a score again with the options of its signature, and the differences."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Any

from mauve_metric.hosts.cli.flags import CommandParser, keywords_of
from mauve_metric.hosts.cli.inputs_and_outputs import failed_gate, json_of, show, two_sides

HELP = "score again with the options of a signature, and say what differs"
EXAMPLES = """example:
  mauve-metric score human.jsonl model.jsonl --json > score.json
  mauve-metric reproduce score.json human.jsonl model.jsonl"""


def add_arguments(parser: CommandParser) -> None:
    """Add the signature and the two sides."""
    text = "what `score --signature` printed, or a file of `score --json`, whose numbers are compared too"
    parser.add_argument("signature", metavar="SIGNATURE", help=text)
    parser.add_two_sides()
    parser.add_field_options()
    parser.add_design_options()
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_run_options()


def run(options: argparse.Namespace) -> int:
    """Score, show the differences; the exit status, 3 if more than versions of packages differ."""
    from mauve_metric.api.compute import compute_mauve
    from mauve_metric.results.document import Column, plain_table, row_of
    from mauve_metric.results.signature import VERSIONS, format_value, parse_signature, signature_options

    before = _result_before(options.signature)
    then = parse_signature(before["signature"])
    if "num_buckets" not in then:
        raise ValueError(f"SIGNATURE must be key:value|key:value|… or a file of JSON, got {options.signature!r}")
    options.aligned |= then.get("design") == "aligned"
    sides = two_sides(options)
    settings = signature_options(then, texts=not {"p", "q"} <= {*sides})
    result = compute_mauve(**keywords_of(compute_mauve, options) | settings | sides)

    values = result.to_dict()
    numbers = [name for name, old in before.items() if isinstance(old, float) and isinstance(values.get(name), float)]
    # six digits: other machines and versions round the last ones otherwise
    then |= {name: f"{before[name]:.6g}" for name in numbers}
    now = parse_signature(result.signature) | {name: f"{values[name]:.6g}" for name in numbers}
    changed = {name: (then.get(name), now.get(name)) for name in then | now if then.get(name) != now.get(name)}
    if options.json:
        show(json_of({"differences": changed, "result": values}))
    else:
        show(f"  MAUVE {result.mauve:.4f}. {'These entries differ:' if changed else 'Nothing differs.'}")
        columns = (Column("entry", "entry"), Column("then", "then"), Column("now", "now"))
        rows = [row_of(columns, name, *map(format_value, pair)) for name, pair in changed.items()]
        if rows:
            show("\n".join(["", *plain_table(columns, rows)]))
    return failed_gate(["the score is not reproduced"] if {*changed} - {*VERSIONS} else [])


def _result_before(signature: str) -> Mapping[str, Any]:
    """The JSON of a result, or a signature alone in its place."""
    if not signature.endswith(".json"):
        return {"signature": signature.removeprefix("signature: ")}
    from mauve_metric.texts.json_rows import read_json

    found = read_json(signature)
    if not isinstance(found, dict) or not isinstance(found.get("signature"), str):
        raise ValueError(f"SIGNATURE must be a file of `score --json`, got {signature!r} without a signature")
    return found
