//! Which token, word and characters of an `Encoding` belong together. Positions outside of it belong to nothing.

use pyo3::prelude::*;

use super::lists::{item, optional_item};
use super::{Column, Encoding};

impl Encoding {
    /// Return the span of characters of a token; `None` for template tokens.
    pub(super) fn chars_of_token<'py>(
        &self,
        py: Python<'py>,
        token_index: isize,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        match (
            optional_item(self.column(py, Column::SequenceIds)?, token_index)?,
            usize::try_from(token_index),
        ) {
            (Some(_), Ok(at)) => self.column(py, Column::Offsets)?.get_item(at).map(Some),
            _ => Ok(None),
        }
    }

    /// Return the first token that covers a character.
    pub(super) fn token_of_char(
        &self,
        py: Python<'_>,
        char_pos: isize,
        sequence_index: isize,
    ) -> PyResult<Option<usize>> {
        let (Ok(char), Ok(sequence)) = (usize::try_from(char_pos), usize::try_from(sequence_index)) else {
            return Ok(None);
        };
        let covers = |_: Option<usize>, (start, end): (usize, usize)| (start..end).contains(&char);
        Ok(self.tokens_where(py, sequence, 1, covers)?.first().copied())
    }

    /// Return the word of this token.
    pub(super) fn word_of_char(
        &self,
        py: Python<'_>,
        char_pos: isize,
        sequence_index: isize,
    ) -> PyResult<Option<usize>> {
        match self.token_of_char(py, char_pos, sequence_index)? {
            Some(token) => item(self.column(py, Column::WordIds)?, token),
            None => Ok(None),
        }
    }

    /// Return the first token of a word, and the one after its last.
    pub(super) fn tokens_of_word(
        &self,
        py: Python<'_>,
        word_index: isize,
        sequence_index: isize,
    ) -> PyResult<Option<(usize, usize)>> {
        let (Ok(word), Ok(sequence)) = (usize::try_from(word_index), usize::try_from(sequence_index))
        else {
            return Ok(None);
        };
        let tokens = self.tokens_where(py, sequence, usize::MAX, |of, _| of == Some(word))?;
        Ok(tokens.first().zip(tokens.last()).map(|(&first, &last)| (first, last + 1)))
    }

    /// Return the characters of a word, from its first token to its last.
    pub(super) fn chars_of_word(
        &self,
        py: Python<'_>,
        word_index: isize,
        sequence_index: isize,
    ) -> PyResult<Option<(usize, usize)>> {
        let Some((first, end)) = self.tokens_of_word(py, word_index, sequence_index)? else {
            return Ok(None);
        };
        let offsets = self.column(py, Column::Offsets)?;
        let (from, to): ((usize, usize), (usize, usize)) = (item(offsets, first)?, item(offsets, end - 1)?);
        Ok(Some((from.0, to.1)))
    }

    /// Return the first `limit` tokens of a sequence whose word and characters satisfy a predicate.
    fn tokens_where(
        &self,
        py: Python<'_>,
        sequence_index: usize,
        limit: usize,
        is_wanted: impl Fn(Option<usize>, (usize, usize)) -> bool,
    ) -> PyResult<Vec<usize>> {
        let (offsets, words) = (self.column(py, Column::Offsets)?, self.column(py, Column::WordIds)?);
        let sequences = self.column(py, Column::SequenceIds)?;
        let mut found = Vec::new();
        for token in 0..sequences.len() {
            let is_of_sequence = item::<Option<usize>>(sequences, token)? == Some(sequence_index);
            if is_of_sequence && is_wanted(item(words, token)?, item(offsets, token)?) {
                found.push(token);
            }
            if found.len() == limit {
                break;
            }
        }
        Ok(found)
    }
}
