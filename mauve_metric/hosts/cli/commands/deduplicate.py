"""`mauve-metric deduplicate`: one text of each group of near duplicates, or one copy of each passage."""

from __future__ import annotations

import argparse
import json
import re

from mauve_metric.hosts.cli.flags import CommandParser, count
from mauve_metric.hosts.cli.inputs_and_outputs import reading, show
from mauve_metric.inputs.files import read_texts
from mauve_metric.runtime.outputs import check_ending, written_whole
from mauve_metric.runtime.plain_text import is_blank

HELP = "keep one text of each group of near duplicates, or one copy of each repeated passage"
PRESETS = ("lee", "strict")  # of `near_duplicates.PUBLISHED`


def add_arguments(parser: CommandParser) -> None:
    """Add the texts, those that are always kept, and the settings of the search."""
    parser.add_argument("texts", metavar="TEXTS", help="the texts to thin out, as in score")
    text = "texts that stay whole, such as the human or test ones"
    parser.add_argument("--against", metavar="FILE", nargs="+", default=[], help=text)
    text = "published settings of MinHash (Lee et al. 2022) in place of an exact search"
    parser.add_argument("--preset", choices=PRESETS, help=text)
    text = "cut passages of N tokens and more that occur before in place of whole texts (50: Lee et al. 2022)"
    parser.add_argument("--substrings", metavar="N", type=count, help=text)
    parser.add_argument("--all-copies", action="store_true", help="with --substrings, cut the first copy too")
    parser.add_output("-o", "--output", metavar="FILE", help="write the texts that are kept, .jsonl or .txt")
    parser.add_argument("--text-field", metavar="NAME", help="field or column of the texts")
    parser.add_encoding()
    parser.add_argument("--json", action="store_true", help="print one JSON object and nothing else on stdout")


def usage_error(options: argparse.Namespace) -> str | None:
    """The reason why flags contradict each other, if they do."""
    if options.substrings is not None and options.preset is not None:
        return "--preset is for near duplicates, --substrings for passages: give one of them"
    return "--all-copies needs --substrings N" if options.all_copies and options.substrings is None else None


def run(options: argparse.Namespace) -> None:
    """Find near duplicates, write the texts that are kept and show how many."""
    from mauve_metric.apps.describing.duplicates.near_duplicates import EXACT, PUBLISHED, deduplicate
    from mauve_metric.apps.describing.duplicates.repeated_substrings import cut_repeated

    if options.output is not None:
        check_ending("file of texts", options.output, (".jsonl", ".txt"))
    texts = read_texts(options.texts, options.text_field, **reading(options))
    against = [text for file in options.against for text in read_texts(file, options.text_field, **reading(options))]
    if options.substrings is not None:
        cut = cut_repeated(texts, options.substrings, against, keep_first=not options.all_copies)
        if options.output is not None:
            _write([text for text in cut.texts if not is_blank(text)], options.output)
        longest = cut.longest.tolist()
        repeats = {str(length): cut.texts_with_repeat(length) for length in sorted({*longest} - {0})}
        report = {"spans": [span._asdict() for span in cut.spans], "tokens": cut.tokens, "texts_with_repeat": repeats}
        show(json.dumps(report) if options.json else cut)
        return
    deduplicated = deduplicate(texts, against, EXACT if options.preset is None else PUBLISHED[options.preset])
    if options.output is not None:
        _write([texts[row] for row in deduplicated.kept.tolist()], options.output)
    rows = {name: value.tolist() for name, value in deduplicated._asdict().items()}
    show(json.dumps(rows) if options.json else deduplicated)


def _write(texts: list[str], path: str) -> None:
    """Write the texts to a file atomically."""
    if path.lower().endswith(".txt"):
        many = sum(len(re.split("[\r\n]", text.strip("\r\n"))) > 1 for text in texts)
        if many:
            raise ValueError(f"a .txt file holds one text a line, and {many} texts have several: write .jsonl")
        lines = texts
    else:
        lines = [json.dumps({"text": text}, ensure_ascii=False) for text in texts]
    with written_whole(path) as temporary:
        temporary.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
