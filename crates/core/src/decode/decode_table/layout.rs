//! The arrays of a decode table.

/// What every id adds to a text.
#[derive(Debug)]
pub struct DecodeTable {
    /// By id: a short text and its length, once where special tokens are left out and once where not; or `NOT_SHORT` where
    /// more is to be known. Most tokens take one look at memory.
    pub(super) shorts: Vec<[u8; COPIED]>,
    pub(super) entries: Vec<TextEntry>,
    /// The texts of all entries.
    pub(super) texts: Vec<u8>,
    pub(super) assembly: Assembly,
}

/// What is beyond putting the texts one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Assembly {
    /// Nothing.
    Plain,
    /// The first token is as the decoder makes it alone.
    First,
    /// The last token is as the decoder makes it alone.
    Last,
    /// The texts are bytes.
    Bytes,
    /// Runs of byte entries are read as UTF-8; then the whole text is stripped.
    Fallback { strip: Option<(char, usize, usize)> },
    /// SentencePiece's byte entries and first space.
    Sentence,
}

/// Where an id's text stands, and what the id is.
#[derive(Clone, Copy, Debug)]
pub(super) struct TextEntry {
    pub(super) start: u32,
    pub(super) len_and_flags: u32,
}

/// No token has the id.
pub(super) const MISSING: u32 = 1 << 31;
/// It is skipped where special tokens are.
pub(super) const SPECIAL: u32 = 1 << 30;
/// It is a byte, which its text is.
pub(super) const BYTE: u32 = 1 << 29;
/// All flags.
pub(super) const FLAGS: u32 = MISSING | SPECIAL | BYTE;

/// How many bytes are copied at once: more than most tokens have.
pub(super) const COPIED: usize = 16;
/// Where a short text's length is, if special tokens are left out.
pub(super) const LEN_WITHOUT_SPECIAL: usize = COPIED - 2;
/// Where its length is, if they are not.
pub(super) const LEN: usize = COPIED - 1;
/// The length of a text that is not short, or is a byte.
pub(super) const NOT_SHORT: u8 = u8::MAX;
