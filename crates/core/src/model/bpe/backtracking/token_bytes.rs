//! The bytes of tokens.

use super::split_table::SplitTable;

/// The bytes of tokens, concatenated.
#[derive(Default)]
pub(super) struct TokenBytes {
    pub(super) bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl TokenBytes {
    /// Return the bytes of all tokens of a split table whose first symbols are the 256 bytes.
    pub(super) fn of_bytes(split_table: &SplitTable) -> Self {
        let mut texts = Self::default();
        (0..=255).for_each(|byte| texts.push(|bytes| bytes.push(byte)));
        split_table.splits().for_each(|(left, right)| texts.push_merged(left, right));
        texts
    }

    pub(super) fn push(&mut self, push_bytes: impl FnOnce(&mut Vec<u8>)) {
        push_bytes(&mut self.bytes);
        self.ends.push(self.bytes.len());
    }

    /// Append the bytes of two earlier tokens as one token.
    pub(super) fn push_merged(&mut self, left: u32, right: u32) {
        for number in [left, right] {
            self.bytes.extend_from_within(self.span(number as usize));
        }
        self.ends.push(self.bytes.len());
    }

    fn span(&self, number: usize) -> std::ops::Range<usize> {
        number.checked_sub(1).map_or(0, |before| self.ends[before])..self.ends[number]
    }

    pub(super) fn all(&self) -> Vec<&[u8]> {
        (0..self.ends.len()).map(|number| &self.bytes[self.span(number)]).collect()
    }
}
