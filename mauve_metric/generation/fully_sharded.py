"""Models whose weights are sharded over processes: detection, and generation with all processes."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, cast

from mauve_metric.runtime.optional_imports import import_torch
from mauve_metric.runtime.processes import in_process_group

if TYPE_CHECKING:
    import torch

    from mauve_metric.runtime.model_state import LanguageModel

ZERO3 = "DeepSpeed's ZeRO stage 3"
FSDP = "FSDP"
_FLATTENED = "_fsdp_flattened"  # an attribute of the weights that the first FSDP's shells have taken over


def sharded_by(model: torch.nn.Module) -> str | None:
    """Name the library that divides the model's weights among processes; None if each process has them all.

    >>> import torch
    >>> sharded_by(torch.nn.Linear(2, 2)) is None
    True
    """
    if _is_fsdp1(model) or any(_is_fsdp1(module) for module in model.modules()):
        return FSDP
    for parameter in model.parameters():
        if hasattr(parameter, "ds_id"):
            return ZERO3
        if hasattr(parameter, "device_mesh") or hasattr(parameter, _FLATTENED):
            return FSDP
    return None


def refuse_sharded(model: torch.nn.Module, distributed: bool) -> None:
    """Refuse sharded weights that cannot write here.

    Args:
        model: that is to write. distributed: the other processes write with this one.

    Raises:
        ValueError: the others are not there, or what gathers the weights is outside of the model.
    """
    by = sharded_by(model)
    if by is None:
        return
    if not distributed or not in_process_group():
        raise ValueError(
            f"the model's weights are sharded by {by}, so that no process can write by itself: call "
            "evaluate_model with distributed=True on every process, or give a generate_fn"
        )
    if any(hasattr(parameter, _FLATTENED) for parameter in _outside(model)):
        raise ValueError(
            "the model was wrapped in FSDP, and what came is the module inside, which has only parts of its weights: "
            "give evaluate_model the wrapped model, or the callback its trainer (MauveCallback(..., trainer=trainer))"
        )


@contextlib.contextmanager
def writing_together(model: LanguageModel) -> Iterator[LanguageModel]:
    """The module that writes, as long as every process calls it as often as the others do.

    Of a model wrapped in FSDP (the first version) the weights outside of the wrapped blocks are gathered meanwhile, as
    TRL does; all others are gathered block by block in each call, and given back when it is over.
    """
    if _is_fsdp1(model):
        fsdp = import_torch().distributed.fsdp.FullyShardedDataParallel
        with fsdp.summon_full_params(model, writeback=False, recurse=False):
            yield cast("LanguageModel", model.module)
        return
    try:
        yield model
    finally:
        for module in model.modules():
            reshard = getattr(module, "reshard", None)  # of the second version: the root keeps its weights gathered
            if callable(reshard):
                reshard()


def _outside(module: torch.nn.Module) -> Iterator[torch.nn.Parameter]:
    """The parameters that are in none of the first FSDP's shells."""
    if not _is_fsdp1(module):
        yield from module.parameters(recurse=False)
        for child in module.children():
            yield from _outside(child)


def _is_fsdp1(module: torch.nn.Module) -> bool:
    """Return whether a module is wrapped by FSDP version 1."""
    return type(module).__name__ == "FullyShardedDataParallel"
