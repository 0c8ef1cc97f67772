//! A bound on how much longer than its source a text may become: rules that write more than they match could
//! otherwise fill the memory (sixty times `a` to `aa` makes 10^18 letters of one).

/// How often the length of a text may be multiplied.
pub const MAX_GROWTH: usize = 1024;
const ALWAYS_ALLOWED: usize = 1 << 20;

/// The most bytes that may be made of a text of `len` bytes; offsets of what is made fit 32 bits.
#[must_use]
pub fn max_grown_len(len: usize) -> usize {
    len.saturating_mul(MAX_GROWTH).saturating_add(ALWAYS_ALLOWED).min(u32::MAX as usize)
}
