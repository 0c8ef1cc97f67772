"""The SentencePiece-shaped API gives what `sentencepiece` gives: every call, on published and trained models.

What only earlier versions of theirs have is asked of the calls of 0.2.3 that say the same.
"""

from __future__ import annotations

import itertools
import math
import os
import pickle
import random
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from piecework import PieceworkError
from piecework.compat.sentencepiece import (
    SentencePieceProcessor,
    set_random_generator_seed,
)
from piecework.errors import ArgumentError
from tests.differential.test_sentencepiece import (
    COMBINATIONS,
    CORPUS,
    HARD_TEXTS,
    MODELS,
    refused,
    trained,
)
from tests.differential.wire import fields

sentencepiece = pytest.importorskip("sentencepiece")

FULL = bool(os.environ.get("PIECEWORK_FULL"))
TEXTS = [*HARD_TEXTS, *CORPUS[:6]]
ENCODE_TYPES = (int, str, bytes, "offset_mapping")
DECODE_TYPES = (str, bytes, "offset_mapping")
EXTRAS = ("add_bos", "add_eos", "reverse", "emit_unk_piece")


def both(data: bytes) -> tuple[SentencePieceProcessor, Any]:
    theirs = sentencepiece.SentencePieceProcessor(model_proto=data)
    return SentencePieceProcessor(model_proto=data), theirs


def models() -> list[Any]:
    def trained_one(kind: str, rules: str, flags: int) -> Callable[[], bytes]:
        return lambda: trained(kind, rules, flags)

    step = 1 if FULL else 9
    made = [
        pytest.param(trained_one(*one), id="-".join(map(str, one))) for one in COMBINATIONS[::step]
    ]
    published = [
        pytest.param(path.read_bytes, id=f"{path.parent.name}-{path.name}")
        for path in MODELS[:: 1 if FULL else 4]
    ]
    return made + published


@pytest.fixture(params=models())
def pair(request: pytest.FixtureRequest) -> tuple[SentencePieceProcessor, Any]:
    try:
        return both(request.param())
    except (RuntimeError, OSError) as error:
        pytest.skip(f"sentencepiece does not train this: {error}")


def texts_for(theirs: Any, texts: list[str] = TEXTS) -> list[str]:
    return [text for text in texts if not refused(theirs, text)]


def assert_equal(
    pair: tuple[SentencePieceProcessor, Any], call: Callable[[Any], Any], about: object
) -> None:
    ours, theirs = (outcome(call, one) for one in pair)
    assert ours == theirs, f"{about!r}"


def outcome(call: Callable[[Any], Any], processor: Any) -> Any:
    """Return what a call gives, or that it fails."""
    try:
        return call(processor)
    except (RuntimeError, ValueError, TypeError, IndexError):
        return "refused"


# ---- protos, read as the fields they have


def text_proto(data: bytes) -> dict[str, Any]:
    """Read a SentencePieceText; a surface that is not written is empty."""
    found = list(fields(data))
    pieces = [{3: b"", **dict(fields(value))} for key, value in found if key == 2]
    return {"pieces": pieces, **{str(key): value for key, value in found if key != 2}}


def test_protos_have_the_same_fields(pair: tuple[SentencePieceProcessor, Any]) -> None:
    for text in texts_for(pair[1]):
        assert_equal(
            pair,
            lambda sp, text=text: text_proto(sp.encode(text, out_type="serialized_proto")),
            text,
        )
        ids = pair[1].encode(text)
        assert pair[0].decode(ids, "serialized_proto") == pair[1].decode(
            ids, return_type="serialized_proto"
        )


@pytest.mark.slow
def test_protos_of_all_kinds_agree(pair: tuple[SentencePieceProcessor, Any]) -> None:
    """Spans of the immutable proto count characters, the others bytes."""
    ours = pair[0]
    for text in texts_for(pair[1]):
        proto, immutable = ours.encode_as_proto(text), ours.encode_as_immutable_proto(text)
        assert proto.SerializeToString() == ours.encode_as_serialized_proto(text)
        assert immutable.SerializeAsString() == proto.SerializeToString()
        mapping = pair[1].encode(text, return_type="offset_mapping")
        assert [(one.begin, one.end) for one in immutable.pieces] == mapping["offsets"]
        assert [one.id for one in proto.pieces] == mapping["ids"]
        assert [one.piece for one in immutable.pieces] == mapping["pieces"]
        for one in immutable.pieces:
            assert one.surface == text[one.begin : one.end]
        assert immutable.text == proto.text == text
        assert immutable.score == 0.0


# ---- encoding


def test_encode_returns_every_type(pair: tuple[SentencePieceProcessor, Any]) -> None:
    texts = texts_for(pair[1])
    for out_type in ENCODE_TYPES:
        for text in texts:
            assert_equal(pair, lambda sp, t=text, o=out_type: sp.encode(t, return_type=o), text)
            data = text.encode()
            assert_equal(pair, lambda sp, t=data, o=out_type: sp.encode(t, return_type=o), data)
        assert_equal(pair, lambda sp, o=out_type: sp.encode(texts, return_type=o), out_type)
        assert_equal(pair, lambda sp, o=out_type: sp.encode([], return_type=o), out_type)
    for ours, theirs in zip(*(sp.encode_as_numpy(texts) for sp in pair), strict=True):
        assert ours.dtype == theirs.dtype
        assert ours.tolist() == theirs.tolist()


def test_options_for_bos_eos_and_reverse_give_the_same_pieces(
    pair: tuple[SentencePieceProcessor, Any],
) -> None:
    texts = texts_for(pair[1])[::3]
    for wanted in itertools.product((False, True), repeat=4):
        options = dict(zip(EXTRAS, wanted, strict=True))
        for out_type in (int, str):
            assert_equal(
                pair, lambda sp, o=out_type, w=options: sp.encode(texts, out_type=o, **w), options
            )


def test_encoding_in_parallel_gives_the_same_results(
    pair: tuple[SentencePieceProcessor, Any],
) -> None:
    """Theirs, of parts that are segmented apart, may decide ties otherwise than their `encode`."""
    ours, theirs = pair
    for text in texts_for(theirs, [*CORPUS[:6], " ".join(CORPUS)]):
        found = ours.parallel_encode_as_ids(text, chunk_len=64, num_threads=2)
        assert found == theirs.encode(text)
        if len(text) < 64:
            assert found == theirs.parallel_encode_as_ids(text, chunk_len=64, num_threads=2)


def test_methods_have_names_in_both_spellings(pair: tuple[SentencePieceProcessor, Any]) -> None:
    for sp in pair:
        for name in ("Encode", "Tokenize", "tokenize", "EncodeAsIds", "encode_as_ids"):
            assert getattr(sp, name)("a fox") == pair[1].encode("a fox")
        assert sp.EncodeAsPieces("a fox") == pair[1].encode("a fox", out_type=str)
        assert sp.Decode(sp.EncodeAsIds("a fox")) == sp.detokenize(sp.encode("a fox"))


def test_every_public_name_of_sentencepiece_exists() -> None:
    names = {name for name in dir(sentencepiece.SentencePieceProcessor) if name[0] != "_"}
    assert names - set(dir(SentencePieceProcessor)) == set()


# ---- decoding


@pytest.mark.slow
def test_decode_returns_every_type_for_ids_and_pieces(
    pair: tuple[SentencePieceProcessor, Any],
) -> None:
    theirs = pair[1]
    rng = random.Random(3)
    rows: list[Any] = [[], [""], ["▁foo🤗", "<unk>", "<s>", "bar"], ["<0x41>", "<0xF0>", "a", "▁"]]
    for text in texts_for(theirs):
        ids, pieces = theirs.encode(text), theirs.encode(text, out_type=str)
        rows += [ids, pieces, ids[::-1], pieces[::-1], [piece.encode() for piece in pieces]]
    size = theirs.get_piece_size()
    rows += [[rng.randrange(size) for _ in range(rng.randrange(9))] for _ in range(200)]
    rows += [[rng.randrange(min(300, size)) for _ in range(rng.randrange(9))] for _ in range(200)]
    for row in rows:
        for out_type in DECODE_TYPES:
            assert_equal(pair, lambda sp, r=row, o=out_type: sp.decode(r, return_type=o), row)
    assert_equal(pair, lambda sp: sp.decode([row for row in rows if row and row[0] == 3]), "batch")
    for row in (
        5,
        None,
        "",
        "▁This",
        b"This",
        (5, 6),
        [[]],
        [[], [5, 6]],
        [["▁a"], []],
        [[5], [6, 7]],
    ):
        assert_equal(pair, lambda sp, r=row: sp.decode(r), row)


# ---- the vocabulary and the normalizer


def test_properties_of_every_piece_are_equal(pair: tuple[SentencePieceProcessor, Any]) -> None:
    theirs = pair[1]
    ids = list(range(len(theirs)))
    pieces = [*theirs.id_to_piece(ids), "no such piece", ""]
    for name in ("id_to_piece", "get_score", "is_unknown", "is_control", "is_unused", "is_byte"):
        assert_equal(pair, lambda sp, n=name: getattr(sp, n)(ids), name)
        assert_equal(pair, lambda sp, n=name: getattr(sp, n)(3), name)
    assert_equal(pair, lambda sp: sp.piece_to_id(pieces), "piece_to_id")
    assert_equal(pair, lambda sp: [sp[pieces[5]], sp.piece_to_id(pieces[5].encode())], "one")
    for name in ("unk_id", "bos_id", "eos_id", "pad_id", "get_piece_size", "vocab_size", "__len__"):
        assert_equal(pair, lambda sp, n=name: getattr(sp, n)(), name)


def test_normalized_texts_and_offsets_are_equal(pair: tuple[SentencePieceProcessor, Any]) -> None:
    for text in TEXTS:
        assert_equal(pair, lambda sp, t=text: sp.normalize(t), text)
        assert_equal(pair, lambda sp, t=text: sp.normalize(t, with_offsets=True), text)
        # Where nothing is left, theirs are none or one.
        if pair[1].normalize(text):
            data = text.encode()
            assert_equal(pair, lambda sp, d=data: sp.normalize(d, with_offsets=True), text)
    assert_equal(pair, lambda sp: sp.normalize(TEXTS), "batch")


def test_a_processor_pickles_with_its_settings(pair: tuple[SentencePieceProcessor, Any]) -> None:
    data = pair[1].serialized_model_proto()
    ours = SentencePieceProcessor(model_proto=data, out_type=str, reverse=True)
    again = pickle.loads(pickle.dumps(ours))
    assert (
        again.encode("a fox")
        == ours.encode("a fox")
        == pair[1].encode("a fox", out_type=str, reverse=True)
    )
    assert again.serialized_model_proto() == data


# ---- any text


@pytest.fixture(scope="module")
def hypothesis_pairs() -> list[tuple[SentencePieceProcessor, Any]]:
    made = [
        both(trained(kind, "nmt_nfkc", flags)) for kind in ("unigram", "bpe") for flags in (1, 5)
    ]
    return made + [both(path.read_bytes()) for path in MODELS[4:6]]


@settings(max_examples=2000 if FULL else 60)
@given(
    text=st.text(st.one_of(st.characters(codec="utf-8"), st.sampled_from("ab <x>▁\0é漢 \ufffd")))
)
def test_random_texts_give_the_same_results(
    text: str, hypothesis_pairs: list[tuple[SentencePieceProcessor, Any]]
) -> None:
    for pair in hypothesis_pairs:
        for given_text in (text, text.encode()):
            for out_type in ENCODE_TYPES:
                arguments = {"input": given_text, "return_type": out_type}
                assert_equal(pair, lambda sp, a=arguments: sp.encode(**a), text)
        pieces = pair[1].encode(text, out_type=str)
        assert_equal(pair, lambda sp: sp.decode(pieces, return_type="offset_mapping"), text)  # noqa: B023
        assert_equal(pair, lambda sp: sp.normalize(text, with_offsets=True), text)


# ---- what both refuse

WRONG: list[tuple[str, Callable[[Any], Any], type[Exception]]] = [
    ("a text that is none", lambda sp: sp.encode(3), TypeError),
    ("a batch item that is none", lambda sp: sp.encode(["a", 3]), TypeError),
    ("a tuple of texts", lambda sp: sp.encode(("a", "b")), TypeError),
    ("an unknown out_type", lambda sp: sp.encode("a", out_type="foo"), ValueError),
    ("two out_types", lambda sp: sp.encode("a", out_type=int, return_type=int), ValueError),
    ("no number of threads", lambda sp: sp.encode("a", num_threads="x"), TypeError),
    ("an unknown option", lambda sp: sp.encode("a", foo=1), TypeError),
    (
        "sampling from one",
        lambda sp: sp.encode("a", enable_sampling=True, nbest_size=1),
        ValueError,
    ),
    ("return_bytes of ids", lambda sp: sp.encode("a", return_bytes=True), ValueError),
    ("ids for text", lambda sp: sp.decode([3], return_type=int), ValueError),
    ("an id below 0", lambda sp: sp.id_to_piece(-1), IndexError),
    ("an id too high", lambda sp: sp.id_to_piece([1, 10**6]), IndexError),
    ("an id too high to decode", lambda sp: sp.decode([10**6]), IndexError),
    ("a piece among ids", lambda sp: sp.decode([3, "a"]), TypeError),
    ("an id among pieces", lambda sp: sp.decode(["a", 3]), TypeError),
    ("a float among ids", lambda sp: sp.decode([1.5]), TypeError),
    ("a piece that is none", lambda sp: sp.piece_to_id(3), TypeError),
    ("a text to normalize that is none", lambda sp: sp.normalize(3), TypeError),
    ("no model", lambda sp: sp.load(), ValueError),
    ("two models", lambda sp: sp.load("a", b"b"), ValueError),
    ("chunks of nothing", lambda sp: sp.parallel_encode("a", chunk_len=0), ValueError),
]


@pytest.mark.parametrize(("call", "kind"), [w[1:] for w in WRONG], ids=[w[0] for w in WRONG])
def test_a_call_that_sentencepiece_rejects_is_an_error_here_too(
    call: Callable[[Any], Any], kind: type[Exception]
) -> None:
    ours, theirs = both(trained("unigram", "nmt_nfkc", 0))
    with pytest.raises(kind):
        call(theirs)
    with pytest.raises(kind) as raised:
        call(ours)
    assert isinstance(raised.value, PieceworkError)


@pytest.mark.parametrize("alpha", [0.0, 0.5])
@pytest.mark.parametrize("model_type", ["word", "char"])
def test_word_and_char_models_refuse_to_sample(model_type: str, alpha: float) -> None:
    ours, theirs = both(trained(model_type, "nmt_nfkc", 0))
    with pytest.raises(RuntimeError):
        theirs.encode("a", enable_sampling=True, alpha=alpha)
    with pytest.raises(
        ArgumentError, match=f"enable_sampling: True needs .*, not a {model_type} model"
    ):
        ours.encode("a", enable_sampling=True, alpha=alpha)


@pytest.mark.parametrize(
    "call",
    [
        lambda sp: sp.encode("a", out_type="serialized_proto", add_bos=True),
        lambda sp: type(sp)().encode("a"),
        lambda sp: type(sp)(model_file="no such file"),
        lambda sp: type(sp)(model_proto=b"xx"),
        lambda sp: sp.encode("\ud800"),
    ],
)
def test_errors_are_typed_where_sentencepiece_raises_runtime_error(
    call: Callable[[Any], Any],
) -> None:
    ours, theirs = both(trained("unigram", "nmt_nfkc", 0))
    with pytest.raises(RuntimeError):
        call(theirs)
    with pytest.raises(PieceworkError):
        call(ours)


def test_an_error_names_the_missing_bos_or_eos_piece() -> None:
    ours, theirs = both(trained("unigram", "nmt_nfkc", 9))
    with pytest.raises(ValueError, match="BOS token is not defined"):
        theirs.encode("a", add_bos=True)
    with pytest.raises(PieceworkError, match="add_bos"):
        ours.encode("a", add_bos=True)
    with pytest.raises(PieceworkError, match="'bos' needs a model with the piece '<s>'"):
        ours.set_encode_extra_options("bos")


# ---- several segmentations


def test_nbest_lists_are_in_the_same_order(pair: tuple[SentencePieceProcessor, Any]) -> None:
    for text in texts_for(pair[1]):
        if len(text) > 500:
            continue
        for out_type in (int, str, bytes):
            arguments = {"nbest_size": 7, "return_type": out_type}
            assert_equal(pair, lambda sp, t=text, a=arguments: sp.nbest_encode(t, **a), text)

        def protos(sp: Any, text: str = text) -> list[dict[str, Any]]:
            data = sp.nbest_encode(text, nbest_size=5, return_type="serialized_proto")
            return [text_proto(value) for _, value in fields(data)]

        assert_equal(pair, protos, text)
    assert_equal(pair, lambda sp: sp.nbest_encode(["a fox", "an ant"], nbest_size=3), "batch")
    assert_equal(pair, lambda sp: sp.nbest_encode_as_ids("a fox", 3, add_bos=True), "bos")
    assert_equal(pair, lambda sp: sp.nbest_encode_as_pieces("a fox", -1, reverse=True), "one")
    assert_equal(
        pair, lambda sp: [row.tolist() for row in sp.nbest_encode_as_numpy("a fox", 3)], "numpy"
    )


@pytest.mark.parametrize("nbest_size", [-1, 6])
def test_samples_are_segmentations_of_the_nbest_list(nbest_size: int) -> None:
    ours, theirs = both(trained("unigram", "nmt_nfkc", 0))
    text = "banana fox漢"
    possible = {
        tuple(row) for row in theirs.nbest_encode_as_ids(text, 512 if nbest_size < 0 else 6)
    }
    set_random_generator_seed(5)
    drawn = [ours.sample_encode_as_ids(text, nbest_size, 0.2) for _ in range(50)]
    set_random_generator_seed(5)
    assert ours.encode([text], enable_sampling=True, nbest_size=nbest_size, alpha=0.2) == [drawn[0]]
    assert len({tuple(row) for row in drawn}) > 1
    assert {tuple(row) for row in drawn} <= possible
    for row, pieces, proto in (
        (
            ours.sample_encode_as_ids(text, nbest_size, 0.2),
            ours.sample_encode_as_pieces(text, nbest_size, 0.2),
            ours.sample_encode_as_immutable_proto(text, nbest_size, 0.2),
        )
        for _ in range(20)
    ):
        assert "".join(pieces) == theirs.normalize(text)
        assert tuple(ours.piece_to_id(pieces)) in possible
        assert "".join(one.surface for one in proto.pieces) == text
        assert ours.decode(row) == theirs.decode(row)


def test_sampling_bpe_drops_merges() -> None:
    ours, theirs = both(trained("bpe", "nmt_nfkc", 0))
    assert ours.sample_encode_as_pieces("banana", -1, 1.5) == theirs.sample_encode_as_pieces(
        "banana", -1, 1.5
    )
    assert ours.sample_encode_as_ids("banana", 5, 0.0) == theirs.encode("banana")
    assert len({tuple(ours.sample_encode_as_ids("banana", -1, 0.5)) for _ in range(50)}) > 3


@pytest.mark.parametrize("kind", ["bpe", "word", "char"])
def test_models_without_scores_have_no_nbest_and_no_entropy(kind: str) -> None:
    ours, theirs = both(trained(kind, "nmt_nfkc", 0))
    with pytest.raises(RuntimeError):
        theirs.nbest_encode_as_ids("a", 3)
    for call in (
        lambda: ours.nbest_encode_as_ids("a", 3),
        lambda: ours.sample_encode_and_score("a"),
        lambda: ours.calculate_entropy("a"),
    ):
        with pytest.raises(PieceworkError, match="model"):
            call()
    if kind != "bpe":
        with pytest.raises(RuntimeError):
            theirs.sample_encode_as_ids("a", -1, 0.1)
        with pytest.raises(PieceworkError, match="sampling"):
            ours.sample_encode_as_ids("a", -1, 0.1)


def test_scores_of_samples_are_their_log_probabilities() -> None:
    ours, theirs = both(trained("unigram", "nmt_nfkc", 0))
    text = "an ant"
    listed = theirs.nbest_encode(text, nbest_size=512, return_type="serialized_proto")
    scores = {
        tuple(piece[2] for piece in proto["pieces"]): proto["3"]
        for proto in (text_proto(value) for _, value in fields(listed))
    }
    assert len(scores) < 512
    total = math.log(sum(math.exp(0.5 * score) for score in scores.values()))
    for ids, log_share in ours.sample_encode_and_score(text, num_samples=20, alpha=0.5):
        assert log_share == pytest.approx(0.5 * scores[tuple(ids)] - total, abs=1e-3)
    shares = [0.5 * score - total for score in scores.values()]
    assert ours.calculate_entropy([text], 0.5) == pytest.approx(
        [-sum(share * math.exp(share) for share in shares)], abs=1e-3
    )
    apart = ours.sample_encode_and_score(
        text, num_samples=5, alpha=0.5, wor=True, include_best=True
    )
    assert apart[0][0] == theirs.encode(text)
    assert len({tuple(ids) for ids, _ in apart}) == 5
    assert all(log_inclusion <= 0 for _, log_inclusion in apart)
    protos = ours.sample_encode_and_score_as_immutable_proto(text, num_samples=2)
    assert [one.text for one in protos.nbests] == [text, text]
    assert all(one.score < 0 for one in protos.nbests)
