"""The commands about copies: `deduplicate` thins out a set, `memorised` looks for a model's texts in a corpus."""

from __future__ import annotations

import argparse
import json

from mauve_metric.texts.files import read_texts

_PRESETS = ("lee", "strict")  # of `near_duplicates.PUBLISHED`
_SHOWN = 10  # passages listed in the terminal


def add_copy_commands(
    commands: argparse._SubParsersAction[argparse.ArgumentParser],
) -> list[argparse.ArgumentParser]:
    """The parsers of both commands, but for the flags that all commands have."""
    thin = commands.add_parser("deduplicate", help="keep one text of each group of near duplicates")
    thin.add_argument("texts", metavar="TEXTS", help="the texts to thin out, as in score")
    thin.add_argument(
        "--against", metavar="FILE", nargs="+", default=[], help="texts that stay whole, such as the human or test ones"
    )
    thin.add_argument(
        "--preset",
        choices=_PRESETS,
        help="published settings of MinHash (Lee et al. 2022) in place of an exact search",
    )
    thin.add_argument("-o", "--output", metavar="FILE", help="write the texts that are kept, .jsonl or .txt")
    copied = commands.add_parser("memorised", help="how much of a model's texts stands word for word in a corpus")
    copied.add_argument("texts", metavar="TEXTS", help="the model's texts")
    copied.add_argument("corpus", metavar="CORPUS", nargs="+", help="files and folders, read a part at a time")
    copied.add_argument("--length", type=int, default=50, help="tokens of a passage that counts (default: 50)")
    copied.add_argument("--tokenizer", metavar="NAME", help="count this tokenizer's tokens (unset: between blanks)")
    for parser in (thin, copied):
        parser.add_argument("--text-field", metavar="NAME", help="field or column of the texts")
        parser.add_argument("--json", action="store_true", help="print one JSON object and nothing else on stdout")
    return [thin, copied]


def deduplicate_text(options: argparse.Namespace) -> str:
    """What `deduplicate` prints, after it wrote its file."""
    from mauve_metric.duplicates.deduplicate import deduplicate
    from mauve_metric.duplicates.near_duplicates import EXACT, PUBLISHED

    if options.output is not None and not options.output.endswith((".jsonl", ".txt")):
        raise ValueError(f"texts are written to .jsonl or .txt, got {options.output!r}")
    texts = read_texts(options.texts, options.text_field)
    against = [text for file in options.against for text in read_texts(file, options.text_field)]
    found = deduplicate(texts, against, EXACT if options.preset is None else PUBLISHED[options.preset])
    if options.output is not None:
        _write([texts[row] for row in found.kept.tolist()], options.output)
    if not options.json:
        return str(found)
    return json.dumps({name: value.tolist() for name, value in found._asdict().items()})


def _write(texts: list[str], path: str) -> None:
    """The texts as a file, which appears whole or stays as it was."""
    from mauve_metric.runtime.atomic_files import written_whole

    if path.endswith(".txt"):
        many = sum(len(text.splitlines()) > 1 for text in texts)
        if many:
            raise ValueError(f"a .txt file holds one text a line, and {many} texts have several: write .jsonl")
        lines = texts
    else:
        lines = [json.dumps({"text": text}, ensure_ascii=False) for text in texts]
    with written_whole(path) as temporary:
        temporary.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def memorised_text(options: argparse.Namespace) -> str:
    """What `memorised` prints."""
    from mauve_metric.api.described_set import tokenizing
    from mauve_metric.duplicates.corpus import corpus_texts
    from mauve_metric.duplicates.memorisation import memorisation

    texts = read_texts(options.texts, options.text_field)
    split = {} if options.tokenizer is None else {"split": tokenizing(options.tokenizer)}
    found = memorisation(texts, corpus_texts(*options.corpus, text_field=options.text_field), options.length, **split)
    spans = [{**copy.span._asdict(), "where": copy.where} for copy in found.spans]
    if options.json:
        numbers = {"rate": found.rate, "shares": found.shares.tolist(), "spans": spans}
        sizes = {"corpus_texts": found.corpus_texts, "corpus_tokens": found.corpus_tokens}
        return json.dumps({**numbers, **sizes}, allow_nan=False)
    lines = [
        f"{100 * found.rate:.3g} % of the tokens of {len(texts)} texts stand in passages of {options.length} tokens or "
        f"more of the corpus ({found.corpus_texts} texts, {found.corpus_tokens} tokens)"
    ]
    lines += [
        f"  text {copy.span.text + 1}, tokens {copy.span.start} to {copy.span.end}: {copy.where}"
        for copy in found.spans[:_SHOWN]
    ]
    lines += [f"  and {len(spans) - _SHOWN} more (--json lists all)"] if len(spans) > _SHOWN else []
    return "\n".join(lines)
