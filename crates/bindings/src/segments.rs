//! Encoding a text in which added tokens match within some spans only.

use piecework_catch_panics::catch_panics;
use piecework_core::engine::Options;
use piecework_core::stages::added_tokens::Selector;
use pyo3::prelude::*;

use crate::core::Core;
use crate::encoding::Encoding;
use crate::errors::{bad_argument, raise};
use crate::input::{borrowed, InputObject};
use crate::release::ReleaseGil;

/// Encode a text; added tokens match within byte `spans`, and those with the ids `everywhere` in all of it.
#[catch_panics]
#[pyfunction]
#[pyo3(signature = (core, text, *, spans, everywhere, add_special_tokens))]
pub(crate) fn encode_within(
    core: &Bound<'_, Core>,
    text: Bound<'_, PyAny>,
    spans: Vec<(u32, u32)>,
    everywhere: Vec<u32>,
    add_special_tokens: bool,
) -> PyResult<Encoding> {
    check_order(&spans)?;
    let object = InputObject::take(&text, false, || "text".into())?;
    let input = borrowed(&object, "text")?;
    let parse_special = &Selector::within(spans, everywhere);
    let options = Options { add_special_tokens, parse_special, sampling: None };
    let encoder = &core.get().encoder;
    let encode = || {
        encoder.with_scratch(|scratch| encoder.tokenizer().encode(input.input(), None, options, scratch))
    };
    let fields = core.py().release(encode).map_err(raise)?;
    Encoding::of_fields(core.py(), &core.get().shared, fields, Some(text.clone().unbind()), None)
}

/// Return a core whose Unigram model never makes some pieces from text; `None` for other models.
#[catch_panics]
#[pyfunction]
pub(crate) fn core_without_pieces(py: Python<'_>, core: &Core, ids: Vec<u32>) -> PyResult<Option<Core>> {
    let compiled = py.release(|| core.encoder.tokenizer().without_pieces(&ids)).map_err(raise)?;
    Ok(compiled.map(|tokenizer| core.sharing(tokenizer)))
}

/// Return the ids of the control and user-defined pieces of a SentencePiece model.
#[catch_panics]
#[pyfunction]
pub(crate) fn symbol_ids(core: &Core) -> Vec<u32> {
    core.encoder.tokenizer().symbol_ids()
}

fn check_order(spans: &[(u32, u32)]) -> PyResult<()> {
    let mut done = 0;
    for &(start, end) in spans {
        if start < done || end < start {
            let found = format!("the span ({start}, {end})");
            return Err(bad_argument("spans", found, "spans in order without overlap"));
        }
        done = end;
    }
    Ok(())
}
