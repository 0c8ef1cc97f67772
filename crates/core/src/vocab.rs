//! A compiled vocabulary: token to id by hash, id to token by index.

use hashbrown::HashTable;
use rustc_hash::{FxBuildHasher, FxHashMap, FxHasher};
use std::hash::Hasher;

use crate::error::{Error, ErrorKind};
use crate::spec::ModelSpec;

/// The largest id a vocabulary may hold; tables are indexed by id.
pub const MAX_ID: u32 = (1 << 28) - 1;

/// Tokens and their ids; ids may have gaps.
#[derive(Clone, Debug, Default)]
pub struct Vocab {
    text: String,
    /// Byte span of each id's token in `text`; `None` in a gap.
    spans: Vec<Option<(u32, u32)>>,
    by_token: HashTable<u32>,
}

impl Vocab {
    /// Compile (token, id) entries; duplicate tokens or ids and far-off ids are errors.
    pub fn compile(entries: &[(String, u32)]) -> Result<Self, Error> {
        let highest = entries.iter().map(|&(_, id)| id).max().unwrap_or(0);
        let room = 1_000_000 + 16 * entries.len();
        if highest > MAX_ID || highest as usize > room {
            let expected = format!("ids below {}", room.min(MAX_ID as usize));
            return Err(Error::new(ErrorKind::Vocabulary, "vocab", format!("id {highest}"), expected));
        }
        let mut vocab = Self {
            text: String::with_capacity(entries.iter().map(|(token, _)| token.len()).sum()),
            spans: vec![None; if entries.is_empty() { 0 } else { highest as usize + 1 }],
            by_token: HashTable::with_capacity(entries.len()),
        };
        for (token, id) in entries {
            vocab.insert(token, *id)?;
        }
        Ok(vocab)
    }

    /// Compile the entries of a model; errors name the place in its specification.
    pub fn of_model(spec: &ModelSpec) -> Result<Self, Error> {
        match spec {
            ModelSpec::Unigram(spec) => {
                check_list(spec.vocab.iter().map(|(token, _)| token.as_str()), "model.vocab")?;
            }
            ModelSpec::SentencePiece(spec) => {
                check_list(spec.pieces.iter().map(|piece| piece.text.as_str()), "model.pieces")?;
            }
            _ => {}
        }
        Self::compile(&spec.vocab()).map_err(|error| Error { place: "model.vocab".into(), ..error })
    }

    fn insert(&mut self, token: &str, id: u32) -> Result<(), Error> {
        if let Some(other) = self.id_of(token) {
            let found = format!("{token:?} twice, as {other} and {id}");
            return Err(Error::new(ErrorKind::Vocabulary, "vocab", found, "each token once"));
        }
        if let Some(other) = self.token_of(id) {
            let found = format!("id {id} twice, for {other:?} and {token:?}");
            return Err(Error::new(ErrorKind::Vocabulary, "vocab", found, "each id once"));
        }
        let start = self.text.len();
        self.text.push_str(token);
        let end = u32::try_from(self.text.len())
            .map_err(|_| Error::new(ErrorKind::Vocabulary, "vocab", "over 4 GiB of tokens", "less"))?;
        self.spans[id as usize] = Some((start as u32, end));
        let (text, spans) = (&self.text, &self.spans);
        self.by_token.insert_unique(hash(token), id, |&id| hash(slice(text, spans, id)));
        Ok(())
    }

    /// The id of a token.
    #[must_use]
    pub fn id_of(&self, token: &str) -> Option<u32> {
        let same = |&id: &u32| slice(&self.text, &self.spans, id) == token;
        self.by_token.find(hash(token), same).copied()
    }

    /// The token of an id.
    #[must_use]
    pub fn token_of(&self, id: u32) -> Option<&str> {
        self.spans.get(id as usize)?.map(|(start, end)| &self.text[start as usize..end as usize])
    }

    /// Number of tokens.
    #[must_use]
    pub fn len(&self) -> usize {
        self.by_token.len()
    }

    /// Whether there is no token.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.by_token.is_empty()
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

/// Check that no two entries of a list are equal: `token_to_id` would have two answers.
fn check_list<'t>(entries: impl ExactSizeIterator<Item = &'t str>, place: &str) -> Result<(), Error> {
    let mut first_at = FxHashMap::with_capacity_and_hasher(entries.len(), FxBuildHasher);
    for (at, token) in entries.enumerate() {
        if let Some(first) = first_at.insert(token, at) {
            let (place, found) = (format!("{place}[{at}]"), format!("{token:?} as in [{first}]"));
            return Err(Error::new(ErrorKind::Vocabulary, place, found, "each token once"));
        }
    }
    Ok(())
}

fn slice<'a>(text: &'a str, spans: &[Option<(u32, u32)>], id: u32) -> &'a str {
    spans[id as usize].map_or("", |(start, end)| &text[start as usize..end as usize])
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
