//! Normalized text with its sources: for each byte, the bytes of the original that it comes from.

use piecework_unicode::char_count;

use crate::error::{Error, ErrorKind};

/// The output of a normalizer: a `String` for ids alone, [`Aligned`] for offsets.
pub trait NormalizedSink {
    /// Whether the sink stores sources.
    const KEEPS_SOURCES: bool = true;
    /// Append a character whose source is a byte span of the original.
    fn push_from(&mut self, c: char, source: (u32, u32));
    /// Append text that is unchanged from byte `start` of the original on.
    fn push_unchanged(&mut self, text: &str, start: u32) {
        let mut at = start;
        for c in text.chars() {
            self.push_from(c, (at, at + c.len_utf8() as u32));
            at += c.len_utf8() as u32;
        }
    }
}

impl NormalizedSink for String {
    const KEEPS_SOURCES: bool = false;

    #[inline]
    fn push_from(&mut self, c: char, _source: (u32, u32)) {
        self.push(c);
    }

    #[inline]
    fn push_unchanged(&mut self, text: &str, _start: u32) {
        self.push_str(text);
    }
}

impl<S: NormalizedSink> NormalizedSink for &mut S {
    const KEEPS_SOURCES: bool = S::KEEPS_SOURCES;

    #[inline]
    fn push_from(&mut self, c: char, source: (u32, u32)) {
        (**self).push_from(c, source);
    }

    #[inline]
    fn push_unchanged(&mut self, text: &str, start: u32) {
        (**self).push_unchanged(text, start);
    }
}

/// Normalized text with the source of every byte.
#[derive(Clone, Debug, Default)]
pub struct Aligned {
    text: String,
    sources: Vec<(u32, u32)>,
}

impl Aligned {
    /// Return the normalized text.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Append a byte span of another text.
    pub(crate) fn push_part(&mut self, other: &Self, start: usize, end: usize) {
        self.text.push_str(&other.text[start..end]);
        self.sources.extend_from_slice(&other.sources[start..end]);
    }

    /// Remove the text and keep its memory.
    pub fn clear(&mut self) {
        self.text.clear();
        self.sources.clear();
    }

    /// Return the byte span of the original for a byte span of the normalized text.
    #[must_use]
    pub fn source_of(&self, start: usize, end: usize) -> (u32, u32) {
        if start >= end {
            return self.sources.get(start).map_or((0, 0), |&(at, _)| (at, at));
        }
        (self.sources[start].0, self.sources[end - 1].1)
    }
}

impl NormalizedSink for Aligned {
    fn push_from(&mut self, c: char, source: (u32, u32)) {
        self.text.push(c);
        self.sources.extend(std::iter::repeat_n(source, c.len_utf8()));
    }
}

/// Converts byte offsets of a text to character offsets, in any order.
#[derive(Debug)]
pub struct CharIndex<'a> {
    text: &'a str,
    /// The number of characters before every 64th byte; empty for ASCII text.
    chars_before_block: Vec<u32>,
}

const INDEX_BLOCK: usize = 64;

impl<'a> CharIndex<'a> {
    /// Index a text; O(bytes).
    #[must_use]
    pub fn new(text: &'a str) -> Self {
        let mut chars_before_block = Vec::new();
        if !text.is_ascii() {
            let mut total = 0;
            for block in text.as_bytes().chunks(INDEX_BLOCK) {
                chars_before_block.push(total);
                total += char_count(block);
            }
            chars_before_block.push(total);
        }
        Self { text, chars_before_block }
    }

    /// Return the number of characters before byte `offset`, a character boundary.
    #[must_use]
    pub fn chars_before(&self, offset: u32) -> u32 {
        let block = offset as usize / INDEX_BLOCK;
        match self.chars_before_block.get(block) {
            Some(before) => {
                before + char_count(&self.text.as_bytes()[block * INDEX_BLOCK..offset as usize])
            }
            None => offset,
        }
    }

    /// Convert a byte span into a span in characters.
    #[must_use]
    pub fn span_of(&self, (start, end): (u32, u32)) -> (u32, u32) {
        (self.chars_before(start), self.chars_before(end))
    }
}

/// Return the number of units before each character of a text, and of all, given the units of a character.
#[must_use]
pub fn units_before_chars(text: &str, units: impl Fn(char) -> usize) -> Vec<usize> {
    let ends = text.chars().scan(0, |end, c| {
        *end += units(c);
        Some(*end)
    });
    std::iter::once(0).chain(ends).collect()
}

// The limit on how much longer a text may become. Rules that write more than they match could otherwise
// exhaust the memory (sixty times `a` to `aa` makes 10^18 letters of one).

/// The most times longer that a text may become. Published rules need 22: NFKC writes the ligature U+FDFA with 11 times
/// its bytes, and the byte level doubles these.
pub(crate) const MAX_GROWTH: usize = 64;
/// The bytes that every text may be longer.
const ALWAYS_ALLOWED: usize = 64 << 10;

/// Return the most bytes that stages may write for a text of `len` bytes; offsets in them fit 32 bits.
pub(crate) fn max_grown_len(len: usize) -> usize {
    len.saturating_mul(MAX_GROWTH).saturating_add(ALWAYS_ALLOWED).min(u32::MAX as usize)
}

/// The place of the error until its step is known.
const PLACE: &str = "normalizer";

/// The number of bytes that may still be written.
#[derive(Clone, Copy, Debug)]
pub struct ExpansionLimit {
    max: usize,
    left: usize,
}

impl ExpansionLimit {
    /// Return the limit for a text of `len` bytes.
    #[must_use]
    pub fn of(len: usize) -> Self {
        let max = max_grown_len(len);
        Self { max, left: max }
    }

    /// Return an error if a text of `len` bytes exceeds the limit.
    pub fn check(mut self, len: usize) -> Result<(), Error> {
        self.take(len)
    }

    /// Count `len` written bytes; fails at the limit.
    pub fn take(&mut self, len: usize) -> Result<(), Error> {
        self.left = self.left.checked_sub(len).ok_or_else(|| {
            let found = format!("rules that write more than {} bytes for one text", self.max);
            let expected = format!("at most {MAX_GROWTH} times its length and 64 KiB");
            Error::new(ErrorKind::Argument, PLACE, found, expected)
        })?;
        Ok(())
    }

    /// Set the place of an error of this limit to the step's place.
    pub(crate) fn name_step(error: Error, place: &str) -> Error {
        if error.place == PLACE {
            error.at(place)
        } else {
            error
        }
    }
}

/// Converts spans in rising order: neither end may be less than in the span before.
///
/// Linear in the text for any number of spans.
#[derive(Debug)]
pub struct CharSpans<'t> {
    start: CharCursor<'t>,
    end: CharCursor<'t>,
    chars: i64,
}

/// A position in the text, in characters and in bytes.
#[derive(Clone, Debug)]
struct CharCursor<'t> {
    text: &'t str,
    chars: i64,
    bytes: usize,
}

impl<'t> CharSpans<'t> {
    /// Start at the beginning of `text`.
    #[must_use]
    pub fn new(text: &'t str) -> Self {
        let place = CharCursor { text, chars: 0, bytes: 0 };
        Self { start: place.clone(), end: place, chars: text.chars().count() as i64 }
    }

    /// Return the byte span of the next character span, or what was expected instead.
    ///
    /// An empty span is an insertion and becomes the span of the character before it, if there is one.
    pub(crate) fn rising(&mut self, span: (i64, i64)) -> Result<(usize, usize), String> {
        let (start, end) = span;
        if start > end || start < 0 || end > self.chars {
            return Err(format!("start <= end, both from 0 to {}", self.chars));
        }
        let start = if start == end { (start - 1).max(0) } else { start };
        if start < self.start.chars || end < self.end.chars {
            let before = format!("({}, {})", self.start.chars, self.end.chars);
            return Err(format!("neither end less than in the span before, {before}"));
        }
        Ok((self.start.move_to(start), self.end.move_to(end)))
    }

    /// Return the byte span of the next character span, which must not overlap the one before.
    pub fn apart(&mut self, span: (i64, i64)) -> Result<(usize, usize), String> {
        let (start, end) = span;
        if start > end || start < self.end.chars || end > self.chars {
            let from = self.end.chars;
            return Err(format!("start <= end, both from {from}, where the last ended, to {}", self.chars));
        }
        Ok((self.end.move_to(start), self.end.move_to(end)))
    }
}

impl CharCursor<'_> {
    /// Move forward to a character; return its byte.
    fn move_to(&mut self, chars: i64) -> usize {
        let steps = (chars - self.chars) as usize;
        let rest = &self.text[self.bytes..];
        self.bytes += rest.char_indices().nth(steps).map_or(rest.len(), |(at, _)| at);
        self.chars = chars;
        self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_units_before_a_character() {
        assert_eq!(units_before_chars("aé🙂", char::len_utf8), [0, 1, 3, 7]);
        assert_eq!(units_before_chars("aé🙂", char::len_utf16), [0, 1, 2, 4]);
        assert_eq!(units_before_chars("", char::len_utf8), [0]);
    }

    #[test]
    fn counts_characters_before_a_byte() {
        let text = "aé漢🙂".repeat(40);
        let index = CharIndex::new(&text);
        for (chars, (byte, _)) in text.char_indices().enumerate() {
            assert_eq!(index.chars_before(byte as u32), chars as u32);
        }
        assert_eq!(index.chars_before(text.len() as u32), 160);
    }
}
