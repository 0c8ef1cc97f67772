//! Files to specifications.

use piecework_core::error::{Error, ErrorKind};
use piecework_core::spec::{ParseSpecial, PreTokenizerSpec, TokenizerSpec};
use piecework_core::stages::pretokenize::{refuse_empty_matches, without_empty_matches};
use piecework_formats::{
    clip, detect, gguf, piecework_file, sentencepiece, tekken, tiktoken, tokenizer_json, vocab_merges,
    vocab_txt, Format,
};

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";
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

/// Return the name of the format of a file.
pub(crate) fn format_name(data: &[u8]) -> &'static str {
    if data.starts_with(GZIP) {
        return "gzip";
    }
    detect(data).name()
}

/// Read a file that needs nothing beside it, and which special tokens its tokenizer parses in text; `source` names it in
/// errors.
pub(crate) fn read(data: &[u8], source: &str) -> Result<(TokenizerSpec, ParseSpecial), Error> {
    if data.starts_with(GZIP) {
        return Err(needs(source, "gzip", "to be unpacked first"));
    }
    let format = detect(data);
    let read = match format {
        Format::TokenizerJson => tokenizer_json::read(data),
        Format::TekkenJson => {
            let spec = tekken::read(data);
            spec.and_then(|spec| without_empty_matches(spec, tekken::PATTERN_FIELD))
                .map(TokenizerSpec::from)
        }
        Format::PieceworkFile => return piecework_file::read(data).map_err(|error| error.within(source)),
        Format::VocabTxt => match other_kind(data) {
            Some((found, expected)) => {
                return Err(Error::new(ErrorKind::Format, source, found, expected));
            }
            None => vocab_txt::read(data, None),
        },
        Format::ClipMerges => clip::read(data),
        Format::SentencePieceModel => sentencepiece::read(data),
        Format::Gguf => gguf::read(data, None, None),
        Format::VocabJson => return Err(needs(source, format.name(), "its merges.txt")),
        Format::MergesTxt => return Err(needs(source, format.name(), "its vocab.json")),
        Format::TiktokenRanks => return Err(needs(source, format.name(), "a pattern and special tokens")),
        Format::CompiledCache => {
            return Err(needs(source, format.name(), "the file that it was made from"))
        }
    };
    let parse_special =
        if format == Format::TekkenJson { ParseSpecial::Nothing } else { ParseSpecial::All };
    read.map(|spec| (spec, parse_special)).map_err(|error| error.within(source))
}

/// Return what a file is that is no tokenizer, and what to open instead; `None` if that is not known.
fn other_kind(data: &[u8]) -> Option<(&'static str, &'static str)> {
    if data.is_empty() {
        return Some(("an empty file", AGAIN));
    }
    let head = data.strip_prefix(BYTE_ORDER_MARK).unwrap_or(data).trim_ascii_start();
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
    let spec = tiktoken::read(data, pre_tokenizer, special_tokens);
    spec.map(TokenizerSpec::from).map_err(|error| error.within(source))
}

fn splitting(pipeline: &str) -> Result<PreTokenizerSpec, Error> {
    let (_, pre_tokenizer) = tokenizer_json::read_splitting_pipeline(pipeline.as_bytes())?;
    refuse_empty_matches(&pre_tokenizer)?;
    Ok(pre_tokenizer)
}

fn needs(source: &str, format: &str, missing: &str) -> Error {
    let found = format!("{format}, which needs {missing}");
    Error::new(ErrorKind::Format, source, found, "")
}
