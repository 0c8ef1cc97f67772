//! What each kind of processor does with a list of encodings.

use foldhash::HashMap;
use piecework_unicode::char_count;

use crate::encoding::{Encoding, Token};
use crate::error::{Error, ErrorKind};
use crate::spec::{ByteLevelSpec, PostProcessorSpec, TemplatePiece, TemplateSpec};
use crate::vocab::MAX_ID;

/// Apply one processor to the encodings of the ones before it.
pub(super) fn process(
    spec: &PostProcessorSpec,
    place: &str,
    encodings: Vec<SubEncoding>,
    add_special_tokens: bool,
) -> Result<Vec<SubEncoding>, Error> {
    match spec {
        PostProcessorSpec::Bert { sep, cls } => {
            check_ids(&[sep.1, cls.1], place)?;
            Ok(if add_special_tokens { bert(encodings, sep.1, cls.1) } else { encodings })
        }
        PostProcessorSpec::Roberta { sep, cls, trim_offsets, add_prefix_space } => {
            check_ids(&[sep.1, cls.1], place)?;
            let encodings = roberta_offsets(encodings, *trim_offsets, *add_prefix_space);
            Ok(if add_special_tokens { roberta(encodings, sep.1, cls.1) } else { encodings })
        }
        PostProcessorSpec::ByteLevel(spec) => Ok(byte_level(encodings, *spec)),
        PostProcessorSpec::Template(spec) => template(spec, place, &encodings, add_special_tokens),
        PostProcessorSpec::Sequence(stages) => sequence(stages, place, encodings, add_special_tokens),
    }
}

/// `BertProcessing`: `cls A sep`, then `B sep` with type id 1 for each other encoding.
fn bert(encodings: Vec<SubEncoding>, sep: u32, cls: u32) -> Vec<SubEncoding> {
    let frame = |(at, encoding): (usize, SubEncoding)| match at {
        0 => encoding.between(Some(FrameItem::special(cls, 0)), FrameItem::special(sep, 0)),
        _ => encoding.between(None, FrameItem::special(sep, 1)),
    };
    encodings.into_iter().enumerate().map(frame).collect()
}

/// Trim offsets if set, and set every type id to 0.
fn roberta_offsets(
    encodings: Vec<SubEncoding>,
    trim_offsets: bool,
    add_prefix_space: bool,
) -> Vec<SubEncoding> {
    let trim =
        |encoding: SubEncoding| if trim_offsets { encoding.trimmed(add_prefix_space) } else { encoding };
    encodings.into_iter().map(|encoding| trim(encoding).typed(0)).collect()
}

/// `RobertaProcessing`: `cls A sep`, then `sep B sep` for each other encoding, with type id 0.
fn roberta(encodings: Vec<SubEncoding>, sep: u32, cls: u32) -> Vec<SubEncoding> {
    let frame = |(at, encoding): (usize, SubEncoding)| {
        let before = if at == 0 { cls } else { sep };
        encoding.between(Some(FrameItem::special(before, 0)), FrameItem::special(sep, 0))
    };
    encodings.into_iter().enumerate().map(frame).collect()
}

/// `ByteLevel`: trim offsets if set.
fn byte_level(encodings: Vec<SubEncoding>, spec: ByteLevelSpec) -> Vec<SubEncoding> {
    if !spec.trim_offsets {
        return encodings;
    }
    encodings.into_iter().map(|encoding| encoding.trimmed(spec.add_prefix_space)).collect()
}

/// `Sequence`: apply every processor in order.
fn sequence(
    stages: &[PostProcessorSpec],
    place: &str,
    encodings: Vec<SubEncoding>,
    add_special_tokens: bool,
) -> Result<Vec<SubEncoding>, Error> {
    stages.iter().enumerate().try_fold(encodings, |encodings, (at, stage)| {
        let encodings =
            process(stage, &format!("{place}.processors[{at}]"), encodings, add_special_tokens)?;
        check_items(encodings.iter().flat_map(|encoding| &encoding.items))?;
        Ok(encodings)
    })
}

/// `TemplateProcessing`: arrange one encoding or two by the template for that number.
///
/// Each piece of the template becomes an encoding of its own.
fn template(
    template: &TemplateSpec,
    place: &str,
    encodings: &[SubEncoding],
    add_special_tokens: bool,
) -> Result<Vec<SubEncoding>, Error> {
    let (pieces, field) = match encodings.len() {
        1 => (&template.single, "single"),
        2 => (&template.pair, "pair"),
        others => {
            let found = format!("a template after processors that make {others} encodings");
            return Err(Error::new(
                ErrorKind::Format,
                place,
                found,
                "a template first, or one or two encodings",
            ));
        }
    };
    let place = format!("{place}.{field}");
    if pieces.len() > MAX_ITEMS {
        let found = format!("{} pieces", pieces.len());
        return Err(Error::new(ErrorKind::Format, place, found, format!("at most {MAX_ITEMS}")));
    }
    check_sequences(pieces, encodings.len(), &place)?;
    let ids_by_name = ids_by_name(template);
    let mut framed = Vec::with_capacity(pieces.len());
    for (at, piece) in pieces.iter().enumerate() {
        let place = format!("{place}[{at}]");
        match piece {
            TemplatePiece::Sequence(index, type_id) if (*index as usize) < encodings.len() => {
                framed.push(encodings[*index as usize].clone().typed(checked(*type_id, &place)?));
            }
            TemplatePiece::Sequence(..) => {
                return Err(Error::new(ErrorKind::Format, place, "sequence B", "sequence A alone"));
            }
            TemplatePiece::Special(name, type_id) => {
                let ids = ids_of(&ids_by_name, name, &place)?;
                let type_id = checked(*type_id, &place)?;
                if add_special_tokens {
                    framed.push(SubEncoding::special(ids.to_vec(), type_id));
                }
            }
        }
    }
    Ok(framed)
}

/// Return an error for type ids that do not fit the bytes of a batch.
fn checked(type_id: u32, place: &str) -> Result<u32, Error> {
    if type_id < 256 {
        return Ok(type_id);
    }
    Err(Error::new(ErrorKind::Format, place, format!("type id {type_id}"), "a type id below 256"))
}

fn check_sequences(pieces: &[TemplatePiece], sequences: usize, place: &str) -> Result<(), Error> {
    for wanted in 0..sequences {
        let names = |piece: &TemplatePiece| matches!(piece, TemplatePiece::Sequence(index, _) if *index as usize == wanted);
        if !pieces.iter().any(names) {
            let found = format!("no sequence {}", ["A", "B"][wanted]);
            return Err(Error::new(ErrorKind::Format, place, found, "it once"));
        }
    }
    Ok(())
}

/// Return the ids of each special token; of two with one name, those of the first.
fn ids_by_name(template: &TemplateSpec) -> HashMap<&str, &[u32]> {
    let tokens = template.special_tokens.iter().rev();
    tokens.map(|token| (token.name.as_str(), token.ids.as_slice())).collect()
}

fn ids_of<'t>(ids_by_name: &HashMap<&str, &'t [u32]>, name: &str, place: &str) -> Result<&'t [u32], Error> {
    let Some(&ids) = ids_by_name.get(name) else {
        let expected = "a token defined in post_processor.special_tokens";
        return Err(Error::new(ErrorKind::Format, place, format!("{name:?}"), expected));
    };
    check_ids(ids, place)?;
    Ok(ids)
}

// Encodings during compilation: lists of sequences and special tokens, which processors pass to each
// other.

/// The most items of a list, and the most tokens that it inserts.
pub(super) const MAX_ITEMS: usize = 1 << 12;
const MAX_INSERTED: usize = 1 << 16;

/// One item of an encoding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum FrameItem {
    /// An input sequence, whose offsets each of `trims` trims in order.
    Sequence { index: usize, type_id: u32, trims: Vec<Trim> },
    /// Inserted tokens.
    Special { ids: Vec<u32>, type_id: u32 },
}

/// An encoding as a processor sees it; processors number these.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SubEncoding {
    pub(super) items: Vec<FrameItem>,
}

impl FrameItem {
    pub(super) fn special(id: u32, type_id: u32) -> Self {
        Self::Special { ids: vec![id], type_id }
    }

    pub(super) fn inserted(&self) -> usize {
        match self {
            Self::Sequence { .. } => 0,
            Self::Special { ids, .. } => ids.len(),
        }
    }

    /// Return whether it is a sequence whose offsets are trimmed.
    pub(super) fn trims(&self) -> bool {
        matches!(self, Self::Sequence { trims, .. } if !trims.is_empty())
    }

    pub(super) fn type_id(&self) -> u32 {
        match self {
            Self::Sequence { type_id, .. } | Self::Special { type_id, .. } => *type_id,
        }
    }

    fn set_type_id(&mut self, new: u32) {
        match self {
            Self::Sequence { type_id, .. } | Self::Special { type_id, .. } => *type_id = new,
        }
    }
}

impl SubEncoding {
    pub(super) fn sequence(index: usize, type_id: u32) -> Self {
        Self { items: vec![FrameItem::Sequence { index, type_id, trims: Vec::new() }] }
    }

    pub(super) fn special(ids: Vec<u32>, type_id: u32) -> Self {
        Self { items: vec![FrameItem::Special { ids, type_id }] }
    }

    /// Set one type id for all items.
    pub(super) fn typed(mut self, type_id: u32) -> Self {
        self.items.iter_mut().for_each(|item| item.set_type_id(type_id));
        self
    }

    /// Trim the offsets of its sequences.
    pub(super) fn trimmed(mut self, add_prefix_space: bool) -> Self {
        for (at, item) in self.items.iter_mut().enumerate() {
            if let FrameItem::Sequence { trims, .. } = item {
                trims.push(Trim { add_prefix_space, leads: at == 0 });
            }
        }
        self
    }

    /// Add tokens around it.
    pub(super) fn between(mut self, before: Option<FrameItem>, after: FrameItem) -> Self {
        self.items.splice(0..0, before);
        self.items.push(after);
        self
    }
}

/// Return an error for ids above the limit.
pub(super) fn check_ids(ids: &[u32], place: &str) -> Result<(), Error> {
    match ids.iter().find(|&&id| id > MAX_ID) {
        Some(id) => Err(Error::new(ErrorKind::Format, place, format!("id {id}"), "a smaller id")),
        None => Ok(()),
    }
}

/// Return an error for too many items, or inserted tokens.
pub(super) fn check_items<'i>(items: impl Iterator<Item = &'i FrameItem> + Clone) -> Result<(), Error> {
    let inserted: usize = items.clone().map(FrameItem::inserted).sum();
    let count = items.count();
    if count <= MAX_ITEMS && inserted <= MAX_INSERTED {
        return Ok(());
    }
    let found = format!("{count} items and {inserted} inserted tokens");
    let expected = format!("at most {MAX_ITEMS} and {MAX_INSERTED}");
    Err(Error::new(ErrorKind::Format, "post_processor", found, expected))
}

/// Settings of one trimming.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Trim {
    /// A single space before the first token was added and has no offsets to exclude.
    add_prefix_space: bool,
    /// The sequence begins its encoding, so its first token can have the added space.
    leads: bool,
}

/// Trim the tokens of an encoding and of its overflowing windows.
pub(super) fn trim_encoding(
    trims: &[Trim],
    encoding: &mut Encoding,
    spaces_of: &impl Fn(&Token) -> EdgeSpaces,
) {
    trim_tokens(trims, &mut encoding.tokens, spaces_of);
    encoding.overflowing.iter_mut().for_each(|window| trim_tokens(trims, &mut window.tokens, spaces_of));
}

/// Trim tokens by each of `trims` in order.
pub(super) fn trim_tokens(trims: &[Trim], tokens: &mut [Token], spaces_of: &impl Fn(&Token) -> EdgeSpaces) {
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
    /// Count the spaces at the edges of a token's text.
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
    /// Count the spaces at the edges of the token at bytes `start..end` of the text.
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
