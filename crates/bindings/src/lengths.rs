//! The settings of truncation and padding.

use piecework_core::engine::Tokenizer;
use piecework_core::spec::{Direction, Truncation, TruncationStrategy};
use pyo3::prelude::*;

use crate::errors::bad_argument;

/// Return the settings that truncate to `max_length` tokens; `None` truncates nothing.
pub(crate) fn truncation(
    max_length: Option<usize>,
    stride: usize,
    strategy: &str,
    direction: &str,
) -> PyResult<Option<Truncation>> {
    let strategy = truncation_strategy(strategy)?;
    let direction = parse_direction(direction)?;
    Ok(max_length.map(|max_length| Truncation { direction, max_length, strategy, stride }))
}

/// Return the truncation strategy of a name.
fn truncation_strategy(name: &str) -> PyResult<TruncationStrategy> {
    match name {
        "longest_first" => Ok(TruncationStrategy::LongestFirst),
        "only_first" => Ok(TruncationStrategy::OnlyFirst),
        "only_second" => Ok(TruncationStrategy::OnlySecond),
        other => Err(bad_argument("strategy", other, "longest_first, only_first or only_second")),
    }
}

/// Return the direction of a name.
pub(crate) fn parse_direction(name: &str) -> PyResult<Direction> {
    match name {
        "left" => Ok(Direction::Left),
        "right" => Ok(Direction::Right),
        other => Err(bad_argument("direction", other, "left or right")),
    }
}

/// Return the settings that pad a rectangle: the id, its token, its type id and the side.
pub(crate) fn filling<'t>(
    tokenizer: &'t Tokenizer,
    pad_tokens: &[String],
) -> (Option<u32>, &'t str, u32, &'static str) {
    let id = tokenizer.pad_id(pad_tokens);
    match tokenizer.padding() {
        Some(padding) => (id, &padding.pad_token, padding.pad_type_id, direction_name(padding.direction)),
        None => (id, id.and_then(|id| tokenizer.token_of(id)).unwrap_or_default(), 0, "right"),
    }
}

/// Return the name of a direction.
fn direction_name(direction: Direction) -> &'static str {
    match direction {
        Direction::Left => "left",
        Direction::Right => "right",
    }
}
