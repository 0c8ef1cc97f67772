//! Where a text may be taken apart without any change to its segmentation.
//!
//! No piece of most models has a space inside, only at the beginning (or, by a setting, at the end).
//! Then no piece crosses the place before a space that follows something else, the best path goes
//! through it, and no merge joins what it parts. The space must be a piece itself: otherwise it could be
//! unknown together with its neighbour.

use crate::spec::{PieceType, ScoredPiece, SentencePieceKind, SentencePieceSpec};

pub(super) const MARK: char = '\u{2581}';
const MARK_UTF8: &[u8] = "\u{2581}".as_bytes();

/// Where a text may be cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// Before a space that does not follow one.
    BeforeSpace,
    /// After a space that does not precede one.
    AfterSpace,
}

impl Cut {
    /// The end of the part that begins at byte `start`.
    #[inline]
    #[must_use]
    pub fn next(self, text: &str, start: usize) -> usize {
        let bytes = text.as_bytes();
        let mut from = start;
        while let Some(found) = memchr::memchr(MARK_UTF8[0], &bytes[from..]) {
            let at = from + found;
            if !bytes[at..].starts_with(MARK_UTF8) {
                from = at + 1;
                continue;
            }
            from = at + MARK_UTF8.len();
            let cut = match self {
                Self::BeforeSpace if at > start && !bytes[start..at].ends_with(MARK_UTF8) => at,
                Self::AfterSpace if from < bytes.len() && !bytes[from..].starts_with(MARK_UTF8) => from,
                _ => continue,
            };
            return cut;
        }
        bytes.len()
    }
}

/// Where texts may be cut for a model.
pub(super) fn cut_of(spec: &SentencePieceSpec) -> Option<Cut> {
    let found = |piece: &&ScoredPiece| {
        matches!(piece.kind, PieceType::Normal | PieceType::UserDefined | PieceType::Unused)
    };
    let has_unused = spec.pieces.iter().any(|piece| piece.kind == PieceType::Unused);
    // How BPE takes an unused piece apart depends on the whole text.
    let is_whole = match spec.kind {
        SentencePieceKind::Unigram => false,
        SentencePieceKind::Bpe => has_unused,
        SentencePieceKind::Word | SentencePieceKind::Char => true,
    };
    let is_space = |piece: &ScoredPiece| {
        piece.kind != PieceType::Unused && piece.text.strip_prefix(MARK).is_some_and(str::is_empty)
    };
    if is_whole || !spec.pieces.iter().filter(found).any(is_space) {
        return None;
    }
    let crosses = |cut: Cut| spec.pieces.iter().filter(found).any(|piece| has_cut(&piece.text, cut));
    [Cut::BeforeSpace, Cut::AfterSpace].into_iter().find(|&cut| !crosses(cut))
}

fn has_cut(piece: &str, cut: Cut) -> bool {
    let pairs = piece.chars().zip(piece.chars().skip(1));
    pairs.into_iter().any(|(before, after)| match cut {
        Cut::BeforeSpace => before != MARK && after == MARK,
        Cut::AfterSpace => before == MARK && after != MARK,
    })
}
