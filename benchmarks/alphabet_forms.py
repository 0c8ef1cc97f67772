"""Which entries the characters of a WordPiece alphabet need: tokens and unknown words by `alphabet_forms`.

    python benchmarks/alphabet_forms.py --vocab-size 8000

Ten languages: novels (`novels.py`) in English, German, French, Czech, Hungarian, Ukrainian and Greek, and
the help of LibreOffice in Chinese, Japanese and Korean. Each distinct line is for learning or, by its
checksum, one of ten, for measuring. An unknown word counts as one token for each of its bytes. "avoidable"
are the unknown words whose characters are all in the alphabet.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator
from zlib import crc32

import numpy as np

import piecework as pw
from corpora import corpus_folder
from parallel_texts import pages_of
from piecework.train import LEARNERS, Merges

NOVELS = ("english", "german", "french", "czech", "hungarian", "ukrainian", "greek")
# Language, package, its hash.
HELP = {
    "chinese": ("zh-cn", "db867cdece4c2f9c7eebe65e519c6cf386fdcf49d6e061db3dffec893b3e1dee"),
    "japanese": ("ja", "7799ace9bfe0845771ed2499913e7f7e521318cf3727c007672e3b020f8eb7b9"),
    "korean": ("ko", "7ef2d854e9ed58e6bf861cfa9fa2579555233f9df874baf327fcb07ccd190669"),
}
FORMS = ("seen", "start-and-seen", "possible")
COLUMNS = (
    "language    entries  forms           characters     tokens  % of seen  unknown  avoidable"
)


def main() -> None:
    """Print a row for each language, size and rule."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--language", action="append", dest="languages", metavar="NAME")
    parser.add_argument("--vocab-size", type=int, action="append", dest="sizes")
    parser.add_argument("--lines", type=int, help="learn from the first lines only")
    parser.add_argument("--preset", default="bert-uncased")
    parser.add_argument("--learner", default="pruning", choices=[*LEARNERS, *Merges.SCORES])
    options = parser.parse_args()
    warnings.simplefilter("ignore", pw.errors.TrainingWarning)
    learner = options.learner
    how = LEARNERS[learner]() if learner in LEARNERS else Merges(learner)
    print(f"{options.preset}, {how}\n{COLUMNS}")
    for language in options.languages or [*NOVELS, *HELP]:
        training, held_out = counts_of(language, options.preset, options.lines)
        for size in options.sizes or [8000]:
            measure(language, training, held_out, size, how)


def measure(
    language: str, training: pw.Counts, held_out: pw.Counts, size: int, learner: pw.train.Learner
) -> None:
    """Print the rows of the rules at one size."""
    base = None
    for forms in FORMS:
        try:
            tokenizer = pw.Tokenizer.train_from_counts(
                training, vocab_size=size, learner=learner, alphabet_forms=forms
            )
        except pw.errors.TrainingError as error:
            print(f"{language:11} {size:7}  {forms:14} {error}")
            continue
        characters, tokens, unknown, avoidable = measured(tokenizer, held_out)
        base = base or tokens
        print(
            f"{language:11} {size:7}  {forms:14} {characters:11} {tokens:10} {100 * tokens / base:10.3f} "
            f"{unknown:8} {avoidable:10}",
            flush=True,
        )


def counts_of(language: str, preset: str, most: int | None) -> tuple[pw.Counts, pw.Counts]:
    """Count the words of the lines to learn from, and of those to measure."""
    training, held_out = [], []
    for line in dict.fromkeys(lines_of(language)):
        (training if crc32(line.encode()) % 10 else held_out).append(line)
    training = training[:most]
    return pw.count_texts(training, preset=preset), pw.count_texts(held_out, preset=preset)


def lines_of(language: str) -> Iterator[str]:
    """Yield the lines of the text of a language."""
    if language in HELP:
        for page in pages_of(*HELP[language]).values():
            yield from page
    else:
        path = corpus_folder() / f"novels-{language}.txt"
        yield from path.read_text(encoding="utf-8").split("\n")


def measured(tokenizer: pw.Tokenizer, held_out: pw.Counts) -> tuple[int, int, int, int]:
    """Return the entries of one character, the tokens, the unknown words and the avoidable ones of them."""
    batch = tokenizer.encode_batch(held_out.words, add_special_tokens=False)
    unknown = np.logical_or.reduceat(
        batch.ids == tokenizer.token_to_id("[UNK]"), batch.row_offsets[:-1]
    )
    weights = held_out.counts.astype(np.int64)
    sizes = np.array([len(word.encode()) for word in held_out.words])
    tokens = (np.where(unknown, sizes, batch.lengths) * weights).sum()
    forms = [entry for entry in tokenizer.get_vocab() if len(entry.removeprefix("##")) == 1]
    known = {entry.removeprefix("##") for entry in forms}
    could = np.array([known.issuperset(word) for word in held_out.words])
    return len(forms), int(tokens), int(weights[unknown].sum()), int(weights[unknown & could].sum())


if __name__ == "__main__":
    main()
