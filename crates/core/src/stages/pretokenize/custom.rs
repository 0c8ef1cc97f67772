//! A pre-tokenizer that calls a function of the user, which returns spans or words.
//!
//! Text between the words is removed. Linear, apart from the function.

use crate::error::{Error, ErrorKind};
use crate::spec::{CharSpan, CustomSpec, CustomWords};
use crate::text::CharSpans;

/// The compiled pre-tokenizer.
#[derive(Clone, Debug)]
pub(super) struct CustomPreTokenizer {
    spec: CustomSpec,
    place: String,
}

impl CustomPreTokenizer {
    /// Compile the settings of the stage at `place`.
    pub(super) fn compile(spec: &CustomSpec, place: &str) -> Self {
        Self { spec: spec.clone(), place: format!("{place} {:?}", spec.name) }
    }

    /// Emit the byte span of every word of `text`.
    pub(super) fn split(&self, text: &str, emit: &mut dyn FnMut(usize, usize)) -> Result<(), Error> {
        let words = self.spec.function.split(text);
        match words.map_err(|error| error.at(self.place.clone()))? {
            CustomWords::Spans(spans) => self.split_at_spans(text, &spans, emit),
            CustomWords::Texts(words) => self.find(text, &words, emit),
        }
    }

    fn split_at_spans(
        &self,
        text: &str,
        spans: &[CharSpan],
        emit: &mut dyn FnMut(usize, usize),
    ) -> Result<(), Error> {
        let mut places = CharSpans::new(text);
        for (at, &span) in spans.iter().enumerate() {
            let (start, end) = places
                .apart(span)
                .map_err(|expected| self.error(format!("span {at} ({}, {})", span.0, span.1), expected))?;
            emit(start, end);
        }
        Ok(())
    }

    fn find(&self, text: &str, words: &[String], emit: &mut dyn FnMut(usize, usize)) -> Result<(), Error> {
        let mut done = 0;
        for (at, word) in words.iter().enumerate() {
            let Some(gap) = text[done..].find(word.as_str()) else {
                let found = format!("word {at} {:?}", shortened(word));
                let chars = text[..done].chars().count();
                let rest = shortened(&text[done..]);
                let expected = format!(
                    "words that stand in the text in order; from character {chars} on it is {rest:?}"
                );
                return Err(self.error(found, expected));
            };
            emit(done + gap, done + gap + word.len());
            done += gap + word.len();
        }
        Ok(())
    }

    fn error(&self, found: String, expected: String) -> Error {
        Error::new(ErrorKind::Stage, &self.place, found, expected)
    }
}

/// Error messages show at most this many characters of a word or text.
const MAX_SHOWN_CHARS: usize = 40;

fn shortened(text: &str) -> String {
    match text.char_indices().nth(MAX_SHOWN_CHARS) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::spec::{Rewritten, TextFunction};

    /// Returns the same words for every text.
    #[derive(Debug)]
    struct ConstantFunction(CustomWords);

    impl TextFunction for ConstantFunction {
        fn rewrite(&self, text: &str) -> Result<Rewritten, Error> {
            Ok(Rewritten { text: text.to_owned(), spans: None })
        }

        fn split(&self, _: &str) -> Result<CustomWords, Error> {
            Ok(self.0.clone())
        }
    }

    fn split(text: &'static str, words: CustomWords) -> Result<Vec<&'static str>, Error> {
        let spec = CustomSpec { name: "always".to_owned(), function: Arc::new(ConstantFunction(words)) };
        let mut words = Vec::new();
        CustomPreTokenizer::compile(&spec, "pre_tokenizer")
            .split(text, &mut |start, end| words.push(&text[start..end]))?;
        Ok(words)
    }

    fn texts(words: &[&str]) -> CustomWords {
        CustomWords::Texts(words.iter().map(|&word| word.to_owned()).collect())
    }

    #[test]
    fn words_are_found_in_order() {
        let words = split("é do n't do", texts(&["é", "do", "n't", "do"])).expect("words of the text");
        assert_eq!(words, ["é", "do", "n't", "do"]);
    }

    #[test]
    fn words_are_given_as_spans() {
        let spans = CustomWords::Spans(vec![(0, 1), (2, 4), (4, 7)]);
        assert_eq!(split("é don't", spans).expect("good spans"), ["é", "do", "n't"]);
    }

    #[test]
    fn words_that_are_not_in_the_text_are_refused() {
        let error = split("a \"b\"", texts(&["a", "``"])).expect_err("no such word");
        assert_eq!(error.found, "word 1 \"``\"");
        assert!(error.expected.ends_with("from character 1 on it is \" \\\"b\\\"\""), "{error}");
        assert!(split("a b", texts(&["b", "a"])).is_err());
    }

    #[test]
    fn invalid_spans_are_refused() {
        for spans in [vec![(0, 4)], vec![(2, 1)], vec![(0, 2), (1, 3)], vec![(-1, 1)]] {
            let error = split("abc", CustomWords::Spans(spans)).expect_err("bad spans");
            assert_eq!(error.place, "pre_tokenizer \"always\"");
        }
    }
}
