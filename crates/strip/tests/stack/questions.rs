//! Calls that ask their caller something: nothing of a question is recorded, and thinking costs the tool no time.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use proto::Code;
use serde_json::{Map, Value, json};
use strip::{AskError, AskMode, Client, LogLevel, Output, Reply, Resume};

use crate::support::{ask, code, setup, tool};

/// A client that takes a while to answer.
#[derive(Debug, Default)]
struct SlowClient {
    delay: Duration,
    nothing: Map<String, Value>,
}

#[async_trait]
impl Client for SlowClient {
    fn capabilities(&self) -> &Map<String, Value> {
        &self.nothing
    }

    fn meta(&self) -> &Map<String, Value> {
        &self.nothing
    }

    fn ask_mode(&self) -> AskMode {
        AskMode::Direct
    }

    fn wants_progress(&self) -> bool {
        false
    }

    fn progress(&self, _report: Map<String, Value>) {}

    fn log_level(&self) -> Option<LogLevel> {
        None
    }

    fn log(&self, _message: Map<String, Value>) {}

    async fn ask(&self, _method: &str, _params: Value) -> Result<Value, AskError> {
        tokio::time::sleep(self.delay).await;
        Ok(json!("yes"))
    }
}

#[tokio::test]
async fn a_question_is_not_recorded_and_the_answer_to_it_is() {
    let runs = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&runs);
    let asking = tool("server:asks", move |call| {
        counted.fetch_add(1, Ordering::SeqCst);
        Box::pin(async move {
            let asked =
                Output { reply: Reply::NeedsInput, ..Output::new(json!("what a question")) };
            Ok(if call.resume.is_some() { Output::new(json!({"done": true})) } else { asked })
        })
    });
    let setup = setup(vec![asking]).await;
    let keyed = |resume: Option<Resume>| {
        let mut call = ask("server:asks", json!({}));
        call.idempotency_key = Some("once".to_owned());
        call.resume = resume.map(Arc::new);
        call
    };
    for _ in 0..2 {
        let answer = setup.strip.call(keyed(None)).await;
        assert_eq!(answer.reply, Reply::NeedsInput, "asked each time, and bound by no schema");
    }
    let answer = setup.strip.call(keyed(Some(Resume::default()))).await;
    assert_eq!((answer.reply, runs.load(Ordering::SeqCst)), (Reply::Done, 3));
    let again = setup.strip.call(keyed(None)).await;
    assert_eq!(again.reply, Reply::Done, "the key has its answer now");
    assert_eq!(runs.load(Ordering::SeqCst), 3);
    assert_eq!(setup.rows().await[0].decision, "replayed");
}

#[tokio::test]
async fn the_time_that_a_person_thinks_is_not_the_tools() {
    let asking = tool("server:asks", |call| {
        Box::pin(async move {
            let slow = call.input["slow"] == true;
            let client = call.client.expect("a client to ask");
            client.ask("elicitation/create", json!({})).await.unwrap();
            if slow {
                std::future::pending::<()>().await;
            }
            Ok(Output::new(json!({})))
        })
    })
    .with(|descriptor| {
        descriptor.deterministic = false;
        // More than the tool's own work takes, on a busy machine too.
        descriptor.limits.timeout = Some(Duration::from_secs(2));
    });
    let setup = setup(vec![asking]).await;
    let by = |delay: u64, slow: bool| {
        let mut call = ask("server:asks", json!({"slow": slow}));
        let delay = Duration::from_millis(delay);
        call.client = Some(Arc::new(SlowClient { delay, ..SlowClient::default() }));
        call
    };
    let answer = setup.strip.call(by(2_500, false)).await;
    assert_eq!(code(&answer), None, "{answer:?}");
    let answer = setup.strip.call(by(1, true)).await;
    assert_eq!(code(&answer), Some(Code::Timeout), "the tool's own time still runs");
}
