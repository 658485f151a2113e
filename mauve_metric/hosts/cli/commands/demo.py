"""`mauve-metric demo`: the score of a small language model's texts that come with the package."""

from __future__ import annotations

import argparse

from mauve_metric.hosts.cli.commands.score import score_and_show
from mauve_metric.hosts.cli.flags import add_config_options, add_output_options, add_run_options, given_options
from mauve_metric.texts.examples import examples_folder
from mauve_metric.texts.files import read_texts

HELP = "score a small language model's texts that come with the package"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of a score."""
    add_output_options(parser, "scores")
    add_run_options(parser)
    add_config_options(parser)


def run(options: argparse.Namespace) -> None:
    """Score the texts and show the result."""
    folder = examples_folder()
    human, model = folder / "human.jsonl", folder / "nucleus.jsonl"
    given = {"featurize_model_name": "minilm"} | given_options(options)
    title = f"examples/{model.name} (model) against examples/{human.name} (human)"
    score_and_show({"p_text": read_texts(human), "q_text": read_texts(model)}, given, options, title)
