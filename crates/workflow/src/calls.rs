//! Evaluates the templates of tasks and makes their calls, each through the whole guard stack.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use dag::core::{Address, CallOutcome, Prepared, WHOLE};
use dag::evaluate::{self, EvaluationError, Scope, TaskValue};
use dag::paths;
use dag::plan::{MAX_TASKS, Plan};
use dag::{Task, check_depth};
use proto::{Code, Failure, Principal, TraceId, canonical};
use runs::RunOf;
use serde_json::{Map, Value, json};
use strip::{Answer, Door, Park, Parked, Reply, Request};
use tokio::sync::SemaphorePermit;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::failures;
use crate::outage::Outage;
use crate::results::{ResultKey, Results, error_of};
use crate::service::Service;

/// The largest output of a task.
pub(crate) const MAX_OUTPUT: usize = 16 << 20;

/// How often a call is repeated whose questions are answered already.
const MAX_ROUNDS: usize = 10;

/// Few evaluations at once read outputs that are longer than this together.
const LARGE_VALUES: usize = 1 << 20;

/// What the calls of one workflow need.
pub(crate) struct Calls {
    pub(crate) service: Arc<Service>,
    pub(crate) workflow: Uuid,
    pub(crate) plan: Arc<Plan>,
    pub(crate) results: Arc<Results>,
    pub(crate) principal: Arc<Principal>,
    pub(crate) run: RunOf,
    pub(crate) evaluated: Arc<Evaluated>,
}

/// Lists and inputs that several calls need; evaluated again after a restart.
#[derive(Default)]
pub(crate) struct Evaluated {
    items: Kept<Vec<Value>>,
    inputs: Kept<Value>,
}

/// What the templates of a task see. It counts against the evaluations of large values until it is dropped.
struct LoadedScope<'a> {
    scope: Scope,
    _permit: Option<SemaphorePermit<'a>>,
}

type Kept<T> = Mutex<HashMap<Address, Arc<T>>>;

impl Evaluated {
    fn get<T>(kept: &Kept<T>, address: &Address) -> Option<Arc<T>> {
        kept.lock().unwrap_or_else(PoisonError::into_inner).get(address).cloned()
    }

    fn keep<T>(kept: &Kept<T>, address: Address, value: &Arc<T>) {
        let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.insert(address, Arc::clone(value));
    }

    /// Forgets what belonged to a layer that is over.
    pub(crate) fn clear(&self) {
        self.items.lock().unwrap_or_else(PoisonError::into_inner).clear();
        self.inputs.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}

/// The result of one call.
pub(crate) struct Called {
    pub(crate) outcome: CallOutcome,
    pub(crate) arguments: Option<Value>,
    pub(crate) output: Option<Arc<Value>>,
    pub(crate) error: Option<Value>,
    pub(crate) waits: Option<Parked>,
}

impl Called {
    pub(crate) fn waits_for_people(&self) -> bool {
        matches!(self.outcome, CallOutcome::Parked | CallOutcome::Asking)
    }

    fn failed(failure: &Failure, arguments: Option<Value>) -> Self {
        Self {
            outcome: CallOutcome::Failed { retryable: failure.retryable },
            arguments,
            output: None,
            error: Some(error_of(failure)),
            waits: None,
        }
    }
}

impl Calls {
    /// Evaluates `when` and `for_each`.
    pub(crate) async fn prepare(&self, address: &Address) -> (Prepared, Option<Value>) {
        let (mut outage, never) = (Outage::default(), CancellationToken::new());
        loop {
            match self.try_prepare(address).await {
                Ok(prepared) => return (prepared, None),
                Err(failure) if outage.wait(&failure, &never).await => {}
                Err(failure) => return (Prepared::Failed, Some(error_of(&failure))),
            }
        }
    }

    async fn try_prepare(&self, address: &Address) -> Result<Prepared, Failure> {
        let task = self.task(address)?;
        if let Some(when) = &task.when {
            let seen = self.scope(address, evaluate::references(task)).await?;
            let holds = strip::run_blocking(usize::MAX, || evaluate::condition(when, &seen.scope));
            if !holds.map_err(unfit)? {
                return Ok(Prepared::Skip);
            }
        }
        if task.for_each.is_none() {
            return Ok(Prepared::One);
        }
        Ok(Prepared::Items(self.items(address).await?.len()))
    }

    /// Evaluates the input of a sub-workflow.
    pub(crate) async fn enter(&self, cell: &Address) -> Option<Value> {
        let (mut outage, never) = (Outage::default(), CancellationToken::new());
        loop {
            match self.input(cell).await {
                Ok(_) => return None,
                Err(failure) if outage.wait(&failure, &never).await => {}
                Err(failure) => return Some(error_of(&failure)),
            }
        }
    }

    fn task(&self, address: &Address) -> Result<&Task, Failure> {
        let unknown = || Failure::new(Code::Internal, "the task is not part of the plan");
        paths::find(&self.plan, address).map(|(_, planned)| &planned.task).ok_or_else(unknown)
    }

    async fn items(&self, address: &Address) -> Result<Arc<Vec<Value>>, Failure> {
        let whole = address.whole();
        if let Some(items) = Evaluated::get(&self.evaluated.items, &whole) {
            return Ok(items);
        }
        let task = self.task(&whole)?;
        let for_each = task.for_each.as_ref().unwrap_or(&Value::Null);
        let seen = self.scope(&whole, evaluate::references(task)).await?;
        let items = strip::run_blocking(usize::MAX, || evaluate::items(for_each, &seen.scope));
        let items = Arc::new(items.map_err(unfit)?);
        // A longer list is refused.
        if items.len() <= MAX_TASKS {
            Evaluated::keep(&self.evaluated.items, whole, &items);
        }
        Ok(items)
    }

    async fn input(&self, cell: &Address) -> Result<Arc<Value>, Failure> {
        if let Some(input) = Evaluated::get(&self.evaluated.inputs, cell) {
            return Ok(input);
        }
        let task = self.task(cell)?;
        let input = self.fill(cell, &task.arguments, "/arguments", None).await?;
        let input = Arc::new(Value::Object(input));
        Evaluated::keep(&self.evaluated.inputs, cell.clone(), &input);
        Ok(input)
    }

    /// What the templates of a task see: the tasks that they name, its item, and the input of its sub-workflow.
    async fn scope(
        &self,
        address: &Address,
        names: BTreeSet<String>,
    ) -> Result<LoadedScope<'_>, Failure> {
        let (plan, _) = paths::find(&self.plan, address)
            .ok_or_else(|| Failure::new(Code::Internal, "the task is not part of the plan"))?;
        let parent = address.parent();
        // Before the permit, because both may need one.
        let input = match &parent {
            Some(parent) => Some(Box::pin(self.input(parent)).await?),
            None => None,
        };
        let item = Box::pin(self.item(address)).await?;
        let sibling = |position| match &parent {
            Some(parent) => parent.child(position),
            None => Address::task(position),
        };
        let known = names.into_iter();
        let siblings: Vec<(String, Address)> = known
            .filter_map(|name| plan.position(&name).map(|position| (name, sibling(position))))
            .collect();
        let permit = self.permit(&siblings).await;
        let mut tasks = HashMap::with_capacity(siblings.len());
        for (name, sibling) in siblings {
            let result = self.results.task(&sibling).unwrap_or_default();
            let output = Box::pin(self.results.output(&self.plan, &sibling)).await;
            let output = output.map_err(|error| failures::output_unreadable(&name, error))?;
            let value = TaskValue::new(output, result.status.shown(), result.note.error);
            tasks.insert(name, value);
        }
        let prompts = Some(self.service.strip.prompts().snapshot());
        let scope = Scope { tasks: Arc::new(tasks), item: None, index: None, input, prompts };
        let scope = match item {
            Some((index, item)) => scope.with_item(index, item),
            None => scope,
        };
        Ok(LoadedScope { scope, _permit: permit })
    }

    /// Waits until outputs may be loaded, if they are large.
    async fn permit(&self, siblings: &[(String, Address)]) -> Option<SemaphorePermit<'_>> {
        let bytes = siblings.iter().map(|(_, task)| self.results.output_bytes(&self.plan, task));
        if bytes.fold(0, usize::saturating_add) <= LARGE_VALUES {
            return None;
        }
        // The semaphore is never closed.
        self.service.large_evaluations.acquire().await.ok()
    }

    /// The item of a cell and its place, if it is one of a list.
    async fn item(&self, address: &Address) -> Result<Option<(usize, Value)>, Failure> {
        let item = address.last().map_or(WHOLE, |step| step.item);
        let Ok(index) = usize::try_from(item) else { return Ok(None) };
        let items = self.items(address).await?;
        let item = items.get(index).cloned().ok_or_else(|| {
            Failure::new(Code::Internal, "the list of the task no longer has this item")
        })?;
        Ok(Some((index, item)))
    }

    async fn fill(
        &self,
        address: &Address,
        arguments: &Map<String, Value>,
        path: &str,
        more: Option<&str>,
    ) -> Result<Map<String, Value>, Failure> {
        let text = arguments.values().any(has_template);
        if !text {
            return Ok(arguments.clone());
        }
        let mut names = evaluate::references_in(arguments);
        names.extend(more.map(str::to_owned));
        let seen = self.scope(address, names).await?;
        let filled =
            strip::run_blocking(usize::MAX, || evaluate::arguments(arguments, &seen.scope, path));
        filled.map_err(unfit)
    }

    /// Makes the call of a cell, or its compensation; none if the process stops before the call begins.
    pub(crate) async fn call(
        &self,
        key: &ResultKey,
        attempt: u32,
        cancel: CancellationToken,
    ) -> Option<Called> {
        let draining = &self.service.draining;
        // The semaphore is never closed.
        let _slot = draining.run_until_cancelled(self.service.slots.acquire()).await?;
        let mut outage = Outage::default();
        let request = loop {
            match draining.run_until_cancelled(self.request(key, attempt, cancel.clone())).await? {
                Ok(request) => break request,
                Err(failure) if outage.wait(&failure, &cancel).await => {}
                Err(failure) => return Some(Called::failed(&failure, None)),
            }
        };
        if draining.is_cancelled() {
            return None;
        }
        Some(self.run_call(request, outage, cancel).await)
    }

    async fn run_call(
        &self,
        mut request: Request,
        mut outage: Outage,
        cancel: CancellationToken,
    ) -> Called {
        let arguments = Some((*request.input).clone());
        if cancel.is_cancelled() {
            return Called::failed(&failures::cancelled(), arguments);
        }
        for _ in 0..MAX_ROUNDS {
            let answer = loop {
                let answer = self.service.strip.call(request.clone()).await;
                match &answer.result {
                    Err(failure) if outage.wait(failure, &cancel).await => {
                        request.trace = TraceId::random();
                    }
                    _ => break answer,
                }
            };
            if cancel.is_cancelled() && answer.result.is_err() {
                return Called::failed(&failures::cancelled(), arguments);
            }
            // Its questions were answered before, so it goes on at once.
            let Some(Parked::Questions { questions, resume }) = Parked::of(&answer) else {
                return interpret(answer, arguments);
            };
            if !questions.is_empty() {
                return interpret(answer, arguments);
            }
            if let Some(park) = &mut request.park {
                Arc::make_mut(park).resume = resume;
            }
            request.trace = TraceId::random();
        }
        let failure =
            Failure::new(Code::Unsupported, "the tool asks the same questions again and again");
        Called::failed(&failure, arguments)
    }

    async fn request(
        &self,
        key: &ResultKey,
        attempt: u32,
        cancel: CancellationToken,
    ) -> Result<Request, Failure> {
        let (_, planned) = paths::find(&self.plan, &key.address)
            .ok_or_else(|| Failure::new(Code::Internal, "the task is not part of the plan"))?;
        let task = &planned.task;
        let (tool, arguments, path) = match (&task.compensate, key.undo) {
            (Some(undo), true) => (undo.tool.clone(), &undo.arguments, "/compensate/arguments"),
            _ => (task.tool.clone().unwrap_or_default(), &task.arguments, "/arguments"),
        };
        let own = key.undo.then_some(task.id.as_str());
        let arguments = self.fill(&key.address, arguments, path, own).await?;
        let mut request = Request::new(
            tool,
            Value::Object(arguments),
            Arc::clone(&self.principal),
            Door::Workflow,
        );
        let item = key.address.last().map_or(WHOLE, |step| step.item);
        let name = paths::path_of(&self.plan, &key.address);
        let call_key = paths::key_of(self.workflow, &name, item, key.undo, attempt);
        request.idempotency_key = (key.undo || !planned.deterministic).then(|| call_key.clone());
        let (approval, resume) = match self.results.get(key).and_then(|result| result.note.waits) {
            Some(Parked::Approval { approval_id, .. }) => (Some(approval_id), None),
            Some(Parked::Questions { resume, .. }) => (None, resume),
            None => (None, None),
        };
        let rule = task.approval.as_ref().filter(|_| !key.undo);
        request.park = Some(Arc::new(Park {
            key: call_key,
            approval,
            resume,
            timeout: rule.map(|rule| Duration::from_millis(rule.timeout_ms)),
            reason: rule.and_then(|rule| rule.reason.clone()),
            compensates: key.undo,
        }));
        request.timeout = task.timeout_ms.filter(|_| !key.undo).map(Duration::from_millis);
        request.run = self.run.clone();
        request.cancel = cancel;
        Ok(request)
    }
}

fn has_template(value: &Value) -> bool {
    match value {
        Value::String(text) => text.contains("{{") || text.contains("{%") || text.contains("{#"),
        Value::Array(items) => items.iter().any(has_template),
        Value::Object(fields) => fields.values().any(has_template),
        _ => false,
    }
}

fn interpret(answer: Answer, arguments: Option<Value>) -> Called {
    if let Some(parked) = Parked::of(&answer) {
        let outcome = match &parked {
            Parked::Approval { .. } => CallOutcome::Parked,
            Parked::Questions { .. } => CallOutcome::Asking,
        };
        return Called { outcome, arguments, output: None, error: None, waits: Some(parked) };
    }
    match answer.result {
        Ok(output) if answer.reply == Reply::Done && canonical::len(&output) > MAX_OUTPUT => {
            let message = format!(
                "the output is larger than {} MB, the most that a workflow keeps of a task",
                MAX_OUTPUT >> 20
            );
            Called::failed(&Failure::new(Code::Unsupported, message), arguments)
        }
        Ok(output) if answer.reply == Reply::Done => match check_depth(&output) {
            Ok(()) => Called {
                outcome: CallOutcome::Success,
                arguments,
                output: Some(output),
                error: None,
                waits: None,
            },
            Err(error) => {
                let message = format!("the output cannot be kept in a workflow: {error}");
                Called::failed(&Failure::new(Code::Unsupported, message), arguments)
            }
        },
        Ok(_) => {
            let failure = Failure::new(
                Code::Unsupported,
                "the tool asks its caller for something that a workflow cannot give",
            );
            Called::failed(&failure, arguments)
        }
        Err(failure) => {
            let state = failure.details.as_ref().and_then(|details| details["state"].as_str());
            let ended = matches!(state, Some("rejected" | "expired" | "cancelled"));
            let waiting =
                failure.details.as_ref().is_some_and(|details| details.get("waiting").is_some());
            let outcome = match failure.code {
                Code::Denied if ended => CallOutcome::Rejected,
                Code::RateLimit if waiting => CallOutcome::Full,
                _ => CallOutcome::Failed { retryable: failure.retryable },
            };
            Called { outcome, ..Called::failed(&failure, arguments) }
        }
    }
}

fn unfit(error: EvaluationError) -> Failure {
    let details = json!({"path": error.path});
    Failure::new(Code::InvalidInput, error.to_string()).details(details)
}
