//! Splitting of words where no piece may cross: at symbols, at a delimiter and at unknown characters.

use aho_corasick::{AhoCorasick, MatchKind};

use piecework_core::error::{Error, ErrorKind};

/// Splits words around symbols and at a delimiter.
pub(super) struct SymbolSplitter {
    symbols: Option<AhoCorasick>,
    /// Empty for none.
    delimiter: String,
}

impl SymbolSplitter {
    pub(super) fn new(symbols: &[String], delimiter: &str) -> Result<Self, Error> {
        let delimiter = delimiter.to_owned();
        if symbols.is_empty() {
            return Ok(Self { symbols: None, delimiter });
        }
        let built = AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(symbols);
        built.map(|symbols| Self { symbols: Some(symbols), delimiter }).map_err(|error| {
            Error::new(
                ErrorKind::Argument,
                "user_defined_symbols",
                error.to_string(),
                "fewer or shorter ones",
            )
        })
    }

    /// Emit the parts of a word between symbols and delimiters, at least one; parts may be empty.
    ///
    /// Of overlapping symbols, the leftmost and then the longest is taken.
    pub(super) fn split<'w>(&self, word: &'w str, mut emit: impl FnMut(&'w str)) {
        let mut split = |text: &'w str| match self.delimiter.as_str() {
            "" => emit(text),
            delimiter => text.split(delimiter).for_each(&mut emit),
        };
        let mut start = 0;
        for found in self.symbols.iter().flat_map(|symbols| symbols.find_iter(word)) {
            split(&word[start..found.start()]);
            start = found.end();
        }
        split(&word[start..]);
    }

    /// Emit the non-empty parts of a word between symbols, delimiters and characters that are not `known`.
    pub(super) fn known_parts<'w>(
        &self,
        word: &'w str,
        known: impl Fn(char) -> bool,
        mut emit: impl FnMut(&'w str),
    ) {
        self.split(word, |part| {
            part.split(|c| !known(c)).filter(|part| !part.is_empty()).for_each(&mut emit);
        });
    }
}
