"""`python -m mauve_metric` is the program `mauve-metric`."""

from __future__ import annotations

import sys

from mauve_metric.hosts.cli import main

sys.exit(main())
