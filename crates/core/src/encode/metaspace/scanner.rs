//! Where the words of a text are: 64 bytes at a time, from the masks of the bytes that part it.

use super::single_chars::SingleChars;
use piecework_kernels::classes::{class_masks, ByteClasses, BLOCK};

/// How many bytes are classed at once; their masks stay in the nearest cache.
const CHUNK: usize = 1 << 13;

/// The masks of a chunk: what parts the text, letters, digits, and what is not ASCII.
pub(super) type Masks = Vec<[u64; 4]>;

/// What tells where words are.
#[derive(Clone, Debug)]
pub(super) struct Scanner {
    classes: ByteClasses,
    splits: AsciiSplits,
    /// The characters that are told one by one, if they are.
    pub(super) single_chars: Option<SingleChars>,
}

/// A stretch of text without characters that part it, or a piece of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ScannedSpan {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) preceding: Preceding,
    pub(super) kind: SpanKind,
}

/// Whether a stretch is a run of characters that are told one by one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SpanKind {
    Word,
    SingleChars,
    /// One of so many unknown characters.
    UnknownChars(u32),
}

/// What stands before a stretch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Preceding {
    /// The piece before it.
    Span,
    /// A byte that parts the text, or nothing.
    Separator,
    /// A character beyond ASCII that parts the text.
    WideSeparator,
}

impl Scanner {
    /// One for texts that these bytes part, further cut between ASCII neighbours where that is allowed.
    pub(super) fn new(is_separator: impl Fn(u8) -> bool, splits: AsciiSplits) -> Self {
        let classes = ByteClasses::new(|byte| {
            let is = [is_separator(byte), byte.is_ascii_alphabetic(), byte.is_ascii_digit()];
            is.iter().rev().fold(0, |classes, &is| classes << 1 | u8::from(is))
        });
        Self { classes, splits, single_chars: None }
    }

    /// Give every stretch without characters that part the text, from left to right, in pieces: each ends where
    /// the stretch does, or before another kind of character where the two may be cut.
    #[inline]
    pub(super) fn scan(&self, text: &[u8], masks: &mut Masks, visit: impl FnMut(ScannedSpan)) {
        let mut spans = SpanEmitter { start: 0, preceding: Preceding::Separator, is_unsplit: false, visit };
        let (mut is_inside, mut carry) = (false, BlockCarry::default());
        for (chunk_at, chunk) in (0..).step_by(CHUNK).zip(text.chunks(CHUNK)) {
            masks.clear();
            class_masks(chunk, &self.classes, masks);
            for (block_at, block) in (chunk_at..).step_by(BLOCK).zip(masks.iter()) {
                let (edges, changes, wide) = carry.next(block);
                let wide = if self.single_chars.is_some() { wide } else { 0 };
                let mut positions = edges | changes | wide;
                while positions != 0 {
                    let bit = positions & positions.wrapping_neg();
                    let at = block_at + positions.trailing_zeros() as usize;
                    positions ^= bit;
                    if edges & bit != 0 {
                        if is_inside {
                            spans.end(at);
                        }
                        is_inside = !is_inside;
                        spans.begin(at, Preceding::Separator);
                    } else if changes & bit != 0 && self.splits.allow(text, at) {
                        spans.split(at);
                    }
                    if wide & bit != 0 {
                        self.single_chars
                            .iter()
                            .for_each(|single_chars| single_chars.split_runs(text, at, &mut spans));
                    }
                }
            }
        }
        // Bytes after the end of the text part nothing, so the last stretch stays open.
        if is_inside {
            spans.end(text.len());
        }
    }
}

/// Gives the pieces of stretches as their ends are found.
pub(super) struct SpanEmitter<V> {
    /// Where the piece begins that is open.
    pub(super) start: usize,
    preceding: Preceding,
    /// Whether no run is to be taken out of the rest of the stretch.
    pub(super) is_unsplit: bool,
    visit: V,
}

impl<V: FnMut(ScannedSpan)> SpanEmitter<V> {
    /// A stretch begins.
    #[inline]
    pub(super) fn begin(&mut self, at: usize, preceding: Preceding) {
        (self.start, self.preceding, self.is_unsplit) = (at, preceding, false);
    }

    /// A stretch ends.
    #[inline]
    pub(super) fn end(&mut self, at: usize) {
        self.emit(at, SpanKind::Word);
    }

    /// A piece ends that the next one follows.
    #[inline]
    fn split(&mut self, at: usize) {
        self.emit(at, SpanKind::Word);
        (self.start, self.preceding) = (at, Preceding::Span);
    }

    /// Take a run out of the stretch.
    #[inline]
    pub(super) fn emit_run(&mut self, start: usize, end: usize, kind: SpanKind) {
        if self.start < start {
            self.split(start);
        }
        self.emit(end, kind);
        (self.start, self.preceding) = (end, Preceding::Span);
    }

    #[inline]
    fn emit(&mut self, end: usize, kind: SpanKind) {
        let Self { start, preceding, .. } = *self;
        if start < end {
            (self.visit)(ScannedSpan { start, end, preceding, kind });
        }
    }
}

/// The last bits of the block before.
#[derive(Clone, Copy, Default)]
struct BlockCarry {
    within: u64,
    ascii: u64,
    wide: u64,
    letters: u64,
    digits: u64,
}

impl BlockCarry {
    /// Where stretches begin and end, where within one kinds of ASCII characters meet, and where other characters
    /// follow ASCII.
    #[inline(always)]
    fn next(&mut self, &[separators, letters, digits, wide]: &[u64; 4]) -> (u64, u64, u64) {
        let (within, ascii) = (!separators, !(separators | wide));
        let shift_in = |now: u64, before: &mut u64| {
            let shifted = now << 1 | *before;
            *before = now >> 63;
            shifted
        };
        let edges = within ^ shift_in(within, &mut self.within);
        let both_ascii = ascii & shift_in(ascii, &mut self.ascii);
        let kind_changes =
            letters ^ shift_in(letters, &mut self.letters) | digits ^ shift_in(digits, &mut self.digits);
        let wide_starts = wide & !shift_in(wide, &mut self.wide);
        (edges, kind_changes & both_ascii, wide_starts)
    }
}

/// The ASCII neighbours between which a text may be cut before it is normalized: a bit for each pair.
#[derive(Clone, Debug)]
pub(super) struct AsciiSplits(Vec<u64>);

impl AsciiSplits {
    /// Nowhere.
    pub(super) fn none() -> Self {
        Self(vec![0; 256])
    }

    /// Where this says so.
    pub(super) fn of(can_split: impl Fn(u8, u8) -> bool) -> Self {
        let mut splits = Self::none();
        for (one, next) in (0..128).flat_map(|one| (0..128).map(move |next| (one, next))) {
            let (word, bit) = bit_of(one, next);
            splits.0[word] |= u64::from(can_split(one, next)) << bit;
        }
        splits
    }

    /// Whether a text may be cut before byte `at`, which may be its end. What the character there becomes may
    /// depend on what follows it, unless that is ASCII.
    #[inline]
    pub(super) fn allow(&self, text: &[u8], at: usize) -> bool {
        let Some(&next) = text.get(at).filter(|_| text.get(at + 1).is_none_or(u8::is_ascii)) else {
            return false;
        };
        let (word, bit) = bit_of(text[at - 1], next);
        self.0.get(word).is_some_and(|word| word >> bit & 1 == 1)
    }
}

#[inline]
fn bit_of(one: u8, next: u8) -> (usize, u32) {
    (usize::from(one) << 1 | usize::from(next) >> 6, u32::from(next) & 63)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_separator(byte: u8) -> bool {
        byte == b' ' || byte == b'\n'
    }

    /// The definition.
    fn naive(text: &[u8], can_split: impl Fn(u8, u8) -> bool) -> Vec<(usize, usize, bool)> {
        let kind = |byte: u8| (byte.is_ascii_alphabetic(), byte.is_ascii_digit());
        let mut found: Vec<(usize, usize, bool)> = Vec::new();
        for (at, &byte) in text.iter().enumerate().filter(|(_, &byte)| !is_separator(byte)) {
            let before = at.checked_sub(1).map(|at| text[at]).filter(|&byte| !is_separator(byte));
            let continues = before.is_some_and(|before| {
                let after = text.get(at + 1).copied().unwrap_or_default();
                let is_ascii = before.is_ascii() && byte.is_ascii() && after.is_ascii();
                !(is_ascii && kind(before) != kind(byte) && can_split(before, byte))
            });
            match found.last_mut() {
                Some(last) if continues => last.1 = at + 1,
                _ => found.push((at, at + 1, before.is_none())),
            }
        }
        found
    }

    #[test]
    fn spans_are_what_stands_between_cuts() {
        let can_split = |one: u8, next: u8| (u32::from(one) * 7 + u32::from(next)) % 3 > 0;
        let scanner = Scanner::new(is_separator, AsciiSplits::of(can_split));
        let mut state = 1u32;
        for len in (0..200).chain([8191, 8192, 8193, 20_000]) {
            for (density, bits) in [(1, 0x80), (2, 0), (3, 0x80), (60, 0), (60, 0x80)] {
                let text: Vec<u8> = std::iter::repeat_with(|| {
                    state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                    let pick = state >> 16;
                    if pick.is_multiple_of(density) {
                        [b' ', b'\n'][pick as usize >> 8 & 1]
                    } else {
                        pick as u8 & 0x7F | pick as u8 >> 1 & bits
                    }
                })
                .take(len)
                .collect();
                let mut found = Vec::new();
                scanner.scan(&text, &mut Masks::new(), |ScannedSpan { start, end, preceding, .. }| {
                    found.push((start, end, preceding == Preceding::Separator));
                });
                assert_eq!(found, naive(&text, can_split));
            }
        }
    }
}
