"""The long description that hatch writes into the package: README without the Space's header, its links absolute."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

RELATIVE = re.compile(r"(?P<picture>!?)(?P<text>\[[^]\[]*\])\((?!https?:|#)(?P<path>[^)]+)\)")


class LongDescription(MetadataHookInterface):
    """Links lead to the homepage of `[project.urls]`, where the repository is."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Add the long description to the metadata."""
        _, text = Path(self.root, "README.md").read_text(encoding="utf-8").split("\n---\n", 1)

        def absolute(found: re.Match[str]) -> str:
            place = "resolve" if found["picture"] else "blob"
            return f"{found['picture']}{found['text']}({metadata['urls']['Homepage']}/{place}/main/{found['path']})"

        metadata["readme"] = {"content-type": "text/markdown", "text": RELATIVE.sub(absolute, text.lstrip())}
