"""Options of scoring people's judgements and their defaults, without the computations."""

from __future__ import annotations

from typing import Literal, TypeAlias

Ties: TypeAlias = Literal["half", "random", "drop"]  # see `bradley_terry.settle_ties`
Errors: TypeAlias = Literal["robust", "fisher"]  # see `bradley_terry.score_covariance`

SENTENCES = 10  # of a text of Real or Fake Text
FULL_POINTS = 5.0  # for the very sentence at which a machine took over
RUN = 5  # equal guesses in a row by which a player is taken not to have read
LONGEST_LOOK = 120.0  # seconds on a sentence, beyond which a player is taken to be away
