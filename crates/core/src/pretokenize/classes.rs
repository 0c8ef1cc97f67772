//! Words between and on classes of characters: what BERT's pre-tokenizer and its parts do.

use piecework_unicode::{class_of, Class};

/// Give what stands between characters of `removed`, and every character of `isolated` alone.
pub(super) fn cut(
    text: &str,
    removed: Option<Class>,
    isolated: Option<Class>,
    mut emit: impl FnMut(usize, usize),
) {
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
