"""The methods that all results share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mauve_metric.results.document import Document
from mauve_metric.results.plain import values_of
from mauve_metric.results.signature import format_signature

if TYPE_CHECKING:
    import altair as alt


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
