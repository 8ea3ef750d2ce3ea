//! A plan by a language model. It has the shape of any other plan, or is not used.

use std::collections::HashSet;

use language::prose::Language;
use language::words::fold;
use notes::text::capitalize;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::topic::Topic;
use super::{
    MAX_PERSPECTIVES, Method, Plan, Planned, Planner, Request, Section, build, keywords, names,
};
use crate::writer::{Refused, fitting, line, prompt_id};

/// The prompt that asks for a plan.
pub(super) const PROMPT: &str = "plan";

const MAX_NAME: usize = 100;
const MAX_WHY: usize = 400;
const MAX_QUESTION: usize = 400;

/// What a model answers.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Answer {
    perspectives: Vec<Proposed>,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct Proposed {
    name: String,
    why: String,
    questions: Vec<String>,
}

/// What the prompt is given.
pub(super) fn arguments(request: Request<'_>) -> Value {
    let texts: Vec<&str> = request.chunks.iter().map(|chunk| chunk.text.as_str()).collect();
    let shown = fitting(texts.iter().copied());
    let mut arguments = json!({
        "topic": request.topic,
        "per_perspective": request.per_perspective,
        "passages": &texts[..shown],
    });
    if !request.perspectives.is_empty() {
        arguments["perspectives"] = json!(names(request.perspectives));
    }
    arguments
}

/// The plan that a model has proposed.
pub(super) fn plan(request: Request<'_>, answer: Answer) -> Result<Plan, Refused> {
    let topic = Topic::parse(request.topic, Language::ENGLISH);
    let mut proposed = clean(answer, request.per_perspective);
    if !request.perspectives.is_empty() {
        proposed = in_order(proposed, &names(request.perspectives))?;
    }
    if proposed.is_empty() {
        return Err(Refused::Answer("it asks no question".to_owned()));
    }
    let mut sections: Vec<Section> = proposed
        .into_iter()
        .map(|one| Section {
            heading: capitalize(&one.name),
            name: one.name,
            why: one.why,
            keyword: "",
            questions: one
                .questions
                .into_iter()
                .map(|text| Planned { text, concepts: Vec::new() })
                .collect(),
        })
        .collect();
    let found = keywords::of_chunks(request.chunks, topic.words(), topic.language);
    Planner { topic: &topic, used: HashSet::new() }.add_concepts(&mut sections, found);
    let plan = build(&topic, &sections);
    Ok(Plan { method: Method::Model, prompts: vec![prompt_id(PROMPT)], ..plan })
}

/// Perspectives with questions: each name and each question once.
fn clean(answer: Answer, per_perspective: usize) -> Vec<Proposed> {
    let (mut named, mut asked) = (HashSet::new(), HashSet::new());
    let mut kept = Vec::new();
    for one in answer.perspectives {
        let Some(name) = line(&one.name, MAX_NAME).filter(|name| named.insert(fold(name))) else {
            continue;
        };
        let questions: Vec<String> = one
            .questions
            .iter()
            .filter_map(|text| line(text, MAX_QUESTION))
            .filter(|text| asked.insert(fold(text)))
            .take(per_perspective)
            .collect();
        if !questions.is_empty() && kept.len() < MAX_PERSPECTIVES {
            kept.push(Proposed {
                name,
                why: line(&one.why, MAX_WHY).unwrap_or_default(),
                questions,
            });
        }
    }
    kept
}

/// The perspectives that the caller named, in that order and with those names.
fn in_order(mut proposed: Vec<Proposed>, names: &[String]) -> Result<Vec<Proposed>, Refused> {
    let mut ordered = Vec::with_capacity(names.len());
    for name in names {
        let place = proposed.iter().position(|one| fold(&one.name) == fold(name));
        let place =
            place.ok_or_else(|| Refused::Answer(format!("it has no questions of `{name}`")))?;
        let one = proposed.swap_remove(place);
        ordered.push(Proposed { name: name.clone(), ..one });
    }
    Ok(ordered)
}
