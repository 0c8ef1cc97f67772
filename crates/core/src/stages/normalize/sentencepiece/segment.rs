//! SentencePiece's normalizer for a segment of text without sources; unchanged text is copied as a whole.

use super::normalizer::{ByteAction, SentencePieceNormalizer};
use super::writer::StringWriter;
use crate::error::Error;
use crate::text::{ExpansionLimit, METASPACE};

impl SentencePieceNormalizer {
    /// Normalize the text between two boundary characters, without adding a space. With `continues`, the
    /// segment follows a character that is not a space and that no rule joins with it, so spaces at its
    /// beginning stay.
    ///
    /// Write the same as `run_with_prefix` without a prefix.
    pub fn normalize_segment(&self, text: &str, continues: bool, out: &mut String) -> Result<(), Error> {
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
