//! Compilation of a vocabulary from entries.

use foldhash::{HashMap, HashMapExt};
use piecework_kernels::level::prefetch_read;

use super::{
    check_lens, check_sizes, find, has_short_runs, max_id_of, TokenHash, Vocab, EMPTY, GAP, MAX_VOCAB_BYTES,
};
use crate::error::{Error, ErrorKind};
use crate::hash_runs::{max_run, seeds_of};
use crate::spec::ModelSpec;

/// The number of tokens whose slots are prefetched together.
const GROUP: usize = 16;

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
        Self::of(entries).map_err(|error| error.at("model.vocab"))
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
        compiled.map_err(|error| error.at("model.vocab"))
    }

    fn of<'e>(entries: &(impl ExactSizeIterator<Item = (&'e str, u32)> + Clone)) -> Result<Self, Error> {
        Self::with_seeds(entries, seeds_of(entries.clone().map(|(token, _)| token)))
    }

    /// Compile entries without a seed, or with the first of these seeds that makes no long run of full slots.
    fn with_seeds<'e>(
        entries: &(impl ExactSizeIterator<Item = (&'e str, u32)> + Clone),
        seeds: impl Iterator<Item = u64>,
    ) -> Result<Self, Error> {
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
        for seed in std::iter::once(0).chain(seeds) {
            let mut builder = VocabBuilder::new(seed, bytes, id_bound, entries.len());
            if builder.insert_all(entries.clone())? {
                let VocabBuilder { text, spans, slots, hash } = builder;
                let (text, spans, slots) = (text.into(), spans.into(), slots.into());
                return Ok(Self { text, spans, slots, hash, len: entries.len() });
            }
        }
        let found = "tokens that fill long runs of the hash table by every hash function";
        let expected = "other tokens; remove or rename those that were made to collide";
        Err(Error::new(ErrorKind::Vocabulary, "vocab", found, expected))
    }
}

/// The tables during compilation.
struct VocabBuilder {
    text: String,
    spans: Vec<[u32; 2]>,
    slots: Vec<[u32; 2]>,
    hash: TokenHash,
}

impl VocabBuilder {
    fn new(seed: u64, bytes: usize, id_bound: usize, tokens: usize) -> Self {
        Self {
            text: String::with_capacity(bytes),
            spans: vec![GAP; id_bound],
            slots: vec![EMPTY; (2 * tokens).next_power_of_two()],
            hash: TokenHash::with_seed(seed),
        }
    }

    /// Insert entries until a run of full slots is too long; return whether none is.
    fn insert_all<'e>(
        &mut self,
        mut entries: impl ExactSizeIterator<Item = (&'e str, u32)>,
    ) -> Result<bool, Error> {
        let (tokens, mask) = (entries.len(), self.slots.len() - 1);
        let max_run = max_run(self.slots.len(), tokens);
        let mut group = Vec::with_capacity(GROUP);
        loop {
            let next = entries.by_ref().take(GROUP);
            group.clear();
            group.extend(next.map(|(token, id)| (token, id, self.hash.of(token))));
            group.iter().for_each(|&(_, _, hash)| prefetch_read(&self.slots[hash as usize & mask]));
            for &(token, id, hash) in &group {
                if self.insert(token, id, hash)? >= max_run {
                    return Ok(false);
                }
            }
            if group.len() < GROUP {
                return Ok(has_short_runs(&self.slots, tokens));
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
        None => error.at("model.vocab"),
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

    /// Tokens whose first slots without a seed are different and in a row.
    fn tokens_in_a_row(count: u32) -> Vec<(String, u32)> {
        let mask = (2 * count as usize).next_power_of_two() - 1;
        let mut is_taken = vec![false; count as usize];
        let mut is_next = |token: &String| {
            let slot = is_taken.get_mut(TokenHash::default().of(token) as usize & mask);
            slot.is_some_and(|is_taken| !std::mem::replace(is_taken, true))
        };
        let tokens = (0_u32..).map(|number| format!("t{number}")).filter(|token| is_next(token));
        tokens.take(count as usize).zip(0..).collect()
    }

    fn random_tokens(count: u32) -> Vec<(String, u32)> {
        (0..count).map(|id| (format!("{id}x{}", id * 7), id)).collect()
    }

    /// Return the tables without a seed, whatever runs they have.
    fn compiled_without_a_seed(tokens: &[(String, u32)]) -> Vocab {
        let mut builder = VocabBuilder::new(0, 0, tokens.len(), tokens.len());
        for (token, id) in tokens {
            builder.insert(token, *id, TokenHash::default().of(token)).unwrap();
        }
        let VocabBuilder { text, spans, slots, hash } = builder;
        let (text, spans, slots) = (text.into(), spans.into(), slots.into());
        Vocab { text, spans, slots, hash, len: tokens.len() }
    }

    /// Return the most slots that a lookup reads, and the most tokens that it compares with its own.
    fn longest_lookup(vocab: &Vocab) -> (usize, usize) {
        // A run may continue at the beginning of the table.
        let first = vocab.slots.iter().position(|slot| *slot == EMPTY).unwrap();
        let slots = [&vocab.slots[first..], &vocab.slots[..first]].concat();
        let runs: Vec<_> =
            slots.split(|slot| *slot == EMPTY).map(|run| run.iter().map(|slot| slot[0])).collect();
        let same = |run: &[u32]| run.iter().filter(|&tag| *tag == run[0]).count();
        let compared = runs.iter().flat_map(|run| {
            let tags: Vec<u32> = run.clone().collect();
            (0..tags.len()).map(move |at| same(&tags[at..]))
        });
        (1 + runs.iter().map(ExactSizeIterator::len).max().unwrap_or(0), compared.max().unwrap_or(0))
    }

    fn check_every_token(vocab: &Vocab, tokens: &[(String, u32)]) {
        assert!(tokens.iter().all(|(token, id)| vocab.id_of(token) == Some(*id)));
        assert_eq!(vocab.id_of("absent"), None);
    }

    #[test]
    fn lookups_of_chosen_tokens_read_at_most_twice_the_slots_of_random_ones() {
        let count = if cfg!(miri) { 200 } else { 20_000 };
        let (random, _) = longest_lookup(&Vocab::compile(&random_tokens(count)).unwrap());
        for tokens in [tokens_in_a_row(count), colliding_tokens(count.min(2000))] {
            let without = longest_lookup(&compiled_without_a_seed(&tokens));
            assert!(without.0 >= tokens.len(), "{without:?}");
            let vocab = Vocab::compile(&tokens).unwrap();
            let (slots, compared) = longest_lookup(&vocab);
            assert!(slots <= 2 * random && compared == 1, "{slots} {random} {compared}");
            check_every_token(&vocab, &tokens);
            let mut sections = TableSections::default();
            vocab.store(&mut sections);
            check_every_token(&Vocab::restore(&sections).unwrap(), &tokens);
        }
    }

    #[test]
    fn no_lookup_compares_its_token_with_several() {
        let tokens = colliding_tokens(20);
        assert_eq!(longest_lookup(&compiled_without_a_seed(&tokens)), (21, 20));
        assert_eq!(longest_lookup(&Vocab::compile(&tokens).unwrap()).1, 1);
    }

    #[test]
    fn tokens_of_long_runs_by_every_seed_are_refused() {
        let tokens = tokens_in_a_row(1000);
        let entries = tokens.iter().map(|(token, id)| (token.as_str(), *id));
        let error = Vocab::with_seeds(&entries, std::iter::repeat_n(0, 3)).unwrap_err();
        assert_eq!(
            error.to_string(),
            "vocab: found tokens that fill long runs of the hash table by every hash function, expected other tokens; \
             remove or rename those that were made to collide"
        );
    }

    #[test]
    fn a_forged_table_with_a_long_run_is_refused() {
        for tokens in [tokens_in_a_row(1000), colliding_tokens(20)] {
            let mut sections = TableSections::default();
            compiled_without_a_seed(&tokens).store(&mut sections);
            let error = Vocab::restore(&sections).unwrap_err();
            assert_eq!(error.place, "vocab.slots");
        }
    }

    #[test]
    fn equal_vocabularies_have_equal_tables() {
        for tokens in [random_tokens(5000), tokens_in_a_row(1000)] {
            let [one, two] = [(); 2].map(|()| Vocab::compile(&tokens).unwrap());
            assert_eq!((one.hash.seed(), &one.slots[..]), (two.hash.seed(), &two.slots[..]));
        }
        assert_eq!(Vocab::compile(&random_tokens(5000)).unwrap().hash.seed(), 0);
    }

    #[test]
    fn an_error_names_the_duplicate_of_a_list() {
        let vocab = ["a", "b", "a"].map(|token| (token.to_string(), 0.0)).to_vec();
        let spec = UnigramSpec { vocab, unk_id: None, byte_fallback: false };
        let error = Vocab::of_model(&ModelSpec::Unigram(spec)).unwrap_err();
        assert_eq!(error.to_string(), r#"model.vocab[2]: found "a" as in [0], expected each token once"#);
    }
}
