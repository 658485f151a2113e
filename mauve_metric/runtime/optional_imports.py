"""Packages that are imported when they are needed, with a hint where one is missing."""

from __future__ import annotations

import contextlib
import importlib
from functools import partial
from types import ModuleType

from mauve_metric.runtime.errors import NoPackage

_TEXTS = "texts (and drmm, lattice, score_device) need"
_WITH_TEXTS = (
    "'mauve_metric[texts]' (featurize_model_name='use' and featurize_model_name='ngrams' read texts without it)"
)


def _import(module: str, need: str, install: str) -> ModuleType:
    """Import a module; the `ImportError` has the reason and the command to install it."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise NoPackage(f"{need}: pip install {install}") from error


def import_torch() -> ModuleType:
    """The module torch, after faiss: the other order crashes on some machines."""
    with contextlib.suppress(ImportError):
        importlib.import_module("faiss")
    return _import("torch", f"{_TEXTS} torch", _WITH_TEXTS)


import_transformers = partial(_import, "transformers", f"{_TEXTS} transformers", _WITH_TEXTS)
import_faiss = partial(_import, "faiss", "k-means needs faiss", "'faiss-cpu>=1.14.2'")
import_trainer = partial(
    _import, "transformers.trainer_callback", "training needs transformers", "'mauve_metric[trainer]'"
)
import_gradio = partial(_import, "gradio", "the page in a browser needs gradio", "'mauve_metric[space]'")
import_altair = partial(_import, "altair", "figures need Altair", "'mauve_metric[space]'")
import_vl_convert = partial(_import, "vl_convert", "figure files need vl-convert-python", "'mauve_metric[space]'")
import_pandas = partial(_import, "pandas", "to_frame needs pandas", "pandas")
import_parquet = partial(_import, "pyarrow.parquet", "parquet files need pyarrow", "pyarrow")
import_datasets = partial(_import, "datasets", "folders of save_to_disk need datasets", "datasets")
import_inspect_log = partial(_import, "inspect_ai.log", "logs of Inspect need its own reader", "inspect_ai")
import_ray = partial(_import, "ray", "work on several machines needs Ray", "'mauve_metric[ray]'")
import_edit_distance = partial(_import, "rapidfuzz.distance", "near duplicates need rapidfuzz", "rapidfuzz")
import_datasketch = partial(_import, "datasketch", "MinHash needs datasketch", "'mauve_metric[duplicates]'")
import_pydivsufsort = partial(_import, "pydivsufsort", "repeated passages need pydivsufsort", "pydivsufsort")
import_choix = partial(_import, "choix", "Bradley–Terry scores need choix", "'mauve_metric[preferences]'")
import_openai = partial(_import, "openai", "a server of models needs openai", "'openai>=2.0'")
import_gguf = partial(_import, "gguf", "the weights of 'smollm2' need gguf", "gguf")
