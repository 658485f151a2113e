"""What is kept of a visitor while the page is open: in memory, apart from everyone else's, for an hour at most."""

from __future__ import annotations

import shutil
import tempfile
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mauve_metric.space.model_sets import ModelSets
from mauve_metric.space.scoring import Run, Scored
from mauve_metric.space.uploads import TextSet

HOUR = 3600.0  # seconds without use after which a visitor's texts and features are dropped
_SWEEP = 60.0  # seconds between two looks


@dataclass
class Shown:
    """What the page shows: a human set, models' sets by their names, what they were scored with, and what came out.

    picked: the model whose buckets are shown.
    """

    human: TextSet
    models: dict[str, TextSet]
    options: dict[str, Any]
    scored: Scored
    picked: str


@dataclass
class Session:
    """One visitor's texts, features and last result.

    human, models: the sets that are on the page. pasted: the name of the set that the models' paste box holds. shown:
    the last result. run: the one in progress. folder: of the files to take away. lock: held while something is
    computed. editing: held while the sets change.
    """

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

    def new_folder(self, inside: str) -> Path:
        """An empty folder of this session; an earlier one is removed."""
        if self.folder is not None:
            shutil.rmtree(self.folder, ignore_errors=True)
        Path(inside).mkdir(parents=True, exist_ok=True)
        self.folder = Path(tempfile.mkdtemp(dir=inside))
        return self.folder


class Sessions:
    """The sessions by the browser's session name; the ones that were unused for longest give way.

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
            session = self._sessions.setdefault(name, Session(ModelSets(self._model_sets)))
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
        """Forget a session, its files too; a run in progress is stopped."""
        with self._lock:
            session = self._sessions.pop(name or "", None)
        if session is not None:
            self._forget(session)

    def sweep(self) -> None:
        """Forget the sessions whose time is over."""
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
            path.unlink(missing_ok=True)

    def _forget(self, session: Session) -> None:
        if session.run is not None:
            session.run.cancel()
        sides = session.sets()
        session.human = session.shown = session.pasted = None
        session.models = ModelSets(self._model_sets)
        if session.folder is not None:
            shutil.rmtree(session.folder, ignore_errors=True)
        for side in sides:
            self.release(side.path if side.kind == "file" else None)

    def _sweep_until_empty(self) -> None:
        while True:
            time.sleep(_SWEEP)
            self.sweep()
            with self._lock:
                if not self._sessions:
                    self._sweeper = None
                    return
