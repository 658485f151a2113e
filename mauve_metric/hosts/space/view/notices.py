"""The notices of the page: origin of the result, changed inputs, end of a run."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from html import unescape

from mauve_metric.hosts.space.session.sessions import Shown
from mauve_metric.hosts.space.view.markup import escape
from mauve_metric.results.description import Description

STOPPED = "<p class='mm-note'>Stopped. Nothing was changed.</p>"
STOPPING = "<p class='mm-note'>Stopping, as soon as the texts at work are read.</p>"
NOTHING_RUNS = "<p class='mm-note'>Nothing is running.</p>"
NO_TEXTS = (
    "<p class='mm-note'>The texts are not in a result's file: choose them again and compare, to read them here, to see "
    "their map and to play.</p>"
)
PAPERS = ("https://arxiv.org/abs/2102.01454", "https://arxiv.org/abs/2212.14578")
GONE = "uploads and results are kept for an hour: choose them again"


def run_limit(words: str) -> str:
    """The sentence beside the button that compares."""
    return f"<p class='mm-note' role='status'>{escape(words)}</p>"


def stale(example: bool) -> str:
    """Notice that the inputs changed since the result was computed."""
    whose = "This is still the example. " if example else ""
    return f"<p class='mm-stale' role='status'>{whose}Inputs changed: compare again.</p>"


def measures_stale(there: bool, inputs: bool, fit: bool) -> str:
    """Notice that inputs or settings changed since the measures were computed, else "".

    >>> measures_stale(True, False, True)
    ''
    """
    if not there or (fit and not inputs):
        return ""
    said = "Inputs changed: compare again, then compute these." if inputs else "Settings changed: compute these again."
    return f"<p class='mm-old'>{said}</p>"


def measured(description: Description) -> str:
    """Notice that the measures are computed, as one line for screen readers."""
    failed = f", {len(description.failed)} could not be computed" if description.failed else ""
    return f"<p class='mm-note'>{len(description.measures)} measures are there{failed}.</p>"


def arrived(headline: str) -> str:
    """Notice that the result is computed, with its headline as one line for screen readers.

    >>> arrived("<p class='mm-answer'>Far.</p> <p>So.</p> <p class='mm-score'>MAUVE <strong>0.5</strong></p>")
    "<p class='mm-note' data-result='yes'>The result is there: Far. MAUVE 0.5.</p>"
    """
    lines = re.findall(r"<p class='mm-(?:answer|score)(?: mm-doubt)?'>(.*?)</p>", headline, re.DOTALL)
    texts = [" ".join(unescape(re.sub(r"<[^>]*>", "", line)).split()) for line in lines]
    said = " ".join(text if text.endswith((".", ":")) else f"{text}." for text in texts if text)
    return f"<p class='mm-note' data-result='yes'>The result is there: {escape(said)}</p>"


def links(environment: Mapping[str, str] = os.environ) -> str:
    """The links to the papers and to the code."""
    paper, longer = PAPERS
    space = environment.get("SPACE_ID")
    code = f"https://huggingface.co/spaces/{space}/tree/main" if space else "#code"
    return (
        f"<p class='mm-note'><a href='{paper}' target='_blank' rel='noopener'>The paper</a>, "
        f"<a href='{longer}' target='_blank' rel='noopener'>the longer one</a>, "
        f"<a href='{escape(code)}'>the code</a>, <a href='judge'>judge texts yourself</a></p>"
    )


def about(shown: Shown) -> str:
    """The paragraph about the example: its texts."""
    result = shown.scored.results[shown.picked]
    return (
        f"<p class='mm-about'><strong>An example:</strong> {result.n_q} passages that a small model wrote by "
        f"{escape(shown.picked)}, against {result.n_p} of human prose.</p>"
    )


SHARED = (
    "<p class='mm-about'><strong>Shared result, not recomputed:</strong> these numbers are those of the link, and "
    "anyone can write a link. Its warnings are not shown. Ask for the texts, and compare them here.</p>"
)


def about_opened(name: str) -> str:
    """Notice that the result comes from a file."""
    return f"<p class='mm-about'>Opened from <strong>{escape(name)}</strong>: a result without its texts.</p>"
