//! The checks of one task.

use std::collections::BTreeSet;

use schema::Unknowns;
use schema::yaml::nearest;
use serde_json::{Map, Value};

use super::fault::{Fault, FaultCode};
use super::level::Level;
use super::limits::MAX_HINTS;
use super::planned::PlannedTask;
use super::tools::{TaskPosition, ToolInfo, UnknownName};
use crate::evaluate::scan::{Reference, Root, Scan, Step, is_template, scan_template};
use crate::evaluate::{
    ENGINE, MAX_TEMPLATE_BYTES, NO_STATEMENTS, Pointer, scan_condition, step_into,
};
use crate::nesting::check_value;
use crate::{Compensation, OpenArgument, Task};

/// The most retries, and the longest pause before one.
const MAX_RETRIES: u32 = 10;
const MAX_BACKOFF_MS: u64 = 60_000;

/// The JSON Pointer of the list that a task is repeated for.
const FOR_EACH: &str = "/for_each";

/// The longest reason that a reviewer is shown.
const MAX_REASON_CHARS: usize = 2_000;

pub(super) struct TaskCheck<'a> {
    pub(super) level: &'a Level<'a>,
    pub(super) path: &'a str,
    pub(super) task: &'a Task,
}

/// A task whose dependencies are not resolved yet.
pub(super) struct Checked {
    pub(super) planned: PlannedTask,
    pub(super) references: Vec<TaskReference>,
}

/// A reference to a task.
pub(super) struct TaskReference {
    pub(super) path: String,
    pub(super) reference: Reference,
    /// Whether it is in `compensate`.
    pub(super) of_compensation: bool,
    /// Whether it is the list of `for_each`.
    pub(super) is_list: bool,
}

impl TaskCheck<'_> {
    pub(super) fn check(&self, faults: &mut Vec<Fault>) -> Checked {
        if self.check_nesting(faults) {
            return self.check_fields(faults);
        }
        // Nothing looks into its values; the faults refuse the DAG.
        let Task { id, depends_on, .. } = self.task;
        let task = Task { id: id.clone(), depends_on: depends_on.clone(), ..Task::default() };
        let planned = PlannedTask { task, ..PlannedTask::default() };
        Checked { planned, references: Vec::new() }
    }

    /// Whether the values of the task can be read again once they are stored, and have short paths.
    fn check_nesting(&self, faults: &mut Vec<Fault>) -> bool {
        let before = faults.len();
        let undo = self.task.compensate.as_ref().map(|undo| &undo.arguments);
        let arguments =
            [("/arguments", Some(&self.task.arguments)), ("/compensate/arguments", undo)];
        for (path, arguments) in arguments {
            for (name, value) in arguments.into_iter().flatten() {
                if let Err(error) = check_value(name, value) {
                    self.report(
                        &step_into(path, name),
                        FaultCode::Limit,
                        error.to_string(),
                        faults,
                    );
                }
            }
        }
        if let Some(Err(error)) = self.task.for_each.as_ref().map(|list| check_value("", list)) {
            self.report(FOR_EACH, FaultCode::Limit, error.to_string(), faults);
        }
        faults.len() == before
    }

    fn check_fields(&self, faults: &mut Vec<Fault>) -> Checked {
        let task = self.task;
        let missing = self.level.missing.and_then(|missing| missing.get(&task.id)).cloned();
        let missing = missing.unwrap_or_default();
        let mut texts = Texts { check: self, faults, references: Vec::new(), of_items: false };
        let when = task.when.as_ref().map(|when| texts.expression(when, "/when"));
        let for_each = task.for_each.as_ref().map(|list| texts.list(list));
        texts.of_items = task.for_each.is_some();
        let (arguments, unknown) = texts.arguments(&task.arguments, "/arguments");
        let of_task = texts.references.len();
        let undo = task.compensate.as_ref().map(|undo| {
            let (arguments, unknown) = texts.arguments(&undo.arguments, "/compensate/arguments");
            (Compensation { tool: undo.tool.clone(), arguments }, unknown)
        });
        let mut references = texts.references;
        for found in &mut references[of_task..] {
            found.of_compensation = true;
        }
        self.check_limits(faults);
        let tool = task.tool.as_ref().and_then(|tool| self.find(tool, "/tool", faults));
        if let Some(tool) = &tool {
            let (given, unknown) = with_missing(&task.arguments, unknown, &missing);
            self.check_arguments(tool, &given, &unknown, "/arguments", faults);
        }
        let compensate = undo.map(|(mut undo, unknown)| {
            if let Some(tool) = self.find(&undo.tool, "/compensate/tool", faults) {
                let path = "/compensate/arguments";
                self.check_arguments(&tool, &undo.arguments, &unknown, path, faults);
                undo.tool = tool.pinned;
            }
            undo
        });
        let workflow = task.workflow.as_ref().map(|workflow| {
            let level = Level {
                tools: self.level.tools,
                present: &[],
                from_layer: 0,
                depth: self.level.depth + 1,
                input: Some(&task.arguments),
                missing: None,
            };
            Box::new(level.plan(&workflow.tasks, &format!("{}/workflow", self.path), faults))
        });
        let pinned = tool.as_ref().map(|tool| tool.pinned.clone());
        let planned = PlannedTask {
            task: Task {
                id: task.id.clone(),
                tool: pinned.or_else(|| task.tool.clone()),
                workflow: None,
                arguments,
                depends_on: task.depends_on.clone(),
                when,
                for_each,
                compensate,
                retry: task.retry,
                timeout_ms: task.timeout_ms,
                on_error: task.on_error,
                approval: task.approval.clone(),
            },
            depends_on: Vec::new(),
            layer: 0,
            workflow,
            missing,
            deterministic: tool.as_ref().is_some_and(|tool| tool.deterministic),
            ends_run: tool.as_ref().is_some_and(|tool| tool.position == TaskPosition::End),
        };
        Checked { planned, references }
    }

    fn report(
        &self,
        path: &str,
        code: FaultCode,
        message: impl Into<String>,
        faults: &mut Vec<Fault>,
    ) {
        faults.push(Fault::new(format!("{}{path}", self.path), code, message));
    }

    fn check_limits(&self, faults: &mut Vec<Fault>) {
        let task = self.task;
        let mut report =
            |path: &str, code: FaultCode, message: String| self.report(path, code, message, faults);
        if task.tool.is_some() == task.workflow.is_some() {
            let message = "a task has either a `tool` or a `workflow`".to_owned();
            report("", FaultCode::UnknownTool, message);
        }
        if let Some(retry) = task.retry {
            if retry.max > MAX_RETRIES {
                let message = format!("a task is retried at most {MAX_RETRIES} times");
                report("/retry/max", FaultCode::Limit, message);
            }
            if retry.backoff_ms > MAX_BACKOFF_MS {
                let message = format!("the pause is at most {MAX_BACKOFF_MS} ms");
                report("/retry/backoff_ms", FaultCode::Limit, message);
            }
        }
        if task.timeout_ms == Some(0) {
            report("/timeout_ms", FaultCode::Limit, "the time limit is at least 1 ms".to_owned());
        }
        if task.approval.as_ref().is_some_and(|approval| approval.timeout_ms == 0) {
            let message = "a decision has at least 1 ms".to_owned();
            report("/approval/timeout_ms", FaultCode::Limit, message);
        }
        let reason = task.approval.as_ref().and_then(|approval| approval.reason.as_deref());
        if reason.is_some_and(|reason| reason.chars().count() > MAX_REASON_CHARS) {
            let message = format!("a reason has at most {MAX_REASON_CHARS} characters");
            report("/approval/reason", FaultCode::Limit, message);
        }
        if task.workflow.is_some() {
            let of_calls = [
                ("approval", task.approval.is_some()),
                ("retry", task.retry.is_some()),
                ("timeout_ms", task.timeout_ms.is_some()),
            ];
            for (field, _) in of_calls.iter().filter(|(_, given)| *given) {
                let message =
                    format!("`{field}` is for tool calls; set it on the tasks of the sub-workflow");
                report(&format!("/{field}"), FaultCode::BadArguments, message);
            }
        }
    }

    /// A tool that a task may call.
    fn find(&self, name: &str, path: &str, faults: &mut Vec<Fault>) -> Option<ToolInfo> {
        let info = match self.level.tools.find(name) {
            Ok(info) => info,
            Err(unknown) => {
                self.report(path, FaultCode::UnknownTool, unknown.describe(), faults);
                return None;
            }
        };
        let refusal = match info.position {
            TaskPosition::Anywhere => None,
            TaskPosition::End if self.level.depth > 0 => {
                Some("ends the run; put it into the workflow itself")
            }
            TaskPosition::End if path != "/tool" => Some("ends the run, so it cannot undo a task"),
            TaskPosition::End if self.task.for_each.is_some() => {
                Some("ends the run, which ends once")
            }
            TaskPosition::End => None,
            TaskPosition::Nowhere => Some("cannot be a task: it finds tools or steers workflows"),
        };
        if let Some(reason) = refusal {
            let message = format!("`{}` {reason}", info.pinned);
            self.report(path, FaultCode::UnknownTool, message, faults);
            return None;
        }
        Some(info)
    }

    fn check_arguments(
        &self,
        tool: &ToolInfo,
        arguments: &Map<String, Value>,
        unknown: &Unknowns,
        path: &str,
        faults: &mut Vec<Fault>,
    ) {
        let arguments = Value::Object(arguments.clone());
        for violation in (tool.check_input)(&arguments, unknown) {
            let path = format!("{path}{}", violation.path);
            self.report(&path, FaultCode::BadArguments, violation.message, faults);
        }
    }
}

/// The arguments with a place for each that is still to be given, which may become any value.
fn with_missing(
    arguments: &Map<String, Value>,
    mut unknown: Unknowns,
    missing: &[OpenArgument],
) -> (Map<String, Value>, Unknowns) {
    let mut arguments = arguments.clone();
    for OpenArgument { argument, .. } in missing {
        let mut object = &mut arguments;
        let mut pointer = String::new();
        let mut parts = argument.split('.').peekable();
        while let Some(part) = parts.next() {
            pointer = step_into(&pointer, part);
            if parts.peek().is_none() {
                object.insert(part.to_owned(), Value::Null);
                break;
            }
            let inner = object.entry(part).or_insert_with(|| Value::Object(Map::new()));
            match inner {
                Value::Object(fields) => object = fields,
                _ => break,
            }
        }
        unknown.values.insert(pointer);
    }
    (arguments, unknown)
}

impl UnknownName {
    /// The message with all nearest names.
    fn describe(&self) -> String {
        let others: Vec<_> = (self.nearest.iter())
            .filter(|name| !self.message.contains(&format!("`{name}`")))
            .map(|name| format!("`{name}`"))
            .collect();
        if others.is_empty() {
            self.message.clone()
        } else {
            format!("{} (also near: {})", self.message, others.join(", "))
        }
    }
}

/// Reads the texts of a task.
struct Texts<'a> {
    check: &'a TaskCheck<'a>,
    faults: &'a mut Vec<Fault>,
    references: Vec<TaskReference>,
    /// Whether the texts are evaluated for each item.
    of_items: bool,
}

impl Texts<'_> {
    /// Arguments with pinned prompts, and where their templates are.
    fn arguments(
        &mut self,
        arguments: &Map<String, Value>,
        path: &str,
    ) -> (Map<String, Value>, Unknowns) {
        let mut unknown = Unknowns::default();
        let start = Pointer::Start("");
        let pinned = arguments.iter().map(|(name, value)| {
            let value = self.value(value, path, &Pointer::Field(&start, name), &mut unknown);
            (name.clone(), value)
        });
        (pinned.collect(), unknown)
    }

    /// `pointer` begins at `path`.
    fn value(
        &mut self,
        value: &Value,
        path: &str,
        pointer: &Pointer<'_>,
        unknown: &mut Unknowns,
    ) -> Value {
        match value {
            Value::String(text) if is_template(text) => {
                let scan = scan_template(text);
                let pointer = pointer.to_string();
                let path = format!("{path}{pointer}");
                let known =
                    if scan.whole.is_some() { &mut unknown.values } else { &mut unknown.texts };
                known.insert(pointer);
                let variables =
                    || ENGINE.variables(&scan.source, false).map_err(|error| error.message);
                Value::String(self.scanned(text, &scan, variables, &path))
            }
            Value::Array(items) => {
                let items = items
                    .iter()
                    .enumerate()
                    .map(|(at, item)| self.value(item, path, &Pointer::Item(pointer, at), unknown));
                Value::Array(items.collect())
            }
            Value::Object(fields) => {
                let fields = fields.iter().map(|(name, field)| {
                    let pointer = Pointer::Field(pointer, name);
                    (name.clone(), self.value(field, path, &pointer, unknown))
                });
                Value::Object(fields.collect())
            }
            plain => plain.clone(),
        }
    }

    /// `for_each`: a list, or an expression for one.
    fn list(&mut self, list: &Value) -> Value {
        match list {
            Value::String(expression) => Value::String(self.expression(expression, FOR_EACH)),
            Value::Array(_) => {
                self.value(list, FOR_EACH, &Pointer::Start(""), &mut Unknowns::default())
            }
            other => {
                let found = crate::evaluate::describe(other);
                let message = format!("`for_each` takes a list or an expression, not {found}");
                self.report(FOR_EACH, FaultCode::BadExpression, message);
                other.clone()
            }
        }
    }

    fn expression(&mut self, text: &str, path: &str) -> String {
        let scan = scan_condition(text);
        let source = scan.whole.as_deref().unwrap_or(&scan.source);
        let variables = || ENGINE.expression_variables(source).map_err(|error| error.message);
        self.scanned(text, &scan, variables, path)
    }

    fn report(&mut self, path: &str, code: FaultCode, message: impl Into<String>) {
        self.check.report(path, code, message, self.faults);
    }

    /// Checks a template or expression, and returns it with pinned prompts.
    fn scanned(
        &mut self,
        text: &str,
        scan: &Scan,
        variables: impl FnOnce() -> Result<BTreeSet<String>, String>,
        path: &str,
    ) -> String {
        if text.len() > MAX_TEMPLATE_BYTES {
            let message =
                format!("the template has {} bytes; {MAX_TEMPLATE_BYTES} are allowed", text.len());
            self.report(path, FaultCode::Limit, message);
            return text.to_owned();
        }
        if scan.has_statements {
            self.report(path, FaultCode::BadExpression, NO_STATEMENTS);
            return text.to_owned();
        }
        let variables = match variables() {
            Ok(variables) => variables,
            Err(message) => {
                self.report(path, FaultCode::BadExpression, message);
                return text.to_owned();
            }
        };
        for name in scan.filters.iter().filter(|name| !ENGINE.has_filter(name)) {
            self.report(path, FaultCode::BadExpression, format!("there is no filter `{name}`"));
        }
        for name in scan.tests.iter().filter(|name| !ENGINE.has_test(name)) {
            self.report(path, FaultCode::BadExpression, format!("there is no test `{name}`"));
        }
        self.check_names(&variables, path);
        for reference in &scan.references {
            match reference.root {
                Root::Tasks if variables.contains("tasks") => self.references.push(TaskReference {
                    path: format!("{}{path}", self.check.path),
                    reference: reference.clone(),
                    of_compensation: false,
                    is_list: reference.alone && path == FOR_EACH,
                }),
                Root::Input if variables.contains("input") => self.check_input(reference, path),
                _ => {}
            }
        }
        self.pin_prompts(text, scan, path)
    }

    fn check_names(&mut self, variables: &BTreeSet<String>, path: &str) {
        let mut known = vec!["tasks", "prompt"];
        if self.of_items {
            known.extend(["item", "index"]);
        }
        if self.check.level.input.is_some() {
            known.push("input");
        }
        for name in variables.iter().filter(|name| !known.contains(&name.as_str())) {
            let hint = match name.as_str() {
                "item" | "index" => {
                    "; only the arguments of a task with `for_each` have it".to_owned()
                }
                "input" => "; only the tasks of a sub-workflow have it".to_owned(),
                _ => {
                    let near = nearest(name, known.iter().copied());
                    let near = near.map(|near| format!("; did you mean `{near}`?"));
                    let names: Vec<_> = known.iter().map(|name| format!("`{name}`")).collect();
                    near.unwrap_or_else(|| format!("; there are {}", names.join(", ")))
                }
            };
            self.report(path, FaultCode::BadReference, format!("there is no `{name}` here{hint}"));
        }
    }

    /// The input of a sub-workflow has the fields of the arguments that it is given.
    fn check_input(&mut self, reference: &Reference, path: &str) {
        let Some(input) = self.check.level.input else { return };
        let message = match reference.steps.first() {
            Some(Step::Field(name)) if !input.contains_key(name) => {
                let is_hinted = self.faults.len() < MAX_HINTS;
                let near =
                    if is_hinted { nearest(name, input.keys().map(String::as_str)) } else { None };
                let hint = near.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
                format!("`input.{name}` cannot exist: the task's arguments have no `{name}`{hint}")
            }
            Some(Step::Index(at)) => format!("`input[{at}]` cannot exist: `input` is an object"),
            _ => return,
        };
        self.report(path, FaultCode::BadReference, message);
    }

    fn pin_prompts(&mut self, text: &str, scan: &Scan, path: &str) -> String {
        let mut pinned = text.to_owned();
        // From the end, so that the places before stay valid.
        for used in scan.prompts.iter().rev() {
            let Some(name) = &used.name else {
                let message = "`prompt` takes the name as a text: `prompt(\"domain/name@1\")`";
                self.report(path, FaultCode::BadReference, message);
                continue;
            };
            match self.check.level.tools.prompt(name) {
                Ok(name) => pinned.replace_range(used.place.clone(), &name),
                Err(unknown) => {
                    self.report(path, FaultCode::BadReference, unknown.describe());
                }
            }
        }
        pinned
    }
}
