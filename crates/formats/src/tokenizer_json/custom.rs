//! Custom stages: functions that came with a document by number. Files have none.

use piecework_core::error::Error;
use piecework_core::spec::CustomSpec;
use serde_json::{json, Value};

use super::field::Field;
use super::read::Functions;

const KIND: &str = "Custom";

/// Read a component that is a custom stage.
pub(super) fn read_custom(field: &Field, functions: Functions<'_>) -> Result<Option<CustomSpec>, Error> {
    let Some(kind) = field.find("type")?.filter(|kind| kind.is(KIND)) else { return Ok(None) };
    if functions.is_empty() {
        let expected = "a component of this format: custom stages are functions, which files do not hold";
        return Err(kind.error(expected));
    }
    field.fields(&["type", "name", "function"])?;
    let number = field.get("function")?;
    let function = functions.get(number.size()?);
    let function = function.ok_or_else(|| number.error("the number of a function given"))?;
    Ok(Some(CustomSpec {
        name: field.get("name")?.text()?.to_owned(),
        number: number.size()?,
        function: function.clone(),
    }))
}

pub(super) fn write_custom(custom: &CustomSpec) -> Value {
    json!({ "type": KIND, "name": custom.name, "function": custom.number })
}
