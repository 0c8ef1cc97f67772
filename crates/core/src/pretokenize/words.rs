//! The words of a text as two arrays of positions.

/// The words of a stretch of text: where each starts and ends, in bytes.
#[derive(Clone, Copy, Debug)]
pub struct WordSpans<'w> {
    /// Where they start.
    pub starts: &'w [u32],
    /// Where they end, as many.
    pub ends: &'w [u32],
}

impl<'w> WordSpans<'w> {
    /// The span of every word.
    #[inline]
    pub fn spans(self) -> impl Iterator<Item = (usize, usize)> + 'w {
        self.starts.iter().zip(self.ends).map(|(&start, &end)| (start as usize, end as usize))
    }
}
