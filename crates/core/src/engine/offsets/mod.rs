//! Tokens with their spans and words, made from ids, where a route says how ids cover their text. Other pipelines encode
//! the text again by the definition, so that nothing else knows which text a token stands for.
//!
//! ```text
//! aligner  ids aligned with the words of a text by the number of bytes that each covers
//! ```
//!
//! A span of ASCII has as many characters as bytes, and so has the text between spans. The length of an entry says what
//! it covers; where it does not, the model segments the word again.

mod aligner;

pub(super) use aligner::AlignedIds;

use piecework_unicode::{begins_char, char_count};

use super::definition;
use super::encode::Call;
use super::route::Route;
use super::stages::{Stages, WordNumber};
use super::{Input, Options, Scratch, Tokenizer};
use crate::encoding::{Encoding, Token};
use crate::error::Error;
use crate::model::{ModelScratch, TokenSpan};
use crate::stages::added_tokens::Segment;
use crate::stages::pretokenize::WordSpans;
use crate::stages::split::bert::{
    AsciiSpan, BertScratch, BertSplitter, FoundSpans, SpanChunk, SpanWord, WordBuffer,
};
use aligner::Aligner;

#[cfg(test)]
thread_local! {
    /// The number of rows of this thread that were encoded again.
    pub(super) static ROWS_AGAIN: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

/// The tokens of a row.
#[derive(Clone, Copy, Debug)]
pub(super) enum Row<'r> {
    /// The spans and words of ids that are known.
    Aligned {
        /// The first character and the one after the last.
        offsets: &'r [[u32; 2]],
        /// The number of the word.
        words: &'r [u32],
    },
    /// Tokens in place of ids that do not say how they cover the text.
    Tokens(&'r [Token]),
}

impl Tokenizer {
    /// Emit the tokens of an input whose ids are known, without special tokens.
    pub(super) fn aligned_row(
        &self,
        input: Input<'_>,
        ids: &[u32],
        options: Options<'_>,
        scratch: &mut Scratch,
        emit: impl FnOnce(Row<'_>),
    ) -> Result<(), Error> {
        scratch.added_spaces.clear();
        if self.align(input, ids, options, scratch)? {
            let (offsets, words) = scratch.aligned.columns();
            emit(Row::Aligned { offsets, words });
        } else {
            #[cfg(test)]
            ROWS_AGAIN.set(ROWS_AGAIN.get() + 1);
            scratch.added_spaces.clear();
            emit(Row::Tokens(&definition::tokens(self.stages(), input, 0, options, scratch)?));
        }
        Ok(())
    }

    /// Return the tokens of an input from its ids; `None` if the ids do not say how they cover it.
    pub(super) fn aligned_tokens(
        &self,
        input: Input<'_>,
        index: u32,
        options: Options<'_>,
        scratch: &mut Scratch,
    ) -> Result<Option<Vec<Token>>, Error> {
        let Some(route) = self.aligning_route(options) else { return Ok(None) };
        let mut ids = std::mem::take(&mut scratch.unaligned);
        ids.clear();
        let stages = self.stages();
        let made = Call { route, stages, options, scratch, ids: &mut ids }.whole_input(input);
        let aligned = made.and_then(|()| self.align(input, &ids, options, scratch));
        let tokens = aligned.map(|is_aligned| is_aligned.then(|| scratch.aligned.tokens(&ids, index)));
        scratch.unaligned = ids;
        tokens
    }

    /// Encode a text with every field, given its ids from [`super::batch::Encoder::ids`] with the same options.
    ///
    /// If the ids do not say how they cover the text, it is encoded again. Other ids that are not those of the text are not
    /// detected.
    pub fn encode_from_ids(
        &self,
        text: &str,
        row: &[u32],
        options: Options<'_>,
        scratch: &mut Scratch,
    ) -> Result<Encoding, Error> {
        let frame = self.stages().post_processor.frame_of_one(options.add_special_tokens);
        let frame = frame.filter(|_| self.keeps_rows() && options.sampling.is_none());
        if let Some(ids) = frame.and_then(|frame| frame.strip(row)) {
            scratch.added_spaces.clear();
            if self.align(Input::Text(text), ids, options, scratch)? {
                let tokens = scratch.aligned.tokens(ids, 0);
                return self.finished(vec![Encoding::new(tokens)], options, scratch);
            }
        }
        self.encode(Input::Text(text), None, options, scratch)
    }

    /// Align the ids of an input with its words, into the scratch; `false` if they do not say how they cover it.
    fn align(
        &self,
        input: Input<'_>,
        ids: &[u32],
        options: Options<'_>,
        scratch: &mut Scratch,
    ) -> Result<bool, Error> {
        let Some(route) = self.aligning_route(options) else { return Ok(false) };
        let stages = self.stages();
        let mut aligned = std::mem::take(&mut scratch.aligned);
        let aligner = Aligner::new(stages.token_lengths(), ids, &mut aligned);
        let mut texts = TextAligner { route, stages, options, scratch, aligner };
        let result = texts.input(input);
        let is_done = texts.aligner.is_done();
        scratch.aligned = aligned;
        result.map(|fits| fits && is_done)
    }
}

/// Aligns the ids of an input with its texts. Methods return `false` if the ids do not say how they cover the text.
struct TextAligner<'s, 'l> {
    route: &'s Route,
    stages: &'s Stages,
    options: Options<'s>,
    scratch: &'s mut Scratch,
    aligner: Aligner<'l>,
}

impl TextAligner<'_, '_> {
    fn input(&mut self, input: Input<'_>) -> Result<bool, Error> {
        let stages = self.stages;
        for (number, text) in input.texts().enumerate() {
            self.aligner.begin_text(WordNumber::of(input, number));
            for segment in stages.added_tokens.raw_segments(text, self.options.parse_special) {
                let fits = match segment {
                    Segment::Token(id, start, end) => self.added_token(id, &text[start..end], start),
                    Segment::Text(start, end) => self.span(&text[start..end], start)?,
                };
                if !fits {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    /// Align an added token, found at a byte of the original.
    fn added_token(&mut self, id: u32, found: &str, at: usize) -> bool {
        self.aligner.added_token(self.stages, id, found, at, &mut self.scratch.added_spaces)
    }

    /// Align a span of raw text that begins at byte `start` of the original.
    fn span(&mut self, span: &str, start: usize) -> Result<bool, Error> {
        match self.route {
            Route::ByteLevel { .. } => self.byte_spans(span, start),
            Route::Bert(splitter) => self.ascii_spans(splitter, span, start),
            Route::Metaspace(_) | Route::SentencePieceUnigram(_) | Route::Generic => Ok(false),
        }
    }

    /// Align a span of byte-level text. There is no normalizer: added tokens of normalized text are found in the raw text.
    fn byte_spans(&mut self, span: &str, start: usize) -> Result<bool, Error> {
        let stages = self.stages;
        for segment in stages.added_tokens.normalized_segments(span, self.options.parse_special) {
            let fits = match segment {
                Segment::Token(id, from, to) => self.added_token(id, &span[from..to], start + from),
                Segment::Text(from, to) => self.text(&span[from..to], start + from)?,
            };
            if !fits {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Align the words of a text that begins at a byte of the original.
    fn text(&mut self, text: &str, start: usize) -> Result<bool, Error> {
        let scan = &mut self.scratch.split.scan;
        let mut from = 0;
        while from < text.len() {
            let to = self.stages.splitter.pre_tokenizer().find_words(text, from, scan)?;
            if !align_words(&text[from..to], start + from, scan.words(), &mut self.aligner) {
                return Ok(false);
            }
            from = to;
        }
        Ok(true)
    }

    /// Align a text that begins at a byte of the original. Marks may have to be reordered: then it returns `false` too.
    fn ascii_spans(&mut self, splitter: &BertSplitter, text: &str, start: usize) -> Result<bool, Error> {
        let Scratch { model, split, spans: tokens, .. } = &mut *self.scratch;
        let BertScratch { chunk, words } = &mut split.bert;
        let (stages, aligner) = (self.stages, &mut self.aligner);
        let mut spans = SpanAligner { stages, splitter, words, model, tokens, aligner };
        let mut from = 0;
        while from < text.len() {
            let (fits, end) = match splitter.find(text, from, chunk) {
                FoundSpans::Chunk(end) => (spans.chunk(chunk, text, start)?, end),
                FoundSpans::LongSpan(end) => (spans.split_span(&text[from..end], start + from)?, end),
            };
            if !fits {
                return Ok(false);
            }
            from = end;
        }
        Ok(true)
    }
}

/// The number of bytes that are tested for ASCII together.
const BLOCK: usize = 32;

/// Align ids with the words of a span that begins at a byte of the text; return `false` if they do not cover them.
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

/// Aligns ids with spans.
struct SpanAligner<'s, 'l> {
    stages: &'s Stages,
    splitter: &'s BertSplitter,
    words: &'s mut WordBuffer,
    model: &'s mut ModelScratch,
    tokens: &'s mut Vec<TokenSpan>,
    aligner: &'s mut Aligner<'l>,
}

impl SpanAligner<'_, '_> {
    /// Align a chunk of a text that begins at `start`. Return `false` if the ids do not fit.
    fn chunk(&mut self, chunk: &SpanChunk, text: &str, start: usize) -> Result<bool, Error> {
        let from = start + chunk.from;
        let ascii = |span: AsciiSpan| (!span.needs_actions).then_some((from + span.start, from + span.end));
        let mut all = chunk.spans().spans();
        while let Some(span) = self.aligner.ascii_words(&mut all, ascii) {
            let at = from + span.start;
            let fits = if span.needs_actions {
                self.split_span(chunk.raw(text, span), at)?
            } else {
                let before = self.aligner.char_at(at);
                self.by_model(chunk.lowered(span), |from, to| [before + from as u32, before + to as u32])
            };
            if !fits {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Align a span that is split into words.
    fn split_span(&mut self, span: &str, at: usize) -> Result<bool, Error> {
        let before = self.aligner.char_at(at);
        let splitter = self.splitter;
        let (mut words, mut fits) = (std::mem::take(self.words), true);
        let emit = |word: SpanWord<'_>| {
            let sources = word.sources;
            let chars_of = |from: usize, to: usize| [before + sources[from].0, before + sources[to - 1].1];
            // A byte piece that covers no text is empty.
            let or_empty =
                |from, to| if from < to { chars_of(from, to) } else { [before + sources[from].0; 2] };
            fits = fits
                && (self.aligner.word(word.bytes.len(), chars_of) || self.by_model(word.bytes, or_empty));
        };
        let is_split = splitter.traced_words(span, &mut words, emit);
        *self.words = words;
        self.aligner.pass_text(span);
        Ok(is_split? && fits)
    }

    /// Align a word by the tokens of the model.
    #[inline(never)]
    fn by_model(&mut self, word: &[u8], chars_of: impl Fn(usize, usize) -> [u32; 2]) -> bool {
        let Ok(word) = std::str::from_utf8(word) else { return false };
        self.tokens.clear();
        self.stages.model.run(word, &self.stages.vocab, self.model, self.tokens);
        self.aligner.tokens(self.tokens, chars_of)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::{
        ModelSpec, PreTokenizerSpec, TokenizerSpec, UnigramSpec, UnknownUnit, WordPieceSpec,
    };
    use crate::stages::added_tokens::Selector;

    const ALL: Options<'_> =
        Options { add_special_tokens: true, parse_special: &Selector::All, sampling: None };
    const TEXTS: [&str; 5] = ["abab b", "", "a [UNK] ab", "x ab \u{20AC}b", "ab\u{20AC}ab  bb"];

    fn pipeline(model: ModelSpec) -> Tokenizer {
        Tokenizer::compile(TokenizerSpec {
            pre_tokenizer: Some(PreTokenizerSpec::WhitespaceSplit),
            ..TokenizerSpec::of(model)
        })
        .unwrap()
    }

    fn pipelines() -> Vec<Tokenizer> {
        let entries = ["[UNK]", "a", "b", "##a", "##b", "##ab"];
        let vocab = entries.iter().zip(0..).map(|(entry, id)| ((*entry).to_owned(), id)).collect();
        let wordpiece = WordPieceSpec {
            vocab,
            unk_token: "[UNK]".into(),
            continuing_subword_prefix: "##".into(),
            max_input_chars_per_word: 100,
            unk: UnknownUnit::Word,
            segmentation: crate::spec::Segmentation::default(),
        };
        let scores = ["<unk>", "a", "b", "ab"].iter().zip(0..);
        let vocab = scores.map(|(entry, id)| ((*entry).to_owned(), -f64::from(id))).collect();
        let unigram = UnigramSpec { vocab, unk_id: Some(0), byte_fallback: false };
        vec![pipeline(ModelSpec::WordPiece(wordpiece)), pipeline(ModelSpec::Unigram(unigram))]
    }

    #[test]
    fn known_ids_give_the_tokens_of_the_text() {
        for pipeline in pipelines() {
            let mut scratch = pipeline.scratch();
            for text in TEXTS {
                let expected = pipeline.plain().encode(Input::Text(text), None, ALL, &mut scratch).unwrap();
                let row: Vec<u32> = expected.tokens.iter().map(|token| token.id).collect();
                assert_eq!(pipeline.encode_from_ids(text, &row, ALL, &mut scratch).unwrap(), expected);
            }
        }
    }

    #[test]
    fn ids_that_do_not_fit_the_text_are_not_used() {
        for pipeline in pipelines() {
            let mut scratch = pipeline.scratch();
            for text in TEXTS {
                let expected = pipeline.plain().encode(Input::Text(text), None, ALL, &mut scratch).unwrap();
                for row in [vec![], vec![2, 2, 2], vec![0; 9], vec![77]] {
                    let found = pipeline.encode_from_ids(text, &row, ALL, &mut scratch).unwrap();
                    assert_eq!(found, expected, "{text}");
                }
            }
        }
    }
}
