//! Vocabularies from a text, with the steps that the learner reports.

use std::ops::ControlFlow;

use foldhash::{HashSet, HashSetExt};
use piecework_core::engine;
use piecework_core::error::{Error, ErrorKind};
use piecework_core::spec::{ModelSpec, TokenizerSpec, VocabSpec};
use piecework_core::stages::normalize::Normalizer;
use piecework_core::stages::pretokenize::PreTokenizer;
use piecework_core::stages::split::Splitter;
use piecework_formats::tokenizer_json;
use piecework_train::count::{CounterSettings, Counts, GroupWeights, WordCounter};
use piecework_train::merges::{PairScore, Ties};
use piecework_train::unigram::{self, LearnedUnigram, UnigramResume, UnigramTrainSpec};
use piecework_train::wordpiece::{self, Learner, Merges, Pruning, TopDown, WordPieceTrainSpec};
use piecework_train::{bpe, AlphabetForms, Learned, Resume, StepLog, Trace, TraceSpec};
use serde::Serialize;
use wasm_bindgen::prelude::*;

use crate::errors::thrown;
use crate::json::to_js;
use crate::tokenizer::Tokenizer;

/// The candidates, pieces and changed words of a step that are shown.
const TOP: usize = 12;
/// Unigram: seeds for each entry of the vocabulary.
const SEEDS_PER_ENTRY: usize = 16;
/// The longest word that is drawn well, in characters.
const LONGEST_WORD: usize = 10;
/// The words that show what the normalizer changes.
const EXAMPLES: usize = 3;

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

/// Train on the lines of a text.
///
/// `template` is a tokenizer.json; the result has its stages, its special tokens and the settings of its model, and learned
/// entries instead of the others. The first `steps` steps are reported, Unigram's with the lattice of
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
    let corpus = Corpus::of(text, &template).map_err(thrown)?;
    let word = (learner == "unigram").then(|| word_of(&corpus.counts, word)).flatten();
    let log = StepLog::new(TraceSpec { steps: vec![(1, Some(steps))], top: TOP, word });
    let learned = corpus.learn(learner, vocab_size, &log).map_err(thrown)?;
    let report = to_js(&corpus.report(log.take(), &learned))?;
    let tokenizer = Tokenizer::compile(filled(template, learned), "")?;
    Ok(Training { trace: report, tokenizer })
}

/// The words of a text, and what its template says of them.
struct Corpus {
    counts: Counts,
    special_tokens: Vec<String>,
    /// The characters that the pipeline makes words of their own.
    isolated_characters: Vec<char>,
    normalized: NormalizedWords,
}

/// The words between spaces, and those that the normalizer changes.
#[derive(Serialize)]
struct NormalizedWords {
    words: usize,
    changed: usize,
    examples: Vec<(String, String)>,
}

/// What a learner learned.
enum Entries {
    Merged(Learned),
    Pieces(LearnedUnigram),
}

/// What a page shows of a run.
#[derive(Serialize)]
struct Report<'r> {
    words: Vec<(&'r str, u64)>,
    special_tokens: &'r [String],
    normalized: &'r NormalizedWords,
    #[serde(flatten)]
    trace: Trace,
    vocab: Vec<&'r str>,
    scores: Vec<f64>,
    stopped_early: Option<&'r str>,
}

impl Corpus {
    /// Count the words of the lines of a text.
    fn of(text: &str, template: &TokenizerSpec) -> Result<Self, Error> {
        let splitter = Splitter::new(
            Normalizer::compile(template.normalizer.as_ref())?,
            PreTokenizer::compile(template.pre_tokenizer.as_ref())?,
        );
        let lines: Vec<&str> = text.split(is_line_end).collect();
        let mut counter = WordCounter::new(splitter.clone(), 1, CounterSettings::default());
        counter.add_texts(&lines, 0)?;
        let counts = counter.finish(&GroupWeights::UNIT)?.into_counts()?;
        let special = template.added_tokens.iter().filter(|token| token.special);
        Ok(Self {
            isolated_characters: counts.isolated_characters(&splitter, &[])?,
            counts,
            special_tokens: special.map(|token| token.content.clone()).collect(),
            normalized: normalized_words(&lines, template)?,
        })
    }

    fn learn(&self, learner: &str, vocab_size: usize, log: &StepLog) -> Result<Entries, Error> {
        let merges = |score, ties| Learner::Merges(Merges { score, ties });
        let (learner, alphabet_forms) = match learner {
            "bpe" => return self.learn_bpe(vocab_size, log),
            "unigram" => return self.learn_unigram(vocab_size, log),
            // Published examples print the entries that the corpus has.
            "wordpiece-pmi" => (merges(PairScore::Pmi, Ties::FirstSeen), AlphabetForms::Seen),
            "wordpiece-likelihood" => {
                (merges(PairScore::Likelihood, Ties::SmallestStrings), AlphabetForms::Possible)
            }
            "wordpiece-frequency" => {
                (merges(PairScore::Frequency, Ties::LowestIds), AlphabetForms::Possible)
            }
            "wordpiece-pruning" => (Learner::Pruning(Pruning::default()), AlphabetForms::Possible),
            "wordpiece-top-down" => (Learner::TopDown(TopDown {}), AlphabetForms::Possible),
            _ => {
                let expected =
                    "wordpiece-pruning, wordpiece-pmi, wordpiece-likelihood, wordpiece-frequency, \
                                wordpiece-top-down, bpe or unigram";
                return Err(Error::new(ErrorKind::Argument, "learner", format!("'{learner}'"), expected));
            }
        };
        let spec = WordPieceTrainSpec {
            vocab_size,
            learner,
            min_frequency: 1,
            special_tokens: self.special_tokens.clone(),
            alphabet_forms,
            isolated_characters: self.isolated_characters.clone(),
            ..WordPieceTrainSpec::default()
        };
        wordpiece::resume(&self.counts, &spec, logged(log), &mut go_on).map(Entries::Merged)
    }

    fn learn_bpe(&self, vocab_size: usize, log: &StepLog) -> Result<Entries, Error> {
        let special_tokens = self.special_tokens.clone();
        let spec = bpe::BpeTrainSpec { vocab_size, min_frequency: 1, special_tokens, ..Default::default() };
        bpe::resume(&self.counts, None, &spec, logged(log), &mut go_on).map(Entries::Merged)
    }

    /// Learn `vocab_size` pieces, or as many as the corpus has.
    fn learn_unigram(&self, vocab_size: usize, log: &StepLog) -> Result<Entries, Error> {
        let mut spec = UnigramTrainSpec {
            vocab_size,
            special_tokens: self.special_tokens.clone(),
            seed_size: SEEDS_PER_ENTRY.saturating_mul(vocab_size),
            ..UnigramTrainSpec::default()
        };
        let resume = UnigramResume { pruning: logged(log), ..UnigramResume::default() };
        let mut learned = unigram::resume(&self.counts, &spec, 1, resume, &mut go_on);
        let most = learned.as_ref().err().and_then(Error::limit);
        if let Some(most) = most.filter(|&most| most < vocab_size as u64) {
            spec.vocab_size = most as usize;
            learned = unigram::resume(&self.counts, &spec, 1, resume, &mut go_on);
        }
        learned.map(Entries::Pieces)
    }

    fn report<'r>(&'r self, trace: Trace, learned: &'r Entries) -> Report<'r> {
        let (vocab, scores, stopped_early) = match learned {
            Entries::Merged(learned) => {
                let vocab = learned.vocab.iter().map(String::as_str).collect();
                (vocab, Vec::new(), learned.stopped_early.as_deref())
            }
            Entries::Pieces(learned) => {
                let pieces = learned.pieces.iter();
                let (vocab, scores) = pieces.map(|(piece, score)| (piece.as_str(), *score)).unzip();
                (vocab, scores, None)
            }
        };
        let (words, special_tokens) = (self.counts.iter().collect(), self.special_tokens.as_slice());
        Report { words, special_tokens, normalized: &self.normalized, trace, vocab, scores, stopped_early }
    }
}

fn logged(log: &StepLog) -> Resume<'_> {
    Resume { steps: Some(log), ..Resume::default() }
}

fn go_on(_done: usize, _total: usize) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

/// Return a template with learned entries; special tokens come first, so they keep their ids.
fn filled(mut template: TokenizerSpec, learned: Entries) -> Result<TokenizerSpec, Error> {
    let numbered = |vocab: Vec<String>| -> VocabSpec { vocab.into_iter().zip(0..).collect() };
    match (&mut template.model, learned) {
        (ModelSpec::WordPiece(model), Entries::Merged(learned)) => model.vocab = numbered(learned.vocab),
        (ModelSpec::Bpe(model), Entries::Merged(learned)) => {
            let token = |id: u32| learned.vocab[id as usize].clone();
            let merges = learned.merges.iter().map(|merge| (token(merge.left), token(merge.right)));
            model.merges = merges.collect();
            model.vocab = numbered(learned.vocab);
        }
        (ModelSpec::Unigram(model), Entries::Pieces(learned)) => model.vocab = learned.pieces,
        _ => {
            let expected = "a model of the kind that the learner learns";
            return Err(Error::new(ErrorKind::Argument, "template", "another model", expected));
        }
    }
    Ok(template)
}

/// Return the wanted word if the corpus has it, else the first of the longest words that are drawn well.
fn word_of(counts: &Counts, wanted: Option<String>) -> Option<String> {
    let wanted = wanted.filter(|wanted| counts.iter().any(|(word, _)| word == wanted));
    let length = |word: &str| word.chars().count();
    let longest_of = |most: usize| {
        let words = counts.iter().map(|(word, _)| word).filter(|word| length(word) <= most);
        let longer = |one, other| if length(other) > length(one) { other } else { one };
        words.reduce(longer).map(str::to_owned)
    };
    wanted.or_else(|| longest_of(LONGEST_WORD)).or_else(|| longest_of(usize::MAX))
}

/// Return whether a line ends at a character, as for Python's `splitlines`.
fn is_line_end(c: char) -> bool {
    matches!(c, '\n'..='\r' | '\x1c'..='\x1e' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

fn normalized_words(lines: &[&str], template: &TokenizerSpec) -> Result<NormalizedWords, Error> {
    let stages = TokenizerSpec {
        normalizer: template.normalizer.clone(),
        ..TokenizerSpec::of(template.model.clone())
    };
    let tokenizer = engine::Tokenizer::compile(stages)?;
    let mut seen = HashSet::new();
    let mut found = NormalizedWords { words: 0, changed: 0, examples: Vec::new() };
    for word in lines.iter().flat_map(|line| line.split_whitespace()).filter(|word| seen.insert(*word)) {
        found.words += 1;
        let now = tokenizer.normalize(word)?;
        if now == word {
            continue;
        }
        found.changed += 1;
        if found.examples.len() < EXAMPLES {
            found.examples.push((word.to_owned(), now));
        }
    }
    Ok(found)
}
