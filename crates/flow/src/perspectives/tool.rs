//! The tool `planner.multi_perspective`.

use std::sync::Arc;

use async_trait::async_trait;
use notes::text::has_words;
use proto::{Code, Failure};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use strip::Job;
use strip::typed::{About, TypedOutput, TypedTool};

use super::{MAX_PERSPECTIVES, Plan, Request, model, plan};
use crate::notes::tool::{about, compute, with_model};
use crate::writer::Writer;
use notes::Chunk;

const MAX_COLLECTIONS: usize = 8;

/// Finds the chunks of a caller's collections that fit a topic best.
#[async_trait]
pub trait TopicChunks: Send + Sync + 'static {
    async fn best(
        &self,
        job: &Job,
        collections: &[String],
        topic: &str,
    ) -> Result<Vec<Chunk>, Failure>;
}

/// Plans research on a topic.
pub struct PlanPerspectives {
    pub chunks: Arc<dyn TopicChunks>,
    pub writer: Writer,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PlanInput {
    #[schemars(length(min = 1, max = 500))]
    pub topic: String,
    /// history, methods, equity and evidence by default.
    #[schemars(length(min = 1, max = 8), inner(length(min = 1, max = 100)))]
    pub perspectives: Option<Vec<String>>,
    /// Questions of each perspective.
    #[serde(default = "default_per_perspective")]
    #[schemars(range(min = 1, max = 8))]
    pub per_perspective: usize,
    /// Collections whose keywords are asked about.
    #[serde(default)]
    #[schemars(length(max = 8))]
    pub collections: Vec<String>,
}

fn default_per_perspective() -> usize {
    3
}

#[async_trait]
impl TypedTool for PlanPerspectives {
    type Input = PlanInput;
    type Output = Plan;

    fn about(&self) -> About {
        let description =
            "Plans research on a topic: perspectives, questions, a mind map and an outline.";
        let title = "Plan research from several perspectives";
        with_model(about("planner.multi_perspective", title, description), &self.writer)
    }

    async fn run(&self, input: PlanInput, job: &Job) -> Result<TypedOutput<Plan>, Failure> {
        check(&input)?;
        let PlanInput { topic, perspectives, per_perspective, collections } = input;
        let chunks = if collections.is_empty() {
            Vec::new()
        } else {
            self.chunks.best(job, &collections, &topic).await?
        };
        let names = perspectives.unwrap_or_default();
        let request =
            Request { topic: &topic, perspectives: &names, per_perspective, chunks: &chunks };
        let mut warning = None;
        if let Some(answer) = self.writer.ask(model::PROMPT, &model::arguments(request)).await {
            match answer.and_then(|answer| model::plan(request, answer)) {
                Ok(plan) => return Ok(plan.into()),
                Err(refused) => {
                    warning = Some(format!(
                        "The model planned nothing, so the questions are general: {refused}."
                    ))
                }
            }
        }
        let mut plan = compute(move || {
            plan(Request { topic: &topic, perspectives: &names, per_perspective, chunks: &chunks })
        })
        .await?;
        plan.warnings.extend(warning);
        Ok(plan.into())
    }
}

/// Checks rules that the schema cannot express.
fn check(input: &PlanInput) -> Result<(), Failure> {
    if !has_words(&input.topic) {
        return Err(invalid("/topic", "the topic has no letter and no digit"));
    }
    let names = input.perspectives.as_deref().unwrap_or_default();
    if names.len() > MAX_PERSPECTIVES {
        return Err(invalid("/perspectives", "at most 8 perspectives"));
    }
    if let Some(at) = names.iter().position(|name| name.trim().is_empty()) {
        return Err(invalid(&format!("/perspectives/{at}"), "the name is empty"));
    }
    if input.collections.len() > MAX_COLLECTIONS {
        return Err(invalid("/collections", "at most 8 collections"));
    }
    Ok(())
}

fn invalid(path: &str, message: &str) -> Failure {
    Failure::new(Code::InvalidInput, format!("{path}: {message}"))
        .details(json!({"violations": [{"path": path, "message": message}]}))
}
