//! Classes of the characters beyond ASCII as bit masks, a block of 64 bytes at a time.
//!
//! A text has few different leads: the bytes of a character but the last one, which selects one of 64 entries. So each lead
//! of a block is compared with all bytes of the block, and one table gives the classes of all its characters.

use crate::classes::BLOCK;
use crate::level::Level;

/// The code points of a page.
pub const PAGE: usize = 128;
/// The bytes that are read for a block: a character may begin at its last byte.
const READ: usize = BLOCK + 2;

/// The classes of characters, a bit each.
#[derive(Clone, Copy, Debug)]
pub struct WideClasses<'t> {
    /// By lead byte without its upper two bits: the classes that all characters with it have; 0 if they differ.
    pub of_lead: &'t [u8; 64],
    /// By code point over [`PAGE`]: the number of its page.
    pub numbers: &'t [u16],
    /// The classes of the characters of each page.
    pub pages: &'t [[u8; PAGE]],
}

impl WideClasses<'_> {
    /// Return the classes of the 64 characters of a lead of one byte, or of two.
    #[inline(always)]
    fn of_last_byte(&self, lead: u8, second: u8) -> &[u8; 64] {
        let code = match lead {
            0xE0.. => usize::from(lead & 0xF) << 12 | usize::from(second & 0x3F) << 6,
            _ => usize::from(lead & 0x1F) << 6,
        };
        let (halves, _) = self.pages[usize::from(self.numbers[code / PAGE])].as_chunks();
        &halves[code / 64 % 2]
    }
}

/// Add the classes of the characters of two and three bytes to the masks that [`crate::classes::class_masks`] made of the
/// same text: all bytes of a character have its classes. Append the positions of the characters of four bytes.
pub fn add_wide_classes<const N: usize>(
    bytes: &[u8],
    classes: WideClasses<'_>,
    masks: &mut [[u64; N]],
    four: &mut Vec<u32>,
) {
    add_at(Level::active(), bytes, classes, masks, four);
}

/// [`add_wide_classes`] with the instructions of one level.
fn add_at<const N: usize>(
    level: Level,
    bytes: &[u8],
    classes: WideClasses<'_>,
    masks: &mut [[u64; N]],
    four: &mut Vec<u32>,
) {
    match level.set() {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: a level exists only where the processor has its instructions.
        crate::level::Set::Avx512 => unsafe { x86::add_avx512(bytes, classes, masks, four) },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: as above.
        crate::level::Set::Avx2 => unsafe { x86::add_avx2(bytes, classes, masks, four) },
        _ => add::<Scalar, N>(bytes, classes, masks, four),
    }
}

/// A block, and the classes of its characters at their first bytes.
trait Lanes {
    /// Return a block and the two bytes after it; each byte has the classes that `of_lead` has for it.
    fn new(bytes: &[u8; READ], of_lead: &[u8; 64]) -> Self;

    /// Return the bytes that are not below `bound`.
    fn at_least(&self, bound: u8) -> u64;

    /// Return the bytes without classes.
    fn without_classes(&self) -> u64;

    /// Set the classes of the characters with these first bytes; return where they begin.
    fn set_classes(&mut self, lead: u8, second: u8, of_last: &[u8; 64]) -> u64;

    /// Return the bytes of a class.
    fn of_class(&self, class: usize) -> u64;
}

#[inline(always)]
fn add<L: Lanes, const N: usize>(
    bytes: &[u8],
    classes: WideClasses<'_>,
    masks: &mut [[u64; N]],
    four: &mut Vec<u32>,
) {
    let mut begun = [0; N];
    for (number, of_block) in masks.iter_mut().enumerate().filter(|(_, of_block)| of_block[N - 1] != 0) {
        let start = number * BLOCK;
        let mut last = [0; READ];
        let block = bytes[start..].first_chunk().unwrap_or_else(|| {
            last[..bytes.len() - start].copy_from_slice(&bytes[start..]);
            &last
        });
        let mut lanes = L::new(block, classes.of_lead);
        let (three, of_four) = (lanes.at_least(0xE0), lanes.at_least(0xF0));
        let leads = lanes.at_least(0xC0) & !of_four;
        let mut left = leads & lanes.without_classes();
        while left != 0 {
            let at = left.trailing_zeros() as usize;
            let (lead, second) = (block[at], block[at + 1]);
            left &= !lanes.set_classes(lead, second, classes.of_last_byte(lead, second));
        }
        for class in 0..N - 1 {
            let begins = lanes.of_class(class) & leads;
            let third = begins & three;
            of_block[class] |= begins | begins << 1 | third << 2 | begun[class];
            begun[class] = begins >> 63 | third >> 62;
        }
        push_positions(four, start, of_four);
    }
}

/// Append the position of each bit.
fn push_positions(list: &mut Vec<u32>, start: usize, mut bits: u64) {
    while bits != 0 {
        list.push(start as u32 + bits.trailing_zeros());
        bits &= bits - 1;
    }
}

/// The definition.
struct Scalar {
    bytes: [u8; READ],
    classes: [u8; BLOCK],
}

impl Scalar {
    #[inline(always)]
    fn bits(is_set: impl Fn(usize) -> bool) -> u64 {
        (0..BLOCK).fold(0, |bits, at| bits | u64::from(is_set(at)) << at)
    }
}

impl Lanes for Scalar {
    #[inline(always)]
    fn new(bytes: &[u8; READ], of_lead: &[u8; 64]) -> Self {
        Self { bytes: *bytes, classes: std::array::from_fn(|at| of_lead[usize::from(bytes[at] & 0x3F)]) }
    }

    #[inline(always)]
    fn at_least(&self, bound: u8) -> u64 {
        Self::bits(|at| self.bytes[at] >= bound)
    }

    #[inline(always)]
    fn without_classes(&self) -> u64 {
        Self::bits(|at| self.classes[at] == 0)
    }

    #[inline(always)]
    fn set_classes(&mut self, lead: u8, second: u8, of_last: &[u8; 64]) -> u64 {
        let is_three = lead >= 0xE0;
        let begins = Self::bits(|at| self.bytes[at] == lead && (!is_three || self.bytes[at + 1] == second));
        let mut left = begins;
        while left != 0 {
            let at = left.trailing_zeros() as usize;
            self.classes[at] = of_last[usize::from(self.bytes[at + 1 + usize::from(is_three)] & 0x3F)];
            left &= left - 1;
        }
        begins
    }

    #[inline(always)]
    fn of_class(&self, class: usize) -> u64 {
        Self::bits(|at| self.classes[at] >> class & 1 != 0)
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::*;

    use super::{add, Lanes, WideClasses, BLOCK, READ};

    /// `add` with the instructions named.
    ///
    /// # Safety
    /// Needs the features named.
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi,bmi1,bmi2")]
    pub(super) unsafe fn add_avx512<const N: usize>(
        bytes: &[u8],
        classes: WideClasses<'_>,
        masks: &mut [[u64; N]],
        four: &mut Vec<u32>,
    ) {
        add::<Avx512, N>(bytes, classes, masks, four);
    }

    /// `add` with the instructions named.
    ///
    /// # Safety
    /// Needs the features named.
    #[target_feature(enable = "avx2,bmi1,bmi2")]
    pub(super) unsafe fn add_avx2<const N: usize>(
        bytes: &[u8],
        classes: WideClasses<'_>,
        masks: &mut [[u64; N]],
        four: &mut Vec<u32>,
    ) {
        add::<Avx2, N>(bytes, classes, masks, four);
    }

    /// A block, and the same one and two bytes later; made by `add_avx512` alone.
    struct Avx512 {
        bytes: [__m512i; 3],
        classes: __m512i,
    }

    // SAFETY of all functions: `add_avx512` has the features, and they are inlined there. Loads are within the arrays.
    impl Lanes for Avx512 {
        #[inline(always)]
        fn new(bytes: &[u8; READ], of_lead: &[u8; 64]) -> Self {
            // SAFETY: as above.
            unsafe {
                let at = bytes.as_ptr();
                let first = _mm512_loadu_si512(at.cast());
                let (second, third) =
                    (_mm512_loadu_si512(at.add(1).cast()), _mm512_loadu_si512(at.add(2).cast()));
                let of_lead = _mm512_loadu_si512(of_lead.as_ptr().cast());
                Self { bytes: [first, second, third], classes: _mm512_permutexvar_epi8(first, of_lead) }
            }
        }

        #[inline(always)]
        fn at_least(&self, bound: u8) -> u64 {
            // SAFETY: as above.
            unsafe { _mm512_cmpge_epu8_mask(self.bytes[0], _mm512_set1_epi8(bound as i8)) }
        }

        #[inline(always)]
        fn without_classes(&self) -> u64 {
            // SAFETY: as above.
            unsafe { _mm512_testn_epi8_mask(self.classes, self.classes) }
        }

        #[inline(always)]
        fn set_classes(&mut self, lead: u8, second: u8, of_last: &[u8; 64]) -> u64 {
            let [first, next, third] = self.bytes;
            // SAFETY: as above.
            unsafe {
                let of_last = _mm512_loadu_si512(of_last.as_ptr().cast());
                let mut begins = _mm512_cmpeq_epi8_mask(first, _mm512_set1_epi8(lead as i8));
                let mut last = next;
                if lead >= 0xE0 {
                    begins = _mm512_mask_cmpeq_epi8_mask(begins, next, _mm512_set1_epi8(second as i8));
                    last = third;
                }
                self.classes = _mm512_mask_permutexvar_epi8(self.classes, begins, last, of_last);
                begins
            }
        }

        #[inline(always)]
        fn of_class(&self, class: usize) -> u64 {
            // SAFETY: as above.
            unsafe { _mm512_test_epi8_mask(self.classes, _mm512_set1_epi8(1 << class)) }
        }
    }

    /// A block in two halves, and the same one and two bytes later; made by `add_avx2` alone.
    struct Avx2 {
        bytes: [[__m256i; 2]; 3],
        classes: [__m256i; 2],
    }

    // SAFETY of all functions: `add_avx2` has the features, and they are inlined there. Loads are within the arrays.
    impl Avx2 {
        #[inline(always)]
        unsafe fn load(bytes: &[u8; READ], from: usize) -> [__m256i; 2] {
            // SAFETY: as above.
            unsafe {
                let at = bytes.as_ptr().add(from);
                [_mm256_loadu_si256(at.cast()), _mm256_loadu_si256(at.add(BLOCK / 2).cast())]
            }
        }

        #[inline(always)]
        unsafe fn equal([low, high]: [__m256i; 2], byte: u8) -> [__m256i; 2] {
            // SAFETY: as above.
            unsafe {
                let byte = _mm256_set1_epi8(byte as i8);
                [_mm256_cmpeq_epi8(low, byte), _mm256_cmpeq_epi8(high, byte)]
            }
        }

        #[inline(always)]
        unsafe fn top_bits([low, high]: [__m256i; 2]) -> u64 {
            // SAFETY: as above.
            unsafe {
                let (low, high) = (_mm256_movemask_epi8(low) as u32, _mm256_movemask_epi8(high) as u32);
                u64::from(low) | u64::from(high) << 32
            }
        }

        /// Return the entries by the lower six bits of each byte: four tables of 16, selected by two bits.
        #[inline(always)]
        unsafe fn look_up(bytes: __m256i, table: &[u8; 64]) -> __m256i {
            // SAFETY: as above.
            unsafe {
                let parts = _mm256_loadu_si256(table.as_ptr().cast());
                let more = _mm256_loadu_si256(table.as_ptr().add(32).cast());
                let index = _mm256_and_si256(bytes, _mm256_set1_epi8(0xF));
                let a = _mm256_shuffle_epi8(_mm256_permute4x64_epi64::<0x44>(parts), index);
                let b = _mm256_shuffle_epi8(_mm256_permute4x64_epi64::<0xEE>(parts), index);
                let c = _mm256_shuffle_epi8(_mm256_permute4x64_epi64::<0x44>(more), index);
                let d = _mm256_shuffle_epi8(_mm256_permute4x64_epi64::<0xEE>(more), index);
                let (bit_4, bit_5) = (_mm256_slli_epi16::<3>(bytes), _mm256_slli_epi16::<2>(bytes));
                _mm256_blendv_epi8(_mm256_blendv_epi8(a, b, bit_4), _mm256_blendv_epi8(c, d, bit_4), bit_5)
            }
        }
    }

    impl Lanes for Avx2 {
        #[inline(always)]
        fn new(bytes: &[u8; READ], of_lead: &[u8; 64]) -> Self {
            // SAFETY: as above.
            unsafe {
                let [low, high] = Self::load(bytes, 0);
                let classes = [Self::look_up(low, of_lead), Self::look_up(high, of_lead)];
                Self { bytes: [[low, high], Self::load(bytes, 1), Self::load(bytes, 2)], classes }
            }
        }

        #[inline(always)]
        fn at_least(&self, bound: u8) -> u64 {
            let [low, high] = self.bytes[0];
            // SAFETY: as above.
            unsafe {
                let bound = _mm256_set1_epi8(bound as i8);
                let (least, other) = (_mm256_max_epu8(low, bound), _mm256_max_epu8(high, bound));
                Self::top_bits([_mm256_cmpeq_epi8(least, low), _mm256_cmpeq_epi8(other, high)])
            }
        }

        #[inline(always)]
        fn without_classes(&self) -> u64 {
            // SAFETY: as above.
            unsafe { Self::top_bits(Self::equal(self.classes, 0)) }
        }

        #[inline(always)]
        fn set_classes(&mut self, lead: u8, second: u8, of_last: &[u8; 64]) -> u64 {
            let [first, next, third] = self.bytes;
            // SAFETY: as above.
            unsafe {
                let ([mut low, mut high], mut last) = (Self::equal(first, lead), next);
                if lead >= 0xE0 {
                    let seconds = Self::equal(next, second);
                    (low, high) = (_mm256_and_si256(low, seconds[0]), _mm256_and_si256(high, seconds[1]));
                    last = third;
                }
                let found = [Self::look_up(last[0], of_last), Self::look_up(last[1], of_last)];
                self.classes = [
                    _mm256_blendv_epi8(self.classes[0], found[0], low),
                    _mm256_blendv_epi8(self.classes[1], found[1], high),
                ];
                Self::top_bits([low, high])
            }
        }

        #[inline(always)]
        fn of_class(&self, class: usize) -> u64 {
            let [low, high] = self.classes;
            // SAFETY: as above.
            unsafe {
                let bit = _mm256_set1_epi8(1 << class);
                Self::top_bits([
                    _mm256_cmpeq_epi8(_mm256_and_si256(low, bit), bit),
                    _mm256_cmpeq_epi8(_mm256_and_si256(high, bit), bit),
                ])
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::classes::{class_masks, ByteClasses};

    /// Classes that differ from character to character, but for some leads.
    fn classes() -> (Vec<[u8; PAGE]>, Vec<u16>, [u8; 64]) {
        let of = |code: usize| match code {
            0x400..0x440 | 0x5000..0x6000 => 5,
            _ => (code.wrapping_mul(0x9E37_79B1) >> 13) as u8 & 0x1F,
        };
        let pages = (0..0x1_0000 / PAGE).map(|page| std::array::from_fn(|at| of(page * PAGE + at)));
        let mut of_lead = [0; 64];
        (of_lead[0x10], of_lead[0x25]) = (5, 5);
        (pages.collect(), (0..0x1_0000 / PAGE).map(|page| page as u16).collect(), of_lead)
    }

    fn check(text: &str) {
        let (pages, numbers, of_lead) = classes();
        let table = WideClasses { of_lead: &of_lead, numbers: &numbers, pages: &pages };
        let mut masks: Vec<[u64; 6]> = Vec::new();
        class_masks(text.as_bytes(), &ByteClasses::new(|_| 0), &mut masks);
        let (mut expected, mut fours) = (masks.clone(), Vec::new());
        for (at, c) in text.char_indices() {
            let (code, len) = (c as usize, c.len_utf8());
            fours.extend((len == 4).then_some(at as u32));
            let of = if (2..4).contains(&len) { pages[code / PAGE][code % PAGE] } else { 0 };
            for (at, class) in (at..at + len).flat_map(|at| (0..5).map(move |class| (at, class))) {
                expected[at / BLOCK][class] |= u64::from(of >> class & 1) << (at % BLOCK);
            }
        }
        for level in Level::supported() {
            let (mut found, mut four) = (masks.clone(), Vec::new());
            add_at(level, text.as_bytes(), table, &mut found, &mut four);
            assert_eq!((found, four), (expected.clone(), fours.clone()), "{} {text:?}", level.name());
        }
    }

    #[test]
    fn every_level_has_the_classes_of_every_character() {
        let codes = (0x70..0x1_0100).chain([0x1_F600, 0x10_FFFF]);
        let chars = codes.filter_map(char::from_u32);
        let far = (0..).map(|number: u32| number.wrapping_mul(7919) % 0xD7FF).filter_map(char::from_u32);
        check(&chars.clone().collect::<String>());
        check(&chars.zip(far).flat_map(|(near, far)| [near, far]).collect::<String>());
    }

    #[test]
    fn characters_continue_in_the_next_block_and_end_with_the_text() {
        for (c, before) in
            ['é', 'Ж', 'ა', '思', '😀'].into_iter().flat_map(|c| (0..70).map(move |at| (c, at)))
        {
            check(&format!("{}{c}", "a".repeat(before)));
            check(&format!("{}{c}{}", "a".repeat(before), "aé".repeat(40)));
        }
    }
}
