//! DeepSeek-V3's three patterns in sequence, as one scanner.
//!
//! The first two patterns divide a text into zones: numbers of at most three digits, runs of Han and kana,
//! and the text between them. The third pattern splits each zone. Its words are runs of letters and marks
//! with one character before, which is neither punctuation nor a symbol, or ASCII letters after ASCII
//! punctuation. Text without a match is one word.

use super::boundary_rules::{AmbiguousBytes, BlockClasses, BlockContext};
use super::classes::{EAST, LETTER, NEWLINE, NUMBER, SPACE, SYMBOL};
use super::kind_text::KindText;
use super::scanner::Scanner;

/// The patterns, whose matches are isolated one after the other.
pub(in super::super) const DEEPSEEK: [&str; 3] = [
    r"\p{N}{1,3}",
    "[一-龥぀-ゟ゠-ヿ]+",
    concat!(
        r##"[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+"##,
        "|[^\r\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+| ?[\\p{P}\\p{S}]+[\r\n]*|\\s*[\r\n]+|\\s+(?!\\S)|\\s+",
    ),
];

/// Split a text zone by zone, character by character.
pub(super) fn split(text: &KindText, most_digits: usize, emit: &mut dyn FnMut(usize, usize)) {
    split_zones(text, NUMBER | EAST, most_digits, split_zone, emit);
}

/// Split numbers into words of at most `most_digits` digits, and call `split_zone` for every run of other
/// characters that agree in `zones`.
pub(super) fn split_zones(
    whole: &KindText,
    zones: u8,
    most_digits: usize,
    split_zone: impl Fn(&KindText, &mut dyn FnMut(usize, usize)),
    emit: &mut dyn FnMut(usize, usize),
) {
    let mut from = 0;
    while let Some((kind, next)) = whole.at(from) {
        let to = whole.alike(next, kind, zones);
        if kind & NUMBER == 0 {
            let zone = KindText { text: &whole.text[from..to], ..*whole };
            split_zone(&zone, &mut |start, end| emit(from + start, from + end));
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

/// Split a zone at the matches of the third pattern.
fn split_zone(text: &KindText, emit: &mut dyn FnMut(usize, usize)) {
    text.split_matches(|at, kind, next| word_end(text, at, kind, next), emit);
}

/// Return the end of the match that begins at byte `start`; `kind` is the kind of its first character,
/// `next` the byte after that.
fn word_end(text: &KindText, start: usize, kind: u8, next: usize) -> Option<usize> {
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

/// The classes of DeepSeek-V3, by the masks that have another meaning in other families.
impl BlockClasses {
    /// Return Han and kana.
    fn east(&self) -> u64 {
        self.capital | self.apostrophe
    }

    /// Return characters that are neither letters, numbers, whitespace, punctuation nor symbols.
    fn odd(&self) -> u64 {
        self.slash
    }

    fn symbol(&self) -> u64 {
        self.other & !self.odd()
    }

    /// Return punctuation and symbols outside Han and kana, which may take more symbols or line ends after them.
    fn western_symbol(&self) -> u64 {
        self.symbol() & !self.east()
    }

    /// Return letters, symbols and unclassified characters outside Han and kana.
    fn western(&self) -> u64 {
        (self.letter | self.other) & !self.east()
    }

    fn ascii_letter(&self) -> u64 {
        self.letter & !self.non_ascii
    }
}

impl Scanner {
    /// Return the starts of words in a block. `carry` tells across blocks whether ASCII
    /// punctuation leads the letters at the end of the block before.
    #[inline(always)]
    pub(super) fn deepseek(
        self,
        context: &BlockContext,
        carry: &mut bool,
        ambiguous: &mut AmbiguousBytes,
    ) -> u64 {
        let now = &context.current;
        let text = now.word() | now.space;
        let number = |b: &BlockClasses| b.number;
        let zones =
            text & (now.east() ^ context.after(BlockClasses::east) | now.number ^ context.after(number));
        let after_symbol = context.after(BlockClasses::symbol) | context.after(|b| b.plain_space);
        let symbols = now.symbol() & !after_symbol;
        let letters = letters(context, zones, carry);
        let spaces = spaces(context, ambiguous);
        zones | symbols | letters | spaces | self.numbers(context, ambiguous)
    }
}

/// Return the starts of runs of letters without a leading character, and of letters after ASCII letters that
/// punctuation leads.
#[inline(always)]
fn letters(context: &BlockContext, zones: u64, carry: &mut bool) -> u64 {
    let (now, last) = (&context.current, &context.previous);
    let leading = |b: &BlockClasses, symbol: u64, space: u64| b.symbol() & !b.non_ascii & !symbol & !space;
    let leads = leading(now, context.after(BlockClasses::western_symbol), context.after(|b| b.plain_space));
    let last_leads = leading(last, last.western_symbol() << 1, last.plain_space << 1);
    let ascii = now.ascii_letter();
    let after_leading_symbol = (leads << 1 | last_leads >> 63) & ascii;
    // Adding a bit at the first letter of a run carries it to the byte after the last one.
    let (sum, over) = ascii.overflowing_add(after_leading_symbol);
    let (sum, over_too) = sum.overflowing_add(u64::from(*carry));
    *carry = over | over_too;
    let after_leading_other = context.after(|b| b.blank | b.odd()) & !zones;
    context.first(|b| b.letter) & !after_leading_symbol & !after_leading_other | sum & !ascii & now.letter
}

/// Return the starts of runs of whitespace and of unclassified characters; the last one of a run leads the word after
/// it in its zone.
#[inline(always)]
fn spaces(context: &BlockContext, ambiguous: &mut AmbiguousBytes) -> u64 {
    let now = &context.current;
    let last_blank = now.blank & context.before(1, BlockClasses::western);
    let before_western = context.before(1, |b| b.letter & !b.east());
    let before_eastern = context.before(1, |b| b.letter & b.east());
    let last_odd = now.odd() & (before_western & !now.east() | before_eastern & now.east());
    let after_symbol = context.after(BlockClasses::western_symbol);
    let first_space = context.first(|b| b.space) & !(now.newline & after_symbol);
    ambiguous.add_non_ascii_spaces(context.base, (last_blank | last_odd) & now.non_ascii);
    ambiguous.add_blank_lines(context.base, now.newline & context.after(|b| b.blank));
    let blank = now.blank & context.after(|b| b.newline);
    first_space | blank | last_blank | context.first(BlockClasses::odd) | last_odd
}
