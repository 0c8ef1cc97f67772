//! `Replace`, `Strip` and `Prepend`: normalizers that edit a text.
//!
//! `Replace` replaces every match of a pattern, from left to right. The replacement has the source of the last character
//! of the match, or of the character before an empty match.
//!
//! Linear in text and output, apart from the regular expression.

use piecework_unicode::{class_of, lowercase as lowercase_of, Class, FormTraits};

use crate::error::Error;
use crate::spec::PatternSpec;
use crate::text::{printable_of, ExpansionLimit, NormalizedSink, Pattern};

/// The compiled `Replace`.
#[derive(Clone, Debug)]
pub struct Replace {
    spec: PatternSpec,
    pattern: Pattern,
    content: String,
}

impl Replace {
    /// Compile the pattern at `place` in its file.
    pub(super) fn compile(spec: &PatternSpec, content: &str, place: &str) -> Result<Self, Error> {
        let pattern = match spec {
            // The empty text matches between any two characters, as an empty regular expression does.
            PatternSpec::Text(text) if text.is_empty() => {
                Pattern::compile(&PatternSpec::Regex(String::new()), place)?
            }
            _ => Pattern::compile(spec, place)?,
        };
        Ok(Self { spec: spec.clone(), pattern, content: content.to_owned() })
    }

    /// Return the pattern.
    pub(super) fn pattern(&self) -> &PatternSpec {
        &self.spec
    }

    /// Return the replacement.
    pub(super) fn content(&self) -> &str {
        &self.content
    }

    /// Normalize `text`, which begins at byte `start` of the original.
    pub(super) fn run(
        &self,
        text: &str,
        start: u32,
        mut limit: ExpansionLimit,
        out: &mut impl NormalizedSink,
    ) -> Result<(), Error> {
        if text.is_empty() {
            return Ok(());
        }
        let (mut done, mut grown) = (0, Ok(()));
        self.pattern.for_each_match(text, |from, to| {
            if grown.is_ok() {
                grown = limit.take(self.content.len());
            }
            if grown.is_err() {
                return;
            }
            out.push_unchanged(&text[done..from], start + done as u32);
            let before = text[..to].chars().next_back().map_or(0, char::len_utf8);
            let source = (start + (to - before) as u32, start + to as u32);
            self.content.chars().for_each(|c| out.push_from(c, source));
            done = to;
        })?;
        grown?;
        out.push_unchanged(&text[done..], start + done as u32);
        Ok(())
    }
}

/// `Strip`: remove whitespace (`White_Space`) at the ends.
pub(super) fn strip(left: bool, right: bool, text: &str, start: u32, out: &mut impl NormalizedSink) {
    let is_space = |c| class_of(c).has(Class::WHITESPACE);
    let kept = if left { text.trim_start_matches(is_space) } else { text };
    let skipped = (text.len() - kept.len()) as u32;
    let kept = if right { kept.trim_end_matches(is_space) } else { kept };
    out.push_unchanged(kept, start + skipped);
}

/// `Prepend`: add a prefix to a text that is not empty, with the source of its first character.
pub(super) fn prepend(new: &str, text: &str, start: u32, out: &mut impl NormalizedSink) {
    if let Some(first) = text.chars().next() {
        let source = (start, start + first.len_utf8() as u32);
        new.chars().for_each(|c| out.push_from(c, source));
    }
    out.push_unchanged(text, start);
}

// `Lowercase`, `StripAccents`, `Nmt` and `ByteLevel`: normalizers that map each character on its own.
// O(n).

/// `Lowercase`: lowercase every character, without context (Unicode 17, as in tokenizers 0.23).
pub(super) fn lowercase(text: &str, start: u32, out: &mut impl NormalizedSink) {
    map_chars(text, start, out, |c| class_of(c).has(Class::HAS_LOWERCASE), |c, emit| lowercase_of(c, emit));
}

/// `StripAccents`: remove combining marks (category M of Unicode 9) without decomposing.
pub(super) fn strip_accents(text: &str, start: u32, out: &mut impl NormalizedSink) {
    map_chars(text, start, out, |c| !c.is_ascii() && FormTraits::of(c).is_mark(), |_, _| {});
}

/// `Nmt`: remove control characters and replace others by spaces, by the `nmt` rules of SentencePiece.
pub(super) fn nmt(text: &str, start: u32, out: &mut impl NormalizedSink) {
    map_chars(
        text,
        start,
        out,
        |c| is_dropped(c) || is_space(c),
        |c, emit| {
            if is_space(c) {
                emit(' ');
            }
        },
    );
}

fn is_dropped(c: char) -> bool {
    matches!(u32::from(c), 0x01..=0x08 | 0x0B | 0x0E..=0x1F | 0x7F | 0x8F | 0x9F)
}

fn is_space(c: char) -> bool {
    matches!(
        u32::from(c),
        0x09 | 0x0A | 0x0C | 0x0D | 0x1680 | 0x200B..=0x200F | 0x2028 | 0x2029 | 0x2581 | 0xFEFF | 0xFFFD
    )
}

/// `ByteLevel`: map every byte to a printable character of GPT-2's alphabet.
pub(super) fn byte_level(text: &str, start: u32, out: &mut impl NormalizedSink) {
    map_chars(
        text,
        start,
        out,
        |c| !c.is_ascii_graphic(),
        |c, emit| {
            c.encode_utf8(&mut [0; 4]).bytes().for_each(|byte| emit(printable_of(byte)));
        },
    );
}

/// Copy text, except that `map` replaces the characters for which `is_touched` holds.
fn map_chars(
    text: &str,
    start: u32,
    out: &mut impl NormalizedSink,
    is_touched: impl Fn(char) -> bool,
    map: impl Fn(char, &mut dyn FnMut(char)),
) {
    let mut done = 0;
    for (at, c) in text.char_indices().filter(|&(_, c)| is_touched(c)) {
        out.push_unchanged(&text[done..at], start + done as u32);
        done = at + c.len_utf8();
        let source = (start + at as u32, start + done as u32);
        map(c, &mut |new| out.push_from(new, source));
    }
    out.push_unchanged(&text[done..], start + done as u32);
}
