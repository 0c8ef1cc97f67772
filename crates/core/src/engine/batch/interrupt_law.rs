//! The law of interrupts: work between two polls is bounded on every route, and after an interrupt at any poll the encoder
//! gives the ids of the definition.

use super::route_law::FIXTURES;
use super::*;
use crate::error::ErrorKind;
use crate::interrupt::testing::polled;
use crate::spec::ModelSpec;
use crate::stages::added_tokens::Selector;

const ALL: Options<'_> =
    Options { add_special_tokens: true, parse_special: &Selector::All, sampling: None };
/// The length of a text in bytes.
const LEN: usize = 1 << 18;
/// There is at least one poll for this number of bytes: a word of bytes is segmented by chunks of 128 KB.
const BYTES_PER_POLL: usize = 1 << 18;

fn repeated(part: impl Fn(usize) -> String) -> String {
    (0..LEN).map(part).scan(0, |len, part| (*len < LEN).then(|| (*len += part.len(), part).1)).collect()
}

/// Texts of many words: seen ones, new ones, of characters of their own, of unknown characters, of added tokens.
fn texts_of_words() -> Vec<String> {
    vec![
        "ab c ".repeat(LEN / 5),
        repeated(|at| format!("a{}b ", at * 7919 % 100_003)),
        "漢 слово ".repeat(LEN / 15),
        "ab<x>".repeat(LEN / 5),
    ]
}

/// Texts of one word.
fn long_words() -> Vec<String> {
    vec!["abc".repeat(LEN / 3), repeated(|at| ["ab", "cc", "e", "ca"][at * 7919 % 103 % 4].into())]
}

fn encode(encoder: &Encoder, text: &str, offsets: bool) -> Result<BatchIds, Error> {
    let extra = ExtraColumns { spans: offsets, overflow: false };
    encoder.encode(&[Source::from(Input::Text(text))], None, ALL, extra, 1)
}

/// Return whether the model segments words of any length.
fn segments_long_words(tokenizer: &Tokenizer) -> bool {
    !matches!(tokenizer.spec().model, ModelSpec::WordPiece(_) | ModelSpec::Word(_))
}

#[test]
fn work_between_two_polls_is_bounded() {
    for tokenizer in FIXTURES.iter() {
        let mut texts = texts_of_words();
        if segments_long_words(tokenizer) {
            texts.extend(long_words());
        }
        for text in texts {
            for (offsets, tokenizer) in [(false, tokenizer.clone()), (true, tokenizer.plain())] {
                let encoder = Encoder::new(tokenizer);
                let (result, polls) = polled(None, || encode(&encoder, &text, offsets));
                assert!(result.is_ok_and(|result| result.is_ok()));
                let least = text.len() / BYTES_PER_POLL;
                let (start, spec) = (text.chars().take(20).collect::<String>(), encoder.tokenizer().spec());
                assert!(
                    polls >= least,
                    "{polls} of {least} polls in {start:?}, offsets {offsets}: {spec:?}"
                );
            }
        }
    }
}

#[test]
fn after_an_interrupt_the_encoder_gives_the_ids_of_the_definition() {
    for tokenizer in FIXTURES.iter() {
        let plain = Encoder::new(tokenizer.plain());
        for text in texts_of_words().into_iter().chain(long_words()) {
            let end = (LEN / 32..).find(|&end| text.is_char_boundary(end)).unwrap_or(text.len());
            let text = &text[..end];
            let expected = encode(&plain, text, true);
            let encoder = Encoder::new(tokenizer.clone());
            let (_, polls) = polled(None, || encode(&Encoder::new(tokenizer.clone()), text, false));
            for last in (0..polls).step_by(polls / 4 + 1) {
                for offsets in [false, true] {
                    let (result, _) = polled(Some(last), || encode(&encoder, text, offsets));
                    // Seen words take fewer polls.
                    if let Err(error) = result {
                        assert_eq!(error.kind, ErrorKind::Interrupted);
                    }
                }
                assert_eq!(encode(&encoder, text, true), expected, "{:?}", tokenizer.spec());
            }
        }
    }
}
