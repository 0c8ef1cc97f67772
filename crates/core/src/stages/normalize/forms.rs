//! The normal forms NFC, NFD, NFKC and NFKD (UAX #15, Unicode 9 as in tokenizers 0.23).
//!
//! A scan skips text that is in the form (the quick check of UAX #15, section 9). Only segments that may
//! change are decomposed, ordered and composed. O(n), except for sorting runs of combining marks.

use std::str::Chars;

use piecework_unicode::{compose, decompose_for, FormTraits, NormalForm};

use crate::interrupt;
use crate::text::NormalizedSink;

/// Normalize `text`, which begins at byte `start` of the original, to a form.
pub(super) fn run(form: NormalForm, text: &str, start: u32, out: &mut impl NormalizedSink) {
    let mut parts = Vec::new();
    let mut done = 0;
    while let Some((from, to)) = next_segment(form, text, done) {
        interrupt::check(1);
        out.push_unchanged(&text[done..from], start + done as u32);
        decompose_segment(form, &text[from..to], &mut parts);
        if form.composes() {
            compose_segment(&mut parts);
        }
        let mut sources = SourceCounter::new(&text[from..to], start + from as u32);
        parts.iter().for_each(|part| sources.push(part.c, part.replaces, out));
        done = to;
    }
    out.push_unchanged(&text[done..], start + done as u32);
}

/// Return the byte span of the first segment at or after `from` that may change; no character outside
/// moves into it or composes with it.
fn next_segment(form: NormalForm, text: &str, from: usize) -> Option<(usize, usize)> {
    let (mut segment, mut last_class) = (from, 0);
    for (at, c) in text[from..].char_indices() {
        let at = from + at;
        if c.is_ascii() {
            (segment, last_class) = (at, 0);
            continue;
        }
        let traits = FormTraits::of(c);
        if !traits.joins(form) {
            segment = at;
        }
        let class = traits.combining_class();
        if traits.needs_work(form) || (class != 0 && class < last_class) {
            return Some((segment, segment_end(form, text, at + c.len_utf8())));
        }
        last_class = class;
    }
    None
}

fn segment_end(form: NormalForm, text: &str, from: usize) -> usize {
    let joins = |c: char| !c.is_ascii() && FormTraits::of(c).joins(form);
    text[from..].find(|c| !joins(c)).map_or(text.len(), |len| from + len)
}

/// A character of a decomposed segment, and the number of old characters that it replaces.
struct DecomposedChar {
    c: char,
    combining_class: u8,
    replaces: usize,
}

/// Decompose a segment and sort it into canonical order; the first part of each character replaces it.
fn decompose_segment(form: NormalForm, segment: &str, parts: &mut Vec<DecomposedChar>) {
    parts.clear();
    for c in segment.chars() {
        let mut replaces = 1;
        decompose_for(form, c, |c| {
            parts.push(DecomposedChar {
                c,
                combining_class: FormTraits::of(c).combining_class(),
                replaces,
            });
            replaces = 0;
        });
    }
    for run in parts.split_mut(|part| part.combining_class == 0) {
        run.sort_by_key(|part| part.combining_class);
    }
}

/// Compose each starter with the unblocked marks after it, and add up the characters that they replace.
fn compose_segment(parts: &mut Vec<DecomposedChar>) {
    let mut starter: Option<usize> = None;
    let mut kept = 0;
    for at in 0..parts.len() {
        let (c, class) = (parts[at].c, parts[at].combining_class);
        let composed = starter.and_then(|starter| {
            let blocked = starter + 1 < kept && parts[kept - 1].combining_class >= class;
            compose(parts[starter].c, c).filter(|_| !blocked).map(|c| (starter, c))
        });
        if let Some((starter, c)) = composed {
            parts[starter].c = c;
            parts[starter].replaces += parts[at].replaces;
            continue;
        }
        if class == 0 {
            starter = Some(kept);
        }
        parts.swap(kept, at);
        kept += 1;
    }
    parts.truncate(kept);
}

// Sources by counting characters, as in tokenizers: a new character replaces the next old one and possibly
// more, or is inserted with the source of the old character before it.

/// Reads the old text while the new one is written.
pub(super) struct SourceCounter<'t> {
    rest: Chars<'t>,
    /// The byte span, in the original, of the last old character.
    last: (u32, u32),
}

impl<'t> SourceCounter<'t> {
    /// Start at the beginning of `text`, which begins at byte `start` of the original.
    pub(super) fn new(text: &'t str, start: u32) -> Self {
        Self { rest: text.chars(), last: (start, start) }
    }

    /// Write a character that replaces the next `count` old ones, or is inserted if `count` is 0.
    pub(super) fn push(&mut self, c: char, count: usize, out: &mut impl NormalizedSink) {
        self.skip(count.min(1));
        out.push_from(c, self.last);
        self.skip(count.saturating_sub(1));
    }

    /// Copy the next old characters, `text`.
    pub(super) fn keep(&mut self, text: &str, out: &mut impl NormalizedSink) {
        let Some(last) = text.chars().next_back() else { return };
        out.push_unchanged(text, self.last.1);
        let end = self.last.1 + text.len() as u32;
        self.last = (end - last.len_utf8() as u32, end);
        self.rest = self.rest.as_str()[text.len()..].chars();
    }

    /// Skip deleted old characters.
    pub(super) fn skip(&mut self, count: usize) {
        for c in self.rest.by_ref().take(count) {
            self.last = (self.last.1, self.last.1 + c.len_utf8() as u32);
        }
    }
}
