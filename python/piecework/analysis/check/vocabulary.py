"""Rules about the entries of a vocabulary."""

from __future__ import annotations

from collections.abc import Iterator

from piecework.analysis.check.findings import Finding
from piecework.analysis.check.rules import Subject, rule
from piecework.analysis.entry_bytes import fused_line_ends

_FEW = 10
_LITTLE = (
    "A model cannot predict {} apart from what is joined to it; few entries or few texts do so."
)


@rule(
    "line-end-entries",
    "vocabulary",
    "warning",
    cost="A model cannot predict a line end apart from the marks before it or the indent after it; one study "
    "found two thirds of a code benchmark's score lost.",
    advice="train with a preset that keeps line ends apart (o200k-nl); a trained model keeps its entries.",
)
def line_end_entries(subject: Subject) -> Iterator[Finding]:
    """Find entries that join a line end to marks or to an indent.

    Generators of code end a line after `;` or `{` and begin the next with an indent. With an entry such as
    `;⏎` or `⏎␣␣`, whether a line ends is decided together with another choice.

    >>> import piecework as pw
    >>> fused = pw.spec.WordLevel({"[UNK]": 0, ";\\n": 1}, unk_token="[UNK]")
    >>> pw.analysis.check(pw.Tokenizer(fused), select=["line-end-entries"]).findings[0].ids
    (1,)

    Entries of line ends alone are fine, and so are spaces before them. Up to ten such entries are a note.
    Entries with a carriage return only, such as `;␍`, are one too: only the line ends of Windows have it.

    >>> apart = pw.spec.WordLevel({"[UNK]": 0, "  \\n\\n": 1, ";": 2}, unk_token="[UNK]")
    >>> pw.analysis.check(pw.Tokenizer(apart), select=["line-end-entries"]).findings
    ()

    Source: TokEval (arXiv 2608.18062).
    """
    if fused := fused_line_ends(subject.spec, subject.entries):
        share = f"{len(fused):,} of {len(subject.entries):,} entries"
        ends = sum(b"\n" in entry.data for entry in fused)
        end = "a line end" if ends else "a carriage return"
        verb = "joins" if len(fused) == 1 else "join"
        yield Finding(
            f"{share} {verb} {end} to marks, letters or spaces",
            severity="warning" if ends > _FEW else "note",
            cost="" if ends > _FEW else _LITTLE.format(end),
            tokens=tuple(entry.data.decode(errors="backslashreplace") for entry in fused),
            ids=tuple(entry.id for entry in fused),
        )
