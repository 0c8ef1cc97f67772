//! Limits of ids, tokens and vocabularies: tables beyond them would not fit in memory.

use crate::error::{shortened, Error, ErrorKind};
use crate::spec::ModelSpec;

/// The largest id; tables are indexed by id.
pub const MAX_ID: u32 = (1 << 28) - 1;

/// Return the largest id that one of `tokens` tokens may have: tables of mostly unused ids would not fit in memory.
pub(crate) fn max_id_of(tokens: usize) -> u32 {
    (1_000_000 + 16 * tokens).min(MAX_ID as usize) as u32
}

/// The length of the longest token, in bytes. Tables of prefixes take about fifty bytes a byte of a token.
pub const MAX_TOKEN_BYTES: usize = 1 << 20;

/// The most bytes of all tokens together, for models with tables of prefixes.
pub const MAX_VOCAB_BYTES: usize = 64 << 20;

/// Reject tokens and vocabularies whose tables would not fit in memory.
pub(super) fn check_sizes(spec: &ModelSpec) -> Result<(), Error> {
    let of_entries = |vocab: &[(String, u32)], max| {
        let lens = vocab.iter().map(|(token, _)| token.len());
        check_lens(lens, max, |at| format!("model.vocab[{:?}]", shortened(&vocab[at].0)))
    };
    match spec {
        ModelSpec::WordPiece(spec) => of_entries(&spec.vocab, MAX_VOCAB_BYTES),
        ModelSpec::Bpe(spec) => of_entries(&spec.vocab, MAX_VOCAB_BYTES),
        ModelSpec::Word(spec) => of_entries(&spec.vocab, usize::MAX),
        ModelSpec::Char(spec) => of_entries(&spec.vocab, usize::MAX),
        ModelSpec::Unigram(spec) => {
            let lens = spec.vocab.iter().map(|(token, _)| token.len());
            check_lens(lens, MAX_VOCAB_BYTES, |at| format!("model.vocab[{at}]"))
        }
        ModelSpec::SentencePiece(spec) => {
            let lens = spec.pieces.iter().map(|piece| piece.text.len());
            check_lens(lens, MAX_VOCAB_BYTES, |at| format!("model.pieces[{at}]"))
        }
    }
}

/// Reject tokens longer than [`MAX_TOKEN_BYTES`], and tokens of more than `max` bytes together.
pub(crate) fn check_lens(
    lens: impl Iterator<Item = usize>,
    max: usize,
    place_of: impl Fn(usize) -> String,
) -> Result<(), Error> {
    let mut total = 0_usize;
    for (at, len) in lens.enumerate() {
        if len > MAX_TOKEN_BYTES {
            return Err(token_too_long(place_of(at), len));
        }
        total += len;
        if total > max {
            let found = format!("over {max} bytes of tokens up to here");
            return Err(Error::new(ErrorKind::Vocabulary, place_of(at), found, "a smaller vocabulary"));
        }
    }
    Ok(())
}

/// Return the error for a token at `place` of more than [`MAX_TOKEN_BYTES`].
#[must_use]
pub fn token_too_long(place: impl Into<String>, len: usize) -> Error {
    let found = format!("a token of {len} bytes");
    Error::new(ErrorKind::Vocabulary, place, found, format!("at most {MAX_TOKEN_BYTES} bytes"))
}
