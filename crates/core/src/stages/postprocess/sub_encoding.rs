//! Encodings during compilation: lists of sequences and special tokens, which processors pass to each
//! other.

use super::trim::Trim;
use crate::error::{Error, ErrorKind};
use crate::vocab::MAX_ID;

/// The most items of a list, and the most tokens that it inserts.
pub(super) const MAX_ITEMS: usize = 1 << 12;
const MAX_INSERTED: usize = 1 << 16;

/// One item of an encoding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum FrameItem {
    /// An input sequence, whose offsets each of `trims` trims in order.
    Sequence { index: usize, type_id: u32, trims: Vec<Trim> },
    /// Inserted tokens.
    Special { ids: Vec<u32>, type_id: u32 },
}

/// An encoding as a processor sees it; processors number these.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SubEncoding {
    pub(super) items: Vec<FrameItem>,
}

impl FrameItem {
    pub(super) fn special(id: u32, type_id: u32) -> Self {
        Self::Special { ids: vec![id], type_id }
    }

    pub(super) fn inserted(&self) -> usize {
        match self {
            Self::Sequence { .. } => 0,
            Self::Special { ids, .. } => ids.len(),
        }
    }

    /// Return whether it is a sequence whose offsets are trimmed.
    pub(super) fn trims(&self) -> bool {
        matches!(self, Self::Sequence { trims, .. } if !trims.is_empty())
    }

    pub(super) fn type_id(&self) -> u32 {
        match self {
            Self::Sequence { type_id, .. } | Self::Special { type_id, .. } => *type_id,
        }
    }

    fn set_type_id(&mut self, new: u32) {
        match self {
            Self::Sequence { type_id, .. } | Self::Special { type_id, .. } => *type_id = new,
        }
    }
}

impl SubEncoding {
    pub(super) fn sequence(index: usize, type_id: u32) -> Self {
        Self { items: vec![FrameItem::Sequence { index, type_id, trims: Vec::new() }] }
    }

    pub(super) fn special(ids: Vec<u32>, type_id: u32) -> Self {
        Self { items: vec![FrameItem::Special { ids, type_id }] }
    }

    /// Set one type id for all items.
    pub(super) fn typed(mut self, type_id: u32) -> Self {
        self.items.iter_mut().for_each(|item| item.set_type_id(type_id));
        self
    }

    /// Trim the offsets of its sequences.
    pub(super) fn trimmed(mut self, add_prefix_space: bool) -> Self {
        for (at, item) in self.items.iter_mut().enumerate() {
            if let FrameItem::Sequence { trims, .. } = item {
                trims.push(Trim { add_prefix_space, leads: at == 0 });
            }
        }
        self
    }

    /// Add tokens around it.
    pub(super) fn between(mut self, before: Option<FrameItem>, after: FrameItem) -> Self {
        self.items.splice(0..0, before);
        self.items.push(after);
        self
    }
}

/// Return an error for ids above the limit.
pub(super) fn check_ids(ids: &[u32], place: &str) -> Result<(), Error> {
    match ids.iter().find(|&&id| id > MAX_ID) {
        Some(id) => Err(Error::new(ErrorKind::Format, place, format!("id {id}"), "a smaller id")),
        None => Ok(()),
    }
}

/// Return an error for too many items, or inserted tokens.
pub(super) fn check_items<'i>(items: impl Iterator<Item = &'i FrameItem> + Clone) -> Result<(), Error> {
    let inserted: usize = items.clone().map(FrameItem::inserted).sum();
    let count = items.count();
    if count <= MAX_ITEMS && inserted <= MAX_INSERTED {
        return Ok(());
    }
    let found = format!("{count} items and {inserted} inserted tokens");
    let expected = format!("at most {MAX_ITEMS} and {MAX_INSERTED}");
    Err(Error::new(ErrorKind::Format, "post_processor", found, expected))
}
