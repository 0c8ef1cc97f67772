//! Where a text can be split without changing its segmentation.
//!
//! No piece of most models has a metaspace inside, only at the beginning. Then no piece and no merge crosses the position
//! before a metaspace that follows something else. The metaspace must be a piece itself: otherwise it could be unknown
//! together with its neighbor.

use crate::spec::{PieceType, ScoredPiece, SentencePieceKind, SentencePieceSpec};
use crate::text::{METASPACE, METASPACE_STR};

const METASPACE_UTF8: &[u8] = METASPACE_STR.as_bytes();

/// Return the end of the part that begins at byte `start`: before a metaspace that does not follow one.
#[inline]
pub(crate) fn part_end(text: &str, start: usize) -> usize {
    let bytes = text.as_bytes();
    let mut from = start;
    while let Some(found) = memchr::memchr(METASPACE_UTF8[0], &bytes[from..]) {
        let at = from + found;
        if !bytes[at..].starts_with(METASPACE_UTF8) {
            from = at + 1;
            continue;
        }
        from = at + METASPACE_UTF8.len();
        if at > start && !bytes[start..at].ends_with(METASPACE_UTF8) {
            return at;
        }
    }
    bytes.len()
}

/// Return whether texts can be split at these positions for a model.
pub(super) fn splits(spec: &SentencePieceSpec) -> bool {
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
    let has_metaspace_inside = |piece: &ScoredPiece| {
        let pairs = piece.text.chars().zip(piece.text.chars().skip(1));
        pairs.into_iter().any(|(before, after)| before != METASPACE && after == METASPACE)
    };
    !is_whole
        && spec.pieces.iter().filter(found).any(is_space)
        && !spec.pieces.iter().filter(found).any(has_metaspace_inside)
}
