//! The roles of tokens, and the keys that state them.

/// A role of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    Unknown,
    Bos,
    Eos,
    Sep,
    Pad,
    Cls,
    Mask,
}

/// The roles: the name in transformers, and the keys with the id. One key has two spellings.
pub(super) const ROLES: [(Role, &str, &[&str]); 7] = [
    (Role::Unknown, "unk_token", &["tokenizer.ggml.unknown_token_id"]),
    (Role::Bos, "bos_token", &["tokenizer.ggml.bos_token_id"]),
    (Role::Eos, "eos_token", &["tokenizer.ggml.eos_token_id"]),
    (Role::Sep, "sep_token", &["tokenizer.ggml.seperator_token_id", "tokenizer.ggml.separator_token_id"]),
    (Role::Pad, "pad_token", &["tokenizer.ggml.padding_token_id"]),
    (Role::Cls, "cls_token", &["tokenizer.ggml.cls_token_id"]),
    (Role::Mask, "mask_token", &["tokenizer.ggml.mask_token_id"]),
];

impl Role {
    /// Return the key with the id of the token.
    pub(super) fn key(self) -> &'static str {
        ROLES.iter().find(|(role, _, _)| *role == self).map_or("", |(_, _, keys)| keys[0])
    }
}
