"""Candidate texts of a golden file from a tokenizer: its normalizer, its vocabulary and its added tokens."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from piecework import Tokenizer
from piecework.analysis.golden.fixed_texts import Candidate, fixed_candidates
from piecework.analysis.golden.small import by_flags, samples_of
from piecework.io.normalization_rules import NormalizationRules
from piecework.spec import (
    AddedToken,
    Precompiled,
    Prepend,
    Regex,
    Replace,
    SentencePieceNormalizer,
    TokenizerSpec,
    WordPiece,
)
from piecework.spec.sequences import single_stages


def candidates(tokenizer: Tokenizer) -> list[Candidate]:
    """Return the candidates for a tokenizer, each text once."""
    spec = tokenizer.spec
    found = [
        *fixed_candidates(),
        *_of_normalizer(spec),
        *_of_vocabulary(tokenizer),
        *_of_limit(tokenizer),
        *_of_added_tokens(spec.added_tokens),
    ]
    return list({one.text: one for one in reversed(found)}.values())[::-1]


def _of_normalizer(spec: TokenizerSpec) -> Iterator[Candidate]:
    for stage in single_stages(spec.normalizer):
        if isinstance(stage, Replace):
            yield from _of_replace(stage)
        elif isinstance(stage, Prepend):
            text = stage.prepend
            for one in (text, text + "a", f" {text}a", f"a{text}", text * 2 + "a"):
                yield Candidate(one, "replacement", "the text that the normalizer prepends")
        elif isinstance(stage, Precompiled | SentencePieceNormalizer):
            for source, comment in _charsmap_sources(stage.charsmap):
                yield Candidate(f"a{source}b", "replacement", comment)
                yield Candidate(f"{source} {source}", "replacement", comment)


def _charsmap_sources(charsmap: bytes) -> list[tuple[str, str]]:
    """Return sources of rules with the reason to try each: long ones, prefixes, insertions and deletions."""
    rules = NormalizationRules(charsmap).to_mapping() if charsmap else {}
    longest = sorted(rules, key=lambda source: (-len(source), source))
    growing = sorted(rules, key=lambda source: (len(source) - len(rules[source]), source))
    nested = [source for source in longest if len(source) > 1 and source[:-1] in rules]
    kinds = (
        (_spread(nested, 24), "a rule longer than another that it begins with"),
        (longest[:24], "one of the longest rules"),
        ([source for source in longest if not rules[source]][:24], "a rule that deletes"),
        (growing[:24], "a rule that inserts much"),
        (_spread(sorted(rules), 24), "a rule of the charsmap"),
    )
    return [(source, comment) for sources, comment in kinds for source in sources]


def _spread(items: Sequence[str], number: int) -> list[str]:
    """Return at most `number` items at equal distances, the first and the last included."""
    if len(items) <= number:
        return list(items)
    return [items[at * (len(items) - 1) // (number - 1)] for at in range(number)]


def _of_replace(stage: Replace) -> Iterator[Candidate]:
    source = stage.pattern.pattern if isinstance(stage.pattern, Regex) else stage.pattern
    texts = [
        f"a{source}b",
        source * 2 + "a",
        f"a{source}",
        stage.content + "a",
        f"a{stage.content}b",
    ]
    for text in texts:
        yield Candidate(text, "replacement", "a replacement rule and its result")


_SAMPLED = 48
_TIED = 150


def _of_vocabulary(tokenizer: Tokenizer) -> Iterator[Candidate]:
    """Yield words of the vocabulary from every depth, and words that join two of its tokens."""
    added = {token.content for token in tokenizer.added_tokens}
    words = [word for word in readable_tokens(tokenizer, added) if word.strip()]
    spread = _spread(words, _SAMPLED)
    longest = sorted(words, key=lambda word: (-len(word), word))[:12]
    for word in _tied_words(words):
        yield Candidate(word, "merges", "short entries joined")
    for word in spread:
        yield Candidate(word, "merges", "an entry of the vocabulary")
    for word in longest:
        yield Candidate(word[:200], "merges", "one of the longest entries")
        yield Candidate(word[:60] + word[1:60], "merges", "a long entry, and most of it again")
    for first, second in pairwise(spread):
        yield Candidate(first.strip() + second.strip(), "merges", "two entries without a space")
        yield Candidate(f"{first} {second[:-1]}", "merges", "an entry, and another without its end")
    for word in spread[::3]:
        yield Candidate(word.upper(), "case", "an entry in capitals")
        yield Candidate(word.strip()[1:] + word.strip()[:1], "merges", "an entry that is rotated")
        yield Candidate(word * 3, "merges", "an entry three times")


def _of_limit(tokenizer: Tokenizer) -> Iterator[Candidate]:
    """Yield words of known entries beside the limit of a WordPiece model, in characters and in bytes."""
    model = tokenizer.spec.model
    if not isinstance(model, WordPiece):
        return
    prefix, limit = model.continuing_subword_prefix, min(model.max_input_chars_per_word, 1_000)
    inside = [token[len(prefix) :] for token in model.vocab if token.startswith(prefix)]
    starts = [token for token in model.vocab if token.isalpha()]

    def stays(text: str) -> bool:
        return text.isalpha() and tokenizer.pre_tokenize(f"{text}{text}")[0][0] == text * 2

    for is_ascii in (True, False):
        known = [text for text in inside if text.isascii() is is_ascii and stays(text)]
        known.sort(key=lambda text: (-len(text), text))
        first = next((text for text in starts if text.isascii() is is_ascii and stays(text)), "a")
        if not known:
            continue
        for length in (limit - 1, limit, limit + 1, limit // 2 + 1):
            whole, rest = divmod(length - len(first), len(known[0]))
            word = first + known[0] * whole + known[-1] * rest
            always = f"{length} {is_ascii}"
            yield Candidate(word, "long-word", f"a word of {len(word)} letters", always=always)


def _tied_words(words: Sequence[str]) -> Iterator[str]:
    """Yield words of few letters and of short entries, the same ones for the same vocabulary."""
    draw = random.Random(58)
    short = [word.strip() for word in words if len(word.strip()) in (1, 2, 3)][:400] or ["a"]
    for _ in range(_TIED):
        units = [*draw.choices(short, k=2), "a", "0"]
        yield "".join(draw.choices(units, k=draw.randint(3, 9)))
        yield " ".join("".join(draw.choices(short, k=draw.randint(2, 4))) for _ in range(3))


def readable_tokens(tokenizer: Tokenizer, added: set[str]) -> Iterator[str]:
    """Yield the texts of entries in the order of their ids."""
    vocab = tokenizer.get_vocab(with_added_tokens=False)
    for token, id in sorted(vocab.items(), key=lambda item: item[1]):
        data = None if token in added else tokenizer.token_bytes(id)
        if data is None:
            continue
        try:
            text = data.decode()
        except UnicodeDecodeError:
            continue
        if text.isprintable() and len(text) > 1:
            yield text.replace("▁", " ")


def _of_added_tokens(tokens: Sequence[AddedToken]) -> Iterator[Candidate]:
    """Yield added tokens with neighbours: a few of each set of flags in every way, all of them once."""
    for number, like in enumerate(by_flags(tokens)):
        for token in samples_of(like):
            other = like[-1] if token is not like[-1] else tokens[0]
            yield from _beside(token, other, str(number))
    contents = [token.content for token in tokens]
    for start in range(0, len(contents), 12):
        yield Candidate(
            "a".join(contents[start : start + 12]), "added-token", "added tokens between letters"
        )
    for short, long in _prefixes(contents):
        yield Candidate(f"{short}x{long}", "added-token", "an added token that begins another")
        cut = long[: len(short) + 1]
        yield Candidate(f"{cut} ", "added-token", "the start of a longer added token")


def _prefixes(contents: Sequence[str]) -> Iterator[tuple[str, str]]:
    ordered = sorted(filter(None, contents))
    found = [(one, two) for one, two in pairwise(ordered) if two.startswith(one)]
    yield from found[:6]


def _beside(token: AddedToken, other: AddedToken, kind: str) -> Iterator[Candidate]:
    """Yield a token in many neighbourhoods; each is a group of its own for the tokens with flags."""
    has_flags = token.single_word or token.lstrip or token.rstrip or token.normalized
    text, half = token.content, len(token.content) // 2
    found = (
        (text, "alone"),
        (f"a {text} b", "between spaces"),
        (f"a{text}b", "between letters"),
        (f"a  {text}  b", "between two spaces"),
        (f"  {text}  ", "with spaces at both ends of the text"),
        (f"a\n{text}\nb", "between line ends"),
        (f"a\t{text}\tb", "between tabs"),
        (f"a\u3000{text}\xa0b", "between other spaces"),
        (f"a\xa0\u0301{text}\xa0\u0301b", "between spaces with marks"),
        (f"a \n {text} \n b", "among spaces and line ends"),
        (f".{text}!", "between punctuation"),
        (f"1{text}2", "between digits"),
        (f"_{text}_", "between underscores"),
        (f"é{text}漢", "between letters of other scripts"),
        (f"a\u0301{text}\u0301b", "beside combining marks"),
        (text * 2, "twice"),
        (f"{text} {text}  {text}", "three times with spaces"),
        (f"{text}{other.content}", "before another added token"),
        (f"{other.content} {text} a", "after another added token and a space"),
        (text.upper(), "in capitals"),
        (text.lower(), "in small letters"),
        (text.swapcase() + text, "in the other case, then as it is"),
        (text[:half] + text, "after its own beginning"),
        (text[:-1], "without its last character"),
        (f"{text[:half]} {text[half:]}", "with a space inside"),
        (text[:1] + "\u0301" + text[1:], "with a mark inside"),
        ("".join(chr(ord(c) + 0xFEE0) if "!" <= c <= "~" else c for c in text), "in full width"),
        (f"Hello {text} world", "in a sentence"),
        (f"{text}a", "at the start of a text"),
        (f"a{text}", "at the end of a text"),
        (f"{text}'s", "before a contraction"),
    )
    for one, comment in found:
        groups = (comment, f"{kind} {comment}") if has_flags else (comment,)
        yield Candidate(one, "added-token", f"an added token {comment}", groups=groups)
    if has_flags:
        # The neighbourhoods that begin and end with letters, three in one text.
        inside = [(one, comment) for one, comment in found if (one[0] + one[-1]).isalpha()]
        for at in range(0, len(inside), 3):
            texts, comments = zip(*inside[at : at + 3], strict=True)
            of_kind = [f"{kind} {comment}" for comment in comments]
            comment = f"an added token {', '.join(comments)}"
            groups = (*comments, *of_kind)
            yield Candidate("".join(texts), "added-token", comment, groups=groups)


def of_corpus(texts: Iterable[str]) -> Iterator[Candidate]:
    """Yield the lines of texts of a corpus, cut to 80 characters."""
    for text in texts:
        for line in text.splitlines():
            if line.strip():
                yield Candidate(line[:80], "corpus", "a line of the corpus")
