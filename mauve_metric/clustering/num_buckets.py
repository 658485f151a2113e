"""The number of buckets that "auto" makes, of k-means and of a classifier's scores."""

from __future__ import annotations

from mauve_metric.options import ResolvedConfig

TEXTS_A_LEARNED_BUCKET = 15  # of the smaller side
FEWEST_BUCKETS, MOST_BUCKETS = 4, 50


def auto_num_buckets(n_p: int, n_q: int) -> int:
    """A tenth of the smaller set, rounded half to even, at least 2.

    >>> auto_num_buckets(25, 500), auto_num_buckets(35, 40), auto_num_buckets(1, 1)
    (2, 4, 2)
    """
    return max(2, round(min(n_p, n_q) / 10))


def is_auto(config: ResolvedConfig, smallest: int) -> bool:
    """Return whether "auto" made the number of buckets of k-means, of a smallest set of this size."""
    is_usual = config.quantizer == "kmeans" and config.num_buckets == auto_num_buckets(smallest, smallest)
    return is_usual and "num_buckets" in config.auto


def auto_learned_buckets(n: int) -> int:
    """Buckets of a classifier's scores where the smaller side has n texts: n/15, from 4 to 50.

    >>> auto_learned_buckets(20), auto_learned_buckets(500), auto_learned_buckets(5000)
    (4, 33, 50)
    """
    return min(max(n // TEXTS_A_LEARNED_BUCKET, FEWEST_BUCKETS), MOST_BUCKETS)
