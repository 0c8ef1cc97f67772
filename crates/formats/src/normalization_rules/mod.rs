//! Normalization rules of SentencePiece: by name, as pairs of texts, as rule files, and compiled.
//!
//! Compiled rules are a `precompiled_charsmap`, which specifications hold and normalizers apply. Compiling and
//! decompiling lose nothing.
//!
//! ```text
//! named      the rules that SentencePiece knows by name
//! tsv        rule files
//! compile    pairs -> charsmap: checks, the pool of replacements, the trie of sources and its units
//! decompile  charsmap -> pairs
//! ```

mod compile;
mod decompile;
mod named;
#[cfg(test)]
mod tests;
mod tsv;

use piecework_core::error::{Error, ErrorKind};

pub use named::RULE_NAMES;

/// A source and its replacement.
pub type Pair = (String, String);

/// Compile the named rules, one of [`RULE_NAMES`]; takes about half a second.
#[must_use]
pub fn compile_named(name: &str) -> Option<Vec<u8>> {
    let rules: Vec<Pair> = named::rules(name)?.into_iter().collect();
    compile::compile(&rules).ok()
}

/// Compile pairs in any order; no pairs compile to no bytes. Errors name the source.
pub fn compile_pairs(pairs: &[Pair]) -> Result<Vec<u8>, Error> {
    let place = |rule: usize| format!("rules[{:?}]", pairs[rule].0);
    compile::compile(pairs).map_err(|error| error.at_place(ErrorKind::Argument, "rules", place))
}

/// Read and compile a rule file. Errors name the line.
pub fn compile_tsv(bytes: &[u8]) -> Result<Vec<u8>, Error> {
    let place = |rule: usize| format!("line {}", rule + 1);
    compile::compile(&tsv::read(bytes)?).map_err(|error| error.at_place(ErrorKind::Format, "rules", place))
}

/// Return the rules of a charsmap, ordered by source.
pub fn decompile(charsmap: &[u8]) -> Result<Vec<Pair>, Error> {
    decompile::pairs(charsmap)
}

/// Write the rules of a charsmap as a rule file.
pub fn write_tsv(charsmap: &[u8]) -> Result<Vec<u8>, Error> {
    Ok(tsv::write(&decompile(charsmap)?))
}
