//! Expected texts are those of tokenizers 0.23.3, save where it panics.

use super::*;
use crate::error::Error;
use crate::spec::{ByteLevelSpec, DecoderSpec, MetaspaceSpec, PatternSpec, PrependScheme};

fn run(spec: &DecoderSpec, tokens: &[&str]) -> String {
    Decoder::compile(Some(spec)).unwrap().run(tokens.iter().copied(), None).unwrap()
}

fn word_piece(clean_up: Option<bool>) -> String {
    let spec = DecoderSpec::WordPiece { prefix: "##".into(), cleanup: true };
    let tokens = ["do", "n't", "un", "##believ", "##able", ",", "is", "it", "?"];
    Decoder::compile(Some(&spec)).unwrap().run(tokens.into_iter(), clean_up).unwrap()
}

fn byte_level() -> DecoderSpec {
    DecoderSpec::ByteLevel(ByteLevelSpec { add_prefix_space: false, trim_offsets: false, use_regex: true })
}

fn metaspace(prepend_scheme: PrependScheme) -> DecoderSpec {
    DecoderSpec::Metaspace(MetaspaceSpec { replacement: '▁', prepend_scheme, split: true })
}

fn replace(pattern: PatternSpec, content: &str) -> DecoderSpec {
    DecoderSpec::Replace { pattern, content: content.into() }
}

/// Return what Llama's tokenizers decode with.
fn llama() -> DecoderSpec {
    DecoderSpec::Sequence(vec![
        replace(PatternSpec::Text("▁".into()), " "),
        DecoderSpec::ByteFallback,
        DecoderSpec::Fuse,
        DecoderSpec::Strip { content: ' ', start: 1, stop: 0 },
    ])
}

#[test]
fn wordpiece_joins_continuations_and_cleans_up() {
    assert_eq!(word_piece(None), "don't unbelievable, is it?");
    assert_eq!(word_piece(Some(false)), "do n't unbelievable , is it ?");
}

#[test]
fn without_a_decoder_tokens_are_joined_by_spaces() {
    let tokens = ["a", "", "##b"];
    assert_eq!(Decoder::compile(None).unwrap().run(tokens.into_iter(), None).unwrap(), "a  ##b");
    assert_eq!(run(&DecoderSpec::Sequence(vec![]), &tokens), "a##b");
}

#[test]
fn byte_level_undoes_the_mapping_or_keeps_the_token() {
    assert_eq!(run(&byte_level(), &["ĠhÃ©", "Ã", "©", "日", "Ã"]), " héé日\u{FFFD}");
    let every_byte: String = (0..=255u8)
        .map(|byte| {
            let outside =
                (0..byte).filter(|b| !(0x21..=0x7E).contains(b) && (*b < 0xA1 || *b == 0xAD)).count();
            let is_itself = (0x21..=0x7E).contains(&byte) || (byte >= 0xA1 && byte != 0xAD);
            char::from_u32(if is_itself { u32::from(byte) } else { 0x100 + outside as u32 }).unwrap()
        })
        .collect();
    let bytes: Vec<u8> = (0..=255).collect();
    assert_eq!(run(&byte_level(), &[&every_byte]), String::from_utf8_lossy(&bytes));
}

#[test]
fn byte_fallback_joins_whole_runs() {
    let spec = DecoderSpec::ByteFallback;
    assert_eq!(run(&spec, &["<0xE4>", "<0xBD>", "<0xA0>", "a", "<0xFF>", "<0x41>"]), "你a\u{FFFD}\u{FFFD}");
    assert_eq!(run(&spec, &["<0x+A>", "<0xé>", "<0x4>", "<0x041>"]), "\n<0xé><0x4><0x041>");
}

#[test]
fn bpe_suffixes_become_spaces_except_the_last() {
    let spec = DecoderSpec::Bpe { suffix: "</w>".into() };
    assert_eq!(run(&spec, &["lo", "w</w>", "a</w>b</w>", "c</w>"]), "low a b c");
    assert_eq!(run(&DecoderSpec::Bpe { suffix: String::new() }, &["ab", "c"]), " a b c");
    assert_eq!(run(&spec, &[]), "");
}

#[test]
fn metaspace_drops_leading_metaspaces_of_the_first_token() {
    assert_eq!(run(&metaspace(PrependScheme::Always), &["▁▁a▁b", "▁c"]), "ab c");
    assert_eq!(run(&metaspace(PrependScheme::Never), &["▁▁a▁b", "▁c"]), "  a b c");
}

#[test]
fn ctc_drops_repetitions_and_padding() {
    let ctc =
        |cleanup| DecoderSpec::Ctc { pad_token: "<pad>".into(), word_delimiter_token: "|".into(), cleanup };
    let tokens = ["h", "h", "<pad>", "h", "|", "|", "'m"];
    assert_eq!(run(&ctc(true), &tokens), "hh 'm");
    assert_eq!(run(&ctc(false), &tokens), "hh|'m");
}

#[test]
fn replace_applies_to_each_token() {
    assert_eq!(run(&replace(PatternSpec::Regex("a*".into()), "x"), &["baac", "", "c"]), "xbxcxxcx");
    assert_eq!(run(&replace(PatternSpec::Regex("^a".into()), ""), &["aa", "ab"]), "ab");
}

#[test]
fn strip_stops_at_an_empty_token() {
    let strip = |start, stop| DecoderSpec::Strip { content: ' ', start, stop };
    assert_eq!(run(&strip(1, 1), &["  a  ", "b "]), " a b");
    assert_eq!(run(&strip(1, 1), &[" ", ""]), "");
}

#[test]
fn each_decoder_of_a_sequence_gets_the_tokens_of_the_last() {
    assert_eq!(run(&llama(), &["▁Hello", "▁", "<0xF0>", "<0x9F>", "<0x98>", "<0x80>", "▁x"]), "Hello 😀 x");
    let nested = DecoderSpec::Sequence(vec![DecoderSpec::Sequence(vec![llama()]), byte_level()]);
    assert_eq!(run(&nested, &["▁Ġa"]), " a");
}

#[test]
fn a_bad_regular_expression_names_its_place() {
    let bad = DecoderSpec::Sequence(vec![DecoderSpec::Fuse, replace(PatternSpec::Regex("(".into()), "")]);
    let error = Decoder::compile(Some(&bad)).unwrap_err();
    assert_eq!(error.place, "decoder.decoders[1].pattern");
}

/// Decode ids that are indices of `tokens`; those that begin with `<s` are special.
fn decoding<'d>(
    spec: Option<&DecoderSpec>,
    tokens: &'d [&'d str],
) -> impl Fn(&[u32], bool) -> Result<String, Error> + 'd {
    let decoder = Decoder::compile(spec).unwrap();
    move |ids, skip| {
        let tokens = ids.iter().map(|&id| tokens[id as usize]);
        decoder.run(tokens.filter(|token| !(skip && token.starts_with("<s"))), None)
    }
}

fn streamed(decode: impl Fn(&[u32], bool) -> Result<String, Error>, ids: &[u32]) -> Vec<String> {
    let mut stream = DecodeStream::new(true);
    let mut parts: Vec<String> =
        ids.iter().map(|&id| stream.step(id, &decode).unwrap().unwrap_or_default()).collect();
    parts.push(stream.finish(&decode).unwrap().unwrap_or_default());
    parts
}

const TOKENS: [&str; 8] = ["▁a", "▁", "<0xE4>", "<0xBD>", "<0xA0>", "<s>", "b", "<0xFF>"];

#[test]
fn a_stream_emits_each_text_once_and_only_whole_characters() {
    let decode = decoding(Some(&llama()), &TOKENS);
    assert_eq!(streamed(&decode, &[0, 0, 2, 3, 4, 6]), ["a", " a", "", "", "你", "b", ""]);
    assert_eq!(streamed(&decode, &[2, 5, 5, 5, 5, 5, 3, 4]), ["", "", "", "", "", "", "", "你", ""]);
    assert_eq!(streamed(&decode, &[0, 2]), ["a", "", "\u{FFFD}"]);
    assert_eq!(streamed(&decode, &[5, 5, 1, 1, 0]), ["", "", "", " ", " a", ""]);
}

#[test]
fn ids_without_text_do_not_reset_a_stream() {
    let spec = metaspace(PrependScheme::Always);
    let decode = decoding(Some(&spec), &TOKENS);
    for skipped in 0..200 {
        let ids: Vec<u32> = [vec![0, 1], vec![5; skipped], vec![0, 0]].concat();
        assert_eq!(streamed(&decode, &ids).concat(), "a  a a", "after {skipped} ids");
    }
}

#[test]
fn a_stream_bounds_its_pending_ids() {
    let decode = decoding(Some(&llama()), &TOKENS);
    let mut stream = DecodeStream::new(true);
    let mut given = 0;
    for _ in 0..1000 {
        given += stream.step(7, &decode).unwrap().map_or(0, |text| text.chars().count());
    }
    assert!(given > 900, "{given}");
    assert!(format!("{stream:?}").len() < 4000);
}

#[test]
fn a_stream_continues_a_text() {
    let decode = decoding(Some(&llama()), &TOKENS);
    let mut stream = DecodeStream::new(true);
    stream.prefill(&[0, 0, 2, 3, 4, 2, 3], &decode).unwrap();
    assert_eq!(stream.step(4, &decode).unwrap().as_deref(), Some("你"));
    assert_eq!(stream.step(0, &decode).unwrap().as_deref(), Some(" a"));
    stream.prefill(&[5; 100], &decode).unwrap();
    assert_eq!(stream.step(0, &decode).unwrap().as_deref(), Some("a"));
    stream.prefill(&[2], &decode).unwrap();
    assert_eq!(stream.step(3, &decode).unwrap(), None);
    assert_eq!(stream.step(4, &decode).unwrap().as_deref(), Some("你"));
}
