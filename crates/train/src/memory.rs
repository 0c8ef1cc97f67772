//! Memory of trainers: reservations that fail with an error instead of an abort.

use piecework_core::error::{Error, ErrorKind};

/// Reserve memory for exactly `additional` more items.
pub(super) fn reserve<T>(items: &mut Vec<T>, additional: usize) -> Result<(), Error> {
    let bytes = additional.saturating_mul(size_of::<T>());
    items.try_reserve_exact(additional).map_err(|_| out_of_memory(bytes))
}

/// Fail unless the system provides `bytes` bytes in one block, which is released at once.
///
/// Called before a training starts, because not every later allocation can fail with an error.
///
/// ```
/// assert!(piecework_train::check_available(1 << 20).is_ok());
/// assert!(piecework_train::check_available(usize::MAX).is_err());
/// ```
pub fn check_available(bytes: usize) -> Result<(), Error> {
    reserve(&mut Vec::<u8>::new(), bytes)
}

/// Return the error for memory that the system does not provide.
pub(super) fn out_of_memory(bytes: usize) -> Error {
    let found = format!("an allocation of {} MB failed", bytes.div_ceil(1_000_000));
    let expected = "more memory, fewer distinct words, or a lower memory budget, which drops rare words";
    Error::new(ErrorKind::Memory, "training", found, expected)
}
