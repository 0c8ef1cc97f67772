"""Texts for the laws of single components.

The Unicode tables of the core are fixed; the reference uses those of the running Python. Old characters
hardly ever change, so the laws draw characters of Unicode 3.2, whose table Python still contains.
"""

from __future__ import annotations

import unicodedata
from functools import cache

from hypothesis import strategies as st

import piecework as pw
from piecework.spec import UnicodeScripts, WordLevel
from tests.component_engines import REFERENCE
from tests.laws.test_unicode_tables import RECLASSIFIED

CHUNK = 100

# Characters of the components' options, and difficult ones for normalizers and pre-tokenizers.
DIFFICULT = (
    "aab  b.#-[]_ÉéEe\u0301\u0305\u0316\u0323\u302e\U0001d165▁☃\t\n\r\0\ufffd１½２漢かカー한ﬁİΣſẞ"
    "\u1161\u11a8\u200b\u00a0Ġ'stl\u0958\u0344"
)

# Characters of grapheme clusters; they are few, so that random rules match them.
CLUSTERS = "aéeﬁ\u0301\u0305\u0323\r\n\u1161漢"


@cache
def old_characters() -> str:
    """Return the characters of Unicode 3.2 whose category did not change later."""
    known = (chr(code) for code in range(0x110000) if not 0xD800 <= code < 0xE000)
    old = (c for c in known if unicodedata.ucd_3_2_0.category(c) not in ("Cn", "Co"))
    return "".join(c for c in old if c not in RECLASSIFIED)


@cache
def misnamed() -> frozenset[str]:
    """Return the characters whose name does not contain their script, which the reference gets wrong."""
    tokenizer = pw.Tokenizer(WordLevel({"[UNK]": 0}), pre_tokenizer=UnicodeScripts())
    old = old_characters()
    chunks = (old[at : at + CHUNK] for at in range(0, len(old), CHUNK))
    suspects = (c for chunk in chunks if _differ_in_script(tokenizer, chunk) for c in chunk)
    return frozenset(c for c in suspects if _differ_in_script(tokenizer, c))


def _differ_in_script(tokenizer: pw.Tokenizer, characters: str) -> bool:
    text = "".join(c.join("aжあ\u0301.") for c in characters)
    return tokenizer.pre_tokenize(text) != REFERENCE.pieces(UnicodeScripts(), text)


@cache
def texts() -> st.SearchStrategy[str]:
    """Draw short texts of difficult characters, of clusters and of any old characters."""
    old = st.sampled_from([c for c in old_characters() if c not in misnamed()])
    difficult = st.text(st.sampled_from(DIFFICULT) | st.sampled_from(DIFFICULT) | old, max_size=16)
    return difficult | difficult | st.text(CLUSTERS, max_size=10)
