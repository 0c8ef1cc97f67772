//! Tokenizer files to tokenizers.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek};
use std::path::Path;

use piecework_core::engine::{self, Origin};
use piecework_core::error::{Error as CoreError, ErrorKind as CoreKind};
use piecework_core::ranks::RanksSpec;
use piecework_core::spec::{ParseSpecial as Stored, TokenizerSpec};
use piecework_core::stages::pretokenize::{refuse_empty_matches, without_empty_matches};
use piecework_core::table_sections::Array;
use piecework_formats::{
    Format, cache, clip, detect, gguf, piecework_file, sentencepiece, tekken, tiktoken, tokenizer_json,
    vocab_merges, vocab_txt,
};

use crate::{Error, ParseSpecial, Tokenizer};

/// The first bytes of a gzip file.
const GZIP: &[u8] = b"\x1F\x8B";
/// The number of bytes by which a GGUF file is recognized.
const HEAD_BYTES: u64 = 8;

/// Settings that some formats do not contain. A setting that a format does contain is an error.
///
/// ```
/// use piecework::{LoadOptions, Tokenizer};
///
/// let options = LoadOptions::new().lowercase(false);
/// let tokenizer = Tokenizer::from_bytes_with(b"[UNK]\nhug\n", &options)?;
/// assert_eq!(tokenizer.encode_ids("hug Hug")?, [1, 0]);
/// # Ok::<(), piecework::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LoadOptions {
    lowercase: Option<bool>,
    merges: Option<Vec<u8>>,
    patterns: Vec<String>,
    special_tokens: Vec<(String, u32)>,
}

impl LoadOptions {
    /// Return options without any setting.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Set whether a `vocab.txt`, or a BERT model in a GGUF file, is lowercased. By default its entries decide.
    #[must_use]
    pub fn lowercase(mut self, lowercase: bool) -> Self {
        self.lowercase = Some(lowercase);
        self
    }

    /// Add the content of the `merges.txt` that belongs to a `vocab.json`.
    #[must_use]
    pub fn merges(mut self, merges: impl Into<Vec<u8>>) -> Self {
        self.merges = Some(merges.into());
        self
    }

    /// Add a regular expression that splits text for tiktoken ranks. Several split it in turn.
    #[must_use]
    pub fn pattern(mut self, pattern: impl Into<String>) -> Self {
        self.patterns.push(pattern.into());
        self
    }

    /// Add a special token of tiktoken ranks, with its id.
    #[must_use]
    pub fn special_token(mut self, token: impl Into<String>, id: u32) -> Self {
        self.special_tokens.push((token.into(), id));
        self
    }

    /// Reject settings that are not among those that the format uses.
    fn reject_unused(&self, used: &[&str], format: Format) -> Result<(), CoreError> {
        let set = [
            ("lowercase", self.lowercase.is_some()),
            ("merges", self.merges.is_some()),
            ("pattern", !self.patterns.is_empty()),
            ("special_token", !self.special_tokens.is_empty()),
        ];
        match set.into_iter().find(|(name, is_set)| *is_set && !used.contains(name)) {
            Some((name, _)) => {
                let found = format!("a setting that the format {} does not use", format.name());
                Err(CoreError::new(CoreKind::Argument, name, found, ""))
            }
            None => Ok(()),
        }
    }
}

/// # Load files
impl Tokenizer {
    /// Load a tokenizer file; its content decides the format.
    ///
    /// Errors begin with the path. A folder is an error: load the tokenizer file in it.
    pub fn from_file(path: impl AsRef<Path>) -> Result<Self, Error> {
        Self::from_file_with(path, &LoadOptions::default())
    }

    /// Load a tokenizer file that lacks a setting.
    pub fn from_file_with(path: impl AsRef<Path>, options: &LoadOptions) -> Result<Self, Error> {
        let (path, place) = (path.as_ref(), path.as_ref().display().to_string());
        let read = read_file(path).map_err(|error| unreadable(error, &place))?;
        let loaded = read.and_then(|bytes| load(&bytes, options));
        Ok(loaded.map_err(|error| error.within(&place))?)
    }

    /// Load a tokenizer file that is in memory.
    ///
    /// Errors name the line, field or byte.
    pub fn from_bytes(bytes: impl AsRef<[u8]>) -> Result<Self, Error> {
        Self::from_bytes_with(bytes, &LoadOptions::default())
    }

    /// Load a tokenizer file in memory that lacks a setting.
    pub fn from_bytes_with(bytes: impl AsRef<[u8]>, options: &LoadOptions) -> Result<Self, Error> {
        Ok(load(bytes.as_ref(), options)?)
    }

    /// Write the tokenizer as `tokenizer.json`, indented if `pretty`. [`Tokenizer::parse_special`] is not in it.
    #[must_use]
    pub fn to_json(&self, pretty: bool) -> String {
        tokenizer_json::write(&self.core().spec(), pretty)
    }
}

/// Load a file.
fn load(bytes: &[u8], options: &LoadOptions) -> Result<Tokenizer, CoreError> {
    if bytes.starts_with(GZIP) {
        return Err(CoreError::new(CoreKind::Format, "byte 0", "gzip data", "the file that it contains"));
    }
    let format = detect(bytes);
    options.reject_unused(settings_of(format), format)?;
    if format == Format::CompiledCache {
        return restore(bytes);
    }
    let (tokenizer, parse_special) = compile(format, bytes, options)?;
    Ok(Tokenizer::new(tokenizer, ParseSpecial::of(parse_special), origin(format, bytes)))
}

/// Read a file; of a GGUF file, whose tensors are many gigabytes, only what is before them.
///
/// The outer error is that of the system.
fn read_file(path: &Path) -> io::Result<Result<Vec<u8>, CoreError>> {
    let mut file = File::open(path)?;
    let mut bytes = Vec::new();
    (&mut file).take(HEAD_BYTES).read_to_end(&mut bytes)?;
    if !gguf::is_gguf(&bytes) {
        file.read_to_end(&mut bytes)?;
        return Ok(Ok(bytes));
    }
    file.rewind()?;
    let len = match gguf::section_len(BufReader::new(&file), file.metadata()?.len()) {
        Ok(len) => len,
        Err(error) => return Ok(Err(error)),
    };
    file.rewind()?;
    bytes.clear();
    file.take(len).read_to_end(&mut bytes)?;
    Ok(Ok(bytes))
}

/// Return the error for a file that cannot be read.
fn unreadable(error: io::Error, place: &str) -> CoreError {
    CoreError::new(CoreKind::File, place, format!("nothing to read: {error}"), "").because(error)
}

/// Return the settings that a format uses.
fn settings_of(format: Format) -> &'static [&'static str] {
    match format {
        Format::VocabTxt | Format::Gguf => &["lowercase"],
        Format::VocabJson => &["merges"],
        Format::TiktokenRanks => &["pattern", "special_token"],
        _ => &[],
    }
}

/// Read and compile a file; return also which special tokens the library that owns the format parses.
fn compile(
    format: Format,
    bytes: &[u8],
    options: &LoadOptions,
) -> Result<(engine::Tokenizer, Stored), CoreError> {
    let (ranks, parse_special) = match format {
        Format::TiktokenRanks => (read_ranks(bytes, options)?, Stored::Refuse),
        Format::TekkenJson => {
            let ranks = without_empty_matches(tekken::read(bytes)?, tekken::PATTERN_FIELD)?;
            (ranks, Stored::Nothing)
        }
        _ => {
            let (spec, parse_special) = read(format, bytes, options)?;
            return Ok((engine::Tokenizer::compile(spec)?, parse_special));
        }
    };
    Ok((engine::Tokenizer::compile_ranks(ranks)?, parse_special))
}

/// Read a file as a specification, and which special tokens the library that owns the format parses.
fn read(format: Format, bytes: &[u8], options: &LoadOptions) -> Result<(TokenizerSpec, Stored), CoreError> {
    let spec = match format {
        Format::PieceworkFile => return piecework_file::read(bytes),
        Format::TokenizerJson => tokenizer_json::read(bytes),
        Format::VocabTxt => vocab_txt::read(bytes, options.lowercase),
        Format::ClipMerges => clip::read(bytes),
        Format::SentencePieceModel => sentencepiece::read(bytes),
        Format::VocabJson => read_vocab_merges(bytes, options),
        Format::Gguf => read_gguf(bytes, options),
        Format::MergesTxt | Format::CompiledCache | Format::TiktokenRanks | Format::TekkenJson => {
            let expected = "the vocabulary of these merges, with the merges in the options";
            Err(CoreError::new(CoreKind::Format, "byte 0", format.name(), expected))
        }
    };
    Ok((spec?, Stored::All))
}

fn read_ranks(bytes: &[u8], options: &LoadOptions) -> Result<RanksSpec, CoreError> {
    if options.patterns.is_empty() {
        let expected = "the pattern that splits text, in the options";
        let error = CoreError::new(CoreKind::Argument, "pattern", "nothing", expected);
        return Err(error.with_hint("the file does not contain it"));
    }
    let pre_tokenizer = tiktoken::pre_tokenizer(options.patterns.clone());
    refuse_empty_matches(&pre_tokenizer)?;
    tiktoken::read(bytes, pre_tokenizer, &options.special_tokens)
}

fn read_vocab_merges(bytes: &[u8], options: &LoadOptions) -> Result<TokenizerSpec, CoreError> {
    let Some(merges) = &options.merges else {
        let expected = "the content of its merges.txt, in the options";
        return Err(CoreError::new(CoreKind::Argument, "merges", "nothing", expected));
    };
    vocab_merges::read(bytes, merges, ("vocab.json", "merges.txt"), vocab_merges::Settings::default())
}

fn read_gguf(bytes: &[u8], options: &LoadOptions) -> Result<TokenizerSpec, CoreError> {
    let names = gguf::names(bytes)?;
    if names.model == "gpt2" {
        let found = format!("the byte-level pre-tokenizer {:?}", names.pre.unwrap_or_default());
        let expected = "a tokenizer.json of this model, which the Python package writes";
        return Err(CoreError::new(CoreKind::Format, "tokenizer.ggml.pre", found, expected));
    }
    gguf::read(bytes, None, options.lowercase)
}

/// Read a compiled cache.
fn restore(bytes: &[u8]) -> Result<Tokenizer, CoreError> {
    let memory = |error: io::Error| {
        CoreError::new(CoreKind::Memory, "compiled cache", error.to_string(), "more memory").because(error)
    };
    // Tables need the alignment of this array.
    let bytes = Array::read(&mut &bytes[..], bytes.len()).map_err(memory)?;
    let cache::CompiledCache { spec, vocab, parts, read_entries, parse_special, .. } = cache::read(&bytes)?;
    let tokenizer = engine::Tokenizer::restore(spec, vocab, &parts, read_entries)?;
    Ok(Tokenizer::new(tokenizer, ParseSpecial::of(parse_special), None))
}

/// Return what warnings need to know of a file.
fn origin(format: Format, bytes: &[u8]) -> Option<Origin> {
    match format {
        Format::TokenizerJson => Some(Origin::Document),
        Format::VocabTxt => Some(Origin::Lines { has_blank: vocab_txt::has_blank_line(bytes) }),
        Format::TiktokenRanks => Some(Origin::Ranks),
        _ => None,
    }
}
