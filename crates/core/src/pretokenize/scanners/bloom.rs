//! Patterns that match words alone: what stands between them stays together.
//!
//! BLOOM's is one, with words of anything but spaces and some punctuation. DeepSeek Coder's are four, one after the
//! other, and a cut at every digit: line ends stand alone; words are letters or punctuation with a space of any kind
//! before; and all is cut where a range of scripts begins or ends.

use super::blocks::{Around, Block};
use super::doubts::Doubts;
use super::kind_text::Text;
use super::kinds::{EAST, LETTER, NEWLINE, NUMBER, SPACE, SYMBOL};
use super::scanner::Scanner;

pub(super) const BLOOM: &str = r" ?[^(\s|[.,!?…。，、।۔،])]+";

/// What is cut before every digit is.
pub(in super::super) const DEEPSEEK_CODER: [&str; 4] =
    ["[\r\n]", r"\s?\p{L}+", r"\s?\p{P}+", "[一-龥ࠀ-一가-퟿]+"];

/// Cut a text by BLOOM's pattern, character by character.
pub(super) fn cut_bloom(text: &Text, emit: &mut dyn FnMut(usize, usize)) {
    let leads = |at: usize, kind: u8| kind & SPACE != 0 && text.byte(at) == b' ';
    cut_words(text, LETTER, leads, |_| false, emit);
}

/// Cut a text by DeepSeek Coder's patterns, character by character.
pub(super) fn cut_coder(text: &Text, emit: &mut dyn FnMut(usize, usize)) {
    let leads = |_, kind: u8| kind & SPACE != 0;
    let is_alone = |kind: u8| kind & (NEWLINE | NUMBER) != 0;
    cut_words(text, LETTER | SYMBOL, leads, is_alone, &mut |start, end| {
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

/// Words of one of the kinds `words`, each with a character before that `leads`; what `is_alone`; and all else
/// as it stands between.
fn cut_words(
    text: &Text,
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
    text.cut_matches(match_end, emit);
}

/// What the classes of `gapped` say by the masks that tell other families' characters apart.
impl Block {
    fn coder_symbol(&self) -> u64 {
        self.apostrophe
    }

    /// Of the range of scripts; numbers do not say.
    fn coder_east(&self) -> u64 {
        self.uncased | self.plain_space | self.slash
    }

    /// What stays together between words.
    fn coder_gap(&self) -> u64 {
        self.blank | self.other & !self.coder_symbol()
    }
}

impl Scanner {
    #[inline(always)]
    pub(super) fn bloom(around: &Around) -> u64 {
        let led = around.after(|b| b.plain_space);
        let leading = around.now.plain_space & around.before(1, |b| b.letter);
        around.first(|b| b.letter) & !led | around.first(|b| b.space) | leading
    }

    #[inline(always)]
    pub(super) fn coder(self, around: &Around, doubts: &mut Doubts) -> u64 {
        let now = &around.now;
        let words = around.first(|b| b.letter) | around.first(Block::coder_symbol);
        let leading = now.blank & around.before(1, |b| b.letter | b.coder_symbol());
        doubts.note_wide_spaces(around.base, leading & now.wide);
        let after_newline = around.after(|b| b.newline) & (now.word() | now.space);
        let east = now.coder_east() ^ around.after(Block::coder_east);
        words & !around.after(|b| b.blank)
            | around.first(Block::coder_gap)
            | leading
            | now.newline
            | after_newline
            | east & (now.word() | now.space)
            | self.numbers(around, doubts)
    }
}
