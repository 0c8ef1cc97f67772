//! The one pass against its definition: normalize all of a text, cut it, segment word by word.

use piecework_kernels::level::Level;
use proptest::prelude::*;

use crate::engine::{Input, Options, Tokenizer};
use crate::spec::{
    BertNormalizerSpec, Cleaning, ModelSpec, NormalizerSpec, PreTokenizerSpec, Segmentation, TokenizerSpec,
    UnigramSpec, UnknownUnit, WordPieceSpec,
};
use crate::stages::added_tokens::Selector;
use crate::stages::split::bert::CHUNK;
use crate::stages::split::{SplitScratch, WordSink};
use crate::text::PreTokenizedText;

const ALPHABETS: [&str; 8] = [
    "abcXYZ019",
    " \t\n\r,.!?'\"-_$+<>()",
    "éÀßñİıΣσςǅﬁ가각힣ㄱぱがカ\u{9cb}\u{1112e}",
    "漢字\u{f900}\u{2f800}。、\u{3000}\u{a0}\u{2028}≠\u{37e}",
    "\u{300}\u{301}\u{327}\u{345}\u{302e}\u{302f}\u{1d165}\u{1d15e}\u{93f}\u{94d}",
    "\0\u{1}\u{b}\u{c}\u{7f}\u{85}\u{ad}\u{200d}\u{feff}\u{fffd}",
    "словоλόγοςनमस्तेสวัสดี",
    "👩🏽\u{1d400}\u{e0100}\u{10ffff}",
];

/// Entries that the words of `ALPHABETS` can be made of, but for some.
fn pipeline(bert: Option<(bool, bool, bool, bool)>, isolates: bool) -> Tokenizer {
    let mut tokens: Vec<String> =
        ["[UNK]", "ab", "##bc", "abc", "##019", "слово", "漢", "λογος"].map(String::from).into();
    for c in ALPHABETS
        .iter()
        .flat_map(|alphabet| alphabet.chars())
        .chain('a'..'d')
        .chain("eansioъиaбλογςप".chars())
    {
        if c != '0' && !c.is_whitespace() {
            tokens.extend([c.to_string(), format!("##{c}")]);
        }
    }
    tokens.sort();
    tokens.dedup();
    let vocab = tokens.into_iter().zip(0..).collect();
    let normalizer = bert.map(|(clean_text, handle_chinese_chars, strips, lowercase)| {
        let strip_accents = Some(strips);
        NormalizerSpec::Bert(BertNormalizerSpec {
            clean_text,
            handle_chinese_chars,
            strip_accents,
            lowercase,
            cleaning: Cleaning::Tokenizers,
        })
    });
    let pre_tokenizer = if isolates { PreTokenizerSpec::Bert } else { PreTokenizerSpec::WhitespaceSplit };
    let model = ModelSpec::WordPiece(WordPieceSpec {
        vocab,
        unk_token: "[UNK]".into(),
        continuing_subword_prefix: "##".into(),
        max_input_chars_per_word: 100,
        unk: if isolates { UnknownUnit::Word } else { UnknownUnit::Char },
        segmentation: Segmentation::Greedy,
    });
    compiled(normalizer, pre_tokenizer, model)
}

fn compiled(
    normalizer: Option<NormalizerSpec>,
    pre_tokenizer: PreTokenizerSpec,
    model: ModelSpec,
) -> Tokenizer {
    let spec = TokenizerSpec { normalizer, pre_tokenizer: Some(pre_tokenizer), ..TokenizerSpec::of(model) };
    Tokenizer::compile(&spec).unwrap()
}

/// Return the words, and the ids, of the definition.
fn expected(pipeline: &Tokenizer, text: &str) -> (Vec<String>, Vec<u32>) {
    let (mut pre_tokenized, mut ids) = (PreTokenizedText::default(), Vec::new());
    pipeline.splitter().pre_tokenize(text, 0, &mut pre_tokenized).unwrap();
    let word = |&(from, to): &(usize, usize)| pre_tokenized.text.text()[from..to].to_owned();
    let words: Vec<String> = pre_tokenized.spans.iter().map(word).collect();
    for word in &words {
        pipeline.model().run(word, pipeline.vocab(), &mut crate::model::ModelScratch::default(), &mut ids);
    }
    (words, ids)
}

struct Collected(Vec<String>);

impl WordSink for Collected {
    fn word(&mut self, word: &str, _at: usize) {
        self.0.push(word.to_owned());
    }
}

#[track_caller]
fn check(pipeline: &Tokenizer, text: &str) {
    let (words, ids) = expected(pipeline, text);
    let mut scratch = pipeline.scratch();
    let options = Options { add_special_tokens: false, parse_special: &Selector::All, sampling: None };
    for level in Level::supported() {
        level.activate();
        let mut sink = Collected(Vec::new());
        pipeline.splitter().run(text, 0, &mut SplitScratch::default(), &mut sink).unwrap();
        assert_eq!(sink.0, words, "{} {text:?}", level.name());
        // Once for the way there, once for what was remembered of it.
        for _ in 0..2 {
            let mut found = Vec::new();
            pipeline.ids_into(Input::Text(text), 0, options, &mut scratch, &mut found).unwrap();
            assert_eq!(found, ids, "{} {text:?}", level.name());
        }
        let found = pipeline.encode(Input::Text(text), None, options, &mut scratch).unwrap();
        let plain = pipeline.plain();
        let expected = plain.encode(Input::Text(text), None, options, &mut plain.scratch()).unwrap();
        assert_eq!(found, expected, "{} {text:?}", level.name());
    }
}

/// Texts of characters from a few of the alphabets, some many times over.
fn texts() -> impl Strategy<Value = String> {
    let letter = |alphabet: &'static str| prop::sample::select(alphabet.chars().collect::<Vec<_>>());
    let run = (prop::sample::select(ALPHABETS.to_vec()), 1_usize..12)
        .prop_flat_map(move |(alphabet, most)| prop::collection::vec(letter(alphabet), 1..=most))
        .prop_map(|chars| chars.into_iter().collect::<String>());
    let metaspace = (run, prop::sample::select(vec!["", "", " ", ", "]), 1_usize..3);
    prop::collection::vec(metaspace, 0..40)
        .prop_map(|runs| runs.into_iter().map(|(run, space, times)| (run + space).repeat(times)).collect())
}

const EVERY: [bool; 2] = [false, true];

/// If a text spells continuation entries or the unknown token, its words have the ids of others.
#[test]
fn texts_of_continuation_entries_equal_the_definition() {
    let entries = ["[UNK]", "##", "##a", "##b", "####a", "#", "a", "ab", "##[UNK]"];
    for prefix in ["##", ""] {
        let model = ModelSpec::WordPiece(WordPieceSpec {
            vocab: entries.into_iter().map(String::from).zip(0..).collect(),
            unk_token: "[UNK]".into(),
            continuing_subword_prefix: prefix.into(),
            max_input_chars_per_word: 9,
            unk: UnknownUnit::Word,
            segmentation: Segmentation::Greedy,
        });
        let pipeline = compiled(None, PreTokenizerSpec::WhitespaceSplit, model);
        let words = [
            "##a",
            "##",
            "[UNK]",
            "[UNK]a",
            "aa",
            "abab",
            "zz",
            "a[UNK]",
            "a##a",
            "é",
            "aaaaaaaaaa",
            "####a",
        ];
        for first in words {
            for second in words {
                for third in words {
                    check(&pipeline, &format!("{first} {second} {third} a"));
                }
            }
        }
    }
}

#[test]
fn a_missing_unknown_token_is_an_error_each_time() {
    let vocab = vec![("ab".to_owned(), 0.0), ("a".to_owned(), -1.0)];
    let model = ModelSpec::Unigram(UnigramSpec { vocab, unk_id: None, byte_fallback: false });
    let pipeline = compiled(None, PreTokenizerSpec::Bert, model);
    let options = Options { add_special_tokens: false, parse_special: &Selector::All, sampling: None };
    let mut scratch = pipeline.scratch();
    for text in ["xyz", "é", "ab ab\u{200d}é", "abaxabaxabaxabaxabax", "aaaaaéaaaaaaaaaaaaaaa", "a"] {
        for _ in 0..3 {
            let mut ids = Vec::new();
            let result = pipeline.ids_into(Input::Text(text), 0, options, &mut scratch, &mut ids);
            assert_eq!(result.is_ok(), text == "a", "{text:?}");
        }
    }
}

#[test]
fn every_setting_equals_the_definition_on_every_code_point() {
    for bits in 0..17_u8 {
        let bit = |at: u8| bits >> at & 1 == 1;
        let pipeline = pipeline((bits < 16).then(|| (bit(0), bit(1), bit(2), bit(3))), bits % 3 > 0);
        for frame in ["a{}B", "{}", "漢{}\u{302e}x"] {
            let mut text = String::new();
            for c in '\0'..=char::MAX {
                // Most of the far planes are alike.
                if c < '\u{33000}' || c > '\u{e0000}' && c < '\u{e0400}' || (c as u32).is_multiple_of(97) {
                    text.extend([&frame.replace("{}", c.encode_utf8(&mut [0; 4])), "\n"]);
                }
            }
            let mut sink = Collected(Vec::new());
            pipeline.splitter().run(&text, 0, &mut SplitScratch::default(), &mut sink).unwrap();
            assert!(sink.0 == expected_words(&pipeline, &text), "{bits} {frame}");
        }
    }
}

/// Return the key of a span with non-ASCII characters has its ASCII letters in lower case.
#[test]
fn case_of_ascii_beside_any_code_point_does_not_matter_without_case() {
    for bits in 0..8_u8 {
        let bit = |at: u8| bits >> at & 1 == 1;
        let pipeline = pipeline(Some((bit(0), bit(1), bit(2), true)), true);
        let words = |text: &str| {
            let mut sink = Collected(Vec::new());
            pipeline.splitter().run(text, 0, &mut SplitScratch::default(), &mut sink).unwrap();
            sink.0
        };
        for c in '\u{80}'..=char::MAX {
            if c < '\u{20000}' || (c as u32).is_multiple_of(97) {
                let text = format!("A{c}Z\u{301}I{c}\u{302e}K");
                assert_eq!(words(&text), words(&text.to_ascii_lowercase()), "{bits} {text:?}");
            }
        }
    }
}

fn expected_words(pipeline: &Tokenizer, text: &str) -> Vec<String> {
    let mut pre_tokenized = PreTokenizedText::default();
    pipeline.splitter().pre_tokenize(text, 0, &mut pre_tokenized).unwrap();
    pre_tokenized.spans.iter().map(|&(from, to)| pre_tokenized.text.text()[from..to].to_owned()).collect()
}

#[test]
fn chunks_end_between_spans() {
    let pipeline = pipeline(Some((true, true, true, true)), true);
    for len in [62, 63, 64, 65, CHUNK - 2, CHUNK - 1, CHUNK, CHUNK + 1, 2 * CHUNK, 3 * CHUNK + 7] {
        for word in ["a", "ab,", "é", "漢", "\u{f900}", "각", ",", " ", "abc \n", "словo "] {
            let text = word.repeat(len / word.len() + 1);
            check(&pipeline, &text);
            check(&pipeline, &format!("x{text}"));
            check(&pipeline, &format!("{} {word}", "y".repeat(len)));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn any_text_equals_the_definition(text in texts(), bits in 0..17_u8) {
        let bit = |at: u8| bits >> at & 1 == 1;
        for isolates in EVERY {
            check(&pipeline((bits < 16).then(|| (bit(0), bit(1), bit(2), bit(3))), isolates), &text);
        }
    }
}
