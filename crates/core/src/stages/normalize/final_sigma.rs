//! The last Σ of a word, which lowercases to ς (Unicode 17, section 3.13, `Final_Sigma`): a cased letter precedes it
//! and none follows, not counting case-ignorable characters such as marks and apostrophes.
//!
//! The classes come from `str::to_lowercase`, because only this rule needs them.

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
