//! Who segments words: models that see each alone, and Unigram models of SentencePiece, whose sums begin with
//! the text.

use std::ops::Range;

use super::packed;
use super::source::{Source, Word};
use crate::error::Error;
use crate::memo::{self, PackedIds, MAX_PIECES};
use crate::model::{Model, ModelScratch, SentencePiece, Worth};
use crate::vocab::Vocab;

/// Segments the words of a text from left to right.
pub(super) trait Segmenter {
    /// Append what was remembered of a word; false where that does not hold here.
    fn repeat(&mut self, remembered: PackedIds, word: Word, out: &mut Vec<u32>) -> bool;

    /// The same for a longer word.
    fn repeat_long(&mut self, note: u32, ids: &[u32], word: Word, out: &mut Vec<u32>) -> bool;

    /// Append the ids of a part, which come after others of its word that are worth `before`, by a bound of the
    /// score alone; what they are worth, or `None` where the score itself must be known.
    fn append_by_bound(
        &mut self,
        part: &str,
        remembered: Option<PackedIds>,
        before: Worth,
        out: &mut Vec<u32>,
    ) -> Option<Worth>;

    /// End a word that was appended by the bound; gives a note as `end_word` does.
    fn end_by_bound(&mut self, worth: Worth, word: Word, ids: Range<usize>) -> Option<u32>;

    /// Whether `append_by_bound` ever does.
    const HAS_BOUND: bool;

    /// Make up for what was skipped while words were repeated.
    fn settle(&mut self, source: Source<'_>, texts: &mut Texts<'_>, out: &[u32]) -> Result<(), Error>;

    /// Append what was remembered of a part of the word that is segmented; false where that does not hold here.
    fn repeat_part(&mut self, remembered: PackedIds, out: &mut Vec<u32>) -> bool;

    /// Append the ids of the next part of a word; gives what may be remembered of it.
    fn segment(&mut self, part: &str, out: &mut Vec<u32>) -> Option<PackedIds>;

    /// End the word; gives a note of what else must be remembered with its ids, if they may be.
    fn end_word(&mut self, out: &[u32]) -> Option<u32>;

    /// Pack few ids with the note.
    fn pack(ids: &[u32], note: u32) -> Option<PackedIds>;
}

/// What the memo says of a short word that the other one knows: ids and worth that nothing has.
pub(super) const LONG: PackedIds = [u32::MAX; MAX_PIECES];

/// Memory for one word: marked, and normalized.
pub(super) type Texts<'t> = (&'t mut String, &'t mut String);

/// A model that sees each word alone.
pub(super) struct Alone<'s> {
    pub(super) model: &'s Model,
    pub(super) vocab: &'s Vocab,
    pub(super) scratch: &'s mut ModelScratch,
}

impl Segmenter for Alone<'_> {
    #[inline]
    fn repeat(&mut self, remembered: PackedIds, _: Word, out: &mut Vec<u32>) -> bool {
        if remembered == LONG {
            return false;
        }
        memo::append(remembered, out);
        true
    }

    fn repeat_long(&mut self, _: u32, ids: &[u32], _: Word, out: &mut Vec<u32>) -> bool {
        out.extend_from_slice(ids);
        true
    }

    const HAS_BOUND: bool = false;

    fn append_by_bound(
        &mut self,
        _: &str,
        _: Option<PackedIds>,
        _: Worth,
        _: &mut Vec<u32>,
    ) -> Option<Worth> {
        None
    }

    fn end_by_bound(&mut self, _: Worth, _: Word, _: Range<usize>) -> Option<u32> {
        None
    }

    fn settle(&mut self, _: Source<'_>, _: &mut Texts<'_>, _: &[u32]) -> Result<(), Error> {
        Ok(())
    }

    fn repeat_part(&mut self, remembered: PackedIds, out: &mut Vec<u32>) -> bool {
        memo::append(remembered, out);
        true
    }

    fn segment(&mut self, part: &str, out: &mut Vec<u32>) -> Option<PackedIds> {
        let from = out.len();
        self.model.run(part, self.vocab, self.scratch, out);
        memo::pack(&out[from..]).filter(|_| !self.scratch.lacks_unknown)
    }

    fn end_word(&mut self, _: &[u32]) -> Option<u32> {
        // A text that cannot be segmented must fail again.
        (!self.scratch.lacks_unknown).then_some(0)
    }

    fn pack(ids: &[u32], _: u32) -> Option<PackedIds> {
        memo::pack(ids)
    }
}

/// A repeated word with unknown characters, and where its ids are.
pub(super) type Unknown = (Word, Range<usize>);

/// A Unigram model of SentencePiece. Only a bound of the score is kept, as long as that is enough to say that
/// a word is segmented as it is alone; the score itself is made up for before a word of which it is not.
pub(super) struct Scored<'s> {
    model: &'s SentencePiece,
    vocab: &'s Vocab,
    scratch: &'s mut ModelScratch,
    /// By grade, what the bound must stay below, in 64ths.
    limits: [u64; 16],
    /// The score of the text so far is no larger, by size, in 64ths.
    bound: u64,
    /// The score in `scratch` is that of the ids up to here.
    settled: usize,
    unknown: &'s mut Vec<Unknown>,
    discarded: &'s mut Vec<u32>,
    /// What the word that is segmented is worth so far, if anything.
    worth: Option<Worth>,
}

impl<'s> Scored<'s> {
    /// Begin a text whose ids come after `settled` others.
    pub(super) fn begin(
        model: &'s SentencePiece,
        vocab: &'s Vocab,
        scratch: &'s mut ModelScratch,
        (unknown, discarded): (&'s mut Vec<Unknown>, &'s mut Vec<u32>),
        settled: usize,
    ) -> Self {
        model.begin(scratch);
        unknown.clear();
        let limits = model.limits();
        let worth = Some(Worth::default());
        Self { model, vocab, scratch, limits, bound: 0, settled, unknown, discarded, worth }
    }

    #[inline]
    fn holds(&self, worth: Worth) -> bool {
        self.bound < self.limits[worth.grade as usize & 15]
    }

    #[inline]
    fn go_on(&mut self, worth: Worth, word: Word, ids: Range<usize>) {
        self.bound += u64::from(worth.cost);
        if worth.has_unknown {
            self.unknown.push((word, ids));
        }
    }

    fn settled_at(&mut self, end: usize) {
        self.settled = end;
        self.bound = self.model.score_size(self.scratch);
    }
}

impl Segmenter for Scored<'_> {
    #[inline]
    fn repeat(&mut self, remembered: PackedIds, word: Word, out: &mut Vec<u32>) -> bool {
        let worth = packed::worth(remembered);
        if !self.holds(worth) {
            return false;
        }
        let from = out.len();
        packed::append(remembered, out);
        self.go_on(worth, word, from..out.len());
        true
    }

    fn repeat_long(&mut self, note: u32, ids: &[u32], word: Word, out: &mut Vec<u32>) -> bool {
        let worth = packed::worth_of(note);
        if !self.holds(worth) {
            return false;
        }
        let from = out.len();
        out.extend_from_slice(ids);
        self.go_on(worth, word, from..out.len());
        true
    }

    const HAS_BOUND: bool = true;

    fn append_by_bound(
        &mut self,
        part: &str,
        remembered: Option<PackedIds>,
        before: Worth,
        out: &mut Vec<u32>,
    ) -> Option<Worth> {
        let worth = match remembered {
            Some(remembered) => {
                packed::append(remembered, out);
                packed::worth(remembered)
            }
            None => self.model.weigh_part(part, self.scratch, out)?,
        };
        let limit = self.limits[worth.grade as usize & 15];
        (self.bound + u64::from(before.cost) < limit).then_some(worth)
    }

    fn end_by_bound(&mut self, worth: Worth, word: Word, ids: Range<usize>) -> Option<u32> {
        self.go_on(worth, word, ids);
        packed::note(worth)
    }

    fn settle(
        &mut self,
        source: Source<'_>,
        (marked, normalized): &mut Texts<'_>,
        out: &[u32],
    ) -> Result<(), Error> {
        for (word, ids) in self.unknown.drain(..) {
            self.model.repeat(&out[self.settled..ids.start], self.scratch);
            self.settled = ids.end;
            source.write(word, normalized, marked)?;
            self.discarded.clear();
            let (model, vocab) = (self.model, self.vocab);
            source.parts(marked, |start, end| {
                model.run_next(&marked[start..end], vocab, self.scratch, self.discarded);
            });
        }
        self.model.repeat(&out[self.settled..], self.scratch);
        self.settled_at(out.len());
        Ok(())
    }

    fn repeat_part(&mut self, remembered: PackedIds, out: &mut Vec<u32>) -> bool {
        let worth = packed::worth(remembered);
        let score_size = self.model.score_size(self.scratch);
        if worth.has_unknown || score_size >= self.limits[worth.grade as usize & 15] {
            return false;
        }
        let from = out.len();
        packed::append(remembered, out);
        self.model.repeat(&out[from..], self.scratch);
        self.worth = self.worth.map(|before| before.and(worth));
        true
    }

    fn segment(&mut self, part: &str, out: &mut Vec<u32>) -> Option<PackedIds> {
        let from = out.len();
        let worth = self.model.run_part(part, self.vocab, self.scratch, out);
        self.worth = self.worth.and_then(|before| Some(before.and(worth?)));
        packed::pack(&out[from..], worth?)
    }

    fn end_word(&mut self, out: &[u32]) -> Option<u32> {
        self.settled_at(out.len());
        packed::note(self.worth.replace(Worth::default())?)
    }

    fn pack(ids: &[u32], note: u32) -> Option<PackedIds> {
        packed::pack(ids, packed::worth_of(note))
    }
}
