//! Caches: what is read is what was written, and what was damaged is refused.

use piecework_core::pipeline::Pipeline;
use piecework_core::spec::TokenizerSpec;
use piecework_formats::cache;

use crate::damage::damage_bytes;
use crate::texts;

/// How many damaged copies are read.
const COPIES: usize = 8;

pub(crate) fn keep_and_damage(spec: &TokenizerSpec, pipeline: &Pipeline) {
    let Ok(file) = cache::write(spec, &pipeline.store(), "parse", b"") else { return };
    let read = cache::read(&file.clone().into());
    let restored = read.and_then(|cached| {
        assert!(cached.spec == *spec, "another specification is read than was written");
        Pipeline::restore(cached.spec, &cached.parts)
    });
    match restored {
        Ok(restored) => texts::encode_and_decode(&restored),
        Err(error) => panic!("what was written cannot be read: {error}"),
    }
    // The same damage for the same file, so that a fault comes again.
    let mut random = fastrand::Rng::with_seed(file.len() as u64);
    for _ in 0..COPIES {
        let mut damaged = file.clone();
        damage_bytes(&mut damaged, &mut random);
        let is_refused = cache::read(&damaged.clone().into()).is_err();
        assert!(is_refused || damaged == file, "a damaged cache is taken for whole");
    }
}
