//! Expected pieces are those of `tokenizers` 0.23.3.

use super::*;
use crate::model::{Model, ModelScratch};
use proptest::prelude::*;

fn spec(pieces: &[(&str, f64)], unk_id: Option<usize>) -> UnigramSpec {
    let vocab: Vec<_> = pieces.iter().map(|(token, score)| ((*token).to_string(), *score)).collect();
    let byte_fallback = vocab.iter().any(|(token, _)| token == "<0xC3>");
    UnigramSpec { vocab, unk_id, byte_fallback }
}

fn compiled(spec: &UnigramSpec) -> (Vocab, Unigram) {
    let numbered: Vec<_> = spec.vocab.iter().zip(0..).map(|((token, _), id)| (token.clone(), id)).collect();
    let vocab = Vocab::compile(&numbered).unwrap();
    let model = Unigram::compile(spec, &vocab, &TableSections::default(), &HashSet::default()).unwrap();
    (vocab, model)
}

fn run(spec: &UnigramSpec, word: &str) -> Vec<(u32, u32, u32)> {
    let (vocab, model) = compiled(spec);
    let (mut out, mut scratch): (Vec<TokenSpan>, _) = (Vec::new(), ModelScratch::default());
    Model::Unigram(model).run(word, &vocab, &mut scratch, &mut out);
    scratch.check().unwrap();
    out.iter().map(|piece| (piece.id, piece.start, piece.end)).collect()
}

#[test]
fn the_highest_sum_wins_and_adjacent_unknown_characters_are_fused() {
    let pieces = [("<unk>", 0.), ("a", 0.), ("b", 0.), ("c", 0.), ("d", 0.), ("cd", 1.), ("ab", 2.)];
    let spec = spec(&[&pieces[..], &[("abc", 5.), ("abcd", 10.)]].concat(), Some(0));
    assert_eq!(run(&spec, "abcdacdxx"), [(8, 0, 4), (1, 4, 5), (5, 5, 7), (0, 7, 9)]);
    assert_eq!(run(&spec, "xé漢a"), [(0, 0, 6), (1, 6, 7)]);
    assert_eq!(run(&spec, "<unk>x"), [(0, 0, 6)]);
}

#[test]
fn of_equal_sums_the_longer_last_piece_wins() {
    let repeats = spec(&[("<unk>", -5.), ("a", -1.), ("aa", -2.), ("aaa", -3.)], Some(0));
    assert_eq!(run(&repeats, "aaaa"), [(1, 0, 1), (3, 1, 4)]);
    assert_eq!(run(&repeats, "aaa"), [(3, 0, 3)]);
    let pieces = [("<unk>", -5.), ("a", -1.), ("b", -1.), ("ab", -2.), ("abb", -3.), ("bb", -2.)];
    assert_eq!(run(&spec(&pieces, Some(0)), "abbb"), [(3, 0, 2), (5, 2, 4)]);
}

#[test]
fn byte_tokens_of_an_unknown_run_share_its_span() {
    let spec = spec(&[("<unk>", 0.), ("a", 0.), ("<0xC3>", -1.), ("<0xA9>", -1.)], Some(0));
    assert_eq!(run(&spec, "aéa"), [(1, 0, 1), (2, 1, 3), (3, 1, 3), (1, 3, 4)]);
    assert_eq!(run(&spec, "aéé"), [(1, 0, 1), (2, 1, 5), (3, 1, 5), (2, 1, 5), (3, 1, 5)]);
    assert_eq!(run(&spec, "aééxa"), [(1, 0, 1), (0, 1, 6), (1, 6, 7)]);
}

#[test]
fn an_unknown_run_in_the_vocabulary_becomes_its_token() {
    let spec = spec(&[("<unk>", 50.), ("x y", 50.), ("xy", 50.)], Some(0));
    assert_eq!(run(&spec, "xyz"), [(0, 0, 3)]);
    assert_eq!(run(&spec, "xy"), [(2, 0, 2)]);
}

#[test]
fn an_unknown_character_without_an_unknown_token_is_an_error() {
    let spec = spec(&[("a", 0.), ("ab", -1.)], None);
    assert_eq!(run(&spec, "aab"), [(0, 0, 1), (1, 1, 3)]);
    let (vocab, model) = compiled(&spec);
    let (mut out, mut scratch): (Vec<u32>, _) = (Vec::new(), ModelScratch::default());
    Model::Unigram(model).run("ab?", &vocab, &mut scratch, &mut out);
    assert_eq!((out.len(), scratch.check().unwrap_err().place.as_str()), (0, "model.unk_id"));
    assert_eq!(scratch.check(), Ok(()));
}

#[test]
fn invalid_scores_and_unknown_ids_are_refused() {
    let place = |pieces: &[(&str, f64)], unk_id| {
        Unigram::compile(
            &spec(pieces, unk_id),
            &Vocab::default(),
            &TableSections::default(),
            &HashSet::default(),
        )
        .unwrap_err()
        .place
    };
    assert_eq!(place(&[], None), "model.vocab");
    assert_eq!(place(&[("a", 0.)], Some(1)), "model.unk_id");
    assert_eq!(place(&[("a", 0.), ("b", f64::NAN)], Some(0)), "model.vocab[1]");
    assert_eq!(place(&[("a", f64::NEG_INFINITY)], Some(0)), "model.vocab[0]");
}

#[test]
fn long_pieces_do_not_slow_long_words() {
    let (long, word) = ("a".repeat(100_000), "a".repeat(1_000_000));
    let spec = spec(&[("<unk>", -9.), ("a", -1.), (&long, -2.)], Some(0));
    assert_eq!(run(&spec, &word).len(), 10);
}

/// The definition: from each start, try every piece from the shortest on, then the unknown character; a better
/// sum replaces, an equal one does not.
fn naive(spec: &UnigramSpec, word: &str) -> Vec<(u32, u32, u32)> {
    let unknown = spec.vocab.iter().map(|(_, score)| *score).fold(f64::INFINITY, f64::min) - 10.0;
    let mut best: Vec<Option<(f64, usize, usize)>> = vec![None; word.len() + 1];
    best[0] = Some((0.0, 0, 0));
    for (start, c) in word.char_indices() {
        let before = best[start].unwrap().0;
        let single = start + c.len_utf8();
        let mut known = false;
        for end in (start + 1..=word.len()).filter(|&end| word.is_char_boundary(end)) {
            let Some(id) = spec.vocab.iter().position(|(token, _)| *token == word[start..end]) else {
                continue;
            };
            known |= end == single;
            let sum = spec.vocab[id].1 + before;
            if best[end].is_none_or(|best| sum > best.0) {
                best[end] = Some((sum, id, start));
            }
        }
        if !known && best[single].is_none_or(|best| unknown + before > best.0) {
            best[single] = Some((unknown + before, 0, start));
        }
    }
    let (mut path, mut end) = (Vec::new(), word.len());
    while end > 0 {
        let (_, id, start) = best[end].unwrap();
        path.insert(0, (id as u32, start as u32, end as u32));
        end = start;
    }
    path.dedup_by(|next, run| {
        let fuses = next.0 == 0 && run.0 == 0;
        if fuses {
            run.2 = next.2;
        }
        fuses
    });
    path
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]
    #[test]
    fn the_best_path_is_that_of_the_definition(
        tokens in prop::collection::btree_map("[abé漢]{1,4}", -4i8..0, 0..16),
        word in "[abéè漢]{1,16}",
    ) {
        let mut pieces = vec![("<unk>", -4.0)];
        pieces.extend(tokens.iter().map(|(token, score)| (token.as_str(), f64::from(*score) / 2.0)));
        let spec = spec(&pieces, Some(0));
        prop_assert_eq!(run(&spec, &word), naive(&spec, &word));
    }
}

/// Runs of a letter and pairs of letters with random 64-bit scores: sums of the same pieces in another order differ
/// by rounding alone.
fn tie_pieces() -> impl Strategy<Value = Vec<(String, f64)>> {
    let pieces = prop::collection::btree_map("0{1,4}|a{1,3}|[0a]{2,3}|b|漢{1,2}", -12.0..-0.5f64, 1..16);
    pieces.prop_map(|pieces| pieces.into_iter().collect())
}

fn tie_word() -> impl Strategy<Value = String> {
    "[0a]{1,20}|b?0{1,20}|(0{1,3}b){1,6}a{0,9}|(0a|a0|00a){1,8}|[0ab漢c]{1,20}"
}

fn scored(pieces: &[(String, f64)]) -> Vec<(&str, f64)> {
    let texts = pieces.iter().map(|(text, score)| (text.as_str(), *score));
    std::iter::once(("<unk>", -3.0)).chain(texts).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]
    #[test]
    fn ties_are_decided_as_by_the_definition(pieces in tie_pieces(), word in tie_word()) {
        let spec = spec(&scored(&pieces), Some(0));
        prop_assert_eq!(run(&spec, &word), naive(&spec, &word));
    }

    #[test]
    fn streaming_decides_ties_as_the_whole_word_does(
        pieces in tie_pieces(),
        word in prop::collection::vec(tie_word(), 1..6).prop_map(|words| words.concat()),
        chunk_len in 1usize..9,
    ) {
        let (_, model) = compiled(&spec(&scored(&pieces), Some(0)));
        let mut found = Vec::new();
        StreamingViterbi::default().run_by(chunk_len, &model, &word, (0.0, ()), |piece| found.push(piece)).unwrap();
        let mut lattice = UnigramScratch::default();
        prop_assert_eq!(found.as_slice(), model.find_best(&word, &mut lattice).unwrap());
    }

    /// A part with sufficient leads has the same pieces after any text that no piece crosses from.
    #[test]
    fn a_part_that_leads_has_the_same_tokens_in_every_word(
        pieces in tie_pieces(),
        before in "[xy]{1,9}",
        scores in (-9.0..-1.0f64, -9.0..-1.0f64),
        part in tie_word(),
    ) {
        let others = [("x", scores.0), ("y", scores.1)];
        let spec = spec(&[scored(&pieces), others.to_vec()].concat(), Some(0));
        let (vocab, model) = compiled(&spec);
        let (mut out, mut scratch): (Vec<TokenSpan>, _) = (Vec::new(), UnigramScratch::default());
        if model.run_part(&part, &vocab, &mut scratch, &mut out) {
            let shift = before.len() as u32;
            let found: Vec<_> =
                out.iter().map(|piece| (piece.id, piece.start + shift, piece.end + shift)).collect();
            prop_assert_eq!(found, &run(&spec, &format!("{before}{part}"))[before.len()..]);
        }
    }
}

#[test]
fn a_part_leads_where_no_tie_decides() {
    let leads = |pieces: &[(&str, f64)], part: &str| {
        let (vocab, model) = compiled(&spec(pieces, Some(0)));
        let (mut out, mut scratch): (Vec<u32>, _) = (Vec::new(), UnigramScratch::default());
        model.run_part(part, &vocab, &mut scratch, &mut out)
    };
    let pieces = [("<unk>", -9.0), ("0", -3.1), ("00", -4.7), ("b", -2.3), ("ab", -5.0)];
    for part in ["0", "00", "0000", "b", "ab", "cab"] {
        assert!(leads(&pieces, part), "{part}");
    }
    for part in ["000", "b000", "000b"] {
        assert!(!leads(&pieces, part), "{part}");
    }
    assert!(!leads(&[("<unk>", -9.0), ("a", -1.0), ("aa", -2.0)], "aa"));
    assert!(leads(&[("<unk>", -9.0), ("a", -1.0), ("aa", -2.0 + 1e-5)], "aa"));
    assert!(!leads(&pieces, &"0".repeat(1 << 13)));
}
