"""The folder of uploads under force: what real requests leave on the disk, and what they cannot."""

from __future__ import annotations

import http.client
import json
import os
import shutil
import socket
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from samples import ngrams
from visitors import LIMITS, SERVED, free_port, wait_until

from mauve_metric.hosts.space.session.sessions import bytes_in

pytest.importorskip("gradio")

from mauve_metric.hosts.space.server import guards

# an upload: 2 files of 1 MB, and 1 MB of marks
TIGHT = replace(LIMITS, model_sets=1, folder_megabytes=4, client_megabytes=3)
KIND = {"Content-Type": "multipart/form-data; boundary=x"}
_numbers = count(1)


@pytest.fixture(scope="module")
def tight(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A server whose folder of uploads takes 4 MB."""
    import app

    with pytest.MonkeyPatch.context() as patch:
        folder = tmp_path_factory.mktemp("uploads")
        patch.setenv("GRADIO_TEMP_DIR", str(folder))
        demo = app.build_app(TIGHT, [], {"ngrams": ngrams})
        demo.launch(**(app.launch_options(TIGHT) | SERVED | {"server_port": free_port()}))
        demo.folder = folder
        yield demo
        demo.close()


@pytest.fixture
def page(tight: Any) -> Any:
    """The server with an empty folder."""
    for path in tight.folder.iterdir():
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    return tight


def body_of(content: bytes, name: str = "a.txt") -> bytes:
    head = f'--x\r\nContent-Disposition: form-data; name="files"; filename="{name}"\r\n\r\n'.encode()
    return head + content + b"\r\n--x--\r\n"


def anyone() -> str:
    """An address that sent nothing yet."""
    return f"10.0.{next(_numbers)}.1"


def post(page: Any, body: Any, who: str = "") -> tuple[int, Any]:
    """The answer to an upload from an address, by default another one each time."""
    kind = KIND | {"X-Forwarded-For": who or anyone()}  # as a proxy on the same machine says it
    connection = http.client.HTTPConnection(urlsplit(page.local_url).netloc, timeout=600)
    connection.request("POST", "/gradio_api/upload", body, kind, encode_chunked=not isinstance(body, bytes))
    answer = connection.getresponse()
    said = answer.read().decode()
    connection.close()
    return answer.status, json.loads(said) if answer.status == 200 else said


def age(folder: Path) -> None:
    """Let everything in the folder be of three minutes ago."""
    then = time.time() - 180
    for path in folder.rglob("*"):
        os.utime(path, (then, then))


def interrupted(page: Any, sent: int, declared: int, who: str = "") -> None:
    """Begin an upload, and hang up in the middle of it."""
    address = urlsplit(page.local_url)
    with socket.create_connection((address.hostname, address.port), timeout=600) as line:
        head = f"POST /gradio_api/upload HTTP/1.1\r\nHost: {address.netloc}\r\nContent-Length: {declared}\r\n"
        head += f"X-Forwarded-For: {who or anyone()}\r\n"
        line.sendall(f"{head}Content-Type: {KIND['Content-Type']}\r\n\r\n".encode() + body_of(b"a" * sent)[: sent + 80])
        wait_until(lambda: bytes_in(page.folder) > 0)


def test_interrupted_uploads_are_swept_and_give_their_room_back(page: Any) -> None:
    for _ in range(4):
        interrupted(page, 600_000, 900_000)
    before = bytes_in(page.folder)
    assert before <= 4 * 2**20
    page.handlers.sessions.sweep()
    assert bytes_in(page.folder) == before  # they may still go on
    age(page.folder)
    page.handlers.sessions.sweep()
    assert bytes_in(page.folder) == 0
    wait_until(lambda: post(page, body_of(b"b" * 900_000))[0] == 200)


def test_a_chunked_body_over_the_limit_leaves_nothing(page: Any) -> None:
    files = [body_of(b"c" * 900_000, f"{number}.txt").removesuffix(b"--x--\r\n") for number in range(5)]
    assert post(page, iter(files)) == (413, "a request may have at most 3 MB here")
    assert bytes_in(page.folder) <= 4 * 2**20
    age(page.folder)
    page.handlers.sessions.sweep()
    assert [*page.folder.iterdir()] == []
    assert post(page, body_of(b"b" * 900_000))[0] == 200


def test_many_chunked_and_declared_bodies_at_once_stay_within_the_folder(page: Any) -> None:
    def send(number: int) -> int:
        body = body_of(bytes([65 + number]) * 900_000)
        return post(page, iter([body]) if number % 2 else body)[0]

    with ThreadPoolExecutor(12) as threads:
        answers = [*threads.map(send, range(12))]
    assert {*answers} == {200, 507} and bytes_in(page.folder) <= 4 * 2**20


def test_uploads_without_a_session_fill_the_folder_to_its_limit_and_no_more(page: Any) -> None:
    found = [post(page, body_of(bytes([65 + number]) * 900_000))[0] for number in range(8)]
    assert found[:3] == [200] * 3 and {*found[4:]} == {507}
    assert bytes_in(page.folder) <= 4 * 2**20
    status, said = post(page, body_of(b"z" * 900_000))
    assert status == 507 and "try again in some minutes" in said


def test_one_client_cannot_fill_the_folder_for_others(page: Any) -> None:
    files = [body_of(bytes([65 + number]) * 900_000) for number in range(4)]
    answers = [post(page, body, "10.0.0.1") for body in files]
    assert [status for status, _ in answers] == [200] * 3 + [507]
    said = answers[-1][1]
    assert "uploads of your address fill the 3 MB" in said and "remove sets that you do not need" in said
    assert post(page, body_of(b"z" * 90_000))[0] == 200
    Path(answers[0][1][0]).unlink()  # as where a set is removed from the page
    assert post(page, files[-1], "10.0.0.1")[0] == 200


def test_small_files_of_one_client_are_bounded_too(page: Any) -> None:
    parts = [body_of(f"{number}".encode(), f"{number}.txt").removesuffix(b"--x--\r\n") for number in range(50)]
    assert post(page, b"".join([*parts[:48], b"--x--\r\n"]), "10.0.0.2")[0] == 200
    assert post(page, body_of(b"one more"), "10.0.0.2")[0] == 507


def test_a_client_of_ipv6_has_one_share_with_all_its_addresses(page: Any) -> None:
    files = [body_of(bytes([65 + number]) * 900_000) for number in range(4)]
    assert [post(page, body, f"2001:db8::{number + 1:x}")[0] for number, body in enumerate(files)] == [200] * 3 + [507]
    assert post(page, body_of(b"z" * 90_000), "2001:db8:0:1::1")[0] == 200


@pytest.mark.more
def test_interrupted_uploads_count_for_their_client_until_they_are_swept(
    page: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def room() -> int:
        return post(page, body_of(b"z" * 500_000), "10.0.0.3")[0]

    monkeypatch.setattr(guards, "_SWEPT", 2)
    for _ in range(3):
        interrupted(page, 10_000, 900_000, "10.0.0.3")
    assert room() == 507
    wait_until(lambda: room() == 200)


def test_equal_uploads_are_one_file_until_each_is_read(page: Any) -> None:
    (path,), again = (post(page, body_of(b"one"))[1] for _ in range(2))
    assert again == [path]
    sessions = page.handlers.sessions
    for _ in range(2):
        assert Path(path).exists()
        sessions.release_read(path)
    assert not Path(path).exists()


def test_an_equal_upload_that_is_not_counted_yet_stays(page: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    sessions, files_in = page.handlers.sessions, guards._files_in

    def released_before(answer: bytearray) -> list[Path] | None:
        files = files_in(answer)
        for path in files or []:
            sessions.release(path)  # by a handler that has read an equal file
        return files

    monkeypatch.setattr(guards, "_files_in", released_before)
    ((path,),) = [post(page, body_of(b"one"))[1]]
    assert Path(path).exists()
    sessions.release_read(path)
    assert not Path(path).exists()
