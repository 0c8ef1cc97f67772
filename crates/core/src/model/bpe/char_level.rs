//! Words whose first symbols are characters, by backtracking.
//!
//! A character without a token merges with nothing, so the parts before and after it are segmented separately. This
//! requires that such characters become an unknown token or byte tokens, and that none of these has a merge.
//!
//! And the tables of byte-level words, whose 256 first symbols are bytes.

use super::backtracking::{BacktrackingBpe, BacktrackingScratch, MergeRules};
use super::merges::MergeIds;
use crate::model::{TokenSink, TokenSpan};
use crate::spec::BpeSpec;
use crate::table_sections::TableSections;
use crate::text::{byte_entry, byte_of_entry, byte_of_printable, printable_of, push_bytes_of_printable};
use crate::vocab::Vocab;

/// The tokens of characters and the merges of these.
#[derive(Clone, Debug)]
pub(super) struct CharLevel {
    backtracking: BacktrackingBpe,
    /// Whether every byte has a token, so that each unknown character is segmented independently.
    has_all_bytes: bool,
}

impl CharLevel {
    /// Compile the model if merges are in order and the first symbols do not represent bytes.
    pub(super) fn compile(
        spec: &BpeSpec,
        vocab: &Vocab,
        merges: &[MergeIds],
        stored: &TableSections,
    ) -> Option<Self> {
        let symbols: Vec<u32> =
            vocab.iter().filter(|(token, _)| is_char(token)).map(|(_, id)| id).collect();
        let are_chars = byte_symbols(vocab).is_none() || merges_other_chars(&symbols, vocab, merges);
        let has_all_bytes =
            spec.byte_fallback && (0..=255).all(|byte| vocab.id_of(&byte_entry(byte)).is_some());
        let has_unknown = has_all_bytes || spec.unk_token.is_some();
        if !are_chars || !has_unknown || spec.has_affixes() || merges_unknown(spec, vocab, merges) {
            return None;
        }
        let (id_bound, symbols) = (vocab.id_bound(), &symbols);
        let rules = MergeRules { id_bound, symbols, merges, whole_words: &[], stored };
        let push_bytes = |id, bytes: &mut Vec<u8>| {
            bytes.extend_from_slice(vocab.token_of(id).unwrap_or_default().as_bytes());
        };
        BacktrackingBpe::compile(&rules, push_bytes)
            .map(|backtracking| Self { backtracking, has_all_bytes })
    }

    /// Add the table sections.
    pub(super) fn store(&self, sections: &mut TableSections) {
        self.backtracking.store(sections);
    }

    /// Segment a word from byte `at` to the first character without a token. Return where segmentation stopped,
    /// which is earlier if it takes too many steps.
    pub(super) fn segment(
        &self,
        word: &str,
        mut at: usize,
        scratch: &mut BacktrackingScratch,
        out: &mut impl TokenSink,
    ) -> usize {
        self.backtracking.segment(&word.as_bytes()[at..], scratch, |id, len| {
            out.push(TokenSpan { id, start: at as u32, end: (at + len) as u32 });
            at += len;
        });
        at
    }

    /// Return the characters without a token at the start of a text that become one token together.
    pub(super) fn unknown<'t>(&self, text: &'t str) -> &'t str {
        let is_end = |at: usize| {
            self.has_all_bytes && at > 0 || self.backtracking.starts_with_symbol(&text.as_bytes()[at..])
        };
        let end = text.char_indices().map(|(at, _)| at).find(|&at| is_end(at));
        &text[..end.unwrap_or(text.len())]
    }

    /// Return the bytes of memory.
    pub(super) fn bytes(&self) -> usize {
        self.backtracking.bytes()
    }
}

fn is_char(token: &str) -> bool {
    let mut chars = token.chars();
    chars.next().is_some() && chars.next().is_none()
}

/// Return whether merges contain characters that represent no byte.
fn merges_other_chars(symbols: &[u32], vocab: &Vocab, merges: &[MergeIds]) -> bool {
    let mut is_other = vec![false; vocab.id_bound()];
    let stands_for_byte = |id| {
        let token = vocab.token_of(id).unwrap_or_default();
        token.chars().all(|c| byte_of_printable(c).is_some())
    };
    let others = symbols.iter().filter(|&&id| !stands_for_byte(id));
    others.for_each(|&id| is_other[id as usize] = true);
    merges.iter().any(|merge| is_other[merge.left as usize] || is_other[merge.right as usize])
}

/// Return whether the tokens of unknown characters have merges.
fn merges_unknown(spec: &BpeSpec, vocab: &Vocab, merges: &[MergeIds]) -> bool {
    let mut stands_for_other = vec![false; vocab.id_bound()];
    let bytes = vocab.iter().filter(|(token, _)| spec.byte_fallback && byte_of_entry(token).is_some());
    let unknown = spec.unk_token.as_ref().and_then(|token| vocab.id_of(token));
    bytes.map(|(_, id)| id).chain(unknown).for_each(|id| stands_for_other[id as usize] = true);
    merges
        .iter()
        .any(|merge| stands_for_other[merge.left as usize] || stands_for_other[merge.right as usize])
}

/// Compile the byte-level tokens, if every byte has one and merges are in order.
pub(super) fn compile_bytes(
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
        symbols: &byte_symbols(vocab)?,
        merges,
        whole_words: &whole_words(spec, vocab),
        stored,
    };
    BacktrackingBpe::compile(&rules, |id, bytes| {
        push_bytes_of_printable(vocab.token_of(id).unwrap_or_default(), bytes);
    })
}

/// Return the tokens of the 256 bytes.
pub(super) fn byte_symbols(vocab: &Vocab) -> Option<Vec<u32>> {
    (0..=255).map(|byte| vocab.id_of(printable_of(byte).encode_utf8(&mut [0; 4]))).collect()
}

/// Return the tokens that match whole words without merges.
fn whole_words(spec: &BpeSpec, vocab: &Vocab) -> Vec<u32> {
    let is_word = |token: &str| !token.is_empty() && token.chars().all(|c| byte_of_printable(c).is_some());
    let words = vocab.iter().filter(|(token, _)| spec.ignore_merges && is_word(token));
    words.map(|(_, id)| id).collect()
}
