//! Tidying: no space before punctuation and English contractions.

/// What is replaced, in this order.
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

/// Tidy what stands after byte `start`.
pub(super) fn tidy(text: &mut String, start: usize) {
    if !may_need_tidying(&text.as_bytes()[start..]) {
        return;
    }
    for (untidy, tidy) in CLEAN_UP {
        if text[start..].contains(untidy) {
            let tidied = text[start..].replace(untidy, tidy);
            text.truncate(start);
            text.push_str(&tidied);
        }
    }
}

/// Whether anything stands there that begins as the untidy texts do: else none of them does.
fn may_need_tidying(bytes: &[u8]) -> bool {
    let begins =
        |two: &[u8]| two[0] == b' ' && matches!(two[1], b'.' | b'?' | b'!' | b',' | b'\'' | b'n' | b'd');
    bytes.windows(2).any(begins)
}
