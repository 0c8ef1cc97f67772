//! Expected pieces are those of `tokenizers` 0.23.3; spans differ from it where a comment says so.

use std::collections::BTreeMap;

mod char_level;

use piecework_kernels::merges::LongWordBatch;

use super::dropout::PairOrder;
use super::merge::{merge_by_heap, merge_by_rank, merge_by_scan};
use super::merges::NO_RANK;
use super::scratch::MergeScratch;
use super::symbols::{rank_all, MergeLookup, Symbol, SymbolLinks};
use super::*;
use crate::model::Sampling;
use crate::spec::VocabSpec;
use crate::text::printable_of;
use proptest::prelude::*;

fn spec(tokens: &[&str], merges: &[(&str, &str)]) -> BpeSpec {
    let vocab: VocabSpec = tokens.iter().zip(0..).map(|(token, id)| ((*token).to_string(), id)).collect();
    BpeSpec {
        vocab,
        merges: merges.iter().map(|(a, b)| ((*a).to_string(), (*b).to_string())).collect(),
        unk_token: tokens.contains(&"<unk>").then(|| "<unk>".into()),
        byte_fallback: tokens.contains(&"<0xC3>"),
        ..BpeSpec::default()
    }
}

fn run(spec: &BpeSpec, word: &str) -> Vec<(u32, u32, u32)> {
    let vocab = Vocab::compile(&spec.vocab).unwrap();
    let mut out: Vec<TokenSpan> = Vec::new();
    let model = Bpe::compile(spec, &vocab, &TableSections::default()).unwrap();
    model.run(word, &vocab, &mut BpeScratch::default(), None, &mut out);
    out.iter().map(|piece| (piece.id, piece.start, piece.end)).collect()
}

fn place_of_error(spec: &BpeSpec) -> String {
    Bpe::compile(spec, &Vocab::compile(&spec.vocab).unwrap(), &TableSections::default()).unwrap_err().place
}

#[test]
fn merges_the_lowest_rank_first_and_the_leftmost_of_equals() {
    let spec = spec(&["a", "b", "aa", "ab", "aab"], &[("a", "a"), ("a", "b"), ("aa", "b")]);
    assert_eq!(run(&spec, "aaab"), [(2, 0, 2), (3, 2, 4)]);
    assert_eq!(run(&spec, "aab"), [(4, 0, 3)]);
    assert_eq!(run(&spec, "aaaaa"), [(2, 0, 2), (2, 2, 4), (0, 4, 5)]);
}

#[test]
fn prefixes_and_suffixes_characters_inside_and_at_the_end_of_a_word() {
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
fn unknown_characters_are_fused_with_fuse_unk() {
    let mut spec = spec(&["a", "<unk>"], &[]);
    assert_eq!(run(&spec, "xxaéx"), [(1, 0, 1), (1, 1, 2), (0, 2, 3), (1, 3, 5), (1, 5, 6)]);
    spec.fuse_unk = true;
    assert_eq!(run(&spec, "xxaéx"), [(1, 0, 2), (0, 2, 3), (1, 3, 6)]);
}

#[test]
fn unknown_characters_without_an_unknown_token_are_dropped() {
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
fn byte_tokens_precede_the_unknown_token_on_their_left() {
    let tokens = ["a", "<unk>", "<0xC3>", "<0xA9>", "<0xC3><0xA9>"];
    let mut spec = spec(&tokens, &[("<0xC3>", "<0xA9>")]);
    assert_eq!(run(&spec, "aé"), [(0, 0, 1), (4, 1, 3)]);
    // The ids are those of `tokenizers`; the spans stay with the characters.
    assert_eq!(run(&spec, "xé"), [(4, 1, 3), (1, 0, 1)]);
    spec.fuse_unk = true;
    assert_eq!(run(&spec, "xyéxz"), [(4, 2, 4), (1, 0, 6)]);
}

#[test]
fn byte_tokens_include_the_affixes() {
    let mut spec = spec(&["a", "<unk>", "<0xC3>", "<0xA9>", "<0x23>"], &[]);
    spec.continuing_subword_prefix = Some("#".into());
    // `tokenizers` gives (1, 2), (2, 3), (3, 4), beyond the end of the word.
    assert_eq!(run(&spec, "aé"), [(0, 0, 1), (4, 1, 3), (2, 1, 3), (3, 1, 3)]);
}

#[test]
fn whole_words_are_not_merged_with_ignore_merges() {
    let mut spec = spec(&["a", "b", "c", "ab", "abc"], &[("a", "b")]);
    assert_eq!(run(&spec, "abc"), [(3, 0, 2), (2, 2, 3)]);
    spec.ignore_merges = true;
    assert_eq!(run(&spec, "abc"), [(4, 0, 3)]);
    assert_eq!(run(&spec, "abcc"), [(3, 0, 2), (2, 2, 3), (2, 3, 4)]);
}

#[test]
fn a_dropout_is_between_0_and_1() {
    let mut spec = spec(&["a", "b", "ab"], &[("a", "b")]);
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
fn merges_of_unknown_tokens_are_refused() {
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

/// Merges of runs of one letter, each twice as long as the previous one, up to 512.
fn doubling() -> BpeSpec {
    let tokens: Vec<String> = (0..10).map(|power| "a".repeat(1 << power)).collect();
    let merges: Vec<(&str, &str)> =
        tokens[..9].iter().map(|token| (token.as_str(), token.as_str())).collect();
    let names: Vec<&str> = tokens.iter().map(String::as_str).collect();
    spec(&names, &merges)
}

#[test]
fn a_megabyte_of_one_letter_is_merged_completely() {
    let pieces = run(&doubling(), &"a".repeat(1 << 20));
    assert_eq!(pieces.len(), 1 << 11);
    assert!(pieces.iter().all(|&(id, start, end)| id == 9 && end - start == 512));
}

#[test]
fn dropout_of_a_megabyte_of_one_letter_ends() {
    let (model, symbols) = printable(&doubling(), &"a".repeat(1 << 20));
    for alpha in [0.5, 0.99, 0.999_999] {
        let pieces = drawn(&model, &symbols, Sampling { alpha, nbest: None, seed: 1, row: 0 });
        assert_eq!(pieces.iter().map(|piece| piece.end - piece.start).sum::<u32>(), 1 << 20);
    }
}

fn tables_of(model: &Bpe) -> &MergeTables {
    model.tables.get().unwrap()
}

/// Return the symbols of a word before any merge.
fn printable(spec: &BpeSpec, word: &str) -> (Bpe, Vec<Symbol>) {
    let model =
        Bpe::compile(spec, &Vocab::compile(&spec.vocab).unwrap(), &TableSections::default()).unwrap();
    let mut symbols = Vec::new();
    tables_of(&model).initial_symbols.push_symbols(word, &mut symbols);
    rank_all(&mut symbols, &mut &tables_of(&model).pairs);
    (model, symbols)
}

fn plain(symbols: &[Symbol]) -> Vec<(u32, u32, u32)> {
    symbols.iter().map(|symbol| (symbol.id, symbol.start, symbol.end)).collect()
}

/// Return the pairs that could be merged, best first: rank and position.
fn candidates(model: &Bpe, symbols: &[Symbol]) -> Vec<(u32, usize)> {
    let ranks = symbols.windows(2).map(|two| (&tables_of(model).pairs).rank(&two[0], &two[1]));
    let mut found: Vec<_> = ranks.zip(0..).filter(|&(rank, _)| rank != NO_RANK).collect();
    found.sort_unstable();
    found
}

fn joined_at(model: &Bpe, symbols: &[Symbol], (rank, at): (u32, usize)) -> Vec<Symbol> {
    let mut merged = symbols.to_vec();
    let right = merged.remove(at + 1);
    merged[at].merge(right, (&tables_of(model).pairs).merged(rank));
    merged
}

/// The definition: find the best pair, merge it, repeat.
fn naive(model: &Bpe, mut symbols: Vec<Symbol>) -> Vec<Symbol> {
    while let Some(&best) = candidates(model, &symbols).first() {
        symbols = joined_at(model, &symbols, best);
    }
    symbols
}

/// All outcomes of dropout with their probabilities.
fn outcomes(
    model: &Bpe,
    symbols: &[Symbol],
    alpha: f64,
    weight: f64,
    out: &mut BTreeMap<Vec<(u32, u32, u32)>, f64>,
) {
    let mut all_dropped = weight;
    for candidate in candidates(model, symbols) {
        let kept = all_dropped * (1.0 - alpha);
        outcomes(model, &joined_at(model, symbols, candidate), alpha, kept, out);
        all_dropped *= alpha;
    }
    *out.entry(plain(symbols)).or_default() += all_dropped;
}

fn drawn(model: &Bpe, symbols: &[Symbol], sampling: Sampling) -> Vec<Symbol> {
    let mut merged = symbols.to_vec();
    let (mut links, mut order) = (SymbolLinks::default(), PairOrder::default());
    dropout::merge(&mut merged, &tables_of(model).pairs, (&mut links, &mut order), &mut sampling.rng(0));
    merged
}

#[test]
fn dropout_samples_outcomes_with_their_probabilities() {
    let tokens = ["a", "b", "c", "ab", "bc", "abc", "aa", "caa", "abcaa"];
    let merges = [("a", "b"), ("a", "a"), ("b", "c"), ("ab", "c"), ("a", "bc"), ("c", "aa"), ("abc", "aa")];
    let (model, symbols) = printable(&spec(&tokens, &merges), "abcaaa");
    for alpha in [0.1, 0.5, 0.8] {
        let (mut expected, mut seen) = (BTreeMap::new(), BTreeMap::new());
        outcomes(&model, &symbols, alpha, 1.0, &mut expected);
        const DRAWS: u64 = 100_000;
        for row in 0..DRAWS {
            let outcome = drawn(&model, &symbols, Sampling { alpha, nbest: None, seed: 5, row });
            *seen.entry(plain(&outcome)).or_insert(0.0) += 1.0;
        }
        assert!(seen.keys().all(|outcome| expected.contains_key(outcome)));
        for (outcome, probability) in expected {
            let share = seen.get(&outcome).unwrap_or(&0.0) / DRAWS as f64;
            let spread = (probability * (1.0 - probability) / DRAWS as f64).sqrt();
            let distance = (share - probability).abs();
            assert!(distance <= 5.0 * spread + 1e-9, "{outcome:?}: {share} for {probability}");
        }
    }
}

#[test]
fn dropout_begins_with_characters_despite_ignore_merges() {
    let mut spec = spec(&["a", "b", "ab"], &[]);
    spec.ignore_merges = true;
    let vocab = Vocab::compile(&spec.vocab).unwrap();
    let model = Bpe::compile(&spec, &vocab, &TableSections::default()).unwrap();
    let mut rng = Sampling { alpha: 0.1, nbest: None, seed: 1, row: 0 }.rng(0);
    let mut out: Vec<u32> = Vec::new();
    model.run("ab", &vocab, &mut BpeScratch::default(), Some(&mut rng), &mut out);
    assert_eq!(out, [0, 1]);
}

/// Return a vocabulary with a merge for each split, as far as the parts have merges.
fn spec_of_splits(splits: &[(String, String)]) -> BpeSpec {
    let mut tokens = vec!["a".to_string(), "b".to_string()];
    for (left, right) in splits {
        for token in [left.clone(), right.clone(), format!("{left}{right}")] {
            if !tokens.contains(&token) {
                tokens.push(token);
            }
        }
    }
    let names: Vec<&str> = tokens.iter().map(String::as_str).collect();
    let merges: Vec<(&str, &str)> = splits.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
    spec(&names, &merges)
}

/// Return the same for splits of bytes, with a token for every byte.
fn spelled_spec_of_splits(splits: &[(String, String)]) -> BpeSpec {
    let splits: Vec<_> = splits.iter().map(|(left, right)| (print(left), print(right))).collect();
    let mut spec = spec_of_splits(&splits);
    let next = spec.vocab.iter().map(|(_, id)| id + 1).max().unwrap_or(0);
    let is_new = |byte: &String| !spec.vocab.iter().any(|(token, _)| token == byte);
    let bytes: Vec<_> = (0..=255).map(printable_of).map(String::from).filter(is_new).zip(next..).collect();
    spec.vocab.extend(bytes);
    spec
}

fn print(text: &str) -> String {
    text.bytes().map(printable_of).collect()
}

/// Check that backtracking over bytes gives the result of the definition on printable characters.
fn check_bytes(spec: &BpeSpec, word: &str, must: bool) -> Result<(), TestCaseError> {
    let vocab = Vocab::compile(&spec.vocab).unwrap();
    let model = Bpe::compile(spec, &vocab, &TableSections::default()).unwrap();
    let mut as_bytes = Vec::new();
    let is_done = model.run_bytes(word.as_bytes(), &mut BpeScratch::default(), &mut as_bytes);
    prop_assert!(is_done || !must);
    let whole = vocab.id_of(&print(word)).filter(|_| spec.ignore_merges);
    let mut symbols = Vec::new();
    tables_of(&model).initial_symbols.push_symbols(&print(word), &mut symbols);
    let merged = || naive(&model, symbols).iter().map(|symbol| symbol.id).collect();
    prop_assert!(!is_done || as_bytes == whole.map_or_else(merged, |id| vec![id]));
    check_parts((&model, &vocab), word)
}

/// Check that words have the same ids in a batch as alone.
fn check_parts((model, vocab): (&Bpe, &Vocab), word: &str) -> Result<(), TestCaseError> {
    let (mut scratch, mut sizes) = (BpeScratch::default(), (1..=LongWordBatch::MAX_BYTES + 1).cycle());
    let (mut words, mut end) = (Vec::new(), 0);
    while end < word.len() {
        let start = end;
        end = word.len().min(end + sizes.next().unwrap_or(1));
        words.push(BatchWord { bytes: (start, end), ids: (0, 0) });
    }
    words.extend_from_within(..);
    words.reverse();
    let mut ids = Vec::new();
    let is_done = model.run_bytes_batch(word.as_bytes(), &mut words, vocab, &mut scratch, &mut ids);
    prop_assert_eq!(is_done, tables_of(model).bytes.is_some());
    for BatchWord { bytes, ids: own } in words.into_iter().filter(|_| is_done) {
        let mut alone = Vec::new();
        model.run_bytes(&word.as_bytes()[bytes.0..bytes.1], &mut BpeScratch::default(), &mut alone);
        prop_assert_eq!(&ids[own.0..own.1], alone);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn scan_and_heap_equal_the_definition(
        splits in prop::collection::vec(("[ab]{1,3}", "[ab]{1,3}"), 0..12),
        word in "[ab]{1,40}",
    ) {
        let (model, symbols) = printable(&spec_of_splits(&splits), &word);
        let (mut scanned, mut heaped) = (symbols.clone(), symbols.clone());
        merge_by_scan(&mut scanned, &tables_of(&model).pairs);
        let MergeScratch { mut links, mut queue, .. } = MergeScratch::default();
        merge_by_heap(&mut heaped, &mut &tables_of(&model).pairs, (&mut links, &mut queue), || false);
        let expected = plain(&naive(&model, symbols));
        prop_assert_eq!(plain(&scanned), expected.clone());
        prop_assert_eq!(plain(&heaped), expected);
    }

    #[test]
    fn merging_by_rank_equals_the_definition(
        mut splits in prop::collection::vec(("[ab]{1,3}", "[ab]{1,3}"), 0..12),
        word in "[ab]{1,40}",
    ) {
        splits.sort_by_key(|(left, right)| left.len() + right.len());
        let (model, symbols) = printable(&spec_of_splits(&splits), &word);
        let mut swept = symbols.clone();
        prop_assert!(tables_of(&model).pairs.are_in_order());
        let MergeScratch { mut links, mut rank_queue, .. } = MergeScratch::default();
        let ranks = (&mut rank_queue, tables_of(&model).pairs.len());
        merge_by_rank(&mut swept, &mut &tables_of(&model).pairs, &mut links, ranks);
        prop_assert_eq!(plain(&swept), plain(&naive(&model, symbols)));
    }

    #[test]
    fn bytes_merge_as_their_printable_characters(
        mut splits in prop::collection::vec(("[abé]{1,3}", "[abé]{1,3}"), 0..20),
        is_sorted: bool,
        word in "[abé]{1,80}|([ab]{150}){5}",
        ignore_merges: bool,
    ) {
        if is_sorted {
            splits.sort_by_key(|(left, right)| (left.len() + right.len(), left.clone(), right.clone()));
            splits.dedup();
        }
        let spec = BpeSpec { ignore_merges, ..spelled_spec_of_splits(&splits) };
        check_bytes(&spec, &word, is_sorted)?;
    }

    #[test]
    fn bytes_merge_as_characters_for_tokens_of_every_length(
        lengths in prop::collection::btree_set(2..24usize, 0..23),
        word in prop::collection::vec(("a{1,40}", "b{0,3}"), 1..8),
        seed: u64,
    ) {
        // Runs of one letter split anywhere, then some with another letter.
        let run = |length: usize, at: usize| ("a".repeat(at), "a".repeat(length - at));
        let mut splits: Vec<_> =
            lengths.iter().map(|&length| run(length, 1 + seed as usize % (length - 1))).collect();
        splits.extend(lengths.iter().map(|&length| ("b".into(), "a".repeat(length))));
        let known = |splits: &[(String, String)], text: &str| {
            text.len() == 1 || splits.iter().any(|(left, right)| format!("{left}{right}") == text)
        };
        for at in (0..splits.len()).rev() {
            let (left, right) = splits[at].clone();
            if !known(&splits[..at], &left) || !known(&splits[..at], &right) {
                splits.remove(at);
            }
        }
        let word: String = word.into_iter().flat_map(|(a, b)| [a, b]).collect();
        check_bytes(&spelled_spec_of_splits(&splits), &word, false)?;
    }

    #[test]
    fn dropout_0_merges_all_and_dropout_1_none(
        splits in prop::collection::vec(("[ab]{1,3}", "[ab]{1,3}"), 0..12),
        word in "[ab]{1,40}",
        seed: u64,
    ) {
        let (model, symbols) = printable(&spec_of_splits(&splits), &word);
        let of = |alpha| plain(&drawn(&model, &symbols, Sampling { alpha, nbest: None, seed, row: 0 }));
        prop_assert_eq!(of(0.0), plain(&naive(&model, symbols.clone())));
        prop_assert_eq!(of(1.0), plain(&symbols));
    }
}
