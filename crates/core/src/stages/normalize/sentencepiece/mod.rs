//! SentencePiece's normalizer: compiled rules by longest match, then the treatment of spaces.
//!
//! At each position a user-defined symbol is copied; else the longest matching rule is applied; else one
//! character is copied. Depending on the settings, spaces at the ends and repeated spaces are removed, a
//! space is added before or after the text, and spaces become `▁`. The source of a character extends to the
//! beginning of the next character's source. O(n) times the longest rule; ASCII without rules is copied.
//!
//! Kudo and Richardson 2018, "SentencePiece", section 3; compared with `sentencepiece` 0.2.

mod char_action;
mod writer;

use crate::error::Error;
use crate::interrupt;
use crate::spec::SentencePieceNormalizerSpec;
use crate::stages::normalize::charsmap::Charsmap;
use crate::text::{ExpansionLimit, NormalizedSink, PrefixSet, METASPACE};
use crate::vocab::{check_lens, MAX_VOCAB_BYTES};
use writer::{AlignedWriter, StringWriter};

pub use char_action::{CharAction, CharActions};

/// The compiled normalizer.
#[derive(Clone, Debug)]
pub struct SentencePieceNormalizer {
    spec: SentencePieceNormalizerSpec,
    rules: Option<Charsmap>,
    symbols: Option<PrefixSet>,
    /// By byte, for ASCII before ASCII or the end of the text.
    byte_actions: [ByteAction; 256],
}

/// How the fast path treats a byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::stages::normalize) enum ByteAction {
    /// Copies it.
    Copy,
    /// Treats it as a space that no rule changes.
    Space,
    /// Applies the rules.
    ApplyRules,
}

/// Return an error for symbols that are too long for their automaton.
fn check_symbols(symbols: &[String], place: &str) -> Result<(), Error> {
    check_lens(symbols.iter().map(String::len), MAX_VOCAB_BYTES, |at| format!("{place}[{at}]"))
}

impl SentencePieceNormalizer {
    /// Compile the settings at `place` in their file.
    pub(in crate::stages::normalize) fn compile(
        spec: &SentencePieceNormalizerSpec,
        place: &str,
    ) -> Result<Self, Error> {
        let rules = match spec.charsmap.as_slice() {
            [] => None,
            charsmap => Some(Charsmap::parse(charsmap, &format!("{place}.precompiled_charsmap"))?),
        };
        check_symbols(&spec.user_defined_symbols, &format!("{place}.user_defined_symbols"))?;
        let symbols = PrefixSet::build(spec.user_defined_symbols.iter().map(String::as_str));
        let byte_actions =
            std::array::from_fn(|byte| action_of(byte as u8, rules.as_ref(), symbols.as_ref()));
        Ok(Self { spec: spec.clone(), rules, symbols, byte_actions })
    }

    /// Return the settings.
    #[must_use]
    pub fn spec(&self) -> &SentencePieceNormalizerSpec {
        &self.spec
    }

    /// Normalize `text`, which begins at byte `start` of the original.
    pub(in crate::stages::normalize) fn run(
        &self,
        text: &str,
        start: u32,
        limit: ExpansionLimit,
        out: &mut impl NormalizedSink,
    ) -> Result<(), Error> {
        self.run_with_prefix(text, start, limit, self.spec.add_dummy_prefix, out)
    }

    pub(in crate::stages::normalize) fn run_with_prefix(
        &self,
        text: &str,
        start: u32,
        limit: ExpansionLimit,
        adds_space: bool,
        out: &mut impl NormalizedSink,
    ) -> Result<(), Error> {
        let mut at = self.first_kept(text);
        if at == text.len() {
            return Ok(());
        }
        let mut writer = AlignedWriter::new(&self.spec, start, limit, out);
        if adds_space && !self.spec.treat_whitespace_as_suffix {
            writer.push(writer.space, at);
        }
        while at < text.len() {
            at = match self.action_at(text.as_bytes(), at) {
                ByteAction::Copy => {
                    let end = self.kept_end(text.as_bytes(), at);
                    writer.keep(&text[at..end], at);
                    end
                }
                ByteAction::Space => {
                    writer.push_space(at);
                    at + 1
                }
                ByteAction::ApplyRules => {
                    interrupt::check(1);
                    let (new, end) = self.prefix(text, at);
                    writer.rewrite(new, at)?;
                    end
                }
            };
        }
        writer.finish(at, adds_space && self.spec.treat_whitespace_as_suffix);
        Ok(())
    }

    /// Return the end of the spaces at the beginning, if the normalizer removes them.
    pub(in crate::stages::normalize) fn first_kept(&self, text: &str) -> usize {
        let mut at = 0;
        while self.spec.remove_extra_whitespaces && at < text.len() {
            let (new, end) = self.prefix(text, at);
            if new != " " {
                break;
            }
            at = end;
        }
        at
    }

    /// Return the first space that was removed at the end of a text that normalizes to nothing, or the end of the
    /// text; `None` if all was removed at the beginning.
    pub(in crate::stages::normalize) fn end_of_empty(&self, text: &str) -> Option<usize> {
        let mut at = self.first_kept(text);
        if at == text.len() || self.spec.add_dummy_prefix && !self.spec.treat_whitespace_as_suffix {
            return (at < text.len()).then_some(at);
        }
        while at < text.len() {
            let (new, end) = self.prefix(text, at);
            if !new.trim_start_matches(' ').is_empty() {
                break;
            }
            at = end;
        }
        Some(at)
    }

    /// Apply a symbol or rule at byte `at`; return the replacement and its end, or `None` if the
    /// character stays unchanged.
    #[inline]
    pub(in crate::stages::normalize) fn change<'t>(
        &'t self,
        text: &'t str,
        at: usize,
    ) -> Option<(&'t str, usize)> {
        if let Some(end) = self.symbols.as_ref().and_then(|symbols| symbols.end_at(text, at)) {
            return Some((&text[at..end], end));
        }
        let (len, new) = self.rules.as_ref()?.longest_match(&text[at..])?;
        Some((new, at + len))
    }

    /// Return whether certainly no symbol and no rule begins with a character.
    #[inline]
    pub(in crate::stages::normalize) fn is_untouched(&self, c: char) -> bool {
        let first = c.encode_utf8(&mut [0; 4]).as_bytes()[0];
        self.symbols.as_ref().is_none_or(|symbols| !symbols.begin_with(first))
            && self.rules.as_ref().is_none_or(|rules| !rules.begin_with(c))
    }

    /// Return the replacement of the text at byte `at`, and its end.
    pub(in crate::stages::normalize) fn prefix<'t>(&'t self, text: &'t str, at: usize) -> (&'t str, usize) {
        self.change(text, at).unwrap_or_else(|| {
            let len = text[at..].chars().next().map_or(0, char::len_utf8);
            (&text[at..at + len], at + len)
        })
    }

    /// Return whether a rule writes a metaspace.
    pub(in crate::stages::normalize) fn writes_metaspace(&self) -> bool {
        self.rules.as_ref().is_some_and(|rules| rules.writes(METASPACE))
    }

    /// Return the ASCII characters that stay unchanged among ASCII.
    pub(in crate::stages::normalize) fn kept_ascii(&self) -> [bool; 128] {
        std::array::from_fn(|byte| self.byte_actions[byte] == ByteAction::Copy)
    }

    pub(in crate::stages::normalize) fn rules(&self) -> Option<&Charsmap> {
        self.rules.as_ref()
    }

    /// Return whether there are rules.
    pub(crate) fn has_rules(&self) -> bool {
        self.rules.is_some()
    }

    /// Return whether a rule contains an ASCII character after its first character.
    pub(in crate::stages::normalize) fn continues_with_ascii(&self) -> bool {
        self.rules.as_ref().is_some_and(Charsmap::continues_with_ascii)
    }

    /// Return whether a rule or symbol of several characters contains this ASCII character.
    pub(in crate::stages::normalize) fn is_within_longer(&self, byte: u8) -> bool {
        self.rules.as_ref().is_some_and(|rules| rules.is_within_longer(byte)) || self.is_within_symbol(byte)
    }

    /// Return whether a symbol of several characters contains this ASCII character.
    pub(in crate::stages::normalize) fn is_within_symbol(&self, byte: u8) -> bool {
        let is_longer = |symbol: &String| symbol.len() > 1 && symbol.as_bytes().contains(&byte);
        self.spec.user_defined_symbols.iter().any(is_longer)
    }

    #[inline]
    pub(in crate::stages::normalize) fn action_at(&self, text: &[u8], at: usize) -> ByteAction {
        match text.get(at + 1) {
            Some(next) if !next.is_ascii() => ByteAction::ApplyRules,
            _ => self.byte_actions[usize::from(text[at])],
        }
    }

    /// Return the end of the unchanged characters from `at` on; there is at least one.
    #[inline]
    fn kept_end(&self, text: &[u8], at: usize) -> usize {
        let is_kept = |&byte: &u8| self.byte_actions[usize::from(byte)] == ByteAction::Copy;
        let end = text[at..].iter().position(|byte| !is_kept(byte)).map_or(text.len(), |len| at + len);
        // A rule may begin with the last one.
        end - usize::from(text.get(end).is_some_and(|byte| !byte.is_ascii()))
    }
}

fn action_of(byte: u8, rules: Option<&Charsmap>, symbols: Option<&PrefixSet>) -> ByteAction {
    let begins_symbol = symbols.is_some_and(|symbols| symbols.begin_with(byte));
    let is_touched =
        !byte.is_ascii() || begins_symbol || rules.is_some_and(|rules| rules.touches_ascii(byte));
    match byte {
        // Symbols take precedence over rules.
        _ if symbols.is_some_and(|symbols| symbols.have_alone(byte)) && byte != b' ' => ByteAction::Copy,
        _ if is_touched => ByteAction::ApplyRules,
        b' ' => ByteAction::Space,
        _ => ByteAction::Copy,
    }
}

impl SentencePieceNormalizer {
    /// Normalize the text between two boundary characters, without adding a space. With `continues`, the
    /// segment follows a character that is not a space and that no rule joins with it, so spaces at its
    /// beginning stay.
    ///
    /// Write the same as `run_with_prefix` without a prefix.
    pub(crate) fn normalize_segment(
        &self,
        text: &str,
        continues: bool,
        out: &mut String,
    ) -> Result<(), Error> {
        let mut limit = ExpansionLimit::of(text.len());
        let mut writer = StringWriter::new(self.spec(), continues, out);
        let mut at = if continues { 0 } else { self.first_kept(text) };
        while at < text.len() {
            let kept = self.kept(text, at);
            if kept > at {
                writer.keep(&text[at..kept]);
            }
            if kept == text.len() {
                break;
            }
            let (new, end) = self.prefix(text, kept);
            limit.take(new.len())?;
            writer.rewrite(new);
            at = end;
        }
        Ok(())
    }

    /// Return the end of the unchanged characters, other than spaces, from `at` on.
    #[inline]
    fn kept(&self, text: &str, mut at: usize) -> usize {
        let bytes = text.as_bytes();
        while at < bytes.len() {
            match self.action_at(bytes, at) {
                ByteAction::Copy => at += 1,
                ByteAction::Space => break,
                ByteAction::ApplyRules => {
                    let Some(c) = text[at..].chars().next() else { break };
                    let is_space = c == ' ' || c == METASPACE;
                    if is_space || !self.is_untouched(c) && self.change(text, at).is_some() {
                        break;
                    }
                    at += c.len_utf8();
                }
            }
        }
        at
    }
}

#[cfg(test)]
mod tests {
    use std::sync::LazyLock;

    use piecework_formats::normalization_rules::compile_named;
    use proptest::prelude::*;

    use crate::spec::SentencePieceNormalizerSpec;
    use crate::stages::normalize::SentencePieceNormalizer;
    use crate::text::ExpansionLimit;

    static RULES: LazyLock<[Vec<u8>; 4]> = LazyLock::new(|| {
        let blob = |name: &str| compile_named(name).unwrap();
        ["nmt_nfkc", "nmt_nfkc_cf", "nfkc", "identity"].map(blob)
    });

    fn any_text() -> impl Strategy<Value = String> {
        let unit = prop::sample::select(vec![
            "a",
            "E",
            "e\u{301}",
            "e\u{430}",
            "\u{301}",
            "\u{438}\u{306}",
            "\u{438}",
            "\u{1100}\u{1161}\u{11a8}",
            " ",
            "\u{3000}",
            "\u{a0}",
            "\u{2581}",
            "\t",
            "\0",
            "\u{200b}",
            "\u{ad}",
            "\u{fdfa}",
            "\u{4e00}",
            "<a>",
            "<",
            "\u{1f600}",
            "\u{30ab}\u{3099}",
            "\u{df}",
            "\u{130}",
        ]);
        prop::collection::vec(unit, 0..20).prop_map(|units| units.concat())
    }

    proptest! {
        #[test]
        fn segments_normalize_as_whole_texts(
            which in 0..4usize,
            flags in any::<[bool; 3]>(),
            text in any_text(),
        ) {
            let [remove_extra_whitespaces, escape_whitespaces, has_symbols] = flags;
            let symbols = ["<a>", "\u{438}", " "].iter().filter(|_| has_symbols);
            let normalizer = SentencePieceNormalizer::compile(&SentencePieceNormalizerSpec {
                charsmap: RULES[which].clone(),
                add_dummy_prefix: true,
                remove_extra_whitespaces,
                escape_whitespaces,
                treat_whitespace_as_suffix: false,
                user_defined_symbols: symbols.map(|&symbol| symbol.to_owned()).collect(),
            }, "normalizer").unwrap();
            let (mut segment, mut whole) = (String::new(), String::new());
            normalizer.normalize_segment(&text, false, &mut segment).unwrap();
            normalizer.run_with_prefix(&text, 0, ExpansionLimit::of(text.len()), false, &mut whole).unwrap();
            prop_assert_eq!(&segment, &whole);
            let follower = format!("\u{4e01}{text}");
            segment.clear();
            whole.clear();
            normalizer.normalize_segment(&text, true, &mut segment).unwrap();
            normalizer.run_with_prefix(&follower, 0, ExpansionLimit::of(text.len()), false, &mut whole).unwrap();
            prop_assert_eq!(format!("\u{4e01}{segment}"), whole);
        }
    }
}
