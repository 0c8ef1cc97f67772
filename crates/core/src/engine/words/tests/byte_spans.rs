//! The byte-level route equals a definition that shares no code with it: the words by the regular expression,
//! each byte as its printable character, and merges applied one at a time.

use std::collections::HashMap;

use piecework_kernels::level::Level;

use crate::engine::{Input, Options, Tokenizer};
use crate::spec::{
    AddedToken, BpeSpec, ByteLevelSpec, ModelSpec, PatternSpec, PreTokenizerSpec, SplitBehavior,
    TokenizerSpec,
};
use crate::stages::added_tokens::Selector;
use crate::text::Pattern;

const GPT2: &str = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+";
const CL100K: &str = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+";
/// A pattern that no scanner knows.
const UNKNOWN: &str = r"\p{L}+|[0-9]{1,2}|[^\p{L}0-9]";
const END: &str = "<|end|>";
/// Tokens that no merges make; long words have them as parts.
const WHOLE_WORDS: [&str; 5] = ["かな", "слова", " cat", "漢", "ммм"];

const SAMPLE: &str = "the cat sat on the mat, and the other cat didn't; they'll see 1234 cats there. \
    naïve café déjà vu — größer Straße; слово словами словарь; 漢字かな漢字の世界世界; हिन्दी में हिन्दी; \
    internationalization of internationalized antidisestablishmentarianism      \n\n\tdef f(x):\n    return x";

/// Printable characters in the order of GPT-2's encoder: printable bytes as they are, the others from 256 on.
fn printable() -> Vec<char> {
    let mut next = 256;
    (0..256u32)
        .map(|byte| {
            if matches!(byte, 33..=126 | 161..=172 | 174..=255) {
                char::from_u32(byte).unwrap()
            } else {
                next += 1;
                char::from_u32(next - 1).unwrap()
            }
        })
        .collect()
}

struct Definition {
    pattern: Pattern,
    printable: Vec<char>,
    ids: HashMap<String, u32>,
    ranks: HashMap<(String, String), usize>,
    whole_words: HashMap<String, u32>,
}

impl Definition {
    fn words<'t>(&self, text: &'t str) -> Vec<&'t str> {
        let mut words = Vec::new();
        self.pattern.for_each_match(text, |start, end| words.push(&text[start..end])).unwrap();
        assert_eq!(words.concat(), text);
        words
    }

    fn symbols(&self, word: &str) -> Vec<String> {
        word.bytes().map(|byte| self.printable[usize::from(byte)].to_string()).collect()
    }

    /// Apply the merge of the lowest rank, the leftmost of several, until none applies.
    fn merged(&self, mut symbols: Vec<String>) -> Vec<String> {
        let rank = |pair: &[String]| self.ranks.get(&(pair[0].clone(), pair[1].clone())).copied();
        while let Some((_, at)) =
            symbols.windows(2).enumerate().filter_map(|(at, pair)| Some((rank(pair)?, at))).min()
        {
            let right = symbols.remove(at + 1);
            symbols[at].push_str(&right);
        }
        symbols
    }

    fn encode(&self, text: &str) -> Vec<u32> {
        let mut ids = Vec::new();
        for (number, part) in text.split(END).enumerate() {
            if number > 0 {
                ids.push(self.ids[END]);
            }
            for word in self.words(part) {
                match self.whole_words.get(&self.symbols(word).concat()) {
                    Some(&id) => ids.push(id),
                    None => ids.extend(self.merged(self.symbols(word)).iter().map(|token| self.ids[token])),
                }
            }
        }
        ids
    }

    /// Add the most frequent pair of the sample as a merge, so many times.
    fn learn(&mut self, merges: usize) -> Vec<(String, String)> {
        let words: Vec<Vec<String>> = self.words(SAMPLE).iter().map(|word| self.symbols(word)).collect();
        let mut learned = Vec::new();
        while learned.len() < merges {
            let mut counts: HashMap<(String, String), usize> = HashMap::new();
            for word in &words {
                for pair in self.merged(word.clone()).windows(2) {
                    *counts.entry((pair[0].clone(), pair[1].clone())).or_default() += 1;
                }
            }
            let Some((pair, _)) = counts.into_iter().max_by_key(|(pair, count)| (*count, pair.clone()))
            else {
                break;
            };
            self.ranks.insert(pair.clone(), learned.len());
            let (next, token) = (self.ids.len() as u32, format!("{}{}", pair.0, pair.1));
            self.ids.entry(token).or_insert(next);
            learned.push(pair);
        }
        learned
    }
}

/// A pipeline with this pattern, with or without whole words, and its definition.
fn both(source: &str, ignore_merges: bool) -> (Tokenizer, Definition) {
    let pattern = Pattern::compile(&PatternSpec::Regex(source.into()), "pattern").unwrap();
    let printable = printable();
    let ids = printable.iter().map(char::to_string).zip(0..).collect();
    let (ranks, whole_words) = (HashMap::new(), HashMap::new());
    let mut definition = Definition { pattern, printable, ids, ranks, whole_words };
    let merges = definition.learn(150);
    for word in WHOLE_WORDS.into_iter().filter(|_| ignore_merges) {
        let (next, word) = (definition.ids.len() as u32, definition.symbols(word).concat());
        let id = *definition.ids.entry(word.clone()).or_insert(next);
        definition.whole_words.insert(word, id);
    }
    let bytes = ByteLevelSpec { add_prefix_space: false, trim_offsets: true, use_regex: source == GPT2 };
    let mut pre_tokenizer = PreTokenizerSpec::ByteLevel(bytes);
    if source != GPT2 {
        let split = PreTokenizerSpec::Split {
            pattern: PatternSpec::Regex(source.into()),
            behavior: SplitBehavior::Isolated,
            invert: false,
        };
        pre_tokenizer = PreTokenizerSpec::Sequence(vec![split, pre_tokenizer]);
    }
    let model = BpeSpec {
        vocab: definition.ids.clone().into_iter().collect(),
        merges: merges.into_iter().collect(),
        ignore_merges,
        ..BpeSpec::default()
    };
    let end = definition.ids.len() as u32;
    definition.ids.insert(END.into(), end);
    let spec = TokenizerSpec {
        added_tokens: vec![AddedToken::special(END, end)],
        pre_tokenizer: Some(pre_tokenizer),
        ..TokenizerSpec::of(ModelSpec::Bpe(model))
    };
    (Tokenizer::compile(&spec).unwrap(), definition)
}

#[track_caller]
fn check(pipeline: &Tokenizer, definition: &Definition, text: &str) {
    let expected = definition.encode(text);
    let options = Options { add_special_tokens: false, parse_special: &Selector::All, sampling: None };
    for level in Level::supported() {
        level.activate();
        let mut scratch = pipeline.scratch();
        // The words are misses of the word cache first, and hits then.
        for round in ["misses", "hits"] {
            let mut ids = Vec::new();
            pipeline.ids_into(Input::Text(text), 0, options, &mut scratch, &mut ids).unwrap();
            assert_eq!(ids, expected, "{round}, {}: {text:?}", level.name());
        }
        let tokens = pipeline.encode(Input::Text(text), None, options, &mut scratch).unwrap().tokens;
        let ids: Vec<u32> = tokens.iter().map(|token| token.id).collect();
        assert_eq!(ids, expected, "tokens, {}: {text:?}", level.name());
    }
}

fn for_each_pipeline(run: impl Fn(&Tokenizer, &Definition)) {
    for (source, ignore_merges) in
        [GPT2, CL100K, UNKNOWN].into_iter().flat_map(|source| [(source, false), (source, true)])
    {
        let (pipeline, definition) = both(source, ignore_merges);
        run(&pipeline, &definition);
    }
}

/// Numbers that look random, the same at every run.
fn random_numbers() -> impl FnMut(usize) -> usize {
    let mut state = 11u64;
    move |below| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    }
}

#[test]
fn the_sample_and_its_edges_equal_the_definition() {
    for_each_pipeline(|pipeline, definition| {
        for text in ["", "a", " ", "  ", "\n", "é", END, "a<|end|>b", "<|end|><|end|> ", SAMPLE] {
            check(pipeline, definition, text);
        }
    });
}

#[test]
fn words_of_every_length_equal_the_definition() {
    for_each_pipeline(|pipeline, definition| {
        for (letter, longest) in [("t", 140), ("he", 70), ("é", 70), ("漢字", 40), ("слово", 14)] {
            for count in 1..longest {
                check(pipeline, definition, &format!("x {} cat", letter.repeat(count)));
            }
        }
    });
}

#[test]
fn texts_of_many_words_equal_the_definition() {
    for_each_pipeline(|pipeline, definition| {
        // Around the numbers of words that are looked up at once, with few and with many different words.
        for count in [1, 2, 255, 256, 257, 511, 512, 513, 1025, 4097] {
            check(pipeline, definition, &" cat".repeat(count));
            let numbered: String = (0..count).map(|number| format!(" w{}", number * 7919)).collect();
            check(pipeline, definition, &numbered);
        }
    });
}

#[test]
fn words_behind_many_words_of_few_parts_equal_the_definition() {
    for_each_pipeline(|pipeline, definition| {
        let unsplit = format!(" {}", "м".repeat(40));
        for count in 1..8 {
            check(pipeline, definition, &format!("{} 漢字слова漢字слова cat", unsplit.repeat(count)));
        }
    });
}

#[test]
fn random_texts_equal_the_definition() {
    let parts = [
        "the",
        " cat",
        "'s",
        "'ll",
        " ",
        "  ",
        "\n",
        "\t",
        "1",
        "234",
        "é",
        "größer",
        "漢",
        "字かな",
        "слова",
        "हिन्दी",
        ",",
        "...",
        "\u{3000}",
        "\u{301}",
        "\0",
        "👩🏽",
        END,
        "internationalization",
    ];
    let mut random = random_numbers();
    let texts: Vec<String> =
        (0..400).map(|_| (0..random(90)).map(|_| parts[random(parts.len())]).collect()).collect();
    for_each_pipeline(|pipeline, definition| {
        for text in &texts {
            check(pipeline, definition, text);
        }
    });
}
