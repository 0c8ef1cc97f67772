//! Decode ids by a table.

use super::{
    Assembly, DecodeTable, TextEntry, BYTE, COPIED, FLAGS, LEN, LEN_WITHOUT_SPECIAL, MISSING, NOT_SHORT,
    SPECIAL,
};
use crate::error::Error;
use crate::stages::decode::bytes::push_fallback_text;
use crate::stages::decode::decoder::Decoder;
use crate::stages::decode::sentencepiece::push_text;

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
