"""A folder that several machines must see, known by a word in one of its files."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from pathlib import Path

from mauve_metric.runtime.whole_files import naming, written_whole

WORD_FILE = "folder.id"


@dataclass(frozen=True)
class SharedFolder:
    """A folder as one machine sees it: its path, and the word by which another one knows it again."""

    path: Path
    word: str

    def check(self) -> None:
        """Refuse a machine that does not see this very folder.

        Raises:
            OSError: nothing, or another folder, lies at its path.
        """
        try:
            word = (self.path / WORD_FILE).read_text(encoding="utf-8")
        except OSError:
            word = ""
        if word != self.word:
            what = "is another folder there" if self.path.is_dir() else "is not there"
            raise OSError(f"{str(self.path)!r} {what}: the output folder must be one that all workers share")


def shared_folder(path: Path) -> SharedFolder:
    """A folder with its word, which is written when it has none.

    >>> import tempfile
    >>> folder = shared_folder(Path(tempfile.mkdtemp()))
    >>> folder == shared_folder(folder.path)
    True
    >>> SharedFolder(Path("/nowhere"), folder.word).check()
    Traceback (most recent call last):
    OSError: '/nowhere' is not there: the output folder must be one that all workers share
    """
    file = path / WORD_FILE
    with naming(file):
        if not file.is_file():
            with written_whole(file) as temporary:
                temporary.write_text(secrets.token_hex(8), encoding="utf-8")
        return SharedFolder(path, file.read_text(encoding="utf-8"))
