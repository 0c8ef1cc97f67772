//! The pieces of SentencePiece's models: their types, and how a text is divided into pieces, looked up and written.
//!
//! ```text
//! checks      checks of a specification
//! split_rule  where a text can be split before segmentation
//! ```
//!
//! [`super::unigram::UnigramF32`], [`super::bpe::ScoredBpe`] and [`super::lookup::PieceLookup`] segment by them. These
//! models segment a whole normalized text. Adjacent unknown characters are one token, or the tokens of their bytes with
//! byte fallback. A text may be segmented part by part (see [`split_rule`]) with the same result.
//!
//! Kudo and Richardson 2018, "SentencePiece: A simple and language independent subword tokenizer and detokenizer for
//! Neural Text Processing"; compared with `sentencepiece` 0.2.

mod checks;
mod split_rule;
#[cfg(test)]
pub(super) mod test_models;
#[cfg(test)]
mod tests;

pub(crate) use self::split_rule::part_end;

use super::ByteTokens;
use super::{TokenSink, TokenSpan};
use crate::error::Error;
use crate::spec::{PieceType, SentencePieceSpec};
use crate::text::{PrefixSet, METASPACE};
use crate::vocab::Vocab;

/// The pieces of a model by id.
#[derive(Clone, Debug)]
pub struct Pieces {
    unk_id: u32,
    /// By id.
    kinds: Vec<PieceType>,
    /// User-defined pieces, which are never split.
    user_defined: Option<PrefixSet>,
    bytes: Option<ByteTokens>,
    splits: bool,
}

impl Pieces {
    /// Check the pieces and index them.
    pub(super) fn compile(spec: &SentencePieceSpec, vocab: &Vocab) -> Result<Self, Error> {
        let unk_id = checks::check(spec)?;
        let user_defined = spec.pieces.iter().filter(|piece| piece.kind == PieceType::UserDefined);
        Ok(Self {
            unk_id,
            kinds: spec.pieces.iter().map(|piece| piece.kind).collect(),
            user_defined: PrefixSet::build(user_defined.map(|piece| piece.text.as_str())),
            bytes: spec.byte_fallback.then(|| ByteTokens::collect(vocab)),
            splits: split_rule::splits(spec),
        })
    }

    /// Return the number of pieces.
    #[must_use]
    pub fn count(&self) -> usize {
        self.kinds.len()
    }

    /// Return the id of the unknown piece.
    #[must_use]
    pub fn unk_id(&self) -> u32 {
        self.unk_id
    }

    /// Return whether a text has the ids of its parts, which end at `part_end`.
    #[must_use]
    pub fn splits(&self) -> bool {
        self.splits
    }

    /// Return the type of a piece; `None` for other ids.
    pub(super) fn kind(&self, id: u32) -> Option<PieceType> {
        self.kinds.get(id as usize).copied()
    }

    /// Return whether a byte piece never begins a character.
    pub(super) fn is_continuation_byte(&self, id: u32) -> bool {
        self.bytes.as_ref().is_some_and(|bytes| (0x80..0xC0).any(|byte| bytes.id(byte) == id))
    }

    /// Call `visit` with each character or user-defined piece of a text from a byte on, and whether it is the latter.
    pub(super) fn for_each_symbol(
        &self,
        text: &str,
        mut at: usize,
        mut visit: impl FnMut(usize, usize, bool),
    ) {
        while let Some(c) = text[at..].chars().next() {
            let symbol = self.user_defined.as_ref().and_then(|pieces| pieces.end_at(text, at));
            let end = symbol.unwrap_or(at + c.len_utf8());
            visit(at, end, symbol.is_some());
            at = end;
        }
    }

    /// Return the start and end of the next user-defined piece from a byte on; the end of the text twice without one.
    pub(super) fn next_symbol(&self, text: &str, from: usize) -> (usize, usize) {
        let end = (text.len(), text.len());
        let Some(pieces) = &self.user_defined else { return end };
        let begins = |at: &usize| pieces.begin_with(text.as_bytes()[*at]);
        let found = (from..text.len()).filter(begins).find_map(|at| Some((at, pieces.end_at(text, at)?)));
        found.unwrap_or(end)
    }

    /// Call `visit` with each word of a text, which begins with its metaspace.
    pub(super) fn for_each_word(&self, text: &str, mut visit: impl FnMut(usize, usize)) {
        let mut start = 0;
        for (at, _) in text.match_indices(METASPACE).filter(|&(at, _)| at > 0) {
            visit(start, at);
            start = at;
        }
        if start < text.len() {
            visit(start, text.len());
        }
    }

    /// Return the id of a text; the unknown id for control pieces.
    pub(super) fn id_of(&self, text: &str, vocab: &Vocab) -> u32 {
        let id = vocab.id_of(text).unwrap_or(self.unk_id);
        match self.kinds[id as usize] {
            PieceType::Control => self.unk_id,
            _ => id,
        }
    }

    /// Return whether segmentation splits a piece again.
    pub(super) fn is_unused(&self, id: u32) -> bool {
        self.kinds[id as usize] == PieceType::Unused
    }

    /// Return a writer of the pieces of a text.
    pub(super) fn writer<'a, S: TokenSink>(&'a self, text: &'a str, out: &'a mut S) -> PieceWriter<'a, S> {
        PieceWriter { text, unk_id: self.unk_id, bytes: self.bytes.as_ref(), unknown: None, out }
    }

    /// Append the tokens of a path through a text.
    pub(super) fn push_tokens(&self, text: &str, path: &[TokenSpan], out: &mut impl TokenSink) {
        let mut writer = self.writer(text, out);
        path.iter().for_each(|piece| writer.push(piece.id, piece.start as usize, piece.end as usize));
        writer.finish();
    }

    /// Return whether ids end with an unknown token that fuses with the next one.
    #[must_use]
    pub fn ends_with_unknown(&self, ids: &[u32]) -> bool {
        ids.last() == Some(&self.unk_id)
    }

    /// Fuse the unknown token at index `from` with the one before it.
    pub fn fuse_unknown(&self, from: usize, is_after_unknown: bool, ids: &mut Vec<u32>) {
        if is_after_unknown && ids.get(from) == Some(&self.unk_id) {
            ids.remove(from);
        }
    }
}

/// Writes pieces from left to right as tokens; fuses unknown ones or replaces them by bytes.
pub(super) struct PieceWriter<'a, S> {
    text: &'a str,
    unk_id: u32,
    bytes: Option<&'a ByteTokens>,
    unknown: Option<TokenSpan>,
    out: &'a mut S,
}

impl<'a, S: TokenSink> PieceWriter<'a, S> {
    /// Write a piece that covers these bytes of the text.
    #[inline]
    pub(super) fn push(&mut self, id: u32, start: usize, end: usize) {
        let piece = TokenSpan { id, start: start as u32, end: end as u32 };
        if id == self.unk_id {
            return self.push_unknown(piece);
        }
        self.finish();
        self.out.push(piece);
    }

    /// Write the pending unknown token.
    #[inline]
    pub(super) fn finish(&mut self) {
        if let Some(unknown) = self.unknown.take() {
            self.out.push(unknown);
        }
    }

    #[cold]
    fn push_unknown(&mut self, piece: TokenSpan) {
        let Some(bytes) = self.bytes else {
            let start = self.unknown.map_or(piece.start, |before| before.start);
            self.unknown = Some(TokenSpan { start, ..piece });
            return;
        };
        // The last byte has the span of the text, the others an empty one, as in `sentencepiece`.
        let text = &self.text.as_bytes()[piece.start as usize..piece.end as usize];
        for (at, &byte) in text.iter().enumerate() {
            let end = if at + 1 == text.len() { piece.end } else { piece.start };
            self.out.push(TokenSpan { id: bytes.id(byte), end, ..piece });
        }
    }
}
