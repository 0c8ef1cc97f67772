"""Custom stages: Python functions in the pipeline, equal to what is built in where they do the same."""

from __future__ import annotations

import copy
import itertools
import multiprocessing
import pickle
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import piecework as pw
from piecework.errors import FormatError, InputTypeError, StageError
from piecework.spec import (
    NFD,
    AddedToken,
    CustomNormalizer,
    CustomPreTokenizer,
    Lowercase,
    SequenceNormalizer,
    SequencePreTokenizer,
    StripAccents,
    WhitespaceSplit,
)
from piecework.train import Pipeline, Preset
from tests.processes import POSIX

VOCAB = ["[UNK]", "a", "b", "##a", "##b", "ab", "ba", "##ab", "!", "[x]"]
SENTENCE = "Don't you love 🤗 Transformers? We sure do."


def tokenizer(**stages: Any) -> pw.Tokenizer:
    model = pw.spec.WordPiece({token: id for id, token in enumerate(VOCAB)})
    return pw.Tokenizer(model, **stages)


def words_of(tok: pw.Tokenizer, text: str) -> list[str]:
    return [word for word, _ in tok.pre_tokenize(text)]


def split_spans(text: str) -> list[tuple[int, int]]:
    spans, start = [], 0
    for word in text.split():
        start = text.index(word, start)
        spans.append((start, start + len(word)))
        start += len(word)
    return spans


def lower_with_spans(text: str) -> tuple[str, list[tuple[int, int]]]:
    return text.lower(), [(at, at + 1) for at in range(len(text))]


class Suffix:
    """A function with a state, of a class that can be imported."""

    def __init__(self, suffix: str) -> None:
        self.suffix = suffix

    def __call__(self, text: str) -> str:
        return text + self.suffix

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Suffix) and self.suffix == other.suffix

    __hash__ = None  # type: ignore[assignment]


# ---- the same as what is built in

texts = st.text("abAB! \t[x]", max_size=30)
SAME_NORMALIZERS = [str.lower, lower_with_spans]
SAME_PRE_TOKENIZERS: list[Callable[[str], Any]] = [
    str.split,
    split_spans,
    lambda text: iter(text.split()),
]
TOKENS = (AddedToken("[x]", 9, special=False, normalized=True),)


def assert_same(ours: pw.Tokenizer, theirs: pw.Tokenizer, text: str, pair: str) -> None:
    words, other_words = text.split(" "), pair.split(" ")
    for one, two in (
        (ours.encode(text), theirs.encode(text)),
        (ours.encode(text, pair), theirs.encode(text, pair)),
        (
            ours.encode(words, other_words, is_pretokenized=True),
            theirs.encode(words, other_words, is_pretokenized=True),
        ),
    ):
        assert one.ids == two.ids
        assert one.tokens == two.tokens
        assert one.offsets == two.offsets
        assert one.word_ids == two.word_ids
        assert one.sequence_ids == two.sequence_ids
        assert [window.ids for window in one.overflowing] == [w.ids for w in two.overflowing]
    windows = [
        tok.encode_batch([pair, text], offsets=True, overflow=True) for tok in (ours, theirs)
    ]
    assert windows[0] == windows[1]
    batch = ours.encode_batch([text, pair], [pair, text])
    assert batch.to_lists() == theirs.encode_batch([text, pair], [pair, text]).to_lists()
    assert ours.count(text) == theirs.count(text)
    assert ours.normalize(text) == theirs.normalize(text)
    assert ours.pre_tokenize(text) == theirs.pre_tokenize(text)


@pytest.mark.parametrize("lower", SAME_NORMALIZERS)
@pytest.mark.parametrize("split", SAME_PRE_TOKENIZERS)
@given(text=texts, pair=texts, max_length=st.none() | st.integers(2, 6), with_token=st.booleans())
def test_functions_that_do_what_is_built_in_give_the_same(
    lower: Callable[[str], Any],
    split: Callable[[str], Any],
    text: str,
    pair: str,
    max_length: int | None,
    with_token: bool,
) -> None:
    def made(normalizer: Any, pre_tokenizer: Any) -> pw.Tokenizer:
        tok = tokenizer(
            normalizer=normalizer,
            pre_tokenizer=pre_tokenizer,
            added_tokens=TOKENS if with_token else (),
        )
        if max_length is None:
            return tok
        return tok.with_truncation(max_length, stride=min(1, max_length // 2))

    ours = made(CustomNormalizer(lower), CustomPreTokenizer(split))
    assert_same(ours, made(Lowercase(), WhitespaceSplit()), text, pair)


@given(text=st.text("aÀé́ B", max_size=20), pair=st.text("aÀé ", max_size=8))
def test_a_function_works_anywhere_in_a_sequence(text: str, pair: str) -> None:
    accents = SequenceNormalizer((NFD(), StripAccents()))
    spaces = SequencePreTokenizer((WhitespaceSplit(), pw.spec.Digits()))
    theirs = tokenizer(normalizer=SequenceNormalizer((accents, Lowercase())), pre_tokenizer=spaces)
    ours = tokenizer(
        normalizer=SequenceNormalizer(
            (CustomNormalizer(str), accents, CustomNormalizer(str.lower))
        ),
        pre_tokenizer=SequencePreTokenizer((spaces, CustomPreTokenizer(str.split))),
    )
    assert_same(ours, theirs, text, pair)


# ---- offsets when only the new text is known


def sources(text: str, new: str) -> list[tuple[int, int]]:
    """The offsets of each character of `new`, where `text` is what it was made of."""
    characters = pw.spec.Char({"[UNK]": 0})
    tok = pw.Tokenizer(
        characters,
        normalizer=CustomNormalizer(lambda _: new),
        pre_tokenizer=pw.spec.FixedLength(1),
    )
    return [span for _, span in tok.pre_tokenize(text)]


@given(text=st.text(max_size=60))
def test_an_unchanged_text_keeps_its_offsets(text: str) -> None:
    text = text.encode(errors="replace").decode()
    assert sources(text, text) == [(at, at + 1) for at in range(len(text))]


@given(text=st.text("aàb c", max_size=60), new=st.text("aAb cd", max_size=60))
def test_offsets_rise_and_stay_within_the_text(text: str, new: str) -> None:
    spans = sources(text, new)
    assert len(spans) == len(new)
    assert all(0 <= start <= end <= len(text) for start, end in spans)
    assert spans == sorted(spans)
    assert [end for _, end in spans] == sorted(end for _, end in spans)


LETTERS = "".join(map(chr, range(0x4E00, 0x4E00 + 80)))


@given(
    kept=st.lists(st.booleans(), min_size=80, max_size=80),
    inserted=st.lists(st.booleans(), min_size=80, max_size=80),
)
def test_deletions_and_insertions_are_aligned_when_every_letter_changes(
    kept: list[bool], inserted: list[bool]
) -> None:
    """With no letter twice and no letter changed there is one alignment, and this is it."""
    new, expected, last = [], [], -1
    for at, letter in enumerate(LETTERS):
        if kept[at]:
            new.append(letter)
            expected.append((at, at + 1))
            last = at
            # Only between two letters that stay together; else it would stand for what was left out.
            if inserted[at] and at + 1 < len(kept) and kept[at + 1]:
                new.append("☃")
                expected.append((last, last + 1))
    assert sources(LETTERS, "".join(new)) == expected


@pytest.mark.parametrize(
    ("text", "new", "expected"),
    [
        ("a … b", "a ... b", [(0, 1), (1, 2), (2, 3), (2, 3), (2, 3), (3, 4), (4, 5)]),
        ("``a''", '"a"', [(0, 2), (2, 3), (3, 5)]),
        ("ＡＢ", "ab", [(0, 1), (1, 2)]),
        ("ab", "xyz", [(0, 2)] * 3),
        ("b", "ab", [(0, 0), (0, 1)]),
        ("abcdef", "af", [(0, 1), (5, 6)]),
        ("", "new", [(0, 0)] * 3),
    ],
)
def test_offsets_of_small_edits(text: str, new: str, expected: list[tuple[int, int]]) -> None:
    assert sources(text, new) == expected


def test_a_long_text_with_many_edits_is_aligned() -> None:
    text = "it’s “fine” … so far, " * 20_000
    new = text.replace("’", "'").replace("“", '"').replace("”", '"').replace("…", "...")
    spans = sources(text, new)
    assert all(
        new[at] == text[start] or not text[start].isascii() for at, (start, _) in enumerate(spans)
    )


# ---- errors


def raises(text: str) -> str:
    raise ValueError("boom")


def raises_late(text: str) -> Iterator[str]:
    yield text
    raise KeyError("late")


@pytest.mark.parametrize(
    ("function", "found"),
    [
        (raises, "ValueError: boom"),
        (lambda text: None, "NoneType"),
        (lambda text: 3, "int"),
        (lambda text: (text, [], []), "tuple"),
        (lambda text: (3, []), "int as the first item of a tuple"),
        (lambda text: (text, 3), "int as the second item of a tuple"),
        (lambda text: text + "\ud800", "a text with a lone surrogate"),
        (lambda text: (text, [(0, 1)]), "1 spans"),
        (lambda text: (text, ["x"] * len(text)), "str as span 0"),
        (lambda text: ("xy", [(1, 2), (0, 1)]), "span 1 (0, 1)"),
        (lambda text: ("xy", [(0, 1), (0, 99)]), "span 1 (0, 99)"),
        (lambda text: ("x", [(-1, 0)]), "span 0 (-1, 0)"),
        (lambda text: ("x", [(2, 1)]), "span 0 (2, 1)"),
        (lambda text: ("x", [(0, 2**70)]), "tuple as span 0"),
    ],
)
def test_faults_of_a_normalizer_are_named(function: Callable[[str], Any], found: str) -> None:
    stage = SequenceNormalizer((NFD(), CustomNormalizer(function, "mine")))
    with pytest.raises(StageError) as caught:
        tokenizer(normalizer=stage).encode("some text")
    assert caught.value.place == 'normalizer.normalizers[1] "mine"'
    assert caught.value.found == found


@pytest.mark.parametrize(
    ("function", "found"),
    [
        (raises, "ValueError: boom"),
        (raises_late, "KeyError: 'late'"),
        (lambda text: None, "NoneType"),
        (lambda text: text, "str"),
        (lambda text: [text, 3], "int as word 1"),
        (lambda text: [3], "int as span 0"),
        (lambda text: ["\ud800"], "word 0 with a lone surrogate"),
        (lambda text: ["text", "some"], 'word 1 "some"'),
        (lambda text: [(0, 5), (4, 6)], "span 1 (4, 6)"),
        (lambda text: [(0, 99)], "span 0 (0, 99)"),
    ],
)
def test_faults_of_a_pre_tokenizer_are_named(function: Callable[[str], Any], found: str) -> None:
    stage = SequencePreTokenizer((CustomPreTokenizer(function, "mine"),))
    with pytest.raises(StageError) as caught:
        tokenizer(pre_tokenizer=stage).encode("some text")
    assert caught.value.place == 'pre_tokenizer.pretokenizers[0] "mine"'
    assert caught.value.found == found


def test_the_exception_is_the_cause_and_the_text_is_named() -> None:
    def fails_on_b(text: str) -> str:
        return raises(text) if "b" in text else text

    tok = tokenizer(normalizer=CustomNormalizer(fails_on_b))
    with pytest.raises(StageError, match=r"^texts\[2\]: normalizer ") as caught:
        tok.encode_batch(["a", "a", "b", "b"])
    assert isinstance(caught.value.__cause__, ValueError)
    with pytest.raises(StageError, match=r"^texts\[70\]: "):
        tok.encode_batch([*["a" * 5000] * 70, "b"], num_threads=4)


@pytest.mark.parametrize("stop", [KeyboardInterrupt, SystemExit])
@pytest.mark.parametrize("num_threads", [1, 3])
def test_exceptions_that_are_not_errors_are_not_wrapped(
    stop: type[BaseException], num_threads: int
) -> None:
    def stops(text: str) -> str:
        raise stop("now")

    tok = tokenizer()
    with pytest.raises(stop, match="now"):
        tok.with_normalizer(CustomNormalizer(stops)).encode_batch(
            ["a" * 70_000] * 4, num_threads=num_threads
        )
    with pytest.raises(stop, match="now"):
        pw.count_texts(["a"], preset=Pipeline(CustomNormalizer(stops)))


@pytest.mark.skipif(sys.platform == "win32", reason="signals of another kind")
def test_control_c_ends_a_batch_of_several_workers() -> None:
    calls = itertools.count(1)

    def slow(text: str) -> str:
        # One thread alone is told each number.
        if next(calls) == 5:
            signal.raise_signal(signal.SIGINT)
        return text

    tok = tokenizer(normalizer=CustomNormalizer(slow))
    # A shell starts what runs in the background so that it ignores this signal.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            tok.encode_batch(["a" * 1000] * 5000, num_threads=4)
    finally:
        signal.signal(signal.SIGINT, before)
    assert next(calls) < 20_000


def test_only_functions_are_taken() -> None:
    with pytest.raises(InputTypeError, match="function: must be .*, not str"):
        CustomNormalizer("lower")  # type: ignore[arg-type]
    with pytest.raises(InputTypeError, match="name: must be .*, not int"):
        CustomNormalizer(str.lower, 3)  # type: ignore[arg-type]
    with pytest.raises(InputTypeError, match="pre_tokenizer: must be .*, not builtin_function"):
        tokenizer().with_pre_tokenizer(len)  # type: ignore[arg-type]


# ---- threads and processes


def test_many_threads_may_use_one_tokenizer() -> None:
    tok = tokenizer(
        normalizer=CustomNormalizer(str.lower), pre_tokenizer=CustomPreTokenizer(str.split)
    )
    batch = ["AB ba! " * 3000] * 12
    expected = tok.encode_batch(batch, num_threads=1).ids.tolist()
    results: list[list[int]] = []
    threads = [
        threading.Thread(
            target=lambda: results.append(tok.encode_batch(batch, num_threads=3).ids.tolist())
        )
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=300)
    assert results == [expected] * 4


@POSIX
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_custom_stage_works_after_fork() -> None:
    tok = tokenizer(normalizer=CustomNormalizer(str.lower))
    expected = tok.encode_batch(["AB" * 50_000] * 4, num_threads=3).ids.tolist()
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)

    def child() -> None:
        sender.send(tok.encode_batch(["AB" * 50_000] * 4, num_threads=3).ids.tolist())

    process = context.Process(target=child)
    process.start()
    assert receiver.poll(120)
    assert receiver.recv() == expected
    process.join()


def test_a_function_may_use_the_tokenizer_that_uses_it() -> None:
    inner = tokenizer()
    tok = tokenizer(normalizer=CustomNormalizer(lambda text: inner.decode(inner.encode(text).ids)))
    assert tok.encode("ab").tokens == ["ab"]


# ---- as a value


@pytest.mark.parametrize("function", [str.lower, lower_with_spans, Suffix("!")])
def test_a_custom_stage_pickles_by_reference(function: Callable[[str], Any]) -> None:
    tok = tokenizer(
        normalizer=SequenceNormalizer((NFD(), CustomNormalizer(function))),
        pre_tokenizer=CustomPreTokenizer(split_spans),
    )
    again = pickle.loads(pickle.dumps(tok))
    assert again == tok
    assert hash(again) == hash(tok)
    assert again.encode("AB ba").ids == tok.encode("AB ba").ids


def test_a_partial_pickles_and_works() -> None:
    tok = tokenizer(pre_tokenizer=CustomPreTokenizer(partial(str.split, sep="-")))
    assert words_of(pickle.loads(pickle.dumps(tok)), "a-b c") == ["a", "b c"]


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy])
def test_copies_with_any_function_are_equal(copied: Callable[[Any], Any]) -> None:
    tok = tokenizer(normalizer=CustomNormalizer(lambda text: text))
    assert copied(tok) == tok
    assert copied(tok.spec) == tok.spec
    assert hash(copied(tok)) == hash(tok)


def test_tokenizers_with_other_functions_differ() -> None:
    lower = tokenizer(normalizer=CustomNormalizer(str.lower, "mine"))
    assert lower != tokenizer(normalizer=CustomNormalizer(str.upper, "mine"))
    assert lower != tokenizer(normalizer=CustomNormalizer(str.lower, "yours"))
    assert lower == tokenizer(normalizer=CustomNormalizer(str.lower, "mine"))
    assert lower != tokenizer()


def test_functions_that_cannot_be_pickled_are_named() -> None:
    tok = tokenizer(normalizer=CustomNormalizer(lambda text: text, "mine"))
    with pytest.raises(StageError, match="CustomNormalizer\\('mine'\\).*imported"):
        pickle.dumps(tok)


def test_the_specification_has_the_functions() -> None:
    stage = SequencePreTokenizer((WhitespaceSplit(), CustomPreTokenizer(split_spans)))
    tok = tokenizer(normalizer=CustomNormalizer(str.lower), pre_tokenizer=stage)
    assert tok.spec.normalizer == CustomNormalizer(str.lower)
    assert tok.spec.pre_tokenizer == stage
    assert pw.Tokenizer.from_spec(tok.spec) == tok
    changed = tok.with_truncation(3).with_added_tokens(["<new>"])
    assert changed.spec.pre_tokenizer == stage


def test_repr_has_the_names() -> None:
    stage = CustomPreTokenizer(split_spans)
    assert repr(stage) == f"CustomPreTokenizer('{__name__}:split_spans')"
    tok = tokenizer(normalizer=CustomNormalizer(Suffix("!")), pre_tokenizer=stage)
    assert f"CustomNormalizer('{__name__}:Suffix') -> {stage!r} -> WordPiece" in repr(tok)


# ---- files


def test_the_error_of_saving_names_the_custom_stage(tmp_path: Path) -> None:
    stage = SequencePreTokenizer((WhitespaceSplit(), CustomPreTokenizer(str.split, "mine")))
    tok = tokenizer(pre_tokenizer=stage)
    for refused in (
        tok.to_str,
        lambda: pw.spec.portable_json(tok.spec),
        lambda: tok.save(tmp_path / "tokenizer.json"),
    ):
        with pytest.raises(StageError, match=r"with_pre_tokenizer\(None\)") as caught:
            refused()
        assert caught.value.place == "pre_tokenizer.pretokenizers[1]"
        assert "the function 'mine'" in caught.value.message
    assert list(tmp_path.iterdir()) == []
    tok.with_pre_tokenizer(None).save(tmp_path / "tokenizer.json")
    loaded = pw.Tokenizer.load(tmp_path / "tokenizer.json")
    assert loaded.with_pre_tokenizer(stage) == tok
    tok.save(tmp_path / "vocab.txt")
    assert (tmp_path / "vocab.txt").read_text().split() == VOCAB


@pytest.mark.parametrize("stage", ["normalizer", "pre_tokenizer"])
def test_a_file_with_a_custom_stage_is_refused(stage: str) -> None:
    document = (
        tokenizer()
        .to_str(pretty=True)
        .replace(f'"{stage}": null', f'"{stage}": {{"type": "Custom", "name": "os:system"}}')
    )
    with pytest.raises(FormatError, match="functions, which files do not hold") as caught:
        pw.Tokenizer.from_str(document)
    assert caught.value.place == f"{stage}.type"


# ---- training


def test_counting_and_learning_through_functions(tmp_path: Path) -> None:
    pipeline = Pipeline(CustomNormalizer(str.lower), CustomPreTokenizer(split_spans))
    preset = Preset("mine", pipeline)
    texts = ["Hug pug", "hug BUN"] * 5
    counts = pw.count_texts(texts, preset=pipeline)
    assert counts.most_common() == [("hug", 10), ("pug", 5), ("bun", 5)]
    tok = pw.Tokenizer.train_from_iterator(texts, model="word", preset=preset)
    assert tok.encode("HUG Bun").tokens == ["hug", "bun"]
    again = tok.train_new_from_iterator(["new Words"], 5)
    assert again.encode("NEW").tokens == ["new"]
    assert again.spec.normalizer == pipeline.normalizer


@pytest.mark.parametrize("suffix", ["tsv", "parquet"])
def test_saved_counts_remember_the_names(tmp_path: Path, suffix: str) -> None:
    pipeline = Pipeline(CustomNormalizer(str.lower, "lower"), WhitespaceSplit())
    counts = pw.count_texts(["Hug pug"], preset=pipeline)
    counts.save(tmp_path / f"counts.{suffix}")
    loaded = pw.Counts.load(tmp_path / f"counts.{suffix}")
    assert "CustomNormalizer('lower', missing)" in str(loaded.pipeline)
    assert loaded.merge(counts).total == 4
    preset = Preset("mine", pipeline)
    tok = pw.Tokenizer.train_from_counts(loaded, model="word", preset=preset)
    assert tok.encode("HUG").tokens == ["hug"]
    with pytest.raises(pw.errors.ArgumentError, match="'lower', missing"):
        pw.Tokenizer.train_from_counts(loaded, model="word", preset="whitespace")
    assert loaded.pipeline is not None
    with pytest.raises(
        StageError,
        match="normalizer: only the name 'lower' of the function is known, as from a counts file;",
    ):
        pw.count_texts(["a"], preset=loaded.pipeline)


def test_a_fault_while_counting_names_the_text(tmp_path: Path) -> None:
    def fails_on_b(text: str) -> str:
        return raises(text) if "b" in text else text

    pipeline = Pipeline(CustomNormalizer(fails_on_b))
    with pytest.raises(StageError, match=r"^texts\[1\]: normalizer .*boom"):
        pw.count_texts(["a", "b", "b"], preset=pipeline)
    (tmp_path / "corpus.txt").write_text("one\ntwo\nbad\n")
    with pytest.raises(StageError, match=r"corpus.txt: line at byte 8: normalizer .*boom"):
        pw.count_files(tmp_path / "corpus.txt", preset=pipeline)


# ---- ready ones


@pytest.mark.parametrize(
    ("stage", "expected"),
    [
        (
            WhitespaceSplit(),
            ["Don't", "you", "love", "🤗", "Transformers?", "We", "sure", "do."],
        ),
        (
            pw.spec.BertPreTokenizer(),
            "Don ' t you love 🤗 Transformers ? We sure do .".split(),
        ),
    ],
)
def test_splitting_by_space_and_by_punctuation(stage: Any, expected: list[str]) -> None:
    assert words_of(tokenizer(pre_tokenizer=stage), SENTENCE) == expected


@cache
def english_rules() -> Any:
    return pytest.importorskip("spacy", reason="needs spaCy").blank("en").tokenizer


def english_words(text: str) -> list[str]:
    return [token.text for token in english_rules()(text) if not token.is_space]


def test_spacy_splits_by_rule() -> None:
    tok = tokenizer(pre_tokenizer=CustomPreTokenizer(english_words))
    expected = "Do n't you love 🤗 Transformers ? We sure do .".split()
    assert words_of(tok, SENTENCE) == expected
    assert words_of(pickle.loads(pickle.dumps(tok)), SENTENCE) == expected
    assert tok.pre_tokenize("  a\n\n b")[1] == ("b", (6, 7))


def moses(text: str, lang: str = "en") -> list[str]:
    words: list[str] = moses_rules(lang).tokenize(text, escape=False)
    return words


@cache
def moses_rules(lang: str) -> Any:
    return pytest.importorskip("sacremoses", reason="needs sacremoses").MosesTokenizer(lang)


def test_moses_splits_by_rule() -> None:
    moses_rules("en")
    tok = tokenizer(pre_tokenizer=CustomPreTokenizer(moses))
    expected = "Don 't you love 🤗 Transformers ? We sure do .".split()
    assert words_of(tok, SENTENCE) == expected
    assert words_of(pickle.loads(pickle.dumps(tok)), SENTENCE) == expected
    french = tokenizer(pre_tokenizer=CustomPreTokenizer(partial(moses, lang="fr")))
    assert words_of(french, "L'été, c'est <b>") == ["L'", "été", ",", "c'", "est", "<", "b", ">"]


@given(text=st.text(st.characters(exclude_categories=["Cs"]), max_size=60).filter(str.isprintable))
def test_moses_words_are_those_it_makes(text: str) -> None:
    tok = tokenizer(pre_tokenizer=CustomPreTokenizer(moses))
    assert words_of(tok, text) == moses(text)


def test_words_that_moses_changes_are_refused() -> None:
    moses_rules("en")
    tok = tokenizer(pre_tokenizer=CustomPreTokenizer(moses))
    with pytest.raises(StageError, match=f"{__name__}:moses"):
        tok.encode("DOTDOTMULTI")


def test_moses_and_ftfy_clean_text() -> None:
    sacremoses = pytest.importorskip("sacremoses", reason="needs sacremoses")
    ftfy = pytest.importorskip("ftfy", reason="needs ftfy")
    punctuation = CustomNormalizer(sacremoses.MosesPunctNormalizer("en").normalize, "punctuation")
    assert tokenizer(normalizer=punctuation).normalize("« Hi » …") == '" Hi " ...'
    tok = tokenizer(normalizer=CustomNormalizer(ftfy.fix_text), pre_tokenizer=WhitespaceSplit())
    assert "'ftfy:fix_text'" in repr(tok)
    assert tok.pre_tokenize("schÃ¶n “ja”") == [("schön", (0, 6)), ('"ja"', (7, 11))]
    assert pickle.loads(pickle.dumps(tok)) == tok


def chinese_words(text: str) -> list[str]:
    jieba = pytest.importorskip("jieba", reason="needs jieba")
    return [word for word in jieba.cut(text) if not word.isspace()]


def test_segmenters_cut_text_without_spaces() -> None:
    chinese_words("")
    tok = tokenizer(pre_tokenizer=CustomPreTokenizer(chinese_words))
    assert words_of(tok, "我来到 北京清华大学") == ["我", "来到", "北京", "清华大学"]
    assert pickle.loads(pickle.dumps(tok)) == tok
