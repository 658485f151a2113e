"""Prompts that texts begin with: found in the fields of their files, and counted."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence

from mauve_metric.inputs.stripping import PromptEcho

SHORTEST_PROMPT = 8  # characters: shorter values of a field may be ids, or words that texts begin with by chance
ECHOED_SHARE = 0.01  # of the texts of a side that begin with a value of a field: then its values are prompts


def field_prompts(fields: Iterable[Sequence[object]], sides: Iterable[Sequence[str]]) -> tuple[str, ...]:
    """Values of the fields with which more than one in a hundred texts of a side begin, in order, each once.

    Args:
        fields: the values of each field. sides: the texts of each side.

    >>> field_prompts([["Once upon a time", "In a far land"], ["id-0000001"]], [["In a far land it was cold.", "No."]])
    ('Once upon a time', 'In a far land')
    """
    echoed: dict[str, None] = {}
    texts = [*sides]
    for values in fields:
        prompts = dict.fromkeys(value for value in map(as_prompt, values) if value)
        echo = PromptEcho(prompts)
        if prompts and any(count_echoes(echo, side) > ECHOED_SHARE * len(side) for side in texts):
            echoed |= prompts
    return tuple(echoed)


def as_prompt(value: object) -> str:
    """A value of a field as a prompt; empty for what is too short, and for no text.

    >>> as_prompt(" Once upon a time"), as_prompt("id-7"), as_prompt(12345678)
    ('Once upon a time', '', '')
    """
    text = value.strip() if isinstance(value, str) else ""
    return text if len(text) >= SHORTEST_PROMPT else ""


def count_echoes(echo: PromptEcho, texts: Iterable[str]) -> int:
    """Number of texts that begin with a prompt and go on after it."""
    return sum(left != text and bool(left) for text in texts for left in (echo(text),))


def known_prompts(*fields: Sequence[Hashable] | None) -> tuple[str, ...]:
    """The prompts among the values of fields that are known to hold these; None for a field that is missing."""
    return tuple(dict.fromkeys(text for values in fields for value in values or () if (text := as_prompt(value))))
