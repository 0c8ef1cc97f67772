//! New words for models that see each alone, part by part through the memo. A part that would be a word as well is
//! remembered as that.

use super::source::Source;
use crate::model::{Model, ModelScratch};
use crate::vocab::Vocab;
use crate::word_cache::{self, Key, ShortWords};

/// How many parts wait for their lines of the memo.
const WAITING: usize = 64;

/// A part of a word.
#[derive(Clone, Copy, Debug)]
struct Part {
    start: usize,
    end: usize,
    begins_pre_token: bool,
    /// Absent for a long part.
    key: Option<Key>,
}

/// The parts of one word that wait.
#[derive(Clone, Debug, Default)]
pub(super) struct Parts(Vec<Part>);

/// What segments a part: a model with its vocabulary and memory.
pub(super) struct PartSegmenter<'s> {
    pub(super) model: &'s Model,
    pub(super) vocab: &'s Vocab,
    pub(super) scratch: &'s mut ModelScratch,
}

impl Parts {
    /// Append the ids of a marked word: part by part if each part has the same ids in every word, otherwise each
    /// pre-token as a whole.
    pub(super) fn append(
        &mut self,
        marked: &str,
        source: Source<'_>,
        memo: &mut ShortWords,
        out: &mut Vec<u32>,
        mut segmenter: PartSegmenter<'_>,
    ) {
        let from = out.len();
        if !self.append_parts(marked, source, memo, out, &mut segmenter) {
            out.truncate(from);
            let PartSegmenter { model, vocab, scratch } = segmenter;
            source.pre_tokens(marked, |start, end| model.run(&marked[start..end], vocab, scratch, out));
        }
    }

    /// Append the ids of all parts of a word. Returns false, with only some ids appended, if a part may have other ids
    /// in another word.
    fn append_parts(
        &mut self,
        marked: &str,
        source: Source<'_>,
        memo: &mut ShortWords,
        out: &mut Vec<u32>,
        segmenter: &mut PartSegmenter<'_>,
    ) -> bool {
        let mut hold = segmenter.model.supports_parts(marked.len());
        source.parts(marked, |start, end, begins_pre_token| {
            if !hold {
                return;
            }
            if self.0.len() == WAITING {
                hold = self.look_up(marked, memo, out, segmenter);
            }
            let key = source.key_of_part(marked, start, end);
            if let Some(key) = key {
                memo.prefetch(key);
            }
            self.0.push(Part { start, end, begins_pre_token, key });
        });
        hold = hold && self.look_up(marked, memo, out, segmenter);
        self.0.clear();
        hold
    }

    /// Append the ids of the parts that wait. Returns false at the first that may have other ids in another word.
    fn look_up(
        &mut self,
        marked: &str,
        memo: &mut ShortWords,
        out: &mut Vec<u32>,
        segmenter: &mut PartSegmenter<'_>,
    ) -> bool {
        self.0.drain(..).all(|Part { start, end, begins_pre_token, key }| {
            let known = key.and_then(|key| memo.get(key));
            if let Some(remembered) = known.filter(word_cache::are_ids) {
                word_cache::append(remembered, out);
                return true;
            }
            let from = out.len();
            if !segmenter.append(&marked[start..end], begins_pre_token, out) {
                return false;
            }
            // A text that cannot be segmented must fail each time.
            let is_sure = !segmenter.scratch.missing_unk;
            // What is on its way as a word is remembered as that.
            if let (Some(key), Some(packed), true) =
                (key.filter(|_| known.is_none()), word_cache::pack(&out[from..]), is_sure)
            {
                memo.insert(key, packed);
            }
            true
        })
    }
}

impl PartSegmenter<'_> {
    /// Append the ids of a part. Returns whether the ids are the same in every word that has this part: always for
    /// the first part of a pre-token, because the sum of its scores begins at 0. Only a first part begins with a
    /// mark, if the model is Unigram, so the two kinds of part never share a key.
    fn append(&mut self, part: &str, begins_pre_token: bool, out: &mut Vec<u32>) -> bool {
        let Self { model, vocab, scratch } = self;
        if begins_pre_token {
            model.run(part, vocab, scratch, out);
            return true;
        }
        model.run_part(part, vocab, scratch, out)
    }
}
