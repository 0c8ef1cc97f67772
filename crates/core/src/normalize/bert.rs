//! BERT's normalizer: clean, space out CJK, strip accents, lowercase, in this order (BERT's reference
//! BasicTokenizer, Devlin et al. 2019; character classes as in tokenizers 0.23). One pass, linear.
//!
//! Every step but canonical ordering looks at one character alone, so the steps run character by
//! character; the few kept characters that ordering can move wait in `pending` until their run ends.

use crate::spec::BertNormalizerSpec;
use crate::text::{class_of, combining_class, decompose, lowercase, Class, NormalizedSink};

/// The compiled normalizer.
#[derive(Clone, Debug)]
pub struct BertNormalizer {
    spec: BertNormalizerSpec,
    strip_accents: bool,
    /// Characters with none of these flags pass unchanged.
    touched: Class,
}

impl BertNormalizer {
    /// Compile the settings.
    #[must_use]
    pub fn compile(spec: &BertNormalizerSpec) -> Self {
        let strip_accents = spec.strip_accents.unwrap_or(spec.lowercase);
        let mut touched = Class::DROP.or(Class::WHITESPACE);
        if spec.handle_chinese_chars {
            touched = touched.or(Class::CJK);
        }
        if strip_accents {
            touched = touched.or(Class::NONSPACING_MARK).or(Class::DECOMPOSES).or(Class::REORDERS);
        }
        if spec.lowercase {
            touched = touched.or(Class::HAS_LOWERCASE);
        }
        Self { spec: spec.clone(), strip_accents, touched }
    }

    /// The settings.
    #[must_use]
    pub fn spec(&self) -> BertNormalizerSpec {
        self.spec.clone()
    }

    /// Whether ASCII letters become lowercase.
    #[must_use]
    pub fn lowercases(&self) -> bool {
        self.spec.lowercase
    }

    /// Normalize `text`, which stands at byte `start` of the original, into `out`.
    pub fn run(&self, text: &str, start: u32, out: &mut impl NormalizedSink) {
        let mut pending = Vec::new();
        for (at, c) in text.char_indices() {
            let at = start + at as u32;
            let source = (at, at + c.len_utf8() as u32);
            let class = class_of(c);
            if !class.has(self.touched) && pending.is_empty() {
                out.push_from(c, source);
            } else {
                self.step(c, class, source, &mut pending, out);
            }
        }
        self.flush(&mut pending, out);
    }

    /// Clean and space out one character, then hand it on.
    fn step(
        &self,
        c: char,
        class: Class,
        source: (u32, u32),
        pending: &mut Vec<Pending>,
        out: &mut impl NormalizedSink,
    ) {
        if self.spec.clean_text && class.has(Class::DROP) {
            return;
        }
        if self.spec.clean_text && class.has(Class::WHITESPACE) {
            self.flush(pending, out);
            out.push_from(' ', source);
        } else if self.spec.handle_chinese_chars && class.has(Class::CJK) {
            self.flush(pending, out);
            out.push_from(' ', source);
            self.strip(c, source, pending, out);
            self.flush(pending, out);
            out.push_from(' ', source);
        } else {
            self.strip(c, source, pending, out);
        }
    }

    /// Decompose and drop nonspacing marks.
    fn strip(
        &self,
        c: char,
        source: (u32, u32),
        pending: &mut Vec<Pending>,
        out: &mut impl NormalizedSink,
    ) {
        if !self.strip_accents {
            self.lower(c, source, out);
            return;
        }
        decompose(c, |part| {
            let class = class_of(part);
            if class.has(Class::REORDERS) {
                pending.push(Pending { combining_class: combining_class(part), part, source });
            } else if !class.has(Class::NONSPACING_MARK) {
                self.flush(pending, out);
                self.lower(part, source, out);
            }
        });
    }

    /// Write the waiting characters in canonical order.
    fn flush(&self, pending: &mut Vec<Pending>, out: &mut impl NormalizedSink) {
        pending.sort_by_key(|waiting| waiting.combining_class);
        for waiting in pending.drain(..) {
            self.lower(waiting.part, waiting.source, out);
        }
    }

    fn lower(&self, c: char, source: (u32, u32), out: &mut impl NormalizedSink) {
        if self.spec.lowercase {
            lowercase(c, |part| out.push_from(part, source));
        } else {
            out.push_from(c, source);
        }
    }
}

/// A kept character with a combining class, waiting for the end of its run.
struct Pending {
    combining_class: u8,
    part: char,
    source: (u32, u32),
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::Aligned;

    fn uncased() -> BertNormalizer {
        BertNormalizer::compile(&BertNormalizerSpec {
            clean_text: true,
            handle_chinese_chars: true,
            strip_accents: None,
            lowercase: true,
        })
    }

    fn normalized(text: &str) -> String {
        let mut out = String::new();
        uncased().run(text, 0, &mut out);
        out
    }

    #[test]
    fn cleans_spaces_strips_and_lowers() {
        assert_eq!(normalized("A\u{0}b\tÉÀ 漢\u{200D}x"), "ab ea  漢 x");
        assert_eq!(normalized("İΣ가"), "iσ\u{1100}\u{1161}");
    }

    #[test]
    fn orders_the_kept_marks() {
        // U+1D165 (class 216) and U+302E (class 224) are not Mn; a nonspacing mark does not end their run.
        assert_eq!(normalized("a\u{302E}\u{301}\u{1D165}b"), "a\u{1D165}\u{302E}b");
    }

    #[test]
    fn remembers_where_characters_came_from() {
        let mut out = Aligned::default();
        uncased().run("xÉ", 10, &mut out);
        assert_eq!((out.text(), out.source_of(1, 2)), ("xe", (11, 13)));
    }
}
