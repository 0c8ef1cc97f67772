"""Learn a SentencePiece model of any type: word counts in, `SentencePiece` out."""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from functools import cached_property
from itertools import count, islice
from typing import Any, ClassVar, Literal

from piecework._internal._core import LearnedPieces as CorePieces
from piecework._internal._core import RawCounts, learn_sentencepiece
from piecework._internal.setting_fields import (
    Choice,
    File,
    Integer,
    Switch,
    Text,
    Tokens,
    check_settings,
    documented,
    setting,
)
from piecework._internal.threads import thread_count
from piecework._internal.types import Progress, Unpack
from piecework._internal.validation import PathLike
from piecework.errors import ArgumentError
from piecework.io.normalization_rules import NormalizationRules
from piecework.spec import (
    PieceType,
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
from piecework.train.counts import AnyCounts, Counts
from piecework.train.learned import LearnedPieces
from piecework.train.learners import Pruning
from piecework.train.presets import AnyPreset, Pipeline, Preset
from piecework.train.sentences import Sentences
from piecework.train.trainer import (
    Amount,
    LearnOptions,
    Resumption,
    Trainer,
    Traits,
    WordSizes,
    memory_of_merges,
    memory_of_ranking,
    memory_of_unigram,
)
from piecework.train.trainers import common
from piecework.train.trainers.sentencepiece_settings import (
    ROLES,
    SENTENCEPIECE_TYPES,
    Role,
    Rules,
    RulesFile,
    check_contradictions,
    denormalizer_of,
    pieces_by_id,
    read_files,
    read_seeds,
    resolve_rules,
    settings_as_bytes,
    with_learned,
    with_tab_for,
)
from piecework.train.trainers.unigram import LEARNER

_RESERVED = "▅"
_FILLERS = 0x4E00  # characters that no symbol of a model has
_MAX_SIZE = 2**31 - 1


def _role_id(role: str) -> Integer:
    return Integer(f"Id of the {role} piece; -1 for none.", least=-1, most=_MAX_SIZE)


def _role_piece(role: str) -> Text:
    return Text(f"Name of the {role} piece.", can_be_empty=False)


_LEARNER = replace(
    LEARNER,
    help=f"How to choose pieces instead of by loss of likelihood (unigram): {Pruning._summary}.",
    without=("segmentation",),
)


@documented
@dataclass(frozen=True)
class SentencePieceTrainer(Trainer):
    """Learn a SentencePiece model from raw sentences; the settings have the names of `spm_train`.

    >>> import piecework as pw
    >>> trainer = SentencePieceTrainer(model_type="char", vocab_size=8)
    >>> tok = pw.Tokenizer.train_from_iterator(["hug pug hug"], trainer=trainer)
    >>> tok.encode("hug").tokens
    ['▁', 'h', 'u', 'g']

    `Tokenizer.save` writes the model as `.model` (and `.vocab`), which `sentencepiece` reads.

    *Size.* By default, a corpus that cannot fill `vocab_size` yields as many pieces as it can, with a
    `TrainingWarning`. `hard_vocab_limit=True`, the default of `spm_train`, raises `TrainingError` instead,
    which names the largest possible size; False, as in `spm_train`, does not warn.

    *Limits on learned pieces.* `split_by_unicode_script` counts Han, Hiragana and Katakana as one; without
    `split_by_number`, digits combine with every script. With `split_by_whitespace`, ▁ is the first
    character of a piece only; without it, any but the last. `treat_whitespace_as_suffix` swaps first and
    last.

    *Pieces by pruning.* `learner=Pruning()` chooses the pieces of a unigram model as `UnigramTrainer` does:
    words take fewer tokens, in every library that reads the `.model`. The number of seeds is a setting of the
    learner.

    *Pieces that are not learned.* Unknown, bos, eos and pad have their ids. `control_symbols` get the
    lowest free ids, then `user_defined_symbols`, then the 256 bytes of `byte_fallback`. A word model has
    each user-defined symbol with ▁ too.

    *Sentences.* With `input_format="tsv"`, each line is a sentence, a tab and a count.
    `seed_sentencepieces_file` has a seed piece, a tab and a count on each line; pieces that occur in the
    corpus replace the seed substrings.

    Source: Kudo and Richardson 2018; `spm_train` of sentencepiece 0.2.3.
    """

    kind = "sentencepiece"
    _title = "SentencePiece"

    _sections: ClassVar[Mapping[str, str]] = {
        "normalization_rule_name": "Normalization",
        "character_coverage": "Alphabet",
        "max_sentencepiece_length": "Limits on learned pieces",
        "unk_id": "Pieces that are not learned",
        "input_format": "Sentences",
        "learner": "Unigram",
        "vocabulary_output_piece_score": "Model file",
    }

    model_type: SentencePieceKind = setting(
        "unigram", Choice("Type of the model.", names=SENTENCEPIECE_TYPES)
    )
    vocab_size: int = setting(
        8_000, Integer("Size of the vocabulary, all pieces included.", least=1, most=_MAX_SIZE)
    )
    hard_vocab_limit: bool | None = setting(
        None,
        Switch(
            "Fail if the corpus has too few pieces for the size, or take fewer as spm_train does.",
            none="take fewer, with a warning",
        ),
    )
    use_all_vocab: bool = setting(
        False, Switch("Keep all words or characters of the corpus (word, char).")
    )

    normalization_rule_name: str = setting(
        "nmt_nfkc", Choice("Named normalization rules.", names=NormalizationRules.NAMES)
    )
    normalization_rule_tsv: Rules | None = setting(
        None, RulesFile("File of normalization rules, instead of named rules.")
    )
    denormalization_rule_tsv: Rules | None = setting(
        None, RulesFile("File of rules to apply to decoded text.")
    )
    add_dummy_prefix: bool = setting(True, Switch("Add a space before the text."))
    remove_extra_whitespaces: bool = setting(
        True, Switch("Remove leading, trailing and repeated spaces.")
    )
    treat_whitespace_as_suffix: bool = setting(
        False, Switch("Put the metaspace at the end of words.")
    )

    character_coverage: float = setting(0.9995, common.CHARACTER_COVERAGE)
    required_chars: str = setting(
        "", Text("Characters to include even if the corpus lacks them.", metavar="CHARS")
    )
    required_chars_file: PathLike | None = setting(
        None, File("File with further required characters.")
    )

    max_sentencepiece_length: int = setting(
        16, Integer("Longest piece to learn, in characters.", least=1, most=512)
    )
    split_by_unicode_script: bool = setting(
        True, Switch("Do not learn pieces of several Unicode scripts.")
    )
    split_by_number: bool = setting(
        True, Switch("Do not learn pieces of digits and other characters.")
    )
    split_digits: bool = setting(False, Switch("Make each digit a piece."))
    split_by_whitespace: bool = setting(True, Switch("Do not learn pieces that cross whitespace."))
    allow_whitespace_only_pieces: bool = setting(False, Switch("Allow pieces of several spaces."))
    pretokenization_delimiter: str = setting("", Text("String that no learned piece crosses."))
    transition: int | float | None = setting(
        None, common.transition_setting("preset llama-superwords or of trainer.pipeline (bpe)")
    )
    max_words: int | None = setting(4, common.MAX_WORDS)
    cross_punctuation: bool = setting(True, common.CROSS_PUNCTUATION)

    unk_id: int = setting(
        0, Integer("Id of the unknown piece, which is required.", least=0, most=_MAX_SIZE)
    )
    bos_id: int = setting(1, _role_id("BOS"))
    eos_id: int = setting(2, _role_id("EOS"))
    pad_id: int = setting(-1, _role_id("padding"))
    unk_piece: str = setting("<unk>", _role_piece("unknown"))
    bos_piece: str = setting("<s>", _role_piece("BOS"))
    eos_piece: str = setting("</s>", _role_piece("EOS"))
    pad_piece: str = setting("<pad>", _role_piece("padding"))
    unk_surface: str = setting(" ⁇ ", Text("Text that an unknown piece decodes to."))
    control_symbols: tuple[str, ...] = setting(
        (), Tokens("Pieces that never match text.", option="--control-symbol", metavar="TOKEN")
    )
    control_symbols_file: PathLike | None = setting(
        None, File("File with further control symbols, one per line.")
    )
    user_defined_symbols: tuple[str, ...] = setting((), common.USER_DEFINED_SYMBOLS)
    user_defined_symbols_file: PathLike | None = setting(
        None, File("File with further user-defined symbols, one per line.")
    )
    byte_fallback: bool = setting(False, common.BYTE_FALLBACK)

    input_format: Literal["text", "tsv"] = setting(
        "text", Choice("text, or tsv: sentence, tab, count.", names=("text", "tsv"))
    )
    max_sentence_length: int = setting(
        4192, Integer("Longest sentence, in bytes; longer ones are skipped.", least=1)
    )
    input_sentence_size: int = setting(
        0, Integer("Maximum number of sentences to train on; 0 means all.", least=0)
    )
    shuffle_input_sentence: bool = setting(
        True, Switch("Draw that number of sentences at random, or take the first.")
    )
    seed: int = setting(0, Integer("Seed of the random sentences.", least=0))

    learner: Pruning | None = setting(None, _LEARNER)
    seed_sentencepiece_size: int = setting(
        1_000_000, Integer("Number of pieces to start from (unigram).", least=1, most=_MAX_SIZE)
    )
    seed_sentencepieces_file: PathLike | None = setting(
        None, File("File of pieces to start from: piece, tab, count (unigram).")
    )
    shrinking_factor: float = setting(0.75, common.SHRINKING_FACTOR)
    num_sub_iterations: int = setting(
        2, Integer("EM iterations before each pruning step (unigram).", least=1, most=10)
    )

    vocabulary_output_piece_score: bool = setting(True, Switch("Write scores to the .vocab file."))
    accept_language: tuple[str, ...] = setting(
        (), Tokens("Languages of the model, stored in the file.", metavar="LANGUAGE")
    )

    def __post_init__(self) -> None:
        check_settings(self)
        read_files(self)
        check_contradictions(self)
        common.check_transition(self.transition, self.vocab_size)

    # ---- stages and pieces that follow from the settings

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
        bytes_ = (f"<0x{byte:02X}>" for byte in range(256 if self.byte_fallback else 0))
        symbols: list[tuple[str, str, PieceType]] = [
            *(("control_symbols", text, "control") for text in self.control_symbols),
            *(("user_defined_symbols", text, "user_defined") for text in self._user_defined),
            *(("byte_fallback", text, "byte") for text in bytes_),
        ]
        return pieces_by_id(roles, symbols)

    @property
    def _normalizer(self) -> SentencePieceNormalizer:
        """The normalizer of the model."""
        return SentencePieceNormalizer(
            charsmap=self._rules.charsmap,
            add_dummy_prefix=self.add_dummy_prefix,
            remove_extra_whitespaces=self.remove_extra_whitespaces,
            treat_whitespace_as_suffix=self.treat_whitespace_as_suffix,
            user_defined_symbols=self._texts("user_defined"),
        )

    @property
    def _decoder(self) -> SentencePieceDecoder:
        """The decoder of the model."""
        rules = resolve_rules(self.denormalization_rule_tsv)
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
        """The normalizer and pre-tokenizer that split sentences into words for counting.

        Unlike the normalizer of the model, this one applies the rules to user-defined symbols too.
        """
        normalizer = replace(self._normalizer, user_defined_symbols=())
        return Pipeline(with_tab_for(self._symbols_across_words, normalizer), self._pre_tokenizer)

    @property
    def sentences(self) -> Sentences:
        """The sentences to learn from, for `count_texts` and `count_files`.

        >>> SentencePieceTrainer(input_sentence_size=1000).sentences.size
        1000
        """
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
        self, counts: AnyCounts, progress: Progress = None, **how: Unpack[LearnOptions]
    ) -> SentencePiece:
        """Learn a model from counts of `pipeline`; the model contains its training settings.

        Warns with `TrainingWarning` if the corpus has too few pieces for `vocab_size`, or raises
        `TrainingError` with `hard_vocab_limit`. Raises `TrainingError` if the required pieces exceed
        `vocab_size`, and `CorpusError` if there are no words.
        """
        learned = self.learn_pieces(counts, progress, **how).pieces
        pieces = with_learned(self.meta_pieces, learned)
        if self.hard_vocab_limit is None and not self.use_all_vocab and self.model_type != "char":
            common.warn_of_few(len(pieces), self.vocab_size, "the corpus has no more pieces")
        return self._model_of(pieces, rest=settings_as_bytes(self, len(pieces)))

    def learn_pieces(
        self, counts: AnyCounts, progress: Progress = None, **how: Unpack[LearnOptions]
    ) -> LearnedPieces:
        """Return the learned pieces and, for Unigram, the EM iterations; `num_threads` changes neither."""
        counts = common.checked_counts(counts)
        self._check_sequences(counts)
        with common.resumable(self, counts, progress, how.get("checkpoint")) as run:

            def learn(vocab_size: int) -> CorePieces:
                return self._run(counts, how.get("num_threads"), vocab_size, **run)

            if self.hard_vocab_limit is None:
                return LearnedPieces._of(common.learn_at_most(self.vocab_size, learn))
            return LearnedPieces._of(learn(self.vocab_size))

    def _specification(
        self, model: SentencePiece, preset: AnyPreset | None = None
    ) -> TokenizerSpec:
        """Return the specification of a learned model, with its stages and the template of a preset."""
        template = None if preset is None else preset.template(model.vocab)
        return TokenizerSpec(
            model, normalizer=self._normalizer, decoder=self._decoder, post_processor=template
        )

    # ---- what a trainer says of itself

    def _preset_for(
        self, preset: str | AnyPreset | None, counted: Pipeline | None = None
    ) -> AnyPreset | None:
        """Return the preset, which has only the template; raise `ArgumentError` for a pipeline."""
        if isinstance(preset, str | Preset):
            raise ArgumentError(
                "preset",
                f"must be None, not {preset!r}: SentencePieceTrainer has settings for the "
                "whole pipeline",
            )
        return preset

    def _pipeline_with(self, preset: AnyPreset | None) -> Pipeline:
        """Return the stages that split texts into the words to learn from."""
        return self.pipeline

    def _traits(self) -> Traits:
        resumptions: dict[str, Resumption] = {"unigram": "round", "bpe": "merges"}
        return replace(
            super()._traits(),
            detail=f"{self.model_type} {self.learner.name}" if self.learner else self.model_type,
            fixed_tokens=tuple(piece.text for piece in self.meta_pieces.values()),
            sentences=self.sentences,
            resumption="choices" if self.learner else resumptions.get(self.model_type),
            has_own_pipeline=True,
        )

    def _memory(self, words: WordSizes) -> Amount:
        """Return an upper bound of the bytes that learning takes, besides counts and entries."""
        import numpy as np

        kinds = {"unigram": memory_of_unigram, "bpe": memory_of_merges}
        if self.transition is not None:
            words = common.sizes_of_sequences(words)
        needed = kinds.get(self.model_type, memory_of_ranking)(words)
        if self.learner is None:
            return needed
        return np.maximum(needed, self.learner._memory(words, self.vocab_size))

    def _check_before_counting(self, files: int | None = None) -> None:
        """Read the seeds, which raises for a file that has none; other settings were checked before."""
        _ = self._seeds

    def _smallest_model(self) -> SentencePiece:
        """Return a model with the characters of its symbols as pieces, as a large corpus gives."""
        symbols = {piece.text for piece in self.meta_pieces.values()}
        characters = dict.fromkeys(("▁", "a", *(c for symbol in symbols for c in symbol)))
        learned = [character for character in characters if character not in symbols]
        gaps = max(self.meta_pieces) + 1 - len(self.meta_pieces) - len(learned)
        learned += map(chr, islice(count(_FILLERS), max(0, gaps)))
        pieces = [(character, -1.0) for character in learned]
        return self._model_of(with_learned(self.meta_pieces, pieces))

    # ---- helpers

    def _model_of(self, pieces: tuple[ScoredPiece, ...], **rest: Any) -> SentencePiece:
        return SentencePiece(
            pieces,
            kind=self.model_type,
            byte_fallback=self.byte_fallback,
            bos_piece=self.bos_piece,
            eos_piece=self.eos_piece,
            pad_piece=self.pad_piece,
            **rest,
        )

    def _run(
        self, counts: Counts, num_threads: int | None, vocab_size: int | None = None, **run: Any
    ) -> CorePieces:
        rules = {
            "max_chars": self.max_sentencepiece_length,
            "split_by_unicode_script": self.split_by_unicode_script,
            "split_by_number": self.split_by_number,
            "split_digits": self.split_digits,
            "split_by_whitespace": self.split_by_whitespace,
            "allow_whitespace_only_pieces": self.allow_whitespace_only_pieces,
            "treat_whitespace_as_suffix": self.treat_whitespace_as_suffix,
        }
        words, sequences = self._words_and_sequences(counts)
        return learn_sentencepiece(
            words,
            {
                "kind": self.model_type,
                "vocab_size": None if self.use_all_vocab else vocab_size or self.vocab_size,
                "hard_vocab_limit": self.hard_vocab_limit is not False,
                "symbols": [piece.text for piece in self.meta_pieces.values()],
                "character_coverage": self.character_coverage,
                "required_chars": self.required_chars,
                "piece_rules": rules,
                "superwords": self._superwords(rules),
                "pretokenization_delimiter": self.pretokenization_delimiter,
                "seed_size": self.seed_sentencepiece_size,
                "seeds": self._seeds,
                "pruning": self.learner and vars(self.learner),
                "shrinking_factor": self.shrinking_factor,
                "num_sub_iterations": self.num_sub_iterations,
            },
            num_threads=thread_count(num_threads),
            sequences=sequences,
            **run,
        )

    # ---- pieces that cross spaces

    def _superwords(self, rules: dict[str, Any]) -> dict[str, Any] | None:
        """Return the settings of pieces that cross spaces, as the core takes them."""
        if self.transition is None:
            return None
        several = {"max_words": self.max_words, "join_punctuation": self.cross_punctuation}
        fixed = len(self.meta_pieces)
        transition = common.core_transition(self.transition, self.vocab_size, fixed)
        return {**transition, "piece_rules": {**rules, "several_words": several}}

    def _words_and_sequences(self, counts: Counts) -> tuple[RawCounts, RawCounts | None]:
        """Return the counts of single words, and of the sequences that pieces may cross."""
        raw = counts._raw
        if self.transition is None:
            return raw, None
        words = raw.split(Pipeline(None, self._split_at(self._spaces)).to_json())
        if self.cross_punctuation:
            return words, raw
        within = self._split_sequences(punctuation=False)
        return words, raw.split(Pipeline(None, within).to_json())

    def _check_sequences(self, counts: Counts) -> None:
        """Raise `ArgumentError` for counts of other words than the sequences that pieces may cross."""
        if self.transition is None or counts.pipeline is None:
            return
        if not counts.pipeline.agrees_with(self.pipeline):
            problem = (
                f"have words of the pipeline {counts.pipeline}; transition needs sequences of words: count "
                "again with preset=trainer.pipeline"
            )
            raise ArgumentError("counts", problem)

    @cached_property
    def _rules(self) -> NormalizationRules:
        own = resolve_rules(self.normalization_rule_tsv)
        return NormalizationRules.named(self.normalization_rule_name) if own is None else own

    @cached_property
    def _seeds(self) -> list[tuple[str, int]] | None:
        path = self.seed_sentencepieces_file
        return None if path is None else read_seeds(path)

    @property
    def _checkpoint_settings(self) -> dict[str, Any]:
        """The settings that a checkpoint must agree with; seeds are compared by their content.

        Normalization rules act through the counts.
        """
        settings = {field.name: getattr(self, field.name) for field in fields(self)}
        del settings["normalization_rule_tsv"], settings["denormalization_rule_tsv"]
        settings["learner"] = self.learner and vars(self.learner)
        if self._seeds is not None:
            crc = zlib.crc32(json.dumps(self._seeds).encode())
            settings["seed_sentencepieces_file"] = f"{len(self._seeds)} seeds, CRC {crc:08x}"
        return settings

    @property
    def _pre_tokenizer(self) -> PreTokenizer | None:
        """Split at ▁, which begins or ends a word or a sequence; several ▁ are one word or separate words."""
        if self.model_type in ("word", "char"):
            return Split("▁", "merged_with_next")
        if not self.split_by_whitespace:
            return None
        if self.transition is not None:
            return self._split_sequences()
        return self._split_at(self._spaces)

    @property
    def _spaces(self) -> str | Regex:
        return Regex("▁+") if self.allow_whitespace_only_pieces else "▁"

    def _split_sequences(self, *, punctuation: bool = True) -> PreTokenizer:
        runs = self.allow_whitespace_only_pieces
        return self._split_at(Regex(common.ends_of_sequences(runs=runs, punctuation=punctuation)))

    def _split_at(self, spaces: str | Regex) -> PreTokenizer:
        ends = self.treat_whitespace_as_suffix
        return Split(spaces, "merged_with_previous" if ends else "merged_with_next")

    @property
    def _user_defined(self) -> tuple[str, ...]:
        """The user-defined symbols; a word model needs them with and without ▁."""
        if self.model_type != "word":
            return self.user_defined_symbols
        pairs = (
            (text, "" if text.startswith("▁") else f"▁{text}") for text in self.user_defined_symbols
        )
        return tuple(text for pair in pairs for text in pair if text)

    @property
    def _symbols_across_words(self) -> list[str]:
        """All symbols, longest first, if one of them can span more than one word; otherwise none."""
        texts = [piece.text for piece in self.meta_pieces.values()]
        first = 0 if self.model_type == "word" else 1
        spans_words = any("▁" in text[first:] for text in texts)
        return sorted(texts, key=len, reverse=True) if spans_words else []

    def _texts(self, type: str) -> tuple[str, ...]:
        return tuple(piece.text for piece in self.meta_pieces.values() if piece.type == type)
