//! The template engine of prompts and toolpacks, bounded: values come from callers, and no filter makes gigabytes of them.

use minijinja::value::{Rest, ValueKind, ValueOrKwargs};
use minijinja::{Environment, Error, ErrorKind, State, Value, filters};

/// The longest text that one of the filters makes.
const MAX_TEXT: usize = 16 << 20;

/// The most items that one of the filters makes.
const MAX_ITEMS: usize = 100_000;

/// The deepest indentation of JSON.
const MAX_INDENT: usize = 8;

/// An engine that stops after so many steps, and whose filters refuse results that are too large. Templates stand alone:
/// `include`, `import` and `extends` find nothing.
pub fn bounded_engine(fuel: u64) -> Environment<'static> {
    let mut engine = Environment::new();
    engine.set_fuel(Some(fuel));
    engine.set_recursion_limit(50);
    // It prints all there is, and `format` takes widths of any size.
    engine.remove_global("debug");
    engine.remove_filter("format");
    bound(&mut engine, "replace", Value::from_function(filters::replace), |value, arguments| {
        let text = |at: usize| arguments.get(at).map(ToString::to_string).unwrap_or_default();
        let value = value.to_string();
        let more = value.matches(&text(0)).count().checked_mul(text(1).len());
        fits(more.and_then(|more| more.checked_add(value.len())), MAX_TEXT)
    });
    bound(&mut engine, "indent", Value::from_function(filters::indent), |value, arguments| {
        let lines = value.to_string().lines().count();
        fits(largest(arguments).checked_mul(lines.max(1)), MAX_TEXT)
    });
    bound(&mut engine, "join", Value::from_function(filters::join), |value, arguments| {
        let joiner = arguments.iter().map(|argument| argument.to_string().len()).max();
        fits(value.len().unwrap_or(0).checked_mul(joiner.unwrap_or(0)), MAX_TEXT)
    });
    bound(&mut engine, "tojson", Value::from_function(filters::tojson), |_, arguments| {
        fits(Some(largest(arguments)), MAX_INDENT)
    });
    for (name, filter) in [
        ("batch", Value::from_function(filters::batch)),
        ("slice", Value::from_function(filters::slice)),
    ] {
        bound(&mut engine, name, filter, |_, arguments| fits(Some(largest(arguments)), MAX_ITEMS));
    }
    engine
}

/// Puts a check before a filter of the engine's own.
fn bound(
    engine: &mut Environment<'static>,
    name: &'static str,
    filter: Value,
    check: fn(&Value, &[Value]) -> bool,
) {
    let bounded = move |state: &mut State<'_, '_>, value: Value, rest: Rest<ValueOrKwargs>| {
        let arguments = rest.into_values();
        if !check(&value, &arguments) {
            let message = format!("the result of `{name}` is too large");
            return Err(Error::new(ErrorKind::WriteFailure, message));
        }
        let all: Vec<_> = std::iter::once(value).chain(arguments).collect();
        filter.call(state, &all)
    };
    engine.add_filter(name, bounded);
}

fn fits(size: Option<usize>, limit: usize) -> bool {
    size.is_some_and(|size| size <= limit)
}

/// The largest number among the arguments, named ones included.
fn largest(arguments: &[Value]) -> usize {
    let number = |value: &Value| match value.kind() {
        ValueKind::Number => value.as_usize().unwrap_or(usize::MAX),
        _ => 0,
    };
    let named = |value: &Value| -> usize {
        let keys = (value.kind() == ValueKind::Map).then(|| value.try_iter().ok()).flatten();
        let values = keys.into_iter().flatten().filter_map(|key| value.get_item(&key).ok());
        values.map(|value| number(&value)).max().unwrap_or(0)
    };
    arguments.iter().map(|value| number(value).max(named(value))).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use minijinja::context;

    use super::*;

    #[test]
    fn filters_make_no_gigabytes() {
        let engine = bounded_engine(10_000);
        let long = "ab".repeat(15_000);
        let list: Vec<_> = (0..10_000).collect();
        let given = context! { t => long, list => list, n => 2_000_000_000_u64 };
        for source in [
            "{{ t | replace('a', t) }}",
            "{{ t | replace('', t) }}",
            "{{ t | indent(n, true) }}",
            "{{ t | indent(width=n) }}",
            "{{ list | join(t) }}",
            "{{ list | tojson(n) }}",
            "{{ list | tojson(indent=n) }}",
            "{{ list | batch(n, 'x') | length }}",
            "{{ list | slice(n) | length }}",
            "{{ '%99999999d' | format(1) }}",
            "{{ t * n }}",
            "{{ range(n) | length }}",
        ] {
            assert!(engine.render_str(source, given.clone()).is_err(), "{source}");
        }
        for (source, made) in [
            ("{{ 'a-b' | replace('-', '+') }}", "a+b"),
            ("{{ 'a\\nb' | indent(2) }}", "a\n  b"),
            ("{{ [1, 2] | join(', ') }}", "1, 2"),
            ("{{ [{'a': 1}, {'a': 2}] | join('+', attribute='a') }}", "1+2"),
            ("{{ [1] | tojson }}", "[1]"),
            ("{{ [1] | tojson(indent=2) }}", "[\n  1\n]"),
            ("{{ [1, 2, 3] | batch(2) | length }}", "2"),
        ] {
            assert_eq!(engine.render_str(source, ()).ok().as_deref(), Some(made), "{source}");
        }
    }
}
