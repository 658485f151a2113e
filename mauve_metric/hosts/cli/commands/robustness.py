"""`mauve-metric robustness`: the ranking of models under other settings."""

from __future__ import annotations

import argparse

from mauve_metric.hosts.cli.flags import CommandParser, argument_type, keywords_of
from mauve_metric.hosts.cli.inputs_and_outputs import show_result, sides_of_models

HELP = "say whether the ranking of models holds under other settings, and what moves it"


def add_arguments(parser: CommandParser) -> None:
    """Add the models, what to vary and the forms of the tables."""
    text = (
        "what to vary, joined by commas (unset: all but knn_k): featurize_model_name, pooling, max_text_length, "
        "quantizer, num_buckets, mauve_scaling_factor, seed, n, row_order, knn_k (with precision and recall)"
    )
    parser.add_argument("--vary", metavar="FACTORS", type=argument_type(_factors, respell=str), help=text)
    text = "change one thing at a time, and never several"
    parser.add_argument("--no-design", dest="design", action="store_false", help=text)
    parser.add_models()
    tables = ("settings", "pairs", "factors")
    parser.add_score_options("robustness", *tables, featurizers="the first is the default, the others are tried")


def _factors(text: str) -> tuple[str, ...]:
    """Check the names of factors before anything is computed."""
    from mauve_metric.apps.studies.robustness_settings import chosen_factors

    return chosen_factors(text)


def run(options: argparse.Namespace) -> None:
    """Vary the settings and show the result."""
    from mauve_metric.apps.studies.robustness import robustness

    show_result(robustness(**keywords_of(robustness, options) | sides_of_models(options)), options)
