//! SentencePiece's decoder: pieces joined, `▁` to spaces, but for the one that was put before the text.

use rustc_hash::FxHashSet;

use super::pieces::TextPieces;
use crate::spec::SentencePieceDecoderSpec;
use crate::text::byte_of_entry;

/// The mark of a space.
const MARK: char = '\u{2581}';

/// The compiled decoder.
#[derive(Clone, Debug)]
pub(super) struct SentencePiece {
    spec: SentencePieceDecoderSpec,
    control: FxHashSet<String>,
}

impl SentencePiece {
    pub(super) fn compile(spec: &SentencePieceDecoderSpec) -> Self {
        Self { spec: spec.clone(), control: spec.control_symbols.iter().cloned().collect() }
    }

    /// Write the text of pieces.
    pub(super) fn run<'t>(&self, pieces: impl Iterator<Item = &'t str>, out: &mut TextPieces) {
        let mut bytes = Vec::new();
        let text = out.open();
        let from = text.len();
        // Whether a space at the beginning is still to be dropped.
        let mut is_first = true;
        for piece in pieces {
            if let Some(byte) = self.byte_of(piece) {
                bytes.push(byte);
                continue;
            }
            flush(&mut bytes, text);
            is_first &= text.len() == from;
            if !self.control.contains(piece) {
                is_first &= !self.push(piece, is_first, text);
            }
        }
        flush(&mut bytes, text);
        out.end();
    }

    /// Write a piece; says whether a space that was put before the text was dropped.
    fn push(&self, piece: &str, is_first: bool, text: &mut String) -> bool {
        let spec = &self.spec;
        if piece == spec.unk_piece {
            text.push_str(&spec.unk_surface);
            return false;
        }
        let drops = is_first && (spec.add_dummy_prefix || spec.remove_extra_whitespaces);
        let rest = piece.strip_prefix(MARK).filter(|_| drops);
        text.extend(rest.unwrap_or(piece).chars().map(|c| if c == MARK { ' ' } else { c }));
        rest.is_some() && !spec.remove_extra_whitespaces
    }

    fn byte_of(&self, piece: &str) -> Option<u8> {
        byte_of_entry(piece).filter(|_| self.spec.byte_fallback)
    }
}

/// Write bytes as text; each one that is part of no character is a replacement character.
fn flush(bytes: &mut Vec<u8>, text: &mut String) {
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        chunk.invalid().iter().for_each(|_| text.push(char::REPLACEMENT_CHARACTER));
    }
    bytes.clear();
}
