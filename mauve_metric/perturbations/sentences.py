"""Human texts with known errors in their sentences: moved, unrelated, in other languages, with markup."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mauve_metric.perturbations.pieces import Pieces, change_sentences, sentences_in, shuffle, swap_neighbours, touched


def sentences_swapped(texts: Sequence[str], strength: float, seed: int = 25) -> list[str]:
    """Sentence order wrong nearby: of the pairs of neighbours a share is swapped.

    >>> sentences_swapped(["It rained. We ran. It stopped."], 1)
    ['We ran. It rained. It stopped.']
    """
    return change_sentences(texts, strength, seed, swap_neighbours)


def sentences_shuffled(texts: Sequence[str], strength: float, seed: int = 25) -> list[str]:
    """Sentence order wrong everywhere: a share of the sentences change places.

    >>> sentences_shuffled(["It rained. We ran."], 1)
    ['We ran. It rained.']
    """
    return change_sentences(texts, strength, seed, shuffle)


def unrelated_sentences(texts: Sequence[str], strength: float, seed: int = 25) -> list[str]:
    """Insert a sentence of another text after a share of the sentences; at strength 1 half of all are unrelated.

    >>> unrelated_sentences(["It rained.", "We ran."], 1)
    ['It rained. We ran.', 'We ran. It rained.']
    """
    pool = [(number, sentence) for number, text in enumerate(texts) for sentence in sentences_in(text).pieces]
    numbers = iter(range(len(texts)))

    def insert(sentences: Pieces, strength: float, rng: np.random.Generator) -> None:
        own = next(numbers)
        places, drawn = touched(len(sentences), strength, rng), rng.integers(max(len(pool), 1), size=len(sentences))
        for place in places.tolist():
            steps = (pool[(int(drawn[place]) + step) % len(pool)] for step in range(len(pool)))
            other = next((sentence for number, sentence in steps if number != own), None)
            if other is not None:
                sentences.pieces[place] = f"{sentences.pieces[place]} {other}"

    return change_sentences(texts, strength, seed, insert)


def languages_mixed(texts: Sequence[str], strength: float, seed: int = 25) -> list[str]:
    """Replace a share of the sentences by sentences in German, French, Spanish and Italian.

    >>> languages_mixed(["It rained."], 1)[0] in FOREIGN
    True
    """

    def replace(sentences: Pieces, strength: float, rng: np.random.Generator) -> None:
        places, drawn = touched(len(sentences), strength, rng), rng.integers(len(FOREIGN), size=len(sentences))
        for place in places.tolist():
            sentences.pieces[place] = FOREIGN[drawn[place]]

    return change_sentences(texts, strength, seed, replace)


def markup_left_over(texts: Sequence[str], strength: float, seed: int = 25) -> list[str]:
    """A share of the sentences has tags, fences, entities or a line of code beside it, as scraped text has.

    >>> "It rained." in markup_left_over(["It rained."], 1)[0]
    True
    """

    def mark(sentences: Pieces, strength: float, rng: np.random.Generator) -> None:
        places, drawn = touched(len(sentences), strength, rng), rng.integers(len(MARKUP), size=len(sentences))
        for place in places.tolist():
            before, after = MARKUP[drawn[place]]
            sentences.pieces[place] = f"{before}{sentences.pieces[place]}{after}"

    return change_sentences(texts, strength, seed, mark)


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
