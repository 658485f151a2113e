"""Known errors to insert into human texts, by name; a featurizer should detect them.

Each is a pure function of texts, a strength from 0 (nothing changes) to 1 and a seed; a stronger change touches what a
weaker one does, and more. The kinds are those of He et al. 2023 (*On the blind spots of model-based evaluation metrics
for text generation*, section 4) that need no model, and some that users meet.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from mauve_metric.apps.lexical.ngrams import letter_runs, word_counts
from mauve_metric.apps.studies.perturbations.pieces import (
    MOST,
    Perturb,
    Pieces,
    amount,
    change_numbers,
    change_sentences,
    change_words,
    check_strength,
    draws,
    generator,
    sentences_in,
    touched,
    words_in,
)

PHRASE_WORDS = 5  # of the phrase that a degenerate text repeats
FUNCTION_WORDS = frozenset(
    "a an the of in on at by for with to from as into onto over under about after before between through during "
    "against among within without upon off out up down and or but nor so than that".split()
)
_CORE = re.compile(r"(\W*)(\w(?:.*\w)?)(\W*)", re.DOTALL)
_LONG_WORD = re.compile(r"(\W*)(\w.{2,}\w)(\W*)", re.DOTALL)  # has two inner letters to misspell
_ENDS = (".", "!", "?", ":", '."', ".”", '?"', "?”")
_TOPIC_WORDS = 2000  # most that are used to find the topics


def swap_neighbours(pieces: Pieces, strength: float, rng: np.random.Generator) -> None:
    """Order wrong nearby: of the pairs of neighbours a share is swapped.

    >>> change_words(swap_neighbours)(["one two three four"], 1)
    ['two one four three']
    >>> change_sentences(swap_neighbours)(["It rained. We ran. It stopped."], 1)
    ['We ran. It rained. It stopped.']
    """
    for pair in touched(len(pieces) // 2, strength, rng).tolist():
        first, second = pieces.pieces[2 * pair : 2 * pair + 2]
        pieces.pieces[2 * pair : 2 * pair + 2] = [second, first]


def shuffle(pieces: Pieces, strength: float, rng: np.random.Generator) -> None:
    """Order wrong everywhere: a share of the pieces change places, each to the place of another one.

    >>> sorted(change_words(shuffle)(["one two three"], 1)[0].split())
    ['one', 'three', 'two']
    >>> change_sentences(shuffle)(["It rained. We ran."], 1)
    ['We ran. It rained.']
    """
    places = touched(len(pieces), strength, rng).tolist()
    moved = [pieces.pieces[index] for index in places]
    for index, piece in zip(places, moved[1:] + moved[:1], strict=True):
        pieces.pieces[index] = piece


def truncated(words: Pieces, strength: float, rng: np.random.Generator) -> None:
    """Texts without their end: of the words the last 0.9·strength are missing, and one is always left.

    >>> change_words(truncated)(["one two three four five six seven eight nine ten"], 0.5)
    ['one two three four five']
    """
    for index in range(_num_kept(words, strength), len(words)):
        words.pieces[index] = ""
    words.gaps[-1] = ""


def _num_kept(words: Pieces, strength: float) -> int:
    return max(len(words) - amount(len(words), MOST * strength), min(len(words), 1))


def phrase_repeated(words: Pieces, strength: float, rng: np.random.Generator) -> None:
    """Texts that get stuck: in the place of the last 0.9·strength of the words the five before them, again and again.

    >>> change_words(phrase_repeated)(["one two three four five six seven eight nine ten"], 0.5)
    ['one two three four five one two three four five']
    """
    kept = _num_kept(words, strength)
    phrase = words.pieces[max(kept - PHRASE_WORDS, 0) : kept]
    for index in range(kept, len(words)):
        words.pieces[index] = phrase[(index - kept) % len(phrase)]


def noise(texts: Sequence[str], strength: float, seed: int = 25, *, third: int) -> list[str]:
    """Replace a share of the words in a third of each text (0, 1 or 2) by words of any of the texts."""
    every = [word for text in texts for word in words_in(text).pieces]

    def replace(words: Pieces, strength: float, rng: np.random.Generator) -> None:
        start, end = (part * len(words) // 3 for part in (third, third + 1))
        for index, drawn in draws(end - start, strength, rng, len(every)):
            words.pieces[start + index] = _other(every, drawn, words.pieces[start + index])

    return change_words(replace)(texts, strength, seed)


def _other(pool: Sequence[str], drawn: int, current: str) -> str:
    """The drawn one of the pool, or the next that is another than `current`; `current` where there is none."""
    following = (pool[(drawn + step) % len(pool)] for step in range(min(len(pool), 50)))
    return next((word for word in following if word != current), current)


def lower_case(words: Pieces, strength: float, rng: np.random.Generator) -> None:
    """Of the words with capital letters a share is written without.

    >>> change_words(lower_case)(["The BBC and Ann"], 1)
    ['the bbc and ann']
    """
    capital = [index for index, word in enumerate(words.pieces) if word != word.lower()]
    for number in touched(len(capital), strength, rng).tolist():
        words.pieces[capital[number]] = words.pieces[capital[number]].lower()


def function_words_removed(words: Pieces, strength: float, rng: np.random.Generator) -> None:
    """Of the English articles, prepositions and conjunctions a share is missing.

    >>> change_words(function_words_removed)(["the cat sat on the mat"], 1)
    ['cat sat mat']
    """
    small = [index for index, word in enumerate(words.pieces) if word.lower() in FUNCTION_WORDS]
    for number in touched(len(small), strength, rng).tolist():
        words.pieces[small[number]] = ""


def typos(words: Pieces, strength: float, rng: np.random.Generator) -> None:
    """Of the words of four letters and more a share has one typo: two letters swapped, one missing, one doubled.

    >>> change_words(typos)(["a house"], 1) != ["a house"]
    True
    """
    split = [(index, match) for index, word in enumerate(words.pieces) if (match := _LONG_WORD.fullmatch(word))]
    long = [(index, match.groups()) for index, match in split if match[2].isalpha()]
    numbers, drawn = touched(len(long), strength, rng), rng.random((len(long), 2))
    for number in numbers.tolist():
        index, (before, core, after) = long[number]
        kind, where = drawn[number].tolist()
        letter = 1 + int(where * (len(core) - 2))  # an inner one, and not the last
        pair = core[letter : letter + 2]
        if kind < 1 / 3 and pair[0] != pair[1]:
            new = pair[1] + pair[0]
        else:
            new = pair[1] if kind < 2 / 3 else pair[0] + pair
        words.pieces[index] = f"{before}{core[:letter]}{new}{core[letter + 2 :]}{after}"


def numbers_changed(numbers: Pieces, strength: float, rng: np.random.Generator) -> None:
    """Of the numbers a share has other digits, as many as before: none becomes a 0.

    >>> new = change_numbers(numbers_changed)(["in 1984"], 1)[0]
    >>> len(new), set("1984") & set(new[3:]) == set("1984")
    (7, False)
    """
    steps = rng.integers(8, size=(len(numbers), 32))
    for index in touched(len(numbers), strength, rng).tolist():
        moves = zip(numbers.pieces[index], itertools.cycle(steps[index].tolist()), strict=False)
        new = [str((int(mark) + step) % 9 + 1) if mark.isdigit() else mark for mark, step in moves]
        numbers.pieces[index] = "".join(new)


def names_changed(texts: Sequence[str], strength: float, seed: int = 25) -> list[str]:
    """Of the names in a text (words with a capital letter within a sentence) a share is that of another text.

    One name is always changed into the same other one.

    >>> names_changed(["we met Ann and Ann ran", "we met Bob"], 1)
    ['we met Bob and Bob ran', 'we met Ann']
    """
    pool = sorted({name for text in texts for name in _names(words_in(text)).values()})

    def change(words: Pieces, strength: float, rng: np.random.Generator) -> None:
        places = _names(words)
        names = sorted(set(places.values()))
        chosen = draws(len(names), strength, rng, len(pool))
        other = {names[number]: _other(pool, drawn, names[number]) for number, drawn in chosen}
        for index, name in places.items():
            words.pieces[index] = words.pieces[index].replace(name, other.get(name, name), 1)

    return change_words(change)(texts, strength, seed)


def _names(words: Pieces) -> dict[int, str]:
    """The names by their places."""
    names = {}
    for index, word in enumerate(words.pieces):
        core = _CORE.fullmatch(word)
        begins = index == 0 or words.pieces[index - 1].endswith(_ENDS) or "\n" in words.gaps[index]
        if core is not None and not begins and core[2][0].isupper() and len(core[2]) > 1:
            names[index] = core[2]
    return names


def boilerplate_opening(texts: Sequence[str], strength: float, seed: int = 25) -> list[str]:
    """Of the texts a share opens like an assistant's answer.

    >>> boilerplate_opening(["It rained."], 1)[0].endswith("It rained.")
    True
    """
    opened = list(texts)
    for number, drawn in draws(len(texts), check_strength(strength), generator(seed), len(OPENINGS)):
        opened[number] = f"{OPENINGS[drawn]} {texts[number]}"
    return opened


def unrelated_sentences(texts: Sequence[str], strength: float, seed: int = 25) -> list[str]:
    """Insert a sentence of another text after a share of the sentences; at strength 1 half of all are unrelated.

    >>> unrelated_sentences(["It rained.", "We ran."], 1)
    ['It rained. We ran.', 'We ran. It rained.']
    """
    pool = [(number, sentence) for number, text in enumerate(texts) for sentence in sentences_in(text).pieces]
    numbers = iter(range(len(texts)))

    def insert(sentences: Pieces, strength: float, rng: np.random.Generator) -> None:
        text_number = next(numbers)
        for index, drawn in draws(len(sentences), strength, rng, len(pool)):
            steps = (pool[(drawn + step) % len(pool)] for step in range(len(pool)))
            other = next((sentence for number, sentence in steps if number != text_number), None)
            if other is not None:
                sentences.pieces[index] = f"{sentences.pieces[index]} {other}"

    return change_sentences(insert)(texts, strength, seed)


def languages_mixed(sentences: Pieces, strength: float, rng: np.random.Generator) -> None:
    """Replace a share of the sentences by sentences in German, French, Spanish and Italian.

    >>> change_sentences(languages_mixed)(["It rained."], 1)[0] in FOREIGN
    True
    """
    for index, drawn in draws(len(sentences), strength, rng, len(FOREIGN)):
        sentences.pieces[index] = FOREIGN[drawn]


def markup_left_over(sentences: Pieces, strength: float, rng: np.random.Generator) -> None:
    """A share of the sentences has tags, fences, entities or a line of code beside it, as scraped text has.

    >>> "It rained." in change_sentences(markup_left_over)(["It rained."], 1)[0]
    True
    """
    for index, drawn in draws(len(sentences), strength, rng, len(MARKUP)):
        before, after = MARKUP[drawn]
        sentences.pieces[index] = f"{before}{sentences.pieces[index]}{after}"


def texts_duplicated(texts: Sequence[str], strength: float, seed: int = 25) -> list[str]:
    """Of the texts 0.9·strength give way to copies of the others, as many of each.

    >>> len(set(texts_duplicated([f"text {number}" for number in range(10)], 1)))
    1
    """
    replaced = min(amount(len(texts), MOST * check_strength(strength)), max(len(texts) - 1, 0))
    order = generator(seed).permutation(len(texts)).tolist()
    kept, changed = order[replaced:], list(texts)
    for number, index in enumerate(order[:replaced]):
        changed[index] = texts[kept[number % len(kept)]]
    return changed


def topic_dropped(texts: Sequence[str], strength: float, seed: int = 25) -> list[str]:
    """The texts at one end of the main topic are left out, half of all at strength 1; the seed says which end.

    The main topic is the direction in which the tf-idf of the texts' words spreads most.

    >>> texts = ["ships sail the sea", "a ship on the sea", "the sea and ships sail", "cake with cream", "bake a cake"]
    >>> topic_dropped([*texts, "cream cake to bake"], 1)
    ['cake with cream', 'bake a cake', 'cream cake to bake']
    """
    missing = min(amount(len(texts), check_strength(strength) / 2), max(len(texts) - 1, 0))
    counts = word_counts([[word.lower() for word in letter_runs(text) if word.isalpha()] for text in texts])
    texts_with = np.bincount(counts.indices, minlength=counts.shape[1])
    common = np.nonzero((texts_with > 1) & (2 * texts_with <= len(texts)))[0]  # not the words of most texts
    kept = np.sort(common[np.argsort(-texts_with[common], kind="stable")[:_TOPIC_WORDS]])
    axis = np.zeros(len(texts))
    if missing and len(kept):
        weighted = np.log1p(counts[:, kept].toarray()) * np.log(len(texts) / texts_with[kept])
        weighted /= np.maximum(np.linalg.norm(weighted, axis=1, keepdims=True), 1e-12)
        left, sizes, right = np.linalg.svd(weighted - weighted.mean(axis=0), full_matrices=False)
        weights = np.abs(right[0])
        heaviest = np.argmax(weights > (1 - 1e-6) * weights.max())  # the first of words that weigh alike
        axis = left[:, 0] * sizes[0] * np.sign(right[0, heaviest])
    left_out = set(np.argsort(generator(seed).choice([-1.0, 1.0]) * axis, kind="stable")[:missing].tolist())
    return [text for number, text in enumerate(texts) if number not in left_out]


OPENINGS = (
    "Sure! Here is the text you asked for:",
    "Certainly! Here is a possible continuation:",
    "As an AI language model, I can offer the following:",
    "Of course, I would be happy to help with that.",
    "Great question! Let us look at it step by step.",
)
FOREIGN = (
    "Der Zug kam wieder einmal zu spät am Bahnhof an.",
    "Niemand wusste genau, was danach geschehen war.",
    "Die Kinder spielten bis zum Abend im Garten hinter dem Haus.",
    "Trotzdem blieb die Frage lange ohne Antwort.",
    "Le marché ouvre tous les matins avant le lever du soleil.",
    "Elle a fermé la porte sans dire un mot.",
    "Personne ne se souvenait de son nom.",
    "Il faut attendre encore quelques jours pour en savoir plus.",
    "La casa estaba vacía desde hacía muchos años.",
    "Nadie esperaba una respuesta tan rápida.",
    "Los vecinos se reunieron en la plaza después de comer.",
    "Mañana será otro día, dijo el abuelo.",
    "Il vento soffiava forte lungo tutta la costa.",
    "Abbiamo aspettato a lungo davanti alla vecchia stazione.",
    "Nessuno ha visto chi ha lasciato la lettera sul tavolo.",
    "Alla fine tutti sono tornati a casa contenti.",
)
MARKUP = (
    ("<p>", "</p>"),
    ('<div class="content">', "<br/>"),
    ("", " &nbsp;&nbsp;"),
    ("```\n", "\n```"),
    ("", " <|endoftext|>"),
    ("[[", "|edit]]"),
    ("", ' document.getElementById("main").innerHTML = text;'),
    ("&lt;li&gt;", "&lt;/li&gt;"),
)


class Perturbation(NamedTuple):
    """A known error.

    perturb: gives texts the error. said: its name in a sentence.
    """

    perturb: Perturb
    said: str


PERTURBATIONS: dict[str, Perturbation] = {
    "truncated": Perturbation(change_words(truncated), "missing ends"),
    "words_swapped": Perturbation(change_words(swap_neighbours), "neighbouring words swapped"),
    "words_shuffled": Perturbation(change_words(shuffle), "words shuffled"),
    "sentences_swapped": Perturbation(change_sentences(swap_neighbours), "neighbouring sentences swapped"),
    "sentences_shuffled": Perturbation(change_sentences(shuffle), "sentences shuffled"),
    "phrase_repeated": Perturbation(change_words(phrase_repeated), "the last phrase repeated"),
    "noise_early": Perturbation(partial(noise, third=0), "wrong words at the start"),
    "noise_middle": Perturbation(partial(noise, third=1), "wrong words in the middle"),
    "noise_late": Perturbation(partial(noise, third=2), "wrong words at the end"),
    "lower_case": Perturbation(change_words(lower_case), "missing capitals"),
    "function_words_removed": Perturbation(change_words(function_words_removed), "missing function words"),
    "typos": Perturbation(change_words(typos), "typos"),
    "numbers_changed": Perturbation(change_numbers(numbers_changed), "wrong numbers"),
    "names_changed": Perturbation(names_changed, "wrong names"),
    "unrelated_sentences": Perturbation(unrelated_sentences, "unrelated sentences"),
    "boilerplate_opening": Perturbation(boilerplate_opening, "an assistant's openings"),
    "texts_duplicated": Perturbation(texts_duplicated, "duplicated texts"),
    "topic_dropped": Perturbation(topic_dropped, "a missing topic"),
    "languages_mixed": Perturbation(change_sentences(languages_mixed), "sentences in other languages"),
    "markup_left_over": Perturbation(change_sentences(markup_left_over), "left-over markup and code"),
}
