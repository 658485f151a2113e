"""What people think of models: Bradley–Terry scores and what agrees with them; how well people find the boundary."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from mauve_metric.results import judgement_tables
from mauve_metric.results.judgement_numbers import GameNumbers, JudgementNumbers


@dataclass(frozen=True)
class Judgement(JudgementNumbers):
    """What people preferred, question by question.

    Attributes:
        questions: by the name of the column of answers.
        confidence_level: of the intervals.
        quick: judgements that were left out for being too quick.
        human: the name of the people's own texts among the models, which no measure is asked about; None if it is not
            there.
        left_out: models that were measured or judged but not both, where that was asked for.
        signature_entries: what fixes the numbers, in order. signature: the same as `key:value|key:value|…`.
    """

    def to_markdown(self) -> str:
        """The tables in Markdown."""
        return judgement_tables.judgement_markdown(self)

    def to_csv(self, table: Literal["models", "correlations"] = "models") -> str:
        """One of the tables as CSV with a header, numbers in full."""
        return judgement_tables.judgement_csv(self, table)

    def to_latex(self) -> str:
        """The tables as LaTeX `tabular`s with the rules of booktabs."""
        return judgement_tables.judgement_latex(self)

    def __str__(self) -> str:
        return judgement_tables.judgement_table(self)


@dataclass(frozen=True)
class BoundaryGame(GameNumbers):
    """Real or Fake Text, scored: all rounds, and those of each model.

    Attributes:
        total: of all rounds. models: by name, the hardest to tell from people first, human texts last; empty where no
            model is named.
        confidence_level: of the intervals. in_runs: rounds that were left out, since their player gave the same guess
            again and again.
        signature_entries: what fixes the numbers, in order. signature: the same as `key:value|key:value|…`.
    """

    def to_markdown(self) -> str:
        """The table in Markdown."""
        return judgement_tables.game_markdown(self)

    def to_csv(self) -> str:
        """The table as CSV with a header, numbers in full."""
        return judgement_tables.game_csv(self)

    def to_latex(self) -> str:
        """The table as a LaTeX `tabular` with the rules of booktabs."""
        return judgement_tables.game_latex(self)

    def __str__(self) -> str:
        return judgement_tables.game_table(self)
