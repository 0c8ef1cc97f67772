//! Encodes and decodes texts that are difficult for tokenizers.

use piecework_core::encoding::Encoding;
use piecework_core::engine::{Input, Options, Scratch, Selection, Tokenizer};
use piecework_core::model::Sampling;
use piecework_core::stages::added_tokens::Selector;

use crate::Calls;

const TEXTS: [&str; 8] = [
    "",
    "Hello, world! Don't stop.",
    "  two  spaces\n\tand\r\nlines ",
    "naïve İstanbul Σίσυφος 漢字かな 한국어 🤗👩‍👩‍👧 ﬁ ①",
    "a\u{301}\u{327}\u{302E}\u{1D165}\u{0}\u{FFFD}\u{200D}",
    "[CLS][MASK]</s><s>▁▁ĠĠ##ing",
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab",
    "0123456789 12,345.67 <0x0A>",
];

/// Encode a text, and look up its words in the vocabulary.
pub(crate) fn encode_and_look_up(tokenizer: &Tokenizer, text: &str, calls: &mut Calls) {
    let options = Options { add_special_tokens: true, parse_special: &Selector::All, sampling: None };
    let mut scratch = tokenizer.scratch();
    let _ = calls.time(|| tokenizer.encode(Input::Text(text), None, options, &mut scratch));
    let _ = calls.time(|| text.split(' ').filter_map(|word| tokenizer.id_of(word)).count());
}

/// Encode every text alone and as a pair, and decode the ids.
pub(crate) fn encode_and_decode(tokenizer: &Tokenizer, calls: &mut Calls) {
    let mut scratch = tokenizer.scratch();
    let options = Options { add_special_tokens: true, parse_special: &Selector::All, sampling: None };
    for text in TEXTS {
        if calls.are_slow() {
            return;
        }
        let chars = text.chars().count() as u32;
        for pair in [None, Some("a pair")] {
            let (text, pair) = (Input::Text(text), pair.map(Input::Text));
            if let Ok(encoding) = calls.time(|| tokenizer.encode(text, pair, options, &mut scratch)) {
                check(tokenizer, &encoding, chars, calls);
            }
        }
    }
    list_and_sample(tokenizer, options, &mut scratch, calls);
}

/// List and sample segmentations, if the model has several.
fn list_and_sample(tokenizer: &Tokenizer, options: Options<'_>, scratch: &mut Scratch, calls: &mut Calls) {
    let sampling = Sampling { alpha: 0.3, nbest: None, seed: 1, row: 0 };
    for text in TEXTS.map(Input::Text) {
        if calls.are_slow() {
            return;
        }
        let sampled = Options { sampling: Some(sampling), ..options };
        let _ = calls.time(|| tokenizer.encode(text, None, sampled, scratch));
        for selection in [
            Selection::Best,
            Selection::Sampled(sampling),
            Selection::WithoutReplacement { sampling, include_best: true },
        ] {
            if let Ok(found) = calls.time(|| tokenizer.segmentations(text, 5, selection, options, scratch))
            {
                assert!(found.len() <= 5, "more segmentations than requested");
            }
        }
    }
}

/// Check that offsets are within the text; decode the ids.
fn check(tokenizer: &Tokenizer, encoding: &Encoding, chars: u32, calls: &mut Calls) {
    let of_text = encoding.tokens.iter().filter(|token| token.sequence == 0);
    assert!(
        of_text.clone().all(|token| token.start <= token.end && token.end <= chars),
        "offsets beyond the text"
    );
    let ids: Vec<u32> = encoding.tokens.iter().map(|token| token.id).collect();
    let _ = calls.time(|| tokenizer.decode(&ids, false, None));
}
