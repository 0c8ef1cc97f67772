//! Build the decode table of a decoder.

use std::borrow::Cow;

use super::{
    Assembly, DecodeTable, TextEntry, BYTE, COPIED, FLAGS, LEN, LEN_WITHOUT_SPECIAL, MISSING, NOT_SHORT,
    SPECIAL,
};
use crate::stages::decode::bytes::byte_of_token;
use crate::stages::decode::decoder::Decoder;
use crate::stages::decode::sentencepiece::SentencePieceDecoder;
use crate::stages::decode::stage::DecoderStage;
use crate::stages::decode::token_texts::TokenTexts;
use crate::text::{push_bytes_of_printable, MAX_GROWTH};

/// The most bytes of all texts.
const MAX_TEXTS: usize = 1 << 28;

impl Decoder {
    /// Build the table of a decoder, if it has one; `token_of` returns the token of an id and whether it
    /// is special.
    #[must_use]
    pub fn decode_table<'t>(
        &self,
        ids: std::ops::Range<u32>,
        token_of: impl Fn(u32) -> Option<(&'t str, bool)>,
        clean_up: Option<bool>,
    ) -> Option<DecodeTable> {
        let assembly = self.assembly()?;
        let (shorts, entries) = (Vec::with_capacity(ids.len()), Vec::with_capacity(ids.len()));
        let mut made = DecodeTable { shorts, entries, texts: Vec::new(), assembly };
        let mut pieces = TokenTexts::default();
        for id in ids {
            let start = made.texts.len();
            let mut flags = MISSING;
            if let Some((token, is_special)) = token_of(id) {
                flags = if is_special { SPECIAL } else { 0 }
                    | self.append_token(token, clean_up, &mut pieces, &mut made.texts)?;
            }
            if made.texts.len() > MAX_TEXTS {
                return None;
            }
            let len = u32::try_from(made.texts.len() - start).ok().filter(|len| len & FLAGS == 0)?;
            made.shorts.push(short(&made.texts[start..], flags));
            made.entries.push(TextEntry { start: u32::try_from(start).ok()?, len_and_flags: len | flags });
        }
        Some(made)
    }

    fn assembly(&self) -> Option<Assembly> {
        let mut stages = self.stages.as_slice();
        match stages {
            [] if self.spec.is_none() => return Some(Assembly::First),
            [DecoderStage::WordPiece { .. } | DecoderStage::Metaspace { .. }] => {
                return Some(Assembly::First)
            }
            [DecoderStage::Bpe { .. }] => return Some(Assembly::Last),
            [DecoderStage::ByteLevel] => return Some(Assembly::Bytes),
            [DecoderStage::SentencePiece(_)] => return Some(Assembly::Sentence),
            _ => {}
        }
        while let [DecoderStage::Replace { .. }, rest @ ..] = stages {
            stages = rest;
        }
        let strip = |content: &char, start: &usize, stop: &usize| Some((*content, *start, *stop));
        Some(match stages {
            [] | [DecoderStage::Fuse] => Assembly::Plain,
            [DecoderStage::ByteFallback] | [DecoderStage::ByteFallback, DecoderStage::Fuse] => {
                Assembly::Fallback { strip: None }
            }
            [DecoderStage::ByteFallback, DecoderStage::Fuse, DecoderStage::Strip { content, start, stop }] => {
                Assembly::Fallback { strip: strip(content, start, stop) }
            }
            _ => return None,
        })
    }

    /// Append the text that a token adds in the middle of a text, and return its flags. Return `None` if
    /// a stage fails, or makes the token more than [`MAX_GROWTH`] times longer: then the stages run, which
    /// check their output. `pieces` is scratch.
    fn append_token(
        &self,
        token: &str,
        clean_up: Option<bool>,
        pieces: &mut TokenTexts,
        texts: &mut Vec<u8>,
    ) -> Option<u32> {
        let max = (token.len() + 1).saturating_mul(MAX_GROWTH);
        pieces.clear();
        match self.stages.as_slice() {
            [] if self.spec.is_none() => {
                texts.push(b' ');
                texts.extend_from_slice(token.as_bytes());
            }
            [DecoderStage::ByteLevel] => push_bytes_of_printable(token, texts),
            [DecoderStage::SentencePiece(decoder)] => {
                return append_piece(decoder, token, max, pieces, texts)
            }
            // Between two empty tokens it is neither the first nor the last; each of those adds at most a
            // space.
            [stage @ (DecoderStage::WordPiece { .. }
            | DecoderStage::Metaspace { .. }
            | DecoderStage::Bpe { .. })] => {
                stage.run(["", token, ""].into_iter(), clean_up, max, pieces).ok()?;
                texts.extend_from_slice(pieces.iter().nth(1).unwrap_or_default().as_bytes());
            }
            stages => return append_replaced(stages, token, max, pieces, texts),
        }
        Some(0)
    }
}

/// Return the short form of a text, if it fits.
fn short(text: &[u8], flags: u32) -> [u8; COPIED] {
    let mut short = [0; COPIED];
    let is_short = text.len() <= LEN_WITHOUT_SPECIAL && flags & BYTE == 0;
    if is_short {
        short[..text.len()].copy_from_slice(text);
    }
    let len = if is_short { text.len() as u8 } else { NOT_SHORT };
    short[LEN_WITHOUT_SPECIAL] = if flags & SPECIAL == 0 { len } else { 0 };
    short[LEN] = len;
    short
}

/// Append a token after replacements; a byte token becomes its byte if the decoder reads bytes.
fn append_replaced(
    stages: &[DecoderStage],
    token: &str,
    max: usize,
    pieces: &mut TokenTexts,
    texts: &mut Vec<u8>,
) -> Option<u32> {
    let mut text = Cow::Borrowed(token);
    for stage in stages {
        match stage {
            DecoderStage::Replace { .. } => {
                pieces.clear();
                stage.run(std::iter::once(&*text), None, max, pieces).ok()?;
                text = Cow::Owned(pieces.open().clone());
            }
            DecoderStage::ByteFallback => {
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

fn append_piece(
    decoder: &SentencePieceDecoder,
    piece: &str,
    max: usize,
    pieces: &mut TokenTexts,
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
