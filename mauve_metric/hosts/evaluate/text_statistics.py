"""The statistics of one set of texts that need nothing but the texts."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np

from mauve_metric.apps.describing.catalogue.all_measures import MEASURES
from mauve_metric.apps.describing.measure_runner import tokenizing
from mauve_metric.apps.lexical.tokens import number_tokens
from mauve_metric.features.sides import one_each
from mauve_metric.measures.measure import Form, Measure
from mauve_metric.results.signature import format_signature
from mauve_metric.version import __version__


def text_statistics(
    texts: Sequence[str],
    *,
    tokenizer: object = None,
    prompts: Sequence[Hashable] | None = None,
    measures: Sequence[str] | None = None,
) -> dict[str, object]:
    """Compute the lexical measures of one set of texts, by name.

    Args:
        texts: strings, at least one.
        tokenizer: a function from a text to its tokens, words or ids, or another tokenizer that `describe` takes; None:
            words and marks of punctuation as they are written (`split_words`).
        prompts: the prompt of each text, where there are several texts of one prompt.
        measures: names of the rows to compute; None: all that are cheap, those of prompts if there are prompts.

    Returns:
        A dict fit for JSON: a number for each measure, None for one that these texts do not have; then `num_texts`,
        `num_tokens`, `not_computed` (measure → why it is None) and `signature`.

    Raises:
        TypeError: the tokenizer returns no list of tokens.
        ValueError: no texts, an unknown measure, or one of prompts without prompts.

    >>> statistics = text_statistics(["so we beat on", "so we beat on"], measures=["distinct_4", "self_bleu"])
    >>> statistics["distinct_4"], statistics["self_bleu"]
    (0.5, 1.0)
    """
    if not len(texts):
        raise ValueError("texts must be at least one text, got none")
    rows = _chosen(measures, with_prompts=prompts is not None)
    prompts = None if prompts is None else one_each("prompts", prompts, "prompt")
    if prompts is not None and len(prompts) != len(texts):
        raise ValueError(f"prompts must be one for each of the {len(texts)} texts, got {len(prompts)}")
    tokens = number_tokens(list(map(tokenizing(tokenizer), texts)))
    forms: dict[Form, object] = {"texts": texts, "tokens": tokens, "prompts": prompts}
    values: dict[str, float | None] = dict.fromkeys(rows)
    reasons: dict[str, str] = {}
    for name, row in rows.items():
        try:
            computed = np.atleast_1d(np.asarray(row.compute_on(forms.__getitem__), dtype=np.float64))
            if np.isnan(computed).all():
                raise ValueError(f"{name} needs a longer text")
            values[name] = float(np.nanmean(computed) if row.leaves_out else np.mean(computed))
        except ValueError as error:
            reasons[name] = str(error)
    sizes = {"num_texts": len(texts), "num_tokens": len(tokens.ids)}
    named = "words" if tokenizer is None else tokenizer
    if not isinstance(named, str):
        named = getattr(tokenizer, "name_or_path", None) or getattr(named, "__qualname__", type(named).__qualname__)
    signature = format_signature({"tokens": named, **sizes, "mauve_metric": __version__})
    return values | sizes | {"not_computed": reasons, "signature": signature}


def statistics_rows() -> dict[str, Measure]:
    """The rows that need texts, their tokens and prompts, and nothing else."""
    rows = {name: row for name, row in MEASURES.items() if row.group == "lexical" and row.inputs.sets == 1}
    return {name: row for name, row in rows.items() if {"texts", "prompts"}.issuperset(row.inputs.given)}


def _chosen(measures: Sequence[str] | None, *, with_prompts: bool) -> dict[str, Measure]:
    rows = statistics_rows()
    if measures is None:
        allowed = {"texts", "prompts"} if with_prompts else {"texts"}
        return {name: row for name, row in rows.items() if row.cheap and allowed.issuperset(row.inputs.given)}
    if isinstance(measures, str):
        raise TypeError(f"measures must be a list of names, got a single string: {measures!r}")
    unknown = [name for name in measures if name not in rows]
    if unknown:
        raise ValueError(f"measures must be among {', '.join(rows)}, got {', '.join(map(repr, unknown))}")
    lacking = [name for name in measures if "prompts" in rows[name].inputs.given and not with_prompts]
    if lacking:
        raise ValueError(f"{lacking[0]} needs prompts, the prompt of each text, got none")
    return {name: rows[name] for name in measures}
