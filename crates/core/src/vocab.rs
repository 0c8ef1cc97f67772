//! A compiled vocabulary: token to id by hash, id to token by index.
//!
//! All of it is three plain arrays, which a file can hold as they are: the tokens one after another, the
//! span of each id's token, and a hash table with linear probing, at most half full.

use std::hash::Hasher;

use piecework_kernels::array::{Array, Text};
use rustc_hash::{FxBuildHasher, FxHashMap, FxHasher};

use crate::error::{shortened, Error, ErrorKind};
use crate::spec::ModelSpec;
use crate::table_sections::{damaged, TableSections};

/// The largest id a vocabulary may hold; tables are indexed by id.
pub const MAX_ID: u32 = (1 << 28) - 1;

/// The longest token, in bytes. Tables for prefixes take some fifty bytes for each byte of a token.
pub const MAX_TOKEN_BYTES: usize = 1 << 20;

/// The most bytes that all tokens of a model with such tables may have together.
pub const MAX_VOCAB_BYTES: usize = 64 << 20;

/// The span of an id without token, whose end is before its start.
const GAP: [u32; 2] = [1, 0];
const EMPTY: [u32; 2] = [0, u32::MAX];
/// How many slots are looked at for a token that is found, on average, at the most; mostly it is one or two.
const PROBES: usize = 32;

/// The names of the tables where they are taken apart.
const TEXT: &str = "vocab.text";
const SPANS: &str = "vocab.spans";
const SLOTS: &str = "vocab.slots";

/// Tokens and their ids; ids may have gaps.
#[derive(Clone, Debug, Default)]
pub struct Vocab {
    text: Text,
    /// Where each id's token begins and ends in `text`.
    spans: Array<[u32; 2]>,
    /// The upper half of a token's hash, and its id; a power of two of them.
    slots: Array<[u32; 2]>,
    len: usize,
}

impl Vocab {
    /// Compile (token, id) entries; duplicate tokens or ids and far-off ids are errors.
    pub fn compile(entries: &[(String, u32)]) -> Result<Self, Error> {
        Self::of(entries.iter().map(|(token, id)| (token.as_str(), *id)))
    }

    /// Compile the entries of a model; errors name the place in its specification.
    pub fn of_model(spec: &ModelSpec) -> Result<Self, Error> {
        check_sizes(spec)?;
        let in_order = |vocab: &[(String, u32)]| Self::compile(vocab);
        let compiled = match spec {
            ModelSpec::WordPiece(spec) => in_order(&spec.vocab),
            ModelSpec::Word(spec) => in_order(&spec.vocab),
            ModelSpec::Char(spec) => in_order(&spec.vocab),
            ModelSpec::Bpe(spec) => in_order(&spec.vocab),
            ModelSpec::Unigram(spec) => {
                return of_list(spec.vocab.iter().map(|(token, _)| token.as_str()), "model.vocab");
            }
            ModelSpec::SentencePiece(spec) => {
                return of_list(spec.pieces.iter().map(|piece| piece.text.as_str()), "model.pieces");
            }
        };
        compiled.map_err(|error| Error { place: "model.vocab".into(), ..error })
    }

    fn of<'e>(entries: impl ExactSizeIterator<Item = (&'e str, u32)> + Clone) -> Result<Self, Error> {
        let highest = entries.clone().map(|(_, id)| id).max();
        let room = 1_000_000 + 16 * entries.len();
        if let Some(id) = highest.filter(|&id| id > MAX_ID || id as usize > room) {
            let expected = format!("ids below {}", room.min(MAX_ID as usize));
            return Err(Error::new(ErrorKind::Vocabulary, "vocab", format!("id {id}"), expected));
        }
        let bytes: usize = entries.clone().map(|(token, _)| token.len()).sum();
        if u32::try_from(bytes).is_err() {
            return Err(Error::new(ErrorKind::Vocabulary, "vocab", "over 4 GiB of tokens", "less"));
        }
        let mut builder = Builder {
            text: String::with_capacity(bytes),
            spans: vec![GAP; highest.map_or(0, |id| id as usize + 1)],
            slots: vec![EMPTY; (2 * entries.len()).next_power_of_two()],
        };
        let len = entries.len();
        entries.into_iter().try_for_each(|(token, id)| builder.insert(token, id))?;
        let Builder { text, spans, slots } = builder;
        Ok(Self { text: text.into(), spans: spans.into(), slots: slots.into(), len })
    }

    /// Take the tables apart.
    pub fn store(&self, parts: &mut TableSections) {
        parts.put(TEXT, self.text.bytes());
        parts.put(SPANS, &self.spans);
        parts.put(SLOTS, &self.slots);
    }

    /// Put the tables together again; the time goes into checking them.
    pub fn restore(parts: &TableSections) -> Result<Self, Error> {
        let text = Text::new(parts.get(TEXT)?).map_err(|error| damaged(TEXT, error.to_string()))?;
        let (spans, slots) = (parts.get::<[u32; 2]>(SPANS)?, parts.get::<[u32; 2]>(SLOTS)?);
        let is_token = |&[start, end]: &[u32; 2]| text.get(start as usize..end as usize).is_some();
        if let Some(span) = spans.iter().find(|&span| *span != GAP && !is_token(span)) {
            return Err(damaged(SPANS, format!("{span:?}")));
        }
        let is_slot = |&[_, id]: &[u32; 2]| id == EMPTY[1] || (id as usize) < spans.len();
        let len = slots.iter().filter(|slot| slot[1] != EMPTY[1]).count();
        let has_room = slots.len().is_power_of_two() && 2 * len <= slots.len().max(1);
        if !has_room || !slots.iter().all(is_slot) || spans.len() > MAX_ID as usize + 1 {
            return Err(damaged(SLOTS, format!("{} slots for {} ids", slots.len(), spans.len())));
        }
        let vocab = Self { text, spans, slots, len };
        match vocab.is_found() {
            true => Ok(vocab),
            false => Err(damaged(SLOTS, "a hash table of other tokens")),
        }
    }

    /// Whether the hash table has every token once, not far behind the slot that its hash names.
    fn is_found(&self) -> bool {
        let mask = self.slots.len().wrapping_sub(1);
        let mut probes = PROBES + PROBES * self.len;
        let mut tokens = 0;
        for (token, id) in self.iter() {
            let hash = hash(token);
            let mut slot = hash as usize & mask;
            loop {
                let [tag, other] = self.slots[slot];
                let is_tagged = tag == (hash >> 32) as u32;
                if other == id && is_tagged {
                    break;
                }
                let is_twice = is_tagged && self.token_of(other) == Some(token);
                if other == EMPTY[1] || is_twice || probes == 0 {
                    return false;
                }
                probes -= 1;
                slot = (slot + 1) & mask;
            }
            tokens += 1;
        }
        tokens == self.len
    }

    /// The id of a token.
    #[must_use]
    pub fn id_of(&self, token: &str) -> Option<u32> {
        find(&self.slots, &self.spans, &self.text, token, hash(token)).ok()
    }

    /// The token of an id.
    #[must_use]
    pub fn token_of(&self, id: u32) -> Option<&str> {
        let [start, end] = *self.spans.get(id as usize)?;
        self.text.get(start as usize..end as usize)
    }

    /// All ids are below.
    #[must_use]
    pub fn id_bound(&self) -> usize {
        self.spans.len()
    }

    /// Number of tokens.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is no token.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Tokens and ids, by id.
    pub fn iter(&self) -> impl Iterator<Item = (&str, u32)> {
        (0..self.spans.len() as u32).filter_map(|id| Some((self.token_of(id)?, id)))
    }

    /// The id of a token that the vocabulary must have.
    pub fn require(&self, token: &str, field: &str) -> Result<u32, Error> {
        self.id_of(token).ok_or_else(|| {
            Error::new(
                ErrorKind::Vocabulary,
                field,
                format!("{token:?}, which is not in the vocabulary"),
                "an entry of the vocabulary",
            )
        })
    }
}

/// The tables while they are made.
struct Builder {
    text: String,
    spans: Vec<[u32; 2]>,
    slots: Vec<[u32; 2]>,
}

impl Builder {
    fn insert(&mut self, token: &str, id: u32) -> Result<(), Error> {
        let hash = hash(token);
        let slot = match find(&self.slots, &self.spans, &self.text, token, hash) {
            Err(slot) => slot,
            Ok(other) => {
                let found = format!("{token:?} twice, as {other} and {id}");
                return Err(Error::new(ErrorKind::Vocabulary, "vocab", found, "each token once"));
            }
        };
        let span = &mut self.spans[id as usize];
        if *span != GAP {
            let other = &self.text[span[0] as usize..span[1] as usize];
            let found = format!("id {id} twice, for {other:?} and {token:?}");
            return Err(Error::new(ErrorKind::Vocabulary, "vocab", found, "each id once"));
        }
        let start = self.text.len() as u32;
        self.text.push_str(token);
        *span = [start, self.text.len() as u32];
        self.slots[slot] = [(hash >> 32) as u32, id];
        Ok(())
    }
}

/// The id of a token, or the slot where it would stand.
#[inline]
fn find(slots: &[[u32; 2]], spans: &[[u32; 2]], text: &str, token: &str, hash: u64) -> Result<u32, usize> {
    let mask = slots.len().wrapping_sub(1);
    let mut slot = hash as usize & mask;
    // At least half of the slots are empty; a table that is not made so ends the search as well.
    for _ in 0..slots.len() {
        let [tag, id] = slots[slot];
        if id == EMPTY[1] {
            return Err(slot);
        }
        if tag == (hash >> 32) as u32 {
            let [start, end] = spans[id as usize];
            if text.as_bytes().get(start as usize..end as usize) == Some(token.as_bytes()) {
                return Ok(id);
            }
        }
        slot = (slot + 1) & mask;
    }
    Err(0)
}

/// Refuse tokens and vocabularies whose tables would not fit in memory.
fn check_sizes(spec: &ModelSpec) -> Result<(), Error> {
    let of_entries = |vocab: &[(String, u32)], max| {
        let lens = vocab.iter().map(|(token, _)| token.len());
        check_lens(lens, max, |at| format!("model.vocab[{:?}]", shortened(&vocab[at].0)))
    };
    match spec {
        ModelSpec::WordPiece(spec) => of_entries(&spec.vocab, MAX_VOCAB_BYTES),
        ModelSpec::Bpe(spec) => of_entries(&spec.vocab, MAX_VOCAB_BYTES),
        ModelSpec::Word(spec) => of_entries(&spec.vocab, usize::MAX),
        ModelSpec::Char(spec) => of_entries(&spec.vocab, usize::MAX),
        ModelSpec::Unigram(spec) => {
            let lens = spec.vocab.iter().map(|(token, _)| token.len());
            check_lens(lens, MAX_VOCAB_BYTES, |at| format!("model.vocab[{at}]"))
        }
        ModelSpec::SentencePiece(spec) => {
            let lens = spec.pieces.iter().map(|piece| piece.text.len());
            check_lens(lens, MAX_VOCAB_BYTES, |at| format!("model.pieces[{at}]"))
        }
    }
}

/// Refuse a token of more than [`MAX_TOKEN_BYTES`], and tokens of more than `max` bytes together.
pub(crate) fn check_lens(
    lens: impl Iterator<Item = usize>,
    max: usize,
    place_of: impl Fn(usize) -> String,
) -> Result<(), Error> {
    let mut total = 0_usize;
    for (at, len) in lens.enumerate() {
        if len > MAX_TOKEN_BYTES {
            return Err(token_too_long(place_of(at), len));
        }
        total += len;
        if total > max {
            let found = format!("over {max} bytes of tokens up to here");
            return Err(Error::new(ErrorKind::Vocabulary, place_of(at), found, "a smaller vocabulary"));
        }
    }
    Ok(())
}

/// The error for a token at `place` of more than [`MAX_TOKEN_BYTES`].
#[must_use]
pub fn token_too_long(place: impl Into<String>, len: usize) -> Error {
    let found = format!("a token of {len} bytes");
    Error::new(ErrorKind::Vocabulary, place, found, format!("at most {MAX_TOKEN_BYTES} bytes"))
}

/// Compile a list, in which each entry's id is its position: an entry that is there twice is named by both.
fn of_list<'t>(
    entries: impl ExactSizeIterator<Item = &'t str> + Clone,
    place: &str,
) -> Result<Vocab, Error> {
    let numbered = entries.clone().enumerate().map(|(at, token)| (token, at as u32));
    Vocab::of(numbered).map_err(|error| match repeated(entries) {
        Some((token, first, at)) => {
            let (place, found) = (format!("{place}[{at}]"), format!("{token:?} as in [{first}]"));
            Error::new(ErrorKind::Vocabulary, place, found, "each token once")
        }
        None => Error { place: "model.vocab".into(), ..error },
    })
}

/// The first entry of a list that equals one before it, and both positions.
fn repeated<'t>(entries: impl ExactSizeIterator<Item = &'t str>) -> Option<(&'t str, usize, usize)> {
    let mut first_at = FxHashMap::with_capacity_and_hasher(entries.len(), FxBuildHasher);
    entries.enumerate().find_map(|(at, token)| Some((token, first_at.insert(token, at)?, at)))
}

fn hash(token: &str) -> u64 {
    let mut hasher = FxHasher::default();
    hasher.write(token.as_bytes());
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::UnigramSpec;

    #[test]
    fn finds_tokens_and_ids_across_gaps() {
        let vocab = Vocab::compile(&[("a".into(), 0), ("b".into(), 5)]).unwrap();
        assert_eq!((vocab.id_of("b"), vocab.token_of(5), vocab.token_of(3)), (Some(5), Some("b"), None));
        assert_eq!(vocab.iter().collect::<Vec<_>>(), [("a", 0), ("b", 5)]);
    }

    #[test]
    fn refuses_duplicates_and_far_ids() {
        assert!(Vocab::compile(&[("a".into(), 0), ("a".into(), 1)]).is_err());
        assert!(Vocab::compile(&[("a".into(), 0), ("b".into(), 0)]).is_err());
        assert!(Vocab::compile(&[("a".into(), u32::MAX)]).is_err());
    }

    #[test]
    fn names_the_entry_of_a_list_that_is_there_twice() {
        let vocab = ["a", "b", "a"].map(|token| (token.to_string(), 0.0)).to_vec();
        let spec = UnigramSpec { vocab, unk_id: None, byte_fallback: false };
        let error = Vocab::of_model(&ModelSpec::Unigram(spec)).unwrap_err();
        assert_eq!(error.to_string(), r#"model.vocab[2]: found "a" as in [0], expected each token once"#);
    }
}
