//! Comparison of merges that sources choose in turns with a naive trainer, and worked examples.

use std::cmp::Reverse;
use std::ops::ControlFlow;

use proptest::prelude::*;

use super::{apply, best_pair, corpora, specs, split, NumberedMerge, Unit};
use crate::alphabet::{char_positions, Alphabet, CharPosition};
use crate::bpe::{learn_by_source, BpeTrainSpec, CostUnit, ParitySpec, SourceCounts};
use crate::count::{Counts, Part};
use crate::learned::first_entries;
use crate::progress::Progress;
use crate::{AlphabetForms, Learned, Merge, Resume};
use piecework_core::error::{Error, ErrorKind};

fn run(
    counts: SourceCounts<'_>,
    spec: &BpeTrainSpec,
    parity: &ParitySpec,
    earlier: &[Merge],
) -> Result<Learned, Error> {
    let resume = Resume { earlier, ..Resume::default() };
    learn_by_source(counts, spec, parity, resume, &mut |_, _| ControlFlow::Continue(()))
}

/// A word, its count, and the text that contains it: first the sources, then their parallel texts.
type TextWord = (Vec<Unit>, u64, usize);

struct Naive<'c> {
    spec: &'c BpeTrainSpec,
    parity: &'c ParitySpec,
    sources: usize,
    words: Vec<TextWord>,
    sizes: Vec<u64>,
    vocab: Vec<String>,
    chosen_by: Vec<usize>,
}

impl<'c> Naive<'c> {
    fn new(counts: SourceCounts<'c>, spec: &'c BpeTrainSpec, parity: &'c ParitySpec) -> Self {
        let call = &mut |_, _| ControlFlow::Continue(());
        let mut progress = Progress::start(0, call).expect("a start");
        let alphabet =
            Alphabet::choose(counts.sources, &spec.initial_alphabet, spec.limit_alphabet, &mut progress)
                .expect("an alphabet");
        let affixes = spec.affixes();
        let (order, initial) = (spec.alphabet_order, &spec.initial_alphabet);
        let forms = AlphabetForms::StartAndSeen;
        let first = affixes.alphabet_entries(counts.sources, &alphabet, forms, true, order, initial);
        let entries = first_entries(
            &spec.continuing_subword_prefix,
            &spec.special_tokens,
            first,
            spec.vocab_size,
            None,
        );
        let vocab = entries.expect("room for the alphabet").into_names();
        let sources = counts.sources.len();
        let mut words = Vec::new();
        for (text, counts) in counts.sources.iter().enumerate() {
            words.extend(
                split(counts, spec, &alphabet, &vocab).into_iter().map(|(word, count)| (word, count, text)),
            );
        }
        for (text, counts) in (sources..).zip(counts.parallel) {
            words.extend(
                counts.iter().map(|(word, count)| (known(word, spec, &alphabet, &vocab), count, text)),
            );
        }
        let size = |counts: &&Counts| parity.unit.map_or(1, |unit| unit_size(counts, unit));
        let sizes = counts.sources.iter().map(size).collect();
        Self { spec, parity, sources, words, sizes, vocab, chosen_by: Vec::new() }
    }

    fn learn(mut self) -> (Vec<String>, Vec<NumberedMerge>, Vec<u64>) {
        let (mut merges, mut scores) = (Vec::new(), Vec::new());
        while self.vocab.len() < self.spec.vocab_size {
            let Some((left, right, score)) = self.next(merges.len()) else { break };
            let count = self.count(left, right);
            let body = self.vocab[right as usize]
                .strip_prefix(self.spec.continuing_subword_prefix.as_str())
                .unwrap_or(&self.vocab[right as usize]);
            let name = format!("{}{body}", self.vocab[left as usize]);
            let merged = self.vocab.iter().position(|known| *known == name).unwrap_or_else(|| {
                self.vocab.push(name);
                self.vocab.len() - 1
            }) as u32;
            merges.push((left, right, merged, count));
            scores.push(score);
            self.words.iter_mut().for_each(|(word, _, _)| *word = apply(word, left, right, merged));
        }
        (self.vocab, merges, scores)
    }

    fn next(&mut self, merges: usize) -> Option<(u32, u32, u64)> {
        if merges < self.parity.global_merges {
            return self.best(None);
        }
        for source in self.order() {
            if let Some(best) = self.best(Some(source)) {
                self.chosen_by.push(source);
                return Some(best);
            }
        }
        None
    }

    fn order(&self) -> Vec<usize> {
        let first = self.chosen_by.len().saturating_sub(self.parity.window);
        let recent = &self.chosen_by[first..];
        let cost = |source: usize| {
            let measured =
                if self.words.iter().any(|word| word.2 >= self.sources) { self.sources } else { 0 };
            let of_source = self.words.iter().filter(|word| word.2 == measured + source);
            of_source.map(|(word, count, _)| word.len() as u64 * count).sum::<u64>()
        };
        let exceeds = |source: usize| {
            let turns = recent.iter().filter(|&&turn| turn == source).count();
            turns * self.sources > 2 * self.parity.window
        };
        let mut order: Vec<usize> = (0..self.sources).collect();
        order.sort_by(|&one, &two| {
            let products = (cost(one) * self.sizes[two], cost(two) * self.sizes[one]);
            (exceeds(one), Reverse(products.0))
                .cmp(&(exceeds(two), Reverse(products.1)))
                .then(one.cmp(&two))
        });
        order
    }

    /// Return the best pair of a source or of all, with its count there.
    fn best(&self, source: Option<usize>) -> Option<(u32, u32, u64)> {
        let counts = |text: usize| text < self.sources && source.is_none_or(|source| source == text);
        let words: Vec<(Vec<Unit>, u64)> = (self.words.iter())
            .filter(|word| word.2 < self.sources)
            .map(|(word, count, text)| (word.clone(), if counts(*text) { *count } else { 0 }))
            .collect();
        best_pair(&words, &self.vocab, self.spec, None)
    }

    fn count(&self, left: u32, right: u32) -> u64 {
        let of_sources = self.words.iter().filter(|word| word.2 < self.sources);
        let pairs =
            |word: &[Unit]| word.windows(2).filter(|pair| (pair[0].0, pair[1].0) == (left, right)).count();
        of_sources.map(|(word, count, _)| pairs(word) as u64 * count).sum()
    }
}

/// Return the characters of a word that are entries where they occur; a parallel text can have others.
fn known(word: &str, spec: &BpeTrainSpec, alphabet: &Alphabet, vocab: &[String]) -> Vec<Unit> {
    let entry = |(c, position): (char, CharPosition)| {
        let prefix = if position.first { "" } else { &spec.continuing_subword_prefix };
        let suffix = if position.last { spec.end_of_word_suffix.as_str() } else { "" };
        let name = format!("{prefix}{c}{suffix}");
        let entry = vocab.iter().position(|known| *known == name).filter(|_| alphabet.contains(c));
        entry.map(|entry| (entry as u32, 1))
    };
    char_positions(Part::whole(word)).filter_map(entry).collect()
}

fn unit_size(counts: &Counts, unit: CostUnit) -> u64 {
    let size = |word: &str| match unit {
        CostUnit::Bytes => word.len(),
        CostUnit::Characters => word.chars().count(),
        CostUnit::Words => 1,
    };
    counts.iter().map(|(word, count)| size(word) as u64 * count).sum()
}

fn parities() -> impl Strategy<Value = ParitySpec> {
    let units = vec![CostUnit::Bytes, CostUnit::Characters, CostUnit::Words];
    let unit = proptest::sample::select(units).prop_map(Some);
    let window = prop_oneof![Just(0_usize), 1_usize..12];
    let global_merges = prop_oneof![Just(0_usize), 1_usize..9];
    (unit, window, global_merges).prop_map(|(unit, window, global_merges)| ParitySpec {
        unit,
        byte_level: false,
        window,
        global_merges,
    })
}

fn texts(sources: usize) -> impl Strategy<Value = Vec<Counts>> {
    proptest::collection::vec(corpora(), sources..=sources)
}

fn sources_and_parallel() -> impl Strategy<Value = (Vec<Counts>, Vec<Counts>)> {
    (2_usize..4).prop_flat_map(|sources| {
        (texts(sources), prop_oneof![Just(Vec::new()).boxed(), texts(sources).boxed()])
    })
}

fn numbered(learned: &Learned) -> (Vec<NumberedMerge>, Vec<u64>) {
    let merge = |merge: &Merge| (merge.left, merge.right, merge.merged, merge.count);
    (
        learned.merges.iter().map(merge).collect(),
        learned.merges.iter().map(|merge| merge.score as u64).collect(),
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4096))]

    #[test]
    fn merges_in_turns_equal_those_of_counting_anew(
        (sources, parallel) in sources_and_parallel(),
        spec in specs(),
        parity in parities(),
        stop in 0_usize..40,
    ) {
        let (sources, parallel): (Vec<_>, Vec<_>) = (sources.iter().collect(), parallel.iter().collect());
        let parity = ParitySpec { unit: parity.unit.filter(|_| parallel.is_empty()), ..parity };
        let counts = SourceCounts { sources: &sources, parallel: &parallel };
        let (vocab, merges, scores) = Naive::new(counts, &spec, &parity).learn();
        let learned = run(counts, &spec, &parity, &[]).expect("a usable corpus");
        prop_assert_eq!(numbered(&learned), (merges, scores));
        prop_assert_eq!(&learned.vocab, &vocab);
        let earlier = &learned.merges[..stop.min(learned.merges.len())];
        prop_assert_eq!(run(counts, &spec, &parity, earlier).expect("the same merges"), learned);
    }
}

fn counts(rows: &[(&str, u64)]) -> Counts {
    let (words, numbers): (Vec<&str>, Vec<u64>) = rows.iter().copied().unzip();
    Counts::from_parts(&words, &numbers, None).expect("distinct words")
}

/// The entry `#<` ends words from the start, and a merge makes it too. Its pair with `b` is first in a parallel text alone.
#[test]
fn a_pair_of_an_entry_that_a_merge_makes_again_is_merged_in_parallel_texts_too() {
    let sources = [
        counts(&[("#", 1), ("b#<<", 5)]),
        counts(&[("ab", 5)]),
        counts(&[("<<a<#<", 5), ("a", 1), ("aaabaa", 5), ("ba", 5), ("cé", 5)]),
    ];
    let parallel = [
        counts(&[("baabab", 33), ("bbbaaab", 35)]),
        counts(&[("<a###", 8), ("ac<b#", 34), ("bbbbbab", 18)]),
        counts(&[("aaabab", 24), ("bab", 37), ("bbbab", 24)]),
    ];
    let counts = SourceCounts { sources: &sources.each_ref(), parallel: &parallel.each_ref() };
    let spec = BpeTrainSpec {
        vocab_size: 40,
        initial_alphabet: vec!['z'],
        end_of_word_suffix: "<".into(),
        ..BpeTrainSpec::default()
    };
    let learned = run(counts, &spec, &ParitySpec::default(), &[]).expect("a usable corpus");
    for made in 0..=learned.merges.len() {
        let again = run(counts, &spec, &ParitySpec::default(), &learned.merges[..made]);
        assert_eq!(again.as_ref(), Ok(&learned), "{made} merges");
    }
}

#[test]
fn the_size_of_byte_level_text_is_that_of_its_bytes() {
    // é is two bytes, which the byte-level alphabet writes as two characters.
    let byte_level = counts(&[("Ã©a", 5)]);
    assert_eq!(CostUnit::Bytes.size(&byte_level, true), 15);
    assert_eq!(CostUnit::Characters.size(&byte_level, true), 10);
    assert_eq!(CostUnit::Words.size(&byte_level, true), 5);
    assert_eq!(CostUnit::Bytes.size(&counts(&[("éa", 5)]), false), 15);
    assert_eq!(CostUnit::Characters.size(&counts(&[("éa", 5)]), false), 10);
}

#[test]
fn one_source_and_texts_of_some_sources_are_refused() {
    let (one, spec) = (counts(&[("ab", 2)]), BpeTrainSpec { vocab_size: 9, ..BpeTrainSpec::default() });
    let error = |sources: &[&Counts], parallel: &[&Counts], unit| {
        let parity = ParitySpec { unit, ..ParitySpec::default() };
        run(SourceCounts { sources, parallel }, &spec, &parity, &[]).expect_err("unusable counts")
    };
    let place =
        |sources: &[&Counts], parallel: &[&Counts], unit| error(sources, parallel, unit).to_string();
    let words = Some(CostUnit::Words);
    assert_eq!(place(&[&one], &[], words), "sources: must be at least 2, not 1");
    let expected = "parallel: must be 2, one for each source, not 1 texts";
    assert_eq!(place(&[&one, &one], &[&one], None), expected);
    let expected = "parallel: must be a text for each source, or a unit, not none";
    assert_eq!(place(&[&one, &one], &[], None), expected);
    let expected = "unit: must be absent with parallel texts, not a unit";
    assert_eq!(place(&[&one, &one], &[&one, &one], words), expected);
    assert_eq!(error(&[&one, &Counts::default()], &[], words).kind, ErrorKind::Corpus);
}

#[test]
fn counts_of_all_sources_fit_64_bits() {
    let many = counts(&[("ab", u64::MAX / 3)]);
    let spec = BpeTrainSpec { vocab_size: 9, ..BpeTrainSpec::default() };
    let counts = SourceCounts { sources: &[&many, &many], parallel: &[] };
    let parity = ParitySpec { unit: Some(CostUnit::Bytes), ..ParitySpec::default() };
    let error = run(counts, &spec, &parity, &[]).expect_err("too many");
    assert_eq!(error.kind, ErrorKind::Training);
}
