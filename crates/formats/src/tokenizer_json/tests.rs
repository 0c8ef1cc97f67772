//! Whole documents are written as `tokenizers` 0.23.3 writes them, and errors name the path. Expected texts
//! are from `Tokenizer.from_str(...).to_str()`.

use piecework_core::spec::{
    DecoderSpec, MetaspaceSpec, ModelSpec, NormalizerSpec, PostProcessorSpec, PreTokenizerSpec,
    PrependScheme,
};

use super::{read, write};

const CHARS: &str = r#"{"type":"BPE","dropout":null,"unk_token":"?","continuing_subword_prefix":null,"end_of_word_suffix":null,"fuse_unk":false,"byte_fallback":false,"ignore_merges":false,"vocab":{"?":0},"merges":[]}"#;

/// Return a document whose one stage is `stage`.
fn document(stage: &str, component: &str) -> String {
    let value = |name: &str| if name == stage { component } else { "null" };
    let model = if stage == "model" { component } else { CHARS };
    let (normalizer, pre_tokenizer) = (value("normalizer"), value("pre_tokenizer"));
    let (post_processor, decoder) = (value("post_processor"), value("decoder"));
    format!(
        r#"{{"version":"1.0","truncation":null,"padding":null,"added_tokens":[],"normalizer":{normalizer},"pre_tokenizer":{pre_tokenizer},"post_processor":{post_processor},"decoder":{decoder},"model":{model}}}"#
    )
}

fn written(stage: &str, component: &str) -> String {
    write(&read(document(stage, component).as_bytes()).unwrap(), false)
}

fn fault(text: &str) -> String {
    read(text.as_bytes()).unwrap_err().to_string()
}

#[test]
fn components_are_written_as_they_are_read() {
    let components = [
        ("normalizer", r#"{"type":"Strip","strip_left":true,"strip_right":false}"#),
        ("normalizer", r#"{"type":"Replace","pattern":{"Regex":"\\s+"},"content":" "}"#),
        ("normalizer", r#"{"type":"Precompiled","precompiled_charsmap":"AAECAw=="}"#),
        ("normalizer", r#"{"type":"Sequence","normalizers":[{"type":"NFD"},{"type":"Nmt"}]}"#),
        (
            "pre_tokenizer",
            r#"{"type":"Split","pattern":{"String":"a"},"behavior":"MergedWithNext","invert":true}"#,
        ),
        ("pre_tokenizer", r#"{"type":"Sequence","pretokenizers":[{"type":"UnicodeScripts"}]}"#),
        (
            "post_processor",
            r#"{"type":"RobertaProcessing","sep":["a",1],"cls":["b",2],"trim_offsets":true,"add_prefix_space":false}"#,
        ),
        ("post_processor", r#"{"type":"Sequence","processors":[]}"#),
        ("decoder", r#"{"type":"Strip","content":" ","start":1,"stop":0}"#),
        ("decoder", r#"{"type":"CTC","pad_token":"<pad>","word_delimiter_token":"|","cleanup":true}"#),
        (
            "model",
            r#"{"type":"Unigram","unk_id":0,"vocab":[["<unk>",0.0],["a",-7.5]],"byte_fallback":true}"#,
        ),
    ];
    for (stage, component) in components {
        assert_eq!(written(stage, component), document(stage, component));
    }
}

#[test]
fn writes_defaults_that_old_files_omit() {
    let cases = [
        (
            "pre_tokenizer",
            r#"{"type":"Metaspace","replacement":"_","str_rep":"_","add_prefix_space":true}"#,
            r#"{"type":"Metaspace","replacement":"_","prepend_scheme":"always","split":true}"#,
        ),
        (
            "decoder",
            r#"{"type":"ByteLevel","add_prefix_space":true,"trim_offsets":false}"#,
            r#"{"type":"ByteLevel","add_prefix_space":true,"trim_offsets":false,"use_regex":true}"#,
        ),
        ("pre_tokenizer", r#"{"type":"Punctuation"}"#, r#"{"type":"Punctuation","behavior":"Isolated"}"#),
        ("pre_tokenizer", r#"{"type":"FixedLength"}"#, r#"{"type":"FixedLength","length":5}"#),
        (
            "model",
            r##"{"vocab":{"ab":2,"a":0,"b":1},"merges":["#version: 0.2","a b"],"dropout":0.123456789}"##,
            r#"{"type":"BPE","dropout":0.12345679,"unk_token":null,"continuing_subword_prefix":null,"end_of_word_suffix":null,"fuse_unk":false,"byte_fallback":false,"ignore_merges":false,"vocab":{"a":0,"b":1,"ab":2},"merges":[["a","b"]]}"#,
        ),
        (
            "model",
            r#"{"vocab":[["a",-1]]}"#,
            r#"{"type":"Unigram","unk_id":null,"vocab":[["a",-1.0]],"byte_fallback":false}"#,
        ),
    ];
    for (stage, old, new) in cases {
        assert_eq!(written(stage, old), document(stage, new));
    }
}

#[test]
fn a_plain_bpe_without_merges_is_a_character_model() {
    let model = |text: &str| read(document("model", text).as_bytes()).unwrap().model;
    assert!(matches!(model(CHARS), ModelSpec::Char(_)));
    let fusing = CHARS.replace("\"fuse_unk\":false", "\"fuse_unk\":true");
    assert!(matches!(model(&fusing), ModelSpec::Bpe(_)));
}

#[test]
fn faults_are_named_by_their_path() {
    let cases = [
        (
            document(
                "pre_tokenizer",
                r#"{"type":"Sequence","pretokenizers":[{"type":"Digits","individual_digits":true},{"type":"Shout"}]}"#,
            ),
            "pre_tokenizer.pretokenizers[1].type: found \"Shout\", expected one of BertPreTokenizer",
        ),
        (
            document(
                "normalizer",
                r#"{"type":"Strip","strip_left":true,"strip_right":true,"strip_left":false}"#,
            ),
            "normalizer.strip_left: found this field again, as false, expected each field once",
        ),
        (
            document("model", r#"{"type":"WordLevel","vocab":{"a":0,"a":1},"unk_token":"a"}"#),
            "model.vocab[\"a\"]: found this entry again, as 1, expected each entry once",
        ),
        (document("decoder", r#"{"suffix":""}"#), "decoder.type: found nothing, expected one of WordPiece"),
        (
            document("decoder", r#"{"type":"Replace","pattern":{"String":"a","Regex":"a"},"content":""}"#),
            "decoder.pattern: found an object, expected either {\"String\": ...} or {\"Regex\": ...}",
        ),
        (
            document("pre_tokenizer", r#"{"type":"Metaspace","replacement":"_","add_prefix_space":false}"#),
            "pre_tokenizer.add_prefix_space: found false, expected \"prepend_scheme\": \"never\" with it",
        ),
        (
            document("pre_tokenizer", r#"{"type":"CharDelimiterSplit","delimiter":"ab"}"#),
            "pre_tokenizer.delimiter: found \"ab\", expected one character",
        ),
        (
            document("normalizer", r#"{"type":"Precompiled","precompiled_charsmap":"?"}"#),
            "normalizer.precompiled_charsmap: found text that is not base64",
        ),
        (
            document("model", r#"{"type":"Unigram","unk_id":1,"vocab":[["a",0]]}"#),
            "model.unk_id: found 1, expected one of the 1 places of the vocabulary",
        ),
        (
            document("model", r#"{"type":"BPE","vocab":{},"merges":[["a","b"],"a b"]}"#),
            "model.merges[1]: found \"a b\", expected a pair of entries, as the merges before it",
        ),
        (
            document("model", r#"{"type":"BPE","vocab":{},"merges":["a b","a  b"]}"#),
            "model.merges[1]: found \"a  b\", expected two entries with one space between them",
        ),
        (
            document(
                "post_processor",
                r#"{"type":"TemplateProcessing","single":[],"pair":[],"special_tokens":{"x":{"id":"y","ids":[],"tokens":[]}}}"#,
            ),
            "post_processor.special_tokens[\"x\"].id: found \"y\", expected \"x\"",
        ),
        (r#"{"version":"3.0"}"#.to_owned(), "version: found \"3.0\", expected one of 1.0, 2.0"),
        ("[]".to_owned(), "document: found an array, expected an object"),
        (r#"{"model":"\ud800"}"#.to_owned(), "line 1, column"),
    ];
    for (text, message) in cases {
        let found = fault(&text);
        assert!(found.starts_with(message), "{found} is not {message}");
    }
}

#[test]
fn depth_is_bounded() {
    let deep = "[".repeat(1_000_000);
    assert!(fault(&deep).contains("recursion limit exceeded"));
    let nested = r#"{"type":"Sequence","normalizers":["#.repeat(500);
    assert!(fault(&document("normalizer", &nested)).contains("recursion limit exceeded"));
}

#[test]
fn rejects_many_repetitions_of_a_field_at_once() {
    let model = format!("{{{}\"type\":\"BPE\"}}", "\"type\":\"BPE\",".repeat(100_000));
    assert!(fault(&document("model", &model)).starts_with("model.type: found this field again"));
}

#[test]
fn version_2_takes_metaspace_together() {
    let text = r#"{"version":"2.0","added_tokens":[],
        "normalizer":{"type":"Sequence","normalizers":[{"type":"NFC"},
            {"type":"MetaspaceNormalizer","replacement":"▁","prepend":true,"drop_whitespace":true}]},
        "pre_tokenizer":{"type":"Split","pattern":{"String":"▁"},"behavior":"MergedWithNext","invert":false},
        "decoder":{"type":"Fuse"},
        "model":{"type":"Unigram","unk_id":0,"vocab":[["<unk>",0.0]],"byte_fallback":false}}"#;
    let spec = read(text.as_bytes()).unwrap();
    assert_eq!(spec.normalizer, Some(NormalizerSpec::Sequence(vec![NormalizerSpec::Nfc])));
    let metaspace =
        MetaspaceSpec { replacement: '▁', prepend_scheme: PrependScheme::Always, split: true };
    let stages = vec![PreTokenizerSpec::WhitespaceSplit, PreTokenizerSpec::Metaspace(metaspace)];
    assert_eq!(spec.pre_tokenizer, Some(PreTokenizerSpec::Sequence(stages)));
    assert_eq!(spec.decoder, Some(DecoderSpec::Fuse));
}

#[test]
fn version_2_takes_byte_level_and_templates_together() {
    let text = r#"{"version":"2.0","truncation":null,"padding":null,"added_tokens":[],"normalizer":null,
        "pre_tokenizer":{"type":"Split","behavior":"Isolated","invert":false,"pattern":{"Regex":
            "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+"}},
        "post_processor":{"type":"TemplateProcessing","single":[{"ids":[1,0]},{"seq":"A"}],
            "pair":[{"seq":"A"},{"ids":[1]},{"seq":"B","type_id":1}]},
        "decoder":null,
        "model":{"type":"BPE","unk_token":null,"continuing_subword_prefix":null,"end_of_word_suffix":null,
            "fuse_unk":false,"byte_fallback":false,"ignore_merges":false,"byte_level":true,
            "vocab":{"a":0,"<s>":1},"merges":[]}}"#;
    let old = write(&read(text.as_bytes()).unwrap(), false);
    let expected = [
        r#""pre_tokenizer":{"type":"ByteLevel","add_prefix_space":false,"trim_offsets":true,"use_regex":true}"#,
        r#""single":[{"SpecialToken":{"id":"<s>","type_id":0}},{"SpecialToken":{"id":"a","type_id":0}},{"Sequence":{"id":"A","type_id":0}}]"#,
        r#"{"Sequence":{"id":"B","type_id":1}}]"#,
        r#""special_tokens":{"<s>":{"id":"<s>","ids":[1],"tokens":["<s>"]},"a":{"id":"a","ids":[0],"tokens":["a"]}}"#,
    ];
    for part in expected {
        assert!(old.contains(part), "{part} is not in {old}");
    }
    let spec = read(old.as_bytes()).unwrap();
    assert!(matches!(spec.post_processor, Some(PostProcessorSpec::Template(_))));
}

#[test]
fn version_2_has_no_merges_as_text_and_no_byte_level_pre_tokenizer() {
    let merges = r#"{"version":"2.0","model":{"type":"BPE","vocab":{},"merges":["a b"]}}"#;
    assert!(fault(merges).starts_with("model.merges[0]: found \"a b\", expected a pair"));
    let byte_level = document("pre_tokenizer", r#"{"type":"ByteLevel"}"#).replace("\"1.0\"", "\"2.0\"");
    assert!(fault(&byte_level).starts_with("pre_tokenizer.type: found \"ByteLevel\", expected one of"));
}
