//! Mappings of code points: decompositions, lowercase and combining class. Two array reads find the row of
//! a code point.

use super::classes::{BLOCK_BITS, BLOCK_MASK};
use super::tables::{MAPPED_CHARS, ROWS, ROW_BLOCKS, ROW_INDEX};

/// The mappings of a code point. A mapping is a span (start, length) of `MAPPED_CHARS`; an empty one maps
/// to the character itself.
#[derive(Debug)]
pub(crate) struct Row {
    pub(crate) canonical: (u16, u8),
    pub(crate) compatible: (u16, u8),
    lower: (u16, u8),
    pub(crate) combining_class: u8,
    /// 1: a mark. 2 and 4: `FormTraits::joins` for canonical and compatibility forms. 8, 16, 32 and 64:
    /// `FormTraits::needs_work` for each `NormalForm`.
    pub(crate) flags: u8,
}

/// Return a row, for the generated tables.
pub(crate) const fn row(
    canonical: (u16, u8),
    compatible: (u16, u8),
    lower: (u16, u8),
    combining_class: u8,
    flags: u8,
) -> Row {
    Row { canonical, compatible, lower, combining_class, flags }
}

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
