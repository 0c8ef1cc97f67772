//! Decoders.

use super::{ByteLevelSpec, MetaspaceSpec, PatternSpec, SentencePieceDecoderSpec};

/// Decoders.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DecoderSpec {
    /// Spaces between tokens, none before continuations.
    WordPiece {
        /// What marks a continuation.
        prefix: String,
        /// Tidy the spaces around punctuation.
        cleanup: bool,
    },
    /// Nothing between tokens.
    Fuse,
    /// Printable characters back to bytes.
    ByteLevel(ByteLevelSpec),
    /// Byte entries such as `<0x0A>` back to bytes.
    ByteFallback,
    /// Word-end marks back to spaces.
    Bpe {
        /// What marks the end of a word.
        suffix: String,
    },
    /// Space marks back to spaces.
    Metaspace(MetaspaceSpec),
    /// Pieces of SentencePiece to the text that they were made of.
    SentencePiece(SentencePieceDecoderSpec),
    /// Repetitions and blanks of a connectionist temporal classification removed.
    Ctc {
        /// The blank.
        pad_token: String,
        /// What stands between words.
        word_delimiter_token: String,
        /// Tidy the spaces around punctuation.
        cleanup: bool,
    },
    /// Replace every match in every token.
    Replace {
        /// What is replaced.
        pattern: PatternSpec,
        /// What stands there instead.
        content: String,
    },
    /// Remove a character at the ends of every token.
    Strip {
        /// The character.
        content: char,
        /// At most so many at the beginning.
        start: usize,
        /// At most so many at the end.
        stop: usize,
    },
    /// One after the other.
    Sequence(Vec<DecoderSpec>),
}
