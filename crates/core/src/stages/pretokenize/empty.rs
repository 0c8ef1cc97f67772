//! Reject patterns that match the empty text: where only matches become words, they would lose text.

use crate::error::{Error, ErrorKind};
use crate::spec::{PatternSpec, PreTokenizerSpec};
use crate::text::Pattern;

/// Return an error if a split pattern of a pre-tokenizer matches the empty text.
pub fn refuse_empty_matches(spec: &PreTokenizerSpec) -> Result<(), Error> {
    match spec {
        PreTokenizerSpec::Sequence(members) => members.iter().try_for_each(refuse_empty_matches),
        PreTokenizerSpec::Split { pattern, .. } => refuse_empty_match(pattern),
        _ => Ok(()),
    }
}

fn refuse_empty_match(spec: &PatternSpec) -> Result<(), Error> {
    let mut matches = false;
    Pattern::compile(spec, "pattern")?.for_each_match("", |_, _| matches = true)?;
    if matches {
        let (PatternSpec::Text(source) | PatternSpec::Regex(source)) = spec;
        let found = format!("{source:?}, which matches the empty text");
        return Err(Error::new(
            ErrorKind::Argument,
            "pattern",
            found,
            "a pattern of at least one character",
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_that_match_nothing_are_refused() {
        let check = |pattern: &str| refuse_empty_match(&PatternSpec::Regex(pattern.into()));
        assert!(check(r"\w+|\s+").is_ok());
        assert!(check(r"\w*").unwrap_err().to_string().contains("matches the empty text"));
        assert!(check("").is_err());
    }
}
