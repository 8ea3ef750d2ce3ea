use std::collections::BTreeSet;

use async_trait::async_trait;
use proto::{Code, Failure};
use runs::Runs;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use strip::Job;
use strip::typed::{About, TypedOutput, TypedTool};

use super::adopt::{Ids, adopt};
use super::asked::{Document, OUTLINE, QuestionAddress, Reviewed};
use super::markdown::{MAX_QUESTION, MAX_QUESTIONS, folded, one_line, parse, render};
use super::merge::{MergedQuestion, Origin, merge};
use super::regroup::{Headings, regroup};
use super::review::about;
use crate::outline::{Outline, OutlineQuestion, OutlineSection};

/// The title of the list that a person sees, and the heading of questions without a perspective.
const TITLE: &str = "Questions";

const PROMPT: &str = "Complete the questions: `##` is a perspective, `-` a question. Add, change or remove what you like, \
                      and answer with the whole list.";

/// Merges questions that ask the same, after a person has completed them.
pub(super) struct MergeQuestions {
    pub(super) runs: Runs,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {
    #[schemars(length(min = 1, max = MAX_QUESTIONS))]
    questions: Vec<PlannedQuestion>,
    /// Questions of a person.
    #[serde(default)]
    #[schemars(length(max = MAX_QUESTIONS))]
    added: Vec<AddedQuestion>,
    /// Gets the questions that were added, and loses those that were merged into others.
    outline: Option<Outline>,
    /// Whether a person is asked for more; by default if none were added.
    ask: Option<bool>,
}

/// A question of `planner.multi_perspective`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct PlannedQuestion {
    #[schemars(length(min = 1, max = 200))]
    id: String,
    #[schemars(length(min = 1, max = MAX_QUESTION))]
    text: String,
    #[serde(default)]
    #[schemars(length(max = 200))]
    perspective: String,
    #[serde(default, rename = "priority")]
    _priority: Option<u32>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct AddedQuestion {
    #[schemars(length(min = 1, max = MAX_QUESTION))]
    text: String,
    #[serde(default)]
    #[schemars(length(max = 200))]
    perspective: String,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Output {
    status: Status,
    questions: Vec<MergedQuestion>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    outline: Option<Outline>,
    /// Where to answer, while it is `waiting`; the same call again goes on waiting.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    run_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    question_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    slot_id: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Status {
    Merged,
    Waiting,
}

impl Output {
    fn of(status: Status, questions: Vec<MergedQuestion>, outline: Option<Outline>) -> Self {
        Self::named(status, questions, outline, &Headings::new())
    }

    fn named(
        status: Status,
        questions: Vec<MergedQuestion>,
        outline: Option<Outline>,
        headings: &Headings,
    ) -> Self {
        let outline = outline.map(|outline| regroup(outline, &questions, headings));
        Self { status, questions, outline, run_id: None, question_id: None, slot_id: None }
    }
}

#[async_trait]
impl TypedTool for MergeQuestions {
    type Input = Input;
    type Output = Output;

    fn about(&self) -> About {
        about(
            "hitl.questions_merge",
            "Merge questions",
            "Merges questions that ask the same, after a person has added theirs (ask). On `status: waiting`, repeat the \
             call.",
        )
    }

    fn asks_people(&self) -> bool {
        true
    }

    async fn run(&self, input: Input, job: &Job) -> Result<TypedOutput<Output>, Failure> {
        let ask = input.ask.unwrap_or(input.added.is_empty());
        let outline = input.outline.clone();
        let questions = input.questions()?;
        let questions = strip::run_blocking(usize::MAX, || merge(questions));
        if !ask {
            return Ok(Output::of(Status::Merged, questions, outline).into());
        }
        let shown = list(&questions);
        let text = render(&shown);
        parse(&text).map_err(|fault| unfit("/questions", fault.reason))?;
        let document =
            Document { kind: "questions", prompt: PROMPT.to_owned(), text, check: OUTLINE };
        match document.ask(&self.runs, job).await? {
            Reviewed::Answered(answer) => {
                let draft = parse(&answer).map_err(|fault| unfit("answer", fault.to_string()))?;
                let (edited, headings) = strip::run_blocking(usize::MAX, || {
                    let adopted = adopt(&shown, draft);
                    let headings = new_headings(&shown, &adopted);
                    (take_over(&questions, &shown, adopted), headings)
                });
                Ok(Output::named(Status::Merged, edited, outline, &headings).into())
            }
            Reviewed::Declined => Ok(Output::of(Status::Merged, questions, outline).into()),
            Reviewed::Open(open, QuestionAddress { run_id, question_id, slot_id }) => Ok(open
                .output(Output {
                    run_id: Some(run_id),
                    question_id: Some(question_id),
                    slot_id: Some(slot_id),
                    ..Output::of(Status::Waiting, questions, outline)
                })),
        }
    }
}

fn unfit(path: &str, why: impl std::fmt::Display) -> Failure {
    Failure::new(Code::InvalidInput, format!("{path}: {why}")).details(json!({"path": path}))
}

impl Input {
    /// All questions: the planner's, then those that were added, which get ids.
    fn questions(self) -> Result<Vec<MergedQuestion>, Failure> {
        let count = self.questions.len() + self.added.len();
        if count > MAX_QUESTIONS {
            let message = format!("there are {count} questions; {MAX_QUESTIONS} are allowed");
            return Err(unfit("/added", message));
        }
        let mut known = BTreeSet::new();
        for (place, question) in self.questions.iter().enumerate() {
            if !known.insert(question.id.as_str()) {
                let message = "another question has the same id";
                return Err(unfit(&format!("/questions/{place}/id"), message));
            }
        }
        let mut ids = Ids::of(known.into_iter());
        let planned = self.questions.into_iter().map(|question| MergedQuestion {
            id: question.id,
            text: question.text,
            perspective: question.perspective,
            origin: Origin::Planner,
            merged_from: Vec::new(),
        });
        let mut questions: Vec<_> = planned.collect();
        questions.extend(self.added.into_iter().map(|question| MergedQuestion {
            id: ids.new_id("q", &question.text),
            text: question.text,
            perspective: question.perspective,
            origin: Origin::Person,
            merged_from: Vec::new(),
        }));
        Ok(questions)
    }
}

/// The questions as an outline with a section for each perspective.
pub(super) fn list(questions: &[MergedQuestion]) -> Outline {
    let mut sections: Vec<OutlineSection> = Vec::new();
    for question in questions {
        let known = sections.iter().position(|section| section.id == question.perspective);
        let place = known.unwrap_or_else(|| {
            let id = question.perspective.clone();
            let name = match id.as_str() {
                "" => TITLE.to_owned(),
                id => perspective_name(id),
            };
            let heading = new_heading(&sections, name, &id);
            sections.push(OutlineSection { id, heading, questions: Vec::new() });
            sections.len() - 1
        });
        let item = OutlineQuestion { id: question.id.clone(), text: question.text.clone() };
        sections[place].questions.push(item);
    }
    Outline { title: TITLE.to_owned(), sections }
}

/// The name in the id of a perspective: `Legal risk` of `p-legal-risk`. Other texts are names already.
pub(super) fn perspective_name(id: &str) -> String {
    let Some(words) = id.strip_prefix("p-").filter(|words| !words.is_empty()) else {
        return id.to_owned();
    };
    let words = words.replace('-', " ");
    let mut rest = words.chars();
    let first = rest.next().map(char::to_uppercase);
    first.into_iter().flatten().chain(rest).collect()
}

/// A heading that no section has yet: the name, the id, or the name with a number.
fn new_heading(sections: &[OutlineSection], name: String, id: &str) -> String {
    let is_new = |heading: &String| {
        let same = |known: &OutlineSection| {
            folded(&one_line(&known.heading)) == folded(&one_line(heading))
        };
        !one_line(heading).is_empty() && !sections.iter().any(same)
    };
    let numbered = (2..).map(|number| format!("{name} {number}"));
    let mut headings = [name.clone(), id.to_owned()].into_iter().chain(numbered);
    headings.find(is_new).unwrap_or(name)
}

/// The headings that a person has written or changed, by perspective.
pub(super) fn new_headings(shown: &Outline, edited: &Outline) -> Headings {
    let changed = edited.sections.iter().filter_map(|section| {
        let before = shown.sections.iter().find(|known| known.id == section.id);
        let same = before.is_some_and(|before| one_line(&before.heading) == section.heading);
        let perspective = perspective_of(section, before.is_some());
        (!same).then(|| (perspective, section.heading.clone()))
    });
    changed.collect()
}

/// The perspective of the questions of a section: its id, or its heading if a person has written it.
fn perspective_of(section: &OutlineSection, is_known: bool) -> String {
    if is_known { section.id.clone() } else { folded(&section.heading) }
}

/// The questions after a person has edited the list: those that are left, as they read now, then the new ones.
pub(super) fn take_over(
    questions: &[MergedQuestion],
    shown: &Outline,
    edited: Outline,
) -> Vec<MergedQuestion> {
    let (mut kept, mut new) = (Vec::new(), Vec::new());
    for section in edited.sections {
        let is_known = shown.sections.iter().any(|known| known.id == section.id);
        let perspective = perspective_of(&section, is_known);
        for OutlineQuestion { id, text } in section.questions {
            let perspective = perspective.clone();
            match questions.iter().position(|before| before.id == id) {
                Some(place) => {
                    let before = questions[place].clone();
                    kept.push((place, MergedQuestion { text, perspective, ..before }));
                }
                None => new.push(MergedQuestion {
                    id,
                    text,
                    perspective,
                    origin: Origin::Person,
                    merged_from: Vec::new(),
                }),
            }
        }
    }
    kept.sort_by_key(|(place, _)| *place);
    merge(kept.into_iter().map(|(_, question)| question).chain(new).collect())
}
