//! The named rules of SentencePiece, derived from Unicode 17 as its builder derives them.
//!
//! `nfkc` has a rule for each character that NFKC changes, and for each text that composes: every
//! decomposition, in each spelling whose characters decompose to its parts. Rules that shorter rules make
//! redundant are removed. `nmt` replaces other spaces by a space and removes control characters. `cf` folds
//! the case of replacements and of characters without rules.
//!
//! They are derived when a name is first used, in half a second: stored charsmaps would be a megabyte of binaries that
//! nobody can review.
//!
//! Source: SentencePiece's `doc/normalization.md` and the notes in its `builder.h`.

use piecework_unicode::{combining_class, compose_recent, decompose_recent, fold_case};
use rustc_hash::{FxHashMap, FxHashSet};

/// The names of rule sets.
pub const RULE_NAMES: [&str; 5] = ["nmt_nfkc", "nfkc", "nmt_nfkc_cf", "nfkc_cf", "identity"];

type RuleMap = FxHashMap<String, String>;

/// Return the rules of a name.
pub(super) fn rules(name: &str) -> Option<RuleMap> {
    Some(match name {
        "identity" => RuleMap::default(),
        "nfkc" => nfkc(),
        "nmt_nfkc" => nmt(nfkc()),
        "nfkc_cf" => case_folded(nfkc()),
        "nmt_nfkc_cf" => case_folded(nmt(nfkc())),
        _ => return None,
    })
}

fn nfkc() -> RuleMap {
    let mut rules = RuleMap::default();
    let mut decompositions: FxHashSet<Vec<char>> = FxHashSet::default();
    let mut spellings: FxHashMap<char, Vec<char>> = FxHashMap::default();
    let mut parts = Vec::new();
    for c in '\u{1}'..=char::MAX {
        decompose(c, &mut parts);
        if parts[..] == [c] {
            continue;
        }
        let composed = composed(&parts);
        if !composed.chars().eq([c]) {
            rules.insert(c.to_string(), composed);
        }
        match parts[..] {
            [part] => spellings.entry(part).or_default().push(c),
            _ => _ = decompositions.insert(parts.clone()),
        }
    }
    for parts in decompositions {
        let composed = composed(&parts);
        if !composed.chars().eq(parts.iter().copied()) {
            for spelled in spelled(&parts, &spellings) {
                rules.insert(spelled, composed.clone());
            }
        }
    }
    without_needless(rules)
}

/// Write the compatibility decomposition of a character, in canonical order.
fn decompose(c: char, parts: &mut Vec<char>) {
    parts.clear();
    decompose_recent(c, |part| parts.push(part));
    if parts.len() > 1 {
        for marks in parts.split_mut(|&part| combining_class(part) == 0) {
            marks.sort_by_key(|&mark| combining_class(mark));
        }
    }
}

/// Compose each starter with the unblocked marks after it (UAX #15, D117).
fn composed(parts: &[char]) -> String {
    let mut out: Vec<char> = Vec::with_capacity(parts.len());
    let mut starter = None;
    for &part in parts {
        let class = combining_class(part);
        let open = starter.filter(|&at| at + 1 == out.len() || combining_class(out[out.len() - 1]) < class);
        if let Some((at, c)) = open.and_then(|at: usize| Some((at, compose_recent(out[at], part)?))) {
            out[at] = c;
            continue;
        }
        if class == 0 {
            starter = Some(out.len());
        }
        out.push(part);
    }
    out.into_iter().collect()
}

/// Return every text in which each part is itself or a character that decomposes to it.
fn spelled(parts: &[char], spellings: &FxHashMap<char, Vec<char>>) -> Vec<String> {
    let mut texts = vec![String::new()];
    for part in parts {
        let others = spellings.get(part).map_or(&[][..], Vec::as_slice);
        let with = |text: &String, c: &char| format!("{text}{c}");
        texts = texts
            .iter()
            .flat_map(|text| [part].into_iter().chain(others).map(move |c| with(text, c)))
            .collect();
    }
    texts
}

/// Remove each rule of several characters that shorter rules imply.
fn without_needless(rules: RuleMap) -> RuleMap {
    let mut by_length: Vec<Vec<(String, String)>> = Vec::new();
    for rule in rules {
        let chars = rule.0.chars().count();
        by_length.resize_with(by_length.len().max(chars), Vec::new);
        by_length[chars - 1].push(rule);
    }
    let mut kept = RuleMap::default();
    for (shorter, mut rules) in by_length.into_iter().enumerate() {
        rules.retain(|(source, new)| shorter == 0 || !imply(&kept, source, shorter, new));
        kept.extend(rules);
    }
    kept
}

/// Return whether rules of at most `max_chars` characters, by longest match, turn `text` into `new`.
fn imply(rules: &RuleMap, text: &str, max_chars: usize, new: &str) -> bool {
    let (mut rest, mut rest_of_new) = (text, Some(new));
    while let Some((first, of_new)) = rest.chars().next().zip(rest_of_new) {
        let ends = rest.char_indices().take(max_chars).map(|(at, c)| at + c.len_utf8());
        let longest = ends.filter_map(|end| Some((end, rules.get(&rest[..end])?.as_str()))).last();
        let (end, replacement) = longest.unwrap_or((first.len_utf8(), &rest[..first.len_utf8()]));
        rest_of_new = of_new.strip_prefix(replacement);
        rest = &rest[end..];
    }
    rest_of_new == Some("")
}

/// Add the rules for spaces and control characters. No longer rule contains one of them, so none becomes
/// redundant. The full-width tilde has no rule: Japanese text uses it for another purpose.
fn nmt(mut rules: RuleMap) -> RuleMap {
    const SPACES: &str = "\t\n\u{C}\r\u{61C}\u{1680}\u{200B}\u{200C}\u{200E}\u{200F}\u{2028}\u{2029}\u{2581}\u{FEFF}\u{FFFD}";
    const REMOVED: [std::ops::RangeInclusive<char>; 6] = [
        '\u{1}'..='\u{8}',
        '\u{B}'..='\u{B}',
        '\u{E}'..='\u{1F}',
        '\u{7F}'..='\u{7F}',
        '\u{8F}'..='\u{8F}',
        '\u{9F}'..='\u{9F}',
    ];
    rules.extend(SPACES.chars().map(|c| (c.to_string(), " ".to_owned())));
    rules.extend(REMOVED.into_iter().flatten().map(|c| (c.to_string(), String::new())));
    rules.remove("\u{FF5E}");
    rules
}

/// Fold the case of replacements and of characters without rules; longer rules still compose what shorter
/// ones do not.
fn case_folded(mut rules: RuleMap) -> RuleMap {
    for new in rules.values_mut() {
        *new = new.chars().map(fold_case).collect();
    }
    for c in ('\u{1}'..=char::MAX).filter(|&c| fold_case(c) != c) {
        rules.entry(c.to_string()).or_insert_with(|| fold_case(c).to_string());
    }
    rules
}
