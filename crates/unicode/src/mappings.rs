//! Mappings of one code point: decompositions, lowercase, combining class. Two array reads find its row.

use super::classes::{BLOCK_BITS, BLOCK_MASK};
use super::tables::{MAPPED_CHARS, ROWS, ROW_BLOCKS, ROW_INDEX};

/// What one code point becomes, and how it behaves; texts are spans (start, length) of `MAPPED_CHARS`,
/// empty for the character itself.
#[derive(Debug)]
pub(crate) struct Row {
    pub(crate) canonical: (u16, u8),
    pub(crate) compatible: (u16, u8),
    lower: (u16, u8),
    pub(crate) combining_class: u8,
    /// 1 mark; 2 and 4 joins, canonically and compatibly; 8, 16, 32, 64 work for each of `NormalForm`.
    pub(crate) flags: u8,
}

/// Make a row of the table.
pub(crate) const fn row(
    canonical: (u16, u8),
    compatible: (u16, u8),
    lower: (u16, u8),
    combining_class: u8,
    flags: u8,
) -> Row {
    Row { canonical, compatible, lower, combining_class, flags }
}

#[inline]
pub(crate) fn row_of(c: char) -> &'static Row {
    let code = c as usize;
    let block = ROW_BLOCKS[code >> BLOCK_BITS] as usize;
    &ROWS[ROW_INDEX[(block << BLOCK_BITS) | (code & BLOCK_MASK)] as usize]
}

#[inline]
pub(crate) fn mapped((start, len): (u16, u8)) -> &'static [char] {
    &MAPPED_CHARS[usize::from(start)..usize::from(start) + usize::from(len)]
}

/// Give the lowercase of a character, without context.
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
