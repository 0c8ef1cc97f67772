//! Decoding with one lookup for each token, in a table of the text that each id adds.
//!
//! A decoder has a table if each token adds the same text everywhere, except at the beginning or end of a
//! text and in runs of bytes. Other decoders run their stages.

use std::borrow::Cow;

use crate::error::Error;
use crate::stages::decode::decoder::{Decoder, DecoderStage};
use crate::stages::decode::edits::{byte_of_token, push_fallback_text, TokenTexts};
use crate::stages::decode::sentencepiece::{push_text, SentencePieceDecoder};
use crate::text::{push_bytes_of_printable, MAX_GROWTH};

/// The text that every id adds.
#[derive(Debug)]
pub struct DecodeTable {
    /// By id: a short text, then its length if special tokens are skipped and its length if they are not,
    /// or `NOT_SHORT` if `entries` decides. Most tokens need only this array.
    pub(super) shorts: Vec<[u8; COPIED]>,
    pub(super) entries: Vec<TextEntry>,
    /// The texts of all ids.
    pub(super) texts: Vec<u8>,
    pub(super) assembly: Assembly,
}

/// How the texts of ids become one text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Assembly {
    /// By concatenation.
    Plain,
    /// The first token decodes as it does alone.
    First,
    /// The last token decodes as it does alone.
    Last,
    /// The texts are bytes, to be read as UTF-8.
    Bytes,
    /// Runs of byte tokens are read as UTF-8; then the whole text is stripped.
    Fallback { strip: Option<(char, usize, usize)> },
    /// As SentencePiece, with its bytes and its first space.
    Sentence,
}

/// The position of an id's text, and its flags.
#[derive(Clone, Copy, Debug)]
pub(super) struct TextEntry {
    pub(super) start: u32,
    pub(super) len_and_flags: u32,
}

/// No token has this id.
pub(super) const MISSING: u32 = 1 << 31;
/// The token is special.
pub(super) const SPECIAL: u32 = 1 << 30;
/// The token is a byte; its text is this byte.
pub(super) const BYTE: u32 = 1 << 29;
/// All flags.
pub(super) const FLAGS: u32 = MISSING | SPECIAL | BYTE;

/// The bytes copied at once; most tokens are shorter.
pub(super) const COPIED: usize = 16;
/// The position of the length if special tokens are skipped.
pub(super) const LEN_WITHOUT_SPECIAL: usize = COPIED - 2;
/// The position of the length if they are not.
pub(super) const LEN: usize = COPIED - 1;
/// The length of texts that are too long, and of bytes.
pub(super) const NOT_SHORT: u8 = u8::MAX;

/// The most bytes of all texts.
const MAX_TEXTS: usize = 1 << 28;

impl Decoder {
    /// Build the table of a decoder, if it has one; `token_of` returns the token of an id and whether it
    /// is special.
    pub(crate) fn decode_table<'t>(
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

/// The number of ids between two reservations of memory.
const GROUP: usize = 64;

/// The ids of a text.
#[derive(Clone, Copy)]
pub struct DecodeInput<'t, F> {
    /// The ids to decode.
    pub ids: &'t [u32],
    /// Skips special tokens.
    pub skips_special: bool,
    /// Returns the token of an id.
    pub token_of: F,
}

impl DecodeTable {
    /// Append the text of ids, which is not cleaned up yet. It is UTF-8, except for decoders that only read bytes; their caller
    /// replaces invalid bytes.
    pub fn run<'t>(
        &self,
        decoder: &Decoder,
        tokens: DecodeInput<'_, impl Fn(u32) -> Option<&'t str>>,
        clean_up: Option<bool>,
        out: &mut Vec<u8>,
    ) -> Result<(), Error> {
        let from = out.len();
        let DecodeInput { ids, skips_special, token_of } = tokens;
        let skipped = if skips_special { MISSING | SPECIAL } else { MISSING };
        let is_kept = |&id: &u32| self.flags(id) & skipped == 0;
        let alone = |id: u32| decoder.run_stages(token_of(id).into_iter(), clean_up);
        match self.assembly {
            Assembly::Plain | Assembly::Bytes => drop(self.append(ids, skipped, out)),
            Assembly::First => {
                if let Some(first) = ids.iter().position(is_kept) {
                    out.extend_from_slice(alone(ids[first])?.as_bytes());
                    self.append(&ids[first + 1..], skipped, out);
                }
            }
            Assembly::Last => {
                if let Some(last) = ids.iter().rposition(is_kept) {
                    self.append(&ids[..last], skipped, out);
                    out.extend_from_slice(alone(ids[last])?.as_bytes());
                }
            }
            Assembly::Fallback { strip } => {
                self.append_with_bytes(ids, skipped, out, push_fallback_text);
                if let Some((content, start, stop)) = strip {
                    strip_ends(out, from, content, start, stop);
                }
            }
            Assembly::Sentence => {
                let Some(decoder) = decoder.sentencepiece() else { return Ok(()) };
                let mut text = String::new();
                let kept = ids.iter().map(|&id| token_of(id).filter(|_| is_kept(&id)));
                let begun = decoder.begin(kept, &mut text);
                out.extend_from_slice(text.as_bytes());
                self.append_with_bytes(&ids[begun..], skipped, out, push_text);
            }
        }
        Ok(())
    }

    fn flags(&self, id: u32) -> u32 {
        self.entries.get(id as usize).map_or(MISSING, |entry| entry.len_and_flags & FLAGS)
    }

    /// Append the texts of ids; `push_text` writes each run of bytes.
    fn append_with_bytes(
        &self,
        mut ids: &[u32],
        skipped: u32,
        out: &mut Vec<u8>,
        push_text: impl Fn(&[u8], &mut Vec<u8>),
    ) {
        let mut bytes = Vec::new();
        loop {
            ids = &ids[self.append(ids, skipped, out)..];
            if ids.is_empty() {
                return;
            }
            bytes.clear();
            let is_in_run = |&&id: &&u32| self.flags(id) & skipped != 0 || self.flags(id) & BYTE != 0;
            let run = ids.iter().take_while(is_in_run).count();
            for &id in ids[..run].iter().filter(|&&id| self.flags(id) & skipped == 0) {
                bytes.push(self.texts[self.entries[id as usize].start as usize]);
            }
            push_text(&bytes, out);
            ids = &ids[run..];
        }
    }

    /// Append the texts of ids up to the first byte; return the number of ids.
    fn append(&self, ids: &[u32], skipped: u32, out: &mut Vec<u8>) -> usize {
        if skipped & SPECIAL == 0 {
            self.append_by::<LEN>(ids, out)
        } else {
            self.append_by::<LEN_WITHOUT_SPECIAL>(ids, out)
        }
    }

    /// Append texts, with the lengths of short texts at `LEN_AT`.
    fn append_by<const LEN_AT: usize>(&self, ids: &[u32], out: &mut Vec<u8>) -> usize {
        let mut end = out.len();
        for (group, number) in ids.chunks(GROUP).zip(0..) {
            make_room(out, end);
            for (&id, at) in group.iter().zip(0..) {
                let Some(short) = self.shorts.get(id as usize) else { continue };
                if short[LEN_AT] != NOT_SHORT {
                    if let Some(to) = out[end..].first_chunk_mut() {
                        *to = *short;
                    }
                    end += usize::from(short[LEN_AT]);
                    continue;
                }
                let TextEntry { start, len_and_flags } = self.entries[id as usize];
                if len_and_flags & BYTE != 0 {
                    out.truncate(end);
                    return number * GROUP + at;
                }
                let text = &self.texts[start as usize..][..(len_and_flags & !FLAGS) as usize];
                make_room(out, end + text.len());
                out[end..][..text.len()].copy_from_slice(text);
                end += text.len();
            }
        }
        out.truncate(end);
        ids.len()
    }
}

/// Reserve memory for the short texts of a group after byte `end`.
fn make_room(out: &mut Vec<u8>, end: usize) {
    if out.len() < end + GROUP * COPIED {
        out.resize(end + GROUP * COPIED, 0);
    }
}

/// Remove up to `start` characters `content` after byte `from`, and up to `stop` at the end.
fn strip_ends(out: &mut Vec<u8>, from: usize, content: char, start: usize, stop: usize) {
    let mut content_bytes = [0; 4];
    let content = content.encode_utf8(&mut content_bytes).as_bytes();
    let count = |text: &[u8], most: usize| {
        text.chunks(content.len()).take(most).take_while(|c| *c == content).count()
    };
    let first = content.len() * count(&out[from..], start);
    out.drain(from..from + first);
    for _ in 0..stop {
        if !out[from..].ends_with(content) {
            break;
        }
        out.truncate(out.len() - content.len());
    }
}
