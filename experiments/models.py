"""The models of the experiments: two sizes of GPT-2, trained from scratch here, or any that transformers loads.

Both are trained by `documentation.py` on passages of Django's documentation; 600 other passages give the prompts and
the human texts, and 600 more are seen by nothing else. With `--human FILE` the texts are the caller's, and the models
ready ones, such as `smollm2`. Models, what they write and its features are kept in a folder, so that the next script
finds them.
"""

from __future__ import annotations

import argparse
import json
import re
import tempfile
from collections.abc import Callable, Mapping, Sequence
from functools import cache, cached_property
from pathlib import Path
from typing import Any, NamedTuple

import documentation
import numpy as np
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer, PreTrainedTokenizerFast

import mauve_metric
from mauve_metric import FeatureSet, read_texts
from mauve_metric.apps.generation.decoding import Prompt, generation_settings, start_ids, token_ids
from mauve_metric.apps.generation.writer import Writer
from mauve_metric.features.pretrained import folder_of
from mauve_metric.runtime.outputs import written_whole

SIZE = re.compile(r"(\d+)x(\d+)")  # the name of a model that is trained here: layers and width
HEADS = 4
SET_ASIDE = 600  # passages of each of the two sets that no model is trained on

Model, Tokenizer = Any, Any  # of transformers
# Another way to write than by transformers' settings: (model, rows of token ids, tokens to write) → new token ids.
Writing = Callable[[Model, Sequence[Sequence[int]], int], list[list[int]]]


class Passages(NamedTuple):
    """Human texts: those that models are trained on, those whose first words they continue, and as many others."""

    training: list[str]
    scraps: list[str]  # parts of passages, trained on too
    prompts: list[str]
    others: list[str]


def add_arguments(parser: argparse.ArgumentParser, texts: int = 300) -> None:
    """Arguments of a script that needs models: names, folder, how much they write."""
    sizes = "LAYERSxWIDTH of a GPT-2 that is trained here; smollm2 (packaged); what transformers loads"
    parser.add_argument("--models", nargs="+", default=["2x128", "4x256"], help=sizes)
    parser.add_argument("--human", help="file of human texts whose first words ready models continue")
    parser.add_argument("--others", help="with --human: file of other human texts (unset: half of that one)")
    parser.add_argument("--training", help="with --human: file of texts that the models were trained on")
    parser.add_argument("--folder", type=Path, default=Path("experiments/work"), help="where models and texts are kept")
    parser.add_argument("--source", type=Path, help="Django's source distribution; pip downloads it if not given")
    parser.add_argument("--epochs", type=int, default=7, help="of the training (default: %(default)s)")
    parser.add_argument("--texts", type=int, default=texts, help="of each set, at most 600 (default: %(default)s)")
    parser.add_argument("--words", type=int, default=70, help="of a human text (default: %(default)s)")
    parser.add_argument("--prompt-words", type=int, default=8, help="of them the prompt (default: %(default)s)")
    parser.add_argument("--batch", type=int, default=100, help="texts written together (default: %(default)s)")
    parser.add_argument("--device", default="cpu", help="of the models (default: %(default)s)")
    parser.add_argument("--featurizer", default="minilm", help="of the texts (default: %(default)s)")


class Workshop:
    """Human texts, models and what they write, made when first asked for and kept in a folder.

    Args:
        options: what `add_arguments` and `common.argument_parser` read.

    Raises:
        ValueError: more texts than there are, prompts as long as the texts, or a model to train on given texts.
    """

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.folder = Path(options.folder)
        to_train = [name for name in options.models if SIZE.fullmatch(name)]
        if options.human is None and (options.others, options.training) != (None, None):
            raise ValueError("--others and --training need --human: without it the texts are Django's documentation")
        if options.human is not None and to_train:
            raise ValueError(
                f"--models must name ready models where --human is given, such as smollm2, got {to_train[0]}"
            )
        most = SET_ASIDE if options.human is None else len(self.passages.prompts)
        if not 2 <= options.texts <= most:
            raise ValueError(f"--texts must be between 2 and {most}, got {options.texts}")
        if not 1 <= options.prompt_words < options.words:
            raise ValueError(
                f"--prompt-words must be from 1 to below --words={options.words}, got {options.prompt_words}"
            )
        self.model = cache(self._model)

    @cached_property
    def passages(self) -> Passages:
        """The human texts."""
        options = self.options
        if options.human is None:
            return _passages(self.folder / "passages.json", options.source)
        prompts = read_texts(options.human)
        if options.others is None:
            order = np.random.default_rng(0).permutation(len(prompts))
            others, prompts = ([prompts[row] for row in half] for half in np.array_split(order, 2))
        else:
            others = read_texts(options.others)
        return Passages(read_texts(options.training) if options.training else [], [], prompts, others)

    @property
    def human(self) -> list[str]:
        """The human texts whose first words the models continue, cut to `--words` words."""
        return [first_words(text, self.options.words) for text in self.passages.prompts[: self.options.texts]]

    @property
    def other_human(self) -> list[str]:
        """As many human texts of other passages."""
        return [first_words(text, self.options.words) for text in self.passages.others[: self.options.texts]]

    @property
    def judge(self) -> str:
        """The model that says how probable texts are: the last one."""
        name: str = self.options.models[-1]
        return name

    def _model(self, name: str) -> tuple[Model, Tokenizer]:
        """A model and its tokenizer, trained first if its name is a size and it is not in the folder."""
        kept = self.folder / f"{name}-{self.options.epochs}"
        if SIZE.fullmatch(name) and not (kept / "config.json").exists():
            train(name, self.passages, kept, self.options.epochs, self.options.seed)
        source = kept if SIZE.fullmatch(name) else folder_of(name)
        model = AutoModelForCausalLM.from_pretrained(source).eval().to(self.options.device)
        return model, AutoTokenizer.from_pretrained(source)

    def write(self, name: str, decoder: str, settings: Mapping[str, object] | Writing) -> list[str]:
        """The prompts, each with a model's continuation: as many tokens in all as the human text has.

        The model is kept from ending a text before: the human texts are cut too.

        Args:
            name: of the model. decoder: a name for the settings, that of the file in which the texts are kept.
            settings: of transformers' `GenerationConfig`, or a function that writes.
        """
        options = self.options
        sizes = f"{options.texts}-{options.words}-{options.prompt_words}-{options.epochs}-{options.seed}"
        sizes += f"-{Path(options.human).stem}" if options.human else ""
        path = self.folder / "texts" / f"{name.replace('/', '--')}-{decoder}-{sizes}.json"
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            model, tokenizer = self.model(name)
            prompts = prompts_of(model, tokenizer, self.human, options.prompt_words)
            write = _by_function if callable(settings) else _by_settings
            texts = write(model, tokenizer, prompts, settings, options.batch, options.seed)
            with written_whole(path) as temporary:
                temporary.write_text(json.dumps(texts, ensure_ascii=False, indent=0), encoding="utf-8")
        found: list[str] = json.loads(path.read_text(encoding="utf-8"))
        return found

    def said(self) -> str:
        """The models and settings of a run, for the page of an experiment."""
        options, trained = self.options, [name for name in self.options.models if SIZE.fullmatch(name)]
        how = f"GPT-2 of layers x width {', '.join(trained)}, trained for {options.epochs} epochs" if trained else ""
        others = [name for name in options.models if name not in trained]
        who = "; ".join(part for part in (how, ", ".join(others)) if part)
        source = "Django's documentation" if options.human is None else f"`{options.human}`"
        return (
            f"Models: {who}. They continue the first {options.prompt_words} words of {options.texts} passages of "
            f"{source} to the length of their first {options.words}; P is those human texts, with which "
            "models share the first words and other human texts do not. "
            f"Features: {options.featurizer}. Seed {options.seed}."
        )

    def features(self, texts: Sequence[str]) -> FeatureSet:
        """The features of texts by `--featurizer`, which may be one of the models."""
        name = self.options.featurizer
        encoder = self.model(name) if SIZE.fullmatch(name) else name
        return mauve_metric.featurize(
            list(texts), featurize_model_name=encoder, cache=self.folder / "features", device=self.options.device
        )


def first_words(text: str, count: int) -> str:
    """The first words of a text.

    >>> first_words("The cat  sat on the mat.", 3)
    'The cat sat'
    """
    return " ".join(text.split()[:count])


def prompts_of(model: Model, tokenizer: Tokenizer, texts: Sequence[str], words: int) -> list[Prompt]:
    """The first words of each text behind the token between texts, to be continued to the text's number of tokens."""
    starts = [first_words(text, words) for text in texts]
    rows = zip(starts, token_ids(tokenizer, starts), token_ids(tokenizer, texts), strict=True)
    between = start_ids(model, tokenizer)
    return [Prompt((*between, *start), max(1, len(whole) - len(start)), text) for text, start, whole in rows]


def _by_settings(
    model: Model, tokenizer: Tokenizer, prompts: Sequence[Prompt], settings: Any, batch: int, seed: int
) -> list[str]:
    never_ending = {**settings, "suppress_tokens": [tokenizer.eos_token_id]}
    writer = Writer(generation_settings(never_ending), batch, seed)
    written = writer.write(model, tokenizer, prompts, range(len(prompts)))
    return [item.text.strip() for item in written if item is not None]


def _by_function(
    model: Model, tokenizer: Tokenizer, prompts: Sequence[Prompt], write: Any, batch: int, seed: int
) -> list[str]:
    torch.manual_seed(seed)
    texts = []
    for start in range(0, len(prompts), batch):
        part = prompts[start : start + batch]
        rows = write(model, [prompt.ids for prompt in part], max(prompt.new_tokens for prompt in part))
        ids = [[*prompt.ids, *row[: prompt.new_tokens]] for prompt, row in zip(part, rows, strict=True)]
        texts += [text.strip() for text in tokenizer.batch_decode(ids, skip_special_tokens=True)]
    return texts


def train(name: str, passages: Passages, folder: Path, epochs: int, seed: int) -> None:
    """Train a model of the size that its name says, and its tokenizer, into a folder that transformers loads.

    Raises:
        ValueError: the width cannot be shared among the heads.
    """
    layers, width = map(int, name.split("x"))
    if width % HEADS:
        raise ValueError(f"the width of a model must be a multiple of {HEADS}, got {name}")
    plan = documentation.Training(layers=layers, width=width, heads=HEADS, epochs=epochs)
    model, tokenizer = documentation.train_model(passages.training, passages.scraps, plan, seed)
    end = documentation.END
    fast = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        bos_token=end,
        eos_token=end,
        pad_token=end,
        model_max_length=documentation.CONTEXT,
        clean_up_tokenization_spaces=False,
    )
    fast.save_pretrained(folder)
    model.save_pretrained(folder)


def _passages(kept: Path, source: Path | None) -> Passages:
    """The passages, dealt at random, from the file in which they are kept or Django's source distribution."""
    if not kept.exists():
        with tempfile.TemporaryDirectory() as folder:
            documents = documentation.read_source(source or documentation.download_sdist(Path(folder)))
        passages, scraps = documentation.make_passages(documents)
        others, prompts, training = documentation.split_passages(passages, SET_ASIDE, seed=0)
        kept.parent.mkdir(parents=True, exist_ok=True)
        with written_whole(kept) as temporary:
            temporary.write_text(json.dumps([training, scraps, prompts, others]), encoding="utf-8")
    return Passages(*json.loads(kept.read_text(encoding="utf-8")))
