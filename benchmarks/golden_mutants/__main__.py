"""How many of thirty divergences a golden file catches, by tokenizer, beside 1,000 lines of a corpus.

    python -m benchmarks.golden_mutants                    # files made now, of every tokenizer at hand
    python -m benchmarks.golden_mutants --golden FOLDER    # NAME.jsonl of a folder, for the names it has
    python -m benchmarks.golden_mutants --corpus FILE      # lines of FILE, not of English and many languages
    python -m benchmarks.golden_mutants --only gpt2 --lines 0 --search 0
    python -m benchmarks.golden_mutants --ten              # by the ten of `ten.py`
    python -m benchmarks.golden_mutants --ten more         # by the ten of `ten_more.py`
    python -m benchmarks.golden_mutants --ten third        # by the ten of `third_ten.py`

A divergence is caught if the ids of a row differ. Where the reference itself differs from the file, the row
judges nothing and is counted as `control`, which should be 0. Divergences that no text can show with a
tokenizer are listed with the argument and not counted. For a divergence that the file misses, random texts
are searched: `?` says that none of them shows it either.
"""

from __future__ import annotations

import argparse
import gzip
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).parents[1]))
sys.path.append(str(Path(__file__).parents[2] / "python"))

import piecework as pw
from piecework import analysis
from vocabularies import DATA

from .engine import Ids, Judged, Mutant, Row
from .mutants import MUTANTS
from .search import rows_for
from .subjects import subjects
from .ten import TEN
from .ten_more import TEN_MORE
from .third_ten import THIRD_TEN

CORPORA = DATA.parent / "corpora"
PASSAGE = 200  # characters
TENS = {"first": TEN, "more": TEN_MORE, "third": THIRD_TEN}
Answered = tuple[Row, Ids | None]


@dataclass
class Verdict:
    """What the rows and each corpus say of a divergence; `is_shown` by a random text, None if not sought."""

    mutant: Mutant
    is_caught: bool
    by_corpus: dict[str, bool]
    argument: str = ""
    is_shown: bool | None = None


@dataclass
class Judgement:
    """The verdicts of one tokenizer's file; `control` counts rows that the reference itself contradicts."""

    name: str
    rows: int
    size: int
    control: int
    verdicts: list[Verdict] = field(default_factory=list)

    @property
    def counted(self) -> list[Verdict]:
        """The verdicts of divergences that a text can show."""
        return [verdict for verdict in self.verdicts if not verdict.argument]

    @property
    def survivors(self) -> list[Verdict]:
        """The verdicts of divergences that the rows miss."""
        return [verdict for verdict in self.counted if not verdict.is_caught]


def main(arguments: Sequence[str] | None = None) -> None:
    """Judge the golden file of every tokenizer and print the tables."""
    options = parsed(arguments)
    texts = corpora(options.corpus, options.lines)
    training = [text for lines in corpora(None, 1_000).values() for text in lines]
    mutants = TENS[options.ten] if options.ten else MUTANTS
    judgements = []
    for name, tokenizer in subjects(DATA, training):
        if options.only and name not in options.only:
            continue
        golden = golden_text(name, tokenizer, options.golden)
        if golden is not None:
            judgements.append(judged(name, tokenizer, golden, texts, options.search, mutants))
            print(summary(judgements[-1]), file=sys.stderr, flush=True)
    print("\n".join(report(judgements, list(texts), mutants)))


def parsed(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Return the options of the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--golden", type=Path, help="a folder of golden files")
    parser.add_argument("--corpus", type=Path, help="a text file")
    parser.add_argument("--lines", type=int, default=1_000, help="lines of each corpus; 0 for none")
    parser.add_argument("--search", type=int, default=10_000, help="random rows for each survivor")
    judge = "judge by the first ten, by ten more or by the third ten, not by the thirty"
    parser.add_argument("--ten", nargs="?", const="first", choices=[*TENS], help=judge)
    parser.add_argument("--only", nargs="*", help="names of tokenizers")
    return parser.parse_args(arguments)


# ---- texts


def corpora(file: Path | None, number: int) -> dict[str, list[str]]:
    """Return lines of each corpus by its name, evenly taken."""
    if not number:
        return {}
    if file is not None:
        return {file.name: evenly(file.read_text(encoding="utf-8").splitlines(), number)}
    english = (CORPORA / "wikitext-2" / "valid.txt").read_text(encoding="utf-8")
    with gzip.open(CORPORA / "udhr-all-languages.tsv.gz", "rt", encoding="utf-8") as lines:
        declarations = [line.rstrip("\n").split("\t")[-1] for line in lines]
    passages = [text[at : at + PASSAGE] for text in declarations for at in (0, 10 * PASSAGE)]
    return {
        "English": evenly(english.splitlines(), number),
        "many languages": evenly(passages, number),
    }


def evenly(lines: Sequence[str], number: int) -> list[str]:
    """Return the beginnings of `number` lines that are not blank, from all parts of a text."""
    kept = [line[:PASSAGE] for line in lines if line.strip()]
    return kept[:: max(1, len(kept) // number)][:number]


def golden_text(name: str, tokenizer: pw.Tokenizer, folder: Path | None) -> str | None:
    """Return the golden file of a tokenizer: of a folder, None if it has none, or made now."""
    if folder is None:
        return "\n".join(analysis.golden(tokenizer, name=name).to_lines())
    path = folder / f"{name}.jsonl"
    return path.read_text(encoding="utf-8") if path.is_file() else None


# ---- judging


def judged(
    name: str,
    tokenizer: pw.Tokenizer,
    golden: str,
    texts: Mapping[str, list[str]],
    search: int,
    mutants: Sequence[Mutant] = MUTANTS,
) -> Judgement:
    """Judge a golden file by every divergence that applies to its tokenizer."""
    lines = golden.splitlines()[1:]
    subject = Judged(tokenizer.spec)
    rows = [json.loads(line) for line in lines]
    agreed = [(row, ids) for row, ids in answered(subject, rows) if row.get("ids") == ids]
    corpus = {
        name: answered(subject, [plain(text) for text in some]) for name, some in texts.items()
    }
    result = Judgement(name, len(rows), len(golden.encode()), len(rows) - len(agreed))
    random_rows = rows_for(subject.spec, 1, search)
    random_answers: list[Answered] = []
    for mutant in mutants:
        if not mutant.applies(subject.spec):
            continue
        verdict = Verdict(
            mutant,
            is_caught(subject, mutant, agreed),
            {name: is_caught(subject, mutant, some) for name, some in corpus.items()},
        )
        result.verdicts.append(verdict)
        if not verdict.is_caught:
            verdict.argument = mutant.equivalent(subject.spec)
        if search and not verdict.is_caught and not verdict.argument:
            random_answers = random_answers or answered(subject, random_rows)
            verdict.is_shown = is_caught(subject, mutant, random_answers)
    return result


def plain(text: str) -> Row:
    """Return the row of a text of a corpus."""
    return {"text": text, "add_special_tokens": True, "parse_special": True}


def answered(subject: Judged, rows: Sequence[Row]) -> list[Answered]:
    """Return each row with its ids by the reference."""
    with subject.encoder() as encode:
        return [(row, encode(row)) for row in rows]


def is_caught(subject: Judged, mutant: Mutant, rows: Sequence[Answered]) -> bool:
    """Return whether the ids of a row differ from its answer."""
    with subject.encoder(mutant) as encode:
        return any(encode(row) != ids for row, ids in rows)


# ---- tables


def summary(judgement: Judgement) -> str:
    """Return one line on one tokenizer."""
    caught = len(judgement.counted) - len(judgement.survivors)
    names = ", ".join(marked(verdict) for verdict in judgement.survivors) or "-"
    return f"{judgement.name}: {caught} of {len(judgement.counted)}, missed: {names}"


def marked(verdict: Verdict) -> str:
    """Return the name of a missed divergence, with `?` if no random text shows it."""
    return verdict.mutant.name + ("?" if verdict.is_shown is False else "")


def report(
    judgements: Sequence[Judgement], texts: Sequence[str], mutants: Sequence[Mutant] = MUTANTS
) -> list[str]:
    """Return the lines of the tables: by tokenizer, by divergence, and the arguments."""
    return [
        *by_tokenizer(judgements, texts),
        "",
        *by_mutant(judgements, texts, mutants),
        "",
        "Not counted, as no text can show them:",
        "",
        *(
            f"- {judgement.name}, {verdict.mutant.name}: {verdict.argument}"
            for judgement in judgements
            for verdict in judgement.verdicts
            if verdict.argument
        ),
    ]


def by_tokenizer(judgements: Sequence[Judgement], texts: Sequence[str]) -> Iterator[str]:
    """Yield the table with a row for each tokenizer."""
    yield from heading(
        "tokenizer", "rows", "kB", "control", "divergences", "caught", *texts, "missed"
    )
    for one in judgements:
        missed = ", ".join(marked(verdict) for verdict in one.survivors)
        sizes = f"{one.rows}", f"{one.size / 1000:.0f}", f"{one.control}"
        yield line(one.name, *sizes, *shares(one.counted, texts), missed)
    counted = [verdict for one in judgements for verdict in one.counted]
    yield line("all", *sums(judgements), *shares(counted, texts), "")


def sums(judgements: Sequence[Judgement]) -> tuple[str, str, str]:
    """Return rows, kilobytes and contradicted rows of all files."""
    return (
        str(sum(one.rows for one in judgements)),
        f"{sum(one.size for one in judgements) / 1000:.0f}",
        str(sum(one.control for one in judgements)),
    )


def by_mutant(
    judgements: Sequence[Judgement], texts: Sequence[str], mutants: Sequence[Mutant]
) -> Iterator[str]:
    """Yield the table with a row for each divergence."""
    yield from heading("divergence", "tokenizers", "caught", *texts, "missed with")
    for mutant in mutants:
        found = [(one, v) for one in judgements for v in one.counted if v.mutant is mutant]
        missed = ", ".join(one.name for one, verdict in found if not verdict.is_caught)
        yield line(mutant.name, *shares([verdict for _, verdict in found], texts), missed)


def shares(verdicts: Sequence[Verdict], texts: Sequence[str]) -> list[str]:
    """Return the number of divergences, and how many the file and each corpus catch."""
    caught = [sum(verdict.is_caught for verdict in verdicts)]
    caught += [sum(verdict.by_corpus[name] for verdict in verdicts) for name in texts]
    return [str(len(verdicts)), *(share(number, len(verdicts)) for number in caught)]


def share(number: int, total: int) -> str:
    """Return a number with its per cent of a total."""
    return f"{number} ({100 * number / total:.0f} %)" if total else "-"


def heading(*names: str) -> list[str]:
    """Return the first two lines of a table."""
    return [line(*names), "|---" * len(names) + "|"]


def line(*cells: Any) -> str:
    """Return a line of a table."""
    return f"| {' | '.join(map(str, cells))} |"


if __name__ == "__main__":
    main()
