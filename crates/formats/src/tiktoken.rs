//! `.tiktoken`: one token a line, in base64, with its rank.
//!
//! The file has neither the pattern nor the special tokens; the caller passes them.

use std::collections::HashSet;

use base64::engine::general_purpose::STANDARD;
use base64::Engine;
use piecework_core::error::{Error, ErrorKind};
use piecework_core::ranks::{canonical_merges, canonical_pairs, RanksSpec};
use piecework_core::spec::{
    AddedToken, BpeSpec, MergeList, ModelSpec, PatternSpec, PreTokenizerSpec, SplitBehavior, TokenizerSpec,
};
use piecework_core::text::push_bytes_of_printable;
use piecework_core::vocab::Vocab;

use crate::bytes::{byte_level, ranks_spec};
use crate::ranks::{vocab_of_entries, RankedTokens};

/// The empty token in Whisper's files.
const EMPTY: &[u8] = b"=";

/// Return whether the first line of a file is a token in base64, a space and a rank.
#[must_use]
pub fn is_ranks(bytes: &[u8]) -> bool {
    let is_space = |byte: &u8| byte.is_ascii_whitespace() || *byte == 0x0B;
    let is_digit = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/');
    let skip = |bytes: &'_ [u8], is_skipped: &dyn Fn(&u8) -> bool| {
        bytes.iter().position(|byte| !is_skipped(byte)).unwrap_or(bytes.len())
    };
    let token = &bytes[skip(bytes, &is_space)..];
    let digits = skip(token, &is_digit);
    let padding = skip(&token[digits..], &|byte| *byte == b'=');
    let Some((b' ', rank)) = token[digits + padding..].split_first() else { return false };
    let rank_len = skip(rank, &u8::is_ascii_digit);
    let rest = &rank[rank_len..];
    let space = skip(rest, &is_space);
    digits > 0 && padding <= 2 && rank_len > 0 && (space == rest.len() || rest[..space].contains(&b'\n'))
}

/// Read ranks as a tokenizer with a pre-tokenizer and special tokens.
///
/// Empty lines are skipped. Errors name the line, counted from 1.
pub fn read(
    bytes: &[u8],
    pre_tokenizer: PreTokenizerSpec,
    special_tokens: &[(String, u32)],
) -> Result<RanksSpec, Error> {
    let lines =
        (1..).zip(bytes.split(|&byte| byte == b'\n')).map(|(number, line)| (number, line.trim_ascii()));
    let mut tokens = RankedTokens::with_capacity(bytes.len());
    for (number, line) in lines.filter(|(_, line)| !line.is_empty()) {
        read_line(number, line, &mut tokens)?;
    }
    if let Some((number, rank)) = tokens.empty_before_last() {
        let found = format!("an empty token with rank {rank}, which others follow");
        let expected = "a token in base64; only the last rank may be empty, as in Whisper's files";
        return Err(Error::new(ErrorKind::Format, place_of(number), found, expected));
    }
    let vocab = tokens.into_vocab(0, place_of)?;
    let special_tokens =
        special_tokens.iter().map(|(content, id)| AddedToken::special(content, *id)).collect();
    Ok(ranks_spec(vocab, pre_tokenizer, special_tokens))
}

/// Return the pre-tokenizer of regular expressions that split a text in turn.
#[must_use]
pub fn pre_tokenizer(patterns: Vec<String>) -> PreTokenizerSpec {
    let (behavior, invert) = (SplitBehavior::Isolated, false);
    let split =
        |pattern| PreTokenizerSpec::Split { pattern: PatternSpec::Regex(pattern), behavior, invert };
    let last = PreTokenizerSpec::ByteLevel(byte_level(false));
    PreTokenizerSpec::Sequence(patterns.into_iter().map(split).chain([last]).collect())
}

fn place_of(number: usize) -> String {
    format!("line {number}")
}

fn read_line(number: usize, line: &[u8], tokens: &mut RankedTokens) -> Result<(), Error> {
    let invalid = || {
        let shown: String = String::from_utf8_lossy(line).chars().take(60).collect();
        let expected = "a token in base64, a space and its rank";
        Error::new(ErrorKind::Format, place_of(number), format!("{shown:?}"), expected)
    };
    let mut fields = line.split(u8::is_ascii_whitespace).filter(|field| !field.is_empty());
    let (Some(token), Some(rank), None) = (fields.next(), fields.next(), fields.next()) else {
        return Err(invalid());
    };
    let rank = number_of(rank).ok_or_else(invalid)?;
    let token = if token == EMPTY { b"" } else { token };
    tokens.push_base64(token, rank, number).map(drop).ok_or_else(invalid)
}

/// Return the number that decimal digits stand for.
fn number_of(digits: &[u8]) -> Option<u32> {
    digits.iter().try_fold(0_u32, |number, digit| {
        let digit = digit.is_ascii_digit().then(|| u32::from(digit - b'0'))?;
        number.checked_mul(10)?.checked_add(digit)
    })
}

/// Write the ids of a byte-level tokenizer as ranks, without the added tokens.
///
/// Fails unless the merges are the canonical pairs of the ranks, because the file would encode differently.
pub fn write(spec: &TokenizerSpec) -> Result<Vec<u8>, Error> {
    let vocab = ranks_of(spec)?;
    let (mut text, mut bytes) = (Vec::new(), Vec::new());
    for (token, rank) in vocab.iter() {
        bytes.clear();
        push_bytes_of_printable(token, &mut bytes);
        let token = if bytes.is_empty() { "=".to_owned() } else { STANDARD.encode(&bytes) };
        text.extend_from_slice(format!("{token} {rank}\n").as_bytes());
    }
    Ok(text)
}

/// Return the vocabulary of the ranks that encode as a byte-level BPE model does.
fn ranks_of(spec: &TokenizerSpec) -> Result<Vocab, Error> {
    let ModelSpec::Bpe(model) = &spec.model else {
        return Err(refused("model.type", "a model that is not BPE", "byte-level BPE"));
    };
    check_switches(model)?;
    let added: HashSet<&str> = spec.added_tokens.iter().map(|token| token.content.as_str()).collect();
    let entries = model.vocab.iter().map(|(token, id)| (token.as_str(), *id));
    let vocab = vocab_of_entries(entries.filter(|(token, _)| !added.contains(token)))?;
    check_merges(model, &vocab)?;
    Ok(vocab)
}

fn check_switches(model: &BpeSpec) -> Result<(), Error> {
    let is_set = |text: &Option<String>| text.as_ref().is_some_and(|text| !text.is_empty());
    for (name, set) in [
        ("dropout", model.dropout.is_some()),
        ("continuing_subword_prefix", is_set(&model.continuing_subword_prefix)),
        ("end_of_word_suffix", is_set(&model.end_of_word_suffix)),
        ("byte_fallback", model.byte_fallback),
    ] {
        if set {
            return Err(refused(&format!("model.{name}"), "a value", "none: ranks cannot hold it"));
        }
    }
    Ok(())
}

fn check_merges(model: &BpeSpec, vocab: &Vocab) -> Result<(), Error> {
    if !model.ignore_merges {
        if let Some(pair) = canonical_pairs(vocab).iter().find(|pair| pair.sides.is_none()) {
            let mut bytes = Vec::new();
            push_bytes_of_printable(vocab.token_of(pair.token).unwrap_or_default(), &mut bytes);
            let found = format!("{:?}, which no merges make", String::from_utf8_lossy(&bytes));
            return Err(refused("model.vocab", &found, "entries that merges make, or ignore_merges"));
        }
    }
    let expected = canonical_merges(vocab);
    let differs = |&at: &usize| expected.get(at) != model.merges.get(at);
    let Some(at) = (0..expected.len().max(model.merges.len())).find(differs) else { return Ok(()) };
    let shown = |merges: &MergeList| merges.get(at).map_or("no merge".into(), |pair| format!("{pair:?}"));
    let expected = format!("{}, which the ids as ranks stand for", shown(&expected));
    Err(refused(&format!("model.merges[{at}]"), &shown(&model.merges), &expected))
}

fn refused(place: &str, found: &str, expected: &str) -> Error {
    Error::new(ErrorKind::Vocabulary, place, found, expected)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(longer: &[&str]) -> String {
        let bytes = (0..=255u8).map(|byte| vec![byte]);
        let tokens = bytes.chain(longer.iter().map(|token| token.as_bytes().to_vec()));
        let line = |(rank, token): (usize, Vec<u8>)| format!("{} {rank}\n", STANDARD.encode(token));
        tokens.enumerate().map(line).collect()
    }

    fn read_all(text: &str) -> Result<TokenizerSpec, Error> {
        let pre_tokenizer = PreTokenizerSpec::ByteLevel(byte_level(true));
        read(text.as_bytes(), pre_tokenizer, &[("<|end|>".into(), 300)]).map(TokenizerSpec::from)
    }

    #[test]
    fn round_trips() {
        let text = file(&["in", "ing"]) + "= 270\n";
        let spec = read_all(&text).unwrap();
        assert_eq!(spec.added_tokens[0].id, 300);
        assert_eq!(write(&spec).unwrap(), text.as_bytes());
    }

    #[test]
    fn a_first_line_of_a_token_and_a_rank_is_recognized() {
        for ranks in ["IQ== 0", " \r\n\x0bIQ== 0\n", "IQ 10 \t\nnot a rank", "a/+ 7\r\n"] {
            assert!(is_ranks(ranks.as_bytes()), "{ranks:?}");
        }
        for other in [
            "",
            "IQ==",
            "IQ==  0",
            "IQ=== 0",
            "== 0",
            "IQ== 0 1\n",
            "IQ== 0x",
            "I_Q 0",
            "{\"a\": 0}",
            "a b\n",
        ] {
            assert!(!is_ranks(other.as_bytes()), "{other:?}");
        }
    }

    #[test]
    fn names_the_line_at_fault() {
        let error = |text: &str| read_all(text).unwrap_err().to_string();
        let text = file(&["in"]);
        assert!(
            error(&(text.clone() + "aW5n")).starts_with("line 258: found \"aW5n\", expected a token in")
        );
        assert!(error(&(text.clone() + "aW5 300")).starts_with("line 258: found \"aW5 300\""));
        assert!(error(&(text.clone() + "aW5n -1")).starts_with("line 258"));
        assert!(error(&(text.clone() + "aW4= 300")).contains("the token \"in\", which line 257 has too"));
        assert!(error(&(text.clone() + "aW5n 256")).contains("rank 256, which line 257 has too"));
        let missing = text.replace("QQ== 65\n", "");
        assert!(error(&missing).contains("no token for the byte 0x41 (written 'A')"));
    }

    #[test]
    fn rejects_merges_that_ranks_cannot_express() {
        let mut spec = read_all(&file(&["bc", "ab", "abc"])).unwrap();
        if let ModelSpec::Bpe(model) = &mut spec.model {
            model.merges = [("b", "c"), ("a", "b"), ("ab", "c")].into_iter().collect();
        }
        let error = write(&spec).unwrap_err();
        assert_eq!(error.place, "model.merges[2]");
        assert!(error.expected.contains(r#"("a", "bc")"#));
    }
}
