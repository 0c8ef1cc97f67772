//! Columns of an encoding that need its texts: offsets in other units, and the text of unknown tokens.

use foldhash::{HashMap, HashMapExt};

use super::{Input, Scratch, Tokenizer};
use crate::encoding::{Token, NONE};
use crate::error::Error;
use crate::text::units_before_chars;

/// Return the span of each token in other units of its text, given the units of a character; (0, 0) for template
/// tokens.
pub fn offsets_in(
    tokens: &[Token],
    texts: &[Input<'_>],
    units: impl Fn(char) -> usize,
) -> Vec<(usize, usize)> {
    let counts_of = |input: &Input<'_>| -> Vec<Vec<usize>> {
        input.texts().map(|text| units_before_chars(text, &units)).collect()
    };
    let counts: Vec<_> = texts.iter().map(counts_of).collect();
    let offsets = |token: &Token| {
        let sequence = token.sequence as usize;
        let counts = counts.get(sequence)?.get(text_index(texts[sequence], token))?;
        let count = |char: u32| counts.get(char as usize).copied().unwrap_or_default();
        Some((count(token.start), count(token.end)))
    };
    tokens.iter().map(|token| offsets(token).unwrap_or_default()).collect()
}

/// Return the index of the text that the offsets of a token refer to.
fn text_index(input: Input<'_>, token: &Token) -> usize {
    match input {
        Input::Words(_) if token.word != NONE => token.word as usize,
        _ => 0,
    }
}

impl Tokenizer {
    /// Return the normalized text of each unknown token; `None` for other tokens, and if it is empty.
    ///
    /// Each text that has an unknown token is segmented again, as [`Self::pieces`] does.
    pub fn texts_of_unknown(
        &self,
        tokens: &[Token],
        texts: &[Input<'_>],
        scratch: &mut Scratch,
    ) -> Result<Vec<Option<String>>, Error> {
        let mut found = HashMap::new();
        let mut unknown_text = |token: &Token| {
            let sequence = token.sequence as usize;
            let input = texts.get(sequence).filter(|_| Some(token.id) == self.unk_id());
            let Some(input) = input else { return Ok(None) };
            let index = text_index(*input, token);
            let text = input.texts().nth(index).unwrap_or_default();
            let by_span = match found.get(&(sequence, index)) {
                Some(by_span) => by_span,
                None => &*found.entry((sequence, index)).or_insert(self.unknown_pieces(text, scratch)?),
            };
            // Beside an added token the whole text can have other pieces.
            let (start, len) = (token.start as usize, token.end.saturating_sub(token.start) as usize);
            let slice = || text.chars().skip(start).take(len).collect();
            let shown: String = by_span.get(&(token.start, token.end)).cloned().unwrap_or_else(slice);
            Ok(Some(shown).filter(|shown| !shown.is_empty()))
        };
        tokens.iter().map(&mut unknown_text).collect()
    }

    /// Return the normalized text of the unknown pieces of a text by their characters.
    fn unknown_pieces(
        &self,
        text: &str,
        scratch: &mut Scratch,
    ) -> Result<HashMap<(u32, u32), String>, Error> {
        let pieces = self.pieces(text, None, scratch)?.into_iter();
        let unknown = pieces.filter(|(id, ..)| Some(*id) == self.unk_id());
        Ok(unknown.map(|(_, text, span)| (span, text)).collect())
    }
}
