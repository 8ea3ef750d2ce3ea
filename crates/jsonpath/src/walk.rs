//! Runs a query depth first, without lists in between: memory grows with the depth of the document only.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::ops::ControlFlow;
use std::time::Instant;

use regex::{Regex, RegexBuilder};
use serde_json::{Number, Value};

use super::{
    Comparison, MAX_RESULT_BYTES, MAX_STEPS, MAX_TIME, Operand, PathLimit, Query, Segment,
    Selected, Selector, Test,
};

/// How often the clock is read, in steps.
const STEPS_PER_LOOK: u64 = 4096;

/// The size that a pattern may compile to; it bounds the time per byte of a text.
const MAX_PATTERN_BYTES: usize = 128 << 10;

/// The cost of compiling a pattern, in steps.
const STEPS_PER_PATTERN: u64 = 50_000;

/// The cost of matching, in steps per byte of the text.
const STEPS_PER_BYTE: u64 = 8;

/// The memory of a node in addition to its text, in bytes.
const BYTES_PER_NODE: usize = 64;

pub(super) fn select(
    segments: &[Segment],
    root: &Value,
    limit: usize,
) -> Result<Selected, PathLimit> {
    let mut run = Run { root, steps: 0, started: Instant::now(), patterns: HashMap::new() };
    let mut selected = Selected { matches: Vec::new(), total: 0 };
    let mut bytes_left = MAX_RESULT_BYTES;
    let mut found = |run: &mut Run<'_>, node: &Value| {
        selected.total += 1;
        if selected.matches.len() < limit {
            run.charge_copy(node, &mut bytes_left)?;
            selected.matches.push(node.clone());
        }
        Ok(ControlFlow::Continue(()))
    };
    let _ = run.walk(root, segments, &mut found)?;
    Ok(selected)
}

type Flow = Result<ControlFlow<()>, PathLimit>;

/// Called for each match; it ends the walk with `Break`.
type OnMatch<'f, 'd> = dyn FnMut(&mut Run<'d>, &'d Value) -> Flow + 'f;

struct Run<'d> {
    root: &'d Value,
    steps: u64,
    started: Instant,
    /// Compiled patterns by whether they match the whole text; nothing for one that is not valid.
    patterns: HashMap<(bool, String), Option<Regex>>,
}

/// The value of an operand: part of the document, or computed.
enum Computed<'d> {
    Nothing,
    Node(&'d Value),
    Number(Number),
}

impl Computed<'_> {
    fn as_number(&self) -> Option<&Number> {
        match self {
            Computed::Node(Value::Number(number)) => Some(number),
            Computed::Number(number) => Some(number),
            _ => None,
        }
    }

    fn as_text(&self) -> Option<&str> {
        match self {
            Computed::Node(Value::String(text)) => Some(text),
            _ => None,
        }
    }
}

impl<'d> Run<'d> {
    fn spend(&mut self, steps: u64) -> Result<(), PathLimit> {
        let looked = self.steps / STEPS_PER_LOOK;
        self.steps = self.steps.saturating_add(steps);
        if self.steps > MAX_STEPS {
            return Err(PathLimit::Steps);
        }
        if self.steps / STEPS_PER_LOOK != looked && self.started.elapsed() > MAX_TIME {
            return Err(PathLimit::Time);
        }
        Ok(())
    }

    fn spend_text(&mut self, length: usize) -> Result<(), PathLimit> {
        self.spend(1 + length as u64 / 64)
    }

    /// Takes what a copy of the node needs out of the memory that is left.
    fn charge_copy(&mut self, node: &Value, left: &mut usize) -> Result<(), PathLimit> {
        self.spend(1)?;
        let mut charge = |bytes: usize| {
            *left = left.checked_sub(bytes).ok_or(PathLimit::Size)?;
            Ok(())
        };
        match node {
            Value::String(text) => charge(BYTES_PER_NODE + text.len()),
            Value::Array(items) => {
                charge(BYTES_PER_NODE)?;
                items.iter().try_for_each(|item| self.charge_copy(item, left))
            }
            Value::Object(map) => {
                charge(
                    BYTES_PER_NODE
                        + map.keys().map(|key| BYTES_PER_NODE + key.len()).sum::<usize>(),
                )?;
                map.values().try_for_each(|item| self.charge_copy(item, left))
            }
            _ => charge(BYTES_PER_NODE),
        }
    }

    fn walk(&mut self, node: &'d Value, segments: &[Segment], found: &mut OnMatch<'_, 'd>) -> Flow {
        let Some((segment, rest)) = segments.split_first() else { return found(self, node) };
        if !segment.descendants {
            return self.select(node, &segment.selectors, rest, found);
        }
        let mut open = vec![node];
        while let Some(node) = open.pop() {
            if self.select(node, &segment.selectors, rest, found)?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
            // The first child is visited next, before its siblings.
            match node {
                Value::Array(items) => {
                    self.spend(items.len() as u64)?;
                    open.extend(items.iter().rev());
                }
                Value::Object(map) => {
                    self.spend(map.len() as u64)?;
                    open.extend(map.values().rev());
                }
                _ => {}
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    fn select(
        &mut self,
        node: &'d Value,
        selectors: &[Selector],
        rest: &[Segment],
        found: &mut OnMatch<'_, 'd>,
    ) -> Flow {
        for selector in selectors {
            self.spend(1)?;
            let flow = match (selector, node) {
                (Selector::Name(name), Value::Object(map)) => match map.get(name) {
                    Some(child) => self.walk(child, rest, found)?,
                    None => ControlFlow::Continue(()),
                },
                (Selector::Index(index), Value::Array(items)) => {
                    match position(*index, items.len()).and_then(|at| items.get(at)) {
                        Some(child) => self.walk(child, rest, found)?,
                        None => ControlFlow::Continue(()),
                    }
                }
                (Selector::Slice { start, end, step }, Value::Array(items)) => {
                    let picked = slice(*start, *end, *step, items.len());
                    let picked = picked.into_iter().filter_map(|at| items.get(at));
                    self.each(picked, None, rest, found)?
                }
                (Selector::Wildcard, Value::Array(items)) => self.each(items, None, rest, found)?,
                (Selector::Wildcard, Value::Object(map)) => {
                    self.each(map.values(), None, rest, found)?
                }
                (Selector::Filter(test), Value::Array(items)) => {
                    self.each(items, Some(test), rest, found)?
                }
                (Selector::Filter(test), Value::Object(map)) => {
                    self.each(map.values(), Some(test), rest, found)?
                }
                _ => ControlFlow::Continue(()),
            };
            if flow.is_break() {
                return Ok(flow);
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    fn each(
        &mut self,
        children: impl IntoIterator<Item = &'d Value>,
        test: Option<&Test>,
        rest: &[Segment],
        found: &mut OnMatch<'_, 'd>,
    ) -> Flow {
        for child in children {
            self.spend(1)?;
            let passes = match test {
                Some(test) => self.holds(test, child)?,
                None => true,
            };
            if passes && self.walk(child, rest, found)?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    fn holds(&mut self, test: &Test, node: &'d Value) -> Result<bool, PathLimit> {
        self.spend(1)?;
        match test {
            Test::Or(tests) => {
                for test in tests {
                    if self.holds(test, node)? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            Test::And(tests) => {
                for test in tests {
                    if !self.holds(test, node)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            Test::Not(test) => Ok(!self.holds(test, node)?),
            Test::Exists(query) => {
                let mut first = |_: &mut Run<'d>, _: &'d Value| Ok(ControlFlow::Break(()));
                Ok(self.query(query, node, &mut first)?.is_break())
            }
            Test::Compare(left, comparison, right) => self.compare(left, *comparison, right, node),
            Test::Matches { text, pattern, whole } => {
                let text = self.operand(text, node)?;
                let pattern = self.operand(pattern, node)?;
                match (text.as_text(), pattern.as_text()) {
                    (Some(text), Some(pattern)) => self.matches(text, pattern, *whole),
                    _ => Ok(false),
                }
            }
        }
    }

    fn query(&mut self, query: &Query, node: &'d Value, found: &mut OnMatch<'_, 'd>) -> Flow {
        let start = if query.from_root { self.root } else { node };
        self.walk(start, &query.segments, found)
    }

    fn operand<'o: 'r, 'r>(
        &mut self,
        operand: &'o Operand,
        node: &'d Value,
    ) -> Result<Computed<'r>, PathLimit>
    where
        'd: 'r,
    {
        self.spend(1)?;
        Ok(match operand {
            Operand::Literal(value) => Computed::Node(value),
            Operand::Query(query) | Operand::Value(query) => {
                let mut only = None;
                let mut several = false;
                let mut keep = |_: &mut Run<'d>, node: &'d Value| {
                    several = only.replace(node).is_some();
                    Ok(if several { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
                };
                let _ = self.query(query, node, &mut keep)?;
                only.filter(|_| !several).map_or(Computed::Nothing, Computed::Node)
            }
            Operand::Count(query) => {
                let mut count = 0_u64;
                let mut add = |_: &mut Run<'d>, _: &'d Value| {
                    count += 1;
                    Ok(ControlFlow::Continue(()))
                };
                let _ = self.query(query, node, &mut add)?;
                Computed::Number(count.into())
            }
            Operand::Length(of) => match self.operand(of, node)? {
                Computed::Node(Value::String(text)) => {
                    self.spend_text(text.len())?;
                    Computed::Number(text.chars().count().into())
                }
                Computed::Node(Value::Array(items)) => Computed::Number(items.len().into()),
                Computed::Node(Value::Object(map)) => Computed::Number(map.len().into()),
                _ => Computed::Nothing,
            },
        })
    }

    fn compare(
        &mut self,
        left: &Operand,
        comparison: Comparison,
        right: &Operand,
        node: &'d Value,
    ) -> Result<bool, PathLimit> {
        let (left, right) = (self.operand(left, node)?, self.operand(right, node)?);
        let order = match (left.as_number(), right.as_number()) {
            (Some(left), Some(right)) => compare_numbers(left, right),
            _ => match (left.as_text(), right.as_text()) {
                (Some(left), Some(right)) => {
                    self.spend_text(left.len().min(right.len()))?;
                    Some(left.cmp(right))
                }
                _ => None,
            },
        };
        let less = order == Some(Ordering::Less);
        let greater = order == Some(Ordering::Greater);
        Ok(match comparison {
            Comparison::Less => less,
            Comparison::Greater => greater,
            Comparison::LessOrEqual => less || self.equal_values(order, &left, &right)?,
            Comparison::GreaterOrEqual => greater || self.equal_values(order, &left, &right)?,
            Comparison::Equal => self.equal_values(order, &left, &right)?,
            Comparison::NotEqual => !self.equal_values(order, &left, &right)?,
        })
    }

    fn equal_values(
        &mut self,
        order: Option<Ordering>,
        left: &Computed<'_>,
        right: &Computed<'_>,
    ) -> Result<bool, PathLimit> {
        match (order, left, right) {
            (Some(order), ..) => Ok(order == Ordering::Equal),
            (None, Computed::Node(left), Computed::Node(right)) => self.equal(left, right),
            (None, Computed::Nothing, Computed::Nothing) => Ok(true),
            _ => Ok(false),
        }
    }

    /// Equality that pays for each node it looks at.
    fn equal(&mut self, left: &Value, right: &Value) -> Result<bool, PathLimit> {
        self.spend(1)?;
        match (left, right) {
            (Value::Array(left), Value::Array(right)) => {
                if left.len() != right.len() {
                    return Ok(false);
                }
                for (left, right) in left.iter().zip(right) {
                    if !self.equal(left, right)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            (Value::Object(left), Value::Object(right)) => {
                if left.len() != right.len() {
                    return Ok(false);
                }
                for (name, left) in left {
                    match right.get(name) {
                        Some(right) if self.equal(left, right)? => {}
                        _ => return Ok(false),
                    }
                }
                Ok(true)
            }
            (Value::Number(left), Value::Number(right)) => {
                Ok(compare_numbers(left, right) == Some(Ordering::Equal))
            }
            (Value::String(left), Value::String(right)) => {
                self.spend_text(left.len().min(right.len()))?;
                Ok(left == right)
            }
            _ => Ok(left == right),
        }
    }

    fn matches(&mut self, text: &str, pattern: &str, whole: bool) -> Result<bool, PathLimit> {
        self.spend(text.len() as u64 * STEPS_PER_BYTE + pattern.len() as u64)?;
        let key = (whole, pattern.to_owned());
        if !self.patterns.contains_key(&key) {
            self.spend(STEPS_PER_PATTERN)?;
            self.patterns.insert(key.clone(), compile(pattern, whole));
        }
        Ok(self.patterns.get(&key).and_then(Option::as_ref).is_some_and(|it| it.is_match(text)))
    }
}

/// An I-Regexp (RFC 9485); the engine is linear in the length of the text.
fn compile(pattern: &str, whole: bool) -> Option<Regex> {
    let build = |pattern: &str| {
        RegexBuilder::new(pattern)
            .crlf(true)
            .size_limit(MAX_PATTERN_BYTES)
            .dfa_size_limit(MAX_PATTERN_BYTES)
            .build()
            .ok()
    };
    // By itself first: `a)|(b` must not become valid between the parentheses.
    let part = build(pattern)?;
    if whole { build(&format!(r"\A(?:{pattern})\z")) } else { Some(part) }
}

fn compare_numbers(left: &Number, right: &Number) -> Option<Ordering> {
    match (left.as_i64(), right.as_i64()) {
        (Some(left), Some(right)) => Some(left.cmp(&right)),
        _ => left.as_f64()?.partial_cmp(&right.as_f64()?),
    }
}

fn position(index: i64, length: usize) -> Option<usize> {
    let from_end = usize::try_from(index.unsigned_abs()).ok()?;
    if index < 0 { length.checked_sub(from_end) } else { Some(from_end) }
}

/// The positions that a slice selects (RFC 9535, 2.3.4.2.2).
fn slice(start: Option<i64>, end: Option<i64>, step: i64, length: usize) -> Vec<usize> {
    let Ok(length) = i64::try_from(length) else { return Vec::new() };
    let normal = |index: i64| if index < 0 { length + index } else { index };
    let mut at;
    let mut picked = Vec::new();
    if step > 0 {
        at = normal(start.unwrap_or(0)).clamp(0, length);
        let end = normal(end.unwrap_or(length)).clamp(0, length);
        while at < end {
            picked.extend(usize::try_from(at));
            at = at.saturating_add(step);
        }
    } else if step < 0 {
        at = normal(start.unwrap_or(length - 1)).clamp(-1, length - 1);
        let end = end.map_or(-1, |end| normal(end).clamp(-1, length - 1));
        while at > end {
            picked.extend(usize::try_from(at));
            at = at.saturating_add(step);
        }
    }
    picked
}
