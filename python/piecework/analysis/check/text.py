"""Rules about what a text loses: characters, case and accents, words with a character in one form, spaces.

The probes are every assigned character of Python's Unicode, alone, apart from whitespace and controls, and
short texts with spaces.
"""

from __future__ import annotations

import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from string import ascii_lowercase, ascii_uppercase

from piecework import Tokenizer
from piecework._internal.validation import counted
from piecework.analysis.check.findings import Finding
from piecework.analysis.check.rules import Subject, characters, rule
from piecework.analysis.corpus_texts import SCRIPT_TEXTS
from piecework.analysis.entry_bytes import PLAIN_TEXT
from piecework.analysis.readable import joined
from piecework.analysis.round_trip import (
    changed_texts,
    lossy_texts,
    respaced_texts,
    unknown_id_of,
    without_truncation_and_padding,
)
from piecework.spec import SentencePiece, WordLevel, WordPiece

_SPACES = ("a  b", " a", "a\n\tb", "a , b", "(a) b", "it's 1.5 - x", "do n't", *SCRIPT_TEXTS)
_CHANGES = {
    "case": "case",
    "accent": "accents",
    "width": "compatibility forms",
    "other": "other characters",
}
_MARKS = ("Combining", "Variation", "Signwriting")
_KINDS = {"N": "numbers", "P": "punctuation", "S": "symbols", "C": "format characters"}
_LETTERS = 10
_LEADING, _SCRIPTS = 6, 3
_OWN = 40
_FORMS = (
    "keep it if these characters do not matter to the task; else train with NFC or no normalizer."
)
_KEEP_MARKS = (
    "train again with the preset bert-cased, or with a `train.Preset` whose normalizer is "
    "`spec.BertNormalizer(strip_accents=False)`."
)
_MARK_OF_SPACES = (
    "keep it if texts do not have it; else train byte-level BPE, such as the preset gpt2."
)
_TRAIN = "train byte-level BPE, or with byte fallback, or on text that has these characters"
_OF_WHOLE_WORDS = (
    "A model cannot read these characters or write them; a word with one can be unknown as a whole."
)
_DECODER = (
    "load a folder whose tokenizer_config.json names the class, which has a decoder, or add one: "
    "`with_decoder`."
)


@rule(
    "lost-characters",
    "text",
    "note",
    cost="A model cannot read these characters or write them.",
    advice=f"{_TRAIN}; `piecework add TOKENIZER WORDS -o FILE` adds words that have them.",
)
def lost_characters(subject: Subject) -> Iterator[Finding]:
    """Find characters that encoding and decoding loses.

    Each assigned character of Unicode is encoded and decoded alone: exact, for characters alone. Most
    vocabularies of words lack rare scripts, so this is a note with the letters of each script. It is an error
    to lose printable ASCII, and to lose anything with entries of bytes, some of which are then missing. With
    WordPiece and whole words, a word with such a character can be unknown as a whole.

    >>> import piecework as pw
    >>> letters = pw.spec.Char({"[UNK]": 0, "a": 1, "b": 2})
    >>> found = pw.analysis.check(pw.Tokenizer(letters), select=["lost-characters"])
    >>> found.findings[0].message
    '92 printable characters of ASCII are lost: ! " # $ % & ...'

    With all bytes nothing is lost. Bytes that UTF-8 never uses, such as 0xFF, need no entry.

    >>> tok = pw.Tokenizer.train_from_iterator(["hug"], model="byte-bpe", vocab_size=257)
    >>> pw.analysis.check(tok, select=["lost-characters"]).findings
    ()

    Sources: TokEval (arXiv 2608.18062) found five of 58 tokenizers that lack bytes.
    """
    model = subject.spec.model
    kind = model.kind if isinstance(model, SentencePiece) else ""
    has_words = isinstance(model, WordPiece | WordLevel) or kind == "word"
    cost = _OF_WHOLE_WORDS if has_words else ""
    # SentencePiece writes ▁ before a word, which is then never one character.
    advice = f"{_TRAIN}." if kind == "char" else ""
    plain = [character for character in subject.lost if character.isascii()]
    if plain:
        shown = " ".join(plain[:_LEADING]) + (" ..." if len(plain) > _LEADING else "")
        are = "character of ASCII is" if len(plain) == 1 else "characters of ASCII are"
        message = f"{len(plain)} printable {are} lost: {shown}"
        if set(ascii_uppercase) <= set(plain) and not set(ascii_lowercase) & set(plain):
            message += "; the entries are for text in lower case, and nothing lowers it"
        texts = tuple(plain)
        yield Finding(message, severity="error", cost=cost, advice=advice, texts=texts)
    others = [character for character in subject.lost if not character.isascii()]
    if not others:
        return
    has_bytes = any(entry.is_byte for entry in subject.entries)
    figures = f"{len(others):,} of {len(characters()):,} characters of Unicode are lost"
    message = f"{figures}: {_by_script(others)}"
    if has_bytes:
        message = f"entries of bytes are missing, so that {message}"
    yield Finding(
        message,
        severity="error" if has_bytes else "note",
        cost=cost,
        advice=advice,
        texts=tuple(_one_of_each(others)),
        details=tuple(_figures(others)),
    )


@rule(
    "changed-text",
    "text",
    "note",
    cost="A model cannot tell the texts apart, and decoding does not return them.",
    advice="keep it if case and accents do not matter to the task; else train with a cased preset.",
)
def changed_text(subject: Subject) -> Iterator[Finding]:
    """Find what the normalizer changes, in which scripts.

    Each assigned character is normalized alone; equivalent forms of Unicode do not count. Lower case is a
    choice, hence a note. It is a warning if vowel signs are removed in a script of which the vocabulary has
    ten letters or more: they are marks as accents are, but Indic words cannot be read without them.

    >>> import piecework as pw
    >>> model = pw.spec.Char({"[UNK]": 0, **{c: ord(c) for c in "कखगघङचछजझञ"}})
    >>> stripped = pw.spec.BertNormalizer(lowercase=False, strip_accents=True)
    >>> tok = pw.Tokenizer(model, normalizer=stripped)
    >>> found = pw.analysis.check(tok, select=["changed-text"])
    >>> [one.severity for one in found.findings], found.findings[0].message
    (['warning', 'note'], 'the normalizer removes 15 vowel signs: Devanagari 15 of 125')

    Forms that Unicode calls equivalent change nothing.

    >>> composed = pw.Tokenizer(model, normalizer=pw.spec.NFC())
    >>> pw.analysis.check(composed, select=["changed-text"]).findings
    ()

    Source: Unicode Standard Annex 15.
    """
    kinds: dict[str, list[str]] = defaultdict(list)
    examples: dict[str, str] = {}
    vowels = []
    kept = set(characters()).difference(subject.lost)
    known = Counter(_script(one) for one in kept if one.isalpha())
    for character, normalized, changes in changed_texts(subject.loaded, characters()):
        for change in changes:
            kinds[change].append(character)
            examples.setdefault(change, f"{character} -> {normalized or 'nothing or a space'}")
        if not normalized and _is_vowel(character) and known[_script(character)] >= _LETTERS:
            vowels.append(character)
    if vowels:
        message = (
            f"the normalizer removes {counted(len(vowels), 'vowel sign')}: {_by_script(vowels)}"
        )
        shown = tuple(_one_of_each(vowels))
        yield Finding(message, severity="warning", advice=_KEEP_MARKS, texts=shown)
    if kinds:
        parts = [f"{_CHANGES[change]} ({_by_script(found)})" for change, found in kinds.items()]
        yield Finding(
            f"the normalizer changes {joined(parts)}",
            advice=_advice_about(kinds),
            texts=tuple(examples.values()),
            details=tuple(
                f"{_CHANGES[change]}: {figure}"
                for change, found in kinds.items()
                for figure in _figures(found)
            ),
        )


def _advice_about(kinds: Mapping[str, Sequence[str]]) -> str:
    """Return what to do about what the normalizer changes; empty for what the rule advises."""
    if kinds.keys() & {"case", "accent"}:
        return ""
    return _MARK_OF_SPACES if kinds == {"other": ["▁"]} else _FORMS


def _is_vowel(character: str) -> bool:
    """Return whether a mark is a vowel sign or a virama; points of Arabic and Hebrew are optional."""
    name = unicodedata.name(character, "")
    return ("VOWEL SIGN" in name or "VIRAMA" in name) and not name.startswith("ARABIC ")


@rule(
    "one-form-characters",
    "text",
    "warning",
    cost="A word that has such a character at the other place is unknown, or loses it.",
    advice="train again: piecework gives every character both forms; `piecework add TOKENIZER WORDS -o FILE` "
    "adds words that have it.",
)
def one_form_characters(subject: Subject) -> Iterator[Finding]:
    """Find characters that are known at the start of a word and not inside, or the other way round.

    WordPiece writes `##` before entries inside a word, and BPE can write `</w>` at the end of one, so that
    each character needs two entries. Tried is each character with one of the two, alone and repeated: what
    the pre-tokenizer splits off, such as punctuation, needs no second form.

    >>> import piecework as pw
    >>> model = pw.spec.WordPiece({"[UNK]": 0, "a": 1, "##a": 2, "b": 3})
    >>> found = pw.analysis.check(pw.Tokenizer(model), select=["one-form-characters"])
    >>> found.findings[0].message, found.findings[0].texts
    ('1 character is known at the start of a word only: Latin 1 of 1,...', ('bb',))

    >>> split = pw.Tokenizer(model, pre_tokenizer=pw.spec.Split("b", "isolated"))
    >>> pw.analysis.check(split, select=["one-form-characters"]).findings
    ()

    Source: decision 0089.
    """
    suffix = getattr(subject.spec.model, "end_of_word_suffix", None)
    forms: dict[str, dict[bool, int]] = defaultdict(dict)
    for entry in subject.entries:
        text = (entry.text or "").removesuffix(" ")
        if len(text) == 1 and not entry.is_added:
            is_other = entry.token.endswith(suffix) if suffix else entry.is_inside
            forms[text][is_other] = entry.id
    if len({form for found in forms.values() for form in found}) < 2:
        return
    places = ("before the end", "at the end") if suffix else ("at the start", "inside")
    for is_other, place in zip((False, True), places, strict=True):
        single = {c: found[is_other] for c, found in forms.items() if [*found] == [is_other]}
        # A character alone has the form of the start, and of the end.
        times = 2 if is_other == bool(suffix) else 1
        lossy = lossy_texts(subject.loaded, [times * character for character in single])
        if lossy:
            are = "character is" if len(lossy) == 1 else "characters are"
            characters = [text[0] for text in lossy]
            message = f"{len(lossy):,} {are} known {place} of a word only: {_by_script(characters)}"
            ids = tuple(single[character] for character in characters)
            yield Finding(message, tokens=tuple(characters), ids=ids, texts=tuple(lossy))


@rule(
    "lost-spaces",
    "text",
    "note",
    cost="Decoding does not return the text: code, tables and quotations change.",
    advice="keep it to classify text; to generate text, train with a preset that keeps spaces, such as gpt2.",
)
def lost_spaces(subject: Subject) -> Iterator[Finding]:
    """Find spaces that decoding adds or loses.

    Texts with runs of spaces, line ends and punctuation are encoded and decoded. If their ids have lost the
    spaces already, as those of BERT, it is a note. It is a warning if the ids still have them, so that only
    the decoder loses them: it is missing, or cleans up. It is a warning, too, if the decoded text has the
    marks of words: `▁`, `Ġ`, and the prefix or suffix of the model.

    >>> import piecework as pw
    >>> bare = pw.Tokenizer(pw.spec.Char({"[UNK]": 0, "h": 1, "i": 2}))
    >>> found = pw.analysis.check(bare, select=["lost-spaces"]).findings[0]
    >>> found.severity, found.texts
    ('warning', ('hi -> h i',))

    >>> tok = pw.Tokenizer.train_from_iterator(["hug"], model="byte-bpe", vocab_size=257)
    >>> pw.analysis.check(tok, select=["lost-spaces"]).findings
    ()

    Source: docs/explanation/analysis-measures.md defines the spaces that change.
    """
    tokenizer = subject.loaded
    own = [entry.text.strip() for entry in subject.entries if entry.text and not entry.is_added]
    letters = [text for text in own if text.isalpha()][:_OWN]
    texts = (*_SPACES, "".join(letters), " ".join(letters), "  ".join(letters))
    decoder = "no decoder" if subject.spec.decoder is None else "the decoder"
    for mark, text, decoded in _written_marks(tokenizer, ("a b", *texts)):
        verb = "removes" if subject.spec.decoder is None else "does not remove"
        message = f"decoded text has {mark!r}, which marks words: {decoder} {verb} it"
        yield Finding(message, severity="warning", advice=_DECODER, texts=(f"{text} -> {decoded}",))
        return
    changed = list(respaced_texts(tokenizer, texts))
    shown = [f"{text} -> {_decoded(tokenizer, text)}" for text, _ in changed]
    kept = [
        change
        for change, pair in zip(shown, changed, strict=True)
        if _decoder_loses(tokenizer, pair)
    ]
    if kept:
        figures = f"{len(kept)} of {len(texts)} texts"
        message = f"{figures} change with {decoder}, though the ids have their spaces"
        yield Finding(message, severity="warning", advice=_DECODER, texts=tuple(kept))
    elif changed:
        message = (
            f"spaces of {len(changed)} of {len(texts)} texts change, and the ids do not have them"
        )
        yield Finding(message, texts=tuple(shown))


def _written_marks(tokenizer: Tokenizer, texts: Iterable[str]) -> Iterator[tuple[str, str, str]]:
    """Yield each mark of words that decoding writes into a text without it, the text, and what is decoded."""
    model = tokenizer.spec.model
    own = (
        getattr(model, name, None) for name in ("continuing_subword_prefix", "end_of_word_suffix")
    )
    marks = [*filter(None, own), "▁", "Ġ"]
    for text in texts:
        decoded = _decoded(tokenizer, text)
        for mark in marks:
            if mark in decoded and mark not in text:
                yield mark, text, decoded


def _decoded(tokenizer: Tokenizer, text: str) -> str:
    """Return what decoding makes of a text, with what it writes for unknown characters."""
    ids = without_truncation_and_padding(tokenizer).encode(text, **PLAIN_TEXT).ids
    return tokenizer.decode(ids, skip_special_tokens=False)


def _decoder_loses(tokenizer: Tokenizer, pair: tuple[str, str]) -> bool:
    """Return whether a text and its decoded form have other ids, with nothing unknown."""
    ids, others = tokenizer.encode_batch(pair, **PLAIN_TEXT).to_lists()
    return ids != others and unknown_id_of(tokenizer) not in ids


def _by_script(characters: Iterable[str]) -> str:
    """Return how many of the characters of each script these are, the scripts with most first."""
    figures = list(_figures(characters))
    others = len(figures) - _SCRIPTS
    more = [counted(others, "other script")] if others > 0 else []
    return joined([*figures[:_SCRIPTS], *more])


def _figures(characters: Iterable[str]) -> Iterator[str]:
    totals = _totals()
    for script, number in Counter(map(_script, characters)).most_common():
        yield f"{script} {number:,} of {totals[script]:,}"


def _one_of_each(characters: Iterable[str]) -> Iterator[str]:
    """Yield the first character of each script."""
    first: dict[str, str] = {}
    for character in characters:
        first.setdefault(_script(character), character)
    yield from first.values()


@cache
def _totals() -> Counter[str]:
    return Counter(map(_script, characters()))


def _script(character: str) -> str:
    """Return the script of a letter or a mark, which is the first word of its name; of others the kind."""
    kind = unicodedata.category(character)[0]
    if kind not in "LM":
        return _KINDS[kind]
    name = unicodedata.name(character, "CJK").split()[0]
    script = name if name == "CJK" else name.capitalize()
    return "general marks" if script in _MARKS else script
