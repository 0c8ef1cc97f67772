//! Decoders: tokens in, text out.

use crate::spec::DecoderSpec;

/// A compiled decoder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decoder {
    spec: Option<DecoderSpec>,
}

/// What tidying replaces, in this order, within each token and the space before it.
const CLEAN_UP: [(&str, &str); 11] = [
    (" .", "."),
    (" ?", "?"),
    (" !", "!"),
    (" ,", ","),
    (" ' ", "'"),
    (" n't", "n't"),
    (" 'm", "'m"),
    (" do not", " don't"),
    (" 's", "'s"),
    (" 've", "'ve"),
    (" 're", "'re"),
];

impl Decoder {
    /// Compile a decoder; none puts a space between tokens.
    #[must_use]
    pub fn compile(spec: Option<&DecoderSpec>) -> Self {
        Self { spec: spec.cloned() }
    }

    /// The specification it was compiled from.
    #[must_use]
    pub fn spec(&self) -> Option<DecoderSpec> {
        self.spec.clone()
    }

    /// Join tokens; `clean_up` overrides the decoder's own setting.
    #[must_use]
    pub fn run<'t>(&self, tokens: impl Iterator<Item = &'t str>, clean_up: Option<bool>) -> String {
        let (glue, prefix, own_clean_up) = match &self.spec {
            Some(DecoderSpec::WordPiece { prefix, cleanup }) => (" ", Some(prefix.as_str()), *cleanup),
            Some(DecoderSpec::Fuse) => ("", None, false),
            None => (" ", None, false),
        };
        let clean_up = clean_up.unwrap_or(own_clean_up);
        let mut text = String::new();
        for (at, token) in tokens.enumerate() {
            let continued = prefix.and_then(|prefix| token.strip_prefix(prefix)).filter(|_| at > 0);
            let start = text.len();
            if at > 0 && continued.is_none() {
                text.push_str(glue);
            }
            text.push_str(continued.unwrap_or(token));
            if clean_up {
                tidy(&mut text, start);
            }
        }
        text
    }
}

/// Tidy what stands after byte `start`.
fn tidy(text: &mut String, start: usize) {
    for (untidy, tidy) in CLEAN_UP {
        if text[start..].contains(untidy) {
            let tidied = text[start..].replace(untidy, tidy);
            text.truncate(start);
            text.push_str(&tidied);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decode(clean_up: Option<bool>) -> String {
        let spec = DecoderSpec::WordPiece { prefix: "##".into(), cleanup: true };
        let tokens = ["do", "n't", "un", "##believ", "##able", ",", "is", "it", "?"];
        Decoder::compile(Some(&spec)).run(tokens.into_iter(), clean_up)
    }

    #[test]
    fn glues_continuations_and_tidies() {
        assert_eq!(decode(None), "don't unbelievable, is it?");
        assert_eq!(decode(Some(false)), "do n't unbelievable , is it ?");
    }
}
