use super::*;
use crate::cases;
use crate::level::Level;

fn random(i: u32) -> u32 {
    (i + 1).wrapping_mul(0x9E37_79B9).rotate_left(i % 31) ^ i
}

/// Merge the leftmost of the lowest pairs of a word until no pair merges.
fn merged_one_by_one(word: &[u8], merge: impl Fn(u32, u32) -> u32) -> Vec<u32> {
    let mut numbers: Vec<u32> = word.iter().map(|&byte| u32::from(byte)).collect();
    loop {
        let pairs = numbers.windows(2).map(|two| merge(two[0], two[1])).zip(0..);
        match pairs.min() {
            Some((merged, at)) if merged != NUMBER_BOUND => {
                numbers[at] = merged;
                numbers.remove(at + 1);
            }
            _ => return numbers,
        }
    }
}

/// Pairs of letters and of the symbols that they merge to.
fn some_pairs(letters: u32) -> Vec<(u32, u32, u32)> {
    let mut numbers: Vec<u32> = (0..letters).collect();
    let mut pairs = Vec::new();
    for i in 0..letters * 40 {
        let [left, right] =
            [random(2 * i), random(2 * i + 1)].map(|at| numbers[at as usize % numbers.len()]);
        if !pairs.iter().any(|&(l, r, _)| (l, r) == (left, right)) {
            pairs.push((left, right, 256 + i));
            numbers.push(256 + i);
        }
    }
    pairs
}

#[test]
fn finds_every_pair_and_no_other() {
    for count in [0, 1, 7, cases(1000, 50)] {
        let mut pairs = PairMap::with_capacity(count);
        let numbers = |i: usize| [random(i as u32), random(i as u32 + 77)].map(|n| n % NUMBER_BOUND);
        for i in 0..count {
            let [left, right] = numbers(i);
            assert!(pairs.insert(left, right, i as u32));
        }
        for i in 0..2 * count {
            let [left, right] = numbers(i);
            assert_eq!(pairs.get(left, right), if i < count { i as u32 } else { NUMBER_BOUND });
        }
        assert_eq!(pairs.get(NUMBER_BOUND, 0), NUMBER_BOUND);
        assert_eq!(pairs.get(0, NUMBER_BOUND), NUMBER_BOUND);
    }
}

#[test]
fn pairs_of_one_bucket_differ_in_any_bit() {
    let bits = (0..NUMBER_BITS).map(|bit| 1 << bit);
    let numbers: Vec<u32> = bits.chain([0, NUMBER_BOUND - 1]).collect();
    let pairs = || numbers.iter().flat_map(|&left| numbers.iter().map(move |&right| (left, right)));
    for (stored, &merged) in pairs().zip(numbers.iter().cycle()).step_by(cases(1, 50)) {
        let mut map = PairMap::with_capacity(1);
        assert!(map.insert(stored.0, stored.1, merged));
        for pair in pairs() {
            let expected = if pair == stored { merged } else { NUMBER_BOUND };
            assert_eq!(map.get(pair.0, pair.1), expected, "{pair:?} beside {stored:?}");
        }
    }
}

#[test]
fn the_first_bucket_follows_the_last() {
    let mut map = PairMap::with_capacity(8);
    let buckets = (0..1000).map(|right| map.prefetch(0, right));
    let last = buckets.clone().max();
    let pairs: Vec<u32> =
        (0..1000).zip(buckets).filter(|&(_, at)| Some(at) == last).map(|(right, _)| right).collect();
    assert!(pairs[..8].iter().all(|&right| map.insert(0, right, right)));
    assert!(pairs[..8].iter().all(|&right| map.get(0, right) == right));
    assert!(pairs[8..].iter().all(|&right| map.get(0, right) == NUMBER_BOUND));
}

/// Return a table of pairs, numbered in their order, and how often they were spread again.
fn table_of(pairs: &[(u32, u32)]) -> (PairMap, usize) {
    let (mut map, mut spreads) = (PairMap::with_capacity(pairs.len()), 0);
    for (number, &(left, right)) in (0..).zip(pairs) {
        if !map.insert(left, right, number) {
            spreads += 1;
            assert!(map.spread_again(
                (1..10).map(|seed: u64| seed.wrapping_mul(0xD6E8_FEB8_6659_FD93).wrapping_pow(3))
            ));
        }
        assert!(number % 100 != 0 || map.longest_lookup() <= map.max_run() + 1);
    }
    let numbered = (0..).zip(pairs);
    assert!(numbered.clone().all(|(number, &(left, right))| map.get(left, right) == number));
    assert_eq!(map.pairs().count(), pairs.len());
    assert!(map.pairs().all(|(left, right)| map.get(left, right) != NUMBER_BOUND));
    (map, spreads)
}

/// Pairs whose own buckets are the first `buckets` of those of a table of `count` pairs, `per_bucket` of them in each.
fn pairs_in_a_row(count: usize, buckets: usize, per_bucket: usize) -> Vec<(u32, u32)> {
    let map = PairMap::with_capacity(count);
    let mut free = vec![per_bucket; buckets];
    let all = (0..).flat_map(|left| (0..2000).map(move |right| (left, right)));
    let fits = |&(left, right): &(u32, u32)| {
        let free = free.get_mut(map.prefetch(left, right)).filter(|free| **free > 0);
        free.map(|free| *free -= 1).is_some()
    };
    all.filter(fits).take(buckets * per_bucket).collect()
}

#[test]
fn lookups_of_chosen_pairs_read_at_most_twice_the_buckets_of_random_ones() {
    let count = cases(20_000, 200);
    let random: Vec<(u32, u32)> =
        (0..count as u32).map(|i| (random(i) % NUMBER_BOUND, random(i + 77) % NUMBER_BOUND)).collect();
    let (random, spreads) = table_of(&random);
    assert_eq!(spreads, 0);
    let colliding = pairs_in_a_row(count, 1, cases(1000, 50));
    let in_a_row = pairs_in_a_row(count, count / 4, 4);
    for pairs in [colliding, in_a_row] {
        let (map, spreads) = table_of(&pairs);
        assert_eq!(spreads, 1);
        assert!(map.longest_lookup() <= 2 * random.longest_lookup(), "{}", map.longest_lookup());
    }
}

#[test]
fn pairs_of_long_runs_by_every_multiplier_are_reported() {
    let mut map = PairMap::with_capacity(1000);
    let is_short = pairs_in_a_row(1000, 250, 4).iter().all(|&(left, right)| map.insert(left, right, 0));
    assert!(!is_short && !map.spread_again(std::iter::repeat_n(0x9E37_79B9_7F4A_7C15, 3)));
}

#[test]
fn interleaved_words_merge_like_single_words_at_every_level() {
    check::<16, 32>();
    check::<32, 64>();
}

fn check<const SYMBOLS: usize, const CAPACITY: usize>() {
    for letters in [1, 2, 3, 5] {
        let list = some_pairs(letters);
        let mut pairs = PairMap::with_capacity(list.len());
        list.iter().for_each(|&(left, right, merged)| assert!(pairs.insert(left, right, merged)));
        let of_bytes = list.iter().filter(|(left, right, _)| *left.max(right) < 256);
        let bytes =
            BytePairMap::of(of_bytes.map(|&(left, right, merged)| (left as u8, right as u8, merged)));
        let words: Vec<Vec<u8>> = (0..cases(4000, 100) as u32)
            .map(|i| (0..i % SYMBOLS as u32).map(|at| (random(i * 40 + at) % letters) as u8).collect())
            .collect();
        let mut batch = InterleavedWords::<SYMBOLS, CAPACITY>::default();
        for words in words.chunks(MAX_WORDS - 3).chain(words.chunks(MAX_WORDS)) {
            let words: Vec<&[u8]> = words.iter().map(Vec::as_slice).collect();
            for level in Level::supported() {
                batch.merge_at(level, &words, &bytes, &pairs);
                for (index, word) in words.iter().enumerate() {
                    let expected = merged_one_by_one(word, |left, right| pairs.get(left, right));
                    let found: Vec<u32> = batch.numbers(index).collect();
                    assert_eq!(found, expected, "{} {word:?}", level.name());
                }
            }
        }
    }
}
