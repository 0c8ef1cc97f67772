"""Rules about entries of no use: no text gives them, they are equal, or they are only steps to others."""

from __future__ import annotations

import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from piecework import Tokenizer
from piecework._internal.validation import counted
from piecework.analysis.check.findings import Finding
from piecework.analysis.check.rules import Subject, rule
from piecework.analysis.entry_bytes import PLAIN_TEXT, RESERVED_NAME, Entry
from piecework.analysis.readable import show_whitespace
from piecework.analysis.round_trip import without_truncation_and_padding
from piecework.spec import BPE, SentencePiece
from piecework.vocabulary.alphabet import BYTE_TOKENS
from piecework.vocabulary.derivations import Derivations

_STEPS, _STEPS_PER_USE = 20, 100


@rule(
    "unreachable-entries",
    "vocabulary",
    "warning",
    cost="A model keeps a row for each in every table of embeddings, and no training text has it.",
    advice="train the vocabulary with the stages that encode; a trained model keeps its ids.",
)
def unreachable_entries(subject: Subject) -> Iterator[Finding]:
    """Find entries that no text gives, with a proof.

    Training wrote them with other stages than those that encode: another pattern, another normalizer, or
    another rule to segment. A finding names the reason. The proofs are exact: an entry without a proof is
    not in these findings, but in those of `unfound-entries`.

    - BPE: the characters of the entry do not merge to the entry, or each entry that completes its last
      character merges with it.
    - Unigram: another segmentation of the entry scores higher, by more than sums of floats round.
    - WordPiece: the entry is longer than the words that the model segments.
    - The normalizer never outputs one of its characters, or the pre-tokenizer always splits it, or
      splits it off from what would be beside it.

    >>> import piecework as pw
    >>> pieces = (("<unk>", 0.0), ("hug", -1.0), ("s", -2.0), ("hugs", -3.5))
    >>> tok = pw.Tokenizer(pw.spec.Unigram(pieces, unk_id=0))
    >>> found = pw.analysis.check(tok, select=["unreachable-entries"]).findings[0]
    >>> print(found.message.partition(": ")[2])
    another segmentation always scores higher ('hug' 's', by 0.5)

    An entry that only some neighbors let stand is reachable: here "s" after "hug", but not alone.

    >>> tok = pw.Tokenizer(pw.spec.WordPiece({"[UNK]": 0, "hug": 1, "##s": 2}))
    >>> pw.analysis.check(tok, select=["unreachable-entries"]).findings
    ()

    Source: Land and Bartolo 2024 (arXiv 2405.05417), section 3.1; for the proof of BPE, the README of `bpe`
    in rust-gems.
    """
    yield from _by_reason(subject, _judged(subject))


def _judged(subject: Subject) -> list[Entry]:
    """Return the entries with a proof, without reserved names and bytes."""
    proofs = subject.reachability.proofs
    return [entry for entry in subject.entries if entry.id in proofs and not _is_reserved(entry)]


def _is_reserved(entry: Entry) -> bool:
    """Return whether no text is meant to give an entry, or it is a byte that any vocabulary of bytes has."""
    return (
        bool(RESERVED_NAME.fullmatch(entry.token))
        or (len(entry.data.strip()) <= 1 and entry.text is None)
        or entry.is_byte
    )


def _by_reason(subject: Subject, entries: Iterable[Entry]) -> Iterator[Finding]:
    groups: dict[str, list[Entry]] = defaultdict(list)
    details: dict[str, str] = {}
    for entry in entries:
        cause, _, detail = subject.reachability.proofs[entry.id].partition(": ")
        groups[cause].append(entry)
        details.setdefault(cause, detail)
    for cause, group in groups.items():
        detail = f" ({details[cause]})" if details[cause] else ""
        share = f"{len(group):,} of {len(subject.entries):,} entries"
        example = f"such as {_quoted(group[0])}"
        yield _with_entries(f"{share} in no encoding, {example}: {cause}{detail}", group)


def _with_entries(message: str, entries: Sequence[Entry], texts: Sequence[str] = ()) -> Finding:
    return Finding(
        message,
        tokens=tuple(map(_shown, entries)),
        ids=tuple(entry.id for entry in entries),
        texts=tuple(texts),
    )


def _shown(entry: Entry) -> str:
    """Return an entry as the vocabulary writes it, or its text if that is in bytes."""
    text = entry.text
    if text is None and entry.token not in BYTE_TOKENS:
        return entry.data.decode(errors="backslashreplace")
    return entry.token if text is None or entry.is_inside or text.isascii() else text


def _quoted(entry: Entry) -> str:
    """Return an entry in quotes, with its code points if another character looks the same."""
    shown = show_whitespace(_shown(entry))
    points = " ".join(f"U+{ord(character):04X}" for character in shown)
    has_double = unicodedata.normalize("NFC", shown) != shown
    return f"'{shown}' ({points})" if has_double else f"'{shown}'"


@rule(
    "unfound-entries",
    "vocabulary",
    "note",
    cost="A model keeps a row for each in every table of embeddings, and few training texts or none have it.",
)
def unfound_entries(subject: Subject) -> Iterator[Finding]:
    """Find entries that no tried text gives, although no proof excludes one.

    Some text may give them. The finding says what was tried.

    >>> import piecework as pw
    >>> model = pw.spec.BPE({"a": 0, "aa": 1, "aaa": 2}, (("a", "a"), ("aa", "a")), ignore_merges=True)
    >>> tok = pw.Tokenizer(model, pre_tokenizer=pw.spec.FixedLength(1))
    >>> [found.tokens for found in pw.analysis.check(tok, select=["unfound-entries"]).findings]
    [('aa', 'aaa')]

    Without the pre-tokenizer, the texts "aa" and "aaa" give them.

    >>> pw.analysis.check(pw.Tokenizer(model), select=["unfound-entries"]).findings
    ()
    """
    found = subject.reachability
    if found.unfound:
        share = f"{len(found.unfound):,} of {len(subject.entries):,} entries"
        tried = (
            f"alone, after and before {found.contexts // 2} short texts, with a neighbor for each first and "
            "last character of the vocabulary, or with the bytes that complete them"
        )
        yield _with_entries(f"no text was found for {share}; tried {tried}", found.unfound)


@rule("reserved-entries", "vocabulary", "note")
def reserved_entries(subject: Subject) -> Iterator[Finding]:
    """Find entries that no text is meant to give: control pieces, reserved names, bytes without use.

    They are no mistake. Names such as `[unused12]` are there for tokens of yours:
    `piecework add TOKENIZER WORDS --replace-unused -o FILE`. A vocabulary of all 256 bytes has 13 that UTF-8
    never contains, and byte pieces such as `<0x41>` are not used where the character has an entry.

    >>> import piecework as pw
    >>> model = pw.spec.WordPiece({"[UNK]": 0, "[unused0]": 1, "hug": 2})
    >>> tok = pw.Tokenizer(model, pre_tokenizer=pw.spec.BertPreTokenizer())
    >>> print(pw.analysis.check(tok, select=["reserved-entries"]).findings[0].message)
    1 of 3 entries reserved: 1 name, such as '[unused0]'

    Without such entries there is no finding.

    >>> tok = pw.Tokenizer(pw.spec.WordPiece({"[UNK]": 0, "hug": 1}))
    >>> pw.analysis.check(tok, select=["reserved-entries"]).findings
    ()
    """
    found = subject.reachability
    unknown = subject.spec.model.unk_token
    control = [entry for entry in found.outside if entry.token != unknown]
    reserved = [e for e in subject.entries if e.id in found.proofs and _is_reserved(e)]
    names = [
        entry for entry in reserved if RESERVED_NAME.fullmatch(entry.token) and not entry.is_byte
    ]
    data = [entry for entry in reserved if entry not in names]
    kinds = {"control piece": control, "name": names, "unused byte": data}
    if any(kinds.values()):
        counts = ", ".join(
            f"{counted(len(group), kind)}, such as {_quoted(group[0])}"
            for kind, group in kinds.items()
            if group
        )
        every = [*control, *reserved]
        share = f"{len(every):,} of {len(subject.entries):,} entries"
        yield _with_entries(f"{share} reserved: {counts}", every)


@rule(
    "residue-entries",
    "vocabulary",
    "note",
    cost="Each takes a row of the embeddings that training seldom changes.",
    advice="train Unigram, which has no steps; `piecework prune` keeps them, as BPE merges by way of them.",
)
def residue_entries(subject: Subject) -> Iterator[Finding]:
    """Find BPE entries that your texts use only as steps to longer entries.

    Merging makes an entry such as `Ġpartic` on the way to `Ġparticular`, and no word ends there. The rule
    needs texts, and counts the uses of each entry in them: as a token, and as a step to a token.

    >>> import piecework as pw
    >>> merges = (("h", "u"), ("hu", "g"))
    >>> tok = pw.Tokenizer(pw.spec.BPE({"h": 0, "u": 1, "g": 2, "hu": 3, "hug": 4}, merges))
    >>> found = pw.analysis.check(tok, select=["residue-entries"], texts=["hug"] * 30).findings[0]
    >>> print(found.message)
    1 of 5 entries is only a step to longer ones: 0 tokens of the texts, and 30 tokens merged by way of them

    An entry that is also a token is none.

    >>> pw.analysis.check(tok, select=["residue-entries"], texts=["hug", "hu"] * 30).findings
    ()

    Source: LiteToken (arXiv 2602.04706).
    """
    model = subject.spec.model
    is_merging = isinstance(model, BPE) or (
        isinstance(model, SentencePiece) and model.kind == "bpe"
    )
    if not subject.texts or not is_merging:
        return
    uses, steps = _uses_and_steps(subject.loaded, subject.texts)
    by_token = {entry.token: entry for entry in subject.entries}
    residues = [
        by_token[token]
        for token, times in steps.most_common()
        if token in by_token
        and len(token) > 1
        and token not in BYTE_TOKENS
        and times >= max(_STEPS, _STEPS_PER_USE * uses[token])
    ]
    if residues:
        tokens = sum(uses[entry.token] for entry in residues)
        merged = sum(steps[entry.token] for entry in residues)
        share = f"{len(residues):,} of {len(subject.entries):,} entries"
        verb = "is only a step" if len(residues) == 1 else "are only steps"
        problem = f"{tokens:,} tokens of the texts, and {merged:,} tokens merged by way of them"
        yield _with_entries(f"{share} {verb} to longer ones: {problem}", residues)


def _uses_and_steps(
    tokenizer: Tokenizer, texts: Sequence[str]
) -> tuple[Counter[str], Counter[str]]:
    """Return how often texts use each token, and how often merging makes it on the way to another."""
    batch = without_truncation_and_padding(tokenizer).encode_batch(texts, **PLAIN_TEXT)
    tokens = {id: token for token, id in tokenizer.spec.model.vocab.items()}
    counts = enumerate(np.bincount(batch.ids).tolist())
    uses = Counter({tokens[id]: times for id, times in counts if times and id in tokens})
    steps: Counter[str] = Counter()
    derivations = Derivations(tokenizer.spec.model)
    for token, times in uses.items():
        for step in (derivations.symbols_of(token) or set()) - {token}:
            steps[step] += times
    return uses, steps


@rule(
    "duplicate-entries",
    "vocabulary",
    "note",
    cost="Only one of them is used for the text, or two ids mean the same.",
    advice="train the vocabulary on normalized text; a trained model keeps its ids.",
)
def duplicate_entries(subject: Subject) -> Iterator[Finding]:
    """Find entries that are the same text: the same bytes twice, or after the normalizer.

    A vocabulary of cased entries under a normalizer that lowercases has `Hug` and `hug`, and no text gives
    the first.

    >>> import piecework as pw
    >>> model = pw.spec.WordPiece({"[UNK]": 0, "hug": 1, "Hug": 2})
    >>> tok = pw.Tokenizer(model, normalizer=pw.spec.Lowercase())
    >>> print(pw.analysis.check(tok, select=["duplicate-entries"]).findings[0].message)
    1 of 3 entries is the text of another one after normalization, such as 'Hug' and 'hug'

    Entries at the start and inside a word are two, and so are those of a normalizer that keeps the case.

    >>> model = pw.spec.WordPiece({"[UNK]": 0, "hug": 1, "##hug": 2, "Hug": 3})
    >>> pw.analysis.check(pw.Tokenizer(model), select=["duplicate-entries"]).findings
    ()
    """
    own = [entry for entry in subject.entries if not (entry.is_added or entry.is_byte)]
    groups: dict[object, list[Entry]] = defaultdict(list)
    for entry in own:
        groups[entry.data, entry.is_inside].append(entry)
    yield from _equal(subject, list(groups.values()), "after decoding")
    if subject.spec.normalizer is not None:
        yield from _equal(subject, _normalized(subject, own), "after normalization")


def _normalized(subject: Subject, entries: Sequence[Entry]) -> list[list[Entry]]:
    """Return the entries whose texts the normalizer makes the same, the one that it keeps last."""
    normalize = subject.loaded.normalize
    groups: dict[object, list[tuple[bool, Entry]]] = defaultdict(list)
    for entry in entries:
        text = (entry.text or "").replace("▁", " ")
        body = text.strip()
        normalized = normalize(body) if body else ""
        if normalized.strip(" ▁"):
            spaces = text.partition(body)[::2]
            groups[normalized, spaces, entry.is_inside].append(
                (normalized.strip(" ▁") == body, entry)
            )
    return [
        [entry for _, entry in sorted(group, key=lambda item: item[0])]
        for group in groups.values()
        if len({entry.data for _, entry in group}) > 1
    ]


def _equal(subject: Subject, groups: list[list[Entry]], when: str) -> Iterator[Finding]:
    groups = [group for group in groups if len(group) > 1]
    if groups:
        more = sum(map(len, groups)) - len(groups)
        first, *_, last = groups[0]
        verb = "is the text of another one" if more == 1 else "are the texts of others"
        share = f"{more:,} of {len(subject.entries):,} entries"
        example = f"{_quoted(first)} and {_quoted(last)}"
        found = [entry for group in groups for entry in group]
        yield _with_entries(f"{share} {verb} {when}, such as {example}", found)
