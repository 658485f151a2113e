"""Contexts in which a model writes, and the random states around them."""

from __future__ import annotations

import contextlib
import random
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from mauve_metric.runtime.model_state import evaluating
from mauve_metric.runtime.optional_imports import import_torch, import_transformers

if TYPE_CHECKING:
    import torch

_SEED_STEP = 1_000_003  # between the seeds of two evaluations lie those of a million batches


def check_finite_weights(model: torch.nn.Module) -> None:
    """Refuse a model with weights that are NaN or infinite, such as one whose training diverged.

    Raises:
        ValueError: with the name of the first such weight.

    >>> import torch
    >>> check_finite_weights(torch.nn.Linear(2, 2))
    """
    for name, weight in model.named_parameters():
        if not weight.is_meta and not bool(import_torch().isfinite(weight).all()):
            raise ValueError(f"the model must have finite weights, got NaN or infinity in {name!r}: did it diverge?")


@contextlib.contextmanager
def generating(model: torch.nn.Module) -> Iterator[None]:
    """Evaluation mode, no gradients and no gradient checkpointing, for every module; afterwards each is as it was."""
    checkpointing = [module for module in model.modules() if getattr(module, "gradient_checkpointing", False) is True]
    for module in checkpointing:
        module.gradient_checkpointing = False  # type: ignore[assignment]  # torch expects tensors and modules
    try:
        with evaluating(model), import_torch().no_grad():
            yield
    finally:
        for module in checkpointing:
            module.gradient_checkpointing = True  # type: ignore[assignment]


@contextlib.contextmanager
def random_states_kept() -> Iterator[None]:
    """Afterwards Python's, numpy's and torch's global random generators have their earlier state.

    >>> before = random.getstate()
    >>> with random_states_kept():
    ...     _ = random.random()
    >>> random.getstate() == before
    True
    """
    torch = import_torch()
    cuda = torch.cuda.is_available() and torch.cuda.is_initialized()
    mps = torch.backends.mps.is_available()
    python, numbers = random.getstate(), np.random.get_state()
    apple = torch.mps.get_rng_state() if mps else None
    try:
        with torch.random.fork_rng(range(torch.cuda.device_count()) if cuda else []):
            yield
    finally:
        random.setstate(python)
        np.random.set_state(numbers)
        if apple is not None:
            torch.mps.set_rng_state(apple)


def seed_everything(seed: int, index: int) -> None:
    """Seed the global random generators for the batch that begins with prompt number `index`."""
    import_transformers().set_seed((seed * _SEED_STEP + index) % 2**32)
