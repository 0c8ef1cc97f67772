//! Drops control characters and makes spaces of others, as the `nmt` rules of SentencePiece do. O(n).

use crate::text::NormalizedSink;

/// Clean `text`, which stands at byte `start` of the original.
pub(super) fn run(text: &str, start: u32, out: &mut impl NormalizedSink) {
    super::run_map(
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
