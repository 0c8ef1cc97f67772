//! Tokens with their spans and words, made from ids, where a route says how ids cover their text. Other pipelines encode
//! the text again by the definition, so that nothing else knows which text a token stands for.
//!
//! ```text
//! aligner      ids aligned with the words of a text by the number of bytes that each covers
//! byte_spans   the same for the words of byte-level text
//! ascii_spans  the same for BERT's spans
//! ```

mod aligner;
mod ascii_spans;
mod byte_spans;

pub(super) use aligner::{AlignedIds, Aligner};
pub(super) use ascii_spans::align_ascii_spans;
pub(super) use byte_spans::align_byte_spans;

use super::definition;
use super::input::WordNumber;
use super::route::Route;
use super::stages::Stages;
use super::{Input, Options, Scratch, Tokenizer};
use crate::encoding::{Encoding, Token};
use crate::error::Error;
use crate::stages::added_tokens::Segment;

/// The tokens of a row.
#[derive(Clone, Copy, Debug)]
pub enum Row<'r> {
    /// The spans and words of ids that are known.
    Aligned {
        /// The first character and the one after the last.
        offsets: &'r [[u32; 2]],
        /// The number of the word.
        words: &'r [u32],
    },
    /// Tokens in place of ids that do not say how they cover the text.
    Tokens(&'r [Token]),
}

impl Tokenizer {
    /// Emit the tokens of an input whose ids are known, without the frame. Only with the frame of
    /// [`Self::frame_of_aligned_rows`].
    pub fn aligned_row(
        &self,
        input: Input<'_>,
        ids: &[u32],
        options: Options<'_>,
        scratch: &mut Scratch,
        emit: impl FnOnce(Row<'_>),
    ) -> Result<(), Error> {
        scratch.added_spaces.clear();
        if self.align(input, ids, options, scratch)? {
            let (offsets, words) = scratch.aligned.columns();
            emit(Row::Aligned { offsets, words });
        } else {
            scratch.added_spaces.clear();
            emit(Row::Tokens(&definition::tokens(self.stages(), input, 0, options, scratch)?));
        }
        Ok(())
    }

    /// Return the tokens of an input from its ids; `None` if the ids do not say how they cover it.
    pub(super) fn aligned_tokens(
        &self,
        input: Input<'_>,
        index: u32,
        options: Options<'_>,
        scratch: &mut Scratch,
    ) -> Result<Option<Vec<Token>>, Error> {
        let Some(route) = self.aligning_route(options) else { return Ok(None) };
        let mut ids = std::mem::take(&mut scratch.unaligned);
        ids.clear();
        let made = route.ids(self.stages(), input, options, scratch, &mut ids);
        route.flush(self.stages(), scratch, &mut ids);
        let made = made.and_then(|()| scratch.model.check());
        let aligned = made.and_then(|()| self.align(input, &ids, options, scratch));
        let tokens = aligned.map(|is_aligned| is_aligned.then(|| scratch.aligned.tokens(&ids, index)));
        scratch.unaligned = ids;
        tokens
    }

    /// Encode a text with every field, given its ids from [`Tokenizer::row_into`] with the same options.
    ///
    /// If the ids do not say how they cover the text, it is encoded again. Other ids that are not those of the text are not
    /// detected.
    pub fn encode_from_ids(
        &self,
        text: &str,
        row: &[u32],
        options: Options<'_>,
        scratch: &mut Scratch,
    ) -> Result<Encoding, Error> {
        let frame = self.stages().post_processor.frame_of_one(options.add_special_tokens);
        let frame = frame.filter(|_| self.keeps_rows() && options.sampling.is_none());
        if let Some(ids) = frame.and_then(|frame| frame.strip(row)) {
            scratch.added_spaces.clear();
            if self.align(Input::Text(text), ids, options, scratch)? {
                let tokens = scratch.aligned.tokens(ids, 0);
                return self.finished(vec![Encoding::new(tokens)], options, scratch);
            }
        }
        self.encode(Input::Text(text), None, options, scratch)
    }

    /// Align the ids of an input with its words, into the scratch; `false` if they do not say how they cover it.
    fn align(
        &self,
        input: Input<'_>,
        ids: &[u32],
        options: Options<'_>,
        scratch: &mut Scratch,
    ) -> Result<bool, Error> {
        let Some(route) = self.aligning_route(options) else { return Ok(false) };
        let stages = self.stages();
        let mut aligned = std::mem::take(&mut scratch.aligned);
        let mut aligner = Aligner::new(stages.token_lengths(), ids, &mut aligned);
        let result = align_texts(stages, route, input, options, scratch, &mut aligner);
        let is_done = aligner.is_done();
        scratch.aligned = aligned;
        result.map(|fits| fits && is_done)
    }
}

/// Align the ids of an input with its words. Return `false` if they do not say how they cover it.
fn align_texts(
    stages: &Stages,
    route: &Route,
    input: Input<'_>,
    options: Options<'_>,
    scratch: &mut Scratch,
    aligner: &mut Aligner<'_>,
) -> Result<bool, Error> {
    for (number, text) in input.texts().enumerate() {
        aligner.begin_text(WordNumber::of(input, number));
        for segment in stages.added_tokens.raw_segments(text, options.parse_special) {
            let fits = match segment {
                Segment::Token(id, start, end) => {
                    aligner.added_token(stages, id, (&text[start..end], start), &mut scratch.added_spaces)
                }
                Segment::Text(start, end) => {
                    route.align(stages, (&text[start..end], start), options, scratch, aligner)?
                }
            };
            if !fits {
                return Ok(false);
            }
        }
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::{
        ModelSpec, PreTokenizerSpec, TokenizerSpec, UnigramSpec, UnknownUnit, WordPieceSpec,
    };
    use crate::stages::added_tokens::Selector;

    const ALL: Options<'_> =
        Options { add_special_tokens: true, parse_special: &Selector::All, sampling: None };
    const TEXTS: [&str; 5] = ["abab b", "", "a [UNK] ab", "x ab \u{20AC}b", "ab\u{20AC}ab  bb"];

    fn pipeline(model: ModelSpec) -> Tokenizer {
        Tokenizer::compile(TokenizerSpec {
            pre_tokenizer: Some(PreTokenizerSpec::WhitespaceSplit),
            ..TokenizerSpec::of(model)
        })
        .unwrap()
    }

    fn pipelines() -> Vec<Tokenizer> {
        let entries = ["[UNK]", "a", "b", "##a", "##b", "##ab"];
        let vocab = entries.iter().zip(0..).map(|(entry, id)| ((*entry).to_owned(), id)).collect();
        let wordpiece = WordPieceSpec {
            vocab,
            unk_token: "[UNK]".into(),
            continuing_subword_prefix: "##".into(),
            max_input_chars_per_word: 100,
            unk: UnknownUnit::Word,
            segmentation: crate::spec::Segmentation::default(),
        };
        let scores = ["<unk>", "a", "b", "ab"].iter().zip(0..);
        let vocab = scores.map(|(entry, id)| ((*entry).to_owned(), -f64::from(id))).collect();
        let unigram = UnigramSpec { vocab, unk_id: Some(0), byte_fallback: false };
        vec![pipeline(ModelSpec::WordPiece(wordpiece)), pipeline(ModelSpec::Unigram(unigram))]
    }

    #[test]
    fn known_ids_give_the_tokens_of_the_text() {
        for pipeline in pipelines() {
            let mut scratch = pipeline.scratch();
            for text in TEXTS {
                let expected = pipeline.encode(Input::Text(text), None, ALL, &mut scratch).unwrap();
                let row: Vec<u32> = expected.tokens.iter().map(|token| token.id).collect();
                assert_eq!(pipeline.encode_from_ids(text, &row, ALL, &mut scratch).unwrap(), expected);
            }
        }
    }

    #[test]
    fn ids_that_do_not_fit_the_text_are_not_used() {
        for pipeline in pipelines() {
            let mut scratch = pipeline.scratch();
            for text in TEXTS {
                let expected = pipeline.encode(Input::Text(text), None, ALL, &mut scratch).unwrap();
                for row in [vec![], vec![2, 2, 2], vec![0; 9], vec![77]] {
                    let found = pipeline.encode_from_ids(text, &row, ALL, &mut scratch).unwrap();
                    assert_eq!(found, expected, "{text}");
                }
            }
        }
    }
}
