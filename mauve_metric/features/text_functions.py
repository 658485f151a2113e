"""Featurizers that are functions of texts, without a model: the packaged ones by name, and a user's own."""

from __future__ import annotations

import functools
import hashlib
import pickle
import types
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

import numpy as np

from mauve_metric.features import ngrams
from mauve_metric.options import Featurizer, config_fields
from mauve_metric.runtime.checks import shown
from mauve_metric.runtime.errors import WrongOption

_PLAIN = (type(None), bool, int, float, complex, str, bytes, type(...))


class TextFunction(NamedTuple):
    """A function from a list of n texts to features (n, d), with its signature entry."""

    function: Callable[[list[str]], object]
    identity: Mapping[str, str]


TEXT_FUNCTIONS = {
    "ngrams": TextFunction(ngrams.ngram_features, {"model": "ngrams", "revision": ngrams.REVISION}),
}


def text_function(model: object) -> TextFunction | None:
    """The function that a featurizer is; None for a language model: a name, a folder or a pair.

    >>> text_function("ngrams").identity["model"], text_function("minilm")
    ('ngrams', None)
    """
    if isinstance(model, str):
        return TEXT_FUNCTIONS.get(model)
    if isinstance(model, tuple) or not callable(model):
        return None
    return TextFunction(model, {"model": name_of(model)})


def name_of(function: object) -> str:
    """The full name of a function, or of the class of a callable object."""
    module = getattr(function, "__module__", type(function).__module__)
    return f"{module}.{getattr(function, '__qualname__', type(function).__qualname__)}"


def function_digest(function: object) -> str:
    """A hash of what decides the answers of a function: its code, defaults, closure and the global values it names.

    Functions of the same module that it calls are hashed likewise; other modules and classes count by their names.
    An attribute `revision` of the function, a text, takes the place of all that: it is for the owner to change.

    Raises:
        ValueError: it depends on an object that cannot be pickled, and has no `revision`.

    >>> one, two = (lambda texts, size=size: [[len(text) / size] for text in texts] for size in (1, 2))
    >>> name_of(one) == name_of(two), function_digest(one) == function_digest(two)
    (True, False)
    """
    revision = getattr(function, "revision", None)
    digest = hashlib.blake2b(name_of(function).encode(), digest_size=20)
    if isinstance(revision, str):
        digest.update(f"revision {revision}".encode())
        return digest.hexdigest()
    try:
        for part in _parts(function, getattr(function, "__module__", None), {}):
            digest.update(len(part).to_bytes(8, "little") + part)
    except Exception as error:  # whatever an object raises that cannot be pickled
        raise WrongOption.of(
            "featurize_model_name",
            f"must be a function whose features can be found again, and {name_of(function)} "
            f"depends on an object that cannot be hashed ({type(error).__name__}: {error}): give the function an "
            "attribute revision, a text that changes when its features do",
        ) from error
    return digest.hexdigest()


def _parts(value: object, module: str | None, seen: dict[int, object]) -> Iterator[bytes]:
    """Yield the content of a value as bytes; functions of other modules than `module` without their dependencies.

    seen: what was taken apart, by its id, and thereby kept alive: the id of what is gone is given away again.
    """
    yield type(value).__name__.encode()
    if isinstance(value, _PLAIN):
        yield repr(value).encode("utf-8", "surrogatepass")
    elif isinstance(value, np.ndarray) and not value.dtype.hasobject:
        yield f"{value.dtype.str} {value.shape}".encode() + value.tobytes()
    elif isinstance(value, (types.ModuleType, type, types.BuiltinFunctionType)):
        yield f"{getattr(value, '__module__', '')}.{getattr(value, '__qualname__', value.__name__)}".encode()
    elif id(value) in seen:
        yield b"again"
    else:
        seen[id(value)] = value
        for part in _inner(value, module):
            if isinstance(part, bytes):
                yield part
            else:
                yield from _parts(part[0], module, seen)


def _inner(value: object, module: str | None) -> Iterator[bytes | tuple[object]]:
    """The parts of a value with an inside: bytes, and in a tuple each value to be taken apart in its turn."""
    if isinstance(value, types.CodeType):
        yield value.co_code
        yield from ((part,) for part in (value.co_names, value.co_varnames, value.co_freevars, *value.co_consts))
    elif isinstance(value, types.FunctionType):
        yield f"{value.__module__}.{value.__qualname__}".encode()
        yield (value.__code__,)
        if value.__module__ == module:
            yield from ((part,) for part in (value.__defaults__, value.__kwdefaults__))
            yield from ((cell.cell_contents,) for cell in value.__closure__ or ())
            known = value.__globals__
            yield from ((known[name],) for name in sorted(_names(value.__code__)) if name in known)
    elif isinstance(value, types.MethodType):
        yield from ((value.__func__,), (value.__self__,))
    elif isinstance(value, functools.partial):
        yield from ((value.func,), (value.args,), (value.keywords,))
    elif isinstance(value, (tuple, list)):
        yield from ((item,) for item in value)
    elif isinstance(value, dict):
        yield from ((item,) for pair in value.items() for item in pair)
    elif isinstance(value, (set, frozenset)):
        yield from ((item,) for item in sorted(value, key=repr))
    else:
        own = vars(type(value)).items()
        yield from ((item,) for _, item in sorted(own) if isinstance(item, types.FunctionType))
        yield pickle.dumps(value)


def _names(code: types.CodeType) -> set[str]:
    """The global names and attributes that code and the functions in it mention."""
    inner = (part for part in code.co_consts if isinstance(part, types.CodeType))
    return set(code.co_names).union(*map(_names, inner))


def named_featurizers(featurizers: object, first: Featurizer | None = None) -> dict[str, Featurizer]:
    """Featurizers by name, each checked as `MauveConfig` checks it.

    Args:
        featurizers: a list or tuple of them, a mapping that gives them names, or one; a (model, tokenizer) pair is one.
        first: put before them, and removed from the rest.

    Raises:
        TypeError, ValueError: an invalid featurizer, an empty name, no featurizers, duplicate names.

    >>> list(named_featurizers(["gpt2-large", "minilm"], first="minilm"))
    ['minilm', 'gpt2-large']
    """
    is_pair = isinstance(featurizers, tuple) and len(featurizers) == 2 and hasattr(featurizers[0], "state_dict")
    if isinstance(featurizers, Mapping):
        named = list(featurizers.items())
    elif isinstance(featurizers, (list, tuple)) and not is_pair:
        named = [(featurizer_name(one), one) for one in featurizers]
    elif isinstance(featurizers, (str, tuple)) or callable(featurizers):
        named = [(featurizer_name(featurizers), featurizers)]
    else:
        known = "a list of featurizers, a mapping that gives them names, or one featurizer"
        got = f"{type(featurizers).__name__}: {shown(featurizers)}"
        raise WrongOption.of("featurizers", f"must be {known}, got {got}")
    if first is not None:
        others = [(name, one) for name, one in named if one is not first and one != first]
        named = [(featurizer_name(first), first), *others]
    found: dict[str, Featurizer] = {}
    for name, one in named:
        if not isinstance(name, str) or not name.strip():
            raise TypeError(f"featurizers: names must be non-empty strings, got {shown(name)}")
        if name in found:
            raise ValueError(f"featurizers: two are called {name!r}; a dict gives each a name of its own")
        found[name] = config_fields()["featurize_model_name"].metadata["check"](f"featurizers[{name!r}]", one)
    if not found:
        raise WrongOption.of("featurizers", "must hold at least one featurizer, got none")
    return found


def featurizer_name(featurizer: object) -> str:
    """A name as it is; for a (model, tokenizer) pair that of the model, for a function its own."""
    if isinstance(featurizer, str):
        return featurizer
    model = featurizer[0] if isinstance(featurizer, tuple) and featurizer else featurizer
    return str(getattr(model, "name_or_path", None) or name_of(model))
