//! Masks to the bytes where words start, 64 at a time: a byte's neighbours decide, but for the doubts that
//! are noted for `repairs`.

use piecework_kernels::classes::BLOCK;

use super::blocks::{Around, Block};
use super::classes::Masks;
use super::doubts::Doubts;
use super::scanner::{Alphabet, Family, Scanner, Trail};

impl Scanner {
    /// Append the starts of words, a bit for each byte, and note what is in doubt.
    pub(super) fn find_starts(
        self,
        masks: &[Masks],
        len: usize,
        starts: &mut Vec<u64>,
        doubts: &mut Doubts,
    ) {
        match self.family {
            Family::Gpt2 if self.between_numbers => {
                sweep(masks, len, starts, |around| self.gpt2::<true>(around, doubts));
            }
            Family::Gpt2 => sweep(masks, len, starts, |around| self.gpt2::<false>(around, doubts)),
            Family::Plain => sweep(masks, len, starts, |around| self.plain(around, doubts)),
            Family::Clip => sweep(masks, len, starts, |around| self.clip(around, doubts)),
            Family::Bloom => sweep(masks, len, starts, Self::bloom),
            Family::Coder => sweep(masks, len, starts, |around| self.coder(around, doubts)),
            Family::Zoned => {
                let mut led = false;
                sweep(masks, len, starts, |around| self.zoned(around, &mut led, doubts));
            }
            Family::Cased => sweep(masks, len, starts, |around| {
                let leads = self.leads(around, doubts);
                self.note_cased(around, doubts);
                let capitals = around.now.capital & around.after(|b| b.small);
                let numbers = match self.alphabet {
                    Alphabet::Han => self.numbers_and_han(around, doubts),
                    _ => self.numbers(around, doubts),
                };
                leads.starts() | capitals | numbers
            }),
        }
    }

    /// The starts of numbers of as many digits as the pattern takes.
    #[inline(always)]
    pub(super) fn numbers(self, around: &Around, doubts: &mut Doubts) -> u64 {
        self.starts_of(|b| b.number, around, doubts)
    }

    #[inline(always)]
    fn starts_of(self, number: impl Fn(&Block) -> u64 + Copy, around: &Around, doubts: &mut Doubts) -> u64 {
        if self.max_digits == 1 {
            doubts.note_numbers(around.base, number(&around.now) & around.now.wide);
            return number(&around.now);
        }
        let first = around.first(number);
        let longer = [1, 2, 3].map(|by| around.before(by, number));
        let too_long = match self.max_digits {
            2 => longer[0] & longer[1],
            usize::MAX => 0,
            _ => longer[0] & longer[1] & longer[2],
        };
        doubts.note_numbers(around.base, first & too_long);
        first
    }

    /// The starts of numbers and of runs of Chinese characters; those that are both go on with a number.
    #[inline(always)]
    fn numbers_and_han(self, around: &Around, doubts: &mut Doubts) -> u64 {
        let han = |b: &Block| b.han;
        let digit = |b: &Block| b.number & !b.han;
        let number_after_digit = around.now.han_number & around.after(digit);
        let odd = around.now.apostrophe & around.now.slash;
        doubts.note_zones(around.base, number_after_digit | odd);
        around.first(han) | self.starts_of(digit, around, doubts)
    }

    /// What spaces may stand before in the text that the pattern sees.
    #[inline(always)]
    fn seen(self, block: &Block) -> u64 {
        if self.between_numbers {
            block.letter | block.other
        } else {
            block.word()
        }
    }

    /// Runs of one class, each with an ASCII space before; spaces but for the last before something else.
    #[inline(always)]
    fn gpt2<const BETWEEN_NUMBERS: bool>(self, around: &Around, doubts: &mut Doubts) -> u64 {
        let now = &around.now;
        let others = around.first(|b| b.letter) | around.first(|b| b.other);
        let (runs, apart) = if BETWEEN_NUMBERS {
            (others, self.numbers(around, doubts))
        } else {
            (others | around.first(|b| b.number), 0)
        };
        let words = runs & !around.after(|b| b.plain_space);
        let last_space = now.space & around.before(1, |b| self.seen(b));
        doubts.note_contractions(around.base, now.apostrophe & words & around.before(1, |b| b.letter));
        doubts.note_wide_spaces(around.base, last_space & now.wide);
        words | apart | around.first(|b| b.space) | last_space
    }

    #[inline(always)]
    fn plain(self, around: &Around, doubts: &mut Doubts) -> u64 {
        let leads = self.leads(around, doubts);
        if self.contractions {
            let before_letter = leads.others & around.before(1, |b| b.letter);
            doubts.note_contractions(around.base, around.now.apostrophe & before_letter);
        }
        leads.starts() | self.numbers(around, doubts)
    }

    /// `[^\r\n\p{L}\p{N}]?\p{L}+| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`, digits apart.
    ///
    /// Others go with a space before and with the line ends after; letters go with a blank before, which is the
    /// last of its run, or with a single other that starts a word. Spaces end with their last line end; what
    /// comes after starts anew, and so does the last before something else.
    #[inline(always)]
    fn leads(self, around: &Around, doubts: &mut Doubts) -> Leads {
        let now = &around.now;
        let other_first = |b: &Block, before: u64, space: u64| b.other & !before & !space;
        let others = other_first(now, around.after(|b| b.other), around.after(|b| b.plain_space));
        // Whether the last byte of the block before starts a word of others hangs on the byte before it.
        let last = &around.last;
        let last_others = other_first(last, last.other << 1, last.plain_space << 1);
        let led_by_other = others << 1 | last_others >> 63;
        let after_blank = around.after(|b| b.blank);
        let letters = around.first(|b| b.letter) & !after_blank & !led_by_other;
        let last_blank = now.blank & around.before(1, |b| self.seen(b));
        let trailing =
            if self.trail == Trail::Nothing { 0 } else { now.newline & around.after(|b| b.other) };
        let first_space = around.first(|b| b.space) & !trailing;
        let spaces = first_space | now.blank & around.after(|b| b.newline) | last_blank;
        doubts.note_wide_leads(around.base, letters & around.after(|b| b.other & b.wide));
        doubts.note_wide_spaces(around.base, last_blank & now.wide);
        doubts.note_blank_lines(around.base, now.newline & after_blank);
        Leads { letters, others, spaces }
    }

    #[inline(always)]
    fn note_cased(self, around: &Around, doubts: &mut Doubts) {
        let now = &around.now;
        if self.contractions {
            let inside = around.after(|b| b.letter) & around.before(1, |b| b.letter);
            doubts.note_contractions(around.base, now.apostrophe & inside);
        }
        let capital = now.capital & around.after(|b| b.uncased);
        let mark = now.mark & around.after(|b| b.other);
        let slash = match self.trail {
            Trail::LineEndsAndSlashes => now.slash & around.after(|b| b.newline),
            Trail::Nothing | Trail::LineEnds => 0,
        };
        doubts.note_zones(around.base, capital | mark | slash);
    }
}

/// Give each block between its neighbours to `rule`.
#[inline(always)]
fn sweep(masks: &[Masks], len: usize, starts: &mut Vec<u64>, mut rule: impl FnMut(&Around) -> u64) {
    let is_text = |block: usize| match len - block * BLOCK {
        64.. => u64::MAX,
        rest => (1 << rest) - 1,
    };
    let of =
        |block: usize| masks.get(block).map_or_else(Block::default, |it| Block::of(it, is_text(block)));
    let mut around = Around { last: Block::default(), now: of(0), next: Block::default(), base: 0 };
    for block in 0..masks.len() {
        around.next = of(block + 1);
        around.base = block * BLOCK;
        starts.push(rule(&around));
        around.last = around.now;
        around.now = around.next;
    }
}

/// Where words of letters, others and spaces start.
struct Leads {
    letters: u64,
    others: u64,
    spaces: u64,
}

impl Leads {
    fn starts(&self) -> u64 {
        self.letters | self.others | self.spaces
    }
}
