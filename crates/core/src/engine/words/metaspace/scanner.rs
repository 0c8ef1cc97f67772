//! Splits raw text into words, 64 bytes at a time, from bit masks of separators, letters, digits and non-ASCII bytes.

use std::ops::Range;

use piecework_kernels::classes::{class_masks, ByteClasses, BLOCK};

use super::single_chars::{LateSingleChars, SingleChars};
use super::spans::{OpenSpan, Preceding, ScannedSpan, SpanWriter, WordSpan};

/// Bytes that are classified at once. Their masks fit the L1 cache.
const CHUNK: usize = 1 << 13;

/// The class masks of a chunk: separators, letters, digits and non-ASCII bytes of each block.
pub(super) type Masks = Vec<[u64; 4]>;

/// Splits raw text at separators, and between ASCII characters where [`AsciiSplits`] allows it.
#[derive(Clone, Debug)]
pub(super) struct MetaspaceScanner {
    classes: ByteClasses,
    splits: AsciiSplits,
    /// The characters whose runs are spans of their own, for SentencePiece's Unigram.
    pub(super) late_single_chars: Option<LateSingleChars>,
}

impl MetaspaceScanner {
    /// Return a scanner for these separators and splits.
    pub(super) fn new(is_separator: impl Fn(u8) -> bool, splits: AsciiSplits) -> Self {
        let classes = ByteClasses::new(|byte| {
            let is = [is_separator(byte), byte.is_ascii_alphabetic(), byte.is_ascii_digit()];
            is.iter().rev().fold(0, |classes, &is| classes << 1 | u8::from(is))
        });
        Self { classes, splits, late_single_chars: None }
    }

    /// Return the table of single characters, which is made now if it is not yet; `None` while another thread makes it.
    #[inline]
    pub(super) fn single_chars(&self) -> Option<&SingleChars> {
        self.late_single_chars.as_ref()?.get()
    }

    /// Append the words of the next spans of a text, by `write`, until there are `count` or the text ends.
    ///
    /// A span ends at a separator, at the edge of a run of single characters, or between ASCII characters of different
    /// classes where `splits` allows it. `masks` are those of the chunk that `state` has reached.
    #[inline]
    pub(super) fn scan(
        &self,
        text: &[u8],
        state: &mut ScanState,
        masks: &mut Masks,
        (count, words): (usize, &mut Vec<WordSpan>),
        write: impl FnMut(ScannedSpan, &mut Vec<WordSpan>),
    ) {
        let ScanState { chunk, block, is_inside, carry, open, is_done } = state;
        let mut spans = SpanWriter { open, words, write };
        while spans.words.len() < count && !*is_done {
            let Some(classes) = masks.get(*block) else {
                *block = 0;
                *is_done = !self.classify(text, chunk, masks);
                continue;
            };
            let block_at = chunk.start + *block * BLOCK;
            *block += 1;
            let (edges, changes, wide) = carry.next(classes);
            let single_chars = if wide == 0 { None } else { self.single_chars() };
            let wide = if single_chars.is_some() { wide } else { 0 };
            let mut positions = edges | changes | wide;
            while positions != 0 {
                let bit = positions & positions.wrapping_neg();
                let at = block_at + positions.trailing_zeros() as usize;
                positions ^= bit;
                if edges & bit != 0 {
                    if *is_inside {
                        spans.end(at);
                    }
                    *is_inside = !*is_inside;
                    spans.begin(at, Preceding::Separator);
                } else if changes & bit != 0 && self.splits.allow(text, at) {
                    spans.split(at);
                }
                if let Some(single_chars) = single_chars.filter(|_| wide & bit != 0) {
                    single_chars.split_runs(text, at, &mut spans);
                }
            }
        }
        // The padding of the last block is no separator, so the last span is still open.
        if *is_done && std::mem::take(is_inside) {
            spans.end(text.len());
        }
    }

    /// Classify the bytes of the next chunk. Return `false` at the end of the text.
    fn classify(&self, text: &[u8], chunk: &mut Range<usize>, masks: &mut Masks) -> bool {
        *chunk = chunk.end..text.len().min(chunk.end + CHUNK);
        masks.clear();
        class_masks(&text[chunk.clone()], &self.classes, masks);
        chunk.start < chunk.end
    }
}

/// Where the scanner is in a text.
#[derive(Clone, Debug, Default)]
pub(super) struct ScanState {
    /// The bytes that are classified, and the next block of them.
    chunk: Range<usize>,
    block: usize,
    is_inside: bool,
    carry: BlockCarry,
    open: OpenSpan,
    is_done: bool,
}

impl ScanState {
    /// Return whether all spans are written.
    pub(super) fn is_done(&self) -> bool {
        self.is_done
    }
}

/// The last bit of each mask of the previous block.
#[derive(Clone, Copy, Debug, Default)]
struct BlockCarry {
    within: u64,
    ascii: u64,
    wide: u64,
    letters: u64,
    digits: u64,
}

impl BlockCarry {
    /// Return three masks of a block: the edges of the text between separators, the changes of class between ASCII
    /// characters, and the first byte of each non-ASCII run.
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

/// The pairs of ASCII characters between which raw text may split: one bit per pair.
#[derive(Clone, Debug)]
pub(super) struct AsciiSplits(Vec<u64>);

impl AsciiSplits {
    /// Return a set without pairs.
    pub(super) fn none() -> Self {
        Self(vec![0; 256])
    }

    /// Return the set of the pairs for which `can_split` is true.
    pub(super) fn of(can_split: impl Fn(u8, u8) -> bool) -> Self {
        let mut splits = Self::none();
        for (one, next) in (0..128).flat_map(|one| (0..128).map(move |next| (one, next))) {
            let (word, bit) = bit_of(one, next);
            splits.0[word] |= u64::from(can_split(one, next)) << bit;
        }
        splits
    }

    /// Return whether a text may split before byte `at`, which may be its end.
    ///
    /// The byte after `at` must be ASCII, because a combining character could change how the one at `at` normalizes.
    #[inline]
    pub(super) fn allow(&self, text: &[u8], at: usize) -> bool {
        let Some(&next) = text.get(at).filter(|_| text.get(at + 1).is_none_or(u8::is_ascii)) else {
            return false;
        };
        let (word, bit) = bit_of(text[at - 1], next);
        self.0.get(word).is_some_and(|word| word >> bit & 1 == 1)
    }
}

/// Return the index of the bit of a pair: the word and the bit in it.
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

    /// Split by the definition, byte by byte.
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

    /// Scan for `count` spans at a time.
    fn scanned(scanner: &MetaspaceScanner, text: &[u8], count: usize) -> Vec<(usize, usize, bool)> {
        let (mut found, mut words) = (Vec::new(), Vec::new());
        let (mut state, mut masks) = (ScanState::default(), Masks::new());
        while !state.is_done() {
            words.clear();
            scanner.scan(text, &mut state, &mut masks, (count, &mut words), |span, words| {
                found.push((span.start, span.end, span.preceding == Preceding::Separator));
                words.push(WordSpan::whole(span.start, span.end));
            });
        }
        found
    }

    #[test]
    fn spans_equal_the_definition() {
        let can_split = |one: u8, next: u8| (u32::from(one) * 7 + u32::from(next)) % 3 > 0;
        let scanner = MetaspaceScanner::new(is_separator, AsciiSplits::of(can_split));
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
                for count in [1, 100, usize::MAX] {
                    assert_eq!(scanned(&scanner, &text, count), naive(&text, can_split), "{count}");
                }
            }
        }
    }
}
