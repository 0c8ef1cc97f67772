//! Substrings, longest first: the WordPiece learner of TensorFlow Text, in integers.
//!
//! For a threshold t: count the substrings of all words (a prefix of a word is plain, any other marked);
//! from the longest to the shortest, keep those that still occur t times and take a kept one's count from
//! its prefixes. Three more times, count only what starts where the longest matches of the vocabulary so
//! far start, and keep anew. A binary search finds the least t whose vocabulary fits; the gap that is left
//! is filled with the best of what t - 1 keeps.
//!
//! Each count or choice is one pass over the nodes of a trie that holds just what can still reach t, so
//! trying one threshold costs about as much as segmenting the distinct words three times.

use std::cmp::Reverse;

use super::substring_trie::{CorpusText, SubstringTrie, CONTINUATION, WORD_START};
use super::WordPieceTrainSpec;
use crate::error::Error;
use crate::train::alphabet::Alphabet;
use crate::train::entries::Entries;
use crate::train::progress::Progress;
use crate::train::{Counts, Learned};

/// Longest entry in characters when the settings do not say.
const MAX_CHARS: usize = 50;
const ITERATIONS: usize = 4;
/// A new trie holds what occurs at least t / REACH times, so that the next lower thresholds find it there.
const TRIE_MARGIN: u64 = 4;

/// Find the vocabulary of the least threshold that fits, and fill it up.
pub(super) fn learn(
    counts: &Counts,
    spec: &WordPieceTrainSpec,
    alphabet: &Alphabet,
    entries: Entries,
    progress: &mut Progress<'_>,
) -> Result<Learned, Error> {
    let text = CorpusText::new(counts, alphabet, &spec.continuing_subword_prefix, progress)?;
    let min_count = spec.min_frequency.max(1);
    let largest = text.largest_count(progress)?;
    let mut search = ThresholdSearch { spec, text, base: entries, min_count, trie: None };
    let (mut low, mut high) = (min_count, largest.saturating_add(1).max(min_count));
    while low < high {
        let middle = low + (high - low) / 2;
        if search.size(middle, progress)? <= spec.vocab_size {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    let mut entries = search.entries_by_count(low, progress)?;
    if low > min_count {
        entries.extend(search.entries_by_count(low - 1, progress)?);
    }
    Ok(finish(search.base, entries, spec, min_count))
}

/// Append entries that are new until the vocabulary is full.
fn finish(mut base: Entries, entries: Vec<String>, spec: &WordPieceTrainSpec, min_count: u64) -> Learned {
    for name in entries {
        if base.len() == spec.vocab_size {
            break;
        }
        base.add(&name);
    }
    let size = base.len();
    let stopped_early = (size < spec.vocab_size).then(|| {
        format!("no more substrings occur {min_count} times: {size} of {} entries learned", spec.vocab_size)
    });
    Learned { vocab: base.into_names(), merges: Vec::new(), stopped_early }
}

/// What stays the same while thresholds are tried.
struct ThresholdSearch<'a> {
    spec: &'a WordPieceTrainSpec,
    text: CorpusText,
    /// Special tokens and alphabet.
    base: Entries,
    min_count: u64,
    trie: Option<SpelledTrie>,
}

/// A trie with what is known of its nodes' spellings.
struct SpelledTrie {
    trie: SubstringTrie,
    /// Nodes spelled like a special token or like an entry of the alphabet.
    in_base: Vec<bool>,
    /// Nodes of either kind that are spelled alike once the prefix is put before the marked one.
    same_spelling: Vec<(u32, u32)>,
}

impl ThresholdSearch<'_> {
    /// The size of the vocabulary for a threshold.
    fn size(&mut self, threshold: u64, progress: &mut Progress<'_>) -> Result<usize, Error> {
        let kept = self.keep(threshold, progress)?;
        let Some(nodes) = &self.trie else { return Ok(self.base.len()) };
        let new = |node: u32| kept[node as usize] > 0 && !nodes.in_base[node as usize];
        let all = (0..kept.len() as u32).filter(|&node| new(node)).count();
        let twice =
            nodes.same_spelling.iter().filter(|&&(plain, marked)| new(plain) && new(marked)).count();
        Ok(self.base.len() + all - twice)
    }

    /// The entries kept for a threshold, by count descending, then code points.
    fn entries_by_count(
        &mut self,
        threshold: u64,
        progress: &mut Progress<'_>,
    ) -> Result<Vec<String>, Error> {
        let kept = self.keep(threshold, progress)?;
        let Some(nodes) = &self.trie else { return Ok(Vec::new()) };
        let mut ranked = Vec::new();
        for (node, &count) in kept.iter().enumerate().filter(|(_, &count)| count > 0) {
            progress.advance(4)?;
            let body = nodes.trie.spell(&self.text, node as u32);
            let plain = nodes.trie.is_plain(&self.text, node as u32);
            let name = if plain { body } else { format!("{}{body}", self.spec.continuing_subword_prefix) };
            ranked.push((Reverse(count), name));
        }
        ranked.sort_unstable();
        Ok(ranked.into_iter().map(|(_, name)| name).collect())
    }

    /// Run all iterations for a threshold; gives the counts of the nodes kept, 0 for the others.
    fn keep(&mut self, threshold: u64, progress: &mut Progress<'_>) -> Result<Vec<u64>, Error> {
        self.ensure_trie(threshold, progress)?;
        let Some(nodes) = &self.trie else { return Ok(Vec::new()) };
        let mut kept = nodes.keep(&nodes.trie.count, threshold);
        for _ in 1..ITERATIONS {
            let counts = nodes.count_from_splits(&self.text, &nodes.longest_kept(&kept), progress)?;
            kept = nodes.keep(&counts, threshold);
        }
        Ok(kept)
    }

    /// Make sure that the trie holds all that occurs `threshold` times.
    fn ensure_trie(&mut self, threshold: u64, progress: &mut Progress<'_>) -> Result<(), Error> {
        if self.trie.as_ref().is_some_and(|nodes| nodes.trie.min_count <= threshold) {
            return Ok(());
        }
        let max_chars = self.spec.max_token_length.unwrap_or(MAX_CHARS);
        let min_count = (threshold / TRIE_MARGIN).max(self.min_count);
        let trie = SubstringTrie::new(&self.text, min_count, max_chars, progress)?;
        self.trie =
            Some(SpelledTrie::new(trie, &self.text, &self.base, &self.spec.continuing_subword_prefix));
        Ok(())
    }
}

impl SpelledTrie {
    fn new(trie: SubstringTrie, text: &CorpusText, base: &Entries, prefix: &str) -> Self {
        let mut in_base = vec![false; trie.len()];
        for name in base.names() {
            let plain = trie.walk(text, WORD_START, name);
            let marked = name.strip_prefix(prefix).and_then(|body| trie.walk(text, CONTINUATION, body));
            plain.into_iter().chain(marked).for_each(|node| in_base[node as usize] = true);
        }
        let mut same_spelling = Vec::new();
        if let Some(start) = trie.walk(text, WORD_START, prefix) {
            trie.visit_common_paths(text, start, CONTINUATION, |plain, marked| {
                same_spelling.push((plain, marked))
            });
        }
        Self { trie, in_base, same_spelling }
    }

    /// Keep what still occurs often enough, from the longest to the shortest; what is kept is taken away
    /// from its prefixes, which are its ancestors.
    fn keep(&self, counts: &[u64], threshold: u64) -> Vec<u64> {
        let mut kept = vec![0; counts.len()];
        let mut taken = vec![0_u64; counts.len()];
        for node in (2..counts.len()).rev() {
            let left = counts[node] - taken[node];
            if left >= threshold && self.trie.depth[node] > 1 {
                kept[node] = left;
                taken[node] += left;
            }
            taken[self.trie.parent[node] as usize] += taken[node];
        }
        kept
    }

    /// By node: the length of its longest prefix that is an entry; single characters always are.
    fn longest_kept(&self, kept: &[u64]) -> Vec<u32> {
        let mut is_entry: Vec<bool> = kept.iter().map(|&count| count > 0).collect();
        for &(plain, marked) in &self.same_spelling {
            let either = is_entry[plain as usize] || is_entry[marked as usize];
            (is_entry[plain as usize], is_entry[marked as usize]) = (either, either);
        }
        let mut longest = vec![1; kept.len()];
        for node in 2..kept.len() {
            let parent = self.trie.parent[node] as usize;
            longest[node] = if is_entry[node] { self.trie.depth[node] } else { longest[parent] };
        }
        longest
    }

    /// Count the substrings that start where longest matches start.
    fn count_from_splits(
        &self,
        text: &CorpusText,
        longest: &[u32],
        progress: &mut Progress<'_>,
    ) -> Result<Vec<u64>, Error> {
        let mut counts = vec![0; self.trie.len()];
        for word in text.words() {
            progress.advance(4)?;
            let (mut position, mut at_least) = (word.start, word.min_first_token);
            while position < word.end {
                let node = self.trie.longest_node_at(position) as usize;
                counts[node] += word.count;
                position += longest[node].max(at_least);
                at_least = 1;
            }
        }
        for node in (2..counts.len()).rev() {
            counts[self.trie.parent[node] as usize] += counts[node];
        }
        Ok(counts)
    }
}
