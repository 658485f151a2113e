"""The handlers of the inputs: files, pasted lines and examples become the sets of a session."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import gradio as gr

from mauve_metric.hosts.space.limits import Limits, check_together
from mauve_metric.hosts.space.session.examples import HUMAN, example_sets
from mauve_metric.hosts.space.session.run import show_errors
from mauve_metric.hosts.space.session.sessions import Session, Sessions, clean_name, name_of_file, title_of
from mauve_metric.hosts.space.session.uploads import TextSet, read_paste, read_upload
from mauve_metric.hosts.space.view import markup
from mauve_metric.runtime.plain_text import free_name

PASTED = "pasted"  # initial name of a set from the paste box
Values = dict[str, object]  # of outputs by their names; those that are not there stay as they are


class TextHandlers:
    """The functions of the page's inputs of texts.

    Args:
        limits: of the server.
    """

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.sessions = Sessions(limits.sessions)

    def edit(self, change: Callable[..., Values], *values: Any) -> Values:
        """Change the sets of the session, the last value, by a handler: its outputs and the number of the change."""
        session: Session = values[-1]
        with session.editing:
            shown = change(*values)
            session.edition += 1
            return {**shown, "edition": str(session.edition)}

    def texts_again(self, session: Session) -> Values:
        """The sets of a session for a page that does not show the last change of them."""
        with session.editing:
            shown = self._human_shown(session) | self._models_shown(session) | {"edition": str(session.edition)}
        return {name: value for name, value in shown.items() if name != "model_problem"}

    # --- human texts ----------------------------------------------------------------------------------------------

    def take_file(self, path: str | None, session: Session) -> Values:
        """Handle a chosen or removed file: preview and columns; a chosen one empties the paste box."""
        with session.editing:
            old, session.human = session.human, None
            shown = self._human_shown(session)
            if path is not None:
                taken = session.columns_of(path)
                read = partial(read_upload, HUMAN, path, None, self.limits, side="reference", taken=taken)
                shown = self._take_human(session, read) | {"human_paste": ""}
                if session.human is None:
                    shown["human_file"] = None
                self.sessions.release_read(path)  # unless the session needs it
            if old is not None:
                self.sessions.release(old.upload)
        return shown

    def take_column(self, column: str, session: Session) -> Values:
        """Handle the choice of another column: preview, and the column; the one before where it is refused."""
        with session.editing:
            old = session.human
            if old is None or old.path is None:
                return {"human_preview": markup.problem(markup.escape(f"{HUMAN}: choose a file first"))}
            read = partial(read_upload, HUMAN, old.path, column, self.limits, old.kind, "reference")
            return self._take_human(session, read)

    def take_paste(self, pasted: str, session: Session) -> Values:
        """Handle the pasted human texts: preview, no columns and no file; an emptied box has no set."""
        with session.editing:
            if not pasted.strip():
                session.human = None if session.human is session.in_box else session.human
                return self._human_shown(session)
            shown = self._take_human(session, lambda: read_paste(HUMAN, pasted, self.limits))
            is_taken = session.human is not None and session.human.kind == "paste"
            return shown | ({"human_file": None} if is_taken else {})

    def _take_human(self, session: Session, read: Callable[[], TextSet]) -> Values:
        """Read a set into the session: preview and columns, after the error of one that is refused."""
        said: list[str] = []
        with session.editing:
            with _noting(said):
                side = read()
                check_together([side.texts, *(model.texts for model in session.models.values())], self.limits)
                self._set_human(session, side)
            shown = self._human_shown(session)
        return shown | {"human_preview": "".join([*said, str(shown["human_preview"])])}

    def _set_human(self, session: Session, side: TextSet) -> None:
        old, session.human = session.human, side
        session.in_box = side if side.kind == "paste" and side.every == 1 else None
        if old is not None:
            self.sessions.release(old.upload)

    def _human_shown(self, session: Session) -> Values:
        side = session.human
        return {"human_preview": "" if side is None else markup.preview(side), "human_column": _columns(side)}

    # --- models' texts --------------------------------------------------------------------------------------------

    def add_files(self, paths: Sequence[str] | None, session: Session) -> Values:
        """Add a set for each chosen file, and report invalid files."""
        said: list[str] = []
        with session.editing:
            titles = {side.path: side.title for side in session.models.values()}
            for path in paths or []:
                if len(paths or []) > 1 and Path(path) in titles:  # chosen while it was read: the box still held it
                    said.append(markup.note(f"{titles[Path(path)]} is there: choose its file alone for another column"))
                    continue
                with _noting(said):
                    taken, wanted = session.columns_of(path), name_of_file(path)
                    self._check_room(session, wanted)
                    side = read_upload(title_of(wanted), path, None, self.limits, taken=taken)
                    wanted = clean_name(side.column or "") or wanted if taken else wanted  # of one file its columns
                    name = free_name(wanted, session.models)
                    self._put(session, name, replace(side, title=title_of(name)))
                    if name != wanted:
                        said.append(markup.note(f"a set called “{wanted}” is there: the new one is “{name}”"))
                self.sessions.release_read(path)  # unless a session needs it
            shown, human = self._models_shown(session, said), session.human
        if human is not None and human.path is not None and {side.path for side in session.sets()} == {human.path}:
            shown["aligned"] = True  # rows of one file
        return shown

    def add_paste(self, pasted: str, session: Session) -> Values:
        """Handle the models' paste box: its lines are one set until another is begun; an emptied box has none."""
        said: list[str] = []
        with session.editing:
            if pasted.strip():
                with _noting(said):
                    self._paste_model(session, pasted)
            elif session.pasted in session.models:
                self._drop(session, session.pasted)
            return self._models_shown(session, said)

    def paste_another(self, pasted: str, session: Session) -> Values:
        """Keep the pasted lines as a set, and empty the box for the next."""
        shown = self.add_paste(pasted, session)
        if shown["model_problem"]:
            return shown
        session.pasted = None
        return shown | {"model_paste": ""}

    def rename_model(self, number: int, name: str, session: Session) -> Values:
        """Rename the set at a place on the page: return the message and its present name."""
        said: list[str] = []
        with session.editing:
            old = _name_at(session, number)
            if old is None or old == name:  # the box is unchanged: the message stays
                return {}
            with _noting(said):
                new = clean_name(name)
                if not new:
                    raise ValueError(f"{title_of(old)}: a name must not be empty")
                if new != old and new in session.models:
                    reason = "another set has this name, expected a new one"
                    raise ValueError(f"{title_of(old)} cannot be called “{new}”: {reason}")
                renamed = {old: (new, replace(session.models[old], title=title_of(new)))}
                session.models = dict(renamed.get(key, (key, side)) for key, side in session.models.items())
                session.pasted = new if session.pasted == old else session.pasted
            return {"model_problem": "".join(said), f"model_{number + 1}_name": _name_at(session, number)}

    def choose_column(self, number: int, column: str, session: Session) -> Values:
        """Handle the choice of another column of a model's file."""
        said: list[str] = []
        with session.editing:
            name = _name_at(session, number)
            if name is not None and (side := session.models[name]).path is not None:
                with _noting(said):
                    self._put(session, name, read_upload(side.title, side.path, column, self.limits, side.kind))
            return self._models_shown(session, said)

    def change_place(self, change: Callable[..., Values], previews: Sequence[str], *arguments: Any) -> Values:
        """Change the set at a place on the page by another function, whose last argument is the session.

        previews: of all places, as the page shows them. Where it shows more sets than there are, an earlier removal is
        on its way, and another set is in the place already: nothing is changed.
        """
        session: Session = arguments[-1]
        with session.editing:
            if sum(map(bool, previews)) > len(session.models):
                return self._models_shown(session, [markup.note("this page was behind: change again what is there")])
            return change(*arguments)

    def remove_model(self, number: int, session: Session) -> Values:
        """Remove the set at a place on the page; if it was the pasted one, empty the box, too."""
        with session.editing:
            name, pasted = _name_at(session, number), session.pasted
            if name is not None:
                self._drop(session, name)
            return self._models_shown(session) | ({"model_paste": ""} if pasted is not None and name == pasted else {})

    def _paste_model(self, session: Session, pasted: str) -> None:
        """Put the pasted lines into the set of the paste box; create it if there is none."""
        with session.editing:
            if session.pasted not in session.models:
                session.pasted = None
            name = session.pasted or free_name(PASTED, session.models)
            self._put(session, name, read_paste(title_of(name), pasted, self.limits))
            session.pasted = name

    def _put(self, session: Session, name: str, side: TextSet) -> None:
        """Put a set into the session, in place of the one of its name if there is one."""
        old = session.models.get(name)
        if old is not None and old.texts == side.texts and old.column == side.column:
            return
        self._check_room(session, name)
        others = [other.texts for other in session.sets() if other is not old]
        try:
            check_together([*others, side.texts], self.limits)
        except ValueError as error:
            raise ValueError(f"{title_of(name)} was not taken: {error}") from error
        session.models[name] = side

    def _check_room(self, session: Session, name: str) -> None:
        """Raise `ValueError` if one more set would be too many."""
        if name not in session.models and len(session.models) >= self.limits.model_sets:
            most = f"at most {self.limits.model_sets} model sets are compared here, remove one first"
            raise ValueError(f"{title_of(name)} was not taken: {most}")

    def _drop(self, session: Session, name: str) -> None:
        if session.pasted == name:
            session.pasted = None
        self.sessions.release(session.models.pop(name).upload)

    def _models_shown(self, session: Session, said: Sequence[str] = ()) -> Values:
        """Return the message `said` as HTML, and every place for a set."""
        sets = list(session.models.items())
        values: Values = {"model_problem": "".join(said)}
        for number in range(self.limits.model_sets):
            name, side = sets[number] if number < len(sets) else ("", None)
            box = f"model_{number + 1}"
            values |= {box: gr.update(visible=side is not None), f"{box}_name": name}
            values[f"{box}_column"] = _columns(side)
            values[f"{box}_preview"] = "" if side is None else markup.preview(side, 3 if len(sets) == 1 else 1)
        return values

    # --- examples -------------------------------------------------------------------------------------------------

    def take_example(self, label: str, session: Session) -> Values:
        """Take the texts of an example: the outputs of both sides, the other inputs emptied."""
        with show_errors(markup.in_controls), session.editing:
            human, models = example_sets(label, self.limits)
            for name in list(session.models):
                self._drop(session, name)
            self._set_human(session, human)
            for name, side in models.items():
                self._put(session, name, side)
        return self._both_shown(session) | {"human_file": None}

    def _both_shown(self, session: Session) -> Values:
        """The sets of both sides, and empty paste boxes."""
        emptied = {"human_paste": "", "model_paste": ""}
        return self._human_shown(session) | self._models_shown(session) | emptied


@contextmanager
def _noting(said: list[str]) -> Iterator[None]:
    """Append the error that ends the block to the messages."""
    try:
        with show_errors(markup.in_controls):
            yield
    except gr.Error as error:
        said.append(markup.problem(error.message))


def _name_at(session: Session, number: int) -> str | None:
    """The name of the set at a place on the page."""
    names = list(session.models)
    return names[number] if 0 <= number < len(names) else None


def _columns(side: TextSet | None) -> dict[str, object]:
    """The choice of a column, if there is one."""
    if side is None or len(side.columns) < 2 or side.kind != "file":
        return gr.update(visible=False)
    return gr.update(
        choices=list(zip(side.examples or side.columns, side.columns, strict=True)), value=side.column, visible=True
    )
