//! What each kind of processor makes of the parts that the ones before it made.

use super::parts::{check_ids, Part, Place};
use super::template;
use crate::error::Error;
use crate::spec::{ByteLevelSpec, PostProcessorSpec};

/// Apply one processor to the parts that the ones before it made.
pub(super) fn process(
    spec: &PostProcessorSpec,
    place: &str,
    parts: Vec<Part>,
    add_special_tokens: bool,
) -> Result<Vec<Part>, Error> {
    match spec {
        PostProcessorSpec::Bert { sep, cls } => {
            check_ids(&[sep.1, cls.1], place)?;
            Ok(if add_special_tokens { bert(parts, sep.1, cls.1) } else { parts })
        }
        PostProcessorSpec::Roberta { sep, cls, trim_offsets, add_prefix_space } => {
            check_ids(&[sep.1, cls.1], place)?;
            let parts = roberta_offsets(parts, *trim_offsets, *add_prefix_space);
            Ok(if add_special_tokens { roberta(parts, sep.1, cls.1) } else { parts })
        }
        PostProcessorSpec::ByteLevel(spec) => Ok(byte_level(parts, *spec)),
        PostProcessorSpec::Template(spec) => template::frame(spec, place, &parts, add_special_tokens),
        PostProcessorSpec::Sequence(stages) => sequence(stages, place, parts, add_special_tokens),
    }
}

/// `BertProcessing`: `cls A sep`, and `B sep` of type 1 for whatever follows.
fn bert(parts: Vec<Part>, sep: u32, cls: u32) -> Vec<Part> {
    let frame = |(at, part): (usize, Part)| match at {
        0 => part.between(Some(Place::special(cls, 0)), Place::special(sep, 0)),
        _ => part.between(None, Place::special(sep, 1)),
    };
    parts.into_iter().enumerate().map(frame).collect()
}

/// Trim offsets where wanted and make every type id 0.
fn roberta_offsets(parts: Vec<Part>, trim_offsets: bool, add_prefix_space: bool) -> Vec<Part> {
    let trim = |part: Part| if trim_offsets { part.trimmed(add_prefix_space) } else { part };
    parts.into_iter().map(|part| trim(part).typed(0)).collect()
}

/// `RobertaProcessing`: `cls A sep`, and `sep B sep` for whatever follows, all of type 0.
fn roberta(parts: Vec<Part>, sep: u32, cls: u32) -> Vec<Part> {
    let frame = |(at, part): (usize, Part)| {
        let before = if at == 0 { cls } else { sep };
        part.between(Some(Place::special(before, 0)), Place::special(sep, 0))
    };
    parts.into_iter().enumerate().map(frame).collect()
}

/// Have the offsets trimmed where the settings ask for it.
fn byte_level(parts: Vec<Part>, spec: ByteLevelSpec) -> Vec<Part> {
    if !spec.trim_offsets {
        return parts;
    }
    parts.into_iter().map(|part| part.trimmed(spec.add_prefix_space)).collect()
}

/// Apply every stage in order.
fn sequence(
    stages: &[PostProcessorSpec],
    place: &str,
    parts: Vec<Part>,
    add_special_tokens: bool,
) -> Result<Vec<Part>, Error> {
    stages.iter().enumerate().try_fold(parts, |parts, (at, stage)| {
        process(stage, &format!("{place}.processors[{at}]"), parts, add_special_tokens)
    })
}
