//! The format of a file, from its content, and its specification.

use piecework_core::error::{Error, ErrorKind};
use piecework_core::spec::{PreTokenizerSpec, TokenizerSpec};
use piecework_core::stages::pretokenize::refuse_empty_matches;
use piecework_formats::{
    cache, clip, gguf, sentencepiece, tekken, tiktoken, tokenizer_json, vocab_merges, vocab_txt,
};

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";
const PIECEWORK_FILE_HEAD: &[u8] = b"{\"piecework\":1,\"special_in_text\":\"";
const GZIP: &[u8] = b"\x1f\x8b";

const HEAD_BYTES: usize = 64;
const AGAIN: &str = "a tokenizer file: download it again";
/// The beginning of files that are often in place of tokenizers, in lower case; what they are, and what to open instead.
const OTHER_FILES: [(&[u8], &str, &str); 5] = [
    (b"version https://git-lfs.github.com/spec/", "a Git LFS pointer", "the file: run git lfs pull"),
    (b"/annex/objects/", "a git-annex pointer", "the file: run git annex get"),
    (b"<!doctype html", "an HTML page, such as a login or error page", AGAIN),
    (b"<html", "an HTML page, such as a login or error page", AGAIN),
    (b"<?xml", "an XML document, such as an error of a server", AGAIN),
];

/// The formats of tokenizer files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    TokenizerJson,
    TekkenJson,
    PieceworkFile,
    VocabJson,
    VocabTxt,
    ClipMerges,
    MergesTxt,
    SentencePiece,
    TiktokenRanks,
    Gguf,
    CompiledCache,
    Gzip,
}

impl Format {
    /// Return the format of a file; its name decides nothing.
    pub(crate) fn of(data: &[u8]) -> Self {
        if data.starts_with(GZIP) {
            return Self::Gzip;
        }
        if cache::is_cache(data) {
            return Self::CompiledCache;
        }
        if gguf::is_gguf(&data[..data.len().min(8)]) {
            return Self::Gguf;
        }
        if tiktoken::is_ranks(data) {
            return Self::TiktokenRanks;
        }
        if sentencepiece::is_model(data) {
            return Self::SentencePiece;
        }
        let head = without_mark(data).trim_ascii_start();
        if head.starts_with(b"{") {
            return of_json(data, head);
        }
        let first_line = data.split(|&byte| byte == b'\n').next().unwrap_or_default();
        if contains(first_line, b"bpe_simple_vocab_16e6") {
            Self::ClipMerges
        } else if first_line.starts_with(b"#version") {
            Self::MergesTxt
        } else {
            Self::VocabTxt
        }
    }

    /// Return the name of the format.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::TokenizerJson => "tokenizer.json",
            Self::TekkenJson => "tekken.json",
            Self::PieceworkFile => "piecework file",
            Self::VocabJson => "vocab.json",
            Self::VocabTxt => "vocab.txt",
            Self::ClipMerges => "CLIP merges",
            Self::MergesTxt => "merges.txt",
            Self::SentencePiece => "SentencePiece .model",
            Self::TiktokenRanks => "tiktoken ranks",
            Self::Gguf => "GGUF",
            Self::CompiledCache => "compiled cache",
            Self::Gzip => "gzip",
        }
    }
}

/// Read a file that needs nothing beside it; `source` names it in errors.
pub(crate) fn read(data: &[u8], source: &str) -> Result<TokenizerSpec, Error> {
    let format = Format::of(data);
    let read = match format {
        Format::TokenizerJson => tokenizer_json::read(without_mark(data)),
        Format::TekkenJson => tekken::read(without_mark(data)).and_then(checked),
        Format::PieceworkFile => tokenizer_json::read(inside_piecework_file(data)),
        Format::VocabTxt => match other_kind(data) {
            Some((found, expected)) => {
                return Err(Error::new(ErrorKind::Format, source, found, expected));
            }
            None => vocab_txt::read(data, None),
        },
        Format::ClipMerges => clip::read(data),
        Format::SentencePiece => sentencepiece::read(data),
        Format::Gguf => gguf::read(data, None, None),
        Format::VocabJson => return Err(needs(source, format, "its merges.txt")),
        Format::MergesTxt => return Err(needs(source, format, "its vocab.json")),
        Format::TiktokenRanks => return Err(needs(source, format, "a pattern and special tokens")),
        Format::CompiledCache => return Err(needs(source, format, "the file that it was made from")),
        Format::Gzip => return Err(needs(source, format, "to be unpacked first")),
    };
    read.map_err(|error| error.within(source))
}

/// Return what a file is that is no tokenizer, and what to open instead; `None` if that is not known.
fn other_kind(data: &[u8]) -> Option<(&'static str, &'static str)> {
    if data.is_empty() {
        return Some(("an empty file", AGAIN));
    }
    let head = without_mark(data).trim_ascii_start();
    let head = head[..head.len().min(HEAD_BYTES)].to_ascii_lowercase();
    let known = OTHER_FILES.iter().find(|(beginning, ..)| head.starts_with(beginning));
    known.map(|&(_, found, expected)| (found, expected))
}

/// Read vocab.json and merges.txt; `sources` name them in errors.
pub(crate) fn read_merges(
    vocab: &[u8],
    merges: &[u8],
    sources: (&str, &str),
) -> Result<TokenizerSpec, Error> {
    vocab_merges::read(vocab, merges, sources, vocab_merges::Settings::default())
}

/// Read tiktoken ranks with the `pre_tokenizer` of a `tokenizer.json` and special tokens.
pub(crate) fn read_ranks(
    data: &[u8],
    source: &str,
    pipeline: &str,
    special_tokens: &[(String, u32)],
) -> Result<TokenizerSpec, Error> {
    let pre_tokenizer = splitting(pipeline)?;
    tiktoken::read(data, pre_tokenizer, special_tokens).map_err(|error| error.within(source))
}

fn splitting(pipeline: &str) -> Result<PreTokenizerSpec, Error> {
    let (_, pre_tokenizer) = tokenizer_json::read_splitting_pipeline(pipeline.as_bytes())?;
    refuse_empty_matches(&pre_tokenizer)?;
    Ok(pre_tokenizer)
}

/// Check the pattern of a `tekken.json`.
fn checked(spec: TokenizerSpec) -> Result<TokenizerSpec, Error> {
    let checked = spec.pre_tokenizer.as_ref().map_or(Ok(()), refuse_empty_matches);
    checked.map_err(|error| Error { place: "config.pattern".into(), ..error })?;
    Ok(spec)
}

fn needs(source: &str, format: Format, missing: &str) -> Error {
    let found = format!("{}, which needs {missing}", format.name());
    Error::new(ErrorKind::Format, source, found, "")
}

fn of_json(data: &[u8], head: &[u8]) -> Format {
    if head.starts_with(PIECEWORK_FILE_HEAD) {
        Format::PieceworkFile
    } else if is_flat_object(head) {
        Format::VocabJson
    } else if contains(data, b"\"token_bytes\"") && contains(data, b"\"default_vocab_size\"") {
        Format::TekkenJson
    } else {
        Format::TokenizerJson
    }
}

/// Return whether the first value of a JSON object is a number, as in a vocab.json.
fn is_flat_object(head: &[u8]) -> bool {
    let Some(key) = head[1..].trim_ascii_start().strip_prefix(b"\"") else { return false };
    let mut is_escaped = false;
    let end = key.iter().position(|&byte| {
        let is_end = byte == b'"' && !is_escaped;
        is_escaped = byte == b'\\' && !is_escaped;
        is_end
    });
    let rest = end.map_or(&b""[..], |end| key[end + 1..].trim_ascii_start());
    let value = rest.strip_prefix(b":").unwrap_or_default().trim_ascii_start();
    value.first().is_some_and(u8::is_ascii_digit)
}

fn inside_piecework_file(data: &[u8]) -> &[u8] {
    let start = find(data, b"\"tokenizer\":").map_or(0, |at| at + b"\"tokenizer\":".len());
    let text = data[start..].trim_ascii_end();
    text.strip_suffix(b"}").unwrap_or(text)
}

fn without_mark(data: &[u8]) -> &[u8] {
    data.strip_prefix(BYTE_ORDER_MARK).unwrap_or(data)
}

fn contains(data: &[u8], part: &[u8]) -> bool {
    find(data, part).is_some()
}

fn find(data: &[u8], part: &[u8]) -> Option<usize> {
    data.windows(part.len()).position(|window| window == part)
}
