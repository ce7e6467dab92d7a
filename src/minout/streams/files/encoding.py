"""Check the name of a text encoding, and guess the encoding of a file."""

import codecs
import io

from minout.errors import InvalidInputError

NOT_FOR_FILES = frozenset({"idna", "punycode", "raw-unicode-escape", "undefined", "unicode-escape"})
"""Encodings of Python that are not for files: for host names and for its own source code."""
MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
"""Byte order marks. That of UTF-32 comes first, because it begins with that of UTF-16."""


def check_encoding(encoding: str | None) -> str | None:
    """Return Python's name of a text encoding; None for UTF-8, which is the default.

    >>> check_encoding("Latin1"), check_encoding("UTF8")
    ('iso8859-1', None)
    """
    if encoding is None:
        return None
    try:
        io.TextIOWrapper(io.BytesIO(), encoding=encoding)  # refuses codecs such as base64
        name = codecs.lookup(encoding).name
    except (LookupError, ValueError):  # ValueError: characters that no name has
        name = "undefined"
    if name in NOT_FOR_FILES:
        raise InvalidInputError(
            f"{encoding!r} is not a text encoding that Python knows; pass the name of one, such as "
            "cp1252, latin-1 or utf-16."
        )
    return None if name in ("utf-8", "utf-8-sig") else name


def encoding_hint(raw: bytes) -> str:
    """Guess the encoding of bytes that are not UTF-8.

    >>> encoding_hint("café".encode("cp1252")), encoding_hint("a,b".encode("utf-16-be"))
    ('cp1252', 'utf-16-be')
    """
    for mark, name in MARKS:
        if raw.startswith(mark):
            return name
    even, odd = raw[::2].count(0), raw[1::2].count(0)
    if max(even, odd) > len(raw) / 4 and min(even, odd) < len(raw) / 20:
        return "utf-16-be" if even > odd else "utf-16-le"
    try:
        raw.decode("cp1252")
    except UnicodeDecodeError:
        return "latin-1"
    return "cp1252"


def not_utf8(what: str, text: str | bytes, encoding: str | None = None) -> str:
    r"""Return the message for text that is not UTF-8, or not in the expected encoding.

    `text` may have been read with surrogate escapes.

    >>> not_utf8("line 5: the text", b"caf\xe9")
    'line 5: the text is not UTF-8; it may be cp1252 (add --encoding cp1252), or save it as UTF-8.'
    """
    try:
        raw = text if isinstance(text, bytes) else text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:  # half a character, such as "\ud800" in JSON
        return f"{what} is not UTF-8; save it as UTF-8."
    hint = encoding_hint(raw)
    if b"\0" in raw and not hint.startswith("utf"):
        return f"{what} is not text, but binary data; save it as text in UTF-8."
    name = encoding or "UTF-8"
    return f"{what} is not {name}; it may be {hint} (add --encoding {hint}), or save it as UTF-8."
