//! `Lowercase`, `StripAccents`, `Nmt` and `ByteLevel`: normalizers that map each character on its own.
//! O(n).

use piecework_unicode::{class_of, Class, FormTraits};

use piecework_unicode::lowercase as lowercase_of;

use crate::text::{printable_of, NormalizedSink};

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
