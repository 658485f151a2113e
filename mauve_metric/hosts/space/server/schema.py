"""The descriptions of the endpoints for people and programs: names, types and meanings, of the answers too."""

from __future__ import annotations

import inspect
import re
import types
from collections.abc import Mapping
from dataclasses import fields
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import numpy as np

from mauve_metric.catalogue.table import SCORES
from mauve_metric.hosts.space.server.endpoints import COMPARE, DESCRIBE, SCORE, Endpoints
from mauve_metric.results.comparison import Comparison
from mauve_metric.results.description import Description
from mauve_metric.results.numbers import Described, Difference, OwnScore, Subgroup
from mauve_metric.results.result import MauveResult
from mauve_metric.uncertainty.score_warnings import ScoreWarning

Schema = dict[str, Any]  # JSON Schema
_PLAIN = {int: "integer", float: "number", str: "string", bool: "boolean", types.NoneType: "null"}
_CURVES = ("divergence_curve", "prd_curve")  # arrays of points
_ANSWERS = {
    SCORE: "Every field of the library's `MauveResult`.",
    COMPARE: "Every field of its `Comparison`.",
    DESCRIBE: "Every field of its `Description`, without the comparison in it.",
}


def result_schema() -> Schema:
    """The schema of `MauveResult.to_dict`."""
    meanings = attributes(MauveResult) | {name: score.meaning for name, score in SCORES.items()}
    hints = get_type_hints(MauveResult)
    names = [item.name for item in fields(MauveResult) if item.metadata.get("in_dict", True)]
    return _object({name: _schema_of_field(name, hints[name]) | _description(meanings.get(name)) for name in names})


def comparison_schema() -> Schema:
    """The schema of `Comparison.to_dict`."""
    meanings, hints = attributes(Comparison), get_type_hints(Comparison)
    models = {"models": _values(result_schema()), "mauve_own": _values(_of_type(float))}
    named = models | {"own": _values(_record(OwnScore)), "differences": _list(_record(Difference, leave=("stderr",)))}
    named["learned_differences"] = named["together_differences"] = named["differences"]
    named["subgroups"] = _list(_record(Subgroup))
    rankings = ("ranking", "learned_ranking", "together_ranking")
    for name in (*rankings, "confidence_level", "design", "smallest_difference", "texts_needed"):
        named[name] = _of_type(hints[name])
    named |= {"warnings": _list(_record(ScoreWarning)), "signature": _of_type(str)}
    meanings["mauve_own"] = meanings["own"]
    return _object({name: schema | _description(meanings.get(name)) for name, schema in named.items()})


def description_schema() -> Schema:
    """The schema of `Description.to_dict`."""
    meanings, hints = attributes(Description), get_type_hints(Description)
    meanings["warnings"] = "what to know before believing the scores"
    named = {"human": _values(_of_type(float)), "models": _values(_values(_record(Described)))}
    named |= {"failed": _values(_of_type(str)), "seconds": _values(_of_type(float)), "sizes": _values(_of_type(int))}
    named |= {name: _of_type(hints[name]) for name in ("same_size", "confidence_level")}
    named |= {"warnings": _list(_record(ScoreWarning)), "model_warnings": _values(_list(_record(ScoreWarning)))}
    named |= {"signature": _of_type(str)}
    return _object({name: schema | _description(meanings.get(name)) for name, schema in named.items()})


def add_descriptions(info: Schema, endpoints: Endpoints) -> Schema:
    """Add to gradio's (6.31) description of the endpoints the meanings of the parameters and the schema of the answers.

    Args:
        info: what `Blocks.get_api_info` gives, changed in place.
        endpoints: of the page.
    """
    answers = {SCORE: result_schema, COMPARE: comparison_schema, DESCRIBE: description_schema}
    for path, endpoint in info["named_endpoints"].items():
        name = path.strip("/")
        if name not in endpoints.names:
            continue
        parameters = endpoints.parameters(name)
        for item in endpoint["parameters"]:
            meaning = parameters[item["parameter_name"]].meaning
            item |= {"label": item["parameter_name"], "component": "parameter"}
            item["type"] = {**item["type"], "description": meaning}
            item["python_type"] = {**item["python_type"], "description": meaning}
        (returned,) = endpoint["returns"]
        returned |= {"label": "result", "component": "JSON", "type": answers[name]() | _description(_ANSWERS[name])}
        kinds = "dict[str, float | int | str | bool | list | dict | None]"
        returned["python_type"] = {"type": kinds, "description": _ANSWERS[name]}
    return info


def attributes(kind: type) -> dict[str, str]:
    """Read the meaning of each attribute from the docstring of a class, "a, b: meaning" for those that share one.

    >>> attributes(MauveResult)["p_hist"]
    'probabilities, shape (num_buckets,)'
    """
    text = " ".join((inspect.getdoc(kind) or "").split())
    names = "|".join(sorted(get_type_hints(kind), key=len, reverse=True))
    parts = re.split(rf"(?:^|(?<=[.:;] ))((?:{names})(?:, (?:{names}))*): ", text)
    return {
        name: meaning.strip().rstrip(".")
        for shared, meaning in zip(parts[1::2], parts[2::2], strict=True)
        for name in shared.split(", ")
    }


def _schema_of_field(name: str, hint: object) -> Schema:
    if name in _CURVES:
        return _list(_list(_of_type(float)))
    return _list(_record(ScoreWarning)) if name == "warnings" else _of_type(hint)


def _of_type(hint: object) -> Schema:
    """The schema of the values of a type as `numbers.plain` writes them."""
    if hint in _PLAIN:
        return {"type": _PLAIN[hint]}
    origin, inner = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        return {"anyOf": [_of_type(part) for part in inner]}
    if origin is Literal:
        return {"enum": list(inner)}
    if origin is np.ndarray:
        return _list(_of_type(float))
    if origin is tuple:
        several = Ellipsis not in inner
        return _list(_of_type(inner[0])) | ({"minItems": len(inner), "maxItems": len(inner)} if several else {})
    return {"type": "object"}


def _record(kind: type, leave: tuple[str, ...] = ()) -> Schema:
    """The schema of a named tuple or dataclass."""
    meanings = attributes(kind)
    hints = {name: hint for name, hint in get_type_hints(kind).items() if name not in leave}
    return _object({name: _of_type(hint) | _description(meanings.get(name)) for name, hint in hints.items()})


def _object(properties: Mapping[str, Schema]) -> Schema:
    return {"type": "object", "properties": dict(properties), "required": list(properties)}


def _values(schema: Schema) -> Schema:
    return {"type": "object", "additionalProperties": schema}


def _list(schema: Schema) -> Schema:
    return {"type": "array", "items": schema}


def _description(meaning: str | None) -> Schema:
    return {"description": meaning} if meaning else {}
