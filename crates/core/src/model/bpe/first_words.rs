//! Words by rank-BPE, with lookups in the vocabulary.
//!
//! Deriving the merges takes half of the time of loading. The first words do without them.

use crate::model::{TokenSink, TokenSpan};
use crate::ranks::{RankMerger, NO_RANK};
use crate::text::byte_of_printable;
use crate::vocab::Vocab;

/// The longest word, in bytes, that is merged by lookups, which take quadratic time.
const MAX_BYTES: usize = 256;

/// Merge a word of printable characters by the ids of a vocabulary. Return `false` for a word that is too long, or that
/// has a character which represents no byte or is no token.
#[cold]
pub(super) fn merge(word: &str, vocab: &Vocab, out: &mut impl TokenSink) -> bool {
    let id = |start: usize, end: usize| vocab.id_of(&word[start..end]).unwrap_or(NO_RANK);
    let ends = word.char_indices().map(|(start, c)| (c, start + c.len_utf8()));
    let mut merger = RankMerger::default();
    merger.boundaries.push(0);
    merger.boundaries.extend(ends.map_while(|(c, end)| byte_of_printable(c).map(|_| end)));
    let symbols = || merger.boundaries.windows(2).map(|symbol| (symbol[0], symbol[1]));
    let are_tokens = merger.boundaries.ends_with(&[word.len()])
        && symbols().all(|(start, end)| id(start, end) != NO_RANK);
    if word.len() > MAX_BYTES || !are_tokens {
        return false;
    }
    merger.merge(1, id);
    for symbol in merger.boundaries.windows(2) {
        let (start, end) = (symbol[0], symbol[1]);
        out.push(TokenSpan { id: id(start, end), start: start as u32, end: end as u32 });
    }
    true
}
