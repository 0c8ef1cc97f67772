use proptest::prelude::*;
use rustc_hash::FxHashMap;

use super::*;
use crate::model::part_end;
use crate::model::pieces::test_models::{any_pieces, random_spec, segmented, spec, texts, unigram, NORMAL};
use crate::spec::SentencePieceKind;

#[test]
fn the_best_path_wins_and_adjacent_unknown_characters_are_one_token() {
    let spec =
        spec(SentencePieceKind::Unigram, &[("ab", -1.0, NORMAL), ("a", -1.5, NORMAL), ("b", -1.5, NORMAL)]);
    assert_eq!(texts(&spec, "abxyb"), ["ab", "xy", "b"]);
}

#[test]
fn of_equal_sums_the_longer_last_piece_wins() {
    let spec = spec(SentencePieceKind::Unigram, &[("a", -1.0, NORMAL), ("aa", -2.0, NORMAL)]);
    assert_eq!(texts(&spec, "aaa"), ["a", "aa"]);
}

#[test]
fn a_megabyte_without_a_space_keeps_little_memory() {
    let spec = spec(SentencePieceKind::Unigram, &[("a", -1.0, NORMAL), ("aab", -1.0, NORMAL)]);
    let (mut scratch, mut out) = (UnigramF32Scratch::default(), Vec::<u32>::new());
    unigram(&spec).run(&"aab".repeat(1 << 19), &mut scratch, None, &mut out);
    assert_eq!(out.len(), 1 << 19);
    assert!(scratch.streaming.capacity() <= 1 << 16);
}

#[test]
fn paths_that_never_meet_are_found() {
    let spec = spec(SentencePieceKind::Unigram, &[("a", -1.0, NORMAL), ("aaa", -2.0, NORMAL)]);
    let text = "a".repeat(100_001);
    assert_eq!(segmented(&spec, &text).len(), 100_001usize.div_ceil(3) + 1);
}

/// The definition: for each position, try every piece that ends there, by the rules of 32-bit sums.
fn naive_unigram(spec: &SentencePieceSpec, text: &str) -> Vec<u32> {
    let low = spec.pieces.iter().filter(|piece| piece.kind == NORMAL).map(|piece| piece.score);
    let unknown_score = low.fold(f32::MAX, f32::min) - 10.0;
    let mut best: Vec<Option<(f32, u32, usize)>> = vec![None; text.len() + 1];
    best[0] = Some((0.0, 0, 0));
    for (start, c) in text.char_indices() {
        let before = best[start].unwrap().0;
        let mut is_covered = false;
        let mut take = |end: usize, id: u32, sum: f32| {
            if best[end].is_none_or(|(score, ..)| sum > score) {
                best[end] = Some((sum, id, start));
            }
        };
        let mut found: Vec<(u32, &ScoredPiece)> = (0..).zip(&spec.pieces).collect();
        found.retain(|(_, piece)| piece.kind == NORMAL && text[start..].starts_with(&piece.text));
        found.sort_by_key(|(_, piece)| piece.text.len());
        for (id, piece) in found {
            is_covered |= piece.text.len() == c.len_utf8();
            take(start + piece.text.len(), id, piece.score + before);
        }
        if !is_covered {
            take(start + c.len_utf8(), 0, unknown_score + before);
        }
    }
    let (mut ids, mut end) = (Vec::new(), text.len());
    while end > 0 {
        let (_, id, start) = best[end].unwrap();
        ids.push(id);
        end = start;
    }
    ids.reverse();
    ids.dedup_by(|one, other| *one == 0 && *other == 0);
    ids
}

/// Two paths through 62 characters that meet at the end only: the sums of one are rounded up, those of the other down, by
/// almost half the distance `2^(p - 24)` of floats below `2^p`. The exact lead is 21 of these distances.
fn rounded_apart(p: i32) -> UnigramF32 {
    let unit = 2f32.powi(p - 24);
    let m = (2.0 / unit).round();
    let (up, down, last) = (-(m + 1.4375) * unit, -(m + 0.5625) * unit, -5.5625 * unit);
    let pieces = [("sa", up), ("ba", up), ("be", up), ("s", down), ("ab", down), ("e", last)];
    unigram(&spec(SentencePieceKind::Unigram, &pieces.map(|(text, score)| (text, score, NORMAL))))
}

#[test]
fn a_margin_excludes_scores_whose_rounding_decides() {
    let text = format!("s{}e", "ab".repeat(30));
    for p in 11..=16 {
        let model = rounded_apart(p);
        let (mut scratch, mut alone) = (UnigramF32Scratch::default(), Vec::<u32>::new());
        let (end, score) = model.segment_part(&text, 0, false, &mut scratch, &mut alone);
        assert_eq!((end, alone.len()), (62, 32));
        let limit = model.limits()[score.expect("a score").margin as usize];
        for share in [0.55f32, 0.7, 0.9] {
            let mut found = Vec::<u32>::new();
            scratch.score = -(share * 2f32.powi(p)).round();
            let before = (-scratch.score) as u64 * 64;
            if model.segment_part_f32(&text, 0, false, &mut scratch, &mut found).is_none() {
                model.run_next(&text, &mut scratch, &mut found);
            }
            assert_eq!(found.len(), 31, "after {before} 64ths rounding decides");
            assert!(limit <= before, "the margin allows {limit} 64ths");
        }
    }
}

/// A cache of parts: their scores and ids.
type CachedParts = FxHashMap<String, (PathScore, Vec<u32>)>;

/// Segment like the pipeline: word by word with a cache, and a new word part by part.
fn in_parts(model: &UnigramF32, known: &mut CachedParts, text: &str) -> Vec<u32> {
    let (mut scratch, mut out) = (UnigramF32Scratch::default(), Vec::new());
    assert!(model.pieces.splits());
    model.begin(&mut scratch);
    let mut start = 0;
    while start < text.len() {
        let end = part_end(text, start);
        let word = &text[start..end];
        start = end;
        let score_magnitude = model.score_magnitude(&scratch);
        let is_valid = |score: &PathScore| {
            let limit = model.limits()[score.margin as usize];
            score_magnitude + u64::from(score.cost) < limit
        };
        if let Some((_, ids)) = known.get(word).filter(|(score, _)| !score.has_unknown && is_valid(score)) {
            model.add_scores(ids, &mut scratch);
            out.extend_from_slice(ids);
            continue;
        }
        let (alone, score) = segmented_alone(model, word);
        let from = out.len();
        model.run_next(word, &mut scratch, &mut out);
        if let Some(score) = score.filter(is_valid) {
            assert_eq!(alone, out[from..]);
            known.insert(word.to_owned(), (score, alone));
        }
    }
    out
}

/// Return the ids of all parts of a word, and their score.
fn segmented_alone(model: &UnigramF32, word: &str) -> (Vec<u32>, Option<PathScore>) {
    let (mut scratch, mut ids) = (UnigramF32Scratch::default(), Vec::new());
    let (mut at, mut all) = (0, Some(PathScore::default()));
    while at < word.len() {
        let is_after_unknown = model.pieces.ends_with_unknown(&ids);
        let (end, score) = model.segment_part(word, at, is_after_unknown, &mut scratch, &mut ids);
        assert!(end > at && word.is_char_boundary(end));
        all = all.zip(score).map(|(all, score)| all.and(score));
        at = end;
    }
    (ids, all)
}

proptest! {
    #[test]
    fn the_best_path_is_that_of_the_definition(
        pieces in any_pieces(),
        text in "[ab\u{e9}x\u{2581}]{0,40}",
    ) {
        let spec = random_spec(SentencePieceKind::Unigram, pieces);
        let ids: Vec<u32> = segmented(&spec, &text).iter().map(|token| token.id).collect();
        prop_assert_eq!(ids, naive_unigram(&spec, &text));
    }

    #[test]
    fn chunks_equal_the_whole(
        pieces in any_pieces(),
        text in "[ab\u{e9}x\u{2581}]{0,60}|(a{0,20}b?){0,4}",
        chunk_len in 1usize..9,
        scale in prop::sample::select(vec![1.0f32, 1000.0, 30_000.0]),
    ) {
        let pieces = pieces.into_iter().map(|(text, score, marked)| (text, score * scale, marked)).collect();
        let model = unigram(&random_spec(SentencePieceKind::Unigram, pieces));
        let run = |chunk_len| {
            let (mut streaming, mut out) = (StreamingViterbi::default(), Vec::new());
            let sums = parts::TextScorer::of(&model, &text);
            let score = streaming.run_by(chunk_len, &sums, &text, parts::begin(0.0), |piece| out.push(piece));
            (score, out)
        };
        prop_assert_eq!(run(chunk_len), run(text.len() + 1));
    }

    #[test]
    fn parts_have_the_tokens_of_the_text(
        pieces in any_pieces(),
        texts in prop::collection::vec("([ab\u{e9}x]{0,4}\u{2581}){0,300}[ab]{0,20}", 1..4),
    ) {
        let spec = random_spec(SentencePieceKind::Unigram, pieces);
        let model = unigram(&spec);
        let mut known = CachedParts::default();
        for text in texts {
            let whole: Vec<u32> = segmented(&spec, &text).iter().map(|token| token.id).collect();
            prop_assert_eq!(in_parts(&model, &mut known, &text), whole);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20_000))]

    #[test]
    fn a_part_has_the_same_tokens_after_any_score_within_its_margin(
        pieces in any_pieces(),
        text in "[ab\u{e9}]{1,30}",
        share in 0.0f32..1.0,
    ) {
        let model = unigram(&random_spec(SentencePieceKind::Unigram, pieces));
        let (mut scratch, mut alone, mut found) = (UnigramF32Scratch::default(), Vec::new(), Vec::new());
        let (end, score) = model.segment_part(&text, 0, false, &mut scratch, &mut alone);
        let Some(score) = score else { return Ok(()) };
        let limit = model.limits()[score.margin as usize].saturating_sub(score.cost.into());
        scratch.score = -share * limit as f32 / 64.0;
        if model.segment_part_f32(&text, 0, false, &mut scratch, &mut found).is_none() {
            model.run_next(&text[..end], &mut scratch, &mut found);
        }
        prop_assert!(score.margin == 0 || found == alone, "{:?} {:?}", found, alone);
    }
}
