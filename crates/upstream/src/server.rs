//! A server as doors see it: prompts, resources, completions and tasks, handed on as they are.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use proto::Code;
use serde_json::Value;
use strip::servers::{Offering, Server};
use strip::{Failure, Job, Output, Reply};

use crate::broken::Broken;
use crate::conversation::{Request, Said};
use crate::rpc::{Given, Params};
use crate::upstream::Shared;

/// Methods that change nothing.
const READERS: [&str; 4] = ["prompts/get", "resources/read", "completion/complete", "tasks/get"];

#[async_trait]
impl Server for Shared {
    fn name(&self) -> &str {
        &self.name
    }

    fn offering(&self) -> Arc<Offering> {
        self.offering.load_full()
    }

    fn timeout(&self) -> Option<Duration> {
        self.config.timeout
    }

    async fn request(&self, method: &str, call: &Job) -> Result<Output, Failure> {
        let whole = self.asked(method, call, Given::whole).await?;
        Ok(Output { carved: None, ..whole })
    }

    async fn lend(&self, call: &Job) -> Result<Output, Failure> {
        self.asked("resources/read", call, |given| given.get().into()).await
    }

    fn watch(&self, uris: BTreeSet<String>) {
        self.news.watched.send_replace(uris);
    }
}

impl Shared {
    /// Hands a request on; `text` says whether what was set aside of the result is put back.
    async fn asked(
        &self,
        method: &str,
        call: &Job,
        text: fn(&Given) -> Cow<'_, str>,
    ) -> Result<Output, Failure> {
        let Value::Object(params) = &*call.request.input else {
            return Err(Failure::new(Code::InvalidInput, "parameters are an object"));
        };
        let mut params = params.clone();
        if method.starts_with("tasks/") {
            self.desk.open_task(&self.name, &call.request.principal, &mut params)?;
        }
        let request = Request {
            method,
            params: Params::Map(&params),
            header_params: &[],
            repeatable: READERS.contains(&method),
        };
        let said = tokio::select! {
            biased;
            said = self.converse(&request, call) => said?,
            () = call.request.cancel.cancelled() => {
                return Err(Failure::new(Code::Unavailable, "the caller cancelled the request"));
            }
        };
        let mut carved = None;
        let (data, reply) = match said {
            Said::Result(given) => {
                let result = serde_json::from_str(&text(&given))
                    .map_err(|why| Broken::malformed(why.to_string()).failure(&self.name))?;
                carved = given.carved;
                (result, Reply::Done)
            }
            Said::NeedsInput(question) => (question, Reply::NeedsInput),
            Said::Task(task) => (task, Reply::Pending),
        };
        let mut data = data;
        if method.starts_with("tasks/") {
            self.desk.seal_task(&self.name, &call.request.principal, &mut data);
        }
        Ok(Output { reply, carved, ..Output::new(data) })
    }
}
