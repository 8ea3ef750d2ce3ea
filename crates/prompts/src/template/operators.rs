//! The operators that make or read values of any size. The engine's own are not bounded, so `compile` replaces them
//! with calls of these filters, whose names no template can write.

use std::borrow::Cow;

use minijinja::value::ValueKind;
use minijinja::{Environment, Error, ErrorKind, State, UndefinedBehavior, Value};

use super::budget::Budget;
use super::data::{self, Shape, Texts};
use super::measure::{pay_for_text, text_length};

pub(super) const ADD: &str = "$add";
pub(super) const MULTIPLY: &str = "$multiply";
pub(super) const CONCATENATE: &str = "$concatenate";
pub(super) const SLICE: &str = "$slice";
/// Makes a literal a bounded value.
pub(super) const LITERAL: &str = "$literal";
/// Counts the reading of a value.
pub(super) const READ: &str = "$read";
/// Counts the reading of what is looked for with `in`.
pub(super) const NEEDLE: &str = "$needle";
/// Pays for arguments that are unpacked.
pub(super) const UNPACK: &str = "$unpack";
/// Checks what a namespace is to hold.
pub(super) const STORE: &str = "$store";

pub(super) fn register(environment: &mut Environment<'static>) {
    environment.add_filter(ADD, add);
    environment.add_filter(MULTIPLY, multiply);
    environment.add_filter(CONCATENATE, concatenate);
    environment.add_filter(SLICE, slice);
    environment.add_filter(LITERAL, |state: &State<'_, '_>, value: Value| {
        data::adopt(value, Texts::Shared, &Budget::of(state)?)
    });
    environment.add_filter(READ, |state: &State<'_, '_>, value: Value| {
        Budget::of(state)?.work(data::weight(&value))?;
        Ok::<_, Error>(value)
    });
    environment.add_filter(NEEDLE, |state: &State<'_, '_>, value: Value| {
        let budget = Budget::of(state)?;
        budget.work(data::weight(&value))?;
        if value.as_str().is_none() && !value.is_undefined() {
            budget.check_room(text_length(&value, budget.room()))?;
        }
        Ok::<_, Error>(value)
    });
    environment.add_filter(UNPACK, |state: &State<'_, '_>, value: Value| {
        let items = value.len().unwrap_or(0);
        Budget::of(state)?.charge(items.saturating_mul(ITEM))?;
        Ok::<_, Error>(value)
    });
    environment.add_filter(STORE, |value: Value| {
        data::check_storable(&value)?;
        Ok::<_, Error>(value)
    });
}

/// What an item takes while a list is made.
const ITEM: usize = 24;

fn is_list(value: &Value) -> bool {
    matches!(value.kind(), ValueKind::Seq | ValueKind::Iterable)
}

fn unsupported(operator: &str, left: &Value, right: &Value) -> Error {
    let message = format!(
        "tried to use {operator} operator on unsupported types {} and {}",
        left.kind(),
        right.kind()
    );
    Error::new(ErrorKind::InvalidOperation, message)
}

fn add(state: &State<'_, '_>, left: Value, right: Value) -> Result<Value, Error> {
    let budget = Budget::of(state)?;
    budget.work(0)?;
    if let (Some(first), Some(second)) = (left.as_str(), right.as_str()) {
        budget.charge(first.len().saturating_add(second.len()))?;
        return Ok(Value::from([first, second].concat()));
    }
    if is_list(&left) && is_list(&right) {
        let length = left.len().zip(right.len()).and_then(|(a, b)| a.checked_add(b));
        budget.check_room(length.and_then(|length| length.checked_mul(ITEM)))?;
        let mut items = Vec::new();
        for item in left.try_iter()?.chain(right.try_iter()?) {
            budget.charge(ITEM)?;
            items.push(item);
        }
        return data::list(items, data::shape(&left));
    }
    match (as_integer(&left), as_integer(&right)) {
        (Some(a), Some(b)) => integer(a.checked_add(b), "+"),
        _ => {
            match (as_float(&left), as_float(&right)) {
                (Some(a), Some(b)) => Ok(Value::from(a + b)),
                _ => Err(undefined(state, &left, &right)
                    .unwrap_or_else(|| unsupported("+", &left, &right))),
            }
        }
    }
}

fn multiply(state: &State<'_, '_>, left: Value, right: Value) -> Result<Value, Error> {
    let budget = Budget::of(state)?;
    budget.work(0)?;
    let repeats = |value: &Value| value.as_str().is_some() || is_list(value);
    let (repeated, times) = if repeats(&left) {
        (&left, &right)
    } else if repeats(&right) {
        (&right, &left)
    } else {
        return multiply_numbers(state, &left, &right);
    };
    let times = times.as_usize().ok_or_else(|| {
        let message = "texts and lists can only be multiplied with whole numbers";
        Error::new(ErrorKind::InvalidOperation, message)
    })?;
    if let Some(text) = repeated.as_str() {
        let length = text.len().checked_mul(times);
        budget.check_room(length)?;
        budget.charge(length.unwrap_or(usize::MAX))?;
        return Ok(Value::from(text.repeat(times)));
    }
    let length = repeated.len().and_then(|length| length.checked_mul(times));
    budget.check_room(length.and_then(|length| length.checked_mul(ITEM)))?;
    let mut items = Vec::new();
    for _ in 0..times {
        if length == Some(0) {
            break;
        }
        for item in repeated.try_iter()? {
            budget.charge(ITEM)?;
            items.push(item);
        }
    }
    data::list(items, data::shape(repeated))
}

fn multiply_numbers(state: &State<'_, '_>, left: &Value, right: &Value) -> Result<Value, Error> {
    match (as_integer(left), as_integer(right)) {
        (Some(a), Some(b)) => integer(a.checked_mul(b), "*"),
        _ => match (as_float(left), as_float(right)) {
            (Some(a), Some(b)) => Ok(Value::from(a * b)),
            _ => {
                Err(undefined(state, left, right).unwrap_or_else(|| unsupported("*", left, right)))
            }
        },
    }
}

fn concatenate(state: &State<'_, '_>, left: Value, right: Value) -> Result<Value, Error> {
    let budget = Budget::of(state)?;
    if let Some(error) = undefined(state, &left, &right) {
        return Err(error);
    }
    pay_for_text(&left, &budget)?;
    pay_for_text(&right, &budget)?;
    let mut text = match left.as_str() {
        Some(text) => text.to_owned(),
        None => left.to_string(),
    };
    match right.as_str() {
        Some(right) => text.push_str(right),
        None => text.push_str(&right.to_string()),
    }
    Ok(Value::from(text))
}

/// The error for an operand that does not exist, where the engine is strict about it.
fn undefined(state: &State<'_, '_>, left: &Value, right: &Value) -> Option<Error> {
    let strict = matches!(
        state.undefined_behavior(),
        UndefinedBehavior::Strict | UndefinedBehavior::SemiStrict
    );
    (strict && (left.is_undefined() || right.is_undefined()))
        .then(|| Error::from(ErrorKind::UndefinedError))
}

fn as_integer(value: &Value) -> Option<i128> {
    let whole = value.is_integer() || value.kind() == ValueKind::Bool;
    whole.then(|| i128::try_from(value.clone()).ok()).flatten()
}

fn as_float(value: &Value) -> Option<f64> {
    match value.kind() {
        ValueKind::Bool => Some(if value.is_true() { 1.0 } else { 0.0 }),
        ValueKind::Number => f64::try_from(value.clone()).ok().or_else(|| {
            // Too large for an exact conversion.
            i128::try_from(value.clone()).ok().map(|number| number as f64)
        }),
        _ => None,
    }
}

fn integer(made: Option<i128>, operator: &str) -> Result<Value, Error> {
    let made = made.ok_or_else(|| {
        let message = format!("the result of `{operator}` is too large a number");
        Error::new(ErrorKind::InvalidOperation, message)
    })?;
    Ok(i64::try_from(made).map_or_else(|_| Value::from(made), Value::from))
}

fn slice(
    state: &State<'_, '_>,
    value: Value,
    start: Value,
    stop: Value,
    step: Value,
) -> Result<Value, Error> {
    let budget = Budget::of(state)?;
    budget.work(data::weight(&value))?;
    let bound = |value: Value| {
        if value.is_none() { Ok(None) } else { i64::try_from(value).map(Some) }
    };
    let (start, stop, step) = (bound(start)?, bound(stop)?, bound(step)?.unwrap_or(1));
    if step == 0 {
        let message = "cannot slice by step size of 0";
        return Err(Error::new(ErrorKind::InvalidOperation, message));
    }
    if value.is_undefined() && state.undefined_behavior() == UndefinedBehavior::Strict {
        return Err(Error::from(ErrorKind::UndefinedError));
    }
    if value.is_undefined() || value.is_none() {
        return data::list(Vec::new(), Shape::List);
    }
    if let Some(text) = value.as_str() {
        return slice_text(text, start, stop, step, &budget);
    }
    let length = value.len().filter(|_| is_list(&value)).ok_or_else(|| {
        let message = format!("value of type {} cannot be sliced", value.kind());
        Error::new(ErrorKind::InvalidOperation, message)
    })?;
    let mut items = Vec::new();
    for at in Positions::new(start, stop, step, length) {
        budget.charge(ITEM)?;
        items.push(value.get_item_by_index(at)?);
    }
    data::list(items, data::shape(&value))
}

fn slice_text(
    text: &str,
    start: Option<i64>,
    stop: Option<i64>,
    step: i64,
    budget: &Budget,
) -> Result<Value, Error> {
    // Most texts are ASCII, where bytes are characters.
    let length = if text.is_ascii() { text.len() } else { text.chars().count() };
    let positions = Positions::new(start, stop, step, length);
    let Some((first, last)) = positions.range() else { return Ok(Value::from("")) };
    let part: Cow<'_, str> = if text.is_ascii() {
        Cow::Borrowed(&text[first..=last])
    } else {
        let bytes = |at: usize| text.char_indices().nth(at).map_or(text.len(), |(at, _)| at);
        Cow::Borrowed(&text[bytes(first)..bytes(last + 1)])
    };
    budget.charge(part.len())?;
    let stride = usize::try_from(step.unsigned_abs()).unwrap_or(usize::MAX);
    let made: String = match step {
        1 => part.into_owned(),
        _ if step > 0 => part.chars().step_by(stride).collect(),
        _ => part.chars().rev().step_by(stride).collect(),
    };
    Ok(Value::from(made))
}

/// The positions that a slice selects, as in Python.
struct Positions {
    next: i64,
    stop: i64,
    step: i64,
}

impl Positions {
    fn new(start: Option<i64>, stop: Option<i64>, step: i64, length: usize) -> Self {
        let length = i64::try_from(length).unwrap_or(i64::MAX);
        let (lowest, highest) = if step > 0 { (0, length) } else { (-1, length - 1) };
        let place = |at: i64| {
            let at = if at < 0 { at.saturating_add(length) } else { at };
            at.clamp(lowest, highest)
        };
        let (first, last) = if step > 0 { (lowest, highest) } else { (highest, lowest) };
        Self { next: start.map_or(first, place), stop: stop.map_or(last, place), step }
    }

    /// The lowest and the highest position.
    fn range(&self) -> Option<(usize, usize)> {
        let (low, high) =
            if self.step > 0 { (self.next, self.stop - 1) } else { (self.stop + 1, self.next) };
        let pair = usize::try_from(low).ok().zip(usize::try_from(high).ok())?;
        (pair.0 <= pair.1).then_some(pair)
    }
}

impl Iterator for Positions {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        let inside = if self.step > 0 { self.next < self.stop } else { self.next > self.stop };
        let at = usize::try_from(self.next).ok().filter(|_| inside)?;
        self.next = self.next.saturating_add(self.step);
        Some(at)
    }
}
