"""Regular expressions match here what they match in `tokenizers`, whose engine is Oniguruma.

Random expressions of a small grammar, on random texts, through `Split` (every behaviour) and `Replace`.
Everything that is compared on purpose without success is listed in docs/reference/conformance.md.
"""

from __future__ import annotations

import json
import random
import re
from typing import Any

import pytest
import tokenizers

import piecework as pw
from tests.differential import peer

# The first expressions of a seed; a full run compares more.
EXPRESSIONS = 20_000 if peer.FULL else 6_000
BEHAVIORS = ["Removed", "Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous"]
ATOMS = [
    *"a b ab s ss ß k i f fi c 1 é 漢 ' A ſ ŉ ﬃ . ^ $".split(),
    *r"\n \w \d \s \S \W \p{L} \p{Lu} \p{N} \p{Han} \h \b \B \A \z \Z \G \R \O \x61".split(),
    *r"[ab] [^a] [a-c\d] [\w&&[^b]] [[:alpha:]_] [^\s\p{L}\p{N}] [ßs] [^\W_]".split(),
    *r"(?=a) (?!b) (?<=a) (?<!b) (?<=\s)".split(),
    " ",
    "",
]
REPEATS = "* + ? *? +? ?? *+ ++ ?+ {2} {1,2} {0,2} {2,} {,2} {2}? {1,3}? {1,2}+ {0} {2,1}".split()
OPENINGS = ["(?=", "(?!", "(?<=", "(?<!", "(?>", "(?i:", "(?m:", "(", "(?:"]
CHARACTERS = "aabbc sSß1\né漢ABſkK\u212afﬁiŉ'"


def expression(draw: random.Random, depth: int = 4) -> str:
    if depth == 0 or draw.random() < 0.2:
        return draw.choice(ATOMS)
    kind = draw.randrange(5)
    if kind == 0:
        return expression(draw, depth - 1) + expression(draw, depth - 1)
    if kind == 1:
        return f"(?:{expression(draw, depth - 1)}|{expression(draw, depth - 1)})"
    if kind == 2:
        return f"(?:{expression(draw, depth - 1)}){draw.choice(REPEATS)}"
    if kind == 3:
        return draw.choice(ATOMS) + draw.choice(REPEATS)
    return f"{draw.choice(OPENINGS)}{expression(draw, depth - 1)})"


# An assertion, and later a repetition of any character without an end.
ANY_TEXT = re.compile(r"(?:\(\?[=!<]|[$]|\\[zZB]).*(?:\\O|\(\?m:.*\.)\)*(?:\?\+|[*+]|\{\d+,\})")


def is_known_to_differ(source: str) -> bool:
    """Whether docs/reference/conformance.md has it: look-behind that is more than one simple thing,
    or any text after an assertion.
    """
    is_behind = "(?<" in source and any(escape in source for escape in (r"\R", r"\b", r"\B"))
    return is_behind or ANY_TEXT.search(source) is not None


def document(component: dict[str, Any]) -> str:
    model = {"type": "WordLevel", "vocab": {"x": 0}, "unk_token": "x"}
    whole = {"version": "1.0", "added_tokens": [], "model": model, "decoder": None}
    return json.dumps(whole | {"post_processor": None, **component})


def opened(component: dict[str, Any]) -> tuple[pw.Tokenizer | None, Any]:
    text = document(component)
    ours = theirs = None
    try:
        theirs = tokenizers.Tokenizer.from_str(text)
    except Exception:
        theirs = None
    try:
        ours = pw.Tokenizer.from_str(text)
    except pw.PieceworkError:
        ours = None
    return ours, theirs


def texts(draw: random.Random) -> list[str]:
    return ["".join(draw.choices(CHARACTERS, k=draw.randrange(1, 10))) for _ in range(4)]


@pytest.mark.parametrize("stage", ["split", "replace"])
def test_random_expressions_match_alike(stage: str) -> None:
    draw = random.Random(f"{stage} 1")
    compared = 0
    for _ in range(EXPRESSIONS):
        source = expression(draw)
        pattern = {"Regex": source}
        if stage == "split":
            split = {"type": "Split", "pattern": pattern, "behavior": draw.choice(BEHAVIORS)}
            component: dict[str, Any] = {
                "normalizer": None,
                "pre_tokenizer": split | {"invert": draw.random() < 0.5},
            }
        else:
            replace = {"type": "Replace", "pattern": pattern, "content": "_"}
            component = {"normalizer": replace, "pre_tokenizer": None}
        if is_known_to_differ(source):
            continue
        ours, theirs = opened(component)
        assert (ours is None) == (theirs is None), source
        if ours is None or theirs is None:
            continue
        for text in texts(draw):
            expected = outcome(theirs, text, stage)
            assert outcome(ours, text, stage) == expected, (component, text)
            compared += 1
    assert compared > EXPRESSIONS


def outcome(tokenizer: Any, text: str, stage: str) -> Any:
    if stage == "split":
        return tokenizer.encode(text).offsets
    if isinstance(tokenizer, pw.Tokenizer):
        return tokenizer.normalize(text)
    return tokenizer.normalizer.normalize_str(text)


@pytest.mark.parametrize(
    "source",
    [
        *["(?<=a?)", "(?<=a?b?c)", "(?<=(?:a?b?)c?)", "(?<=(?i:a?b?))", "(?<=(a?b?))"],
        *["(?<=(?<=(f)?))", "(?<!(?<=)a)", "(?<=a?b{101}?)", "(?<=a?(?:é){51}?)", "(?<=a?[b]{2}?)"],
    ],
)
def test_look_behind_that_may_be_empty_is_accepted(source: str) -> None:
    replace = {"type": "Replace", "pattern": {"Regex": source}, "content": "_"}
    ours, theirs = opened({"normalizer": replace, "pre_tokenizer": None})
    assert ours is not None
    assert theirs is not None
    for text in ("", "a", "abcf", "cbaf"):
        assert outcome(ours, text, "replace") == outcome(theirs, text, "replace")


@pytest.mark.parametrize(
    "source",
    [
        *["(", "[a", "*", "(?<=a(?=b))", "(?<!(a))", r"(?<=\z)", "(?:^|a)*", "(?=a)*", "a{100001}"],
        *["(?<=a?b?)", "(?<!a??b*)", "(?<=c|a?b?)", "(?<=a?(?:b?c?))", "(?<=a?(?:bc)?)"],
        *["(?<!(?<=(f)?))", "(?<!(?<=a|(f)*))", "(?<=(?=)a)", "(?<!(?!))", "(?<=a?b{2}?)"],
        *["(?<=a?(?:é){50}?)", "(?<=a?(?:bc){2}?)"],
    ],
)
def test_patterns_that_oniguruma_rejects_are_rejected(source: str) -> None:
    split = {"type": "Split", "pattern": {"Regex": source}, "behavior": "Isolated", "invert": False}
    ours, theirs = opened({"normalizer": None, "pre_tokenizer": split})
    assert ours is None
    assert theirs is None
