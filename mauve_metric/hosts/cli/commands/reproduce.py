"""`mauve-metric reproduce`: a score again with the options of its signature, and the differences."""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Mapping
from typing import Any

from mauve_metric.hosts.cli.exit_status import failed_gate
from mauve_metric.hosts.cli.flags import CommandParser, keywords_of
from mauve_metric.hosts.cli.inputs_and_outputs import json_of, show, two_sides

HELP = "score again with the options of a signature, and say what differs"
MISSING = "missing"
_LARGEST = 1e300  # of the numbers that are compared by their digits; integers may be too large for a float
_DIGITS, _NOTHING = 1e-6, 1e-9  # relative and absolute differences of two numbers that count as equal
_DIGITS_OF_P = 1e-2  # the relative one of p-values: last bits of features changed one of 7.5e-7 by .05 %
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
    from mauve_metric.report.document import Column, plain_table, row_of
    from mauve_metric.results.signature import VERSIONS, format_value, parse_signature, signature_options
    from mauve_metric.runtime.plain_text import excerpt
    from mauve_metric.scoring.compute import compute_mauve

    before = _result_before(options.signature)
    then = parse_signature(before["signature"])
    if "num_buckets" not in then:
        raise ValueError(f"SIGNATURE must be key:value|key:value|… or a file of JSON, got {options.signature!r}")
    options.aligned |= then.get("design") == "aligned"
    sides = two_sides(options)
    settings = signature_options(then, texts=not {"p", "q"} <= {*sides})
    if isinstance(each := before.get("by_featurizer"), Mapping) and len(each) > 1:
        models = {name: parse_signature(str(result["signature"])) for name, result in each.items()}
        settings["featurizers"] = {name: model.get("featurize_model_name", name) for name, model in models.items()}
    elif "featurizers" in then:
        settings["featurizers"] = str(then["featurizers"]).split(",")
    if "featurizers" in settings:
        settings.pop("featurize_model_name", None)  # the first of them, which may have another name
    if "reference_name" in before:
        settings["reference_name"] = before["reference_name"]
    result = compute_mauve(**keywords_of(compute_mauve, options) | settings | sides)

    values = json.loads(json_of(result.to_dict()))
    entries = _entries(then, parse_signature(result.signature))
    pairs = {name: pair for name, pair in entries.items() if format_value(pair[0]) != format_value(pair[1])}
    if len(before) > 1:  # more than a signature
        old, new = ({**_without_versions(scores), "signature": None} for scores in (before, values))
        pairs |= differences(old, new)
    # another version may have more scores, but every stored one must be there
    added = [name for name, (old, _) in pairs.items() if old is MISSING and "mauve_metric" in pairs]
    changed = {name: (format_value(old), format_value(new)) for name, (old, new) in pairs.items()}
    if options.json:
        show(json_of({"differences": changed, "result": values}))
    else:
        show(f"  MAUVE {result.mauve:.4f}. {'These entries differ:' if changed else 'Nothing differs.'}")
        columns = (Column("entry", "entry"), Column("then", "then"), Column("now", "now"))
        rows = [row_of(columns, name, *map(excerpt, pair)) for name, pair in changed.items()]
        if rows:
            show("\n".join(["", *plain_table(columns, rows)]))
    return failed_gate(["the score is not reproduced"] if {*changed} - {*VERSIONS, *added} else [])


def differences(then: object, now: object, name: str = "") -> dict[str, tuple[object, object]]:
    """Every entry in which two JSON values differ, by its path; `MISSING` where one of them lacks it.

    Numbers are equal to six digits and p-values to two, since other machines and versions round otherwise, and p-values
    change more by it.

    >>> differences({"a": 1, "b": [0.5, 2], "c": None}, {"a": 1.0, "b": [0.5, "2"]})
    {'b[1]': (2, '2'), 'c': (None, 'missing')}
    >>> differences({"auc_p_value": 7.52e-7, "p_value": 0.04}, {"auc_p_value": 7.53e-7, "p_value": 0.05})
    {'p_value': (0.04, 0.05)}
    """
    if isinstance(then, dict) and isinstance(now, dict):
        pairs = {f"{name}.{key}" if name else key: pair for key, pair in _entries(then, now).items()}
    elif isinstance(then, list) and isinstance(now, list) and len(then) == len(now):
        pairs = {f"{name}[{number}]": pair for number, pair in enumerate(zip(then, now, strict=True))}
    else:
        digits = _DIGITS_OF_P if name.endswith("p_value") else _DIGITS
        return {} if _is_equal(then, now, digits) else {name: (then, now)}
    return {path: values for entry, pair in pairs.items() for path, values in differences(*pair, entry).items()}


def _without_versions(values: Mapping[str, Any]) -> dict[str, object]:
    """A result without the versions in its signatures, which are compared by themselves."""
    from mauve_metric.results.signature import VERSIONS, signature_texts

    entries: dict[str, object] = {}
    for name, value in values.items():
        if name == "signature":
            entries[name] = {key: text for key, text in signature_texts(str(value)).items() if key not in VERSIONS}
        else:
            entries[name] = _without_versions(value) if isinstance(value, Mapping) else value
    return entries


def _entries(then: Mapping[str, object], now: Mapping[str, object]) -> dict[str, tuple[object, object]]:
    """The values of each name in two mappings."""
    return {name: (then.get(name, MISSING), now.get(name, MISSING)) for name in {**then, **now}}


def _is_equal(then: object, now: object, digits: float) -> bool:
    numbers = [value for value in (then, now) if isinstance(value, (int, float)) and not isinstance(value, bool)]
    numbers = [value for value in numbers if abs(value) <= _LARGEST]
    if len(numbers) == 2:
        return math.isclose(*numbers, rel_tol=digits, abs_tol=_NOTHING)
    return type(then) is type(now) and then == now


def _result_before(signature: str) -> Mapping[str, Any]:
    """The JSON of a result, or a signature alone in its place."""
    if not signature.lower().endswith(".json"):
        return {"signature": signature.rpartition("signature: ")[2].strip()}  # the screen before it may be pasted, too
    from mauve_metric.inputs.json_rows import read_json

    content = read_json(signature)
    if not isinstance(content, dict) or not isinstance(content.get("signature"), str):
        raise ValueError(f"SIGNATURE must be a file of `score --json`, got {signature!r} without a signature")
    if "models" in content:
        raise ValueError(f"SIGNATURE must be a file of `score --json`, got {signature!r}, a comparison of models")
    return {name: value for name, value in content.items() if not name.startswith("_")}  # those of `evaluate.save`
