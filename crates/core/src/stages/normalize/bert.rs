//! `BertNormalizer`: cleans, spaces out CJK, strips accents and lowercases, in this order (BERT's
//! BasicTokenizer, Devlin et al. 2019; character classes as in tokenizers 0.23). One pass, linear.
//!
//! Every step except canonical ordering depends on one character alone, so the steps run character by
//! character. Where ordering can move a character, its run of marks is collected first.

use piecework_unicode::{class_of, combining_class, decompose, lowercase, Class};

use crate::spec::{BertNormalizerSpec, Cleaning};
use crate::text::NormalizedSink;

/// The ideographs around which only the original code puts spaces.
const ORIGINAL_CJK: std::ops::RangeInclusive<char> = '\u{2B820}'..='\u{2B91F}';

/// The compiled normalizer.
#[derive(Clone, Debug)]
pub struct BertNormalizer {
    spec: BertNormalizerSpec,
    strip_accents: bool,
    /// Characters with none of these flags stay unchanged.
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

    /// Return whether the normalizer lowercases.
    #[must_use]
    pub fn lowercases(&self) -> bool {
        self.spec.lowercase
    }

    /// Return whether the normalizer follows the original code and not `tokenizers`.
    pub(crate) fn is_original(&self) -> bool {
        self.spec.cleaning == Cleaning::Original
    }

    /// Normalize `text`, which begins at byte `start` of the original.
    pub fn run(&self, text: &str, start: u32, out: &mut impl NormalizedSink) {
        let mut marks = Marks { final_sigmas: self.final_sigmas(text, start), ..Marks::default() };
        for (at, c) in text.char_indices() {
            let source = source_of(c, start, at);
            let class = class_of(c);
            let is_kept = !(class.has(self.touched) || self.is_original() && ORIGINAL_CJK.contains(&c));
            if is_kept && marks.is_empty() {
                out.push_from(c, source);
            } else {
                let place = CharContext { before: &text[..at], start, source };
                self.step(c, class, place, &mut marks, out);
            }
        }
        self.flush(&mut marks, out);
    }

    /// Clean one character, space it out, and pass it to the next step.
    fn step(
        &self,
        c: char,
        class: Class,
        place: CharContext<'_>,
        marks: &mut Marks,
        out: &mut impl NormalizedSink,
    ) {
        if self.drops(c, class) {
            return;
        }
        if self.spec.clean_text && class.has(Class::WHITESPACE) {
            self.flush(marks, out);
            out.push_from(' ', place.source);
        } else if self.spec.handle_chinese_chars && self.is_cjk(c, class) {
            self.flush(marks, out);
            out.push_from(' ', place.source);
            self.strip(c, place, marks, out);
            out.push_from(' ', place.source);
        } else {
            self.strip(c, place, marks, out);
        }
    }

    fn drops(&self, c: char, class: Class) -> bool {
        self.spec.clean_text && class.has(Class::DROP) && !(self.is_original() && is_private_use(c))
    }

    fn is_cjk(&self, c: char, class: Class) -> bool {
        class.has(Class::CJK) || (self.is_original() && ORIGINAL_CJK.contains(&c))
    }

    /// Return where the original code lowercases Σ to ς, as bytes of the original text.
    fn final_sigmas(&self, text: &str, start: u32) -> Vec<u32> {
        if !(self.is_original() && self.spec.lowercase) {
            return Vec::new();
        }
        final_sigmas(text, start, |c| self.drops(c, class_of(c)))
    }

    /// Decompose a character and remove nonspacing marks.
    fn strip(&self, c: char, place: CharContext<'_>, marks: &mut Marks, out: &mut impl NormalizedSink) {
        if !self.strip_accents {
            self.lower(c, place.source, marks, out);
            return;
        }
        let mut is_first = true;
        decompose(c, |part| {
            let class = class_of(part);
            if marks.is_empty() && class.has(Class::REORDERS) {
                self.gather_marks(place, is_first, marks);
            }
            let moves = !marks.is_empty() && combining_class(part) != 0;
            if moves || class.has(Class::REORDERS) {
                marks.push(part, is_first.then_some(place.source));
            } else {
                self.flush(marks, out);
                if !class.has(Class::NONSPACING_MARK) {
                    self.lower(part, place.source, marks, out);
                }
            }
            is_first = false;
        });
    }

    /// Start a run of marks with the removed marks before its first remaining one.
    fn gather_marks(&self, place: CharContext<'_>, is_first: bool, marks: &mut Marks) {
        marks.last_source = place.source;
        if !is_first {
            return;
        }
        let starts = |c: char| !self.drops(c, class_of(c)) && first_class(c) == 0;
        let from = place.before.rfind(starts).unwrap_or(0);
        for (at, c) in place.before[from..].char_indices() {
            if self.drops(c, class_of(c)) {
                continue;
            }
            let source = source_of(c, place.start, from + at);
            let mut is_first = true;
            decompose(c, |part| {
                if combining_class(part) == 0 {
                    marks.clear();
                    marks.last_source = source;
                } else {
                    marks.push(part, is_first.then_some(source));
                }
                is_first = false;
            });
        }
    }

    /// Write the remaining marks of a run in canonical order.
    fn flush(&self, marks: &mut Marks, out: &mut impl NormalizedSink) {
        if marks.is_empty() {
            return;
        }
        marks.parts.sort_by_key(|mark| mark.combining_class);
        let mut sources = marks.sources.iter();
        for mark in &marks.parts {
            if mark.is_first {
                marks.last_source = *sources.next().unwrap_or(&marks.last_source);
            }
            if !class_of(mark.part).has(Class::NONSPACING_MARK) {
                self.lower(mark.part, marks.last_source, marks, out);
            }
        }
        marks.clear();
    }

    fn lower(&self, c: char, source: (u32, u32), marks: &Marks, out: &mut impl NormalizedSink) {
        if c == 'Σ' && marks.final_sigmas.binary_search(&source.0).is_ok() {
            out.push_from('ς', source);
        } else if self.spec.lowercase {
            lowercase(c, |part| out.push_from(part, source));
        } else {
            out.push_from(c, source);
        }
    }
}

/// The position of a character.
#[derive(Clone, Copy)]
struct CharContext<'t> {
    /// The text before it.
    before: &'t str,
    /// The byte of the original at which the text begins.
    start: u32,
    /// Its byte span in the original.
    source: (u32, u32),
}

fn source_of(c: char, start: u32, at: usize) -> (u32, u32) {
    let at = start + at as u32;
    (at, at + c.len_utf8() as u32)
}

/// Return whether a character is of category Co, whose ranges are fixed.
fn is_private_use(c: char) -> bool {
    matches!(c, '\u{E000}'..='\u{F8FF}' | '\u{F0000}'..='\u{FFFFD}' | '\u{100000}'..='\u{10FFFD}')
}

/// Return the combining class of the first part of a character.
fn first_class(c: char) -> u8 {
    let mut first = None;
    decompose(c, |part| first = first.or(Some(combining_class(part))));
    first.unwrap_or(0)
}

/// A run of marks before canonical ordering. Ordering moves the marks but not their sources: the first
/// parts of characters get the sources in text order, other parts share the source before them.
#[derive(Default)]
struct Marks {
    parts: Vec<Mark>,
    sources: Vec<(u32, u32)>,
    last_source: (u32, u32),
    /// Where Σ becomes ς.
    final_sigmas: Vec<u32>,
}

struct Mark {
    part: char,
    combining_class: u8,
    is_first: bool,
}

impl Marks {
    fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    fn clear(&mut self) {
        self.parts.clear();
        self.sources.clear();
    }

    /// Add a part; the first part of a character brings its source.
    fn push(&mut self, part: char, source: Option<(u32, u32)>) {
        let combining_class = combining_class(part);
        self.parts.push(Mark { part, combining_class, is_first: source.is_some() });
        self.sources.extend(source);
    }
}

// The last Σ of a word, which lowercases to ς (Unicode 17, section 3.13, `Final_Sigma`): a cased letter precedes it
// and none follows, not counting case-ignorable characters such as marks and apostrophes.
//
// The classes come from `str::to_lowercase`, because only this rule needs them.

/// Return the bytes of `text` at which a final Σ begins, from `start` on; dropped characters do not count. Linear time.
pub(super) fn final_sigmas(text: &str, start: u32, drops: impl Fn(char) -> bool) -> Vec<u32> {
    let mut found = Vec::new();
    if !text.contains('Σ') {
        return found;
    }
    let mut follows_cased = false;
    let kept = text.char_indices().filter(|&(_, c)| !drops(c));
    for (at, c) in kept {
        if c == 'Σ' && follows_cased && !precedes_cased(&text[at + c.len_utf8()..], &drops) {
            found.push(start + at as u32);
        }
        follows_cased = class_after(c).unwrap_or(follows_cased);
    }
    found
}

/// Return whether the first character that is not case-ignorable is cased.
fn precedes_cased(rest: &str, drops: impl Fn(char) -> bool) -> bool {
    rest.chars().filter(|&c| !drops(c)).find_map(class_after).unwrap_or(false)
}

/// Return whether a character is cased; `None` if it is case-ignorable.
fn class_after(c: char) -> Option<bool> {
    if c.is_ascii_alphanumeric() {
        return Some(c.is_ascii_alphabetic());
    }
    let ends_word = |before: &[char]| {
        let text: String = before.iter().chain(&['Σ']).collect();
        text.to_lowercase().ends_with('ς')
    };
    if ends_word(&[c]) {
        return Some(true);
    }
    (!ends_word(&['A', c])).then_some(false)
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
            cleaning: Cleaning::Tokenizers,
        })
    }

    fn original(text: &str) -> String {
        let spec = BertNormalizerSpec { cleaning: Cleaning::Original, ..uncased().spec };
        let mut out = String::new();
        BertNormalizer::compile(&spec).run(text, 0, &mut out);
        out
    }

    #[test]
    fn bert_keeps_private_use_characters_and_writes_final_sigmas() {
        assert_eq!(original("a\u{E000}b\u{200D}\u{0}\u{F0000}"), "a\u{E000}b\u{F0000}");
        assert_eq!(original("ΑΣ ΣΑ Σ ΑΣ.Β ΑΣ'"), "ας σα σ ασ.β ας'");
        assert_eq!(original("ΆΣ\u{301} Α\u{0}Σ\u{AD} ΣΣ"), "ας ας σς");
        assert_eq!(original("a\u{2B820}b"), "a \u{2B820} b");
        assert_eq!(normalized("a\u{2B820}b\u{E000} ΑΣ"), "a\u{2B820}b ασ");
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
    fn kept_marks_are_in_canonical_order() {
        // U+1D165 (class 216) and U+302E (class 224) are not Mn; a nonspacing mark does not end their run.
        assert_eq!(normalized("a\u{302E}\u{301}\u{1D165}b"), "a\u{1D165}\u{302E}b");
    }

    #[test]
    fn a_dropped_starter_ends_a_run_of_marks() {
        assert_eq!(normalized("a\u{302E}\u{900}\u{1D165}b"), "a\u{302E}\u{1D165}b");
    }

    #[test]
    fn reordered_marks_have_sources_in_text_order() {
        let mut out = Aligned::default();
        uncased().run("か\u{327}\u{1D165}\u{302E}", 0, &mut out);
        assert_eq!(out.text(), "か\u{1D165}\u{302E}");
        assert_eq!((out.source_of(3, 7), out.source_of(7, 10)), ((5, 9), (9, 12)));
    }

    #[test]
    fn sources_are_those_of_the_original() {
        let mut out = Aligned::default();
        uncased().run("xÉ", 10, &mut out);
        assert_eq!((out.text(), out.source_of(1, 2)), ("xe", (11, 13)));
    }
}
