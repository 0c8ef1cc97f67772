//! Names of the settings of truncation and padding.

use piecework_core::spec::{Direction, TruncationStrategy};
use pyo3::prelude::*;

use crate::errors::bad_argument;

/// Return the name of a direction.
pub(crate) fn direction_name(direction: Direction) -> &'static str {
    match direction {
        Direction::Left => "left",
        Direction::Right => "right",
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

/// Return the truncation strategy of a name.
pub(crate) fn truncation_strategy(name: &str) -> PyResult<TruncationStrategy> {
    match name {
        "longest_first" => Ok(TruncationStrategy::LongestFirst),
        "only_first" => Ok(TruncationStrategy::OnlyFirst),
        "only_second" => Ok(TruncationStrategy::OnlySecond),
        other => Err(bad_argument("strategy", other, "longest_first, only_first or only_second")),
    }
}
