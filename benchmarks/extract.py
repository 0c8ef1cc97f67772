"""Text of files in packages: HTML, manual pages, translations, names of emoji, SWORD books and R data."""

from __future__ import annotations

import html
import io
import re
import struct
import zlib
from collections.abc import Iterator
from gettext import GNUTranslations

from packages import unzipped

TAG = re.compile(r"<[^>]{0,400}>")
UNSEEN = re.compile(r"<(script|style)\b.*?</\1>", re.DOTALL | re.IGNORECASE)
MANUAL = re.compile(r"\.[0-9][a-z]*(\.gz)?$")
ROFF_COMMENT = re.compile(r"^[.']\s*\\\".*\n", re.MULTILINE)
ROFF_REQUEST = re.compile(r"^[.'][ \t]*\w*[ \t]*", re.MULTILINE)
ROFF_ESCAPES = (
    (re.compile(r"\\f(\[\w*\]|\(..|.)"), ""),
    (re.compile(r"\\-"), "-"),
    (re.compile(r"\\[&%|^]"), ""),
)
OSIS_BLOCK = re.compile(r"<(div|l|lg|title|verse)\b[^>]*>")
ANNOTATION = re.compile(r'<span class="annottext">.*?</span>', re.DOTALL)
# The first emoji beyond the symbols that text fonts have, U+1F000, and later ones.
EMOJI_NAME = re.compile(r'<annotation cp="([\U0001f000-\U0010ffff][^"]*)" type="tts"[^>]*>([^<]+)<')
COLOR = re.compile(r"\x1b\[[0-9;]*m")
ZLIB_HEADER = b"\x78\x9c"
R_STRING = re.compile(rb"\x00\x04\x00\x09(.{4})|\x00\x00\x80\x09(.{4})", re.DOTALL)


def text_of(name: str, data: bytes, has_markup: bool = False) -> str:
    """Return the text of a file, gzip or not, by the suffix of its name; HTML without tags by default."""
    if name.endswith(".mo"):
        return translations(data)
    if name.endswith(".bzz"):
        return sword_text(data)
    if name.endswith(".rdb"):
        return "\n".join(string for part in zlib_streams(data) for string in r_strings(part))
    text = unzipped(data).decode("utf-8", errors="replace")
    if "/html/src/" in name and name.endswith(".html"):
        return haskell_source(text)
    if name.endswith(".html") and not has_markup:
        return without_tags(UNSEEN.sub(" ", text))
    if "/cldr/common/annotations/" in name:
        return emoji_names(text)
    if "/fortunes/" in name:
        return COLOR.sub("", text)
    return without_requests(text) if MANUAL.search(name) else text


def haskell_source(text: str) -> str:
    """Return the source of a module from the page that Haddock makes of it, without the types of names."""
    body = text[text.find("<body>") :]
    return html.unescape(TAG.sub("", ANNOTATION.sub("", body)))


def without_tags(text: str) -> str:
    """Take the tags of HTML away and resolve its entities."""
    return html.unescape(TAG.sub(" ", text))


def without_requests(text: str) -> str:
    """Take the names of roff's requests away, and the escapes that manual pages use most."""
    text = ROFF_REQUEST.sub("", ROFF_COMMENT.sub("", text))
    for pattern, replacement in ROFF_ESCAPES:
        text = pattern.sub(replacement, text)
    return text


def translations(data: bytes) -> str:
    """Return the translated strings of a gettext catalogue, one a line, without tags."""
    # `_catalog` is the only way to list a catalogue; the empty key is its header.
    catalog: dict[object, str] = GNUTranslations(io.BytesIO(data))._catalog  # type: ignore[attr-defined]
    return TAG.sub("", "\n".join(text for key, text in catalog.items() if key))


def emoji_names(text: str) -> str:
    """Return a line for each emoji of a file of annotations of the CLDR: its name, then itself."""
    found = ((html.unescape(name), one) for one, name in EMOJI_NAME.findall(text))
    return "\n".join(f"{name} {one}" for name, one in found)


def sword_text(data: bytes) -> str:
    """Return the text of a SWORD `zText` file of OSIS markup, one paragraph or line of verse a line."""
    marked = b"".join(zlib_streams(data)).decode("utf-8", errors="replace")
    lines = TAG.sub("", OSIS_BLOCK.sub("\n", marked)).split("\n")
    return html.unescape("\n".join(line.strip() for line in lines if line.strip()))


def zlib_streams(data: bytes) -> Iterator[bytes]:
    """Yield every complete zlib stream of a file, with any bytes between them skipped."""
    start = data.find(ZLIB_HEADER)
    while start >= 0:
        stream = zlib.decompressobj()
        try:
            text = stream.decompress(data[start:])
        except zlib.error:
            text = b""
        end = len(data) - len(stream.unused_data) if stream.eof else start + 1
        if stream.eof:
            yield text
        start = data.find(ZLIB_HEADER, end)


def r_strings(data: bytes) -> Iterator[str]:
    """Yield the ASCII and UTF-8 strings of serialized R data (R Internals, section 1.8)."""
    start = 0
    while found := R_STRING.search(data, start):
        (size,) = struct.unpack(">I", found[1] or found[2])
        start = found.end() + size
        yield data[found.end() : start].decode("utf-8", errors="replace")
