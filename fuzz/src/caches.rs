//! Compiled caches: the reader restores a written cache, rejects a damaged one, and does not panic at a forged one.

use fastrand::Rng;
use piecework_core::engine::Tokenizer;
use piecework_core::spec::{ParseSpecial, TokenizerSpec};
use piecework_formats::cache;
use xxhash_rust::xxh3::xxh3_64;

use crate::damage::damage_bytes;
use crate::{texts, Calls};

/// The number of damaged copies of a cache.
const COPIES: usize = 8;
/// The number of forged copies of a cache.
const FORGED: usize = 4;

// The layout of a cache file, in bytes; `container.rs` of the formats defines it.

/// The offset of the checksum.
const CHECKSUM: usize = 8;
/// The offset of the first byte that the checksum covers.
const CHECKED_FROM: usize = 16;
/// The offset of the number of sections.
const SECTION_COUNT: usize = 32;
/// The size of the header.
const HEADER: usize = 64;
/// The size of an entry of the section table.
const SECTION: usize = 48;
/// The size of the name of a section.
const NAME: usize = 32;

/// Write and restore the cache of a tokenizer, then read damaged and forged copies.
pub(crate) fn write_and_damage(spec: &TokenizerSpec, tokenizer: &Tokenizer, calls: &mut Calls) {
    let Ok(file) = cache::write(spec, &tokenizer.store(), ParseSpecial::All, b"") else { return };
    let read = cache::read(&file.clone().into());
    let restored = read.and_then(|cached| {
        assert!(cached.whole_spec()? == *spec, "the specification read differs from the one written");
        calls.time(|| Tokenizer::restore(cached.spec, cached.vocab, &cached.parts, cached.read_entries))
    });
    match restored {
        Ok(restored) => texts::encode_and_decode(&restored, calls),
        Err(error) => panic!("a written cache cannot be read: {error}"),
    }
    // The seed depends on the file alone, so that a failure is repeatable.
    let mut random = Rng::with_seed(file.len() as u64);
    for _ in 0..COPIES {
        let mut damaged = file.clone();
        damage_bytes(&mut damaged, &mut random);
        let is_rejected = cache::read(&damaged.clone().into()).is_err();
        assert!(is_rejected || damaged == file, "a damaged cache is read without an error");
    }
    for _ in 0..FORGED {
        if calls.are_slow() {
            return;
        }
        use_forged(&file, &mut random, calls);
    }
}

/// Change a file and correct its checksum. If the reader accepts it, encode and decode with it.
fn use_forged(file: &[u8], random: &mut Rng, calls: &mut Calls) {
    let mut forged = file.to_vec();
    for _ in 0..random.usize(1..4) {
        forge(&mut forged, random);
    }
    let checksum = xxh3_64(&forged[CHECKED_FROM..]);
    forged[CHECKSUM..CHECKED_FROM].copy_from_slice(&checksum.to_ne_bytes());
    let restore = || {
        let cached = cache::read(&forged.into())?;
        Tokenizer::restore(cached.spec, cached.vocab, &cached.parts, cached.read_entries)
    };
    if let Ok(restored) = calls.time(restore) {
        texts::encode_and_decode(&restored, calls);
    }
}

/// Change a number in a section, or an entry of the section table.
fn forge(file: &mut [u8], random: &mut Rng) {
    let count = number(file, SECTION_COUNT, 4) as usize;
    let entry = HEADER + SECTION * random.usize(..count.max(1));
    if random.u8(..16) == 0 {
        let other = HEADER + SECTION * random.usize(..count.max(1));
        match random.u8(..3) {
            0 => swap(file, entry, other, NAME),
            1 => swap(file, entry + NAME, other + NAME, SECTION - NAME),
            _ => change(file, entry + NAME, SECTION - NAME, 8, random),
        }
        return;
    }
    let (start, len) = (number(file, entry + NAME, 8) as usize, number(file, entry + NAME + 8, 8) as usize);
    if start.checked_add(len).is_some_and(|end| end <= file.len()) {
        let width = [1, 4, 4, 4, 8][random.usize(..5)];
        change(file, start, len, width, random);
    }
}

/// Change one of the numbers of `width` bytes: to a near value, to another of the numbers, or to an extreme.
fn change(file: &mut [u8], start: usize, len: usize, width: usize, random: &mut Rng) {
    if len < width {
        return;
    }
    let mut any = || start + width * random.usize(..len / width);
    let (at, other) = (any(), any());
    let (here, there) = (number(file, at, width), number(file, other, width));
    let largest = u64::MAX >> (64 - 8 * width);
    let changed = match random.u8(..8) {
        0 => 0,
        1 => largest,
        2 => largest - 1,
        3 => here.wrapping_add(1),
        4 => here.wrapping_sub(1),
        5 => here ^ 1 << random.usize(..8 * width),
        6 => random.u64(..),
        _ => there,
    };
    file[at..at + width].copy_from_slice(&changed.to_le_bytes()[..width]);
}

/// Return a little-endian number of `width` bytes.
fn number(file: &[u8], at: usize, width: usize) -> u64 {
    file[at..at + width].iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte))
}

/// Swap two ranges of bytes.
fn swap(file: &mut [u8], one: usize, other: usize, len: usize) {
    (0..len).for_each(|byte| file.swap(one + byte, other + byte));
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::seed_files;

    #[test]
    fn a_forged_cache_with_the_right_checksum_never_panics() {
        let mut random = Rng::with_seed(17);
        let mut kinds = 0;
        for (path, kind) in seed_files() {
            let Some(spec) = kind.read(&fs::read(path).unwrap()) else { continue };
            let Ok(tokenizer) = Tokenizer::compile(&spec) else { continue };
            let file = cache::write(&spec, &tokenizer.store(), ParseSpecial::All, b"").unwrap();
            (0..400).for_each(|_| use_forged(&file, &mut random, &mut Calls::default()));
            kinds += 1;
        }
        assert!(kinds >= 6, "tokenizers of {kinds} files were forged");
    }
}
