//! Builds the table of a decoder, where it has one.

use std::borrow::Cow;

use super::layout::{
    DecodeTable, Entry, Joint, BYTE, COPIED, FLAGS, LEN, LEN_OF_KEPT, LOOK, MISSING, SPECIAL,
};
use crate::decode::bytes::byte_of_token;
use crate::decode::decoder::Decoder;
use crate::decode::pieces::TextPieces;
use crate::decode::sentencepiece::SentencePiece;
use crate::decode::stage::Stage;
use crate::text::{push_bytes_of_printable, MAX_GROWTH};

/// The most bytes that the texts of all ids may take.
const MAX_TEXTS: usize = 1 << 28;

impl Decoder {
    /// Write down what every id adds, where that can be said; `token_of` gives the token of an id and
    /// whether it is special.
    #[must_use]
    pub fn gather<'t>(
        &self,
        ids: std::ops::Range<u32>,
        token_of: impl Fn(u32) -> Option<(&'t str, bool)>,
        clean_up: Option<bool>,
    ) -> Option<DecodeTable> {
        let joint = self.joint()?;
        let (shorts, entries) = (Vec::with_capacity(ids.len()), Vec::with_capacity(ids.len()));
        let mut made = DecodeTable { shorts, entries, texts: Vec::new(), joint };
        let mut pieces = TextPieces::default();
        for id in ids {
            let start = made.texts.len();
            let mut flags = MISSING;
            if let Some((token, is_special)) = token_of(id) {
                flags = if is_special { SPECIAL } else { 0 }
                    | self.add(token, clean_up, &mut pieces, &mut made.texts)?;
            }
            if made.texts.len() > MAX_TEXTS {
                return None;
            }
            let len = u32::try_from(made.texts.len() - start).ok().filter(|len| len & FLAGS == 0)?;
            made.shorts.push(short(&made.texts[start..], flags));
            made.entries.push(Entry { start: u32::try_from(start).ok()?, len_and_flags: len | flags });
        }
        Some(made)
    }

    fn joint(&self) -> Option<Joint> {
        let mut stages = self.stages.as_slice();
        match stages {
            [] if self.spec.is_none() => return Some(Joint::First),
            [Stage::WordPiece { .. } | Stage::Metaspace { .. }] => return Some(Joint::First),
            [Stage::Bpe { .. }] => return Some(Joint::Last),
            [Stage::ByteLevel] => return Some(Joint::Bytes),
            [Stage::SentencePiece(_)] => return Some(Joint::Sentence),
            _ => {}
        }
        while let [Stage::Replace { .. }, rest @ ..] = stages {
            stages = rest;
        }
        let strip = |content: &char, start: &usize, stop: &usize| Some((*content, *start, *stop));
        Some(match stages {
            [] | [Stage::Fuse] => Joint::Plain,
            [Stage::ByteFallback] | [Stage::ByteFallback, Stage::Fuse] => Joint::Fallback { strip: None },
            [Stage::ByteFallback, Stage::Fuse, Stage::Strip { content, start, stop }] => {
                Joint::Fallback { strip: strip(content, start, stop) }
            }
            _ => return None,
        })
    }

    /// Append what a token adds where it is neither the first nor the last, and return its flags. `None` if a stage
    /// fails on it or makes it more than [`MAX_GROWTH`] times longer: then the stages run, which count what they
    /// write. `pieces` is scratch memory.
    fn add(
        &self,
        token: &str,
        clean_up: Option<bool>,
        pieces: &mut TextPieces,
        texts: &mut Vec<u8>,
    ) -> Option<u32> {
        let max = (token.len() + 1).saturating_mul(MAX_GROWTH);
        pieces.clear();
        match self.stages.as_slice() {
            [] if self.spec.is_none() => {
                texts.push(b' ');
                texts.extend_from_slice(token.as_bytes());
            }
            [Stage::ByteLevel] => push_bytes_of_printable(token, texts),
            [Stage::SentencePiece(decoder)] => return add_piece(decoder, token, max, pieces, texts),
            // Between two empty tokens it is neither; those add no more than a space each, at the ends.
            [stage @ (Stage::WordPiece { .. } | Stage::Metaspace { .. } | Stage::Bpe { .. })] => {
                stage.run(["", token, ""].into_iter(), clean_up, max, pieces).ok()?;
                texts.extend_from_slice(pieces.iter().nth(1).unwrap_or_default().as_bytes());
            }
            stages => return add_replaced(stages, token, max, pieces, texts),
        }
        Some(0)
    }
}

/// A text as it is copied at once, where it can be.
fn short(text: &[u8], flags: u32) -> [u8; COPIED] {
    let mut short = [0; COPIED];
    let is_short = text.len() <= LEN_OF_KEPT && flags & BYTE == 0;
    if is_short {
        short[..text.len()].copy_from_slice(text);
    }
    let len = if is_short { text.len() as u8 } else { LOOK };
    short[LEN_OF_KEPT] = if flags & SPECIAL == 0 { len } else { 0 };
    short[LEN] = len;
    short
}

/// What is left of a token after replacements, as a byte if it then is one and bytes are read.
fn add_replaced(
    stages: &[Stage],
    token: &str,
    max: usize,
    pieces: &mut TextPieces,
    texts: &mut Vec<u8>,
) -> Option<u32> {
    let mut text = Cow::Borrowed(token);
    for stage in stages {
        match stage {
            Stage::Replace { .. } => {
                pieces.clear();
                stage.run(std::iter::once(&*text), None, max, pieces).ok()?;
                text = Cow::Owned(pieces.open().clone());
            }
            Stage::ByteFallback => {
                if let Some(byte) = byte_of_token(&text) {
                    texts.push(byte);
                    return Some(BYTE);
                }
            }
            _ => {}
        }
    }
    texts.extend_from_slice(text.as_bytes());
    Some(0)
}

fn add_piece(
    decoder: &SentencePiece,
    piece: &str,
    max: usize,
    pieces: &mut TextPieces,
    texts: &mut Vec<u8>,
) -> Option<u32> {
    if let Some(byte) = decoder.byte_of(piece) {
        texts.push(byte);
        return Some(BYTE);
    }
    let text = pieces.open();
    decoder.push(piece, false, text);
    texts.extend_from_slice(text.as_bytes());
    (text.len() <= max).then_some(0)
}
