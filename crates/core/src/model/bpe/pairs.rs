//! Which pairs of entries are joined, how soon, and to what.

use crate::error::{Error, ErrorKind};
use crate::spec::BpeSpec;
use crate::vocab::Vocab;

/// No merge has this rank; it sorts after all.
pub(super) const NO_RANK: u32 = u32::MAX;

/// All merges.
#[derive(Clone, Debug)]
pub(super) struct Pairs {
    /// Open addressing, at most half full.
    slots: Vec<Slot>,
    /// How far the hash is shifted to become the index of a slot.
    shift: u32,
    /// The entry that each rank joins to.
    joined: Vec<u32>,
    may_repeat: bool,
}

/// One merge; without a rank, none.
#[derive(Clone, Copy, Debug)]
struct Slot {
    left: u32,
    right: u32,
    rank: u32,
}

const EMPTY: Slot = Slot { left: u32::MAX, right: u32::MAX, rank: NO_RANK };

impl Pairs {
    /// Look up the entries of all merges; of equal pairs the last one counts.
    pub(super) fn compile(spec: &BpeSpec, vocab: &Vocab) -> Result<Self, Error> {
        if spec.merges.len() >= NO_RANK as usize {
            let found = format!("{} merges", spec.merges.len());
            return Err(Error::new(ErrorKind::Vocabulary, "model.merges", found, "fewer"));
        }
        let prefix = spec.continuing_subword_prefix.as_deref().unwrap_or_default();
        let bits = (2 * spec.merges.len()).next_power_of_two().ilog2().max(1);
        let mut pairs = Self {
            slots: vec![EMPTY; 1 << bits],
            shift: 64 - bits,
            joined: Vec::with_capacity(spec.merges.len()),
            may_repeat: false,
        };
        for (rank, (left, right)) in (0..).zip(&spec.merges) {
            pairs.may_repeat |= right.len() == prefix.len();
            let place = format_args!("model.merges[{rank}]");
            let ((left, right), joined) = entries_of(left, right, prefix, vocab).map_err(|e| e.into_error(place))?;
            let slot = pairs.slot_of(left, right);
            pairs.slots[slot] = Slot { left, right, rank };
            pairs.joined.push(joined);
        }
        Ok(pairs)
    }

    /// The rank of a pair, or `NO_RANK`.
    #[inline]
    pub(super) fn rank(&self, left: u32, right: u32) -> u32 {
        self.slots[self.slot_of(left, right)].rank
    }

    /// The number of merges.
    pub(super) fn len(&self) -> usize {
        self.joined.len()
    }

    /// Where a pair is, or would be.
    #[inline]
    fn slot_of(&self, left: u32, right: u32) -> usize {
        let pair = u64::from(left) << 32 | u64::from(right);
        let mut at = (pair.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> self.shift) as usize;
        loop {
            let slot = &self.slots[at];
            if (slot.left, slot.right) == (left, right) || slot.rank == NO_RANK {
                return at;
            }
            at = (at + 1) & (self.slots.len() - 1);
        }
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

/// The entries of a merge and the one that they join to. The prefix of the right side goes; as in
/// `tokenizers`, by its length alone.
fn entries_of(left: &str, right: &str, prefix: &str, vocab: &Vocab) -> Result<((u32, u32), u32), BadMerge> {
    let id_of = |token: &str| vocab.id_of(token).ok_or_else(|| BadMerge::absent(token));
    let pair = (id_of(left)?, id_of(right)?);
    let bare = right.get(prefix.len()..).ok_or_else(|| BadMerge {
        found: format!("{right:?} on the right, which does not begin with {prefix:?}"),
        expected: "an entry with the continuing_subword_prefix",
    })?;
    Ok((pair, id_of(&format!("{left}{bare}"))?))
}
