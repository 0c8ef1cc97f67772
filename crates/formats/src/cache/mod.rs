//! Compiled caches: a tokenizer with its built tables.
//!
//! A file has a header, a list of sections, and the sections: arrays of numbers or text that begin at multiples
//! of 64 bytes. A checksum covers everything after it, so truncated and changed files are rejected. A cache
//! can be read only by the version of the library that wrote it; it is not a format for storage.

mod container;
mod entries;

use std::hash::Hasher;

use piecework_core::error::{Error, ErrorKind};
use piecework_core::spec::{ModelSpec, ParseSpecial, TokenizerSpec, WordSpec};
use piecework_core::table_sections::{damaged, Array, TableSections, RANKS};
use piecework_core::vocab::Vocab;
use xxhash_rust::xxh3::Xxh3;

use crate::tokenizer_json;

pub use container::is_cache;

/// Adds the entries of the sections to the settings of a model.
pub type ReadEntries = fn(&ModelSpec, &Vocab, &TableSections) -> Result<ModelSpec, Error>;

/// What a cache holds.
#[derive(Debug)]
pub struct CompiledCache {
    /// What the tables were built from; if there is `read_entries`, without the entries of the model.
    pub spec: TokenizerSpec,
    /// Adds the entries of the model to `spec`, and does not fail for `vocab` and `parts`.
    pub read_entries: Option<ReadEntries>,
    /// The entries of its model, compiled.
    pub vocab: Vocab,
    /// The other tables, as named arrays.
    pub parts: TableSections,
    /// Which special tokens the tokenizer parses in text.
    pub parse_special: ParseSpecial,
    /// What the writer knew of the source; see [`fingerprint`].
    pub key: Vec<u8>,
}

impl CompiledCache {
    /// Return the specification with the entries of its model.
    pub fn whole_spec(&self) -> Result<TokenizerSpec, Error> {
        let Some(read_entries) = self.read_entries else { return Ok(self.spec.clone()) };
        let model = read_entries(&self.spec.model, &self.vocab, &self.parts)?;
        Ok(TokenizerSpec { model, ..self.spec.clone() })
    }
}

const SPEC: &str = "spec";
const PARSE_SPECIAL: &str = "parse_special";
const KEY: &str = "key";

/// Write a cache; `parts` are the tables of the tokenizer of this specification.
///
/// Custom stages are an error: a file cannot hold their functions.
pub fn write(
    spec: &TokenizerSpec,
    parts: &TableSections,
    parse_special: ParseSpecial,
    key: &[u8],
) -> Result<Vec<u8>, Error> {
    let mut sections = TableSections::default();
    let bytes = |text: &[u8]| Array::from(text.to_vec());
    sections.put(PARSE_SPECIAL, &bytes(parse_special.as_json().as_bytes()));
    sections.put(KEY, &bytes(key));
    sections.put(SPEC, &bytes(tokenizer_json::write(&stages_of(spec), false).as_bytes()));
    entries::add(&spec.model, parts.has(RANKS), &mut sections)?;
    parts.iter().for_each(|(name, values)| sections.put(name, values));
    // What cannot be read back as it was must not be written: custom stages, say.
    let read = read_sections(sections.clone())?;
    if read.whole_spec()? != *spec {
        let expected = "a specification that a file can hold";
        return Err(Error::new(
            ErrorKind::Vocabulary,
            "spec",
            "one that changes when it is read",
            expected,
        ));
    }
    Ok(container::write(&sections))
}

/// Read a cache.
pub fn read(bytes: &Array<u8>) -> Result<CompiledCache, Error> {
    read_sections(container::read(bytes)?)
}

/// Return a number of 128 bits that tells sources apart: their bytes, and all that was said about them.
#[must_use]
pub fn fingerprint(sources: &[&[u8]]) -> [u8; 16] {
    let mut hasher = Xxh3::new();
    for source in sources {
        hasher.write_u64(source.len() as u64);
        hasher.update(source);
    }
    hasher.digest128().to_le_bytes()
}

fn read_sections(parts: TableSections) -> Result<CompiledCache, Error> {
    let text = |name: &str| {
        String::from_utf8(parts.get::<u8>(name)?.to_vec()).map_err(|error| damaged(name, error.to_string()))
    };
    let mut spec = tokenizer_json::read(&parts.get::<u8>(SPEC)?)?;
    let vocab = Vocab::restore(&parts)?;
    let settings = entries::settings(&parts)?;
    let read_entries = if let ModelSpec::Bpe(_) = settings {
        entries::check_ids(&vocab, &parts)?;
        spec.model = settings;
        Some(entries::with_entries as ReadEntries)
    } else {
        spec.model = entries::with_entries(&settings, &vocab, &parts)?;
        None
    };
    let value = text(PARSE_SPECIAL)?;
    let parse_special = ParseSpecial::from_json(&value).ok_or_else(|| damaged(PARSE_SPECIAL, value))?;
    Ok(CompiledCache {
        spec,
        read_entries,
        vocab,
        parse_special,
        key: parts.get::<u8>(KEY)?.to_vec(),
        parts,
    })
}

/// Return the specification without the model.
fn stages_of(spec: &TokenizerSpec) -> TokenizerSpec {
    TokenizerSpec {
        model: ModelSpec::Word(WordSpec { vocab: Vec::new(), unk_token: String::new() }),
        truncation: spec.truncation.clone(),
        padding: spec.padding.clone(),
        added_tokens: spec.added_tokens.clone(),
        normalizer: spec.normalizer.clone(),
        pre_tokenizer: spec.pre_tokenizer.clone(),
        post_processor: spec.post_processor.clone(),
        decoder: spec.decoder.clone(),
    }
}
