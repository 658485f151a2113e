"""The endpoints: parameters, checks and answers, and their descriptions for people and programs."""

from __future__ import annotations

import inspect
import re
import types
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from typing import Any, Literal, NamedTuple, Union, get_args, get_origin, get_type_hints

import gradio as gr
import numpy as np
from numpy.typing import NDArray

from mauve_metric.apps.describing.describe import need_features
from mauve_metric.apps.describing.description import Description
from mauve_metric.features.feature_set import FeatureSet, InputSide
from mauve_metric.features.sides import Inputs
from mauve_metric.hosts.flags_and_labels import API
from mauve_metric.hosts.space.limits import Limits, check_name, check_options, check_texts, check_together, client_of
from mauve_metric.hosts.space.session.measuring import GROUPS, check_measures, measure_texts
from mauve_metric.hosts.space.session.queue import Turns
from mauve_metric.hosts.space.session.run import Run, show_errors
from mauve_metric.hosts.space.session.scoring import Encoders, PageJob, job_of, read, score
from mauve_metric.inputs.sources import text_source
from mauve_metric.options import MauveConfig, OptionsOfOneProcess, page_fields
from mauve_metric.results.comparison import Comparison
from mauve_metric.results.result import MauveResult
from mauve_metric.results.scores import SCORES
from mauve_metric.runtime.checks import check_bool
from mauve_metric.uncertainty.score_warnings import ScoreWarning

SCORE, COMPARE, DESCRIBE = "score", "compare", "describe"
DESCRIPTIONS = {
    SCORE: "Score a model's texts (predictions) against human texts (references): every number of the result.",
    COMPARE: "Compare several models' texts with each other by their scores against human texts (references).",
    DESCRIBE: "Every measure of one or several models' texts beside that of human texts (references), in one table.",
}
_REQUIRED = inspect.Parameter.empty
_BUCKETS = "num_buckets"  # None here, for programs that have no value of several types

# with the type, the meaning and the default that the library gives them
_OPTIONS = ("seed", "mauve_scaling_factor", "confidence_level", "empty_texts", "reference_name")


class Parameter(NamedTuple):
    """One parameter of an endpoint: its type, its meaning in one sentence, and its default if it has one."""

    type: object
    meaning: str
    default: object = _REQUIRED


@dataclass(frozen=True)
class Job:
    """A checked call: the texts and settings to score.

    sets: texts by what errors call them, the human ones first. names: of the models, to their titles in `sets`.
    reader: reads the texts, by the settings. measures: the requested ones, for `/describe`.
    """

    sets: Mapping[str, list[str]]
    names: Mapping[str, str]
    reader: PageJob
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
            predictions = Parameter(list[str], f"The model's texts, at most {self.limits.texts}.")
            return human | {"predictions": predictions} | self._options(name) | aligned
        least = "two" if name == COMPARE else "one"
        models = f"Each model's texts by its name, {least} to {self.limits.model_sets} models."
        sets = human | {"models": Parameter(dict[str, list[str]], models)}
        if name == DESCRIBE:
            groups = f"Groups of measures ({', '.join(('score', *GROUPS))}) or names of theirs; left out: all of them."
            sets["measures"] = Parameter(list[str] | None, groups, None)
        return sets | aligned | self._options(name)

    def _options(self, endpoint: str) -> dict[str, Parameter]:
        buckets = f"Number of k-means buckets, at most {self.limits.buckets}; left out: a tenth of the smallest set."
        options = {_BUCKETS: Parameter(int | None, buckets, None)}
        types_of = get_type_hints(OptionsOfOneProcess)
        for name in _OPTIONS:
            option = page_fields()[name]
            if endpoint not in option.metadata["ignored_by"]:
                text = str(option.metadata["help"])
                options[name] = Parameter(types_of[name], f"{text[0].upper()}{text[1:]}.", option.default)
        featurizers = f"Featurizer, one of {', '.join(self.models)}."
        return options | {"featurize_model_name": Parameter(str, featurizers, self.models[0])}

    def job(self, name: str, arguments: Mapping[str, object]) -> Job:
        """The arguments of a call by their names, checked, with the defaults of omitted ones.

        Raises:
            TypeError, ValueError: in one sentence, for a mistake of the caller.
        """
        values = {key: parameter.default for key, parameter in self.parameters(name).items()} | dict(arguments)
        aligned = check_bool("aligned", values.get("aligned", False))
        measures = check_measures(values["measures"]) if name == DESCRIBE else ()
        models = values["models"] if name != SCORE else {"predictions": values["predictions"]}
        if not isinstance(models, dict):
            raise TypeError(f"models must be a dict from names to lists of texts, got {type(models).__name__}")
        least, most = 2 if name == COMPARE else 1, self.limits.model_sets
        if not least <= len(models) <= most:
            other = " (/score is for one)" if least > 1 else ""
            raise ValueError(f"models must hold {least} to {most} models here{other}, got {len(models)}")
        names = {model: model if name == SCORE else f"models[{check_name('models', model)!r}]" for model in models}
        sets = {"references": values["references"]} | {names[model]: texts for model, texts in models.items()}
        checked = {title: check_texts(title, texts, self.limits) for title, texts in sets.items()}
        check_together(checked.values(), self.limits)
        options = {option: values[option] for option in self._options(name)}
        if options[_BUCKETS] is None:
            options[_BUCKETS] = MauveConfig.num_buckets
        check_options(options, self.models, self.limits)
        config = self.encoders.config(options)
        for title, texts in checked.items():
            text_source(title, texts, empty_texts=config.empty_texts)
        return Job(checked, names, job_of(config, self.encoders, options=options), aligned, measures)

    # --- what they do ---------------------------------------------------------------------------------------------

    def function(self, name: str) -> Callable[..., dict[str, object]]:
        """The function of an endpoint for `gr.api`, with signature, types and docstring of the parameters.

        It refuses a mistaken call before it waits. A client is an address: the calls of a program have no session. One
        that disconnects is not noticed (gradio does not report it); its run ends by itself, within the limits.
        """
        inputs = {"request": Parameter(gr.Request, ""), **self.parameters(name)}
        kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
        signature = inspect.Signature(
            [inspect.Parameter(key, kind, default=spec.default, annotation=spec.type) for key, spec in inputs.items()],
            return_annotation=dict[str, object],
        )

        def call(*values: object, **named: object) -> dict[str, object]:
            with show_errors(API.respell):
                arguments = signature.bind(*values, **named).arguments
                client, run = client_of(arguments.pop("request").client), Run.within(self.limits)
                job = self.job(name, arguments)
                with self.turns.turn(f"address {client}", run, client):
                    return self._answer(name, job, run)

        lines = [f"    {key}: {spec.meaning}" for key, spec in inputs.items() if spec.meaning]
        call.__name__ = name
        call.__doc__ = "\n".join([DESCRIPTIONS[name], "", "Args:", *lines])  # as gradio reads it
        call.__annotations__ = {key: spec.type for key, spec in inputs.items()} | {"return": dict[str, object]}
        call.__dict__["__signature__"] = signature
        return call

    def _answer(self, name: str, job: Job, run: Run) -> dict[str, object]:
        reader = job.reader
        if name != DESCRIBE:
            scored = score(read(job.sets, [*job.names], reader, run, aligned=job.aligned), run)
            return scored.results["predictions"].to_dict() if name == SCORE else scored.compared.to_dict()
        given_sets = {title: InputSide("text", title, part) for title, part in job.sets.items()}
        inputs = Inputs(given_sets, job.aligned, rules=str(reader.config.strip))
        texts = [reader.texts_of(side) for side in inputs.sides.values()]
        codes = inputs.codes({title: len(part) for title, part in zip(job.sets, texts, strict=True)})
        groups = [None if codes is None else codes[title] for title in job.sets]
        sides: Sequence[FeatureSet | None] = [None] * len(job.sets)
        if need_features(job.measures):
            sides = read(job.sets, [*job.names], reader, run, aligned=job.aligned).declared
        return measure_texts(texts, sides, list(job.names), job.measures, reader.config, run, groups=groups).to_dict()


def attributes(kind: type) -> dict[str, str]:
    """Read the meaning of each attribute from the docstring of a class, "a, b: meaning" for those that share one.

    >>> attributes(MauveResult)["mauve_runs"]
    '`mauve` of every clustering (num_runs,), their mean and standard deviation'
    """
    text = " ".join((inspect.getdoc(kind) or "").split())
    names = "|".join(sorted(get_type_hints(kind), key=len, reverse=True))
    parts = re.split(rf"(?:^|(?<=[.:;] ))((?:{names})(?:, (?:{names}))*): ", text)
    return {
        name: meaning.strip().rstrip(".")
        for shared, meaning in zip(parts[1::2], parts[2::2], strict=True)
        for name in shared.split(", ")
    }


Schema = dict[str, Any]  # JSON Schema
_PLAIN = {int: "integer", float: "number", str: "string", bool: "boolean", types.NoneType: "null"}
_CURVES = ("divergence_curve", "prd_curve")  # arrays of points
_ANSWERS: dict[str, tuple[type, dict[str, tuple[object, str]], str]] = {  # class, what else `to_dict` gives, meaning
    SCORE: (MauveResult, {}, "Every field of the library's `MauveResult`."),
    COMPARE: (
        Comparison,
        {"mauve_own": (Mapping[str, float], attributes(Comparison)["own"])},
        "Every field of its `Comparison`.",
    ),
    DESCRIBE: (
        Description,
        {"warnings": (tuple[ScoreWarning, ...], "what to know before believing the scores")},
        "Every field of its `Description`, without the comparison in it.",
    ),
}


def answer_schema(name: str) -> Schema:
    """The schema of the answers of an endpoint."""
    kind, more, _ = _ANSWERS[name]
    schema = _record(kind)
    schema["properties"] |= {entry: _of_type(hint) | {"description": said} for entry, (hint, said) in more.items()}
    return schema | {"required": list(schema["properties"])}


def add_descriptions(info: Schema, endpoints: Endpoints) -> Schema:
    """Add to gradio's (6.31) description of the endpoints the meanings of the parameters and the schema of the answers.

    Args:
        info: what `Blocks.get_api_info` gives, changed in place.
        endpoints: of the page.
    """
    for path, endpoint in info["named_endpoints"].items():
        name = path.strip("/")
        parameters = endpoints.parameters(name)
        for parameter in endpoint["parameters"]:
            meaning = parameters[parameter["parameter_name"]].meaning
            parameter |= {"label": parameter["parameter_name"], "component": "parameter"}
            parameter["type"] = {**parameter["type"], "description": meaning}
            parameter["python_type"] = {**parameter["python_type"], "description": meaning}
        (returned,) = endpoint["returns"]
        described = {"description": _ANSWERS[name][-1]}
        returned |= {"label": "result", "component": "JSON", "type": answer_schema(name) | described}
        returned["python_type"] = {"type": "dict[str, float | int | str | bool | list | dict | None]", **described}
    return info


def _of_type(hint: object) -> Schema:
    """The schema of the values of a type as `methods.plain` writes them."""
    if hint in _PLAIN:
        return {"type": _PLAIN[hint]}
    origin, inner = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        return {"anyOf": [_of_type(part) for part in inner]}
    if origin is Literal:
        return {"enum": list(inner)}
    if origin in (np.ndarray, NDArray):  # an alias of its own from numpy 2.5
        return {"type": "array", "items": {"type": "number"}}
    if origin is tuple:
        several = {} if Ellipsis in inner else {"minItems": len(inner), "maxItems": len(inner)}
        return {"type": "array", "items": _of_type(inner[0]), **several}
    if origin in (dict, Mapping):
        return {"type": "object", "additionalProperties": _of_type(inner[1])}
    return {} if hint is Any else _record(hint)


def _record(kind: Any) -> Schema:
    """The schema of a named tuple or dataclass."""
    meanings = attributes(kind) | (
        {name: score.meaning for name, score in SCORES.items()} if kind is MauveResult else {}
    )
    hints = get_type_hints(kind)
    properties: dict[str, Schema] = {}
    names = [attr.name for attr in fields(kind) if attr.metadata.get("in_dict", True)] if is_dataclass(kind) else hints
    for name in names:
        shape = _of_type(hints[name])
        shape = {"type": "array", "items": shape} if name in _CURVES else shape
        properties[name] = shape | ({"description": meanings[name]} if name in meanings else {})
    return {"type": "object", "properties": properties, "required": list(properties)}
