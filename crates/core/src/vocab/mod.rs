//! Vocabularies: tokens and their ids.
//!
//! ```text
//! table     the tables of a vocabulary, and lookups
//! limits    limits of ids, tokens and vocabularies
//! compile   compilation from entries
//! sections  the tables as sections of a compiled cache
//! ```

mod compile;
mod limits;
mod sections;
mod table;

pub(crate) use limits::{check_lens, max_id_of};
pub use limits::{token_too_long, MAX_ID, MAX_TOKEN_BYTES, MAX_VOCAB_BYTES};
pub use table::Vocab;
