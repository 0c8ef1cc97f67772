//! What each kind of processor does with a list of encodings.

use super::sub_encoding::{check_ids, check_items, FrameItem, SubEncoding};
use super::template;
use crate::error::Error;
use crate::spec::{ByteLevelSpec, PostProcessorSpec};

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
        PostProcessorSpec::Template(spec) => template::frame(spec, place, &encodings, add_special_tokens),
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
