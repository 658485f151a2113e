"""`mauve-metric generate`: texts that a model writes for prompts, or for the first tokens of human texts."""

from __future__ import annotations

import argparse
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

from mauve_metric.hosts.cli.flags import CommandParser, argument_type, count, keywords_of
from mauve_metric.hosts.cli.inputs_and_outputs import tell
from mauve_metric.inputs.file_types import named_endings
from mauve_metric.inputs.files import read_texts
from mauve_metric.options import config_fields
from mauve_metric.runtime.checks import check_count
from mauve_metric.runtime.errors import WrongOption
from mauve_metric.runtime.plain_text import counted, is_blank

HELP = "let a model write texts for prompts, or continue the beginnings of human texts"
EXAMPLES = """examples:
  mauve-metric generate human.jsonl --prompt-tokens 35 --model smollm2 -o model.jsonl
  mauve-metric generate prompts.txt --model smollm2 --decoder top_p=0.95 --n-per-prompt 5 -o nucleus.jsonl
  mauve-metric generate prompts.txt --model smollm2 --decoder penalty_alpha=0.6,top_k=4 -o contrastive.jsonl
  mauve-metric generate prompts.txt --model smollm2 --decoder num_beams=6,num_beam_groups=3,diversity_penalty=0.8 \
    --n-per-prompt 6 -o beams.jsonl
  mauve-metric generate prompts.csv --text-field question --chat --server http://localhost:8000 --model qwen -o a.jsonl

A job that was killed goes on where it was when the same command is given again (its texts are in FILE.part)."""


def add_arguments(parser: CommandParser) -> None:
    """Add the prompts, the model, the decoder and the file of texts."""
    text = f"prompts, or with --prompt-tokens human texts: {', '.join(named_endings())}, a folder of .txt files, or -"
    parser.add_argument("texts", metavar="PROMPTS", help=text)
    text = "smollm2 (packaged), or a name or folder of transformers; with --server the name that it serves"
    parser.add_argument("--model", metavar="MODEL", required=True, help=text)
    text = "a new file: a JSON line with prompt, text, decoder, seed and tokens for each text"
    parser.add_output("-o", "--output", metavar="FILE", required=True, help=text)
    text = "field or column of the prompts (unset: text, or the only one)"
    parser.add_argument("--text-field", metavar="NAME", help=text)
    text = "the first N tokens of each text are its prompt, continued to the length of the text"
    parser.add_argument("--prompt-tokens", metavar="N", type=count, help=text)
    text = (
        "greedy, sampling, beam, or settings with commas between: temperature, top_k, top_p, min_p, typical_p, "
        "epsilon_cutoff, eta_cutoff, num_beams, no_repeat_ngram_size, repetition_penalty; diverse beams by "
        "num_beam_groups and diversity_penalty, contrastive search by penalty_alpha and top_k (default: sampling)"
    )
    parser.add_argument("--decoder", metavar="DECODER", default="sampling", type=_decoder, help=text)
    parser.add_number("--n-per-prompt", 1, "texts for each prompt: draws, or the best of num_beams", "N", count)
    text = "most new tokens of a text (unset: up to the length of the human text; 128 for prompts)"
    parser.add_argument("--max-new-tokens", metavar="N", type=count, help=text)
    text = "write the continuation alone as the text, without the prompt"
    parser.add_argument("--without-prompt", dest="include_prompt", action="store_false", help=text)
    text = "answer the prompts by the model's chat template; the answer is the text"
    parser.add_argument("--chat", action="store_true", help=text)
    seed = argument_type(lambda text: check_count("seed", int(text), low=0))
    parser.add_number("--seed", 25, "of the sampling", "N", seed)
    parser.add_number("--batch-size", 32, "prompts written together", "N", count)
    text = "auto, cpu, cuda:0, … (unset: auto)"
    parser.add_argument("--device", metavar="DEVICE", help=text)
    choices = config_fields()["dtype"].metadata["choices"]
    parser.add_argument("--dtype", choices=choices, default="float32", help="number format of the model")
    text = "a server with OpenAI's protocol, such as http://localhost:8000/v1, writes"
    parser.add_argument("--server", metavar="URL", help=text)
    text = "of the server's model, to count tokens: a name or folder"
    parser.add_argument("--tokenizer", metavar="TOKENIZER", help=text)


@argument_type
def _decoder(text: str) -> str:
    """Check a decoder before anything is loaded."""
    from mauve_metric.apps.generation.decoding import decoder_settings

    try:
        decoder_settings(text)
    except WrongOption as error:  # which begins with the setting, and not with the flag
        raise ValueError(str(error)) from error
    return text


def more_outputs(options: argparse.Namespace) -> list[Path]:
    """The file of the unfinished job, and that which names its process."""
    from mauve_metric.apps.generation.written_file import lock_of, unfinished

    return [unfinished(options.output), lock_of(options.output)]


def _quiet(options: argparse.Namespace) -> AbstractContextManager[None]:
    """Context without the warnings and bars of transformers with --quiet, where transformers writes."""
    if not options.quiet or options.server is not None:
        return nullcontext()
    from mauve_metric.features.pretrained import quiet
    from mauve_metric.runtime.optional_imports import import_transformers

    return quiet(import_transformers())


def run(options: argparse.Namespace) -> None:
    """Write the texts and say how many there are."""
    from mauve_metric.apps.generation.generate import generate

    keywords = keywords_of(generate, options) | {"texts": read_texts(options.texts, options.text_field)}
    with _quiet(options):
        written = generate(**keywords)
    tokens = [text.tokens for text in written if text.tokens is not None]
    counts = f" with {counted(sum(tokens), 'new token')}" if tokens else ""
    empty = sum(is_blank(text.continuation) for text in written)
    note = f"; {empty} of them have nothing behind the prompt" if empty else ""
    tell(f"{counted(len(written), 'text')}{counts} in {options.output}{note}")
