use super::{class_masks_at, scalar, ByteClasses, BLOCK};
use crate::cases;
use crate::level::Level;

/// Bytes that look random, the same at every run.
fn noise(count: usize, mut state: u64) -> Vec<u8> {
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 32) as u8
    };
    (0..count).map(|_| next()).collect()
}

fn check<const N: usize>(bytes: &[u8], classes: &ByteClasses) {
    let mut expected: Vec<[u64; N]> = Vec::new();
    scalar::class_masks(bytes, classes, &mut expected);
    for level in Level::supported() {
        let mut masks: Vec<[u64; N]> = Vec::new();
        class_masks_at(level, bytes, classes, &mut masks);
        assert_eq!(masks, expected, "{} of {} bytes", level.name(), bytes.len());
    }
}

fn random_classes() -> ByteClasses {
    let of_byte = noise(128, 99);
    ByteClasses::new(|byte| of_byte[usize::from(byte)])
}

#[test]
fn scalar_masks_say_what_each_byte_is() {
    let classes = ByteClasses::new(|byte| u8::from(byte.is_ascii_digit()) | u8::from(byte == b' ') << 1);
    let mut masks: Vec<[u64; 3]> = Vec::new();
    scalar::class_masks("7 é".as_bytes(), &classes, &mut masks);
    assert_eq!(masks, [[0b0001, 0b0010, 0b1100]]);
}

#[test]
fn every_level_equals_scalar_on_every_byte_at_every_place() {
    let classes = random_classes();
    for byte in (0..=255).step_by(cases(1, 51)) {
        for place in (0..BLOCK).step_by(cases(1, 21)) {
            let mut block = [b'a'; BLOCK];
            block[place] = byte;
            check::<8>(&block, &classes);
        }
    }
}

#[test]
fn every_level_equals_scalar_at_every_length_and_alignment() {
    let (classes, bytes) = (random_classes(), noise(400, 7));
    for start in (0..BLOCK).step_by(cases(1, 31)) {
        for len in (0..200).step_by(cases(1, 33)) {
            check::<8>(&bytes[start..start + len], &classes);
            check::<3>(&bytes[start..start + len], &classes);
        }
    }
}
