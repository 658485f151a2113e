"""The logs of Inspect, read by its own reader."""

from __future__ import annotations

import zipfile
from pathlib import Path

from mauve_metric.runtime.archives import check_archive
from mauve_metric.runtime.failures import one_line
from mauve_metric.runtime.optional_imports import import_inspect_log
from mauve_metric.texts.records import Record

_UNREAD = {"store", "attachments", "events"}  # large, and never a text


def inspect_records(path: Path) -> list[Record]:
    """The samples of a log, `.eval` or `.json`, as their fields, in the order in which the run scores them.

    Raises:
        ImportError: Inspect is not installed. ValueError: it cannot read the file.
    """
    log = import_inspect_log()
    try:
        if zipfile.is_zipfile(path):
            check_archive(path)
        read = log.read_eval_log(str(path), exclude_fields=_UNREAD)
    except Exception as error:  # a zip, JSON or pydantic error
        raise ValueError(f"{path} is not a log that Inspect can read: {one_line(error)}") from error
    if read.status != "success":
        raise ValueError(f"{path} is the log of a run that did not succeed (status {read.status!r}): run it again")
    found = []
    for sample in sorted(read.samples or (), key=lambda sample: (*sample_order(sample.id), sample.epoch)):
        where = f"{path}, sample {sample.id!r}, epoch {sample.epoch}"
        if sample.error is not None:
            raise ValueError(f"{where}: the sample ended with an error: {sample.error.message:.200}")
        found.append(Record(sample.model_dump(mode="json"), where))
    return found


def sample_order(sample_id: int | str | None) -> tuple[bool, int | str]:
    """The key by which samples are sorted: a log has them in another order than the run, and rows count for k-means."""
    return isinstance(sample_id, str), 0 if sample_id is None else sample_id
