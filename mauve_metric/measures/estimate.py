"""A number of two sets with what is known of its error."""

from __future__ import annotations

from typing import NamedTuple


class Estimate(NamedTuple):
    """A measure's value for two sets.

    value: the number. ci: its interval at the level that was asked for, None where none can be had honestly.
    p_value: of "both sets are draws from one distribution", None without a test.
    """

    value: float
    ci: tuple[float, float] | None = None
    p_value: float | None = None
