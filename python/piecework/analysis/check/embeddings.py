"""Rules about the rows of a model's embeddings, with `--embeddings model.safetensors`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

import numpy as np

from piecework._internal.validation import counted
from piecework.analysis.check.findings import Finding
from piecework.analysis.check.rules import Subject, rule
from piecework.analysis.embedding_table import Table
from piecework.analysis.entry_bytes import Entry

_LEAST_UNUSED = 3
_MOST_UNTRAINED = 0.02  # the share of candidates of the source
_USUAL = 0.9  # of the unused rows are within the distance; a few may have been trained


@rule(
    "equal-rows",
    "vocabulary",
    "warning",
    cost="The model cannot tell these tokens apart.",
    advice="see whether training data has them; a tokenizer that was changed after training may not.",
)
def equal_rows(subject: Subject) -> Iterator[Finding]:
    """Find entries whose rows in the embeddings are the same, bit for bit.

    Training changes each row that it reads, so equal rows were never trained, or were copied. Equal rows of
    reserved entries, of entries that no text gives and of added tokens are a note. Needs `--embeddings`: a
    file, an index of several files, or a folder of a model.

    >>> import json, pathlib, tempfile
    >>> import numpy as np
    >>> import piecework as pw
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "model.safetensors"
    >>> def write(*rows):
    ...     data = np.array(rows, "<f4")
    ...     kind = {"dtype": "F32", "shape": data.shape, "data_offsets": [0, data.nbytes]}
    ...     header = json.dumps({"wte.weight": kind}).encode()
    ...     _ = path.write_bytes(len(header).to_bytes(8, "little") + header + data.tobytes())
    >>> tok = pw.Tokenizer(pw.spec.WordLevel({"[UNK]": 0, "hug": 1, "pug": 2}))
    >>> write([1, 0], [0, 1], [0, 1])
    >>> [f.tokens for f in pw.analysis.check(tok, select=["equal-rows"], embeddings=path).findings]
    [('hug', 'pug')]
    >>> write([1, 0], [0, 1], [1, 1])
    >>> pw.analysis.check(tok, select=["equal-rows"], embeddings=path).findings
    ()

    Source: Land and Bartolo 2024 (arXiv 2405.05417), section 3.2.
    """
    if subject.embeddings is None:
        return
    table = subject.embedding_table
    groups: dict[bytes, list[Entry]] = defaultdict(list)
    for entry in subject.entries:
        groups[table.digests[entry.id]].append(entry)
    equal = [group for group in groups.values() if len(group) > 1]
    unused = subject.unused_ids
    for is_expected in (False, True):
        chosen = [g for g in equal if all(e.id in unused or e.is_added for e in g) == is_expected]
        found = [entry for group in chosen for entry in group]
        if found:
            kind = "entries that no text gives, or added tokens," if is_expected else "entries"
            share = f"{len(found):,} {kind} share {counted(len(chosen), 'row')} of {table.name!r}"
            yield Finding(
                share,
                severity="note" if is_expected else "warning",
                tokens=tuple(entry.token for entry in found),
                ids=tuple(entry.id for entry in found),
            )


@rule(
    "untrained-rows",
    "vocabulary",
    "note",
    cost="A token that the model never saw in training makes it write nonsense.",
    advice="try a prompt that repeats the token, and keep it out of the text of users.",
)
def untrained_rows(subject: Subject) -> Iterator[Finding]:
    """Find entries that texts give and whose rows look untrained.

    A row is a candidate if it is zero, or as near to the mean of the rows that no text uses as nine of ten of
    those rows are. These are the rows after the last id, and of entries that no text gives; fewer than three
    such rows tell nothing, and neither do more candidates than 2 % of the vocabulary. Needs `--embeddings`.

    >>> import json, pathlib, tempfile
    >>> import numpy as np
    >>> import piecework as pw
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "model.safetensors"
    >>> def write(*rows):
    ...     data = np.array(rows, "<f4")
    ...     kind = {"dtype": "F32", "shape": data.shape, "data_offsets": [0, data.nbytes]}
    ...     header = json.dumps({"wte.weight": kind}).encode()
    ...     _ = path.write_bytes(len(header).to_bytes(8, "little") + header + data.tobytes())
    >>> tok = pw.Tokenizer(pw.spec.Char({"[UNK]": 0, "a": 1, "b": 2}))
    >>> write([1, 0], [0, 1], [0, 0])
    >>> [f.tokens for f in pw.analysis.check(tok, select=["untrained-rows"], embeddings=path).findings]
    [('b',)]
    >>> write([1, 0], [0, 1], [1, 1])
    >>> pw.analysis.check(tok, select=["untrained-rows"], embeddings=path).findings
    ()

    Source: Land and Bartolo 2024 (arXiv 2405.05417), section 3.2 (distance to unused rows, norm).
    """
    if subject.embeddings is None:
        return
    table, unused = subject.embedding_table, subject.unused_ids
    used = [e for e in subject.entries if e.id in subject.reachability.texts]
    zero = [entry for entry in used if not table.norms[entry.id]]
    near = [entry for entry in _near_unused(table, used, unused) if entry not in zero]
    for entries, reason in (
        (zero, "are zero"),
        (near, "are as near to the mean of the unused rows as most of those are"),
    ):
        if entries:
            yield Finding(
                f"rows of {table.name!r} {reason}: {counted(len(entries), 'entry')}",
                tokens=tuple(entry.token for entry in entries),
                ids=tuple(entry.id for entry in entries),
            )


def _near_unused(table: Table, used: list[Entry], unused: set[int]) -> list[Entry]:
    if table.distances is None:
        return []
    rows = sorted({*unused, *range(max((e.id for e in used), default=0) + 1, len(table.norms))})
    known = np.sort(table.distances[[id for id in rows if table.norms[id]]])
    if len(known) < _LEAST_UNUSED:
        return []
    most = known[int(_USUAL * (len(known) - 1))]
    near = [entry for entry in used if table.distances[entry.id] <= most]
    return near if len(near) <= _MOST_UNTRAINED * len(used) else []
