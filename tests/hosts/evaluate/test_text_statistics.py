"""The statistics of texts alone: which way each goes, what it says of odd texts, and that the dict is fit for JSON."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from mauve_metric.apps.describing.word_diversity.self_bleu import self_bleu
from mauve_metric.apps.describing.word_diversity.splitting import split_words
from mauve_metric.hosts.evaluate.text_statistics import statistics_rows, text_statistics

TEXTS, WORDS = 80, 60


@functools.cache
def language() -> tuple[list[str], NDArray[np.float64]]:
    """Phrases of one to six words and their shares, both words and phrases after Zipf's law."""
    shares = 1 / np.arange(1, 2001)
    rng, ends = np.random.default_rng(0), np.cumsum(shares / shares.sum())
    drawn = [np.searchsorted(ends[:-1], rng.random(rng.integers(1, 7))) for _ in range(2000)]
    return [" ".join(f"w{word}" for word in words) for words in drawn], ends


def prose(count: int, seed: int) -> list[str]:
    """Texts of phrases, cut to one length."""
    phrases, ends = language()
    drawn = np.searchsorted(ends[:-1], np.random.default_rng(seed).random((count, WORDS)))
    return [" ".join(" ".join(phrases[index] for index in row).split()[:WORDS]) for row in drawn.tolist()]


def noise(count: int) -> list[str]:
    rng = np.random.default_rng(9)
    return [" ".join(f"w{index}" for index in rng.integers(2000, size=WORDS)) for _ in range(count)]


def values(texts: list[str], prompts: list[int] | None = None) -> dict[str, float]:
    names = [
        name for name, row in statistics_rows().items() if prompts is not None or "prompts" not in row.inputs.given
    ]
    found = text_statistics(texts, prompts=prompts, measures=names)
    return {name: float(found[name]) for name in names}  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def human() -> dict[str, float]:
    return values(prose(TEXTS, 1), [index // 4 for index in range(TEXTS)])


@pytest.fixture(scope="module")
def equal() -> dict[str, float]:
    return values(prose(TEXTS, 3), [index // 4 for index in range(TEXTS)])


COLLAPSED = {  # ten texts, twelve times each: +1 where the measure rises
    **dict.fromkeys(("distinct_1", "distinct_2", "distinct_4", "distinct_4_once", "entropy_2", "entropy_4"), -1),
    **dict.fromkeys(("vendi_ngrams", "prompt_diversity", "prompt_distinct"), -1),
    **dict.fromkeys(("self_bleu", "self_repetition", "compression_ratio"), 1),
}
NOISY = {  # words drawn evenly: more diverse than people, which is no praise
    **dict.fromkeys(("distinct_1", "distinct_2", "distinct_4", "distinct_4_once", "entropy_2", "entropy_4"), 1),
    **dict.fromkeys(("vendi_ngrams", "prompt_diversity", "distinct_4_per_text", "diversity"), 1),
    **dict.fromkeys(("self_bleu", "self_repetition", "compression_ratio", "zipf"), -1),
}


@pytest.mark.parametrize(
    ("model", "directions"), [(prose(10, 2) * (TEXTS // 10), COLLAPSED), (noise(TEXTS), NOISY)], ids=["few", "noise"]
)
def test_directions(
    human: dict[str, float], equal: dict[str, float], model: list[str], directions: dict[str, int]
) -> None:
    """The difference goes the way that is pinned, and is larger than that of another sample of the same texts."""
    prompts = [index % 10 for index in range(TEXTS)] if directions is COLLAPSED else [i // 4 for i in range(TEXTS)]
    found = values(model, prompts)
    for name, sign in directions.items():
        noise_of_samples = abs(equal[name] - human[name])
        assert sign * (found[name] - human[name]) > 3 * noise_of_samples, name


def test_the_direction_of_repetition_and_length(human: dict[str, float]) -> None:
    looping = [text + " and then we" * 3 for text in prose(TEXTS, 2)]
    found = values(looping)
    assert human["repetition"] == human["repetition_500"] == 0
    assert found["repetition"] == found["repetition_500"] == 1
    assert found["distinct_4_per_text"] < human["distinct_4_per_text"]
    assert human["mean_length"] == WORDS and found["mean_length"] == WORDS + 9
    assert values([text + f" {text}" for text in noise(20)])["repetition"] == 1  # 60 words, twice
    far = [f"{text} " * 2 for text in (" ".join(noise(4)[index : index + 2]) for index in range(3))]  # 120 words
    assert values(far)["repetition"] == 0 and values(far)["repetition_500"] == 1


def test_a_copy_of_the_human_texts_cannot_be_told_from_them(human: dict[str, float]) -> None:
    assert values(list(prose(TEXTS, 1)), [index // 4 for index in range(TEXTS)]) == human


def test_measures_marked_as_size_dependent_change_with_the_size(human: dict[str, float]) -> None:
    """Three times the texts of one distribution: what is marked moves by more than 2 %, and the rest by less than 5.

    Of small shares such as rep-4, here .08, 5 % are less than their own error of .006: .02 in place of it.
    """
    large = values(prose(3 * TEXTS, 5))
    moved = {name: abs(large[name] / human[name] - 1) for name in large if human[name]}
    rows = statistics_rows()
    assert {name for name, share in moved.items() if rows[name].sizes_matter and share < 0.02} == set()
    far = {name for name in moved if abs(large[name] - human[name]) > 0.02}
    assert {name for name in far if not rows[name].sizes_matter and moved[name] > 0.05} == set()


def test_the_dict_is_fit_for_json_and_has_a_signature() -> None:
    texts = prose(6, 0)
    found = text_statistics(texts)
    assert json.loads(json.dumps(found)) == found
    cheap = [name for name, row in statistics_rows().items() if row.cheap and "prompts" not in row.inputs.given]
    assert list(found) == [*cheap, "num_texts", "num_tokens", "not_computed", "signature"]
    assert (found["num_texts"], found["num_tokens"], found["not_computed"]) == (6, 6 * WORDS, {})
    assert str(found["signature"]).startswith("tokens:words|num_texts:6|num_tokens:360|mauve_metric:")
    assert found["self_bleu"] == self_bleu([split_words(text) for text in texts])


def test_a_custom_tokenizer() -> None:
    def letters(text: str) -> list[int]:
        return [ord(letter) for letter in text]

    found = text_statistics(["abca", "ab"], tokenizer=letters, measures=["distinct_1", "mean_length"])
    assert (found["distinct_1"], found["mean_length"]) == (0.5, 3)
    assert "letters" in str(found["signature"])


@pytest.mark.parametrize(
    ("texts", "lacking"),
    [
        (["so it goes on and on"], {"self_bleu", "self_repetition"}),
        (["so it goes"] * 3, {"entropy_4", "rep_4", "diversity", "distinct_4_per_text"}),
        (["", ""], {"entropy_2", "entropy_4", "zipf", "compression_ratio"}),
    ],
)
def test_missing_values_are_none_with_a_reason(texts: list[str], lacking: set[str]) -> None:
    found: dict[str, Any] = text_statistics(texts)
    assert lacking <= {name for name, value in found.items() if value is None} == set(found["not_computed"])
    assert all("needs a" in reason or "needs at least" in reason for reason in found["not_computed"].values())


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: text_statistics([]), ValueError, "texts must be at least one text, got none"),
        (lambda: text_statistics(["a"], measures=["bleu"]), ValueError, "measures must be among .*, got 'bleu'"),
        (lambda: text_statistics(["a"], measures="zipf"), TypeError, "list of names, got a single string: 'zipf'"),
        (lambda: text_statistics(["a"], measures=["prompt_distinct"]), ValueError, "prompt_distinct needs prompts"),
        (lambda: text_statistics(["a"], prompts=[]), ValueError, "prompts must be one for each of the 1 texts, got 0"),
        (lambda: text_statistics(["a"], prompts="p"), TypeError, "prompts must hold one prompt for .*, got 'p'"),
        (lambda: text_statistics(["a"], tokenizer=lambda text: text), TypeError, "return a list of .*, got 'a'"),
    ],
)
def test_bad_input_is_named(call: Callable[[], object], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        call()


def test_a_tokenizer_of_transformers(tiny_gpt2: str) -> None:
    import transformers

    tokenizer = transformers.AutoTokenizer.from_pretrained(tiny_gpt2)
    expected = len(tokenizer.encode("so it goes", add_special_tokens=False))
    for given in (tiny_gpt2, tokenizer):
        found = text_statistics(["so it goes"], tokenizer=given, measures=["mean_length"])
        assert found["mean_length"] == expected and str(found["signature"]).startswith(f"tokens:{tiny_gpt2}|")
