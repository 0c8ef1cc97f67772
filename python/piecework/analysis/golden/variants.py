"""Tokenizers that differ from one in a single setting, as an engine with one error behaves."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import fields, replace
from functools import partial
from typing import Any, TypeAlias

from piecework import Tokenizer
from piecework.analysis.golden.small import by_flags, samples_of
from piecework.spec import (
    BPE,
    NAMED_PATTERNS,
    NFC,
    NFD,
    NFKC,
    NFKD,
    AddedToken,
    BertNormalizer,
    BertPreTokenizer,
    ByteLevel,
    Digits,
    Lowercase,
    Model,
    Nmt,
    Punctuation,
    Regex,
    Replace,
    SentencePiece,
    SequenceDecoder,
    SequenceNormalizer,
    SequencePreTokenizer,
    Split,
    Strip,
    StripAccents,
    Unigram,
    Whitespace,
    WhitespaceSplit,
    WordPiece,
)

Variant: TypeAlias = Callable[[], Tokenizer]

_CHOICES: dict[str, tuple[Any, ...]] = {
    "behavior": (
        "removed",
        "isolated",
        "merged_with_previous",
        "merged_with_next",
        "contiguous",
    ),
    "prepend_scheme": ("always", "never", "first"),
    "cleaning": ("tokenizers", "original"),
    "strip_accents": (None, True, False),
    "unk": ("word", "char"),
    "segmentation": ("greedy", "shortest"),
}
_FORMS = (NFC(), NFD(), NFKC(), NFKD())
_ACCENT_STEPS = (NFD(), StripAccents())
# Steps that an engine adds by mistake, before or after the others.
_ADDED_STEPS: tuple[Any, ...] = (
    *_FORMS,
    Lowercase(),
    SequenceNormalizer(_ACCENT_STEPS),
    StripAccents(),
    Strip(right=False),
    Strip(left=False),
    Nmt(),
    BertNormalizer(handle_chinese_chars=False, lowercase=False),
    BertNormalizer(clean_text=False, lowercase=False),
    Replace("\r\n", "\n"),
    Replace("\r", ""),
    Replace("\n", " "),
    Replace("\t", " "),
    Replace(Regex(" {2,}"), " "),
    Replace(Regex(r"\s+"), " "),
    Replace("\xa0", " "),
    Replace("\u3000", " "),
    Replace("’", "'"),
    Replace("▁", " "),
    Replace("\0", ""),
)
_REPLACED_STEPS: tuple[Any, ...] = (
    BertPreTokenizer(),
    Whitespace(),
    WhitespaceSplit(),
    Punctuation(),
    Digits(),
    Digits(individual_digits=True),
    ByteLevel(add_prefix_space=False),
)


def variants(tokenizer: Tokenizer) -> Iterator[tuple[str, Variant]]:
    """Yield a name and a function that makes the changed tokenizer, for each change.

    >>> import piecework as pw
    >>> tok = pw.Tokenizer(pw.spec.Char({"[UNK]": 0, "a": 1}), normalizer=Lowercase())
    >>> name, changed = next(variants(tok))
    >>> name, changed().encode("A").ids
    ('normalizer without Lowercase', [0])

    The tables of the model are shared where it does not change. Some of the changes raise, such as a pattern
    that is not valid.
    """
    spec = tokenizer.spec
    for name, changed in _sequences(spec.normalizer, SequenceNormalizer, "normalizers"):
        yield f"normalizer {name}", partial(tokenizer.with_normalizer, changed)
    for name, changed in _sequences(spec.pre_tokenizer, SequencePreTokenizer, "pretokenizers"):
        yield f"pre-tokenizer {name}", partial(tokenizer.with_pre_tokenizer, changed)
    for name, tokens in _changed_tokens(spec.added_tokens):
        yield f"added token {name}", partial(tokenizer.with_added_tokens, tokens)
    for token in samples_of(spec.added_tokens):
        name = f"added token {token.content} missing"
        yield name, partial(tokenizer.without_added_tokens, [token.content])
    for name, model in _models(spec.model):
        yield f"model {name}", partial(Tokenizer.from_spec, replace(spec, model=model))


def decoder_variants(tokenizer: Tokenizer) -> Iterator[tuple[str, Variant]]:
    """Yield a name and a function that makes a tokenizer with a changed decoder, for each change."""
    for name, changed in _sequences(tokenizer.spec.decoder, SequenceDecoder, "decoders"):
        yield f"decoder {name}", partial(tokenizer.with_decoder, changed)
    yield "decoder missing", partial(tokenizer.with_decoder, None)


# ---- normalizers and pre-tokenizers


def _sequences(stage: Any, sequence: Any, field: str) -> Iterator[tuple[str, Any]]:
    """Yield a stage without one of its steps, with two steps swapped, and with one step changed or added."""
    steps = list(getattr(stage, field)) if isinstance(stage, sequence) else [stage] * bool(stage)

    def of(changed: Iterable[Any]) -> Any:
        return sequence(tuple(changed))

    for at, step in enumerate(steps):
        yield f"without {type(step).__name__}", of(steps[:at] + steps[at + 1 :])
        if at:
            swapped = [*steps[: at - 1], step, steps[at - 1], *steps[at + 1 :]]
            yield f"with {type(step).__name__} a step earlier", of(swapped)
        for name, changed in _step(step):
            yield name, of([*steps[:at], changed, *steps[at + 1 :]])
    if sequence is SequenceNormalizer:
        for step in _ADDED_STEPS:
            yield f"with {step} first", of([step, *steps])
            yield f"with {step} last", of([*steps, step])
    elif sequence is SequencePreTokenizer:
        for step in _REPLACED_STEPS:
            yield f"with {step} first", of([step, *steps])


def _step(step: Any) -> Iterator[tuple[str, Any]]:
    """Yield a step with another kind or with one field changed."""
    if step in _FORMS:
        yield from ((f"with {form} for {step}", form) for form in _FORMS if form != step)
    if isinstance(step, SequenceNormalizer | SequencePreTokenizer | SequenceDecoder):
        yield from _sequences(step, type(step), fields(step)[0].name)
        return
    if isinstance(step, ByteLevel) and step.use_regex:
        plain = replace(step, use_regex=False)
        for name, pattern in _patterns(NAMED_PATTERNS["gpt2"][0]):
            split = Split(Regex(pattern), "isolated")
            yield name, SequencePreTokenizer((split, plain))
    for field in fields(step):
        value = getattr(step, field.name)
        for changed in _values(field.name, value):
            try:
                yield f"{type(step).__name__}.{field.name}", replace(step, **{field.name: changed})
            except (ValueError, TypeError):
                continue


def _values(name: str, value: Any) -> Iterator[Any]:
    if name in _CHOICES:
        yield from (choice for choice in _CHOICES[name] if choice != value)
    elif isinstance(value, bool):
        yield not value
    elif isinstance(value, int):
        yield from (value - 1, value + 1)
    elif isinstance(value, Regex):
        yield from (Regex(pattern) for _, pattern in _patterns(value.pattern))
    elif isinstance(value, str) and name in ("content", "prepend", "suffix", "prefix"):
        yield from ("" if value else " ", value * 2)


# ---- patterns

_TOKEN = re.compile(
    r"\\[pP]\{\^?\w+\}|\\.|\[\^?|\]|\{\d+,?\d*\}|\(\?i:|\(\?!\\S\)|\(\?<?[:!=]|[+*?]\+?|.",
    re.DOTALL,
)
# Token -> what an engine has in its place; inside brackets without the brackets.
_TOKEN_CHANGES = {
    r"\p{L}": ("[A-Za-z]", r"[\p{L}\p{M}]", r"[\p{Lu}\p{Ll}]"),
    r"\p{N}": ("[0-9]", r"\p{Nd}", r"[\p{Nd}\p{Nl}]"),
    r"\p{Nd}": ("[0-9]", r"\p{N}"),
    r"\p{M}": ("", r"\p{Mn}"),
    r"\p{P}": ("[!-/:-@\\[-`{-~]", r"[\p{P}\p{S}]"),
    r"\p{S}": ("", r"[\p{Sm}\p{Sc}]"),
    r"\p{Lu}": ("[A-Z]", r"[\p{Lu}\p{Lt}]"),
    r"\p{Lt}": ("",),
    r"\p{Lm}": ("",),
    r"\p{Lo}": ("",),
    r"\p{Ll}": ("[a-z]",),
    r"\s": (
        "[ \\t\\r\\n]",
        "[ \\t\\r\\n\\f\\v]",
        "[ ]",
        r"[\t\r\n\f\v \x{a0}\x{2000}-\x{200a}\x{3000}]",
        r"[\s\x{feff}]",
        r"[\s\x{1c}-\x{1f}]",
        r"[\s\x{180e}\x{200b}]",
    ),
    r"\S": ("[^ \\t\\r\\n]", r"[^\s\x{feff}]", r"[^\s\x{1c}-\x{1f}\x{180e}\x{200b}]"),
    r"\w": ("[A-Za-z0-9_]", r"[\p{L}\p{N}_]"),
    r"\d": ("[0-9]",),
    r"\r": ("", r"\n"),
    r"\n": ("", r"\r"),
    "(?i:": ("(?:",),
    "(?!\\S)": ("",),
    "+": ("", "*"),
    "*": ("", "+"),
    "?": ("", "*"),
    "++": ("+", ""),
    "?+": ("", "?"),
    "*+": ("*", ""),
    "'": ("['’]",),
    "/": ("",),
}


def _patterns(source: str) -> Iterator[tuple[str, str]]:
    """Yield an expression with one alternative or token changed, and the other patterns in use."""
    parts = _alternatives(source)
    for at in range(len(parts)):
        yield f"pattern without alternative {at}", "|".join(parts[:at] + parts[at + 1 :])
        if at:
            swapped = [*parts[: at - 1], parts[at], parts[at - 1], *parts[at + 1 :]]
            yield f"pattern with alternative {at} earlier", "|".join(swapped)
    depth = 0
    tokens = _TOKEN.findall(source)
    for at, token in enumerate(tokens):
        depth += (token in ("[", "[^")) - (token == "]")
        for change in _changes_of(token, in_brackets=depth > 0):
            yield f"pattern token {at}", "".join([*tokens[:at], change, *tokens[at + 1 :]])
    for token in sorted({token for token in tokens if token in _TOKEN_CHANGES}):
        if tokens.count(token) > 1:
            for number in range(len(_TOKEN_CHANGES[token])):
                yield f"pattern {token} everywhere", _everywhere(tokens, token, number)
    if "(?i:" not in source:
        of_any_case = (f"(?i:{part})" if part[:1] == "'" else part for part in parts)
        yield "pattern with contractions of any case", "|".join(of_any_case)
    for name, patterns in NAMED_PATTERNS.items():
        if source not in patterns:
            yield f"pattern of {name}", patterns[0]


def _changes_of(token: str, *, in_brackets: bool) -> Sequence[str]:
    if token[0] == "{":
        low, _, high = token[1:-1].partition(",")
        return (f"{{{low},{int(high) - 1}}}", f"{{{low},{int(high) + 1}}}", "+") if high else ()
    if in_brackets and token in "+*?'/":
        return ()
    changes = _TOKEN_CHANGES.get(token, ())
    return [_unbracketed(change) for change in changes] if in_brackets else changes


def _unbracketed(change: str) -> str:
    return change[1:-1] if change[:1] == "[" and change[1:2] != "^" else change


def _everywhere(tokens: Sequence[str], token: str, number: int) -> str:
    depth, written = 0, ""
    for one in tokens:
        depth += (one in ("[", "[^")) - (one == "]")
        changes = _changes_of(one, in_brackets=depth > 0) if one == token else ()
        written += changes[number] if number < len(changes) else one
    return written


def _alternatives(source: str) -> list[str]:
    """Split an expression at the bars outside of brackets and groups."""
    parts, depth, in_brackets = [""], 0, 0
    for token in _TOKEN.findall(source):
        in_brackets += (token in ("[", "[^")) - (token == "]")
        depth += 0 if in_brackets else token.startswith("(") - (token == ")")
        if token == "|" and not in_brackets and not depth:
            parts.append("")
        else:
            parts[-1] += token
    return parts


# ---- added tokens

_TOKEN_FLAGS = ("single_word", "lstrip", "rstrip", "normalized")


def _changed_tokens(tokens: Sequence[AddedToken]) -> Iterator[tuple[str, list[AddedToken]]]:
    """Yield tokens with one flag changed: some of them alone, and all that have the same flags."""
    for flag in _TOKEN_FLAGS:
        for token in samples_of(tokens):
            yield f"{token.content} {flag}", [_flipped(token, flag)]
        for like in by_flags(tokens):
            yield f"{flag} of all like {like[0].content}", [_flipped(one, flag) for one in like]


def _flipped(token: AddedToken, flag: str) -> AddedToken:
    changed: dict[str, Any] = {flag: not getattr(token, flag)}
    return replace(token, **changed)


# ---- models


def _models(model: Model) -> Iterator[tuple[str, Model]]:
    if isinstance(model, BPE):
        yield from _merge_orders(model)
    if isinstance(model, WordPiece):
        limit = model.max_input_chars_per_word
        for changed in (limit - 1, limit + 1, 100, 200, 1 << 20):
            yield (
                f"with words of {changed} characters",
                replace(model, max_input_chars_per_word=changed),
            )
    if isinstance(model, Unigram):
        yield from _scores(model)
    if isinstance(model, SentencePiece):
        yield from _piece_scores(model)
    for field in fields(model):
        value = getattr(model, field.name)
        if field.name in _CHOICES or isinstance(value, bool):
            for changed in _values(field.name, value):
                yield field.name, replace(model, **{field.name: changed})


def _merge_orders(model: BPE) -> Iterator[tuple[str, BPE]]:
    """Yield the model with its merges in other orders, and some of them left out."""
    ids = model.vocab
    prefix = len(model.continuing_subword_prefix or "")

    def by(key: Callable[[str], Any]) -> BPE:
        merges = sorted(model.merges, key=lambda pair: key(pair[0] + pair[1][prefix:]))
        return replace(model, merges=tuple(merges))

    yield "with merges by id", by(lambda token: ids.get(token, 0))
    yield "with the longest merges first", by(lambda token: -len(token))
    yield "with the shortest merges first", by(len)
    yield "with merges in reverse", replace(model, merges=tuple(model.merges)[::-1])
    for number in range(8):
        kept = tuple(pair for at, pair in enumerate(model.merges) if at % 8 != number)
        yield f"without every eighth merge from {number}", replace(model, merges=kept)


def _scores(model: Unigram) -> Iterator[tuple[str, Unigram]]:
    for name, score in _SCORE_CHANGES:
        pieces = tuple((text, score(text, old)) for text, old in model.pieces)
        yield name, replace(model, pieces=pieces)


def _piece_scores(model: SentencePiece) -> Iterator[tuple[str, SentencePiece]]:
    for name, score in _SCORE_CHANGES:
        pieces = tuple(one._replace(score=score(one.text, one.score)) for one in model.pieces)
        yield name, replace(model, pieces=pieces)


_SCORE_CHANGES: tuple[tuple[str, Callable[[str, float], float]], ...] = (
    ("with rounded scores", lambda text, score: float(round(score))),
    ("with equal scores", lambda text, score: -float(len(text) > 0)),
    ("with scores by length", lambda text, score: float(len(text) ** 2)),
    ("with halved scores", lambda text, score: score / 2),
    ("with lower scores", lambda text, score: score - 1),
)
