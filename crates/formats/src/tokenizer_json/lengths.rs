//! `truncation` and `padding`.

use piecework_core::error::Error;
use piecework_core::spec::{Direction, Padding, Truncation, TruncationStrategy};
use serde_json::{json, Value};

use super::shared::{name_of, optional};
use crate::json::Field;

const SIDES: [(&str, Direction); 2] = [("Left", Direction::Left), ("Right", Direction::Right)];
const STRATEGIES: [(&str, TruncationStrategy); 3] = [
    ("LongestFirst", TruncationStrategy::LongestFirst),
    ("OnlyFirst", TruncationStrategy::OnlyFirst),
    ("OnlySecond", TruncationStrategy::OnlySecond),
];

pub(super) fn read_truncation(field: &Field) -> Result<Truncation, Error> {
    field.fields(&["direction", "max_length", "strategy", "stride"])?;
    let direction = field.member("direction")?;
    Ok(Truncation {
        direction: direction.map_or(Ok(Direction::Right), |side| side.choice(&SIDES))?,
        max_length: field.get("max_length")?.size()?,
        strategy: field.get("strategy")?.choice(&STRATEGIES)?,
        stride: field.get("stride")?.size()?,
    })
}

pub(super) fn write_truncation(truncation: &Truncation) -> Value {
    json!({
        "direction": name_of(&SIDES, truncation.direction),
        "max_length": truncation.max_length,
        "strategy": name_of(&STRATEGIES, truncation.strategy),
        "stride": truncation.stride,
    })
}

pub(super) fn read_padding(field: &Field) -> Result<Padding, Error> {
    field.fields(&["strategy", "direction", "pad_to_multiple_of", "pad_id", "pad_type_id", "pad_token"])?;
    let pad_type_id = field.get("pad_type_id")?;
    Ok(Padding {
        length: read_length(&field.get("strategy")?)?,
        direction: field.get("direction")?.choice(&SIDES)?,
        pad_to_multiple_of: optional(field, "pad_to_multiple_of", Field::size)?,
        pad_id: field.get("pad_id")?.id()?,
        pad_type_id: Some(pad_type_id.id()?)
            .filter(|&id| id < 256)
            .ok_or_else(|| pad_type_id.error("a type id below 256"))?,
        pad_token: field.get("pad_token")?.text()?.to_owned(),
    })
}

/// Return whether any row is padded: with the length 0, which model2vec stores, `tokenizers` pads none.
pub(super) fn pads(padding: &Padding) -> bool {
    padding.length != Some(0)
}

fn read_length(strategy: &Field) -> Result<Option<usize>, Error> {
    if !strategy.is_object() {
        return strategy.choice(&[("BatchLongest", None)]);
    }
    strategy.fields(&["Fixed"])?;
    strategy.get("Fixed")?.size().map(Some)
}

pub(super) fn write_padding(padding: &Padding) -> Value {
    let strategy = padding.length.map_or(json!("BatchLongest"), |length| json!({ "Fixed": length }));
    json!({
        "strategy": strategy,
        "direction": name_of(&SIDES, padding.direction),
        "pad_to_multiple_of": padding.pad_to_multiple_of,
        "pad_id": padding.pad_id,
        "pad_type_id": padding.pad_type_id,
        "pad_token": padding.pad_token,
    })
}
