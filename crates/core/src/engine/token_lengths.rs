//! The number of bytes of a word that each entry covers.

use piecework_unicode::char_count;

use crate::locks::Late;
use crate::spec::{BpeSpec, ModelSpec, UnknownUnit, WordPieceSpec};
use crate::stages::split::Splitter;
use crate::vocab::Vocab;

/// For each id the number of bytes of a normalized word that it covers, and where in a word it may be; computed at first
/// use.
#[derive(Clone, Debug, Default)]
pub(super) struct TokenLengths(Late<Vec<u16>>);

/// Set in the length of an entry that may begin a word.
pub(super) const FIRST: u16 = 1 << 15;
/// Set in the length of an entry that may continue a word.
pub(super) const CONTINUING: u16 = 1 << 14;
/// The bits of a length that hold the number of bytes.
pub(super) const LENGTH: u16 = CONTINUING - 1;

impl TokenLengths {
    /// Return the lengths of all entries by id; empty if entries do not say what they cover, and while another thread
    /// computes them.
    pub(super) fn get(&self, model: &ModelSpec, splitter: &Splitter, vocab: &Vocab) -> &[u16] {
        self.0.get_or_build(|| compute(model, splitter, vocab)).map_or(&[], Vec::as_slice)
    }

    /// Compute the lengths if they are not computed.
    pub(super) fn warm_up(&self, model: &ModelSpec, splitter: &Splitter, vocab: &Vocab) {
        self.0.get_or_make(|| compute(model, splitter, vocab));
    }
}

fn compute(model: &ModelSpec, splitter: &Splitter, vocab: &Vocab) -> Vec<u16> {
    match model {
        ModelSpec::Bpe(spec) if splitter.splits_raw() => byte_level_lengths(spec, vocab),
        ModelSpec::WordPiece(spec) if spec.unk == UnknownUnit::Word => wordpiece_lengths(spec, vocab),
        _ => Vec::new(),
    }
}

/// Return the lengths of byte-level entries.
fn byte_level_lengths(spec: &BpeSpec, vocab: &Vocab) -> Vec<u16> {
    by_id(vocab, spec.unk_token.as_deref(), |token| {
        (char_count(token.as_bytes()) as usize, FIRST | CONTINUING)
    })
}

/// Return the lengths of WordPiece entries.
fn wordpiece_lengths(spec: &WordPieceSpec, vocab: &Vocab) -> Vec<u16> {
    let prefix = spec.continuing_subword_prefix.as_str();
    by_id(vocab, Some(&spec.unk_token), |token| match token.strip_prefix(prefix) {
        Some(rest) if prefix.is_empty() => (rest.len(), FIRST | CONTINUING),
        Some(rest) => (rest.len(), CONTINUING),
        None => (token.len(), FIRST),
    })
}

/// Return the lengths of all entries; 0 for the unknown token and for entries that are too long.
fn by_id(vocab: &Vocab, unknown: Option<&str>, length_of: impl Fn(&str) -> (usize, u16)) -> Vec<u16> {
    let mut lengths = Vec::new();
    for (token, id) in vocab.iter().filter(|&(token, _)| Some(token) != unknown) {
        let (length, places) = length_of(token);
        if (1..=usize::from(LENGTH)).contains(&length) {
            lengths.resize(id as usize + 1, 0);
            lengths[id as usize] = length as u16 | places;
        }
    }
    lengths
}
