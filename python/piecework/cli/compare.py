"""`piecework compare`: measure tokenizers on one corpus; print tables or JSON, write HTML or plots."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

import piecework as pw
from piecework.cli.explanations import check_html
from piecework.cli.options import ALL_PRESETS
from piecework.cli.outputs import print_blocks, print_json, terminal_width
from piecework.cli.parameters import (
    InputFile,
    NameChoice,
    OutputFile,
    command,
    in_corpus,
    in_output,
    is_quiet,
    quiet_option,
)
from piecework.cli.reading import Reading, in_one_thread, reading_options
from piecework.cli.tokenizer_options import (
    Hints,
    load_each,
    names_of_files,
    tokenizer_argument,
    tokenizer_options,
)
from piecework.io.atomic_files import atomic_stream

_FIRST = "--corpus --gold --words --field --num-threads --json --html"
_EXAMPLE = """\b
Example:
  piecework compare words.json characters.json wordpiece.json --corpus corpus.txt
  piecework compare a.json b.json --corpus corpus.txt --gold eng.word.dev.tsv --html report.html
  piecework compare a.json b.json --corpus de=german.txt --corpus fr=french.txt --html report.html
"""

_NAMED = re.compile(r"([^=/\\:*?]+)=(.+)", re.DOTALL)


def sources_of_corpus(corpus: Sequence[str]) -> list[str] | Mapping[str, list[str]]:
    """Return the paths of one corpus without a name, else the paths of each source.

    >>> sources_of_corpus(["de=a.txt", "b/c.txt"])
    {'de': ['a.txt'], 'c.txt': ['b/c.txt']}

    A source without a name has the name of its file, or its path if another file has the same name. Paths
    with the same name are one source. A file whose name contains `=` needs no name.
    """
    named = [_with_name(one) for one in corpus]
    if len(named) == 1 and named[0][0] is None:
        return list(corpus)
    paths = dict.fromkeys(path for name, path in named if name is None)
    files = [Path(path).name or path for path in paths]
    given = {name for name, _ in named}
    sources: dict[str, list[str]] = {}
    for name, path in named:
        if name is None:
            file = Path(path).name or path
            name = path if files.count(file) > 1 or file in given else file
        # File names may contain invalid Unicode, which cannot be printed.
        shown = name.encode(errors="surrogateescape").decode(errors="replace")
        sources.setdefault(shown, []).append(path)
    return sources


def texts_of_corpus(
    corpus: Sequence[str], reading: Reading
) -> pw.corpus.Corpus | dict[str, pw.corpus.Corpus]:
    """Return the texts of one corpus without a name, else the texts of each source."""
    sources, how = sources_of_corpus(corpus), in_one_thread(reading)
    if isinstance(sources, Mapping):
        return {name: pw.corpus.read_corpus(paths, **how) for name, paths in sources.items()}
    return pw.corpus.read_corpus(sources, **how)


def _with_name(text: str) -> tuple[str | None, str]:
    match = _NAMED.fullmatch(text)
    return (None, text) if match is None or os.path.lexists(text) else (match[1], match[2])


@command(first=_FIRST, epilog=_EXAMPLE)
@tokenizer_argument("tokenizers", nargs=-1, required=True, metavar="TOKENIZER...")
@in_corpus(
    "--corpus",
    multiple=True,
    required=True,
    type=InputFile(),
    metavar="[NAME=]FILE",
    help="Text, JSON lines or table file, directory, pattern or URL, - for stdin; repeatable. Several "
    "(such as one for each language) are also measured separately; NAME= names one.",
)
@in_corpus(
    "--gold",
    type=InputFile(),
    help="File of words and their morphemes, in the format of SIGMORPHON 2022 or separated by spaces, to "
    "score boundaries.",
)
@in_corpus(
    "--words",
    type=NameChoice(ALL_PRESETS, "preset"),
    default="whitespace",
    show_default=True,
    help="Preset that defines the words for fertility.",
)
@partial(reading_options, document=True)
@tokenizer_options
@in_output("--json", "as_json", is_flag=True, help="Print the measures as JSON.")
@in_output(
    "--html",
    "html_path",
    type=OutputFile(),
    help="Write a self-contained HTML report with charts. Needs the extra report.",
)
@in_output(
    "--plot",
    "plot_directory",
    metavar="DIR",
    help="Write the charts as SVG files to this directory.",
)
@quiet_option
def compare(
    tokenizers: tuple[str, ...],
    corpus: tuple[str, ...],
    gold: str | None,
    words: str,
    as_json: bool,
    html_path: str | None,
    plot_directory: str | None,
    reading: Reading,
    hints: Hints,
) -> None:
    """Measure TOKENIZERs on a corpus and print a table.

    This ranks several tokenizers on your text; `piecework check` says what is wrong with each.

    The table ranks them by number of tokens, counting an unknown word as one token for each byte, with
    95 % intervals over the texts, and shows what each loses: case, accents, characters. The other measures
    are fertility (tokens per word), compression, use of the vocabulary, and the words that are split
    differently; --html and --json also have the lengths of tokens. For sources with equally
    many texts, such as translations, the command also prints the cost of each relative to the first.
    docs/explanation/analysis-measures.md defines the measures.
    """
    from piecework.analysis.report import check_report

    check_html(html_path, as_json)
    if html_path:
        check_report()
    named = load_each(names_of_files(tokenizers), hints)
    standard = pw.analysis.read_gold(gold) if gold else None
    found = pw.analysis.compare(
        named,
        texts_of_corpus(corpus, reading),
        gold=standard,
        words=words,
        num_threads=reading["num_threads"],
        progress=not is_quiet(),
    )
    if html_path:
        with atomic_stream(html_path) as stream:
            stream.write(pw.analysis.html_report(found).encode())
    if plot_directory:
        pw.analysis.save_plots(found, plot_directory)
    if as_json:
        print_json(found.to_dict())
    elif html_path != "-":
        print_blocks(found.blocks(), terminal_width())
