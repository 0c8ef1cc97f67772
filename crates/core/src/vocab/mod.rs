//! Vocabularies: tokens and their ids; `compile` makes them from entries.

mod compile;

use std::hash::Hasher;

use foldhash::fast::FoldHasher;
use foldhash::SharedSeed;
use piecework_kernels::array::{Array, Text};
use rustc_hash::FxHasher;

use crate::error::{shortened, Error, ErrorKind};
use crate::hash_runs::max_run;
use crate::spec::ModelSpec;
use crate::table_sections::{damaged, TableSections};

// The tables of a vocabulary: token to id by hash, id to token by index.
//
// There are three flat arrays, which a compiled cache stores unchanged: the bytes of all tokens, the span of
// each id's token, and a hash table with linear probing that is at most half full. Its hash has no seed unless tokens
// were chosen for long runs of full slots: then the seed is a hash of all tokens, and is stored, too. So equal
// vocabularies have equal tables.

/// The span of an id without a token: its end is before its start.
const GAP: [u32; 2] = [1, 0];
/// A slot without a token.
const EMPTY: [u32; 2] = [0, u32::MAX];
/// The tokens of shorter runs may have equal tags.
const SHORT_RUN: usize = 16;

/// Tokens and their ids; some ids may have no token.
#[derive(Clone, Debug, Default)]
pub struct Vocab {
    text: Text,
    /// By id: the span of its token in `text`.
    spans: Array<[u32; 2]>,
    /// The hash table: upper half of a token's hash, and its id. The number of slots is a power of two.
    slots: Array<[u32; 2]>,
    hash: TokenHash,
    len: usize,
}

impl Vocab {
    /// Return the id of a token.
    #[must_use]
    pub fn id_of(&self, token: &str) -> Option<u32> {
        find(&self.slots, &self.spans, &self.text, token, self.hash.of(token)).ok()
    }

    /// Return the token of an id.
    #[must_use]
    pub fn token_of(&self, id: u32) -> Option<&str> {
        let [start, end] = *self.spans.get(id as usize)?;
        self.text.get(start as usize..end as usize)
    }

    /// Return the least number above all ids.
    #[must_use]
    pub fn id_bound(&self) -> usize {
        self.spans.len()
    }

    /// Return the number of tokens.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Return whether there are no tokens.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Iterate over tokens and ids in the order of ids.
    pub fn iter(&self) -> impl Iterator<Item = (&str, u32)> {
        (0..self.spans.len() as u32).filter_map(|id| Some((self.token_of(id)?, id)))
    }

    /// Return the id of a token; fails if the vocabulary does not contain it. `field` is the field of the error.
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

/// Return the id of a token, or the slot where it would be inserted.
#[inline]
fn find(slots: &[[u32; 2]], spans: &[[u32; 2]], text: &str, token: &str, hash: u64) -> Result<u32, usize> {
    let mask = slots.len().wrapping_sub(1);
    let mut slot = hash as usize & mask;
    // At least half of the slots are empty; the bound ends the search in a damaged table as well.
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

/// Return whether no lookup reads many slots or compares its token with many: runs of full slots are short, and the tokens
/// of all but the shortest runs differ in their tags. A run with more slots than `SHORT_RUN` has one at a multiple of it.
fn has_short_runs(slots: &[[u32; 2]], tokens: usize) -> bool {
    let (mask, max_run) = (slots.len() - 1, max_run(slots.len(), tokens));
    let is_full = |at: usize| slots[at & mask][1] != EMPTY[1];
    (0..slots.len()).step_by(SHORT_RUN).filter(|&at| is_full(at)).all(|at| {
        let before = (1..=max_run).take_while(|&distance| is_full(at.wrapping_sub(distance))).count();
        let after = (1..=max_run).take_while(|&distance| is_full(at + distance)).count();
        let (start, len) = (at.wrapping_sub(before), before + 1 + after);
        let tag = |number: usize| slots[start.wrapping_add(number) & mask][0];
        let is_new = |number: usize| (0..number).all(|other| tag(other) != tag(number));
        len <= SHORT_RUN || (len <= max_run && (1..len).all(is_new))
    })
}

/// The hash function of a table: without a seed, or with one.
#[derive(Clone, Debug, Default)]
struct TokenHash(Option<Box<(u64, SharedSeed)>>);

impl TokenHash {
    /// Return the hash function with a seed; 0 is none.
    fn with_seed(seed: u64) -> Self {
        Self((seed != 0).then(|| Box::new((seed, SharedSeed::from_u64(seed)))))
    }

    /// Return the seed; 0 is none.
    fn seed(&self) -> u64 {
        self.0.as_ref().map_or(0, |seeded| seeded.0)
    }

    /// Return the hash of a token.
    #[inline]
    fn of(&self, token: &str) -> u64 {
        if let Some(seeded) = &self.0 {
            return seeded_hash(seeded, token);
        }
        let mut hasher = FxHasher::default();
        hasher.write(token.as_bytes());
        hasher.finish()
    }
}

#[cold]
fn seeded_hash((seed, shared): &(u64, SharedSeed), token: &str) -> u64 {
    let mut hasher = FoldHasher::with_seed(*seed, shared);
    hasher.write(token.as_bytes());
    hasher.finish()
}

/// The names of the table sections.
const TEXT: &str = "vocab.text";
const SPANS: &str = "vocab.spans";
const SLOTS: &str = "vocab.slots";
const SEED: &str = "vocab.seed";

impl Vocab {
    /// Add the tables as sections.
    pub fn store(&self, sections: &mut TableSections) {
        sections.put(TEXT, self.text.bytes());
        sections.put(SPANS, &self.spans);
        sections.put(SLOTS, &self.slots);
        if self.hash.seed() != 0 {
            sections.put(SEED, &Array::from(vec![self.hash.seed()]));
        }
    }

    /// Restore a vocabulary from its sections; check them in time linear in the vocabulary.
    pub fn restore(sections: &TableSections) -> Result<Self, Error> {
        let text = Text::new(sections.get(TEXT)?).map_err(|error| damaged(TEXT, error.to_string()))?;
        let (spans, slots) = (sections.get::<[u32; 2]>(SPANS)?, sections.get::<[u32; 2]>(SLOTS)?);
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
        let seeds = if sections.has(SEED) { sections.get(SEED)? } else { Array::from(vec![0]) };
        let [seed] = *seeds else { return Err(damaged(SEED, format!("{} numbers", seeds.len()))) };
        // Whoever forges a cache chooses the seed as well.
        if !has_short_runs(&slots, len) {
            return Err(damaged(SLOTS, "a long run of full slots"));
        }
        let vocab = Self { text, spans, slots, hash: TokenHash::with_seed(seed), len };
        match vocab.is_found() {
            true => Ok(vocab),
            false => Err(damaged(SLOTS, "a hash table of other tokens")),
        }
    }

    /// Return whether the hash table contains every token once. Its runs of full slots are short.
    fn is_found(&self) -> bool {
        let mask = self.slots.len().wrapping_sub(1);
        let mut tokens = 0;
        for (token, id) in self.iter() {
            let hash = self.hash.of(token);
            let mut slot = hash as usize & mask;
            loop {
                let [tag, other] = self.slots[slot];
                let is_tagged = tag == (hash >> 32) as u32;
                if other == id && is_tagged {
                    break;
                }
                let is_twice = is_tagged && self.token_of(other) == Some(token);
                if other == EMPTY[1] || is_twice {
                    return false;
                }
                slot = (slot + 1) & mask;
            }
            tokens += 1;
        }
        tokens == self.len
    }
}

/// The largest id; tables are indexed by id.
pub(crate) const MAX_ID: u32 = (1 << 28) - 1;

/// Return the largest id that one of `tokens` tokens may have: tables of mostly unused ids would not fit in memory.
pub(crate) fn max_id_of(tokens: usize) -> u32 {
    (1_000_000 + 16 * tokens).min(MAX_ID as usize) as u32
}

/// The length of the longest token, in bytes. Tables of prefixes take about fifty bytes a byte of a token.
pub const MAX_TOKEN_BYTES: usize = 1 << 20;

/// The most bytes of all tokens together, for models with tables of prefixes.
pub(crate) const MAX_VOCAB_BYTES: usize = 64 << 20;

/// Reject tokens and vocabularies whose tables would not fit in memory.
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

/// Reject tokens longer than [`MAX_TOKEN_BYTES`], and tokens of more than `max` bytes together.
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

/// Return the error for a token at `place` of more than [`MAX_TOKEN_BYTES`].
#[must_use]
pub fn token_too_long(place: impl Into<String>, len: usize) -> Error {
    let found = format!("a token of {len} bytes");
    Error::new(ErrorKind::Vocabulary, place, found, format!("at most {MAX_TOKEN_BYTES} bytes"))
}
