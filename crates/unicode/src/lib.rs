//! Character classes, normalization forms and scripts, from pinned Unicode tables.

#![forbid(unsafe_code)]

mod char_table;
mod recent;
#[rustfmt::skip]
mod recent_tables;
mod scripts;
#[rustfmt::skip]
mod tables;
mod unicode;
mod utf8;

pub use char_table::{char_class, find_char_class, CharTable};
pub use recent::{compose_recent, decompose_recent, fold_case};
pub use scripts::{script_of, Script};
pub use unicode::{
    class_block, class_of, combining_class, compose, decompose, decompose_for, lowercase, Class,
    FormTraits, NormalForm, UNICODE_VERSION,
};
pub use utf8::{begins_char, char_count, char_len, next_char_start, previous_char_start, wide_char_at};
