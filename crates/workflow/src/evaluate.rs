//! The templates and expressions of a DAG: what they refer to, and their values. Outputs are values, never templates.

mod resolve;
pub(crate) mod scan;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock, OnceLock};

use minijinja::syntax::SyntaxConfig;
use minijinja::value::Kwargs;
use minijinja::{Error, ErrorKind, Value as TemplateValue};
use prompts::template::{self, Engine, TemplateError, TemplateErrorKind, UndefinedBehavior};
use proto::PromptRef;
use serde_json::{Map, Value, json};

use crate::Task;
use scan::{Reference, Scan, is_template, scan_expression, scan_template};

/// Steps of the template engine for one text.
const FUEL: u64 = 50_000;

/// The longest template, and the longest text or value that one makes. A plain path may name a larger value.
pub const MAX_TEMPLATE_BYTES: usize = 64 * 1024;

/// The most prompts that one template renders.
const MAX_PROMPTS: usize = 20;

/// The one template engine, with the limits of workflows.
pub(crate) static ENGINE: LazyLock<Engine> = LazyLock::new(|| {
    Engine::new(FUEL, UndefinedBehavior::Strict).customize(|engine| {
        if let Ok(syntax) = SyntaxConfig::builder().keep_trailing_newline(true).build() {
            engine.set_syntax(syntax);
        }
    })
});

/// What templates see when a task is prepared.
#[derive(Clone, Default)]
pub struct Scope {
    pub tasks: Arc<HashMap<String, TaskValue>>,
    /// The item of `for_each`, and its position.
    pub item: Option<Arc<Value>>,
    pub index: Option<usize>,
    /// The arguments of the task that holds the sub-workflow.
    pub input: Option<Arc<Value>>,
    pub prompts: Option<Arc<prompts::Snapshot>>,
}

impl Scope {
    /// The same scope for one item of `for_each`.
    #[must_use]
    pub fn with_item(&self, index: usize, item: Value) -> Self {
        Self { item: Some(Arc::new(item)), index: Some(index), ..self.clone() }
    }
}

/// What templates see of a task that has ended.
pub struct TaskValue {
    output: Arc<Value>,
    status: String,
    error: Option<Value>,
    /// For the template engine; made at most once, because outputs may be large.
    converted: OnceLock<TemplateValue>,
}

impl TaskValue {
    /// `status` is `success`, `failed` or `skipped`; the output of a task without one is null.
    pub fn new(output: Arc<Value>, status: impl Into<String>, error: Option<Value>) -> Self {
        Self { output, status: status.into(), error, converted: OnceLock::new() }
    }

    fn convert(&self) -> TemplateValue {
        let convert = || {
            let fields = [
                ("output", template::value(&self.output)),
                ("status", TemplateValue::from(self.status.as_str())),
                ("error", template::value(self.error.as_ref().unwrap_or(&Value::Null))),
            ];
            TemplateValue::from(BTreeMap::from(fields))
        };
        self.converted.get_or_init(convert).clone()
    }
}

/// Why a template has no value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{path}: {message}")]
pub struct EvaluationError {
    /// A JSON Pointer into the task.
    pub path: String,
    pub message: String,
}

/// The tasks that a task's arguments, `when` and `for_each` refer to.
pub fn references(task: &Task) -> BTreeSet<String> {
    let mut names = references_in(&task.arguments);
    for expression in task.when.iter() {
        collect(&scan_condition(expression), &mut names);
    }
    match &task.for_each {
        Some(Value::String(expression)) => collect(&scan_condition(expression), &mut names),
        Some(items) => visit_texts(items, "", &mut |_, text| collect(&scan_text(text), &mut names)),
        None => {}
    }
    names
}

/// The tasks that arguments refer to: those of a task, or of its `compensate`.
pub fn references_in(arguments: &Map<String, Value>) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for value in arguments.values() {
        visit_texts(value, "", &mut |_, text| collect(&scan_text(text), &mut names));
    }
    names
}

fn collect(scan: &Scan, names: &mut BTreeSet<String>) {
    names.extend(scan.references.iter().filter_map(Reference::task).map(ToOwned::to_owned));
}

/// Fills in the templates in arguments; `path` is their JSON Pointer in the task, for errors.
pub fn arguments(
    arguments: &Map<String, Value>,
    scope: &Scope,
    path: &str,
) -> Result<Map<String, Value>, EvaluationError> {
    let mut evaluator = Evaluator { scope, values: OnceLock::new() };
    let mut filled = Map::new();
    for (name, value) in arguments {
        filled.insert(name.clone(), evaluator.fill(value, &step_into(path, name))?);
    }
    Ok(filled)
}

/// Whether a task's `when` holds.
pub fn condition(expression: &str, scope: &Scope) -> Result<bool, EvaluationError> {
    let evaluator = Evaluator { scope, values: OnceLock::new() };
    let scan = scan_condition(expression);
    let source = scan.whole.as_deref().unwrap_or(&scan.source);
    check_length(expression, "/when")?;
    ENGINE
        .test(source, evaluator.values())
        .map_err(|error| evaluator.explain(&error, &scan, "/when"))
}

/// The items of a task's `for_each`.
pub fn items(for_each: &Value, scope: &Scope) -> Result<Vec<Value>, EvaluationError> {
    let mut evaluator = Evaluator { scope, values: OnceLock::new() };
    let path = "/for_each";
    let refuse = |message: String| EvaluationError { path: path.to_owned(), message };
    let found = match for_each {
        Value::String(expression) => {
            check_length(expression, path)?;
            evaluator.value(&scan_condition(expression), path)?
        }
        list => evaluator.fill(list, path)?,
    };
    match found {
        Value::Array(items) => Ok(items),
        other => Err(refuse(format!("for_each takes a list, not {}", describe(&other)))),
    }
}

/// An expression, with or without braces around it.
pub(crate) fn scan_condition(expression: &str) -> Scan {
    let trimmed = expression.trim();
    if trimmed.starts_with("{{") {
        let scan = scan_template(trimmed);
        if scan.whole.is_some() {
            return scan;
        }
    }
    scan_expression(expression)
}

fn scan_text(text: &str) -> Scan {
    if is_template(text) { scan_template(text) } else { Scan::default() }
}

/// Calls `visit` with the JSON Pointer and the text of every text in a value.
pub(crate) fn visit_texts(value: &Value, path: &str, visit: &mut dyn FnMut(&str, &str)) {
    match value {
        Value::String(text) => visit(path, text),
        Value::Array(items) => {
            for (at, item) in items.iter().enumerate() {
                visit_texts(item, &format!("{path}/{at}"), visit);
            }
        }
        Value::Object(fields) => {
            for (name, field) in fields {
                visit_texts(field, &step_into(path, name), visit);
            }
        }
        _ => {}
    }
}

/// The JSON Pointer of a field.
pub(crate) fn step_into(path: &str, field: &str) -> String {
    format!("{path}/{}", field.replace('~', "~0").replace('/', "~1"))
}

fn check_length(text: &str, path: &str) -> Result<(), EvaluationError> {
    if text.len() <= MAX_TEMPLATE_BYTES {
        return Ok(());
    }
    let message =
        format!("the template has {} bytes; {MAX_TEMPLATE_BYTES} are allowed", text.len());
    Err(EvaluationError { path: path.to_owned(), message })
}

pub(crate) fn describe(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(_) => "a boolean".to_owned(),
        Value::Number(_) => "a number".to_owned(),
        Value::String(_) => "a text".to_owned(),
        Value::Array(items) if items.len() == 1 => "a list of 1 item".to_owned(),
        Value::Array(items) => format!("a list of {} items", items.len()),
        Value::Object(_) => "an object".to_owned(),
    }
}

struct Evaluator<'a> {
    scope: &'a Scope,
    /// The scope for the template engine; plain paths do not need it.
    values: OnceLock<TemplateValue>,
}

impl Evaluator<'_> {
    /// A copy of a value with its templates filled in.
    fn fill(&mut self, value: &Value, path: &str) -> Result<Value, EvaluationError> {
        match value {
            Value::String(text) if is_template(text) => {
                check_length(text, path)?;
                let scan = scan_template(text);
                if scan.whole.is_some() {
                    return self.value(&scan, path);
                }
                ENGINE
                    .render(&scan.source, self.values(), MAX_TEMPLATE_BYTES)
                    .map(Value::String)
                    .map_err(|error| self.explain(&error, &scan, path))
            }
            Value::Array(items) => {
                let filled = items.iter().enumerate();
                let filled = filled.map(|(at, item)| self.fill(item, &format!("{path}/{at}")));
                filled.collect::<Result<Vec<_>, _>>().map(Value::Array)
            }
            Value::Object(fields) => {
                let filled = fields.iter().map(|(name, field)| {
                    let field = self.fill(field, &step_into(path, name))?;
                    Ok((name.clone(), field))
                });
                filled.collect::<Result<Map<_, _>, _>>().map(Value::Object)
            }
            plain => Ok(plain.clone()),
        }
    }

    /// The value of an expression.
    fn value(&self, scan: &Scan, path: &str) -> Result<Value, EvaluationError> {
        if let [reference] = scan.references.as_slice()
            && reference.alone
        {
            return self.scope.resolve(reference).map_err(|missing| EvaluationError {
                path: path.to_owned(),
                message: missing.to_string(),
            });
        }
        let source = scan.whole.as_deref().unwrap_or(&scan.source);
        ENGINE
            .evaluate(source, self.values(), MAX_TEMPLATE_BYTES)
            .map_err(|error| self.explain(&error, scan, path))
    }

    fn values(&self) -> TemplateValue {
        self.values.get_or_init(|| self.scope.values()).clone()
    }

    /// Names the path that has no value, which the engine does not.
    fn explain(&self, error: &TemplateError, scan: &Scan, path: &str) -> EvaluationError {
        let missing = || scan.references.iter().find_map(|one| self.scope.resolve(one).err());
        let message = match (error.kind, missing()) {
            (TemplateErrorKind::Undefined, Some(missing)) => missing.to_string(),
            // An operator may have met the missing value.
            (TemplateErrorKind::Other, Some(missing)) => format!("{missing}; {}", error.message),
            _ => error.message.clone(),
        };
        EvaluationError { path: path.to_owned(), message }
    }
}

impl Scope {
    /// The names of this scope for the template engine.
    fn values(&self) -> TemplateValue {
        let tasks = self.tasks.iter().map(|(id, task)| (id.as_str(), task.convert()));
        let tasks: BTreeMap<_, _> = tasks.collect();
        let mut names = BTreeMap::from([("tasks", TemplateValue::from(tasks))]);
        names.extend(self.item.as_ref().map(|item| ("item", template::value(item))));
        names.extend(self.index.map(|index| ("index", TemplateValue::from(index))));
        names.extend(self.input.as_ref().map(|input| ("input", template::value(input))));
        if let Some(prompts) = &self.prompts {
            names.insert("prompt", prompt_function(Arc::clone(prompts)));
        }
        TemplateValue::from(names)
    }
}

/// `prompt("domain/name@1", argument=…)`: the text of a prompt.
fn prompt_function(prompts: Arc<prompts::Snapshot>) -> TemplateValue {
    let used = AtomicUsize::new(0);
    TemplateValue::from_function(move |name: String, given: Kwargs| {
        let fail = |message: String| Error::new(ErrorKind::InvalidOperation, message);
        if used.fetch_add(1, Ordering::Relaxed) >= MAX_PROMPTS {
            return Err(fail(format!("a template renders at most {MAX_PROMPTS} prompts")));
        }
        let reference: PromptRef =
            name.parse().map_err(|_| fail(format!("`{name}` is not the name of a prompt")))?;
        let mut arguments = Map::new();
        for argument in given.args() {
            let value: TemplateValue = given.get(argument)?;
            let value = serde_json::to_value(&value).unwrap_or(Value::Null);
            arguments.insert(argument.to_owned(), value);
        }
        let prompt = prompts.get(&reference).map_err(|error| fail(error.to_string()))?;
        prompt.render(&json!(arguments)).map_err(|error| fail(error.to_string()))
    })
}

impl fmt::Debug for TaskValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TaskValue").field("status", &self.status).finish_non_exhaustive()
    }
}
