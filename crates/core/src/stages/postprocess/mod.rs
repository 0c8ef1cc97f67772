//! Post-processors: one or two sequences of ids to ids with special tokens and type ids.
//!
//! Compiling runs all processors once. The result is a list of special tokens and sequences for each of
//! single and pair, with and without special tokens.

mod process;
#[cfg(test)]
mod tests;

use piecework_unicode::char_count;

use crate::encoding::{Encoding, Token};
use crate::error::{Error, ErrorKind};
use crate::spec::{check_steps, PostProcessorSpec};
use process::process;
use process::{check_items, FrameItem, SubEncoding};

/// The lists of items for a single sequence and for a pair.
#[derive(Clone, Debug)]
pub struct PostProcessor {
    spec: Option<PostProcessorSpec>,
    single: FrameItems,
    pair: FrameItems,
    /// The ids around one sequence, with and without special tokens.
    frame: Option<Frame>,
    bare_frame: Option<Frame>,
}

/// The ids around one sequence.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Frame {
    /// The ids before the sequence.
    pub before: Vec<u32>,
    /// The ids after the sequence.
    pub after: Vec<u32>,
    /// Whether the offsets of the sequence are trimmed.
    pub trims: bool,
}

impl Frame {
    /// Return the ids of the sequence of a row; `None` if the row does not have these ids around it.
    #[must_use]
    pub fn strip<'r>(&self, row: &'r [u32]) -> Option<&'r [u32]> {
        row.strip_prefix(self.before.as_slice())?.strip_suffix(self.after.as_slice())
    }
}

/// The items of an encoding, with and without special tokens.
#[derive(Clone, Debug)]
struct FrameItems {
    framed: Vec<FrameItem>,
    bare: Vec<FrameItem>,
    /// Whether any of both lists has a type id other than 0.
    has_type_ids: bool,
}

/// The most tokens of all overflowing windows.
const MAX_OVERFLOWING: usize = 1 << 26;

impl PostProcessor {
    /// Compile a post-processor; fails if it names an undefined special token, omits a sequence, or cannot
    /// follow another processor.
    pub fn compile(spec: Option<&PostProcessorSpec>) -> Result<Self, Error> {
        check_steps(spec.map_or(0, step_count), "post_processor")?;
        let (single, pair) = (FrameItems::of(spec, 1)?, FrameItems::of(spec, 2)?);
        let (frame, bare_frame) = (frame_of(&single.framed), frame_of(&single.bare));
        Ok(Self { spec: spec.map(in_order_of_names), single, pair, frame, bare_frame })
    }

    /// Return the specification that it was compiled from, with the tokens of templates in the order of their names.
    #[must_use]
    pub fn spec(&self) -> Option<PostProcessorSpec> {
        self.spec.clone()
    }

    /// Return the number of tokens that it inserts.
    #[must_use]
    pub fn inserted(&self, is_pair: bool) -> usize {
        self.items(is_pair, true).iter().map(FrameItem::inserted).sum()
    }

    /// Return whether it assigns type ids other than 0.
    #[must_use]
    pub fn has_type_ids(&self, is_pair: bool) -> bool {
        self.items_of(is_pair).has_type_ids
    }

    /// Return whether it trims the offsets of any sequence.
    #[must_use]
    pub fn trims(&self) -> bool {
        [&self.single, &self.pair]
            .into_iter()
            .flat_map(|items| [&items.framed, &items.bare])
            .flatten()
            .any(FrameItem::trims)
    }

    /// Return the ids around one sequence, unless the sequence is repeated.
    #[must_use]
    pub fn frame_of_one(&self, add_special_tokens: bool) -> Option<&Frame> {
        if add_special_tokens {
            self.frame.as_ref()
        } else {
            self.bare_frame.as_ref()
        }
    }

    /// Call `emit` for each run of ids with its type id; omits special tokens unless `add_special_tokens`
    /// is set.
    pub fn frame_ids(
        &self,
        first: &[u32],
        second: Option<&[u32]>,
        add_special_tokens: bool,
        mut emit: impl FnMut(&[u32], u32),
    ) {
        let sequences = [first, second.unwrap_or_default()];
        for item in self.items(second.is_some(), add_special_tokens) {
            match item {
                FrameItem::Sequence { index, type_id, .. } => emit(sequences[*index], *type_id),
                FrameItem::Special { ids, type_id } => emit(ids, *type_id),
            }
        }
    }

    /// Join encodings and special tokens, including overflowing windows.
    ///
    /// `spaces_of` returns the spaces of an input token, which trimming excludes. Fails if there are too
    /// many overflowing windows.
    pub fn frame(
        &self,
        mut sequences: Vec<Encoding>,
        add_special_tokens: bool,
        spaces_of: impl Fn(&Token) -> EdgeSpaces,
    ) -> Result<Encoding, Error> {
        let mut framed = Encoding::default();
        let items = self.items(sequences.len() == 2, add_special_tokens);
        for (at, item) in items.iter().enumerate() {
            let next = match item {
                FrameItem::Sequence { index, type_id, trims } => {
                    let sequence = &mut sequences[*index];
                    let mut encoding = match has_sequence(&items[at + 1..], *index) {
                        true => sequence.clone(),
                        false => std::mem::take(sequence),
                    };
                    set_type_id(&mut encoding, *type_id);
                    trim_encoding(trims, &mut encoding, &spaces_of);
                    encoding
                }
                FrameItem::Special { ids, type_id } => {
                    Encoding::new(ids.iter().map(|&id| Token::inserted(id, *type_id, true)).collect())
                }
            };
            check_overflow(&framed, &next)?;
            framed = framed.followed_by(next);
        }
        Ok(framed)
    }

    /// Call `emit` for each run of tokens; windows are not built.
    pub fn frame_tokens(
        &self,
        sequences: &mut [Vec<Token>],
        add_special_tokens: bool,
        spaces_of: impl Fn(&Token) -> EdgeSpaces,
        mut emit: impl FnMut(&[Token]),
    ) {
        let items = self.items(sequences.len() == 2, add_special_tokens);
        for (at, item) in items.iter().enumerate() {
            match item {
                FrameItem::Sequence { index, type_id, trims } => {
                    let tokens = &mut sequences[*index];
                    tokens.iter_mut().for_each(|token| token.type_id = *type_id);
                    if trims.is_empty() || !has_sequence(&items[at + 1..], *index) {
                        trim_tokens(trims, tokens, &spaces_of);
                        emit(tokens);
                        continue;
                    }
                    let mut trimmed = tokens.clone();
                    trim_tokens(trims, &mut trimmed, &spaces_of);
                    emit(&trimmed);
                }
                FrameItem::Special { ids, type_id } => {
                    ids.iter().for_each(|&id| emit(&[Token::inserted(id, *type_id, true)]));
                }
            }
        }
    }

    fn items(&self, is_pair: bool, add_special_tokens: bool) -> &[FrameItem] {
        let FrameItems { framed, bare, .. } = self.items_of(is_pair);
        if add_special_tokens {
            framed
        } else {
            bare
        }
    }

    fn items_of(&self, is_pair: bool) -> &FrameItems {
        if is_pair {
            &self.pair
        } else {
            &self.single
        }
    }
}

impl FrameItems {
    /// Arrange one sequence or two.
    fn of(spec: Option<&PostProcessorSpec>, sequences: usize) -> Result<Self, Error> {
        let (framed, bare) = (arrange(spec, sequences, true)?, arrange(spec, sequences, false)?);
        let has_type_ids = framed.iter().chain(&bare).any(|item| item.type_id() != 0);
        Ok(Self { framed, bare, has_type_ids })
    }
}

/// Return a specification with the tokens of templates in the order of their names, in which files have them.
fn in_order_of_names(spec: &PostProcessorSpec) -> PostProcessorSpec {
    match spec {
        PostProcessorSpec::Sequence(stages) => {
            PostProcessorSpec::Sequence(stages.iter().map(in_order_of_names).collect())
        }
        PostProcessorSpec::Template(template) => {
            let mut template = template.clone();
            template.special_tokens.sort_by(|one, other| one.name.cmp(&other.name));
            PostProcessorSpec::Template(template)
        }
        other => other.clone(),
    }
}

/// Return the number of processors, without sequences of them.
fn step_count(spec: &PostProcessorSpec) -> usize {
    match spec {
        PostProcessorSpec::Sequence(stages) => stages.iter().map(step_count).sum(),
        _ => 1,
    }
}

/// Return the ids around one sequence, unless the sequence is repeated.
fn frame_of(items: &[FrameItem]) -> Option<Frame> {
    let is_sequence = |item: &FrameItem| matches!(item, FrameItem::Sequence { .. });
    let at = items.iter().position(is_sequence)?;
    let (before, after) = (&items[..at], &items[at + 1..]);
    let trims = items[at].trims();
    let comes_once = !after.iter().any(is_sequence);
    comes_once.then(|| Frame { before: inserted(before), after: inserted(after), trims })
}

/// Return the ids of inserted tokens.
fn inserted(items: &[FrameItem]) -> Vec<u32> {
    let ids = items.iter().filter_map(|item| match item {
        FrameItem::Special { ids, .. } => Some(ids.as_slice()),
        FrameItem::Sequence { .. } => None,
    });
    ids.flatten().copied().collect()
}

/// Return the items for one sequence or two.
fn arrange(
    spec: Option<&PostProcessorSpec>,
    sequences: usize,
    add_special_tokens: bool,
) -> Result<Vec<FrameItem>, Error> {
    let encodings = (0..sequences).map(|index| SubEncoding::sequence(index, index as u32)).collect();
    let encodings = match spec {
        None => encodings,
        Some(spec) => process(spec, "post_processor", encodings, add_special_tokens)?,
    };
    let items: Vec<FrameItem> = encodings.into_iter().flat_map(|encoding| encoding.items).collect();
    check_items(items.iter())?;
    Ok(items)
}

/// Return whether items include a sequence.
fn has_sequence(items: &[FrameItem], sequence: usize) -> bool {
    items.iter().any(|item| matches!(item, FrameItem::Sequence { index, .. } if *index == sequence))
}

fn set_type_id(encoding: &mut Encoding, type_id: u32) {
    let windows = std::iter::once(&mut encoding.tokens)
        .chain(encoding.overflowing.iter_mut().map(|window| &mut window.tokens));
    windows.flatten().for_each(|token| token.type_id = type_id);
}

/// Return an error if combining the windows of both encodings takes too much memory.
fn check_overflow(first: &Encoding, second: &Encoding) -> Result<(), Error> {
    let total = |encoding: &Encoding| -> usize {
        encoding.overflowing.iter().map(|window| window.tokens.len()).sum()
    };
    let (windows, others) = (first.overflowing.len(), second.overflowing.len());
    let firsts = (total(first) + first.tokens.len()).saturating_mul(others + 1);
    let seconds = (total(second) + second.tokens.len()).saturating_mul(windows + 1);
    let tokens = firsts.saturating_add(seconds);
    if tokens <= MAX_OVERFLOWING || windows + others == 0 {
        return Ok(());
    }
    let found = format!("{} overflowing windows, {tokens} tokens", (windows + 1) * (others + 1) - 1);
    let expected = format!("at most {MAX_OVERFLOWING} tokens");
    let error = Error::new(ErrorKind::Argument, "truncation", found, expected);
    Err(error.with_hint("use a longer max_length or a smaller stride"))
}

/// Settings of one trimming.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Trim {
    /// A single space before the first token was added and has no offsets to exclude.
    add_prefix_space: bool,
    /// The sequence begins its encoding, so its first token can have the added space.
    leads: bool,
}

/// Trim the tokens of an encoding and of its overflowing windows.
fn trim_encoding(trims: &[Trim], encoding: &mut Encoding, spaces_of: &impl Fn(&Token) -> EdgeSpaces) {
    trim_tokens(trims, &mut encoding.tokens, spaces_of);
    encoding.overflowing.iter_mut().for_each(|window| trim_tokens(trims, &mut window.tokens, spaces_of));
}

/// Trim tokens by each of `trims` in order.
fn trim_tokens(trims: &[Trim], tokens: &mut [Token], spaces_of: &impl Fn(&Token) -> EdgeSpaces) {
    if trims.is_empty() {
        return;
    }
    for (at, token) in tokens.iter_mut().enumerate() {
        let spaces = spaces_of(token);
        trims.iter().for_each(|trim| trim.apply(at, token, spaces));
    }
}

impl Trim {
    /// Exclude the spaces of a token from its offsets.
    fn apply(self, at: usize, token: &mut Token, EdgeSpaces { mut leading, trailing }: EdgeSpaces) {
        let is_first = (at == 0 && self.leads) || token.start == 0;
        if is_first && self.add_prefix_space && leading == 1 {
            leading = 0;
        }
        token.start = (token.start + leading).min(token.end);
        if token.end >= trailing {
            token.end = (token.end - trailing).max(token.start);
        }
    }
}

/// The number of whitespace characters at both ends of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EdgeSpaces {
    leading: u32,
    trailing: u32,
}

impl EdgeSpaces {
    /// Count those of the text of a token.
    #[must_use]
    pub fn of(text: &str) -> Self {
        Self {
            leading: text.chars().take_while(|&c| is_space_mark(c)).count() as u32,
            trailing: text.chars().rev().take_while(|&c| is_space_mark(c)).count() as u32,
        }
    }
}

/// Counts the spaces of the added tokens of one text, from left to right.
///
/// Tokens can end in the same whitespace, which an earlier one includes: it is read once.
#[derive(Clone, Debug, Default)]
pub struct EdgeSpaceReader {
    /// The token that ends last, in bytes of the text and in characters.
    start: usize,
    end: usize,
    chars: u32,
}

impl EdgeSpaceReader {
    /// Count those of the token at bytes `start..end` of the text.
    pub fn read(&mut self, text: &str, start: usize, end: usize) -> EdgeSpaces {
        if end == self.end {
            // A token that begins within the one before and ends with it is whitespace.
            self.chars -= char_count(&text.as_bytes()[self.start..start]);
            self.start = start;
            return EdgeSpaces { leading: self.chars, trailing: self.chars };
        }
        let token = &text[start..end];
        if end > self.end {
            *self = Self { start, end, chars: char_count(token.as_bytes()) };
        }
        EdgeSpaces::of(token)
    }
}

/// Return whether a character is whitespace, or the byte-level character of a space.
fn is_space_mark(c: char) -> bool {
    c == 'Ġ' || c.is_whitespace()
}
