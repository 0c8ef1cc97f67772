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
    slots: Vec<Merge>,
    /// How far the hash is shifted to become the index of a slot.
    shift: u32,
    /// A bit for some of the bits of each pair's hash: most pairs that are no merge are told by it alone.
    filter: Vec<u64>,
    /// The entry that each rank joins to.
    joined: Vec<u32>,
    may_repeat: bool,
    are_in_order: bool,
}

/// One merge; without a rank, none.
#[derive(Clone, Copy, Debug)]
pub(super) struct Merge {
    left: u32,
    right: u32,
    /// How soon; `NO_RANK` if never.
    pub(super) rank: u32,
    /// The entry that the two join to.
    pub(super) joined: u32,
}

const NO_MERGE: Merge = Merge { left: u32::MAX, right: u32::MAX, rank: NO_RANK, joined: u32::MAX };
/// Bits of the filter for each slot, as a power of two.
const FILTER_BITS: u32 = 2;

impl Pairs {
    /// Look up the entries of all merges; of equal pairs the last one counts.
    pub(super) fn compile(spec: &BpeSpec, vocab: &Vocab) -> Result<Self, Error> {
        if spec.merges.len() >= NO_RANK as usize {
            let found = format!("{} merges", spec.merges.len());
            return Err(Error::new(ErrorKind::Vocabulary, "model.merges", found, "fewer"));
        }
        let prefix = spec.continuing_subword_prefix.as_deref().unwrap_or_default();
        let mut pairs = Self::with_room_for(spec.merges.len());
        let (mut spelled, mut likely) = (String::new(), 0);
        for (rank, (left, right)) in (0..).zip(&spec.merges) {
            let place = format_args!("model.merges[{rank}]");
            let entries = entries_of(left, right, prefix, likely, vocab, &mut spelled);
            let (left_id, right_id, joined) = entries.map_err(|e| e.into_error(place))?;
            likely = joined + 1;
            pairs.insert(Merge { left: left_id, right: right_id, rank, joined });
            pairs.may_repeat |= right.len() == prefix.len();
        }
        pairs.are_in_order = !pairs.may_repeat && pairs.make_only_for_later();
        Ok(pairs)
    }

    fn with_room_for(merges: usize) -> Self {
        let bits = (2 * merges).next_power_of_two().ilog2().max(6);
        Self {
            slots: vec![NO_MERGE; 1 << bits],
            shift: 64 - bits,
            filter: vec![0; 1 << (bits + FILTER_BITS - 6)],
            joined: Vec::with_capacity(merges),
            may_repeat: false,
            are_in_order: false,
        }
    }

    /// Whether every merge that makes an entry comes before all that join it to another.
    fn make_only_for_later(&self) -> bool {
        let mut last_made = vec![None; self.joined.iter().map(|&id| id as usize + 1).max().unwrap_or(0)];
        for (rank, &id) in (0..).zip(&self.joined) {
            last_made[id as usize] = Some(rank);
        }
        let comes_before = |id: u32, rank: u32| {
            last_made.get(id as usize).is_none_or(|made| made.is_none_or(|made| made < rank))
        };
        let mut merges = self.slots.iter().filter(|merge| merge.rank != NO_RANK);
        merges.all(|merge| [merge.left, merge.right].iter().all(|&id| comes_before(id, merge.rank)))
    }

    /// Add the merge of the next rank.
    fn insert(&mut self, merge: Merge) {
        let hash = hash(merge.left, merge.right);
        let slot = self.slot_of(merge.left, merge.right, hash);
        self.slots[slot] = merge;
        self.joined.push(merge.joined);
        let (word, bit) = self.filter_bit(hash);
        self.filter[word] |= bit;
    }

    /// The merge of a pair; without a rank, none.
    #[inline]
    pub(super) fn merge(&self, left: u32, right: u32) -> Merge {
        let hash = hash(left, right);
        let (word, bit) = self.filter_bit(hash);
        if self.filter[word] & bit == 0 {
            return NO_MERGE;
        }
        self.slots[self.slot_of(left, right, hash)]
    }

    /// The rank of a pair, or `NO_RANK`.
    #[inline]
    pub(super) fn rank(&self, left: u32, right: u32) -> u32 {
        self.merge(left, right).rank
    }

    /// The number of merges.
    pub(super) fn len(&self) -> usize {
        self.joined.len()
    }

    /// Where a pair is, or would be.
    #[inline]
    fn slot_of(&self, left: u32, right: u32, hash: u64) -> usize {
        let mut at = (hash >> self.shift) as usize;
        loop {
            let slot = &self.slots[at];
            if (slot.left, slot.right) == (left, right) || slot.rank == NO_RANK {
                return at;
            }
            at = (at + 1) & (self.slots.len() - 1);
        }
    }

    #[inline]
    fn filter_bit(&self, hash: u64) -> (usize, u64) {
        let at = (hash >> (self.shift - FILTER_BITS)) as usize;
        (at / 64, 1 << (at % 64))
    }

    /// The entry that the merge of a rank joins to.
    #[inline]
    pub(super) fn joined(&self, rank: u32) -> u32 {
        self.joined[rank as usize]
    }

    /// Whether a join never makes a pair that should have been joined before.
    pub(super) fn are_in_order(&self) -> bool {
        self.are_in_order
    }

    /// The memory they take.
    pub(super) fn bytes(&self) -> usize {
        size_of_val(self.slots.as_slice())
            + size_of_val(self.filter.as_slice())
            + size_of_val(self.joined.as_slice())
    }

    /// Whether two pairs that stand at one position, one after the other, may join to the same entry.
    /// They cannot while each merge makes an entry longer, which it does unless nothing but the prefix
    /// is added.
    pub(super) fn may_repeat(&self) -> bool {
        self.may_repeat
    }
}

#[inline]
fn hash(left: u32, right: u32) -> u64 {
    (u64::from(left) << 32 | u64::from(right)).wrapping_mul(0x9E37_79B9_7F4A_7C15)
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
/// `tokenizers`, by its length alone. Most vocabularies number their entries as they were learned, so the
/// entry after the last one is `likely` the one sought, and to compare is quicker than to look up.
fn entries_of(
    left: &str,
    right: &str,
    prefix: &str,
    likely: u32,
    vocab: &Vocab,
    joined: &mut String,
) -> Result<(u32, u32, u32), BadMerge> {
    let id_of = |token: &str| vocab.id_of(token).ok_or_else(|| BadMerge::absent(token));
    let (left_id, right_id) = (id_of(left)?, id_of(right)?);
    let bare = right.get(prefix.len()..).ok_or_else(|| BadMerge {
        found: format!("{right:?} on the right, which does not begin with {prefix:?}"),
        expected: "an entry with the continuing_subword_prefix",
    })?;
    let is_join = |token: &str| token.strip_prefix(left) == Some(bare);
    if vocab.token_of(likely).is_some_and(is_join) {
        return Ok((left_id, right_id, likely));
    }
    joined.clear();
    joined.push_str(left);
    joined.push_str(bare);
    Ok((left_id, right_id, id_of(joined)?))
}
