//! Decoding by one look-up a token: what each id adds to a text is written down once, then gathered.
//!
//! Made from a decoder's stages where a token adds the same wherever it stands, but for the first or the
//! last of a text and for bytes; any other decoder has none, and its stages run.

use std::borrow::Cow;

use super::sentencepiece::SentencePiece;
use super::{byte_fallback, Decoder, Stage, TextPieces};
use crate::error::Error;
use crate::text::MAX_GROWTH;

/// What every id adds to a text.
#[derive(Debug)]
pub struct DecodeTable {
    /// By id: a short text and its length, once where special tokens are left out and once where not; or `LOOK` where
    /// more is to be known. Most tokens take one look at memory.
    shorts: Vec<[u8; COPIED]>,
    entries: Vec<Entry>,
    /// The texts of all entries.
    texts: Vec<u8>,
    joint: Joint,
}

/// What is beyond putting the texts one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Joint {
    /// Nothing.
    Plain,
    /// The first token is as the decoder makes it alone.
    First,
    /// The last token is as the decoder makes it alone.
    Last,
    /// The texts are bytes.
    Bytes,
    /// Runs of byte entries are read as UTF-8; then the whole text is stripped.
    Fallback { strip: Option<(char, usize, usize)> },
    /// SentencePiece's byte entries and first space.
    Sentence,
}

/// Where an id's text stands, and what the id is.
#[derive(Clone, Copy, Debug)]
struct Entry {
    start: u32,
    len_and_flags: u32,
}

/// No token has the id.
const MISSING: u32 = 1 << 31;
/// It is skipped where special tokens are.
const SPECIAL: u32 = 1 << 30;
/// It is a byte, which its text is.
const BYTE: u32 = 1 << 29;
/// All flags.
const FLAGS: u32 = MISSING | SPECIAL | BYTE;

/// How many bytes are copied at once: more than most tokens have.
const COPIED: usize = 16;
/// Where a short text's length is, if special tokens are left out.
const LEN_OF_KEPT: usize = COPIED - 2;
/// Where its length is, if they are not.
const LEN: usize = COPIED - 1;
/// The length of a text that is not short, or is a byte.
const LOOK: u8 = u8::MAX;
/// How many ids are gathered before room is made again.
const GROUP: usize = 64;
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
            [Stage::ByteLevel] => crate::text::push_bytes_of_printable(token, texts),
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
                if let Some(byte) = byte_fallback::byte_of(&text) {
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

/// The tokens of a text: their ids, and what says which tokens they are.
#[derive(Clone, Copy)]
pub struct Tokens<'t, F> {
    /// The ids.
    pub ids: &'t [u32],
    /// Leave out special tokens.
    pub skips_special: bool,
    /// The token of an id.
    pub token_of: F,
}

impl DecodeTable {
    /// Append the text of tokens, which is UTF-8 unless a decoder reads nothing but bytes: what is not UTF-8 of those
    /// is to be replaced by whoever reads them.
    pub fn run<'t>(
        &self,
        decoder: &Decoder,
        tokens: Tokens<'_, impl Fn(u32) -> Option<&'t str>>,
        clean_up: Option<bool>,
        out: &mut Vec<u8>,
    ) -> Result<(), Error> {
        let from = out.len();
        let Tokens { ids, skips_special, token_of } = tokens;
        let left_out = if skips_special { MISSING | SPECIAL } else { MISSING };
        let is_kept = |&id: &u32| self.flags(id) & left_out == 0;
        let alone = |id: u32| decoder.run(token_of(id).into_iter(), clean_up);
        match self.joint {
            Joint::Plain | Joint::Bytes => drop(self.append(ids, left_out, out)),
            Joint::First => {
                if let Some(first) = ids.iter().position(is_kept) {
                    out.extend_from_slice(alone(ids[first])?.as_bytes());
                    self.append(&ids[first + 1..], left_out, out);
                }
            }
            Joint::Last => {
                if let Some(last) = ids.iter().rposition(is_kept) {
                    self.append(&ids[..last], left_out, out);
                    out.extend_from_slice(alone(ids[last])?.as_bytes());
                }
            }
            Joint::Fallback { strip } => {
                self.append_bytes_too(ids, left_out, out, byte_fallback::push_text);
                if let Some((content, start, stop)) = strip {
                    strip_ends(out, from, content, start, stop);
                }
            }
            Joint::Sentence => {
                let Some(decoder) = decoder.sentencepiece() else { return Ok(()) };
                let mut text = String::new();
                let kept = ids.iter().map(|&id| token_of(id).filter(|_| is_kept(&id)));
                let begun = decoder.begin(kept, &mut text);
                out.extend_from_slice(text.as_bytes());
                self.append_bytes_too(&ids[begun..], left_out, out, super::sentencepiece::push_text);
            }
        }
        Ok(())
    }

    fn flags(&self, id: u32) -> u32 {
        self.entries.get(id as usize).map_or(MISSING, |entry| entry.len_and_flags & FLAGS)
    }

    /// Append the texts of ids, and what `push_text` makes of every run of bytes among them.
    fn append_bytes_too(
        &self,
        mut ids: &[u32],
        left_out: u32,
        out: &mut Vec<u8>,
        push_text: impl Fn(&[u8], &mut Vec<u8>),
    ) {
        let mut bytes = Vec::new();
        loop {
            ids = &ids[self.append(ids, left_out, out)..];
            if ids.is_empty() {
                return;
            }
            bytes.clear();
            let is_in_run = |&&id: &&u32| self.flags(id) & left_out != 0 || self.flags(id) & BYTE != 0;
            let run = ids.iter().take_while(is_in_run).count();
            for &id in ids[..run].iter().filter(|&&id| self.flags(id) & left_out == 0) {
                bytes.push(self.texts[self.entries[id as usize].start as usize]);
            }
            push_text(&bytes, out);
            ids = &ids[run..];
        }
    }

    /// Append the texts of ids up to the first that is a byte; says how many ids that was.
    fn append(&self, ids: &[u32], left_out: u32, out: &mut Vec<u8>) -> usize {
        if left_out & SPECIAL == 0 {
            self.append_by::<LEN>(ids, out)
        } else {
            self.append_by::<LEN_OF_KEPT>(ids, out)
        }
    }

    /// The same where the lengths of short texts are at `LEN_AT`.
    fn append_by<const LEN_AT: usize>(&self, ids: &[u32], out: &mut Vec<u8>) -> usize {
        let mut end = out.len();
        for (group, number) in ids.chunks(GROUP).zip(0..) {
            make_room(out, end);
            for (&id, at) in group.iter().zip(0..) {
                let Some(short) = self.shorts.get(id as usize) else { continue };
                if short[LEN_AT] != LOOK {
                    if let Some(to) = out[end..].first_chunk_mut() {
                        *to = *short;
                    }
                    end += usize::from(short[LEN_AT]);
                    continue;
                }
                let Entry { start, len_and_flags } = self.entries[id as usize];
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

/// Make room for the short texts of a group after byte `end`.
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
