"""The descriptions of the endpoints for people and programs: names, types and meanings, of the answers too."""

from __future__ import annotations

import inspect
import re
import types
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import numpy as np

from mauve_metric.catalogue.table import SCORES
from mauve_metric.hosts.space.server.endpoints import COMPARE, DESCRIBE, SCORE, Endpoints
from mauve_metric.results.comparison import Comparison
from mauve_metric.results.description import Description
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
    return _record(MauveResult)


def comparison_schema() -> Schema:
    """The schema of `Comparison.to_dict`."""
    schema = _record(Comparison)
    own = schema["properties"]["own"]["description"]
    return _with(schema, mauve_own=_values(_of_type(float)) | {"description": own})


def description_schema() -> Schema:
    """The schema of `Description.to_dict`."""
    meaning = {"description": "what to know before believing the scores"}
    return _with(_record(Description), warnings=_of_type(tuple[ScoreWarning, ...]) | meaning)


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
    if origin in (dict, Mapping) and inner[1] is not Any:
        return _values(_of_type(inner[1]))
    if isinstance(hint, type) and (is_dataclass(hint) or hasattr(hint, "_fields")):
        return _record(hint)
    return {"type": "object"}


def _record(kind: type) -> Schema:
    """The schema of a named tuple or dataclass."""
    meanings = attributes(kind)
    if kind is MauveResult:
        meanings |= {name: score.meaning for name, score in SCORES.items()}
    hints, names = get_type_hints(kind), getattr(kind, "_fields", ())
    if is_dataclass(kind):
        names = [item.name for item in fields(kind) if item.metadata.get("in_dict", True)]
    found = {}
    for name in names:
        shape = _list(_list(_of_type(float))) if name in _CURVES else _of_type(hints[name])
        found[name] = shape | _description(meanings.get(name))
    return _with({}, **found)


def _with(schema: Schema, **properties: Schema) -> Schema:
    """The schema of an object with further properties, all of which are there."""
    every = {**schema.get("properties", {}), **properties}
    return {"type": "object", "properties": every, "required": list(every)}


def _values(schema: Schema) -> Schema:
    return {"type": "object", "additionalProperties": schema}


def _list(schema: Schema) -> Schema:
    return {"type": "array", "items": schema}


def _description(meaning: str | None) -> Schema:
    return {"description": meaning} if meaning else {}
