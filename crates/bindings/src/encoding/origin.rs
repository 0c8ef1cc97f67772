//! What a token covers.

/// The word and the characters that a token covers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Origin {
    /// 0 for the text, 1 for its pair.
    pub(super) sequence: usize,
    /// The index of the pre-tokenized word that the offsets refer to, 0 for a text.
    pub(super) word: usize,
    /// The first character, and the one after the last.
    pub(super) chars: (usize, usize),
}
