//! A text that grows at its end, of which only the last words are encoded again, and the parts of a long text.

use super::Encoder;
use crate::engine::{Input, Options, Tokenizer};
use crate::error::Error;
use crate::stages::added_tokens::Selector;

/// The ids of a text that may grow.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GrowingIds {
    /// The ids of the text.
    pub ids: Vec<u32>,
    /// How many ids at the beginning no text after it can change.
    pub num_stable: usize,
    /// The byte from which on a longer text has to be encoded; its ids come after the stable ones.
    pub rest: usize,
}

impl Encoder {
    /// Encode a text that may grow. The tokenizer must not truncate, and `parse_special` must not be positional.
    ///
    /// The text before the last added token is stable, and so is the text before the last cut.
    pub fn growing_ids(&self, text: &str, parse_special: &Selector) -> Result<GrowingIds, Error> {
        debug_assert!(!self.tokenizer().truncates() && !parse_special.is_positional());
        let options = Options { add_special_tokens: false, parse_special, sampling: None };
        let encode = |part| self.ids(Input::Text(part).into(), options, <[u32]>::to_vec);
        let (end, rest) = self.tokenizer().last_stable(text, parse_special);
        let mut ids = if end > 0 { encode(&text[..end])? } else { Vec::new() };
        let num_stable = ids.len();
        ids.extend(encode(&text[rest..])?);
        Ok(GrowingIds { ids, num_stable, rest })
    }
}

impl Tokenizer {
    /// Divide a text into parts of at least `least` bytes, except the last. Their ids without special tokens, one after the
    /// other, are the ids of the text. `None` if texts cannot be divided.
    #[must_use]
    pub fn parts<'t>(&self, text: &'t str, least: usize) -> Option<Vec<&'t str>> {
        self.cuts()?.parts(text, least)
    }

    /// Return the end of the text whose ids no text after it can change, and where the text begins that has the ids after them.
    fn last_stable(&self, text: &str, parse_special: &Selector) -> (usize, usize) {
        let token = self.stages().added_tokens.last_final(text, parse_special);
        let cut = self.cuts().and_then(|cuts| cuts.last(text, text.len()));
        cut.unwrap_or_default().max((token, token))
    }
}
