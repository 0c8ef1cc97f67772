//! SIMD loops, the Arrow import, and values that are set once: the only crate with `unsafe`.
//!
//! Every `unsafe` block has a safety comment. Every accelerated routine has a scalar definition, which is always
//! compiled.

pub mod array;
pub mod arrow;
pub mod buckets;
pub mod classes;
pub mod code_units;
pub mod huge_pages;
pub mod level;
pub mod merges;
pub mod once;
pub mod positions;
pub mod utf16;
pub mod wide_classes;

/// Return the number of cases of a test: the first, or the second where Miri interprets it.
#[cfg(test)]
const fn cases(compiled: usize, interpreted: usize) -> usize {
    if cfg!(miri) {
        interpreted
    } else {
        compiled
    }
}
