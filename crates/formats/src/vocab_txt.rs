//! `vocab.txt`: one token a line; its id is the number of the line, from 0.

use foldhash::{HashMap, HashMapExt};
use piecework_core::error::{shortened, Error, ErrorKind};
use piecework_core::spec::{
    AddedToken, BertNormalizerSpec, DecoderSpec, ModelSpec, NormalizerSpec, PostProcessorSpec,
    PreTokenizerSpec, Segmentation, TemplatePiece, TemplateSpec, TemplateToken, TokenizerSpec, UnknownUnit,
    VocabSpec, WordPieceSpec,
};
use piecework_core::vocab::{token_too_long, MAX_TOKEN_BYTES};

use crate::text::unmarked_utf8;

/// BERT's special tokens; those in the file become added tokens.
const SPECIAL_TOKENS: [&str; 5] = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"];

/// Read a `vocab.txt` as a BERT tokenizer.
///
/// With `lowercase: None`, a vocabulary with ASCII capitals outside brackets is cased; others are lowercased.
pub fn read(bytes: &[u8], lowercase: Option<bool>) -> Result<TokenizerSpec, Error> {
    bert(read_entries(bytes)?, lowercase)
}

/// Return the BERT tokenizer of a vocabulary, as [`read`] does of a file.
pub fn bert(vocab: VocabSpec, lowercase: Option<bool>) -> Result<TokenizerSpec, Error> {
    let id_of = |wanted: &str| vocab.iter().find(|(token, _)| token == wanted).map(|&(_, id)| id);
    if id_of("[UNK]").is_none() {
        let expected = "a line \"[UNK]\": words that cannot be cut need it";
        return Err(Error::new(ErrorKind::Vocabulary, "vocab.txt", "no unknown token", expected));
    }
    let specials = SPECIAL_TOKENS.iter().filter_map(|&token| Some((token, id_of(token)?)));
    let added_tokens = specials.map(|(token, id)| AddedToken::special(token, id)).collect();
    let post_processor = id_of("[CLS]").zip(id_of("[SEP]")).map(|(cls, sep)| bert_template(cls, sep));
    let lowercase = lowercase.unwrap_or_else(|| !is_cased(&vocab));
    Ok(TokenizerSpec {
        added_tokens,
        normalizer: Some(NormalizerSpec::Bert(BertNormalizerSpec::with_lowercase(lowercase))),
        post_processor,
        ..tokenizer(vocab, "[UNK]".into())
    })
}

/// Return a BERT tokenizer without normalizer, special tokens and post-processor.
pub(crate) fn tokenizer(vocab: VocabSpec, unk_token: String) -> TokenizerSpec {
    TokenizerSpec {
        pre_tokenizer: Some(PreTokenizerSpec::Bert),
        decoder: Some(DecoderSpec::WordPiece { prefix: "##".into(), cleanup: true }),
        ..TokenizerSpec::of(ModelSpec::WordPiece(WordPieceSpec {
            vocab,
            unk_token,
            continuing_subword_prefix: "##".into(),
            max_input_chars_per_word: 100,
            unk: UnknownUnit::Word,
            segmentation: Segmentation::Greedy,
        }))
    }
}

/// Return whether a file has a line that is empty or ASCII whitespace.
#[must_use]
pub fn has_blank_line(bytes: &[u8]) -> bool {
    let body = bytes.strip_suffix(b"\n").unwrap_or(bytes);
    body.split(|&byte| byte == b'\n').any(|line| line.trim_ascii().is_empty())
}

/// Write one token a line; fails for gaps in the ids and for tokens that would be read differently.
pub fn write(vocab: &VocabSpec) -> Result<Vec<u8>, Error> {
    let mut by_id: Vec<&(String, u32)> = vocab.iter().collect();
    by_id.sort_unstable_by_key(|(_, id)| *id);
    let mut text = String::new();
    for (line, (token, id)) in by_id.into_iter().enumerate() {
        let is_first = line == 0 && token.starts_with('\u{FEFF}');
        let is_one_line = token.trim_end() == token && !token.contains(['\n', '\r', '\0']) && !is_first;
        if *id as usize != line || !is_one_line {
            let found = format!("{token:?} with id {id} for line {}", line + 1);
            let expected = "ids from 0 without gaps, tokens without line ends, NUL or space at the end";
            return Err(Error::new(ErrorKind::Vocabulary, "vocab", found, expected));
        }
        text.push_str(token);
        text.push('\n');
    }
    Ok(text.into_bytes())
}

fn read_entries(bytes: &[u8]) -> Result<VocabSpec, Error> {
    let text = unmarked_utf8(bytes)?;
    let lines = bytes.iter().filter(|&&byte| byte == b'\n').count() + 1;
    let mut vocab = VocabSpec::with_capacity(lines);
    let mut line_of = HashMap::with_capacity(lines);
    let body = text.strip_suffix('\n').unwrap_or(text);
    for (line, whole) in body.split('\n').enumerate() {
        let token = whole.trim_end();
        check_token(token, line)?;
        check_special(token, whole, line)?;
        if let Some(first) = line_of.insert(token, line) {
            let found = match token {
                "" => format!("a blank line, as line {} is", first + 1),
                _ => format!("{:?}, which line {} has too", shortened(token), first + 1),
            };
            let place = format!("line {}", line + 1);
            return Err(Error::new(ErrorKind::Vocabulary, place, found, "each token once"));
        }
        let id = u32::try_from(line).unwrap_or(u32::MAX);
        vocab.push((token.to_owned(), id));
    }
    Ok(vocab)
}

/// Reject invalid tokens: a carriage return ends a line for some readers only, normalizers drop NUL from every
/// text, and the tables of a very long token would not fit in memory.
fn check_token(token: &str, line: usize) -> Result<(), Error> {
    let place = || format!("line {}", line + 1);
    if token.len() > MAX_TOKEN_BYTES {
        return Err(token_too_long(place(), token.len()));
    }
    for (c, name) in [('\0', "NUL"), ('\r', "a carriage return")] {
        if let Some(at) = token.find(c) {
            let found = format!("{name} at byte {at} of {:?}", shortened(token));
            return Err(Error::new(ErrorKind::Vocabulary, place(), found, "one token a line of text"));
        }
    }
    Ok(())
}

/// Reject a special token before whitespace beyond ASCII: some readers of the format keep it as a part of the token, others
/// do not.
fn check_special(token: &str, whole: &str, line: usize) -> Result<(), Error> {
    if SPECIAL_TOKENS.contains(&token) && whole.trim_ascii_end() != token {
        let found = format!("{:?}, a special token before whitespace", shortened(whole));
        let expected = format!("{token:?} alone on its line");
        return Err(Error::new(ErrorKind::Vocabulary, format!("line {}", line + 1), found, expected));
    }
    Ok(())
}

/// Return whether an entry outside brackets has an ASCII capital.
pub(crate) fn is_cased(vocab: &VocabSpec) -> bool {
    let in_brackets = |token: &str| {
        (token.starts_with('[') && token.ends_with(']')) || (token.starts_with('<') && token.ends_with('>'))
    };
    vocab
        .iter()
        .any(|(token, _)| token.bytes().any(|byte| byte.is_ascii_uppercase()) && !in_brackets(token))
}

fn bert_template(cls: u32, sep: u32) -> PostProcessorSpec {
    let special = |name: &str, type_id| TemplatePiece::Special(name.to_owned(), type_id);
    let single = vec![special("[CLS]", 0), TemplatePiece::Sequence(0, 0), special("[SEP]", 0)];
    let mut pair = single.clone();
    pair.extend([TemplatePiece::Sequence(1, 1), special("[SEP]", 1)]);
    let token = |name: &str, id| TemplateToken {
        name: name.to_owned(),
        ids: vec![id],
        tokens: vec![name.to_owned()],
    };
    PostProcessorSpec::Template(TemplateSpec {
        single,
        pair,
        special_tokens: vec![token("[CLS]", cls), token("[SEP]", sep)],
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn round_trips() {
        let spec = read(b"[UNK]\nhug\n##s\n", None).unwrap();
        assert_eq!(write(&spec.model.vocab()).unwrap(), b"[UNK]\nhug\n##s\n");
    }

    #[test]
    fn names_both_lines_of_a_duplicate() {
        let error = read(b"[UNK]\na\na\n", None).unwrap_err();
        assert_eq!(
            error.to_string(),
            "line 3: found \"a\", which line 2 has too, expected each token once"
        );
    }

    #[test]
    fn names_the_line_of_an_invalid_token() {
        let message = |bytes: &[u8]| read(bytes, None).unwrap_err().to_string();
        assert!(
            message(b"\xEF\xBB\xBF[UNK]\na\n").starts_with("line 1: found the byte order mark of UTF-8")
        );
        assert!(message(b"\xFF\xFE[\0U\0").starts_with("byte 0: found the byte order mark of UTF-16"));
        assert!(message(b"[UNK]\na\0b\n").starts_with("line 2: found NUL at byte 1 of \"a\\0b\""));
        assert!(message(b"[UNK]\na\rb\n").starts_with("line 2: found a carriage return at byte 1"));
        assert!(message(b"[UNK]\n\na\n \n").starts_with("line 4: found a blank line, as line 2 is"));
        let long = [b"[UNK]\na\n".to_vec(), vec![b'x'; MAX_TOKEN_BYTES + 1]].concat();
        assert!(message(&long).starts_with("line 3: found a token of 1048577 bytes, expected at most"));
    }

    #[test]
    fn lines_may_end_as_on_windows() {
        assert_eq!(read(b"[UNK]\r\na\r\n", None).unwrap(), read(b"[UNK]\na\n", None).unwrap());
    }

    #[test]
    fn decides_the_case_by_the_entries() {
        let lowercases = |bytes: &[u8]| match read(bytes, None).unwrap().normalizer {
            Some(NormalizerSpec::Bert(bert)) => bert.lowercase,
            _ => false,
        };
        assert!(lowercases(b"[UNK]\nhug\n"));
        assert!(!lowercases(b"[UNK]\nHug\n"));
    }
}
