"""Checks of arguments and of the files that they name, and how messages repeat a value."""

from __future__ import annotations

import contextlib
import difflib
import math
import operator
import os
import re
import zipfile
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import SupportsFloat, SupportsIndex, cast

from mauve_metric.runtime.errors import CodedError, DamagedFile, NoFile, UnknownOption, WrongOption

Check = Callable[[str, object], object]
# Of the record at the end of a zip file: its size, and the number of members that it has where a larger record says it.
_END_BYTES, _MANY = 22, 0xFFFF
_DEVICE = re.compile(r"[a-z_]+(:[0-9]{1,5})?")  # torch checks that it exists when it is used
_ADDRESS = re.compile(r"[a-z0-9]{2,}:/")  # `Path` makes one slash of two
# names of earlier versions and of evaluate, and near ones that mean something else than the nearest option
RENAMED = {
    **{"paired": "aligned", "prompts_of": "q_groups", "references": "p_text", "predictions": "q_text"},
    **{"p_texts": "p_text", "q_texts": "q_text", "p_text": "references", "q_text": "predictions"},
    **dict.fromkeys(("featurizer", "featurizers"), "featurize_model_name"),
}


def is_bool(value: object) -> bool:
    """Return whether a value is True or False, Python's or numpy's."""
    return type(value).__name__ in ("bool", "bool_")


MISSING_WORDS = ("nan", "NaN", "<NA>", "NaT")  # missing values that pandas wrote as words


def is_missing_key(value: object) -> bool:
    """Return whether a key, such as the prompt of a text, is a spelling of "none": None, NaN, NaT, NA or blank text.

    pandas writes a missing cell as NaN, NaT or NA; the first two differ from themselves, the last has no truth value.
    Where it makes text of a column, it writes their names.

    >>> [is_missing_key(key) for key in (None, " ", float("nan"), "nan", 0, False, "none")]
    [True, True, True, True, False, False, False]
    """
    if value is None or isinstance(value, (str, bytes)):
        return not (value or "").strip() or value in MISSING_WORDS
    try:
        return bool(value != value)
    except (TypeError, ValueError):
        return True


def shown(value: object, most: int = 60) -> str:
    """A value as a message repeats it: on one line and at most so many characters long.

    >>> shown("a name"), shown(10**400, most=12)
    ("'a name'", '10000000000…')
    """
    try:
        text = repr(value)
    except Exception:  # a repr can raise anything, and integers of 5000 digits have none
        text = f"a value of type {type(value).__name__} that cannot be shown"
    text = " ".join(text.split()) if "\n" in text else text
    return text if len(text) <= most else f"{text[: most - 1]}…"


def first_few(words: Sequence[str], most: int, mark: str = ", ") -> str:
    """The first words of many with a mark between them, and how many more there are.

    >>> first_few(["a", "b"], 2), first_few(["a", "b", "c"], 2)
    ('a, b', 'a, b and 1 more')
    """
    more = f" and {len(words) - most} more" if len(words) > most else ""
    return mark.join(words[:most]) + more


def quoted(names: Sequence[str], most: int = 8) -> str:
    """Names in quotes as a message repeats them: not all of many, and not all of a long one."""
    return first_few([*map(shown, names)], most)


def listed(words: Sequence[str], last: str = "and") -> str:
    """Join words for a sentence.

    >>> listed(["a"]), listed(["a", "b", "c"]), listed(["a", "b"], "or")
    ('a', 'a, b and c', 'a or b')
    """
    return f" {last} ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def check_path(name: str, value: object) -> Path:
    """The name of a file as a path; `WrongOption` for what names none."""
    name_of_file = os.fspath(value) if isinstance(value, (str, os.PathLike)) else None
    if not isinstance(name_of_file, str) or not name_of_file or "\0" in name_of_file:
        raise wrong(name, "the name of a file", value)
    return Path(name_of_file)


def check_file(path: Path, before: str = "") -> None:
    """`NoFile` unless there is a file. before: words before the message.

    `os.path.isfile`, as `isdir` and `exists`, is False for a name that is too long or holds a null character, at which
    `Path.is_file` raises `OSError`: a name that a user gives is looked up by `os.path`.
    """
    if os.path.isfile(path):
        return
    if os.path.exists(path):
        kind = "a folder" if os.path.isdir(path) else "a pipe or a device"
        raise NoFile(f"{before}{shown(str(path), most=200)} is {kind}, expected a file")
    address = "" if _ADDRESS.match(str(path)) is None else ": it is an address, download it first"
    raise NoFile(f"{before}there is no file {shown(str(path), most=200)}{address}")


def check_directory(path: Path) -> None:
    """Refuse an archive whose directory names another number of members than it should, or one by another name.

    Raises:
        BadZipFile: the directory is damaged, or the file is no archive.
    """
    with path.open("rb") as file:
        file.seek(max(path.stat().st_size - _END_BYTES, 0))
        end = file.read()
    with zipfile.ZipFile(path) as archive:
        entries = archive.infolist()
        for entry in entries:
            archive.open(entry).close()  # compares the name in the directory with the one before the member
    count = int.from_bytes(end[10:12], "little")
    if end.startswith(b"PK\5\6") and count not in (len(entries), _MANY):
        raise zipfile.BadZipFile(f"its directory should name {count} members and names {len(entries)}")


def check_archive(path: Path) -> None:
    """Refuse an archive with a damaged directory, or a member whose checksum is wrong.

    Raises:
        BadZipFile: it is damaged. DamagedFile: it unpacks to far more than it should.
    """
    check_directory(path)
    with zipfile.ZipFile(path) as archive:
        check_unpacked(path, sum(member.file_size for member in archive.infolist()))
        damaged = archive.testzip()
    if damaged is not None:
        raise zipfile.BadZipFile(f"{damaged!r} in it is damaged")


_MOST_TIMES, _ALWAYS_BYTES = 200, 2**28  # what a file of texts or features unpacks to: natural ones to ten times or so


def most_unpacked(size: int) -> int:
    """The bytes that a file of this size may unpack to: 200 times as many, and always 256 MiB."""
    return max(_ALWAYS_BYTES, _MOST_TIMES * size)


def check_unpacked(path: Path, unpacked: int) -> None:
    """Refuse a file that unpacks to far more than texts or features do, before memory or time run out.

    Raises:
        DamagedFile: it unpacks to more than 200 times its size, and to more than 256 MiB.
    """
    if unpacked > most_unpacked(path.stat().st_size):
        raise DamagedFile(
            f"{path} unpacks to more than {_MOST_TIMES} times its size, as no texts or features do: "
            f"it is damaged or hostile, and not read beyond {unpacked} bytes"
        )


def integer_check(low: int, high: int = 2**31 - 16, *, also: tuple[object, ...] = ()) -> Check:
    """A check for an integer (numpy's count, booleans do not) in [low, high] or one of the values `also`."""
    alternatives = "".join(f" or {value!r}" for value in also)
    others = [(type(other), other) for other in also]

    def check(name: str, value: object) -> object:
        if (type(value), value) in others:
            return value
        expected = f"an integer from {low} to {high}{alternatives}"
        number = check_integer(name, value, expected)
        if number not in also and not low <= number <= high:
            raise wrong(name, expected, number)
        return number

    return check


def wrong(name: str, expected: str, value: object, kind: type[CodedError] = WrongOption) -> CodedError:
    """The error for an argument that is not what is expected."""
    return kind.of(name, f"must be {expected}, got {shown(value)}")


def check_integer(name: str, value: object, expected: str) -> int:
    """An integer, numpy's too, but no boolean."""
    if not is_bool(value) and isinstance(value, SupportsIndex):
        with contextlib.suppress(TypeError):
            return operator.index(value)
    raise wrong(name, expected, value)


def number_check(interval: str) -> Check:
    """A check for a finite real number in an interval, see `check_number`."""
    return partial(check_number, interval=interval)


def did_you_mean(name: str, names: Iterable[str], prefix: str = "", cutoff: float = 0.6) -> str:
    """A suggestion that follows an unknown name in a message; empty if no known name is similar.

    Args:
        prefix: of the names, which makes none of them similar. cutoff: the least similarity, in [0, 1].

    >>> did_you_mean("kmean", ["kmeans", "drmm"]), did_you_mean("--rows", ["--verbose"], prefix="--")
    (" (did you mean 'kmeans'?)", '')
    """
    bare = [other.removeprefix(prefix) for other in names]
    near = difflib.get_close_matches(name.removeprefix(prefix), bare, n=1, cutoff=cutoff)
    return f" (did you mean {prefix + near[0]!r}?)" if near else ""


def choice_check(*choices: object) -> Check:
    """A check for one of a few values."""

    def check(name: str, value: object) -> object:
        value = bool(value) if is_bool(value) else value  # numpy's
        for choice in choices:
            if type(value) is type(choice) and value == choice:
                return value
        near = did_you_mean(value[:60] if isinstance(value, str) else shown(value), map(str, choices))
        raise WrongOption.of(name, f"must be one of {', '.join(map(repr, choices))}, got {shown(value)}{near}")

    return check


def listed_names(argument: str, value: object, expected: str) -> list[str]:
    """Names in a list or joined by commas, in small letters; `TypeError` for anything else.

    >>> listed_names("vary", "Seed, pooling", "names of factors")
    ['seed', 'pooling']
    """
    if not isinstance(value, (str, list, tuple)) or not all(isinstance(part, str) for part in value):
        raise wrong(argument, f"{expected}, in a list or joined by commas", value)
    parts = value.split(",") if isinstance(value, str) else value
    return [part.strip().lower() for part in parts if part.strip()]


def check_known_options(names: Iterable[str], options: Iterable[str]) -> None:
    """`UnknownOption` with all that are unknown and, for each, the nearest known one.

    >>> check_known_options(["num_bucket"], ["num_buckets", "seed"])
    Traceback (most recent call last):
    mauve_metric.runtime.errors.UnknownOption: unknown option 'num_bucket' (did you mean 'num_buckets'?)
    """
    options = list(options)
    parts = []
    for name in names:
        if name not in options:
            now = RENAMED.get(name)
            near = did_you_mean(now or name, {now}.intersection(options) if now else options, cutoff=0.5)
            parts.append(f"unknown option {shown(name)}{near}")
    if parts:
        raise UnknownOption("; ".join(parts))


def check_least(name: str, value: float, low: int = 1) -> None:
    """Refuse a number below `low`."""
    if value < low:
        raise WrongOption.of(name, f"must be at least {low}, got {value}")


def check_known(name: str, value: object, names: Iterable[str]) -> None:
    """Refuse what is not one of a few names."""
    if not isinstance(value, str) or value not in names:
        raise wrong(name, f"one of {', '.join(names)}", value)


def check_bool(name: str, value: object) -> bool:
    """Return True or False, numpy's too; otherwise `TypeError`."""
    if not is_bool(value):
        raise wrong(name, "True or False", value)
    return bool(value)


def check_string(name: str, value: object) -> str:
    """Return a string; otherwise `WrongOption`."""
    if not isinstance(value, str):
        raise wrong(name, "a string", value)
    return value


def check_count(name: str, value: object, low: int = 1) -> int:
    """A number as it was given, an integer of at least `low`; otherwise `TypeError` or `ValueError`."""
    expected = f"an integer of at least {low}"
    number = check_integer(name, value, expected)
    if number < low:
        raise wrong(name, expected, number)
    return number


def or_none(check: Check) -> Check:
    """Make a check that also takes None."""
    return lambda name, value: None if value is None else check(name, value)


def check_number(name: str, value: object, interval: str) -> float:
    """Return a finite real number in an interval, as mathematics writes it: `[` and `]` include an end.

    Raises:
        WrongOption: no number, or out of range.

    >>> check_number("share", 1, "(0, 1]")
    1.0
    >>> check_number("share", 0, "(0, 1]")
    Traceback (most recent call last):
    mauve_metric.runtime.errors.WrongOption: share must be a number in (0, 1], got 0.0
    """
    low, high = map(float, interval[1:-1].split(","))
    number = math.nan
    if not is_bool(value) and isinstance(value, (SupportsFloat, SupportsIndex)):
        with contextlib.suppress(OverflowError, TypeError, ValueError):
            value = number = float(value)
    above = number >= low if interval[0] == "[" else number > low
    below = number <= high if interval[-1] == "]" else number < high
    if not (above and below) or math.isinf(number):
        raise wrong(name, f"a number in {interval}", value)
    return number


def check_device_name(name: str, value: object) -> str | None:
    """Return a value that can name a torch device: None, a name, a `torch.device`, or a number.

    Args:
        name: of the argument, for errors.
        value: what the caller gave. A number is an index from 0 to 32767, as torch takes it.

    Raises:
        TypeError: another type. ValueError: a text that is no name, or a number that is no index.

    >>> check_device_name("device", "cuda:0")
    'cuda:0'
    """
    is_device = f"{type(value).__module__}.{type(value).__name__}" == "torch.device"  # without an import of torch
    if value is None or is_device or (isinstance(value, str) and _DEVICE.fullmatch(value)):
        return cast("str | None", value)
    expected = "the name of a torch device such as 'cpu' or 'cuda:0'"
    number = check_integer(name, value, expected)
    if not 0 <= number < 2**15:
        raise wrong(name, expected, value)
    return cast("str", number)
