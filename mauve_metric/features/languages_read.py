"""The languages that featurizers read, for notes on sets that they do not."""

from __future__ import annotations

from mauve_metric.features.pretrained import PRESETS

OF_USE = frozenset(
    "Arabic Chinese Dutch English French German Italian Japanese Korean Polish Portuguese Russian Spanish Thai "
    "Turkish".split()
)
WITHOUT_BLANKS = frozenset("Burmese Chinese Japanese Khmer Lao Thai Tibetan".split())  # between words
_ENGLISH = frozenset(("English",))
_OF_ENGLISH = ("minilm", "smollm2", *(name for name in PRESETS if "multilingual" not in name))


def is_read(featurizer: str, language: str) -> bool:
    """Return whether a featurizer reads a language; True where that is not known.

    >>> is_read("minilm", "Thai"), is_read("use", "Thai"), is_read("ngrams", "Thai"), is_read("my-model", "Thai")
    (False, True, False, True)
    """
    if featurizer == "ngrams":
        return language not in WITHOUT_BLANKS
    if featurizer == "use":
        return language in OF_USE
    return featurizer not in _OF_ENGLISH or language in _ENGLISH


def reader_of(language: str | None, featurizer: str = "") -> str | None:
    """The packaged featurizer for a language, another than this one; None where there is none.

    >>> reader_of("Thai"), reader_of("Hindi"), reader_of("Khmer"), reader_of("Thai", "use"), reader_of(None)
    ('use', 'ngrams', None, None, 'ngrams')
    """
    if language in OF_USE - _ENGLISH and featurizer != "use":
        return "use"
    return None if language in WITHOUT_BLANKS else "ngrams"


def advice_for(language: str | None, featurizer: str = "") -> str:
    """A clause on the featurizer for a language, in the place of this one.

    >>> advice_for("Thai"), advice_for("Hindi"), advice_for("Khmer")
    ("featurize_model_name='use'", "featurize_model_name='ngrams'", 'a model for Khmer, from a folder or a server')
    """
    reader = reader_of(language, featurizer)
    return (
        f"a model for {language}, from a folder or a server" if reader is None else f"featurize_model_name={reader!r}"
    )
