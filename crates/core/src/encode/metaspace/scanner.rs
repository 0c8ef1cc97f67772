//! Where the words of a text are: 64 bytes at a time, from the masks of the bytes that part it.

use super::single_chars::Lone;
use piecework_kernels::classes::{class_masks, ByteClasses, BLOCK};

/// How many bytes are classed at once; their masks stay in the nearest cache.
const CHUNK: usize = 1 << 13;

/// The masks of a chunk: what parts the text, letters, digits, and what is not ASCII.
pub(super) type Masks = Vec<[u64; 4]>;

/// What tells where words are.
#[derive(Clone, Debug)]
pub(super) struct Scanner {
    classes: ByteClasses,
    cuts: Cuts,
    /// The characters that are told one by one, if they are.
    pub(super) lone: Option<Lone>,
}

/// A stretch of text without characters that part it, or a piece of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stretch {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) follows: Follows,
    pub(super) run: Run,
}

/// Whether a stretch is a run of characters that are told one by one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Run {
    No,
    Yes,
    /// One of so many unknown characters.
    Unknown(u32),
}

/// What stands before a stretch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Follows {
    /// The piece before it.
    Text,
    /// A byte that parts the text, or nothing.
    Byte,
    /// A character beyond ASCII that parts the text.
    Char,
}

impl Scanner {
    /// One for texts that these bytes part, further cut between ASCII neighbours where that is allowed.
    pub(super) fn new(is_parting: impl Fn(u8) -> bool, cuts: Cuts) -> Self {
        let classes = ByteClasses::new(|byte| {
            let is = [is_parting(byte), byte.is_ascii_alphabetic(), byte.is_ascii_digit()];
            is.iter().rev().fold(0, |classes, &is| classes << 1 | u8::from(is))
        });
        Self { classes, cuts, lone: None }
    }

    /// Give every stretch without characters that part the text, from left to right, in pieces: each ends where
    /// the stretch does, or before another kind of character where the two may be cut.
    #[inline]
    pub(super) fn run(&self, text: &[u8], masks: &mut Masks, visit: impl FnMut(Stretch)) {
        let mut pieces = Pieces { start: 0, follows: Follows::Byte, is_whole: false, visit };
        let (mut is_inside, mut before) = (false, Before::default());
        for (chunk_at, chunk) in (0..).step_by(CHUNK).zip(text.chunks(CHUNK)) {
            masks.clear();
            class_masks(chunk, &self.classes, masks);
            for (block_at, block) in (chunk_at..).step_by(BLOCK).zip(masks.iter()) {
                let (edges, kinds, wide) = before.next(block);
                let wide = if self.lone.is_some() { wide } else { 0 };
                let mut places = edges | kinds | wide;
                while places != 0 {
                    let bit = places & places.wrapping_neg();
                    let at = block_at + places.trailing_zeros() as usize;
                    places ^= bit;
                    if edges & bit != 0 {
                        if is_inside {
                            pieces.end(at);
                        }
                        is_inside = !is_inside;
                        pieces.begin(at, Follows::Byte);
                    } else if kinds & bit != 0 && self.cuts.has(text, at) {
                        pieces.cut(at);
                    }
                    if wide & bit != 0 {
                        self.lone.iter().for_each(|lone| lone.cut(text, at, &mut pieces));
                    }
                }
            }
        }
        // Bytes after the end of the text part nothing, so the last stretch stays open.
        if is_inside {
            pieces.end(text.len());
        }
    }
}

/// Gives the pieces of stretches as their ends are found.
pub(super) struct Pieces<V> {
    /// Where the piece begins that is open.
    pub(super) start: usize,
    follows: Follows,
    /// Whether no run is to be taken out of the rest of the stretch.
    pub(super) is_whole: bool,
    visit: V,
}

impl<V: FnMut(Stretch)> Pieces<V> {
    /// A stretch begins.
    #[inline]
    pub(super) fn begin(&mut self, at: usize, follows: Follows) {
        (self.start, self.follows, self.is_whole) = (at, follows, false);
    }

    /// A stretch ends.
    #[inline]
    pub(super) fn end(&mut self, at: usize) {
        self.give(at, Run::No);
    }

    /// A piece ends that the next one follows.
    #[inline]
    fn cut(&mut self, at: usize) {
        self.give(at, Run::No);
        (self.start, self.follows) = (at, Follows::Text);
    }

    /// Take a run out of the stretch.
    #[inline]
    pub(super) fn run(&mut self, start: usize, end: usize, run: Run) {
        if self.start < start {
            self.cut(start);
        }
        self.give(end, run);
        (self.start, self.follows) = (end, Follows::Text);
    }

    #[inline]
    fn give(&mut self, end: usize, run: Run) {
        let Self { start, follows, .. } = *self;
        if start < end {
            (self.visit)(Stretch { start, end, follows, run });
        }
    }
}

/// The last bits of the block before.
#[derive(Clone, Copy, Default)]
struct Before {
    within: u64,
    ascii: u64,
    others: u64,
    letters: u64,
    digits: u64,
}

impl Before {
    /// Where stretches begin and end, where within one kinds of ASCII characters meet, and where other characters
    /// follow ASCII.
    #[inline(always)]
    fn next(&mut self, &[parts, letters, digits, others]: &[u64; 4]) -> (u64, u64, u64) {
        let (within, ascii) = (!parts, !(parts | others));
        let met = |now: u64, before: &mut u64| {
            let shifted = now << 1 | *before;
            *before = now >> 63;
            shifted
        };
        let edges = within ^ met(within, &mut self.within);
        let both_ascii = ascii & met(ascii, &mut self.ascii);
        let changes = letters ^ met(letters, &mut self.letters) | digits ^ met(digits, &mut self.digits);
        let wide = others & !met(others, &mut self.others);
        (edges, changes & both_ascii, wide)
    }
}

/// The ASCII neighbours between which a text may be cut before it is normalized: a bit for each pair.
#[derive(Clone, Debug)]
pub(super) struct Cuts(Vec<u64>);

impl Cuts {
    /// Nowhere.
    pub(super) fn none() -> Self {
        Self(vec![0; 256])
    }

    /// Where this says so.
    pub(super) fn of(is_cut: impl Fn(u8, u8) -> bool) -> Self {
        let mut cuts = Self::none();
        for (one, next) in (0..128).flat_map(|one| (0..128).map(move |next| (one, next))) {
            let (word, bit) = place(one, next);
            cuts.0[word] |= u64::from(is_cut(one, next)) << bit;
        }
        cuts
    }

    /// Whether a text may be cut before byte `at`, which may be its end. What the character there becomes may
    /// depend on what follows it, unless that is ASCII.
    #[inline]
    pub(super) fn has(&self, text: &[u8], at: usize) -> bool {
        let Some(&next) = text.get(at).filter(|_| text.get(at + 1).is_none_or(u8::is_ascii)) else {
            return false;
        };
        let (word, bit) = place(text[at - 1], next);
        self.0.get(word).is_some_and(|word| word >> bit & 1 == 1)
    }
}

#[inline]
fn place(one: u8, next: u8) -> (usize, u32) {
    (usize::from(one) << 1 | usize::from(next) >> 6, u32::from(next) & 63)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_parting(byte: u8) -> bool {
        byte == b' ' || byte == b'\n'
    }

    /// The definition.
    fn naive(text: &[u8], is_cut: impl Fn(u8, u8) -> bool) -> Vec<(usize, usize, bool)> {
        let kind = |byte: u8| (byte.is_ascii_alphabetic(), byte.is_ascii_digit());
        let mut found: Vec<(usize, usize, bool)> = Vec::new();
        for (at, &byte) in text.iter().enumerate().filter(|(_, &byte)| !is_parting(byte)) {
            let before = at.checked_sub(1).map(|at| text[at]).filter(|&byte| !is_parting(byte));
            let goes_on = before.is_some_and(|before| {
                let after = text.get(at + 1).copied().unwrap_or_default();
                let is_ascii = before.is_ascii() && byte.is_ascii() && after.is_ascii();
                !(is_ascii && kind(before) != kind(byte) && is_cut(before, byte))
            });
            match found.last_mut() {
                Some(last) if goes_on => last.1 = at + 1,
                _ => found.push((at, at + 1, before.is_none())),
            }
        }
        found
    }

    #[test]
    fn spans_are_what_stands_between_cuts() {
        let is_cut = |one: u8, next: u8| (u32::from(one) * 7 + u32::from(next)) % 3 > 0;
        let scanner = Scanner::new(is_parting, Cuts::of(is_cut));
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
                scanner.run(&text, &mut Masks::new(), |Stretch { start, end, follows, .. }| {
                    found.push((start, end, follows == Follows::Byte));
                });
                assert_eq!(found, naive(&text, is_cut));
            }
        }
    }
}
