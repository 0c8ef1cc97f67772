//! The words of a text, and what the normalizer changes.

use foldhash::{HashSet, HashSetExt};
use piecework_core::engine::Tokenizer;
use piecework_core::error::Error;
use piecework_core::spec::TokenizerSpec;
use piecework_core::stages::normalize::Normalizer;
use piecework_core::stages::pretokenize::PreTokenizer;
use piecework_core::stages::split::Splitter;
use piecework_train::count::{Counts, GroupWeights, LineEnds, WordCounter};
use serde::Serialize;

const EXAMPLES: usize = 3;

/// The words between spaces, and those that the normalizer changes.
#[derive(Serialize)]
pub(super) struct NormalizedWords {
    words: usize,
    changed: usize,
    examples: Vec<(String, String)>,
}

/// Count the words of the lines of a text; return the counts, the characters that the pipeline isolates, and what the
/// normalizer changes.
pub(super) fn count_words(
    text: &str,
    template: &TokenizerSpec,
) -> Result<(Counts, Vec<char>, NormalizedWords), Error> {
    let splitter = Splitter::new(
        Normalizer::compile(template.normalizer.as_ref())?,
        PreTokenizer::compile(template.pre_tokenizer.as_ref())?,
    );
    let lines: Vec<&str> = text.split(is_line_end).collect();
    let mut counter = WordCounter::new(splitter.clone(), LineEnds::Strip, 1);
    counter.add_texts(&lines, 0)?;
    let counts = counter.finish(&GroupWeights::UNIT)?.into_counts()?;
    let isolated = counts.isolated_characters(&splitter, &[])?;
    Ok((counts, isolated, normalized_words(&lines, template)?))
}

/// Whether a line ends at a character, as for Python's `splitlines`.
fn is_line_end(c: char) -> bool {
    matches!(c, '\n'..='\r' | '\x1c'..='\x1e' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

fn normalized_words(lines: &[&str], template: &TokenizerSpec) -> Result<NormalizedWords, Error> {
    let stages = TokenizerSpec {
        normalizer: template.normalizer.clone(),
        ..TokenizerSpec::of(template.model.clone())
    };
    let tokenizer = Tokenizer::compile(stages)?;
    let mut seen = HashSet::new();
    let mut found = NormalizedWords { words: 0, changed: 0, examples: Vec::new() };
    for word in lines.iter().flat_map(|line| line.split_whitespace()).filter(|word| seen.insert(*word)) {
        found.words += 1;
        let now = tokenizer.normalize(word)?;
        if now == word {
            continue;
        }
        found.changed += 1;
        if found.examples.len() < EXAMPLES {
            found.examples.push((word.to_owned(), now));
        }
    }
    Ok(found)
}
