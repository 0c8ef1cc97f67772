//! Character classes, normalization forms, scripts and UTF-8 steps, from pinned Unicode tables; maps of all code
//! points.
//!
//! Ids must not change with the Unicode version of a dependency, so each function names the version of its
//! data. `make unicode-tables` writes `tables.rs` and `recent_tables.rs` (tools/unicode-tables). Classes
//! that are written as regular expressions use the data of `regex-syntax` (Unicode 16.0).

#![forbid(unsafe_code)]

mod char_class;
mod classes;
mod code_point_map;
mod normal_forms;
#[rustfmt::skip]
mod recent_tables;
mod row;
mod scripts;
#[rustfmt::skip]
mod tables;
mod utf8;

pub use char_class::{char_class, find_char_class};
pub use classes::{class_block, class_of, Class};
pub use code_point_map::{CodePointMap, CodePointMapBuilder, PAGE};
pub use normal_forms::{
    combining_class, compose, compose_recent, decompose, decompose_for, decompose_recent, fold_case,
    lowercase, FormTraits, NormalForm,
};
pub use scripts::{script_of, Script};
pub use utf8::{begins_char, char_count, char_len, next_char_start, previous_char_start, wide_char_at};

/// The versions of the Unicode data of BERT and of the normalization forms, which are those of tokenizers
/// 0.23.
pub const UNICODE_VERSION: &str = "categories 8.0, normal forms 9.0, lowercase 17.0";
