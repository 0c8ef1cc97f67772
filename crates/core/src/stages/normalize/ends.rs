//! `Strip` and `Prepend`: normalizers that change the ends of a text. O(n).

use piecework_unicode::{class_of, Class};

use crate::text::NormalizedSink;

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
