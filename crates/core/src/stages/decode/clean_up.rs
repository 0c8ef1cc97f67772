//! Clean up tokenization spaces: removes spaces before punctuation and English contractions.

/// Texts and their replacements, in the order of application.
const CLEAN_UP: [(&str, &str); 11] = [
    (" .", "."),
    (" ?", "?"),
    (" !", "!"),
    (" ,", ","),
    (" ' ", "'"),
    (" n't", "n't"),
    (" 'm", "'m"),
    (" do not", " don't"),
    (" 's", "'s"),
    (" 've", "'ve"),
    (" 're", "'re"),
];

/// Clean up the text from byte `start` on.
pub(super) fn clean_up_from(text: &mut String, start: usize) {
    if !may_need_clean_up(&text.as_bytes()[start..]) {
        return;
    }
    for (old, new) in CLEAN_UP {
        if text[start..].contains(old) {
            let cleaned = text[start..].replace(old, new);
            text.truncate(start);
            text.push_str(&cleaned);
        }
    }
}

/// Return whether the text contains the first two bytes of a text to replace.
fn may_need_clean_up(bytes: &[u8]) -> bool {
    let begins =
        |two: &[u8]| two[0] == b' ' && matches!(two[1], b'.' | b'?' | b'!' | b',' | b'\'' | b'n' | b'd');
    bytes.windows(2).any(begins)
}
