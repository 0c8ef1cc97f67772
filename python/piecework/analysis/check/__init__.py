"""Judge a tokenizer: rules look for what loses text, wastes entries, or lets text pass for markup.

`rules` has the registry, `findings` the results; each other module has the rules of a few groups.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from piecework import Tokenizer
from piecework._internal.validation import PathLike, listed, path_text
from piecework.analysis.check import (
    embeddings,
    entries,
    files,
    injection,
    patterns,
    text,
    vocabulary,
)
from piecework.analysis.check.findings import CheckReport
from piecework.analysis.check.rules import Subject, checked, chosen_rules, read_subject

__all__ = ["check"]

GROUPS = (
    files,
    text,
    injection,
    patterns,
    vocabulary,
    entries,
    embeddings,
)  # importing the modules registers their rules


def check(
    tokenizer: Tokenizer | PathLike,
    *,
    select: Collection[str] = (),
    ignore: Collection[str] = (),
    texts: Iterable[str] | None = None,
    embeddings: PathLike | None = None,
) -> CheckReport:
    """Return what is wrong with a tokenizer.

    >>> import piecework as pw
    >>> model = pw.spec.WordLevel({"[UNK]": 0, ";\\n": 1}, unk_token="[UNK]")
    >>> found = check(pw.Tokenizer(model), select=["line-end-entries"])
    >>> [(finding.code, finding.ids) for finding in found.findings], found.worst
    ([('line-end-entries', (1,))], 'note')

    `tokenizer` is a tokenizer, or anything that `Tokenizer.load` takes. The files of a folder are compared,
    too. A file that does not load is the first finding, and the rules that read files still run.
    `select` and `ignore` have codes of rules and names of groups; by default all rules run. `texts` are
    texts of yours, to count how often entries are used. `embeddings` is a
    `.safetensors` file of the model, an index of several, or a folder with one.
    The reference describes each rule, with examples. No file is changed.

    Raises `ArgumentError` for an unknown code.
    """
    rules = chosen_rules(select, ignore)
    of_caller = None if texts is None else listed(texts)
    table = None if embeddings is None else path_text(embeddings, "embeddings")
    if isinstance(tokenizer, Tokenizer):
        subject = Subject("tokenizer", tokenizer)
    else:
        subject = read_subject(path_text(tokenizer, "tokenizer"))
    subject.texts, subject.embeddings = of_caller, table
    return checked(subject, rules)
