//! `Metaspace`: a metaspace instead of every space and before the text, and words that begin with it.

use super::split::split_at_chars;
use crate::spec::{MetaspaceSpec, PrependScheme, SplitBehavior};
use crate::text::{NormalizedSink, PreTokenizedText};

/// Replace the spaces of every word, then split before each metaspace.
pub(super) fn run(spec: MetaspaceSpec, words: &mut PreTokenizedText) {
    let mark = spec.replacement;
    words.rewrite(|text, is_first, out| {
        let prepends = match spec.prepend_scheme {
            PrependScheme::Always => true,
            PrependScheme::First => is_first,
            PrependScheme::Never => false,
        };
        for (at, c) in text.char_indices() {
            let source = (at as u32, (at + c.len_utf8()) as u32);
            let marked = if c == ' ' { mark } else { c };
            if at == 0 && prepends && marked != mark {
                out.push_from(mark, source);
            }
            out.push_from(marked, source);
        }
    });
    if spec.split {
        words.split(|text, emit| split_at_chars(text, SplitBehavior::MergedWithNext, emit, |c| c == mark));
    }
}
