//! Pieces that cross spaces: the two stages, and runs that continue.

use std::ops::ControlFlow;

use super::*;
use crate::{Merge, MergeLog, PieceRules, SeveralWords};

fn counts(rows: &[(&str, u64)]) -> Counts {
    let (words, counts): (Vec<String>, Vec<u64>) = rows.iter().map(|&(w, n)| (w.into(), n)).unzip();
    Counts::from_parts(&words, &counts, None).expect("distinct words")
}

fn spec(transition: usize, is_exact: bool) -> SentencePieceTrainSpec {
    let several_words = Some(SeveralWords { max_words: None, join_punctuation: true });
    let piece_rules = PieceRules { several_words, ..PieceRules::default() };
    SentencePieceTrainSpec {
        kind: SentencePieceKind::Bpe,
        vocab_size: Some(20),
        hard_vocab_limit: false,
        character_coverage: 1.0,
        superwords: Some(SuperwordPieces { transition, is_exact, piece_rules }),
        ..SentencePieceTrainSpec::default()
    }
}

fn learn(spec: &SentencePieceTrainSpec, earlier: &[Merge], log: &MergeLog) -> Result<Vec<String>, Error> {
    let words = counts(&[("▁of", 5), ("▁the", 7), ("▁a,", 2)]);
    let sequences = counts(&[("▁of▁the", 3), ("▁a,▁of▁the", 2), ("▁the", 2)]);
    let merges = Resume { earlier, log: Some(log), ..Resume::default() };
    let start = SentencePieceResume { merges, ..SentencePieceResume::default() };
    let learned = resume(&words, Some(&sequences), spec, 2, start, &mut |_, _| ControlFlow::Continue(()))?;
    Ok(learned.pieces.into_iter().map(|(piece, _)| piece).take(learned_merges(spec)).collect())
}

/// Return the number of merged pieces: all but three symbols and eight characters.
fn learned_merges(spec: &SentencePieceTrainSpec) -> usize {
    spec.vocab_size.unwrap_or(0) - 3 - 8
}

#[test]
fn pieces_cross_spaces_after_the_transition() {
    let pieces = learn(&spec(16, true), &[], &MergeLog::default()).expect("a usable corpus");
    assert_eq!(pieces, ["he", "▁t", "▁the", "of", "▁of", "▁of▁the", "a,", "▁a,", "▁a,▁of▁the"]);
}

#[test]
fn a_run_continues_after_every_merge() {
    for spec in [spec(14, true), spec(18, false), spec(19, false)] {
        let log = MergeLog::default();
        let expected = learn(&spec, &[], &log).expect("a usable corpus");
        let merges = log.merges();
        for made in 0..=merges.len() {
            let again = MergeLog::default();
            assert_eq!(learn(&spec, &merges[..made], &again), Ok(expected.clone()), "{made} merges");
            assert_eq!(again.merges(), merges);
        }
    }
}

#[test]
fn a_transition_out_of_reach_or_below_the_alphabet_is_named() {
    for (transition, expected) in [(18, "at most 17"), (10, "at least 11")] {
        let error = learn(&spec(transition, true), &[], &MergeLog::default()).unwrap_err();
        assert_eq!(error.place, "transition");
        assert!(error.expected.starts_with(expected), "{error}");
        assert!(learn(&spec(transition, false), &[], &MergeLog::default()).is_ok());
    }
}
