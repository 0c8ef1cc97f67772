"""The tokens of a tokenizer as features of scikit-learn. Requires `piecework[sklearn]`."""

from __future__ import annotations

from dataclasses import dataclass

from piecework import Tokenizer
from piecework._internal.extras import import_extra
from piecework._internal.validation import check_type


def analyzer(tokenizer: Tokenizer, *, add_special_tokens: bool = False) -> Analyzer:
    """Return an analyzer for `CountVectorizer`, `TfidfVectorizer` and `HashingVectorizer`.

    >>> import piecework as pw
    >>> from sklearn.feature_extraction.text import CountVectorizer
    >>> tok = pw.Tokenizer(pw.spec.Char({"[UNK]": 0, "a": 1, "b": 2}))
    >>> vectorizer = CountVectorizer(analyzer=analyzer(tok))
    >>> vectorizer.fit_transform(["ab", "bb"]).toarray().tolist()
    [[1, 1], [0, 2]]

    The features are tokens, without special tokens unless `add_special_tokens`. Vectorizers with the analyzer
    can be pickled and cloned. Raises `MissingExtraError` without scikit-learn.
    """
    check_type("tokenizer", tokenizer, Tokenizer, "a Tokenizer")
    import_extra("sklearn", "sklearn", "analyzer")
    return Analyzer(tokenizer, add_special_tokens)


@dataclass(frozen=True)
class Analyzer:
    """A function from a text to its tokens."""

    tokenizer: Tokenizer
    add_special_tokens: bool

    def __call__(self, text: str) -> list[str]:
        """Return the tokens of a text."""
        return self.tokenizer.encode(text, add_special_tokens=self.add_special_tokens).tokens
