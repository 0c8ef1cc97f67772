//! The scalar definition: one code point after the other.

/// A code unit.
pub(super) trait CodeUnit: Copy + Into<u32> {}

impl CodeUnit for u8 {}
impl CodeUnit for u16 {}
impl CodeUnit for u32 {}

/// See [`super::append`].
pub(super) fn append<U: CodeUnit>(units: &[U], out: &mut Vec<u8>) -> bool {
    out.reserve(units.len());
    units.iter().all(|&unit| {
        let c = char::from_u32(unit.into());
        c.inspect(|c| out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes())).is_some()
    })
}
