"""Share of generated text that appears verbatim in a corpus of any size, and the texts of such a corpus in turn."""

from __future__ import annotations

import gzip
import os
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, islice, repeat
from pathlib import Path
from typing import BinaryIO, NamedTuple, cast

import numpy as np

from mauve_metric.apps.describing.duplicates.repeated_substrings import (
    LENGTH,
    Span,
    check_length,
    covered,
    spans_of,
    window_groups,
)
from mauve_metric.apps.describing.word_diversity.splitting import spaced_tokens
from mauve_metric.apps.lexical.tokens import Tokens, number_tokens
from mauve_metric.arrays import Floats, Integers
from mauve_metric.inputs.bytes_and_encodings import decode
from mauve_metric.inputs.fields import LOOKED_AT, chosen_field
from mauve_metric.inputs.file_types import named_endings
from mauve_metric.inputs.files import TextFile, read_texts
from mauve_metric.inputs.json_rows import loaded
from mauve_metric.inputs.records import Record, split_field
from mauve_metric.inputs.tables import parquet_batches
from mauve_metric.inputs.tool_formats import plain_text, text_in
from mauve_metric.runtime.checks import check_file
from mauve_metric.runtime.errors import DamagedFile, EmptyTexts, RowsDiffer, UnknownEnding
from mauve_metric.runtime.optional_imports import import_edit_distance

_AT_ONCE = 1 << 20  # tokens of the corpus that are sorted together with those of the generations
_UNKNOWN = -1  # the number of a token that no generation has


class CopiedSpan(NamedTuple):
    """A passage of a generation that the corpus contains, and where its first window was found."""

    span: Span
    where: str


class Memorisation(NamedTuple):
    """Overlap of generations with a corpus.

    rate: share of all tokens of the generations in windows from the corpus. shares: of each generation,
    (n,), 0 for one without tokens. spans: the passages. corpus_texts, corpus_tokens: what was read.
    """

    rate: float
    shares: Floats
    spans: list[CopiedSpan]
    corpus_texts: int
    corpus_tokens: int


def memorisation(
    generations: Sequence[str],
    corpus: Iterable[str | CorpusText],
    length: int = LENGTH,
    split: Callable[[str], Tokens] = spaced_tokens,
) -> Memorisation:
    """Find tokens of generations in windows of `length` tokens that a corpus has verbatim.

    The rate lies in [0, 1], lower is better (Lee et al. 2022, §5.1: 1.9 % for a model trained on C4 as it is, 0.2 %
    on deduplicated text, in windows of 50 tokens of the model). The corpus is read once, a part at a time: its passages
    of `length` and more tokens that generations have too are sorted together with the generations (a suffix array).

    Args:
        generations: texts of a model.
        corpus: texts one after the other: a list, a generator, `corpus_texts("folder")`.
        length: tokens of a window, at least 1.
        split: from a text to its tokens; a tokenizer's `encode` counts as the paper does.

    Raises:
        TypeError: a single text in the place of a corpus. ValueError: a length below 1, no generation that long, an
            empty corpus.

    >>> memorisation(["he said to be or not"], ["To be", "or to be or not to be"], length=4).rate
    0.6666666666666666
    """
    if isinstance(corpus, str):
        raise TypeError(f"corpus must be texts one after the other, got a single text: {corpus[:40]!r}")
    table = _Table(generations, length, split)
    for text in corpus:
        table.read(text if isinstance(text, CorpusText) else CorpusText(text, f"text {table.texts + 1}"))
    table.look_up()
    if not table.texts:
        raise EmptyTexts.of("corpus", "holds no texts")
    return table.result()


class PromptedMemorisation(NamedTuple):
    """Likeness of a model's continuations to those in its training texts.

    similarities: of each continuation, in [0, 1], lower is better, (n,). thresholds: of the curve, (m,). shares: of
    continuations whose similarity is above each, (m,). intervals: Wilson's of the shares.
    """

    similarities: Floats
    thresholds: Floats
    shares: Floats
    intervals: list[tuple[float, float]]

    def __str__(self) -> str:
        lines = [f"edit similarity of {len(self.similarities)} continuations with the true ones, share above:"]
        rows = zip(self.thresholds, self.shares, self.intervals, strict=True)
        lines += [
            f"  {above:.1f}  {100 * share:5.1f} %  ({low:.3f} to {high:.3f})" for above, share, (low, high) in rows
        ]
        return "\n".join(lines)


def prompted_memorisation(
    continuations: Sequence[str],
    truths: Sequence[str],
    split: Callable[[str], Tokens] = spaced_tokens,
    level: float = 0.95,
) -> PromptedMemorisation:
    """Compare what a model writes after the openings of its training texts with what follows there.

    Edit similarity: 1 - Levenshtein distance / tokens of the longer one (Lee et al. 2022, §5.1; Ippolito 2021, Figs 4.3
    and 4.4, with prompts of 32 tokens). A continuation above 0.8 counts as memorised.

    Args:
        continuations, truths: row i of both goes on from opening i, which is in neither, for about as many tokens.
        split: from a text to its tokens. level: of the intervals.

    Raises:
        ValueError: another number of truths than continuations, or none.

    >>> prompted_memorisation(["a b c d", "x y"], ["a b c e", "p q"]).similarities.tolist()
    [0.75, 0.0]
    """
    if len(continuations) != len(truths):
        each = f"must hold one text for each of {len(continuations)} continuations"
        raise RowsDiffer.of("truths", f"{each}, got {len(truths)}")
    if not len(truths):
        raise EmptyTexts.of("continuations", "holds no texts")
    from scipy.stats import binomtest

    similarity = import_edit_distance().Levenshtein.normalized_similarity
    pairs = zip(continuations, truths, strict=True)
    similarities = np.array([similarity(split(text), split(truth)) for text, truth in pairs], dtype=np.float64)
    thresholds = np.linspace(0, 0.9, 10)
    counts = [int((similarities > above + 1e-9).sum()) for above in thresholds]
    tests = [binomtest(count, len(similarities)).proportion_ci(level, method="wilson") for count in counts]
    intervals = [(float(low), float(high)) for low, high in tests]
    return PromptedMemorisation(similarities, thresholds, np.array(counts) / len(similarities), intervals)


class _Table:
    """Positions in the corpus so far of each window of the generations."""

    def __init__(self, generations: Sequence[str], length: int, split: Callable[[str], Tokens]) -> None:
        self._length, self._split = length, split
        texts = [split(text) for text in generations]
        self._tokens = number_tokens(texts)
        check_length(length, self._tokens.lengths, "; lower length (--length)")
        self._numbers = dict(zip(chain.from_iterable(texts), self._tokens.ids.tolist(), strict=True))
        self._source = np.full(len(self._tokens.ids), -1, dtype=np.int64)  # of the window that begins at each token
        self._sources: list[str] = []
        self._runs: list[Integers] = []  # passages of the corpus that consist of tokens of the generations
        self._wheres: list[str] = []  # and where they are
        self._rest, self._where = np.empty(0, dtype=np.int64), ""  # the end of the last part of a text
        self._waiting, self.texts, self._corpus_tokens = 0, 0, 0

    def read(self, text: CorpusText) -> None:
        """Take one text of the corpus, or more of the last one."""
        tokens = self._split(text.text)
        ids = np.fromiter(map(self._numbers.get, tokens, repeat(_UNKNOWN)), dtype=np.int64, count=len(tokens))
        if not text.goes_on:
            self._rest = ids[:0]
            self.texts += 1
        self._note(np.concatenate([self._rest, ids[: self._length - 1]]), self._where)  # begins in the part before
        self._note(ids, text.where)
        kept = np.concatenate([self._rest, ids])
        self._rest, self._where = kept[max(len(kept) - self._length + 1, 0) :], text.where
        self._corpus_tokens += len(ids)

    def _note(self, ids: Integers, where: str) -> None:
        for run in np.split(ids, np.flatnonzero(ids == _UNKNOWN)):
            passage = run[run != _UNKNOWN]
            if len(passage) >= self._length:
                self._runs.append(passage)
                self._wheres.append(where)
                self._waiting += len(passage)
        if self._waiting >= _AT_ONCE:
            self.look_up()

    def look_up(self) -> None:
        """Find the windows of the generations in the passages collected so far."""
        tokens, n = self._tokens, len(self._tokens)
        lengths = list(map(len, self._runs))
        ids = np.concatenate([tokens.ids, *self._runs])
        text_of = np.concatenate([tokens.text_of, n + np.repeat(np.arange(len(lengths)), lengths)])
        places, groups = window_groups(ids, text_of, self._length)
        border = np.searchsorted(places, len(tokens.ids))
        met, first = np.unique(groups[border:], return_index=True)
        new = np.isin(groups[:border], met) & (self._source[places[:border]] < 0)
        runs = text_of[places[border:][first]] - n
        run_of_window = runs[np.searchsorted(met, groups[:border][new])]
        used, number = np.unique(run_of_window, return_inverse=True)
        self._source[places[:border][new]] = len(self._sources) + number
        self._sources += [self._wheres[run] for run in used]
        self._runs, self._wheres, self._waiting = [], [], 0

    def result(self) -> Memorisation:
        """Result for the whole corpus."""
        tokens = self._tokens
        begins = np.flatnonzero(self._source >= 0)
        marked = covered(begins, self._length, len(tokens.ids))
        starts = np.cumsum(tokens.lengths) - tokens.lengths
        spans = [
            CopiedSpan(span, self._sources[self._source[starts[span.text] + span.start]])
            for span in spans_of(marked, tokens)
        ]
        shares = np.bincount(tokens.text_of[marked], minlength=len(tokens)) / np.maximum(tokens.lengths, 1)
        return Memorisation(float(marked.mean()), shares, spans, self.texts, self._corpus_tokens)


_BLOCK = 1 << 20  # bytes of running text, rows of a table
_IN_PARTS = (".txt", ".jsonl")  # read a few texts at a time, also packed


class CorpusText(NamedTuple):
    """A text, its place, and whether it continues the one before."""

    text: str
    where: str
    goes_on: bool = False


def corpus_texts(
    *paths: str | Path, text_field: str | None = None, encoding: str | None = None
) -> Iterator[CorpusText]:
    """The texts of files and of all files in folders, by name, a few in memory at a time.

    `.jsonl`: one string or object a line; `.parquet`; `.txt`: running text, whose ends of lines are blanks; `.txt` and
    `.jsonl` also packed, as `.gz`. `.csv`, `.tsv`, `.json`, `.xlsx` and `.eval` are read whole, as `read_texts` does.

    Args:
        paths: of files and folders, also `FILE:FIELD`.
        text_field: the field or column of the texts.
        encoding: of files that are not UTF-8.

    Raises:
        FileNotFoundError: no such file. ValueError: not what its name says, with the line; no file in a folder.
    """
    if not paths:
        raise ValueError("paths must name at least one file or folder of the corpus")
    endings = (*named_endings(), *(f"{ending}.gz" for ending in _IN_PARTS))
    for name, field in (split_field(str(path)) for path in paths):
        path = Path(name)
        files = [path]
        if os.path.isdir(path):
            seen = (file for file in path.rglob("*") if file.is_file() and file.name[0] != ".")
            files = sorted(file for file in seen if file.name.lower().endswith(endings))
            if not files:
                raise ValueError(f"the folder {path} holds no file of texts: expected {', '.join(endings)}")
        else:
            check_file(path)
            if not path.name.lower().endswith(endings):
                expected = f"{', '.join(endings)}, or a folder of such files"
                raise UnknownEnding(f"{path} has an unknown ending: expected {expected}")
        for file in files:
            yield from _texts_of(file, field or text_field, encoding)


def _texts_of(file: Path, text_field: str | None, encoding: str | None) -> Iterator[CorpusText]:
    name = file.name.lower().removesuffix(".gz")
    if name.endswith(".parquet"):
        field = str(TextFile(file, text_field).checked_field("prediction"))
        rows = (row for _, batch in parquet_batches(file, [field], 1024)[1] for row in batch)
        for number, row in enumerate(rows):
            record = Record(row, f"{file}, row {number}")
            yield CorpusText(text_in(record, field), record.where)
    elif name.endswith(_IN_PARTS):
        with cast(BinaryIO, gzip.open(file) if file.suffix.lower() == ".gz" else file.open("rb")) as lines:
            try:
                yield from (
                    _running(lines, file, encoding)
                    if name.endswith(".txt")
                    else _of_records(lines, file, text_field, encoding)
                )
            except (EOFError, gzip.BadGzipFile, zlib.error) as error:
                raise DamagedFile(f"{file} is not a gzip file that can be read: {error}") from error
    else:
        for number, text in enumerate(read_texts(file, text_field, encoding=encoding), 1):
            yield CorpusText(text, f"{file}, text {number}")


def _of_records(
    lines: Iterable[bytes], file: Path, text_field: str | None, encoding: str | None
) -> Iterator[CorpusText]:
    """The texts of JSON lines, by the field of the first ones."""
    records = (
        Record(loaded(_decode(line, file, number, encoding), str(file), number), f"{file}, line {number}")
        for number, line in enumerate(lines, 1)
        if line.strip()
    )
    first = list(islice(records, LOOKED_AT))
    field = text_field if text_field is not None or not first else chosen_field(str(file), first)
    for record in chain(first, records):
        yield CorpusText(plain_text(record) if field is None else text_in(record, field), record.where)


def _running(raw: BinaryIO, file: Path, encoding: str | None) -> Iterator[CorpusText]:
    """Whole words, about a megabyte at a time."""
    number, goes_on, rest = 1, False, b""
    while block := raw.read(_BLOCK):
        block = rest + block
        cut = max(block.rfind(b" "), block.rfind(b"\n")) + 1
        if not cut:  # at the start of the last character of UTF-8
            cut = max(len(block) - 1, 0)
            while cut > 0 and block[cut] & 0xC0 == 0x80:
                cut -= 1
        if cut:
            yield CorpusText(_decode(block[:cut], file, number, encoding), f"{file}, from line {number}", goes_on)
            number, goes_on = number + block.count(b"\n", 0, cut), True
        rest = block[cut:]
    if rest:
        yield CorpusText(_decode(rest, file, number, encoding), f"{file}, from line {number}", goes_on)


def _decode(raw: bytes, file: Path, line: int, encoding: str | None) -> str:
    """Bytes that begin on this line of a file."""
    if line == 1 or encoding is not None:
        return decode(raw, str(file), encoding)
    try:
        return raw.decode()
    except UnicodeDecodeError as error:
        line += raw.count(b"\n", 0, error.start)
        raise DamagedFile(f"{file} is not UTF-8: line {line} holds the byte 0x{raw[error.start]:02x}") from error
