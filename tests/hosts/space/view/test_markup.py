"""HTML of the page: the headline, folded warnings, marked texts; and nothing in it but text."""

from __future__ import annotations

import html
import re
from dataclasses import replace

import pytest

from mauve_metric import Explanation, MauveResult, explain
from mauve_metric.features.text_functions import NgramUse
from mauve_metric.hosts.flags_and_labels import PAGE
from mauve_metric.hosts.space.session.uploads import TextSet
from mauve_metric.hosts.space.view import markup
from mauve_metric.report.wording.verdict_sentence import NO_VERDICT, NOTES
from mauve_metric.results.explanation import ScoredText
from mauve_metric.uncertainty.score_warnings import ScoreWarning
from tests.samples import HOSTILE, HUMAN, MODEL, ngrams

_GARBLED = {"p_texts": 0, "n_p": 30, "q_texts": 9, "n_q": 24, "share": 9 / 24}


@pytest.fixture(scope="module")
def explanation() -> Explanation:
    quick = {"num_buckets": 4, "num_runs": 2, "kmeans_num_redo": 1}
    return explain(p_text=HUMAN, q_text=MODEL, featurize_model_name=ngrams, **quick)


@pytest.fixture(scope="module")
def result(explanation: Explanation) -> MauveResult:
    return explanation.result


def text_of(page: str) -> str:
    """The visible text."""
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", page)).split())


@pytest.mark.parametrize("text", [*NO_VERDICT.values(), *NOTES.values()])
def test_no_cure_on_the_page_is_a_command(text: str) -> None:
    assert not re.search(r"--\w|mauve-metric", PAGE.respell(text.replace("{kind}", "markdown")))


def test_all_warnings_are_folded_and_severe_ones_come_first() -> None:
    mild = [("", ScoreWarning(f"mild_{number}", f"m{number}", {})) for number in range(3)]
    severe = ("a <b>", ScoreWarning("at_floor", "at its floor", {}))
    page = markup.warnings_list([*mild, severe])
    seen, folded = page.split("<details>")
    assert "m1" not in seen and folded.index("at its floor") < folded.index("m0") < folded.index("m2")
    assert "<summary>4 things to know before you believe it</summary>" in folded
    assert markup.warnings_list([]) == ""
    assert "<summary>1 thing to know" in markup.warnings_list(mild[:1])


def test_scores_panel_has_the_spread_over_seeds_and_the_test(result: MauveResult) -> None:
    entries = {**result.signature_entries, "permutations": 19}
    shown = text_of(markup.scores_panel(replace(result, p_value=0.35, signature_entries=entries)))
    assert (
        f"MAUVE over seeds {result.mauve_mean:.4f} ± {result.mauve_std:.4f} , mean and standard deviation of 2" in shown
    )
    assert "p-value 0.3500 , share of 20 splits" in shown


def test_telling_phrases_are_marked_by_side_and_nothing_else_is_markup(explanation: Explanation) -> None:
    near = explanation.buckets[0].p_texts[0]
    texts = tuple(near._replace(text=text, in_bucket=True) for text in (*HOSTILE, "A <b>SLEPT</b> in the barn"))
    bucket = replace(
        explanation.buckets[0],
        p_words=("slept", "script", "b"), q_words=("onerror",), repeated=("in the barn",),
        p_texts=texts, q_texts=texts, p_count=len(texts), q_count=len(texts),
    )  # fmt: skip
    page = markup.bucket_panel(bucket, (40, 40))
    human, model = page.split("<section>")[1:]
    assert "&lt;<mark class='mm-human'>b</mark>&gt;<mark class='mm-human'>SLEPT</mark>&lt;/" in human
    assert "<mark class='mm-model'>in the barn</mark>" in model and "mm-human" not in model
    assert "&lt;<mark class='mm-human'>script</mark>&gt;" in human and "<script" not in page and "<img" not in page
    assert set(re.findall(r"</?(\w+)", page)) <= {
        "h4",
        "ul",
        "li",
        "b",
        "p",
        "div",
        "section",
        "span",
        "mark",
        "details",
        "summary",
    }
    assert "{" not in page and "$" not in page and "`" not in page and "\u202e" not in page


def test_the_explanation_of_a_classifier_is_shown_as_text(explanation: Explanation) -> None:
    extreme = (ScoredText(3, 0.98, HOSTILE[0]),)
    uses = (NgramUse("<b>", "letters", 0.0, 1.0, 9.0, "line breaks"),)
    page = markup.pair_panel(
        replace(explanation, most_human=(), most_model=extreme, ngrams=uses), (), extreme, ((), ())
    )
    assert HOSTILE[0] not in page and "<b>" not in page
    assert "text 4 (rank 0.98)" in text_of(page) and "only the model writes “<b>”" in text_of(page)
    assert "<details>" in page

    texts = tuple(ScoredText(row, 1.0, text) for row, text in enumerate(("nothing here", "a <b>so</b> and so", "so")))
    page = markup.pair_panel(replace(explanation, most_human=(), most_model=()), texts, texts, (("so",), ("here",)))
    assert "a &lt;b&gt;<mark class='mm-human'>so</mark>&lt;/b&gt; and <mark class='mm-human'>so</mark>" in page
    assert "nothing <mark class='mm-model'>here</mark>" in page and "<details>" not in page  # the text with most marks


def test_the_preview_of_a_single_text_has_no_range() -> None:
    shown = text_of(markup.preview(TextSet("one", "one.txt", ["One two three."]), 3))
    assert "1 text from one.txt; words in each: 3" in shown and "half of the texts" not in shown


def test_the_preview_of_empty_texts_leads_to_their_control() -> None:
    shown = markup.preview(TextSet("two", "two.txt", ["One.", " "]))
    assert (
        "1 of them empty (see “<a href='#control/choices/options/empty_texts'>Empty texts</a>” in the options)" in shown
    )
