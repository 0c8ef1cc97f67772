//! `tekken.json`, Mistral's ranks: with pattern and sizes, and with or without special tokens.
//!
//! Special tokens have the first ids. The id of another token is its rank plus the number of special tokens.
//! Files list more tokens than the vocabulary has; those beyond its size are ignored.

use piecework_core::error::Error;
use piecework_core::ranks::RanksSpec;
use piecework_core::spec::{AddedToken, SplitBehavior};
use piecework_core::vocab::Vocab;

use crate::bytes::{ranks_spec, split_bytes};
use crate::json::{parse, Field};
use crate::ranks::RankedTokens;

/// The special tokens of files that do not list them, up to version 7.
const IMPLIED: [&str; 20] = [
    "<unk>",
    "<s>",
    "</s>",
    "[INST]",
    "[/INST]",
    "[AVAILABLE_TOOLS]",
    "[/AVAILABLE_TOOLS]",
    "[TOOL_RESULTS]",
    "[/TOOL_RESULTS]",
    "[TOOL_CALLS]",
    "[IMG]",
    "<pad>",
    "[IMG_BREAK]",
    "[IMG_END]",
    "[PREFIX]",
    "[MIDDLE]",
    "[SUFFIX]",
    "[SYSTEM_PROMPT]",
    "[/SYSTEM_PROMPT]",
    "[TOOL_CONTENT]",
];
const LAST_VERSION_IMPLYING: u32 = 7;
/// The most special tokens, far more than any file has; each becomes an added token.
const MAX_SPECIAL_TOKENS: usize = 1 << 16;

const FIELDS: [&str; 8] =
    ["config", "vocab", "special_tokens", "image", "multimodal", "audio", "version", "type"];

/// The field of the pattern. `read` does not compile it; `without_empty_matches` of the core does.
pub const PATTERN_FIELD: &str = "config.pattern";

/// Read a `tekken.json`.
pub fn read(bytes: &[u8]) -> Result<RanksSpec, Error> {
    let tree = parse(bytes)?;
    let root = Field::root(&tree);
    root.fields(&FIELDS)?;
    let config = root.get("config")?;
    let size = config.get("default_vocab_size")?;
    let special_count = config.get("default_num_special_tokens")?;
    if special_count.size()? > MAX_SPECIAL_TOKENS {
        return Err(special_count.error(format!("at most {MAX_SPECIAL_TOKENS}")));
    }
    let token_count = size.size()?.checked_sub(special_count.size()?);
    let token_count = token_count.ok_or_else(|| size.error("no less than default_num_special_tokens"))?;
    let special_tokens = read_special_tokens(&root, &config, special_count.size()?)?;
    let vocab = read_ranks(&root.get("vocab")?, token_count, special_count.size()? as u32)?;
    let pattern = config.get("pattern")?.text()?.to_owned();
    Ok(ranks_spec(vocab, split_bytes(pattern, SplitBehavior::Isolated, false), special_tokens))
}

/// Return the first `count` tokens, with their ranks and `shift` as ids; fails unless the index of each is its rank.
fn read_ranks(vocab: &Field, count: usize, shift: u32) -> Result<Vocab, Error> {
    let listed = vocab.items()?.len();
    if listed < count {
        let expected = format!("the {count} tokens that the sizes in config ask for");
        return Err(vocab.contradiction(format!("{listed} tokens"), expected));
    }
    let mut tokens = RankedTokens::default();
    for (number, entry) in vocab.items()?.take(count).enumerate() {
        let rank = entry.get("rank")?;
        if rank.size()? != number {
            return Err(rank.error(format!("{number}, its place in the list")));
        }
        let bytes = entry.get("token_bytes")?;
        let len = tokens.push_base64(bytes.text()?.as_bytes(), rank.id()?, number);
        if len.ok_or_else(|| bytes.error("base64"))? == 0 {
            return Err(bytes.error("at least one byte in base64"));
        }
    }
    tokens.into_vocab(shift, |number| format!("vocab[{number}]"))
}

/// Return the special tokens of the file, or the implied ones, and fillers up to their number.
fn read_special_tokens(root: &Field, config: &Field, count: usize) -> Result<Vec<AddedToken>, Error> {
    let mut tokens = match root.find("special_tokens")? {
        Some(listed) => {
            listed.items()?.map(|token| read_special_token(&token)).collect::<Result<_, _>>()?
        }
        None => implied(config)?,
    };
    if tokens.len() > count {
        let found = format!("{} special tokens", tokens.len());
        return Err(config
            .get("default_num_special_tokens")?
            .contradiction(format!("{count}"), format!("at least the {found} of the file")));
    }
    tokens
        .extend((tokens.len()..count).map(|id| AddedToken::special(&format!("<SPECIAL_{id}>"), id as u32)));
    Ok(tokens)
}

fn read_special_token(field: &Field) -> Result<AddedToken, Error> {
    field.fields(&["rank", "token_str", "is_control"])?;
    let is_control = field.find("is_control")?.map_or(Ok(true), |value| value.flag())?;
    let token = AddedToken::special(field.get("token_str")?.text()?, field.get("rank")?.id()?);
    Ok(AddedToken { special: is_control, ..token })
}

fn implied(config: &Field) -> Result<Vec<AddedToken>, Error> {
    let version = config.get("version")?;
    let number = version.text()?.strip_prefix('v').and_then(|number| number.parse().ok());
    let number: u32 = number.ok_or_else(|| version.error("a version such as \"v3\""))?;
    if number > LAST_VERSION_IMPLYING {
        let expected = format!("special_tokens in the file, or a version up to v{LAST_VERSION_IMPLYING}");
        return Err(version.error(expected));
    }
    Ok((0..).zip(IMPLIED).map(|(id, content)| AddedToken::special(content, id)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use base64::engine::general_purpose::STANDARD;
    use base64::Engine;
    use piecework_core::spec::{ModelSpec, TokenizerSpec};

    fn file(config: &str, extra: &str) -> String {
        let bytes = (0..=255u8).map(|byte| vec![byte]).chain([b"in".to_vec(), b"ing".to_vec()]);
        let vocab: Vec<String> = bytes
            .enumerate()
            .map(|(rank, token)| {
                let token = STANDARD.encode(token);
                format!(r#"{{"rank": {rank}, "token_bytes": "{token}", "token_str": null}}"#)
            })
            .collect();
        format!(r#"{{"config": {{"pattern": "\\w+", {config}}}, "vocab": [{}]{extra}}}"#, vocab.join(", "))
    }

    const SIZES: &str = r#""default_vocab_size": 287, "default_num_special_tokens": 30, "version": "v3""#;

    #[test]
    fn truncates_the_list_and_completes_the_special_tokens() {
        let spec = TokenizerSpec::from(read(file(SIZES, "").as_bytes()).unwrap());
        let ModelSpec::Bpe(model) = &spec.model else { panic!("ranks are BPE") };
        assert_eq!(model.vocab.last(), Some(&("in".to_owned(), 286)));
        assert_eq!(model.merges, [("i", "n")].into_iter().collect());
        assert_eq!(spec.added_tokens.len(), 30);
        assert_eq!(spec.added_tokens[1].content, "<s>");
        assert_eq!(spec.added_tokens[29].content, "<SPECIAL_29>");
    }

    #[test]
    fn takes_special_tokens_from_the_file() {
        let extra = r#", "special_tokens": [{"rank": 0, "token_str": "<a>", "is_control": true}]"#;
        let spec = read(file(SIZES, extra).as_bytes()).unwrap().stages;
        assert_eq!((spec.added_tokens[0].content.as_str(), spec.added_tokens.len()), ("<a>", 30));
    }

    #[test]
    fn names_the_field_at_fault() {
        let error = |config: &str| read(file(config, "").as_bytes()).unwrap_err().to_string();
        assert!(error(&SIZES.replace("287", "2")).starts_with("config.default_vocab_size: found 2"));
        assert!(error(&SIZES.replace("287", "9999")).starts_with("vocab: found 258 tokens"));
        assert!(error(&SIZES.replace("v3", "v9")).starts_with("config.version: found \"v9\""));
        let broken = file(SIZES, "").replace("\"QQ==\"", "\"Q\"");
        assert!(read(broken.as_bytes()).unwrap_err().to_string().starts_with("vocab[65].token_bytes"));
        let empty = file(SIZES, "").replace("\"aW4=\"", "\"\"");
        assert!(read(empty.as_bytes())
            .unwrap_err()
            .to_string()
            .starts_with("vocab[256].token_bytes: found \"\""));
    }
}
