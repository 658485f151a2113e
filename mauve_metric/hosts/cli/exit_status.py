"""Exit statuses of the command line."""

from __future__ import annotations

from collections.abc import Sequence

from mauve_metric.hosts.cli.inputs_and_outputs import tell

ERROR = 1  # and 2 for wrong usage, by argparse
GATE_FAILED, NO_VERDICT = 3, 4
INTERRUPTED, CLOSED_PIPE = 128 + 2, 128 + 13  # 128 and the number of the signal, as in shells


def failed_gate(reasons: Sequence[str], undecidable: Sequence[str] = ()) -> int:
    """Print the reasons for which a gate fails; the exit status, 0 without any.

    undecidable: why it cannot decide, which fails with a status of its own. Empty ones are left out.
    """
    for reason in filter(None, (*undecidable, *reasons)):
        tell(f"failed: {reason}")
    return NO_VERDICT if any(undecidable) else GATE_FAILED if any(reasons) else 0
