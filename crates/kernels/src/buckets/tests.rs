use super::find::*;
use super::*;
use crate::cases;
use crate::level::Level;

fn random(i: u32) -> u64 {
    (u64::from(i) + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(i % 61) ^ u64::from(i)
}

/// Return keys, many of which differ in one half or one bit.
fn some_keys(count: u32) -> Vec<u128> {
    let halves = |i: u32| (u128::from(random(i)), u128::from(random(i / 2)) << 64);
    (0..count)
        .map(halves)
        .map(|(low, high)| if low % 3 == 0 { high | 1 << (low % 64) } else { low | high })
        .collect()
}

#[test]
fn every_instruction_set_finds_the_slot_of_a_key() {
    let keys = some_keys(cases(4000, 100) as u32);
    for (at, slots) in keys.chunks_exact(SLOTS).enumerate() {
        let mut slots: [u128; SLOTS] = slots.try_into().unwrap();
        if slots[0] == slots[1] {
            continue;
        }
        slots[at % (SLOTS + 1)..].fill(0);
        for &key in keys[at * SLOTS..].iter().take(6).chain(&keys[..20]) {
            let expected = find_scalar(&slots, key);
            assert_eq!(find(&slots, key), expected);
            #[cfg(target_arch = "x86_64")]
            for level in Level::supported() {
                let found = match level.name() {
                    // SAFETY: a level exists only where the processor has its instructions.
                    "avx2" => unsafe { find_avx2(&slots, key) },
                    _ => expected,
                };
                assert_eq!(found, expected, "{}", level.name());
            }
        }
    }
}

/// Return a table with the words that fit; every fiftieth word has no ids in its slot.
fn some_table(bucket_count: usize, words: &[Lookup]) -> Vec<Bucket> {
    let mut table = vec![Bucket::EMPTY; bucket_count];
    for (number, word) in (0..).zip(words) {
        let Some(at) = group(word.hash, bucket_count).find(|&at| !table[at].is_full()) else { continue };
        let bucket = &mut table[at];
        let slot = bucket.keys.iter().position(|&key| key == 0).unwrap();
        bucket.keys[slot] = word.key;
        let ids: Vec<u32> = (0..=number % 4).map(|id| number + id).collect();
        bucket.ids[slot] = if number % 50 == 49 { [NO_ID; MAX_IDS] } else { pack(&ids).unwrap() };
    }
    table
}

fn append_hits_one_by_one(table: &[Bucket], lookups: &[Lookup]) -> (usize, Vec<u32>) {
    let mut ids = Vec::new();
    for (words, lookup) in lookups.iter().enumerate() {
        match get(table, lookup.key, lookup.hash) {
            Some(packed) if packed[0] != NO_ID => {
                ids.push(unpacked_first(packed[0]));
                ids.extend_from_slice(&packed[1..count(packed[0])]);
            }
            _ => return (words, ids),
        }
    }
    (lookups.len(), ids)
}

#[test]
fn every_level_appends_the_same_hits() {
    let words: Vec<Lookup> = (0..)
        .zip(some_keys(cases(2000, 200) as u32))
        .map(|(i, key)| Lookup { key, hash: random(i / 3) })
        .collect();
    for (bucket_count, word_count) in [(1, 3), (2, 8), (64, 250), (256, 700), (1024, 1500)]
        .map(|(bucket_count, word_count)| (bucket_count, word_count.min(words.len())))
    {
        let table = some_table(bucket_count, &words[..word_count]);
        for level in Level::supported() {
            let mut from = 0;
            while from < words.len() {
                let lookups = &words[from..words.len().min(from + 100)];
                let mut out = vec![7];
                let count = append_hits_at(level, &table, lookups, &mut out);
                let (expected, ids) = append_hits_one_by_one(&table, lookups);
                assert_eq!((count, &out[1..]), (expected, ids.as_slice()), "{}", level.name());
                from += count + 1;
            }
        }
    }
}

#[test]
fn a_table_of_twice_the_size_keeps_a_home_bucket_or_moves_it_by_the_old_size() {
    for i in 0..1000 {
        for bucket_count in [1, 2, 64, 4096] {
            assert_eq!(home(random(i), 2 * bucket_count) % bucket_count, home(random(i), bucket_count));
        }
    }
}
