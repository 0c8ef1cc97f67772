//! Clean-up of decoded texts, as transformers does it: whole texts, and texts that arrive in parts. It is part of the
//! decoder, so that every method, stream and saved file applies it.

use super::edits::clean_up_text;

/// Return a text without the spaces before punctuation and English contractions.
#[must_use]
pub fn cleaned_up(mut text: String) -> String {
    clean_up_text(&mut text, 0);
    text
}

/// A text that arrives in parts; each part is returned once later parts cannot change how it is cleaned up.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CleanUpStream {
    pending: String,
}

/// What a text ends with if later characters can complete a replacement. Two replacements can meet: of
/// `" n ' t"`, the first makes `" n't"`, and the second `"n't"`.
const UNDECIDED: [&str; 8] = [" ", " '", " n", " n'", " 'v", " 'r", "' v", "' r"];

impl CleanUpStream {
    /// Continue a stream that still holds this text.
    #[must_use]
    pub fn of_pending(pending: String) -> Self {
        Self { pending }
    }

    /// Return the text that the stream still holds.
    #[must_use]
    pub fn pending(&self) -> &str {
        &self.pending
    }

    /// Append text and return the text that is certain, cleaned up.
    pub fn push(&mut self, text: &str) -> String {
        self.pending.push_str(text);
        let rest = self.pending.split_off(certain_end(&self.pending));
        cleaned_up(std::mem::replace(&mut self.pending, rest))
    }

    /// Return the rest, cleaned up.
    pub fn finish(&mut self) -> String {
        cleaned_up(std::mem::take(&mut self.pending))
    }
}

/// Return the last position that no replacement of the text, continued in any way, can cross.
fn certain_end(text: &str) -> usize {
    let is_certain = |&end: &usize| {
        let (before, after) = text.split_at(end);
        // No replacement has three spaces in a row.
        let is_among_spaces = before.ends_with(' ') && after.starts_with("  ");
        is_among_spaces || !UNDECIDED.iter().any(|part| before.ends_with(part))
    };
    let mut ends = text.char_indices().map(|(start, _)| start).chain([text.len()]).rev();
    ends.find(is_certain).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_text_is_cleaned_up_once_by_each_replacement_in_turn() {
        let cleaned = |text: &str| cleaned_up(text.to_owned());
        assert_eq!(cleaned("hello . ' ll don ' t , he 's ! ?"), "hello.'ll don't, he's!?");
        assert_eq!(cleaned("a  . do not n ' t x n ' t"), "a . do notn't xn't");
    }

    #[test]
    fn characters_one_by_one_are_cleaned_up_as_the_whole() {
        const LENGTH: u32 = 7;
        for alphabet in [" 've", " 're", " 'nt", " 'm.", " 's,"] {
            let characters: Vec<char> = alphabet.chars().collect();
            for number in 0..4_usize.pow(LENGTH) {
                let text: String = (0..LENGTH).map(|at| characters[number / 4_usize.pow(at) % 4]).collect();
                let mut stream = CleanUpStream::default();
                let mut found: String = text.chars().map(|c| stream.push(&c.to_string())).collect();
                found.push_str(&stream.finish());
                assert_eq!(found, cleaned_up(text.clone()), "{text:?}");
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn parts_of_a_text_are_cleaned_up_as_the_whole(
            parts in prop::collection::vec("[ '.,?!ntmsverxé]{0,4}", 0..12)
        ) {
            let mut stream = CleanUpStream::default();
            let mut found: String = parts.iter().map(|part| stream.push(part)).collect();
            prop_assert!(stream.pending().len() < 8, "{:?}", stream);
            found.push_str(&stream.finish());
            prop_assert_eq!(found, cleaned_up(parts.concat()));
        }
    }
}
