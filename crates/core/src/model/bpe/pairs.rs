//! Which pairs of entries are joined, how soon, and to what.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use crate::error::{Error, ErrorKind};
use crate::spec::BpeSpec;
use crate::vocab::Vocab;

/// No merge has this rank; it sorts after all.
pub(super) const NO_RANK: u32 = u32::MAX;

/// All merges.
#[derive(Clone, Debug)]
pub(super) struct Pairs {
    ranks: HashMap<u64, u32, FxBuildHasher>,
    /// The entry that each rank joins to.
    joined: Vec<u32>,
    may_repeat: bool,
}

impl Pairs {
    /// Look up the entries of all merges; of equal pairs the last one counts.
    pub(super) fn compile(spec: &BpeSpec, vocab: &Vocab) -> Result<Self, Error> {
        if spec.merges.len() >= NO_RANK as usize {
            let found = format!("{} merges", spec.merges.len());
            return Err(Error::new(ErrorKind::Vocabulary, "model.merges", found, "fewer"));
        }
        let prefix = spec.continuing_subword_prefix.as_deref().unwrap_or_default();
        let mut pairs = Self {
            ranks: HashMap::with_capacity_and_hasher(spec.merges.len(), FxBuildHasher),
            joined: Vec::with_capacity(spec.merges.len()),
            may_repeat: false,
        };
        for (rank, (left, right)) in (0..).zip(&spec.merges) {
            let place = format_args!("model.merges[{rank}]");
            let (pair, joined) = entries_of(left, right, prefix, vocab).map_err(|e| e.into_error(place))?;
            pairs.ranks.insert(pair, rank);
            pairs.joined.push(joined);
            pairs.may_repeat |= right.len() == prefix.len();
        }
        Ok(pairs)
    }

    /// The rank of a pair, or `NO_RANK`.
    #[inline]
    pub(super) fn rank(&self, left: u32, right: u32) -> u32 {
        self.ranks.get(&key(left, right)).copied().unwrap_or(NO_RANK)
    }

    /// The entry that the merge of a rank joins to.
    #[inline]
    pub(super) fn joined(&self, rank: u32) -> u32 {
        self.joined[rank as usize]
    }

    /// Whether two pairs that stand at one position, one after the other, may join to the same entry.
    /// They cannot while each merge makes an entry longer, which it does unless nothing but the prefix
    /// is added.
    pub(super) fn may_repeat(&self) -> bool {
        self.may_repeat
    }
}

/// What is wrong with a merge.
struct BadMerge {
    found: String,
    expected: &'static str,
}

impl BadMerge {
    fn absent(token: &str) -> Self {
        let found = format!("{token:?}, which is not in the vocabulary");
        Self { found, expected: "two entries of the vocabulary that join to an entry" }
    }

    fn into_error(self, place: std::fmt::Arguments) -> Error {
        Error::new(ErrorKind::Vocabulary, place.to_string(), self.found, self.expected)
    }
}

/// The key of a merge and the entry that it joins to. The prefix of the right side goes; as in
/// `tokenizers`, by its length alone.
fn entries_of(left: &str, right: &str, prefix: &str, vocab: &Vocab) -> Result<(u64, u32), BadMerge> {
    let id_of = |token: &str| vocab.id_of(token).ok_or_else(|| BadMerge::absent(token));
    let pair = key(id_of(left)?, id_of(right)?);
    let bare = right.get(prefix.len()..).ok_or_else(|| BadMerge {
        found: format!("{right:?} on the right, which does not begin with {prefix:?}"),
        expected: "an entry with the continuing_subword_prefix",
    })?;
    Ok((pair, id_of(&format!("{left}{bare}"))?))
}

#[inline]
fn key(left: u32, right: u32) -> u64 {
    u64::from(left) << 32 | u64::from(right)
}
