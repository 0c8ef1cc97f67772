//! Compiles pairs of texts to a `precompiled_charsmap`: checks, the pool of replacements, then the minimal
//! trie of the sources as a double array. O(bytes of the sources), except for sorting.

use foldhash::HashMap;

use super::double_array;
use super::minimal_trie::MinimalTrie;
use super::rule_error::RuleError;

/// The longest source in bytes that a normalizer finds.
pub(super) const MAX_SOURCE_BYTES: usize = 256;
/// Limits for sources and replacements; a set within them compiles and decompiles within a second.
pub(super) const MAX_ALL_SOURCES_BYTES: usize = 1 << 22;
pub(super) const MAX_ALL_REPLACEMENTS_BYTES: usize = 1 << 26;

/// SentencePiece rejects more rules than this that begin at the same position.
const MAX_NESTED: usize = 31;

type Pair = (String, String);

/// Compile rules; no rules compile to no bytes.
pub(super) fn compile(rules: &[Pair]) -> Result<Vec<u8>, RuleError> {
    if rules.is_empty() {
        return Ok(Vec::new());
    }
    check_each(rules)?;
    check_sizes(rules)?;
    let mut order: Vec<usize> = (0..rules.len()).collect();
    order.sort_by(|&a, &b| rules[a].0.cmp(&rules[b].0));
    check_neighbours(rules, &order)?;
    let (replacements, starts) = pool(order.iter().map(|&rule| rules[rule].1.as_str()));
    let keys = order.iter().map(|&rule| rules[rule].0.as_bytes()).zip(starts);
    let units = double_array::lay_out(&MinimalTrie::build(keys))?;
    let mut blob = ((units.len() * 4) as u32).to_le_bytes().to_vec();
    blob.extend(units.into_iter().flat_map(u32::to_le_bytes));
    blob.extend_from_slice(&replacements);
    Ok(blob)
}

fn check_each(rules: &[Pair]) -> Result<(), RuleError> {
    for (at, (source, replacement)) in rules.iter().enumerate() {
        if source.is_empty() {
            return Err(RuleError::at(at, "an empty source", "the characters to replace"));
        }
        if source.contains('\0') || replacement.contains('\0') {
            return Err(RuleError::at(
                at,
                "NUL",
                "other characters, as NUL ends a text in the compiled form",
            ));
        }
        if source.len() > MAX_SOURCE_BYTES {
            let found = format!("a source of {} bytes", source.len());
            return Err(RuleError::at(at, found, format!("at most {MAX_SOURCE_BYTES} bytes of UTF-8")));
        }
    }
    Ok(())
}

fn check_sizes(rules: &[Pair]) -> Result<(), RuleError> {
    let check = |bytes: usize, max: usize, what: &str| {
        let found = format!("{bytes} bytes of {what}");
        let error = || RuleError::of_all(&found, &format!("at most {max}"));
        (bytes <= max).then_some(()).ok_or_else(error)
    };
    check(rules.iter().map(|rule| rule.0.len()).sum(), MAX_ALL_SOURCES_BYTES, "sources")?;
    check(rules.iter().map(|rule| rule.1.len()).sum(), MAX_ALL_REPLACEMENTS_BYTES, "replacements")
}

/// Check sorted rules for equal sources and for too many nested prefixes.
fn check_neighbours(rules: &[Pair], order: &[usize]) -> Result<(), RuleError> {
    let mut nested: Vec<&str> = Vec::new();
    for (place, &rule) in order.iter().enumerate() {
        let source = rules[rule].0.as_str();
        if let Some(&before) = place.checked_sub(1).and_then(|place| order.get(place)) {
            if rules[before].0 == source {
                let found = format!("the source {source:?} again");
                return Err(RuleError::at(rule, found, "each source once"));
            }
        }
        while nested.last().is_some_and(|outer| !source.starts_with(outer)) {
            nested.pop();
        }
        nested.push(source);
        if nested.len() > MAX_NESTED {
            let found = format!("{} sources that are beginnings of one another", nested.len());
            return Err(RuleError::at(rule, found, format!("at most {MAX_NESTED}")));
        }
    }
    Ok(())
}

/// Return each distinct replacement once, terminated by NUL, and the position of each rule's replacement.
fn pool<'r>(replacements: impl Iterator<Item = &'r str>) -> (Vec<u8>, Vec<u32>) {
    let mut pool = Vec::new();
    let mut start_by_replacement: HashMap<&str, u32> = HashMap::default();
    let mut start_of = |replacement| {
        *start_by_replacement.entry(replacement).or_insert_with(|| {
            let start = pool.len() as u32;
            pool.extend_from_slice(str::as_bytes(replacement));
            pool.push(0);
            start
        })
    };
    let starts = replacements.map(&mut start_of).collect();
    (pool, starts)
}
