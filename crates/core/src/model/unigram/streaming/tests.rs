use proptest::prelude::*;

use super::*;

/// Integer sums with ties. Characters without a piece score -9, or have no path.
struct Whole {
    pieces: PieceAutomaton,
    has_unknown: bool,
}

impl Whole {
    fn of(pieces: &[(String, i32)], has_unknown: bool) -> Self {
        let scored: Vec<(&str, f64)> =
            pieces.iter().map(|(text, score)| (text.as_str(), f64::from(*score))).collect();
        Self { pieces: PieceAutomaton::build(&scored).unwrap(), has_unknown }
    }
}

impl PathScorer for Whole {
    type Score = i64;
    type Memory = ();

    fn pieces(&self) -> &PieceAutomaton {
        &self.pieces
    }

    fn best_backpointer(
        &self,
        state: u32,
        last: Range<usize>,
        backpointers: &BackpointerTable<i64>,
        (): &mut (),
    ) -> Option<Backpointer<i64>> {
        let found =
            self.pieces.ending_at(state).map(|(id, piece)| (id, piece.byte_len, piece.score as i64));
        let unknown = (u32::MAX, last.len() as u32, -9);
        let all = found.chain(self.has_unknown.then_some(unknown));
        let backpointers = all.map(|(id, len, score)| {
            let start = last.end - len as usize;
            Backpointer { score: backpointers.at(start).score + score, id, start: start as u32 }
        });
        backpointers.reduce(|best, next| if next.score > best.score { next } else { best })
    }
}

fn pieces_of(sums: &Whole, text: &str, chunk_len: usize) -> Option<(Vec<TokenSpan>, i64)> {
    let mut out = Vec::new();
    let score =
        StreamingViterbi::default().run_by(chunk_len, sums, text, (0, ()), |piece| out.push(piece))?;
    Some((out, score))
}

/// Return the path with all backpointers in memory.
fn naive(sums: &Whole, text: &str) -> Option<(Vec<TokenSpan>, i64)> {
    pieces_of(sums, text, text.len() + 1)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]
    #[test]
    fn chunks_of_any_length_equal_the_whole(
        pieces in prop::collection::btree_map("[ab\u{e9}]{1,6}", -4i32..0, 0..8),
        text in "[ab\u{e9}c]{0,60}|(a{0,20}b?){0,4}|(ab){0,30}",
        chunk_len in 1usize..9,
        has_unknown in prop::bool::weighted(0.9),
    ) {
        let sums = Whole::of(&pieces.into_iter().collect::<Vec<_>>(), has_unknown);
        prop_assert_eq!(pieces_of(&sums, &text, chunk_len), naive(&sums, &text));
    }
}

fn window_after(pieces: &[(&str, i32)], text: &str) -> (StreamingViterbi<i64>, usize) {
    let pieces: Vec<_> = pieces.iter().map(|&(text, score)| (text.to_string(), score)).collect();
    let (mut streaming, mut count) = (StreamingViterbi::default(), 0);
    let sums = Whole::of(&pieces, true);
    streaming.run(&sums, text, (0, ()), |_| count += 1).unwrap();
    (streaming, count)
}

#[test]
fn long_texts_keep_little_memory() {
    let text = "a".repeat(1 << 20);
    for (pieces, count) in [
        (&[("a", -1)][..], 1 << 20),
        // The best paths never meet.
        (&[("a", -1), ("aaa", -2)], (1 << 20) / 3 + 1),
        (&[("a", -4), ("aa", -5), ("aaaaaaa", -6)], 149_798),
    ] {
        let (streaming, found) = window_after(pieces, &text);
        assert_eq!(found, count);
        assert!(streaming.capacity() <= 8 * MIN_CHUNK_LEN);
    }
}

#[test]
fn a_piece_longer_than_a_chunk_is_found() {
    let (long, text) = ("a".repeat(100_000), "a".repeat(1_000_000));
    let (_, found) = window_after(&[("a", -1), (&long, -2)], &text);
    assert_eq!(found, 10);
    let (_, found) = window_after(&[("a", -1), (&long, -2)], &text[..999_999]);
    assert_eq!(found, 9 + 99_999);
}
