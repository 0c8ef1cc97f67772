//! The decode tables of a tokenizer, built when they pay for themselves.

use std::sync::{Arc, Mutex};

use crate::locks::try_lock;
use crate::stages::decode::DecodeTable;

/// A decode table for each setting of `clean_up`.
#[derive(Clone, Debug, Default)]
pub(super) struct DecodeTables(pub(super) Arc<[Mutex<TableSlot>; 3]>);

/// The table of one setting, and how many ids were decoded without it.
#[derive(Clone, Debug, Default)]
pub(super) struct TableSlot {
    /// `None` until the table is built; the inner `None` if the decoder has no table.
    pub(super) table: Option<Arc<Option<DecodeTable>>>,
    decoded: usize,
}

/// The minimum number of ids of a call that builds a table.
pub(super) const MIN_IDS: usize = 256;
/// The number of ids of smaller calls, such as the steps of streams, after which a table is built.
pub(super) const MIN_IDS_OF_ALL: usize = 1 << 14;

impl DecodeTables {
    /// Return the table of a setting, or nothing if it is not built or another thread builds it.
    pub(super) fn get(
        &self,
        clean_up: Option<bool>,
        ids: usize,
        make: impl FnOnce() -> Option<DecodeTable>,
    ) -> Arc<Option<DecodeTable>> {
        let Some(mut slot) = try_lock(&self.0[clean_up.map_or(2, usize::from)]) else {
            return Arc::default();
        };
        if let Some(table) = &slot.table {
            return Arc::clone(table);
        }
        slot.decoded += ids;
        match ids < MIN_IDS && slot.decoded < MIN_IDS_OF_ALL {
            true => Arc::default(),
            false => Arc::clone(slot.table.insert(Arc::new(make()))),
        }
    }
}
