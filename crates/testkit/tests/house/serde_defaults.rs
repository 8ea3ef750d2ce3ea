//! Finds results of serde whose error is replaced by a default without a word: a damaged row must not look like an empty one.

/// Calls that turn a value into JSON or JSON into a value.
const CONVERSIONS: [&str; 5] = [
    "serde_json::from_",
    "serde_json::to_",
    "::deserialize(",
    "to_raw_value(",
    "RawValue::from_string(",
];

/// Methods that replace an error by a value.
const DEFAULTS: [&str; 4] = ["unwrap_or", "unwrap_or_default", "unwrap_or_else", "map_or"];

/// Comments on the line before that say why a default is right.
const REASONS: [&str; 2] = ["// cannot fail: ", "// may fail: "];

/// The lines of a source file that replace an error of serde by a default and give no reason.
pub(crate) fn silent_defaults(code: &str) -> Vec<usize> {
    let mut lines: Vec<usize> = CONVERSIONS
        .iter()
        .flat_map(|call| code.match_indices(call))
        .filter_map(|(start, call)| {
            // The name may go on, and have type arguments.
            let open = start + call.len() - 1 + code[start + call.len() - 1..].find('(')?;
            drops_error(&code[end_of_group(code, open)?..]).then_some(start)
        })
        .filter(|start| !has_reason(&code[..*start]))
        .map(|start| code[..start].matches('\n').count() + 1)
        .collect();
    lines.sort_unstable();
    lines.dedup();
    lines
}

/// Whether the methods that follow a call replace its error. An `ok()` that ends the function, or is followed by `?`, hands
/// the absence to the caller.
fn drops_error(mut rest: &str) -> bool {
    let mut absent = false;
    loop {
        rest = rest.trim_start();
        let Some(method) = rest.strip_prefix('.') else {
            return absent && !rest.starts_with(['?', '}']);
        };
        let name = method.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or("");
        if DEFAULTS.contains(&name) {
            return true;
        }
        absent |= name == "ok";
        let end = method.find('(').and_then(|open| end_of_group(method, open));
        let Some(end) = end else { return false };
        rest = &method[end..];
    }
}

/// The end of the group that the parenthesis at `open` begins.
fn end_of_group(code: &str, open: usize) -> Option<usize> {
    let (mut depth, mut in_text, mut escaped) = (0_usize, false, false);
    for (at, character) in code[open..].char_indices() {
        match character {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => in_text = !in_text,
            '(' | '[' | '{' if !in_text => depth += 1,
            ')' | ']' | '}' if !in_text => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return Some(open + at + 1);
                }
            }
            _ => {}
        }
    }
    None
}

/// Whether the comment before the line that ends `before` gives a reason.
fn has_reason(before: &str) -> bool {
    let comments =
        before.lines().rev().skip(1).map(str::trim).take_while(|line| line.starts_with("//"));
    comments.into_iter().any(|line| REASONS.iter().any(|reason| line.starts_with(reason)))
}

#[test]
fn only_errors_that_vanish_without_a_reason_are_found() {
    let code = r#"
        let a: Vec<File> = serde_json::from_str(&row.files).unwrap_or_default();
        let b = serde_json::from_str::<Plan>(text)
            .map(|plan| plan.tasks(")"))
            .unwrap_or(Value::Null);
        let c = Update { state: serde_json::to_string(&saved).ok(), phase };
        let d = row.and_then(|row| Note::deserialize(row).ok());
        // cannot fail: two plain fields.
        let e = serde_json::to_vec(&fields).unwrap_or_default();
        // may fail: a text that was cut
        // is shown as it is.
        let f = serde_json::from_str(text).unwrap_or(Value::String(text));
        let g = serde_json::from_str(text.unwrap_or_default()).map_err(damaged)?;
        let h = serde_json::from_slice(body).ok()?;
        let Ok(i) = serde_json::from_slice(body) else { return };
        // Some other comment.
        let j = serde_json::to_value(item).unwrap_or_default();
        fn k(text: &str) -> Option<Value> { serde_json::from_str(text).ok() }
    "#;
    assert_eq!(silent_defaults(code), [2, 3, 6, 7, 17]);
}
