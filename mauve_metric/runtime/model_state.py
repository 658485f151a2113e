"""Contexts that restore a model, its tokenizer and the process: modes, random states, memory."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, cast

from mauve_metric.runtime.optional_imports import import_torch

if TYPE_CHECKING:
    import torch
    from transformers import GenerationMixin, PreTrainedModel, PreTrainedTokenizerBase

    class LanguageModel(PreTrainedModel, GenerationMixin):  # type: ignore[no-untyped-call]  # __init_subclass__
        """A model of transformers that writes; an adapter's shell around one answers as it does."""


def bare_model(model: torch.nn.Module | None) -> LanguageModel | None:
    """The model inside the shells of `torch.compile` and data parallelism; an adapter's shell stays.

    >>> import torch
    >>> layer = torch.nn.Linear(2, 2)
    >>> bare_model(torch.nn.DataParallel(layer)) is layer
    True
    """
    torch = import_torch()
    parallel = (torch.nn.DataParallel, torch.nn.parallel.DistributedDataParallel)
    while (inner := model.module if isinstance(model, parallel) else getattr(model, "_orig_mod", None)) is not None:
        model = inner
    return cast("LanguageModel | None", model)


@contextlib.contextmanager
def evaluating(model: torch.nn.Module) -> Iterator[None]:
    """Evaluation mode (no dropout) for every module, and afterwards each as it was."""
    training = [module for module in model.modules() if module.training]
    model.eval()
    try:
        yield
    finally:
        for module in training:
            module.training = True


@contextlib.contextmanager
def settings_kept(tokenizer: PreTrainedTokenizerBase) -> Iterator[None]:
    """Restore the tokenizer's truncation and padding settings on exit."""
    backend = getattr(tokenizer, "backend_tokenizer", None)
    if backend is None:
        yield
        return
    truncation, padding = backend.truncation, backend.padding
    try:
        yield
    finally:
        backend.no_truncation() if truncation is None else backend.enable_truncation(**truncation)
        backend.no_padding() if padding is None else backend.enable_padding(**padding)


def release_memory() -> None:
    """Release GPU memory that torch has cached, for training."""
    torch = import_torch()
    if torch.cuda.is_available() and torch.cuda.is_initialized():
        torch.cuda.empty_cache()


def out_of_memory(error: Exception) -> bool:
    """Return whether an exception means that the device's or the host's memory is used up."""
    text = str(error).lower()
    exhausted = isinstance(error, RuntimeError) and ("out of memory" in text or "can't allocate memory" in text)
    return exhausted or isinstance(error, (MemoryError, import_torch().OutOfMemoryError))
