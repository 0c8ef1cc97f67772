//! The token ids of all merges, by rank.

use crate::error::{Error, ErrorKind};
use crate::ranks::{canonical_pairs, CanonicalPair};
use crate::spec::BpeSpec;
use crate::table_sections::{TableSections, MERGES};
use crate::vocab::Vocab;

/// The rank of a pair without a merge, higher than all others.
pub(super) const NO_RANK: u32 = u32::MAX;

/// Two tokens and the one that they merge to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::model) struct MergeIds {
    pub(in crate::model) left: u32,
    pub(in crate::model) right: u32,
    pub(in crate::model) merged: u32,
}

/// The merges of a model.
#[derive(Clone, Debug)]
pub(super) struct Merges {
    /// By rank; of equal pairs the last one counts.
    pub(super) list: Vec<MergeIds>,
    /// Whether a merge adds nothing but the prefix, which makes no token longer.
    pub(super) may_repeat: bool,
    /// Both ranks of the first merge that occurs twice.
    pub(super) duplicate: Option<(usize, usize)>,
}

impl Merges {
    /// Look up the tokens of all merges, or take their ids from `sections` if these contain them.
    pub(super) fn compile(spec: &BpeSpec, vocab: &Vocab, sections: &TableSections) -> Result<Self, Error> {
        let prefix = spec.continuing_subword_prefix.as_deref().unwrap_or_default();
        if sections.has(MERGES) {
            let pairs = sections.get::<[u32; 2]>(MERGES)?;
            let token = |id| vocab.token_of(id).ok_or_else(|| InvalidMerge::without_token(id));
            let sides = |&[left, right]: &[u32; 2]| {
                let tokens = [token(left)?, token(right)?];
                check_sides(tokens)?;
                Ok([(tokens[0], left), (tokens[1], right)])
            };
            return Self::collect(pairs.len(), pairs.iter().map(sides), prefix, vocab);
        }
        let side = |token| Ok((token, vocab.id_of(token).ok_or_else(|| InvalidMerge::absent(token))?));
        let sides = |(left, right)| {
            check_sides([left, right])?;
            Ok([side(left)?, side(right)?])
        };
        Self::collect(spec.merges.len(), spec.merges.iter().map(sides), prefix, vocab)
    }

    /// Return the merges of a vocabulary whose ids are ranks.
    pub(super) fn of_ranks(vocab: &Vocab) -> Self {
        let merge = |CanonicalPair { token: merged, sides }| {
            sides.map(|[left, right]| MergeIds { left, right, merged })
        };
        let list = canonical_pairs(vocab).into_iter().filter_map(merge).collect();
        // Two tokens have different pairs, and every merge makes a longer token.
        Self { list, may_repeat: false, duplicate: None }
    }

    /// Collect merges whose two tokens are given with their ids.
    fn collect<'t>(
        count: usize,
        merges: impl Iterator<Item = Result<[(&'t str, u32); 2], InvalidMerge>>,
        prefix: &str,
        vocab: &Vocab,
    ) -> Result<Self, Error> {
        if count >= NO_RANK as usize {
            let found = format!("{count} merges");
            return Err(Error::new(ErrorKind::Vocabulary, "model.merges", found, "fewer"));
        }
        let mut collected = Self { list: Vec::with_capacity(count), may_repeat: false, duplicate: None };
        let (mut joined, mut likely) = (String::new(), 0);
        for (rank, sides) in merges.enumerate() {
            let place = format_args!("model.merges[{rank}]");
            let merge = sides.and_then(|sides| {
                collected.may_repeat |= sides[1].0.len() == prefix.len();
                merge_of(sides, prefix, likely, vocab, &mut joined)
            });
            let merge = merge.map_err(|error| error.into_error(place))?;
            likely = merge.merged + 1;
            collected.list.push(merge);
        }
        collected.duplicate = first_duplicate(&collected.list, vocab.id_bound());
        Ok(collected)
    }
}

/// Return the ranks of the first merge that equals an earlier one. All ids are below `bound`. Compare only merges that
/// make the same token, of which there are few.
fn first_duplicate(merges: &[MergeIds], bound: usize) -> Option<(usize, usize)> {
    const NONE: u32 = u32::MAX;
    let mut last_to = vec![NONE; bound];
    let mut previous = Vec::with_capacity(merges.len());
    for (rank, merge) in merges.iter().enumerate() {
        let last = std::mem::replace(&mut last_to[merge.merged as usize], rank as u32);
        let mut earlier = last;
        while earlier != NONE {
            if merges[earlier as usize] == *merge {
                return Some((earlier as usize, rank));
            }
            earlier = previous[earlier as usize];
        }
        previous.push(last);
    }
    None
}

/// An invalid merge.
struct InvalidMerge {
    found: String,
    expected: &'static str,
}

impl InvalidMerge {
    fn absent(token: &str) -> Self {
        let found = format!("{token:?}, which is not in the vocabulary");
        Self { found, expected: "two entries of the vocabulary that join to an entry" }
    }

    fn without_token(id: u32) -> Self {
        Self { found: format!("{id}, which is the id of no token"), expected: "ids of entries" }
    }

    fn into_error(self, place: std::fmt::Arguments) -> Error {
        Error::new(ErrorKind::Vocabulary, place.to_string(), self.found, self.expected)
    }
}

/// Reject a merge with an empty token.
fn check_sides([left, right]: [&str; 2]) -> Result<(), InvalidMerge> {
    if !left.is_empty() && !right.is_empty() {
        return Ok(());
    }
    let found = format!("{left:?} and {right:?}");
    Err(InvalidMerge { found, expected: "two entries, neither of them empty" })
}

/// Return the ids of a merge of two tokens. Remove the prefix of the right token by its length alone, like `tokenizers`.
/// Compare the merged text with the token `likely` before looking it up: most vocabularies number tokens in the order of
/// their merges.
fn merge_of(
    [(left, left_id), (right, right_id)]: [(&str, u32); 2],
    prefix: &str,
    likely: u32,
    vocab: &Vocab,
    joined: &mut String,
) -> Result<MergeIds, InvalidMerge> {
    let bare = right.get(prefix.len()..).ok_or_else(|| InvalidMerge {
        found: format!("{right:?} on the right, which does not begin with {prefix:?}"),
        expected: "an entry with the continuing_subword_prefix",
    })?;
    let is_join = |token: &str| token.strip_prefix(left) == Some(bare);
    if vocab.token_of(likely).is_some_and(is_join) {
        return Ok(MergeIds { left: left_id, right: right_id, merged: likely });
    }
    joined.clear();
    joined.push_str(left);
    joined.push_str(bare);
    let merged = vocab.id_of(joined).ok_or_else(|| InvalidMerge::absent(joined))?;
    Ok(MergeIds { left: left_id, right: right_id, merged })
}
