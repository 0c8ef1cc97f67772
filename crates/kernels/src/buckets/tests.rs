use super::find::*;
use super::*;
use crate::cases;
use crate::level::Level;

fn random(i: u32) -> u64 {
    (u64::from(i) + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(i % 61) ^ u64::from(i)
}

/// Keys that are alike but for one of their halves, or a byte.
fn some_keys(count: u32) -> Vec<u128> {
    let halves = |i: u32| (u128::from(random(i)), u128::from(random(i / 2)) << 64);
    (0..count)
        .map(halves)
        .map(|(low, high)| if low % 3 == 0 { high | 1 << (low % 64) } else { low | high })
        .collect()
}

#[test]
fn a_key_is_found_where_it_is_by_all_instructions() {
    let keys = some_keys(cases(4000, 100) as u32);
    for (at, line) in keys.chunks_exact(WORDS).enumerate() {
        let mut line: [u128; WORDS] = line.try_into().unwrap();
        line[at % 5..].fill(0);
        for &key in keys[at * WORDS..].iter().take(6).chain(&keys[..20]) {
            let expected = find_scalar(&line, key);
            assert_eq!(find(&line, key), expected);
            #[cfg(target_arch = "x86_64")]
            for level in Level::supported() {
                let found = match level.name() {
                    // SAFETY: a level exists only where the processor has its instructions.
                    "avx2" => unsafe { find_avx2(&line, key) },
                    // SAFETY: the same.
                    "avx512" => unsafe { find_avx512(&line, key) },
                    _ => expected,
                };
                assert_eq!(found, expected, "{}", level.name());
            }
        }
    }
}

/// A table in which some words are, some of them without ids.
fn some_table(lines: usize, words: &[Lookup]) -> Vec<Bucket> {
    let mut table = vec![Bucket::EMPTY; lines];
    for (number, word) in (0..).zip(words) {
        let Some(at) = group(word.hash, lines).find(|&at| !table[at].is_full()) else { continue };
        let line = &mut table[at];
        let way = line.keys.iter().position(|&key| key == 0).unwrap();
        line.keys[way] = word.key;
        let ids: Vec<u32> = (0..=number % 4).map(|id| number + id).collect();
        line.ids[way] = if number % 50 == 49 { [NO_ID; MAX_IDS] } else { pack(&ids).unwrap() };
    }
    table
}

fn put_known_one_by_one(table: &[Bucket], asked: &[Lookup]) -> (usize, Vec<u32>) {
    let mut ids = Vec::new();
    for (words, asked) in asked.iter().enumerate() {
        match get(table, asked.key, asked.hash) {
            Some(packed) if packed[0] != NO_ID => {
                ids.push(unpacked_first(packed[0]));
                ids.extend_from_slice(&packed[1..count(packed[0])]);
            }
            _ => return (words, ids),
        }
    }
    (asked.len(), ids)
}

#[test]
fn what_is_known_is_put_alike_at_every_level() {
    let words: Vec<Lookup> = (0..)
        .zip(some_keys(cases(2000, 200) as u32))
        .map(|(i, key)| Lookup { key, hash: random(i / 3) })
        .collect();
    for (lines, told) in [(1, 3), (2, 8), (64, 250), (256, 700), (1024, 1500)]
        .map(|(lines, told)| (lines, told.min(words.len())))
    {
        let table = some_table(lines, &words[..told]);
        let mut room = vec![7; MAX_IDS * words.len()];
        for level in Level::supported() {
            let mut from = 0;
            while from < words.len() {
                let asked = &words[from..words.len().min(from + 100)];
                let known = copy_hits_at(level, &table, asked, &mut room);
                let (count, ids) = put_known_one_by_one(&table, asked);
                assert_eq!((known.words, &room[..known.ids]), (count, ids.as_slice()), "{}", level.name());
                from += known.words + 1;
            }
        }
    }
}

#[test]
fn twice_as_many_lines_have_a_word_there_or_as_far_behind() {
    for i in 0..1000 {
        for lines in [1, 2, 64, 4096] {
            assert_eq!(own(random(i), 2 * lines) % lines, own(random(i), lines));
        }
    }
}
