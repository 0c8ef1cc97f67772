//! Files of every format in memory and on disk, and what is wrong with damaged ones.

use std::fs;
use std::path::PathBuf;

use piecework::{Error, ErrorKind, LoadOptions, ParseSpecial, Tokenizer};
use piecework_core::engine;
use piecework_core::spec::ParseSpecial as Stored;
use piecework_formats::{cache, piecework_file, tokenizer_json};

const VOCAB: &[u8] = b"[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nto\nbe\n##s\n";

/// A path of its own for each test.
fn temporary(name: &str) -> PathBuf {
    std::env::temp_dir().join(format!("piecework-{}-{name}", std::process::id()))
}

fn vocab() -> Tokenizer {
    Tokenizer::from_bytes(VOCAB).expect("a vocabulary")
}

fn ids(tokenizer: &Tokenizer) -> Vec<u32> {
    tokenizer.encode_ids("To bes [SEP]").expect("ids")
}

fn error(bytes: &[u8], options: &LoadOptions) -> Error {
    Tokenizer::from_bytes_with(bytes, options).expect_err("an error")
}

/// Ranks of all bytes and of two longer tokens.
fn ranks() -> String {
    use base64::Engine;
    let tokens = (0..=255u8).map(|byte| vec![byte]).chain([b"in".to_vec(), b"ing".to_vec()]);
    let line = |(rank, token): (usize, Vec<u8>)| {
        format!("{} {rank}\n", base64::engine::general_purpose::STANDARD.encode(token))
    };
    tokens.enumerate().map(line).collect()
}

#[test]
fn formats_of_this_library_give_the_same_ids() {
    let tokenizer = vocab();
    let json = tokenizer.to_json(true);
    let spec = tokenizer_json::read(json.as_bytes()).unwrap();
    let file = piecework_file::write(&spec, Stored::Nothing);
    let core = engine::Tokenizer::compile(spec).unwrap();
    let cache = cache::write(&core.spec(), &core.store(), Stored::Refuse, b"").unwrap();
    for (bytes, parse_special) in [
        (json.as_bytes(), ParseSpecial::All),
        (&file, ParseSpecial::Nothing),
        (&cache, ParseSpecial::Refuse),
    ] {
        let read = Tokenizer::from_bytes(bytes).unwrap();
        assert_eq!(read.parse_special(), parse_special);
        assert_eq!(ids(&read.with_parse_special(ParseSpecial::All)), ids(&tokenizer));
    }
}

#[test]
fn ranks_need_a_pattern_and_refuse_special_tokens() {
    let ranks = ranks();
    assert_eq!(error(ranks.as_bytes(), &LoadOptions::new()).place(), "pattern");
    let options = LoadOptions::new().pattern(r"\w+|\W+").special_token("<|end|>", 258);
    let tokenizer = Tokenizer::from_bytes_with(ranks.as_bytes(), &options).unwrap();
    assert_eq!(tokenizer.encode_ids("being").unwrap(), [98, 101, 257]);
    let refused = tokenizer.encode_ids("being<|end|>").unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::SpecialToken);
    assert!(refused.to_string().contains("\"<|end|>\""));
    let empty = LoadOptions::new().pattern("");
    assert_eq!(error(ranks.as_bytes(), &empty).kind(), ErrorKind::Argument);
}

#[test]
fn a_vocabulary_needs_its_merges() {
    let bytes = (0..=255u8).map(|byte| piecework_core::text::printable_of(byte).to_string());
    let entries = bytes.chain(["in".into(), "ing".into()]).zip(0..);
    let members: Vec<String> = entries.map(|(entry, id)| format!("{entry:?}: {id}")).collect();
    let vocab = format!("{{{}}}", members.join(", "));
    assert_eq!(error(vocab.as_bytes(), &LoadOptions::new()).place(), "merges");
    let merges = "#version: 0.2\ni n\nin g\n";
    let options = LoadOptions::new().merges(merges);
    let tokenizer = Tokenizer::from_bytes_with(vocab.as_bytes(), &options).unwrap();
    assert!(tokenizer.encode("being").unwrap().tokens().eq(["b", "e", "ing"]));
    assert_eq!(error(merges.as_bytes(), &LoadOptions::new()).kind(), ErrorKind::Format);
}

#[test]
fn a_setting_that_the_format_does_not_use_is_an_error() {
    let json = vocab().to_json(false);
    for (options, name) in [
        (LoadOptions::new().lowercase(true), "lowercase"),
        (LoadOptions::new().merges("a b\n"), "merges"),
        (LoadOptions::new().pattern("a"), "pattern"),
        (LoadOptions::new().special_token("a", 1), "special_token"),
    ] {
        let error = error(json.as_bytes(), &options);
        assert_eq!((error.kind(), error.place()), (ErrorKind::Argument, name));
    }
}

#[test]
fn damaged_files_name_the_place() {
    for (bytes, place) in [
        (&b"[UNK]\na\na\n"[..], "line 3"),
        (b"{\"version\": \"1.0\", \"model\": {\"type\": \"Nothing\"}}", "model.type"),
        (b"{\"version\": \"1.0\"", "line 1, column 17"),
        (b"\x1F\x8B\x08", "byte 0"),
        (b"", "vocab.txt"),
    ] {
        let error = error(bytes, &LoadOptions::new());
        assert!(error.place().contains(place), "{error}");
    }
}

#[test]
fn files_are_read_and_named_in_errors() {
    let path = temporary("vocab.txt");
    fs::write(&path, VOCAB).unwrap();
    let tokenizer = Tokenizer::from_file(&path).unwrap();
    fs::write(&path, "a\nb\n").unwrap();
    let error = Tokenizer::from_file(&path).unwrap_err();
    fs::remove_file(&path).unwrap();
    assert_eq!(ids(&tokenizer), ids(&vocab()));
    assert!(error.to_string().starts_with(&path.display().to_string()), "{error}");
    let missing = Tokenizer::from_file(&path).unwrap_err();
    assert_eq!(missing.kind(), ErrorKind::File);
    let cause = std::error::Error::source(&missing).unwrap();
    assert_eq!(cause.downcast_ref::<std::io::Error>().unwrap().kind(), std::io::ErrorKind::NotFound);
    assert!(missing.to_string().contains("found nothing to read: "), "{missing}");
    assert_eq!(Tokenizer::from_file(std::env::temp_dir()).unwrap_err().kind(), ErrorKind::File);
}

#[test]
fn probable_mistakes_are_warnings() {
    assert!(vocab().warnings().is_empty());
    let tokenizer = Tokenizer::from_bytes(b"[UNK]\n\na\n").unwrap();
    assert!(tokenizer.warnings()[0].to_string().starts_with("line 2: found a blank line"));
}
