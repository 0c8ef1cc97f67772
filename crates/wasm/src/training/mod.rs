//! Vocabularies from a text, with the steps of the learner.
//!
//! ```text
//! settings  what all learners take
//! merges    the steps of WordPiece and BPE: the best pairs and what is merged
//! unigram   the steps of Unigram: EM and pruning
//! words     the words of a text, and what the normalizer changes
//! ```

mod merges;
mod settings;
mod unigram;
mod words;

use piecework_core::error::{Error, ErrorKind};
use piecework_core::spec::{ModelSpec, TokenizerSpec, VocabSpec};
use piecework_formats::tokenizer_json;
use piecework_train::count::Counts;
use serde::Serialize;
use wasm_bindgen::prelude::*;

use crate::errors::thrown;
use crate::json::to_js;
use crate::tokenizer::Tokenizer;
use settings::Settings;
use words::{count_words, NormalizedWords};

#[wasm_bindgen(typescript_custom_section)]
const TYPES: &str = r#"
export type Learner =
  | "wordpiece-pmi"
  | "wordpiece-likelihood"
  | "wordpiece-frequency"
  | "bpe"
  | "unigram";
/** What `Training.trace` has; names and values are those of `explain_training` in the Python package. */
export interface Trace {
  words: [string, number][];
  special_tokens: string[];
  alphabet: string[];
  /** The vocabulary in the order of its ids; after a merge, its first `vocab_size` entries. */
  vocab: string[];
  /** The number of all steps, of which `steps` has the first. */
  step_count: number;
  steps: (TrainingMerge | TrainingEstimate | TrainingPruning)[];
  /** What the normalizer changes. */
  normalized: { words: number; changed: number; examples: [string, string][] };
  /** Merges: the symbols of each word at the start, and why there are fewer entries than asked for. */
  splits: [string[], number][];
  stopped_early?: string | null;
  /** Unigram: the initial pieces, the scores of the vocabulary, and the lattice of the word with them. */
  seeds?: [string, number][];
  scores?: number[];
  lattice?: TrainingLattice | null;
}
export interface PairScore {
  left: string;
  right: string;
  token: string;
  count: number;
  left_count: number;
  right_count: number;
  score: number;
  /** The score as a fraction, for "wordpiece-pmi". */
  score_fraction?: string;
}
export interface TrainingMerge {
  kind: "TrainingMerge";
  number: number;
  winner: PairScore;
  reason: string;
  /** The best of all `pairs`, the winner first. */
  candidates: PairScore[];
  pairs: number;
  /** The pairs with the score of the winner, itself included. */
  tied: number;
  changed_words: number;
  vocab_size: number;
  is_new: boolean;
}
export interface TrainingEstimate {
  kind: "TrainingEstimate";
  number: number;
  round: number;
  iteration: number;
  pieces: number;
  log_likelihood: number;
  estimates: { piece: string; expected: number; score: number | null }[];
  dropped: string[];
  lattice: TrainingLattice | null;
}
export interface TrainingPruning {
  kind: "TrainingPruning";
  number: number;
  round: number;
  pieces: number;
  removed: PieceLoss[];
  removed_count: number;
  kept: PieceLoss[];
  lattice: TrainingLattice | null;
}
export interface PieceLoss {
  piece: string;
  count: number;
  loss: number | null;
  reason: string;
}
export interface TrainingLattice {
  word: string;
  lattice: WordLattice;
  probabilities: number[];
}
"#;

/// A trained tokenizer, and how it was learned.
#[wasm_bindgen]
pub struct Training {
    trace: JsValue,
    tokenizer: Tokenizer,
}

#[wasm_bindgen]
impl Training {
    /// The steps of the learner.
    #[wasm_bindgen(getter, unchecked_return_type = "Trace")]
    pub fn trace(&self) -> JsValue {
        self.trace.clone()
    }

    /// Return the tokenizer; the training is used up.
    #[must_use]
    pub fn tokenizer(self) -> Tokenizer {
        self.tokenizer
    }
}

#[derive(Serialize)]
struct Trace<T> {
    words: Vec<(String, u64)>,
    special_tokens: Vec<String>,
    normalized: NormalizedWords,
    #[serde(flatten)]
    steps: T,
}

/// Train on the lines of a text.
///
/// `template` is a tokenizer.json; the result has its stages, its special tokens and the settings of its model, and learned
/// entries in place of the others. The first `steps` steps are traced, Unigram's with the lattice of
/// `word`, or of a long word of the text.
#[wasm_bindgen]
pub fn train(
    text: &str,
    #[wasm_bindgen(unchecked_param_type = "Learner")] learner: &str,
    #[wasm_bindgen(js_name = vocabSize)] vocab_size: usize,
    template: &str,
    steps: usize,
    word: Option<String>,
) -> Result<Training, JsValue> {
    let template =
        tokenizer_json::read(template.as_bytes()).map_err(|error| thrown(error.within("template")))?;
    let (counts, isolated_characters, normalized) = count_words(text, &template).map_err(thrown)?;
    let special = template.added_tokens.iter().filter(|token| token.special);
    let special_tokens = special.map(|token| token.content.clone()).collect();
    let settings = Settings { vocab_size, special_tokens, isolated_characters, steps, word };
    if learner == "unigram" {
        let (pieces, trace) = unigram::train(&counts, &settings).map_err(thrown)?;
        return training(template, Entries::Pieces(pieces), traced(&counts, settings, normalized, trace)?);
    }
    let (vocab, merges, trace) = merges::train(&counts, learner, &settings).map_err(thrown)?;
    training(template, Entries::Merged(vocab, merges), traced(&counts, settings, normalized, trace)?)
}

fn traced<T: Serialize>(
    counts: &Counts,
    settings: Settings,
    normalized: NormalizedWords,
    steps: T,
) -> Result<JsValue, JsValue> {
    let words = counts.iter().map(|(word, count)| (word.to_owned(), count)).collect();
    to_js(&Trace { words, special_tokens: settings.special_tokens, normalized, steps })
}

/// What a learner learned.
enum Entries {
    /// Entries in the order of their ids, and merges.
    Merged(Vec<String>, Vec<(String, String)>),
    /// Pieces with their scores.
    Pieces(Vec<(String, f64)>),
}

fn training(template: TokenizerSpec, entries: Entries, trace: JsValue) -> Result<Training, JsValue> {
    let tokenizer = Tokenizer::compile(filled(template, entries), "")?;
    Ok(Training { trace, tokenizer })
}

/// Return a template with learned entries; special tokens come first, so they keep their ids.
fn filled(mut template: TokenizerSpec, entries: Entries) -> Result<TokenizerSpec, Error> {
    let numbered = |vocab: Vec<String>| -> VocabSpec { vocab.into_iter().zip(0..).collect() };
    match (&mut template.model, entries) {
        (ModelSpec::WordPiece(model), Entries::Merged(vocab, _)) => model.vocab = numbered(vocab),
        (ModelSpec::Bpe(model), Entries::Merged(vocab, merges)) => {
            model.vocab = numbered(vocab);
            model.merges = merges.into_iter().collect();
        }
        (ModelSpec::Unigram(model), Entries::Pieces(pieces)) => model.vocab = pieces,
        _ => {
            let expected = "a model of the kind that the learner learns";
            return Err(Error::new(ErrorKind::Argument, "template", "another model", expected));
        }
    }
    Ok(template)
}
