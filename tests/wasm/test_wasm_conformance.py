"""The WebAssembly module gives the ids, spans and texts of the package on all conformance cases."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

import piecework as pw
from piecework.spec import (
    BertNormalizer,
    BertPreTokenizer,
    FixedLength,
    TokenizerSpec,
    Unigram,
    WordLevel,
    WordPiece,
    WordPieceDecoder,
)
from piecework.spec.pre_tokenizers import pre_tokenizer_from_json
from tests.case_files import read_cases
from tests.component_cases import examples
from tests.component_engines import numbered
from tests.project.test_conformance import KINDS, spec_of
from tests.wasm.module import answers, of_tokenizer


class Case(NamedTuple):
    """A tokenizer with a text to encode, or with ids to decode."""

    name: str
    spec: TokenizerSpec
    text: str = ""
    special: bool = False
    ids: list[int] | None = None


def all_cases() -> Iterator[Case]:
    """Yield the cases of all files that encode or decode."""
    for case in read_cases("encoding.toml")["case"]:
        for example in case["examples"]:
            text = (
                example["text"]
                if "text" in example
                else "".join([example["repeat"][0] * example["repeat"][1]])
            )
            yield Case(case["name"], spec_of(case), text, example.get("add_special_tokens", False))
    for case in read_cases("bert_words.toml")["case"]:
        vocab = numbered(word for word, *_ in case["words"])
        normalizer = BertNormalizer(**case.get("normalizer", {}))
        yield Case(
            case["name"],
            TokenizerSpec(WordLevel(vocab), normalizer, BertPreTokenizer()),
            case["text"],
        )
    for case in read_cases("words.toml")["case"]:
        splitter = KINDS[case["kind"]].pre_tokenizer if case["kind"] in KINDS else FixedLength(1)
        vocab = numbered(case["pieces"])
        yield Case(case["name"], TokenizerSpec(WordLevel(vocab), None, splitter), case["text"])
    for case in read_cases("unigram.toml")["case"]:
        pieces = (("<unk>", 0.0), *((piece, float(np.log(p))) for piece, p in probabilities(case)))
        yield Case(case["name"], TokenizerSpec(Unigram(pieces, 0)), case["word"])
    for case in read_cases("decoding.toml")["case"]:
        vocab = numbered(case["tokens"])
        ids = [vocab[token] for token in case["tokens"]]
        yield Case(
            case["name"], TokenizerSpec(WordPiece(vocab), decoder=WordPieceDecoder()), ids=ids
        )
    yield from component_cases()


def probabilities(case: dict[str, Any]) -> Iterator[tuple[str, float]]:
    for piece, fraction in dict(case["pieces"]).items():
        up, _, down = str(fraction).partition("/")
        yield piece, float(up) / float(down or 1)


def component_cases() -> Iterator[Case]:
    """Yield an encoding or a decoding for each example of a component."""
    for example in examples("normalizers"):
        model = WordLevel(numbered(example.expected["normalized"]))
        spec = TokenizerSpec(model, example.component, FixedLength(1))
        yield Case(example.name, spec, example.expected["text"])
    for example in examples("pre_tokenizers"):
        model = WordLevel(numbered(piece for piece, *_ in example.expected["pieces"]))
        yield Case(
            example.name, TokenizerSpec(model, None, example.component), example.expected["text"]
        )
    for example in examples("post_processors"):
        splitter = example.expected.get("pre_tokenizer", {"type": "WhitespaceSplit"})
        spec = TokenizerSpec(
            WordLevel(numbered(example.expected["vocab"])),
            pre_tokenizer=pre_tokenizer_from_json(splitter),
            post_processor=example.component,
        )
        special = example.expected.get("add_special_tokens", True)
        yield Case(example.name, spec, example.expected["text"], special)
    for example in examples("decoders"):
        vocab = numbered(example.expected["tokens"])
        ids = [vocab[token] for token in example.expected["tokens"]]
        yield Case(
            example.name, TokenizerSpec(WordLevel(vocab), decoder=example.component), ids=ids
        )


def test_ids_spans_and_texts_equal_those_of_the_package() -> None:
    cases = [*all_cases()]
    assert len(cases) > 250
    tokenizers = [pw.Tokenizer.from_spec(case.spec) for case in cases]
    calls = [
        ("encode", case.text, case.special) if case.ids is None else ("decode", case.ids, False)
        for case in cases
    ]
    found = answers([of_tokenizer(*both) for both in zip(tokenizers, calls, strict=True)])
    for case, tokenizer, answer in zip(cases, tokenizers, found, strict=True):
        assert "error" not in answer, (case.name, answer)
        assert answer[0] == expected(case, tokenizer, answer[0]), case.name


def expected(case: Case, tokenizer: pw.Tokenizer, found: Any) -> Any:
    """Return what the package makes of a case, in the form of the module."""
    if case.ids is not None:
        return tokenizer.decode(case.ids, skip_special_tokens=False)
    encoding = tokenizer.encode(case.text, add_special_tokens=case.special)
    spans = encoding.utf16_offsets
    return {
        **found,
        "ids": encoding.ids,
        "starts": [start for start, _ in spans],
        "ends": [end for _, end in spans],
    }
