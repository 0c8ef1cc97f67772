//! The compiled tokenizer: every stage in the order of the data. The only module that names them all.

mod words;

use rustc_hash::FxHashMap;

use crate::decode::Decoder;
use crate::encoding::{self, Encoding, Token};
use crate::error::{Error, ErrorKind};
use crate::memo::Memo;
use crate::model::{Model, ModelScratch, Piece};
use crate::normalize::Normalizer;
use crate::postprocess::PostProcessor;
use crate::pretokenize::PreTokenizer;
use crate::spec::{AddedToken, ModelSpec, Padding, TokenizerSpec, Truncation};
use crate::special::{Segment, SpecialTokens};
use crate::text::{Aligned, CharIndex};
use crate::vocab::Vocab;

use words::WordIds;
pub use words::{Splitter, WordSink};

/// A compiled tokenizer: immutable, shared by all threads.
#[derive(Clone, Debug)]
pub struct Pipeline {
    special: SpecialTokens,
    splitter: Splitter,
    model: Model,
    model_spec: ModelSpec,
    vocab: Vocab,
    post_processor: PostProcessor,
    decoder: Decoder,
    added: FxHashMap<u32, String>,
    added_ids: FxHashMap<String, u32>,
    truncation: Option<Truncation>,
    padding: Option<Padding>,
    seeded_memo: Memo,
}

/// What one thread works with; made by [`Pipeline::scratch`].
#[derive(Clone, Debug)]
pub struct Scratch {
    memo: Memo,
    model: ModelScratch,
    normalized: String,
    aligned: Aligned,
    first: Vec<u32>,
    second: Vec<u32>,
    pieces: Vec<Piece>,
}

/// The longest that a single text may be made by padding, in tokens.
const MAX_PADDED: usize = 1 << 24;

const MEMO_BITS: u32 = 16;

impl Pipeline {
    /// Check a specification and build every table.
    pub fn compile(spec: &TokenizerSpec) -> Result<Self, Error> {
        let vocab = Vocab::compile(spec.model.vocab())?;
        check_added_tokens(&spec.added_tokens, &vocab)?;
        let post_processor = PostProcessor::compile(spec.post_processor.as_ref())?;
        if let Some(truncation) = &spec.truncation {
            check_truncation(truncation, &post_processor)?;
        }
        if let Some(padding) = &spec.padding {
            check_padding(padding)?;
        }
        let added = spec.added_tokens.iter().map(|token| (token.id, token.content.clone()));
        let mut pipeline = Self {
            special: SpecialTokens::compile(&spec.added_tokens)?,
            splitter: Splitter::new(
                Normalizer::compile(spec.normalizer.as_ref()),
                PreTokenizer::compile(spec.pre_tokenizer.as_ref()),
            ),
            model: Model::compile(&spec.model, &vocab)?,
            model_spec: spec.model.clone(),
            added_ids: added.clone().map(|(id, content)| (content, id)).collect(),
            added: added.collect(),
            vocab,
            post_processor,
            decoder: Decoder::compile(spec.decoder.as_ref()),
            truncation: spec.truncation.clone(),
            padding: spec.padding.clone(),
            seeded_memo: Memo::with_bits(MEMO_BITS),
        };
        pipeline.seed_memo();
        Ok(pipeline)
    }

    /// The specification it was compiled from.
    #[must_use]
    pub fn spec(&self) -> TokenizerSpec {
        TokenizerSpec {
            truncation: self.truncation.clone(),
            padding: self.padding.clone(),
            added_tokens: self.special.tokens().to_vec(),
            normalizer: self.splitter.normalizer().spec(),
            pre_tokenizer: self.splitter.pre_tokenizer().spec(),
            post_processor: self.post_processor.spec(),
            decoder: self.decoder.spec(),
            model: self.model_spec.clone(),
        }
    }

    /// Working memory for one thread.
    #[must_use]
    pub fn scratch(&self) -> Scratch {
        Scratch {
            memo: self.seeded_memo.clone(),
            model: ModelScratch::default(),
            normalized: String::new(),
            aligned: Aligned::default(),
            first: Vec::new(),
            second: Vec::new(),
            pieces: Vec::new(),
        }
    }

    /// The words that normalization and pre-tokenization make.
    #[must_use]
    pub fn splitter(&self) -> &Splitter {
        &self.splitter
    }

    /// The vocabulary of the model.
    #[must_use]
    pub fn vocab(&self) -> &Vocab {
        &self.vocab
    }

    /// Added tokens in their order.
    #[must_use]
    pub fn added_tokens(&self) -> &[AddedToken] {
        self.special.tokens()
    }

    /// How encodings are filled.
    #[must_use]
    pub fn padding(&self) -> Option<&Padding> {
        self.padding.as_ref()
    }

    /// Whether rows can hold type ids other than 0.
    #[must_use]
    pub fn has_type_ids(&self, is_pair: bool) -> bool {
        self.post_processor.has_type_ids(is_pair)
    }

    /// The id of a token, added tokens first.
    #[must_use]
    pub fn id_of(&self, token: &str) -> Option<u32> {
        self.added_ids.get(token).copied().or_else(|| self.vocab.id_of(token))
    }

    /// The token of an id, added tokens first.
    #[must_use]
    pub fn token_of(&self, id: u32) -> Option<&str> {
        self.added.get(&id).map(String::as_str).or_else(|| self.vocab.token_of(id))
    }

    /// Append the ids of one text, without template and truncation.
    pub fn ids_into(&self, text: &str, scratch: &mut Scratch, out: &mut Vec<u32>) {
        let Scratch { memo, model, normalized, .. } = scratch;
        let mut words = WordIds::new(&self.model, &self.vocab, memo, model, out);
        self.special.split(text, |segment| match segment {
            Segment::Token(id, ..) => words.push(id),
            Segment::Text(start, end) => {
                self.splitter.run(&text[start..end], normalized, &mut words);
            }
        });
        words.finish();
    }

    /// Append the ids of one text or pair as `encode` gives them, and their type ids where wanted.
    pub fn row_into(
        &self,
        text: &str,
        pair: Option<&str>,
        add_special_tokens: bool,
        scratch: &mut Scratch,
        ids: &mut Vec<u32>,
        mut type_ids: Option<&mut Vec<u8>>,
    ) -> Result<(), Error> {
        let mut first = std::mem::take(&mut scratch.first);
        let mut second = std::mem::take(&mut scratch.second);
        first.clear();
        second.clear();
        self.ids_into(text, scratch, &mut first);
        if let Some(pair) = pair {
            self.ids_into(pair, scratch, &mut second);
        }
        let cut = self.truncate_ids(&mut first, pair.is_some().then_some(&mut second), add_special_tokens);
        let second_ids = pair.is_some().then_some(second.as_slice());
        self.post_processor.frame_ids(&first, second_ids, add_special_tokens, |run, type_id| {
            ids.extend_from_slice(run);
            if let Some(type_ids) = &mut type_ids {
                type_ids.extend(std::iter::repeat_n(type_id as u8, run.len()));
            }
        });
        (scratch.first, scratch.second) = (first, second);
        cut
    }

    /// Encode one text or pair with every field.
    pub fn encode(
        &self,
        text: &str,
        pair: Option<&str>,
        add_special_tokens: bool,
        scratch: &mut Scratch,
    ) -> Result<Encoding, Error> {
        let mut sequences = vec![self.sequence(text, 0, scratch)];
        sequences.extend(pair.map(|pair| self.sequence(pair, 1, scratch)));
        if let Some(truncation) = &self.truncation {
            let reserved = self.reserved(pair.is_some(), add_special_tokens);
            let (first, rest) = sequences.split_at_mut(1);
            if !encoding::truncate(&mut first[0], rest.first_mut(), truncation, reserved) {
                return Err(too_short(truncation));
            }
        }
        let mut framed = self.post_processor.frame(&sequences, add_special_tokens);
        if let Some(padding) = &self.padding {
            framed.pad(encoding::padded_length(framed.tokens.len(), padding), padding);
        }
        Ok(framed)
    }

    /// Turn ids into text; ids of nothing are skipped.
    #[must_use]
    pub fn decode(&self, ids: &[u32], skip_special_tokens: bool, clean_up: Option<bool>) -> String {
        let kept = ids.iter().filter(|&&id| !(skip_special_tokens && self.special.is_special(id)));
        self.decoder.run(kept.filter_map(|&id| self.token_of(id)), clean_up)
    }

    /// One text as tokens with character spans, before truncation and template.
    fn sequence(&self, text: &str, index: u32, scratch: &mut Scratch) -> Encoding {
        let chars = CharIndex::new(text);
        let mut tokens = Vec::new();
        let mut word = 0;
        let mut push = |id: u32, source: (u32, u32), word: u32| {
            tokens.push(Token {
                id,
                type_id: index,
                start: chars.chars_before(source.0),
                end: chars.chars_before(source.1),
                word,
                sequence: index,
                special: false,
                attention: true,
            });
        };
        let Scratch { model, aligned, pieces, .. } = scratch;
        self.special.split(text, |segment| match segment {
            Segment::Token(id, start, end) => {
                push(id, (start as u32, end as u32), word);
                word += 1;
            }
            Segment::Text(start, end) => {
                aligned.clear();
                self.splitter.normalizer().run(&text[start..end], start as u32, aligned);
                self.splitter.pre_tokenizer().run(aligned.text(), |from, to| {
                    pieces.clear();
                    self.model.run(&aligned.text()[from..to], &self.vocab, model, pieces);
                    for piece in pieces.iter() {
                        let span = (from + piece.start as usize, from + piece.end as usize);
                        push(piece.id, aligned.source_of(span.0, span.1), word);
                    }
                    word += 1;
                });
            }
        });
        Encoding::new(tokens)
    }

    fn truncate_ids(
        &self,
        first: &mut Vec<u32>,
        second: Option<&mut Vec<u32>>,
        add_special_tokens: bool,
    ) -> Result<(), Error> {
        let Some(truncation) = &self.truncation else { return Ok(()) };
        let reserved = self.reserved(second.is_some(), add_special_tokens);
        let max = truncation.max_length.saturating_sub(reserved);
        let second_len = second.as_ref().map(|ids| ids.len());
        let kept = encoding::kept_lengths(first.len(), second_len, max, truncation.strategy)
            .ok_or_else(|| too_short(truncation))?;
        cut(first, kept.0, truncation);
        if let Some(second) = second {
            cut(second, kept.1, truncation);
        }
        Ok(())
    }

    fn reserved(&self, is_pair: bool, add_special_tokens: bool) -> usize {
        if add_special_tokens {
            self.post_processor.inserted(is_pair)
        } else {
            0
        }
    }

    /// Segment every entry that can be a whole word, most frequent (lowest id) last so that it stays.
    fn seed_memo(&mut self) {
        let mut memo = std::mem::replace(&mut self.seeded_memo, Memo::with_bits(1));
        let mut scratch = ModelScratch::default();
        let mut ids = Vec::new();
        let mut words = WordIds::new(&self.model, &self.vocab, &mut memo, &mut scratch, &mut ids);
        let entries: Vec<&str> = self.vocab.iter().map(|(token, _)| token).collect();
        for word in entries.into_iter().rev().filter(|token| !token.is_empty()) {
            words.word(word, 0);
        }
        words.finish();
        self.seeded_memo = memo;
    }
}

fn cut(ids: &mut Vec<u32>, kept: usize, truncation: &Truncation) {
    match truncation.direction {
        crate::spec::Direction::Right => ids.truncate(kept),
        crate::spec::Direction::Left => drop(ids.drain(..ids.len() - kept)),
    }
}

fn too_short(truncation: &Truncation) -> Error {
    let found = format!("{:?} and a sequence too short to be cut that far", truncation.strategy);
    Error::new(ErrorKind::Argument, "truncation.strategy", found, "longest_first, or a longer sequence")
}

fn check_added_tokens(tokens: &[AddedToken], vocab: &Vocab) -> Result<(), Error> {
    for (at, token) in tokens.iter().enumerate() {
        let place = format!("added_tokens[{at}]");
        match (vocab.id_of(&token.content), vocab.token_of(token.id)) {
            (Some(id), _) if id != token.id => {
                let found = format!("{:?} with id {}", token.content, token.id);
                let expected = format!("id {id}, which it has in the vocabulary");
                return Err(Error::new(ErrorKind::Vocabulary, place, found, expected));
            }
            (None, Some(other)) => {
                let found = format!("{:?} with id {}", token.content, token.id);
                let expected = format!("another id: this one is {other:?} in the vocabulary");
                return Err(Error::new(ErrorKind::Vocabulary, place, found, expected));
            }
            _ => {}
        }
        if token.id > crate::vocab::MAX_ID {
            let found = format!("id {}", token.id);
            return Err(Error::new(ErrorKind::Vocabulary, place, found, "a smaller id"));
        }
    }
    Ok(())
}

fn check_padding(padding: &Padding) -> Result<(), Error> {
    let sizes = [
        ("padding.strategy.Fixed", padding.length),
        ("padding.pad_to_multiple_of", padding.pad_to_multiple_of),
    ];
    match sizes.into_iter().find(|(_, size)| size.is_some_and(|size| size > MAX_PADDED)) {
        Some((place, size)) => {
            let found = size.unwrap_or_default().to_string();
            Err(Error::new(ErrorKind::Argument, place, found, format!("at most {MAX_PADDED} tokens")))
        }
        None => Ok(()),
    }
}

fn check_truncation(truncation: &Truncation, post_processor: &PostProcessor) -> Result<(), Error> {
    let reserved = post_processor.inserted(false);
    let room = truncation.max_length.checked_sub(reserved);
    let Some(room) = room else {
        let expected = format!("at least {reserved}, the special tokens alone");
        let found = truncation.max_length.to_string();
        return Err(Error::new(ErrorKind::Argument, "truncation.max_length", found, expected));
    };
    if truncation.stride > 0 && truncation.stride >= room {
        let expected = format!("less than {room}, the tokens left beside the special ones");
        let found = truncation.stride.to_string();
        return Err(Error::new(ErrorKind::Argument, "truncation.stride", found, expected));
    }
    Ok(())
}
