//! Computes tokens with offsets from a text and its ids, by assigning the ids to the words of the text.
//!
//! A word gets ids until their tokens concatenate to it. Only a word with ambiguous ids, such as unknown tokens, is
//! segmented again.

use super::super::plain::TokenWriter;
use super::super::stages::Part;
use super::super::{Input, Options, Scratch, Tokenizer};
use crate::encoding::{Encoding, Token};
use crate::error::Error;
use crate::model::{ModelScratch, TokenSpan};
use crate::spec::{ModelSpec, PieceType};
use crate::text::{byte_of_entry, PreTokenizedText};

/// The ids that are not assigned to a word yet, and scratch to segment a word.
struct RemainingIds<'k> {
    ids: &'k [u32],
    tokens: &'k mut Vec<TokenSpan>,
    model: &'k mut ModelScratch,
}

impl RemainingIds<'_> {
    /// Removes as many ids as there are tokens. Returns whether they are the ids of the tokens.
    fn take_tokens(&mut self) -> bool {
        let count = self.tokens.len();
        let fits = self.ids.len() >= count
            && self.ids.iter().zip(self.tokens.iter()).all(|(&id, token)| id == token.id);
        self.ids = self.ids.get(count..).unwrap_or_default();
        fits
    }

    /// Removes the next id. Returns whether it is `id`.
    fn take(&mut self, id: u32) -> bool {
        let fits = self.ids.first() == Some(&id);
        self.ids = self.ids.get(1..).unwrap_or_default();
        fits
    }
}

impl Tokenizer {
    /// Encodes a text with every field, given its ids from [`Tokenizer::row`] with the same options.
    ///
    /// If the ids cannot be assigned to the words of the text, it is encoded again. Other ids that are not those of the
    /// text are not detected.
    pub fn encode_from_ids(
        &self,
        text: &str,
        row: &[u32],
        options: Options<'_>,
        scratch: &mut Scratch,
    ) -> Result<Encoding, Error> {
        if self.keeps_rows() && options.sampling.is_none() {
            if let Some(tokens) = self.tokens_from_ids(text, row, options, scratch)? {
                return self.finished(vec![Encoding::new(tokens)], options, scratch);
            }
        }
        self.encode(Input::Text(text), None, options, scratch)
    }

    /// Returns the tokens of a text; `None` if the ids cannot be assigned to its words.
    fn tokens_from_ids(
        &self,
        text: &str,
        row: &[u32],
        options: Options<'_>,
        scratch: &mut Scratch,
    ) -> Result<Option<Vec<Token>>, Error> {
        let frame = self.stages().post_processor.frame_of_one(options.add_special_tokens);
        let Some(frame) = frame else { return Ok(None) };
        let body = row.strip_prefix(frame.before.as_slice());
        let Some(ids) = body.and_then(|body| body.strip_suffix(frame.after.as_slice())) else {
            return Ok(None);
        };
        scratch.added_spaces.clear();
        self.stages().model.begin(None, 0, &mut scratch.model)?;
        if self.align(Input::Text(text), ids, options, scratch)? {
            return Ok(Some(scratch.aligned.tokens(ids, 0)));
        }
        scratch.added_spaces.clear();
        self.assigned_tokens(text, ids, options, scratch)
    }

    /// Assigns ids to the words of a text; `None` if they are not the ids of the text.
    fn assigned_tokens(
        &self,
        text: &str,
        ids: &[u32],
        options: Options<'_>,
        scratch: &mut Scratch,
    ) -> Result<Option<Vec<Token>>, Error> {
        let mut tokens = Vec::with_capacity(ids.len());
        let mut added_spaces = std::mem::take(&mut scratch.added_spaces);
        let input = (Input::Text(text), 0, text);
        let mut writer = TokenWriter::new(self.stages(), input, 0, &mut tokens, &mut added_spaces);
        let Scratch { model, split, spans, .. } = &mut *scratch;
        let mut remaining = RemainingIds { ids, tokens: spans, model };
        let mut fits = true;
        self.stages().visit_text(text, options, split, |part| {
            fits = fits && self.assign(part, &mut remaining, &mut writer);
        })?;
        fits &= remaining.ids.is_empty();
        scratch.added_spaces = added_spaces;
        scratch.model.check()?;
        Ok(fits.then_some(tokens))
    }

    /// Assigns the next ids to the words of a part. Returns `false` if they do not match.
    fn assign(
        &self,
        part: Part<'_>,
        remaining: &mut RemainingIds<'_>,
        writer: &mut TokenWriter<'_>,
    ) -> bool {
        match part {
            Part::Token(found) => {
                writer.added(found);
                remaining.take(found.id)
            }
            Part::Words(PreTokenizedText { text, spans }) => spans.iter().all(|&(from, to)| {
                let word = &text.text()[from..to];
                if !self.spell(word, remaining) {
                    remaining.tokens.clear();
                    self.stages().model.run(word, &self.stages().vocab, remaining.model, remaining.tokens);
                }
                writer.word(text, from, remaining.tokens);
                remaining.take_tokens()
            }),
        }
    }

    /// Makes the tokens of a word from the next ids. Returns `false` if their tokens do not concatenate to the word.
    fn spell(&self, word: &str, remaining: &mut RemainingIds<'_>) -> bool {
        remaining.tokens.clear();
        let mut at = 0;
        for &id in remaining.ids {
            if at == word.len() {
                break;
            }
            let Some(entry) = self.spelling(id, at == 0) else { return false };
            if entry.is_empty() || !word[at..].starts_with(entry) {
                return false;
            }
            let end = at + entry.len();
            remaining.tokens.push(TokenSpan { id, start: at as u32, end: end as u32 });
            at = end;
        }
        at == word.len()
    }

    /// Returns the text of an id at the beginning of a word or later in it; `None` if the id is ambiguous.
    fn spelling(&self, id: u32, is_first: bool) -> Option<&str> {
        let token = self.stages().vocab.token_of(id).filter(|token| !self.is_ambiguous(id, token))?;
        match &*self.stages().model_spec {
            ModelSpec::WordPiece(spec) if !is_first => token.strip_prefix(&spec.continuing_subword_prefix),
            _ => Some(token),
        }
    }

    /// Returns whether a token can cover other text than its own: an unknown token, a byte, a token with affixes.
    fn is_ambiguous(&self, id: u32, token: &str) -> bool {
        match &*self.stages().model_spec {
            ModelSpec::WordPiece(spec) => token == spec.unk_token,
            ModelSpec::Word(spec) => token == spec.unk_token,
            ModelSpec::Char(spec) => token == spec.unk_token,
            ModelSpec::Bpe(spec) => {
                let is_byte = spec.byte_fallback && byte_of_entry(token).is_some();
                is_byte || spec.has_affixes() || spec.unk_token.as_deref() == Some(token)
            }
            ModelSpec::Unigram(spec) => {
                let is_byte = spec.byte_fallback && byte_of_entry(token).is_some();
                is_byte || spec.unk_id == Some(id as usize)
            }
            ModelSpec::SentencePiece(spec) => {
                let kind = spec.pieces.get(id as usize).map(|piece| piece.kind);
                !matches!(kind, Some(PieceType::Normal | PieceType::UserDefined))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::{PreTokenizerSpec, TokenizerSpec, UnigramSpec, UnknownUnit, WordPieceSpec};
    use crate::stages::added_tokens::Selector;

    const ALL: Options<'_> =
        Options { add_special_tokens: true, parse_special: &Selector::All, sampling: None };
    const TEXTS: [&str; 5] = ["abab b", "", "a [UNK] ab", "x ab \u{20AC}b", "ab\u{20AC}ab  bb"];

    fn pipeline(model: ModelSpec) -> Tokenizer {
        Tokenizer::compile(TokenizerSpec {
            truncation: None,
            padding: None,
            added_tokens: Vec::new(),
            normalizer: None,
            pre_tokenizer: Some(PreTokenizerSpec::WhitespaceSplit),
            post_processor: None,
            decoder: None,
            model,
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
                let found = pipeline.tokens_from_ids(text, &row, ALL, &mut scratch).unwrap();
                assert_eq!(found.as_ref(), Some(&expected.tokens), "{text}");
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
