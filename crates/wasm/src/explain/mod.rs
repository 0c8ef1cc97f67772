//! How each word of a text is segmented, as data for drawings.
//!
//! ```text
//! wordpiece  the prefixes that longest match tries
//! merges     the merges of BPE, in order
//! ```
//!
//! `piecework-train` makes the lattice of Unigram and reports it at each step of training.

mod merges;
mod wordpiece;

use piecework_core::encoding::Token;
use piecework_core::engine::{Input, Options, Tokenizer};
use piecework_core::error::Error;
use piecework_core::spec::{ModelSpec, SentencePieceKind, WordPieceSpec};
use piecework_core::stages::added_tokens::Selector;
use piecework_train::unigram::{ScoredPieces, WordLattice};
use serde::Serialize;

use crate::readable::{text_of_bytes, ReadableTokens};
use merges::{MergeStep, Merger};
use wordpiece::WordSearch;

/// The words of a text.
#[derive(Serialize)]
pub(crate) struct Explanation {
    words: Vec<ExplainedWord>,
}

/// A word as the model receives it, with its span in characters of the text.
#[derive(Default, Serialize)]
struct ExplainedWord {
    word: String,
    span: (usize, usize),
    symbols: Vec<String>,
    merges: Option<Vec<MergeStep>>,
    search: Option<WordSearch>,
    lattice: Option<WordLattice>,
    note: Option<String>,
}

impl ExplainedWord {
    fn new(word: &str) -> Self {
        Self { word: word.to_owned(), merges: Some(Vec::new()), ..Self::default() }
    }

    /// Write byte-level symbols as text.
    fn spell_out(&mut self) {
        let texts = self.symbols.iter_mut().chain([&mut self.word]);
        texts.for_each(|text| *text = text_of_bytes(text));
        self.merges.iter_mut().flatten().for_each(MergeStep::spell_out);
    }
}

/// The tables that explain the words of one tokenizer.
pub(crate) enum Explainer {
    Search(WordPieceSpec),
    Merges(Merger),
    Lattice(ScoredPieces),
    Whole,
}

impl Explainer {
    pub(crate) fn new(tokenizer: &Tokenizer) -> Self {
        match tokenizer.spec().model {
            ModelSpec::WordPiece(spec) => Self::Search(spec),
            ModelSpec::Bpe(spec) => Self::Merges(Merger::of_bpe(spec)),
            ModelSpec::Unigram(spec) => Self::Lattice(ScoredPieces::of_unigram(&spec)),
            ModelSpec::SentencePiece(spec) => match spec.kind {
                SentencePieceKind::Unigram => Self::Lattice(ScoredPieces::of_sentencepiece(&spec)),
                SentencePieceKind::Bpe => Self::Merges(Merger::of_sentencepiece(&spec)),
                _ => Self::Whole,
            },
            ModelSpec::Word(_) | ModelSpec::Char(_) => Self::Whole,
        }
    }

    /// Explain the words of a text.
    pub(crate) fn explain(
        &self,
        tokenizer: &Tokenizer,
        readable: &ReadableTokens,
        text: &str,
    ) -> Result<Explanation, Error> {
        let mut words = Vec::new();
        let (mut from, chars) = (0, text.chars().count());
        for (start, end) in added_spans(tokenizer, text)? {
            self.push_words(tokenizer, text, (from, start), &mut words)?;
            let mut added = ExplainedWord::new(&slice(text, start, end));
            added.span = (start, end);
            words.push(added);
            from = end;
        }
        self.push_words(tokenizer, text, (from, chars), &mut words)?;
        if readable.is_byte_level() {
            words.iter_mut().for_each(ExplainedWord::spell_out);
        }
        Ok(Explanation { words })
    }

    fn push_words(
        &self,
        tokenizer: &Tokenizer,
        text: &str,
        (from, to): (usize, usize),
        words: &mut Vec<ExplainedWord>,
    ) -> Result<(), Error> {
        for (word, (start, end)) in tokenizer.pre_tokenize(&slice(text, from, to))? {
            let mut explained = self.word(tokenizer, &word);
            explained.span = (from + start as usize, from + end as usize);
            words.push(explained);
        }
        Ok(())
    }

    fn word(&self, tokenizer: &Tokenizer, word: &str) -> ExplainedWord {
        let mut explained = ExplainedWord::new(word);
        match self {
            Self::Search(spec) => explained.search = WordSearch::of(word, spec, tokenizer.vocab()),
            Self::Merges(merger) => {
                explained.symbols = merger.symbols(word, tokenizer.vocab());
                explained.merges = merger.steps(&explained.symbols);
                explained.note = merger.note(word, tokenizer.vocab());
            }
            Self::Lattice(pieces) => explained.lattice = pieces.lattice(word),
            Self::Whole => {}
        }
        explained
    }
}

/// Return the spans of added tokens in a text, in characters.
fn added_spans(tokenizer: &Tokenizer, text: &str) -> Result<Vec<(usize, usize)>, Error> {
    let options = Options { add_special_tokens: false, parse_special: &Selector::All, sampling: None };
    let encoding = tokenizer.encode(Input::Text(text), None, options, &mut tokenizer.scratch())?;
    let is_added = |token: &&Token| {
        let name = tokenizer.token_of(token.id).unwrap_or_default();
        let span = slice(text, token.start as usize, token.end as usize);
        tokenizer.added_tokens().iter().any(|added| added.content == name) && span.trim() == name
    };
    let spans = encoding.tokens.iter().filter(is_added);
    Ok(spans.map(|token| (token.start as usize, token.end as usize)).collect())
}

/// Return the characters of a text from `start` to `end`.
fn slice(text: &str, start: usize, end: usize) -> String {
    text.chars().skip(start).take(end.saturating_sub(start)).collect()
}
