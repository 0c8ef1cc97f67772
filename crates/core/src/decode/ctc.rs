//! `CTC`: repeated tokens once, blanks nowhere (connectionist temporal classification).

use super::pieces::TextPieces;
use super::tidy::tidy;

/// Drop repetitions and blanks; with `clean_up` also tidy and make word delimiters spaces.
pub(super) fn run<'t>(
    tokens: impl Iterator<Item = &'t str>,
    pad_token: &str,
    word_delimiter_token: &str,
    clean_up: bool,
    out: &mut TextPieces,
) {
    let mut previous = None;
    for token in tokens {
        if previous.replace(token) == Some(token) {
            continue;
        }
        let mut text = token.replace(pad_token, "");
        if clean_up {
            tidy(&mut text, 0);
            text = text.replace(word_delimiter_token, " ");
        }
        if !text.is_empty() {
            out.push(&text);
        }
    }
}
