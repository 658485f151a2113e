"""Packages that are imported when they are needed, with a hint where one is missing."""

from __future__ import annotations

import importlib
import importlib.metadata
import logging
from types import ModuleType

logger = logging.getLogger(__name__)


def package_versions(*packages: str) -> dict[str, str]:
    """The installed version of each package, "unknown" for one that is not there."""
    found = {}
    for package in packages:
        try:
            found[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            found[package] = "unknown"
    return found


def import_torch() -> ModuleType:
    """The module torch, or an error that says how to install it."""
    try:
        import faiss  # noqa: F401  (before torch: the other order crashes on some machines)
    except ImportError:
        logger.debug("faiss is not installed")
    try:
        import torch
    except ImportError as error:
        raise ImportError("featurizing texts needs torch: pip install torch transformers") from error
    return torch


def import_transformers() -> ModuleType:
    """The module transformers, or an error that says how to install it."""
    try:
        import transformers
    except ImportError as error:
        raise ImportError("featurizing texts needs transformers: pip install transformers") from error
    return transformers


def import_accelerate() -> ModuleType:
    """The module accelerate, which transformers' Trainer needs, or an error that says how to install it."""
    try:
        return importlib.import_module("accelerate")
    except ImportError as error:
        raise ImportError("fine-tuning needs accelerate: pip install 'mauve_metric[trainer]'") from error


def import_faiss() -> ModuleType:
    """The package, or an error that says how to get it."""
    try:
        import faiss
    except ImportError as error:
        raise ImportError("k-means needs faiss: pip install 'faiss-cpu>=1.14.2'") from error
    return faiss


def import_altair() -> ModuleType:
    """The module altair, or an error that says how to install it."""
    try:
        import altair
    except ImportError as error:
        raise ImportError("figures need Altair: pip install 'mauve_metric[space]'") from error
    return altair


def import_vl_convert() -> ModuleType:
    """What writes figures to files."""
    try:
        import vl_convert
    except ImportError as error:
        raise ImportError("figure files need vl-convert-python: pip install 'mauve_metric[space]'") from error
    return vl_convert


def import_httpx() -> ModuleType:
    """The module httpx2 or httpx, of which huggingface_hub brings one, or an error that says how to install it."""
    for name in ("httpx2", "httpx"):
        try:
            return importlib.import_module(name)
        except ImportError:
            logger.debug("%s is not installed", name)
    raise ImportError("openai_server needs httpx: pip install httpx")


def import_parquet() -> ModuleType:
    """The module pyarrow.parquet, or an error that says how to install it."""
    try:
        import pyarrow.parquet
    except ImportError as error:
        raise ImportError("parquet files need pyarrow: pip install pyarrow") from error
    parquet: ModuleType = pyarrow.parquet
    return parquet


def import_inspect_log() -> ModuleType:
    """The module inspect_ai.log, or an error that says how to install it."""
    try:
        import inspect_ai.log
    except ImportError as error:
        raise ImportError("logs of Inspect need its own reader: pip install inspect_ai") from error
    log: ModuleType = inspect_ai.log
    return log


def import_ray() -> ModuleType:
    """The module ray, or an error that says how to install it."""
    try:
        return importlib.import_module("ray")
    except ImportError as error:
        raise ImportError("work on several machines needs Ray: pip install 'mauve_metric[ray]'") from error
