"""The methods that all results share: values fit for JSON, text, tables, and figures and reports as files.

A result imports the report, which writes and draws it, when such a method is called.
"""

from __future__ import annotations

import dataclasses
import html
from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from mauve_metric.results.signature import format_signature
from mauve_metric.runtime.checks import check_bool
from mauve_metric.runtime.optional_imports import import_pandas

if TYPE_CHECKING:
    import altair as alt
    import pandas as pd

    from mauve_metric.report.document import Document


def values_of(record: Any) -> dict[str, Any]:
    """The fields of a dataclass as plain values, without those whose metadata says `in_dict=False`."""
    return {
        entry.name: plain(getattr(record, entry.name))
        for entry in dataclasses.fields(record)
        if entry.metadata.get("in_dict", True)
    }


def plain(value: object) -> Any:
    """A value fit for JSON: arrays as lists, numpy numbers as Python's, named tuples and dataclasses as dicts."""
    if hasattr(value, "to_dict"):
        return value.to_dict()
    if isinstance(value, (np.ndarray, np.generic)):
        return value.tolist()
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return {key: plain(entry) for key, entry in value._asdict().items()}
    if isinstance(value, Mapping):
        return {str(key): plain(entry) for key, entry in value.items()}
    if isinstance(value, (tuple, list)):
        return [plain(entry) for entry in value]
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return values_of(value)
    return value


class AsDict:
    """An object whose fields, and the properties that `also` names, are shown as JSON."""

    also: ClassVar[tuple[str, ...]] = ()

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain Python values, fit for JSON."""
        return values_of(self) | {name: plain(getattr(self, name)) for name in self.also}


class Result(AsDict, ABC):
    """A result that is shown as text, Markdown, CSV, LaTeX, a figure and a report, all from its `document`."""

    def __eq__(self, other: object) -> bool:
        """Return whether another result is of the same type and shows the same as JSON."""
        return isinstance(other, type(self)) and self.to_dict() == other.to_dict()

    @abstractmethod
    def document(self) -> Document:
        """The title, prose, tables and signatures, independent of the format."""

    @abstractmethod
    def plot(self) -> alt.TopLevelMixin:
        """The figure as an Altair chart, which a notebook shows.

        Raises:
            ImportError: Altair is not installed.
        """

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

    def to_frame(self, table: str | None = None) -> pd.DataFrame:
        """One of the tables as a `pandas.DataFrame`, its columns named as in CSV.

        Args:
            table: its name; None: the first table of `document().tables`.

        Raises:
            ValueError: no table has this name.
            ImportError: pandas is not installed.
        """
        pandas = import_pandas()
        chosen = self.document().table(table)
        keys = [column.key for column in chosen.columns]
        frame: pd.DataFrame = pandas.DataFrame([{key: row[key] for key in keys} for row in chosen.rows], columns=keys)
        return frame

    def _repr_html_(self) -> str:
        """The text and the figure for a notebook; the text alone where the packages for figures are missing."""
        from mauve_metric.report.html_and_images import chart_source

        text = f"<pre>{html.escape(str(self))}</pre>"
        try:
            return f'{text}<img src="{chart_source(self.plot())}" alt="figure of this result">'
        except ImportError:
            return text

    def to_latex(self, every: bool = False) -> str:
        """The table for a paper as a LaTeX `tabular` with the rules of booktabs, the signature as a comment.

        A score and a comparison have a note with the verdicts and warnings below; the other results show all tables.

        Args:
            every: all tables and columns, too.

        Raises:
            WrongOption: `every` is neither True nor False.
        """
        return self.document().latex(check_bool("every", every))

    def save_report(self, path: str | Path) -> Path:
        """Write one HTML page with sentences, tables, figure and signature, that needs no network.

        Raises:
            ValueError: the name does not end in .html or .htm.
            ImportError: Altair or vl-convert-python is not installed.
            OSError: the file cannot be written.
        """
        from mauve_metric.report.html_and_images import document_page, save_page

        return save_page(path, lambda: document_page(self.document(), self.plot()))

    def __str__(self) -> str:
        return self.document().terminal()


class SignedResult(Result):
    """A result with `signature_entries`, what fixes its numbers, and `signature`, the same as one line."""

    signature_entries: Mapping[str, object]
    signature: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "signature", format_signature(self.signature_entries))
