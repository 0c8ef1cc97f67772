//! BLOOM and DeepSeek Coder: the text between two words is one word.
//!
//! BLOOM has one pattern, whose words contain anything but whitespace and some punctuation. DeepSeek Coder
//! has four patterns in sequence and a split at every digit: line ends are words of their own, words are
//! letters or punctuation with one whitespace character before, and words end where a range of scripts
//! begins or ends.

use super::boundary_rules::{AmbiguousBytes, BlockClasses, BlockContext};
use super::kind_text::KindText;
use super::kinds::{EAST, LETTER, NEWLINE, NUMBER, SPACE, SYMBOL};
use super::scanner::Scanner;

pub(super) const BLOOM: &str = r" ?[^(\s|[.,!?…。，、।۔،])]+";

/// The patterns of DeepSeek Coder, which precede a split at every digit.
pub(in super::super) const DEEPSEEK_CODER: [&str; 4] =
    ["[\r\n]", r"\s?\p{L}+", r"\s?\p{P}+", "[一-龥ࠀ-一가-퟿]+"];

/// Split a text by BLOOM's pattern, character by character.
pub(super) fn split_bloom(text: &KindText, emit: &mut dyn FnMut(usize, usize)) {
    let leads = |at: usize, kind: u8| kind & SPACE != 0 && text.byte(at) == b' ';
    split_words(text, LETTER, leads, |_| false, emit);
}

/// Split a text by DeepSeek Coder's patterns, character by character.
pub(super) fn split_deepseek_coder(text: &KindText, emit: &mut dyn FnMut(usize, usize)) {
    let leads = |_, kind: u8| kind & SPACE != 0;
    let is_alone = |kind: u8| kind & (NEWLINE | NUMBER) != 0;
    split_words(text, LETTER | SYMBOL, leads, is_alone, &mut |start, end| {
        let mut from = start;
        while let Some((kind, mut to)) = text.at(from).filter(|_| from < end) {
            while let Some((_, next)) =
                text.at(to).filter(|(other, _)| to < end && (other ^ kind) & EAST == 0)
            {
                to = next;
            }
            emit(from, to);
            from = to;
        }
    });
}

/// Split a text into words of one of the kinds `words`, each with a leading character for which `leads`
/// holds; characters for which `is_alone` holds; and the text between them.
fn split_words(
    text: &KindText,
    words: u8,
    leads: impl Fn(usize, u8) -> bool,
    is_alone: impl Fn(u8) -> bool,
    emit: &mut dyn FnMut(usize, usize),
) {
    let match_end = |at: usize, kind: u8, next: usize| {
        if is_alone(kind) {
            return Some(next);
        }
        let from = if leads(at, kind) { next } else { at };
        let (first, _) = text.at(from).filter(|(first, _)| first & words != 0)?;
        Some(text.run(from, first & words, usize::MAX))
    };
    text.split_matches(match_end, emit);
}

/// The classes of DeepSeek Coder, by the masks that have another meaning in other families.
impl BlockClasses {
    fn coder_symbol(&self) -> u64 {
        self.apostrophe
    }

    /// Return characters of the range of scripts, except numbers.
    fn coder_east(&self) -> u64 {
        self.uncased | self.plain_space | self.slash
    }

    /// Return characters between words.
    fn coder_gap(&self) -> u64 {
        self.blank | self.other & !self.coder_symbol()
    }
}

impl Scanner {
    #[inline(always)]
    pub(super) fn bloom(context: &BlockContext) -> u64 {
        let after_space = context.after(|b| b.plain_space);
        let leading = context.current.plain_space & context.before(1, |b| b.letter);
        context.first(|b| b.letter) & !after_space | context.first(|b| b.space) | leading
    }

    #[inline(always)]
    pub(super) fn deepseek_coder(self, context: &BlockContext, ambiguous: &mut AmbiguousBytes) -> u64 {
        let now = &context.current;
        let words = context.first(|b| b.letter) | context.first(BlockClasses::coder_symbol);
        let leading = now.blank & context.before(1, |b| b.letter | b.coder_symbol());
        ambiguous.add_non_ascii_spaces(context.base, leading & now.non_ascii);
        let after_newline = context.after(|b| b.newline) & (now.word() | now.space);
        let east = now.coder_east() ^ context.after(BlockClasses::coder_east);
        words & !context.after(|b| b.blank)
            | context.first(BlockClasses::coder_gap)
            | leading
            | now.newline
            | after_newline
            | east & (now.word() | now.space)
            | self.numbers(context, ambiguous)
    }
}
