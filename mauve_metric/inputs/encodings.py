"""Bytes of a file as text: byte order marks, the named encoding, and a guess where it is another."""

from __future__ import annotations

import codecs
import contextlib

from mauve_metric.runtime.checks import shown
from mauve_metric.runtime.errors import DamagedFile, WrongOption

_WIDE_SHARE = 0.02  # of zero bytes: UTF-16 has more, by its spaces and line ends alone, in any alphabet
_LOOKED_AT = 1 << 16  # bytes of a file by which its encoding is guessed
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
        wide_name = "utf-32" if 2 * zeros > len(raw) else "utf-16"
        order = "-be" if raw[:1] == b"\0" else "-le"
        raise _wrong_encoding(f"{name} is not UTF-8: it looks like {wide_name.upper()}", wide_name + order)
    try:
        return raw.decode(encoding).removeprefix("\ufeff")
    except (UnicodeError, ValueError) as error:
        raise DamagedFile(f"{name} is not of encoding {encoding!r}: {shown(str(error), most=120)}") from error


def _guess(raw: bytes) -> str | None:
    """The encoding of bytes that are not UTF-8, as charset-normalizer guesses it."""
    from charset_normalizer import from_bytes

    start = next(position for position in (raw.find(bytes([byte])) for byte in range(128, 256)) if position >= 0)
    part = raw[max(0, start - _LOOKED_AT // 2) :][:_LOOKED_AT]
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
