//! Match many tokens at once: the leftmost match, then the longest (Aho & Corasick 1975).

use aho_corasick::{AhoCorasick, AhoCorasickKind, Input, MatchKind};

use crate::error::{Error, ErrorKind};

/// An automaton over the forms of some tokens.
#[derive(Clone, Debug)]
pub(super) struct Matcher {
    automaton: AhoCorasick,
    token_forms: Vec<TokenForm>,
}

#[derive(Clone, Copy, Debug)]
struct TokenForm {
    /// The index of the token.
    token: usize,
    len: usize,
    /// The longest other form that is a prefix of this one.
    shorter: Option<usize>,
}

/// The most bytes of forms for an automaton with a dense transition table.
const MAX_DENSE_BYTES: usize = 2048;
/// The most bytes of all forms.
const MAX_TOTAL_BYTES: usize = 1 << 26;

impl Matcher {
    /// Compile (form, index of the token) entries; ignore empty forms.
    pub(super) fn compile(mut forms: Vec<(String, usize)>) -> Result<Option<Self>, Error> {
        forms.retain(|(form, _)| !form.is_empty());
        if forms.is_empty() {
            return Ok(None);
        }
        // A form sorts after its prefixes, and equal forms sort with the first token last.
        forms.sort_by(|(a, first), (b, second)| a.cmp(b).then(second.cmp(first)));
        let token_forms = with_prefixes(&forms);
        let last_of_equals =
            (0..forms.len()).filter(|&i| forms.get(i + 1).is_none_or(|f| f.0 != forms[i].0));
        let searched: Vec<usize> = last_of_equals.collect();
        let automaton = automaton(searched.iter().map(|&i| forms[i].0.as_bytes()))?;
        // The forms of the automaton come first, in the order of its pattern ids.
        Ok(Some(Self { automaton, token_forms: renumbered(&token_forms, &searched) }))
    }

    /// Return the leftmost, then longest match from byte `from` on, among those for whose token, start
    /// and end `recognizes` holds.
    #[inline]
    pub(super) fn find(
        &self,
        text: &str,
        mut from: usize,
        recognizes: impl Fn(usize, usize, usize) -> bool,
    ) -> Option<(usize, usize, usize)> {
        loop {
            let found = self.automaton.find(Input::new(text).span(from..text.len()))?;
            let mut pattern = Some(&self.token_forms[found.pattern().as_usize()]);
            while let Some(candidate) = pattern {
                let (start, end) = (found.start(), found.start() + candidate.len);
                if recognizes(candidate.token, start, end) {
                    return Some((candidate.token, start, end));
                }
                pattern = candidate.shorter.map(|at| &self.token_forms[at]);
            }
            from = found.start() + 1;
        }
    }
}

/// Return for each sorted form its longest prefix among the forms.
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

/// Move the forms at the indices `first` to the front.
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
