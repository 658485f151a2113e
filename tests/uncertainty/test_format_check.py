"""Sets that format alone separates are named with the strongest number."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from mauve_metric import compute_mauve
from mauve_metric.features.feature_set import FeatureSet
from mauve_metric.inputs.fingerprints import TRAITS, Marks, TextHashes, format_numbers
from mauve_metric.inputs.stripping import WRAPPING
from mauve_metric.measures.cross_fitting import cross_fit
from mauve_metric.uncertainty import format_check
from mauve_metric.uncertainty.format_check import UNCHECKED, check_format, format_warnings, wrapping_warnings

WORDS = "a model writes one long line of words and a person breaks what was said into short ones".split()


def _texts(number: int, between: str, seed: int) -> list[str]:
    rng = np.random.default_rng(seed)
    return [between.join(" ".join(rng.choice(WORDS, 6)) for _ in range(5)) for _ in range(number)]


@pytest.mark.slow
def test_the_warning_on_line_breaks_names_the_option_that_removes_it() -> None:
    human, model = _texts(60, " ", 0), _texts(60, "\n", 1)
    raw = compute_mauve(p_text=human, q_text=model, featurize_model_name="ngrams")
    assert raw.format_aucs is not None and raw.format_aucs["line_breaks"] > 0.99
    (warning,) = [item for item in raw.warnings if item.code == "format_differs"]
    assert "differ in line breaks (AUC 1.00)" in warning.message
    assert warning.message.endswith("Cure: strip='line_breaks'")
    cured = compute_mauve(p_text=human, q_text=model, featurize_model_name="ngrams", strip="line_breaks")
    assert cured.format_auc is not None and cured.format_auc < 0.7
    assert "format_differs" not in [item.code for item in cured.warnings]
    assert raw.auc is not None and cured.auc is not None and raw.auc > cured.auc + 0.15


def test_the_auc_of_one_number_is_that_of_the_number_itself() -> None:
    texts = [_texts(100, "", 2), [text.replace("a", "A", index % 3) for index, text in enumerate(_texts(100, "", 3))]]
    p, q = (np.array([format_numbers(text) for text in side]) for side in texts)
    _, each, telling = check_format(p, q, None, 0)
    column = list(TRAITS).index("capitals")
    raw = roc_auc_score(np.repeat([0, 1], 100), np.r_[p[:, column], q[:, column]])
    assert each is not None and abs(each["capitals"] - raw) < 0.05  # of folds in place of all texts
    assert telling[0] == "capitals"
    others = check_format(p, q, None, 7)[1]
    assert others is not None and others["length"] != each["length"]  # other folds


def test_layout_that_the_featurizer_does_not_see_and_style_do_not_count() -> None:
    texts = [_texts(100, " ", 2), [text.replace("one", "“one”") for text in _texts(100, "\n", 3)]]
    p, q = (np.array([format_numbers(text) for text in side]) for side in texts)
    _, each, telling = check_format(p, q, None, 0)
    assert {*telling} >= {"line_breaks", "curly_quotes"}
    assert each is not None and each["quotes"] > 0.9  # style, which explain shows
    unseen = check_format(p, q, None, 0, {"line_breaks", "curly_quotes", "length"})
    assert unseen[1:] == (each, ()) and not [*format_warnings(unseen, "minilm")]


def test_a_number_that_all_texts_share_has_the_auc_that_a_classifier_of_it_would_have() -> None:
    p, q = (np.array([format_numbers(text) for text in _texts(40, " ", seed)]) for seed in (4, 5))
    column = list(TRAITS).index("line_breaks")
    rows, is_model = np.concatenate([p, q])[:, [column]], np.arange(80) >= 40
    _, each, _ = check_format(p, q, None, 0)
    assert np.ptp(rows) == 0 and each is not None
    assert each["line_breaks"] == cross_fit(rows, is_model, seed=0).auc == 0.5


def test_the_layout_of_ten_texts_is_checked() -> None:
    numbers = np.array([format_numbers(text) for text in _texts(20, "", 2)])
    assert check_format(numbers[:10], numbers[10:], None, 0) != UNCHECKED
    assert check_format(numbers[:9], numbers[10:], None, 0) == UNCHECKED


def test_the_check_does_not_depend_on_the_order_of_the_texts() -> None:
    p, q = (np.array([format_numbers(text) for text in _texts(60, "\n" * n, n)]) for n in (1, 2))
    order = np.random.default_rng(0).permutation(60)
    assert check_format(p, q, None, 0) == check_format(p[order], q[order[::-1]], None, 0)


def test_equal_formats_and_unknown_texts_give_no_warning() -> None:
    p, q = (np.array([format_numbers(text) for text in _texts(80, " ", seed)]) for seed in (4, 5))
    assert not [*format_warnings(check_format(p, q, None, 0), None)]
    assert check_format(None, q, None, 0) == check_format(p[:9], q, None, 0) == UNCHECKED
    features = np.random.default_rng(0).normal(size=(40, 3))
    assert compute_mauve(p_features=features, q_features=features[::-1]).format_auc is None


PLAIN = [f"{word} {number} is about {word}" for number in range(100) for word in ("Rain", "Snow", "Wind", "Sun", "Ice")]


def bare(marks: Marks | None, stripped: dict[str, int] | None = None, size: int = 500) -> FeatureSet:
    return FeatureSet(np.zeros((size, 2)), marks=marks, stripped=stripped or {})


def side(texts: list[str]) -> FeatureSet:
    seen = TextHashes()
    assert list(seen.watch(texts)) == texts
    return bare(seen.fields()["marks"], size=len(texts))


def some(start: str, count: int) -> list[str]:
    """`PLAIN`, so many texts of which have a beginning of their own."""
    return [f"{start}{text}" if number < count else text for number, text in enumerate(PLAIN)]


def test_each_rule_of_strip_has_its_warning() -> None:
    layout = {trait.strip for trait in TRAITS.values()} - {None}  # which `format_differs` names
    assert {*format_check.SIGHTS} | layout == {*WRAPPING, "prompts"}


@pytest.mark.more
@pytest.mark.parametrize(
    ("start", "kind"),
    [
        ("<think>Hm.</think>", "reasoning"),
        ("<s>", "special_tokens"),
        ("# A\n", "markdown"),
        ("One.\\n", "undecoded"),
        ("Yes.\nUser: And?", "next_turn"),
    ],
)
def test_wrapping_of_one_set_is_named_with_its_remedy(start: str, kind: str) -> None:
    for p, q, human, model in ((PLAIN, some(start, 30), 0, 30), (some(start, 30), PLAIN, 30, 0)):
        (warning,) = wrapping_warnings(side(p), side(q))
        assert warning.code == "wrapping_in_one_set" and f"strip={kind!r}" in warning.message and warning.severe
        assert f"{human} of 500 human and {model} of 500 model texts show " in warning.message
        counts = {"p_texts": human, "q_texts": model, "n_p": 500, "n_q": 500, "share": 0.06}
        assert warning.numbers == {"kind": kind} | counts
    assert not [*wrapping_warnings(side(PLAIN), side(some(start, 5)))]  # 1 %
    assert not [*wrapping_warnings(side(some(start, 5)), side(some(start, 30)))]  # both have it
    assert not [*wrapping_warnings(bare(None), side(some(start, 30)))]  # nothing is known of features


def test_blanks_of_one_set_are_said_when_they_are_many() -> None:
    (warning,) = wrapping_warnings(side(PLAIN), side(some(" ", 51)))
    assert warning.code == "blanks_in_one_set" and "strip='whitespace'" in warning.message and not warning.severe
    assert not [*wrapping_warnings(side(PLAIN), side(some("\n", 50)))]  # 10 %
    blind = replace(side(PLAIN), unseen_formats=frozenset({"outer_blanks"}))
    assert not [*wrapping_warnings(blind, side(some(" ", 51)))]


@pytest.mark.parametrize("share", [0.1, 0.3, 0.5])
@pytest.mark.parametrize("side_with_more", [0, 1])
def test_loops_of_one_set_are_called_so(share: float, side_with_more: int) -> None:
    looping = [f"{text} and it was cold{' and then it was cold' * 9}" for text in PLAIN[: int(500 * share)]]
    sides = [side(PLAIN), side([*looping, *PLAIN[len(looping) :]])]
    (warning,) = wrapping_warnings(*(sides if side_with_more else sides[::-1]))
    assert warning.code == "looping_texts" and f"{len(looping)} of 500 {('human', 'model')[side_with_more]}" in (
        warning.message
    )
    assert warning.message.endswith(f"against the {('human', 'model')[side_with_more]} texts") and not warning.severe
    assert not [*wrapping_warnings(sides[1], sides[1])]  # both have them
    few = side([*looping[:15], *PLAIN[15:]])
    assert not [*wrapping_warnings(side(PLAIN), few)]  # 3 %


def test_the_difference_of_the_shares_counts_and_not_their_sum() -> None:
    """One and 18 of 600 differ by less than 3 %, one and 20 by more; three times as many are no more than that."""
    marks = [Marks({"loops": times}, None, 600) for times in (1, 18, 20)]
    assert format_check._more_in_one(marks[0], marks[1], "loops", 0.03) == {}
    assert format_check._more_in_one(marks[2], marks[0], "loops", 0.03)["share"] == 20 / 600
    for times, is_more in ((6, False), (7, True)):
        sides = Marks({"loops": times}, None, 16), Marks({"loops": 2}, None, 16)
        assert bool(format_check._more_in_one(*sides, "loops", 0.03)) is is_more


def test_wrongly_decoded_texts_of_one_set_are_named() -> None:
    human = [f"{text}, at â‚¬{number}" if number < 6 else text for number, text in enumerate(PLAIN)]
    (warning,) = wrapping_warnings(side(human), side(PLAIN))
    assert warning.code == "garbled_texts" and "6 of 500 human and 0 of 500 model" in warning.message
    assert "the source of the human texts" in warning.message
    assert not [*wrapping_warnings(side(human), side(human))]
    assert not [*wrapping_warnings(side([*human[:5], *PLAIN[5:]]), side(PLAIN))]  # 1 %


def test_words_for_missing_values_are_named_from_the_first_on() -> None:
    (warning,) = wrapping_warnings(side(PLAIN), side(["nan", *PLAIN[1:]]))
    assert warning.code == "missing_values" and warning.message.startswith("1 of 500 model texts is only a word such")
    assert warning.numbers == {"set": "model", "texts": 500, "count": 1, "share": 1 / 500}
    (warning,) = wrapping_warnings(side([*["None"] * 9, *PLAIN[9:]]), side(PLAIN))
    assert "9 of 500 human texts are only" in warning.message


def test_prompts_of_one_set_are_named_with_their_remedy() -> None:
    marks = side(PLAIN).marks
    assert marks is not None
    echoing = bare(replace(marks, wrapped={**marks.wrapped, "prompts": 400}))
    plain = bare(replace(marks, wrapped={**marks.wrapped, "prompts": 0}))
    (warning,) = wrapping_warnings(plain, echoing)
    assert warning.code == "echoed_prompts" and warning.severe and "strip='prompts'" in warning.message
    assert not [*wrapping_warnings(echoing, echoing)]
    assert not [*wrapping_warnings(bare(marks), echoing)]  # not known of one set


@pytest.mark.more
def test_openings_of_one_set_are_shown() -> None:
    (warning,) = wrapping_warnings(side(some("+ ", 0)), side(some("Sure, here is a story: ", 26)))
    assert warning.code == "opening_in_one_set"
    assert "of 500 model texts many begin" in warning.message and "“sure here is a story” (26)" in warning.message
    assert warning.numbers == {"set": "model", "texts": 500, "openings": {"sure here is a story": 26}, "share": 0.052}
    (warning,) = wrapping_warnings(side(some("The New York ", 100)), side(PLAIN))
    assert warning.numbers["set"] == "human" and list(warning.numbers["openings"]) == ["the new york"]
    assert not [*wrapping_warnings(side(PLAIN), side(some("Sure, here is ", 25)))]  # 5 %
    assert not [*wrapping_warnings(side(some("Sure, here is ", 3)), side(some("Sure, here is ", 100)))]  # .6 %
    assert len([*wrapping_warnings(side(some("Sure, here is ", 2)), side(some("Sure, here is ", 100)))]) == 1  # .4 %


def test_openings_that_differ_are_shown_by_their_common_words() -> None:
    texts = [f"Sure, here {('is', 'are')[number % 2]} {number} {text}" for number, text in enumerate(PLAIN)]
    (warning,) = wrapping_warnings(side(PLAIN), side(texts))
    assert warning.numbers["openings"] == {"sure here": 500}


def test_what_was_taken_off_is_said_above_one_in_a_hundred() -> None:
    few, many = bare(None, {"reasoning": 5}), bare(None, {"reasoning": 6, "markdown": 500, "whitespace": 1})
    (warning,) = wrapping_warnings(few, many)
    assert warning.code == "stripped_texts" and not warning.severe
    assert "the model texts (reasoning off 6, markdown off 500 of 500)" in warning.message
    assert warning.numbers == {"set": "model", "texts": 500, "reasoning": 6, "markdown": 500}


def marked(texts: int, openings: dict[str, int] | None = None, **wrapped: int) -> FeatureSet:
    """A set of which so many texts show each kind of mark."""
    begun = None if openings is None else {tuple(words.split()): times for words, times in openings.items()}
    return bare(Marks(wrapped, begun, texts), size=texts)


@pytest.mark.parametrize(
    ("rule", "p", "q", "is_said"),
    [
        ("html", (0, 1000), (5, 100), True),
        ("html", (5, 100), (0, 1000), True),
        ("html", (0, 1000), (4, 100), False),  # fewer than five texts
        ("html", (4, 100), (6, 90_000), False),  # five of the set with the smaller share are none of the other
        ("html", (6, 90_000), (4, 100), False),
        ("html", (0, 1000), (10, 1000), False),  # 1 %
        ("html", (0, 10), (11, 1000), True),
        ("html", (11, 2000), (6, 100), True),  # .55 % is less than a tenth of 6 %
        ("html", (13, 2000), (6, 100), False),  # .65 % is not
        ("html", (1, 100), (10, 100), False),  # nor is a tenth
        ("whitespace", (0, 10), (11, 100), True),
        ("whitespace", (0, 10), (10, 100), False),
    ],
)
def test_a_wrapping_is_judged_by_the_shares_of_both_sets(
    rule: str, p: tuple[int, int], q: tuple[int, int], is_said: bool
) -> None:
    sides = [marked(texts, **({rule: times} if times else {})) for times, texts in (p, q)]
    found = [*wrapping_warnings(*sides)]
    assert len(found) == is_said
    for warning in found:
        assert warning.numbers == {
            "kind": rule, "p_texts": p[0], "q_texts": q[0], "n_p": p[1], "n_q": q[1],
            "share": max(p[0] / p[1], q[0] / q[1]),
        }  # fmt: skip


@pytest.mark.parametrize(("code", "mark"), [(code, mark) for code, (mark, _) in format_check.DEFECTS.items()])
def test_one_text_with_a_defect_is_an_accident(code: str, mark: str) -> None:
    for few, many, more in ((marked(4), marked(4, **{mark: 2}), "model"), (marked(4, **{mark: 2}), marked(6), "human")):
        (warning,) = wrapping_warnings(few, many)
        numbers = {"p_texts": 0 if more == "model" else 2, "q_texts": 2 if more == "model" else 0}
        assert warning.code == code and warning.numbers == {**numbers, "n_p": len(few), "n_q": len(many), "share": 0.5}
        assert f"{more} texts" in warning.message
    assert not [*wrapping_warnings(marked(4), marked(4, **{mark: 1}))]


def test_the_set_with_more_defects_is_that_with_the_larger_share() -> None:
    many, few = {"p_texts": 50, "n_p": 100, "q_texts": 100, "n_q": 1000}, {"p_texts": 100, "n_p": 1000}
    assert format_check.with_more(many) == "human"
    assert format_check.with_more(few | {"q_texts": 50, "n_q": 100}) == "model"


def test_openings_of_one_set_are_its_longest_common_words_the_most_common_first() -> None:
    plain = marked(100, {"it rained all day and then": 1})
    told = {"once upon a time there was": 30, "once upon a time in a": 25}
    listed = {"zoo words": 6, "and so": 6, "but then": 6, "yet again": 5}
    for first, second, name in ((marked(200, told | listed), plain, "human"), (plain, marked(200, told), "model")):
        (warning,) = wrapping_warnings(first, second)
        assert warning.numbers == {"set": name, "texts": 200, "openings": {"once upon a time": 55}, "share": 0.275}
    (warning,) = wrapping_warnings(marked(100, told | listed), plain)
    assert [*warning.numbers["openings"].items()] == [("once upon a time", 55), ("and so", 6), ("but then", 6)]
    for times, texts, is_said in ((5, 20, True), (4, 20, False), (5, 100, False), (6, 100, True)):
        assert len([*wrapping_warnings(plain, marked(texts, {"sure here": times}))]) == is_said
    for texts, is_said in ((201, True), (200, False)):  # .5 % of the other set
        sides = marked(texts, {"sure here": 1}), marked(100, {"sure here": 50})
        assert len([*wrapping_warnings(*sides)]) == is_said
    for times, said in ((18, "once upon a time"), (17, "once upon a")):  # of 20
        (warning,) = wrapping_warnings(plain, marked(100, {"once upon a time": times, "once upon a lake": 20 - times}))
        assert [*warning.numbers["openings"]] == [said]
    assert not [*wrapping_warnings(marked(100), marked(100, told))]  # of one set they are not known
    assert not [*wrapping_warnings(bare(None), marked(100, told, html=50))]


def test_the_warning_on_layout_names_the_three_strongest_and_the_cure() -> None:
    each = {"line_breaks": 0.95, "quotes": 0.9, "curly_quotes": 0.85, "markdown": 0.8, "capitals": 0.7}
    telling = ("line_breaks", "curly_quotes", "markdown", "capitals")
    (warning,) = format_warnings((0.97, each, telling), "minilm")
    said = "the sets differ in line breaks (AUC 0.95), curly quotes and Markdown, which minilm sees: "
    assert warning.message == said + format_check.UNTRIED
    aucs = {"auc_line_breaks": 0.95, "auc_curly_quotes": 0.85, "auc_markdown": 0.8, "auc_capitals": 0.7}
    assert warning.numbers == {"auc": 0.97, "layout": [*telling], **aucs}
    cured = format_check.format_warning(warning.numbers, None, "it lowers the score", "strip='quotes'", 0.05)
    assert cured.message.endswith("which the featurizer sees: it lowers the score. Cure: strip='quotes'")
    assert cured.weight == 0.05 < warning.weight < 1


def test_weak_differences_of_layout_that_tell_sets_apart_together_are_named_by_the_strongest() -> None:
    rng = np.random.default_rng(0)
    p, q = rng.normal(size=(2, 2000, len(TRAITS)))
    auc, each, telling = check_format(p, q + 0.2, None, 0)
    assert auc is not None and each is not None
    layout = {name: each[name] for name, trait in TRAITS.items() if trait.without is not None}
    assert check_format(p, q + 0.2, None, 7)[0] != auc  # other folds
    assert auc > 0.6 > max(layout.values()) and telling == (max(layout, key=lambda name: layout[name]),)


@pytest.mark.parametrize(
    ("auc", "p_value", "alone", "telling"),
    [
        (0.61, 0.01, 0.61, sum(trait.without is not None for trait in TRAITS.values())),
        (0.6, 0.01, 0.61, 0),
        (0.61, 0.011, 0.61, 0),
        (0.61, 0.01, 0.6, 1),
    ],
)
def test_layout_is_named_above_an_auc_of_six_tenths_and_up_to_a_p_value_of_a_hundredth(
    auc: float, p_value: float, alone: float, telling: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of all layout together, and of each trait alone."""

    def fitted(rows: np.ndarray, *_: object, permutations: int = 0, **__: object) -> SimpleNamespace:
        return SimpleNamespace(auc=auc if permutations else alone, p_value=p_value)

    monkeypatch.setattr(format_check, "cross_fit", fitted)
    p, q = np.random.default_rng(0).normal(size=(2, 20, len(TRAITS)))
    found = check_format(p, q, None, 0)
    assert (found[0], len(found[2])) == (auc, telling)


def test_the_layout_of_ten_groups_is_checked() -> None:
    numbers = np.random.default_rng(1).normal(size=(40, len(TRAITS)))
    for groups, is_checked in ((10, True), (9, False)):
        codes = np.arange(40) % groups, 50 + np.arange(40) % 12
        for sides in (codes, codes[::-1]):
            assert (check_format(numbers, numbers + 1, sides, 0) != UNCHECKED) is is_checked
    assert check_format(numbers, numbers + 100, None, 0)[0] == 1
