//! What each kind of processor does with a list of encodings.

use foldhash::HashMap;

use super::sub_encoding::{check_ids, check_items, FrameItem, SubEncoding, MAX_ITEMS};
use crate::error::{Error, ErrorKind};
use crate::spec::{ByteLevelSpec, PostProcessorSpec, TemplatePiece, TemplateSpec};

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
