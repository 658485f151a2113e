"""The parser of a command: short help and short messages about wrong usage."""

from __future__ import annotations

import argparse
from typing import Any


class CommandParser(argparse.ArgumentParser):
    """A parser whose usage is one line, and whose help lists rare options only on request."""

    def __init__(self, everything: bool = False, **options: Any) -> None:
        self.everything = everything
        super().__init__(**options, formatter_class=argparse.RawDescriptionHelpFormatter)
        self.usage = "%(prog)s [options]"
        self.add_argument("--help-all", action="help", help="show every option and exit")

    def add_argument(self, *names: str, **options: Any) -> argparse.Action:
        """Add an argument; one without a flag is shown in the usage."""
        action = super().add_argument(*names, **options)
        if not action.option_strings and isinstance(action.metavar, str):
            form = {None: "{0}", "?": "[{0}]", "*": "[{0} ...]", "+": "{0} [{0} ...]"}[action.nargs]  # type: ignore[index]
            self.usage = f"{self.usage} {form.format(action.metavar)}"
        return action

    def rare(self, help: str) -> str:
        """The help of a rarely used option, or `SUPPRESS`."""
        return help if self.everything else argparse.SUPPRESS
