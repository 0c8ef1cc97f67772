//! The format of a tokenizer file, from its content.

use crate::{cache, gguf, piecework_file, sentencepiece, tiktoken};

/// A format of tokenizer files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// `tokenizer.json`.
    TokenizerJson,
    /// `tekken.json`.
    TekkenJson,
    /// `.piecework`.
    PieceworkFile,
    /// `vocab.json`, which needs its merges.
    VocabJson,
    /// `vocab.txt`: the format of any file that is none of the others.
    VocabTxt,
    /// CLIP's list of merges.
    ClipMerges,
    /// `merges.txt`, which needs its vocabulary.
    MergesTxt,
    /// A SentencePiece `.model`.
    SentencePieceModel,
    /// `.tiktoken`, which needs a pattern.
    TiktokenRanks,
    /// GGUF.
    Gguf,
    /// `.pwc`.
    CompiledCache,
}

impl Format {
    /// Return the name in Python and in messages.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::TokenizerJson => "tokenizer.json",
            Self::TekkenJson => "tekken.json",
            Self::PieceworkFile => "piecework file",
            Self::VocabJson => "vocab.json",
            Self::VocabTxt => "vocab.txt",
            Self::ClipMerges => "CLIP merges",
            Self::MergesTxt => "merges.txt",
            Self::SentencePieceModel => "SentencePiece .model",
            Self::TiktokenRanks => "tiktoken ranks",
            Self::Gguf => "GGUF",
            Self::CompiledCache => "compiled cache",
        }
    }
}

/// Return the format of a file that is not compressed.
#[must_use]
pub fn detect(bytes: &[u8]) -> Format {
    if cache::is_cache(bytes) {
        return Format::CompiledCache;
    }
    if gguf::is_gguf(bytes) {
        return Format::Gguf;
    }
    if tiktoken::is_ranks(bytes) {
        return Format::TiktokenRanks;
    }
    if sentencepiece::is_model(bytes) {
        return Format::SentencePieceModel;
    }
    let head = piecework_file::unmarked(bytes);
    if head.starts_with(b"{") {
        json_format(bytes, head)
    } else {
        line_format(bytes)
    }
}

/// Return the format of a JSON object. `head` is the text without a byte order mark and leading whitespace.
fn json_format(bytes: &[u8], head: &[u8]) -> Format {
    if piecework_file::layout(head).is_some() {
        return Format::PieceworkFile;
    }
    // Nearly every tokenizer.json begins with its version, and needs no scan.
    match first_member(head) {
        Some((b"version", b'"')) => return Format::TokenizerJson,
        Some((_, b'0'..=b'9')) => return Format::VocabJson,
        _ => {}
    }
    let has = |name: &[u8]| memchr::memmem::find(bytes, name).is_some();
    if has(b"\"token_bytes\"") && has(b"\"default_vocab_size\"") {
        Format::TekkenJson
    } else {
        Format::TokenizerJson
    }
}

/// Return the name of the first member of a JSON object, as it is written, and the first byte of its value.
fn first_member(object: &[u8]) -> Option<(&[u8], u8)> {
    let name = object.strip_prefix(b"{")?.trim_ascii_start().strip_prefix(b"\"")?;
    let mut escaped = false;
    let ends = |byte: &u8| {
        let ends = *byte == b'"' && !escaped;
        escaped = *byte == b'\\' && !escaped;
        ends
    };
    let end = name.iter().position(ends)?;
    let value = name[end + 1..].trim_ascii_start().strip_prefix(b":")?.trim_ascii_start();
    Some((&name[..end], *value.first()?))
}

fn line_format(bytes: &[u8]) -> Format {
    let end = memchr::memchr(b'\n', bytes).map_or(0, |end| end + 1);
    let first_line = &bytes[..end];
    if memchr::memmem::find(first_line, b"bpe_simple_vocab_16e6").is_some() {
        Format::ClipMerges
    } else if first_line.starts_with(b"#version") {
        Format::MergesTxt
    } else {
        Format::VocabTxt
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_content_decides() {
        for (bytes, expected) in [
            (&b"{\"version\": \"1.0\", \"model\": {}}"[..], Format::TokenizerJson),
            (b"\xEF\xBB\xBF\n {\"model\": {}}", Format::TokenizerJson),
            (b"{\"version\": 1, \"b\": 0}", Format::VocabJson),
            (b"{ \"a\\\"\\\\\" : 0}", Format::VocabJson),
            (b"{\"a\\\": 0}", Format::TokenizerJson),
            (
                b"{\"config\": {\"default_vocab_size\": 1}, \"vocab\": [{\"token_bytes\": \"\"}]}",
                Format::TekkenJson,
            ),
            (b"{\"piecework\":1,\"parse_special\":true,\"tokenizer\":{}}", Format::PieceworkFile),
            (b"{\"piecework\":12,\"parse_special\":\"new\"}", Format::PieceworkFile),
            (b"{\"piecework\":1}", Format::VocabJson),
            (b"#version: 0.2\na b\n", Format::MergesTxt),
            (b"\"bpe_simple_vocab_16e6.txt#version: 0.2\na b\n", Format::ClipMerges),
            (b"IQ== 0\n", Format::TiktokenRanks),
            (b"GGUF\x03\0\0\0", Format::Gguf),
            (b"[UNK]\nhug\n", Format::VocabTxt),
            (b"#version", Format::VocabTxt),
            (b"", Format::VocabTxt),
            (b"{", Format::TokenizerJson),
        ] {
            assert_eq!(detect(bytes), expected, "{}", String::from_utf8_lossy(bytes));
        }
    }
}
