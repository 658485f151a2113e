"""The sessions of visitors: isolated from each other, kept while the page is open and ten minutes longer.

An hour without use ends them.

Texts and results lie in memory, uploads and the files to take away in gradio's folder of temporary files, in which
gradio (6.31) leaves an empty file for each file that is chosen, and what came of an upload that was interrupted.
"""

from __future__ import annotations

import contextlib
import secrets
import shutil
import tempfile
import threading
import time
from collections import Counter, deque
from collections.abc import Container, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from gradio.utils import get_upload_folder

from mauve_metric.apps.describing.description import Description
from mauve_metric.hosts.space.session.opened_result import Opened
from mauve_metric.hosts.space.session.run import Run
from mauve_metric.hosts.space.session.scoring import Scored
from mauve_metric.hosts.space.session.uploads import TextSet
from mauve_metric.runtime.plain_text import one_line

LONGEST_NAME = 60
_PUSHED_OUT_KNOWN = 2000  # names and keys of sessions
UNFINISHED = 120  # seconds without a new byte, until what came of an upload is deleted


def clean_name(name: str) -> str:
    """A name on one line, without what cannot be printed, not too long.

    >>> clean_name("  a\\tb\\u202e ")
    'a b'
    """
    return one_line(name)[:LONGEST_NAME].strip()


def name_of_file(path: str | Path) -> str:
    """The first name of the set of a file: the file's name without its ending.

    >>> name_of_file("/tmp/greedy.jsonl")
    'greedy'
    """
    return clean_name(Path(path).stem) or "model"


def title_of(name: str) -> str:
    """The name of a set in messages.

    >>> title_of("greedy")
    'model set “greedy”'
    """
    return f"model set “{name}”"


def delete_upload(path: Path) -> None:
    """Delete a file and the folder that gradio makes for each upload."""
    path.unlink(missing_ok=True)
    if path.parent.parent == Path(get_upload_folder()):
        with contextlib.suppress(OSError):  # another file is there
            path.parent.rmdir()


NOT_HERE = "The texts and the result of this page are not here any more"
CUT_OFF = "A run was stopped, as this page was closed or lost its connection: press Compare again"
GONE = (
    "uploads and results are kept for an hour without use, ten minutes after the page is closed or loses its "
    "connection, and until the server is started again: choose them again"
)
PUSHED_OUT = "this server keeps the texts of {} visitors at a time, and later ones took your place: choose them again"
HOUR = 3600  # seconds: without use, until a visitor's texts are dropped; on the disk, until an upload is deleted
LINGER = 600  # seconds that the texts of a closed page are kept for it to be opened again


class InTurn:
    """A lock that threads get in the order in which they ask for it; its holder may take it again.

    Each waits at a gate of its own, which the one before opens: `threading.RLock` keeps no order.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting: deque[tuple[int, threading.Event]] = deque()
        self._holder, self._depth = 0, 0

    def __enter__(self) -> None:
        gate = threading.Event()
        with self._lock:
            if self._depth and self._holder == threading.get_ident():
                self._depth += 1
                return
            self._waiting.append((threading.get_ident(), gate))
            if not self._depth:
                self._next()
        gate.wait()

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._depth -= 1
            if not self._depth and self._waiting:
                self._next()

    def _next(self) -> None:
        (self._holder, gate), self._depth = self._waiting.popleft(), 1
        gate.set()


@dataclass
class Shown:
    """The result that the page shows: human set, models' sets by their names, options and scores.

    picked: the model whose buckets are shown. bucket: the one whose texts are; None: the first. example: whether it is
    the one that the page opened with. measured: the measures of these sets, and measured_of: the result with their
    settings, maybe an earlier one. The sets of a result that was opened from a file hold no texts.
    """

    human: TextSet
    models: dict[str, TextSet]
    options: dict[str, object]
    scored: Scored | Opened
    picked: str
    bucket: int | None = None
    example: bool = False
    measured: Description | None = None
    measured_of: Scored | None = None


@dataclass
class Session:
    """One visitor's texts, features and last result.

    name: of the browser's session. client: see `client_of`. human, models: the sets that are on the page. in_box:
    the human set that the paste box holds. pasted: the name of the set that the models' paste box holds. shown: the
    last result. run: the one in progress. folder: of the files to take away. lost: why there are no earlier texts.
    key: opens the page again with this session's texts and result; it cannot be guessed. has_left: whether the page
    was closed. was_cut: whether that stopped a run, which the page that opens again says. expiry: drops the
    session. lock: held while something is computed. editing: held while the sets change, each change in its turn.
    edition: the number of the last change.
    """

    name: str
    client: str = ""
    models: dict[str, TextSet] = field(default_factory=dict)
    human: TextSet | None = None
    in_box: TextSet | None = None
    pasted: str | None = None
    shown: Shown | None = None
    run: Run | None = None
    folder: Path | None = None
    lost: str = GONE
    key: str = field(default_factory=partial(secrets.token_urlsafe, 24), repr=False)
    has_left: bool = False
    was_cut: bool = False
    expiry: threading.Timer | None = None
    lock: threading.Lock = field(default_factory=threading.Lock)
    editing: InTurn = field(default_factory=InTurn)
    edition: int = 0

    def sets(self) -> list[TextSet]:
        """All sets, the human one first."""
        return [side for side in (self.human, *self.models.values()) if side is not None]

    def holds(self) -> bool:
        """Return whether there is something of the visitor's own to lose."""
        return bool(self.sets()) or (self.shown is not None and not self.shown.example)

    def columns_of(self, path: str | Path) -> set[str | None]:
        """The columns of an uploaded file that are sets already; equal files are one file."""
        return {side.column for side in self.sets() if side.path == Path(path)}

    def new_folder(self) -> Path:
        """An empty folder of this session; an earlier one is removed."""
        if self.folder is not None:
            shutil.rmtree(self.folder, ignore_errors=True)
        Path(get_upload_folder()).mkdir(parents=True, exist_ok=True)
        self.folder = Path(tempfile.mkdtemp(dir=get_upload_folder()))
        return self.folder


class Sessions:
    """The sessions by the browser's session name.

    Of those with texts the least recently used one of the client that has most of them is dropped first, so that no
    client takes the places of all; apart from them, of those without texts, the least recently used one. One whose run
    waits or is at work is not dropped: runs are bounded by `Turns`.

    gradio's own state (6.31) cannot hold them: a session that is removed for another is dropped without its
    `delete_callback`, one whose page was closed is kept for another hour, and the hour counts from when the value was
    last returned, in the middle of a run too.

    Args:
        most: kept at a time of either kind.
        lifetime: seconds without use. linger: seconds after the page was closed, for it to be opened again.
    """

    def __init__(self, most: int, lifetime: float = HOUR, linger: float = LINGER) -> None:
        self._most, self._lifetime, self.linger = most, lifetime, linger
        self._sessions: dict[str, Session] = {}
        self._pushed_out: deque[str] = deque(maxlen=_PUSHED_OUT_KNOWN)
        self._arrived: Counter[Path] = Counter()  # how many times a file was uploaded that no handler has read yet
        self._arriving = 0  # uploads whose files may have their names before they are counted
        self._released: set[Path] = set()  # meanwhile
        self._lock = threading.RLock()

    def __len__(self) -> int:
        return len(self._sessions)

    def present(self, name: str | None) -> Session | None:
        """The session of that name, None if there is none (any more)."""
        with self._lock:
            return self._sessions.get(name or "")

    def get(self, name: str | None, client: str | None = None, key: str = "") -> Session:
        """The session of that name, new and empty if there is none.

        Args:
            client: whose it is, None if that is not known. key: of the page, which finds a new session by it too.
        """
        if not name:
            raise ValueError("this request has no session: open the page anew")
        with self._lock:
            session = self._sessions.pop(name, None)
            if session is None:
                session = Session(name, lost=self._lost(name))
                session.key = key if len(key) == len(session.key) else session.key
            self._sessions[name] = session  # as the last
            session.client = session.client if client is None else client
            self._drop_after(self._lifetime, session)
            holding = [other for other in self._sessions.values() if other.holds()]
            idle = [other for other in holding if other.run is None and other is not session]
            empty = [other.name for other in self._sessions.values() if other.run is None and not other.holds()]
            shares = Counter(other.client for other in holding)
            pushed_out: list[str] = []
            while idle and len(holding) - len(pushed_out) > self._most:
                first = idle.pop(max(range(len(idle)), key=lambda position: shares[idle[position].client]))
                shares[first.client] -= 1
                pushed_out.append(first.name)
                self._pushed_out += [first.name, first.key]
        for old in (*pushed_out, *empty[: -self._most]):
            self.drop(old)
        return session

    def _lost(self, name_or_key: str) -> str:
        """The reason why what a session held is not here any more."""
        return PUSHED_OUT.format(self._most) if name_or_key in self._pushed_out else GONE

    def _drop_after(self, seconds: float, session: Session) -> None:
        """Set the time after which a session is dropped."""
        if session.expiry is not None:
            session.expiry.cancel()
        session.expiry = threading.Timer(seconds, self.drop, [session.name])
        session.expiry.daemon = True
        session.expiry.start()

    def resume(self, name: str | None, key: str) -> Session:
        """The session of a page that opens, with what the session of this key holds; that one ends if its page has.

        Where there is none of this key any more, `lost` is the reason. What is chosen already on the page stays.
        """
        session, wanted = self.get(name), key.encode(errors="replace")  # whatever a browser sends
        with self._lock:
            others = [other for other in self._sessions.values() if other is not session]
            old = next((other for other in others if secrets.compare_digest(other.key.encode(), wanted)), None)
        if old is None or not old.holds():
            session.lost = self._lost(key)
            return session
        with session.editing:  # the paste boxes are empty: no set of the session before is theirs
            session.human, session.models = session.human or old.human, session.models or dict(old.models)
        session.shown = None if old.shown is None else replace(old.shown)
        session.was_cut = old.was_cut or old.run is not None  # which ends when the page is known to be closed
        if old.has_left:
            self.drop(old.name)
        return session

    def leave(self, name: str | None) -> None:
        """Stop the run of a closed page; keep what it holds for as long as it may be opened again."""
        with self._lock:
            session = self._sessions.get(name or "")
            if session is not None:
                session.has_left = True
        if session is None or not session.holds():
            self.drop(name)
            return
        if session.run is not None:
            session.was_cut = True
            session.run.cancel()
        with self._lock:
            self._drop_after(self.linger, session)

    def drop(self, name: str | None) -> None:
        """Delete a session and its files; stop a run in progress."""
        with self._lock:
            session = self._sessions.pop(name or "", None)
        if session is None:
            return
        if session.expiry is not None:
            session.expiry.cancel()
        if session.run is not None:
            session.run.cancel()
        sides = session.sets()
        session.human = session.in_box = session.shown = session.pasted = None
        session.models = {}
        if session.folder is not None:
            shutil.rmtree(session.folder, ignore_errors=True)
        for side in sides:
            self.release(side.upload)

    @contextmanager
    def arriving(self) -> Iterator[Counter[Path]]:
        """Keep the files that are put into the value until they are read, as often as each: equal uploads are one file.

        Nothing is deleted meanwhile: a file may have the name of one that is not needed any more.
        """
        files: Counter[Path] = Counter()
        with self._lock:
            self._arriving += 1
        try:
            yield files
        finally:
            with self._lock:
                self._arriving -= 1
                self._arrived += files
                released, self._released = self._released, set()
                for path in released:
                    self.release(path)

    def release_read(self, path: str | Path) -> None:
        """Release a file that the handler of one upload has read."""
        with self._lock:
            self._arrived -= Counter({Path(path): 1})
        self.release(Path(path))

    def release(self, path: Path | None) -> None:
        """Delete an uploaded file that no set holds any more and no handler is still to read."""
        with self._lock:
            if path is None or path in self._needed():
                return
            if self._arriving:
                self._released.add(path)
            else:
                delete_upload(path)

    def _needed(self) -> set[Path]:
        """The uploads that somebody uses, and the sessions' folders."""
        with self._lock:
            sessions, arrived = [*self._sessions.values()], {*self._arrived}
        used = {side.path for session in sessions for side in session.sets() if side.path is not None}
        return arrived | used | {session.folder for session in sessions if session.folder is not None}

    def sweep(self) -> None:
        """Delete unused files that are older than the lifetime of a session, and interrupted uploads."""
        folder, used = Path(get_upload_folder()), self._needed()
        with self._lock:  # a page that was left keeps its files no longer than others
            for path in [*self._arrived]:
                if not path.exists() or time.time() - path.stat().st_mtime >= self._lifetime:
                    del self._arrived[path]
                    used.discard(path)
        sweep(folder, used, self._lifetime)


def bytes_in(folder: Path) -> int:
    """The bytes of all files in a folder, 0 if it is not there."""
    total = 0
    for path in folder.rglob("*"):
        with contextlib.suppress(OSError):  # it was deleted meanwhile
            total += path.stat().st_size
    return total


def sweep(folder: Path, needed: Container[Path], seconds: float, unfinished: float = UNFINISHED) -> None:
    """Delete the files of interrupted uploads, and the folders of which nothing is needed and nothing is new.

    Args:
        folder: of uploads, each whole one in a folder of its own.
        needed: files and folders to keep. seconds: for which any folder is kept.
        unfinished: seconds for which a file outside of the folders is kept after its last byte.
    """
    now = time.time()
    for path in [*folder.iterdir()] if folder.is_dir() else []:
        with contextlib.suppress(OSError):
            if path.is_file():
                if now - path.stat().st_mtime >= unfinished:
                    path.unlink()
                continue
            inside = [path, *path.rglob("*")]
            is_old = now - max(file.stat().st_mtime for file in inside) >= seconds
            if is_old and not any(file in needed for file in inside):
                shutil.rmtree(path)
