"""Prose of Django's documentation, and a small GPT-2 that is trained on it from scratch.

The documentation is read from the source distribution, which pip downloads (BSD-3-Clause). The passages come out the
same on every machine.
"""

from __future__ import annotations

import hashlib
import math
import random
import re
import subprocess
import sys
import tarfile
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import GPT2Config, GPT2LMHeadModel

DJANGO = "5.2.19"
SDIST_SHA256 = "ad03d8abc51dbff95ebf34b27123cf0c26a3b62db7ba0cd520783686362533d1"

MIN_WORDS, MAX_WORDS = 80, 130
MIN_SENTENCE = 10  # mean number of words
PROMPT_WORDS = 8
SHINGLE = 8
CONTEXT = 320
END = "<|end|>"


# ---------------------------------------------------------------------------------------------
# The source
# ---------------------------------------------------------------------------------------------


def download_sdist(folder: Path) -> Path:
    """Fetch Django's source distribution into ``folder`` with pip and return its path."""
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", "django"]
    subprocess.run([*command, "--dest", str(folder), f"django=={DJANGO}"], check=True)
    return next(folder.glob("[dD]jango-*.tar.gz"))


def check_sha256(path: Path) -> None:
    """Stop unless the file at ``path`` is the very source distribution that this script was written for."""
    found = hashlib.sha256(path.read_bytes()).hexdigest()
    if found != SDIST_SHA256:
        raise SystemExit(f"{path}: sha256 is {found}, expected {SDIST_SHA256} (django {DJANGO})")


def read_source(source: Path) -> dict[str, str]:
    """Read an sdist tarball or an unpacked one: documentation by relative path."""
    if source.is_dir():
        files = {path.relative_to(source).as_posix(): path.read_bytes() for path in (source / "docs").rglob("*.txt")}
    else:
        check_sha256(source)
        files = {}
        with tarfile.open(source) as archive:
            for member in archive:
                name = member.name.partition("/")[2]
                if member.isfile() and name.startswith("docs/") and name.endswith(".txt"):
                    handle = archive.extractfile(member)
                    assert handle is not None
                    files[name] = handle.read()
    return {name: files[name].decode("utf-8") for name in sorted(files)}


# ---------------------------------------------------------------------------------------------
# From reStructuredText to paragraphs
# ---------------------------------------------------------------------------------------------

# Directives whose body is prose; the bodies of all others are dropped.
PROSE_DIRECTIVES = re.compile(
    "admonition|attribute|caution|class|classmethod|data|deprecated|describe|django-admin|django-admin-option|"
    "envvar|exception|fieldlookup|function|glossary|hint|important|method|note|object|option|seealso|setting|"
    "staticmethod|templatefilter|templatetag|tip|versionadded|versionchanged|warning"
)
DIRECTIVE = re.compile(r"\.\. ([A-Za-z][\w:-]*)::(?:\s|$)")
UNDERLINE = re.compile(r"([=\-~^\"'`#*+.:_])\1{2,}$")
TABLE_BORDER = re.compile(r"={2,}( +={2,})+$|\+[-=+]{3,}$")
FIELD = re.compile(r":[A-Za-z][^:`]*:( |$)")
BULLET = re.compile(r"(?:[*+-]|#\.|\d{1,2}[.)]|[a-z][.)])(\s+)\S")


def indent_of(line: str) -> int:
    """Count the spaces that a line begins with."""
    return len(line) - len(line.lstrip(" "))


def take_body(lines: Sequence[str], start: int, depth: int) -> int:
    """Index after the block that follows from ``start``: blank lines, and lines indented deeper than ``depth``."""
    end = start
    while end < len(lines) and (not lines[end] or indent_of(lines[end]) > depth):
        end += 1
    return end


def dedent(lines: Sequence[str]) -> list[str]:
    """Take away the indentation that all non-blank lines share."""
    depth = min((indent_of(line) for line in lines if line), default=0)
    return [line[depth:] for line in lines]


def directive_text(lines: Sequence[str]) -> list[str]:
    """Return the body of a directive without its arguments and options, which end at the first blank line."""
    first_blank = next((i for i, line in enumerate(lines) if not line), len(lines))
    return dedent(lines[first_blank:])


def rst_paragraphs(lines: Sequence[str]) -> Iterator[str]:
    """Yield the paragraphs of prose, markup included, of a block of reStructuredText in their order."""
    i = 0
    while i < len(lines):
        line = lines[i]
        if not line:
            i += 1
            continue
        depth = indent_of(line)
        text = line[depth:]
        directive = DIRECTIVE.match(text)
        bullet = BULLET.match(text)
        if text.startswith(".. ") or text == "..":
            end = take_body(lines, i + 1, depth)
            if directive and PROSE_DIRECTIVES.fullmatch(directive[1]):
                yield from rst_paragraphs(directive_text(lines[i + 1 : end]))
            i = end
        elif text.startswith("__ ") or FIELD.match(text):
            i = take_body(lines, i + 1, depth)
        elif TABLE_BORDER.match(text):
            i = skip_table(lines, i)
        elif text.startswith(">>> "):
            i = next((j for j in range(i, len(lines)) if not lines[j]), len(lines))
        elif UNDERLINE.match(text):  # the line above a title
            i += 1
        elif bullet:
            end = take_body(lines, i + 1, depth)
            marker = len(bullet[0]) - 1
            yield from rst_paragraphs(dedent([" " * (depth + marker) + text[marker:], *lines[i + 1 : end]]))
            i = end
        else:
            end = next((j for j in range(i, len(lines)) if not lines[j] or indent_of(lines[j]) != depth), len(lines))
            block = [part.strip() for part in lines[i:end]]
            if any(UNDERLINE.match(part) for part in block):  # a title; what follows its line is read on
                i += 1 + next(j for j, part in enumerate(block) if UNDERLINE.match(part))
            elif end < len(lines) and lines[end] and indent_of(lines[end]) > depth:  # a term and its definition
                body = take_body(lines, end, depth)
                yield from rst_paragraphs(dedent(lines[end:body]))
                i = body
            else:
                paragraph = " ".join(block)
                yield paragraph
                i = take_body(lines, end, depth) if paragraph.endswith("::") else end


def skip_table(lines: Sequence[str], start: int) -> int:
    """Index after the table whose upper border is at ``start``."""
    if lines[start].lstrip().startswith("+"):
        return next((j for j in range(start, len(lines)) if not lines[j]), len(lines))
    for j in range(start + 1, len(lines)):
        if TABLE_BORDER.match(lines[j].strip()) and (j + 1 == len(lines) or not lines[j + 1]):
            return j + 1
    return len(lines)


UNKNOWN = "\x01"  # in the place of a reference whose text is not known

INLINE: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r":(?:ticket|commit|source):`([^`<]+)`"), r"#\1"),
    (re.compile(r":(?:cve|CVE):`([^`<]+)`"), r"CVE-\1"),
    (re.compile(r":rfc:`([\d]+)(?:#[^`]*)?`"), r"RFC \1"),
    (re.compile(r":pep:`([\d]+)(?:#[^`]*)?`"), r"PEP \1"),
    (re.compile(r":[A-Za-z:+-]+:`([^`<]*[^`<\s])\s*<[^`]*>`"), r"\1"),  # :role:`text <target>`
    (re.compile(r":(?:doc|ref|py:ref):`[^`]+`"), UNKNOWN),  # its text is the title of another page
    (re.compile(r":[A-Za-z:+-]+:`[~!](?:[^`]*\.)?([^`.]+)`"), r"\1"),  # :role:`~a.b.C`
    (re.compile(r":[A-Za-z:+-]+:`[!.]?([^`]+)`"), r"\1"),
    (re.compile(r"`([^`<]*[^`<\s])\s*<[^`<>]+>`__?"), r"\1"),  # `text <url>`_
    (re.compile(r"(?<!`)`([^`]+)`__?(?!`)"), r"\1"),  # `text`_
    (re.compile(r"\b([A-Za-z][\w-]*[A-Za-z0-9])__?(?=[\s.,;:)]|$)"), r"\1"),  # word_
    (re.compile(r"(?<![\w`])`([^`]+)`(?![\w`])"), r"\1"),
    (re.compile(r"(?<![\w*])\*\*(\S(?:[^*]*\S)?)\*\*(?!\w)"), r"\1"),
    (re.compile(r"(?<![\w*])\*(\S(?:[^*]*\S)?)\*(?!\w)"), r"\1"),
    (re.compile(r"\|([^|\s]+)\|"), r"\1"),
    (re.compile(r"\\ ?(.?)"), r"\1"),
    (re.compile(r" ([,)])(?=[\s.,]|$)"), r"\1"),
    (re.compile(r" \.(?= [A-Z]|$)"), "."),
)
LITERAL = re.compile(r"``(.+?)``(?!`)")


def plain_text(paragraph: str) -> str:
    """Unwrap the inline markup of one paragraph. Literals are left as they are, without their quotes."""
    pieces = LITERAL.split(paragraph)  # at odd places: literals
    literals = pieces[1::2]
    text = "".join(piece if i % 2 == 0 else f"\x00{i // 2}\x00" for i, piece in enumerate(pieces))
    for pattern, replacement in INLINE:
        text = pattern.sub(replacement, text)
    text = re.sub(r"\x00(\d+)\x00", lambda match: literals[int(match[1])], text)
    text = re.sub(r"\s*\((?:#[0-9a-f]+(?:,\s*)?)+\)", "", text)  # (#12345), numbers of tickets
    return re.sub(r"\s+", " ", text.replace("\u2019", "'")).strip()


# ---------------------------------------------------------------------------------------------
# From paragraphs to passages
# ---------------------------------------------------------------------------------------------

SENTENCE_END = re.compile(
    r"(?<![A-Z]\.[A-Z])(?<!e\.g)(?<!i\.e)(?<!etc)(?<!\bvs)(?<!\bcf)[.!?]['\")\]]*\s+(?=[\"'({\[]?[A-Z0-9_$<{\"']|[a-z]+[._(])"
)
COMPLETE = re.compile(r"[.!?]['\")\]]*$")
# Pages that are lists rather than text, and the theme, part of which is by others.
SKIPPED = re.compile(r"docs/(_.*|index|contents|internals/deprecation|releases/(security|index|\d+\.\d+\.\d+))\.txt")
# Beginnings of the items of change logs, which are no running text.
LOG_ITEM = re.compile(r"Fixed (?:a|an|the|several|some)\b|CVE-|#\d|Ticket #|[\w.]+: |\S+ --? |(?:New in|Changed in) ")


def split_sentences(text: str) -> list[str]:
    """Cut a paragraph where a sentence seems to end."""
    ends = [match.end() for match in SENTENCE_END.finditer(text)]
    return [text[a:b].strip() for a, b in zip([0, *ends], [*ends, len(text)], strict=True)]


def is_prose(text: str, limit: float) -> bool:
    """Return whether the share of characters other than letters, blanks and common punctuation is below ``limit``."""
    odd = sum(not (char.isalpha() or char in " .,;'-\"") for char in text)
    return bool(text) and odd <= limit * len(text)


def prose_sentences(paragraph: str) -> list[str]:
    """List the whole sentences of a paragraph; none where it is not prose at all."""
    words = paragraph.split()
    if not words or LOG_ITEM.match(paragraph):
        return []
    if words[0][0].islower() and not re.search(r"[._(]\w", words[0]):
        return []  # goes on after something that was dropped
    sentences = split_sentences(paragraph)
    if not COMPLETE.search(sentences[-1]):  # leads up to code, or is no sentence
        sentences.pop()
    keep = [len(s.split()) >= 4 and UNKNOWN not in s and "::" not in s and is_prose(s, 0.12) for s in sentences]
    if sum(keep) < 0.5 * len(keep):
        return []
    return [sentence for sentence, good in zip(sentences, keep, strict=True) if good]


def shingles(text: str) -> list[tuple[str, ...]]:
    """All runs of ``SHINGLE`` words of a text, without regard to case and punctuation."""
    words = re.findall(r"\w+", text.lower())
    return [tuple(words[i : i + SHINGLE]) for i in range(max(1, len(words) - SHINGLE + 1))]


def file_passages(paragraphs: Iterable[str], seen: set[tuple[str, ...]]) -> tuple[list[str], list[str]]:
    """Join the paragraphs of one file into passages of ``MIN_WORDS`` to ``MAX_WORDS`` words.

    A passage ends with a paragraph where it can, and else with a sentence. Sentences that
    repeat what ``seen`` holds already (it is added to) are left out. The second list has the
    pieces that are too short to be passages.
    """
    passages: list[str] = []
    scraps: list[str] = []
    current: list[str] = []
    count = 0
    for paragraph in paragraphs:
        for sentence in prose_sentences(paragraph):
            runs = shingles(sentence)
            repeated = sum(run in seen for run in runs)
            seen.update(runs)
            if repeated > 0.3 * len(runs):
                continue
            length = len(sentence.split())
            if count + length > MAX_WORDS:
                (passages if count >= MIN_WORDS else scraps).append(" ".join(current))
                current, count = [], 0
            if length <= MAX_WORDS:
                current.append(sentence)
                count += length
        if count >= MIN_WORDS:
            passages.append(" ".join(current))
            current, count = [], 0
    if current:
        scraps.append(" ".join(current))
    return passages, scraps


def make_passages(documents: dict[str, str]) -> tuple[list[str], list[str]]:
    """Passages of all documents, and the scraps that are left over; no two share their first words."""
    passages: list[str] = []
    scraps: list[str] = []
    seen: set[tuple[str, ...]] = set()
    for name, text in documents.items():
        if SKIPPED.fullmatch(name):
            continue
        lines = [line.expandtabs(8).rstrip() for line in text.splitlines()]
        found, left = file_passages((plain_text(part) for part in rst_paragraphs(lines)), seen)
        passages += found
        scraps += left
    openings: set[str] = set()
    good: list[str] = []
    for passage in passages:
        opening = " ".join(passage.lower().split()[:PROMPT_WORDS])
        rate = len(passage.split()) / len(split_sentences(passage))
        if rate >= MIN_SENTENCE and is_prose(passage, 0.07) and opening not in openings:
            openings.add(opening)
            good.append(passage)
        else:
            scraps.append(passage)
    return good, scraps


def split_passages(passages: Sequence[str], size: int, seed: int) -> tuple[list[str], list[str], list[str]]:
    """Deal the passages at random: two sets of ``size`` of them, and the rest."""
    if len(passages) < 3 * size:
        raise SystemExit(f"only {len(passages)} passages, too few for two sets of {size} and a training text")
    dealt = random.Random(seed).sample(list(passages), len(passages))
    return dealt[:size], dealt[size : 2 * size], dealt[2 * size :]


# ---------------------------------------------------------------------------------------------
# The language model
# ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Training:
    """Size of the model and length of its training."""

    vocabulary: int = 4096
    width: int = 256
    layers: int = 4
    heads: int = 4
    dropout: float = 0.1
    batch: int = 8
    rate: float = 1.5e-3
    decay: float = 0.1
    warmup: int = 100
    epochs: int = 7
    held_out: int = 100


def train_tokenizer(texts: Sequence[str], size: int) -> Tokenizer:
    """Learn a byte-level BPE vocabulary of ``size`` tokens from the texts."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=size, special_tokens=[END], initial_alphabet=alphabet, show_progress=False)
    tokenizer.train_from_iterator(texts, trainer)
    return tokenizer


def encode(tokenizer: Tokenizer, texts: Sequence[str]) -> list[list[int]]:
    """Token numbers of each text, with no end mark."""
    return [encoding.ids for encoding in tokenizer.encode_batch(list(texts))]


def pad(rows: Sequence[Sequence[int]], value: int) -> torch.Tensor:
    """One tensor of rows of unequal length, filled up with ``value`` at the end."""
    width = max(map(len, rows))
    return torch.tensor([list(row) + [value] * (width - len(row)) for row in rows])


def batches(rows: Sequence[list[int]], size: int, rng: random.Random) -> list[list[list[int]]]:
    """Random batches of rows of about the same length, in random order."""
    order = sorted(rows, key=lambda row: len(row) + rng.uniform(-12, 12))
    groups = [order[i : i + size] for i in range(0, len(order), size)]
    rng.shuffle(groups)
    return groups


def batch_loss(model: GPT2LMHeadModel, rows: Sequence[list[int]]) -> torch.Tensor:
    """Mean loss per token of the rows."""
    ids = pad(rows, 0)
    labels = pad(rows, -100)
    # No mask: filling is on the right, where causal attention does not look.
    mask = torch.ones_like(ids[:, :-1])
    logits = model(input_ids=ids[:, :-1], attention_mask=mask).logits
    return torch.nn.functional.cross_entropy(logits.flatten(0, 1), labels[:, 1:].flatten(), ignore_index=-100)


@torch.no_grad()
def mean_loss(model: GPT2LMHeadModel, rows: Sequence[list[int]], size: int) -> float:
    """Loss per token over all the rows."""
    model.eval()
    groups = [rows[i : i + size] for i in range(0, len(rows), size)]
    counts = [sum(len(row) - 1 for row in group) for group in groups]
    total = sum(batch_loss(model, group).item() * count for group, count in zip(groups, counts, strict=True))
    model.train()
    return total / sum(counts)


def rate_factor(step: int, warmup: int, steps: int) -> float:
    """Part of the full learning rate at a step: up in a line, then down along a cosine to a twentieth."""
    if step < warmup:
        return (step + 1) / warmup
    done = (step - warmup) / max(1, steps - warmup)
    return 0.05 + 0.95 * 0.5 * (1 + math.cos(math.pi * min(1.0, done)))


def train_model(
    texts: Sequence[str], scraps: Sequence[str], plan: Training, seed: int
) -> tuple[GPT2LMHeadModel, Tokenizer]:
    """Train tokenizer and model on whole texts, which get an end mark, and on scraps, which get none."""
    torch.manual_seed(seed)
    rng = random.Random(seed)
    tokenizer = train_tokenizer([*texts, *scraps], plan.vocabulary)
    end = tokenizer.token_to_id(END)
    whole = [[end, *ids, end][:CONTEXT] for ids in encode(tokenizer, texts)]
    parts = [[end, *ids][:CONTEXT] for ids in encode(tokenizer, scraps)]
    held_out, rows = whole[: plan.held_out], whole[plan.held_out :] + parts
    model = GPT2LMHeadModel(
        GPT2Config(
            vocab_size=tokenizer.get_vocab_size(),
            n_positions=CONTEXT,
            n_embd=plan.width,
            n_layer=plan.layers,
            n_head=plan.heads,
            embd_pdrop=plan.dropout,
            resid_pdrop=plan.dropout,
            attn_pdrop=0.0,
            bos_token_id=end,
            eos_token_id=end,
            pad_token_id=end,
        )
    )
    print(f"{sum(p.numel() for p in model.parameters())} parameters, {sum(map(len, rows))} training tokens")
    matrices = [p for p in model.parameters() if p.dim() > 1]
    vectors = [p for p in model.parameters() if p.dim() <= 1]
    optimizer = torch.optim.AdamW(
        [{"params": matrices, "weight_decay": plan.decay}, {"params": vectors, "weight_decay": 0.0}],
        lr=plan.rate,
        betas=(0.9, 0.98),
        fused=True,
    )
    steps = plan.epochs * math.ceil(len(rows) / plan.batch)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: rate_factor(step, plan.warmup, steps))
    started = time.monotonic()
    model.train()
    for epoch in range(plan.epochs):
        losses = []
        for group in batches(rows, plan.batch, rng):
            loss = batch_loss(model, group)
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            schedule.step()
            losses.append(loss.item())
        print(
            f"epoch {epoch + 1}: training loss {sum(losses) / len(losses):.3f}, "
            f"held-out loss {mean_loss(model, held_out, plan.batch):.3f}, {time.monotonic() - started:.0f} s",
            flush=True,
        )
    return model.eval(), tokenizer
