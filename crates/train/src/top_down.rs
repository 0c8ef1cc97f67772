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
//! integers. Song et al. 2021, "Fast WordPiece Tokenization", describe the longest-match model.
//!
//! Counting and selecting are single passes over the substrings that can reach t, each after its prefixes; the index of
//! substrings finds them. All substrings that start at a position are prefixes of the longest one there. So a
//! threshold costs about as much as segmenting the distinct words three times, which the threads divide. The
//! search takes O(log of the largest count) thresholds. A threshold that no more substrings reach than the
//! vocabulary can hold fits without segmentation.

use std::cmp::Reverse;
use std::collections::HashSet;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::alphabet::Alphabet;
use crate::count::{Counts, Part};
use crate::entries::Entries;
use crate::learned::fill;
use crate::memory::{check_available, reserve};
use crate::progress::Progress;
use crate::resume::Choices;
use crate::substrings::{
    connect, select, DistinctWord, SeedLimits, Substring, SubstringIndex, WordText, NONE,
};
use crate::thread_team::{threads_within, total, ThreadTeam};
use crate::trace::{Step, StepLog, ThresholdStep};
use crate::wordpiece::spec::{Learn, Start, TopDown, WordPieceTrainSpec};
use crate::Learned;
use piecework_core::error::Error;

/// The default of `max_token_length`.
const MAX_CHARS: usize = 50;
/// How often substrings are counted and selected for a threshold.
const ITERATIONS: usize = 4;
/// A new list contains the substrings that occur at least t / `MARGIN` times, so that it serves the next lower
/// thresholds too.
const MARGIN: u64 = 4;
/// The counts of the threads after the first take at most this number of bytes for each character of the text.
const SUM_BYTES: usize = 2;
/// The memory of a substring in bytes, while the lists of threads are joined or substrings are selected.
const SUBSTRING_BYTES: usize = 100;
/// Words that a thread takes at once.
const PART_WORDS: usize = 4096;

impl Learn for TopDown {
    /// Find the vocabulary of the least threshold that fits, and fill it to `vocab_size`.
    ///
    /// A choice is whether the vocabulary of a threshold fits: 0 or 1.
    fn learn(&self, start: Start<'_>, progress: &mut Progress<'_>) -> Result<Learned, Error> {
        let (min_count, spec, counts) = (start.min_count(), start.spec, start.counts);
        let mut choices = Choices::new(start.resume);
        let mut search = ThresholdSearch::new(start, progress)?;
        let largest = search.largest_count(progress)?;
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
                search.log_threshold(log, counts, (low, high, middle, fits), &selected);
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
    alphabet: Alphabet,
    /// The words that consist of characters of the alphabet.
    index: SubstringIndex,
    /// The special tokens and the alphabet.
    base: Entries,
    min_count: u64,
    frequent: Option<FrequentSubstrings>,
}

/// The characters and the frequent substrings, each after its prefixes.
struct FrequentSubstrings {
    /// All substrings with this count are in the list.
    min_count: u64,
    substrings: Vec<Substring>,
    /// By substring: its prefix that is one character shorter, or [`NONE`].
    parent: Vec<u32>,
    /// By position: the longest substring that starts there.
    longest_at: Vec<u32>,
    /// By substring: whether its entry is a special token or an entry of the alphabet.
    in_base: Vec<bool>,
    /// Pairs of a substring at word starts and one inside words that have the same entry.
    same_spelling: Vec<(u32, u32)>,
}

impl<'a> ThresholdSearch<'a> {
    fn new(start: Start<'a>, progress: &mut Progress<'_>) -> Result<Self, Error> {
        let min_count = start.min_count();
        let Start { counts, spec, alphabet, entries: base, .. } = start;
        let mut words = Vec::new();
        reserve(&mut words, counts.len())?;
        for (word, count) in counts.iter_parts() {
            progress.advance(word.text.len())?;
            if !word.text.is_empty() && alphabet.contains_all(word.text) {
                words.push((word, count));
            }
        }
        let text = WordText::new(&words, &spec.continuing_subword_prefix, false, progress)?;
        drop(words);
        let depth = spec.max_token_length.unwrap_or(MAX_CHARS).clamp(1, usize::from(u16::MAX));
        let index = SubstringIndex::new(text, depth, spec.num_threads, progress)?;
        Ok(Self { spec, alphabet, index, base, min_count, frequent: None })
    }

    /// Return the largest count of any substring; a single character has it.
    fn largest_count(&self, progress: &mut Progress<'_>) -> Result<u64, Error> {
        let none = SeedLimits { number: 0, min_count: u64::MAX };
        let (characters, _) =
            select(&self.index, &none, |_, lengths| lengths, self.spec.num_threads, progress)?;
        Ok(characters.iter().map(|character| character.count).max().unwrap_or(0))
    }

    /// Return whether the vocabulary of a threshold has at most `vocab_size` entries.
    fn fits(&mut self, threshold: u64, progress: &mut Progress<'_>) -> Result<bool, Error> {
        let (base, size) = (self.base.len(), self.spec.vocab_size);
        let frequent = self.frequent(threshold, progress)?;
        // Only substrings that occur so often can be selected.
        let reached = frequent.substrings.iter().filter(|substring| substring.count >= threshold).count();
        if base + reached <= size {
            return Ok(true);
        }
        let selected = self.select(threshold, progress)?;
        Ok(base + self.frequent(threshold, progress)?.new_entries(&selected) <= size)
    }

    /// Return the entries that a threshold selects with their counts, by count descending, then code points.
    fn entries_by_count(
        &mut self,
        threshold: u64,
        progress: &mut Progress<'_>,
    ) -> Result<Vec<(String, u64)>, Error> {
        let selected = self.select(threshold, progress)?;
        let Some(frequent) = &self.frequent else { return Ok(Vec::new()) };
        let mut ranked = Vec::new();
        for (substring, &count) in frequent.substrings.iter().zip(&selected).filter(|(_, &count)| count > 0)
        {
            progress.advance(4)?;
            let prefix = if self.index.is_initial(substring) { "" } else { &self.index.text.prefix };
            let name: String = prefix.chars().chain(self.index.spell(substring)).collect();
            ranked.push((Reverse(count), name));
        }
        ranked.sort_unstable();
        Ok(ranked.into_iter().map(|(Reverse(count), name)| (name, count)).collect())
    }

    /// Run all iterations for a threshold; return the counts of the selected substrings, 0 for the others.
    fn select(&mut self, threshold: u64, progress: &mut Progress<'_>) -> Result<Vec<u64>, Error> {
        self.frequent(threshold, progress)?;
        let Some(frequent) = &self.frequent else { return Ok(Vec::new()) };
        let counts: Vec<u64> = frequent.substrings.iter().map(|substring| substring.count).collect();
        let mut selected = frequent.select(&counts, threshold);
        for _ in 1..ITERATIONS {
            let counts =
                self.count_from_splits(frequent, &frequent.longest_selected(&selected), progress)?;
            selected = frequent.select(&counts, threshold);
        }
        Ok(selected)
    }

    /// Report a threshold: the bounds of the search, the threshold between them, whether it fits, and what it selects.
    fn log_threshold(
        &self,
        log: &StepLog,
        counts: &Counts,
        (low, high, threshold, fits): (u64, u64, u64, bool),
        selected: &[(String, u64)],
    ) {
        let Some(number) = log.next_step() else { return };
        let base = &self.base;
        let new: Vec<&(String, u64)> =
            selected.iter().filter(|(name, _)| base.find(name).is_none()).collect();
        let names: HashSet<&str> = new.iter().map(|(name, _)| name.as_str()).collect();
        let vocab_size = base.len() + names.len();
        let entries: HashSet<&str> =
            names.into_iter().chain(base.names().iter().map(AsRef::as_ref)).collect();
        let prefix = self.spec.continuing_subword_prefix.as_str();
        log.push(Step::Threshold(ThresholdStep {
            number,
            low,
            high,
            threshold,
            fits,
            selected: vocab_size - base.len(),
            entries: new.into_iter().take(log.spec.top).cloned().collect(),
            vocab_size,
            splits: longest_matches(counts, &entries, prefix, log.spec.top),
        }));
    }

    /// Count the substrings that start where a token of the longest-match segmentation starts.
    fn count_from_splits(
        &self,
        frequent: &FrequentSubstrings,
        longest: &[u32],
        progress: &mut Progress<'_>,
    ) -> Result<Vec<u64>, Error> {
        let Self { index: SubstringIndex { text, .. }, alphabet, spec, .. } = self;
        let none = || vec![0; frequent.substrings.len()];
        let segment = |counts: &mut Vec<u64>, _, words: Range<usize>| {
            for word in words.map(|word| text.word(word as u32)) {
                let (mut position, mut min_chars) =
                    (word.start, min_first_token(text, alphabet, spec, &word));
                while position < word.end {
                    let substring = frequent.longest_at[position as usize] as usize;
                    counts[substring] += word.count;
                    position += longest[substring].max(min_chars);
                    min_chars = 1;
                }
            }
        };
        // The counts of all threads are small beside the text.
        let bytes = size_of::<u64>() * frequent.substrings.len();
        let threads = threads_within(spec.num_threads, bytes, SUM_BYTES * text.positions());
        let sums = ThreadTeam::new(threads, progress).run_parts(text.len(), PART_WORDS, none, segment)?;
        let mut counts: Vec<u64> = total(sums);
        for (substring, &parent) in frequent.parent.iter().enumerate().rev() {
            if parent != NONE {
                counts[parent as usize] += counts[substring];
            }
        }
        Ok(counts)
    }

    /// Return a list with all substrings that occur `threshold` times, the current one if it has them.
    fn frequent(
        &mut self,
        threshold: u64,
        progress: &mut Progress<'_>,
    ) -> Result<&FrequentSubstrings, Error> {
        let frequent = match self.frequent.take().filter(|frequent| frequent.min_count <= threshold) {
            Some(frequent) => frequent,
            None => {
                let min_count = (threshold / MARGIN).max(self.min_count);
                FrequentSubstrings::new(
                    &self.index,
                    min_count,
                    &self.base,
                    self.spec.num_threads,
                    progress,
                )?
            }
        };
        Ok(self.frequent.insert(frequent))
    }
}

impl FrequentSubstrings {
    /// Find the substrings that occur at least `min_count` times.
    fn new(
        index: &SubstringIndex,
        min_count: u64,
        base: &Entries,
        threads: usize,
        progress: &mut Progress<'_>,
    ) -> Result<Self, Error> {
        let limits = SeedLimits { number: usize::MAX, min_count };
        let number = AtomicUsize::new(0);
        let count = |_: &Substring, lengths: Range<u32>| {
            number.fetch_add(lengths.len(), Ordering::Relaxed);
            None
        };
        select(index, &limits, count, threads, progress)?;
        let lists = SUBSTRING_BYTES * number.into_inner();
        check_available(lists + size_of::<u32>() * index.text.positions())?;
        let (mut substrings, mut longer) = select(index, &limits, |_, lengths| lengths, threads, progress)?;
        substrings.append(&mut longer);
        substrings.sort_unstable_by_key(Substring::order);
        let (parent, longest_at) = connect(index, &substrings, progress)?;
        let in_base = vec![false; substrings.len()];
        let mut found =
            Self { min_count, substrings, parent, longest_at, in_base, same_spelling: Vec::new() };
        for name in base.names() {
            let inner = name.strip_prefix(index.text.prefix.as_str());
            let inner = inner.and_then(|body| found.find(index, false, body));
            for substring in found.find(index, true, name).into_iter().chain(inner) {
                found.in_base[substring as usize] = true;
            }
        }
        found.same_spelling = found.same_spelling(index);
        Ok(found)
    }

    /// Return a substring of two characters or more.
    fn find(&self, index: &SubstringIndex, is_initial: bool, string: &str) -> Option<u32> {
        let codes = index.text.encode(string).filter(|codes| codes.len() > 1)?;
        let order = index.find(is_initial, &codes)?.order();
        self.substrings.binary_search_by_key(&order, Substring::order).ok().map(|at| at as u32)
    }

    /// Return the pairs of a substring at word starts and one inside words that have the same entry.
    fn same_spelling(&self, index: &SubstringIndex) -> Vec<(u32, u32)> {
        let WordText { prefix, prefix_chars, .. } = &index.text;
        let codes = index.text.encode(prefix).filter(|codes| !codes.is_empty());
        let Some(start) = codes.and_then(|codes| index.find(true, &codes)) else { return Vec::new() };
        let [from, to] = [start.first, start.end]
            .map(|rank| self.substrings.partition_point(|substring| substring.first < rank));
        let inner = |at: usize| {
            let rest: String = index.spell(&self.substrings[at]).skip(*prefix_chars as usize).collect();
            Some((at as u32, self.find(index, false, &rest)?))
        };
        (from..to).filter_map(inner).collect()
    }

    /// Return the number of entries that are selected and not in the base.
    fn new_entries(&self, selected: &[u64]) -> usize {
        let new = |substring: u32| selected[substring as usize] > 0 && !self.in_base[substring as usize];
        let all = (0..selected.len() as u32).filter(|&substring| new(substring)).count();
        let same = self.same_spelling.iter();
        all - same.filter(|&&(initial, inner)| new(initial) && new(inner)).count()
    }

    /// Select substrings from the longest to the shortest; subtract the count of each from its prefixes.
    fn select(&self, counts: &[u64], threshold: u64) -> Vec<u64> {
        let mut selected = vec![0; counts.len()];
        let mut subtracted = vec![0_u64; counts.len()];
        for (at, substring) in self.substrings.iter().enumerate().rev() {
            let rest = counts[at] - subtracted[at];
            if rest >= threshold && substring.chars > 1 {
                selected[at] = rest;
                subtracted[at] += rest;
            }
            if self.parent[at] != NONE {
                subtracted[self.parent[at] as usize] += subtracted[at];
            }
        }
        selected
    }

    /// Return by substring the length of its longest prefix that is an entry, at least one character.
    fn longest_selected(&self, selected: &[u64]) -> Vec<u32> {
        let mut is_entry: Vec<bool> = selected.iter().map(|&count| count > 0).collect();
        for &(initial, inner) in &self.same_spelling {
            let either = is_entry[initial as usize] || is_entry[inner as usize];
            (is_entry[initial as usize], is_entry[inner as usize]) = (either, either);
        }
        let mut longest = vec![1; selected.len()];
        for (at, substring) in self.substrings.iter().enumerate() {
            if is_entry[at] {
                longest[at] = substring.chars;
            } else if self.parent[at] != NONE {
                longest[at] = longest[self.parent[at] as usize];
            }
        }
        longest
    }
}

/// Return the length in characters of the entry of the alphabet that a word begins with.
///
/// Only words that begin with the prefix itself, such as `##a`, begin with a longer one than a character.
fn min_first_token(
    text: &WordText,
    alphabet: &Alphabet,
    spec: &WordPieceTrainSpec,
    word: &DistinctWord,
) -> u32 {
    let next = || text.spell(word.start + text.prefix_chars, 1).next();
    let usage = word.begins_with_prefix.then(next).flatten().and_then(|next| alphabet.get(next));
    let is_entry = usage.is_some_and(|usage| usage.has_inner_entry(spec.alphabet_forms));
    if is_entry {
        text.prefix_chars + 1
    } else {
        1
    }
}

/// Return the first `most` words that entries cover, as longest match splits them.
fn longest_matches(
    counts: &Counts,
    entries: &HashSet<&str>,
    prefix: &str,
    most: usize,
) -> Vec<(Vec<String>, u64)> {
    let split = |Part { text: word, begins, .. }: Part<'_>| {
        let (mut tokens, mut start) = (Vec::new(), 0);
        while start < word.len() {
            let head = if start > 0 || !begins { prefix } else { "" };
            let ends = word[start..].char_indices().map(|(at, c)| start + at + c.len_utf8());
            let mut ends: Vec<usize> = ends.collect();
            ends.reverse();
            let forms = ends.into_iter().map(|end| (end, format!("{head}{}", &word[start..end])));
            let (end, token) = forms.into_iter().find(|(_, form)| entries.contains(form.as_str()))?;
            tokens.push(token);
            start = end;
        }
        Some(tokens)
    };
    counts.iter_parts().filter_map(|(word, count)| Some((split(word)?, count))).take(most).collect()
}
