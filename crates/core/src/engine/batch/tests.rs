//! Compares batches, in which misses of several texts are segmented together, with one text at a time.

use proptest::prelude::*;

use super::*;
use crate::model::Sampling;
use crate::spec::{
    AddedToken, BertNormalizerSpec, BpeSpec, ByteLevelSpec, Cleaning, ModelSpec, NormalizerSpec,
    PostProcessorSpec, PreTokenizerSpec, Segmentation, TokenizerSpec, UnigramSpec, UnknownUnit,
    WordPieceSpec,
};
use crate::stages::added_tokens::Selector;
use crate::text::printable_of;

/// Return a tokenizer that inserts the ids `a` and `a + 1` around each text.
fn framed(
    a: u32,
    model: ModelSpec,
    normalizer: Option<NormalizerSpec>,
    pre_tokenizer: PreTokenizerSpec,
) -> TokenizerSpec {
    TokenizerSpec {
        added_tokens: vec![AddedToken {
            id: 1000,
            content: "<x>".into(),
            single_word: false,
            lstrip: true,
            rstrip: false,
            normalized: false,
            special: true,
        }],
        normalizer,
        pre_tokenizer: Some(pre_tokenizer),
        post_processor: Some(PostProcessorSpec::Bert { sep: ("b".into(), a + 1), cls: ("a".into(), a) }),
        ..TokenizerSpec::of(model)
    }
}

/// WordPiece after BERT's normalizer and splitter.
fn bert() -> TokenizerSpec {
    let entries =
        ["[UNK]", "a", "b", "ab", "##a", "##b", "##ab", "##c", "c", "e", "##e", "漢", ".", "##bb"];
    let model = ModelSpec::WordPiece(WordPieceSpec {
        vocab: entries.into_iter().map(String::from).zip(0..).collect(),
        unk_token: "[UNK]".into(),
        continuing_subword_prefix: "##".into(),
        max_input_chars_per_word: 100,
        unk: UnknownUnit::Word,
        segmentation: Segmentation::Greedy,
    });
    let normalizer = NormalizerSpec::Bert(BertNormalizerSpec {
        clean_text: true,
        handle_chinese_chars: true,
        strip_accents: Some(true),
        lowercase: true,
        cleaning: Cleaning::Tokenizers,
    });
    framed(1, model, Some(normalizer), PreTokenizerSpec::Bert)
}

/// BPE over bytes.
fn byte_level() -> TokenizerSpec {
    let bytes = (0..=255).map(|byte| printable_of(byte).to_string());
    let merges =
        [("a", "b"), ("c", "c"), ("ab", "ab"), ("Ġ", "ab"), ("cc", "a"), ("Ã", "©"), ("Ġab", "cc")];
    let joined = merges.iter().map(|(left, right)| format!("{left}{right}"));
    let model = ModelSpec::Bpe(BpeSpec {
        vocab: bytes.chain(joined).zip(0..).collect(),
        merges: merges.into_iter().collect(),
        ..BpeSpec::default()
    });
    let spec = ByteLevelSpec { add_prefix_space: false, trim_offsets: true, use_regex: true };
    framed(b'a'.into(), model, None, PreTokenizerSpec::ByteLevel(spec))
}

/// Texts whose words come again soon or much later, some of them long; and some without any.
fn any_texts() -> impl Strategy<Value = Vec<String>> {
    let word = prop_oneof![
        6 => "[abc]{1,6}",
        2 => "[abce\u{e9}漢]{1,9}",
        1 => "[abc]{12,40}",
        1 => "[ab\u{e9}]{30,90}",
        // What no entry begins, what marks are put in order in, and a token that is found whole.
        1 => prop::sample::select(vec!["zz", "a\u{327}\u{301}", "<x>", "\u{e9}<x>a"]).prop_map(String::from),
    ];
    prop::collection::vec(word, 1..120).prop_flat_map(|words| {
        let text =
            prop::collection::vec(prop::sample::select(words), 0..60).prop_map(|words| words.join(" "));
        let text =
            prop_oneof![40 => text, 1 => Just("ab\u{e9}c".repeat(2000)), 1 => Just(many_words_together())];
        prop::collection::vec(text, 0..40)
    })
}

/// A thousand words of many pieces, without a space between.
fn many_words_together() -> String {
    let digit = |number: usize, place: u32| ['a', 'b', 'c'][number / 3_usize.pow(place) % 3];
    let word = |number| (0..8).map(|place| digit(number, place)).collect::<String>();
    (0..1000).map(|number| word(number * 6)).collect::<Vec<_>>().join("漢")
}

fn one_by_one(spec: &TokenizerSpec, texts: &[Input<'_>], options: Options<'_>) -> Vec<Vec<u32>> {
    let ids = |&text: &Input<'_>| {
        let encoder = Encoder::new(Tokenizer::compile(spec.clone()).expect("a tokenizer"));
        encoder.ids(text.into(), options, <[u32]>::to_vec).expect("ids")
    };
    texts.iter().map(ids).collect()
}

/// Where the tokens of all texts come from, of one text at a time.
fn spans_one_by_one(
    spec: &TokenizerSpec,
    texts: &[Input<'_>],
    options: Options<'_>,
) -> (Vec<[u32; 2]>, Vec<i32>) {
    let tokenizer = Tokenizer::compile(spec.clone()).expect("a tokenizer").plain();
    let tokens = texts.iter().flat_map(|&text| {
        tokenizer.encode(text, None, options, &mut tokenizer.scratch()).expect("an encoding").tokens
    });
    tokens.map(|token| ([token.start, token.end], token.word as i32)).unzip()
}

/// Return the rows of a batch, by several threads or one, and the same again.
fn check(spec: &TokenizerSpec, texts: &[String], add_special_tokens: bool, cache_bytes: usize) {
    let options = Options { add_special_tokens, parse_special: &Selector::All, sampling: None };
    let inputs: Vec<Input<'_>> = texts.iter().map(|text| Input::Text(text)).collect();
    let sources: Vec<Source<'_>> = inputs.iter().copied().map(Source::from).collect();
    let tokenizer = Tokenizer::compile(spec.clone()).expect("a tokenizer").with_cache_budget(cache_bytes);
    for spans in [false, true] {
        let extra = ExtraColumns { spans, overflow: true };
        let mode = RowEncoder::new(&tokenizer, &sources, None, options, extra).mode;
        assert!(matches!(mode, RowMode::Batched(..) | RowMode::Aligned(..)));
    }
    let encoder = Encoder::new(tokenizer);
    let expected = one_by_one(spec, &inputs, options);
    let expected_spans = spans_one_by_one(spec, &inputs, options);
    for (num_threads, spans) in [(1, false), (3, true), (1, true), (3, false)] {
        let extra = ExtraColumns { spans, overflow: false };
        let batch = encoder.encode(&sources, None, options, extra, num_threads).expect("a batch");
        let rows = batch.row_offsets.windows(2).map(|two| two[0] as usize..two[1] as usize);
        assert_eq!(rows.map(|row| batch.ids[row].to_vec()).collect::<Vec<_>>(), expected);
        if let Some(Spans { offsets, word_ids, .. }) = batch.spans {
            assert_eq!((offsets, word_ids), expected_spans);
        }
    }
}

#[test]
fn ids_of_misses_are_spliced_before_those_of_later_hits() {
    let (known, many) = ("ccacbca", many_words_together());
    let texts = [known.into(), format!("{known} {many}"), format!("{known} {many}")];
    for cache_bytes in [1 << 10, 1 << 12, 1 << 14] {
        check(&bert(), &texts, true, cache_bytes);
    }
}

proptest! {
    #[test]
    fn rows_of_a_batch_are_those_of_one_text_at_a_time(
        is_bert in any::<bool>(),
        texts in any_texts(),
        add_special_tokens in any::<bool>(),
        cache_bytes in prop::sample::select(vec![0, 1 << 10, 1 << 14, 64 << 20]),
    ) {
        check(&if is_bert { bert() } else { byte_level() }, &texts, add_special_tokens, cache_bytes);
    }
}

#[test]
fn a_word_without_a_segmentation_is_an_error_of_its_text() {
    let vocab = ["a", "b", "ab"].map(|entry| (entry.to_owned(), -1.0)).to_vec();
    let model = ModelSpec::Unigram(UnigramSpec { vocab, unk_id: None, byte_fallback: false });
    let encoder = Encoder::new(Tokenizer::compile(framed(0, model, None, PreTokenizerSpec::Bert)).unwrap());
    let options = Options { add_special_tokens: false, parse_special: &Selector::All, sampling: None };
    for (texts, wrong) in [(["ab", "x"], 1), (["x", "ab"], 0), (["ab ax", "a"], 0)] {
        let texts = texts.map(|text| Source::from(Input::Text(text)));
        for spans in [false, true] {
            let extra = ExtraColumns { spans, overflow: false };
            let error = encoder.encode(&texts, None, options, extra, 1).unwrap_err();
            assert!(error.place.starts_with(&format!("texts[{wrong}]")), "{error}");
        }
    }
}

#[test]
fn a_panic_leaves_the_first_scratch_usable() {
    let encoder = Encoder::new(Tokenizer::compile(bert()).unwrap());
    let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        encoder.with_scratch(|_| panic!("on purpose"));
    }));
    assert!(panicked.is_err());
    let first = encoder.with_scratch(|scratch| std::ptr::from_ref(scratch));
    let second = encoder.with_scratch(|scratch| std::ptr::from_ref(scratch));
    assert_eq!(first, second);
    assert!(encoder.idle().unwrap().is_empty(), "the first scratch is used again");
}

#[test]
fn the_scratch_of_a_long_text_is_not_kept() {
    let encoder = Encoder::new(Tokenizer::compile(bert()).unwrap());
    let options = Options { add_special_tokens: false, parse_special: &Selector::All, sampling: None };
    let encode = |text: &str| {
        let texts = [Source::from(Input::Text(text))];
        encoder.encode(&texts, None, options, ExtraColumns::default(), 1).unwrap().ids.len()
    };
    assert_eq!(encode(&"a".repeat(LONG_TEXT_BYTES + 1)), 1);
    assert!(encoder.first.lock().unwrap().is_none());
    assert_eq!(encode("a"), 1);
    assert!(encoder.first.lock().unwrap().is_some());
}

#[test]
fn rows_after_sampled_ones_have_the_best_segmentation() {
    let encoder = Encoder::new(Tokenizer::compile(byte_level()).unwrap());
    let encode = |sampling| {
        let options = Options { add_special_tokens: false, parse_special: &Selector::All, sampling };
        let texts = [Source::from(Input::Text("abab"))];
        encoder.encode(&texts, None, options, ExtraColumns::default(), 1).unwrap().ids
    };
    let no_merges = Sampling { alpha: 1.0, nbest: None, seed: 0, row: 0 };
    assert_eq!(encode(Some(no_merges)).len(), 4);
    assert_eq!(encode(None).len(), 1);
}
