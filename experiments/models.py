"""The human texts of the experiments, and what language models write for them, kept for the next script.

Without files the human texts are those of `examples/`, and smollm2's texts under the decoders of the examples are the
ones there. A model continues the first tokens of the texts of `--prompts`; all sets are compared with `--human`, whose
texts share no prompts with them.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import torch
from common import EXAMPLES, neighbour

from mauve_metric import FeatureSet, featurize, read_texts
from mauve_metric.apps.describing.describe import describe
from mauve_metric.apps.describing.description import Description
from mauve_metric.apps.describing.likelihood.likelihoods import Likelihoods, likelihoods
from mauve_metric.apps.generation.decoding import decode, generation_settings, token_ids
from mauve_metric.apps.generation.generate import generate
from mauve_metric.apps.generation.prompts import PromptSource
from mauve_metric.apps.generation.writing_options import WritingOptions
from mauve_metric.apps.generation.written_file import save_written
from mauve_metric.features.encoder import load_encoder
from mauve_metric.options import RunOptions
from mauve_metric.results.result import WrittenText

MODEL = "smollm2"
_EXAMPLES = neighbour("examples", "make_examples")
OF_EXAMPLES = {decoder: name for name, decoder in _EXAMPLES.DECODERS.items()}  # their files

Model, Tokenizer = Any, Any  # of transformers
# Another way to write than by transformers: (model, rows of token ids, tokens to write) → new token ids.
Writing = Callable[[Model, Sequence[Sequence[int]], int], list[list[int]]]


def add_arguments(parser: argparse.ArgumentParser, texts: int = 200) -> None:
    """Arguments of a script that needs models: names, human texts, folder, how much they write."""
    given: dict[str, Any] = {"type": Path, "default": None}
    parser.add_argument("--models", nargs="+", default=[MODEL], help="smollm2 (packaged), or what transformers loads")
    parser.add_argument("--human", **given, help="human texts that all sets are compared with (unset: the examples)")
    parser.add_argument("--prompts", **given, help="with --human: those that models continue")
    parser.add_argument(
        "--prompt-tokens", type=int, default=_EXAMPLES.PROMPT_TOKENS, help="of a prompt (default: %(default)s)"
    )
    parser.add_argument("--texts", type=int, default=texts, help="of each set (default: %(default)s)")
    parser.add_argument("--read", type=int, default=100, help="of them by the last model (default: %(default)s)")
    parser.add_argument("--batch", type=int, default=64, help="texts written together (default: %(default)s)")
    parser.add_argument("--folder", type=Path, default=Path("experiments/work"), help="where new texts are kept")
    parser.add_argument("--device", default=None, help="of the models")
    parser.add_argument("--featurizer", default="minilm", help="of the texts (default: %(default)s)")


class Workshop:
    """Human texts, models and what they write, made when first asked for and kept in a folder.

    Args:
        options: what `add_arguments` and `common.argument_parser` read.

    Raises:
        ValueError: one file without the other, or more texts than a file has.

    Attributes:
        human: the texts that all sets are compared with. other_human: those whose first tokens the models continue.
        rest: human texts that are in neither.
    """

    def __init__(self, options: argparse.Namespace) -> None:
        self.options, self.folder = options, Path(options.folder)
        if (options.human is None) != (options.prompts is None):
            raise ValueError("--human and --prompts go together")
        self.files = (options.human or EXAMPLES / "human.jsonl", options.prompts or EXAMPLES / "human_other.jsonl")
        sides = [read_texts(path) for path in self.files]
        most = min(map(len, sides))
        if not 2 <= options.texts <= most:
            raise ValueError(f"--texts must be between 2 and {most}, got {options.texts}")
        self.human, self.other_human = (side[: options.texts] for side in sides)
        self.rest = sides[0][options.texts :]
        self.model, self._read = cache(self._model), cache(self._read_once)

    @property
    def judge(self) -> str:
        """The model that says how probable texts are: the last one."""
        name: str = self.options.models[-1]
        return name

    def describe(self, sets: Mapping[str, Sequence[str]], measures: str, tokens: int | None = None) -> Description:
        """Measures of sets of texts against the human ones, all cut after so many tokens."""
        options, human = self.options, self.human
        if tokens is not None:
            human = self.first_tokens(human, tokens)
            sets = {name: self.first_tokens(texts, tokens) for name, texts in sets.items()}
        given: dict[str, Any] = {"featurize_model_name": options.featurizer, "device": options.device}
        return describe(human, sets, measures=measures, seed=options.seed, verbose=False, **given)

    def features(self, texts: Sequence[str]) -> FeatureSet:
        """The features of texts by `--featurizer`."""
        options = self.options
        return featurize(list(texts), featurize_model_name=options.featurizer, device=options.device, verbose=False)

    def first_tokens(self, texts: Sequence[str], count: int) -> list[str]:
        """The texts, cut after so many tokens of the judge."""
        tokenizer = self.model(self.judge)[1]
        rows = zip(texts, token_ids(tokenizer, texts), strict=True)
        return [text if len(ids) <= count else decode(tokenizer, ids[:count]) for text, ids in rows]

    def read(self, texts: Sequence[str], **decoder: float) -> Likelihoods:
        """The first `--read` of the texts, read by the judge with a decoder, such as `top_p=0.95`, or without."""
        return self._read(tuple(texts[: self.options.read]), **decoder)

    def _read_once(self, texts: tuple[str, ...], **decoder: Any) -> Likelihoods:
        return likelihoods(list(texts), self.judge, run=RunOptions(device=self.options.device or "cpu"), **decoder)

    def _model(self, name: str) -> tuple[Model, Tokenizer]:
        """A model and its tokenizer."""
        found = load_encoder(name, dtype="float32", device=self.options.device or "cpu", causal=True)
        return found.model, found.tokenizer

    def write(self, name: str, decoder: str) -> list[str]:
        """The prompts, each with a model's continuation to the length of the human text.

        Args:
            name: of the model. decoder: as of `mauve-metric generate`.
        """
        options = self.options
        as_examples = (options.prompts, options.prompt_tokens, name) == (None, _EXAMPLES.PROMPT_TOKENS, MODEL)
        if as_examples and decoder in OF_EXAMPLES:
            return read_texts(EXAMPLES / f"{OF_EXAMPLES[decoder]}.jsonl")[: options.texts]
        path = self.file(name, decoder)
        if not path.exists():
            settings: dict[str, Any] = {"decoder": decoder, "prompt_tokens": options.prompt_tokens}
            settings |= {"seed": options.seed, "batch_size": options.batch, "device": options.device, "verbose": True}
            generate(self.other_human, path, model=self.model(name), **settings)
        return read_texts(path)

    def write_by(self, name: str, decoder: str, write: Writing) -> list[str]:
        """As `write`, by a function."""
        path = self.file(name, decoder)
        if not path.exists():
            torch.manual_seed(self.options.seed)
            texts: list[WrittenText] = []
            model, tokenizer = self.model(name)
            plan = WritingOptions(dataset=self.other_human, prompt_tokens=self.options.prompt_tokens)
            prompts = PromptSource(plan, generation_settings(None), None).of_dataset(
                self.other_human, model, tokenizer
            )[0]
            for start in range(0, len(prompts), self.options.batch):
                part = prompts[start : start + self.options.batch]
                rows = write(model, [prompt.ids for prompt in part], max(prompt.new_tokens for prompt in part))
                for prompt, row in zip(part, rows, strict=True):
                    new = row[: prompt.new_tokens]
                    whole = decode(tokenizer, [*prompt.ids, *new])
                    texts.append(WrittenText(prompt.text, whole[len(prompt.text) :], whole, len(new)))
            save_written(path, texts, decoder, self.options.seed)
        return read_texts(path)

    def file(self, name: str, decoder: str) -> Path:
        """The file in which texts are kept."""
        options = self.options
        sizes = f"{options.texts}-{options.prompt_tokens}-{options.seed}-{self.files[1].stem}"
        path = self.folder / "texts" / f"{name.replace('/', '--')}-{decoder}-{sizes}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        return path

    def said(self) -> str:
        """The models and settings of a run, for the page of an experiment."""
        options, (human, prompts) = self.options, (f"`{path.name}`" for path in self.files)
        return (
            f"{options.texts} texts of each set, by {', '.join(options.models)}: continuations of the first "
            f"{options.prompt_tokens} tokens of texts of {prompts} to the length of these. They are compared with as "
            f"many texts of {human}, with which they share no prompts. Features: {options.featurizer}. Seed "
            f"{options.seed}."
        )


def first_words(text: str, count: int) -> str:
    """The first words of a text.

    >>> first_words("The cat  sat on the mat.", 3)
    'The cat sat'
    """
    return " ".join(text.split()[:count])
