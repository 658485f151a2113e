"""Files of the repository that a page links to become pages of the site, so that no link leaves it.

A page in docs/ links to `../benchmarks/results/estimators.md` or `../examples/train_with_mauve.py` as it must for those
who read it in the repository. The site gets a page of its own for each such file, of what it links to in turn, and of
the changelog and the leaderboard, which are in the menu.
"""

from __future__ import annotations

import os
import re
from pathlib import Path, PurePosixPath
from typing import Any

from mkdocs.structure.files import File, Files, InclusionLevel

CODE = r"(?ms:^ *(?P<fence>`{3,}).*?^ *(?P=fence) *$)|(?P<tick>`+).+?(?P=tick)"
LINK = re.compile(rf"{CODE}|\]\((?!https?:|mailto:|#)(?P<path>[^)\s#]+)(?P<anchor>#[^)\s]*)?\)")
# In the repository: on the site.
OWN_PAGES = {"CHANGELOG.md": "changelog.md", "leaderboard/README.md": "leaderboard.md"}
UNSEARCHED = "---\nsearch:\n  exclude: true\n---\n"
LAST_FOUND = "---\nsearch:\n  boost: 0.1\nhide:\n  - toc\n---\n"
FRONT_MATTER = re.compile(r"\A---\n.*?\n---\n", re.DOTALL)
LANGUAGES = {".py": "python", ".sh": "sh", ".toml": "toml", ".yml": "yaml", "": "text"}  # shown; others are copied


def on_files(files: Files, config: Any, **_: Any) -> Files:
    """The site's files, with a page for every file of the repository that one of them links to."""
    root = Path(config.config_file_path).parent
    docs = PurePosixPath(Path(config.docs_dir).relative_to(root).as_posix())
    waiting = list(OWN_PAGES)
    for file in files.documentation_pages():
        waiting += linked(file.content_string, docs / file.src_uri)
    done = set()
    while waiting:
        path = waiting.pop()
        if path in done or PurePosixPath(path).is_relative_to(docs) or not (root / path).exists():
            continue
        done.add(path)
        place = page_name(path)
        if not place.endswith(".md"):
            files.append(File.generated(config, place, abs_src_path=str(root / path)))
            continue
        text = page_of(root / path, path)
        waiting += linked(text, PurePosixPath(path))
        inclusion = InclusionLevel.INCLUDED if path in OWN_PAGES else InclusionLevel.NOT_IN_NAV
        files.append(File.generated(config, place, content=rewritten(text, path, docs), inclusion=inclusion))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, **_: Any) -> str:
    """A page of docs/ with its links into the repository turned into links within the site."""
    if page.file.generated_by:
        return markdown
    docs = PurePosixPath(Path(config.docs_dir).relative_to(Path(config.config_file_path).parent).as_posix())
    return rewritten(markdown, str(docs / page.file.src_uri), docs)


def page_of(file: Path, path: str) -> str:
    """The site's page of a file: a document as it is, a folder's list of files, or the lines of a program.

    The search ignores these pages, except for those in the menu, which rank below help."""
    if file.is_dir():
        names = sorted(item.name for item in file.iterdir() if item.suffix in (".md", *LANGUAGES) and item.is_file())
        return f"{UNSEARCHED}# {path}\n\n" + "\n".join(f"* [{name}]({name})" for name in names) + "\n"
    text = file.read_text(encoding="utf-8")
    if file.suffix == ".md":
        return (LAST_FOUND if path in OWN_PAGES else UNSEARCHED) + FRONT_MATTER.sub("", text)
    return f"{UNSEARCHED}# {path}\n\n````{LANGUAGES[file.suffix]}\n{text}\n````\n"


def linked(markdown: str, path: PurePosixPath) -> list[str]:
    """The files, from the root of the repository, that a document links to."""
    return [target(path, found["path"]) for found in LINK.finditer(markdown) if found["path"]]


def target(path: PurePosixPath, link: str) -> str:
    """The target of a document's link, from the root of the repository."""
    base = path if path.suffix == "" else path.parent
    return os.path.normpath(base / link)


def page_name(path: str) -> str:
    """The place of a file of the repository in the site, from docs/: a page of it, or the file itself."""
    if path in OWN_PAGES:
        return OWN_PAGES[path]
    ending = PurePosixPath(path).suffix
    return f"repository/{path}.md" if ending in LANGUAGES else f"repository/{path}"


def rewritten(markdown: str, path: str, docs: PurePosixPath) -> str:
    """A document with its links to files outside docs/ turned into links to their pages."""
    here = PurePosixPath(path)
    own = here.relative_to(docs) if here.is_relative_to(docs) else PurePosixPath(page_name(path))

    def turned(found: re.Match[str]) -> str:
        if not found["path"]:
            return found[0]
        where = target(here, found["path"])
        if PurePosixPath(where).is_relative_to(docs):
            there = str(PurePosixPath(where).relative_to(docs))
        else:
            there = page_name(where)
        return f"]({os.path.relpath(there, own.parent)}{found['anchor'] or ''})"

    return LINK.sub(turned, markdown)
