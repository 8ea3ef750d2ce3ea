//! Functions of a program that its readers run on untrusted bytes.

use std::fmt;

use documents::Unreadable;
use serde_json::Value;

use crate::frame::Answer;

type Run = fn(Value, Vec<u8>) -> Result<Done, Refused>;

/// A pure function for untrusted bytes: it gets options and the bytes, and can use neither files nor the network.
#[derive(Clone, Copy)]
pub struct Work {
    name: &'static str,
    run: Run,
}

impl Work {
    /// A function under a name that no other function of the program has.
    pub const fn new(name: &'static str, run: Run) -> Self {
        Self { name, run }
    }

    /// Runs the function in this process, for bytes that cost little.
    pub fn run(&self, options: Value, bytes: Vec<u8>) -> Result<Done, Refused> {
        (self.run)(options, bytes)
    }

    pub(crate) fn name(&self) -> &'static str {
        self.name
    }
}

impl fmt::Debug for Work {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Work").field(&self.name).finish()
    }
}

/// The result of a [`Work`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Done {
    /// The result as JSON.
    pub value: Value,
    /// The bytes that it has made, such as a picture.
    pub bytes: Vec<u8>,
}

impl Done {
    /// A result without bytes.
    pub fn new(value: Value) -> Self {
        Self { value, bytes: Vec::new() }
    }

    /// Takes the content of a frame apart: the value as JSON, then the bytes.
    pub(crate) fn split(value_length: u64, mut content: Vec<u8>) -> serde_json::Result<Self> {
        let end = usize::try_from(value_length).unwrap_or(usize::MAX).min(content.len());
        let value = serde_json::from_slice(&content[..end])?;
        content.drain(..end);
        Ok(Self { value, bytes: content })
    }
}

/// Why a [`Work`] has no result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// One word for programs.
    pub reason: String,
    /// What is wrong with the bytes or the options, and what to do: "it …".
    pub message: String,
}

impl Refused {
    /// A refusal with a reason of the program's own.
    pub fn new(reason: &str, message: impl Into<String>) -> Self {
        Self { reason: reason.to_owned(), message: message.into() }
    }
}

impl From<Unreadable> for Refused {
    fn from(unreadable: Unreadable) -> Self {
        Self::new(unreadable.kind(), unreadable.to_string())
    }
}

/// Runs the function of this name.
pub(crate) fn run(works: &[Work], name: &str, options: Value, bytes: Vec<u8>) -> (Answer, Vec<u8>) {
    let Some(work) = works.iter().find(|work| work.name == name) else {
        let message = format!("this program has no function `{name}`");
        return (Answer::Refused { kind: "unsupported".to_owned(), message }, Vec::new());
    };
    let done = match work.run(options, bytes) {
        Ok(done) => done,
        Err(Refused { reason, message }) => {
            return (Answer::Refused { kind: reason, message }, Vec::new());
        }
    };
    let mut content = done.value.to_string().into_bytes();
    let value_length = content.len() as u64;
    content.extend(done.bytes);
    (Answer::Worked { value_length, length: content.len() as u64 }, content)
}
