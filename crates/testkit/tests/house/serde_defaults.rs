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
const REASONS: [&str; 2] = ["// cannot fail: ", MAY_FAIL];
pub(crate) const MAY_FAIL: &str = "// may fail: ";

/// The crates that decide by what is stored: what is damaged must not look like what is absent.
pub(crate) const STORED: [&str; 5] = ["approvals", "dag", "runs", "store", "workflow"];

/// The only reasons in those crates for a stored value that cannot be read.
pub(crate) const STORED_MAY_FAIL: [&str; 1] =
    ["the decision is audited even if the trace of its call cannot be read."];

/// The lines of a source file that replace an error of serde by a default and give no reason.
pub(crate) fn silent_defaults(code: &str) -> Vec<usize> {
    lines_of_calls(code, &CONVERSIONS, |call| drops_error(call.after, false))
}

/// The lines of a file in one of the crates [`STORED`] that make a damaged value an absent one: by `ok()` or a default, also
/// in the next statement, or by `if let Ok(…)`. Texts that are parsed count if they are a row's.
pub(crate) fn hidden_damage(code: &str) -> Vec<usize> {
    let calls: Vec<&str> = CONVERSIONS.into_iter().chain([".parse(", ".parse::<"]).collect();
    lines_of_calls(code, &calls, |call| {
        let is_stored = !call.name.starts_with(".parse") || call.head.contains("row.");
        let is_condition = ["if let Ok(", "&& let Ok("].iter().any(|test| call.head.contains(test));
        is_stored && (is_condition || drops_error(call.after, true) || drops_later(call))
    })
}

/// A call in a source file.
struct Call<'a> {
    name: &'a str,
    /// The statement up to the call, or the part of it since the last brace.
    head: &'a str,
    /// What follows the arguments.
    after: &'a str,
}

/// The lines of the calls that are checked, without those that have a reason.
fn lines_of_calls(code: &str, calls: &[&str], is_checked: impl Fn(&Call) -> bool) -> Vec<usize> {
    let mut lines: Vec<usize> = calls
        .iter()
        .flat_map(|name| code.match_indices(name))
        .filter_map(|(start, name)| {
            let before = &code[..start];
            let head = &before[before.rfind([';', '{', '}']).map_or(0, |end| end + 1)..];
            // The name may go on, and have type arguments.
            let open = start + name.len() - 1 + code[start + name.len() - 1..].find('(')?;
            let after = &code[end_of_group(code, open)?..];
            is_checked(&Call { name, head, after }).then_some(start)
        })
        .filter(|start| !has_reason(&code[..*start]))
        .map(|start| code[..start].matches('\n').count() + 1)
        .collect();
    lines.sort_unstable();
    lines.dedup();
    lines
}

/// Whether the methods that follow a call replace its error. An `ok()` that ends the function, or is followed by `?`, hands
/// the absence to the caller, which is no excuse in a `strict` crate.
fn drops_error(mut rest: &str, strict: bool) -> bool {
    let mut absent = false;
    loop {
        rest = rest.trim_start();
        let Some(method) = rest.strip_prefix('.') else {
            return absent && (strict || !rest.starts_with(['?', '}']));
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

/// Whether a result that a `let` names loses its error in the next statement.
fn drops_later(call: &Call) -> bool {
    let Some((rest, next)) = call.after.split_once(';') else { return false };
    let Some((_, name)) = call.head.rsplit_once("let ") else { return false };
    let name = name.trim_start_matches("mut ");
    let name = name.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or("");
    if name.is_empty() || rest.contains('?') {
        return false;
    }
    let next = next.split_once(';').map_or(next, |(next, _)| next);
    let begins_word = |at: usize| !next[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_');
    let mut uses = next.match_indices(name).filter(|(at, _)| begins_word(*at));
    uses.any(|(at, _)| drops_error(&next[at + name.len()..], true))
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

#[test]
fn damage_that_would_look_like_absence_is_found() {
    let code = r#"
        let a: Option<Plan> = serde_json::from_str(&row.dag).ok();
        let b = serde_json::from_slice::<Map>(&bytes).ok()?;
        let parsed = strip::run_blocking(1, || serde_json::from_slice(&bytes));
        let c = parsed.unwrap_or_else(|_| text.into());
        if let Ok(d) = serde_json::from_str::<Value>(&row.data) { show(d) }
        let attempt = row.attempt.parse().unwrap_or(1);
        fn f(row: &Row) -> Option<Note> { serde_json::from_str(&row.note).ok() }
        // cannot fail: two plain fields.
        let g = serde_json::from_str(text).unwrap_or_default();
        let h = snapshot.map(|row| serde_json::from_str::<Last>(&row.data));
        let h = h.transpose().map_err(damaged)?.unwrap_or_default();
        let limit: Option<u32> = serde_json::from_str(&row.limit)?;
        let limit = limit.unwrap_or(50);
        let Ok(k) = serde_json::from_str(&row.state) else { return Err(damaged(&row)) };
        let port = given.parse().unwrap_or(0);
        let m = serde_json::from_str(&row.dag).map_err(damaged)?;
    "#;
    assert_eq!(hidden_damage(code), [2, 3, 4, 6, 7, 8]);
}
