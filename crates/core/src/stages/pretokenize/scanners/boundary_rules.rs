//! From class masks to boundary masks, 64 bytes at a time. Bytes that their neighbours do not decide are collected, and
//! the mask is repaired there ([`BoundaryMask`]).

use piecework_kernels::classes::BLOCK;

use super::classes::{ClassMasks, FIRST, IS_LETTER, IS_NON_ASCII, IS_NUMBER, IS_SPACE, SECOND};
use super::kind_text::{contraction_end, is_certain_boundary};
use super::scanner::{Classification, PatternFamily, Scanner, TrailingChars};

impl Scanner {
    /// Append the boundary mask of a text and collect its ambiguous bytes.
    pub(super) fn find_boundaries(
        self,
        masks: &[ClassMasks],
        len: usize,
        starts: &mut Vec<u64>,
        ambiguous: &mut AmbiguousBytes,
    ) {
        match self.family {
            PatternFamily::Gpt2 if self.between_numbers => {
                for_each_block(masks, len, starts, |context| self.gpt2::<true>(context, ambiguous));
            }
            PatternFamily::Gpt2 => {
                for_each_block(masks, len, starts, |context| self.gpt2::<false>(context, ambiguous));
            }
            PatternFamily::Cl100k => {
                for_each_block(masks, len, starts, |context| self.cl100k(context, ambiguous));
            }
            PatternFamily::Clip => {
                for_each_block(masks, len, starts, |context| self.clip(context, ambiguous));
            }
            PatternFamily::DeepSeek => {
                let mut carry = false;
                for_each_block(masks, len, starts, |context| self.deepseek(context, &mut carry, ambiguous));
            }
            PatternFamily::O200k => for_each_block(masks, len, starts, |context| {
                let starts = self.run_starts(context, ambiguous);
                self.collect_o200k_ambiguous(context, ambiguous);
                let capitals = context.current.capital & context.after(|b| b.small);
                let numbers = match self.classification {
                    Classification::CasedAndHan => self.numbers_and_han(context, ambiguous),
                    _ => self.numbers(context, ambiguous),
                };
                starts.all() | capitals | numbers
            }),
        }
    }

    /// Return the starts of numbers with as many digits as the pattern allows.
    #[inline(always)]
    pub(super) fn numbers(self, context: &BlockContext, ambiguous: &mut AmbiguousBytes) -> u64 {
        self.starts_of(|b| b.number, context, ambiguous)
    }

    /// Return the starts of the runs of `number` with as many digits as the pattern allows.
    #[inline(always)]
    fn starts_of(
        self,
        number: impl Fn(&BlockClasses) -> u64 + Copy,
        context: &BlockContext,
        ambiguous: &mut AmbiguousBytes,
    ) -> u64 {
        if self.max_digits == 1 {
            ambiguous.add_numbers(context.base, number(&context.current) & context.current.non_ascii);
            return number(&context.current);
        }
        let first = context.first(number);
        let longer = [1, 2, 3].map(|by| context.before(by, number));
        let too_long = match self.max_digits {
            2 => longer[0] & longer[1],
            usize::MAX => 0,
            _ => longer[0] & longer[1] & longer[2],
        };
        ambiguous.add_numbers(context.base, first & too_long);
        first
    }

    /// Return the starts of numbers and of runs of Chinese characters. A Chinese numeral after a digit
    /// continues the number.
    #[inline(always)]
    fn numbers_and_han(self, context: &BlockContext, ambiguous: &mut AmbiguousBytes) -> u64 {
        let han = |b: &BlockClasses| b.han;
        let digit = |b: &BlockClasses| b.number & !b.han;
        let number_after_digit = context.current.han_number & context.after(digit);
        let odd = context.current.apostrophe & context.current.slash;
        ambiguous.add_rescans(context.base, number_after_digit | odd);
        context.first(han) | self.starts_of(digit, context, ambiguous)
    }

    /// Return the characters before which the last space of a run starts a word, in the text that the pattern sees.
    #[inline(always)]
    fn non_space(self, block: &BlockClasses) -> u64 {
        if self.between_numbers {
            block.letter | block.other
        } else {
            block.word()
        }
    }

    /// Return the starts of GPT-2's words: runs of one class, each with an ASCII space before; in a run of whitespace, the last
    /// character starts a word if another class follows.
    #[inline(always)]
    fn gpt2<const BETWEEN_NUMBERS: bool>(
        self,
        context: &BlockContext,
        ambiguous: &mut AmbiguousBytes,
    ) -> u64 {
        let now = &context.current;
        let others = context.first(|b| b.letter) | context.first(|b| b.other);
        let (runs, apart) = if BETWEEN_NUMBERS {
            (others, self.numbers(context, ambiguous))
        } else {
            (others | context.first(|b| b.number), 0)
        };
        let words = runs & !context.after(|b| b.plain_space);
        let last_space = now.space & context.before(1, |b| self.non_space(b));
        ambiguous.add_contractions(context.base, now.apostrophe & words & context.before(1, |b| b.letter));
        ambiguous.add_non_ascii_spaces(context.base, last_space & now.non_ascii);
        words | apart | context.first(|b| b.space) | last_space
    }

    /// Return the starts of the words of cl100k.
    #[inline(always)]
    fn cl100k(self, context: &BlockContext, ambiguous: &mut AmbiguousBytes) -> u64 {
        let starts = self.run_starts(context, ambiguous);
        if self.contractions {
            let before_letter = starts.others & context.before(1, |b| b.letter);
            ambiguous.add_contractions(context.base, context.current.apostrophe & before_letter);
        }
        starts.all() | self.numbers(context, ambiguous)
    }

    /// Return the starts of `[^\r\n\p{L}\p{N}]?\p{L}+| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`, without numbers.
    ///
    /// A run of other characters includes a space before it and the line ends after it. A run of letters
    /// includes the whitespace character before it, which is the last of its run, or a single other
    /// character that starts a word. A run of whitespace ends with its last line end; the rest starts a
    /// word, and so does its last character before another class.
    #[inline(always)]
    fn run_starts(self, context: &BlockContext, ambiguous: &mut AmbiguousBytes) -> RunStarts {
        let now = &context.current;
        let starts_others =
            |b: &BlockClasses, after_other: u64, after_space: u64| b.other & !after_other & !after_space;
        let others = starts_others(now, context.after(|b| b.other), context.after(|b| b.plain_space));
        // Whether the last byte of the previous block starts a run of other characters depends on the byte
        // before it.
        let last = &context.previous;
        let last_others = starts_others(last, last.other << 1, last.plain_space << 1);
        let after_leading_other = others << 1 | last_others >> 63;
        let after_blank = context.after(|b| b.blank);
        let letters = context.first(|b| b.letter) & !after_blank & !after_leading_other;
        let last_blank = now.blank & context.before(1, |b| self.non_space(b));
        let trailing = if self.trailing == TrailingChars::Nothing {
            0
        } else {
            now.newline & context.after(|b| b.other)
        };
        let first_space = context.first(|b| b.space) & !trailing;
        let spaces = first_space | now.blank & context.after(|b| b.newline) | last_blank;
        ambiguous.add_non_ascii_leads(context.base, letters & context.after(|b| b.other & b.non_ascii));
        ambiguous.add_non_ascii_spaces(context.base, last_blank & now.non_ascii);
        ambiguous.add_blank_lines(context.base, now.newline & after_blank);
        RunStarts { letters, others, spaces }
    }

    /// Collect the bytes that the rules of o200k do not decide.
    #[inline(always)]
    fn collect_o200k_ambiguous(self, context: &BlockContext, ambiguous: &mut AmbiguousBytes) {
        let now = &context.current;
        if self.contractions {
            let inside = context.after(|b| b.letter) & context.before(1, |b| b.letter);
            ambiguous.add_contractions(context.base, now.apostrophe & inside);
        }
        let capital = now.capital & context.after(|b| b.uncased);
        let mark = now.mark & context.after(|b| b.other);
        let slash = match self.trailing {
            TrailingChars::LineEndsAndSlashes => now.slash & context.after(|b| b.newline),
            TrailingChars::Nothing | TrailingChars::LineEnds => 0,
        };
        ambiguous.add_rescans(context.base, capital | mark | slash);
    }
}

/// Call `rule` for each block with its neighbours and append the mask that it returns.
#[inline(always)]
fn for_each_block(
    masks: &[ClassMasks],
    len: usize,
    starts: &mut Vec<u64>,
    mut rule: impl FnMut(&BlockContext) -> u64,
) {
    let is_text = |block: usize| match len - block * BLOCK {
        64.. => u64::MAX,
        rest => (1 << rest) - 1,
    };
    let classes_of = |block: usize| match masks.get(block) {
        Some(masks) => BlockClasses::of(masks, is_text(block)),
        None => BlockClasses::default(),
    };
    let mut context = BlockContext {
        previous: BlockClasses::default(),
        current: classes_of(0),
        next: BlockClasses::default(),
        base: 0,
    };
    for block in 0..masks.len() {
        context.next = classes_of(block + 1);
        context.base = block * BLOCK;
        starts.push(rule(&context));
        context.previous = context.current;
        context.current = context.next;
    }
}

/// The starts of runs of letters, of other characters and of whitespace.
struct RunStarts {
    letters: u64,
    others: u64,
    spaces: u64,
}

impl RunStarts {
    fn all(&self) -> u64 {
        self.letters | self.others | self.spaces
    }
}

/// The class masks of a block, a bit for each byte.
#[derive(Clone, Copy, Default)]
pub(super) struct BlockClasses {
    pub(super) letter: u64,
    pub(super) number: u64,
    /// Chinese characters among the numbers, and those of them that are numbers.
    pub(super) han: u64,
    pub(super) han_number: u64,
    pub(super) space: u64,
    /// Characters that are neither letters, numbers nor whitespace.
    pub(super) other: u64,
    pub(super) newline: u64,
    /// Whitespace other than line ends.
    pub(super) blank: u64,
    /// The ASCII space.
    pub(super) plain_space: u64,
    pub(super) apostrophe: u64,
    pub(super) slash: u64,
    pub(super) capital: u64,
    pub(super) small: u64,
    /// Letters without case, and marks.
    pub(super) uncased: u64,
    pub(super) mark: u64,
    pub(super) non_ascii: u64,
}

impl BlockClasses {
    pub(super) fn of(masks: &ClassMasks, is_text: u64) -> Self {
        let [letter, number, space, first, second, non_ascii] =
            [IS_LETTER, IS_NUMBER, IS_SPACE, FIRST, SECOND, IS_NON_ASCII].map(|class| masks[class]);
        let other = is_text & !(letter | number | space);
        Self {
            letter,
            number,
            han: number & first,
            han_number: number & second,
            space,
            other,
            newline: space & first,
            blank: space & !first,
            plain_space: space & second,
            apostrophe: other & first,
            slash: other & second,
            capital: letter & first & !second,
            small: letter & !first & !second,
            uncased: letter & second,
            mark: letter & first & second,
            non_ascii,
        }
    }

    /// Return characters other than whitespace.
    pub(super) fn word(&self) -> u64 {
        self.letter | self.number | self.other
    }
}

/// A block with its neighbours; `base` is the position of its first byte.
pub(super) struct BlockContext {
    pub(super) previous: BlockClasses,
    pub(super) current: BlockClasses,
    pub(super) next: BlockClasses,
    pub(super) base: usize,
}

impl BlockContext {
    /// Return the bytes that follow a byte of the class.
    #[inline(always)]
    pub(super) fn after(&self, of: impl Fn(&BlockClasses) -> u64) -> u64 {
        of(&self.current) << 1 | of(&self.previous) >> 63
    }

    /// Return the bytes that a byte of the class follows at a distance of `by`.
    #[inline(always)]
    pub(super) fn before(&self, by: u32, of: impl Fn(&BlockClasses) -> u64) -> u64 {
        of(&self.current) >> by | of(&self.next) << (64 - by)
    }

    /// Return the first bytes of runs of the class.
    #[inline(always)]
    pub(super) fn first(&self, of: impl Fn(&BlockClasses) -> u64) -> u64 {
        of(&self.current) & !self.after(of)
    }
}

/// Positions of the bytes whose boundary bit does not follow from their neighbours, in ascending order, one list for each
/// repair.
#[derive(Clone, Debug, Default)]
pub(super) struct AmbiguousBytes {
    /// Apostrophes that may begin a contraction.
    pub(super) contractions: Vec<u32>,
    /// First bytes of numbers with too many digits for one word, or bytes of digits that are not ASCII.
    pub(super) numbers: Vec<u32>,
    /// Last bytes of non-ASCII whitespace before another character.
    pub(super) non_ascii_spaces: Vec<u32>,
    /// Letters after the last byte of a non-ASCII character that may begin their word.
    pub(super) non_ascii_leads: Vec<u32>,
    /// Line ends after other whitespace.
    pub(super) blank_lines: Vec<u32>,
    /// Bytes around which the scalar scanner runs again.
    pub(super) rescans: Vec<u32>,
}

impl AmbiguousBytes {
    pub(super) fn clear(&mut self) {
        let Self { contractions, numbers, non_ascii_spaces, non_ascii_leads, blank_lines, rescans } = self;
        for list in [contractions, numbers, non_ascii_spaces, non_ascii_leads, blank_lines, rescans] {
            list.clear();
        }
    }

    #[inline(always)]
    pub(super) fn add_contractions(&mut self, base: usize, bits: u64) {
        push_positions(&mut self.contractions, base, bits);
    }

    #[inline(always)]
    pub(super) fn add_numbers(&mut self, base: usize, bits: u64) {
        push_positions(&mut self.numbers, base, bits);
    }

    #[inline(always)]
    pub(super) fn add_non_ascii_spaces(&mut self, base: usize, bits: u64) {
        push_positions(&mut self.non_ascii_spaces, base, bits);
    }

    #[inline(always)]
    pub(super) fn add_non_ascii_leads(&mut self, base: usize, bits: u64) {
        push_positions(&mut self.non_ascii_leads, base, bits);
    }

    #[inline(always)]
    pub(super) fn add_blank_lines(&mut self, base: usize, bits: u64) {
        push_positions(&mut self.blank_lines, base, bits);
    }

    #[inline(always)]
    pub(super) fn add_rescans(&mut self, base: usize, bits: u64) {
        push_positions(&mut self.rescans, base, bits);
    }
}

/// Append the position of each bit.
#[inline(always)]
fn push_positions(list: &mut Vec<u32>, base: usize, mut bits: u64) {
    while bits != 0 {
        list.push(base as u32 + bits.trailing_zeros());
        bits &= bits - 1;
    }
}

/// The boundary mask of a text, to be repaired.
pub(super) struct BoundaryMask<'s> {
    pub(super) text: &'s str,
    pub(super) masks: &'s [ClassMasks],
    pub(super) scanner: Scanner,
    pub(super) starts: &'s mut [u64],
}

impl Scanner {
    /// Decide the boundaries at all ambiguous bytes.
    pub(super) fn repair(
        self,
        text: &str,
        masks: &[ClassMasks],
        ambiguous: &AmbiguousBytes,
        starts: &mut [u64],
    ) {
        let mut found = BoundaryMask { text, masks, scanner: self, starts };
        found.non_ascii_spaces(&ambiguous.non_ascii_spaces);
        match self.family {
            PatternFamily::O200k => found.contractions_within(&ambiguous.contractions),
            family => found.contractions(&ambiguous.contractions, family == PatternFamily::Cl100k),
        }
        found.numbers(&ambiguous.numbers);
        found.non_ascii_leads(&ambiguous.non_ascii_leads);
        found.blank_lines(&ambiguous.blank_lines);
        self.rescan(&ambiguous.rescans, &mut found);
        if self.family == PatternFamily::Clip {
            found.specials();
        }
        if self.joins_last_spaces {
            found.last_spaces();
        }
    }

    /// Run the scalar scanner from the last certain boundary before each byte to the next one after it.
    fn rescan(self, ambiguous: &[u32], found: &mut BoundaryMask) {
        let (text, mut done) = (found.text, 0);
        for &at in ambiguous {
            let at = at as usize;
            if at < done {
                continue;
            }
            let from = (done.max(1)..=at).rev().find(|&at| is_certain_boundary(text, at)).unwrap_or(done);
            let to = (at + 1..text.len()).find(|&at| is_certain_boundary(text, at)).unwrap_or(text.len());
            (from..to).for_each(|at| found.clear(at));
            let words = Self { joins_words: false, ..self };
            words.split_scalar_whole(&text[from..to], &mut |start, _| found.set(from + start));
            done = to;
        }
    }
}

impl BoundaryMask<'_> {
    pub(super) fn is(&self, class: usize, at: usize) -> bool {
        self.masks[at / BLOCK][class] >> (at % BLOCK) & 1 != 0
    }

    pub(super) fn is_start(&self, at: usize) -> bool {
        self.starts[at / BLOCK] >> (at % BLOCK) & 1 != 0
    }

    pub(super) fn is_newline(&self, at: usize) -> bool {
        self.is(IS_SPACE, at) && self.is(FIRST, at)
    }

    pub(super) fn is_blank(&self, at: usize) -> bool {
        self.is(IS_SPACE, at) && !self.is(FIRST, at)
    }

    /// Return whether line ends after a byte belong to its word: after other characters, and for DeepSeek only
    /// those outside Han, kana and unclassified characters.
    pub(super) fn takes_line_ends(&self, at: usize) -> bool {
        let is_other = !(self.is(IS_LETTER, at) || self.is(IS_NUMBER, at) || self.is(IS_SPACE, at));
        let is_far =
            self.scanner.family == PatternFamily::DeepSeek && (self.is(FIRST, at) || self.is(SECOND, at));
        self.scanner.trailing != TrailingChars::Nothing && is_other && !is_far
    }

    pub(super) fn set(&mut self, at: usize) {
        if at < self.text.len() {
            self.starts[at / BLOCK] |= 1 << (at % BLOCK);
        }
    }

    pub(super) fn clear(&mut self, at: usize) {
        self.starts[at / BLOCK] &= !(1 << (at % BLOCK));
    }

    /// Return the first byte of the character that a byte belongs to.
    pub(super) fn lead(&self, at: usize) -> usize {
        (at.saturating_sub(3)..=at).rev().find(|&at| self.text.is_char_boundary(at)).unwrap_or(at)
    }

    /// Move the start of the last whitespace character of a run from its last byte to its first.
    fn non_ascii_spaces(&mut self, ambiguous: &[u32]) {
        for &at in ambiguous {
            self.clear(at as usize);
            self.set(self.lead(at as usize));
        }
    }

    /// Make contractions words: clear the bit after the apostrophe and set the bit after the end.
    fn contractions(&mut self, ambiguous: &[u32], ignore_case: bool) {
        for &at in ambiguous {
            let at = at as usize;
            let end = contraction_end(self.text, at, ignore_case);
            if end > at {
                self.clear(at + 1);
                self.set(end);
            }
        }
    }

    /// Add contractions to the word before them, unless that ends with a contraction.
    fn contractions_within(&mut self, ambiguous: &[u32]) {
        let mut last_end = 0;
        for &at in ambiguous {
            let at = at as usize;
            let end = contraction_end(self.text, at, true);
            if end > at && at != last_end {
                (at..end).for_each(|at| self.clear(at));
                self.set(end);
                last_end = end;
            }
        }
    }

    /// Split long numbers; clear bits within digits that are not ASCII.
    fn numbers(&mut self, ambiguous: &[u32]) {
        for &at in ambiguous {
            let at = at as usize;
            if self.scanner.max_digits > 1 {
                self.number(at);
            } else if !self.text.is_char_boundary(at) {
                self.clear(at);
            }
        }
    }

    /// Split the long number at byte `at`.
    fn number(&mut self, at: usize) {
        let (text, max_digits) = (self.text, self.scanner.max_digits);
        let is_digit = |found: &Self, at| found.is(IS_NUMBER, at) && !found.is(FIRST, at);
        let offsets = || text[at..].char_indices().map(|(offset, _)| at + offset);
        // The digits that the first word lacks.
        let lacking = if self.scanner.digits_from_right {
            let count = offsets().take_while(|&at| is_digit(self, at)).count();
            count.next_multiple_of(max_digits) - count
        } else {
            0
        };
        for (count, at) in offsets().enumerate() {
            if !is_digit(self, at) {
                break;
            }
            if (count + lacking) % max_digits == 0 {
                self.set(at);
            }
        }
    }

    /// Clear the start of a letter after a single non-ASCII character that starts a word.
    fn non_ascii_leads(&mut self, ambiguous: &[u32]) {
        for &at in ambiguous {
            if self.is_start(self.lead(at as usize - 1)) {
                self.clear(at as usize);
            }
        }
    }

    /// Join whitespace up to its last line end: the whitespace after a line end starts no word, unless
    /// that line end belongs to the characters before it.
    fn blank_lines(&mut self, ambiguous: &[u32]) {
        for &newline in ambiguous {
            let run_start = |of: fn(&Self, usize) -> bool, to: usize| {
                (0..to).rev().find(|&at| !of(self, at)).map_or(0, |at| at + 1)
            };
            let blanks = run_start(Self::is_blank, newline as usize);
            let newlines = run_start(Self::is_newline, blanks);
            let belongs_to_others = newlines > 0 && self.takes_line_ends(newlines - 1);
            if newlines < blanks && !belongs_to_others {
                self.clear(blanks);
            }
        }
    }

    /// Join the whitespace at the end of the text into one word.
    fn last_spaces(&mut self) {
        let mut later = None;
        for at in (0..self.text.len()).rev() {
            if !self.is(IS_SPACE, at) {
                break;
            }
            if self.is_start(at) {
                if let Some(later) = later.replace(at) {
                    self.clear(later);
                }
            }
        }
    }
}
