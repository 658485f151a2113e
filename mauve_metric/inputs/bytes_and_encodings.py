"""The content of a file: its bytes, unpacked if they are compressed, and its text, decoded; others are refused."""

from __future__ import annotations

import bz2
import codecs
import contextlib
import gzip
import io
import lzma
import zipfile
import zlib
from pathlib import Path
from typing import IO, Any

from mauve_metric.runtime.checks import most_unpacked, shown
from mauve_metric.runtime.errors import CodedError, DamagedFile, NoFile, UnknownEnding, WrongOption, short_message

_OFFICE = "is a document of an office program: save it as .xlsx or .csv, or as .txt with one text a line"
_OFFICE_MEMBERS = {"[Content_Types].xml", "content.xml", "Index/Document.iwa"}  # of Word, LibreOffice, Pages
GZIP = b"\x1f\x8b"
PACKED = {GZIP: "gzip", b"BZh": "bz2", b"\xfd7zXZ": "xz", b"\x28\xb5\x2f\xfd": "zstd"}
PACKED_ENDINGS = (".gz", ".bz2", ".xz", ".zst", ".zip")
_ZIP = b"PK\3\4"


_PICKLE = "is a pickle of Python, which can run code and is not opened: write its texts into a .txt or .jsonl file"
_CONTENTS = {  # of files that hold no text that can be read, by their first bytes
    b"7z\xbc\xaf": "is an archive: unpack it first",
    b"Rar!": "is an archive: unpack it first",
    b"\x93NUMPY": "holds features of numpy: unpack it if it is packed, and name it .npy",
    b"%PDF": "is a PDF: write its texts into a .txt or .jsonl file",
    b"\xd0\xcf\x11\xe0": _OFFICE,
    b"{\\rtf": _OFFICE,
    **dict.fromkeys((b"(lp0\n", b"(dp0\n", b"]q\0", b"}q\0", b"\x80\x02", b"\x80\x03"), _PICKLE),
    **dict.fromkeys((b"\x80\x04\x95", b"\x80\x05\x95"), _PICKLE),
}


def read_bytes(path: Path, most: int | None = None) -> bytes:
    """Return the content of a file, unpacked if it is compressed. most: bytes that it may have unpacked.

    Raises:
        FileNotFoundError, IsADirectoryError, OSError: it is not there, or cannot be read; one sentence with its name.
        ValueError: damaged, or too much of it.
    """
    try:
        raw = path.read_bytes()
    except FileNotFoundError as error:
        raise NoFile(f"there is no file {shown(str(path), most=200)}") from error
    except IsADirectoryError as error:
        raise IsADirectoryError(f"{str(path)!r} is a folder, expected a file") from error
    except (OSError, ValueError) as error:  # ValueError: a null character in the name
        reason = getattr(error, "strerror", None) or error
        raise OSError(f"{shown(str(path), most=200)} cannot be read: {reason}") from error
    return unpacked(raw, str(path), most)


def check_content(path: Path) -> None:
    """Refuse a file that holds no text, by its first bytes.

    Raises:
        UnknownEnding: it is a document of an office program, a PDF, an archive or features.
    """
    with path.open("rb") as file:
        start = file.read(8)
    _check_start(start, str(path))
    if start.startswith(_ZIP):
        with contextlib.suppress(zipfile.BadZipFile), zipfile.ZipFile(path) as archive:
            if not _OFFICE_MEMBERS.isdisjoint(archive.namelist()):
                raise UnknownEnding(f"{path} {_OFFICE}")


def _check_start(raw: bytes, name: str) -> None:
    """Refuse a content that is no text, by its first bytes."""
    content = next((content for mark, content in _CONTENTS.items() if raw.startswith(mark)), None)
    if content is not None:
        raise UnknownEnding(f"{name} {content}")


def unpacked(raw: bytes, name: str, most: int | None = None) -> bytes:
    """A content, unpacked if it is compressed or a zip archive of one file.

    Args:
        raw: the content. name: of the file. most: bytes that it may have unpacked; None: 200 times its own.

    Raises:
        ValueError: it is damaged, has more bytes, or is an archive of several files.
    """
    kind = next((kind for mark, kind in PACKED.items() if raw.startswith(mark)), None)
    limit = most_unpacked(len(raw)) if most is None else most
    is_packed = kind is not None or raw.startswith(_ZIP)
    if is_packed:
        try:
            with _stream(raw, name, kind) as stream:
                raw = stream.read(limit + 1)
        except CodedError:
            raise
        except (OSError, EOFError, ValueError, RuntimeError, zlib.error, lzma.LZMAError, zipfile.BadZipFile) as error:
            reason = "it is cut off" if isinstance(error, EOFError) else short_message(error)
            raise DamagedFile(f"{name} is not a {kind or 'zip'} file that can be read: {reason}") from error
    if len(raw) > limit:
        raise DamagedFile(f"{name}: the texts may take at most {limit >> 20} MB unpacked here")
    if is_packed and raw.startswith((*PACKED, _ZIP, b"PAR1")):
        raise UnknownEnding(f"{name} holds another packed file, or one of parquet: unpack it first")
    _check_start(raw, name)
    if raw[257:262] == b"ustar":
        raise UnknownEnding(f"{name} is a tar archive: unpack it first")
    return raw


def _stream(raw: bytes, name: str, kind: str | None) -> IO[bytes]:
    """A compressed content as a stream of what it holds."""
    if kind == "zstd":
        import pyarrow

        return pyarrow.input_stream(pyarrow.BufferReader(raw), compression="zstd")  # type: ignore[no-any-return]
    file = io.BytesIO(raw)
    if kind is not None:
        opener: Any = {"gzip": gzip.GzipFile, "bz2": bz2.BZ2File, "xz": lzma.LZMAFile}[kind]
        return opener(fileobj=file) if kind == "gzip" else opener(file)  # type: ignore[no-any-return]
    archive = zipfile.ZipFile(file)
    members = [entry for entry in archive.namelist() if not entry.endswith("/") and "__MACOSX" not in entry]
    if len(members) != 1:
        raise UnknownEnding(f"{name} is a zip archive of {len(members)} files: unpack it, and give one of them")
    return archive.open(members[0])


def inner_suffix(path: Path) -> str:
    """The ending of what a compressed file holds, by its name or, in a zip archive, by that of its file.

    >>> inner_suffix(Path("a.CSV")), inner_suffix(Path("a.jsonl.gz"))
    ('.csv', '.jsonl')
    """
    if path.suffix.lower() == ".zip":
        with contextlib.suppress(OSError, zipfile.BadZipFile), zipfile.ZipFile(path) as archive:
            names = [entry for entry in archive.namelist() if not entry.endswith("/") and "__MACOSX" not in entry]
            return Path(names[0]).suffix.lower() if names else ""
    return Path(path.stem if path.suffix.lower() in PACKED_ENDINGS else path.name).suffix.lower()


_WIDE_SHARE = 0.02  # of zero bytes: UTF-16 has more, by its spaces and line ends alone, in any alphabet
_SHOWN_SHARE = 0.95  # of the characters of a text, that are printed or blank
_GUESSED_FROM = 1 << 16  # bytes of a file by which its encoding is guessed
# Encodings that are guessed, those that many files have; of two that are as likely the first is named.
_ENCODINGS = [
    *("cp1252", "cp1250", "cp1251", "cp1253", "cp1254", "cp1255", "cp1256", "koi8_r"),
    *("shift_jis", "euc_jp", "gb18030", "big5", "euc_kr"),
]
_MARKS = {  # the encoding that a byte order mark states
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}


class WrongEncoding(DamagedFile):
    """A file of another encoding than UTF-8. encoding: the guess; None where there is none."""

    encoding: str | None = None


def decode(raw: bytes, name: str, encoding: str | None = None) -> str:
    """Decode UTF-8, or bytes that are not UTF-8 by another encoding.

    Raises:
        ValueError: the bytes are not of the encoding, with the first invalid byte and a guess.
    """
    if encoding is None:
        encoding = next((name for mark, name in _MARKS.items() if raw.startswith(mark)), None)
    zeros = raw.count(0)
    wide = zeros > _WIDE_SHARE * len(raw)
    if encoding is not None:
        try:
            "a".encode(encoding)  # some codecs are none of texts
        except (LookupError, ValueError, TypeError) as error:
            raise WrongOption.of("encoding", f"must be a name such as 'cp1252', got {shown(encoding)}") from error
    try:
        if not wide and (encoding is None or b"\x1b" not in raw):
            return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        if encoding is None:
            line = raw.count(b"\n", 0, error.start) + 1
            where = f"byte {error.start} on line {line} is 0x{raw[error.start]:02x}"
            raise _wrong_encoding(f"{name} is not UTF-8: {where}", _guess(raw), raw, error.start) from error
    if encoding is None:
        guess = _wide_encoding(raw)
        if guess is None:
            raise DamagedFile(
                f"{name} is no text: {zeros} of its {len(raw)} bytes are null, the first at {raw.find(0)}"
            )
        raise _wrong_encoding(f"{name} is not UTF-8: it looks like {guess[:6].upper()}", guess)
    try:
        return raw.decode(encoding).removeprefix("\ufeff")
    except (UnicodeError, ValueError) as error:
        raise DamagedFile(f"{name} is not of encoding {encoding!r}: {shown(str(error), most=120)}") from error


def _wide_encoding(raw: bytes) -> str | None:
    """UTF-16 or UTF-32 of bytes that hold many zeros, by which they are a text; None if they are none by either."""
    width, part = 32 if 2 * raw.count(0) > len(raw) else 16, raw[:_GUESSED_FROM]
    if width == 16 and part.count(0) < len(part) / 4 and _is_text(part.replace(b"\0", b""), "utf-8"):
        return None  # single bytes between the zeros, of which two read as one are a character of Chinese
    orders = ("le", "be") if part[1::2].count(0) >= part[::2].count(0) else ("be", "le")
    return next((name for order in orders if _is_text(part, name := f"utf-{width}-{order}")), None)


def _is_text(raw: bytes, encoding: str) -> bool:
    """Return whether the beginning of a content is of an encoding, with hardly a character that nothing shows."""
    try:
        text = codecs.getincrementaldecoder(encoding)().decode(raw)
    except UnicodeDecodeError:
        return False
    return sum(mark.isprintable() or mark.isspace() for mark in text) >= _SHOWN_SHARE * len(text)


def _guess(raw: bytes) -> str | None:
    """The encoding of bytes that are not UTF-8, as charset-normalizer guesses it."""
    from charset_normalizer import from_bytes

    start = next(position for position in (raw.find(bytes([byte])) for byte in range(128, 256)) if position >= 0)
    part = raw[max(0, start - _GUESSED_FROM // 2) :][:_GUESSED_FROM]
    matches = from_bytes(part, cp_isolation=_ENCODINGS)
    best = matches.best()
    if best is None:
        return None
    with contextlib.suppress(UnicodeDecodeError):
        if part.decode("cp1252") == str(best):
            return "cp1252"
    as_likely = {match.encoding for match in matches if (match.chaos, match.coherence) == (best.chaos, best.coherence)}
    return next(encoding for encoding in _ENCODINGS if encoding in as_likely)


def _wrong_encoding(said: str, encoding: str | None, raw: bytes = b"", position: int = 0) -> WrongEncoding:
    if encoding is None:
        return WrongEncoding(f"{said}; save it as UTF-8, or name its encoding, such as encoding='cp1252'")
    part = raw[max(0, position - 12) : position + 12].decode(encoding, "ignore") if raw else ""
    sample = f" ({shown(part)})" if part else ""
    error = WrongEncoding(f"{said}; as {encoding} it can be read{sample}: if that is right, pass encoding={encoding!r}")
    error.encoding = encoding
    return error
