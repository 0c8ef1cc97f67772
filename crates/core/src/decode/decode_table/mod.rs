//! Decoding by one look-up a token: what each id adds to a text is written down once, then gathered.
//!
//! Made from a decoder's stages where a token adds the same wherever it stands, but for the first or the
//! last of a text and for bytes; any other decoder has none, and its stages run.

mod build;
mod layout;
mod run;

pub use layout::DecodeTable;
pub use run::DecodeInput;
