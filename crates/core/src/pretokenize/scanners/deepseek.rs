//! DeepSeek-V3's three patterns, one after the other, as one scanner.
//!
//! The first two make zones that the third never looks beyond: numbers, by threes; runs of Han and kana; and all
//! that is between. In a zone, words are runs of letters and marks with any one character before that is neither
//! punctuation nor a symbol; ASCII punctuation leads as well, but ASCII letters alone. What no pattern matches
//! stays together.

use super::blocks::{Around, Block};
use super::doubts::Doubts;
use super::kind_text::Text;
use super::kinds::{EAST, LETTER, NEWLINE, NUMBER, SPACE, SYMBOL};
use super::scanner::Scanner;

/// What cuts one after the other.
pub(in super::super) const DEEPSEEK: [&str; 3] = [
    r"\p{N}{1,3}",
    "[一-龥぀-ゟ゠-ヿ]+",
    concat!(
        r##"[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+"##,
        "|[^\r\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+| ?[\\p{P}\\p{S}]+[\r\n]*|\\s*[\r\n]+|\\s+(?!\\S)|\\s+",
    ),
];

/// Cut a text zone by zone, character by character: the definition.
pub(super) fn cut(text: &Text, most_digits: usize, emit: &mut dyn FnMut(usize, usize)) {
    cut_zones(text, NUMBER | EAST, most_digits, cut_zone, emit);
}

/// Cut numbers into words of so many digits, and by `cut_zone` every run of the other characters that are alike
/// in `zones`.
pub(super) fn cut_zones(
    whole: &Text,
    zones: u8,
    most_digits: usize,
    cut_zone: impl Fn(&Text, &mut dyn FnMut(usize, usize)),
    emit: &mut dyn FnMut(usize, usize),
) {
    let mut from = 0;
    while let Some((kind, next)) = whole.at(from) {
        let to = whole.alike(next, kind, zones);
        if kind & NUMBER == 0 {
            let zone = Text { text: &whole.text[from..to], ..*whole };
            cut_zone(&zone, &mut |start, end| emit(from + start, from + end));
        } else {
            while from < to {
                let end = whole.run(from, NUMBER, most_digits);
                emit(from, end);
                from = end;
            }
        }
        from = to;
    }
}

/// Cut at the matches of the third pattern, and what is between them.
fn cut_zone(text: &Text, emit: &mut dyn FnMut(usize, usize)) {
    text.cut_matches(|at, kind, next| word_end(text, at, kind, next), emit);
}

/// Where the match ends that begins at byte `start` with a character of a kind, `next` after it.
fn word_end(text: &Text, start: usize, kind: u8, next: usize) -> Option<usize> {
    if text.byte(start).is_ascii_punctuation() && text.byte(next).is_ascii_alphabetic() {
        return (next..).find(|&at| !text.byte(at).is_ascii_alphabetic());
    }
    let letters = if kind & LETTER == 0 { next } else { start };
    let may_lead = kind & (NEWLINE | SYMBOL) == 0;
    let end = if may_lead { text.run(letters, LETTER, usize::MAX) } else { letters };
    if end > letters {
        return Some(end);
    }
    let symbols = if text.byte(start) == b' ' { next } else { start };
    let end = text.run(symbols, SYMBOL, usize::MAX);
    if end > symbols {
        return (end..).find(|&at| !matches!(text.byte(at), b'\r' | b'\n'));
    }
    (kind & SPACE != 0).then(|| text.spaces_end(start, NEWLINE))
}

/// What `zoned_classes` says by the masks that tell letters and others of other families apart.
impl Block {
    /// Han or kana.
    fn east(&self) -> u64 {
        self.capital | self.apostrophe
    }

    /// Neither of the other classes nor punctuation nor a symbol.
    fn odd(&self) -> u64 {
        self.slash
    }

    fn symbol(&self) -> u64 {
        self.other & !self.odd()
    }

    /// Symbols that line ends, or symbols, outside of Han and kana may belong to.
    fn western_symbol(&self) -> u64 {
        self.symbol() & !self.east()
    }

    /// Letters, symbols and odd ones outside of Han and kana.
    fn western(&self) -> u64 {
        (self.letter | self.other) & !self.east()
    }

    fn ascii_letter(&self) -> u64 {
        self.letter & !self.wide
    }
}

impl Scanner {
    /// The starts of words in a block; `led` tells, from the block before, whether punctuation leads the letters
    /// that this one begins with.
    #[inline(always)]
    pub(super) fn zoned(self, around: &Around, led: &mut bool, doubts: &mut Doubts) -> u64 {
        let now = &around.now;
        let text = now.word() | now.space;
        let number = |b: &Block| b.number;
        let zones = text & (now.east() ^ around.after(Block::east) | now.number ^ around.after(number));
        let after_symbol = around.after(Block::symbol) | around.after(|b| b.plain_space);
        let symbols = now.symbol() & !after_symbol;
        let letters = letters(around, zones, led);
        let spaces = spaces(around, doubts);
        zones | symbols | letters | spaces | self.numbers(around, doubts)
    }
}

/// Where words of letters start that nothing leads, and after ASCII letters that punctuation leads.
#[inline(always)]
fn letters(around: &Around, zones: u64, led: &mut bool) -> u64 {
    let (now, last) = (&around.now, &around.last);
    let leading = |b: &Block, symbol: u64, space: u64| b.symbol() & !b.wide & !symbol & !space;
    let leads = leading(now, around.after(Block::western_symbol), around.after(|b| b.plain_space));
    let last_leads = leading(last, last.western_symbol() << 1, last.plain_space << 1);
    let ascii = now.ascii_letter();
    let led_by_symbol = (leads << 1 | last_leads >> 63) & ascii;
    // A bit added to the first letter of a run comes out behind its last.
    let (sum, over) = ascii.overflowing_add(led_by_symbol);
    let (sum, over_too) = sum.overflowing_add(u64::from(*led));
    *led = over | over_too;
    let led_by_other = around.after(|b| b.blank | b.odd()) & !zones;
    around.first(|b| b.letter) & !led_by_symbol & !led_by_other | sum & !ascii & now.letter
}

/// Where spaces start, and odd ones: the last of a run leads what comes after it in its zone.
#[inline(always)]
fn spaces(around: &Around, doubts: &mut Doubts) -> u64 {
    let now = &around.now;
    let last_blank = now.blank & around.before(1, Block::western);
    let before_western = around.before(1, |b| b.letter & !b.east());
    let before_eastern = around.before(1, |b| b.letter & b.east());
    let last_odd = now.odd() & (before_western & !now.east() | before_eastern & now.east());
    let after_symbol = around.after(Block::western_symbol);
    let first_space = around.first(|b| b.space) & !(now.newline & after_symbol);
    doubts.note_wide_spaces(around.base, (last_blank | last_odd) & now.wide);
    doubts.note_blank_lines(around.base, now.newline & around.after(|b| b.blank));
    let blank = now.blank & around.after(|b| b.newline);
    first_space | blank | last_blank | around.first(Block::odd) | last_odd
}
