"""The twenty everyday questions: each leads to the part of a page that answers it, two links away from README."""

from __future__ import annotations

import re

import pytest
from samples import ROOT

PAGES = ROOT / "docs"
QUESTIONS = re.findall(r"^### (.+)\n\n(.+)$", (PAGES / "questions.md").read_text(encoding="utf-8"), re.MULTILINE)
SAID = {  # in the part that the answer's link leads to
    "What does the number mean?": "1: like other human texts",
    "What is a good score?": "There is no threshold that makes a score good",
    "How many texts do I need?": "5,000, as in the literature",
    "My model scores 1. Is it as good as people?": "`mauve_classifier`, **by classifier**, answers",
    "Is model A better than model B?": "significant at 5 %",
    "How do I get a p-value for one model?": "`permutations=B`",
    "Why is the score low?": "`explain` splits the gap",
    "Why do two runs give different numbers?": "Equal signatures mean equal scores",
    "Why is my number not the published one?": "500 buckets and c = 5",
    "My model continues the human texts' beginnings. Does it matter?": "`aligned`",
    "The model's texts are shorter. What do I do?": 'match_lengths="truncate"',
    "How do I remove `<think>…</think>`, Markdown or chat tokens?": "prompts, next_turn, unicode, html, markdown",
    "Which files can I give?": "`.jsonl`",
    "My texts are not English. What do I use?": "`intfloat/multilingual-e5-small`",
    "The gpt2-large download is too large, or I am offline.": "without a download",
    "It runs out of memory.": "`--max-batch-tokens`",
    "It is slow. What takes the time?": "MiniLM features of 100 texts",
    "How do I score millions of texts, with Ray or Slurm?": "sbatch",
    "How do I pick the best checkpoint in training?": 'metric_for_best_model="eval_closeness"',
    "How do I report it?": "**Closeness with its interval**",
}


def test_readme_leads_to_every_question() -> None:
    assert "(docs/questions.md)" in (ROOT / "README.md").read_text(encoding="utf-8")
    assert [question for question, _ in QUESTIONS] == [*SAID]


@pytest.mark.parametrize(("question", "answer"), QUESTIONS)
def test_the_linked_part_answers(question: str, answer: str) -> None:
    (link,) = re.findall(r"→ \[.+?\]\((.+?)\)", answer)
    page, _, anchor = link.partition("#")
    parts = re.split(r"^(#+ .+)$", (PAGES / page).read_text(encoding="utf-8"), flags=re.MULTILINE)
    names = [re.sub(r"[^\w -]", "", heading.lstrip("# ").lower()).replace(" ", "-") for heading in parts[1::2]]
    text = parts[2 + 2 * names.index(anchor)] if anchor else "".join(parts)
    assert SAID[question] in " ".join(text.split())
