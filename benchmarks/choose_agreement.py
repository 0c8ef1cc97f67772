"""Does a tenth of a corpus give the verdict of all of it? `analysis.choose` on novels, ten tenths each.

    python benchmarks/choose_agreement.py > benchmarks/record/2026-11-30-choose.txt

WordPiece on the novels of `novels.py`; a document is a paragraph. The hash of a paragraph puts it into one of
ten tenths. A verdict of a tenth agrees if it names the same learners at each size as the whole corpus, or
leaves these and others open, and if it has the same sizes up to which entries pay and from which they do not,
or leaves a range open that contains them. `least_gain` changes no measurement, so each run is judged with
several. The other verdicts tell more than the whole corpus, which leaves that open, or contradict it.
"""

from __future__ import annotations

import argparse
import hashlib
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import replace

import piecework as pw
from corpora import corpus_folder
from piecework.analysis.choice import Choice

LANGUAGES = ("english", "czech")
SIZES = (2_000, 4_000, 8_000, 16_000)
LEARNERS = (("pruning", "likelihood", "frequency"), ("likelihood", "frequency", "top-down"))
LEAST_GAINS = (0.0025, 0.005, 0.007, 0.01, 0.015, 0.02, 0.025, 0.05)
PARTS = 10


def main() -> None:
    """Print the verdicts of each corpus and model, and how many tenths agree."""
    parser = argparse.ArgumentParser(
        description="Compare verdicts of tenths with those of corpora."
    )
    parser.add_argument("--language", action="append", help="all if not given")
    options = parser.parse_args()
    warnings.simplefilter("ignore", pw.errors.TrainingWarning)
    for language in options.language or LANGUAGES:
        documents = paragraphs(language)
        print(f"{language}: {len(documents):,} paragraphs, {sum(map(len, documents)):,} characters")
        tenths = parts(documents)
        for learners in LEARNERS:
            whole = choice(documents, learners)
            found = [choice(tenth, learners) for tenth in tenths]
            print(f"\n{language}, {', '.join(learners)}\n")
            print("\n".join(rows(whole, found)), flush=True)
        print()


def paragraphs(language: str) -> list[str]:
    """Return the paragraphs of the novels of a language."""
    path = corpus_folder() / f"novels-{language}.txt"
    return [line for line in path.read_text(encoding="utf-8").split("\n") if line.strip()]


def parts(documents: Sequence[str]) -> list[list[str]]:
    """Return ten parts of the documents, by a hash of their text."""
    found: list[list[str]] = [[] for _ in range(PARTS)]
    for document in documents:
        digest = hashlib.blake2b(document.encode(), key=b"tenth", digest_size=8).digest()
        found[int.from_bytes(digest, "big") % PARTS].append(document)
    return found


def choice(documents: Sequence[str], learners: Sequence[str]) -> Choice:
    """Return what `choose` measures with WordPiece."""
    return pw.analysis.choose(documents, SIZES, preset="bert-cased", learners=learners)


def rows(whole: Choice, tenths: Sequence[Choice]) -> Iterator[str]:
    """Yield the verdict of the corpus and a row for each `least_gain`."""
    for least_gain in LEAST_GAINS:
        every = replace(whole, least_gain=least_gain)
        found = [replace(one, least_gain=least_gain) for one in tenths]
        agreeing = [one for one in found if all(says_no_more(one, every))]
        same = [one for one in agreeing if answer(one) == answer(every)]
        contradict = sum(contradicts(one, every) for one in found)
        counts = f"{len(agreeing)} of {len(found)} agree, {len(same)} of them the same"
        yield f"least_gain {least_gain}: {counts}; {contradict} contradict"
        yield f"  all: {every.verdict}"
        for one in found:
            if one not in agreeing:
                yield f"  tells more: {one.verdict}"


def answer(one: Choice) -> tuple[object, ...]:
    """Return what a verdict says."""
    return one.fewest, one.pays_to, one.stops_at


def says_no_more(one: Choice, other: Choice) -> Iterator[bool]:
    """Yield for each size, and for the range of sizes, whether a verdict says the same or leaves it open."""
    for mine, theirs in zip(one.fewest, other.fewest, strict=True):
        yield set(theirs) <= set(mine)
    beyond = one.sizes[-1] + 1
    stops = (one.stops_at or beyond, other.stops_at or beyond)
    yield one.pays_to <= other.pays_to and stops[1] <= stops[0]


def contradicts(one: Choice, other: Choice) -> bool:
    """Return whether neither verdict leaves open what the other one says."""
    pairs = zip(says_no_more(one, other), says_no_more(other, one), strict=True)
    return any(not mine and not theirs for mine, theirs in pairs)


if __name__ == "__main__":
    main()
