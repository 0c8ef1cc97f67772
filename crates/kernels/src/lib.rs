//! Byte-level inner loops. The only crate with `unsafe`: every block is argued, and every accelerated
//! routine has a scalar twin that defines it and is always compiled.

pub mod array;
pub mod arrow;
pub mod ascii;
pub mod buckets;
pub mod classes;
pub mod huge_pages;
pub mod level;
pub mod merges;
pub mod positions;
pub mod prefetch;
pub mod utf16;

/// The number of cases of a test: the first, or the second where Miri interprets it.
#[cfg(test)]
const fn cases(compiled: usize, interpreted: usize) -> usize {
    if cfg!(miri) {
        interpreted
    } else {
        compiled
    }
}
