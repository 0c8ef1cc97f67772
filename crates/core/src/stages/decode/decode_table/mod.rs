//! Decoding with one lookup for each token, in a table of the text that each id adds.
//!
//! A decoder has a table if each token adds the same text everywhere, except at the beginning or end of a
//! text and in runs of bytes. Other decoders run their stages.

mod build;
mod run;

pub use run::DecodeInput;

/// The text that every id adds.
#[derive(Debug)]
pub struct DecodeTable {
    /// By id: a short text, then its length if special tokens are skipped and its length if they are not,
    /// or `NOT_SHORT` if `entries` decides. Most tokens need only this array.
    pub(super) shorts: Vec<[u8; COPIED]>,
    pub(super) entries: Vec<TextEntry>,
    /// The texts of all ids.
    pub(super) texts: Vec<u8>,
    pub(super) assembly: Assembly,
}

/// How the texts of ids become one text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Assembly {
    /// By concatenation.
    Plain,
    /// The first token decodes as it does alone.
    First,
    /// The last token decodes as it does alone.
    Last,
    /// The texts are bytes, to be read as UTF-8.
    Bytes,
    /// Runs of byte tokens are read as UTF-8; then the whole text is stripped.
    Fallback { strip: Option<(char, usize, usize)> },
    /// As SentencePiece, with its bytes and its first space.
    Sentence,
}

/// The position of an id's text, and its flags.
#[derive(Clone, Copy, Debug)]
pub(super) struct TextEntry {
    pub(super) start: u32,
    pub(super) len_and_flags: u32,
}

/// No token has this id.
pub(super) const MISSING: u32 = 1 << 31;
/// The token is special.
pub(super) const SPECIAL: u32 = 1 << 30;
/// The token is a byte; its text is this byte.
pub(super) const BYTE: u32 = 1 << 29;
/// All flags.
pub(super) const FLAGS: u32 = MISSING | SPECIAL | BYTE;

/// The bytes copied at once; most tokens are shorter.
pub(super) const COPIED: usize = 16;
/// The position of the length if special tokens are skipped.
pub(super) const LEN_WITHOUT_SPECIAL: usize = COPIED - 2;
/// The position of the length if they are not.
pub(super) const LEN: usize = COPIED - 1;
/// The length of texts that are too long, and of bytes.
pub(super) const NOT_SHORT: u8 = u8::MAX;
