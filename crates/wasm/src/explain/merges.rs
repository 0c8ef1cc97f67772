//! Byte-pair encoding of one word, step by step: the initial symbols and each merge in order.

use foldhash::{HashMap, HashMapExt};
use piecework_core::spec::{BpeSpec, PieceType, SentencePieceSpec};
use piecework_core::text::byte_entry;
use piecework_core::vocab::Vocab;
use serde::Serialize;

use crate::readable::text_of_bytes;

const MAX_SYMBOLS: usize = 500;

/// One merge: its rank (0 was learned first), the index of the pair, the pair, and the new token.
#[derive(Serialize)]
pub(super) struct MergeStep {
    rank: usize,
    at: usize,
    left: String,
    right: String,
    token: String,
}

impl MergeStep {
    /// Write byte-level tokens as text.
    pub(super) fn spell_out(&mut self) {
        [&mut self.left, &mut self.right, &mut self.token]
            .into_iter()
            .for_each(|text| *text = text_of_bytes(text));
    }
}

/// The merges of a model.
pub(crate) enum Merger {
    /// Ranks by pair.
    Pairs(HashMap<(String, String), usize>, BpeSpec),
    /// Ranks by merged piece, and the user-defined pieces: SentencePiece.
    Pieces(HashMap<String, usize>, Vec<String>),
}

impl Merger {
    pub(super) fn of_bpe(spec: BpeSpec) -> Self {
        let mut ranks = HashMap::with_capacity(spec.merges.len());
        for (rank, (left, right)) in spec.merges.iter().enumerate() {
            ranks.entry((left.to_owned(), right.to_owned())).or_insert(rank);
        }
        Self::Pairs(ranks, spec)
    }

    pub(super) fn of_sentencepiece(spec: &SentencePieceSpec) -> Self {
        let merges = [PieceType::Normal, PieceType::UserDefined, PieceType::Unused];
        let mut scored: Vec<_> = spec.pieces.iter().filter(|piece| merges.contains(&piece.kind)).collect();
        scored.sort_by(|one, two| two.score.total_cmp(&one.score));
        let ranks = scored.iter().enumerate().map(|(rank, piece)| (piece.text.clone(), rank)).collect();
        let defined = spec.pieces.iter().filter(|piece| piece.kind == PieceType::UserDefined);
        Self::Pieces(ranks, defined.map(|piece| piece.text.clone()).collect())
    }

    /// Return the initial symbols of a word.
    pub(super) fn symbols(&self, word: &str, vocab: &Vocab) -> Vec<String> {
        match self {
            Self::Pairs(_, spec) => symbols_of_bpe(word, spec, vocab),
            Self::Pieces(_, defined) => symbols_around(word, defined),
        }
    }

    /// Return the merges in order; `None` for more than 500 symbols.
    pub(super) fn steps(&self, symbols: &[String]) -> Option<Vec<MergeStep>> {
        if symbols.len() > MAX_SYMBOLS {
            return None;
        }
        let (mut symbols, mut steps) = (symbols.to_vec(), Vec::new());
        while let Some(step) = self.next_step(&symbols) {
            symbols.splice(step.at..step.at + 2, [step.token.clone()]);
            steps.push(step);
        }
        Some(steps)
    }

    /// Return a note on a word that is an entry, so that encoding does not merge its symbols.
    pub(super) fn note(&self, word: &str, vocab: &Vocab) -> Option<String> {
        let Self::Pairs(_, spec) = self else { return None };
        let is_whole =
            spec.ignore_merges && vocab.id_of(word).is_some() && word.chars().count() <= MAX_SYMBOLS;
        let mut symbols = if is_whole { self.symbols(word, vocab) } else { return None };
        if symbols == [word] {
            return None;
        }
        for step in self.steps(&symbols)? {
            symbols.splice(step.at..step.at + 2, [step.token]);
        }
        let whole = "an entry: the encoder takes it whole (ignore_merges)";
        Some(match symbols == [word] {
            true => format!("{whole}, without these merges"),
            false => format!("{whole}; merges would give {}", symbols.join(" ")),
        })
    }

    fn next_step(&self, symbols: &[String]) -> Option<MergeStep> {
        let ranked = symbols.windows(2).enumerate().filter_map(|(at, pair)| {
            let (rank, token) = self.merged(&pair[0], &pair[1])?;
            Some((rank, at, token))
        });
        let (rank, at, token) = ranked.min_by_key(|&(rank, at, _)| (rank, at))?;
        Some(MergeStep { rank, at, left: symbols[at].clone(), right: symbols[at + 1].clone(), token })
    }

    /// Return the rank of a pair and the token that it becomes.
    fn merged(&self, left: &str, right: &str) -> Option<(usize, String)> {
        match self {
            Self::Pairs(ranks, spec) => {
                let prefix = spec.continuing_subword_prefix.as_deref().unwrap_or_default().len();
                let rank = ranks.get(&(left.to_owned(), right.to_owned()))?;
                Some((*rank, format!("{left}{}", right.get(prefix..).unwrap_or_default())))
            }
            Self::Pieces(ranks, defined) => {
                if [left, right].iter().any(|symbol| defined.iter().any(|piece| piece == symbol)) {
                    return None;
                }
                let token = format!("{left}{right}");
                ranks.get(&token).map(|rank| (*rank, token))
            }
        }
    }
}

/// Split a text into user-defined pieces, the longest first, and characters.
fn symbols_around(word: &str, defined: &[String]) -> Vec<String> {
    let (mut symbols, mut rest) = (Vec::new(), word);
    while let Some(first) = rest.chars().next() {
        let longest = defined.iter().filter(|piece| !piece.is_empty() && rest.starts_with(piece.as_str()));
        let end = longest.map(String::len).max().unwrap_or(first.len_utf8());
        symbols.push(rest[..end].to_owned());
        rest = &rest[end..];
    }
    symbols
}

/// Split a word into characters, byte tokens and unknown tokens.
///
/// An unknown token is emitted before the next known character; byte tokens are emitted before it.
fn symbols_of_bpe(word: &str, spec: &BpeSpec, vocab: &Vocab) -> Vec<String> {
    let (mut symbols, mut pending): (Vec<String>, Vec<String>) = (Vec::new(), Vec::new());
    let last = word.chars().count().saturating_sub(1);
    for (at, c) in word.chars().enumerate() {
        let prefix = spec.continuing_subword_prefix.as_deref().filter(|_| at > 0).unwrap_or_default();
        let suffix = spec.end_of_word_suffix.as_deref().filter(|_| at == last).unwrap_or_default();
        let symbol = format!("{prefix}{c}{suffix}");
        let bytes: Vec<String> = symbol.bytes().map(byte_entry).collect();
        if vocab.id_of(&symbol).is_some() {
            symbols.append(&mut pending);
            symbols.push(symbol);
        } else if spec.byte_fallback && bytes.iter().all(|byte| vocab.id_of(byte).is_some()) {
            symbols.extend(bytes);
        } else if let Some(unknown) = &spec.unk_token {
            if !spec.fuse_unk {
                symbols.append(&mut pending);
            }
            pending = vec![unknown.clone()];
        }
    }
    symbols.append(&mut pending);
    symbols
}
