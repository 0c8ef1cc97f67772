//! A word has the same segmentation as its parts after [`ByteAdjacency::split`](crate::model::ByteAdjacency::split) and
//! [`ByteAdjacency::split_at_spaces`](crate::model::ByteAdjacency::split_at_spaces).

use super::{test_models, BacktrackingBpe, BacktrackingScratch, MergeIds, MergeRules};
use crate::table_sections::TableSections;
use proptest::prelude::*;

const TEXT: &str = "aéèñ中丮𝄞";
const WORDS: &str = " ab,é";

fn split<'w>(model: &BacktrackingBpe, word: &'w str) -> Vec<&'w str> {
    let (mut starts, mut ends) = (Vec::new(), Vec::new());
    model.byte_adjacency().unwrap().split(word, (0, word.len() as u32), &mut starts, &mut ends);
    let spans = starts.iter().zip(&ends);
    spans.map(|(&start, &end)| &word[start as usize..end as usize]).collect()
}

fn split_at_spaces<'w>(model: &BacktrackingBpe, word: &'w str) -> Vec<&'w str> {
    let (mut starts, mut ends) = (Vec::new(), Vec::new());
    let adjacency = model.byte_adjacency().unwrap();
    adjacency.split_at_spaces(word, (0, word.len() as u32), &mut starts, &mut ends);
    let spans = starts.iter().zip(&ends);
    spans.map(|(&start, &end)| &word[start as usize..end as usize]).collect()
}

/// Return a model of all bytes and of merges of the bytes of a text, given by indices of symbols.
fn linear(text: &str, pairs: &[(usize, usize)]) -> Option<BacktrackingBpe> {
    let mut texts: Vec<Vec<u8>> = (0..=255).map(|byte| vec![byte]).collect();
    let mut used: Vec<usize> = text.bytes().map(usize::from).collect();
    let mut merges = Vec::new();
    for &(left, right) in pairs {
        let (left, right) = (used[left % used.len()], used[right % used.len()]);
        let text = [&texts[left][..], &texts[right]].concat();
        if !texts.contains(&text) {
            let [left, right, merged] = [left, right, texts.len()].map(|entry| entry as u32);
            merges.push(MergeIds { left, right, merged });
            used.push(texts.len());
            texts.push(text);
        }
    }
    let (symbols, stored): (Vec<u32>, _) = ((0..256).collect(), &TableSections::default());
    let (id_bound, merges) = (texts.len(), &merges);
    let rules = MergeRules { id_bound, symbols: &symbols, merges, whole_words: &[], stored };
    BacktrackingBpe::compile(&rules, |entry, bytes| bytes.extend_from_slice(&texts[entry as usize]))
}

fn segment(model: &BacktrackingBpe, word: &str) -> Vec<u32> {
    let mut entries = Vec::new();
    // Built before the first words.
    model.trie();
    model.segment(word.as_bytes(), &mut BacktrackingScratch::default(), |entry, _| entries.push(entry));
    entries
}

#[test]
fn a_word_of_several_chunks_is_segmented_whole() {
    let model = test_models::linear(*b"abc", &[(0, 0), (0, 1), (3, 3), (4, 0), (5, 1)], 12).unwrap();
    let number = |id: u32| model.entries.iter().position(|&entry| entry == id).unwrap() as u32;
    for unit in ["a", "ab", "aabac"] {
        let word = unit.repeat(5 * model.chunk_len / 2 / unit.len());
        let (mut tokens, mut bytes) = (Vec::new(), 0);
        let found = |id: u32, len: usize| {
            tokens.push(number(id));
            bytes += len;
        };
        let done = model.segment(word.as_bytes(), &mut BacktrackingScratch::default(), found);
        assert_eq!((done, bytes), (word.len(), word.len()));
        assert!(tokens.windows(2).all(|two| model.split_table.is_valid_token_pair(two[0], two[1])));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn split_words_have_the_tokens_of_the_whole_word(
        pairs in prop::collection::vec((0..1000usize, 0..1000usize), 0..60),
        word in "[aéèñ中丮𝄞]{1,20}",
    ) {
        let Some(model) = linear(TEXT, &pairs) else { return Ok(()) };
        let parts = split(&model, &word);
        prop_assert_eq!(parts.concat(), word.as_str());
        let alone: Vec<u32> = parts.iter().flat_map(|part| segment(&model, part)).collect();
        prop_assert_eq!(alone, segment(&model, &word));
    }

    #[test]
    fn words_split_at_spaces_have_the_tokens_of_the_whole_word(
        pairs in prop::collection::vec((0..1000usize, 0..1000usize), 0..60),
        word in "[ ab,é]{1,30}",
    ) {
        let Some(model) = linear(WORDS, &pairs) else { return Ok(()) };
        let parts = split_at_spaces(&model, &word);
        prop_assert_eq!(parts.concat(), word.as_str());
        let alone: Vec<u32> = parts.iter().flat_map(|part| segment(&model, part)).collect();
        prop_assert_eq!(alone, segment(&model, &word));
    }
}
