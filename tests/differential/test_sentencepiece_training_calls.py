"""Training is called as `sentencepiece` is called, and what it learns is as there where that is promised."""

from __future__ import annotations

import ast
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from piecework import PieceworkError
from piecework.compat.sentencepiece import SentencePieceProcessor, SentencePieceTrainer
from tests.differential.test_sentencepiece_training import fields_of

sentencepiece = pytest.importorskip("sentencepiece")

SENTENCES = [
    "The quick brown fox jumps over the lazy dog.",
    "In 1984 she sold sea shells by the sea shore; 3.14 is pi.",
    "Ünïcödé wörds, naïve café, straße and <x> symbols <y>",
    "aaaa abababab banana bananas bandana bandanas an and ant ants",
] * 12
TRAINERS = [SentencePieceTrainer, sentencepiece.SentencePieceTrainer]


def learned(trainer: Any, **options: Any) -> list[tuple[str, float]]:
    model = io.BytesIO()
    settings = {"vocab_size": 120, "model_type": "bpe", "minloglevel": 2, **options}
    trainer.train(sentence_iterator=iter(SENTENCES), model_writer=model, **settings)
    return pieces(SentencePieceProcessor(model_proto=model.getvalue()))


def pieces(sp: SentencePieceProcessor) -> list[tuple[str, float]]:
    ids = list(range(len(sp)))
    return list(zip(sp.id_to_piece(ids), sp.get_score(ids), strict=True))


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"vocab_size": "130", "split_digits": "true"},
        {"user_defined_symbols": "<x>,<y>", "control_symbols": ["<c>", "<d>"]},
        {"user_defined_symbols": ["<x>", "\n"], "character_coverage": "0.98"},
        {"byte_fallback": True, "vocab_size": 330, "pad_id": 3},
        {"byte_fallback": "yes", "vocab_size": 330, "bos_id": "-1", "unk_surface": "?"},
        {"model_type": "char", "normalization_rule_name": "nfkc_cf"},
        {"model_type": "word", "hard_vocab_limit": False, "vocab_size": 90},
        {"add_dummy_prefix": False, "treat_whitespace_as_suffix": True},
        {"num_threads": 2, "train_extremely_large_corpus": False},
    ],
    ids=str,
)
def test_training_by_keyword_options_gives_the_same_model(options: dict[str, Any]) -> None:
    ours, theirs = (learned(trainer, **options) for trainer in TRAINERS)
    assert ours == theirs


@pytest.mark.parametrize(
    "more", ["", "--split_digits", "--user_defined_symbols=<x>,<y> --eos_id=-1"]
)
def test_training_by_a_string_of_options_gives_the_same_files(more: str, tmp_path: Path) -> None:
    corpus = tmp_path / "corpus.txt"
    corpus.write_text("\n".join(SENTENCES))
    files = []
    for name, trainer in zip(("ours", "theirs"), TRAINERS, strict=True):
        prefix = tmp_path / name
        call = trainer.Train if name == "ours" else trainer.train
        call(
            f"--input={corpus},{corpus} --model_prefix={prefix} --vocab_size=120 --minloglevel=2"
            f" --model_type=bpe {more}".rstrip()
        )
        sp = SentencePieceProcessor(model_file=f"{prefix}.model")
        files.append((pieces(sp), Path(f"{prefix}.vocab").read_bytes()))
    assert files[0] == files[1]


def test_options_as_one_text_and_by_name_give_the_same(tmp_path: Path) -> None:
    corpus = tmp_path / "corpus.txt"
    corpus.write_text("\n".join(SENTENCES))
    options = f"--input={corpus} --model_prefix={tmp_path}/a --vocab_size=120"
    SentencePieceTrainer.train(options)
    SentencePieceTrainer.train(input=[str(corpus)], model_prefix=tmp_path / "b", vocab_size=120)
    a, b = ((tmp_path / f"{name}.model").read_bytes() for name in "ab")
    assert a == b
    sentences = iter([f"{sentence}\r\n".encode() for sentence in SENTENCES])
    model = io.BytesIO()
    SentencePieceTrainer.train(sentence_iterator=sentences, model_writer=model, vocab_size=120)
    assert model.getvalue() == a


WRONG: list[tuple[str, Callable[[Any, Any], Any], str]] = [
    ("an unknown option", lambda t, m: t.train(input="x", model_writer=m, foo=1), "foo"),
    ("no number", lambda t, m: t.train(input="x", model_writer=m, vocab_size="x"), "vocab_size"),
    (
        "no truth",
        lambda t, m: t.train(input="x", model_writer=m, split_digits="maybe"),
        "split_digits",
    ),
    (
        "an unknown type",
        lambda t, m: t.train("--input=x --model_prefix=y --model_type=z"),
        "model_type",
    ),
    ("nowhere to write", lambda t, m: t.train(input="x"), "model_prefix"),
    (
        "two places",
        lambda t, m: t.train(input="x", model_writer=m, model_prefix="p"),
        "model_prefix",
    ),
    ("nothing to read", lambda t, m: t.train(model_writer=m), "input"),
    (
        "two inputs",
        lambda t, m: t.train(input="x", sentence_iterator=iter("a"), model_writer=m),
        "input",
    ),
    ("no file", lambda t, m: t.train(input="/no/such/file", model_writer=m), "/no/such/file"),
    ("no text", lambda t, m: t.train(sentence_iterator=iter(["a", 3]), model_writer=m), r"\[1\]"),
    (
        "more than there is",
        lambda t, m: t.train(sentence_iterator=iter(["a b"]), model_writer=m, vocab_size=999),
        "vocab_size",
    ),
]


@pytest.mark.parametrize(("call", "place"), [w[1:] for w in WRONG], ids=[w[0] for w in WRONG])
def test_a_call_that_sentencepiece_rejects_is_an_error_here_too(
    call: Callable[[Any, Any], Any], place: str
) -> None:
    with pytest.raises((RuntimeError, ValueError, OSError)):
        call(sentencepiece.SentencePieceTrainer, io.BytesIO())
    with pytest.raises(PieceworkError, match=place):
        call(SentencePieceTrainer, io.BytesIO())


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("mining_sentence_size", 7),
        ("training_sentence_size", 7),
        ("train_extremely_large_corpus", True),
        ("enable_differential_privacy", False),
        ("differential_privacy_noise_level", 0.0),
        ("auto_character_coverage", "false"),
        ("input_format", ""),
        ("input_format", "text"),
    ],
)
def test_options_without_effect_are_accepted(option: str, value: object) -> None:
    expected = learned(SentencePieceTrainer)
    assert learned(SentencePieceTrainer, **{option: value}) == expected
    assert learned(sentencepiece.SentencePieceTrainer, **{option: value}) == expected


# Of these 0.2.3 follows the first here; those of `spm_train` alone it refuses, and ignores privacy.
@pytest.mark.parametrize(
    "option",
    [
        {"auto_character_coverage": True},
        {"use_sparse_pruning": True},
        {"min_freq_alpha": 0.5},
        {"seed_piece_length_power": 0.5},
        {"enable_differential_privacy": "true"},
        {"differential_privacy_noise_level": 0.1},
        {"differential_privacy_clipping_threshold": 3},
        {"pretokenizer": str.split},
    ],
    ids=str,
)
def test_options_that_are_not_followed_are_refused(option: dict[str, Any]) -> None:
    with pytest.raises(
        PieceworkError, match=rf"^{next(iter(option))}: is not supported; leave it out"
    ):
        learned(SentencePieceTrainer, **option)


def settings_of_theirs() -> list[str]:
    """Name the fields of the trainer's and the normalizer's settings in their schema."""
    source = Path(sentencepiece.__file__).with_name("sentencepiece_model_pb2.py").read_text()
    literals = [
        node.value for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Constant)
    ]
    schema = max((value for value in literals if isinstance(value, bytes)), key=len)
    messages = {m[1][0].decode(): m for m in map(fields_of, fields_of(schema)[4])}
    of_both = [*messages["TrainerSpec"][2], *messages["NormalizerSpec"][2]]
    return [fields_of(field)[1][0].decode() for field in of_both]


def test_every_setting_of_their_schema_is_known() -> None:
    names = set(settings_of_theirs()) - {"name", "precompiled_charsmap"}
    assert {"vocab_size", "seed_sentencepieces_file", "escape_whitespaces"} <= names
    found = {name: refusal(name) for name in names}
    assert [name for name, error in found.items() if f"has no option {name}" in error] == []


def refusal(name: str) -> str:
    try:
        learned(SentencePieceTrainer, **{name: "?"})
    except PieceworkError as error:
        return str(error)
    return ""
