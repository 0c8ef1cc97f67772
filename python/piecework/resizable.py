"""The part of `Tokenizer` that changes its vocabulary and says where the ids went."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping

from piecework._core import Core, read_sentencepiece_vocab
from piecework._internal.lazy import hints, pw, typing
from piecework._internal.progress import progress_bar
from piecework._internal.validation import PathLike, check_size, listed, path_text
from piecework.errors import InputTypeError
from piecework.io.read_file import file_bytes

TYPE_CHECKING = False


class Resizable:
    """The half of `Tokenizer` that grows and shrinks; the other half gives `spec` and `_derived`."""

    if TYPE_CHECKING:
        _core: Core

        @property
        def spec(self) -> pw.TokenizerSpec:  # noqa: D102
            ...

        def _derived(self, spec: pw.TokenizerSpec) -> hints.Self: ...

    def extend(
        self,
        corpus: Iterable[str] | pw.Counts,
        n: int,
        *,
        score: typing.Literal["likelihood", "frequency", "pmi"] | None = None,
        min_frequency: int = 2,
        max_token_length: int | None = None,
        num_threads: int | None = None,
        show_progress: bool = False,
    ) -> tuple[hints.Self, pw.IdMap]:
        """Learn `n` further entries from new text; returns the tokenizer and the map of ids.

        >>> import piecework as pw
        >>> tok = pw.Tokenizer.train_from_iterator(["hug hugs bug"] * 9, vocab_size=14)
        >>> larger, id_map = tok.extend(["hug hugs bugs"] * 9, 1)
        >>> larger.get_vocab_size(), id_map.added
        (15, array([14]))

        `corpus` gives texts, or counts that were made with the tokenizer's pipeline
        (`train.pipeline_of(tok.spec)`). Words are segmented by the present vocabulary, and joining goes
        on from there: for BPE merges of the most frequent pair, after the present ones, as if training
        had gone on (a `Char` model becomes BPE); for WordPiece by `score`, "likelihood" when None. No
        id changes; new entries come after the highest. Characters that the vocabulary lacks stay
        unknown. Where further merges made no entry that was new, a vocabulary shrunk back has them
        still.

        Warns with `TrainingWarning` when the corpus has not enough for `n`. Raises `ArgumentError` for
        WordLevel and Unigram models, and `CorpusError` without any word.
        """
        from piecework.vocabulary import extended

        check_size("n", n)
        check_size("min_frequency", min_frequency)
        counts = self._counted(corpus, num_threads, show_progress)
        with progress_bar("learning", shown=show_progress) as progress:
            spec, id_map = extended(
                self._core,
                self.spec,
                counts,
                n,
                score=score,
                min_frequency=min_frequency,
                max_token_length=max_token_length,
                progress=progress,
            )
        return self._derived(spec), id_map

    def prune(
        self, keep: Iterable[str | int], *, keep_alphabet: bool = True
    ) -> tuple[hints.Self, pw.IdMap]:
        """Keep only some tokens, given by name or id; returns the tokenizer and the map of ids.

        >>> import piecework as pw
        >>> merges = (("h", "u"), ("hu", "g"), ("b", "u"))
        >>> vocab = {token: id for id, token in enumerate("b g h u hu hug bu".split())}
        >>> tok, id_map = pw.Tokenizer(pw.spec.BPE(vocab, merges)).prune(keep=["hug"])
        >>> tok.get_vocab()
        {'b': 0, 'g': 1, 'h': 2, 'u': 3, 'hu': 4, 'hug': 5}
        >>> id_map.new_ids
        array([ 0,  1,  2,  3,  4,  5, -1])

        Kept as well: added tokens, the unknown token, what template and padding use, and for BPE the
        entries that the merges of a kept one go through, so that what could come out of a text still
        can. A merge goes when one of its three entries does. `keep_alphabet=False` lets single
        characters and bytes go too, unless something kept is made of them: what is not covered then
        becomes unknown, or is dropped where there is no unknown token. Ids above a removed one move
        down.

        Text whose tokens all stay is encoded as before. Raises `ArgumentError` for tokens that are not
        there, and for Unigram models.
        """
        from piecework.vocabulary import pruned

        spec, id_map = pruned(self.spec, keep, keep_alphabet)
        return self._derived(spec), id_map

    def shrink(self, size: int) -> tuple[hints.Self, pw.IdMap]:
        """Drop the last learned entries until `size` tokens are left; gives tokenizer and map of ids.

        >>> import piecework as pw
        >>> tok = pw.Tokenizer.train_from_iterator(["hug hugs bug"] * 9, vocab_size=14)
        >>> smaller, id_map = tok.shrink(12)
        >>> smaller.get_vocab_size(), id_map.new_ids.tolist().count(-1)
        (12, 2)

        `size` counts added tokens. BPE loses merges from the tail with what only they made (and
        earlier merges of that, where the list is not in the order of making); other models lose the
        entries with the highest ids. Alphabet, special tokens, and what template and padding use
        stay: `ArgumentError` when that is more than `size`.
        """
        from piecework.vocabulary import shrunk

        check_size("size", size)
        spec, id_map = shrunk(self.spec, size)
        return self._derived(spec), id_map

    def with_vocabulary(
        self,
        vocabulary: PathLike | Collection[str] | Mapping[str, float] | None,
        *,
        threshold: float = 1,
    ) -> hints.Self:
        """Return a SentencePiece tokenizer that gives out only these pieces, and single characters.

        >>> import piecework as pw
        >>> scored = {"<unk>": 0.0, "▁": -4.0, "h": -4.0, "i": -4.0, "▁hi": -2.0}
        >>> types = {"<unk>": "unknown"}
        >>> model = pw.spec.SentencePiece(
        ...     tuple(
        ...         pw.spec.ScoredPiece(text, score, types.get(text, "normal"))
        ...         for text, score in scored.items()
        ...     )
        ... )
        >>> tok = pw.Tokenizer(model, normalizer=pw.spec.SentencePieceNormalizer())
        >>> tok.encode("hi").tokens, tok.with_vocabulary([]).encode("hi").tokens
        (['▁hi'], ['▁', 'h', 'i'])

        `vocabulary` is a collection of pieces; or pieces with counts, or a file of these (a piece, a tab and
        its count a line), of which those count that have at least `threshold`. None: all pieces again.
        No id changes. Raises `ArgumentError` for other models than SentencePiece's Unigram and BPE.
        """
        from piecework.vocabulary import restricted

        kept: Collection[str] | None
        if vocabulary is None:
            kept = None
        elif isinstance(vocabulary, str | os.PathLike):
            kept = {text for text, count in _pieces_in(vocabulary) if count >= threshold}
        elif isinstance(vocabulary, Mapping):
            kept = {text for text, count in vocabulary.items() if count >= threshold}
        else:
            kept = listed(list(vocabulary), "vocabulary", "str")
        return self._derived(restricted(self.spec, kept))

    def _counted(
        self, corpus: Iterable[str] | pw.Counts, num_threads: int | None, show_progress: bool
    ) -> pw.Counts:
        from piecework.train import Counts, count_texts, pipeline_of

        if isinstance(corpus, Counts):
            return corpus
        if isinstance(corpus, str | bytes) or not isinstance(corpus, Iterable):
            raise InputTypeError("corpus", type(corpus).__name__, "texts or Counts")
        with progress_bar("counting", shown=show_progress) as progress:
            return count_texts(
                corpus, pipeline=pipeline_of(self.spec), num_threads=num_threads, progress=progress
            )


def _pieces_in(path: PathLike) -> list[tuple[str, float]]:
    source = path_text(path)
    return read_sentencepiece_vocab(file_bytes(source, "pieces and counts"), source)
