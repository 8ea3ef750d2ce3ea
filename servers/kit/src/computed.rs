//! Work on texts: on short ones in this process, on long ones in a confined process, which ends with the call.

use std::borrow::Cow;
use std::marker::PhantomData;

use reading::{Document, Done, Refused, Work};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::DeserializeOwned;
use serde::{Serialize, Serializer};
use serde_json::{Value, json};

use crate::given::blocking;
use crate::{Ctx, Fault};

/// Work on more bytes cannot be left to a thread: nothing ends a thread when its call is cancelled or late.
const LONG: usize = 20_000;

/// Whether a text is always worked on in a confined process.
pub fn is_long(text: &str) -> bool {
    text.len() > LONG
}

/// An answer of the type `T` that was computed by a [`Work`]: it is JSON already.
#[derive(Debug, Clone)]
pub struct Computed<T> {
    value: Value,
    answer: PhantomData<fn() -> T>,
}

impl<T: Serialize> Computed<T> {
    /// An answer that was computed in this process.
    pub fn new(answer: &T) -> Result<Self, Fault> {
        let value = serde_json::to_value(answer)
            .map_err(|error| Fault::internal(format!("the answer is not JSON: {error}")))?;
        Ok(Self { value, answer: PhantomData })
    }
}

impl<T: DeserializeOwned> Computed<T> {
    /// The answer as its type.
    pub fn read(self) -> Result<T, Fault> {
        serde_json::from_value(self.value)
            .map_err(|error| Fault::internal(format!("the answer is not understood: {error}")))
    }
}

impl<T> Serialize for Computed<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.value.serialize(serializer)
    }
}

impl<T: JsonSchema> JsonSchema for Computed<T> {
    fn inline_schema() -> bool {
        T::inline_schema()
    }

    fn schema_name() -> Cow<'static, str> {
        T::schema_name()
    }

    fn schema_id() -> Cow<'static, str> {
        T::schema_id()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        T::json_schema(generator)
    }
}

/// The body of a [`Work`] for [`Ctx::compute`]: takes options and text apart, and writes the answer.
pub fn compute<O: DeserializeOwned, T: Serialize>(
    bytes: &[u8],
    run: impl FnOnce(O, &str) -> Result<T, Refused>,
) -> Result<Done, Refused> {
    let broken = |error: &dyn std::fmt::Display| Refused::new("options", error.to_string());
    let cut = bytes.iter().position(|byte| *byte == b'\n').unwrap_or(bytes.len());
    let options = serde_json::from_slice(&bytes[..cut]).map_err(|error| broken(&error))?;
    let text = bytes.get(cut + 1..).unwrap_or_default();
    let text = std::str::from_utf8(text).map_err(|error| broken(&error))?;
    let answer = run(options, text)?;
    Ok(Done::new(serde_json::to_value(answer).map_err(|error| broken(&error))?))
}

impl Ctx {
    /// Runs a function on a text of the caller; its body is [`compute`]. A long text, or a short one with long options, is
    /// worked on in a confined process that is ended after 30 s, or when the call is. For a short one the function must end
    /// by itself: its time has to grow with the text and the options, and not faster.
    pub async fn compute<T>(
        &self,
        work: &Work,
        options: &(impl Serialize + Sync),
        text: &str,
    ) -> Result<Computed<T>, Fault> {
        let bytes = joined(options, text)?;
        if bytes.len() > LONG {
            return self.in_process(work, bytes).await;
        }
        let work = *work;
        let done = blocking(move || work.run(Value::Null, bytes)).await?;
        let done = done.map_err(|Refused { reason, message }| {
            Fault::invalid_input(message).details(json!({"reason": reason}))
        })?;
        Ok(Computed { value: done.value, answer: PhantomData })
    }

    /// Like [`Ctx::compute`], and always in a confined process: for functions that take long on a short text, as the patterns
    /// of a caller may.
    pub async fn compute_confined<T>(
        &self,
        work: &Work,
        options: &(impl Serialize + Sync),
        text: &str,
    ) -> Result<Computed<T>, Fault> {
        self.in_process(work, joined(options, text)?).await
    }

    async fn in_process<T>(&self, work: &Work, bytes: Vec<u8>) -> Result<Computed<T>, Fault> {
        let done = self.work(work, &Value::Null, Document::new(bytes, "text/plain")).await?;
        Ok(Computed { value: done.value, answer: PhantomData })
    }
}

/// One line of options, which may be longer than the header of a request, then the text.
fn joined(options: &impl Serialize, text: &str) -> Result<Vec<u8>, Fault> {
    let mut bytes = serde_json::to_vec(options)
        .map_err(|error| Fault::internal(format!("the options are not JSON: {error}")))?;
    bytes.push(b'\n');
    bytes.extend_from_slice(text.as_bytes());
    Ok(bytes)
}

#[cfg(test)]
mod tests;
