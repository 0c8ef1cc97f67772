//! The top-down WordPiece trainer of TensorFlow Text: frequent substrings, longest first.
//!
//! For a threshold t:
//!
//! 1. Count all substrings of all words. Those inside words have the continuation prefix.
//! 2. From the longest to the shortest, select the substrings that occur at least t times, and subtract the
//!    count of each from the counts of its own prefixes.
//! 3. Three more times, count only the substrings that start where a token of the longest-match segmentation
//!    by the previous selection starts, and select again.
//!
//! A binary search finds the least t whose vocabulary fits `vocab_size`. The most frequent entries that t - 1
//! selects fill the rest.
//!
//! Source: TensorFlow Text, `wordpiece_tokenizer_learner_lib.py`, after Schuster and Nakajima 2012; here in
//! integers. The longest-match model is that of Song et al. 2021, "Fast WordPiece Tokenization".
//!
//! Counting and selecting are single passes over the nodes of a trie of the substrings that can reach t. So a
//! threshold costs about as much as segmenting the distinct words three times, which the threads divide. The
//! search takes O(log of the largest count) thresholds. A threshold that no more substrings reach than the
//! vocabulary can hold fits without segmentation.

mod steps;
mod substring_trie;

use std::cmp::Reverse;

use crate::entries::Entries;
use crate::learned::fill;
use crate::progress::Progress;
use crate::resume::Choices;
use crate::thread_team::{threads_within, total, ThreadTeam};
use crate::wordpiece::spec::{Learn, Start, TopDown, WordPieceTrainSpec};
use crate::Learned;
use piecework_core::error::Error;
use substring_trie::{CorpusText, SubstringTrie, CONTINUATION, WORD_START};

/// The default of `max_token_length`.
const MAX_CHARS: usize = 50;
/// How often substrings are counted and selected for a threshold.
const ITERATIONS: usize = 4;
/// A new trie contains the substrings that occur at least t / `TRIE_MARGIN` times, so that it serves the next
/// lower thresholds too.
const TRIE_MARGIN: u64 = 4;
/// The counts of the threads after the first take at most this number of bytes for each character of the text.
const SUM_BYTES: usize = 2;
/// Blocks of the text that a thread takes at once.
const PART_BLOCKS: usize = 1024;

impl Learn for TopDown {
    /// Find the vocabulary of the least threshold that fits, and fill it to `vocab_size`.
    ///
    /// A choice is whether the vocabulary of a threshold fits: 0 or 1.
    fn learn(&self, start: Start<'_>, progress: &mut Progress<'_>) -> Result<Learned, Error> {
        let min_count = start.min_count();
        let Start { counts, spec, resume, chars, alphabet, entries } = start;
        let prefix = spec.continuing_subword_prefix.as_str();
        let mut choices = Choices::new(resume);
        let text = CorpusText::new(counts, chars, &alphabet, spec, progress)?;
        let largest = text.largest_count(progress)?;
        let mut search = ThresholdSearch { spec, text, base: entries, min_count, trie: None };
        let (mut low, mut high) = (min_count, largest.saturating_add(1).max(min_count));
        let steps = (high - low).checked_ilog2().map_or(0, |bits| bits as usize + 2);
        let mut step = 0;
        while low < high {
            progress.reach(spec.vocab_size * step / steps);
            step += 1;
            let middle = low + (high - low) / 2;
            let choice = choices.next_or(|| Ok(Some(u64::from(search.fits(middle, progress)?))))?;
            let fits = match choice {
                Some(choice @ 0..=1) => choice == 1,
                other => return Err(choices.wrong(other.unwrap_or_default().to_string())),
            };
            if let Some(log) = progress.steps() {
                let selected = search.entries_by_count(middle, progress)?;
                steps::log_threshold(
                    log,
                    counts,
                    &search.base,
                    (low, high, middle, fits),
                    &selected,
                    prefix,
                );
            }
            if fits {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        choices.finish()?;
        let mut entries = search.entries_by_count(low, progress)?;
        if low > min_count {
            entries.extend(search.entries_by_count(low - 1, progress)?);
        }
        let entries = entries.into_iter().map(|(name, _)| name);
        Ok(fill(&search.base, entries, spec.vocab_size, min_count))
    }
}

/// The search for the threshold.
struct ThresholdSearch<'a> {
    spec: &'a WordPieceTrainSpec,
    text: CorpusText,
    /// The special tokens and the alphabet.
    base: Entries,
    min_count: u64,
    trie: Option<SpelledTrie>,
}

/// A trie of substrings, and the nodes whose entries coincide with others.
struct SpelledTrie {
    trie: SubstringTrie,
    /// By node: whether its entry is a special token or an entry of the alphabet.
    in_base: Vec<bool>,
    /// Pairs of a word-start node and a continuation node that have the same entry.
    same_spelling: Vec<(u32, u32)>,
}

impl ThresholdSearch<'_> {
    /// Whether the vocabulary of a threshold has at most `vocab_size` entries.
    fn fits(&mut self, threshold: u64, progress: &mut Progress<'_>) -> Result<bool, Error> {
        self.ensure_trie(threshold, progress)?;
        // Only substrings that occur so often can be selected.
        let reached =
            |nodes: &SpelledTrie| nodes.trie.count.iter().filter(|&&count| count >= threshold).count();
        if self.base.len() + self.trie.as_ref().map_or(0, reached) <= self.spec.vocab_size {
            return Ok(true);
        }
        let selected = self.select(threshold, progress)?;
        Ok(self.base.len() + self.new_entries(&selected) <= self.spec.vocab_size)
    }

    /// Return the number of entries that are selected and not in the base.
    fn new_entries(&self, selected: &[u64]) -> usize {
        let Some(nodes) = &self.trie else { return 0 };
        let new = |node: u32| selected[node as usize] > 0 && !nodes.in_base[node as usize];
        let all = (0..selected.len() as u32).filter(|&node| new(node)).count();
        let same = nodes.same_spelling.iter();
        all - same.filter(|&&(initial, continuing)| new(initial) && new(continuing)).count()
    }

    /// Return the entries that a threshold selects with their counts, by count descending, then code points.
    fn entries_by_count(
        &mut self,
        threshold: u64,
        progress: &mut Progress<'_>,
    ) -> Result<Vec<(String, u64)>, Error> {
        let selected = self.select(threshold, progress)?;
        let Some(nodes) = &self.trie else { return Ok(Vec::new()) };
        let mut ranked = Vec::new();
        for (node, &count) in selected.iter().enumerate().filter(|(_, &count)| count > 0) {
            progress.advance(4)?;
            let body = nodes.trie.spell(&self.text, node as u32);
            let initial = nodes.trie.begins_word(&self.text, node as u32);
            let name =
                if initial { body } else { format!("{}{body}", self.spec.continuing_subword_prefix) };
            ranked.push((Reverse(count), name));
        }
        ranked.sort_unstable();
        Ok(ranked.into_iter().map(|(Reverse(count), name)| (name, count)).collect())
    }

    /// Run all iterations for a threshold; return the counts of the selected nodes, 0 for the others.
    fn select(&mut self, threshold: u64, progress: &mut Progress<'_>) -> Result<Vec<u64>, Error> {
        self.ensure_trie(threshold, progress)?;
        let Some(nodes) = &self.trie else { return Ok(Vec::new()) };
        let mut selected = nodes.select(&nodes.trie.count, threshold);
        for _ in 1..ITERATIONS {
            let longest = nodes.longest_selected(&selected);
            let mut team = ThreadTeam::new(self.threads(nodes.trie.len()), progress);
            let counts = nodes.count_from_splits(&self.text, &longest, &mut team)?;
            selected = nodes.select(&counts, threshold);
        }
        Ok(selected)
    }

    /// Return the number of threads whose counts of all nodes are small beside the text.
    fn threads(&self, nodes: usize) -> usize {
        threads_within(self.spec.num_threads, size_of::<u64>() * nodes, SUM_BYTES * self.text.len())
    }

    /// Build a trie unless the current one contains all substrings that occur `threshold` times.
    fn ensure_trie(&mut self, threshold: u64, progress: &mut Progress<'_>) -> Result<(), Error> {
        if self.trie.as_ref().is_some_and(|nodes| nodes.trie.min_count <= threshold) {
            return Ok(());
        }
        self.trie = None;
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
            let initial = trie.walk(text, WORD_START, name);
            let continuing = name.strip_prefix(prefix).and_then(|body| trie.walk(text, CONTINUATION, body));
            initial.into_iter().chain(continuing).for_each(|node| in_base[node as usize] = true);
        }
        let mut same_spelling = Vec::new();
        if let Some(start) = trie.walk(text, WORD_START, prefix) {
            trie.visit_common_paths(text, start, CONTINUATION, |initial, continuing| {
                same_spelling.push((initial, continuing));
            });
        }
        Self { trie, in_base, same_spelling }
    }

    /// Select nodes from the longest to the shortest; the count of each is subtracted from its prefixes, which
    /// are its ancestors.
    fn select(&self, counts: &[u64], threshold: u64) -> Vec<u64> {
        let mut selected = vec![0; counts.len()];
        let mut subtracted = vec![0_u64; counts.len()];
        for node in (2..counts.len()).rev() {
            let rest = counts[node] - subtracted[node];
            if rest >= threshold && self.trie.depth[node] > 1 {
                selected[node] = rest;
                subtracted[node] += rest;
            }
            subtracted[self.trie.parent[node] as usize] += subtracted[node];
        }
        selected
    }

    /// By node: the length of its longest prefix that is an entry, at least one character.
    fn longest_selected(&self, selected: &[u64]) -> Vec<u32> {
        let mut is_entry: Vec<bool> = selected.iter().map(|&count| count > 0).collect();
        for &(initial, continuing) in &self.same_spelling {
            let either = is_entry[initial as usize] || is_entry[continuing as usize];
            (is_entry[initial as usize], is_entry[continuing as usize]) = (either, either);
        }
        let mut longest = vec![1; selected.len()];
        for node in 2..selected.len() {
            let parent = self.trie.parent[node] as usize;
            longest[node] = if is_entry[node] { self.trie.depth[node] } else { longest[parent] };
        }
        longest
    }

    /// Count the substrings that start where a token of the longest-match segmentation starts.
    fn count_from_splits(
        &self,
        text: &CorpusText,
        longest: &[u32],
        team: &mut ThreadTeam<'_, '_>,
    ) -> Result<Vec<u64>, Error> {
        let none = || vec![0; self.trie.len()];
        let sums = team.run_parts(text.blocks(), PART_BLOCKS, none, |counts, _, blocks| {
            for word in text.words_ending_in(blocks) {
                let (mut position, mut min_length) = (word.start, word.min_first_token);
                while position < word.end {
                    let node = self.trie.longest_node_at(position) as usize;
                    counts[node] += word.count;
                    position += longest[node].max(min_length);
                    min_length = 1;
                }
            }
        })?;
        let mut counts: Vec<u64> = total(sums);
        for node in (2..counts.len()).rev() {
            counts[self.trie.parent[node] as usize] += counts[node];
        }
        Ok(counts)
    }
}
