//! What the memo knows from the beginning: the true segmentation of every entry that can be a whole word, the
//! most frequent (lowest id) last so that it stays.

use super::marked::{seed_marked, MarkedScratch};
use super::words::{WordIds, WordSink};
use super::Pipeline;
use crate::memo::long::LongMemo;
use crate::memo::Memo;
use crate::model::ModelScratch;

/// How many entries are looked up beforehand; a quarter of what the memo holds.
const SEEDED_ENTRIES: usize = 1 << 15;
/// 1 MB to begin with where words are spelled by their bytes.
const SPELLED_MEMO_BITS: u32 = 15;

impl Pipeline {
    /// Segment the entries.
    ///
    /// Words spelled by their bytes come from no memo but their own: the first of each costs less than to have it
    /// here for every thread.
    pub(super) fn seed_memo(&mut self) {
        if self.splitter.spells_bytes() {
            self.seeded_memo = Memo::with_bits(SPELLED_MEMO_BITS);
            return;
        }
        let mut memo = std::mem::replace(&mut self.seeded_memo, Memo::with_bits(1));
        let entries: Vec<&str> = self.vocab.iter().map(|(token, _)| token).collect();
        let likely = entries.into_iter().take(SEEDED_ENTRIES).rev().filter(|token| !token.is_empty());
        let (mut scratch, mut memory) = (ModelScratch::default(), MarkedScratch::default());
        let mut long_memo = LongMemo::default();
        match &self.marked {
            Some(marked) => {
                marked.seed(likely, self.tools((&mut memo, &mut long_memo), &mut scratch, &mut memory))
            }
            None if self.is_sentencepiece() => {
                seed_marked(likely, self.tools((&mut memo, &mut long_memo), &mut scratch, &mut memory));
            }
            None => self.seed_words(likely, &mut memo),
        }
        self.seeded_memo = memo;
    }

    fn seed_words<'t>(&self, entries: impl Iterator<Item = &'t str>, memo: &mut Memo) {
        let (mut scratch, mut ids) = (ModelScratch::default(), Vec::new());
        let mut words = WordIds::new(&self.model, &self.vocab, memo, &mut scratch, &mut ids);
        for word in entries {
            words.word(word, 0);
        }
        words.finish();
    }
}
