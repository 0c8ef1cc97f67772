//! The characters that a pipeline makes words of their own, such as the Han characters of BERT.

use foldhash::{HashMap, HashMapExt};

use super::counts::Counts;
use piecework_core::error::Error;
use piecework_core::stages::split::{SplitScratch, Splitter, WordSink};

/// A character is isolated if it is a word of its own between two of each of these, and between two of itself.
const NEIGHBORS: [char; 3] = ['a', 'A', '0'];

impl Counts {
    /// Return the characters of `characters` and of the counts that a pipeline makes words of their own, sorted.
    ///
    /// A character that the counts have in a longer word is not isolated. The splitter decides about any other one
    /// with the texts `ccc`, `aca`, `AcA` and `0c0`, where an isolated character is always a word by itself.
    ///
    /// Returns the errors of the splitter.
    pub fn isolated_characters(
        &self,
        splitter: &Splitter,
        characters: &[char],
    ) -> Result<Vec<char>, Error> {
        // By character: whether a longer word has it.
        let mut seen: HashMap<char, bool> = HashMap::new();
        for &character in characters {
            seen.entry(character).or_default();
        }
        for (word, _) in self.iter() {
            let is_longer = word.chars().nth(1).is_some();
            for character in word.chars() {
                *seen.entry(character).or_default() |= is_longer;
            }
        }
        let mut isolated = Vec::new();
        let mut scratch = SplitScratch::default();
        for (character, _) in seen.into_iter().filter(|&(_, is_in_longer)| !is_in_longer) {
            if isolates(splitter, character, &mut scratch)? {
                isolated.push(character);
            }
        }
        isolated.sort_unstable();
        Ok(isolated)
    }
}

fn isolates(splitter: &Splitter, character: char, scratch: &mut SplitScratch) -> Result<bool, Error> {
    let mut found = WordsWith { character, alone: 0, longer: 0 };
    for neighbor in [character].iter().chain(&NEIGHBORS) {
        let text: String = [*neighbor, character, *neighbor].iter().collect();
        splitter.run(&text, 0, scratch, &mut found)?;
    }
    Ok(found.alone > 0 && found.longer == 0)
}

/// Counts the words that have a character.
struct WordsWith {
    character: char,
    alone: usize,
    longer: usize,
}

impl WordSink for WordsWith {
    fn word(&mut self, word: &str, _: usize) {
        let has = word.contains(self.character);
        let is_longer = word.chars().nth(1).is_some();
        self.alone += usize::from(has && !is_longer);
        self.longer += usize::from(has && is_longer);
    }
}
