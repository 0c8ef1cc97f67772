//! Cuts where the script changes; Japanese counts as one script, and spaces as any. Linear.

use piecework_unicode::{script_of, Script};

/// Give the stretches of one script; what comes before the first character of a known script is dropped.
pub(super) fn cut(text: &str, emit: &mut dyn FnMut(usize, usize)) {
    let script_of = script_of();
    let (mut start, mut script) = (0, Script::NONE);
    for (at, c) in text.char_indices() {
        let next = script_of(c);
        if next != Script::NONE && next != script {
            if script != Script::NONE {
                emit(start, at);
            }
            (start, script) = (at, next);
        }
    }
    if script != Script::NONE {
        emit(start, text.len());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces(text: &str) -> Vec<&str> {
        let mut pieces = Vec::new();
        cut(text, &mut |start, end| pieces.push(&text[start..end]));
        pieces
    }

    #[test]
    fn cuts_between_scripts() {
        assert_eq!(pieces("どこで生れ。Yes"), ["どこで生れ", "。", "Yes"]);
        assert_eq!(pieces("Apples are りんご 林檎"), ["Apples are ", "りんご 林檎"]);
        assert_eq!(pieces("ラーメンx\u{301}y"), ["ラーメン", "x", "\u{301}", "y"]);
    }

    #[test]
    fn drops_leading_spaces_as_tokenizers_does() {
        assert_eq!(pieces("  a b"), ["a b"]);
        assert!(pieces("  ").is_empty());
    }
}
