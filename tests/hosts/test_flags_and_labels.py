"""Messages of the library for the shell and for the page."""

from __future__ import annotations

import contextlib
import io
import re

import pytest

from mauve_metric.hosts.cli.main import main
from mauve_metric.hosts.cli.warning_guide import ADVICE
from mauve_metric.hosts.flags_and_labels import API, PAGE, SHELL
from mauve_metric.report.wording.verdict_sentence import NO_VERDICT, NOTES
from mauve_metric.runtime.errors import KINDS
from mauve_metric.uncertainty.score_warnings import GUIDE, UNDECLARED


def test_advice_names_flags() -> None:
    advice = [text for item in ADVICE.values() for text in (item.cause, item.cure)] + [
        kind.advice()[1] for kind in KINDS.values()
    ]
    shown = [*NOTES.values(), *NO_VERDICT.values()]
    assert [text for text in shown if "--" in text] == []  # in Python as a Python program would write it
    advice += [re.sub(r"\{\w+\}", "words", text) for text in shown]
    python = re.compile(r"=(True|None|[`'\"])|[pq]_(text|groups)\b|(--[\w-]+)\W+\3\b|human_baseline|stress_test")
    assert len(advice) > 80 and [text for text in map(SHELL.respell, advice) if python.search(text)] == []


def test_messages_on_the_page_name_its_controls() -> None:
    messages = [*(advice.message for advice in GUIDE.values()), *NOTES.values(), *NO_VERDICT.values()]
    messages.append("aligned=True needs sets of equal size, got a 60, b 50: give p_groups and q_groups")
    messages = [re.sub(r"\{[^}]*\}", "words", text.replace("{kind!r}", "'kind'")) for text in messages]
    elsewhere = re.compile(r"=(True|None|[`'\"])|[pq]_(text|groups)\b|--\w|mauve-metric|\bfeaturizers\b")
    assert len(messages) > 80 and [text for text in map(PAGE.respell, messages) if elsewhere.search(text)] == []


def test_every_flag_of_a_message_is_one_of_the_shell() -> None:
    shown = io.StringIO()
    for command in ("score", "compare"):
        with contextlib.redirect_stdout(shown), contextlib.suppress(SystemExit):
            main([command, "--help-all"])
    python = {"device_id", "distributed", "use_float64", "verbose"}  # for programs; --verbose means another thing
    flags = {flag for name, flag in SHELL.names.items() if name not in python}
    assert len(flags) > 40 and flags <= set(re.findall(r"--[a-z-]+", shown.getvalue()))


@pytest.mark.parametrize(
    ("message", "in_the_shell", "on_the_page"),
    [
        (
            "strip='line_breaks' (--strip line_breaks) makes each text one line",
            "--strip line_breaks makes each text one line",
            "“Strip” set to “line_breaks” makes each text one line",
        ),
        (
            "sets of equal size, got p 60, q 50, and of q 2 empty texts; of q_i 3",
            "sets of equal size, got HUMAN 60, MODEL 50, and of MODEL 2 empty texts; of q_i 3",
            "sets of equal size, got p 60, q 50, and of q 2 empty texts; of q_i 3",
        ),
        (
            "featurizers needs the texts of both sides, and q holds others: give texts, or leave featurizers out",
            "several featurizers need the texts of both sides, and MODEL holds others: give texts, or leave "
            "--featurizer out",
            "featurizers needs the texts of both sides, and q holds others: give texts, or leave featurizers out",
        ),
        (
            "p, models['a'] and models['b 2'] must have the same number of columns",
            "HUMAN, MODEL a and MODEL b 2 must have the same number of columns",
            "p, models['a'] and models['b 2'] must have the same number of columns",
        ),
        (
            "seed=1 is closest; num_buckets=9 is small",
            "seed=1 is closest; --num-buckets 9 is small",
            "seed=1 is closest; “Number of buckets” set to “9” is small",
        ),
        (
            "5 a set: add num_buckets (--num-buckets 5)",
            "5 a set: add --num-buckets 5",
            "5 a set: add Number of buckets",
        ),
        (
            "both: add aligned=True, or p_groups and q_groups; add 'ngrams' to featurizers",
            "both: add --aligned, or --prompt-field NAME; add --featurizer ngrams",
            "both: tick “Rows are aligned”, or give both files a column “prompt”; tick ngrams in the options",
        ),
        (
            "strip='prompts' needs the prompts (--prompts): texts, or the name of their file",
            "--strip prompts needs the prompts (--prompts): texts, or the name of their file",
            "“Strip” set to “prompts” needs prompts, which this page does not take: take them off the texts",
        ),
        (
            "knn=True and kmeans_num_redo, not `seed`",
            "--knn and --kmeans-num-redo, not `seed`",
            "“Nearest-neighbour scores” set to “True” and K-means num redo, not seed",
        ),
        (
            "it works with featurize_model_name='minilm', featurize_model_name='use'",
            "it works with --featurizer minilm, --featurizer use",
            "it works with “Featurizer” set to “minilm”, “Featurizer” set to “use”",
        ),
        (
            "human.txt is not UTF-8: save it as UTF-8, or name its encoding, such as encoding='cp1252'",
            "human.txt is not UTF-8: save it as UTF-8, or name its encoding, such as --encoding cp1252",
            "human.txt is not UTF-8: save it as UTF-8",
        ),
        (
            "several fields may be the text: 'a' ('x'), 'b' ('y'); name one, such as text_field='a'",
            "several fields may be the text: 'a' ('x'), 'b' ('y'); name one, such as --text-field a",
            "several fields may be the text: 'a' ('x'), 'b' ('y'); call the right one “text” in the file",
        ),
        (
            "line 1: 'x' holds 3 answers: choose one with prediction_field, such as x.0",
            "line 1: 'x' holds 3 answers: choose one with --prediction-field, such as x.0",
            "line 1: 'x' holds 3 answers; keep one in the file",
        ),
        (
            f"20 % open alike{UNDECLARED}",
            "20 % open alike; intervals and tests take the texts for independent: say --aligned if row i of every set "
            "answers prompt i, or name the prompts with --prompt-field",
            "20 % open alike; intervals and tests take the texts for independent: tick “Rows are aligned” if row i "
            "of every set answers prompt i, or give both files a column “prompt”",
        ),
    ],
)
def test_a_message_at_each_door(message: str, in_the_shell: str, on_the_page: str) -> None:
    assert SHELL.respell(message) == in_the_shell
    assert PAGE.respell(message) == on_the_page


def test_an_option_that_is_a_common_word_is_a_flag_where_an_error_is_about_it() -> None:
    message = "seed must be an integer, got 'seed'"
    assert SHELL.respell(message) == message
    assert SHELL.respell(message, "seed") == "--seed must be an integer, got 'seed'"
    assert SHELL.respell(message, "models") == message
    assert PAGE.respell(message, "seed") == "Seed must be an integer, got 'seed'"
    assert API.respell(message, "seed") == message
