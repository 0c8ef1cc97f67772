"""Compare an installed piecework with the reference that it contains, for every kind of model.

    python tools/smoke_test.py corpus.txt

Nothing but the package is needed. Each level of instructions that the processor has is tried.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import piecework as pw
from piecework._internal import _core
from piecework.reference.tokenizer import ReferenceTokenizer

MODELS = {
    "wordpiece": {"vocab_size": 400},
    "bpe": {"vocab_size": 400},
    "byte-bpe": {"vocab_size": 400},
    "unigram": {"vocab_size": 400},
    "word": {"vocab_size": 200},
    "char": {"vocab_size": 200},
}
LINES = 40
UNUSUAL = "Größe ﬁn 東京\u3000①² e\u0301\u0301 İstanbul 👩‍👩‍👧 \x00\x7f [MASK] naïve—don't\t1,024"


def main() -> None:
    """Run the comparison on the corpus that the command line names."""
    (corpus,) = sys.argv[1:]
    lines = Path(corpus).read_text(encoding="utf-8").splitlines()
    texts = [*lines[:LINES], UNUSUAL, ""]
    for model, settings in MODELS.items():
        tokenizer = pw.Tokenizer.train_from_iterator(lines[:2000], model=model, **settings)
        compare(tokenizer, texts, model)
    levels = ", ".join(_core.kernel_levels())
    print(f"{len(MODELS)} models as the reference, {len(texts)} texts each, at the levels {levels}")


def compare(tokenizer: pw.Tokenizer, texts: list[str], model: str) -> None:
    """Exit if ids, offsets, decoded texts or saved files differ from the reference."""
    reference = ReferenceTokenizer(tokenizer.spec)
    expected = [reference.encode(text) for text in texts]
    ids = [encoding.ids for encoding in expected]
    loaded = round_trip(tokenizer)
    for level in _core.kernel_levels():
        _core.use_kernel_level(level)
        for encoder in (tokenizer, loaded):
            check(
                encoder.encode_batch(texts).to_lists() == ids, f"{model}, {level}: ids of a batch"
            )
            for text, encoding in zip(texts, expected, strict=True):
                found = encoder.encode(text)
                same = (found.ids, found.offsets) == (encoding.ids, encoding.offsets)
                check(same, f"{model}, {level}: {text!r}")
        decoded = [reference.decode(row) for row in ids]
        check(tokenizer.decode_batch(ids) == decoded, f"{model}, {level}: decoded texts")


def round_trip(tokenizer: pw.Tokenizer) -> pw.Tokenizer:
    """Return the tokenizer saved and loaded."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "saved.piecework")
        tokenizer.save(path)
        return pw.Tokenizer.load(path)


def check(is_same: bool, what: str) -> None:
    """Exit with a sentence unless two results are the same."""
    if not is_same:
        sys.exit(f"piecework differs from its reference: {what}")


if __name__ == "__main__":
    main()
