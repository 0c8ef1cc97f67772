//! Text for the stages: normalized text with its source, patterns and positions.

mod align;
mod aligned;
mod byte_tokens;
mod pattern;
mod pre_tokenized_text;

/// The character that stands for a space in SentencePiece.
pub const METASPACE: char = '\u{2581}';
/// The same as a string.
pub(crate) const METASPACE_STR: &str = "\u{2581}";

pub use align::{align, AlignedRun};
pub use aligned::units_before_chars;
pub(crate) use aligned::{max_grown_len, MAX_GROWTH};
pub use aligned::{Aligned, CharIndex, CharSpans, ExpansionLimit, NormalizedSink};
pub use byte_tokens::{
    byte_entry, byte_of_entry, byte_of_printable, printable_of, push_bytes_of_printable,
};
pub use pattern::{Pattern, PrefixSet};
pub use pre_tokenized_text::PreTokenizedText;

/// Return a number with at most six significant digits and no zeros after them, as C's `%g` does.
#[must_use]
pub fn six_digits(number: f64) -> String {
    let scientific = format!("{number:.5e}");
    let (digits, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let trimmed = |shown: &str| match shown.contains('.') {
        true => shown.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => shown.to_owned(),
    };
    if !(-4..6).contains(&exponent) {
        let sign = if exponent < 0 { '-' } else { '+' };
        return format!("{}e{sign}{:02}", trimmed(digits), exponent.abs());
    }
    let decimals = usize::try_from(5 - exponent).unwrap_or(0);
    trimmed(&format!("{number:.decimals$}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn six_digits_are_written_as_c_does() {
        for (number, shown) in [
            (0.0, "0"),
            (2.772_588_7, "2.77259"),
            (-12.5, "-12.5"),
            (-0.1, "-0.1"),
            (f64::from(-3.465_72_f32), "-3.46572"),
            (999_999.5, "1e+06"),
            (1_234_567.0, "1.23457e+06"),
            (-1_234_567.0, "-1.23457e+06"),
            (123_456.4, "123456"),
            (-31_738.0, "-31738"),
            (0.000_123_456_78, "0.000123457"),
            (0.000_012, "1.2e-05"),
            (1e-7, "1e-07"),
        ] {
            assert_eq!(six_digits(number), shown);
        }
    }
}
