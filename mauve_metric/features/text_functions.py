"""Featurizers that are functions of texts: the packaged `ngrams` and `use`, a server's models, and a user's own.

Where a sentence encoder sees topics and no grammar, n-grams of letters and of kinds of words show spelling, capitals,
small words and their order.
"""

from __future__ import annotations

import itertools
import re
import unicodedata
import zlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mauve_metric.arrays import Array
from mauve_metric.features.embedding_server import PREFIX, server_of
from mauve_metric.features.encode_objects import encode_identity, encode_name, is_encode_object
from mauve_metric.features.text_encoder import TextEncoder
from mauve_metric.features.use import USE
from mauve_metric.inputs.fingerprints import TRAITS
from mauve_metric.measures.groups import mix
from mauve_metric.options import FEATURIZER_SETS, Featurizer, config_fields
from mauve_metric.runtime.checks import listed, shown
from mauve_metric.runtime.errors import WrongOption

COLUMNS = 512  # of each half of a row
KEPT_LETTERS = 3  # words up to here are themselves, longer ones only "a long word": grammar is in the short ones
LETTERS_WEIGHT = 1.5  # of the letters' half; the words' half is 1
REVISION = "v1"  # in signatures and stored features: to change with what makes the rows
_CHARACTERS_A_BLOCK = 2**16  # of texts that are hashed at once
_WORD = re.compile(r"\w+|[^\w\s]")
START, END = "\x02", "\x03"
MOST_WRITING = 8  # n-grams that are listed of how texts are written
MOST_FORMAT = 4  # and of how they are formatted
SURE = 0.05  # chance that one is listed where both sets are draws from one distribution
_QUOTES, _CURLY = set("\"'`´«»„"), set("“”‘’")
_DASHES, _MARKDOWN = set("–—"), set("*#_|`>")
_SHOWN = {START: "[start]", END: "[end]", "\n": "⏎", "\t": "⇥", " ": "␣"}
_KINDS = {"long": "[long word]", "Long": "[Long word]", "0": "[number]", START: "[start]", END: "[end]"}


def ngram_features(texts: Sequence[str]) -> Array:
    """One row a text: pairs of neighbouring characters, and pairs of neighbouring kinds of words.

    A word of at most three letters and a mark are kinds of their own; of a longer word only counts whether it begins
    with a capital letter, and of a number that it is one. Each pair is hashed to one of 512 columns with a sign, the
    square roots of its count are added up there, and each half of the row is brought to a length of its own: signed
    hashing is a sparse random projection, which keeps inner products (Weinberger et al. 2009, section 3). Nothing is
    learned, so that the same text has the same row everywhere. It is for languages with spaces between words.

    Returns:
        Features, shape (n, 1024), float32; rows of the length √(1.5² + 1).

    >>> ngram_features(["The cat sat on the mat.", "the cat sat on the mat."]).shape
    (2, 1024)
    """
    rows, codes = np.empty((len(texts), 2 * COLUMNS), dtype=np.float32), _Codes()
    ends = np.cumsum([len(text) for text in texts])
    for _, numbers in itertools.groupby(range(len(texts)), lambda number: ends[number] // _CHARACTERS_A_BLOCK):
        block, letters, words = [*numbers], [], []
        for text in map(texts.__getitem__, block):
            spelled = f"{START}{text}{END}".encode("utf-32-le", "surrogatepass")
            letters.append(np.frombuffer(spelled, dtype="<u4"))
            words.append(np.array([*map(codes.__getitem__, (START, *_WORD.findall(text), END))], dtype=np.uint32))
        rows[block, :COLUMNS] = LETTERS_WEIGHT * _hash_pairs(letters)
        rows[block, COLUMNS:] = _hash_pairs(words)
    return rows


class _Codes(dict[str, int]):
    """A number for the kind of each word and mark."""

    def __missing__(self, word: str) -> int:
        code = self[word] = zlib.crc32(kind(word).encode("utf-8", "surrogatepass"))
        return code


def kinds_of(text: str) -> list[str]:
    """The kinds of the words and marks of a text, in order.

    >>> kinds_of("The cats: 12")
    ['The', 'long', ':', '0']
    """
    return list(map(kind, _WORD.findall(text)))


def kind(word: str) -> str:
    """Return the class of a word or mark.

    >>> [kind(word) for word in ("the", "London", "walked", "1984", ",")]
    ['the', 'Long', 'long', '0', ',']
    """
    if word[0].isdigit():
        return "0"
    if len(word) <= KEPT_LETTERS or not word[0].isalnum():
        return word
    return "Long" if word[0].isupper() else "long"


def _hash_pairs(texts: Sequence[NDArray[np.uint32]]) -> Array:
    """Counts of pairs of neighbours, hashed to columns with a sign: a row of length one for each text's two or more."""
    sizes = np.array([len(items) for items in texts])
    items = np.concatenate(texts).astype(np.uint64)
    pairs = np.delete(mix(mix(items[:-1]) + items[1:]), np.cumsum(sizes)[:-1] - 1)  # none of two texts
    text_of = np.repeat(np.arange(len(texts)), sizes - 1)
    for of_text in np.split(pairs, np.cumsum(sizes - 1)[:-1]):
        of_text.sort()
    first = np.flatnonzero(np.concatenate(([True], (pairs[1:] != pairs[:-1]) | (text_of[1:] != text_of[:-1]))))
    roots = np.sqrt(np.diff(first, append=len(pairs)))
    pairs, text_of = pairs[first], text_of[first]
    column = text_of * COLUMNS + (pairs % np.uint64(COLUMNS)).astype(np.intp)
    weights = np.where(pairs >> np.uint64(63), roots, -roots)
    rows = np.bincount(column, weights=weights, minlength=len(texts) * COLUMNS).reshape(len(texts), COLUMNS)
    lengths = np.array([np.linalg.norm(row) for row in rows])
    return rows / np.where(lengths > 0, lengths, 1.0)[:, None]  # signs may cancel out in the shortest of texts


class NgramUse(NamedTuple):
    """Frequency, in either set, of one pair of neighbouring characters or of neighbouring kinds of words.

    ngram: as it is shown; ⏎ is a line break, ␣ a blank, "[long word]" any word of more than three letters. kind:
    "letters" or "words". p_per_1000, q_per_1000: of 1,000 pairs of this kind of the human and of the model's texts.
    t: Welch's statistic of the square roots of its shares of the texts, above 0 where the model uses it more.
    format: what of the format it is, such as "line breaks"; empty where it is none.
    """

    ngram: str
    kind: str
    p_per_1000: float
    q_per_1000: float
    t: float
    format: str


def differing_ngrams(p_texts: Sequence[str], q_texts: Sequence[str]) -> tuple[NgramUse, ...]:
    """The n-grams whose use differs most between two sets of texts, the most telling first.

    The features of `ngrams` are the square roots of each pair's share of a text, hashed. Pairs are ranked by the
    difference of the sets' mean roots over its standard error, and left out unless it is significant at 5 % with
    Bonferroni's correction for all pairs. Texts count as independent.

    Args:
        p_texts, q_texts: at least two of each; else nothing is found.

    Returns:
        At most 8 n-grams of how texts are written, and at most 4 of how they are formatted.

    >>> p, q = [f"we saw it {n}" for n in range(20)], [f"we, saw it {n}" for n in range(20)]
    >>> sorted(use.ngram for use in differing_ngrams(p, q) if use.t > 0 and use.kind == "words")
    [', saw', 'we ,']
    """
    if min(len(p_texts), len(q_texts)) < 2:
        return ()
    uses = [*_differing(p_texts, q_texts, list, "letters"), *_differing(p_texts, q_texts, kinds_of, "words")]
    uses.sort(key=lambda use: -abs(use.t))
    kept = [use for use in uses if not use.format][:MOST_WRITING] + [use for use in uses if use.format][:MOST_FORMAT]
    return tuple(sorted(kept, key=lambda use: -abs(use.t)))


def _differing(
    p_texts: Sequence[str], q_texts: Sequence[str], parts_of: Callable[[str], list[str]], kind: str
) -> list[NgramUse]:
    """The n-grams of one kind whose use differs. parts_of: characters, or kinds of words, of a text."""
    from scipy.special import stdtr
    from sklearn.feature_extraction.text import CountVectorizer

    def pairs(text: str) -> list[tuple[str, str]]:
        parts = [START, *parts_of(text), END]
        return list(itertools.pairwise(parts))

    counter = CountVectorizer(analyzer=pairs, dtype=np.float64)
    counts = counter.fit_transform([*p_texts, *q_texts])
    # marks of both ends make one pair of every text, so that no sum is 0
    totals = np.asarray(counts.sum(axis=1)).ravel()
    is_model = np.arange(len(totals)) >= len(p_texts)
    shares = counts.multiply(1 / totals[:, None]).tocsr()
    sides = []
    for chosen in (~is_model, is_model):
        chosen_shares, n = shares[chosen], int(chosen.sum())
        mean = np.asarray(chosen_shares.sqrt().sum(axis=0)).ravel() / n  # of the square roots of each column's shares
        variance = np.asarray(chosen_shares.sum(axis=0)).ravel() / n - mean**2
        rates = 1000 * np.asarray(counts[chosen].sum(axis=0)).ravel() / totals[chosen].sum()
        sides.append((mean, np.maximum(variance, 0) / (n - 1), rates))
    (p_mean, p_error, p_rates), (q_mean, q_error, q_rates) = sides
    t = (q_mean - p_mean) / np.sqrt(p_error + q_error + 1e-12)  # equal rows have a little error, so that it is finite
    chance = 2 * stdtr(min(len(p_texts), len(q_texts)) - 1, -np.abs(t)) * len(t)
    uses = []
    names = counter.get_feature_names_out()
    for number in np.flatnonzero(chance <= SURE).tolist():
        pair = names[number]
        shown = "".join(map(_letter, pair)) if kind == "letters" else " ".join(_KINDS.get(part, part) for part in pair)
        rates = float(p_rates[number]), float(q_rates[number])
        uses.append(NgramUse(shown, kind, *rates, float(t[number]), format_of_pair(*pair)))
    return uses


def format_of_pair(first: str, second: str) -> str:
    """Name the formatting that a pair of characters or of kinds of words shows; empty if it shows none.

    >>> format_of_pair(".", "\\n"), format_of_pair(" ", ","), format_of_pair("t", "h")
    ('line breaks', 'blanks before marks', '')
    """
    both = {first, second}
    if "\n" in both or "\r" in both:
        return TRAITS["line_breaks"].what
    blanks = first.isspace() + second.isspace()
    if START in both or END in both:
        return TRAITS["outer_blanks" if blanks else "first_character" if first == START else "last_character"].what
    if blanks == 2 or any(part.isspace() and part != " " for part in both):
        return TRAITS["double_blanks"].what
    named = (("curly_quotes", _CURLY), ("quotes", _QUOTES), ("dashes", _DASHES), ("markdown", _MARKDOWN))
    for name, marks in named:
        if both & marks:
            return TRAITS[name].what
    if first == second == "-" or both == {" ", "-"}:
        return TRAITS["dashes"].what
    return "blanks before marks" if first == " " and second in set(".,;:!?)") else ""


def _letter(mark: str) -> str:
    """A character as it is shown."""
    if mark in _SHOWN:
        return _SHOWN[mark]
    return f"[U+{ord(mark):04X}]" if unicodedata.category(mark)[0] in "CZM" else mark


class TextFunction(NamedTuple):
    """A function from a list of n texts to features (n, d), with its signature entries."""

    function: Callable[[list[str]], object]
    identity: Mapping[str, str]

    def with_prefix(self, text_prefix: str | None) -> tuple[str, dict[str, str]]:
        """The text that is put before each text, and the signature entries with it.

        Args:
            text_prefix: that the user gave; None: that of the function's model, if it has one.
        """
        prefix = str(getattr(self.function, "text_prefix", "")) if text_prefix is None else text_prefix
        return prefix, {**self.identity, **({"text_prefix": prefix} if prefix else {})}


TEXT_FUNCTIONS = {
    "ngrams": TextFunction(ngram_features, {"model": "ngrams", "revision": REVISION}),
    "use": TextFunction(USE, USE.identity),
}


def is_text_function(model: object) -> bool:
    """Return whether a featurizer is a function of texts, and no language model: a name, a folder or a pair.

    >>> is_text_function("ngrams"), is_text_function("server:bge-m3"), is_text_function("minilm")
    (True, True, False)
    """
    if isinstance(model, str):
        return model in TEXT_FUNCTIONS or model.startswith(PREFIX)
    return not isinstance(model, tuple) and (callable(model) or is_encode_object(model))


def text_function(model: Any, server: str | None = None) -> TextFunction | None:
    """The function that a featurizer is; None for a language model.

    Args:
        server: the address of "server:MODEL".

    Raises:
        ValueError, TypeError, ImportError: no such server can be asked.

    >>> text_function("ngrams").identity["model"], text_function("minilm")
    ('ngrams', None)
    """
    check_one_featurizer(model)
    if not is_text_function(model):
        return None
    if isinstance(model, str) and model in TEXT_FUNCTIONS:
        return TEXT_FUNCTIONS[model]
    function = server_of(model, server) if isinstance(model, str) else model
    if isinstance(function, TextEncoder):
        return TextFunction(function, function.identity)
    if is_encode_object(function):
        return TextFunction(function.encode, encode_identity(function))
    return TextFunction(function, {"model": name_of(function)})


def check_one_featurizer(model: object) -> None:
    """Raise `ValueError` for a short name of several featurizers, where features of one are needed."""
    if isinstance(model, str) and model in FEATURIZER_SETS:
        each = FEATURIZER_SETS[model]
        said = f"must be one featurizer here, got {model!r}, which is {listed([*map(repr, each)])}"
        calls = listed([f"featurize_model_name={name!r}" for name in each], "or")
        raise WrongOption.of("featurize_model_name", f"{said}: give {calls}, each in a call of its own")


def name_of(function: object) -> str:
    """The full name of a function, or of the class of a callable object."""
    module = getattr(function, "__module__", type(function).__module__)
    return f"{module}.{getattr(function, '__qualname__', type(function).__qualname__)}"


def named_featurizers(featurizers: object, first: Featurizer | None = None) -> dict[str, Featurizer]:
    """Featurizers by name, each checked as `MauveConfig` checks it.

    Args:
        featurizers: a list or tuple of them, a mapping that gives them names, or one; a (model, tokenizer) pair is one.
            "standard" stands for those of `FEATURIZER_SETS`.
        first: put before them, and removed from the rest.

    Raises:
        TypeError, ValueError: an invalid featurizer, an empty name, no featurizers, duplicate names.

    >>> list(named_featurizers(["gpt2-large", "minilm"], first="minilm"))
    ['minilm', 'gpt2-large']
    >>> list(named_featurizers("standard")), list(named_featurizers(["use", "ngrams"], first="standard"))
    (['minilm', 'ngrams'], ['minilm', 'ngrams', 'use'])
    """
    if isinstance(first, str) and first in FEATURIZER_SETS:
        leading = FEATURIZER_SETS[first]
        rest = {} if featurizers is first else named_featurizers(featurizers)
        return {name: name for name in leading} | {name: rest[name] for name in rest if name not in leading}
    is_pair = isinstance(featurizers, tuple) and len(featurizers) == 2 and hasattr(featurizers[0], "state_dict")
    if isinstance(featurizers, Mapping):
        named = list(featurizers.items())
    elif isinstance(featurizers, (list, tuple)) and not is_pair:
        named = [(featurizer_name(each), each) for entry in featurizers for each in _each_of(entry)]
    elif isinstance(featurizers, (str, tuple)) or is_text_function(featurizers):
        named = [(featurizer_name(each), each) for each in _each_of(featurizers)]
    else:
        expected = "a list of featurizers, a mapping that gives them names, or one featurizer"
        got = f"{type(featurizers).__name__}: {shown(featurizers)}"
        raise WrongOption.of("featurizers", f"must be {expected}, got {got}")
    if first is not None:
        others = [(name, featurizer) for name, featurizer in named if featurizer is not first and featurizer != first]
        named = [(featurizer_name(first), first), *others]
    checked: dict[str, Featurizer] = {}
    for name, featurizer in named:
        if not isinstance(name, str) or not name.strip():
            raise TypeError(f"featurizers: names must be non-empty strings, got {shown(name)}")
        if name in checked:
            said = f"must have different names, got {name!r} twice; a dict gives each a name of its own"
            raise WrongOption.of("featurizers", said)
        checked[name] = config_fields()["featurize_model_name"].metadata["check"](f"featurizers[{name!r}]", featurizer)
    if not checked:
        raise WrongOption.of("featurizers", "must hold at least one featurizer, got none")
    return checked


def _each_of(featurizer: Any) -> tuple[Featurizer, ...]:
    """The featurizers that a short name stands for; another featurizer by itself."""
    return FEATURIZER_SETS.get(featurizer, (featurizer,)) if isinstance(featurizer, str) else (featurizer,)


def featurizer_name(featurizer: object) -> str:
    """A name as it is; for a (model, tokenizer) pair that of the model, for a function or an object its own."""
    if isinstance(featurizer, str):
        return featurizer
    if isinstance(featurizer, TextEncoder):
        return featurizer.identity["model"]
    if is_encode_object(featurizer):
        return encode_name(featurizer)
    model = featurizer[0] if isinstance(featurizer, tuple) and featurizer else featurizer
    return str(getattr(model, "name_or_path", None) or name_of(model))
