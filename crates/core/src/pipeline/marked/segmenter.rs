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

    /// Append the ids of a part, as remembered or as it is segmented alone, after others of its word that are
    /// worth `before`; what they are worth, or `None` where the score of the text so far must be known first.
    fn append_part(
        &mut self,
        part: &str,
        remembered: Option<PackedIds>,
        before: Worth,
        out: &mut Vec<u32>,
    ) -> Option<Worth>;

    /// What must be remembered with the ids of a part or a word, if they may be.
    fn note(&self, worth: Worth) -> Option<u32>;

    /// End a word whose parts were appended so.
    fn end_word(&mut self, worth: Worth, word: Word, ids: Range<usize>);

    /// Make up for what was skipped while only a bound of the score was kept.
    fn settle(&mut self, source: Source<'_>, texts: &mut Texts<'_>, out: &[u32]) -> Result<(), Error>;

    /// Append the ids of a part to settled ones, whatever it costs, and settle it too.
    fn append_settled(&mut self, part: &str, out: &mut Vec<u32>);

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

    fn append_part(
        &mut self,
        part: &str,
        remembered: Option<PackedIds>,
        _: Worth,
        out: &mut Vec<u32>,
    ) -> Option<Worth> {
        match remembered {
            Some(remembered) => memo::append(remembered, out),
            None => self.append_settled(part, out),
        }
        Some(Worth::default())
    }

    fn note(&self, _: Worth) -> Option<u32> {
        // A text that cannot be segmented must fail again.
        (!self.scratch.lacks_unknown).then_some(0)
    }

    fn end_word(&mut self, _: Worth, _: Word, _: Range<usize>) {}

    fn settle(&mut self, _: Source<'_>, _: &mut Texts<'_>, _: &[u32]) -> Result<(), Error> {
        Ok(())
    }

    fn append_settled(&mut self, part: &str, out: &mut Vec<u32>) {
        self.model.run(part, self.vocab, self.scratch, out);
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
        Self { model, vocab, scratch, limits, bound: 0, settled, unknown, discarded }
    }

    /// Whether what is worth this holds here, after a part of its word that is worth `before`.
    #[inline]
    fn holds_after(&self, before: Worth, worth: Worth) -> bool {
        self.bound + u64::from(before.cost) < self.limits[worth.grade as usize & 15]
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
        if !self.holds_after(Worth::default(), worth) {
            return false;
        }
        let from = out.len();
        packed::append(remembered, out);
        self.go_on(worth, word, from..out.len());
        true
    }

    fn repeat_long(&mut self, note: u32, ids: &[u32], word: Word, out: &mut Vec<u32>) -> bool {
        let worth = packed::worth_of(note);
        if !self.holds_after(Worth::default(), worth) {
            return false;
        }
        let from = out.len();
        out.extend_from_slice(ids);
        self.go_on(worth, word, from..out.len());
        true
    }

    fn append_part(
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
        self.holds_after(before, worth).then_some(worth)
    }

    fn note(&self, worth: Worth) -> Option<u32> {
        packed::note(worth)
    }

    fn end_word(&mut self, worth: Worth, word: Word, ids: Range<usize>) {
        self.go_on(worth, word, ids);
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

    fn append_settled(&mut self, part: &str, out: &mut Vec<u32>) {
        self.model.run_next(part, self.vocab, self.scratch, out);
        self.settled_at(out.len());
    }

    fn pack(ids: &[u32], note: u32) -> Option<PackedIds> {
        packed::pack(ids, packed::worth_of(note))
    }
}
