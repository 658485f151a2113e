"""`mauve-metric describe`: MAUVE and every other measure of models in one table."""

from __future__ import annotations

import argparse
from pathlib import Path

from mauve_metric.hosts.cli.flags import CommandParser, argument_type, keywords_of
from mauve_metric.hosts.cli.inputs_and_outputs import show_result, sides_of_models

HELP = "show MAUVE and every other measure of models in one table"
EXAMPLES = """examples:
  mauve-metric describe human.jsonl a.jsonl b.jsonl --featurizer minilm
  mauve-metric describe human.jsonl a.jsonl --measures lexical,duplication --csv"""


def add_arguments(parser: CommandParser) -> None:
    """Add the models, the choice of measures and the forms of the table."""
    parser.add_models()
    text = (
        "groups, names of measures, or all, joined by commas (unset: what is cheap): score, lexical, distance, "
        "buckets, estimators, language-model, discriminator, duplication"
    )
    parser.add_argument("--measures", metavar="GROUPS", type=_measures, help=text)
    text = "for the group language-model: smollm2 (packaged), or a name or folder of transformers (default: gpt2)"
    parser.add_argument("--language-model", metavar="MODEL", help=text)
    text = "count the tokens of this tokenizer (unset: words and punctuation marks)"
    parser.add_argument("--tokenizer", metavar="TOKENIZER", help=text)
    text = "texts or features that the models were trained on, to find copies of"
    parser.add_argument("--training", metavar="FILE", help=text)
    text = (
        "how the texts were decoded (greedy, sampling, temperature=0.7,top_p=0.95), of all models or of one: adds "
        "measures of the group language-model"
    )
    parser.add_argument("--decoder", metavar="[MODEL:]DECODER", action="append", help=text)
    parser.add_by("every measure of the texts")
    parser.add_score_options("describe", "measures", "transfer")


@argument_type
def _measures(text: str) -> str:
    """Check the names of measures before anything is computed."""
    from mauve_metric.apps.describing.describe import chosen_measures

    chosen_measures(text)
    return text


def run(options: argparse.Namespace) -> None:
    """Compute the measures, show the table and write the report."""
    from mauve_metric.apps.describing.describe import describe

    decoders = dict(text.rpartition(":")[::2] for text in options.decoder or ())
    keywords = keywords_of(describe, options) | {"decoder": decoders.get("", decoders or None)}
    keywords |= {} if options.training is None else {"training": Path(options.training)}  # never a text
    show_result(describe(**keywords | sides_of_models(options)), options)
