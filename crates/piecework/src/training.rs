//! Texts to tokenizers: WordPiece with the pipeline of BERT.

use std::ops::ControlFlow;

use piecework_core::engine;
use piecework_core::error::Error as CoreError;
use piecework_core::spec::{AddedToken, BertNormalizerSpec, NormalizerSpec, PreTokenizerSpec, VocabSpec};
use piecework_core::stages::normalize::Normalizer;
use piecework_core::stages::pretokenize::PreTokenizer;
use piecework_core::stages::split::Splitter;
use piecework_core::threads::processors;
use piecework_formats::vocab_txt;
use piecework_train::Resume;
use piecework_train::count::{CounterSettings, Counts, GroupWeights, WordCounter};
use piecework_train::wordpiece::{WordPieceTrainSpec, resume};

use crate::{Error, ParseSpecial, Tokenizer};

/// The number of texts in memory while their words are counted.
const TEXTS_AT_ONCE: usize = 10_000;

/// The settings of [`Tokenizer::train_from_iterator`].
///
/// The tokenizer has BERT's normalizer, pre-tokenizer and special tokens. The trainer starts from many substrings of the
/// words and removes the one whose removal costs the fewest tokens, until `vocab_size` entries are left. The Python
/// package has the same defaults and learns the same vocabulary.
#[derive(Clone, Debug, PartialEq)]
pub struct WordPieceTrainer {
    settings: WordPieceTrainSpec,
    lowercase: bool,
}

impl WordPieceTrainer {
    /// Return settings that learn `vocab_size` entries, special tokens and single characters included.
    #[must_use]
    pub fn new(vocab_size: usize) -> Self {
        let settings =
            WordPieceTrainSpec { vocab_size, num_threads: processors(), ..WordPieceTrainSpec::default() };
        Self { settings, lowercase: true }
    }

    /// Set the least number of times that a substring occurs to become an entry. It is 2 by default.
    #[must_use]
    pub fn min_frequency(mut self, min_frequency: u64) -> Self {
        self.settings.min_frequency = min_frequency;
        self
    }

    /// Set the most characters of the alphabet; the most frequent ones are kept. By default it has all characters.
    #[must_use]
    pub fn limit_alphabet(mut self, limit_alphabet: usize) -> Self {
        self.settings.limit_alphabet = Some(limit_alphabet);
        self
    }

    /// Set whether the normalizer lowercases texts and strips accents. It does by default.
    #[must_use]
    pub fn lowercase(mut self, lowercase: bool) -> Self {
        self.lowercase = lowercase;
        self
    }

    /// Add a special token after `[PAD]`, `[UNK]`, `[CLS]`, `[SEP]` and `[MASK]`.
    #[must_use]
    pub fn special_token(mut self, token: impl Into<String>) -> Self {
        self.settings.special_tokens.push(token.into());
        self
    }

    /// Set the number of threads, which changes no entry. By default it is the number of CPUs.
    #[must_use]
    pub fn num_threads(mut self, num_threads: usize) -> Self {
        self.settings.num_threads = num_threads.max(1);
        self
    }

    fn splitter(&self) -> Result<Splitter, CoreError> {
        let normalizer = NormalizerSpec::Bert(BertNormalizerSpec::with_lowercase(self.lowercase));
        let pre_tokenizer = PreTokenizer::compile(Some(&PreTokenizerSpec::Bert))?;
        Ok(Splitter::new(Normalizer::compile(Some(&normalizer))?, pre_tokenizer))
    }

    /// Count the words of the texts.
    fn count<T: AsRef<str>>(
        &self,
        mut texts: impl Iterator<Item = T>,
        splitter: &Splitter,
    ) -> Result<Counts, CoreError> {
        let mut counter =
            WordCounter::new(splitter.clone(), self.settings.num_threads, CounterSettings::default());
        loop {
            let held: Vec<T> = texts.by_ref().take(TEXTS_AT_ONCE).collect();
            if held.is_empty() {
                return counter.finish(&GroupWeights::UNIT)?.into_counts();
            }
            counter.add_texts(&held.iter().map(AsRef::as_ref).collect::<Vec<_>>(), 0)?;
        }
    }

    /// Put the stages of BERT around a learned vocabulary.
    fn tokenizer(&self, entries: Vec<String>) -> Result<engine::Tokenizer, CoreError> {
        let vocab: VocabSpec = entries.into_iter().zip(0..).collect();
        let special = vocab.iter().filter(|(token, _)| self.settings.special_tokens.contains(token));
        let added_tokens = special.map(|(token, id)| AddedToken::special(token, *id)).collect();
        let mut spec = vocab_txt::bert(vocab, Some(self.lowercase))?;
        spec.added_tokens = added_tokens;
        engine::Tokenizer::compile(spec)
    }
}

/// # Train
impl Tokenizer {
    /// Learn a WordPiece vocabulary from texts, and return its tokenizer. Memory grows with the number of distinct words,
    /// not with the number of texts.
    ///
    /// ```
    /// use piecework::{Tokenizer, WordPieceTrainer};
    ///
    /// let texts = ["to be or not to be", "to bees"];
    /// let tokenizer = Tokenizer::train_from_iterator(texts, &WordPieceTrainer::new(24))?;
    /// assert!(tokenizer.encode("To be")?.tokens().eq(["[CLS]", "to", "be", "[SEP]"]));
    /// # Ok::<(), piecework::Error>(())
    /// ```
    ///
    /// The vocabulary has fewer entries if the texts have no more substrings that occur often enough. Fails with
    /// [`ErrorKind::Training`](crate::ErrorKind::Training) if the texts contain no words, or if the special tokens and the
    /// characters of the texts are more than `vocab_size`.
    pub fn train_from_iterator<I>(texts: I, trainer: &WordPieceTrainer) -> Result<Self, Error>
    where
        I: IntoIterator<Item: AsRef<str>>,
    {
        let splitter = trainer.splitter()?;
        let counts = trainer.count(texts.into_iter(), &splitter)?;
        let isolated_characters = counts.isolated_characters(&splitter, &[])?;
        let settings = WordPieceTrainSpec { isolated_characters, ..trainer.settings.clone() };
        let learned = resume(&counts, &settings, Resume::default(), &mut |_, _| ControlFlow::Continue(()))?;
        Ok(Self::new(trainer.tokenizer(learned.vocab)?, ParseSpecial::default(), None))
    }
}
