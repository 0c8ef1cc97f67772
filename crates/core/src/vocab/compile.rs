//! Compilation of a vocabulary from entries.

use rustc_hash::{FxBuildHasher, FxHashMap};

use super::limits::{check_sizes, max_id_of};
use super::table::{find, hash, Vocab, EMPTY, GAP};
use crate::error::{Error, ErrorKind};
use crate::spec::ModelSpec;

impl Vocab {
    /// Compile (token, id) entries; fails for duplicate tokens or ids, and for ids far above their number.
    pub fn compile(entries: &[(String, u32)]) -> Result<Self, Error> {
        Self::of(entries.iter().map(|(token, id)| (token.as_str(), *id)))
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

    fn of<'e>(entries: impl ExactSizeIterator<Item = (&'e str, u32)> + Clone) -> Result<Self, Error> {
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
        let mut builder = VocabBuilder {
            text: String::with_capacity(bytes),
            spans: vec![GAP; highest.map_or(0, |id| id as usize + 1)],
            slots: vec![EMPTY; (2 * entries.len()).next_power_of_two()],
        };
        let len = entries.len();
        entries.into_iter().try_for_each(|(token, id)| builder.insert(token, id))?;
        let VocabBuilder { text, spans, slots } = builder;
        Ok(Self { text: text.into(), spans: spans.into(), slots: slots.into(), len })
    }
}

/// The tables during compilation.
struct VocabBuilder {
    text: String,
    spans: Vec<[u32; 2]>,
    slots: Vec<[u32; 2]>,
}

impl VocabBuilder {
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

/// Compile a list whose indices are the ids; the error for a repeated entry names both indices.
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

/// Return the first entry of a list that repeats another, and both indices.
fn repeated<'t>(entries: impl ExactSizeIterator<Item = &'t str>) -> Option<(&'t str, usize, usize)> {
    let mut first_at = FxHashMap::with_capacity_and_hasher(entries.len(), FxBuildHasher);
    entries.enumerate().find_map(|(at, token)| Some((token, first_at.insert(token, at)?, at)))
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
