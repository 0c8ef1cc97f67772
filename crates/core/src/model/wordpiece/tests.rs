use super::*;
use crate::model::{Model, ModelScratch};
use crate::spec::VocabSpec;
use proptest::prelude::*;

fn spec(tokens: &[&str], unk: UnknownUnit, segmentation: Segmentation) -> WordPieceSpec {
    let vocab: VocabSpec = tokens.iter().enumerate().map(|(i, t)| ((*t).to_string(), i as u32)).collect();
    WordPieceSpec {
        vocab,
        unk_token: "[UNK]".into(),
        continuing_subword_prefix: "##".into(),
        max_input_chars_per_word: 100,
        unk,
        segmentation,
    }
}

fn pieces(spec: &WordPieceSpec, word: &str) -> Vec<String> {
    let vocab = Vocab::compile(&spec.vocab).unwrap();
    let (mut out, mut first): (Vec<TokenSpan>, Vec<TokenSpan>) = (Vec::new(), Vec::new());
    let model = WordPiece::compile(spec, &vocab, &TableSections::default()).unwrap();
    let is_built = model.tables.get().is_some();
    assert_eq!(is_built, spec.segmentation == Segmentation::Shortest);
    model.run(word, &vocab, &mut Vec::new(), &mut first);
    model.made_tables(&vocab).unwrap();
    model.run(word, &vocab, &mut Vec::new(), &mut out);
    assert_eq!(first, out, "before and after the tables are built");
    let spans_join_up = out.windows(2).all(|two| two[0].end == two[1].start);
    assert!(spans_join_up && out.last().is_none_or(|last| last.end as usize == word.len()));
    out.iter().map(|piece| vocab.token_of(piece.id).unwrap().to_string()).collect()
}

/// Return the longest match by trying every end.
fn naive(spec: &WordPieceSpec, word: &str) -> Vec<String> {
    let known = |token: &str| spec.vocab.iter().any(|(t, _)| t == token);
    let (mut out, mut start) = (Vec::new(), 0);
    while start < word.len() {
        let prefix = if start > 0 { spec.continuing_subword_prefix.as_str() } else { "" };
        let ends = word[start..].char_indices().map(|(at, c)| start + at + c.len_utf8());
        let longest = ends.clone().rev().find(|&end| known(&format!("{prefix}{}", &word[start..end])));
        match (longest, spec.unk) {
            (Some(end), _) => {
                out.push(format!("{prefix}{}", &word[start..end]));
                start = end;
            }
            (None, UnknownUnit::Word) => return vec![spec.unk_token.clone()],
            (None, UnknownUnit::Char) => {
                out.push(spec.unk_token.clone());
                start = ends.min().unwrap();
            }
        }
    }
    out
}

#[test]
fn matches_the_longest_entry_first() {
    let vocab = ["[UNK]", "b", "h", "p", "##g", "##n", "##s", "##u", "##gs", "hu", "hug"];
    let spec = spec(&vocab, UnknownUnit::Word, Segmentation::Greedy);
    assert_eq!(pieces(&spec, "hugs"), ["hug", "##s"]);
    assert_eq!(pieces(&spec, "bugs"), ["b", "##u", "##gs"]);
    assert_eq!(pieces(&spec, "bum"), ["[UNK]"]);
}

#[test]
fn a_dead_end_after_several_tokens_commits_to_all() {
    let spec = spec(&["[UNK]", "abcd", "a", "##b", "##c"], UnknownUnit::Word, Segmentation::Greedy);
    assert_eq!(pieces(&spec, "abc"), ["a", "##b", "##c"]);
}

#[test]
fn shortest_has_fewer_tokens_than_greedy() {
    let vocab = ["[UNK]", "ab", "##c", "##d", "a", "##bcd"];
    let greedy = spec(&vocab, UnknownUnit::Word, Segmentation::Greedy);
    let shortest = spec(&vocab, UnknownUnit::Word, Segmentation::Shortest);
    assert_eq!(pieces(&greedy, "abcd"), ["ab", "##c", "##d"]);
    assert_eq!(pieces(&shortest, "abcd"), ["a", "##bcd"]);
}

#[test]
fn words_of_one_character_have_the_ids_of_longest_match() {
    for unk in [UnknownUnit::Word, UnknownUnit::Char] {
        for most in [0, 1, 100] {
            let spec = WordPieceSpec {
                max_input_chars_per_word: most,
                ..spec(
                    &["[UNK]", "b", "##a", "é", "漢", "漢字", "#", "\u{10ffff}"],
                    unk,
                    Segmentation::Greedy,
                )
            };
            let vocab = Vocab::compile(&spec.vocab).unwrap();
            let model = WordPiece::compile(&spec, &vocab, &TableSections::default()).unwrap();
            for c in "abé漢字#\u{10ffff}\u{e9}\u{ea}".chars() {
                let mut walked: Vec<u32> = Vec::new();
                model.run(&c.to_string(), &vocab, &mut Vec::new(), &mut walked);
                assert_eq!(walked, [model.id_of_char(c)], "{c:?} {most}");
            }
        }
    }
}

#[test]
fn the_tables_are_built_after_the_first_words() {
    let spec = spec(&["[UNK]", "a", "##b"], UnknownUnit::Word, Segmentation::Greedy);
    let vocab = Vocab::compile(&spec.vocab).unwrap();
    let model = Model::WordPiece(WordPiece::compile(&spec, &vocab, &TableSections::default()).unwrap());
    let is_built = |model: &Model| matches!(model, Model::WordPiece(model) if model.tables.get().is_some());
    let (mut scratch, mut ids) = (ModelScratch::default(), Vec::new());
    let mut word = BatchWord { bytes: (0, 3), ids: (0, 0) };
    for count in 1..=LOOKUPS + 1 {
        model.run_batch(b"abb", std::slice::from_mut(&mut word), &vocab, &mut scratch, &mut ids);
        assert_eq!(is_built(&model), count > LOOKUPS);
    }
    assert_eq!(ids, [1, 2, 2].repeat(LOOKUPS + 1));
    let model = Model::WordPiece(WordPiece::compile(&spec, &vocab, &TableSections::default()).unwrap());
    model.run_batch(b"abb", &mut [word; LOOKUPS + 1], &vocab, &mut scratch, &mut ids);
    assert!(is_built(&model));
}

#[test]
fn a_vocabulary_of_huge_tokens_is_refused() {
    let long = "a".repeat(200_000) + "b";
    let spec = spec(&["[UNK]", "a", "##a", &long], UnknownUnit::Word, Segmentation::Greedy);
    let vocab = Vocab::compile(&spec.vocab).unwrap();
    assert!(WordPiece::compile(&spec, &vocab, &TableSections::default()).is_err());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]
    #[test]
    fn linear_matching_equals_naive_matching(
        tokens in prop::collection::btree_set("(##)?[abéü#]{1,4}", 0..12),
        word in "[abéüè#]{1,12}",
        by_char in any::<bool>(),
    ) {
        let mut vocab = vec!["[UNK]"];
        vocab.extend(tokens.iter().map(String::as_str));
        let unk = if by_char { UnknownUnit::Char } else { UnknownUnit::Word };
        let spec = spec(&vocab, unk, Segmentation::Greedy);
        prop_assert_eq!(pieces(&spec, &word), naive(&spec, &word));
    }

    #[test]
    fn interleaved_words_have_the_ids_of_single_words(
        tokens in prop::collection::btree_set("(##)?[abéü#]{1,4}", 0..40),
        words in prop::collection::vec("[abéüè#]{1,9}", 0..40),
        max_input_chars_per_word in prop::sample::select(vec![0, 3, 100]),
        unk in prop::sample::select(vec![UnknownUnit::Word, UnknownUnit::Char]),
        segmentation in prop::sample::select(vec![Segmentation::Greedy, Segmentation::Shortest]),
    ) {
        let mut vocab = vec!["[UNK]"];
        vocab.extend(tokens.iter().map(String::as_str));
        let spec = WordPieceSpec { max_input_chars_per_word, ..spec(&vocab, unk, segmentation) };
        let vocab = Vocab::compile(&spec.vocab).unwrap();
        let model = Model::WordPiece(WordPiece::compile(&spec, &vocab, &TableSections::default()).unwrap());
        let mut batch: Vec<BatchWord> = Vec::new();
        for word in &words {
            let from = batch.last().map_or(0, |last| last.bytes.1);
            batch.push(BatchWord { bytes: (from, from + word.len()), ids: (0, 0) });
        }
        let (mut scratch, mut ids) = (ModelScratch::default(), vec![7; 3]);
        model.run_batch(words.concat().as_bytes(), &mut batch, &vocab, &mut scratch, &mut ids);
        for (word, batch) in words.iter().zip(batch) {
            let mut expected: Vec<u32> = Vec::new();
            model.run(word, &vocab, &mut scratch, &mut expected);
            prop_assert_eq!(&ids[batch.ids.0..batch.ids.1], expected);
        }
        prop_assert_eq!(&ids[..3], [7; 3]);
    }
}
