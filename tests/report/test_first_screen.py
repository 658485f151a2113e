"""The first screen of every verdict and reason: its lines, the words of its sentences, its notes."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from mauve_metric import Comparison, MauveResult, compare, compute_mauve
from mauve_metric.hosts.cli.warning_guide import ADVICE
from mauve_metric.report.wording.verdict_sentence import DIFFERS, NO_VERDICT, NOTES, headline, notes_of
from mauve_metric.scoring.verdict import REASONS
from mauve_metric.uncertainty.score_warnings import ScoreWarning

MOST_WORDS_A_SENTENCE, MOST_WORDS, MOST_LINES, MOST_LINES_OF_THREE = 25, 135, 15, 20
WITHOUT_SENTENCE = ("layout",)  # reasons beside a difference
FEW: dict[str, Any] = {"num_runs": 1, "kmeans_num_redo": 1}


def normal(seed: int, shift: float = 0.0, n: int = 120) -> np.ndarray:
    return shift + np.random.default_rng(seed).normal(size=(n, 4))


@pytest.fixture(scope="module")
def results() -> dict[str, MauveResult]:
    """One example of each verdict and reason."""
    different = compute_mauve(p_features=normal(0), q_features=normal(1, 1.0), **FEW)
    found = {
        "different": different,
        "layout": replace(different, verdict_reason="layout"),
        "like human": compute_mauve(p_features=normal(0, n=1500), q_features=normal(1, n=1500), **FEW),
        "undecided": compute_mauve(p_features=normal(0), q_features=normal(1), **FEW),
    }
    for reason in NO_VERDICT:
        found[reason] = replace(found["undecided"], verdict="no verdict", verdict_reason=reason)
    return found


@pytest.fixture(scope="module")
def comparison() -> Comparison:
    models = {"first": normal(1, 0.2), "second": normal(2, 0.5), "third": normal(3, 3.0)}
    return compare(p_features=normal(0), models=models, **FEW)


def sentences(text: str) -> list[str]:
    """Sentences of prose: the lines of headlines and notes."""
    lines = [line for line in text.splitlines() if line and not line.startswith(("  ", "more:"))]
    return [part for line in lines for part in re.split(r"(?<=[.:!]) ", line)]


def test_every_reason_has_a_sentence() -> None:
    assert set(NO_VERDICT) == set(REASONS) - {*WITHOUT_SENTENCE}
    assert set(NOTES) <= set(ADVICE)


def test_every_view_calls_the_reference_by_its_name(results: dict[str, MauveResult], comparison: Comparison) -> None:
    named = [results[word].with_reference_name("release 1.2") for word in ("different", "like human")]
    several = comparison.with_reference_name("release 1.2")
    assert headline(named[0]).startswith("DIFFERENT from release 1.2: ")
    assert headline(named[1]).startswith("LIKE release 1.2: ") and named[1].summary().startswith("like release 1.2: ")
    for shown in (*named, several):
        assert shown.to_dict()["models" if shown is several else "reference_name"]
        screen, page = str(shown), shown.to_markdown()
        assert "release 1.2 texts" in screen and not re.search("human", screen), screen
        assert "release 1.2" in page and "release 1.2" in shown.to_latex()
    assert "first is closest to release 1.2" in str(several)
    asked = compute_mauve(p_features=normal(0), q_features=normal(1, 1.0), reference_name="release 1.2", **FEW)
    assert asked.to_dict() == named[0].to_dict() and asked.signature == named[0].signature
    with pytest.raises(ValueError, match="reference_name must be a name of 1 to 60 characters on one line"):
        compute_mauve(p_features=normal(0), q_features=normal(1), reference_name="a\nb")
    for result in (results["different"], comparison):
        with pytest.raises(ValueError, match="reference_name must be a name of 1 to 60 characters on one line"):
            result.with_reference_name("a\nb")


def test_one_screen_names_one_number_of_texts(results: dict[str, MauveResult]) -> None:
    undecided = results["undecided"]
    assert undecided.texts_needed is not None and "few_texts" in {warning.code for warning in undecided.warnings}
    assert "a set would most likely decide" in str(undecided) and "for a paper" not in str(undecided)
    assert "a set has only 120 texts: 500 or more for a paper" in str(results["different"])


def test_each_verdict_is_short_and_begins_with_itself(results: dict[str, MauveResult]) -> None:
    for name, result in results.items():
        shown = result.first_screen("model.jsonl against human.jsonl", "more: --all · --report FILE")
        assert len(shown.splitlines()) <= MOST_LINES, shown
        assert len(shown.split()) <= MOST_WORDS, shown
        assert max(len(sentence.split()) for sentence in sentences(shown)) <= MOST_WORDS_A_SENTENCE, shown
        said = headline(result)
        assert said.upper().startswith(result.verdict.upper()) and said.endswith("."), said
        assert "no verdict" not in shown.lower() or result.verdict == "no verdict", name
        assert "\n  closeness  " in shown and "\n  MAUVE  " in shown
    assert len({headline(result) for result in results.values()}) == len(results)
    assert headline(results["different"]).endswith(tuple(f"{said}." for said in DIFFERS.values()))


@pytest.mark.parametrize(
    "change", [{}, {"num_buckets": 2}, {"mauve_scaling_factor": 1}, {"kmeans_num_redo": 1}], ids=str
)
def test_only_the_published_number_is_called_so(change: dict[str, Any]) -> None:
    """A model that is smaller than another has fewer common buckets than papers would have, and its own MAUVE."""
    models = {"small": normal(1, 0.5)[:60], "large": normal(2, 0.2)}
    scored = compare(p_features=normal(0), models=models, num_runs=1, knn=False, **change)
    single = compute_mauve(p_features=normal(0), q_features=models["large"], num_runs=1, knn=False, **change)
    said = "not computed as in papers" if change else "computed as in papers"
    assert f" {said};" in single.first_screen()
    assert f"MAUVE {said} (Pillutla" in single.to_latex() and f"MAUVE {said} (Pillutla" in scored.to_latex()


def test_a_sentence_without_a_verdict_says_what_to_make_of_the_numbers(results: dict[str, MauveResult]) -> None:
    for name, result in results.items():
        said = headline(result)
        assert (
            said.startswith("NO VERDICT YET: ")
            == said.endswith(" Do not judge by these numbers.")
            == (name in NO_VERDICT)
        )


def test_an_undecided_one_says_how_many_texts_decide(results: dict[str, MauveResult]) -> None:
    numbers = [int(text.replace(",", "")) for text in re.findall(r"\d[\d,]*", headline(results["undecided"]))]
    assert numbers[0] == 120 < numbers[1]


def test_no_p_value_is_said_to_equal_less_than_a_number(results: dict[str, MauveResult]) -> None:
    """A test shows what the interval does not."""
    for p_value, said in ((1e-9, "(p < 0.0001)"), (0.012, "(p = 0.012)")):
        shown = replace(results["different"], closeness_ci=(0.8, 1.0), shown_p_value=p_value)
        assert f"shows it {said}, although the interval reaches 1." in headline(shown)


def test_three_notes_at_most_in_the_order_of_what_they_can_change(results: dict[str, MauveResult]) -> None:
    numbers = {"share": 0.3, "set": "model", "p_median_length": 9.0, "q_median_length": 90.0, "units": "tokens"}
    codes = ("few_texts", "truncated_texts", "length_mismatch", "duplicates_between", "empty_buckets")
    warned = replace(results["different"], warnings=tuple(ScoreWarning(code, "", numbers) for code in codes))
    found = notes_of(warned)
    assert [note.split()[0] for note in found] == ["30.0", "the", "30.0"] and "cut" in found[2]
    assert notes_of(replace(warned, warnings=())) == ()
    for share, starts in ((0.09, ["the", "30.0", "“so”"]), (0.1, ["“so”", "the", "30.0"])):
        opening = {"set": "model", "texts": 100, "openings": {"so": 100 * share}, "share": share}
        with_opening = replace(
            warned, warnings=(*warned.warnings[1:3], ScoreWarning("opening_in_one_set", "", opening))
        )
        assert [note.split()[0] for note in notes_of(with_opening)] == starts


def test_of_two_sets_a_note_names_the_one_with_the_larger_share(results: dict[str, MauveResult]) -> None:
    shares = {"human": 0.02, "model": 0.3}
    told = [ScoreWarning("duplicates_within", "", {"set": name, "share": share}) for name, share in shares.items()]
    for warnings in (told, told[::-1]):
        assert notes_of(replace(results["different"], warnings=tuple(warnings)))[0].startswith("30.0 % of the model")


def test_another_featurizer_is_proposed_only_where_there_is_one(results: dict[str, MauveResult]) -> None:
    """In `compare` the result of a model has the bounds of all featurizers, and nothing else of them."""
    unseen = ScoreWarning("not_literature_featurizer", "", {"featurizer": "minilm", "unseen": ["lower_case"]})
    of_features = replace(results["different"], warnings=(unseen,))
    alone = replace(of_features, format_auc=0.5)
    assert "add 'ngrams' to featurizers" in notes_of(alone)[0]
    assert "(score the texts by ngrams too)" in notes_of(of_features)[0]
    bounds = tuple(replace(bound, featurizer=name) for name in ("minilm", "ngrams") for bound in alone.bounds)
    assert notes_of(replace(alone, bounds=bounds)) == ()


def test_the_note_on_repeats_says_how_many_texts_they_are() -> None:
    p, q = np.random.default_rng(0).normal(size=(2, 100, 5))
    q[:25] = q[0]
    found = compute_mauve(p_features=p, q_features=q, num_runs=1)
    assert "! 25.0 % of the model's texts come in about 1 group of near-alike texts." in found.first_screen()
    assert any(warning.message.startswith("25.0 % of the model's texts come in") for warning in found.warnings)


def test_texts_that_were_decoded_wrongly_are_named_on_the_first_screen() -> None:
    words = np.random.default_rng(0).choice(["harbour", "winter", "money", "letter", "garden"], (120, 12))
    human, model = ([" ".join(row) for row in part] for part in np.split(words, 2))
    garbled = [f"{text} for â‚¬34.2bn" for text in model]
    assert "! wrongly decoded characters such as â€™ for ’ in 60 of 60 model texts" in str(
        compute_mauve(p_text=human, q_text=garbled, featurize_model_name="ngrams")
    )


WRONG = {  # what a model's file holds in place of its texts: of each text, and the beginning of what is said
    "html": (
        lambda text: f"<p>{text} &amp; so on</p>",
        "! HTML such as <p> or &amp; in 60 of 60 model texts: add strip=",
    ),
    "token ids": (lambda text: str([len(word) for word in text.split()]), "the texts of one set are lists"),
    "labels": (lambda text: text.split()[0], "! the texts differ in length: model 1, others 12 words: check that"),
    "UTF-16": (lambda text: text.encode("utf-16-le").decode("latin-1"), "! wrongly decoded characters"),
    "a missing value": (lambda text: "None", "! texts such as null or None in 60 of 60 model texts"),
    "an error": (
        lambda text: f"Error: rate limit of {text[:9]}",
        "! “error rate limit of",
    ),
}


@pytest.mark.more
@pytest.mark.parametrize("kind", WRONG)
def test_what_is_no_text_is_named_on_the_first_screen(kind: str) -> None:
    words = np.random.default_rng(0).choice(["harbour", "winter", "money", "letter", "garden"], (120, 12))
    human, model = ([" ".join(row) for row in part] for part in np.split(words, 2))
    wrong, said = WRONG[kind]
    result = compute_mauve(p_text=human, q_text=[wrong(text) for text in model], featurize_model_name="ngrams")
    assert said in f"! {headline(result)}\n{result}"


def test_a_single_text_is_a_singular() -> None:
    lone = compute_mauve(p_text=["One text."], q_text=["Another text."], featurize_model_name="ngrams")
    assert "a set has only 1 text" in str(lone) and "num_buckets_large" not in [item.code for item in lone.warnings]
    said = f"{lone} {lone.document().terminal()} {lone.to_latex()}"
    assert not re.search(
        r"(?<![+.])(?<!\+ )\b1 (?:human |model )?(?:texts|rows|prompts|models|buckets|words) (?!and)", said
    ), said


def test_a_note_on_some_models_names_them(comparison: Comparison) -> None:
    models = dict(comparison.models)
    garbled = ScoreWarning("garbled_texts", "", {"p_texts": 0, "q_texts": 9, "n_p": 60, "n_q": 60, "share": 0.15})
    models["second"] = replace(models["second"], warnings=(garbled,))
    assert "! second: wrongly decoded characters" in replace(comparison, models=models).first_screen()


def test_a_comparison_has_a_row_for_each_model_and_one_sentence(comparison: Comparison) -> None:
    shown = comparison.first_screen(more="more: --all")
    assert len(shown.splitlines()) <= MOST_LINES_OF_THREE
    places = [shown.index(f"\n  {name} ") for name in comparison.ranking]
    assert places == sorted(places)
    assert max(len(sentence.split()) for sentence in sentences(shown)) <= MOST_WORDS_A_SENTENCE
    doubtful = replace(comparison.models["first"], verdict="no verdict", verdict_reason="rows_not_aligned")
    withheld = replace(comparison, models=comparison.models | {"first": doubtful})
    assert "NO RANKING: there is no verdict on first: the rows are not aligned." in withheld.first_screen()
    assert "closest" not in withheld.first_screen()


@pytest.mark.parametrize(
    ("halves", "reach"), [((0.8, 0.801, None), "0.80"), ((0.906, 0.8, None), "0.80 to 0.91"), ((None, None, None), "")]
)
def test_what_two_halves_reach_is_a_range_over_the_models(
    comparison: Comparison, halves: tuple[float | None, ...], reach: str
) -> None:
    models = zip(comparison.models.items(), halves, strict=True)
    shown = str(replace(comparison, models={name: replace(result, human_halves=of) for (name, result), of in models}))
    assert f"two halves of the human texts reach {reach} in both" in shown if reach else "halves" not in shown


def test_a_line_is_enough_for_the_quiet(results: dict[str, MauveResult]) -> None:
    for result in results.values():
        assert result.summary().startswith(result.verdict) and "\n" not in result.summary()
        assert str(result) == result.first_screen()


def test_missing_texts_are_counted_on_the_first_screen(results: dict[str, MauveResult]) -> None:
    result = next(iter(results.values()))
    assert "missing" not in result.first_screen().split("\n")[0]
    dropped = replace(result, q_dropped=4)
    assert f"{result.n_p} + {result.n_q} texts (0 + 4 missing left out)" in dropped.first_screen().split("\n")[0]


def test_a_set_of_features_given_twice_is_not_called_too_small() -> None:
    result = compute_mauve(p_features=normal(0), q_features=normal(0)[::-1], **FEW)
    assert result.verdict_reason == "no_interval"
    assert "both sets hold the same texts" in headline(result) and "each file once" in headline(result)
    (message,) = [warning.message for warning in result.warnings if warning.code == "no_interval"]
    assert "is one set given twice" in message
