//! How WordPiece segments a word: the prefixes tried at each position, and why a word is unknown.

use piecework_core::spec::{Segmentation, UnknownUnit, WordPieceSpec};
use piecework_core::vocab::Vocab;
use serde::Serialize;

const MAX_CHARS: usize = 500;

/// The search for the longest match at one position of a word; the last prefix tried is the match, if there is one.
#[derive(Serialize)]
struct PrefixSearch {
    start: usize,
    tried: Vec<String>,
    #[serde(rename = "match")]
    found: Option<String>,
}

/// The segmentation of a word: each search, the tokens, and the reason why it is unknown.
#[derive(Serialize)]
pub(super) struct WordSearch {
    positions: Vec<PrefixSearch>,
    tokens: Vec<String>,
    greedy: Option<Vec<String>>,
    shortest: Option<Vec<String>>,
    unknown_because: Option<String>,
}

impl WordSearch {
    /// Search a word; `None` for a word of more than 500 characters that the model accepts.
    pub(super) fn of(word: &str, spec: &WordPieceSpec, vocab: &Vocab) -> Option<Self> {
        let searched = SearchedWord { chars: word.chars().collect(), spec, vocab };
        let (chars, limit) = (searched.chars.len(), spec.max_input_chars_per_word);
        if chars > limit {
            let reason = format!("{chars} characters are more than the limit of {limit}");
            let tokens = vec![spec.unk_token.clone()];
            return Some(Self {
                positions: Vec::new(),
                tokens,
                greedy: None,
                shortest: None,
                unknown_because: Some(reason),
            });
        }
        if chars == 0 || chars > MAX_CHARS {
            return None;
        }
        let (positions, shortest) = (searched.positions(), searched.shortest());
        let greedy = searched.greedy(&positions);
        let chosen = match spec.segmentation {
            Segmentation::Greedy => &greedy,
            Segmentation::Shortest => &shortest,
        };
        let tokens = chosen.clone().unwrap_or_else(|| vec![spec.unk_token.clone()]);
        let unknown_because = searched.reason(&positions, shortest.is_none());
        Some(Self { positions, tokens, greedy, shortest, unknown_because })
    }
}

struct SearchedWord<'a> {
    chars: Vec<char>,
    spec: &'a WordPieceSpec,
    vocab: &'a Vocab,
}

impl SearchedWord<'_> {
    fn token(&self, start: usize, end: usize) -> String {
        let prefix = if start == 0 { "" } else { self.spec.continuing_subword_prefix.as_str() };
        prefix.chars().chain(self.chars[start..end].iter().copied()).collect()
    }

    fn is_entry(&self, token: &str) -> bool {
        self.vocab.id_of(token).is_some()
    }

    /// Return the ends of the entries that match at a position, the longest first.
    fn ends(&self, start: usize) -> impl Iterator<Item = (usize, String)> + '_ {
        let tokens = (start + 1..=self.chars.len()).rev().map(move |end| (end, self.token(start, end)));
        tokens.filter(|(_, token)| self.is_entry(token))
    }

    fn unknown_is_char(&self) -> bool {
        self.spec.unk == UnknownUnit::Char
    }

    /// Search at each position that longest match reaches.
    fn positions(&self) -> Vec<PrefixSearch> {
        let (mut positions, mut start) = (Vec::new(), 0);
        while start < self.chars.len() {
            let longest = self.ends(start).next();
            let last = longest.as_ref().map_or(start + 1, |(end, _)| *end);
            let tried = (last..=self.chars.len()).rev().map(|end| self.token(start, end)).collect();
            let is_match = longest.is_some();
            positions.push(PrefixSearch { start, tried, found: longest.map(|(_, token)| token) });
            if !is_match && !self.unknown_is_char() {
                break;
            }
            start = last;
        }
        positions
    }

    /// Return the tokens that the search found; `None` if it found no token somewhere.
    fn greedy(&self, positions: &[PrefixSearch]) -> Option<Vec<String>> {
        let unknown = || self.unknown_is_char().then(|| self.spec.unk_token.clone());
        positions.iter().map(|search| search.found.clone().or_else(unknown)).collect()
    }

    /// Return the fewest tokens, with the fewest unknown characters; of equal ones, the longer first token.
    fn shortest(&self) -> Option<Vec<String>> {
        // For each start: unknown characters, tokens, the first token and its end.
        let mut best: Vec<Option<(usize, usize, String, usize)>> = vec![None; self.chars.len()];
        for start in (0..self.chars.len()).rev() {
            let unknown = (start + 1, self.spec.unk_token.clone(), 1);
            let unknown = self.unknown_is_char().then_some(unknown);
            for (end, token, is_unknown) in
                self.ends(start).map(|(end, token)| (end, token, 0)).chain(unknown)
            {
                let rest = match best.get(end) {
                    None => Some((0, 0)),
                    Some(rest) => rest.as_ref().map(|(unknown, tokens, ..)| (*unknown, *tokens)),
                };
                let Some((unknown, tokens)) = rest else { continue };
                let cost = (unknown + is_unknown, tokens + 1);
                if best[start].as_ref().is_none_or(|(unknown, tokens, ..)| cost < (*unknown, *tokens)) {
                    best[start] = Some((cost.0, cost.1, token, end));
                }
            }
        }
        let (mut tokens, mut at) = (Vec::new(), 0);
        while at < best.len() {
            let (_, _, token, end) = best[at].take()?;
            tokens.push(token);
            at = end;
        }
        Some(tokens)
    }

    fn reason(&self, positions: &[PrefixSearch], has_no_shortest: bool) -> Option<String> {
        let start = positions.iter().find(|search| search.found.is_none())?.start;
        let rest: String = self.chars[start..].iter().collect();
        let reason = format!("no prefix of '{rest}' at position {start} is an entry");
        match self.spec.segmentation {
            Segmentation::Greedy => Some(reason),
            Segmentation::Shortest if has_no_shortest => Some("no segmentation covers the word".to_owned()),
            Segmentation::Shortest => self.unknown_is_char().then_some(reason),
        }
    }
}
