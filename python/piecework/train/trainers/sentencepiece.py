"""Sentences in, a whole SentencePiece model out: with the settings and the rules of its trainer."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from piecework._core import learn_sentencepiece
from piecework._internal.threads import thread_count
from piecework._internal.validation import PathLike
from piecework.normalization_rules import NormalizationRules
from piecework.spec import (
    PreTokenizer,
    Regex,
    ScoredPiece,
    SentencePiece,
    SentencePieceDecoder,
    SentencePieceKind,
    SentencePieceNormalizer,
    Split,
    TokenizerSpec,
)
from piecework.train.counting import Progress
from piecework.train.counts import Counts
from piecework.train.pipeline import Pipeline
from piecework.train.sentences import Sentences
from piecework.train.trainers.common import refuse_empty
from piecework.train.trainers.meta_pieces import Role, Symbols, merged, placed
from piecework.train.trainers.sentencepiece_normalizers import denormalizer_of, replacing
from piecework.train.trainers.sentencepiece_settings import (
    ROLES,
    Rules,
    check_settings,
    read_seeds,
    rules_given,
    settings_as_bytes,
)
from piecework.train.trainers.unigram import LearnedPieces, LearningStep

_RESERVED = "▅"


@dataclass(frozen=True)
class SentencePieceTrainer:
    """Learn a SentencePiece model of any type from raw sentences; settings are called as for `spm_train`.

    >>> import piecework as pw
    >>> trainer = SentencePieceTrainer(model_type="char", vocab_size=8)
    >>> tok = pw.Tokenizer.train_from_iterator(["hug pug hug"], trainer=trainer)
    >>> tok.encode("hug").tokens
    ['▁', 'h', 'u', 'g']

    What is learned is saved as `.model` (and `.vocab`), which `sentencepiece` reads.

    - *Size.* `vocab_size` counts all pieces. With `hard_vocab_limit` that many are learned or it is an
      error that says how many there could be; without, or for "char", what there is. `use_all_vocab`
      takes all words or characters there are (only "word" and "char").
    - *Text.* `normalization_rule_name` is one of `NormalizationRules.NAMES`; `normalization_rule_tsv`, a
      file or `NormalizationRules`, takes its place, `denormalization_rule_tsv` is applied to decoded text.
      `add_dummy_prefix`, `remove_extra_whitespaces` and `treat_whitespace_as_suffix` are those
      of `spec.SentencePieceNormalizer`; `escape_whitespaces` must be set.
    - *Characters.* The most frequent ones are pieces until they make up `character_coverage` of the text,
      and `required_chars` in any case; the others are unknown.
    - *Shapes.* No learned piece has more than `max_sentencepiece_length` characters; characters of two
      scripts (`split_by_unicode_script`; Japanese is one script, and unless `split_by_number` digits are
      of any); a digit beside anything else (`split_digits`); ▁ but as its first character (as its last
      with `treat_whitespace_as_suffix`), or, unless `split_by_whitespace`, but not as its last (first).
      `allow_whitespace_only_pieces` lets pieces be of ▁ alone. None goes across
      `pretokenization_delimiter`, which is not learned itself.
    - *Pieces that are not learned.* Unknown, bos, eos and pad stand at `unk_id`, `bos_id`, `eos_id` and
      `pad_id` (-1: nowhere; the first must be somewhere) and are called `unk_piece`, ...;
      `control_symbols` take the lowest free ids, then `user_defined_symbols` (always tokens of their own),
      then with `byte_fallback` 256 bytes.
    - *Sentences.* With `input_format="tsv"` a tab and a count stand behind each, and every type goes by the
      counts. Those of more than `max_sentence_length` bytes are left out. `input_sentence_size` are taken at
      most, drawn at random with `shuffle_input_sentence` and `seed`, 0 for all. `self_test_sample_size` of
      them are kept in the model with their pieces.
    - *Unigram alone*: `seed_sentencepiece_size`, `shrinking_factor`, `num_sub_iterations` are
      `seed_size`, ... of `UnigramTrainer`. `seed_sentencepieces_file` names the pieces to begin with, each in
      a line with a tab and its count; those that occur take the place of the substrings of the corpus.
    - *Files.* `required_chars_file`, `control_symbols_file` and `user_defined_symbols_file` have more of what
      they are called after, symbols one a line.

    Source: Kudo and Richardson 2018; `spm_train` of sentencepiece 0.2.3.
    """

    model_type: SentencePieceKind = "unigram"
    vocab_size: int = 8_000
    hard_vocab_limit: bool = True
    use_all_vocab: bool = False

    normalization_rule_name: str = "nmt_nfkc"
    normalization_rule_tsv: Rules | None = None
    denormalization_rule_tsv: Rules | None = None
    add_dummy_prefix: bool = True
    remove_extra_whitespaces: bool = True
    escape_whitespaces: bool = True
    treat_whitespace_as_suffix: bool = False

    character_coverage: float = 0.9995
    required_chars: str = ""
    required_chars_file: PathLike | None = None

    max_sentencepiece_length: int = 16
    split_by_unicode_script: bool = True
    split_by_number: bool = True
    split_digits: bool = False
    split_by_whitespace: bool = True
    allow_whitespace_only_pieces: bool = False
    pretokenization_delimiter: str = ""

    unk_id: int = 0
    bos_id: int = 1
    eos_id: int = 2
    pad_id: int = -1
    unk_piece: str = "<unk>"
    bos_piece: str = "<s>"
    eos_piece: str = "</s>"
    pad_piece: str = "<pad>"
    unk_surface: str = " ⁇ "
    control_symbols: tuple[str, ...] = ()
    control_symbols_file: PathLike | None = None
    user_defined_symbols: tuple[str, ...] = ()
    user_defined_symbols_file: PathLike | None = None
    byte_fallback: bool = False

    input_format: Literal["text", "tsv"] = "text"
    max_sentence_length: int = 4192
    input_sentence_size: int = 0
    shuffle_input_sentence: bool = True
    seed: int = 0
    self_test_sample_size: int = 0

    seed_sentencepiece_size: int = 1_000_000
    seed_sentencepieces_file: PathLike | None = None
    shrinking_factor: float = 0.75
    num_sub_iterations: int = 2

    vocabulary_output_piece_score: bool = True
    accept_language: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        check_settings(self)

    # ---- what the settings come to

    @cached_property
    def meta_pieces(self) -> dict[int, ScoredPiece]:
        """The pieces that are not learned, by id.

        >>> SentencePieceTrainer(unk_id=1, bos_id=0, eos_id=-1).meta_pieces[1]
        ScoredPiece(text='<unk>', score=0.0, type='unknown')
        """
        roles = [
            Role(name, getattr(self, f"{name}_id"), getattr(self, f"{name}_piece"))
            for name in ROLES
        ]
        symbols = Symbols(self.control_symbols, self._user_defined, self.byte_fallback)
        return placed(roles, symbols)

    @property
    def normalizer(self) -> SentencePieceNormalizer:
        """What the model does to a text before it segments it."""
        return SentencePieceNormalizer(
            charsmap=self._rules.charsmap,
            add_dummy_prefix=self.add_dummy_prefix,
            remove_extra_whitespaces=self.remove_extra_whitespaces,
            treat_whitespace_as_suffix=self.treat_whitespace_as_suffix,
            user_defined_symbols=self._texts("user_defined"),
        )

    @property
    def decoder(self) -> SentencePieceDecoder:
        """What makes text of the pieces of the model."""
        rules = rules_given("denormalization_rule_tsv", self.denormalization_rule_tsv)
        return SentencePieceDecoder(
            add_dummy_prefix=self.add_dummy_prefix,
            remove_extra_whitespaces=self.remove_extra_whitespaces,
            unk_piece=self.unk_piece,
            unk_surface=self.unk_surface,
            control_symbols=self._texts("control"),
            byte_fallback=self.byte_fallback,
            denormalizer=denormalizer_of(rules),
        )

    @property
    def pipeline(self) -> Pipeline:
        """The stages that make words of sentences, or leave them whole.

        Symbols do not keep the rules of normalization away here, as they do when the model is used.
        """
        normalizer = SentencePieceNormalizer(
            charsmap=self._rules.charsmap,
            add_dummy_prefix=self.add_dummy_prefix,
            remove_extra_whitespaces=self.remove_extra_whitespaces,
            treat_whitespace_as_suffix=self.treat_whitespace_as_suffix,
        )
        return Pipeline(replacing(self._texts_across_words, normalizer), self._pre_tokenizer)

    @property
    def sentences(self) -> Sentences:
        """Which sentences are learned from."""
        return Sentences(
            max_bytes=self.max_sentence_length,
            reserved=_RESERVED,
            size=self.input_sentence_size,
            shuffle=self.shuffle_input_sentence,
            seed=self.seed,
            with_counts=self.input_format == "tsv",
        )

    # ---- learning

    def learn(
        self, counts: Counts, progress: Progress | None = None, num_threads: int | None = None
    ) -> SentencePiece:
        """Return the model of counts that `pipeline` made, with how it was trained.

        Raises `TrainingError` when `vocab_size` cannot hold what must be there, or is more than the
        corpus has pieces for (it names the largest possible), and `CorpusError` when there are no
        words.
        """
        pieces = merged(self.meta_pieces, self.learn_pieces(counts, progress, num_threads).pieces)
        return SentencePiece(
            pieces,
            kind=self.model_type,
            byte_fallback=self.byte_fallback,
            bos_piece=self.bos_piece,
            eos_piece=self.eos_piece,
            pad_piece=self.pad_piece,
            rest=settings_as_bytes(self, len(pieces)),
        )

    def learn_pieces(
        self, counts: Counts, progress: Progress | None = None, num_threads: int | None = None
    ) -> LearnedPieces:
        """Return the learned pieces alone, with the steps of Unigram; `num_threads` change nothing."""
        refuse_empty(counts)
        symbols = [piece.text for piece in self.meta_pieces.values()]
        learned = learn_sentencepiece(
            counts._raw,
            self,
            symbols=symbols,
            seeds=self._seeds,
            num_threads=thread_count(num_threads),
            progress=progress,
        )
        steps = tuple(LearningStep(*step) for step in learned.steps)
        return LearnedPieces(tuple(learned.pieces), steps)

    def specification(self, model: SentencePiece) -> TokenizerSpec:
        """Put the normalizer and the decoder around a model that was learned."""
        return TokenizerSpec(model, normalizer=self.normalizer, decoder=self.decoder)

    # ---- parts

    @cached_property
    def _rules(self) -> NormalizationRules:
        own = rules_given("normalization_rule_tsv", self.normalization_rule_tsv)
        return NormalizationRules.named(self.normalization_rule_name) if own is None else own

    @cached_property
    def _seeds(self) -> list[tuple[str, int]] | None:
        path = self.seed_sentencepieces_file
        return None if path is None else read_seeds(path)

    @property
    def _pre_tokenizer(self) -> PreTokenizer | None:
        """What sets words apart: a space begins one or ends one, several spaces each or together."""
        if self.model_type in ("word", "char"):
            return Split("▁", "merged_with_next")
        if not self.split_by_whitespace:
            return None
        spaces = Regex("▁+") if self.allow_whitespace_only_pieces else "▁"
        ends = self.treat_whitespace_as_suffix
        return Split(spaces, "merged_with_previous" if ends else "merged_with_next")

    @property
    def _user_defined(self) -> tuple[str, ...]:
        """The user-defined symbols; as whole words they begin with ▁ too."""
        if self.model_type != "word":
            return self.user_defined_symbols
        both = (
            (text, "" if text.startswith("▁") else f"▁{text}") for text in self.user_defined_symbols
        )
        return tuple(text for pair in both for text in pair if text)

    @property
    def _texts_across_words(self) -> list[str]:
        """All symbols, if one of them can be more than a word, or a word and what is before it."""
        texts = [piece.text for piece in self.meta_pieces.values()]
        least = 0 if self.model_type == "word" else 1
        across = any("▁" in text[least:] for text in texts)
        return sorted(texts, key=len, reverse=True) if across else []

    def _texts(self, type: str) -> tuple[str, ...]:
        return tuple(piece.text for piece in self.meta_pieces.values() if piece.type == type)
