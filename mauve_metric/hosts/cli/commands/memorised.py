"""`mauve-metric memorised`: the passages of a model's texts that a corpus contains verbatim."""

from __future__ import annotations

import argparse
from typing import Any

from mauve_metric.hosts.cli.flags import CommandParser
from mauve_metric.hosts.cli.inputs_and_outputs import json_of, reading, show
from mauve_metric.inputs.files import read_texts
from mauve_metric.runtime.errors import WrongOption
from mauve_metric.runtime.plain_text import counted

HELP = "show the share of a model's texts that appears word for word in a corpus"
_SHOWN = 10  # passages listed in the terminal


def add_arguments(parser: CommandParser) -> None:
    """Add the texts, the corpus and the length of a passage."""
    parser.add_argument("texts", metavar="TEXTS", help="the model's texts")
    parser.add_argument("corpus", metavar="CORPUS", nargs="+", help="files and folders, read a part at a time")
    text = "row i of TEXTS and of CORPUS continues one opening: how like the true continuations the model's are"
    parser.add_argument("--prompted", action="store_true", help=text)
    parser.add_argument("--length", type=int, help="tokens of a passage that counts (unset: 50; not with --prompted)")
    parser.add_argument(
        "--tokenizer", metavar="TOKENIZER", help="count this tokenizer's tokens (unset: between blanks)"
    )
    parser.add_argument("--text-field", metavar="NAME", help="field or column of the texts")
    parser.add_encoding()
    parser.add_argument("--json", action="store_true", help="print one JSON object and nothing else on stdout")


def run(options: argparse.Namespace) -> None:
    """Find the passages and show them."""
    from mauve_metric.apps.describing.measure_runner import tokenizing
    from mauve_metric.apps.describing.memorisation import corpus_texts, memorisation, prompted_memorisation
    from mauve_metric.results.methods import plain

    if options.prompted and options.length is not None:
        raise WrongOption("--length counts in passages, which --prompted does not look for: leave one of the two out")
    texts = read_texts(options.texts, options.text_field, **reading(options))
    split: dict[str, Any] = {} if options.tokenizer is None else {"split": tokenizing(options.tokenizer)}
    if options.prompted:
        truths = [text for path in options.corpus for text in read_texts(path, options.text_field, **reading(options))]
        prompted = prompted_memorisation(texts, truths, **split)
        show(json_of({name: plain(value) for name, value in prompted._asdict().items()}) if options.json else prompted)
        return
    length = 50 if options.length is None else options.length
    memorised = memorisation(
        texts, corpus_texts(*options.corpus, text_field=options.text_field, encoding=options.encoding), length, **split
    )
    if options.json:
        spans = [{**copy.span._asdict(), "where": copy.where} for copy in memorised.spans]
        numbers = {"rate": memorised.rate, "shares": memorised.shares.tolist(), "spans": spans}
        show(json_of(numbers | {"corpus_texts": memorised.corpus_texts, "corpus_tokens": memorised.corpus_tokens}))
        return
    lines = [
        f"{100 * memorised.rate:.3g} % of the tokens of {counted(len(texts), 'text')} are in passages of {length} "
        "tokens or more",
        f"  of the corpus ({counted(memorised.corpus_texts, 'text')}, {counted(memorised.corpus_tokens, 'token')})",
    ]
    lines += [
        f"  text {copy.span.text + 1}, tokens {copy.span.start} to {copy.span.end}: {copy.where}"
        for copy in memorised.spans[:_SHOWN]
    ]
    more = len(memorised.spans) - _SHOWN
    lines += [f"  and {more} more (--json lists all)"] if more > 0 else []
    show("\n".join(lines))
