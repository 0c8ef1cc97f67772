//! Boundary characters: ASCII characters at which a text can be divided before normalization. The text on
//! each side normalizes on its own, and the character stays unchanged or becomes a space.
//!
//! No rule of several characters contains a boundary character, nor does a grapheme cluster that a rule
//! changes.

use unicode_segmentation::UnicodeSegmentation;

use super::normalizer::Normalizer;
use super::precompiled::Precompiled;
use super::sentencepiece::SentencePieceNormalizer;
use crate::spec::PatternSpec;

/// For each ASCII character, whether it is a boundary.
pub type Boundaries = [bool; 128];

/// First and last of the characters that form a cluster with the next one (Unicode 17, `Prepend`).
const PREPENDED: [(u32, u32); 15] = [
    (0x600, 0x605),
    (0x6DD, 0x6DD),
    (0x70F, 0x70F),
    (0x890, 0x891),
    (0x8E2, 0x8E2),
    (0xD4E, 0xD4E),
    (0x110BD, 0x110BD),
    (0x110CD, 0x110CD),
    (0x111C2, 0x111C3),
    (0x113D1, 0x113D1),
    (0x1193F, 0x1193F),
    (0x11941, 0x11941),
    (0x11A84, 0x11A89),
    (0x11D46, 0x11D46),
    (0x11F02, 0x11F02),
];

impl Normalizer {
    /// Return the whitespace that is a boundary for words between whitespace, for any length of the
    /// whitespace.
    pub(crate) fn boundary_whitespace(&self) -> Boundaries {
        let whitespace = std::array::from_fn(|byte| char::from(byte as u8).is_whitespace());
        both(&whitespace, &self.boundaries())
    }

    /// Return whether a word normalizes differently after a space.
    pub(crate) fn depends_on_space(&self, word: &str) -> bool {
        match self {
            Self::Precompiled(rules) => depends_on_space(rules, word),
            Self::Sequence(sequence) => sequence.stages().iter().any(|stage| stage.depends_on_space(word)),
            _ => false,
        }
    }

    /// Return the ASCII characters that stay unchanged among each other, in text without whitespace.
    pub(crate) fn kept_among_ascii(&self) -> Boundaries {
        match self {
            Self::Identity | Self::Form(_) | Self::StripAccents => [true; 128],
            Self::Lowercase => std::array::from_fn(|byte| !(byte as u8).is_ascii_uppercase()),
            Self::Precompiled(rules) => rules.kept_ascii(),
            Self::SentencePiece(normalizer) => normalizer.kept_ascii(),
            Self::Replace(replace) => match replace.pattern() {
                PatternSpec::Text(text) => chars_outside(text),
                PatternSpec::Regex(_) => self.boundaries(),
            },
            Self::Sequence(sequence) => sequence
                .stages()
                .iter()
                .fold([true; 128], |all, stage| both(&all, &stage.kept_among_ascii())),
            _ => [false; 128],
        }
    }

    /// Return whether a text without ASCII whitespace certainly stays unchanged, and has no other whitespace and no `▁`.
    pub(crate) fn keeps(&self, text: &str) -> bool {
        match self {
            Self::Precompiled(rules) => rules.keeps(text),
            Self::Sequence(sequence) => {
                // Rules keep no other whitespace and no `▁`; replacements may.
                let has_rules = sequence.stages().iter().any(|stage| matches!(stage, Self::Precompiled(_)));
                let is_kept = |stage: &Self| stage.replaces_nothing(text) || stage.keeps(text);
                has_rules && sequence.stages().iter().all(is_kept)
            }
            _ => false,
        }
    }

    /// Return whether this is a replacement that finds nothing in a text without ASCII whitespace.
    fn replaces_nothing(&self, text: &str) -> bool {
        match self {
            Self::Replace(replace) => match replace.pattern() {
                PatternSpec::Text(pattern) => !pattern.is_empty() && !text.contains(pattern.as_str()),
                PatternSpec::Regex(source) => source == " {2,}",
            },
            _ => false,
        }
    }

    /// Return whether text can be divided before a space that follows a letter or digit: both parts normalize on their
    /// own, and the space stays.
    pub(crate) fn divides_at_spaces(&self) -> bool {
        match self {
            Self::Identity | Self::Form(_) | Self::Lowercase | Self::StripAccents | Self::Bert(_) => true,
            Self::Sequence(sequence) => sequence.stages().iter().all(Self::divides_at_spaces),
            _ => false,
        }
    }

    /// Return whether the whitespace before a character is that of the raw text: nothing between visible characters is
    /// dropped, and none becomes whitespace at its end.
    pub(crate) fn keeps_spaces(&self) -> bool {
        match self {
            Self::Identity | Self::Form(_) | Self::Lowercase => true,
            Self::Sequence(sequence) => sequence.stages().iter().all(Self::keeps_spaces),
            _ => false,
        }
    }

    fn boundaries(&self) -> Boundaries {
        match self {
            // Marks never compose with ASCII whitespace and are never ordered across it.
            Self::Identity | Self::Form(_) | Self::Lowercase | Self::StripAccents => [true; 128],
            Self::Precompiled(rules) => boundaries_of(rules),
            Self::Replace(replace) => match replace.pattern() {
                PatternSpec::Text(text) => chars_outside(text),
                PatternSpec::Regex(source) => [source == " {2,}" && replace.content() == " "; 128],
            },
            Self::Sequence(sequence) => {
                let (first, rest) = sequence.stages().split_at(1.min(sequence.stages().len()));
                // `depends_on_space` looks at the raw text, so these rules must come first.
                let is_late = |stage: &Self| matches!(stage, Self::Precompiled(_));
                let boundaries = [!rest.iter().any(is_late); 128];
                first.iter().chain(rest).fold(boundaries, |all, stage| both(&all, &stage.boundaries()))
            }
            _ => [false; 128],
        }
    }
}

/// Return the ASCII characters that a replaced text does not contain: none if it is empty, which is found everywhere.
fn chars_outside(text: &str) -> Boundaries {
    std::array::from_fn(|byte| !text.is_empty() && !text.contains(char::from(byte as u8)))
}

impl SentencePieceNormalizer {
    /// Return the characters that become a space and are boundaries; none if a rule writes a metaspace.
    pub(crate) fn boundary_spaces(&self) -> Boundaries {
        if self.writes_metaspace() {
            return [false; 128];
        }
        std::array::from_fn(|byte| {
            let c = char::from(byte as u8);
            let text = c.encode_utf8(&mut [0; 4]).to_owned();
            self.prefix(&text, 0) == (" ", 1) && !self.is_within_longer(byte as u8)
        })
    }

    /// Return for each ASCII character the one that it becomes beside any ASCII text and within symbols,
    /// or `None` if it becomes something else or depends on its neighbours.
    pub(crate) fn ascii_alone(&self) -> [Option<u8>; 128] {
        if self.continues_with_ascii() {
            return [None; 128];
        }
        std::array::from_fn(|byte| {
            let text = char::from(byte as u8).to_string();
            match self.prefix(&text, 0).0.as_bytes() {
                &[one] if one.is_ascii() && one != b' ' => Some(one),
                _ => None,
            }
            // Symbols stay unchanged.
            .filter(|&one| usize::from(one) == byte || !self.is_within_symbol(byte as u8))
        })
    }
}

impl Normalizer {
    /// Return for each ASCII character the one that it becomes beside any ASCII text, or `None` if it
    /// becomes something else or depends on its neighbours.
    pub(crate) fn ascii_alone(&self) -> [Option<u8>; 128] {
        match self {
            Self::Identity => std::array::from_fn(|byte| Some(byte as u8)),
            Self::SentencePiece(normalizer) => normalizer.ascii_alone(),
            _ => [None; 128],
        }
    }
}

fn both(one: &Boundaries, other: &Boundaries) -> Boundaries {
    std::array::from_fn(|byte| one[byte] && other[byte])
}

fn boundaries_of(rules: &Precompiled) -> Boundaries {
    let prepended = PREPENDED.iter().flat_map(|&(first, last)| first..=last).filter_map(char::from_u32);
    let swallows = prepended.into_iter().any(|c| rules.changes(c));
    std::array::from_fn(|byte| {
        let c = char::from(byte as u8);
        let mut new = String::new();
        rules.rewrite_alone(c, &mut new);
        let is_space = !new.is_empty() && new.chars().all(char::is_whitespace);
        // A rule must not change a cluster that begins with a space.
        let is_kept = c != ' ' || !rules.changes(c);
        is_space && is_kept && !swallows && !rules.is_within_longer(byte as u8)
    })
}

fn depends_on_space(rules: &Precompiled, word: &str) -> bool {
    let Some(first) = word.chars().next().filter(|c| !c.is_ascii()) else { return false };
    !rules.keeps(&word[..first.len_utf8()])
        && rules.changes(first)
        && [' ', first].iter().collect::<String>().graphemes(true).count() == 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prepended_characters_absorb_a_space() {
        let listed =
            |c: char| PREPENDED.iter().any(|&(first, last)| (first..=last).contains(&u32::from(c)));
        for c in (0..=u32::from(char::MAX)).filter_map(char::from_u32) {
            let is_one = [c, ' '].iter().collect::<String>().graphemes(true).count() == 1;
            assert_eq!(is_one, listed(c), "{c:?}");
        }
    }
}
