//! LongWords whose words carry marks for spaces, from raw text to ids: word by word where words can be told in the
//! raw text; else SentencePiece's texts are normalized whole and taken apart where no piece can cross.

use super::marked::{append_marked, Marked, MarkedScratch, Stages, Tools};
use super::words::WordIds;
use super::{Options, Scratch, Tables, Tokenizer};
use crate::added_tokens::Segment;
use crate::error::Error;
use crate::model::{Model, ModelScratch};
use crate::pretokenize::PreTokenizer;
use crate::word_cache::{LongWords, ShortWords};

impl Tables {
    /// Compile the scanner of words in raw text, for models whose words begin with a space marker.
    pub(super) fn marked_words(&self) -> Option<Marked> {
        if self.special.has_normalized() {
            return None;
        }
        Marked::of(&Stages {
            normalizer: self.splitter.normalizer(),
            pre_tokenizer: self.splitter.pre_tokenizer().spec(),
            model: &self.model,
            model_spec: &self.model_spec,
        })
    }
}

impl Tokenizer {
    /// Whether `sentence_ids` gives the ids of texts.
    pub(super) fn has_sentences(&self) -> bool {
        self.tables.marked.is_some() || self.is_sentencepiece()
    }

    /// Whether the stages are SentencePiece's: a model that gets every text whole.
    pub(super) fn is_sentencepiece(&self) -> bool {
        let is_whole = matches!(self.tables.splitter.pre_tokenizer(), PreTokenizer::Whole);
        matches!(self.tables.model, Model::SentencePiece(_))
            && is_whole
            && !self.tables.special.has_normalized()
    }

    /// Append the ids of a text.
    pub(super) fn sentence_ids(
        &self,
        text: &str,
        options: Options<'_>,
        scratch: &mut Scratch,
        out: &mut Vec<u32>,
    ) -> Result<(), Error> {
        let mut result = Ok(());
        self.tables.special.split_raw(text, options.parse_special, |segment| match segment {
            _ if result.is_err() => {}
            Segment::Token(id, ..) => out.push(id),
            Segment::Text(start, end) => {
                result = self.stretch_ids(&text[start..end], start, scratch, out);
            }
        });
        result
    }

    fn stretch_ids(
        &self,
        text: &str,
        start: usize,
        scratch: &mut Scratch,
        out: &mut Vec<u32>,
    ) -> Result<(), Error> {
        let Scratch { memo, texts: long_memo, model, split, marked: memory, .. } = scratch;
        if let Some(marked) = &self.tables.marked {
            if marked.append(text, start, self.tools((memo, long_memo), model, memory), out)? {
                return Ok(());
            }
        }
        if self.is_sentencepiece() {
            split.normalized.clear();
            self.tables.splitter.normalizer().run(text, 0, &mut split.normalized)?;
            return append_marked(&split.normalized, self.tools((memo, long_memo), model, memory), out);
        }
        let mut words = WordIds::new(&self.tables.model, &self.tables.vocab, memo, model, out);
        self.tables.splitter.run(text, start as u32, split, &mut words)?;
        words.finish();
        Ok(())
    }

    /// What words are turned into ids with.
    pub(super) fn tools<'t>(
        &'t self,
        (memo, long_memo): (&'t mut ShortWords, &'t mut LongWords),
        scratch: &'t mut ModelScratch,
        memory: &'t mut MarkedScratch,
    ) -> Tools<'t> {
        let normalizer = self.tables.splitter.normalizer();
        Tools {
            normalizer,
            model: &self.tables.model,
            vocab: &self.tables.vocab,
            memo,
            long_memo,
            scratch,
            memory,
        }
    }
}
