"""The score on learned buckets of texts with normalised white space and case."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from mauve_metric.arrays import Integers
from mauve_metric.features.encoder import Encoder
from mauve_metric.features.feature_set import Featurizing
from mauve_metric.features.featurize import tokenize, windows
from mauve_metric.features.text_functions import TEXT_FUNCTIONS, text_function
from mauve_metric.options import MauveConfig, RunOptions
from mauve_metric.results.result import LearnedScore, MauveResult
from mauve_metric.texts.sources import TextSource
from mauve_metric.uncertainty.learned import learned_score

MOST_TEXTS = 1000  # of both sides, which a model or a user's function featurizes a second time
_WINDOW = 256  # texts that are tokenized at once
TWICE = f"the featurizer would have to read all texts a second time, which is done for at most {MOST_TEXTS} texts"


def with_normalised(
    result: MauveResult,
    texts: Sequence[Sequence[str] | None],
    groups: tuple[Integers, Integers] | None,
    config: MauveConfig,
    job: Featurizing | None = None,
) -> MauveResult:
    """Add the learned score of the same texts normalised, where format alone separates the two sets.

    The result stays as it is without the warning `format_differs`. Its `normalised_missing` says why there is no such
    score: texts that are not known or cut, or more than `MOST_TEXTS` that no packaged function makes features of, since
    to read these again costs as much as the first time. A model whose tokenizer leaves out what is normalised, such as
    minilm's, reads none of them again, with a cache or without.

    Args:
        texts: of P and of Q, as they were scored; None: not known.
        groups: codes of texts that are not independent; None: each is alone. config: of the result.
        job: makes features as those of the result were made; None: only functions of texts can.
    """
    if not format_differs(result):
        return result
    (p, q), model = texts, str(result.signature_entries.get("featurize_model_name"))
    if model in TEXT_FUNCTIONS:
        config = replace(config, featurize_model_name=model)
    if job is None and text_function(config.featurize_model_name) is not None:
        job = Featurizing(config, RunOptions(cache=False))
    if job is None or p is None or q is None:
        return result
    if result.signature_entries.get("match_lengths") != "no":
        return replace(result, normalised_missing="texts are cut to match lengths")
    if model not in TEXT_FUNCTIONS and result.n_p + result.n_q > MOST_TEXTS:
        return replace(result, normalised_missing=TWICE)
    plain = [[normalised_text(text) for text in side] for side in (p, q)]
    is_model = text_function(job.config.featurize_model_name) is None
    # a cache knows equal tokens itself, and often the texts, so that no model has to be loaded
    if is_model and job.store is None and _read_alike(job.load(), [*p, *q], [*plain[0], *plain[1]]):
        same = LearnedScore(*(getattr(result, name) for name in LearnedScore._fields))
        return replace(result, normalised=None if None in same else same, normalised_missing=None)
    sides = [job.of_texts("texts", TextSource(side)) for side in plain]
    found = learned_score(sides[0].features, sides[1].features, groups, config)
    if found is None:
        return replace(result, normalised_missing="without format too few different texts are left")
    return replace(result, normalised=LearnedScore.of(found), normalised_missing=None)


def _read_alike(encoder: Encoder, texts: Sequence[str], others: Sequence[str]) -> bool:
    """Return True if a model's tokenizer makes the same of both forms of all texts: their features are equal."""
    pairs = zip(windows(texts, _WINDOW), windows(others, _WINDOW), strict=True)
    return all(tokenize(encoder, some)[0] == tokenize(encoder, like)[0] for some, like in pairs)


def format_differs(result: MauveResult) -> bool:
    """Return True if a result has the warning that format alone separates the two sets."""
    return any(warning.code == "format_differs" for warning in result.warnings)


def normalised_text(text: str) -> str:
    """Replace each run of white space by one blank, and make all letters lower case.

    >>> normalised_text(" One\\n\\nTwo.  ")
    'one two.'
    """
    return " ".join(text.split()).lower()
