//! Expected pieces are those of `tokenizers` 0.23.3; spans differ from it where a comment says so.

use super::*;
use crate::spec::VocabSpec;
use proptest::prelude::*;

fn spec(tokens: &[&str], merges: &[(&str, &str)]) -> BpeSpec {
    let vocab: VocabSpec = tokens.iter().zip(0..).map(|(token, id)| ((*token).to_string(), id)).collect();
    BpeSpec {
        vocab,
        merges: merges.iter().map(|(a, b)| ((*a).to_string(), (*b).to_string())).collect(),
        dropout: None,
        unk_token: tokens.contains(&"<unk>").then(|| "<unk>".into()),
        continuing_subword_prefix: None,
        end_of_word_suffix: None,
        fuse_unk: false,
        byte_fallback: tokens.contains(&"<0xC3>"),
        ignore_merges: false,
    }
}

fn run(spec: &BpeSpec, word: &str) -> Vec<(u32, u32, u32)> {
    let vocab = Vocab::compile(&spec.vocab).unwrap();
    let mut out: Vec<Piece> = Vec::new();
    let model = Bpe::compile(spec, &vocab).unwrap();
    model.run(word, &vocab, &mut ModelScratch::default(), &mut out);
    out.iter().map(|piece| (piece.id, piece.start, piece.end)).collect()
}

fn place_of_error(spec: &BpeSpec) -> String {
    Bpe::compile(spec, &Vocab::compile(&spec.vocab).unwrap()).unwrap_err().place
}

#[test]
fn joins_the_lowest_rank_first_and_the_leftmost_of_equals() {
    let spec = spec(&["a", "b", "aa", "ab", "aab"], &[("a", "a"), ("a", "b"), ("aa", "b")]);
    assert_eq!(run(&spec, "aaab"), [(2, 0, 2), (3, 2, 4)]);
    assert_eq!(run(&spec, "aab"), [(4, 0, 3)]);
    assert_eq!(run(&spec, "aaaaa"), [(2, 0, 2), (2, 2, 4), (0, 4, 5)]);
}

#[test]
fn marks_characters_inside_and_at_the_end_of_a_word() {
    let tokens = ["a", "##b", "##b</w>", "a</w>", "a##b", "ab", "ab</w>", "<unk>"];
    let mut spec = spec(&tokens, &[("a", "##b"), ("a", "##b</w>")]);
    spec.continuing_subword_prefix = Some("##".into());
    spec.end_of_word_suffix = Some("</w>".into());
    assert_eq!(run(&spec, "ab"), [(6, 0, 2)]);
    assert_eq!(run(&spec, "a"), [(3, 0, 1)]);
    assert_eq!(run(&spec, "abb"), [(5, 0, 2), (2, 2, 3)]);
    assert_eq!(run(&spec, "abx"), [(5, 0, 2), (7, 2, 3)]);
    assert_eq!(run(&spec, "xb"), [(7, 0, 1), (2, 1, 2)]);
}

#[test]
fn unknown_characters_are_fused_where_asked() {
    let mut spec = spec(&["a", "<unk>"], &[]);
    assert_eq!(run(&spec, "xxaéx"), [(1, 0, 1), (1, 1, 2), (0, 2, 3), (1, 3, 5), (1, 5, 6)]);
    spec.fuse_unk = true;
    assert_eq!(run(&spec, "xxaéx"), [(1, 0, 2), (0, 2, 3), (1, 3, 6)]);
}

#[test]
fn unknown_characters_are_dropped_where_there_is_no_entry_for_them() {
    let spec = spec(&["a", "b", "ab"], &[("a", "b")]);
    assert_eq!(run(&spec, "xx"), []);
    // `tokenizers` gives (0, 2): it forgets the dropped bytes.
    assert_eq!(run(&spec, "axb"), [(2, 0, 3)]);
}

#[test]
fn bytes_of_a_character_share_its_span() {
    // `tokenizers` gives each byte its own one byte, which its pipeline widens to the character.
    let spec = spec(&["a", "<unk>", "<0xC3>", "<0xA9>"], &[]);
    assert_eq!(run(&spec, "aéa"), [(0, 0, 1), (2, 1, 3), (3, 1, 3), (0, 3, 4)]);
}

#[test]
fn bytes_come_before_an_unknown_character_to_their_left() {
    let tokens = ["a", "<unk>", "<0xC3>", "<0xA9>", "<0xC3><0xA9>"];
    let mut spec = spec(&tokens, &[("<0xC3>", "<0xA9>")]);
    assert_eq!(run(&spec, "aé"), [(0, 0, 1), (4, 1, 3)]);
    // The ids are those of `tokenizers`; the spans stay with the characters.
    assert_eq!(run(&spec, "xé"), [(4, 1, 3), (1, 0, 1)]);
    spec.fuse_unk = true;
    assert_eq!(run(&spec, "xyéxz"), [(4, 2, 4), (1, 0, 6)]);
}

#[test]
fn bytes_spell_the_affixes_too() {
    let mut spec = spec(&["a", "<unk>", "<0xC3>", "<0xA9>", "<0x23>"], &[]);
    spec.continuing_subword_prefix = Some("#".into());
    // `tokenizers` gives (1, 2), (2, 3), (3, 4), beyond the end of the word.
    assert_eq!(run(&spec, "aé"), [(0, 0, 1), (4, 1, 3), (2, 1, 3), (3, 1, 3)]);
}

#[test]
fn whole_words_that_are_entries_need_no_merges_where_asked() {
    let mut spec = spec(&["a", "b", "c", "ab", "abc"], &[("a", "b")]);
    assert_eq!(run(&spec, "abc"), [(3, 0, 2), (2, 2, 3)]);
    spec.ignore_merges = true;
    assert_eq!(run(&spec, "abc"), [(4, 0, 3)]);
    assert_eq!(run(&spec, "abcc"), [(3, 0, 2), (2, 2, 3), (2, 3, 4)]);
}

#[test]
fn only_a_dropout_of_all_merges_matters_here() {
    let mut spec = spec(&["a", "b", "ab"], &[("a", "b")]);
    spec.ignore_merges = true;
    spec.dropout = Some(0.5);
    assert_eq!(run(&spec, "ab"), [(2, 0, 2)]);
    spec.dropout = Some(1.0);
    assert_eq!(run(&spec, "ab"), [(0, 0, 1), (1, 1, 2)]);
    for share in [-0.1, 1.1, f64::NAN] {
        spec.dropout = Some(share);
        assert_eq!(place_of_error(&spec), "model.dropout");
    }
}

#[test]
fn of_equal_merges_the_last_one_counts() {
    let spec = spec(&["a", "b", "c", "ab", "bc"], &[("a", "b"), ("b", "c"), ("a", "b")]);
    assert_eq!(run(&spec, "abc"), [(0, 0, 1), (4, 1, 3)]);
}

#[test]
fn merges_name_entries() {
    let tokens = ["a", "b", "é", "ab"];
    for merge in [("x", "a"), ("a", "x"), ("b", "a")] {
        assert_eq!(place_of_error(&spec(&tokens, &[("a", "b"), merge])), "model.merges[1]");
    }
    for (prefix, right) in [("##", "b"), ("#", "é")] {
        let mut spec = spec(&tokens, &[("a", right)]);
        spec.continuing_subword_prefix = Some(prefix.into());
        assert_eq!(place_of_error(&spec), "model.merges[0]");
    }
    let mut spec = spec(&tokens, &[]);
    spec.unk_token = Some("<unk>".into());
    assert_eq!(place_of_error(&spec), "model.unk_token");
}

#[test]
fn a_megabyte_of_one_letter_is_joined_to_the_end() {
    let tokens: Vec<String> = (0..10).map(|power| "a".repeat(1 << power)).collect();
    let merges: Vec<(&str, &str)> =
        tokens[..9].iter().map(|token| (token.as_str(), token.as_str())).collect();
    let names: Vec<&str> = tokens.iter().map(String::as_str).collect();
    let pieces = run(&spec(&names, &merges), &"a".repeat(1 << 20));
    assert_eq!(pieces.len(), 1 << 11);
    assert!(pieces.iter().all(|&(id, start, end)| id == 9 && end - start == 512));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]
    #[test]
    fn the_heap_joins_as_the_scan_does(
        splits in prop::collection::vec(("[ab]{1,3}", "[ab]{1,3}"), 0..12),
        word in "[ab]{1,30}",
    ) {
        let mut tokens = vec!["a".to_string(), "b".to_string()];
        for (left, right) in &splits {
            for token in [left.clone(), right.clone(), format!("{left}{right}")] {
                if !tokens.contains(&token) {
                    tokens.push(token);
                }
            }
        }
        let names: Vec<&str> = tokens.iter().map(String::as_str).collect();
        let merges: Vec<(&str, &str)> = splits.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
        let spec = spec(&names, &merges);
        let model = Bpe::compile(&spec, &Vocab::compile(&spec.vocab).unwrap()).unwrap();
        let mut scanned = Vec::new();
        model.alphabet.spell(&word, &mut scanned);
        model.rank_all(&mut scanned);
        let mut heaped = scanned.clone();
        short::join(&mut scanned, &model.pairs);
        long::join(&mut heaped, &model.pairs, &mut Links::default());
        let plain = |symbols: &[Symbol]| symbols.iter().map(|s| (s.id, s.start, s.end)).collect::<Vec<_>>();
        prop_assert_eq!(plain(&scanned), plain(&heaped));
    }
}
