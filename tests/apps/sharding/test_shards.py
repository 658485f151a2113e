"""Files of texts behind URLs: listing, and errors of a store that cannot be read."""

from __future__ import annotations

import functools
import http.server
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from mauve_metric.apps.sharding.shards import list_shards, on_this_machine

pytest.importorskip("aiohttp", reason="fsspec needs aiohttp for http")


class Quiet(http.server.SimpleHTTPRequestHandler):
    """Files of a folder, whatever stands behind the `?`."""

    def log_message(self, *_: object) -> None:
        """Nothing is said."""


@pytest.fixture
def url(tmp_path: Path) -> Iterator[str]:
    """The address of a server that has the file a.jsonl."""
    (tmp_path / "a.jsonl").write_text('{"text": "one"}\n')
    handler = functools.partial(Quiet, directory=str(tmp_path))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def test_a_signed_url_is_the_file_that_its_path_names(url: str) -> None:
    (shard,) = list_shards("human", f"{url}/a.jsonl?Signature=x%2Fy.z&Expires=9")
    assert shard.file_name == "a.jsonl" and shard.size == 16
    with on_this_machine(shard) as path:
        assert path.name == "a.jsonl" and path.read_text() == '{"text": "one"}\n'


def test_a_store_that_cannot_be_read_is_named(url: str) -> None:
    gone = list_shards("human", f"{url}/a.jsonl")[0]._replace(name=f"{url}/b.jsonl")
    with pytest.raises(OSError, match=rf"'{url}/b\.jsonl' cannot be read: "), on_this_machine(gone):
        pass
    with pytest.raises(OSError, match=r"^human: 'nowhere://a\.jsonl' cannot be read: Protocol not known: nowhere"):
        list_shards("human", "nowhere://a.jsonl")
    with pytest.raises(ValueError, match="human must name files that can be read alone, got 'zip://"):
        list_shards("human", "zip://*.jsonl::/texts.zip")
