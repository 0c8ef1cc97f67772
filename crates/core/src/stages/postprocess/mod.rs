//! Post-processors: one or two sequences of ids to ids with special tokens and type ids.
//!
//! Compiling runs all processors once. The result is a list of special tokens and sequences for each of
//! single and pair, with and without special tokens.

mod process;
#[cfg(test)]
mod tests;

use crate::encoding::{Encoding, Token};
use crate::error::{Error, ErrorKind};
use crate::spec::{check_steps, PostProcessorSpec};
use process::{check_items, process, trim_encoding, trim_tokens, FrameItem, SubEncoding};

pub use process::{EdgeSpaceReader, EdgeSpaces};

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
