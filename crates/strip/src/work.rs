//! The innermost part of a call: files-in ▸ tool schema ▸ ⟨tool⟩ ▸ schema-out ▸ refs-out ▸ size-out, under the tool's deadline.

use std::pin::pin;
use std::sync::Arc;

use async_trait::async_trait;
use serde_json::{Map, Value};

use crate::approval::{Leave, ShownFile};
use crate::catalog::Entry;
use crate::client::{Asking, Client, LogLevel, Thinking, Unasked};
use crate::files::{self, Files, Filled, KeepRules, Lenders, Secrets};
use crate::guard::idempotency::Worked;
use crate::guard::{deadline, shape, size};
use crate::strip::Guards;
use crate::{Failure, Job, Output, Reply, Request};

/// The extension by which a server may answer with a task.
const TASKS: &str = "io.modelcontextprotocol/tasks";

/// What stands by while a tool works: the files, and the servers that lend what others want.
#[derive(Clone)]
pub(crate) struct Bench {
    pub(crate) files: Arc<Files>,
    pub(crate) lenders: Arc<Lenders>,
}

impl Guards {
    /// The tool itself, under its deadline, with what goes in and what comes out. The time that the caller takes to
    /// answer a question is not the tool's.
    pub(crate) fn worked(
        &self,
        mut job: Job,
        entry: &Arc<Entry>,
        leave: Option<Arc<Leave>>,
    ) -> impl Future<Output = Worked> + Send + use<> {
        let (bench, rules, entry) = (self.bench.clone(), self.keep_rules(), Arc::clone(entry));
        async move {
            if let Some(leave) = &leave {
                Box::pin(leave.spend()).await?;
            }
            let thinking = job.request.client.take().map(Thinking::new);
            job.request.client = thinking.clone().map(|thinking| thinking as Arc<dyn Client>);
            let work = pin!(bench.work(rules, &entry, job));
            let worked = deadline::bound(entry.limits.timeout, thinking.as_deref(), work).await;
            if let (Some(leave), Ok((output, _))) = (leave, &worked)
                && output.reply == Reply::NeedsInput
            {
                leave.interrupted(output);
            }
            worked
        }
    }
}

impl Bench {
    /// The files that a call names, as a person is shown them before it runs.
    pub(crate) async fn shown(
        &self,
        entry: &Entry,
        call: &Request,
    ) -> Result<Arc<[ShownFile]>, Failure> {
        let shown = pin!(async {
            let filled = files::to_fill(&self.files, &self.lenders, entry, call).await?;
            self.files.shown(&call.principal, &call.input, filled).await
        });
        deadline::bound(entry.limits.timeout, None, shown).await
    }

    async fn work(&self, rules: KeepRules, entry: &Entry, job: Job) -> Worked {
        let (job, secrets) = match &entry.files {
            None => (job, Secrets::default()),
            // Boxed, as is all that few calls need: every call would carry the room for it.
            Some(_) => Box::pin(self.filled(entry, job)).await?,
        };
        let done = match entry.tool.run(&job).await {
            Ok(output) => self.handed_back(rules, entry, (&job.request, &secrets), output).await,
            Err(failure) if failure.native.is_some() && entry.tool.references() => {
                Err(Box::pin(files::keep_failed(&self.files, rules, entry, &job.request, failure))
                    .await)
            }
            Err(failure) => Err(failure),
        };
        let output = match done {
            Ok(output) if secrets.is_empty() => output,
            Ok(output) => secrets.out_of_output(output),
            Err(failure) => return Err(secrets.out_of_failure(failure)),
        };
        let size = size::check_output(entry, &output.data)?;
        Ok((output, size))
    }

    async fn filled(&self, entry: &Entry, job: Job) -> Result<(Job, Secrets), Failure> {
        let Filled { mut job, secrets } =
            files::fill(&self.files, &self.lenders, entry, job).await?;
        if !secrets.is_empty() {
            let discreet = |client| Arc::new(Discreet::new(client, secrets.clone()));
            let client = job.request.client.take();
            job.request.client = client.map(|client| discreet(client) as Arc<dyn Client>);
        }
        Ok((job, secrets))
    }

    async fn handed_back(
        &self,
        rules: KeepRules,
        entry: &Entry,
        (call, secrets): (&Request, &Secrets),
        output: Output,
    ) -> Result<Output, Failure> {
        if output.reply != Reply::Done {
            return Ok(output);
        }
        fits(entry, &output)?;
        if !entry.tool.references() {
            return Ok(output);
        }
        let output = if files::is_large(rules, entry, secrets, &output) {
            Box::pin(files::keep(&self.files, rules, entry, (call, secrets), output)).await?
        } else {
            output
        };
        if let Some(server) = entry.descriptor.id.server() {
            let issued = files::issued(&output);
            if !issued.is_empty() {
                Box::pin(files::remember(&self.files, server, call, issued, &output)).await?;
            }
        }
        Ok(output)
    }
}

/// Whether an output is as the tool declares it. What was set aside is put back only if it matters: a schema may ask
/// for letters, or for a length.
fn fits(entry: &Entry, output: &Output) -> Result<(), Failure> {
    let Err(misfit) = shape::check_output(entry, &output.data) else { return Ok(()) };
    let Some(carved) = &output.carved else { return Err(misfit) };
    match serde_json::from_str(&carved.restored(&output.data.to_string())) {
        Ok(whole) => shape::check_output(entry, &whole),
        Err(_) => Err(misfit),
    }
}

/// A caller that is told nothing which only the tool may see.
#[derive(Debug)]
struct Discreet {
    client: Arc<dyn Client>,
    secrets: Secrets,
    capabilities: Map<String, Value>,
}

impl Discreet {
    fn new(client: Arc<dyn Client>, secrets: Secrets) -> Self {
        let mut capabilities = client.capabilities().clone();
        // A task's result comes by a way of its own, on which nobody knows these secrets any more.
        if let Some(extensions) = capabilities.get_mut("extensions").and_then(Value::as_object_mut)
        {
            extensions.remove(TASKS);
        }
        Self { client, secrets, capabilities }
    }

    fn without_secrets(&self, told: Map<String, Value>) -> Map<String, Value> {
        let mut told = Value::Object(told);
        self.secrets.out_of(&mut told);
        match told {
            Value::Object(told) => told,
            _ => Map::new(),
        }
    }
}

#[async_trait]
impl Client for Discreet {
    fn capabilities(&self) -> &Map<String, Value> {
        &self.capabilities
    }

    fn meta(&self) -> &Map<String, Value> {
        self.client.meta()
    }

    fn asking(&self) -> Asking {
        self.client.asking()
    }

    fn wants_progress(&self) -> bool {
        self.client.wants_progress()
    }

    fn progress(&self, report: Map<String, Value>) {
        self.client.progress(self.without_secrets(report));
    }

    fn log_level(&self) -> Option<LogLevel> {
        self.client.log_level()
    }

    fn log(&self, message: Map<String, Value>) {
        self.client.log(self.without_secrets(message));
    }

    async fn ask(&self, method: &str, mut params: Value) -> Result<Value, Unasked> {
        self.secrets.out_of(&mut params);
        self.client.ask(method, params).await
    }
}
