"""The package's version, which every signature names."""

from __future__ import annotations

__version__ = "0.1.0"
