//! The filters, tests and functions of the engine, each with a bound. The engine starts without any, so one that is not
//! listed here does not exist.

use minijinja::value::{Kwargs, Rest, ValueKind, ValueOrKwargs};
use minijinja::{Environment, Error, ErrorKind, State, Value, filters, functions, tests};

use super::budget::{Budget, MAX_VALUE_BYTES};
use super::data::{self, Shape, Texts};
use super::measure::{json_length, pay_for_text, pretty_length, text_length};

/// The most items that `batch` and `slice` fill up, or that `range` has.
const MAX_ITEMS: usize = 100_000;

/// The deepest indentation of JSON.
const MAX_INDENT: usize = 8;

/// The longest path of an attribute, in characters and in names.
const MAX_PATH_BYTES: usize = 256;
const MAX_PATH_NAMES: usize = 16;

/// The most attributes by which a list is sorted.
const MAX_PATHS: usize = 4;

/// What an item takes while a list is made.
const ITEM: usize = 24;

/// How the result of a filter is bounded before it is made.
#[derive(Clone, Copy, Debug)]
pub enum Bound {
    /// It is a part of the value, or a number.
    Part,
    /// It is a text of at most this many times the length of the value as text.
    Text(usize),
    /// It is a list with at most this many places for each item of the value.
    Items(usize),
    /// Like `Items`, and the values are compared with each other.
    Sorted,
    /// It is the value as JSON.
    Json,
    /// It depends on the arguments.
    Special(fn(&Value, &[Value]) -> Option<usize>),
}

impl Bound {
    fn texts(self) -> Texts {
        match self {
            Self::Text(_) | Self::Json | Self::Special(_) => Texts::New,
            _ => Texts::Shared,
        }
    }

    /// Refuses work whose result would be too large.
    fn check(self, value: &Value, arguments: &[Value], budget: &Budget) -> Result<(), Error> {
        let read =
            arguments.iter().map(data::weight).fold(data::weight(value), usize::saturating_add);
        budget.work(read)?;
        let needed = match self {
            Self::Part => Some(0),
            Self::Text(times) => text(value).and_then(|length| length.checked_mul(times)),
            Self::Items(times) => items(value).checked_mul(ITEM * times),
            Self::Sorted => {
                let fits = read <= MAX_VALUE_BYTES;
                items(value).checked_mul(2 * ITEM).filter(|_| fits)
            }
            Self::Json => json(value, arguments),
            Self::Special(needed) => needed(value, arguments),
        };
        budget.check_room(needed)
    }
}

/// The length of a value as text.
fn text(value: &Value) -> Option<usize> {
    text_length(value, MAX_VALUE_BYTES)
}

/// How many items a filter reads from a value. A text is read as its characters.
fn items(value: &Value) -> usize {
    value.as_str().map_or_else(|| value.len().unwrap_or(0), str::len)
}

/// Adds a filter with a bound.
pub(super) fn add_filter(
    environment: &mut Environment<'static>,
    name: &'static str,
    bound: Bound,
    filter: Value,
) {
    environment.add_filter(
        name,
        move |state: &mut State<'_, '_>, value: Value, rest: Rest<ValueOrKwargs>| {
            let budget = Budget::of(state)?;
            let arguments = rest.into_values();
            check_paths(name, &arguments)?;
            bound.check(&value, &arguments, &budget)?;
            let all: Vec<_> = std::iter::once(value).chain(arguments).collect();
            let made = filter.call(state, &all)?;
            data::adopt(made, bound.texts(), &budget)
        },
    );
}

/// Refuses long paths of attributes: a filter follows them for each item, and copies what it finds for each of several.
fn check_paths(filter: &str, arguments: &[Value]) -> Result<(), Error> {
    let position = match filter {
        "selectattr" | "rejectattr" | "groupby" | "attr" => Some(0),
        "join" => Some(1),
        _ => None,
    };
    let positional = position.and_then(|at| arguments.get(at).cloned());
    let is_map = |value: &&Value| value.kind() == ValueKind::Map;
    let named =
        arguments.iter().filter(is_map).filter_map(|named| named.get_attr("attribute").ok());
    let is_long = |path: &str| {
        path.len() > MAX_PATH_BYTES
            || path.matches('.').count() >= MAX_PATH_NAMES
            || path.matches(',').count() >= MAX_PATHS
    };
    let mut paths = named.chain(positional);
    if paths.any(|path| path.as_str().is_some_and(is_long)) {
        let why = format!(
            "an attribute has at most {MAX_PATH_NAMES} names and {MAX_PATH_BYTES} characters"
        );
        return Err(Error::new(ErrorKind::InvalidOperation, why));
    }
    Ok(())
}

pub(super) fn register(environment: &mut Environment<'static>) {
    register_filters(environment);
    register_tests(environment);
    environment.add_function("range", range);
    environment.add_function("dict", dict);
    environment.add_function("namespace", namespace);
}

fn register_filters(environment: &mut Environment<'static>) {
    let mut add = |name: &'static str, bound: Bound, filter: Value| {
        add_filter(environment, name, bound, filter);
    };
    add("length", Bound::Part, Value::from_function(filters::length));
    add("count", Bound::Part, Value::from_function(filters::length));
    add("first", Bound::Part, Value::from_function(filters::first));
    add("last", Bound::Part, Value::from_function(last));
    add("default", Bound::Part, Value::from_function(filters::default));
    add("d", Bound::Part, Value::from_function(filters::default));
    add("attr", Bound::Part, Value::from_function(filters::attr));
    add("bool", Bound::Part, Value::from_function(filters::bool));
    add("abs", Bound::Part, Value::from_function(filters::abs));
    add("int", Bound::Part, Value::from_function(filters::int));
    add("float", Bound::Part, Value::from_function(filters::float));
    add("round", Bound::Part, Value::from_function(filters::round));
    add("sum", Bound::Part, Value::from_function(sum));
    add("safe", Bound::Text(1), Value::from_function(filters::safe));
    add("escape", Bound::Special(escaped), Value::from_function(filters::escape));
    add("e", Bound::Special(escaped), Value::from_function(filters::escape));
    add("lower", Bound::Text(1), Value::from_function(filters::lower));
    add("upper", Bound::Text(1), Value::from_function(filters::upper));
    add("title", Bound::Text(1), Value::from_function(filters::title));
    add("capitalize", Bound::Text(1), Value::from_function(filters::capitalize));
    add("trim", Bound::Text(1), Value::from_function(filters::trim));
    add("string", Bound::Text(1), Value::from_function(filters::string));
    add("replace", Bound::Special(replaced), Value::from_function(filters::replace));
    add("indent", Bound::Special(indented), Value::from_function(filters::indent));
    add("join", Bound::Special(joined), Value::from_function(filters::join));
    add("split", Bound::Special(pieces), Value::from_function(filters::split));
    add("lines", Bound::Special(lines), Value::from_function(filters::lines));
    add("tojson", Bound::Json, Value::from_function(filters::tojson));
    add(
        "pprint",
        Bound::Special(|value, _| pretty_length(value, MAX_VALUE_BYTES)),
        Value::from_function(filters::pprint),
    );
    add("batch", Bound::Special(filled), Value::from_function(filters::batch));
    add("slice", Bound::Special(filled), Value::from_function(filters::slice));
    add("reverse", Bound::Special(reversed), Value::from_function(filters::reverse));
    add("list", Bound::Part, Value::from_function(list));
    add("items", Bound::Items(4), Value::from_function(filters::items));
    add("select", Bound::Items(1), Value::from_function(filters::select));
    add("reject", Bound::Items(1), Value::from_function(filters::reject));
    add("selectattr", Bound::Items(1), Value::from_function(filters::selectattr));
    add("rejectattr", Bound::Items(1), Value::from_function(filters::rejectattr));
    add("map", Bound::Items(1), Value::from_function(filters::map));
    add("chain", Bound::Items(1), Value::from_function(chain));
    add("flatten", Bound::Items(1), Value::from_function(flatten));
    add("omit", Bound::Items(4), Value::from_function(omit));
    add("zip", Bound::Items(1), Value::from_function(filters::zip));
    add("sort", Bound::Sorted, Value::from_function(filters::sort));
    add("unique", Bound::Sorted, Value::from_function(filters::unique));
    add("min", Bound::Sorted, Value::from_function(filters::min));
    add("max", Bound::Sorted, Value::from_function(filters::max));
    add("dictsort", Bound::Sorted, Value::from_function(filters::dictsort));
    add("groupby", Bound::Sorted, Value::from_function(groupby));
}

fn register_tests(environment: &mut Environment<'static>) {
    let mut add = |names: &[&'static str], test: Value| {
        for name in names {
            let test = test.clone();
            environment.add_test(
                *name,
                move |state: &mut State<'_, '_>, value: Value, rest: Rest<ValueOrKwargs>| {
                    let all: Vec<_> = std::iter::once(value).chain(rest.into_values()).collect();
                    let read = all.iter().map(data::weight).fold(0, usize::saturating_add);
                    Budget::of(state)?.work(read)?;
                    test.call(state, &all).map(|holds| holds.is_true())
                },
            );
        }
    };
    add(&["undefined"], Value::from_function(tests::is_undefined));
    add(&["defined"], Value::from_function(tests::is_defined));
    add(&["none"], Value::from_function(tests::is_none));
    add(&["safe", "escaped"], Value::from_function(tests::is_safe));
    add(&["boolean"], Value::from_function(tests::is_boolean));
    add(&["odd"], Value::from_function(tests::is_odd));
    add(&["even"], Value::from_function(tests::is_even));
    add(&["divisibleby"], Value::from_function(tests::is_divisibleby));
    add(&["number"], Value::from_function(tests::is_number));
    add(&["integer", "int"], Value::from_function(tests::is_integer));
    add(&["float"], Value::from_function(tests::is_float));
    add(&["string"], Value::from_function(tests::is_string));
    add(&["sequence"], Value::from_function(tests::is_sequence));
    add(&["iterable"], Value::from_function(tests::is_iterable));
    add(&["mapping"], Value::from_function(tests::is_mapping));
    add(&["startingwith"], Value::from_function(tests::is_startingwith));
    add(&["endingwith"], Value::from_function(tests::is_endingwith));
    add(&["lower"], Value::from_function(tests::is_lower));
    add(&["upper"], Value::from_function(tests::is_upper));
    add(&["sameas"], Value::from_function(tests::is_sameas));
    add(&["eq", "equalto", "=="], Value::from_function(tests::is_eq));
    add(&["ne", "!="], Value::from_function(tests::is_ne));
    add(&["lt", "lessthan", "<"], Value::from_function(tests::is_lt));
    add(&["le", "<="], Value::from_function(tests::is_le));
    add(&["gt", "greaterthan", ">"], Value::from_function(tests::is_gt));
    add(&["ge", ">="], Value::from_function(tests::is_ge));
    add(&["in"], Value::from_function(is_in));
    add(&["true"], Value::from_function(tests::is_true));
    add(&["false"], Value::from_function(tests::is_false));
    add(&["filter"], Value::from_function(tests::is_filter));
    add(&["test"], Value::from_function(tests::is_test));
}

/// The engine's own test writes what is looked for as text.
fn is_in(state: &State<'_, '_>, value: &Value, other: &Value) -> Result<bool, Error> {
    let budget = Budget::of(state)?;
    if value.as_str().is_none() {
        budget.check_room(text_length(value, budget.room()))?;
    }
    tests::is_in(state, value, other)
}

fn escaped(value: &Value, _: &[Value]) -> Option<usize> {
    let Some(text) = value.as_str() else { return text(value)?.checked_mul(6) };
    let special = |byte: &u8| matches!(byte, b'<' | b'>' | b'&' | b'"' | b'\'' | b'/');
    text.bytes().filter(special).count().checked_mul(5)?.checked_add(text.len())
}

fn replaced(value: &Value, arguments: &[Value]) -> Option<usize> {
    let as_text = |value: &Value| text(value).map(|_| value.to_string());
    let value = as_text(value)?;
    let from = arguments.first().map_or(Some(String::new()), as_text)?;
    let to = arguments.get(1).map_or(Some(0), text)?;
    let more = value.matches(&from).count().checked_mul(to)?;
    more.checked_add(value.len())
}

fn indented(value: &Value, arguments: &[Value]) -> Option<usize> {
    let length = text(value)?;
    let lines = match value.as_str() {
        Some(text) => text.lines().count(),
        None => length,
    };
    largest(arguments).max(4).checked_mul(lines.max(1))?.checked_add(length)
}

fn joined(value: &Value, arguments: &[Value]) -> Option<usize> {
    let mut length: usize = 0;
    if data::weight(value) <= MAX_VALUE_BYTES {
        length = data::weight(value);
    } else {
        for item in value.try_iter().ok()? {
            length = length.checked_add(text(&item)?)?;
            if length > MAX_VALUE_BYTES {
                return None;
            }
        }
    }
    let joiner = arguments.iter().map(|argument| match argument.kind() {
        // The named arguments.
        ValueKind::Map => Some(data::weight(argument).max(named_text(argument))),
        _ => text(argument),
    });
    let joiner = joiner.collect::<Option<Vec<_>>>()?.into_iter().max().unwrap_or(0);
    items(value).checked_mul(joiner)?.checked_add(length)
}

fn pieces(value: &Value, arguments: &[Value]) -> Option<usize> {
    let Some(text) = value.as_str() else { return Some(0) };
    let pieces = match arguments.first().and_then(Value::as_str) {
        Some(separator) => text.matches(separator).count(),
        None => text.split_whitespace().count(),
    };
    (pieces + 1).checked_mul(2 * ITEM)?.checked_add(text.len())
}

fn lines(value: &Value, _: &[Value]) -> Option<usize> {
    let Some(text) = value.as_str() else { return Some(0) };
    (text.lines().count() + 1).checked_mul(2 * ITEM)?.checked_add(text.len())
}

fn json(value: &Value, arguments: &[Value]) -> Option<usize> {
    let indent = largest(arguments);
    let indent = if indent == 0 && !arguments.is_empty() { 2 } else { indent };
    if indent > MAX_INDENT {
        return None;
    }
    json_length(value, indent, MAX_VALUE_BYTES)
}

/// The size of the lists that `batch` and `slice` make.
fn filled(value: &Value, arguments: &[Value]) -> Option<usize> {
    let count = largest(arguments);
    if count > MAX_ITEMS {
        return None;
    }
    items(value).checked_add(count)?.checked_mul(3 * ITEM)
}

fn reversed(value: &Value, _: &[Value]) -> Option<usize> {
    match value.as_str() {
        Some(text) => Some(text.len()),
        None => items(value).checked_mul(ITEM),
    }
}

/// The largest number among the arguments, named ones included.
fn largest(arguments: &[Value]) -> usize {
    let number = |value: &Value| match value.kind() {
        ValueKind::Number => value.as_usize().unwrap_or(usize::MAX),
        _ => 0,
    };
    let in_map = |value: &Value| fields(value).map(|field| number(&field)).max().unwrap_or(0);
    arguments.iter().map(|value| number(value).max(in_map(value))).max().unwrap_or(0)
}

/// The longest text among named arguments.
fn named_text(arguments: &Value) -> usize {
    fields(arguments).map(|field| text(&field).unwrap_or(usize::MAX)).max().unwrap_or(0)
}

fn fields(value: &Value) -> impl Iterator<Item = Value> {
    let keys = (value.kind() == ValueKind::Map).then(|| value.try_iter().ok()).flatten();
    let value = value.clone();
    keys.into_iter().flatten().filter_map(move |key| value.get_item(&key).ok())
}

/// The engine's own filter copies a list.
fn list(state: &State<'_, '_>, value: Value) -> Result<Value, Error> {
    if data::is_list(&value) {
        return Ok(value);
    }
    Budget::of(state)?.check_room(items(&value).checked_mul(ITEM))?;
    filters::list(state, value)
}

/// The engine's own filter copies a list to turn it around.
fn last(value: Value) -> Result<Value, Error> {
    match value.len().filter(|_| value.as_str().is_none()) {
        Some(0) => Ok(Value::UNDEFINED),
        Some(length) if value.kind() == ValueKind::Seq => value.get_item_by_index(length - 1),
        _ => filters::last(value),
    }
}

/// The engine's own filter also joins texts and lists, one by one.
fn sum(
    state: &State<'_, '_>,
    values: Value,
    attribute: Option<&str>,
    start: Option<Value>,
    kwargs: Kwargs,
) -> Result<Value, Error> {
    let named: Option<Value> = kwargs.get("start")?;
    if start.iter().chain(&named).any(|start| start.kind() != ValueKind::Number) {
        let message = "`sum` adds numbers; use `join` for texts and `+` for lists";
        return Err(Error::new(ErrorKind::InvalidOperation, message));
    }
    filters::sum(state, values, attribute, start, kwargs)
}

/// The engine's own filter keeps the lists that it joins.
fn chain(state: &State<'_, '_>, value: Value, others: Rest<Value>) -> Result<Value, Error> {
    let budget = Budget::of(state)?;
    let all = || std::iter::once(&value).chain(others.iter());
    let maps = all().all(|value| value.kind() == ValueKind::Map);
    let mut items = Vec::new();
    let mut merged = std::collections::BTreeMap::new();
    for one in all() {
        for item in one.try_iter()? {
            budget.charge(2 * ITEM)?;
            if maps {
                let field = one.get_item(&item)?;
                merged.insert(item, field);
            } else {
                items.push(item);
            }
        }
    }
    if maps { data::map(merged) } else { data::list(items, Shape::List) }
}

/// The items of the lists in a list; what is no list stays as it is.
fn flatten(state: &State<'_, '_>, value: Value) -> Result<Value, Error> {
    let budget = Budget::of(state)?;
    let mut items = Vec::new();
    for one in value.try_iter()? {
        if !data::is_list(&one) {
            budget.charge(ITEM)?;
            items.push(one);
            continue;
        }
        for item in one.try_iter()? {
            budget.charge(ITEM)?;
            items.push(item);
        }
    }
    data::list(items, Shape::List)
}

/// A map without one of its keys.
fn omit(state: &State<'_, '_>, value: Value, name: &str) -> Result<Value, Error> {
    let budget = Budget::of(state)?;
    let mut kept = std::collections::BTreeMap::new();
    for key in value.try_iter()?.filter(|key| key.as_str() != Some(name)) {
        budget.charge(ITEM)?;
        let field = value.get_item(&key)?;
        kept.insert(key, field);
    }
    data::map(kept)
}

fn groupby(
    state: &State<'_, '_>,
    value: Value,
    attribute: Option<&str>,
    kwargs: Kwargs,
) -> Result<Value, Error> {
    let budget = Budget::of(state)?;
    let groups = filters::groupby(value, attribute, kwargs)?;
    let mut made = Vec::new();
    for group in groups.try_iter()? {
        budget.charge(4 * ITEM)?;
        let of_group = data::adopt(group.get_item_by_index(1)?, Texts::Shared, &budget)?;
        made.push(data::list(vec![group.get_item_by_index(0)?, of_group], Shape::Group)?);
    }
    data::list(made, Shape::List)
}

fn range(
    state: &State<'_, '_>,
    lower: isize,
    upper: Option<isize>,
    step: Option<isize>,
) -> Result<Value, Error> {
    const LARGEST: usize = 1 << 53;
    let given = [Some(lower), upper, step];
    if given.iter().flatten().any(|number| number.unsigned_abs() > LARGEST) {
        let message = "the numbers of a range are too large";
        return Err(Error::new(ErrorKind::InvalidOperation, message));
    }
    data::adopt(functions::range(lower, upper, step)?, Texts::Shared, &Budget::of(state)?)
}

fn dict(state: &State<'_, '_>, value: Option<Value>, kwargs: Kwargs) -> Result<Value, Error> {
    let budget = Budget::of(state)?;
    let count = value.as_ref().map_or(0, items);
    budget.check_room(count.checked_mul(4 * ITEM))?;
    data::adopt(functions::dict(value, kwargs)?, Texts::Shared, &budget)
}

fn namespace(state: &State<'_, '_>, defaults: Option<ValueOrKwargs>) -> Result<Value, Error> {
    let budget = Budget::of(state)?;
    budget.charge(ITEM)?;
    let defaults = defaults.map(ValueOrKwargs::into_value);
    for field in defaults.iter().flat_map(fields) {
        budget.charge(ITEM)?;
        data::check_storable(&field)?;
    }
    functions::namespace(defaults.map(ValueOrKwargs::from))
}

/// Pays for what a template writes.
pub(super) fn pay_for_output(state: &State<'_, '_>, value: &Value) -> Result<(), Error> {
    pay_for_text(value, &Budget::of(state)?)
}
