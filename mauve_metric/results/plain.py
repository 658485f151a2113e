"""Results as plain Python values, fit for JSON."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

import numpy as np


def values_of(item: Any) -> dict[str, Any]:
    """The fields of a dataclass as plain values, without those whose metadata says `in_dict=False`."""
    return {
        entry.name: plain(getattr(item, entry.name)) for entry in fields(item) if entry.metadata.get("in_dict", True)
    }


def plain(value: object) -> object:
    """A value fit for JSON: arrays as lists, numpy numbers as Python's, named tuples and dataclasses as dicts."""
    if hasattr(value, "to_dict"):
        return value.to_dict()
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return {key: plain(item) for key, item in value._asdict().items()}
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (tuple, list)):
        return [plain(item) for item in value]
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return values_of(value)
    return value
