"""Near duplicates against all pairs by brute force, MinHash against its formula, and texts made alike on purpose."""

from __future__ import annotations

import random
import sys

import numpy as np
import pytest

from mauve_metric.apps.describing.duplicates.near_duplicates import (
    EXACT,
    PUBLISHED,
    NearDuplicateRule,
    deduplicate,
    near_duplicate_clusters,
    near_duplicate_partners,
    near_duplicates,
    texts_of_one_origin,
)


def planted(count: int, seed: int, words: int = 40) -> list[str]:
    """Texts, half of them made from another one by a few changes of words."""
    rng = random.Random(seed)
    texts: list[list[str]] = []
    for _ in range(count):
        size = rng.choice([0, 2, 4, 5, 6, words])
        if texts and rng.random() < 0.5:
            text = list(rng.choice(texts))
            for _ in range(rng.randrange(4)):
                place = rng.randrange(len(text) + 1)
                text[place : place + rng.randrange(2)] = [str(rng.randrange(9))] * rng.randrange(2)
            if rng.random() < 0.1:
                text = text[len(text) // 2 :] + text[: len(text) // 2]  # most phrases, another order
        else:
            text = [str(rng.randrange(9 if size < words else 99)) for _ in range(size)]
        texts.append(text)
    return [" ".join(text) for text in texts]


def edit_distance(one: list[str], other: list[str]) -> int:
    row = list(range(len(other) + 1))
    for deleted, token in enumerate(one, 1):
        above, row = row, [deleted]
        for place, theirs in enumerate(other):
            row.append(min(above[place] + (token != theirs), above[place + 1] + 1, row[place] + 1))
    return row[-1]


def alike(one: str, other: str, rule: NearDuplicateRule) -> bool:
    """The definition, with sets of tuples and a table of distances."""
    sets = []
    for tokens in (one.split(), other.split()):
        grams = {tuple(tokens[start : start + rule.shingle]) for start in range(len(tokens) - rule.shingle + 1)}
        sets.append(grams or {tuple(tokens)})
    jaccard = len(sets[0] & sets[1]) / len(sets[0] | sets[1])
    if jaccard < rule.jaccard:
        return False
    longest = max(len(one.split()), len(other.split()))
    similarity = 1 - edit_distance(one.split(), other.split()) / longest if longest else 1.0
    return similarity > rule.edit or similarity == 1


def naive_clusters(texts: list[str], rule: NearDuplicateRule) -> list[int]:
    label = list(range(len(texts)))
    for i in range(len(texts)):
        for j in range(i):
            if alike(texts[i], texts[j], rule):
                old, new = max(label[i], label[j]), min(label[i], label[j])
                label = [new if found == old else found for found in label]
    return label


RULES = [EXACT, NearDuplicateRule(jaccard=0.5, edit=0.7), NearDuplicateRule(shingle=2, jaccard=1.0, edit=1.0)]


@pytest.mark.parametrize("rule", RULES)
def test_no_pair_is_missed_and_none_is_added(rule: NearDuplicateRule) -> None:
    for seed in range(6):
        texts = planted(60, seed)
        expected = naive_clusters(texts, rule)
        assert near_duplicate_clusters(texts, rule).tolist() == expected
        share = np.mean([expected.count(label) > 1 for label in expected])
        assert near_duplicates(texts, rule) == share
        assert 0.2 < share < 1  # both kinds were met


@pytest.mark.parametrize("rule", RULES)
def test_partners_in_the_other_set(rule: NearDuplicateRule) -> None:
    for seed in range(6):
        texts = planted(70, seed)
        human, model = texts[:40], texts[40:]
        partners = near_duplicate_partners(model, human, rule)
        for text, partner in zip(model, partners.tolist(), strict=True):
            assert (partner >= 0) == any(alike(text, other, rule) for other in human)
            assert partner < 0 or alike(text, human[partner], rule)


def test_no_text_one_text_short_and_empty_texts() -> None:
    assert near_duplicates([]) == near_duplicates(["one"]) == 0
    assert near_duplicates(["", " ", "one"]) == pytest.approx(2 / 3)  # nothing equals nothing
    assert near_duplicates(["a b c d", "a b c e"]) == 0  # each is one phrase
    assert near_duplicate_partners([], ["one"]).tolist() == []
    assert near_duplicate_partners(["one"], []).tolist() == [-1]
    assert near_duplicates(["same words here"] * 5) == 1


def test_scripts_without_blanks_have_a_token_a_character() -> None:
    text = "".join(map(chr, range(0x4E00, 0x4E3C)))
    assert near_duplicates([text, text[:30] + "猫" + text[31:], text[::-1]]) == pytest.approx(2 / 3)


def test_many_texts_of_one_template_are_one_cluster() -> None:
    words = [str(word) for word in range(120)]
    texts = [" ".join([*words[:60], f"name{number}", *words[60:]]) for number in range(300)]
    assert (near_duplicate_clusters(texts) == 0).all()
    assert (near_duplicate_partners(texts[:150], texts[150:]) >= 0).all()


def test_the_published_parameters_find_what_they_should() -> None:
    words = [str(word) for word in range(200)]
    texts = [" ".join([*words[:90], f"name{number}", *words[90:]]) for number in range(4)] + [
        "another text",
        "one more",
    ]
    for rule in (*PUBLISHED.values(), NearDuplicateRule(rows=5, bands=20)):
        assert near_duplicate_clusters(texts, rule).tolist() == [0, 0, 0, 0, 4, 5]


def test_minhash_compares_as_often_as_it_should() -> None:
    # 300 pairs of 30 phrases with 20 in common: J = 0.5, compared with 1 - (1 - 0.5^3)^4 = 0.414, four errors of 0.028
    rule = NearDuplicateRule(shingle=1, jaccard=0.5, edit=0.1, rows=3, bands=4)
    texts = []
    for pair in range(300):
        words = [f"{pair}-{word}" for word in range(40)]
        texts += [" ".join(words[:30]), " ".join(words[10:])]
    found = near_duplicate_clusters(texts, rule)[1::2] == np.arange(0, 600, 2)
    assert abs(found.mean() - (1 - (1 - 0.5**3) ** 4)) < 4 * 0.0285


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"shingle": 0}, "shingle must be an integer of at least 1, got 0"),
        ({"jaccard": 0.0}, r"jaccard must be a number in \(0, 1\], got 0.0"),
        ({"jaccard": "a"}, r"jaccard must be a number in \(0, 1\], got 'a'"),
        ({"edit": None}, r"edit must be a number in \(0, 1\], got None"),
        ({"edit": float("nan")}, r"edit must be a number in \(0, 1\], got nan"),
        ({"shingle": 2.5}, "shingle must be an integer of at least 1, got 2.5"),
        ({"seed": "x"}, "seed must be an integer of at least 0, got 'x'"),
        ({"rows": "2", "bands": 3}, "rows must be an integer of at least 1, got '2'"),
        ({"edit": 1.2}, r"edit must be a number in \(0, 1\], got 1.2"),
        ({"rows": 5}, "rows and bands belong together"),
        ({"rows": 5, "bands": 0}, "bands must be an integer of at least 1, got 0"),
    ],
)
def test_an_invalid_rule_is_refused(options: dict[str, float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        NearDuplicateRule(**options)  # type: ignore[arg-type]


def test_minhash_needs_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "datasketch", None)
    assert near_duplicates(["one two", "one two"]) == 1
    with pytest.raises(ImportError, match=r"pip install 'mauve_metric\[duplicates\]'"):
        near_duplicates(["one two"], PUBLISHED["lee"])


def test_deduplicate_keeps_one_of_each_cluster() -> None:
    texts = planted(60, 3)
    labels = naive_clusters(texts, EXACT)
    found = deduplicate(texts)
    assert found.kept.tolist() == sorted(set(labels))
    assert [labels[text] for text in found.removed] == found.stands_for.tolist()
    assert not found.from_against.any()
    assert near_duplicates([texts[row] for row in found.kept]) == 0
    assert deduplicate([]).kept.tolist() == []


def test_deduplicate_prefers_the_texts_to_keep_apart_from() -> None:
    long = " ".join(map(str, range(80)))
    found = deduplicate([long + " end", "own", "own", "new"], against=["other", long])
    assert found.kept.tolist() == [1, 3]
    assert found.removed.tolist() == [0, 2]
    assert found.stands_for.tolist() == [1, 1]
    assert found.from_against.tolist() == [True, False]
    assert str(found) == ("kept 2 of 4 texts: 1 nearly repeat a text of the set, 1 one of the texts to keep apart from")


def test_texts_of_one_prompt() -> None:
    opening = "one two three four five six seven eight"
    others = [f"text {index}" for index in range(40)]
    texts = [f"{opening} nine", f"{opening.upper()}\n ten", *others]
    assert texts_of_one_origin(texts)[:3].tolist() == [0, 0, 1]
    assert texts_of_one_origin(texts, prompts=range(42))[:2].tolist() == [0, 1]
    boilerplate = [f"{opening} {index}" for index in range(10)]  # a fifth of all: a manner of writing
    assert len(set(texts_of_one_origin([*boilerplate, *others]))) == 50
    with pytest.raises(ValueError, match="one entry a text, got 1 for 42"):
        texts_of_one_origin(texts, prompts=["a"])
