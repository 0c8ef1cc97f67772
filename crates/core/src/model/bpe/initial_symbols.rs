//! The first symbols of a word: the token of each character, the tokens of its bytes, or the unknown token.
//!
//! The token of a character has the continuation prefix inside the word and the suffix at its end.

use foldhash::HashMap;

use super::merges::NO_RANK;
use super::symbols::Symbol;
use crate::model::ByteTokens;
use crate::spec::BpeSpec;
use crate::vocab::Vocab;

/// Characters below this one, with the alphabet of byte-level vocabularies, are looked up in an array.
const LOW: usize = 0x800;
const NONE: u32 = u32::MAX;

/// The tokens of characters.
#[derive(Clone, Debug)]
pub(super) struct InitialSymbols {
    prefix: String,
    suffix: String,
    /// Without affixes, with the prefix, with the suffix, with both; empty if the model never uses them.
    tables: Vec<CharIds>,
    bytes: Option<ByteTokens>,
    unk: Option<u32>,
    fuse_unk: bool,
}

impl InitialSymbols {
    pub(super) fn compile(spec: &BpeSpec, vocab: &Vocab, unk: Option<u32>) -> Self {
        let prefix = spec.continuing_subword_prefix.clone().unwrap_or_default();
        let suffix = spec.end_of_word_suffix.clone().unwrap_or_default();
        let affixes = [("", ""), (prefix.as_str(), ""), ("", suffix.as_str()), (&prefix, &suffix)];
        let tables = affixes.iter().enumerate().map(|(at, (prefix, suffix))| {
            let is_wanted = at == table_index(!prefix.is_empty(), !suffix.is_empty());
            if is_wanted {
                CharIds::collect(vocab, prefix, suffix)
            } else {
                CharIds::default()
            }
        });
        Self {
            tables: tables.collect(),
            prefix,
            suffix,
            bytes: spec.byte_fallback.then(|| ByteTokens::collect(vocab)),
            unk,
            fuse_unk: spec.fuse_unk,
        }
    }

    /// Replace `symbols` by the symbols of a word before any merge.
    pub(super) fn push_symbols(&self, word: &str, symbols: &mut Vec<Symbol>) {
        symbols.clear();
        let mut builder = SymbolBuilder { symbols, unknown: None };
        for (start, c) in word.char_indices() {
            let end = start + c.len_utf8();
            let position = SymbolPosition { inside: start > 0, last: end == word.len() };
            let span = (start as u32, end as u32);
            match self.table(position).get(c) {
                Some(id) => {
                    builder.end_unknown();
                    builder.push(id, span);
                }
                None => self.push_unknown(&word[start..end], position, span, &mut builder),
            }
        }
        builder.end_unknown();
    }

    /// Push the bytes of an unknown character, or add it to the unknown token. As in `tokenizers`, unknown characters
    /// before a character with bytes follow these bytes.
    #[cold]
    fn push_unknown(
        &self,
        c: &str,
        position: SymbolPosition,
        span: (u32, u32),
        builder: &mut SymbolBuilder,
    ) {
        let prefix = if position.inside { self.prefix.as_str() } else { "" };
        let suffix = if position.last { self.suffix.as_str() } else { "" };
        let texts = [prefix, c, suffix];
        let known = self.bytes.as_ref().filter(|bytes| texts.iter().all(|text| bytes.has_all(text)));
        if let Some(bytes) = known {
            for byte in texts.iter().flat_map(|text| text.bytes()) {
                builder.push(bytes.id(byte), span);
            }
        } else if let Some(id) = self.unk {
            match &mut builder.unknown {
                Some((_, pending)) if self.fuse_unk => pending.1 = span.1,
                _ => {
                    builder.end_unknown();
                    builder.unknown = Some((id, span));
                }
            }
        }
    }

    fn table(&self, position: SymbolPosition) -> &CharIds {
        let prefixed = position.inside && !self.prefix.is_empty();
        &self.tables[table_index(prefixed, position.last && !self.suffix.is_empty())]
    }
}

fn table_index(prefixed: bool, suffixed: bool) -> usize {
    usize::from(prefixed) + 2 * usize::from(suffixed)
}

/// The position of a character in its word.
#[derive(Clone, Copy)]
struct SymbolPosition {
    inside: bool,
    last: bool,
}

/// The symbols so far, and a run of unknown characters that may continue.
struct SymbolBuilder<'s> {
    symbols: &'s mut Vec<Symbol>,
    unknown: Option<(u32, (u32, u32))>,
}

impl SymbolBuilder<'_> {
    fn push(&mut self, id: u32, (start, end): (u32, u32)) {
        self.symbols.push(Symbol { id, rank: NO_RANK, start, end });
    }

    fn end_unknown(&mut self) {
        if let Some((id, span)) = self.unknown.take() {
            self.push(id, span);
        }
    }
}

/// Tokens of one character between a prefix and a suffix.
#[derive(Clone, Debug, Default)]
struct CharIds {
    low: Vec<u32>,
    high: HashMap<char, u32>,
}

impl CharIds {
    fn collect(vocab: &Vocab, prefix: &str, suffix: &str) -> Self {
        let mut ids = Self { low: vec![NONE; LOW], high: HashMap::default() };
        let longest = prefix.len() + suffix.len() + char::MAX.len_utf8();
        for (token, id) in vocab.iter().filter(|(token, _)| token.len() <= longest) {
            let mut chars = between(prefix, token, suffix).unwrap_or_default().chars();
            match (chars.next(), chars.next()) {
                (Some(c), None) if (c as usize) < LOW => ids.low[c as usize] = id,
                (Some(c), None) => drop(ids.high.insert(c, id)),
                _ => {}
            }
        }
        ids
    }

    #[inline]
    fn get(&self, c: char) -> Option<u32> {
        match self.low.get(c as usize) {
            Some(&id) => Some(id).filter(|&id| id != NONE),
            None => self.high.get(&c).copied(),
        }
    }
}

/// Return the text of a token between two affixes. Do not compare empty affixes: the C library's `memcmp` of zero
/// bytes may load from an invalid address with a mask, which takes as long as a lookup.
fn between<'t>(prefix: &str, token: &'t str, suffix: &str) -> Option<&'t str> {
    let rest = if prefix.is_empty() { token } else { token.strip_prefix(prefix)? };
    if suffix.is_empty() {
        return Some(rest);
    }
    rest.strip_suffix(suffix)
}
