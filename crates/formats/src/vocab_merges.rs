//! `vocab.json` with `merges.txt` (GPT-2 calls them `encoder.json` and `vocab.bpe`): entries with their ids,
//! and one merge a line in the order of ranks.
//!
//! The files have the model only; the rest of the pipeline is inferred from the entries. Entries for all 256
//! bytes mean GPT-2's pipeline; with `</w>` at the ends of words, CLIP's; `</w>` without the bytes means the
//! first GPT's.

use foldhash::{HashMap, HashMapExt, HashSet};
use piecework_core::error::{Error, ErrorKind};
use piecework_core::spec::{
    AddedToken, BertNormalizerSpec, BpeSpec, DecoderSpec, MergeList, ModelSpec, NormalizerSpec,
    PreTokenizerSpec, TokenizerSpec, VocabSpec,
};
use serde_json::{Map, Value};

use crate::bytes::{byte_level, check_alphabet, printable, tokenizer};
use crate::json::{parse, Field};
use crate::text::{line_of, read_merges, Merge};
use crate::{clip, tiktoken};

const END_OF_WORD: &str = "</w>";
const VERSION: &str = "#version: 0.2";

/// Settings that the files do not have; `None` infers them from the entries.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// The pre-tokenizer.
    pub pre_tokenizer: Option<PreTokenizerSpec>,
    /// Entries that become special tokens; by default those in `<...>` that no merge yields and that do not end a word
    /// (`<</w>` is the character `<`).
    pub special_tokens: Option<Vec<String>>,
}

/// Read the two files; errors begin with the name of the file, from `names`.
pub fn read(
    vocab: &[u8],
    merges: &[u8],
    names: (&str, &str),
    settings: Settings,
) -> Result<TokenizerSpec, Error> {
    let vocab = read_vocab(vocab).map_err(|error| error.within(names.0))?;
    let ids: HashMap<&str, u32> = vocab.iter().map(|(token, id)| (token.as_str(), *id)).collect();
    let merges = read_merges(merges)
        .and_then(|lines| check_merges(lines, &ids))
        .map_err(|error| error.within(names.1))?;
    let special_tokens = special_tokens(&vocab, &ids, &merges, settings.special_tokens)?;
    let kind = PublishedPipeline::of(&vocab);
    let needs_bytes = kind != PublishedPipeline::Gpt1 && settings.pre_tokenizer.is_none();
    if needs_bytes {
        let has = |byte| ids.contains_key(printable(&[byte]).as_str());
        check_alphabet("entries", has).map_err(|error| error.within(names.0))?;
    }
    let has_unknown = kind == PublishedPipeline::Gpt1 && ids.contains_key("<unk>");
    let model = BpeSpec {
        unk_token: has_unknown.then(|| "<unk>".to_owned()),
        end_of_word_suffix: (kind != PublishedPipeline::Gpt2).then(|| END_OF_WORD.to_owned()),
        merges,
        vocab,
        ..BpeSpec::default()
    };
    let spec = kind.tokenizer(model, special_tokens);
    let pre_tokenizer = settings.pre_tokenizer.or(spec.pre_tokenizer);
    Ok(TokenizerSpec { pre_tokenizer, ..spec })
}

/// The published pipelines with these files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PublishedPipeline {
    Gpt2,
    Clip,
    Gpt1,
}

impl PublishedPipeline {
    /// Infer the pipeline; a quarter of the entries with `</w>` shows that it marks ends of words.
    fn of(vocab: &VocabSpec) -> Self {
        let marked = vocab.iter().filter(|(token, _)| token.ends_with(END_OF_WORD)).count();
        let is_byte = |token: &str| token.chars().eq([piecework_core::text::printable_of(0)]);
        if marked * 4 < vocab.len() || vocab.is_empty() {
            Self::Gpt2
        } else if vocab.iter().any(|(token, _)| is_byte(token)) {
            Self::Clip
        } else {
            Self::Gpt1
        }
    }

    fn tokenizer(self, model: BpeSpec, special_tokens: Vec<AddedToken>) -> TokenizerSpec {
        match self {
            Self::Gpt2 => tokenizer(model, PreTokenizerSpec::ByteLevel(byte_level(true)), special_tokens),
            Self::Clip => clip::tokenizer(model, special_tokens),
            Self::Gpt1 => TokenizerSpec {
                normalizer: Some(NormalizerSpec::Bert(BertNormalizerSpec::with_lowercase(true))),
                decoder: Some(DecoderSpec::Bpe { suffix: END_OF_WORD.to_owned() }),
                ..tokenizer(model, PreTokenizerSpec::Bert, special_tokens)
            },
        }
    }
}

fn read_vocab(bytes: &[u8]) -> Result<VocabSpec, Error> {
    let tree = parse(bytes)?;
    let root = Field::root(&tree);
    let entries = root.entries()?.map(|(token, id)| Ok((token.to_owned(), id.id()?)));
    entries.collect()
}

/// Check that each merge occurs once and that its left, right and merged tokens are entries.
fn check_merges(lines: Vec<Merge>, ids: &HashMap<&str, u32>) -> Result<MergeList, Error> {
    let mut first_line = HashMap::with_capacity(lines.len());
    let invalid = |number, found, expected: &str| {
        Err(Error::new(ErrorKind::Vocabulary, line_of(number), found, expected))
    };
    for &(number, left, right) in &lines {
        let joined = format!("{left}{right}");
        if let Some(absent) = [left, right, &joined].into_iter().find(|token| !ids.contains_key(*token)) {
            let found = format!("{absent:?}, which is not in the vocabulary");
            return invalid(number, found, "two entries of the vocabulary that join to an entry");
        }
        if let Some(first) = first_line.insert((left, right), number) {
            return invalid(number, format!("the merge of line {first} again"), "each merge once");
        }
    }
    Ok(lines.into_iter().map(|(_, left, right)| (left, right)).collect())
}

fn special_tokens(
    vocab: &VocabSpec,
    ids: &HashMap<&str, u32>,
    merges: &MergeList,
    wanted: Option<Vec<String>>,
) -> Result<Vec<AddedToken>, Error> {
    if let Some(wanted) = wanted {
        let of_entry = |content: &String| match ids.get(content.as_str()) {
            Some(&id) => Ok(AddedToken::special(content, id)),
            None => {
                let found = format!("{content:?}, which is not in the vocabulary");
                Err(Error::new(ErrorKind::Argument, "special_tokens", found, "entries of the vocabulary"))
            }
        };
        return wanted.iter().map(of_entry).collect();
    }
    // Few merges make an entry that ends so.
    let ending = merges.iter().filter(|(_, right)| right.ends_with('>'));
    let made: HashSet<String> = ending.map(|(left, right)| format!("{left}{right}")).collect();
    let is_special = |token: &str| {
        token.len() > 2 && token.starts_with('<') && token.ends_with('>') && !token.ends_with(END_OF_WORD)
    };
    let found = vocab.iter().filter(|(token, _)| is_special(token) && !made.contains(token));
    Ok(found.map(|(token, id)| AddedToken::special(token, *id)).collect())
}

/// Write the model of a tokenizer, with its added tokens as entries; the rest of it is not kept.
///
/// What the files cannot hold is an error: other models, prefixes inside words, byte entries, and
/// `ignore_merges` where it makes a difference.
pub fn write(spec: &TokenizerSpec) -> Result<(Vec<u8>, Vec<u8>), Error> {
    let refused = |place: &str, found: String, expected: &str| {
        Err(Error::new(ErrorKind::Vocabulary, place, found, expected))
    };
    let ModelSpec::Bpe(model) = &spec.model else {
        return refused("model.type", "a model that is not BPE".into(), "BPE");
    };
    if model.byte_fallback || model.continuing_subword_prefix.as_ref().is_some_and(|p| !p.is_empty()) {
        return refused("model", "byte_fallback or a prefix inside words".into(), "neither");
    }
    if model.ignore_merges {
        let without = BpeSpec { ignore_merges: false, ..model.clone() };
        tiktoken::write(&TokenizerSpec { model: ModelSpec::Bpe(without), ..spec.clone() })?;
    }
    let mut text = format!("{VERSION}\n");
    for (at, (left, right)) in model.merges.iter().enumerate() {
        if [left, right].iter().any(|token| token.contains([' ', '\n', '\r'])) {
            let found = format!("{left:?} and {right:?}");
            return refused(&format!("model.merges[{at}]"), found, "entries without space and newline");
        }
        text.push_str(&format!("{left} {right}\n"));
    }
    Ok((vocab_json(model, &spec.added_tokens), text.into_bytes()))
}

fn vocab_json(model: &BpeSpec, added_tokens: &[AddedToken]) -> Vec<u8> {
    let entries = model.vocab.iter().map(|(token, id)| (token, *id));
    let mut by_id: Vec<(&String, u32)> =
        entries.chain(added_tokens.iter().map(|token| (&token.content, token.id))).collect();
    by_id.sort_by_key(|(_, id)| *id);
    by_id.dedup();
    let object: Map<String, Value> =
        by_id.into_iter().map(|(token, id)| (token.clone(), id.into())).collect();
    Value::Object(object).to_string().into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vocab(longer: &[&str]) -> String {
        let bytes = (0..=255u8).map(|byte| printable(&[byte]));
        let tokens = bytes.chain(longer.iter().map(|token| (*token).to_owned()));
        let object: Map<String, Value> =
            (0..).zip(tokens).map(|(id, token)| (token, Value::from(id))).collect();
        Value::Object(object).to_string()
    }

    fn read_both(vocab: &str, merges: &str) -> Result<TokenizerSpec, Error> {
        read(vocab.as_bytes(), merges.as_bytes(), ("vocab.json", "merges.txt"), Settings::default())
    }

    #[test]
    fn round_trips_with_and_without_the_version_line() {
        let vocab = vocab(&["in", "ing", "<|end|>"]);
        let spec = read_both(&vocab, "i n\nin g\n").unwrap();
        assert_eq!(spec, read_both(&vocab, "#version: 0.2\ni n\r\nin g").unwrap());
        assert_eq!(spec.added_tokens, [AddedToken::special("<|end|>", 258)]);
        let (entries, merges) = write(&spec).unwrap();
        assert_eq!(read(&entries, &merges, ("", ""), Settings::default()).unwrap(), spec);
    }

    #[test]
    fn characters_that_end_a_word_are_not_special() {
        let vocab = r#"{"<unk>":0,"<":1,"<</w>":2,"></w>":3,"</w>":4,"a</w>":5,"<pad>":6,"<|</w>":7}"#;
        let spec = read_both(vocab, "").unwrap();
        assert_eq!(spec.added_tokens, [AddedToken::special("<unk>", 0), AddedToken::special("<pad>", 6)]);
    }

    #[test]
    fn names_file_and_line_at_fault() {
        let vocab = vocab(&["in"]);
        let error = |merges: &str| read_both(&vocab, merges).unwrap_err().to_string();
        assert!(error("i n\nin g\n").starts_with("merges.txt: line 2: found \"ing\", which is not in the"));
        assert!(
            error("#version: 0.2\ni n\ni n").starts_with("merges.txt: line 3: found the merge of line 2")
        );
        assert!(error("i n g").starts_with("merges.txt: line 1: found \"i n g\", expected two entries"));
        let missing = vocab.replace("\"A\":", "\"AA\":");
        let error = read_both(&missing, "i n").unwrap_err().to_string();
        assert!(error.starts_with("vocab.json: entries: found no token for the byte 0x41"));
    }
}
