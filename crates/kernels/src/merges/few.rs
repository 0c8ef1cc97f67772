//! Some of the words that go abreast.

/// How many words go at once.
pub const ABREAST: usize = 32;

/// Their numbers.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Few {
    numbers: [u8; ABREAST],
    len: usize,
}

impl Few {
    /// Those for which `keeps` holds, of the first so many.
    pub(super) fn of(count: usize, keeps: impl FnMut(usize) -> bool) -> Self {
        let mut few = Self { numbers: std::array::from_fn(|number| number as u8), len: count.min(ABREAST) };
        few.retain(keeps);
        few
    }

    pub(super) fn is_empty(self) -> bool {
        self.len == 0
    }

    /// Keep those for which `keeps` holds, asked in their order.
    #[inline(always)]
    pub(super) fn retain(&mut self, mut keeps: impl FnMut(usize) -> bool) {
        let mut kept = 0;
        for at in 0..self.len {
            let number = self.numbers[at % ABREAST];
            self.numbers[kept % ABREAST] = number;
            kept += usize::from(keeps(usize::from(number) % ABREAST));
        }
        self.len = kept;
    }

    /// Call `visit` for each.
    #[inline(always)]
    pub(super) fn visit(mut self, mut visit: impl FnMut(usize)) {
        self.retain(|number| {
            visit(number);
            true
        });
    }
}
