//! Compilation of a vocabulary from entries.

use std::hash::{BuildHasher, Hasher, RandomState};

use foldhash::{HashMap, HashMapExt};
use piecework_kernels::prefetch::prefetch_read;

use super::limits::{check_lens, check_sizes, max_id_of, MAX_VOCAB_BYTES};
use super::table::{find, hash, Vocab, EMPTY, GAP};
use crate::error::{Error, ErrorKind};
use crate::spec::ModelSpec;

/// The number of tokens whose slots are prefetched together.
const GROUP: usize = 16;
/// A token that would be further from its slot gives the table a random seed. Only tokens that were chosen for it are
/// that far.
const MAX_DISTANCE: usize = 256;

impl Vocab {
    /// Compile (token, id) entries; fails for duplicate tokens or ids, and for ids far above their number.
    pub fn compile(entries: &[(String, u32)]) -> Result<Self, Error> {
        Self::of(&entries.iter().map(|(token, id)| (token.as_str(), *id)))
    }

    /// Compile the printable tokens of a byte-level model with their ids; the errors are those of [`Vocab::of_model`].
    pub fn of_tokens<'e>(
        entries: &(impl ExactSizeIterator<Item = (&'e str, u32)> + Clone),
    ) -> Result<Self, Error> {
        let place = |at: usize| format!("model.vocab[{at}]");
        check_lens(entries.clone().map(|(token, _)| token.len()), MAX_VOCAB_BYTES, place)?;
        Self::of(entries).map_err(|error| Error { place: "model.vocab".into(), ..error })
    }

    /// Compile the entries of a model; errors name the field of its specification.
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

    fn of<'e>(entries: &(impl ExactSizeIterator<Item = (&'e str, u32)> + Clone)) -> Result<Self, Error> {
        let highest = entries.clone().map(|(_, id)| id).max();
        let max_id = max_id_of(entries.len());
        if let Some(id) = highest.filter(|&id| id > max_id) {
            let expected = format!("ids up to {max_id}");
            return Err(Error::new(ErrorKind::Vocabulary, "vocab", format!("id {id}"), expected));
        }
        let bytes: usize = entries.clone().map(|(token, _)| token.len()).sum();
        if u32::try_from(bytes).is_err() {
            return Err(Error::new(ErrorKind::Vocabulary, "vocab", "over 4 GiB of tokens", "less"));
        }
        let id_bound = highest.map_or(0, |id| id as usize + 1);
        let mut builder = VocabBuilder::new(0, bytes, id_bound, entries.len());
        while !builder.insert_all(entries.clone())? {
            let seed = RandomState::new().build_hasher().finish() | 1;
            builder = VocabBuilder::new(seed, bytes, id_bound, entries.len());
        }
        let VocabBuilder { text, spans, slots, seed } = builder;
        Ok(Self { text: text.into(), spans: spans.into(), slots: slots.into(), seed, len: entries.len() })
    }
}

/// The tables during compilation.
struct VocabBuilder {
    text: String,
    spans: Vec<[u32; 2]>,
    slots: Vec<[u32; 2]>,
    seed: u64,
}

impl VocabBuilder {
    fn new(seed: u64, bytes: usize, id_bound: usize, tokens: usize) -> Self {
        Self {
            text: String::with_capacity(bytes),
            spans: vec![GAP; id_bound],
            slots: vec![EMPTY; (2 * tokens).next_power_of_two()],
            seed,
        }
    }

    /// Insert entries until one is too far from its slot; return whether none is.
    fn insert_all<'e>(&mut self, mut entries: impl Iterator<Item = (&'e str, u32)>) -> Result<bool, Error> {
        let (seed, mask) = (self.seed, self.slots.len() - 1);
        let mut group = Vec::with_capacity(GROUP);
        loop {
            let next = entries.by_ref().take(GROUP);
            group.clear();
            group.extend(next.map(|(token, id)| (token, id, hash(seed, token))));
            group.iter().for_each(|&(_, _, hash)| prefetch_read(&self.slots[hash as usize & mask]));
            for &(token, id, hash) in &group {
                if self.insert(token, id, hash)? > MAX_DISTANCE {
                    return Ok(false);
                }
            }
            if group.len() < GROUP {
                return Ok(true);
            }
        }
    }

    /// Insert an entry; return its distance from the slot of its hash.
    fn insert(&mut self, token: &str, id: u32, hash: u64) -> Result<usize, Error> {
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
        Ok(slot.wrapping_sub(hash as usize) & (self.slots.len() - 1))
    }
}

/// Compile a list whose indices are the ids; the error for a repeated entry names both indices.
fn of_list<'t>(
    entries: impl ExactSizeIterator<Item = &'t str> + Clone,
    place: &str,
) -> Result<Vocab, Error> {
    let numbered = entries.clone().enumerate().map(|(at, token)| (token, at as u32));
    Vocab::of(&numbered).map_err(|error| match repeated(entries) {
        Some((token, first, at)) => {
            let (place, found) = (format!("{place}[{at}]"), format!("{token:?} as in [{first}]"));
            Error::new(ErrorKind::Vocabulary, place, found, "each token once")
        }
        None => Error { place: "model.vocab".into(), ..error },
    })
}

/// Return the first entry of a list that repeats another, and both indices.
fn repeated<'t>(entries: impl ExactSizeIterator<Item = &'t str>) -> Option<(&'t str, usize, usize)> {
    let mut first_at = HashMap::with_capacity(entries.len());
    entries.enumerate().find_map(|(at, token)| Some((token, first_at.insert(token, at)?, at)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::UnigramSpec;
    use crate::table_sections::TableSections;

    #[test]
    fn tokens_and_ids_are_found_across_gaps() {
        let vocab = Vocab::compile(&[("a".into(), 0), ("b".into(), 5)]).unwrap();
        assert_eq!((vocab.id_of("b"), vocab.token_of(5), vocab.token_of(3)), (Some(5), Some("b"), None));
        assert_eq!(vocab.iter().collect::<Vec<_>>(), [("a", 0), ("b", 5)]);
    }

    #[test]
    fn duplicates_and_huge_ids_are_refused() {
        assert!(Vocab::compile(&[("a".into(), 0), ("a".into(), 1)]).is_err());
        assert!(Vocab::compile(&[("a".into(), 0), ("b".into(), 0)]).is_err());
        assert!(Vocab::compile(&[("a".into(), u32::MAX)]).is_err());
    }

    /// Tokens of 32 bytes with equal hashes without a seed: their last eight bytes are the state after the first block,
    /// so that the last product is zero.
    fn colliding_tokens(count: u32) -> Vec<(String, u32)> {
        let state_after = |block: [u8; 16]| {
            let [one, two] =
                [&block[..8], &block[8..]].map(|half| u64::from_le_bytes(half.try_into().unwrap()));
            let product = u128::from(0x243f_6a88_85a3_08d3 ^ one) * u128::from(0xa409_3822_299f_31d0 ^ two);
            (product >> 64) as u64 ^ product as u64
        };
        let tokens = (0_u64..).filter_map(|number| {
            let first = format!("{number:016}");
            let last = state_after(first.as_bytes().try_into().unwrap()).to_le_bytes();
            last.is_ascii().then(|| first + "........" + std::str::from_utf8(&last).unwrap())
        });
        tokens.zip(0..count).collect()
    }

    #[test]
    fn tokens_chosen_to_collide_are_near_their_slots() {
        let tokens = colliding_tokens(2000);
        assert!(tokens.iter().all(|(token, _)| hash(0, token) == hash(0, &tokens[0].0)));
        let vocab = Vocab::compile(&tokens).unwrap();
        assert!(tokens.iter().all(|(token, id)| vocab.id_of(token) == Some(*id)));
        assert_eq!(vocab.id_of("absent"), None);
        let full = vocab.slots.split(|slot| *slot == EMPTY).map(<[[u32; 2]]>::len);
        assert!(full.max() <= Some(MAX_DISTANCE));
        let mut sections = TableSections::default();
        vocab.store(&mut sections);
        let restored = Vocab::restore(&sections).unwrap();
        assert!(tokens.iter().all(|(token, id)| restored.id_of(token) == Some(*id)));
    }

    #[test]
    fn equal_vocabularies_have_equal_tables() {
        let tokens: Vec<(String, u32)> = (0..5000).map(|id| (format!("{id}x{}", id * 7), id)).collect();
        let [one, two] = [(); 2].map(|()| Vocab::compile(&tokens).unwrap());
        assert_eq!((one.seed, &one.slots[..]), (0, &two.slots[..]));
    }

    #[test]
    fn an_error_names_the_duplicate_of_a_list() {
        let vocab = ["a", "b", "a"].map(|token| (token.to_string(), 0.0)).to_vec();
        let spec = UnigramSpec { vocab, unk_id: None, byte_fallback: false };
        let error = Vocab::of_model(&ModelSpec::Unigram(spec)).unwrap_err();
        assert_eq!(error.to_string(), r#"model.vocab[2]: found "a" as in [0], expected each token once"#);
    }
}
