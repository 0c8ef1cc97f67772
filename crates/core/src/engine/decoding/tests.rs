//! Compares decode tables with the stages of the decoder.

use proptest::prelude::*;

use super::tables::{MIN_IDS, MIN_IDS_OF_ALL};
use super::*;
use crate::spec::{
    AddedToken, ByteLevelSpec, CharSpec, DecoderSpec, MetaspaceSpec, ModelSpec, PatternSpec, PrependScheme,
    SentencePieceDecoderSpec, TokenizerSpec,
};

const TOKENS: [&str; 30] = [
    "[UNK]",
    "a",
    "##b",
    "##",
    "'",
    "n't",
    "do",
    "not",
    ".",
    "",
    " ",
    "▁",
    "▁a",
    "▁▁b▁",
    "<0xE4>",
    "<0xBD>",
    "<0xA0>",
    "<0x41>",
    "<0x+A>",
    "é",
    "Ã",
    "©",
    "ĠhÃ",
    "日本",
    "lo</w>",
    "</w>",
    "w</w>a</w>",
    "<s>",
    "##abcdefghijklmno",
    "a token of more bytes than are copied at once, é",
];

fn sentencepiece(
    byte_fallback: bool,
    add_dummy_prefix: bool,
    remove_extra_whitespaces: bool,
) -> DecoderSpec {
    DecoderSpec::SentencePiece(SentencePieceDecoderSpec {
        unk_piece: "[UNK]".into(),
        unk_surface: " ⁇ ".into(),
        control_symbols: vec!["not".into()],
        byte_fallback,
        add_dummy_prefix,
        remove_extra_whitespaces,
        denormalizer: None,
    })
}

fn decoders() -> Vec<Option<DecoderSpec>> {
    let replace = |text: &str, content: &str| DecoderSpec::Replace {
        pattern: PatternSpec::Text(text.into()),
        content: content.into(),
    };
    let strip = |start, stop| DecoderSpec::Strip { content: ' ', start, stop };
    let metaspace = |prepend_scheme| {
        DecoderSpec::Metaspace(MetaspaceSpec { replacement: '▁', prepend_scheme, split: true })
    };
    let mut decoders = vec![
        DecoderSpec::WordPiece { prefix: "##".into(), cleanup: true },
        DecoderSpec::WordPiece { prefix: String::new(), cleanup: false },
        DecoderSpec::ByteLevel(ByteLevelSpec {
            add_prefix_space: false,
            trim_offsets: true,
            use_regex: true,
        }),
        DecoderSpec::Bpe { suffix: "</w>".into() },
        DecoderSpec::Bpe { suffix: String::new() },
        metaspace(PrependScheme::Always),
        metaspace(PrependScheme::Never),
        DecoderSpec::Sequence(vec![]),
        DecoderSpec::Fuse,
        DecoderSpec::ByteFallback,
        DecoderSpec::Sequence(vec![replace("a", "<0x42>"), DecoderSpec::ByteFallback, DecoderSpec::Fuse]),
        DecoderSpec::Sequence(vec![DecoderSpec::Fuse, replace("ab", "x")]),
    ];
    for (start, stop) in [(1, 0), (2, 3)] {
        let stages = [replace("▁", " "), DecoderSpec::ByteFallback, DecoderSpec::Fuse, strip(start, stop)];
        decoders.push(DecoderSpec::Sequence(stages.into()));
    }
    for bits in 0..8 {
        decoders.push(sentencepiece(bits & 1 > 0, bits & 2 > 0, bits & 4 > 0));
    }
    std::iter::once(None).chain(decoders.into_iter().map(Some)).collect()
}

/// Every other id has no token.
fn pipeline(decoder: Option<DecoderSpec>) -> Tokenizer {
    let vocab = TOKENS.iter().zip(0..).map(|(token, id)| (token.to_string(), 2 * id)).collect();
    let added = |id: u32, special| AddedToken {
        id,
        content: TOKENS[id as usize / 2].into(),
        single_word: false,
        lstrip: false,
        rstrip: false,
        normalized: false,
        special,
    };
    let spec = TokenizerSpec {
        added_tokens: vec![added(0, true), added(8, false), added(54, true)],
        decoder,
        ..TokenizerSpec::of(ModelSpec::Char(CharSpec { vocab, unk_token: "[UNK]".into() }))
    };
    Tokenizer::compile(&spec).unwrap()
}

#[track_caller]
fn check(pipeline: &Tokenizer, rows: &[&[u32]]) {
    for (skip, clean_up) in [(true, None), (false, None), (true, Some(true)), (false, Some(false))] {
        let expected: Vec<String> =
            rows.iter().map(|row| pipeline.decode_by_stages(row, skip, clean_up).unwrap()).collect();
        let found = pipeline.decode_rows(rows, skip, clean_up).unwrap();
        let found: Vec<String> = found.iter().map(|row| text_of(row.to_vec())).collect();
        assert_eq!(found, expected, "{:?} {rows:?}", pipeline.stages().decoder.spec());
    }
}

#[test]
fn tables_are_built_at_the_first_call_with_enough_ids_or_after_enough_small_calls() {
    let ids = [2; MIN_IDS];
    let made = |pipeline: &Tokenizer| {
        let clean_up = pipeline.stages().decoder.own_clean_up(None);
        pipeline.decode_tables().made(clean_up).map(|table| table.is_some())
    };
    let word_piece = pipeline(decoders().swap_remove(1));
    assert_eq!(word_piece.decode(&ids[1..], true, None).unwrap().len(), 2 * MIN_IDS - 3);
    assert!(made(&word_piece).is_none());
    assert_eq!(word_piece.decode(&ids, true, None).unwrap().len(), 2 * MIN_IDS - 1);
    assert_eq!(made(&word_piece), Some(true));
    let small = pipeline(decoders().swap_remove(1));
    for _ in 1..MIN_IDS_OF_ALL / 8 {
        small.decode(&ids[..8], true, None).unwrap();
    }
    assert!(made(&small).is_none());
    small.decode(&ids[..8], true, None).unwrap();
    assert_eq!(made(&small), Some(true));
    let without = pipeline(decoders().swap_remove(12));
    assert_eq!(without.decode(&ids, true, None).unwrap().len(), MIN_IDS);
    assert_eq!(made(&without), Some(false));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn tables_equal_the_stages(
        rows in prop::collection::vec(prop::collection::vec(0..64_u32, 0..12), 0..8)
    ) {
        // The last row makes the tables worth while.
        let last: Vec<u32> = (0..300).map(|at| at * 7 % 64).collect();
        let rows: Vec<&[u32]> = rows.iter().chain([&last]).map(Vec::as_slice).collect();
        for decoder in decoders() {
            check(&pipeline(decoder), &rows);
        }
    }
}
