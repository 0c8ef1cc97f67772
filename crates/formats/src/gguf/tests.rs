//! Files made by hand; `tests/io/gguf/` reads files of the `gguf` package.

use std::io::Cursor;

use piecework_core::spec::{
    ByteLevelSpec, ModelSpec, PieceType, PostProcessorSpec, PreTokenizerSpec, SentencePieceKind,
    TemplatePiece,
};

use super::*;

const STRING: u32 = 8;
const ARRAY: u32 = 9;

/// A key-value section.
#[derive(Default)]
struct File {
    count: u64,
    entries: Vec<u8>,
}

impl File {
    fn key(self, key: &str, kind: u32, value: &[u8]) -> Self {
        self.full_key(&format!("tokenizer.ggml.{key}"), kind, value)
    }

    fn full_key(mut self, key: &str, kind: u32, value: &[u8]) -> Self {
        self.count += 1;
        self.entries.extend(text(key));
        self.entries.extend(kind.to_le_bytes());
        self.entries.extend(value);
        self
    }

    fn texts(self, key: &str, texts: &[&str]) -> Self {
        let items: Vec<u8> = texts.iter().flat_map(|item| text(item)).collect();
        self.key(key, ARRAY, &array(STRING, texts.len() as u64, &items))
    }

    fn numbers(self, key: &str, numbers: &[i32]) -> Self {
        let items: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
        self.key(key, ARRAY, &array(5, numbers.len() as u64, &items))
    }

    fn bytes(&self) -> Vec<u8> {
        let mut bytes = b"GGUF\x03\0\0\0".to_vec();
        bytes.extend(0u64.to_le_bytes());
        bytes.extend(self.count.to_le_bytes());
        bytes.extend(&self.entries);
        bytes
    }
}

fn text(text: &str) -> Vec<u8> {
    [&(text.len() as u64).to_le_bytes(), text.as_bytes()].concat()
}

fn array(kind: u32, count: u64, items: &[u8]) -> Vec<u8> {
    [&kind.to_le_bytes(), &count.to_le_bytes()[..], items].concat()
}

fn llama() -> File {
    let scores: Vec<u8> = [0f32, 0.0, 0.0, -1.0].iter().flat_map(|score| score.to_le_bytes()).collect();
    File::default()
        .key("model", STRING, &text("llama"))
        .texts("tokens", &["<unk>", "<s>", "</s>", "a"])
        .numbers("token_type", &[2, 3, 3, 1])
        .key("scores", ARRAY, &array(6, 4, &scores))
}

fn gpt2() -> File {
    let model = File::default().key("model", STRING, &text("gpt2")).key("pre", STRING, &text("gpt-2"));
    model.texts("tokens", &["a", "b", "ab", "<e>"]).numbers("token_type", &[1, 1, 1, 3])
}

fn pipeline() -> NamedPipeline {
    let byte_level = ByteLevelSpec { add_prefix_space: false, trim_offsets: true, use_regex: true };
    NamedPipeline {
        normalizer: None,
        pre_tokenizer: PreTokenizerSpec::ByteLevel(byte_level),
        ignore_merges: true,
        add_bos: false,
        add_sep: false,
        strips_mask: false,
    }
}

fn error(file: &File) -> String {
    read(&file.bytes(), Some(pipeline()), None).unwrap_err().to_string()
}

#[test]
fn reads_a_sentencepiece_model() {
    let bytes = llama().bytes();
    let spec = read(&bytes, None, None).unwrap();
    let ModelSpec::SentencePiece(model) = &spec.model else { panic!("llama is SentencePiece") };
    assert_eq!((model.kind, model.pieces[3].score), (SentencePieceKind::Bpe, -1.0));
    assert_eq!(model.pieces[1].kind, PieceType::Control);
    let Some(PostProcessorSpec::Template(template)) = &spec.post_processor else { panic!("a template") };
    assert_eq!(template.single[0], TemplatePiece::Special("<s>".into(), 0));
    assert_eq!(spec.added_tokens.len(), 3);
    let expected = [("unk_token", "<unk>"), ("bos_token", "<s>"), ("eos_token", "</s>")];
    assert_eq!(roles(&bytes).unwrap(), expected.map(|(role, token)| (role, token.to_owned())));
}

#[test]
fn a_special_token_is_an_entry_only_if_merges_make_it() {
    let entries = |merges: &[&str]| {
        let spec = read(&gpt2().texts("merges", merges).bytes(), Some(pipeline()), None).unwrap();
        let vocab = spec.model.vocab().into_owned();
        (vocab.len(), spec.added_tokens.len())
    };
    assert_eq!(entries(&["a b"]), (3, 1));
    assert_eq!(entries(&["a b", "< e>"]), (4, 1));
}

#[test]
fn a_model_is_gemma4_by_its_name_or_by_that_of_its_pre_tokenizer() {
    let file = |model: &str, pre: &str| {
        let file = File::default().key("model", STRING, &text(model)).key("pre", STRING, &text(pre));
        file.texts("tokens", &["<unk>", "a", "▁", "▁a"]).numbers("token_type", &[2, 1, 1, 1])
    };
    for (model, pre) in [("gemma4", "zebra"), ("gpt2", "gemma4"), ("gpt2", "sarvam-moe")] {
        let bytes = file(model, pre).texts("merges", &["▁ a"]).bytes();
        assert_eq!(names(&bytes).unwrap().model, "gemma4");
        let spec = read(&bytes, None, None).unwrap();
        assert_eq!(spec.pre_tokenizer, None);
        let ModelSpec::Bpe(model) = &spec.model else { panic!("gemma4 is BPE") };
        assert_eq!((model.vocab.len(), model.unk_token.as_deref()), (4, Some("<unk>")));
    }
    assert!(error(&file("gemma4", "default")).starts_with("tokenizer.ggml.merges: found no such key"));
}

#[test]
fn chat_templates_have_names() {
    let file = llama()
        .full_key("tokenizer.chat_template.tool_use", STRING, &text("b"))
        .full_key("tokenizer.chat_templates", ARRAY, &array(STRING, 1, &text("tool_use")))
        .full_key("tokenizer.chat_template", STRING, &text("a"));
    let expected = [("default", "a"), ("tool_use", "b")].map(|(name, text)| (name.into(), text.into()));
    assert_eq!(chat_templates(&file.bytes()).unwrap(), expected);
    assert_eq!(chat_templates(&llama().bytes()).unwrap(), []);
    let number = llama().full_key("tokenizer.chat_template", 4, &[0; 4]);
    let error = chat_templates(&number.bytes()).unwrap_err().to_string();
    assert!(error.starts_with("tokenizer.chat_template (byte"), "{error}");
}

#[test]
fn bytes_after_the_section_are_not_read() {
    let bytes = llama().bytes();
    let longer = [bytes.as_slice(), &[0xFF; 100]].concat();
    let len = section_len(Cursor::new(&longer), longer.len() as u64).unwrap();
    assert_eq!(len, bytes.len() as u64);
    assert_eq!(read(&longer, None, None), read(&bytes, None, None));
}

#[test]
fn every_truncated_file_is_an_error() {
    let bytes = llama().bytes();
    for len in 0..bytes.len() {
        assert!(section_len(Cursor::new(&bytes[..len]), len as u64).is_err(), "{len} bytes are read");
        assert!(read(&bytes[..len], None, None).is_err(), "{len} bytes are read");
    }
}

#[test]
fn names_the_key_and_the_byte() {
    assert!(error(&File::default()).starts_with("tokenizer.ggml.model: found no such key"));
    let model = File::default().key("model", STRING, &text("rwkv"));
    assert!(error(&model).starts_with("tokenizer.ggml.model (byte 24): found \"rwkv\", expected one of"));
    assert!(error(&llama().key("model", 10, &[0; 8])).contains("found the key of byte 24 again"));
    let huge = File::default().key("tokens", ARRAY, &array(STRING, 1 << 60, &[]));
    assert!(error(&huge).contains("1152921504606846976 items in the 0 bytes before the end"));
    assert!(error(&gpt2()).starts_with("tokenizer.ggml.merges: found no such key"));
    assert!(error(&gpt2().texts("merges", &["a b", "ab"])).starts_with("tokenizer.ggml.merges[1] (byte"));
    let mut nested = array(STRING, 0, &[]);
    for _ in 0..8 {
        nested = array(ARRAY, 1, &nested);
    }
    let file = File::default().key("nested", ARRAY, &nested);
    assert!(error(&file).contains("more than 4 arrays inside each other"));
}
