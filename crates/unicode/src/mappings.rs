//! Mappings of code points: decompositions, lowercase and combining class. Two array reads find the row of
//! a code point.

use super::classes::{BLOCK_BITS, BLOCK_MASK};
use super::row::Row;
use super::tables::{MAPPED_CHARS, ROWS, ROW_BLOCKS, ROW_INDEX};

/// Return the row of a character.
#[inline]
pub(crate) fn row_of(c: char) -> &'static Row {
    let code = c as usize;
    let block = ROW_BLOCKS[code >> BLOCK_BITS] as usize;
    &ROWS[ROW_INDEX[(block << BLOCK_BITS) | (code & BLOCK_MASK)] as usize]
}

/// Return the characters of a mapping.
#[inline]
pub(crate) fn mapped((start, len): (u16, u8)) -> &'static [char] {
    &MAPPED_CHARS[usize::from(start)..usize::from(start) + usize::from(len)]
}

/// Call `emit` with the lowercase of a character, without regard to context (Unicode 17.0).
pub fn lowercase(c: char, mut emit: impl FnMut(char)) {
    match mapped(row_of(c).lower) {
        [] => emit(c),
        parts => parts.iter().for_each(|&part| emit(part)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lowercases_without_context() {
        let mut out = String::new();
        "İΣ".chars().for_each(|c| lowercase(c, |l| out.push(l)));
        assert_eq!(out, "i\u{307}σ");
    }
}
