//! Checks of a specification as a whole: ids, truncation, padding.

use foldhash::HashMap;

use crate::error::{Error, ErrorKind};
use crate::spec::{AddedToken, Padding, PostProcessorSpec, Truncation};
use crate::stages::postprocess::PostProcessor;
use crate::vocab::{max_id_of, Vocab};

/// The longest row that padding may make, in tokens.
const MAX_PADDED: usize = 1 << 20;
/// The longest row that truncation can keep: a text has less than 4 GiB.
const MAX_TRUNCATED: usize = u32::MAX as usize;

/// Reject settings that leave no room for the special tokens, or that need too much memory.
pub(super) fn check_lengths(
    truncation: Option<&Truncation>,
    padding: Option<&Padding>,
    post_processor: &PostProcessor,
) -> Result<(), Error> {
    truncation.map_or(Ok(()), |truncation| check_truncation(truncation, post_processor))?;
    padding.map_or(Ok(()), check_padding)
}

/// Reject added tokens that share an id, or whose id and text contradict the vocabulary, and ids too far above those of
/// the vocabulary.
pub(super) fn check_added_tokens(tokens: &[AddedToken], vocab: &Vocab) -> Result<(), Error> {
    let mut first_with = HashMap::default();
    let max_id = max_id_of(vocab.len() + tokens.len());
    for (at, token) in tokens.iter().enumerate() {
        let place = format!("added_tokens[{at}]");
        if let Some(first) = first_with.insert(token.id, at) {
            let found = format!("id {}, which added_tokens[{first}] has too", token.id);
            return Err(Error::new(ErrorKind::Vocabulary, place, found, "each id once"));
        }
        match (vocab.id_of(&token.content), vocab.token_of(token.id)) {
            (Some(id), _) if id != token.id => {
                let found = format!("{:?} with id {}", token.content, token.id);
                let expected = format!("id {id}, which it has in the vocabulary");
                return Err(Error::new(ErrorKind::Vocabulary, place, found, expected));
            }
            (None, Some(other)) => {
                let found = format!("{:?} with id {}", token.content, token.id);
                let expected = format!("another id: this one is {other:?} in the vocabulary");
                return Err(Error::new(ErrorKind::Vocabulary, place, found, expected));
            }
            _ => {}
        }
        if token.id > max_id {
            let found = format!("id {}", token.id);
            return Err(Error::new(ErrorKind::Vocabulary, place, found, format!("an id up to {max_id}")));
        }
    }
    Ok(())
}

/// Reject a post-processor that inserts an id of no token, or of another one.
pub(super) fn check_post_processor<'t>(
    spec: &PostProcessorSpec,
    token_of: impl Fn(u32) -> Option<&'t str>,
) -> Result<(), Error> {
    for (place, token, id) in spec.tokens("post_processor") {
        let expected = match token_of(id) {
            Some(known) if known == token => continue,
            Some(other) => format!("the id of this token: {id} is {other:?}"),
            None => "an id of the vocabulary or of an added token".into(),
        };
        let found = format!("{token:?} with id {id}");
        return Err(Error::new(ErrorKind::Vocabulary, place, found, expected));
    }
    Ok(())
}

/// Reject padding with the id of no token.
pub(super) fn check_padding_id<'t>(
    padding: &Padding,
    token_of: impl Fn(u32) -> Option<&'t str>,
) -> Result<(), Error> {
    match token_of(padding.pad_id) {
        Some(_) => Ok(()),
        None => Err(Error::new(
            ErrorKind::Vocabulary,
            "padding.pad_id",
            padding.pad_id.to_string(),
            "an id of the vocabulary or of an added token",
        )),
    }
}

fn check_padding(padding: &Padding) -> Result<(), Error> {
    let sizes = [
        ("padding.strategy.Fixed", padding.length),
        ("padding.pad_to_multiple_of", padding.pad_to_multiple_of),
    ];
    match sizes.into_iter().find(|(_, size)| size.is_some_and(|size| !(1..=MAX_PADDED).contains(&size))) {
        Some((place, size)) => {
            let found = size.unwrap_or_default().to_string();
            let expected = format!("1 to {MAX_PADDED} tokens, or null for no such length");
            Err(Error::new(ErrorKind::Argument, place, found, expected))
        }
        None => Ok(()),
    }
}

fn check_truncation(truncation: &Truncation, post_processor: &PostProcessor) -> Result<(), Error> {
    if !(1..=MAX_TRUNCATED).contains(&truncation.max_length) {
        let found = truncation.max_length.to_string();
        let expected = format!("1 to {MAX_TRUNCATED} tokens, or no truncation for texts of any length");
        return Err(Error::new(ErrorKind::Argument, "truncation.max_length", found, expected));
    }
    let max = max_kept(truncation, post_processor.inserted(false))?;
    if truncation.stride > 0 && truncation.stride >= max {
        let expected = format!("less than {max}, the tokens left beside the special ones");
        let found = truncation.stride.to_string();
        return Err(Error::new(ErrorKind::Argument, "truncation.stride", found, expected));
    }
    Ok(())
}

/// Return how many tokens of the text fit beside `inserted` special ones.
pub(super) fn max_kept(truncation: &Truncation, inserted: usize) -> Result<usize, Error> {
    truncation.max_length.checked_sub(inserted).ok_or_else(|| {
        let expected = format!("at least {inserted}, the special tokens alone");
        let found = truncation.max_length.to_string();
        Error::new(ErrorKind::Argument, "truncation.max_length", found, expected)
    })
}
