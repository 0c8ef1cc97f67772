//! Compiled rules, by hand.

use super::*;

/// Return a charsmap of few rules: a trie whose node of depth one for each byte stands at its own block.
fn charsmap(rules: &[(u8, &str)]) -> Vec<u8> {
    let mut units = vec![0_u32; 256 * (rules.len() + 2)];
    let mut replacements = Vec::new();
    units[0] = 256 << 10;
    for (index, &(byte, new)) in rules.iter().enumerate() {
        let (at, below) = (256 ^ usize::from(byte), 256 * (index + 2));
        units[at] = ((at ^ below) as u32) << 10 | 1 << 8 | u32::from(byte);
        units[below] = 1 << 31 | replacements.len() as u32;
        replacements.extend(new.bytes().chain([0]));
    }
    let trie = units.iter().flat_map(|unit| unit.to_le_bytes());
    ((4 * units.len()) as u32).to_le_bytes().into_iter().chain(trie).chain(replacements).collect()
}

fn precompiled(rules: &[(u8, &str)]) -> NormalizerSpec {
    NormalizerSpec::Precompiled { charsmap: charsmap(rules) }
}

#[test]
fn charsmaps_replace_whole_short_clusters() {
    let spec = precompiled(&[(b'a', "xyz"), (b'b', ""), (b'c', "d")]);
    check(&spec, "ca\u{301}q", "dxyzq", &[(0, 1), (1, 2), (2, 3), (2, 3), (3, 4)]);
    check(
        &spec,
        "a\u{301}\u{302}\u{303}",
        "xyz\u{301}\u{302}\u{303}",
        &[(0, 1), (0, 1), (0, 1), (1, 2), (2, 3), (3, 4)],
    );
    check(&spec, "abbq", "xyzq", &[(0, 1), (0, 1), (1, 2), (3, 4)]);
    check(&spec, "c\r\nc", "d\r\nd", &[(0, 1), (1, 2), (2, 3), (3, 4)]);
}

#[test]
fn a_deletion_at_the_start_does_not_shift_offsets() {
    // tokenizers 0.23.3 gives q the span (0, 1).
    check(&precompiled(&[(b'b', "")]), "bq", "q", &[(1, 2)]);
}

#[test]
fn invalid_charsmaps_name_their_place() {
    let good = charsmap(&[(b'a', "x")]);
    let mut bad: Vec<Vec<u8>> = (0..good.len()).map(|len| good[..len].to_vec()).collect();
    bad.push([&good[..good.len() - 2], b"\xFF\0"].concat());
    bad.push([&(good.len() as u32).to_le_bytes(), &good[4..]].concat());
    bad.push([&10_u32.to_le_bytes(), &good[4..]].concat());
    // A child outside the trie, a value outside the replacements, a value that is none.
    let child = 256 ^ usize::from(b'a');
    for (unit, value) in [(child, 0x7FFF_FF61_u32), (child, 0x7FFF_FE61), (512, 1 << 31 | 2), (512, 0)] {
        let mut blob = good.clone();
        blob[4 + 4 * unit..8 + 4 * unit].copy_from_slice(&value.to_le_bytes());
        bad.push(blob);
    }
    for charsmap in bad {
        let spec =
            NormalizerSpec::Sequence(vec![NormalizerSpec::Nfc, NormalizerSpec::Precompiled { charsmap }]);
        let Err(error) = Normalizer::compile(Some(&spec)) else { panic!("accepted") };
        assert_eq!(error.place, "normalizer.normalizers[1].precompiled_charsmap");
        assert_eq!(error.kind, ErrorKind::Format);
    }
    Normalizer::compile(Some(&NormalizerSpec::Precompiled { charsmap: good })).unwrap();
}

#[test]
fn rules_that_grow_without_end_are_an_error() {
    let double = replace(PatternSpec::Text("a".to_owned()), "aa");
    let long = replace(PatternSpec::Text("a".to_owned()), &"b".repeat(1 << 20));
    let levels = NormalizerSpec::Sequence(vec![NormalizerSpec::ByteLevel; 60]);
    let doubles = NormalizerSpec::Sequence(vec![double; 60]);
    let rules = precompiled(&[(b'a', &"b".repeat(1 << 20))]);
    for (spec, text, place) in [
        (doubles, "a", "normalizer.normalizers[16]"),
        (long, "aaaa", "normalizer"),
        (levels, "é", "normalizer.normalizers[15]"),
        (rules, "aaaa", "normalizer"),
    ] {
        let normalizer = Normalizer::compile(Some(&spec)).unwrap();
        let error = normalizer.run(text, 0, &mut String::new()).unwrap_err();
        assert_eq!((error.kind, error.place.as_str()), (ErrorKind::Argument, place));
    }
}
