//! Reads the code units of Python strings in place.
//!
//! Python's stable interface returns UTF-8 only. For a string that is not ASCII, Python makes the UTF-8 form at the
//! first request and keeps it as long as the string: that takes a fifth of the time of encoding English with
//! typographic quotes, and memory. The layout of strings is therefore read directly. It is the same in CPython 3.10 and
//! 3.11, and in 3.12 to 3.14; it is used only if strings of known content are found to have it. Otherwise, the UTF-8
//! form is used.

use piecework_kernels::code_units::CodeUnits;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyString;

/// Offsets in bytes of the fields that all layouts have in the same place.
const LENGTH: usize = 16;
const STATE: usize = 32;
/// In the state: the position of the size of a unit, whether the units follow the header, whether the text is ASCII.
const KIND_SHIFT: u32 = 2;
const IS_COMPACT: u32 = 1 << 5;
const IS_ASCII: u32 = 1 << 6;

/// Where a string that is not ASCII has its UTF-8 form, if it was made, and its units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct StringLayout {
    utf8: usize,
    units: usize,
}

/// Return the code units of a string; `None` if its UTF-8 form needs no conversion, or if its layout is unknown.
pub fn code_units<'s>(string: &'s Bound<'_, PyString>) -> Option<CodeUnits<'s>> {
    static LAYOUT: PyOnceLock<Option<StringLayout>> = PyOnceLock::new();
    let layout = (*LAYOUT.get_or_init(string.py(), || known_layout(string.py())))?;
    // SAFETY: strings of this process were found to have the layout.
    unsafe { layout.code_units(string) }
}

/// Return the layout of strings in this process, if it is a known one.
fn known_layout(py: Python<'_>) -> Option<StringLayout> {
    let version = py.version_info();
    let layout = match (version.major, version.minor) {
        _ if size_of::<usize>() != 8 => return None,
        (3, 10 | 11) => StringLayout { utf8: 56, units: 72 },
        (3, 12..=14) => StringLayout { utf8: 48, units: 56 },
        _ => return None,
    };
    let samples = ["é", "’", "😀"].map(|c| PyString::new(py, &(c.to_owned() + &"a".repeat(99))));
    let [one, two, four] = &samples;
    // SAFETY: each string has 100 units, so that all reads are within its memory, whatever its layout: the units are read
    // only if the field of the length was found to be right.
    let is_right = unsafe {
        samples.iter().all(|sample| layout.field::<usize>(sample, LENGTH) == 100)
            && matches!(layout.code_units(one), Some(CodeUnits::One([0xE9, rest @ ..])) if rest == [b'a'; 99])
            && matches!(layout.code_units(two), Some(CodeUnits::Two([0x2019, rest @ ..])) if rest == [u16::from(b'a'); 99])
            && matches!(layout.code_units(four), Some(CodeUnits::Four([0x1F600, rest @ ..])) if rest == [u32::from(b'a'); 99])
            && samples.iter().all(|sample| layout.keeps_utf8(sample))
    };
    is_right.then_some(layout)
}

impl StringLayout {
    /// Return the code units of a string whose UTF-8 form was not made; `None` for other strings.
    ///
    /// # Safety
    /// The string has this layout, or is an object of at least [`Self::units`] bytes and 100 units.
    unsafe fn code_units<'s>(self, string: &'s Bound<'_, PyString>) -> Option<CodeUnits<'s>> {
        // SAFETY: these fields are within every string.
        let state = unsafe { self.field::<u32>(string, STATE) };
        // SAFETY: as above; the field of the UTF-8 form is within every string that is compact and not ASCII.
        if state & IS_COMPACT == 0 || state & IS_ASCII != 0 || unsafe { self.utf8(string) } != 0 {
            return None;
        }
        // SAFETY: as above.
        let len = unsafe { self.field::<usize>(string, LENGTH) };
        let start = string.as_ptr().cast::<u8>().wrapping_add(self.units);
        // SAFETY: the units of a compact string follow its header, aligned to their size. They do not change as long as
        // the string has an owner, and `string` is one for the lifetime of the result.
        Some(unsafe {
            match state >> KIND_SHIFT & 7 {
                1 => CodeUnits::One(std::slice::from_raw_parts(start, len)),
                2 => CodeUnits::Two(std::slice::from_raw_parts(start.cast(), len)),
                4 => CodeUnits::Four(std::slice::from_raw_parts(start.cast(), len)),
                _ => return None,
            }
        })
    }

    /// Return whether the field of the UTF-8 form is where Python keeps that form.
    fn keeps_utf8(self, sample: &Bound<'_, PyString>) -> bool {
        // SAFETY: a sample has 100 units after its header.
        let before = unsafe { self.utf8(sample) };
        let made = sample.to_str().map_or(0, |text| text.as_ptr() as usize);
        // SAFETY: as above.
        before == 0 && made != 0 && unsafe { self.utf8(sample) } == made
    }

    /// Return the address of the UTF-8 form, 0 if it was not made.
    ///
    /// # Safety
    /// The string is compact and not ASCII, or has 100 units.
    unsafe fn utf8(self, string: &Bound<'_, PyString>) -> usize {
        // SAFETY: by the contract, the field is within the string.
        unsafe { self.field(string, self.utf8) }
    }

    /// Read a field of a string.
    ///
    /// # Safety
    /// The field is within the string.
    unsafe fn field<T: Copy>(self, string: &Bound<'_, PyString>, offset: usize) -> T {
        // SAFETY: by the contract; objects are aligned to 16 bytes and fields to their size.
        unsafe { string.as_ptr().cast::<u8>().wrapping_add(offset).cast::<T>().read() }
    }
}
