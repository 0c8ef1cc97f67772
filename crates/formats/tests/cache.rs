//! What was written is read bit for bit; what was changed afterwards is refused, wherever that was.

use piecework_core::engine::batch::{Encoder, ExtraColumns};
use piecework_core::engine::{Input, Options, Tokenizer};
use piecework_core::spec::{ParseSpecial, TokenizerSpec};
use piecework_core::stages::added_tokens::Selector;
use piecework_core::table_sections::Array;

use piecework_formats::cache::{fingerprint, read, write, CompiledCache};
use piecework_formats::{sentencepiece, tokenizer_json, vocab_txt};

const MODELS: [&str; 6] = [
    r###"{"type":"WordPiece","unk_token":"[UNK]","continuing_subword_prefix":"##","max_input_chars_per_word":9,"unk":"char","segmentation":"shortest","vocab":{"[UNK]":7,"hug":1,"##s":0,"žába":4}}"###,
    r#"{"type":"BPE","dropout":0.1,"unk_token":"?","continuing_subword_prefix":null,"end_of_word_suffix":"</w>","fuse_unk":true,"byte_fallback":false,"ignore_merges":true,"vocab":{"?":9,"h":1,"u":2,"hu":3},"merges":[["h","u"]]}"#,
    r#"{"type":"BPE","dropout":null,"unk_token":null,"continuing_subword_prefix":null,"end_of_word_suffix":null,"fuse_unk":false,"byte_fallback":false,"ignore_merges":false,"vocab":{},"merges":[]}"#,
    r#"{"type":"BPE","dropout":null,"unk_token":"?","continuing_subword_prefix":null,"end_of_word_suffix":null,"fuse_unk":false,"byte_fallback":false,"ignore_merges":false,"vocab":{"?":0,"h":1},"merges":[]}"#,
    r#"{"type":"WordLevel","vocab":{"[UNK]":0,"hugs":3},"unk_token":"[UNK]"}"#,
    r#"{"type":"Unigram","unk_id":1,"vocab":[["hug",-1.1],["<unk>",0.0],["s",-0.30000000000000004],["h",-7.0]],"byte_fallback":false}"#,
];

fn document(model: &str) -> TokenizerSpec {
    let text = format!(
        r#"{{"version":"1.0","truncation":null,"padding":null,"added_tokens":[{{"id":20,"content":"<x>","single_word":false,"lstrip":true,"rstrip":false,"normalized":true,"special":true}}],"normalizer":{{"type":"Lowercase"}},"pre_tokenizer":{{"type":"Whitespace"}},"post_processor":null,"decoder":null,"model":{model}}}"#
    );
    tokenizer_json::read(text.as_bytes()).expect("a document")
}

fn written(spec: &TokenizerSpec) -> Vec<u8> {
    let parts = Tokenizer::compile(spec).expect("a tokenizer").store();
    write(spec, &parts, ParseSpecial::Nothing, b"key").expect("a cache")
}

fn ids(pipeline: Tokenizer) -> Vec<Vec<u32>> {
    let options = Options { add_special_tokens: true, parse_special: &Selector::All, sampling: None };
    let texts = ["hugs hug", "Žába <x> shs huhu", ""];
    let encoder = Encoder::new(pipeline);
    let encode = |text| {
        encoder
            .encode(&[Input::Text(text).into()], None, options, ExtraColumns::default(), 1)
            .map_or(vec![], |batch| batch.ids)
    };
    texts.into_iter().map(encode).collect()
}

#[test]
fn what_is_read_is_what_was_written() {
    for model in MODELS {
        let spec = document(model);
        let cached = read(&written(&spec).into()).unwrap();
        assert_eq!(
            (cached.parse_special, cached.key.as_slice()),
            (ParseSpecial::Nothing, b"key".as_slice())
        );
        let CompiledCache { spec: stored, vocab, parts, read_entries, .. } = cached;
        let restored = Tokenizer::restore(stored, vocab, &parts, read_entries).unwrap();
        assert_eq!(restored.spec(), spec);
        assert_eq!(ids(restored), ids(Tokenizer::compile(&spec).unwrap()), "{model}");
    }
}

#[test]
fn every_changed_byte_and_every_cut_is_refused() {
    let file = written(&vocab_txt::read(b"[UNK]\nhug\n##s\n[CLS]\n[SEP]\n", None).unwrap());
    assert!(read(&file.clone().into()).is_ok());
    for at in 0..file.len() {
        for change in [1, 0x80, 0xFF] {
            let mut changed = file.clone();
            changed[at] ^= change;
            assert!(read(&changed.into()).is_err(), "byte {at} changed by {change}");
        }
        assert!(read(&file[..at].to_vec().into()).is_err(), "cut to {at} bytes");
    }
    assert!(read(&[file.as_slice(), &[0]].concat().into()).is_err(), "one byte more");
}

#[test]
fn errors_say_what_is_wrong() {
    let file = written(&document(MODELS[0]));
    let error = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut changed = file.clone();
        change(&mut changed);
        read(&Array::from(changed)).unwrap_err().place
    };
    assert_eq!(error(&|file| file[0] = b'x'), "magic");
    assert_eq!(error(&|file| file[16] += 1), "format");
    assert_eq!(error(&|file| file[36] = b'9'), "version");
    assert_eq!(error(&|file| file.truncate(100)), "length");
    assert_eq!(error(&|file| file.truncate(30)), "length");
    assert_eq!(error(&|file| file[70] += 1), "checksum");
}

#[test]
fn fingerprints_tell_where_one_source_ends() {
    assert_ne!(fingerprint(&[b"ab", b"c"]), fingerprint(&[b"a", b"bc"]));
    assert_eq!(fingerprint(&[b"ab"]), fingerprint(&[b"ab"]));
}

#[test]
fn models_of_sentencepiece_keep_every_field() {
    let pieces = [
        ("<unk>", "unknown"),
        ("</s>", "control"),
        ("▁hug", "normal"),
        ("s", "user_defined"),
        ("h", "unused"),
        ("▁", "normal"),
    ];
    let json: Vec<String> =
        pieces.iter().map(|(text, kind)| format!(r#"["{text}",-0.1,"{kind}"]"#)).collect();
    for kind in ["unigram", "bpe", "word", "char"] {
        let model = format!(
            r#"{{"type":"SentencePiece","kind":"{kind}","pieces":[{}],"byte_fallback":false,"bos_piece":"<s>","eos_piece":"</s>","pad_piece":"","lowest_score":-3.3,"self_test":[["a","b"]],"rest":""}}"#,
            json.join(",")
        );
        let spec = document(&model);
        let cached = read(&written(&spec).into()).unwrap();
        assert_eq!(cached.spec, spec);
        let restored =
            Tokenizer::restore(cached.spec, cached.vocab, &cached.parts, cached.read_entries).unwrap();
        assert_eq!(ids(restored), ids(Tokenizer::compile(&spec).unwrap()), "{kind}");
    }
    assert!(!sentencepiece::is_model(&written(&document(MODELS[4]))));
}
