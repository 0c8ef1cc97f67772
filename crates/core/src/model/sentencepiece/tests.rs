use proptest::prelude::*;
use rustc_hash::FxHashMap;

use super::*;
use crate::model::TokenSpan;
use crate::spec::{ModelSpec, PieceType, ScoredPiece};

const SPACE: &str = "\u{2581}";

fn spec(kind: SentencePieceKind, pieces: &[(&str, f32, PieceType)]) -> SentencePieceSpec {
    let unknown = ("<unk>", 0.0, PieceType::Unknown);
    let all = std::iter::once(&unknown).chain(pieces);
    SentencePieceSpec {
        kind,
        pieces: all.map(|&(text, score, kind)| ScoredPiece { text: text.into(), score, kind }).collect(),
        ..SentencePieceSpec::default()
    }
}

fn compiled(spec: &SentencePieceSpec) -> (SentencePiece, Vocab) {
    let vocab = Vocab::of_model(&ModelSpec::SentencePiece(spec.clone())).unwrap();
    (SentencePiece::compile(spec, &vocab).unwrap(), vocab)
}

fn pieces(spec: &SentencePieceSpec, text: &str) -> Vec<(String, u32)> {
    let (model, vocab) = compiled(spec);
    let mut out: Vec<TokenSpan> = Vec::new();
    model.run(text, &vocab, &mut SpmScratch::default(), None, &mut out);
    let text_of = |piece: &TokenSpan| text[piece.start as usize..piece.end as usize].to_owned();
    out.iter().map(|piece| (text_of(piece), piece.id)).collect()
}

fn texts(spec: &SentencePieceSpec, text: &str) -> Vec<String> {
    pieces(spec, text).into_iter().map(|(text, _)| text).collect()
}

const NORMAL: PieceType = PieceType::Normal;

#[test]
fn unigram_takes_the_likeliest_and_fuses_unknown_neighbors() {
    let spec =
        spec(SentencePieceKind::Unigram, &[("ab", -1.0, NORMAL), ("a", -1.5, NORMAL), ("b", -1.5, NORMAL)]);
    assert_eq!(texts(&spec, "abxyb"), ["ab", "xy", "b"]);
}

#[test]
fn unigram_prefers_the_longer_piece_of_equal_sums() {
    let spec = spec(SentencePieceKind::Unigram, &[("a", -1.0, NORMAL), ("aa", -2.0, NORMAL)]);
    assert_eq!(texts(&spec, "aaa"), ["a", "aa"]);
}

#[test]
fn user_defined_pieces_are_never_split() {
    for kind in [SentencePieceKind::Unigram, SentencePieceKind::Bpe, SentencePieceKind::Char] {
        let pieces = [("<a>", 0.0, PieceType::UserDefined), ("<", -1.0, NORMAL), ("<a", -0.5, NORMAL)];
        assert_eq!(texts(&spec(kind, &pieces), "<a>"), ["<a>"]);
    }
}

#[test]
fn bpe_merges_by_score_and_splits_unused_pieces() {
    let mut spec = spec(
        SentencePieceKind::Bpe,
        &[
            ("a", -9.0, NORMAL),
            ("b", -9.0, NORMAL),
            ("c", -9.0, NORMAL),
            ("ab", -0.0, NORMAL),
            ("abc", -1.0, NORMAL),
        ],
    );
    assert_eq!(texts(&spec, "abcc"), ["abc", "c"]);
    spec.pieces[5].kind = PieceType::Unused;
    assert_eq!(texts(&spec, "abcc"), ["ab", "c", "c"]);
}

#[test]
fn words_begin_with_their_space() {
    let spec = spec(SentencePieceKind::Word, &[("\u{2581}a", -1.0, NORMAL), (SPACE, -1.0, NORMAL)]);
    assert_eq!(texts(&spec, "\u{2581}a\u{2581}\u{2581}b"), ["\u{2581}a", SPACE, "\u{2581}b"]);
}

#[test]
fn bytes_spell_the_unknown_and_the_last_one_covers_it() {
    let names: Vec<String> = (0..=255).map(|byte| format!("<0x{byte:02X}>")).collect();
    let mut spec = spec(SentencePieceKind::Unigram, &[("a", -1.0, NORMAL)]);
    spec.byte_fallback = true;
    let byte = |name: &String| ScoredPiece { text: name.clone(), score: 0.0, kind: PieceType::Byte };
    spec.pieces.extend(names.iter().map(byte));
    let found = pieces(&spec, "\u{e9}a");
    assert_eq!(found, [(String::new(), 2 + 0xC3), ("\u{e9}".into(), 2 + 0xA9), ("a".into(), 1)]);
}

#[test]
fn refuses_what_no_text_can_be_segmented_by() {
    let refused = |edit: fn(&mut SentencePieceSpec)| {
        let mut spec = spec(SentencePieceKind::Unigram, &[("a", -1.0, NORMAL)]);
        edit(&mut spec);
        checks::check(&spec).unwrap_err().to_string()
    };
    assert!(refused(|spec| spec.pieces[1].score = f32::NAN).starts_with("model.pieces[1]: found score NaN"));
    assert!(
        refused(|spec| spec.pieces[1].text.clear()).starts_with("model.pieces[1]: found an empty piece")
    );
    assert!(refused(|spec| drop(spec.pieces.remove(0))).starts_with("model.pieces: found no unknown piece"));
    assert!(refused(|spec| spec.byte_fallback = true).contains("no byte piece <0x00>"));
    assert!(refused(|spec| spec.pieces[1].kind = PieceType::Byte).contains("no byte_fallback"));
    assert!(refused(|spec| spec.pieces[1].kind = PieceType::Unknown).contains("as [0] is"));
}

#[test]
fn a_megabyte_without_a_space_keeps_little_memory() {
    let spec = spec(SentencePieceKind::Unigram, &[("a", -1.0, NORMAL), ("aab", -1.0, NORMAL)]);
    let (model, vocab) = compiled(&spec);
    let (mut scratch, mut out) = (SpmScratch::default(), Vec::<u32>::new());
    model.run(&"aab".repeat(1 << 19), &vocab, &mut scratch, None, &mut out);
    assert_eq!(out.len(), 1 << 19);
    assert!(scratch.lattice.capacity() <= 1 << 16);
}

#[test]
fn paths_that_never_meet_are_found() {
    let spec = spec(SentencePieceKind::Unigram, &[("a", -1.0, NORMAL), ("aaa", -2.0, NORMAL)]);
    let text = "a".repeat(100_001);
    assert_eq!(pieces(&spec, &text).len(), 100_001usize.div_ceil(3) + 1);
}

/// Pieces of letters and spaces, with scores that make ties and near ties.
fn any_pieces() -> impl Strategy<Value = Vec<(String, f32, bool)>> {
    let text = prop::collection::vec(prop::sample::select(vec!["a", "b", "\u{e9}"]), 1..4)
        .prop_map(|parts| parts.concat());
    let score = prop_oneof![
        (-40i32..1).prop_map(|quarter| quarter as f32 / 4.0),
        (-1000f32..0.0),
        (-1.001f32..-1.0),
    ];
    prop::collection::vec((text, score, any::<bool>()), 1..12)
}

fn random_spec(kind: SentencePieceKind, pieces: Vec<(String, f32, bool)>) -> SentencePieceSpec {
    let mut all = spec(kind, &[(SPACE, -2.0, NORMAL)]);
    for (text, score, follows_space) in pieces {
        let text = if follows_space { format!("{SPACE}{text}") } else { text };
        if all.pieces.iter().all(|piece| piece.text != text) {
            all.pieces.push(ScoredPiece { text, score, kind: NORMAL });
        }
    }
    all
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

/// A cache of parts: their scores and ids.
type Remembered = FxHashMap<String, (PathScore, Vec<u32>)>;

/// Segment like the pipeline: word by word with a cache, and a new word part by part.
fn in_parts(model: &SentencePiece, vocab: &Vocab, known: &mut Remembered, text: &str) -> Vec<u32> {
    let (mut scratch, mut out) = (SpmScratch::default(), Vec::new());
    let Some(split_rule) = model.split_rule() else { panic!("no split_rule") };
    model.begin(&mut scratch);
    let mut start = 0;
    while start < text.len() {
        let end = split_rule.next(text, start);
        let word = &text[start..end];
        start = end;
        let score_magnitude = model.score_magnitude(&scratch);
        let is_valid = |score: &PathScore| {
            let limit = model.limits()[score.margin as usize];
            !model.is_contextual() || score_magnitude + u64::from(score.cost) < limit
        };
        if let Some((_, ids)) = known.get(word).filter(|(score, _)| !score.has_unknown && is_valid(score)) {
            model.add_scores(ids, &mut scratch);
            out.extend_from_slice(ids);
            continue;
        }
        let (alone, score) = segmented(model, word);
        let from = out.len();
        model.run_next(word, vocab, &mut scratch, &mut out);
        if let Some(score) = score.filter(is_valid) {
            assert_eq!(alone, out[from..]);
            known.insert(word.to_owned(), (score, alone));
        }
    }
    out
}

/// The ids of all parts of a word, and their score.
fn segmented(model: &SentencePiece, word: &str) -> (Vec<u32>, Option<PathScore>) {
    let (mut scratch, mut ids) = (SpmScratch::default(), Vec::new());
    let (mut at, mut all) = (0, Some(PathScore::default()));
    while at < word.len() {
        let is_after_unknown = model.ends_with_unknown(&ids);
        let (end, score) = model.segment_part(word, at, is_after_unknown, &mut scratch, &mut ids);
        assert!(end > at && word.is_char_boundary(end));
        all = all.zip(score).map(|(all, score)| all.and(score));
        at = end;
    }
    (ids, all)
}

/// The pieces that a text is merged to, by the queue or by `run`.
fn merged(spec: &SentencePieceSpec, text: &str, by_queue: bool) -> Vec<TokenSpan> {
    let (model, vocab) = compiled(spec);
    let (mut scratch, mut out) = (SpmScratch::default(), Vec::new());
    if !by_queue {
        model.run(text, &vocab, &mut scratch, None, &mut out);
        return out;
    }
    let Algorithm::Bpe(bpe) = &model.algorithm else { panic!("no BPE") };
    let mut writer = PieceWriter::new(text, model.symbols.unk_id, model.bytes.as_ref(), &mut out);
    bpe.merge_all((text, 0), (&model.symbols, &vocab), &mut scratch.symbols, None, &mut writer);
    writer.finish();
    out
}

proptest! {
    #[test]
    fn the_lattice_gives_what_its_definition_gives(
        pieces in any_pieces(),
        text in "[ab\u{e9}x\u{2581}]{0,40}",
    ) {
        let spec = random_spec(SentencePieceKind::Unigram, pieces);
        let (model, vocab) = compiled(&spec);
        let mut out: Vec<u32> = Vec::new();
        model.run(&text, &vocab, &mut SpmScratch::default(), None, &mut out);
        prop_assert_eq!(out, naive_unigram(&spec, &text));
    }

    #[test]
    fn chunks_equal_the_whole(
        pieces in any_pieces(),
        text in "[ab\u{e9}x\u{2581}]{0,60}|(a{0,20}b?){0,4}",
        chunk_len in 1usize..9,
        scale in prop::sample::select(vec![1.0f32, 1000.0, 30_000.0]),
    ) {
        let pieces = pieces.into_iter().map(|(text, score, marked)| (text, score * scale, marked)).collect();
        let (model, _) = compiled(&random_spec(SentencePieceKind::Unigram, pieces));
        let Algorithm::Unigram(model) = &model.algorithm else { panic!("a Unigram model") };
        let run = |chunk_len| {
            let (mut window, mut out) = (crate::model::unigram::StreamingViterbi::default(), Vec::new());
            let sums = unigram::TextScorer::of(model, &text);
            let score = window.run_by(chunk_len, &sums, &text, unigram::begin(0.0), |piece| out.push(piece));
            (score, out)
        };
        prop_assert_eq!(run(chunk_len), run(text.len() + 1));
    }

    #[test]
    fn parts_give_what_the_whole_gives(
        pieces in any_pieces(),
        is_bpe in any::<bool>(),
        texts in prop::collection::vec("([ab\u{e9}x]{0,4}\u{2581}){0,300}[ab]{0,20}", 1..4),
    ) {
        let kind = if is_bpe { SentencePieceKind::Bpe } else { SentencePieceKind::Unigram };
        let spec = random_spec(kind, pieces);
        let (model, vocab) = compiled(&spec);
        let mut known = Remembered::default();
        for text in texts {
            let mut whole: Vec<u32> = Vec::new();
            model.run(&text, &vocab, &mut SpmScratch::default(), None, &mut whole);
            prop_assert_eq!(in_parts(&model, &vocab, &mut known, &text), whole);
        }
    }

    #[test]
    fn texts_joined_from_left_to_right_are_joined_as_by_the_queue(
        texts in prop::collection::vec("[ab\u{e9}]{2,4}|\u{2581}[ab]{0,3}|\u{2581}{2,5}|[abd]{2}", 1..16),
        chars in "[ab\u{e9}\u{2581}]{1,4}",
        fixed in prop::collection::vec("[ab]{1,3}", 0..2),
        runs in prop::collection::btree_set(2..9usize, 0..5),
        text in "([abd\u{e9}x]{0,6}\u{2581}{0,20}){0,12}",
        (seed, ties) in (any::<u32>(), prop::sample::select(vec![1, 1, 3])),
    ) {
        let mut spec = spec(SentencePieceKind::Bpe, &[]);
        let mut add = |text: String, score: f32, kind| {
            if spec.pieces.iter().all(|piece| piece.text != text) {
                spec.pieces.push(ScoredPiece { text, score, kind });
            }
        };
        fixed.into_iter().for_each(|text| add(text, 0.0, PieceType::UserDefined));
        runs.into_iter().for_each(|length| add(SPACE.repeat(length), -1e9, NORMAL));
        // Shorter texts mostly score more; scores are all different or not.
        for (at, text) in (1u32..).zip(texts) {
            let shift = seed.rotate_left(at) % 7;
            let score = text.chars().count() as f32 * 100.0 + (shift / 6 * 150 + at / ties) as f32;
            add(text, -score, NORMAL);
        }
        chars.chars().for_each(|c| add(c.into(), -5000.0, NORMAL));
        prop_assert_eq!(merged(&spec, &text, false), merged(&spec, &text, true));
    }

    #[test]
    fn short_texts_are_joined_as_long_ones(
        pieces in any_pieces(),
        text in "[ab\u{e9}x\u{2581}]{0,30}",
    ) {
        let spec = random_spec(SentencePieceKind::Bpe, pieces);
        prop_assert_eq!(merged(&spec, &text, false), merged(&spec, &text, true));
    }
}
