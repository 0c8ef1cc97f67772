//! Search for many tokens at once: the leftmost match, then the longest (Aho & Corasick 1975).

use aho_corasick::{AhoCorasick, AhoCorasickKind, Input, MatchKind};

use crate::error::{Error, ErrorKind};

/// One automaton over the forms in which some tokens are sought.
#[derive(Clone, Debug)]
pub(super) struct Matcher {
    automaton: AhoCorasick,
    token_forms: Vec<TokenForm>,
}

#[derive(Clone, Copy, Debug)]
struct TokenForm {
    /// Index of the token.
    token: usize,
    len: usize,
    /// The pattern that matches wherever this one does, the longest such.
    shorter: Option<usize>,
}

/// Tables of one entry a byte class and state are made up to so many bytes of token_forms.
const MAX_DENSE_BYTES: usize = 2048;
/// All forms together; far more than any tokenizer has.
const MAX_TOTAL_BYTES: usize = 1 << 26;

impl Matcher {
    /// Compile (form, index of the token) entries; empty forms are left out.
    pub(super) fn compile(mut forms: Vec<(String, usize)>) -> Result<Option<Self>, Error> {
        forms.retain(|(form, _)| !form.is_empty());
        if forms.is_empty() {
            return Ok(None);
        }
        // A form that begins with another stands after it; of equal ones the first token stands last.
        forms.sort_by(|(a, first), (b, second)| a.cmp(b).then(second.cmp(first)));
        let token_forms = with_prefixes(&forms);
        let last_of_equals =
            (0..forms.len()).filter(|&i| forms.get(i + 1).is_none_or(|f| f.0 != forms[i].0));
        let sought: Vec<usize> = last_of_equals.collect();
        let automaton = automaton(sought.iter().map(|&i| forms[i].0.as_bytes()))?;
        // TokenForm ids of the automaton come first, the forms it does not know follow.
        Ok(Some(Self { automaton, token_forms: renumbered(&token_forms, &sought) }))
    }

    /// The leftmost, then longest match from byte `from` on among the tokens that are recognised.
    #[inline]
    pub(super) fn find(
        &self,
        text: &str,
        mut from: usize,
        recognizes: impl Fn(usize) -> bool,
    ) -> Option<(usize, usize, usize)> {
        loop {
            let found = self.automaton.find(Input::new(text).span(from..text.len()))?;
            let mut pattern = Some(&self.token_forms[found.pattern().as_usize()]);
            while let Some(candidate) = pattern {
                if recognizes(candidate.token) {
                    return Some((candidate.token, found.start(), found.start() + candidate.len));
                }
                pattern = candidate.shorter.map(|at| &self.token_forms[at]);
            }
            from = found.start() + 1;
        }
    }
}

/// For each of the sorted forms, the nearest one before it that it begins with.
fn with_prefixes(forms: &[(String, usize)]) -> Vec<TokenForm> {
    let mut token_forms = Vec::with_capacity(forms.len());
    let mut prefixes: Vec<usize> = Vec::new();
    for (at, (form, token)) in forms.iter().enumerate() {
        while prefixes.last().is_some_and(|&last| !form.starts_with(&forms[last].0)) {
            prefixes.pop();
        }
        token_forms.push(TokenForm { token: *token, len: form.len(), shorter: prefixes.last().copied() });
        prefixes.push(at);
    }
    token_forms
}

/// Put the token_forms at the indices `first` before all others.
fn renumbered(token_forms: &[TokenForm], first: &[usize]) -> Vec<TokenForm> {
    let mut order = first.to_vec();
    let mut is_first = vec![false; token_forms.len()];
    first.iter().for_each(|&at| is_first[at] = true);
    order.extend((0..token_forms.len()).filter(|&at| !is_first[at]));
    let mut new_index = vec![0; token_forms.len()];
    order.iter().enumerate().for_each(|(new, &old)| new_index[old] = new);
    let renumber = |at: &usize| {
        let pattern = token_forms[*at];
        TokenForm { shorter: pattern.shorter.map(|old| new_index[old]), ..pattern }
    };
    order.iter().map(renumber).collect()
}

fn automaton<'f>(forms: impl Iterator<Item = &'f [u8]> + Clone) -> Result<AhoCorasick, Error> {
    let bytes: usize = forms.clone().map(<[u8]>::len).sum();
    if bytes > MAX_TOTAL_BYTES {
        let found = format!("tokens of {bytes} bytes together");
        return Err(Error::new(
            ErrorKind::Format,
            "added_tokens",
            found,
            format!("at most {MAX_TOTAL_BYTES}"),
        ));
    }
    AhoCorasick::builder()
        .match_kind(MatchKind::LeftmostLongest)
        .kind((bytes > MAX_DENSE_BYTES).then_some(AhoCorasickKind::ContiguousNFA))
        .build(forms)
        .map_err(|error| {
            Error::new(ErrorKind::Format, "added_tokens", error.to_string(), "fewer or shorter tokens")
        })
}
