"""The sessions of visitors: isolated from each other, kept while the page is open, for an hour at most.

Texts and results lie in memory, uploads and the files to take away in gradio's folder of temporary files.
"""

from __future__ import annotations

import contextlib
import shutil
import tempfile
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

from gradio.utils import get_upload_folder

from mauve_metric.hosts.space.session.measuring import Measured
from mauve_metric.hosts.space.session.opened_result import Opened
from mauve_metric.hosts.space.session.run import Run
from mauve_metric.hosts.space.session.scoring import Scored
from mauve_metric.hosts.space.session.uploads import TextSet
from mauve_metric.results.plain_text import one_line

LONGEST_NAME = 60


class ModelSets(dict[str, TextSet]):
    """Names → sets, in the order in which they came.

    Args:
        most: sets at a time.
    """

    def __init__(self, most: int) -> None:
        super().__init__()
        self._most = most

    def check_room(self, name: str) -> None:
        """Raise `ValueError` if one more set would be too many."""
        if len(self) >= self._most:
            raise ValueError(
                f"{title_of(name)} was not taken: at most {self._most} model sets are compared here, remove one first"
            )

    def free_name(self, name: str) -> str:
        """The name, with a number appended if a set has it already.

        >>> sets = ModelSets(8)
        >>> sets.put("greedy", TextSet("it", "greedy.txt", ["a"]))
        >>> sets.free_name("greedy"), sets.free_name("beam")
        ('greedy-2', 'beam')
        """
        free, number = name, 2
        while free in self:
            free, number = f"{name}-{number}", number + 1
        return free

    def put(self, name: str, side: TextSet) -> None:
        """Add a set, or replace the one of that name."""
        if name not in self:
            self.check_room(name)
        self[name] = side

    def renamed(self, old: str, new: str) -> ModelSets:
        """The sets with one renamed, at its position.

        Raises:
            ValueError: no name, or one that another set has.
        """
        new = clean_name(new)
        if not new:
            raise ValueError(f"{title_of(old)}: a name must not be empty")
        if new != old and new in self:
            raise ValueError(f"{title_of(old)} cannot be called “{new}”: another set has this name, expected a new one")
        found = ModelSets(self._most)
        for name, side in self.items():
            found[new if name == old else name] = replace(side, title=title_of(new)) if name == old else side
        return found


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


HOUR = 3600  # seconds: without use, until a visitor's texts are dropped; on the disk, until an upload is deleted
_SWEEP = 60.0  # seconds between two sweeps


@dataclass
class Shown:
    """The result that the page shows: human set, models' sets by their names, options and scores.

    picked: the model whose buckets are shown. bucket: the one whose texts are; None: the first. example: whether it is
    the one that the page opened with. measured: the measures of these sets, maybe with the settings of an earlier
    result. The sets of a result that was opened from a file hold no texts.
    """

    human: TextSet
    models: dict[str, TextSet]
    options: dict[str, object]
    scored: Scored | Opened
    picked: str
    bucket: int | None = None
    example: bool = False
    measured: Measured | None = None


@dataclass
class Session:
    """One visitor's texts, features and last result.

    name: of the browser's session. human, models: the sets that are on the page. pasted: the name of the set that the
    models' paste box holds. shown: the last result. run: the one in progress. folder: of the files to take away. lock:
    held while something is computed. editing: held while the sets change.
    """

    name: str
    models: ModelSets
    human: TextSet | None = None
    pasted: str | None = None
    shown: Shown | None = None
    run: Run | None = None
    folder: Path | None = None
    used: float = 0.0
    lock: threading.Lock = field(default_factory=threading.Lock)
    editing: threading.RLock = field(default_factory=threading.RLock)

    def sets(self) -> list[TextSet]:
        """All sets, the human one first."""
        return [side for side in (self.human, *self.models.values()) if side is not None]

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
    """The sessions by the browser's session name; the least recently used are dropped first.

    gradio's own state (6.31) cannot hold them: a session that is removed for another is dropped without its
    `delete_callback`, one whose page was closed is kept for another hour, and the hour counts from when the value was
    last returned, in the middle of a run too.

    Args:
        most: kept at a time.
        model_sets: of one visitor at a time.
        lifetime: seconds without use.
        clock: for tests.
    """

    def __init__(
        self, most: int, model_sets: int = 8, lifetime: float = HOUR, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._most, self._model_sets, self._lifetime, self._clock = most, model_sets, lifetime, clock
        self._sessions: OrderedDict[str, Session] = OrderedDict()
        self._lock = threading.Lock()
        self._sweeper: threading.Thread | None = None

    def __len__(self) -> int:
        return len(self._sessions)

    def get(self, name: str | None) -> Session:
        """The session of that name, new and empty if there is none."""
        if not name:
            raise ValueError("this request has no session: open the page anew")
        with self._lock:
            session = self._sessions.setdefault(name, Session(name, ModelSets(self._model_sets)))
            self._sessions.move_to_end(name)
            session.used = self._clock()
            leaving = [self._sessions.popitem(last=False)[1] for _ in range(len(self._sessions) - self._most)]
            if self._sweeper is None:
                self._sweeper = threading.Thread(target=self._sweep_until_empty, daemon=True)
                self._sweeper.start()
        for old in leaving:
            self._forget(old)
        return session

    def drop(self, name: str | None) -> None:
        """Delete a session and its files; stop a run in progress."""
        with self._lock:
            session = self._sessions.pop(name or "", None)
        if session is not None:
            self._forget(session)

    def sweep(self) -> None:
        """Delete the sessions whose time is over."""
        with self._lock:
            end = self._clock() - self._lifetime
            over = [name for name, session in self._sessions.items() if session.used < end]
            leaving = [self._sessions.pop(name) for name in over]
        for session in leaving:
            self._forget(session)

    def release(self, path: Path | None) -> None:
        """Delete an uploaded file that no session needs any more (equal files of two visitors are one file)."""
        with self._lock:
            needed = {side.path for session in self._sessions.values() for side in session.sets()}
        if path is not None and path not in needed:
            delete_upload(path)

    def _forget(self, session: Session) -> None:
        if session.run is not None:
            session.run.cancel()
        sides = session.sets()
        session.human = session.shown = session.pasted = None
        session.models = ModelSets(self._model_sets)
        if session.folder is not None:
            shutil.rmtree(session.folder, ignore_errors=True)
        for side in sides:
            self.release(side.upload)

    def _sweep_until_empty(self) -> None:
        while True:
            time.sleep(_SWEEP)
            self.sweep()
            with self._lock:
                if not self._sessions:
                    self._sweeper = None
                    return
