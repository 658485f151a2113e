"""The methods that all results share, and their values fit for JSON."""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from mauve_metric.results.document import Document
from mauve_metric.results.signature import format_signature

if TYPE_CHECKING:
    import altair as alt


def values_of(item: Any) -> dict[str, Any]:
    """The fields of a dataclass as plain values, without those whose metadata says `in_dict=False`."""
    return {
        entry.name: plain(getattr(item, entry.name))
        for entry in dataclasses.fields(item)
        if entry.metadata.get("in_dict", True)
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


class Result(ABC):
    """A result that is shown as text, Markdown, CSV, LaTeX, a figure and a report, all from its `document`."""

    @abstractmethod
    def document(self) -> Document:
        """The title, prose, tables and signatures, independent of the format."""

    @abstractmethod
    def plot(self) -> alt.TopLevelMixin:
        """The figure as an Altair chart, which a notebook shows.

        Raises:
            ImportError: Altair is not installed.
        """

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain Python values, fit for JSON."""
        return values_of(self)

    def to_markdown(self) -> str:
        """The tables in Markdown, with the sentences about them and the signature."""
        return self.document().markdown()

    def to_csv(self, table: str | None = None) -> str:
        """One of the tables as CSV with a header, numbers in full.

        Args:
            table: its name; None: the first table of `document().tables`.

        Raises:
            ValueError: no table has this name.
        """
        return self.document().csv(table)

    def to_latex(self) -> str:
        """The tables as LaTeX `tabular`s with the rules of booktabs, the signature as a comment."""
        return self.document().latex()

    def save_report(self, path: str | Path) -> Path:
        """Write one HTML page with sentences, tables, figure and signature, that needs no network.

        Raises:
            ValueError: the name does not end in .html or .htm.
            ImportError: Altair or vl-convert-python is not installed.
            OSError: the file cannot be written.
        """
        from mauve_metric.results.report import document_page, save_page

        return save_page(path, lambda: document_page(self.document(), self.plot()))

    def __str__(self) -> str:
        return self.document().terminal()


class SignedResult(Result):
    """A result with `signature_entries`, what fixes its numbers, and `signature`, the same as one line."""

    signature_entries: Mapping[str, object]
    signature: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "signature", format_signature(self.signature_entries))
