"""Statistics of texts that need no model: repetition, distinct n-grams, length. A token is an id or a word."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

Tokens = Sequence[Hashable]

MAX_PHRASE = 90  # tokens of the longest phrase whose repetition is looked for (Holtzman et al. 2020)
_MANY_COPIES = 50  # of a phrase of one or two tokens; fewer are no degeneration ("very, very")


def repetition(texts: Sequence[Tokens], max_phrase: int = MAX_PHRASE) -> float:
    """Share of texts that end in a phrase said over and over; in [0, 1], lower is better (Holtzman et al. 2020, §5).

    With R_n the number of copies in a row of the last n tokens at the end, and n* the smallest n of the largest R_n, a
    text counts if R_n* > 1 and n* >= 3, or R_n* > 50.

    Args:
        texts: tokens of each text.
        max_phrase: tokens of the longest phrase to look for.

    >>> repetition([["I", "do", "not", "I", "do", "not"], ["no", "no"]])
    0.5
    """
    return sum(_ends_repeating(tokens, max_phrase) for tokens in texts) / len(texts) if texts else 0.0


def _ends_repeating(tokens: Tokens, max_phrase: int) -> bool:
    best, length = 1, 0
    for n in range(1, min(max_phrase, len(tokens) // 2) + 1):
        copies = _copies_at_end(tokens, n)
        if copies > best:
            best, length = copies, n
    return best > 1 and (length >= 3 or best > _MANY_COPIES)


def _copies_at_end(tokens: Tokens, n: int) -> int:
    """How many times in a row the last n tokens stand at the end."""
    run = n  # the end repeats with period n as far as each token equals the one n places later
    while run < len(tokens) and tokens[-run - 1] == tokens[-run - 1 + n]:
        run += 1
    return run // n
