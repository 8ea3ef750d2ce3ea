//! The templates and expressions of a DAG: what they refer to, and their values. Outputs are values, never templates.

mod pointer;
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
use minijinja::{Error, ErrorKind, State, Value as TemplateValue};
use prompts::template::{
    self, Budget, Engine, MAX_DEPTH, TemplateError, TemplateErrorKind, UndefinedBehavior,
    is_shallow,
};
use proto::{PromptRef, canonical};
use serde_json::{Map, Value, json};

use crate::Task;
use crate::nesting::check_depth;
use scan::{Reference, Scan, is_template, scan_expression, scan_template};

pub(crate) use pointer::Pointer;

/// Steps of the template engine for one text.
const FUEL: u64 = 50_000;

/// The longest template, and the longest text that one makes.
pub const MAX_TEMPLATE_BYTES: usize = 64 * 1024;

/// The largest value that an expression makes. A plain path may name a larger one.
const MAX_EXPRESSION_BYTES: usize = 384 * 1024;

/// The most bytes of values that the plain paths of a task copy.
const MAX_COPIED_BYTES: usize = 16 << 20;

/// The most bytes that the values of a scope take in the template engine.
const MAX_READ_BYTES: usize = 128 << 20;

/// The most prompts that one template renders.
const MAX_PROMPTS: usize = 20;

/// The one template engine, with the limits of workflows.
pub(crate) static ENGINE: LazyLock<Engine> = LazyLock::new(|| {
    let engine = Engine::new(FUEL, UndefinedBehavior::Strict).expressions_only();
    match SyntaxConfig::builder().keep_trailing_newline(true).build() {
        Ok(syntax) => engine.with_syntax(syntax),
        Err(_) => engine,
    }
});

/// A value as the argument of a task that has this very value: its texts are no templates.
pub fn literal(value: &Value) -> Value {
    match value {
        Value::String(text) if is_template(text) => {
            format!("{{{{ {} }}}}", Value::from(text.as_str())).into()
        }
        Value::Array(items) => Value::Array(items.iter().map(literal).collect()),
        Value::Object(fields) => Value::Object(
            fields.iter().map(|(name, field)| (name.clone(), literal(field))).collect(),
        ),
        other => other.clone(),
    }
}

/// The refusal of `{% … %}`.
pub(crate) const NO_STATEMENTS: &str =
    "statements (`{% … %}`) are not allowed in a workflow; use expressions (`{{ … }}`)";

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
            template::record(fields)
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

impl EvaluationError {
    fn new(path: &Pointer<'_>, message: impl Into<String>) -> Self {
        Self { path: path.to_string(), message: message.into() }
    }
}

/// The tasks that a task's arguments, `when` and `for_each` refer to.
pub fn references(task: &Task) -> BTreeSet<String> {
    let mut names = references_in(&task.arguments);
    for expression in task.when.iter() {
        collect(&scan_condition(expression), &mut names);
    }
    match &task.for_each {
        Some(Value::String(expression)) => collect(&scan_condition(expression), &mut names),
        Some(items) => visit_texts(items, &mut |text| collect(&scan_text(text), &mut names)),
        None => {}
    }
    names
}

/// The tasks that arguments refer to: those of a task, or of its `compensate`.
pub fn references_in(arguments: &Map<String, Value>) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for value in arguments.values() {
        visit_texts(value, &mut |text| collect(&scan_text(text), &mut names));
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
    let mut evaluator = Evaluator::new(scope);
    let mut filled = Map::new();
    let path = Pointer::Start(path);
    for (name, value) in arguments {
        let path = Pointer::Field(&path, name);
        filled.insert(name.clone(), evaluator.fill_whole(value, &path)?);
    }
    Ok(filled)
}

/// Whether a task's `when` holds.
pub fn condition(expression: &str, scope: &Scope) -> Result<bool, EvaluationError> {
    let path = &Pointer::Start("/when");
    check_length(expression, path)?;
    let mut evaluator = Evaluator::new(scope);
    let scan = scan_condition(expression);
    let source = scan.whole.as_deref().unwrap_or(&scan.source);
    let (values, budget) = evaluator.begin(path)?;
    ENGINE.test(source, values, &budget).map_err(|error| evaluator.explain(&error, &scan, path))
}

/// The items of a task's `for_each`.
pub fn items(for_each: &Value, scope: &Scope) -> Result<Vec<Value>, EvaluationError> {
    let mut evaluator = Evaluator::new(scope);
    let path = &Pointer::Start("/for_each");
    let found = match for_each {
        Value::String(expression) => {
            check_length(expression, path)?;
            evaluator.value(&scan_condition(expression), path)?
        }
        list => evaluator.fill_whole(list, path)?,
    };
    match found {
        Value::Array(items) => Ok(items),
        other => {
            let message = format!("for_each takes a list, not {}", describe(&other));
            Err(EvaluationError::new(path, message))
        }
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

/// Calls `visit` with every text in a value.
fn visit_texts(value: &Value, visit: &mut dyn FnMut(&str)) {
    match value {
        Value::String(text) => visit(text),
        Value::Array(items) => items.iter().for_each(|item| visit_texts(item, visit)),
        Value::Object(fields) => fields.values().for_each(|field| visit_texts(field, visit)),
        _ => {}
    }
}

/// The JSON Pointer of a field.
pub fn step_into(path: &str, field: &str) -> String {
    Pointer::Field(&Pointer::Start(path), field).to_string()
}

fn check_length(text: &str, path: &Pointer<'_>) -> Result<(), EvaluationError> {
    if text.len() <= MAX_TEMPLATE_BYTES {
        return Ok(());
    }
    let message =
        format!("the template has {} bytes; {MAX_TEMPLATE_BYTES} are allowed", text.len());
    Err(EvaluationError::new(path, message))
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

/// Evaluates the templates of one task, with one budget for all of them.
struct Evaluator<'a> {
    scope: &'a Scope,
    /// The scope for the template engine, and the budget; plain paths do not need them.
    engine: Option<(TemplateValue, Budget)>,
    /// The bytes that plain paths may still copy.
    left: usize,
}

impl<'a> Evaluator<'a> {
    fn new(scope: &'a Scope) -> Self {
        Self { scope, engine: None, left: MAX_COPIED_BYTES }
    }

    /// The values and the budget of the template engine. The conversion of the values is not part of the budget.
    fn begin(&mut self, path: &Pointer<'_>) -> Result<(TemplateValue, Budget), EvaluationError> {
        if let Some((values, budget)) = &self.engine {
            return Ok((values.clone(), budget.clone()));
        }
        let values = self.scope.values();
        let values = values.map_err(|message| EvaluationError::new(path, message))?;
        Ok(self.engine.insert((values, Budget::new())).clone())
    }

    /// A copy of an argument or a list with its templates filled in, which must be readable once it is stored.
    fn fill_whole(&mut self, value: &Value, path: &Pointer<'_>) -> Result<Value, EvaluationError> {
        let filled = self.fill(value, path)?;
        check_depth(&filled).map_err(|error| EvaluationError::new(path, error.to_string()))?;
        Ok(filled)
    }

    /// A copy of a value with its templates filled in.
    fn fill(&mut self, value: &Value, path: &Pointer<'_>) -> Result<Value, EvaluationError> {
        match value {
            Value::String(text) if is_template(text) => {
                check_length(text, path)?;
                let scan = scan_template(text);
                if scan.has_statements {
                    return Err(EvaluationError::new(path, NO_STATEMENTS));
                }
                if scan.whole.is_some() {
                    return self.value(&scan, path);
                }
                let (values, budget) = self.begin(path)?;
                ENGINE
                    .render_within(&scan.source, values, MAX_TEMPLATE_BYTES, &budget)
                    .map(Value::String)
                    .map_err(|error| self.explain(&error, &scan, path))
            }
            Value::Array(items) => {
                let filled = items.iter().enumerate();
                let filled = filled.map(|(at, item)| self.fill(item, &Pointer::Item(path, at)));
                filled.collect::<Result<Vec<_>, _>>().map(Value::Array)
            }
            Value::Object(fields) => {
                let filled = fields.iter().map(|(name, field)| {
                    let field = self.fill(field, &Pointer::Field(path, name))?;
                    Ok((name.clone(), field))
                });
                filled.collect::<Result<Map<_, _>, _>>().map(Value::Object)
            }
            plain => Ok(plain.clone()),
        }
    }

    /// The value of an expression.
    fn value(&mut self, scan: &Scan, path: &Pointer<'_>) -> Result<Value, EvaluationError> {
        if let [reference] = scan.references.as_slice()
            && reference.alone
        {
            let copied = self.scope.read(reference, |value| copy(value, &mut self.left));
            let copied = copied.map_err(|missing| missing.to_string()).flatten();
            return copied.map_err(|message| EvaluationError::new(path, message));
        }
        let source = scan.whole.as_deref().unwrap_or(&scan.source);
        let (values, budget) = self.begin(path)?;
        ENGINE
            .evaluate(source, values, MAX_EXPRESSION_BYTES, &budget)
            .map_err(|error| self.explain(&error, scan, path))
    }

    /// Names the path that has no value, which the engine does not.
    fn explain(&self, error: &TemplateError, scan: &Scan, path: &Pointer<'_>) -> EvaluationError {
        let missing = || scan.references.iter().find_map(|one| self.scope.check(one).err());
        let message = match (error.kind, missing()) {
            (TemplateErrorKind::Undefined, Some(missing)) => missing.to_string(),
            // An operator may have met the missing value.
            (TemplateErrorKind::Other, Some(missing)) => format!("{missing}; {}", error.message),
            _ => error.message.clone(),
        };
        EvaluationError::new(path, message)
    }
}

/// A copy of a value of bounded depth, paid for from the bytes that are left.
fn copy(value: &Value, left: &mut usize) -> Result<Value, String> {
    if !is_shallow(value, MAX_DEPTH) {
        return Err(format!("the value is nested deeper than {MAX_DEPTH} levels"));
    }
    let rest = left.checked_sub(canonical::len(value));
    *left = rest.ok_or_else(|| {
        format!("the values of the task's templates have more than {} MB", MAX_COPIED_BYTES >> 20)
    })?;
    Ok(value.clone())
}

impl Scope {
    /// The names of this scope for the template engine, or why there are none.
    fn values(&self) -> Result<TemplateValue, String> {
        self.check_weight()?;
        let tasks = self.tasks.iter().map(|(id, task)| (id.as_str(), task.convert()));
        let mut names = BTreeMap::from([("tasks", template::record(tasks))]);
        names.extend(self.item.as_ref().map(|item| ("item", template::value(item))));
        names.extend(self.index.map(|index| ("index", TemplateValue::from(index))));
        names.extend(self.input.as_ref().map(|input| ("input", template::value(input))));
        if let Some(prompts) = &self.prompts {
            names.insert("prompt", prompt_function(Arc::clone(prompts)));
        }
        Ok(template::record(names))
    }

    /// Refuses more values than a template can sensibly read; each is copied for the template engine.
    fn check_weight(&self) -> Result<(), String> {
        let outputs = self.tasks.values().map(|task| &*task.output);
        let errors = self.tasks.values().filter_map(|task| task.error.as_ref());
        let others = [&self.item, &self.input].into_iter().flatten().map(|value| &**value);
        let mut left = MAX_READ_BYTES;
        for value in outputs.chain(errors).chain(others) {
            let rest = template::weigh(value, left).map(|weight| left - weight);
            left = rest.ok_or_else(|| {
                format!(
                    "the values that the template can read take more than {} MiB",
                    MAX_READ_BYTES >> 20
                )
            })?;
        }
        Ok(())
    }
}

/// `prompt("domain/name@1", argument=…)`: the text of a prompt.
fn prompt_function(prompts: Arc<prompts::Snapshot>) -> TemplateValue {
    let used = AtomicUsize::new(0);
    TemplateValue::from_function(move |state: &State<'_, '_>, name: String, given: Kwargs| {
        let fail = |message: String| Error::new(ErrorKind::InvalidOperation, message);
        if used.fetch_add(1, Ordering::Relaxed) >= MAX_PROMPTS {
            return Err(fail(format!("a template renders at most {MAX_PROMPTS} prompts")));
        }
        let reference: PromptRef =
            name.parse().map_err(|_| fail(format!("`{name}` is not the name of a prompt")))?;
        let budget = Budget::of(state)?;
        let mut arguments = Map::new();
        for argument in given.args() {
            let value: TemplateValue = given.get(argument)?;
            let value = template::argument(&value, &budget)?;
            arguments.insert(argument.to_owned(), value);
        }
        let prompt = prompts.get(&reference).map_err(|error| fail(error.to_string()))?;
        let text = prompt.render_within(&json!(arguments), &budget);
        text.map_err(|error| fail(error.to_string()))
    })
}

impl fmt::Debug for TaskValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TaskValue").field("status", &self.status).finish_non_exhaustive()
    }
}
