"""Text of documentation files: what is left of HTML and manual pages without their markup."""

from __future__ import annotations

import html
import re

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


def text_of(name: str, data: bytes) -> str:
    """Return the text of a file, gzip or not, by what its name says it is."""
    text = unzipped(data).decode("utf-8", errors="replace")
    if name.endswith(".html"):
        return without_tags(UNSEEN.sub(" ", text))
    return without_requests(text) if MANUAL.search(name) else text


def without_tags(text: str) -> str:
    """Take the tags of HTML away and resolve its entities."""
    return html.unescape(TAG.sub(" ", text))


def without_requests(text: str) -> str:
    """Take the names of roff's requests away, and the escapes that manual pages use most."""
    text = ROFF_REQUEST.sub("", ROFF_COMMENT.sub("", text))
    for pattern, replacement in ROFF_ESCAPES:
        text = pattern.sub(replacement, text)
    return text
