//! Text as the code units in which Python stores strings that are not ASCII, and its conversion to UTF-8.

#[cfg(target_arch = "x86_64")]
mod avx2;
mod scalar;

use crate::level::Level;
#[cfg(target_arch = "x86_64")]
use crate::level::Set;

/// Code units of one size; each is a code point.
#[derive(Clone, Copy, Debug)]
pub enum CodeUnits<'t> {
    /// Code points below 256.
    One(&'t [u8]),
    /// Code points below 65,536.
    Two(&'t [u16]),
    /// All code points.
    Four(&'t [u32]),
}

impl CodeUnits<'_> {
    /// Return the number of code points.
    #[must_use]
    pub fn len(self) -> usize {
        match self {
            Self::One(units) => units.len(),
            Self::Two(units) => units.len(),
            Self::Four(units) => units.len(),
        }
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// Return whether every code point is a character, no surrogate.
    #[must_use]
    pub fn are_chars(self) -> bool {
        // Without an early exit, so that the loops are compiled to vector instructions.
        match self {
            Self::One(_) => true,
            Self::Two(units) => !units.iter().fold(false, |found, unit| found | (unit & 0xF800 == 0xD800)),
            Self::Four(units) => {
                let is_wrong = |unit: u32| (unit & 0xFFFF_F800 == 0xD800) | (unit > char::MAX.into());
                !units.iter().fold(false, |found, &unit| found | is_wrong(unit))
            }
        }
    }

    /// Replace `text` by the text. Return `false`, with an unspecified text, if a code point is a surrogate.
    #[must_use]
    pub fn write_utf8(self, text: &mut String) -> bool {
        self.write_utf8_at(Level::active(), text)
    }

    /// [`Self::write_utf8`] with the instructions of a level.
    #[must_use]
    pub fn write_utf8_at(self, level: Level, text: &mut String) -> bool {
        let mut bytes = std::mem::take(text).into_bytes();
        bytes.clear();
        let is_text = match self {
            Self::One(units) => append(level, units, &mut bytes),
            Self::Two(units) => append(level, units, &mut bytes),
            Self::Four(units) => append(level, units, &mut bytes),
        };
        if is_text {
            // SAFETY: `append` appends the UTF-8 of one code point after the other, and no surrogates.
            *text = unsafe { String::from_utf8_unchecked(bytes) };
        }
        is_text
    }
}

/// A code unit of some size.
#[cfg(target_arch = "x86_64")]
trait CodeUnit: scalar::CodeUnit + avx2::CodeUnit {}
#[cfg(target_arch = "x86_64")]
impl<U: scalar::CodeUnit + avx2::CodeUnit> CodeUnit for U {}
#[cfg(not(target_arch = "x86_64"))]
use scalar::CodeUnit;

/// Append units as UTF-8, up to the first that is not a character; return whether all are.
fn append<U: CodeUnit>(level: Level, units: &[U], out: &mut Vec<u8>) -> bool {
    match level.set() {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: a level exists only where the processor has its instructions; those with AVX-512 have AVX2.
        Set::Avx2 | Set::Avx512 => unsafe { avx2::append(units, out) },
        _ => scalar::append(units, out),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cases;

    const BLOCK: usize = 32;

    /// Return the text of units, the same at all levels.
    fn written(units: CodeUnits<'_>) -> Option<String> {
        let mut found = Level::supported().into_iter().map(|level| {
            let mut text = "earlier".to_owned();
            units.write_utf8_at(level, &mut text).then_some(text)
        });
        let first = found.next().unwrap();
        assert!(found.all(|text| text == first), "{units:?}");
        assert_eq!(units.are_chars(), first.is_some());
        first
    }

    /// Texts in which one character is at each position of a block and around it.
    fn texts(c: char) -> impl Iterator<Item = String> {
        (0..2 * BLOCK + 2).step_by(cases(1, 13)).flat_map(move |at| {
            [0, 1, BLOCK].map(|after| "a".repeat(at) + &c.to_string() + &"b".repeat(after))
        })
    }

    #[test]
    fn code_units_become_the_text() {
        let edges =
            ['\0', '\x7F', '\u{80}', 'é', '\u{FF}', '\u{100}', '\u{7FF}', '\u{800}', '’', '\u{D7FF}'];
        let above = ['\u{E000}', '\u{FFFF}', '\u{10000}', '😀', char::MAX];
        for text in edges.into_iter().chain(above).flat_map(texts).chain([String::new()]) {
            let points: Vec<u32> = text.chars().map(u32::from).collect();
            assert_eq!(written(CodeUnits::Four(&points)).as_ref(), Some(&text));
            if let Ok(units) =
                points.iter().map(|&point| u16::try_from(point)).collect::<Result<Vec<_>, _>>()
            {
                assert_eq!(written(CodeUnits::Two(&units)).as_ref(), Some(&text));
            }
            if let Ok(units) =
                points.iter().map(|&point| u8::try_from(point)).collect::<Result<Vec<_>, _>>()
            {
                assert_eq!(written(CodeUnits::One(&units)).as_ref(), Some(&text));
            }
        }
    }

    #[test]
    fn converts_neighbouring_characters_of_all_lengths() {
        let chars = ['a', 'é', '’', '😀'];
        for number in (0..4_usize.pow(8)).step_by(cases(1, 997)) {
            let text: String = (0..8).map(|place| chars[number >> (2 * place) & 3]).collect();
            let points: Vec<u32> = text.chars().map(u32::from).collect();
            assert_eq!(written(CodeUnits::Four(&points)), Some(text));
        }
    }

    #[test]
    fn rejects_surrogates_and_large_numbers() {
        for at in [0, 5, BLOCK - 1, BLOCK, 2 * BLOCK + 3] {
            for point in [0xD800, 0xDBFF, 0xDC00, 0xDFFF] {
                let mut units = vec![u16::from(b'a'); 3 * BLOCK];
                units[at] = point;
                units[at + 1] = 0xDC00;
                assert_eq!(written(CodeUnits::Two(&units)), None);
                let points: Vec<u32> = units.iter().map(|&unit| unit.into()).collect();
                assert_eq!(written(CodeUnits::Four(&points)), None);
            }
            let mut points = vec![u32::from(b'a'); 3 * BLOCK];
            points[at] = u32::from(char::MAX) + 1;
            assert_eq!(written(CodeUnits::Four(&points)), None);
        }
    }
}
