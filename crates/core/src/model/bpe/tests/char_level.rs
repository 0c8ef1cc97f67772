//! Backtracking over characters.

use proptest::prelude::*;

use super::*;
use crate::model::bpe::backtracking::BacktrackingScratch;
use crate::text::byte_entry;

/// Return a vocabulary with tokens for all letters and unknown characters.
fn with_unknown(mut spec: BpeSpec) -> BpeSpec {
    for token in ["é", "<unk>"] {
        if spec.vocab.iter().all(|(other, _)| other != token) {
            spec.vocab.push((token.into(), spec.vocab.len() as u32));
        }
    }
    spec.unk_token = Some("<unk>".into());
    spec
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn backtracking_over_characters_equals_the_definition(
        splits in prop::collection::vec(("[abé▁]{1,3}", "[abé▁]{1,3}"), 0..20),
        order in prop::sample::select(vec![false, true, true]),
        word in "[abé▁x中]{1,80}|([ab▁]{150}x?){5}",
        (has_unknown, fuse_unk, byte_fallback) in any::<(bool, bool, bool)>(),
        bytes in prop::sample::select(vec!["", "x", "x中", "all"]),
    ) {
        let mut splits = splits;
        if order {
            splits.sort_by_key(|(left, right)| (left.len() + right.len(), left.clone(), right.clone()));
            splits.dedup();
        }
        let mut spec = spec_of_splits(&splits);
        let mut add = |token: String| spec.vocab.push((token, spec.vocab.len() as u32));
        let is_there = |byte: &u8| bytes == "all" || bytes.as_bytes().contains(byte);
        (0..=255).filter(is_there).for_each(|byte| add(byte_entry(byte)));
        add("<unk>".into());
        spec.unk_token = has_unknown.then(|| "<unk>".into());
        (spec.fuse_unk, spec.byte_fallback) = (fuse_unk, byte_fallback);
        let (model, symbols) = printable(&spec, &word);
        let vocab = Vocab::compile(&spec.vocab).unwrap();
        let mut found: Vec<TokenSpan> = Vec::new();
        model.run(&word, &vocab, &mut BpeScratch::default(), None, &mut found);
        let found: Vec<_> = found.iter().map(|piece| (piece.id, piece.start, piece.end)).collect();
        prop_assert_eq!(found, plain(&naive(&model, symbols)));
    }

    #[test]
    fn merges_out_of_order_are_applied(
        splits in prop::collection::vec(("[abé]{1,3}", "[abé]{1,3}"), 0..12).prop_shuffle(),
        word in "[abé]{1,60}",
    ) {
        let (model, symbols) = printable(&with_unknown(spec_of_splits(&splits)), &word);
        let Some(chars) = &tables_of(&model).chars else { return Ok(()) };
        let mut found: Vec<u32> = Vec::new();
        let done = chars.segment(&word, 0, &mut BacktrackingScratch::default(), &mut found);
        prop_assert_eq!(done, word.len());
        let expected: Vec<u32> = naive(&model, symbols).iter().map(|symbol| symbol.id).collect();
        prop_assert_eq!(found, expected);
    }
}
