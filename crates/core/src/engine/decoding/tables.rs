//! The decode tables of a tokenizer, built when they pay for themselves.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use crate::locks::Late;
use crate::stages::decode::DecodeTable;

/// A decode table for each setting of `clean_up`.
#[derive(Debug, Default)]
pub(in super::super) struct DecodeTables([TableSlot; 3]);

/// The table of one setting, and how many ids were decoded without it.
#[derive(Debug, Default)]
struct TableSlot {
    /// `None` if the decoder has no table.
    table: Late<Option<DecodeTable>>,
    decoded: AtomicUsize,
}

/// The minimum number of ids of a call that builds a table.
pub(super) const MIN_IDS: usize = 256;
/// The number of ids of smaller calls, such as the steps of streams, after which a table is built.
pub(super) const MIN_IDS_OF_ALL: usize = 1 << 14;

impl DecodeTables {
    /// Return the table of a setting for a call with `ids` ids. `None` if the decoder has none, if it does not pay for
    /// itself yet, and while another thread makes it.
    pub(super) fn get(
        &self,
        clean_up: Option<bool>,
        ids: usize,
        make: impl FnOnce() -> Option<DecodeTable>,
    ) -> Option<&DecodeTable> {
        let TableSlot { table, decoded } = self.slot(clean_up);
        if let Some(table) = table.get() {
            return table.as_ref();
        }
        let all = decoded.fetch_add(ids, Relaxed).saturating_add(ids);
        match ids < MIN_IDS && all < MIN_IDS_OF_ALL {
            true => None,
            false => table.get_or_build(make)?.as_ref(),
        }
    }

    /// Make the table of a setting if it is not made.
    pub(in super::super) fn warm_up(
        &self,
        clean_up: Option<bool>,
        make: impl FnOnce() -> Option<DecodeTable>,
    ) {
        self.slot(clean_up).table.get_or_make(make);
    }

    /// Return the table of a setting if it is made; the inner option is `None` if the decoder has none.
    #[cfg(test)]
    pub(super) fn made(&self, clean_up: Option<bool>) -> Option<Option<&DecodeTable>> {
        self.slot(clean_up).table.get().map(Option::as_ref)
    }

    fn slot(&self, clean_up: Option<bool>) -> &TableSlot {
        &self.0[clean_up.map_or(2, usize::from)]
    }
}
