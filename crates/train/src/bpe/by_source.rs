//! Parity-aware BPE: each merge is chosen by the source, such as a language, whose text takes the most tokens.
//!
//! Source: Foroutan et al. 2026, "Parity-Aware Byte-Pair Encoding: Improving Cross-lingual Fairness in
//! Tokenization".

use std::ops::ControlFlow;

use serde::Deserialize;

use super::spec::BpeTrainSpec;
use crate::alphabet::CharForms;
use crate::count::Counts;
use crate::learned::check_counts;
use crate::merges::{self, PackedWords, Turns};
use crate::progress::Progress;
use crate::{Learned, Resume};
use piecework_core::error::{Error, ErrorKind};
use piecework_core::text::byte_of_printable;

/// The counts of each source, and perhaps of a text in the language of each that says the same as the others.
#[derive(Clone, Copy, Debug)]
pub struct SourceCounts<'c> {
    /// The counts to learn from; a source is a language, or another part of a corpus.
    pub sources: &'c [&'c Counts],
    /// The counts of a text for each source, whose tokens are its cost; empty to measure the sources themselves.
    pub parallel: &'c [&'c Counts],
}

/// What the tokens of a source are divided by, where there are no parallel texts.
///
/// Scripts differ in the bytes and the characters of the same content, so a unit suits sources of one script only.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CostUnit {
    /// Bytes of UTF-8.
    Bytes,
    /// Characters.
    Characters,
    /// Pre-tokens.
    Words,
}

/// How merges are chosen for the source that is worst off.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ParitySpec {
    /// The unit of costs; `None` with parallel texts.
    pub unit: Option<CostUnit>,
    /// Whether the characters of words stand for bytes.
    pub byte_level: bool,
    /// The number of recent merges of which a source may choose at most twice its equal share; 0 for no limit.
    pub window: usize,
    /// The number of merges that the counts of all sources choose first.
    pub global_merges: usize,
}

impl CostUnit {
    /// Return the size of the text of counts, at least 1.
    pub(super) fn size(self, counts: &Counts, byte_level: bool) -> u64 {
        let is_continued = |c| byte_of_printable(c).is_some_and(|byte| (0x80..0xC0).contains(&byte));
        let size = |word: &str| match (self, byte_level) {
            (Self::Bytes, false) => word.len(),
            (Self::Bytes, true) | (Self::Characters, false) => word.chars().count(),
            (Self::Characters, true) => word.chars().filter(|&c| !is_continued(c)).count(),
            (Self::Words, _) => 1,
        };
        counts
            .iter()
            .fold(0, |sum: u64, (word, count)| sum.saturating_add(count.saturating_mul(size(word) as u64)))
            .max(1)
    }
}

/// Learn a BPE vocabulary and its merges, each merge for the source with the highest cost.
///
/// The cost of a source is the number of tokens of its parallel text or, without parallel texts, of its own words
/// divided by their size. The pair that is most frequent in the source with the highest cost is merged in all
/// sources. A source without a frequent pair leaves its turn to the next. Merges have the count of all sources, and as score the
/// count in the source that chose them. `ties` of "first-seen" and `alphabet_order` take the sources in their order.
///
/// ```
/// use std::ops::ControlFlow;
/// use piecework_train::bpe::{learn_by_source, BpeTrainSpec, CostUnit, ParitySpec, SourceCounts};
/// use piecework_train::count::Counts;
/// use piecework_train::Resume;
/// let english = Counts::from_parts(&["hug", "pug"].map(String::from), &[90, 80], Some(&[0, 1]))?;
/// let other = Counts::from_parts(&["zzyx".to_owned()], &[2], Some(&[2]))?;
/// let counts = SourceCounts { sources: &[&english, &other], parallel: &[] };
/// let spec = BpeTrainSpec { vocab_size: 10, ..BpeTrainSpec::default() };
/// let progress = &mut |_, _| ControlFlow::Continue(());
/// let parity = ParitySpec { unit: Some(CostUnit::Bytes), ..ParitySpec::default() };
/// let learned = learn_by_source(counts, &spec, &parity, Resume::default(), progress)?;
/// assert_eq!(learned.vocab[7..], ["ug", "yx", "zz"]);
/// # Ok::<(), piecework_core::error::Error>(())
/// ```
///
/// Errors: those of [`resume`](super::resume), and `Argument` for fewer than two sources, for parallel texts that are
/// not one for each source, and unless there is either a unit or parallel texts.
pub fn learn_by_source(
    counts: SourceCounts<'_>,
    spec: &BpeTrainSpec,
    parity: &ParitySpec,
    resume: Resume<'_>,
    progress: &mut dyn FnMut(usize, usize) -> ControlFlow<()>,
) -> Result<Learned, Error> {
    let mut progress = Progress::start(spec.vocab_size, progress)?;
    progress.log_to(resume);
    check_sources(counts, parity)?;
    let (alphabet, entries) = spec.start(counts.sources, &mut progress)?;
    let mut forms = CharForms::new(&entries, &alphabet, spec.affixes());
    let words = words_of(counts, &mut forms, &mut progress)?;
    let size = |counts: &&Counts| parity.unit.map_or(1, |unit| unit.size(counts, parity.byte_level));
    let sizes = counts.sources.iter().map(size).collect();
    let turns = Turns::new(&words.lengths(), sizes, parity.global_merges, parity.window);
    let (settings, limits) = (spec.merge_settings(), spec.limits(&entries));
    let earlier = resume.earlier.into();
    let learned = merges::learn(words, entries, settings, limits, Some(turns), earlier, &mut progress)?;
    progress.finish(learned.vocab.len())?;
    Ok(learned)
}

fn check_sources(counts: SourceCounts<'_>, parity: &ParitySpec) -> Result<(), Error> {
    let (sources, parallel) = (counts.sources.len(), counts.parallel.len());
    for counts in counts.sources.iter().chain(counts.parallel) {
        counts.check_unbounded("a learner by source")?;
    }
    let error = |place, found: String, expected: String| {
        Err(Error::new(ErrorKind::Argument, place, found, expected))
    };
    if sources < 2 {
        return error("sources", sources.to_string(), "at least 2".to_owned());
    }
    match (parallel, parity.unit) {
        (0, None) => error("parallel", "none".to_owned(), "a text for each source, or a unit".to_owned()),
        (0, Some(_)) => Ok(()),
        (_, Some(_)) => error("unit", "a unit".to_owned(), "absent with parallel texts".to_owned()),
        _ if parallel == sources => Ok(()),
        _ => error("parallel", format!("{parallel} texts"), format!("{sources}, one for each source")),
    }
}

/// Return the words of all sources, then those of the parallel texts, whose pairs do not count.
fn words_of(
    counts: SourceCounts<'_>,
    forms: &mut CharForms<'_>,
    progress: &mut Progress<'_>,
) -> Result<PackedWords, Error> {
    let (mut chars, mut number) = (0, 0);
    for counts in counts.sources.iter().chain(counts.parallel) {
        chars += check_counts(counts, progress)?;
        number += counts.len();
    }
    check_sum(counts.sources)?;
    let mut words = PackedWords::with_capacity(chars, number)?;
    for source in counts.sources {
        forms.append(&mut words, source, false, progress)?;
        words.end_source();
    }
    words.stop_counting();
    for text in counts.parallel {
        forms.append(&mut words, text, false, progress)?;
        words.end_source();
    }
    words.numbered()
}

/// Check that the characters of all sources fit 64 bits, as then all other counts do.
fn check_sum(sources: &[&Counts]) -> Result<(), Error> {
    let chars = |counts: &Counts| -> u128 {
        counts.iter().map(|(word, count)| u128::from(count) * word.chars().count() as u128).sum()
    };
    if sources.iter().map(|counts| chars(counts)).sum::<u128>() <= u128::from(u64::MAX) {
        return Ok(());
    }
    let found = "more than 2^64 - 1 characters in all";
    Err(Error::new(ErrorKind::Training, "counts", found, "a sum within 64 bits"))
}
