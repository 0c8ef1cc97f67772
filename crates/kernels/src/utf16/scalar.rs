//! The scalar definition: character by character.

/// See [`super::append`].
#[must_use]
pub fn append(text: &[u8], units: &mut Vec<u8>) -> bool {
    let Ok(text) = std::str::from_utf8(text) else { return false };
    units.reserve(2 * text.len());
    text.encode_utf16().for_each(|unit| units.extend_from_slice(&unit.to_ne_bytes()));
    true
}
