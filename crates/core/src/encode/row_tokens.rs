//! One row as tokens: its sequences, cut and framed.

use super::{Input, Options, Scratch, Tokenizer};
use crate::encoding::{Encoding, Token};
use crate::error::Error;

/// The tokens of a row.
#[derive(Clone, Copy, Debug)]
pub enum Row<'r> {
    /// Those whose ids are known: what there is to say of each.
    Laid {
        /// The first character and the one after the last.
        offsets: &'r [[u32; 2]],
        /// The number of the word.
        words: &'r [u32],
    },
    /// Tokens in place of these ids, which do not tell how they cover the text.
    Tokens(&'r [Token]),
}

impl Tokenizer {
    /// Give the tokens of one input or pair, run by run, as `row_into` gives their ids: without padding, and
    /// without the windows that truncation leaves over.
    pub fn row_tokens(
        &self,
        input: Input<'_>,
        pair: Option<Input<'_>>,
        options: Options<'_>,
        scratch: &mut Scratch,
        emit: impl FnMut(&[Token]),
    ) -> Result<(), Error> {
        let mut sequences: Vec<Vec<Token>> = self
            .sequences(input, pair, options, scratch)?
            .into_iter()
            .map(|sequence| sequence.tokens)
            .collect();
        if let Some((first, rest)) = sequences.split_first_mut() {
            self.truncate(first, rest.first_mut(), options.add_special_tokens)?;
        }
        let text_of = |token: &Token| self.text_of(token, scratch);
        self.tables.post_processor.frame_tokens(&mut sequences, options.add_special_tokens, text_of, emit);
        Ok(())
    }

    /// Give the tokens of an input whose ids are known to `emit`, without what goes around them; only where
    /// [`Self::frame_of_laid`].
    pub fn laid_row(
        &self,
        input: Input<'_>,
        ids: &[u32],
        options: Options<'_>,
        scratch: &mut Scratch,
        emit: impl FnOnce(Row<'_>),
    ) -> Result<(), Error> {
        scratch.swallowed.clear();
        if self.lay(input, 0, ids, options, scratch)? {
            let (offsets, words) = scratch.laid.columns();
            emit(Row::Laid { offsets, words });
        } else {
            emit(Row::Tokens(&self.plain_tokens(input, 0, options, scratch)?));
        }
        Ok(())
    }

    /// The input and its pair as tokens, whole.
    pub(super) fn sequences(
        &self,
        input: Input<'_>,
        pair: Option<Input<'_>>,
        options: Options<'_>,
        scratch: &mut Scratch,
    ) -> Result<Vec<Encoding>, Error> {
        scratch.swallowed.clear();
        let mut sequences = vec![self.sequence(input, 0, options, scratch)?];
        if let Some(pair) = pair {
            sequences.push(self.sequence(pair, 1, options, scratch)?);
        }
        Ok(sequences)
    }

    /// Sequences framed as the post-processor says.
    pub(super) fn framed(
        &self,
        sequences: &[Encoding],
        options: Options<'_>,
        scratch: &Scratch,
    ) -> Result<Encoding, Error> {
        let text_of = |token: &Token| self.text_of(token, scratch);
        self.tables.post_processor.frame(sequences, options.add_special_tokens, text_of)
    }

    /// The text of a token of the input.
    fn text_of<'t>(&'t self, token: &Token, scratch: &'t Scratch) -> &'t str {
        match scratch.swallowed.get(&(token.sequence, token.word, token.start)) {
            Some(text) => text.as_str(),
            None => self.token_of(token.id).unwrap_or_default(),
        }
    }
}
