//! The words of a batch that still have merges.

/// The most words that are merged in turns.
pub const MAX_WORDS: usize = 32;

/// The indices of these words.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ActiveWords {
    numbers: [u8; MAX_WORDS],
    len: usize,
}

impl ActiveWords {
    /// Of the first `count` words, those for which `is_active` returns true.
    pub(super) fn of(count: usize, is_active: impl FnMut(usize) -> bool) -> Self {
        let mut active_words =
            Self { numbers: std::array::from_fn(|number| number as u8), len: count.min(MAX_WORDS) };
        active_words.retain(is_active);
        active_words
    }

    pub(super) fn is_empty(self) -> bool {
        self.len == 0
    }

    /// Keep the words for which `is_active` returns true; calls it in their order.
    #[inline(always)]
    pub(super) fn retain(&mut self, mut is_active: impl FnMut(usize) -> bool) {
        let mut kept = 0;
        for at in 0..self.len {
            let number = self.numbers[at % MAX_WORDS];
            self.numbers[kept % MAX_WORDS] = number;
            kept += usize::from(is_active(usize::from(number) % MAX_WORDS));
        }
        self.len = kept;
    }

    /// Call `visit` for each word.
    #[inline(always)]
    pub(super) fn visit(mut self, mut visit: impl FnMut(usize)) {
        self.retain(|number| {
            visit(number);
            true
        });
    }
}
