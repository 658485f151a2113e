"""Texts of a model or a server for given prompts, or for the first tokens of human texts, in a file of JSON lines."""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple, replace
from pathlib import Path
from typing import Any, Literal, cast

from mauve_metric.apps.generation.conversations import has_template
from mauve_metric.apps.generation.decoding import (
    NEUTRAL,
    Generation,
    Prompt,
    decode,
    decoder_settings,
    generation_settings,
    token_ids,
)
from mauve_metric.apps.generation.prompts import NEW_TOKENS, PromptSource
from mauve_metric.apps.generation.remote import openai_server
from mauve_metric.apps.generation.writer import Writer
from mauve_metric.apps.generation.writing_options import WritingOptions
from mauve_metric.apps.generation.writing_state import random_states_kept
from mauve_metric.apps.generation.written_file import JobFile, check_new, lock_of, unfinished
from mauve_metric.apps.job_progress import job_progress
from mauve_metric.features.encoder import Encoder, load_encoder
from mauve_metric.features.model_hashes import tokenizer_sha256
from mauve_metric.features.pretrained import load_tokenizer, quiet
from mauve_metric.options import split_options
from mauve_metric.results.result import WrittenText
from mauve_metric.runtime.checks import check_bool, check_count
from mauve_metric.runtime.devices import resolve_device
from mauve_metric.runtime.errors import WrongOption
from mauve_metric.runtime.optional_imports import import_transformers
from mauve_metric.runtime.outputs import check_outputs, owned

logger = logging.getLogger(__name__)

_NOT_OF_SERVERS = ("penalty_alpha", "num_beam_groups", "num_beams", "no_repeat_ngram_size")


def generate(
    texts: Iterable[object],
    output: str | Path,
    *,
    model: str | tuple[Any, Any],
    decoder: str = "sampling",
    prompt_tokens: int | None = None,
    n_per_prompt: int = 1,
    max_new_tokens: int | None = None,
    include_prompt: bool = True,
    chat: bool = False,
    seed: int = 25,
    batch_size: int = WritingOptions.generation_batch_size,
    device: str | None = None,
    dtype: Literal["float32", "float64", "bfloat16", "float16"] = "float32",
    server: str | None = None,
    tokenizer: str | None = None,
    text_field: str | None = None,
    verbose: bool = False,
) -> list[WrittenText]:
    """Write texts with a model into a new file of JSON lines, in the order of the prompts.

    A line has prompt, text, decoder, seed and tokens. Texts are written in batches of like length, and kept batch by
    batch in OUTPUT.part: the same call continues a job that was killed, and ends with the same texts; one with another
    argument is refused. OUTPUT.lock names the process that writes, beside which no other one does.

    Args:
        texts: the prompts, or, with `prompt_tokens`, human texts; in any form that `compute_mauve` takes.
        output: a name that ends in .jsonl, of no file yet.
        model: "smollm2", a name or folder that transformers' AutoModelForCausalLM loads, or a (model, tokenizer) pair;
            with `server`, the name that it serves.
        decoder: see `apps.generation.decoding.decoder_settings`.
        prompt_tokens: the first so many tokens of each text are the prompt, which is continued to the text's length.
        n_per_prompt: texts for each prompt, one after the other; of a search without sampling its best beams.
        max_new_tokens: the most tokens to write; None: the human text's length, or 128 for prompts.
        include_prompt: whether a text begins with its prompt. An answer (`chat`) never does.
        chat: answer the prompts, by the tokenizer's chat template, in place of continuing them.
        seed: of the sampling.
        batch_size: prompts written together; the texts of a sampling decoder depend on it.
        device, dtype: of the model, as in `compute_mauve`.
        server: the address of a server with OpenAI's protocol, such as "http://localhost:8000/v1".
        tokenizer: of a server's model, to count tokens; `prompt_tokens` needs it.
        text_field: the column of a dataset.
        verbose: a progress bar on stderr.

    Returns:
        The texts, in the order of the file.

    Raises:
        TypeError, ValueError, OSError: an argument is not what it should be, the output is there already, or the model
            cannot be reached; another process writes the output; texts of a server failed, which the same call asks
            for again.
    """
    settings = decoder_settings(decoder)
    check_count("n_per_prompt", n_per_prompt)
    n_best = 1 if settings["do_sample"] else n_per_prompt
    beams = cast("int", settings.get("num_beams", 1))
    if n_best > beams:
        most = "1" if beams == 1 else f"at most {beams}"
        texts_of = "one text" if beams == 1 else f"the best of {beams} beams"
        raise WrongOption.of("n_per_prompt", f"must be {most} for {decoder!r}, which writes {texts_of}, got {n_best}")
    if check_bool("chat", chat) and prompt_tokens is not None:
        raise WrongOption.of("chat", "answers prompts, and prompt_tokens makes them of texts to continue: give one")
    check_count("seed", seed, low=0)
    check_count("batch_size", batch_size)
    split_options({"dtype": dtype, "text_field": text_field, "verbose": verbose})  # which checks them
    output = check_new(output)
    check_outputs(
        [output, unfinished(output), lock_of(output)], [path for path in (model, tokenizer) if isinstance(path, str)]
    )
    author, its_tokenizer = _author(model, settings, seed, server, tokenizer, device, dtype, chat)
    if chat and isinstance(author, Encoder) and not has_template(its_tokenizer):
        raise WrongOption.of("chat", "needs a chat template, and the tokenizer of the model has none")
    if prompt_tokens is None:
        source: dict[str, Any] = {"prompts": texts, "references": ()}  # the lengths are not those of human texts
    else:
        source = {"dataset": texts, "prompt_tokens": prompt_tokens}
    options = WritingOptions(**source, include_prompt=include_prompt, chat_template=chat, max_new_tokens=max_new_tokens)
    with quiet(import_transformers()):  # which would name neutral settings of a decoder that makes no use of them
        config = generation_settings(settings)
    prompts = _prompts(PromptSource(options, config, text_field), author, its_tokenizer)
    rows = [prompt for prompt in prompts for _ in range(n_per_prompt)]
    described = {
        "model": model if isinstance(model, str) else "a pair",
        "weights": author.identity["revision"] if isinstance(author, Encoder) else server,
        "decoder": decoder,
        "prompts": _digest(rows),
        "tokenizer": None if its_tokenizer is None else tokenizer_sha256(its_tokenizer),
        "include_prompt": include_prompt,
        "seed": seed,
        "batch_size": batch_size,
        "dtype": dtype,
        "device": author.device if isinstance(author, Encoder) else None,
    }
    writer = Writer(config, batch_size, seed, n_best=n_best)
    with owned(lock_of(output)):
        job = JobFile(check_new(output), described, [row.text for row in rows])  # another process may have ended
        _write(job, author, its_tokenizer, rows, writer, options, verbose)
        job.finish(output, decoder, seed)
    return [job.texts[number] for number in range(len(rows))]


def _author(
    model: str | tuple[Any, Any],
    settings: Mapping[str, object],
    seed: int,
    server: str | None,
    tokenizer: str | None,
    device: str | None,
    dtype: str,
    chat: bool,
) -> tuple[Encoder | openai_server, Any]:
    """The model or the server that writes, and its tokenizer, None where a server's is not known."""
    if server is None:
        if tokenizer is not None:
            raise WrongOption.of("tokenizer", "is for a server's model: a model here has its own")
        encoder = load_encoder(model, dtype=dtype, device=resolve_device(device), causal=True)
        return encoder, encoder.tokenizer
    if not isinstance(model, str):
        raise WrongOption.of("model", "must be the name that the server has for it, got a pair")
    of_server = None if tokenizer is None else load_tokenizer(tokenizer)
    return openai_server(server, model=model, chat=chat, seed=seed, **_request(settings)), of_server


def _request(settings: Mapping[str, object]) -> dict[str, Any]:
    """The settings of a decoder as fields of a server's request."""
    for name in _NOT_OF_SERVERS:
        if settings.get(name) != NEUTRAL.get(name):
            raise WrongOption.of("decoder", f"must be without {name} for a server, which has no such setting")
    always = ("temperature", "top_p")  # whatever the server's own defaults are
    request = {name: value for name, value in settings.items() if name in always or value != NEUTRAL.get(name)}
    request["temperature"] = request["temperature"] if request.pop("do_sample", True) else 0
    return request


def _prompts(source: PromptSource, author: Encoder | openai_server, tokenizer: Any) -> list[Prompt]:
    """The prompts with the most tokens to write behind each."""
    options, model = source.options, author.model if isinstance(author, Encoder) else None
    if options.dataset is not None:
        if tokenizer is None:
            raise WrongOption.of("prompt_tokens", "needs the tokenizer of the server's model (tokenizer)")
        return source.of_dataset(options.dataset, model, tokenizer)[0]
    prompts = source.as_given(model, None if model is None else tokenizer, None, 0)
    if model is None:
        return [replace(prompt, new_tokens=options.max_new_tokens or NEW_TOKENS) for prompt in prompts]
    return prompts


def _digest(prompts: Sequence[Prompt]) -> str:
    """A hash of all that is sent for each text, every turn of a conversation too."""
    content = json.dumps([astuple(prompt) for prompt in prompts], default=repr)
    return hashlib.sha256(content.encode()).hexdigest()[:16]


def _write(
    job: JobFile,
    author: Encoder | openai_server,
    tokenizer: Any,
    rows: Sequence[Prompt],
    writer: Writer,
    options: WritingOptions,
    verbose: bool,
) -> None:
    """Write the texts that are missing, and keep them batch by batch."""
    missing = [number for number in range(len(rows)) if number not in job.texts]
    if len(missing) < len(rows):
        logger.warning("%s: %d of %d texts are there already", job.path, len(rows) - len(missing), len(rows))
    sizes = [prompt.new_tokens for prompt in rows]
    with job_progress("generate", sizes, verbose, "texts", "new tokens") as advance, random_states_kept():

        def keep(batch: Mapping[int, Generation | None]) -> None:
            """Store the texts of a batch by number."""
            texts = {}
            for number, written in batch.items():
                if written is not None:
                    inside = options.include_prompt and rows[number].messages is None
                    texts[number] = written.written(rows[number], inside)
            job.keep(texts)
            for number, text in texts.items():
                advance(number, text.tokens or 0)

        for number in job.texts:
            advance(number, job.texts[number].tokens or 0)
        if isinstance(author, Encoder):
            writer.write(author.model, tokenizer, [rows[number] for number in missing], missing, keep=keep)
        else:
            _ask(author, tokenizer, rows, missing, writer.batch_size, keep)


def _ask(
    server: openai_server, tokenizer: Any, rows: Sequence[Prompt], missing: Sequence[int], size: int, keep: Any
) -> None:
    """Ask a server for the missing texts, those of like length together.

    Raises:
        OSError: some failed; the others are kept.
    """
    waiting = sorted(missing, key=lambda number: -rows[number].new_tokens)
    failed: list[str] = []
    for start in range(0, len(waiting), size):
        numbers = waiting[start : start + size]
        server.settings["max_tokens"] = rows[numbers[0]].new_tokens
        written: Sequence[str | None] = [None] * len(numbers)
        try:
            written = server([rows[number].messages or rows[number].text for number in numbers], numbers)
        except OSError:  # for every one of these prompts, and others may be answered
            if server.unreachable:
                raise
        failed += [f"prompt {numbers[position]}: {reason}" for position, reason in server.failures.items()]
        texts = zip(numbers, written, strict=True)
        keep({number: _cut(rows[number], text, tokenizer) for number, text in texts if text is not None})
    if failed:
        again = "the same command asks for them again"
        raise OSError(f"{len(failed)} of {len(rows)} texts failed ({failed[0]}): {again}")


def _cut(prompt: Prompt, text: str, tokenizer: Any) -> Generation:
    """A server's continuation, cut to the prompt's number of new tokens where the tokenizer is known."""
    if tokenizer is None:
        return Generation(text, prompt.text + text)
    ids = token_ids(tokenizer, [text], special=False)[0]
    kept = text if len(ids) <= prompt.new_tokens else decode(tokenizer, ids[: prompt.new_tokens])
    return Generation(kept, prompt.text + kept, tuple(ids[: prompt.new_tokens]))
