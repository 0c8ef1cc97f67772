//! Counting in bounded memory: sorted runs in files, and their merge.
//!
//! ```text
//! run_file     a run: sorted words with counts in a file
//! merged_runs  several runs merged, with the weights of groups, and their words in the order of first positions
//! ```
//!
//! A full `CountMap` is written as a run by word and emptied. At the end all runs are merged, which sums the
//! counts of each word, and the words are sorted by first position, in files again if they are too many. Sums and
//! minima do not depend on when a map was written, so the budget, threads and interruptions change no count. Rare words
//! are never dropped while counting, because then the order of the corpus would decide.

mod merged_runs;
mod run_file;

use std::path::PathBuf;

pub use merged_runs::GroupWeights;
pub(crate) use merged_runs::WordsByPosition;
pub(crate) use run_file::Run;
pub(super) use run_file::{RunWriter, WordCount};

use merged_runs::MergedRuns;
use piecework_core::error::Error;
use run_file::{file_error, RunOrder};

/// The most runs that are read at once; each has a buffer of 64 KB and an open file.
pub(super) const MAX_OPEN_RUNS: usize = 64;

/// Merge runs by word and return the words by first position; read and write files in `folder`.
///
/// Memory stays near `limit` bytes. The smallest runs are merged first while there are too many to open.
pub(super) fn merge(
    mut runs: Vec<Run>,
    weights: &GroupWeights,
    folder: &SpillFolder,
    limit: usize,
) -> Result<WordsByPosition, Error> {
    while let Some(group) = crowded_group(&runs) {
        let number = runs.len(); // fewer each time
        let (mut crowded, rest): (Vec<_>, Vec<_>) = runs.into_iter().partition(|run| run.group == group);
        crowded.sort_by_key(|run| run.words);
        let kept = crowded.split_off(MAX_OPEN_RUNS.min(crowded.len()));
        let merged = merge_group(&crowded, group, folder.merged(number))?;
        runs = rest.into_iter().chain(kept).chain([merged]).collect();
    }
    let words = MergedRuns::open(&runs, RunOrder::Word, weights.clone())?;
    WordsByPosition::sort(words, limit, |number| folder.sorted(number))
}

/// Return the group to merge before all runs can be open at once.
fn crowded_group(runs: &[Run]) -> Option<u32> {
    if runs.len() <= MAX_OPEN_RUNS {
        return None;
    }
    let size = |group: u32| runs.iter().filter(|run| run.group == group).count();
    let largest = runs.iter().map(|run| run.group).max_by_key(|&group| size(group));
    largest.filter(|&group| size(group) > 1)
}

fn merge_group(runs: &[Run], group: u32, path: PathBuf) -> Result<Run, Error> {
    let mut words = MergedRuns::open(runs, RunOrder::Word, GroupWeights::UNIT)?;
    let mut writer = RunWriter::create(path)?;
    while let Some(item) = words.next()? {
        writer.push(item)?;
    }
    writer.finish(0, group, false)
}

/// The folder of the runs, made with the first file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SpillFolder {
    path: PathBuf,
    /// Wait until the disk has each run; checkpoints name complete files.
    durable: bool,
}

impl SpillFolder {
    /// Describe a folder for runs; `durable` waits until the disk has each run.
    #[must_use]
    pub(crate) fn new(path: impl Into<PathBuf>, durable: bool) -> Self {
        Self { path: path.into(), durable }
    }

    /// Write counts in ascending order as the run of a number; after an error, such as a full disk, delete it.
    pub(super) fn write(
        &self,
        number: u64,
        group: u32,
        fill: impl FnOnce(&mut RunWriter) -> Result<(), Error>,
    ) -> Result<Run, Error> {
        std::fs::create_dir_all(&self.path).map_err(|error| file_error(&self.path, error))?;
        let path = self.run_path(number);
        let run = RunWriter::create(path.clone()).and_then(|mut writer| {
            fill(&mut writer)?;
            writer.finish(number, group, self.durable)
        });
        run.inspect_err(|_| drop(std::fs::remove_file(path)))
    }

    /// Return the path of the run of a number.
    pub(super) fn run_path(&self, number: u64) -> PathBuf {
        self.path.join(format!("run-{number:06}.words"))
    }

    fn merged(&self, number: usize) -> PathBuf {
        self.path.join(format!("merged-{number:06}.words"))
    }

    fn sorted(&self, number: usize) -> PathBuf {
        self.path.join(format!("sorted-{number:06}.words"))
    }
}
