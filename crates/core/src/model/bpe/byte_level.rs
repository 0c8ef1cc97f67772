//! Byte-level words, whose 256 first symbols are bytes, by backtracking.

use super::backtracking::{BacktrackingBpe, MergeRules};
use super::merges::MergeIds;
use crate::spec::BpeSpec;
use crate::table_sections::TableSections;
use crate::text::{byte_of_printable, printable_of, push_bytes_of_printable};
use crate::vocab::Vocab;

/// Compile the byte-level tokens, if every byte has one and merges are in order.
pub(super) fn compile(
    spec: &BpeSpec,
    vocab: &Vocab,
    merges: &[MergeIds],
    stored: &TableSections,
) -> Option<BacktrackingBpe> {
    if spec.has_affixes() {
        return None;
    }
    let rules = MergeRules {
        id_bound: vocab.id_bound(),
        symbols: &symbols(vocab)?,
        merges,
        whole_words: &whole_words(spec, vocab),
        stored,
    };
    BacktrackingBpe::compile(&rules, |id, bytes| {
        push_bytes_of_printable(vocab.token_of(id).unwrap_or_default(), bytes);
    })
}

/// Return the tokens of the 256 bytes.
pub(super) fn symbols(vocab: &Vocab) -> Option<Vec<u32>> {
    (0..=255).map(|byte| vocab.id_of(printable_of(byte).encode_utf8(&mut [0; 4]))).collect()
}

/// Return the tokens that match whole words without merges.
fn whole_words(spec: &BpeSpec, vocab: &Vocab) -> Vec<u32> {
    let is_word = |token: &str| !token.is_empty() && token.chars().all(|c| byte_of_printable(c).is_some());
    let words = vocab.iter().filter(|(token, _)| spec.ignore_merges && is_word(token));
    words.map(|(_, id)| id).collect()
}
