//! Post-processors.

use super::ByteLevelSpec;

/// Post-processors.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PostProcessorSpec {
    /// `cls A sep` and `cls A sep B sep`, B and its sep of type 1.
    Bert {
        /// Token and id that end a sequence.
        sep: (String, u32),
        /// Token and id that begin the encoding.
        cls: (String, u32),
    },
    /// `cls A sep` and `cls A sep sep B sep`, all of type 0.
    Roberta {
        /// Token and id that end a sequence.
        sep: (String, u32),
        /// Token and id that begin the encoding.
        cls: (String, u32),
        /// Leave spaces out of offsets.
        trim_offsets: bool,
        /// Whether the text was given a space at its beginning.
        add_prefix_space: bool,
    },
    /// No new tokens; offsets of byte-level tokens are trimmed.
    ByteLevel(ByteLevelSpec),
    /// Any arrangement of sequences and special tokens.
    Template(TemplateSpec),
    /// One after the other.
    Sequence(Vec<PostProcessorSpec>),
}

impl PostProcessorSpec {
    /// Every token that it names, with its id and where it stands; `place` is where the processor does.
    #[must_use]
    pub fn tokens(&self, place: &str) -> Vec<(String, &str, u32)> {
        match self {
            Self::Bert { sep, cls } | Self::Roberta { sep, cls, .. } => {
                vec![(format!("{place}.sep"), &sep.0, sep.1), (format!("{place}.cls"), &cls.0, cls.1)]
            }
            Self::ByteLevel(_) => Vec::new(),
            Self::Template(template) => template.tokens(place),
            Self::Sequence(processors) => {
                let place = |at: usize| format!("{place}.processors[{at}]");
                let each = processors.iter().enumerate();
                each.flat_map(|(at, processor)| processor.tokens(&place(at))).collect()
            }
        }
    }
}

/// A template for one sequence and one for a pair.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TemplateSpec {
    /// Arrangement of one sequence.
    pub single: Vec<TemplatePiece>,
    /// Arrangement of a pair.
    pub pair: Vec<TemplatePiece>,
    /// What each special token of the template stands for, in file order.
    pub special_tokens: Vec<TemplateToken>,
}

impl TemplateSpec {
    fn tokens(&self, place: &str) -> Vec<(String, &str, u32)> {
        let named = |special: &'_ TemplateToken| format!("{place}.special_tokens[{:?}]", special.name);
        let each = self.special_tokens.iter();
        each.flat_map(|special| {
            let at = named(special);
            special
                .tokens
                .iter()
                .zip(&special.ids)
                .map(move |(token, &id)| (at.clone(), token.as_str(), id))
        })
        .collect()
    }
}

/// One place in a template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TemplatePiece {
    /// The first (0) or second (1) sequence, with its type id.
    Sequence(u8, u32),
    /// A special token by name, with its type id.
    Special(String, u32),
}

/// A named special token and its ids.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TemplateToken {
    /// Its name in the template.
    pub name: String,
    /// The ids it puts in.
    pub ids: Vec<u32>,
    /// Their tokens.
    pub tokens: Vec<String>,
}
