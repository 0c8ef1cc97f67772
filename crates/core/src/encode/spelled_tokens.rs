//! Ids of byte-level pipelines laid along the words of a text, of which each spells some bytes.

use super::laid::Line;
use super::{Options, Scratch, Tokenizer};
use crate::added_tokens::Segment;
use crate::error::Error;
use crate::pretokenize::WordSpans;
use crate::spec::ModelSpec;
use crate::text::{begins_char, char_count};

/// How many bytes are looked at together.
const BLOCK: usize = 32;

impl Tokenizer {
    /// Whether tokens are the bytes of the text in their order and nothing is drawn.
    pub(super) fn spells_text(&self, options: Options<'_>) -> bool {
        let ModelSpec::Bpe(spec) = &self.tables.model_spec else { return false };
        let is_spelled = self.tables.splitter.cuts_raw() && !spec.has_affixes();
        is_spelled && options.sampling.is_none() && !spec.byte_fallback
    }

    /// Lay ids along a segment that begins at a byte of the text; false where they do not spell its words.
    pub(super) fn lay_spelled(
        &self,
        (segment, start): (&str, usize),
        index: u32,
        options: Options<'_>,
        scratch: &mut Scratch,
        line: &mut Line<'_>,
    ) -> Result<bool, Error> {
        let Scratch { split, swallowed, .. } = scratch;
        let mut result = Ok(true);
        // There is no normalizer: what is sought in normalized text stands in the segment.
        self.tables.special.split_normalized(segment, options.parse_special, |found| match found {
            _ if !matches!(result, Ok(true)) => {}
            Segment::Token(id, from, to) => {
                let found = (&segment[from..to], start + from);
                result = Ok(self.lay_token(id, found, index, swallowed, line));
            }
            Segment::Text(from, to) => {
                let (cut, mut fits) = (self.tables.splitter.pre_tokenizer(), true);
                let cut = cut.split_raw(&segment[from..to], &mut split.scan, |stretch, at, words| {
                    fits = fits && lay_words(stretch, start + from + at, words, line);
                });
                result = cut.map(|()| fits);
            }
        });
        result
    }
}

/// Lay ids along the words of a stretch that begins at a byte of the text; false where they do not spell them.
fn lay_words(stretch: &str, at: usize, words: WordSpans<'_>, line: &mut Line<'_>) -> bool {
    let bytes = stretch.as_bytes();
    let (mut words, mut wide) = (words.spans(), next_wide(bytes, 0));
    let plain =
        |wide: usize| move |(start, end): (usize, usize)| (end <= wide).then_some((at + start, at + end));
    while let Some((start, end)) = line.plain_words(&mut words, plain(wide)) {
        line.pass_text(&stretch[wide.min(start)..start]);
        if !lay_wide_word(&bytes[start..end], at + start, line) {
            return false;
        }
        wide = next_wide(bytes, end);
    }
    line.pass_text(&stretch[wide..]);
    true
}

/// The first byte from a place on that is not of ASCII, or the end.
fn next_wide(bytes: &[u8], from: usize) -> usize {
    let rest = &bytes[from..];
    let block = rest.chunks(BLOCK).position(|block| !block.is_ascii());
    let plain = block.map_or(rest.len(), |block| BLOCK * block);
    let within = rest[plain..].iter().position(|byte| !byte.is_ascii());
    from + plain + within.unwrap_or(rest.len() - plain)
}

/// Lay ids along a word that is not ASCII: characters are counted from id to id.
fn lay_wide_word(word: &[u8], at: usize, line: &mut Line<'_>) -> bool {
    let first = line.char_at(at);
    let mut chars = first;
    let fits = line.word(word.len(), |from, to| {
        let start = chars - u32::from(!begins_char(word[from]));
        chars += char_count(&word[from..to]);
        [start, chars]
    });
    line.pass(word.len(), chars.wrapping_sub(first));
    fits
}
