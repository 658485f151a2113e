"""Outputs: checks of their paths, files and folders that appear whole or not at all, and the folder of the cache."""

from __future__ import annotations

import contextlib
import os
import platform
import secrets
import shutil
import signal
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from types import FrameType

from mauve_metric.runtime.checks import shown
from mauve_metric.runtime.errors import NoFile, NotWritten

try:
    import fcntl
except ImportError:  # on Windows
    fcntl = None  # type: ignore[assignment]

FIGURE_FILES = (".png", ".svg", ".pdf", ".html", ".json")
REPORT_FILES = (".html", ".htm")
_LOCK_MARK = "mauve_metric: written by "
_TEMPORARY = ".mauve_metric-"
_HELD = f"{_TEMPORARY}held-"  # with a lock while a process writes
_STALE = 86_400  # seconds, as a write in progress may pause
_IN_USE: set[tuple[int, Path]] = set()  # what is being written, with its process
_HEAD_BYTES = 1000  # of a file, in which its mark is looked for


def check_outputs(
    outputs: Sequence[str | Path], inputs: Iterable[str | Path], folders: Iterable[str | Path] = ()
) -> None:
    """Refuse outputs that would replace an input or each other, before anything is computed.

    Files are compared by the place that links lead to, and by device and inode, so that hard links count as one file.

    Args:
        outputs: every file that will be written, those beside the named ones too. inputs: files and folders that are
            read; those that do not exist are left out. folders: those that many files will be written to.

    Raises:
        ValueError: an output is an input or another output, lies in a folder that is read, or a folder of outputs holds
            an input; the message names both.
    """
    read = [Path(path) for path in inputs if os.path.exists(path)]
    for number, output in enumerate(map(Path, outputs)):
        if os.path.exists(output) and not output.is_file():
            continue  # a pipe or a device, which nothing replaces; a folder, which cannot be written
        for other in (*read, *map(Path, outputs[:number])):
            if _is_same(output, other):
                raise NotWritten(f"{str(output)!r} is to be written, and would replace {str(other)!r}: {_CURE}")
            if os.path.exists(output) and other.is_dir() and (inside := _file_inside(other, output)) is not None:
                raise NotWritten(f"{str(output)!r} is to be written, and would replace {str(inside)!r}: {_CURE}")
        for source in read:
            if source.is_dir() and _is_same(output.parent, source):
                raise ValueError(f"{str(output)!r} is to be written, and {str(source)!r}, its folder, is read: {_CURE}")
    for folder in map(Path, folders):
        for source in read:
            if any(_is_same(folder, parent) for parent in (source.absolute(), *Path(os.path.realpath(source)).parents)):
                raise ValueError(f"{str(folder)!r} is to be written to, and {str(source)!r} in it is read: {_CURE}")


_CURE = "give it another name"


def check_replaceable(path: str | Path, mark: bytes) -> None:
    """Refuse to replace a file whose name the user did not give, unless its beginning shows that the package wrote it.

    Args:
        path: of a file whose name follows from that of another. mark: what such a file has in its first bytes.

    Raises:
        FileExistsError: another file has that name.
    """
    if not os.path.exists(path):
        return
    if not os.path.isfile(path):  # a pipe would be waited for
        raise FileExistsError(f"{str(path)!r} is to be written too, and is no file: move it away")
    with open(path, "rb") as file:
        head = file.read(_HEAD_BYTES)
    if head and mark not in head:
        raise FileExistsError(f"{str(path)!r} is to be written too, and is a file of something else: move it away")


def _file_inside(folder: Path, output: Path) -> Path | None:
    """The file in a folder that is this output, by its own name or a link to it; None if there is none.

    Subfolders count in a model's folder, which is read whole; those of a folder of texts are not read.
    """
    pattern = "**/*" if (folder / "config.json").is_file() else "*"
    return next((file for file in folder.glob(pattern) if file.is_file() and _is_same(file, output)), None)


def _is_same(path: Path, other: Path) -> bool:
    """Return whether two paths are one file or folder, through links of both kinds."""
    try:
        return os.path.samefile(path, other)
    except OSError:  # one of them is not there
        return os.path.realpath(path) == os.path.realpath(other)


@contextlib.contextmanager
def written_whole(path: str | Path, new: bool = False) -> Iterator[Path]:
    """The name of a new file beside `path`, which takes its place, and its permissions, once it is written.

    The name is unique; the file is deleted on an error and on SIGTERM, and one of a killed process at the next write to
    the folder. A link is followed; a special file (a pipe, a device) is written to as it is.

    new: never replace a file, also one that appeared meanwhile.

    Raises:
        OSError: the file cannot be written, or must be new and is not; the message names it.
    """
    with naming(path):
        target = Path(os.path.realpath(path))
        if target.exists() and not target.is_file():
            yield target
            return
        with _new_file(target) as temporary:
            yield temporary
            with temporary.open("rb+") as file:
                os.fsync(file.fileno())  # where space is only reserved, a full disk shows no earlier
            if new:
                _place_new(temporary, target)
            else:
                temporary.replace(target)


def _place_new(file: Path, target: Path) -> None:
    """Give a file its name unless another file has it."""
    try:
        os.link(file, target)
    except FileExistsError:
        raise
    except OSError:  # no hard links on this file system
        if os.path.lexists(target):
            raise FileExistsError("it is there already") from None
        file.rename(target)


@contextlib.contextmanager
def owned(lock: Path) -> Iterator[None]:
    """Hold a file that says who writes here; it is deleted afterwards, and one of a killed process counts for nothing.

    Raises:
        OSError: another process holds it, which the message names, or it is a file of something else.
    """
    import filelock

    check_replaceable(lock, _LOCK_MARK.encode())
    owner = ""
    with contextlib.suppress(OSError):  # it is not there; some systems do not let it be read
        owner = lock.read_text(encoding="utf-8", errors="replace").removeprefix(_LOCK_MARK).strip()
    holder = filelock.FileLock(lock, timeout=0)
    with naming(lock), contextlib.suppress(filelock.Timeout):
        holder.acquire()
    if not holder.is_locked:
        by = owner or "another process"
        raise NotWritten(f"{str(lock.with_suffix(''))!r} is being written by {by}: wait, or give another name")
    try:
        with contextlib.suppress(OSError):
            lock.write_text(f"{_LOCK_MARK}process {os.getpid()} on {platform.node()}\n", encoding="utf-8")
        yield
    finally:
        with contextlib.suppress(OSError):  # some systems delete no file that is open
            lock.unlink()
        holder.release()


@contextlib.contextmanager
def folder_written_whole(path: str | Path) -> Iterator[Path]:
    """A new folder beside `path`, which takes its place once its files are written; it is deleted on an error.

    A folder that is there meanwhile is replaced. Missing folders above it are made, for their user alone.

    Raises:
        OSError: the folder cannot be written; the message names it.
    """
    with naming(path):
        target = Path(path)
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        earlier = target.with_name(f"{_TEMPORARY}{secrets.token_hex(8)}.part")
        with _temporary(target, lambda path: path.mkdir(mode=0o700)) as temporary:
            try:
                yield temporary
                if target.exists():
                    target.rename(earlier)
                temporary.rename(target)
            finally:
                _delete(earlier)


def make_folder(path: Path) -> None:
    """Make a folder and those above it, unless it is there.

    Raises:
        OSError: it cannot be made, or is a file; the message names it.
    """
    with naming(path):
        if os.path.isfile(path):
            raise NotADirectoryError("it is a file, expected a folder")
        path.mkdir(parents=True, exist_ok=True)


def check_ending(what: str, path: str | Path, endings: Sequence[str]) -> str:
    """A file's name; `ValueError` unless it has one of these endings.

    >>> check_ending("page", "a.md", REPORT_FILES)
    Traceback (most recent call last):
    mauve_metric.runtime.errors.NotWritten: a page cannot be written to 'a.md': expected a name that ends in .html, .htm
    """
    if Path(path).suffix.lower() not in endings:
        raise NotWritten(
            f"a {what} cannot be written to {str(path)!r}: expected a name that ends in {', '.join(endings)}"
        )
    return str(path)


def check_can_be_written(path: str | Path) -> None:
    """Refuse a name under which `written_whole` could write nothing, before the work that leads to it is done.

    Raises:
        OSError: its folder is not there or takes no new files, or it is a folder or a file that must not be changed.
        ValueError: no file can have that name.
    """
    if "\0" in str(path):
        raise NotWritten(f"{str(path)!r} cannot be written: a file's name holds no null character")
    with naming(path):
        target = Path(os.path.realpath(path))
        if not target.parent.is_dir():
            raise NoFile(f"there is no folder {str(target.parent)!r}")
        if target.is_dir():
            raise IsADirectoryError("it is a folder")
        if target.exists() and not os.access(target, os.W_OK):
            raise PermissionError("it must not be changed")
        if not target.exists() or target.is_file():
            with _new_file(target):
                pass


@contextlib.contextmanager
def naming(path: str | Path) -> Iterator[None]:
    """Errors of the file system as one sentence that names the file that the user asked for.

    >>> with naming("report.html"):
    ...     raise OSError(28, "No space left on device", ".report.part")
    Traceback (most recent call last):
    OSError: 'report.html' cannot be written: No space left on device
    """
    try:
        yield
    except OSError as error:
        kind = type(OSError(error.errno or 0, "")) if error.errno else type(error)
        named = kind(f"{shown(str(path), most=200)} cannot be written: {error.strerror or error}")
        named.errno = error.errno
        vars(named)["code"] = NotWritten.code
        raise named from error


def _sweep(folder: Path) -> None:
    """Delete what killed processes have left in a folder: what no process holds, or, where none can, is a day old."""
    for path in folder.glob(f"{_TEMPORARY}*.part"):
        with contextlib.suppress(OSError):  # it belongs to somebody else, or another process deletes it
            if not path.name.startswith(_HELD):
                if time.time() - path.stat().st_mtime > _STALE:
                    _delete(path)
            elif (descriptor := _held(path)) is not None:
                _delete(path)
                os.close(descriptor)


def _held(path: Path) -> int | None:
    """A descriptor that holds a file or folder until it is closed or its process ends; None if another one does.

    Raises:
        OSError: it cannot be opened.
    """
    if fcntl is None:
        return None
    descriptor = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.path.samestat(os.fstat(descriptor), os.stat(path)):
            return descriptor
    except OSError:  # another process holds it, or has deleted it
        pass
    os.close(descriptor)
    return None


@contextlib.contextmanager
def _temporary(target: Path, make: Callable[[Path], object]) -> Iterator[Path]:
    """The name of a new file or folder beside the target, which `make` makes; it is deleted afterwards and on SIGTERM.

    Where the system can, it is held meanwhile, so that other processes know that it is in use.
    """
    _sweep(target.parent)
    with contextlib.ExitStack() as stack:

        def new(begin: str) -> Path:
            path = target.with_name(f"{begin}{secrets.token_hex(8)}.part")
            stack.enter_context(_deleted_by_sigterm(path))  # before it is there
            stack.callback(_delete, path)
            make(path)
            return path

        temporary, descriptor = new(_HELD), None
        with contextlib.suppress(OSError):
            descriptor = _held(temporary)
        if descriptor is None:  # no locks here, or another process took it for one of a killed process
            _delete(temporary)
            temporary = new(_TEMPORARY)
        else:
            stack.callback(os.close, descriptor)
        yield temporary


def _delete(path: Path) -> None:
    """Delete a file or folder, if it is there."""
    shutil.rmtree(path, ignore_errors=True) if path.is_dir() else path.unlink(missing_ok=True)


@contextlib.contextmanager
def _deleted_by_sigterm(path: Path) -> Iterator[None]:
    """Delete a file or folder if SIGTERM ends the process meanwhile, unless the program handles the signal itself."""
    mark = (os.getpid(), path)
    _IN_USE.add(mark)
    in_main = threading.current_thread() is threading.main_thread()
    if in_main and signal.getsignal(signal.SIGTERM) == signal.SIG_DFL:
        signal.signal(signal.SIGTERM, _end)
    try:
        yield
    finally:
        _IN_USE.discard(mark)
        if in_main and not _IN_USE and signal.getsignal(signal.SIGTERM) is _end:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)


def delete_unfinished() -> None:
    """Delete what this process, and none that it was forked from, is writing: it ends at once."""
    for process, path in list(_IN_USE):
        if process == os.getpid():
            with contextlib.suppress(OSError):
                _delete(path)


def _end(number: int, frame: FrameType | None) -> None:
    """Delete what is being written, and end as the signal does by itself."""
    delete_unfinished()
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)


@contextlib.contextmanager
def _new_file(target: Path) -> Iterator[Path]:
    """An empty file beside the target, with the permissions that it has or would have; it is deleted afterwards."""
    with _temporary(target, lambda path: os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666))) as path:
        if target.exists():
            with contextlib.suppress(OSError):  # not every file system has permissions
                path.chmod(target.stat().st_mode & 0o777)
        yield path
