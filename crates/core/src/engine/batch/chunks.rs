//! Chunks of a text within a budget of tokens each, which end with paragraphs, sentences, words or characters.

use std::ops::Range;

use super::{Encoder, ExtraColumns, Source};
use crate::engine::{Input, Options};
use crate::error::{Error, ErrorKind};

/// Where chunks end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ChunkUnit {
    /// After blank lines.
    Paragraph,
    /// After sentences and lines.
    #[default]
    Sentence,
    /// After whitespace.
    Word,
    /// After any character.
    Character,
}

/// How a text is divided.
#[derive(Clone, Copy, Debug)]
pub struct ChunkOptions {
    /// The most tokens of a chunk, encoded alone.
    pub max_tokens: usize,
    /// The most tokens at the end of a chunk that the next one repeats.
    pub overlap: usize,
    /// Where chunks end. A unit that is too long is divided into finer ones.
    pub unit: ChunkUnit,
}

/// A position in a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// Bytes of UTF-8.
    pub bytes: usize,
    /// Characters.
    pub chars: usize,
    /// UTF-16 units.
    pub utf16: usize,
}

/// A part of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chunk {
    /// Where it begins.
    pub start: Place,
    /// Where it ends.
    pub end: Place,
    /// The number of its tokens, encoded alone.
    pub num_tokens: usize,
}

impl Encoder {
    /// Divide a text into chunks. The tokenizer must neither truncate nor pad.
    ///
    /// The whole text is encoded once and each chunk counted, so the time is linear. Fails if one character has too many
    /// tokens, or unless `overlap` is less than `max_tokens`.
    pub fn chunks(
        &self,
        text: &str,
        settings: ChunkOptions,
        options: Options<'_>,
    ) -> Result<Vec<Chunk>, Error> {
        debug_assert!(!self.tokenizer().truncates() && self.tokenizer().padding().is_none());
        check(settings)?;
        let chunker = Chunker { encoder: self, text, settings, options };
        let mut ends = Vec::new();
        chunker.add_units(0..text.len(), settings.unit, &mut ends)?;
        chunker.pack(&chunker.bounds(&ends)?)
    }
}

fn check(settings: ChunkOptions) -> Result<(), Error> {
    let ChunkOptions { max_tokens, overlap, .. } = settings;
    let error = |place, found: usize, expected| {
        Err(Error::new(ErrorKind::Argument, place, found.to_string(), expected))
    };
    if max_tokens == 0 {
        return error("max_tokens", 0, "a number of at least 1".to_owned());
    }
    if overlap >= max_tokens {
        return error("overlap", overlap, format!("less than max_tokens, which is {max_tokens}"));
    }
    Ok(())
}

/// Divides one text.
struct Chunker<'c> {
    encoder: &'c Encoder,
    text: &'c str,
    settings: ChunkOptions,
    options: Options<'c>,
}

/// The end of a unit, or the beginning of the text.
#[derive(Clone, Copy, Default)]
struct Bound {
    place: Place,
    /// The number of tokens of the whole text that begin before it.
    tokens: i64,
}

impl Chunker<'_> {
    /// Append the ends of the units of a span; those that are too long are divided into finer ones.
    fn add_units(&self, span: Range<usize>, unit: ChunkUnit, ends: &mut Vec<usize>) -> Result<(), Error> {
        let units = unit.units_of(self.text, span);
        let sources: Vec<Source<'_>> =
            units.iter().map(|unit| Input::Text(&self.text[unit.clone()]).into()).collect();
        let counts = self.encoder.count(&sources, self.options, 1)?;
        for (found, tokens) in units.into_iter().zip(counts) {
            match unit.finer() {
                _ if tokens as usize <= self.settings.max_tokens => ends.push(found.end),
                Some(finer) => self.add_units(found, finer, ends)?,
                None => return Err(self.too_long(&self.text[found], tokens)),
            }
        }
        Ok(())
    }

    fn too_long(&self, character: &str, tokens: i64) -> Error {
        let expected = format!("at least {tokens}, the tokens of {character:?} alone");
        let found = self.settings.max_tokens.to_string();
        Error::new(ErrorKind::Argument, "max_tokens", found, expected)
    }

    /// Return the beginning of the text, and the end of each unit.
    fn bounds(&self, ends: &[usize]) -> Result<Vec<Bound>, Error> {
        let options = Options { add_special_tokens: false, ..self.options };
        let extra = ExtraColumns { spans: true, overflow: false };
        let batch = self.encoder.encode(&[Input::Text(self.text).into()], None, options, extra, 1)?;
        let offsets = batch.spans.map(|spans| spans.offsets).unwrap_or_default();
        let mut bounds = vec![Bound::default()];
        let mut place = Place::default();
        for &end in ends {
            let unit = &self.text[place.bytes..end];
            place.bytes = end;
            place.chars += unit.chars().count();
            place.utf16 += unit.chars().map(char::len_utf16).sum::<usize>();
            let tokens = offsets.partition_point(|&[start, _]| (start as usize) < place.chars);
            bounds.push(Bound { place, tokens: tokens as i64 });
        }
        Ok(bounds)
    }

    /// Return chunks of whole units.
    fn pack(&self, bounds: &[Bound]) -> Result<Vec<Chunk>, Error> {
        let mut chunks = Vec::new();
        let (mut first, mut done) = (0, 0);
        while done + 1 < bounds.len() {
            let (last, num_tokens) = self.longest(bounds, first)?;
            if last <= done {
                // The overlap leaves no room for the next unit.
                first += 1;
                continue;
            }
            chunks.push(Chunk { start: bounds[first].place, end: bounds[last].place, num_tokens });
            done = last;
            let repeated = match self.settings.overlap {
                0 => last,
                overlap => {
                    let from = bounds[last].tokens - signed(overlap);
                    bounds[..last].partition_point(|at| at.tokens < from)
                }
            };
            first = repeated.max(first + 1);
        }
        Ok(chunks)
    }

    /// Return the end of the longest run of units from `first` on that fits, and its tokens.
    ///
    /// The tokens of the whole text say where to begin; a chunk alone can have more.
    fn longest(&self, bounds: &[Bound], first: usize) -> Result<(usize, usize), Error> {
        let (before, max) = (bounds[first].tokens, signed(self.settings.max_tokens));
        let mut budget = max;
        loop {
            let fitting =
                bounds[first + 1..].partition_point(|at| at.tokens <= before.saturating_add(budget));
            let last = first + fitting.max(1);
            let text = &self.text[bounds[first].place.bytes..bounds[last].place.bytes];
            let tokens = self.encoder.ids(Input::Text(text).into(), self.options, <[u32]>::len)?;
            if tokens as i64 <= max || last == first + 1 {
                return Ok((last, tokens));
            }
            budget = budget.min(bounds[last].tokens - before) - (tokens as i64 - max);
        }
    }
}

fn signed(tokens: usize) -> i64 {
    i64::try_from(tokens).unwrap_or(i64::MAX)
}

impl ChunkUnit {
    const NAMED: [(&str, Self); 4] = [
        ("paragraph", Self::Paragraph),
        ("sentence", Self::Sentence),
        ("word", Self::Word),
        ("character", Self::Character),
    ];

    /// Return the unit with a name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::NAMED.iter().find(|(known, _)| *known == name).map(|&(_, unit)| unit)
    }

    /// Return the unit that divides this one.
    fn finer(self) -> Option<Self> {
        Self::NAMED.get(self as usize + 1).map(|&(_, unit)| unit)
    }

    /// Return the units of a span. Whitespace belongs to the unit before it.
    fn units_of(self, text: &str, span: Range<usize>) -> Vec<Range<usize>> {
        let (mut units, mut start) = (Vec::new(), span.start);
        while start < span.end {
            let rest = &text[start..span.end];
            let end = start + self.end_in(rest).unwrap_or(rest.len());
            units.push(start..end);
            start = end;
        }
        units
    }

    /// Return the end of the first unit of a text that is not empty; `None` if it is all of the text.
    fn end_in(self, text: &str) -> Option<usize> {
        match self {
            Self::Paragraph => paragraph_end(text),
            Self::Sentence => sentence_end(text),
            Self::Word => {
                let at = text.find(is_space)?;
                Some(at + run_len(&text[at..], is_space))
            }
            Self::Character => text.chars().next().map(char::len_utf8),
        }
    }
}

/// Return the end of the whitespace that holds the first two line ends without text between them.
fn paragraph_end(text: &str) -> Option<usize> {
    let mut at = 0;
    loop {
        at += text[at..].find('\n')?;
        let spaces = run_len(&text[at..], is_space);
        if text[at + 1..at + spaces].contains('\n') {
            return Some(at + spaces);
        }
        at += spaces;
    }
}

/// Return the end of the first sentence, or line: after `.`, `!`, `?` and whitespace, or after their East Asian forms, with
/// closing quotes and brackets.
fn sentence_end(text: &str) -> Option<usize> {
    const MARKS: [char; 4] = ['.', '!', '?', '…'];
    const CLOSING: [char; 7] = ['"', '\'', '”', '’', '»', ')', ']'];
    const WIDE_MARKS: [char; 3] = ['。', '！', '？'];
    const WIDE_CLOSING: [char; 5] = ['”', '’', '」', '』', '）'];
    let mut at = 0;
    loop {
        at += text[at..].find(|c| c == '\n' || MARKS.contains(&c) || WIDE_MARKS.contains(&c))?;
        let marks = run_len(&text[at..], |c| MARKS.contains(&c));
        let wide = run_len(&text[at..], |c| WIDE_MARKS.contains(&c));
        let mut end = at + marks + wide;
        end += match wide {
            0 if marks > 0 => run_len(&text[end..], |c| CLOSING.contains(&c)),
            0 => 0,
            _ => run_len(&text[end..], |c| WIDE_CLOSING.contains(&c)),
        };
        let spaces = run_len(&text[end..], is_space);
        if spaces > 0 || wide > 0 {
            return Some(end + spaces);
        }
        at = end;
    }
}

/// Return whether a character is whitespace to Python's regular expressions.
fn is_space(c: char) -> bool {
    c.is_whitespace() || ('\u{1C}'..='\u{1F}').contains(&c)
}

/// Return the bytes of the characters of one class at the beginning of a text.
fn run_len(text: &str, is: impl Fn(char) -> bool) -> usize {
    text.len() - text.trim_start_matches(is).len()
}
