"""The endpoints: parameters, checks and answers, and their descriptions for people and programs."""

from __future__ import annotations

import inspect
import re
import types
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any, Literal, NamedTuple, Union, get_args, get_origin, get_type_hints

import gradio as gr
import numpy as np

from mauve_metric.api.describe import need_features
from mauve_metric.catalogue.table import SCORES
from mauve_metric.features.feature_set import FeatureSet, Side
from mauve_metric.features.sides import GivenDesign, OpenedSides
from mauve_metric.hosts.space.limits import Limits, check_name, check_options, check_texts, check_together
from mauve_metric.hosts.space.session.measuring import GROUPS, check_measures, measure_texts
from mauve_metric.hosts.space.session.run import Run, Turns, show_errors
from mauve_metric.hosts.space.session.scoring import Encoders, embed, kept_texts, score
from mauve_metric.options import MauveConfig, config_fields
from mauve_metric.results.comparison import Comparison
from mauve_metric.results.description import Description
from mauve_metric.results.result import MauveResult
from mauve_metric.runtime.checks import check_bool
from mauve_metric.texts.sources import text_source
from mauve_metric.uncertainty.score_warnings import ScoreWarning

SCORE, COMPARE, DESCRIBE = "score", "compare", "describe"
DESCRIPTIONS = {
    SCORE: "Score a model's texts (predictions) against human texts (references): every number of the result.",
    COMPARE: "Compare several models' texts with each other by their scores against human texts (references).",
    DESCRIBE: "Every measure of one or several models' texts beside that of human texts (references), in one table.",
}
_REQUIRED = inspect.Parameter.empty
_BUCKETS = "num_buckets"  # None here, for programs that have no value of several types

_OPTIONS: dict[str, object] = {  # with the meaning and the default that the library gives them
    "seed": int,
    "mauve_scaling_factor": float,
    "confidence_level": float,
    "empty_texts": Literal["error", "drop"],
}


class Parameter(NamedTuple):
    """One parameter of an endpoint: its type, its meaning in one sentence, and its default if it has one."""

    type: object
    meaning: str
    default: object = _REQUIRED


@dataclass(frozen=True)
class Job:
    """A checked call: the texts and settings to score.

    sets: texts by what errors call them, the human ones first. names: of the models, to their titles in `sets`.
    measures: the requested ones, for `/describe`.
    """

    sets: Mapping[str, list[str]]
    names: Mapping[str, str]
    config: MauveConfig
    aligned: bool = False
    measures: tuple[str, ...] = ()


class Endpoints:
    """The endpoints of one page; they store nothing of a request.

    Args:
        limits: of the server. models: featurizers that may be chosen. encoders: what is in memory of them. turns: of
            the runs of the page too.
    """

    names = (SCORE, COMPARE, DESCRIBE)

    def __init__(self, limits: Limits, models: Sequence[str], encoders: Encoders, turns: Turns) -> None:
        self.limits, self.models, self.encoders, self.turns = limits, list(models), encoders, turns

    # --- what they take -------------------------------------------------------------------------------------------

    def parameters(self, name: str) -> dict[str, Parameter]:
        """The parameters of an endpoint by their names, in their order; meaning and default are the library's."""
        human = {"references": Parameter(list[str], f"Human texts, at most {self.limits.texts}.")}
        rows = "Whether row i of every set, the human one included, answers prompt i."
        aligned = {"aligned": Parameter(bool, rows, False)}
        if name == SCORE:
            own = Parameter(list[str], f"The model's texts, at most {self.limits.texts}.")
            return human | {"predictions": own} | self._options() | aligned
        least = "two" if name == COMPARE else "one"
        models = f"Each model's texts by its name, {least} to {self.limits.model_sets} models."
        sets = human | {"models": Parameter(dict[str, list[str]], models)}
        if name == DESCRIBE:
            groups = f"Groups of measures ({', '.join(('score', *GROUPS))}) or names of theirs; left out: all of them."
            sets["measures"] = Parameter(list[str] | None, groups, None)
        return sets | aligned | self._options()

    def _options(self) -> dict[str, Parameter]:
        number = MauveConfig.num_buckets
        buckets = f"Number of k-means buckets, at most {self.limits.buckets}; left out: a tenth of the smallest set."
        options = {_BUCKETS: Parameter(int | None, buckets, None if number == "auto" else number)}
        for name, kind in _OPTIONS.items():
            text = str(config_fields()[name].metadata["help"])
            options[name] = Parameter(kind, f"{text[0].upper()}{text[1:]}.", config_fields()[name].default)
        featurizers = f"Featurizer, one of {', '.join(self.models)}."
        return options | {"featurize_model_name": Parameter(str, featurizers, self.models[0])}

    def job(self, name: str, arguments: Mapping[str, object]) -> Job:
        """The arguments of a call by their names, checked, with the defaults of omitted ones.

        Raises:
            TypeError, ValueError: in one sentence, for a mistake of the caller.
        """
        given = {own: parameter.default for own, parameter in self.parameters(name).items()} | dict(arguments)
        aligned = check_bool("aligned", given.get("aligned", False))
        measures = check_measures(given["measures"]) if name == DESCRIBE else ()
        models = {"predictions": given["predictions"]} if name == SCORE else given["models"]
        names = {"predictions": "predictions"} if name == SCORE else self._titles(models, 2 if name == COMPARE else 1)
        sets = {"references": given["references"]}
        sets |= {names[own]: texts for own, texts in models.items()} if isinstance(models, dict) else {}
        checked = {title: check_texts(title, texts, self.limits) for title, texts in sets.items()}
        check_together(checked.values(), self.limits)
        options = {own: given[own] for own in self._options()}
        if options[_BUCKETS] is None:
            options[_BUCKETS] = MauveConfig.num_buckets
        check_options(options, self.models, self.limits)
        config = self.encoders.config(options)
        for title, texts in checked.items():
            text_source(title, texts, empty_texts=config.empty_texts)
        return Job(checked, names, config, aligned, measures)

    def _titles(self, models: object, least: int) -> dict[str, str]:
        """Return the names of the models in errors; `ValueError` for fewer than `least`."""
        if not isinstance(models, dict):
            raise TypeError(f"models must be a dict from names to lists of texts, got {type(models).__name__}")
        if not least <= len(models) <= self.limits.model_sets:
            most, other = self.limits.model_sets, " (/score is for one)" if least > 1 else ""
            raise ValueError(f"models must hold {least} to {most} models here{other}, got {len(models)}")
        return {name: f"models[{name!r}]" for name in (check_name("models", name) for name in models)}

    # --- what they do ---------------------------------------------------------------------------------------------

    def function(self, name: str) -> Callable[..., dict[str, object]]:
        """The function of an endpoint for `gr.api`, with signature, types and docstring of the parameters.

        It refuses a mistaken call before it waits. A client is an address: the calls of a program have no session. One
        that disconnects is not noticed (gradio does not report it); its run ends by itself, within the limits.
        """
        known = {"request": Parameter(gr.Request, ""), **self.parameters(name)}
        kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
        signature = inspect.Signature(
            [inspect.Parameter(own, kind, default=item.default, annotation=item.type) for own, item in known.items()],
            return_annotation=dict[str, object],
        )

        def call(*values: object, **named: object) -> dict[str, object]:
            arguments = signature.bind(*values, **named).arguments
            client, run = arguments.pop("request").client, Run.within(self.limits)
            with show_errors():
                job = self.job(name, arguments)
                with self.turns.turn(f"address {client.host if client else ''}", run):
                    return self._answer(name, job, run)

        lines = [f"    {own}: {item.meaning}" for own, item in known.items() if item.meaning]
        call.__name__ = name
        call.__doc__ = "\n".join([DESCRIPTIONS[name], "", "Args:", *lines])  # as gradio reads it
        call.__annotations__ = {own: item.type for own, item in known.items()} | {"return": dict[str, object]}
        call.__dict__["__signature__"] = signature
        return call

    def _answer(self, name: str, job: Job, run: Run) -> dict[str, object]:
        if name == DESCRIBE:
            return self._describe(job, run).to_dict()
        embedded = embed(job.sets, job.config, self.encoders, run)
        scored = score(embedded, job.names, job.config, aligned=job.aligned, run=run)
        return scored.results["predictions"].to_dict() if name == SCORE else scored.compared.to_dict()

    def _describe(self, job: Job, run: Run) -> Description:
        names = list(job.names)
        sides: Sequence[FeatureSet | None] = [None] * len(job.sets)
        if need_features(job.measures):
            sides = embed(job.sets, job.config, self.encoders, run).sets
        texts = [kept_texts(part, str(job.config.strip)) for part in job.sets.values()]
        sizes = {name: len(part) for name, part in zip(job.sets, texts, strict=True)}
        given = {name: Side("text", name, part) for name, part in job.sets.items()}
        codes = OpenedSides(given, {}, GivenDesign(job.aligned)).codes(sizes)
        groups = [None if codes is None else codes[name] for name in job.sets]
        sides = [side and replace(side, groups=own) for side, own in zip(sides, groups, strict=True)]
        return measure_texts(texts, sides, names, job.measures, job.config, run, groups=groups)


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
