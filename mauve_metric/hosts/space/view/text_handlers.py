"""The handlers of the inputs: files, pasted lines and examples become the sets of a session."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import gradio as gr

from mauve_metric.hosts.space.limits import Limits, check_together
from mauve_metric.hosts.space.session.examples import HUMAN, example_sets
from mauve_metric.hosts.space.session.run import show_errors
from mauve_metric.hosts.space.session.sessions import Session, Sessions, clean_name, name_of_file, title_of
from mauve_metric.hosts.space.session.uploads import TextSet, read_paste, read_upload
from mauve_metric.hosts.space.view import markup

PASTED = "pasted"  # initial name of a set from the paste box


class TextHandlers:
    """The functions of the page's inputs of texts.

    Args:
        limits: of the server.
    """

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.sessions = Sessions(limits.sessions, limits.model_sets)

    # --- human texts ----------------------------------------------------------------------------------------------

    def take_file(self, path: str | None, session: Session) -> list[object]:
        """Handle a chosen or removed file: preview, columns, and an empty paste box."""
        old, session.human = session.human, None
        shown = (
            self._human_shown(session)
            if path is None
            else self._take_human(session, partial(self._read, session, path))
        )
        self.sessions.release(old.path if old is not None and old.kind == "file" else None)
        if path is None:
            return [*shown, gr.skip(), gr.skip()]
        self.sessions.release(Path(path))  # unless the session needs it
        return [*shown, "", gr.skip() if session.human is not None else None]

    def _read(self, session: Session, path: str) -> TextSet:
        return read_upload(HUMAN, path, None, self.limits, side="reference", taken=session.columns_of(path))

    def take_column(self, column: str, session: Session) -> str:
        """Handle the choice of another column: preview."""
        old = session.human
        if old is None or old.path is None:
            return markup.problem(markup.escape(f"{HUMAN}: choose a file first"))
        path, kind = old.path, old.kind
        shown = self._take_human(session, lambda: read_upload(HUMAN, path, column, self.limits, kind, "reference"))
        return str(shown[0])

    def take_paste(self, pasted: str, session: Session) -> list[object]:
        """Handle the pasted human texts: preview, no columns and no file."""
        if not pasted.strip():
            return [gr.skip(), gr.skip(), gr.skip()]
        return [*self._take_human(session, lambda: read_paste(HUMAN, pasted, self.limits)), None]

    def _take_human(self, session: Session, read: Callable[[], TextSet]) -> list[object]:
        """Read a set into the session: preview and columns, or the error."""
        try:
            with show_errors(markup.in_controls), session.editing:
                side = read()
                check_together([side.texts, *(model.texts for model in session.models.values())], self.limits)
                self._set_human(session, side)
        except gr.Error as error:
            return [markup.problem(error.message), gr.update(visible=False)]
        return self._human_shown(session)

    def _set_human(self, session: Session, side: TextSet | None) -> None:
        old, session.human = session.human, side
        if old is not None and old.kind == "file":
            self.sessions.release(old.path)

    def _human_shown(self, session: Session) -> list[object]:
        """Preview and columns."""
        side = session.human
        return ["" if side is None else markup.preview(side), _columns(side)]

    # --- models' texts --------------------------------------------------------------------------------------------

    def add_files(self, paths: Sequence[str] | None, session: Session) -> list[object]:
        """Add a set for each chosen file, and report invalid files."""
        said: list[str] = []
        with session.editing:
            for path in paths or []:
                if not _done(partial(self._add_file, session, path, said), said):
                    self.sessions.release(Path(path))
        shown = self._models_shown(session, said)
        human = session.human
        if human is not None and human.path is not None and {side.path for side in session.sets()} == {human.path}:
            shown[3] = gr.update(visible=True, value=True)  # rows of one file
        return shown

    def _add_file(self, session: Session, path: str, said: list[str]) -> None:
        """Put the set of a file into the session, under the name of its column where another set has the file too."""
        taken, wanted = session.columns_of(path), name_of_file(path)
        session.models.check_room(wanted)
        side = read_upload(title_of(wanted), path, None, self.limits, taken=taken)
        wanted = clean_name(side.column or "") or wanted if taken else wanted
        name = session.models.free_name(wanted)
        self._put(session, name, lambda: replace(side, title=title_of(name)))
        if name != wanted:
            said.append(markup.note(f"a set called “{wanted}” is there: the new one is “{name}”"))

    def add_paste(self, pasted: str, session: Session) -> list[object]:
        """Handle the models' paste box: its lines are one set until another is begun."""
        said: list[str] = []
        if not pasted.strip():
            session.pasted = None
        else:
            _done(partial(self._paste_model, session, pasted), said)
        return self._models_shown(session, said)

    def paste_another(self, pasted: str, session: Session) -> list[object]:
        """Keep the pasted lines as a set, and empty the box for the next."""
        said: list[str] = []
        if pasted.strip() and not _done(partial(self._paste_model, session, pasted), said):
            return self._models_shown(session, said)
        session.pasted = None
        return self._models_shown(session, said, paste="")

    def rename_model(self, number: int, name: str, session: Session) -> list[object]:
        """Rename the set at a place on the page: return the message and its present name."""
        said: list[str] = []
        with session.editing:
            old = _name_at(session, number)
            if old is None or old == name:  # the box is unchanged: the message stays
                return [gr.skip(), gr.skip()]

            def rename() -> None:
                session.models = session.models.renamed(old, name)

            if _done(rename, said) and session.pasted == old:
                session.pasted = _name_at(session, number)
            return ["".join(said), _name_at(session, number)]

    def choose_column(self, number: int, column: str, session: Session) -> list[object]:
        """Handle the choice of another column of a model's file."""
        said: list[str] = []
        with session.editing:
            name = _name_at(session, number)
            path = None if name is None else session.models[name].path
            if name is not None and path is not None:
                kind = session.models[name].kind
                read = partial(read_upload, title_of(name), path, column, self.limits, kind)
                _done(partial(self._put, session, name, read), said)
        return self._models_shown(session, said)

    def remove_model(self, number: int, session: Session) -> list[object]:
        """Remove the set at a place on the page; if it was the pasted one, empty the box, too."""
        with session.editing:
            name = _name_at(session, number)
            emptied = name is not None and name == session.pasted
            if name is not None:
                self._drop(session, name)
        return self._models_shown(session, [], paste="" if emptied else None)

    def _paste_model(self, session: Session, pasted: str) -> None:
        """Put the pasted lines into the set of the paste box; create it if there is none."""
        with session.editing:
            if session.pasted not in session.models:
                session.pasted = None
            name = session.pasted or session.models.free_name(PASTED)
            self._put(session, name, lambda: read_paste(title_of(name), pasted, self.limits))
            session.pasted = name

    def _put(self, session: Session, name: str, read: Callable[[], TextSet]) -> None:
        """Put a set that is read into the session, in place of the one of its name if there is one."""
        if name not in session.models:
            session.models.check_room(name)
        side, old = read(), session.models.get(name)
        if old is not None and old.texts == side.texts and old.column == side.column:
            return
        others = [other.texts for other in session.sets() if other is not old]
        try:
            check_together([*others, side.texts], self.limits)
        except ValueError as error:
            raise ValueError(f"{title_of(name)} was not taken: {error}") from error
        session.models.put(name, side)

    def _drop(self, session: Session, name: str) -> None:
        side = session.models.pop(name, None)
        if session.pasted == name:
            session.pasted = None
        if side is not None and side.kind == "file":
            self.sessions.release(side.path)

    def _models_shown(self, session: Session, said: Sequence[str], paste: str | None = None) -> list[object]:
        """Empty file box, paste box, message, choice about aligned rows, and every place for a set.

        Args:
            session: with the sets.
            said: as HTML.
            paste: what the paste box holds now; None: what it held.
        """
        sets = list(session.models.items())
        places: list[object] = []
        for number in range(self.limits.model_sets):
            name, side = sets[number] if number < len(sets) else ("", None)
            preview = "" if side is None else markup.preview(side, 3 if len(sets) == 1 else 1)
            places += [gr.update(visible=side is not None), name, _columns(side), preview]
        return [None, gr.skip() if paste is None else paste, "".join(said), gr.update(visible=bool(sets)), *places]

    # --- examples -------------------------------------------------------------------------------------------------

    def take_example(self, label: str, session: Session) -> list[object]:
        """Take the texts of an example: the outputs of both sides, the other inputs emptied."""
        with show_errors(markup.in_controls), session.editing:
            human, models = example_sets(label, self.limits)
            for name in list(session.models):
                self._drop(session, name)
            self._set_human(session, human)
            for name, side in models.items():
                session.models.put(name, side)
        return [*self._human_shown(session), None, "", *self._models_shown(session, [], paste="")]


def _done(action: Callable[[], None], said: list[str]) -> bool:
    """Do an action and return whether it succeeded; append the error to the messages."""
    try:
        with show_errors(markup.in_controls):
            action()
    except gr.Error as error:
        said.append(markup.problem(error.message))
        return False
    return True


def _name_at(session: Session, number: int) -> str | None:
    """The name of the set at a place on the page."""
    names = list(session.models)
    return names[number] if 0 <= number < len(names) else None


def _columns(side: TextSet | None) -> dict[str, object]:
    """The choice of a column, if there is one."""
    if side is None or len(side.columns) < 2 or side.kind != "file":
        return gr.update(visible=False)
    return gr.update(choices=list(side.columns), value=side.column, visible=True)
