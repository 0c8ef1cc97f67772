//! Write the pieces of a path as tokens.

use crate::model::bytes::ByteTokens;
use crate::model::{TokenSink, TokenSpan};
use crate::vocab::Vocab;

/// Writes tokens; adjacent unknown characters are one token.
pub(super) struct UnigramWriter<'w, S> {
    pub(super) word: &'w str,
    pub(super) vocab: &'w Vocab,
    pub(super) unk_id: Option<u32>,
    pub(super) bytes: Option<&'w ByteTokens>,
    /// The unknown characters since the last other piece.
    pub(super) unknown: Option<TokenSpan>,
    pub(super) out: &'w mut S,
}

impl<S: TokenSink> UnigramWriter<'_, S> {
    #[inline]
    pub(super) fn push(&mut self, piece: TokenSpan) {
        if Some(piece.id) == self.unk_id {
            let start = self.unknown.map_or(piece.start, |before| before.start);
            self.unknown = Some(TokenSpan { start, ..piece });
        } else {
            self.finish();
            self.out.push(piece);
        }
    }

    /// Write the pending unknown characters.
    #[inline]
    pub(super) fn finish(&mut self) {
        if let Some(run) = self.unknown.take() {
            self.push_unknown(run);
        }
    }

    /// Write a run of unknown characters: the token with this text, the byte tokens, or the unknown token.
    #[cold]
    fn push_unknown(&mut self, run: TokenSpan) {
        let text = &self.word[run.start as usize..run.end as usize];
        if let Some(id) = self.vocab.id_of(text) {
            self.out.push(TokenSpan { id, ..run });
        } else if let Some(bytes) = self.bytes.filter(|bytes| bytes.has_all(text)) {
            for byte in text.bytes() {
                self.out.push(TokenSpan { id: bytes.id(byte), ..run });
            }
        } else {
            self.out.push(run);
        }
    }
}
