"""Known errors: the change that each makes in texts, and nothing else."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from mauve_metric.apps.studies.perturbations.pieces import sentences_in, words_in
from mauve_metric.apps.studies.perturbations.text_errors import FOREIGN, FUNCTION_WORDS, MARKUP, OPENINGS, PERTURBATIONS

PLACES = ["Berlin", "Lagos", "Quito", "Oslo", "Perth", "Lima"]
TOPICS = ["The harbour took in ships with sails from the sea.", "The kitchen baked cakes with cream and sugar."]
TEXTS = [
    f"{TOPICS[number % 2]} On day {100 + 7 * number} we went to {PLACES[number % 6]} with {3 * number + 11} people. "
    f"Nobody there had ever seen such a crowd! They {['cheered', 'waited', 'danced'][number % 3]} until "
    f"{PLACES[(number + 1) % 6]} answered the call of {17 + number} drums. Then it rained for hours."
    for number in range(24)
]
STRENGTHS = (0.25, 0.5, 0.75, 1.0)
NAMES = sorted(PERTURBATIONS)
OF_ONE_TEXT = sorted(set(NAMES) - {"texts_duplicated", "topic_dropped"})


def perturbed(name: str, strength: float, seed: int = 25, texts: list[str] | None = None) -> list[str]:
    return PERTURBATIONS[name].perturb(TEXTS if texts is None else texts, strength, seed)


def amounts(name: str) -> list[int]:
    """Size of each strength's change: words that are lost, new or moved (where order alone changes), or texts."""
    found = []
    for strength in (0.0, *STRENGTHS):
        texts = perturbed(name, strength)
        if name in ("texts_duplicated", "topic_dropped"):
            found.append(len(TEXTS) - len(set(texts)))
            continue
        pairs = [(old.split(), new.split()) for old, new in zip(TEXTS, texts, strict=True)]
        if name.endswith(("swapped", "shuffled")):
            found.append(sum(a != b for old, new in pairs for a, b in zip(old, new, strict=True)))
        else:
            counts = [(Counter(old), Counter(new)) for old, new in pairs]
            found.append(sum(((old - new) + (new - old)).total() for old, new in counts))
    return found


@pytest.mark.parametrize("name", NAMES)
def test_no_strength_changes_nothing_and_more_strength_more(name: str) -> None:
    assert perturbed(name, 0.0) == TEXTS
    counts = amounts(name)
    assert counts == sorted(counts) and counts[0] == 0 < counts[2] <= counts[-1] > counts[1], counts


@pytest.mark.parametrize("name", NAMES)
def test_the_seed_alone_decides(name: str) -> None:
    given = list(TEXTS)
    assert perturbed(name, 0.5) == perturbed(name, 0.5) and given == TEXTS
    if name not in ("truncated", "phrase_repeated"):  # which leave nothing to chance
        assert any(perturbed(name, 0.5) != perturbed(name, 0.5, seed=seed) for seed in (1, 2, 3, 4))


@pytest.mark.parametrize("name", NAMES)
def test_texts_stay_texts(name: str) -> None:
    hard = ["of the", "a", "…", "  x  ", "猫", "12", "\n\nNo.\n", "THE", "«»", "x" * 3]
    for strength in STRENGTHS:
        found = perturbed(name, strength, texts=hard)
        assert all(text.strip() for text in found) and len(found) <= len(hard)
        assert perturbed(name, strength, texts=[]) == []
        assert perturbed(name, strength, texts=["one"])


@pytest.mark.parametrize("strength", [-0.1, 1.1, float("nan")])
def test_a_strength_out_of_range_is_refused(strength: float) -> None:
    for name in NAMES:
        with pytest.raises(ValueError, match=r"strength must be a number in \[0, 1\], got"):
            perturbed(name, strength)
    with pytest.raises(TypeError, match=r"strength must be a number in \[0, 1\], got 'x'"):
        perturbed("typos", "x")  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["words_swapped", "words_shuffled", "sentences_swapped", "sentences_shuffled"])
def test_order_alone_changes(name: str) -> None:
    for old, new in zip(TEXTS, perturbed(name, 1.0), strict=True):
        assert Counter(old.split()) == Counter(new.split()) and old != new
        split = sentences_in if name.startswith("sentences") else words_in
        a, b = split(old).pieces, split(new).pieces
        if name.endswith("swapped"):
            pairs = [piece for place in range(0, len(a) - 1, 2) for piece in (a[place + 1], a[place])]
            assert b == pairs + a[len(pairs) :]
        else:
            moved = sum(one is not two for one, two in zip(a, b, strict=True))
            assert sorted(map(str, a)) == sorted(map(str, b)) and moved >= len(a) / 2
    half = perturbed("words_shuffled", 0.5)[0].split()
    assert sum(a != b for a, b in zip(half, TEXTS[0].split(), strict=True)) <= len(half) / 2 + 1


def test_ends_are_cut_or_repeat() -> None:
    for old, cut, stuck in zip(TEXTS, perturbed("truncated", 0.5), perturbed("phrase_repeated", 0.5), strict=True):
        assert old.startswith(cut) and len(cut.split()) == pytest.approx(0.55 * len(old.split()), abs=1)
        assert stuck.startswith(cut) and len(stuck.split()) == len(old.split())
        phrase, tail = cut.split()[-5:], stuck.split()[len(cut.split()) :]
        assert tail == (phrase * len(tail))[: len(tail)]
    assert [len(text.split()) for text in perturbed("truncated", 1.0, texts=["one", "a b c d e f g h i j"])] == [1, 1]


@pytest.mark.parametrize(("name", "third"), [("noise_early", 0), ("noise_middle", 1), ("noise_late", 2)])
def test_noise_stays_in_its_third(name: str, third: int) -> None:
    every = {word for text in TEXTS for word in text.split()}
    for old, new in zip(TEXTS, perturbed(name, 1.0), strict=True):
        a, b = old.split(), new.split()
        changed = [place for place in range(len(a)) if a[place] != b[place]]
        start, end = third * len(a) // 3, (third + 1) * len(a) // 3
        assert changed == list(range(start, end)) and set(b) <= every


def test_letters_are_lowered_dropped_and_misspelt() -> None:
    assert perturbed("lower_case", 1.0) == [text.lower() for text in TEXTS]
    for old, new in zip(TEXTS, perturbed("function_words_removed", 1.0), strict=True):
        assert new.split() == [word for word in old.split() if word.lower() not in FUNCTION_WORDS]
    for old, new in zip(TEXTS, perturbed("typos", 1.0), strict=True):
        for a, b in zip(old.split(), new.split(), strict=True):
            letters = re.sub(r"\W", "", a)
            assert (a != b) == (len(letters) >= 4 and letters.isalpha()), (a, b)
            assert abs(len(a) - len(b)) <= 1 and a[0] == b[0]


def test_numbers_and_names_change_and_nothing_else() -> None:
    for old, new in zip(TEXTS, perturbed("numbers_changed", 1.0), strict=True):
        assert re.sub(r"\d", "0", old) == re.sub(r"\d", "0", new)
        digits = zip(re.sub(r"\D", "", old), re.sub(r"\D", "", new), strict=True)
        assert all(a != b or a == "0" for a, b in digits if a != "0")
    for old, new in zip(TEXTS, perturbed("names_changed", 1.0), strict=True):
        blank = re.compile("|".join(PLACES))
        assert blank.sub("", old) == blank.sub("", new)
        assert all(a != b for a, b in zip(blank.findall(old), blank.findall(new), strict=True))


def test_sentences_come_from_elsewhere() -> None:
    every = {piece for text in TEXTS for piece in sentences_in(text).pieces}
    for old, new in zip(TEXTS, perturbed("unrelated_sentences", 1.0), strict=True):
        own, found = sentences_in(old).pieces, sentences_in(new).pieces
        assert found[::2] == own and set(found[1::2]) <= every and len(found) == 2 * len(own)
    for old, half, whole in zip(
        TEXTS, perturbed("languages_mixed", 0.5), perturbed("languages_mixed", 1.0), strict=True
    ):
        assert set(sentences_in(whole).pieces) <= set(FOREIGN)
        kept = [piece for piece in sentences_in(half).pieces if piece in sentences_in(old).pieces]
        assert len(kept) == len(sentences_in(old)) - int(len(sentences_in(old)) / 2 + 0.5)


def test_openings_and_markup_stand_beside_the_text() -> None:
    opened = perturbed("boilerplate_opening", 0.5)
    fresh = [new for old, new in zip(TEXTS, opened, strict=True) if new != old]
    assert len(fresh) == 12 and all(new.startswith(OPENINGS) for new in fresh)
    assert all(new.endswith(old) for old, new in zip(TEXTS, opened, strict=True))
    for old, new in zip(TEXTS, perturbed("markup_left_over", 1.0), strict=True):
        for before, after in MARKUP:
            new = new.replace(after, "", 99) if not before else new.replace(before, "").replace(after, "")
        assert new.split() == old.split()


def test_sets_lose_texts_or_a_topic() -> None:
    copies = Counter(perturbed("texts_duplicated", 0.5))
    assert sum(copies.values()) == 24 and len(copies) == 24 - 11 and set(copies) <= set(TEXTS)
    assert max(copies.values()) - min(copies.values()) <= 1
    left = perturbed("topic_dropped", 1.0)
    assert len({text.split(".")[0] for text in left}) == 1 and len(left) == 12
    assert perturbed("topic_dropped", 1.0, texts=["a", "b"]) == ["b"]


def test_pieces_and_gaps_are_the_text() -> None:
    for text in [*TEXTS, " Two  blanks.\n\n- A list\tend ", '"Stop!" She said. "No." 3 left…', "我们走。他来了。", ""]:
        assert words_in(text).joined() == sentences_in(text).joined() == text
    assert sentences_in('"Stop!" She said. Dr. No e.g. here.\nA line').pieces == [
        '"Stop!"',
        "She said.",
        "Dr.",
        "No e.g. here.",
        "A line",
    ]
    assert sentences_in("我们走。他来了。").pieces == ["我们走。", "他来了。"]
