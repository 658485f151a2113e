"""`python -m mauve_metric` is the program `mauve-metric`."""

import sys

from mauve_metric.cli import main

sys.exit(main())
