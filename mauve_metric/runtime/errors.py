"""Errors that users often meet: each kind has a code, its name, and in its docstring the cause and the cure.

The message of an error says what is wrong with this input. Its code leads to more, in the shell
(`mauve-metric errors CODE`) and on the page of errors and warnings.
"""

from __future__ import annotations

import contextlib
import re
from typing import Self


class CodedError(Exception):
    """An error that has a code. argument: the name of what it is about, None if that is no argument.

    >>> error = WrongOption.of("seed", "must be an integer, got 'x'")
    >>> error.code, error.argument, str(error)
    ('wrong_option', 'seed', "seed must be an integer, got 'x'")
    """

    code: str
    argument: str | None = None

    @classmethod
    def of(cls, argument: str, said: str, *more: object) -> Self:
        """An error about an argument, with the name of which its message begins. more: what the class takes besides."""
        error = cls(f"{argument} {said}", *more)
        error.argument = argument
        return error

    @classmethod
    def advice(cls) -> tuple[str, str]:
        """Cause and cure: the paragraphs of the docstring, each on one line."""
        cause, _, cure = (cls.__doc__ or "").partition("\n\n")
        return " ".join(cause.split()), " ".join(cure.split())


class NotWritten(CodedError, ValueError, OSError):
    """A file cannot be written: its folder is missing, read-only or full, or the file is one of the inputs.

    Name another place. `--plot`, `--report` and `-o` are checked before anything is computed.
    """


class NoFile(CodedError, FileNotFoundError):
    """A file or folder to read is not there.

    Check the name and the folder from which you run. A name with blanks needs quotes in the shell.
    """


class UnknownEnding(CodedError, ValueError):
    """The ending of a file says how it is read; this ending, or folder, is of no known kind.

    Rename or convert it: `.jsonl`, `.json`, `.txt`, `.csv`, `.tsv`, `.xlsx` and `.parquet` for texts, `.npy`, `.npz`
    and `.parquet` for features.
    """


class NoSuchField(CodedError, ValueError):
    """No field or column of a file is known to hold the texts, or the one that was named is not there.

    Name it by `FILE:NAME` or `--text-field NAME` (`text_field=`); `doc.story` is a field inside another one. For other
    names on each side give `--reference-field` and `--prediction-field`.
    """


class SeveralTexts(CodedError, ValueError):
    """A file holds texts of several kinds, or a record several texts, where one is expected.

    Choose one as the message says: `FILE:FIELD[column=value]`, or a field with a number such as `resps.0.0`.
    """


class NotOneSet(CodedError, ValueError):
    """The files do not make two sides: one lacks the human texts, or the models' files hold other documents.

    Give the human texts as a file of their own, first. `--common-rows` keeps the documents that all models have.
    """


class DamagedFile(CodedError, ValueError):
    """A file is not what its name says, or was cut off while it was written.

    Look at the line or byte that the message names. Write texts as UTF-8; make features again by `mauve-metric
    featurize`.
    """


class EmptyTexts(CodedError, ValueError):
    """A text is empty or missing, or a set has none. Such texts are a finding and not left out in silence.

    Leave them out by `--drop-missing` (`empty_texts="drop"`); the result has their number.
    """


class NotTexts(CodedError, ValueError, TypeError):
    """A side is not a list of texts: it is one text, or holds numbers, None or half a character.

    Put a single text into a list. Take None out, or let `empty_texts="drop"` leave it out and count it.
    """


class UnlikeFeatures(CodedError, ValueError):
    """The two sides are not of one featurizer with one setting, or the texts are not those of the features.

    Featurize both sides again, by the same command (`mauve-metric featurize`).
    """


class NotFinite(CodedError, ValueError):
    """Features hold NaN, infinity or masked values, often after an overflow in float16 or a division by 0.

    Take `dtype="float32"` (`--dtype`). Look at the text of the row in the message, where the first is row 0. Do not
    replace NaN by 0.
    """


class NotFeatures(CodedError, ValueError, TypeError):
    """Features are not one array of numbers with a row for each text and a column for each feature.

    Take `features.reshape(n, -1)` for one row a text. Check that these are not tokens or texts.
    """


class TooManyBuckets(CodedError, ValueError):
    """There are more buckets than texts; a score needs ten texts a bucket.

    Leave `num_buckets` at `"auto"`, lower it, or take more texts.
    """


class UnknownOption(CodedError, TypeError):
    """There is no option of this name.

    Take the name that the message proposes, or one of `mauve-metric score --help-all`.
    """


class RowsDiffer(CodedError, ValueError, TypeError):
    """Sets that are compared row by row differ in their number of rows.

    Give one text a prompt in every file, in one order; or give `p_groups` and `q_groups`, one group for each text.
    """


class NoModel(CodedError, ValueError, OSError):
    """A model is not on this machine and the Hub cannot be reached, its folder holds no model, or a server fails.

    `--featurizer minilm`, `use` or `ngrams` needs no download. Or download the model where there is a network, and
    name its folder. Of a server, check its address and what it said.
    """


def not_causal(name: str, reason: str) -> NoModel:
    """The error for a model that is no causal language model."""
    return NoModel.of("model", f"must be a causal language model, and {name!r} {reason}")


class WrongOption(CodedError, ValueError, TypeError):
    """The value of an option is not allowed, or not with another option.

    The message says what is expected; `mauve-metric score --help-all` shows all options.
    """


class NoPackage(CodedError, ImportError):
    """A package that this needs is not installed.

    Run the line of the message in the environment of `mauve_metric` (`python -m pip --version` names it).
    """


class NoMemory(CodedError, MemoryError):
    """The machine or the GPU ran out of memory.

    Lower `--max-batch-tokens`, which bounds a batch of texts. Features in files are read in blocks; score texts in many
    files by `mauve-metric score … -o DIR`.
    """


KINDS = {re.sub("(?<!^)(?=[A-Z])", "_", kind.__name__).lower(): kind for kind in CodedError.__subclasses__()}
for name, kind in KINDS.items():
    kind.code = name


def code_of(error: BaseException) -> str | None:
    """The code of an error, or of the one that it was raised from; None if it has no code.

    >>> code_of(NoFile("there is no file 'nowhere.txt'")), code_of(ValueError("a rare one"))
    ('no_file', None)
    """
    code: str | None = getattr(error, "code", None)
    if code in KINDS:
        return code
    if isinstance(error, MemoryError) or "out of memory" in str(error) or "Unable to allocate" in str(error):
        return NoMemory.code
    return None if error.__cause__ is None else code_of(error.__cause__)


EXPECTED = (ValueError, OSError, ImportError, RuntimeError, MemoryError)
USER_ERRORS = (TypeError, *EXPECTED)  # which arguments of a wrong type raise too


def message_of(error: BaseException) -> str:
    """The message of an error on one line, after the name of its class where the message alone says little.

    >>> message_of(ValueError("two\\nlines")), message_of(MemoryError()), message_of(KeyError("a word"))
    ('two lines', 'MemoryError', "KeyError: 'a word'")
    """
    text = ""
    with contextlib.suppress(Exception):  # an error of a user's own class can fail to give its text
        text = " ".join(filter(None, map(str.strip, str(error).split("\n"))))  # blanks within names stay
        if isinstance(error, OSError) and error.filename is not None and text.startswith("[Errno "):
            text = f"{short_message(repr(error.filename))}: {error.strerror}"  # the system's own words, the name cut
    return text if text and isinstance(error, USER_ERRORS) else ": ".join(filter(None, (type(error).__name__, text)))


def short_message(message: object, most: int = 200) -> str:
    """The message of another library, or of a server, as a part of one sentence: so many printable characters at most.

    >>> short_message(ValueError("two\\nlines")), short_message("too long", most=5), short_message("a\\x1b[31m")
    ('two lines', 'too …', 'a\\\\x1b[31m')
    """
    text = " ".join(str(message).split())
    shown = text[: most + 1]
    text = "".join(mark if mark.isprintable() else mark.encode("unicode_escape").decode("ascii") for mark in shown)
    return text if len(text) <= most else f"{text[: most - 1]}…"
