//! Ids of byte-level pipelines aligned with the words of a text: each id covers some bytes of its word.

use super::super::stages::Stages;
use super::super::{Options, Scratch};
use super::Aligner;
use crate::error::Error;
use crate::stages::added_tokens::Segment;
use crate::stages::pretokenize::{ScanScratch, WordSpans};
use piecework_unicode::{begins_char, char_count};

/// The number of bytes that are tested for ASCII together.
const BLOCK: usize = 32;

/// Align ids with a span that begins at a byte of the text. Return `false` if they do not cover its words.
pub(in super::super) fn align_byte_spans(
    stages: &Stages,
    (span, start): (&str, usize),
    options: Options<'_>,
    scratch: &mut Scratch,
    aligner: &mut Aligner<'_>,
) -> Result<bool, Error> {
    let Scratch { split, added_spaces, .. } = scratch;
    // There is no normalizer: added tokens of normalized text are found in the raw text.
    for segment in stages.added_tokens.normalized_segments(span, options.parse_special) {
        let fits = match segment {
            Segment::Token(id, from, to) => {
                aligner.added_token(stages, id, (&span[from..to], start + from), added_spaces)
            }
            Segment::Text(from, to) => {
                align_text(stages, (&span[from..to], start + from), &mut split.scan, aligner)?
            }
        };
        if !fits {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Align ids with a text that begins at a byte of the original.
fn align_text(
    stages: &Stages,
    (text, start): (&str, usize),
    scan: &mut ScanScratch,
    aligner: &mut Aligner<'_>,
) -> Result<bool, Error> {
    let mut from = 0;
    while from < text.len() {
        let to = stages.splitter.pre_tokenizer().find_words(text, from, scan)?;
        if !align_words(&text[from..to], start + from, scan.words(), aligner) {
            return Ok(false);
        }
        from = to;
    }
    Ok(true)
}

/// Align ids with the words of a span that begins at a byte of the text; returns `false` if they do not cover them.
fn align_words(span: &str, at: usize, words: WordSpans<'_>, aligner: &mut Aligner<'_>) -> bool {
    let bytes = span.as_bytes();
    let (mut words, mut wide) = (words.spans(), next_wide(bytes, 0));
    let ascii =
        |wide: usize| move |(start, end): (usize, usize)| (end <= wide).then_some((at + start, at + end));
    while let Some((start, end)) = aligner.ascii_words(&mut words, ascii(wide)) {
        aligner.pass_text(&span[wide.min(start)..start]);
        if !align_wide_word(&bytes[start..end], at + start, aligner) {
            return false;
        }
        wide = next_wide(bytes, end);
    }
    aligner.pass_text(&span[wide..]);
    true
}

/// Return the first byte beyond ASCII from a place on, or the end.
fn next_wide(bytes: &[u8], from: usize) -> usize {
    let rest = &bytes[from..];
    let block = rest.chunks(BLOCK).position(|block| !block.is_ascii());
    let ascii = block.map_or(rest.len(), |block| BLOCK * block);
    let within = rest[ascii..].iter().position(|byte| !byte.is_ascii());
    from + ascii + within.unwrap_or(rest.len() - ascii)
}

/// Align a word beyond ASCII: characters are counted from id to id.
fn align_wide_word(word: &[u8], at: usize, aligner: &mut Aligner<'_>) -> bool {
    let first = aligner.char_at(at);
    let mut chars = first;
    let fits = aligner.word(word.len(), |from, to| {
        let start = chars - u32::from(!begins_char(word[from]));
        chars += char_count(&word[from..to]);
        [start, chars]
    });
    aligner.pass(word.len(), chars.wrapping_sub(first));
    fits
}
