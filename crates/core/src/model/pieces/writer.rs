//! Write pieces; fuse unknown ones or replace them by bytes.

use crate::model::bytes::ByteTokens;
use crate::model::{TokenSink, TokenSpan};

/// Receives pieces from left to right.
pub(in crate::model) struct PieceWriter<'a, S> {
    text: &'a str,
    unk_id: u32,
    bytes: Option<&'a ByteTokens>,
    unknown: Option<TokenSpan>,
    out: &'a mut S,
}

impl<'a, S: TokenSink> PieceWriter<'a, S> {
    pub(in crate::model) fn new(
        text: &'a str,
        unk_id: u32,
        bytes: Option<&'a ByteTokens>,
        out: &'a mut S,
    ) -> Self {
        Self { text, unk_id, bytes, unknown: None, out }
    }

    /// Write a piece that covers these bytes of the text.
    #[inline]
    pub(in crate::model) fn push(&mut self, id: u32, start: usize, end: usize) {
        let piece = TokenSpan { id, start: start as u32, end: end as u32 };
        if id == self.unk_id {
            return self.push_unknown(piece);
        }
        self.finish();
        self.out.push(piece);
    }

    /// Write the pending unknown token.
    #[inline]
    pub(in crate::model) fn finish(&mut self) {
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
