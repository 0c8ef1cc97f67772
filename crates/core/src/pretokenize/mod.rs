//! Pre-tokenizers: normalized text in, byte spans of words out. One pass, linear.

use crate::spec::PreTokenizerSpec;
use crate::text::{class_of, Class};

/// A compiled pre-tokenizer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PreTokenizer {
    /// The whole text is one word.
    Whole,
    /// Words are what stands between and on these classes.
    Classes {
        /// Characters of this class end a word and are dropped.
        removed: Option<Class>,
        /// Characters of this class are words of their own.
        isolated: Option<Class>,
    },
}

impl PreTokenizer {
    /// Compile a pre-tokenizer; none leaves the text whole.
    #[must_use]
    pub fn compile(spec: Option<&PreTokenizerSpec>) -> Self {
        let (space, punctuation) = (Some(Class::WHITESPACE), Some(Class::PUNCTUATION));
        match spec {
            None => Self::Whole,
            Some(PreTokenizerSpec::Bert) => Self::Classes { removed: space, isolated: punctuation },
            Some(PreTokenizerSpec::WhitespaceSplit) => Self::Classes { removed: space, isolated: None },
            Some(PreTokenizerSpec::Punctuation) => Self::Classes { removed: None, isolated: punctuation },
        }
    }

    /// Give the byte span of every word, in order.
    pub fn run(&self, text: &str, mut emit: impl FnMut(usize, usize)) {
        match *self {
            Self::Whole if text.is_empty() => {}
            Self::Whole => emit(0, text.len()),
            Self::Classes { removed, isolated } => split(text, removed, isolated, emit),
        }
    }

    /// The specification it was compiled from.
    #[must_use]
    pub fn spec(&self) -> Option<PreTokenizerSpec> {
        match self {
            Self::Whole | Self::Classes { removed: None, isolated: None } => None,
            Self::Classes { removed: Some(_), isolated: Some(_) } => Some(PreTokenizerSpec::Bert),
            Self::Classes { isolated: None, .. } => Some(PreTokenizerSpec::WhitespaceSplit),
            Self::Classes { removed: None, .. } => Some(PreTokenizerSpec::Punctuation),
        }
    }
}

fn split(text: &str, removed: Option<Class>, isolated: Option<Class>, mut emit: impl FnMut(usize, usize)) {
    let is = |class: Class, wanted: Option<Class>| wanted.is_some_and(|wanted| class.has(wanted));
    let mut start = 0;
    for (at, c) in text.char_indices() {
        let class = class_of(c);
        let (drops, stands_alone) = (is(class, removed), is(class, isolated));
        if !drops && !stands_alone {
            continue;
        }
        if start < at {
            emit(start, at);
        }
        start = at + c.len_utf8();
        if stands_alone {
            emit(at, start);
        }
    }
    if start < text.len() {
        emit(start, text.len());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words<'t>(spec: &PreTokenizerSpec, text: &'t str) -> Vec<&'t str> {
        let mut words = Vec::new();
        PreTokenizer::compile(Some(spec)).run(text, |start, end| words.push(&text[start..end]));
        words
    }

    #[test]
    fn splits_as_asked() {
        let text = "Don't  go?";
        assert_eq!(words(&PreTokenizerSpec::Bert, text), ["Don", "'", "t", "go", "?"]);
        assert_eq!(words(&PreTokenizerSpec::WhitespaceSplit, text), ["Don't", "go?"]);
        assert_eq!(words(&PreTokenizerSpec::Punctuation, text), ["Don", "'", "t  go", "?"]);
    }
}
