//! The texts of a batch in the form in which the caller has them.

use piecework_kernels::code_units::CodeUnits;

use crate::engine::cuts::Cuts;
use crate::engine::excerpts::Text;
use crate::engine::{Input, Scratch};
use crate::error::{Error, ErrorKind};
use crate::spec::Direction;

/// The largest text in bytes, as offsets have 32 bits.
pub const MAX_TEXT_BYTES: usize = u32::MAX as usize;

/// The largest character in bytes of UTF-8.
const MAX_CHAR_BYTES: usize = 4;

/// One input, or its text as code units.
#[derive(Clone, Copy, Debug)]
pub enum Source<'t> {
    /// UTF-8.
    Input(Input<'t>),
    /// The code units of a Python string, which become UTF-8 while the text is encoded.
    Units(CodeUnits<'t>),
}

impl<'t> From<Input<'t>> for Source<'t> {
    fn from(input: Input<'t>) -> Self {
        Self::Input(input)
    }
}

impl Text for Source<'_> {
    fn units(self) -> usize {
        match self {
            Self::Input(input) => input.units(),
            Self::Units(units) => units.len(),
        }
    }

    fn is_valid(self) -> bool {
        match self {
            Self::Input(_) => true,
            Self::Units(units) => units.len() <= MAX_TEXT_BYTES / MAX_CHAR_BYTES && units.are_chars(),
        }
    }

    fn part(self, cuts: Option<&Cuts>, units: usize, side: Direction) -> Option<Self> {
        let text = match self {
            Self::Input(input) => return input.part(cuts, units, side).map(Self::Input),
            Self::Units(text) => text,
        };
        Some(Self::Units(match text {
            CodeUnits::One(text) => CodeUnits::One(part_of(text, cuts, units, side)?),
            CodeUnits::Two(text) => CodeUnits::Two(part_of(text, cuts, units, side)?),
            CodeUnits::Four(text) => CodeUnits::Four(part_of(text, cuts, units, side)?),
        }))
    }
}

fn part_of<'t, U: Copy + Into<u32>>(
    text: &'t [U],
    cuts: Option<&Cuts>,
    units: usize,
    side: Direction,
) -> Option<&'t [U]> {
    let (start, end) = cuts?.span(text, units, side)?;
    Some(&text[start..end])
}

impl Source<'_> {
    /// Return the size in bytes, estimated for code units.
    #[must_use]
    pub fn bytes(self) -> usize {
        match self {
            Self::Input(input) => input.bytes(),
            Self::Units(CodeUnits::One(units)) => units.len(),
            Self::Units(units) => 2 * units.len(),
        }
    }

    /// Call `work` with the input in UTF-8. An error of the conversion has the place of the text.
    #[inline]
    pub(super) fn with_input<R>(
        self,
        place: impl Fn() -> String,
        scratch: &mut Scratch,
        work: impl FnOnce(Input<'_>, &mut Scratch) -> Result<R, Error>,
    ) -> Result<R, Error> {
        let units = match self {
            Self::Input(input) => return work(input, scratch),
            Self::Units(units) => units,
        };
        let mut text = std::mem::take(&mut scratch.text);
        let result = if !units.write_utf8(&mut text) {
            Err(Error::new(ErrorKind::Argument, place(), "a lone surrogate", "text that UTF-8 can encode"))
        } else if text.len() > MAX_TEXT_BYTES {
            let found = format!("{} bytes", text.len());
            Err(Error::new(ErrorKind::Argument, place(), found, "less than 4 GiB in one text"))
        } else {
            work(Input::Text(&text), scratch)
        };
        text.shrink_to(KEPT_BYTES);
        scratch.text = text;
        result
    }
}

/// Memory that a thread keeps after a long text, in bytes.
const KEPT_BYTES: usize = 1 << 20;
