//! Where a marked word may be taken apart: between two characters that stand side by side in no piece.
//!
//! No piece, and no merge, crosses such a place; every path goes through it. One of the two characters must be
//! a piece, so that unknown characters on both sides are not one token. This is what parts a text at its
//! spaces, asked for any two characters; most words then fall into few parts that are often the same.

use rustc_hash::FxHashSet;

/// The pairs of neighbours in pieces, and the characters that are pieces.
#[derive(Clone, Debug)]
pub(super) struct Pairs {
    /// A bit for each hash of a pair; a pair whose bit is not set is in no piece.
    bits: Vec<u64>,
    shift: u32,
    /// A bit for each code point.
    known: Vec<u64>,
}

/// How many bits there are for each pair: one place in 16 is kept together for nothing, at most.
const BITS_A_PAIR: usize = 16;

impl Pairs {
    /// The pairs of these pieces.
    pub(super) fn of<'p>(pieces: impl Iterator<Item = &'p str>) -> Self {
        let (mut pairs, mut known) = (FxHashSet::default(), Vec::new());
        for piece in pieces {
            let mut chars = piece.chars();
            match (chars.next(), chars.next()) {
                (Some(only), None) => set(&mut known, only as usize),
                _ => pairs.extend(piece.chars().zip(piece.chars().skip(1))),
            }
        }
        let bits = (pairs.len() * BITS_A_PAIR).next_power_of_two().max(64);
        let mut built = Self { bits: vec![0; bits / 64], shift: 64 - bits.trailing_zeros(), known };
        for (one, next) in pairs {
            let at = built.place(one, next);
            set(&mut built.bits, at);
        }
        built
    }

    /// Give the span of every part of a word of so many bytes, by its characters and where they begin.
    pub(super) fn cut(
        &self,
        chars: impl Iterator<Item = (usize, char)>,
        len: usize,
        mut visit: impl FnMut(usize, usize),
    ) {
        let mut start = 0;
        let mut before = None;
        for (at, c) in chars {
            if before.is_some_and(|before| self.part(before, c)) {
                visit(start, at);
                start = at;
            }
            before = Some(c);
        }
        if start < len {
            visit(start, len);
        }
    }

    /// Whether these two characters may be parted.
    #[inline]
    pub(super) fn part(&self, one: char, next: char) -> bool {
        !has(&self.bits, self.place(one, next))
            && (has(&self.known, one as usize) || has(&self.known, next as usize))
    }

    #[inline]
    fn place(&self, one: char, next: char) -> usize {
        let pair = u64::from(u32::from(one)) << 32 | u64::from(u32::from(next));
        (pair.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> self.shift) as usize
    }
}

fn set(bits: &mut Vec<u64>, at: usize) {
    if bits.len() <= at / 64 {
        bits.resize(at / 64 + 1, 0);
    }
    bits[at / 64] |= 1 << (at % 64);
}

#[inline]
fn has(bits: &[u64], at: usize) -> bool {
    bits.get(at / 64).is_some_and(|word| word >> (at % 64) & 1 == 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts<'w>(pieces: &[&'static str], word: &'w str) -> Vec<&'w str> {
        let mut parts = Vec::new();
        Pairs::of(pieces.iter().copied())
            .cut(word.char_indices(), word.len(), |start, end| parts.push(&word[start..end]));
        parts
    }

    #[test]
    fn words_are_cut_where_no_piece_crosses() {
        let pieces = ["\u{2581}", "\u{2581}a", "ab", "b", "c", "\u{e9}", "\u{e9}c"];
        assert_eq!(parts(&pieces, "\u{2581}abcab"), ["\u{2581}ab", "c", "ab"]);
        assert_eq!(parts(&pieces, "b\u{e9}c\u{e9}"), ["b", "\u{e9}c", "\u{e9}"]);
        assert_eq!(parts(&pieces, ""), [""; 0]);
    }

    #[test]
    fn two_unknown_characters_stay_together() {
        assert_eq!(parts(&["a"], "xyaza"), ["xy", "a", "z", "a"]);
        assert_eq!(parts(&["a"], "aa"), ["a", "a"]);
    }
}
