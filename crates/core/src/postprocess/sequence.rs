//! `Sequence`: one processor after the other, each on the parts that the one before it made.

use super::parts::Part;
use super::process;
use crate::error::Error;
use crate::spec::PostProcessorSpec;

/// Apply every stage in order.
pub(super) fn frame(
    stages: &[PostProcessorSpec],
    place: &str,
    parts: Vec<Part>,
    add_special_tokens: bool,
) -> Result<Vec<Part>, Error> {
    stages.iter().enumerate().try_fold(parts, |parts, (at, stage)| {
        process(stage, &format!("{place}.processors[{at}]"), parts, add_special_tokens)
    })
}
