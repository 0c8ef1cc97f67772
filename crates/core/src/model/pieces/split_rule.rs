//! Where a text can be split without changing its segmentation.
//!
//! No piece of most models has a metaspace inside, only at the beginning (or, by a setting, at the end). Then no
//! piece and no merge crosses the position before a metaspace that follows something else. The metaspace must be a
//! piece itself: otherwise it could be unknown together with its neighbor.

use crate::spec::{PieceType, ScoredPiece, SentencePieceKind, SentencePieceSpec};
use crate::text::{METASPACE, METASPACE_STR};

const METASPACE_UTF8: &[u8] = METASPACE_STR.as_bytes();

/// Where a text can be split.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SplitRule {
    /// Before a metaspace that does not follow one.
    BeforeSpace,
    /// After a metaspace that does not precede one.
    AfterSpace,
}

impl SplitRule {
    /// Return the end of the part that begins at byte `start`.
    #[inline]
    #[must_use]
    pub fn next(self, text: &str, start: usize) -> usize {
        let bytes = text.as_bytes();
        let mut from = start;
        while let Some(found) = memchr::memchr(METASPACE_UTF8[0], &bytes[from..]) {
            let at = from + found;
            if !bytes[at..].starts_with(METASPACE_UTF8) {
                from = at + 1;
                continue;
            }
            from = at + METASPACE_UTF8.len();
            let end = match self {
                Self::BeforeSpace if at > start && !bytes[start..at].ends_with(METASPACE_UTF8) => at,
                Self::AfterSpace if from < bytes.len() && !bytes[from..].starts_with(METASPACE_UTF8) => {
                    from
                }
                _ => continue,
            };
            return end;
        }
        bytes.len()
    }
}

/// Return where texts can be split for a model.
pub(super) fn split_rule_of(spec: &SentencePieceSpec) -> Option<SplitRule> {
    let found = |piece: &&ScoredPiece| {
        matches!(piece.kind, PieceType::Normal | PieceType::UserDefined | PieceType::Unused)
    };
    let has_unused = spec.pieces.iter().any(|piece| piece.kind == PieceType::Unused);
    // How BPE splits an unused piece depends on the whole text.
    let is_whole = match spec.kind {
        SentencePieceKind::Unigram => false,
        SentencePieceKind::Bpe => has_unused,
        SentencePieceKind::Word | SentencePieceKind::Char => true,
    };
    let is_space = |piece: &ScoredPiece| {
        piece.kind != PieceType::Unused && piece.text.strip_prefix(METASPACE).is_some_and(str::is_empty)
    };
    if is_whole || !spec.pieces.iter().filter(found).any(is_space) {
        return None;
    }
    let crosses = |split_rule: SplitRule| {
        spec.pieces.iter().filter(found).any(|piece| is_split_inside(&piece.text, split_rule))
    };
    [SplitRule::BeforeSpace, SplitRule::AfterSpace].into_iter().find(|&split_rule| !crosses(split_rule))
}

fn is_split_inside(piece: &str, split_rule: SplitRule) -> bool {
    let pairs = piece.chars().zip(piece.chars().skip(1));
    pairs.into_iter().any(|(before, after)| match split_rule {
        SplitRule::BeforeSpace => before != METASPACE && after == METASPACE,
        SplitRule::AfterSpace => before == METASPACE && after != METASPACE,
    })
}
