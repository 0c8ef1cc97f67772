//! The most recent turns of a conversation that fit a budget of tokens.

use piecework_core::error::{Error as CoreError, ErrorKind as CoreKind};

use crate::Error;

/// Who wrote a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Role {
    /// The system or the developer: always kept.
    System,
    /// The user: a message begins a turn.
    User,
    /// The model.
    Assistant,
    /// A tool, or a user whose message has the results of tools.
    Tool,
}

/// What [`fit_messages`] needs to know of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    role: Role,
    call: Option<usize>,
}

impl Message {
    /// Return a message of a role. A tool answers the last message of the assistant before it.
    #[must_use]
    pub fn new(role: Role) -> Self {
        Self { role, call: None }
    }

    /// Name the message with the call that this one answers, by its index; the first of several.
    #[must_use]
    pub fn answers(mut self, message: usize) -> Self {
        self.call = Some(message);
        self
    }
}

/// Return the indices of the system messages and of the most recent turns whose prompt has at most `max_tokens` tokens.
///
/// `count` returns the number of tokens of a prompt of some messages: it renders and counts them, or adds up the counts of
/// each. A chat template whose messages begin and end with special tokens has as many tokens as its messages together.
///
/// ```
/// use piecework::{Error, Message, Role, fit_messages};
///
/// let roles = [Role::System, Role::User, Role::Assistant, Role::User];
/// let counts = [9, 40, 70, 20];
/// let messages = roles.map(Message::new);
/// let total = |kept: &[usize]| Ok::<_, Error>(kept.iter().map(|&at| counts[at]).sum());
/// assert_eq!(fit_messages(&messages, 139, total)?, [0, 1, 2, 3]);
/// assert_eq!(fit_messages(&messages, 138, total)?, [0, 3]);
/// assert!(fit_messages(&messages, 28, total).is_err());
/// # Ok::<(), Error>(())
/// ```
///
/// A turn is a message of the user and all messages up to the next one. Those before the first one are a turn too. A tool
/// result stays in the turn of its call, even if a user message came between. With the next older turn, the prompt would
/// have more than `max_tokens` tokens. `fit_messages` in Python keeps the same messages.
///
/// The number of turns is doubled and then halved, so `count` gets few prompts, none twice as long as the result. Fails if
/// the system messages and the last turn have more than `max_tokens` tokens, without messages, for a message that answers
/// itself or a later one, and where `count` fails.
pub fn fit_messages<E: From<Error>>(
    messages: &[Message],
    max_tokens: usize,
    mut count: impl FnMut(&[usize]) -> Result<usize, E>,
) -> Result<Vec<usize>, E> {
    let starts = turn_starts(messages).map_err(Error::from)?;
    let all = starts.len();
    let recent = |turns: usize| recent(messages, starts[all - turns]);
    let least = count(&recent(1))?;
    if least > max_tokens {
        let expected = format!("at least {least}, the tokens of the last turn with the system messages");
        let error = CoreError::new(CoreKind::Argument, "max_tokens", max_tokens.to_string(), expected);
        return Err(Error::from(error.with_limit(least)).into());
    }
    let mut fits = |turns: usize| count(&recent(turns)).map(|tokens| tokens <= max_tokens);
    let mut fitting = 1;
    while fitting < all && fits(all.min(2 * fitting))? {
        fitting = all.min(2 * fitting);
    }
    let (mut low, mut high) = (fitting + 1, all.min(2 * fitting));
    while low < high {
        let middle = (low + high) / 2;
        if fits(middle)? {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    Ok(recent(low - 1))
}

/// Return the indices of the messages from one on, and of the system messages before it.
fn recent(messages: &[Message], start: usize) -> Vec<usize> {
    (0..messages.len()).filter(|&at| at >= start || messages[at].role == Role::System).collect()
}

/// Return the indices of the messages that begin a turn; there is at least one turn.
fn turn_starts(messages: &[Message]) -> Result<Vec<usize>, CoreError> {
    if messages.is_empty() {
        return Err(CoreError::new(CoreKind::Argument, "messages", "no message", "at least one"));
    }
    let (mut starts, mut reply) = (Vec::new(), None);
    for (at, &Message { role, call }) in messages.iter().enumerate() {
        if call.is_some_and(|call| call >= at) {
            let found = format!("an answer to the message {}", call.unwrap_or_default());
            let place = format!("messages[{at}]");
            return Err(CoreError::new(CoreKind::Argument, place, found, "an answer to an earlier one"));
        }
        let begins = if starts.is_empty() { role != Role::System } else { role == Role::User };
        if begins {
            starts.push(at);
        }
        if role == Role::Assistant {
            reply = Some(at);
        }
        let answered = call.or(reply.filter(|_| role == Role::Tool));
        while starts.len() > 1 && answered.is_some_and(|call| starts.last() > Some(&call)) {
            starts.pop();
        }
    }
    if starts.is_empty() {
        starts.push(0);
    }
    Ok(starts)
}
