//! The thresholds that the search tries as data.

use std::collections::HashSet;

use crate::count::Counts;
use crate::entries::Entries;
use crate::trace::{Step, StepLog, ThresholdStep};

/// Report a threshold: the bounds of the search, the threshold between them, whether it fits, and what it selects.
pub(super) fn log_threshold(
    log: &StepLog,
    counts: &Counts,
    base: &Entries,
    (low, high, threshold, fits): (u64, u64, u64, bool),
    selected: &[(String, u64)],
    prefix: &str,
) {
    let Some(number) = log.next_step() else { return };
    let new: Vec<&(String, u64)> = selected.iter().filter(|(name, _)| base.find(name).is_none()).collect();
    let names: HashSet<&str> = new.iter().map(|(name, _)| name.as_str()).collect();
    let vocab_size = base.len() + names.len();
    let entries: HashSet<&str> = names.into_iter().chain(base.names().iter().map(AsRef::as_ref)).collect();
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

/// Return the first `most` words that entries cover, as longest match splits them.
fn longest_matches(
    counts: &Counts,
    entries: &HashSet<&str>,
    prefix: &str,
    most: usize,
) -> Vec<(Vec<String>, u64)> {
    let split = |word: &str| {
        let (mut tokens, mut start) = (Vec::new(), 0);
        while start < word.len() {
            let head = if start > 0 { prefix } else { "" };
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
    counts.iter().filter_map(|(word, count)| Some((split(word)?, count))).take(most).collect()
}
