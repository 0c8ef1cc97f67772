//! The words of a text, as two arrays of byte positions.

/// The spans of words.
#[derive(Clone, Copy, Debug)]
pub struct WordSpans<'w> {
    /// The start of each word.
    pub starts: &'w [u32],
    /// The end of each word.
    pub ends: &'w [u32],
}

impl<'w> WordSpans<'w> {
    /// Iterate over the spans.
    #[inline]
    pub fn spans(self) -> impl Iterator<Item = (usize, usize)> + 'w {
        self.starts.iter().zip(self.ends).map(|(&start, &end)| (start as usize, end as usize))
    }
}
