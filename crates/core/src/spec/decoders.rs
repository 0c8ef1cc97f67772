//! Decoders, as in `tokenizer.json`.

use super::{ByteLevelSpec, MetaspaceSpec, PatternSpec, SentencePieceDecoderSpec};

/// The `decoder` of a tokenizer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DecoderSpec {
    /// `WordPiece`: puts spaces between tokens, except before continuations.
    WordPiece {
        /// The continuation prefix that is removed, such as `##`.
        prefix: String,
        /// Removes spaces before punctuation and English contractions.
        cleanup: bool,
    },
    /// `Fuse`: joins all tokens into one.
    Fuse,
    /// `ByteLevel`: maps printable characters back to bytes. The settings do not change decoding.
    ByteLevel(ByteLevelSpec),
    /// `ByteFallback`: maps byte tokens such as `<0x0A>` back to bytes.
    ByteFallback,
    /// `BPEDecoder`: replaces the end-of-word suffix by a space.
    Bpe {
        /// The end-of-word suffix, such as `</w>`.
        suffix: String,
    },
    /// `Metaspace`: replaces the metaspace by a space.
    Metaspace(MetaspaceSpec),
    /// The decoder of a SentencePiece model; `tokenizer.json` has no such kind.
    SentencePiece(SentencePieceDecoderSpec),
    /// `CTC`: removes repeated tokens and blanks (connectionist temporal classification).
    Ctc {
        /// The blank token.
        pad_token: String,
        /// The token between words; `cleanup` replaces it by a space.
        word_delimiter_token: String,
        /// Removes spaces before punctuation and English contractions.
        cleanup: bool,
    },
    /// `Replace`: replaces every match in every token.
    Replace {
        /// The text or regular expression to replace.
        pattern: PatternSpec,
        /// The replacement.
        content: String,
    },
    /// `Strip`: removes a character at the ends of every token.
    Strip {
        /// The character to remove.
        content: char,
        /// The most characters removed at the beginning of a token.
        start: usize,
        /// The most characters removed at the end of a token.
        stop: usize,
    },
    /// `Sequence`: several decoders, each on the tokens of the one before.
    Sequence(Vec<DecoderSpec>),
}
