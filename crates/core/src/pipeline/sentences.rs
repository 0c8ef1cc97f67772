//! SentencePiece from text to ids: normalize a whole text, take it apart where no piece can cross, and look
//! every part up in the memo.
//!
//! The score of the text so far goes along, since the model's sums depend on it; a part that was segmented
//! before is taken again only where its grade says that this score changes nothing.

use crate::error::Error;
use crate::memo::{self, Key, Memo};
use crate::model::{Model, ModelScratch, SentencePiece};
use crate::normalize::Normalizer;
use crate::pretokenize::PreTokenizer;
use crate::special::{Segment, Selector, SpecialTokens};
use crate::vocab::Vocab;

use super::words::Splitter;
use super::Scratch;

/// The stages of a pipeline that are SentencePiece's.
pub(super) struct Sentences<'p> {
    special: &'p SpecialTokens,
    normalizer: &'p Normalizer,
    model: &'p SentencePiece,
    vocab: &'p Vocab,
}

impl<'p> Sentences<'p> {
    /// The stages, if the model is SentencePiece's and gets every text whole.
    pub(super) fn of(
        special: &'p SpecialTokens,
        splitter: &'p Splitter,
        model: &'p Model,
        vocab: &'p Vocab,
    ) -> Option<Self> {
        let Model::SentencePiece(model) = model else { return None };
        let is_whole = matches!(splitter.pre_tokenizer(), PreTokenizer::Whole);
        let normalizer = splitter.normalizer();
        (is_whole && !special.has_normalized()).then_some(Self { special, normalizer, model, vocab })
    }

    /// Append the ids of a text.
    pub(super) fn append(
        &self,
        text: &str,
        parse_special: &Selector,
        scratch: &mut Scratch,
        out: &mut Vec<u32>,
    ) -> Result<(), Error> {
        let Scratch { memo, model, split, .. } = scratch;
        let mut result = Ok(());
        self.special.split_raw(text, parse_special, |segment| match segment {
            _ if result.is_err() => {}
            Segment::Token(id, ..) => out.push(id),
            Segment::Text(start, end) => {
                split.normalized.clear();
                result = self.normalizer.run(&text[start..end], 0, &mut split.normalized);
                self.sentence(&split.normalized, memo, model, out);
            }
        });
        result
    }

    /// Look up what can be a part of a text, so that it is remembered.
    pub(super) fn seed<'t>(
        &self,
        parts: impl Iterator<Item = &'t str>,
        memo: &mut Memo,
        scratch: &mut ModelScratch,
    ) {
        let mut ids = Vec::new();
        for part in parts {
            ids.clear();
            self.sentence(part, memo, scratch, &mut ids);
        }
    }

    fn sentence(&self, text: &str, memo: &mut Memo, scratch: &mut ModelScratch, out: &mut Vec<u32>) {
        // What is drawn is drawn for the whole, and not remembered.
        let Some(cut) = self.model.cut().filter(|_| scratch.draws.is_none()) else {
            return self.model.run(text, self.vocab, scratch, out);
        };
        self.model.begin(scratch);
        let mut start = 0;
        while start < text.len() {
            let end = cut.next(text, start);
            self.part(&text[start..end], memo, scratch, out);
            start = end;
        }
    }

    #[inline]
    fn part(&self, part: &str, memo: &mut Memo, scratch: &mut ModelScratch, out: &mut Vec<u32>) {
        let Some(key) = Key::of(part.as_bytes()) else {
            return self.model.run_next(part, self.vocab, scratch, out);
        };
        let from = out.len();
        if let Some((packed, grade)) = memo.get(key).map(memo::take_grade) {
            memo::append(packed, out);
            if self.model.repeat(grade, &out[from..], scratch) {
                return;
            }
            out.truncate(from);
        }
        let grade = self.model.run_part(part, self.vocab, scratch, out);
        if let Some(packed) = grade.and_then(|grade| memo::pack_graded(&out[from..], grade)) {
            memo.insert(key, packed);
        }
    }
}
