//! The decode tables of a tokenizer, built when they pay for themselves.

use std::sync::{Arc, Mutex};

use crate::decode::DecodeTable;
use crate::locks::try_lock;

/// A decode table for each setting of `clean_up`.
#[derive(Clone, Debug, Default)]
pub(super) struct DecodeTables(pub(super) Arc<[Mutex<TableSlot>; 3]>);

/// `None` until the table is built; the inner `None` if the decoder has no table.
type TableSlot = Option<Arc<Option<DecodeTable>>>;

/// The minimum number of ids for which a table is built.
pub(super) const MIN_IDS: usize = 256;

impl DecodeTables {
    /// Returns the table of a setting, or nothing if it is not built or another thread builds it.
    pub(super) fn get(
        &self,
        clean_up: Option<bool>,
        ids: usize,
        make: impl FnOnce() -> Option<DecodeTable>,
    ) -> Arc<Option<DecodeTable>> {
        let Some(mut made) = try_lock(&self.0[clean_up.map_or(2, usize::from)]) else {
            return Arc::default();
        };
        match &*made {
            Some(made) => Arc::clone(made),
            None if ids < MIN_IDS => Arc::default(),
            None => Arc::clone(made.insert(Arc::new(make()))),
        }
    }
}
