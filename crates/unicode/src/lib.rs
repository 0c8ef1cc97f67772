//! Character classes, normalization forms and scripts, from pinned Unicode tables.

#![forbid(unsafe_code)]

mod char_table;
mod classes;
mod mappings;
mod normal_forms;
mod recent;
#[rustfmt::skip]
mod recent_tables;
mod scripts;
#[rustfmt::skip]
mod tables;
mod utf8;

pub use char_table::{char_class, find_char_class, CharTable};
pub use classes::{class_block, class_of, Class};
pub use mappings::lowercase;
pub use normal_forms::{combining_class, compose, decompose, decompose_for, FormTraits, NormalForm};
pub use recent::{compose_recent, decompose_recent, fold_case};
pub use scripts::{script_of, Script};
pub use utf8::{begins_char, char_count, char_len, next_char_start, previous_char_start, wide_char_at};

/// The versions of the Unicode data in use.
pub const UNICODE_VERSION: &str = "categories 8.0, normal forms 9.0, lowercase 17.0";
