//! The fields of SentencePiece's schema that tokenizing depends on: numbers, names and what they are when
//! they are not there.

use piecework_core::spec::{PieceType, SentencePieceKind};

use super::message::Field;

pub(super) const PIECES: Field = (1, "pieces");
pub(super) const TRAINER: Field = (2, "trainer_spec");
pub(super) const NORMALIZER: Field = (3, "normalizer_spec");
pub(super) const SELF_TEST: Field = (4, "self_test_data");
pub(super) const DENORMALIZER: Field = (5, "denormalizer_spec");

/// Fields from this number on are left to extensions by others.
pub(super) const EXTENSIONS: u32 = 200;

/// Of a piece.
pub(super) const PIECE: Field = (1, "piece");
pub(super) const SCORE: Field = (2, "score");
pub(super) const TYPE: Field = (3, "type");

/// Of the trainer's settings.
pub(super) const MODEL_TYPE: Field = (3, "model_type");
pub(super) const VOCAB_SIZE: Field = (4, "vocab_size");
pub(super) const WHITESPACE_AS_SUFFIX: Field = (24, "treat_whitespace_as_suffix");
pub(super) const BYTE_FALLBACK: Field = (35, "byte_fallback");
pub(super) const UNK_SURFACE: Field = (44, "unk_surface");
pub(super) const UNK_PIECE: Field = (45, "unk_piece");
pub(super) const BOS_PIECE: Field = (46, "bos_piece");
pub(super) const EOS_PIECE: Field = (47, "eos_piece");
pub(super) const PAD_PIECE: Field = (48, "pad_piece");

pub(super) const OUTPUT_PIECE_SCORE: Field = (32, "vocabulary_output_piece_score");

/// Of a normalizer's settings.
pub(super) const CHARSMAP: Field = (2, "precompiled_charsmap");
pub(super) const ADD_DUMMY_PREFIX: Field = (3, "add_dummy_prefix");
pub(super) const REMOVE_EXTRA_WHITESPACES: Field = (4, "remove_extra_whitespaces");
pub(super) const ESCAPE_WHITESPACES: Field = (5, "escape_whitespaces");

/// Of the self-test and its samples.
pub(super) const SAMPLES: Field = (1, "samples");
pub(super) const INPUT: Field = (1, "input");
pub(super) const EXPECTED: Field = (2, "expected");

/// All settings of the trainer that are written; what the machine is told (files, threads) is not.
pub(super) const TRAINER_SETTINGS: [Field; 36] = [
    (3, "model_type"),
    (4, "vocab_size"),
    (5, "accept_language"),
    (6, "self_test_sample_size"),
    (7, "input_format"),
    (10, "character_coverage"),
    (11, "input_sentence_size"),
    (14, "seed_sentencepiece_size"),
    (15, "shrinking_factor"),
    (17, "num_sub_iterations"),
    (18, "max_sentence_length"),
    (19, "shuffle_input_sentence"),
    (20, "max_sentencepiece_length"),
    (21, "split_by_unicode_script"),
    (22, "split_by_whitespace"),
    (23, "split_by_number"),
    (24, "treat_whitespace_as_suffix"),
    (25, "split_digits"),
    (26, "allow_whitespace_only_pieces"),
    (30, "control_symbols"),
    (31, "user_defined_symbols"),
    (32, "vocabulary_output_piece_score"),
    (33, "hard_vocab_limit"),
    (34, "use_all_vocab"),
    (35, "byte_fallback"),
    (36, "required_chars"),
    (40, "unk_id"),
    (41, "bos_id"),
    (42, "eos_id"),
    (43, "pad_id"),
    (44, "unk_surface"),
    (45, "unk_piece"),
    (46, "bos_piece"),
    (47, "eos_piece"),
    (48, "pad_piece"),
    (53, "pretokenization_delimiter"),
];

/// All settings of a normalizer but where its rules were read.
pub(super) const NORMALIZER_SETTINGS: [Field; 5] =
    [(1, "name"), CHARSMAP, ADD_DUMMY_PREFIX, REMOVE_EXTRA_WHITESPACES, ESCAPE_WHITESPACES];

pub(super) const DEFAULT_UNK_SURFACE: &str = " \u{2047} ";
pub(super) const DEFAULT_BOS: &str = "<s>";
pub(super) const DEFAULT_EOS: &str = "</s>";
pub(super) const DEFAULT_PAD: &str = "<pad>";
pub(super) const DEFAULT_UNK: &str = "<unk>";

pub(super) const KINDS: [(u64, SentencePieceKind); 4] = [
    (1, SentencePieceKind::Unigram),
    (2, SentencePieceKind::Bpe),
    (3, SentencePieceKind::Word),
    (4, SentencePieceKind::Char),
];

pub(super) const TYPES: [(u64, PieceType); 6] = [
    (1, PieceType::Normal),
    (2, PieceType::Unknown),
    (3, PieceType::Control),
    (4, PieceType::UserDefined),
    (5, PieceType::Unused),
    (6, PieceType::Byte),
];
