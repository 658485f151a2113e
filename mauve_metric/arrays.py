"""The kinds of arrays, each named once."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Floats = NDArray[np.float64]
Rows = NDArray[np.float32]  # features or projected rows, (n, d)
Integers = NDArray[np.int64]
Hashes = NDArray[np.uint64]
Counts = NDArray[np.int64]  # of texts in buckets, (k,)
Labels = NDArray[np.int64]  # the bucket of each text, (n,)
