"""A hash of a user's function, by which shards that it featurized are found again."""

from __future__ import annotations

import hashlib
import io
import pickle
import types

from mauve_metric.features.text_functions import name_of
from mauve_metric.runtime.errors import WrongOption


def function_digest(function: object) -> str:
    """A hash of what decides the answers of a function: its code, defaults, closure and the global values it names.

    Functions of the same module that it calls are hashed likewise, those of others by their code alone.
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
        content, inner = io.BytesIO(), getattr(function, "func", function)  # of a functools.partial
        _Content(content, getattr(inner, "__module__", None)).dump(function)
        digest.update(content.getvalue())
    except Exception as error:  # whatever an object raises that cannot be pickled
        raise WrongOption.of(
            "featurize_model_name",
            f"must be a function whose features can be found again, and {name_of(function)} "
            f"depends on an object that cannot be hashed ({type(error).__name__}: {error}): give the function an "
            "attribute revision, a text that changes when its features do",
        ) from error
    return digest.hexdigest()


class _Content(pickle.Pickler):
    """Write what decides the answers of functions of one module, and the names and the code of those of others."""

    def __init__(self, file: io.BytesIO, module: str | None) -> None:
        super().__init__(file)
        self.fast = True  # without references, so that two equal objects are written like one
        self._module = module
        self._seen: dict[int, object] = {}  # by id; the reference keeps Python from using the id again

    def persistent_id(self, value: object) -> object:
        """The content of functions, classes and code, and sets in a fixed order; None for what pickle writes itself."""
        if isinstance(value, (set, frozenset)):
            return [type(value).__name__, *sorted(value, key=repr)]
        if isinstance(value, types.CodeType):
            return [value.co_code, value.co_names, value.co_varnames, value.co_freevars, value.co_consts]
        if not isinstance(value, (types.FunctionType, types.BuiltinFunctionType, types.ModuleType, type)):
            return None
        name = f"{getattr(value, '__module__', '')}.{getattr(value, '__qualname__', value.__name__)}"
        if id(value) in self._seen or not isinstance(value, (types.FunctionType, type)):
            return name
        self._seen[id(value)] = value
        if isinstance(value, type):
            return [name, *(attr for _, attr in sorted(vars(value).items()) if isinstance(attr, types.FunctionType))]
        if value.__module__ != self._module:
            return [name, value.__code__]
        cells = [cell.cell_contents for cell in value.__closure__ or ()]
        used = [value.__globals__.get(name) for name in sorted(_names(value.__code__))]
        return [name, value.__code__, value.__defaults__, value.__kwdefaults__, cells, used]


def _names(code: types.CodeType) -> set[str]:
    """The global names and attributes that code and the functions in it mention."""
    inner = (part for part in code.co_consts if isinstance(part, types.CodeType))
    return set(code.co_names).union(*map(_names, inner))
