"""The tokenizer as users meet it: encoding, batches, decoding, variants, threads, bad input."""

from __future__ import annotations

import copy
import inspect
import json
import os
import pickle
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import piecework as pw
from piecework._internal._core import UNICODE_VERSION
from piecework.errors import ArgumentError, InputTypeError, SpecialTokenError, VocabularyError
from piecework.spec import (
    AddedToken,
    ByteLevelProcessing,
    SequenceProcessing,
    TokenizerSpec,
    WhitespaceSplit,
    WordLevel,
)
from tests.processes import POSIX

VOCAB = [
    "[PAD]",
    "[UNK]",
    "[CLS]",
    "[SEP]",
    "hug",
    "##s",
    "pug",
    ",",
    "un",
    "##believ",
    "##able",
    "e",
]


@pytest.fixture
def tok(tmp_path: object) -> pw.Tokenizer:
    path = tmp_path / "vocab.txt"
    path.write_text("\n".join(VOCAB))
    return pw.Tokenizer.load(path)


# ---- encoding


def test_every_field_of_an_encoding(tok: pw.Tokenizer) -> None:
    encoding = tok.encode("Hugs, É", "x pug")
    assert encoding.tokens == ["[CLS]", "hug", "##s", ",", "e", "[SEP]", "[UNK]", "pug", "[SEP]"]
    assert encoding.ids == [2, 4, 5, 7, 11, 3, 1, 6, 3]
    assert encoding.offsets == [
        (0, 0),
        (0, 3),
        (3, 4),
        (4, 5),
        (6, 7),
        (0, 0),
        (0, 1),
        (2, 5),
        (0, 0),
    ]
    assert encoding.word_ids == [None, 0, 0, 1, 2, None, 0, 1, None]
    assert encoding.sequence_ids == [None, 0, 0, 0, 0, None, 1, 1, None]
    assert encoding.type_ids == [0, 0, 0, 0, 0, 0, 1, 1, 1]
    assert encoding.special_tokens_mask == [1, 0, 0, 0, 0, 1, 0, 0, 1]
    assert encoding.attention_mask == [1] * 9
    assert len(encoding) == 9
    assert encoding.overflowing == []


def test_fields_are_the_same_whenever_they_are_read(tok: pw.Tokenizer) -> None:
    text = "Hugs, É[SEP] pug unbelievable"
    for parse_special in (True, False):
        other = tok.with_parse_special(parse_special)
        for framed in (True, False):
            whole = other.encode(text, add_special_tokens=framed, sampling=None, parse_special=None)
            early = other.encode(text, add_special_tokens=framed, parse_special=parse_special)
            assert whole.ids is whole.ids
            assert whole.ids == early.ids
            for field in ("tokens", "offsets", "word_ids", "type_ids", "special_tokens_mask"):
                assert getattr(whole, field) == getattr(early, field)
            assert len(whole) == len(whole.tokens)
    assert tok.encode("x " * 600).ids == tok.encode("x " * 600, parse_special=True).ids


def test_offsets_count_characters_of_the_original(tok: pw.Tokenizer) -> None:
    text = "🤗\u200d ＡE\u0301 hugs"
    encoding = tok.encode(text, add_special_tokens=False)
    slices = [text[start:end] for start, end in encoding.offsets]
    assert slices == ["🤗", "ＡE", "hug", "s"]


def test_a_batch_is_flat_and_indexable(tok: pw.Tokenizer) -> None:
    batch = tok.encode_batch(["hugs", "", "pug hug"])
    assert batch.ids.dtype == np.uint32
    assert batch.row_offsets.dtype == np.int64
    assert batch.row_offsets.tolist() == [0, 4, 6, 10]
    assert batch.to_lists() == [[2, 4, 5, 3], [2, 3], [2, 6, 4, 3]]
    assert batch.to_numpy(pad_id=9).tolist() == [[2, 4, 5, 3], [2, 3, 9, 9], [2, 6, 4, 3]]
    assert batch.lengths.tolist() == [4, 2, 4]
    assert (batch[2].tokens, batch[-1].ids) == (["[CLS]", "pug", "hug", "[SEP]"], batch[2].ids)
    assert [row.ids for row in batch] == batch.to_lists()
    with pytest.raises(IndexError, match="row 3 of a batch of 3"):
        batch[3]


def test_a_batch_hands_its_arrays_over(tok: pw.Tokenizer) -> None:
    batch = tok.encode_batch(["hugs", "", "pug hug"])
    lists = batch.to_lists()
    ids = batch.ids
    assert batch.ids is ids
    assert ids.flags.writeable
    assert batch.to_lists() == lists
    ids[1] = 9_999
    assert batch.to_lists()[0] == [2, 9_999, 5, 3]
    del batch
    assert ids.tolist() == [2, 9_999, 5, 3, 2, 3, 2, 6, 4, 3]


def test_lists_are_the_callers_own(tok: pw.Tokenizer) -> None:
    batch = tok.encode_batch(["hugs", "hugs"])
    lists = batch.to_lists()
    lists[0].append(-1)
    assert batch.to_lists() == [[2, 4, 5, 3], [2, 4, 5, 3]]
    assert all(type(id) is int for row in lists for id in row)


def test_threads_read_one_batch(tok: pw.Tokenizer) -> None:
    expected = [[2, 4, 5, 6, 3]] * 500

    def read(at: int, batch: pw.Batch) -> list[list[int]]:
        return batch.to_lists() if at % 2 else batch.ids.reshape(500, 5).tolist()

    with ThreadPoolExecutor(8) as executor:
        for _ in range(20):
            batch = tok.encode_batch(["hugs pug"] * 500)
            assert list(executor.map(read, range(8), [batch] * 8)) == [expected] * 8


def test_pairs_in_a_batch_carry_their_types(tok: pw.Tokenizer) -> None:
    batch = tok.encode_batch(["hugs", "pug"], ["pug", ""])
    assert batch.to_lists() == [[2, 4, 5, 3, 6, 3], [2, 6, 3, 3]]
    assert batch.type_ids.tolist() == [0, 0, 0, 0, 1, 1, 0, 0, 0, 1]
    assert batch[0].type_ids == [0, 0, 0, 0, 1, 1]


def test_no_texts_give_an_empty_batch(tok: pw.Tokenizer) -> None:
    batch = tok.encode_batch([])
    assert (len(batch), batch.ids.tolist(), batch.row_offsets.tolist()) == (0, [], [0])
    assert batch.to_numpy().shape == (0, 0)


def test_any_number_of_threads_gives_the_same_batch(tok: pw.Tokenizer) -> None:
    texts = [f"hugs pug {'unbelievable ' * (i % 50)}" for i in range(3000)]
    expected = tok.encode_batch(texts, num_threads=1)
    for num_threads in (2, 3, 16):
        batch = tok.encode_batch(texts, num_threads=num_threads)
        assert np.array_equal(batch.ids, expected.ids)
        assert np.array_equal(batch.row_offsets, expected.row_offsets)


def test_counting_agrees_with_encoding(tok: pw.Tokenizer) -> None:
    texts = ["hugs, pug", "", "unbelievable"]
    assert tok.count_batch(texts) == tok.encode_batch(texts).lengths.tolist()
    assert json.loads(json.dumps(tok.count_batch(texts))) == tok.count_batch(texts)
    assert tok.count(texts[0]) == len(tok.encode(texts[0]))
    assert tok.count(texts[0], add_special_tokens=False) == 4


def test_unknown_characters_alone_when_asked() -> None:
    vocab = {"[UNK]": 0, "un": 1, "##believ": 2, "##able": 3}
    by_word = pw.Tokenizer(pw.spec.WordPiece(vocab))
    by_char = pw.Tokenizer(pw.spec.WordPiece(vocab, unk="char"))
    assert by_word.encode("un!believable").ids == [0]
    assert by_char.encode("un!believable").ids == [1, 0, 2, 3]
    assert by_char.encode("un!believable").offsets == [(0, 2), (2, 3), (3, 9), (9, 13)]


def test_special_tokens_in_the_text_are_found(tok: pw.Tokenizer) -> None:
    assert tok.encode("hug[SEP]pug", add_special_tokens=False).ids == [4, 3, 6]


@pytest.mark.parametrize(
    ("text", "refused"),
    [
        ("hug <END> pug", "<END>"),
        ("hug <end> pug", "<END>"),
        ("<END> <raw>", "<END>"),
        ("<raw> <END>", "<raw>"),
        ("hug <ADDED> pug", None),
    ],
)
def test_special_tokens_that_encoding_recognizes_are_refused(
    tok: pw.Tokenizer, text: str, refused: str | None
) -> None:
    strict = tok.with_added_tokens(
        [
            AddedToken("<END>", 100, normalized=True),
            AddedToken("<raw>", 101),
            AddedToken("<ADDED>", 102, special=False, normalized=True),
        ]
    ).with_parse_special("refuse")
    calls: list[Callable[[], object]] = [
        lambda: strict.encode(text),
        lambda: strict.encode("hug", text),
        lambda: strict.encode_batch(["hug", text]),
        lambda: strict.encode(["hug", text], is_pretokenized=True),
    ]
    for call in calls:
        if refused is None:
            call()
        else:
            with pytest.raises(SpecialTokenError, match=refused):
                call()
    found = strict.encode(text, parse_special=True).tokens
    assert ({"<END>", "<raw>"} & {*found} != set()) == (refused is not None)


def test_a_text_that_is_not_refused_has_the_ids_of_parsing() -> None:
    """The special token matches inside a word only, but the match hides the other token."""
    added = (
        AddedToken("ab", 2, single_word=True),
        AddedToken("b ", 3, special=False),
    )
    tok = pw.Tokenizer(WordLevel({"[UNK]": 0, "a": 1}), added_tokens=added)
    expected = tok.encode("aab ", parse_special=True).ids
    assert tok.with_parse_special("refuse").encode("aab ").ids == expected == [0]


# ---- trimmed offsets


@pytest.mark.parametrize(
    ("times", "offsets"),
    [
        (1, [(0, 3), (6, 9), (13, 16)]),
        (2, [(0, 3), (9, 9), (13, 16)]),
    ],
)
def test_every_post_processor_trims_the_stripped_whitespace(
    times: int, offsets: list[tuple[int, int]]
) -> None:
    """The expected offsets are those of tokenizers 0.23.3."""
    trim = ByteLevelProcessing(add_prefix_space=False, trim_offsets=True)
    spec = TokenizerSpec(
        WordLevel({"[UNK]": 0, "hug": 1}),
        pre_tokenizer=WhitespaceSplit(),
        post_processor=SequenceProcessing((trim,) * times),
        added_tokens=(AddedToken("<m>", 2, lstrip=True, rstrip=True),),
    )
    tok = pw.Tokenizer.from_spec(spec)
    assert tok.encode("hug   <m>    hug").offsets == offsets
    [row] = tok.encode_batch(["hug   <m>    hug"], offsets=True)
    assert row.offsets == offsets


def test_stripped_whitespace_of_one_word_changes_no_offsets_of_another() -> None:
    """The expected offsets are those of tokenizers 0.23.3."""
    spec = TokenizerSpec(
        WordLevel({"[UNK]": 0, "hug": 1}),
        post_processor=ByteLevelProcessing(add_prefix_space=False, trim_offsets=True),
        added_tokens=(AddedToken("<m>", 2, lstrip=True),),
    )
    words = ["  <m>", "hug", "<m>"]
    encoding = pw.Tokenizer.from_spec(spec).encode(words, is_pretokenized=True)
    assert encoding.offsets == [(2, 5), (0, 3), (0, 3)]


def test_many_tokens_that_include_the_same_whitespace_take_linear_time() -> None:
    """Each includes all spaces to the end, so reading them for each would take hours."""
    spec = TokenizerSpec(
        WordLevel({"[UNK]": 0}),
        post_processor=ByteLevelProcessing(add_prefix_space=False, trim_offsets=True),
        added_tokens=(AddedToken(" ", 1, rstrip=True),),
    )
    tok = pw.Tokenizer.from_spec(spec)
    count = 1_000_000
    assert tok.encode(" " * count).offsets == [(count, count)] * count


# ---- decoding


def test_decoding_joins_tokens_and_cleans_up(tok: pw.Tokenizer) -> None:
    ids = tok.encode("Unbelievable hugs, pug").ids
    assert tok.decode(ids) == "unbelievable hugs, pug"
    assert tok.decode(ids, clean_up=False) == "unbelievable hugs , pug"
    assert tok.decode(ids, skip_special_tokens=False) == "[CLS] unbelievable hugs, pug [SEP]"
    assert tok.decode(np.array(ids)) == tok.decode(ids)
    assert tok.decode([4, 10_000, 6]) == "hug pug"


def test_batches_of_any_kind_decode(tok: pw.Tokenizer) -> None:
    texts = ["unbelievable", "", "hug pug"]
    batch = tok.encode_batch(texts)
    assert tok.decode_batch(batch) == texts
    assert tok.decode_batch(batch.to_lists()) == texts
    assert tok.decode_batch([]) == []


# ---- variants


def test_variants_leave_the_original_alone(tok: pw.Tokenizer) -> None:
    cut = tok.with_truncation(4, stride=1)
    assert [e.ids for e in (cut.encode("hugs pug"), *cut.encode("hugs pug").overflowing)] == [
        [2, 4, 5, 3],
        [2, 5, 6, 3],
    ]
    filled = cut.with_padding(6)
    assert filled.encode("hug").ids == [2, 4, 3, 0, 0, 0]
    assert filled.encode("hug").tokens[-1] == "[PAD]"
    assert filled.without_padding().without_truncation() == tok
    assert tok.encode("hugs pug").ids == [2, 4, 5, 6, 3]


def test_a_new_vocabulary_for_the_same_pipeline(tok: pw.Tokenizer) -> None:
    texts = ["zig zag zigzag"] * 4
    new = tok.train_new_from_iterator(texts, 20, learner=pw.train.Merges("frequency"))
    assert new.get_vocab_size() <= 20
    assert new.spec.normalizer == tok.spec.normalizer
    assert [token.content for token in new.spec.added_tokens] == VOCAB[:4]
    assert new.decode(new.encode("Zigzag").ids) == "zigzag"


# ---- being a value


def test_tokenizers_pickle_copy_compare_and_hash(tok: pw.Tokenizer) -> None:
    for other in (pickle.loads(pickle.dumps(tok)), copy.copy(tok), copy.deepcopy(tok)):
        assert other == tok
        assert hash(other) == hash(tok)
        assert other.encode("hugs").ids == tok.encode("hugs").ids
    assert tok != tok.with_padding(9)
    assert repr(tok).startswith("Tokenizer(BertNormalizer -> BertPreTokenizer -> WordPiece")


def test_a_hash_reads_the_vocabulary_once(tok: pw.Tokenizer) -> None:
    copied = pickle.loads(pickle.dumps(tok))
    assert copied._fingerprint is None
    assert hash(copied) == hash(tok)
    assert copied._fingerprint == tok.fingerprint


def test_encode_has_the_arguments_of_tokenizers_first() -> None:
    takes = inspect.signature(pw.Tokenizer.encode).parameters.values()
    # The first four in the order of `tokenizers.Tokenizer.encode`.
    assert [(one.name, one.default) for one in list(takes)[2:]] == [
        ("pair", None),
        ("is_pretokenized", False),
        ("add_special_tokens", True),
        ("parse_special", None),
        ("sampling", None),
    ]


def test_encode_can_be_extended(tok: pw.Tokenizer) -> None:
    class Shouting(pw.Tokenizer):
        def encode(self, text: str, *args: object, **settings: object) -> pw.Encoding:
            return super().encode(f"{text},", *args, **settings)

    shouting = Shouting.from_str(tok.to_str())
    assert shouting.encode("hug").tokens == ["[CLS]", "hug", ",", "[SEP]"]


def test_a_tokenizer_is_made_once(tok: pw.Tokenizer) -> None:
    with pytest.raises(TypeError, match="immutable"):
        tok.__init__(pw.spec.Char({"[UNK]": 0}))  # type: ignore[misc]


def test_a_field_is_computed_once(tok: pw.Tokenizer) -> None:
    encoding = tok.encode("hugs")
    assert encoding.tokens is encoding.tokens
    assert encoding.byte_offsets is encoding.byte_offsets
    assert copy.copy(encoding).tokens == encoding.tokens


def test_encodings_can_be_extended(tok: pw.Tokenizer) -> None:
    class Counted(pw.Encoding):
        @property
        def count(self) -> int:
            return len(self.tokens)

    counted = Counted(*tok.encode("hugs").__reduce__()[1])
    assert (counted.count, counted.ids) == (4, tok.encode("hugs").ids)


def test_vocabulary_look_ups(tok: pw.Tokenizer) -> None:
    assert tok.token_to_id("hug") == 4
    assert tok.token_to_id("nope") is None
    assert tok.id_to_token(5) == "##s"
    assert tok.id_to_token(99) is tok.id_to_token(-1) is None
    assert list(tok.get_vocab().items()) == [(token, id) for id, token in enumerate(VOCAB)]
    assert tok.get_vocab_size() == len(VOCAB)


def test_threads_share_one_tokenizer(tok: pw.Tokenizer) -> None:
    texts = ["unbelievable hugs, pug"] * 500
    expected = tok.encode_batch(texts).ids.tolist()
    results: list[list[int]] = []
    threads = [
        threading.Thread(target=lambda: results.append(tok.encode_batch(texts).ids.tolist()))
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [expected] * 8


@POSIX
@pytest.mark.filterwarnings("ignore:This process.*is multi-threaded:DeprecationWarning")
def test_a_forked_child_encodes(tok: pw.Tokenizer) -> None:
    texts = ["unbelievable hugs"] * 20_000
    expected = tok.encode_batch(texts, num_threads=4).ids.tolist()
    child = os.fork()
    if child == 0:
        same = tok.encode_batch(texts, num_threads=4).ids.tolist() == expected
        os._exit(0 if same else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_the_gil_is_released_while_encoding(tok: pw.Tokenizer) -> None:
    texts = ["unbelievable hugs, pug " * 400] * 100
    calls, others = [], []

    def encode_until_others_run() -> None:
        while not others and len(calls) < 1000:
            tok.encode_batch(texts, num_threads=1)
            calls.append("one more")

    # Nobody is made to give the GIL up before the end: others run only if it is released.
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1000)
    try:
        encoder = threading.Thread(target=encode_until_others_run)
        encoder.start()
        others.append("this thread")
        encoder.join()
    finally:
        sys.setswitchinterval(interval)
    assert len(calls) < 1000


# ---- bad input


def test_a_batch_item_that_is_not_a_string_is_named(tok: pw.Tokenizer) -> None:
    with pytest.raises(InputTypeError, match=r"texts\[1\]: must be str, not int"):
        tok.encode_batch(["a", 5])
    with pytest.raises(InputTypeError, match=r"pairs\[0\]: must be str, not NoneType"):
        tok.encode_batch(["a"], [None])
    with pytest.raises(InputTypeError, match="texts: must be a sequence of str.*, not str"):
        tok.encode_batch("hugs")
    with pytest.raises(InputTypeError, match="text: must be str, not bytes"):
        tok.encode(b"hugs")
    with pytest.raises(ArgumentError, match="pairs: must be 1.*, not 2 items"):
        tok.encode_batch(["a"], ["b", "c"])


def test_a_lone_surrogate_is_named(tok: pw.Tokenizer) -> None:
    with pytest.raises(ArgumentError, match=r"texts\[1\]: must be .*, not a lone surrogate"):
        tok.encode_batch(["a", "b\ud800"])


def test_invalid_ids_are_named(tok: pw.Tokenizer) -> None:
    with pytest.raises(ArgumentError, match=r"ids\[1\]: must be .*, not -1"):
        tok.decode([1, -1])
    with pytest.raises(InputTypeError, match=r"ids\[0\]: must be .*, not str"):
        tok.decode(["hug"])
    with pytest.raises(InputTypeError, match="ids: must be .*, not str"):
        tok.decode("hug")
    with pytest.raises(ArgumentError, match=r"batch\[1\]\[0\]"):
        tok.decode_batch([[1], [2**40]])


def test_invalid_settings_are_named(tok: pw.Tokenizer) -> None:
    with pytest.raises(ArgumentError, match="num_threads: must be .*, not 0"):
        tok.encode_batch(["a"], num_threads=0)
    with pytest.raises(ArgumentError, match=r"truncation\.max_length: must be at least 2.*, not 1"):
        tok.with_truncation(1)
    with pytest.raises(ArgumentError, match=r"truncation\.stride: must be .*, not 2"):
        tok.with_truncation(4, stride=2)
    with pytest.raises(ArgumentError, match="strategy"):
        tok.with_truncation(4, strategy="longest")
    with pytest.raises(
        ArgumentError, match=r"padding\.strategy\.Fixed: must be .*, not 4294967295"
    ):
        tok.with_padding(2**32 - 1)
    with pytest.raises(
        ArgumentError,
        match=r"pad_token: the vocabulary has no token '\[HOLE\]'; with_added_tokens\(\['\[HOLE\]'\],",
    ):
        tok.with_padding(pad_token="[HOLE]")
    assert tok.with_padding(3, pad_token="[HOLE]", pad_id=0).encode("").ids[-1] == 0
    with pytest.raises(VocabularyError, match="twice"):
        pw.Tokenizer(pw.spec.WordPiece({"[UNK]": 0, "a": 0}))


def test_a_pair_needs_room_for_the_special_tokens_of_a_pair(tok: pw.Tokenizer) -> None:
    short = tok.with_truncation(2)
    assert short.encode("hug").tokens == ["[CLS]", "[SEP]"]
    for encode in (
        lambda: short.encode("hug", "pug"),
        lambda: short.encode_batch(["hug"], ["pug"]),
        lambda: short.encode_batch(["hug"], ["pug"], offsets=True),
    ):
        with pytest.raises(
            ArgumentError, match=r"truncation\.max_length: must be at least 3.*, not 2"
        ):
            encode()
    assert len(short.encode("hug", "pug", add_special_tokens=False).ids) == 2


def test_added_tokens_far_above_the_vocabulary_are_refused(tok: pw.Tokenizer) -> None:
    """Tables have a cell for each id, used or not."""
    document = json.loads(tok.to_str())
    far = {**document["added_tokens"][0], "content": "<far>", "id": 2**28 - 1}
    document["added_tokens"].append(far)
    with pytest.raises(VocabularyError, match=r"id 268435455, expected an id up to 1000"):
        pw.Tokenizer.from_str(json.dumps(document))
    far["id"] = 1_000_000
    placed = pw.Tokenizer.from_str(json.dumps(document))
    assert placed.decode([1_000_000], skip_special_tokens=False) == "<far>"


def test_windows_that_would_fill_the_memory_are_refused(tok: pw.Tokenizer) -> None:
    cut = tok.with_truncation(1002, stride=999)
    first = cut.encode("hug " * 200_000)
    assert len(first) == 1002
    with pytest.raises(
        ArgumentError, match=r"truncation\.stride: must be .*, not 999, by which 200000 tokens"
    ):
        _ = first.overflowing
    with pytest.raises(ArgumentError, match=r"truncation\.stride: must be .*, not 999"):
        cut.encode_batch(["hug " * 200_000], overflow=True)


@pytest.mark.parametrize(
    "text",
    [
        "a" * 3_000_000,
        "a " * 1_000_000,
        "\u0301" * 1_000_000,
        "漢" * 1_000_000,
        "\x00" * 3_000_000,
        "." * 1_000_000,
        "é" * 1_000_000,
        "[" * 1_000_000,
        "[CLS" * 500_000,
    ],
    ids=["letter", "words", "marks", "cjk", "nul", "dots", "accents", "brackets", "almost-special"],
)
@pytest.mark.parametrize("unk", ["word", "char"])
@pytest.mark.parametrize("segmentation", ["greedy", "shortest"])
def test_megabytes_of_one_thing_end_soon(text: str, unk: str, segmentation: str) -> None:
    vocab = {"[UNK]": 0, "[CLS]": 1, "a": 2, "##a": 3, "##aaaa": 4, ".": 5, "漢": 6}
    tokenizer = pw.Tokenizer(
        pw.spec.WordPiece(
            vocab, unk=unk, segmentation=segmentation, max_input_chars_per_word=10**9
        ),
        normalizer=pw.spec.BertNormalizer(),
        pre_tokenizer=pw.spec.BertPreTokenizer(),
        added_tokens=[pw.spec.AddedToken("[CLS]", 1)],
    )
    assert tokenizer.count(text) == len(tokenizer.encode(text))


def test_the_extension_says_what_unicode_it_knows() -> None:
    assert UNICODE_VERSION == "categories 8.0, normal forms 9.0, lowercase 17.0"
