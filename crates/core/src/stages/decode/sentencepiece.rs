//! SentencePiece's decoder: joins pieces and replaces `▁` by spaces, except the one that the normalizer
//! added.

use foldhash::HashSet;

use super::edits::TokenTexts;
use crate::spec::SentencePieceDecoderSpec;
use crate::text::{byte_of_entry, METASPACE};

const REPLACEMENT: &str = "\u{FFFD}";

/// The compiled decoder.
#[derive(Clone, Debug)]
pub(super) struct SentencePieceDecoder {
    spec: SentencePieceDecoderSpec,
    control: HashSet<String>,
}

impl SentencePieceDecoder {
    pub(super) fn compile(spec: &SentencePieceDecoderSpec) -> Self {
        Self { spec: spec.clone(), control: spec.control_symbols.iter().cloned().collect() }
    }

    /// Write the text of pieces; stop after `max` bytes.
    pub(super) fn run<'t>(&self, pieces: impl Iterator<Item = &'t str>, max: usize, out: &mut TokenTexts) {
        let mut writer = TextOfPieces { text: out.open(), bytes: Vec::new(), awaits_text: true };
        for piece in pieces {
            writer.add(piece, self);
            if writer.text.len() > max {
                break;
            }
        }
        writer.flush();
        out.end();
    }

    /// Write the first pieces to an empty `text`, until the text of the rest no longer depends on its
    /// position. Return the number of pieces written; `None` is a skipped token.
    pub(super) fn begin<'t>(
        &self,
        pieces: impl ExactSizeIterator<Item = Option<&'t str>>,
        text: &mut String,
    ) -> usize {
        let mut begun = pieces.len();
        let mut writer = TextOfPieces { text, bytes: Vec::new(), awaits_text: true };
        for (at, piece) in pieces.enumerate() {
            piece.into_iter().for_each(|piece| writer.add(piece, self));
            if !writer.awaits_text {
                begun = at + 1;
                break;
            }
        }
        writer.flush();
        begun
    }

    /// Write a piece. Return whether it dropped the space that the normalizer added.
    pub(super) fn push(&self, piece: &str, is_first: bool, text: &mut String) -> bool {
        let spec = &self.spec;
        if self.control.contains(piece) {
            return false;
        }
        if piece == spec.unk_piece {
            text.push_str(&spec.unk_surface);
            return false;
        }
        let drops = is_first && (spec.add_dummy_prefix || spec.remove_extra_whitespaces);
        let rest = piece.strip_prefix(METASPACE).filter(|_| drops);
        push_with_spaces(rest.unwrap_or(piece), text);
        rest.is_some() && !spec.remove_extra_whitespaces
    }

    pub(super) fn byte_of(&self, piece: &str) -> Option<u8> {
        byte_of_entry(piece).filter(|_| self.spec.byte_fallback)
    }
}

/// Writes the pieces at the beginning of a text.
struct TextOfPieces<'t> {
    text: &'t mut String,
    /// The bytes of an unfinished run.
    bytes: Vec<u8>,
    /// Whether a space at the beginning is still to be dropped.
    awaits_text: bool,
}

impl TextOfPieces<'_> {
    fn add(&mut self, piece: &str, decoder: &SentencePieceDecoder) {
        if let Some(byte) = decoder.byte_of(piece) {
            return self.bytes.push(byte);
        }
        self.flush();
        self.awaits_text &= self.text.is_empty();
        self.awaits_text &= !decoder.push(piece, self.awaits_text, self.text);
    }

    fn flush(&mut self) {
        let mut text = Vec::new();
        push_text(&self.bytes, &mut text);
        self.text.push_str(&String::from_utf8_lossy(&text));
        self.bytes.clear();
    }
}

/// Write a piece with spaces instead of metaspaces; most pieces have one, at the beginning.
fn push_with_spaces(piece: &str, text: &mut String) {
    let rest = piece.strip_prefix(METASPACE).unwrap_or(piece);
    text.push_str(if rest.len() < piece.len() { " " } else { "" });
    for (nth, part) in rest.split(METASPACE).enumerate() {
        text.push_str(if nth > 0 { " " } else { "" });
        text.push_str(part);
    }
}

/// Write bytes as text; each invalid byte becomes a replacement character.
pub(super) fn push_text(bytes: &[u8], text: &mut Vec<u8>) {
    for chunk in bytes.utf8_chunks() {
        text.extend_from_slice(chunk.valid().as_bytes());
        chunk.invalid().iter().for_each(|_| text.extend_from_slice(REPLACEMENT.as_bytes()));
    }
}
