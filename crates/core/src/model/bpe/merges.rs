//! The token ids of all merges, by rank.

use crate::error::{Error, ErrorKind};
use crate::spec::BpeSpec;
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
    /// Look up the tokens of all merges.
    pub(super) fn compile(spec: &BpeSpec, vocab: &Vocab) -> Result<Self, Error> {
        if spec.merges.len() >= NO_RANK as usize {
            let found = format!("{} merges", spec.merges.len());
            return Err(Error::new(ErrorKind::Vocabulary, "model.merges", found, "fewer"));
        }
        let prefix = spec.continuing_subword_prefix.as_deref().unwrap_or_default();
        let list = Vec::with_capacity(spec.merges.len());
        let mut merges = Self { list, may_repeat: false, duplicate: None };
        let (mut printable, mut likely) = (String::new(), 0);
        for (rank, (left, right)) in spec.merges.iter().enumerate() {
            let place = format_args!("model.merges[{rank}]");
            let merge = entries_of(left, right, prefix, likely, vocab, &mut printable);
            let merge = merge.map_err(|error| error.into_error(place))?;
            likely = merge.merged + 1;
            merges.list.push(merge);
            merges.may_repeat |= right.len() == prefix.len();
        }
        merges.duplicate = first_duplicate(&merges.list, vocab.id_bound());
        Ok(merges)
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

    fn into_error(self, place: std::fmt::Arguments) -> Error {
        Error::new(ErrorKind::Vocabulary, place.to_string(), self.found, self.expected)
    }
}

/// Return the tokens of a merge. Remove the prefix of the right token by its length alone, like `tokenizers`. Compare
/// the merged text with the token `likely` before looking it up: most vocabularies number tokens in the order of their
/// merges.
fn entries_of(
    left: &str,
    right: &str,
    prefix: &str,
    likely: u32,
    vocab: &Vocab,
    merged: &mut String,
) -> Result<MergeIds, InvalidMerge> {
    if left.is_empty() || right.is_empty() {
        let found = format!("{left:?} and {right:?}");
        return Err(InvalidMerge { found, expected: "two entries, neither of them empty" });
    }
    let id_of = |token: &str| vocab.id_of(token).ok_or_else(|| InvalidMerge::absent(token));
    let (left_id, right_id) = (id_of(left)?, id_of(right)?);
    let bare = right.get(prefix.len()..).ok_or_else(|| InvalidMerge {
        found: format!("{right:?} on the right, which does not begin with {prefix:?}"),
        expected: "an entry with the continuing_subword_prefix",
    })?;
    let is_join = |token: &str| token.strip_prefix(left) == Some(bare);
    if vocab.token_of(likely).is_some_and(is_join) {
        return Ok(MergeIds { left: left_id, right: right_id, merged: likely });
    }
    merged.clear();
    merged.push_str(left);
    merged.push_str(bare);
    Ok(MergeIds { left: left_id, right: right_id, merged: id_of(merged)? })
}
