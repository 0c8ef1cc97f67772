//! Puts text before a text that is not empty; it shares the origin of the first character. O(n).

use crate::text::NormalizedSink;

/// Prepend to `text`, which stands at byte `start` of the original.
pub(super) fn run(prepend: &str, text: &str, start: u32, out: &mut impl NormalizedSink) {
    if let Some(first) = text.chars().next() {
        let source = (start, start + first.len_utf8() as u32);
        prepend.chars().for_each(|c| out.push_from(c, source));
    }
    out.push_unchanged(text, start);
}
