//! Words that begin with a mark for the space before them: from raw text to ids, word by word through the
//! memo, where no piece can reach across a space.
//!
//! form      which pipelines these are, and how each makes words of a text
//! source    one text: the words in it, their keys, and their marked text
//! scan      where words are, and where they are cut, 64 bytes at a time
//! lone      characters that are told one by one, without the memo
//! spaces    where runs of spaces are words by themselves
//! alone     words to ids through the memo, for models that see each alone
//! joining   their new words of ASCII, at once
//! parts     others, part by part
//! words     the same for Unigram models of SentencePiece
//! segmenter these, which sum from the beginning of the text
//! packed    what is remembered for them
//!
//! The memo is asked with the bytes of the raw text. Only a word that is new is normalized and marked; it is
//! segmented as it would be within its text, and what that depends on is remembered with its ids. Its twin is
//! the plain way: the whole text normalized, cut and segmented.

mod alone;
mod form;
mod joining;
mod lone;
mod packed;
mod parts;
mod scan;
mod segmenter;
mod source;
mod spaces;
#[cfg(test)]
mod tests;
mod words;

use self::alone::{Alone, Batch};
use self::form::Form;
use self::scan::Masks;
use self::segmenter::{Scored, Settling};
use self::source::Source;
use self::words::{Waits, Words};
use crate::error::Error;
use crate::model::{Model, ModelScratch};
use crate::normalize::Normalizer;
use crate::vocab::Vocab;
use crate::word_cache::{LongWords, ShortWords};

pub(super) use self::form::Stages;

/// The compiled way from a text to its words.
#[derive(Clone, Debug)]
pub(super) struct Marked {
    form: Form,
}

/// Memory for one text.
#[derive(Clone, Debug, Default)]
pub(super) struct MarkedScratch {
    masks: Masks,
    word: String,
    normalized: String,
    settling: Settling,
    waits: Waits,
    batch: Batch,
}

/// What a text is turned into ids with.
pub(super) struct Tools<'t> {
    pub(super) normalizer: &'t Normalizer,
    pub(super) model: &'t Model,
    pub(super) vocab: &'t Vocab,
    pub(super) memo: &'t mut ShortWords,
    pub(super) long_memo: &'t mut LongWords,
    pub(super) scratch: &'t mut ModelScratch,
    pub(super) memory: &'t mut MarkedScratch,
}

impl Marked {
    /// The way, if the stages have one.
    pub(super) fn of(stages: &Stages<'_>) -> Option<Self> {
        Form::of(stages).map(|form| Self { form })
    }

    /// Append the ids of a stretch of raw text, which stands at byte `start` of the original; says whether
    /// it could.
    pub(super) fn append(
        &self,
        text: &str,
        start: usize,
        tools: Tools<'_>,
        out: &mut Vec<u32>,
    ) -> Result<bool, Error> {
        if !self.form.takes(text) {
            return Ok(false);
        }
        let source = Source { form: &self.form, normalizer: tools.normalizer, text, start };
        run(source, tools, out).map(|()| true)
    }
}

/// Append the ids of a text that is normalized and marked already, by words that `SentencePiece::cut` tells.
pub(super) fn append_marked(text: &str, tools: Tools<'_>, out: &mut Vec<u32>) -> Result<(), Error> {
    let Model::SentencePiece(model) = tools.model else { return Ok(()) };
    let Some(cut) = model.split_rule() else {
        model.run(text, tools.vocab, tools.scratch, out);
        return Ok(());
    };
    let form = Form::marked(cut);
    run(Source { form: &form, normalizer: tools.normalizer, text, start: 0 }, tools, out)
}

fn run(source: Source<'_>, tools: Tools<'_>, out: &mut Vec<u32>) -> Result<(), Error> {
    let Tools { model, vocab, memo, long_memo, scratch, memory, .. } = tools;
    let memos = (memo, long_memo);
    let MarkedScratch { masks, word, normalized, settling, waits, batch } = memory;
    match model {
        Model::SentencePiece(model) if model.is_contextual() => {
            let scored = Scored::begin(model, vocab, scratch, settling, out.len());
            Words::new(source, scored, memos, (word, normalized), waits, out).run(masks)
        }
        _ => {
            let (memo, long_memo) = memos;
            Alone { source, model, vocab, memo, long_memo, scratch, batch, out }.run(masks)
        }
    }
}
