"""Signatures: an ordered mapping of everything that can change a score, and its text."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import importlib.metadata
import json
import re
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from mauve_metric.clustering.num_buckets import auto_num_buckets
from mauve_metric.features.feature_set import FeatureSet
from mauve_metric.measures.groups import DECLARED, GROUPS_A_BUCKET
from mauve_metric.options import (
    VERBATIM,
    MauveConfig,
    ResolvedConfig,
    config_fields,
    encoder_options,
    options_of_stage,
)
from mauve_metric.runtime.plain_text import printable
from mauve_metric.uncertainty.learned_score import MOST_FITTED
from mauve_metric.version import __version__

EXPLICIT = "explicit"  # the entry that names options which were given the value of "auto"
_MAY_BE_EXPLICIT = ("kmeans_num_redo", "num_buckets")
_USUAL_REDO = config_fields()["kmeans_num_redo"].metadata["usual"]
VERSIONS = ("faiss-cpu", "numpy", "torch", "transformers", "mauve_metric")


def signature_entries(
    p: FeatureSet, q: FeatureSet, config: MauveConfig, more: Mapping[str, object] | None = None
) -> dict[str, object]:
    """Collect everything that can change the score, in signature order: `more` and then the versions last."""
    entries: dict[str, object] = {
        f"{name}_input": "features" for name, side in (("p", p), ("q", q)) if not side.identity
    }
    entries |= {f"{name}_texts": side.origin for name, side in (("p", p), ("q", q)) if side.origin is not None}
    identity = p.identity or q.identity
    if identity is not None:
        entries["featurize_model_name"] = identity["model"]
        entries["revision"] = identity.get("revision", "unknown")[:12]
        of_encoder = encoder_options(config)
        entries |= {
            key: identity[key] for key in ("server", "request", "tokenizer", *of_encoder, "prompts") if key in identity
        }
        of_texts = {
            k: v for k, v in options_of_stage(config, "featurize").items() if k not in {**entries, **of_encoder}
        }
        entries |= of_texts | {"strip": identity.get("strip", "no")}
    entries |= {
        name: getattr(config, name)
        for name, knob in config_fields().items()  # those of quantizing and scoring that apply, no default quantizer
        if knob.metadata["stage"] != "featurize"
        and knob.metadata["of"] in (None, config.quantizer)
        and (name != "quantizer" or config.quantizer != MauveConfig.quantizer)
    }
    entries |= _explicit_entry(p, q, config) | {"design": q.design, **groups_entry(p, q), "n_p": len(p), "n_q": len(q)}
    entries |= {"learned_rows": MOST_FITTED} if max(len(p), len(q)) > MOST_FITTED else {}
    with ThreadPoolExecutor(2) as pool:  # hashing leaves Python's lock
        p_digest, q_digest = pool.map(lambda side: side.digest, (p, q))
    entries |= {"p_digest": p_digest, "q_digest": q_digest, **(more or {})}
    packages = ["faiss-cpu", "numpy"]
    packages += ["torch"] if identity is not None or config.quantizer != MauveConfig.quantizer else []
    packages += ["transformers"] if identity is not None else []
    return entries | versions(*packages)


def _explicit_entry(p: FeatureSet, q: FeatureSet, config: MauveConfig) -> dict[str, object]:
    """The options of k-means that were given, where "auto" gives the same number but other debiased clusterings."""
    if config.quantizer != "kmeans" or not isinstance(config, ResolvedConfig) or {*_MAY_BE_EXPLICIT} <= config.auto:
        return {}
    groups = [len(np.unique(side.groups)) for side in (p, q) if side.groups is not None]
    matters = {
        "kmeans_num_redo": config.kmeans_num_redo == _USUAL_REDO,
        "num_buckets": bool(groups) and config.num_buckets > max(min(groups) // GROUPS_A_BUCKET, 2),
    }
    names = [name for name, differs in matters.items() if differs and name not in config.auto]
    return {EXPLICIT: ",".join(names)} if names else {}


def groups_entry(*sides: FeatureSet) -> dict[str, object]:
    """A digest of the declared groups of the texts of all sides, where they are not the rows of aligned sets."""
    codes = [side.groups for side in sides if side.groups is not None]
    if sides[-1].design not in DECLARED or len(codes) < len(sides):
        return {}
    _, first, group_of = np.unique(np.concatenate(codes), return_index=True, return_inverse=True)
    texts = first[group_of].astype("<i8")  # of each the first one of its group
    is_by_rows = np.array_equal(texts, np.tile(np.arange(len(codes[0])), len(codes)))
    return {} if is_by_rows else {"groups": hashlib.sha256(texts.tobytes()).hexdigest()[:12]}


def featurizers_entries(entries: Mapping[str, object], signatures: Sequence[str]) -> dict[str, object]:
    """The entries of a result that follows from several featurizers, of which each has made one with a signature."""
    parts = [signature_texts(signature) for signature in signatures]
    if len(parts) < 2:
        return {**entries}
    fixed = [{key: text for key, text in part.items() if key not in VERSIONS} for part in parts]
    names = ",".join(part.get("featurize_model_name", "features") for part in parts)
    digest = hashlib.sha256("\n".join(map(format_signature, fixed)).encode()).hexdigest()[:12]
    before = {key: value for key, value in entries.items() if key not in VERSIONS}
    return {**before, "featurizers": names, "featurizers_digest": digest, **entries}


def human_entries(
    p: FeatureSet, q: FeatureSet, config: MauveConfig, more: Mapping[str, object] | None = None
) -> dict[str, object]:
    """`signature_entries` of a result that is not of one set Q alone: without its size and digest."""
    entries = signature_entries(p, q, config, more)
    return {key: value for key, value in entries.items() if key not in ("n_q", "q_digest")}


def versions(*packages: str) -> dict[str, object]:
    """The end of a signature: the installed versions of packages, "unknown" for a missing one, and of this one."""
    return {**{package: _version_of(package) for package in packages}, "mauve_metric": __version__}


@functools.cache
def _version_of(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "unknown"


def format_signature(entries: Mapping[str, object]) -> str:
    """`key:value|key:value|…`, which `parse_signature` reads back.

    >>> format_signature({"num_buckets": 50, "featurize_model_name": "org/name"})
    'num_buckets:50|featurize_model_name:org/name'
    """
    return "|".join(f"{re.sub('[|:]', '/', printable(key))}:{format_value(value)}" for key, value in entries.items())


def format_value(value: object) -> str:
    r"""A value as the signature shows it; text that would not survive on one line between bars as JSON.

    >>> format_value(5.0), format_value(0.95), format_value("a:b")
    ('5', '0.95', 'a:b')
    >>> print(format_value("a|b\n"))
    "a\u007cb\n"
    """
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() else repr(value)
    text = str(value)
    if text.startswith('"') or "|" in text or printable(text) != text:
        return json.dumps(text).replace("|", "\\u007c")
    return text


def parse_signature(signature: str) -> dict[str, object]:
    """The entries of a signature's text, numbers and truth values as such.

    >>> parse_signature("num_buckets:50|knn:True|text_prefix:7")
    {'num_buckets': 50, 'knn': True, 'text_prefix': '7'}
    """
    return {key: _parse_value(key, text) for key, text in signature_texts(signature).items()}


def signature_texts(signature: str) -> dict[str, str]:
    """The entries of a signature's text, as they are written."""
    return dict(part.partition(":")[::2] for part in signature.split("|"))


def settings_of(signature: str) -> dict[str, str]:
    """The same with pairs that were found as undeclared ones, since that follows from the texts and is no choice.

    >>> settings_of("k:4|design:found")
    {'k': '4', 'design': 'undeclared'}
    """
    entries = signature_texts(signature)
    return entries | ({"design": "undeclared"} if entries.get("design") == "found" else {})


def _parse_value(name: str, text: str) -> object:
    if text.startswith('"'):
        with contextlib.suppress(ValueError):
            return json.loads(text)
    if name in VERBATIM:
        return text
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return {"True": True, "False": False, "None": None}.get(text, text)


def signature_options(entries: Mapping[str, object], texts: bool = True) -> dict[str, object]:
    """The options of a score that a signature names, as keywords; without texts those of featurizing are left out."""
    fields = config_fields()
    names = [name for name, field in fields.items() if texts or field.metadata["stage"] != "featurize"]
    entries = {name: value for name, value in entries.items() if name not in _auto_names(entries)}
    unset = {"text_prefix": ""} if "text_prefix" in names and "featurize_model_name" in entries else {}  # no preset
    return unset | {name: entries[name] for name in names if name in entries}


def _auto_names(entries: Mapping[str, object]) -> set[str]:
    """The options of k-means whose values in a signature are those of "auto", and that are not named as explicit."""
    if "quantizer" in entries:
        return set()
    usual = {"kmeans_num_redo": _USUAL_REDO, "num_buckets": _auto_buckets(entries)}
    explicit = str(entries.get(EXPLICIT, "")).split(",")
    return {name for name, value in usual.items() if entries.get(name) == value and name not in explicit}


def _auto_buckets(entries: Mapping[str, object]) -> int | None:
    """The number of buckets that "auto" makes of sets of the sizes in a signature; None without sizes."""
    sizes = [int(str(entries[key])) for key in ("n_p", "n_q") if key in entries]
    return auto_num_buckets(min(sizes), min(sizes)) if sizes else None


def is_published_setting(entries: Mapping[str, object]) -> bool:
    """Return whether buckets and curve are made as in the literature, so that `mauve` is its number on these features.

    Every option of theirs has its default, and there are as many buckets as "auto" makes.

    >>> usual = {"n_p": 500, "n_q": 600, "num_buckets": 50, "mauve_scaling_factor": 5.0, "seed": 1}
    >>> is_published_setting(usual), is_published_setting(usual | {"mauve_scaling_factor": 1.0})
    (True, False)
    """
    buckets = _auto_buckets(entries)
    for name, field in config_fields().items():
        usual = buckets if name == "num_buckets" else field.metadata["usual"]
        is_of_buckets = field.metadata["published"] and field.metadata["stage"] in ("quantize", "score")
        if is_of_buckets and entries.get(name, usual) != usual:
            return False
    return buckets is not None


def signature_number(entries: Mapping[str, object], key: str) -> float:
    """A number that a signature holds.

    >>> signature_number({"mauve_scaling_factor": 5}, "mauve_scaling_factor")
    5.0
    """
    return float(str(entries[key]))
