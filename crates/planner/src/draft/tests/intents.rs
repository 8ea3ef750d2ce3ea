//! Requests that people make of the servers that many of them run, with the plans that a person would call sensible.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use jiff::civil::date;
use language::tools::{ToolIndex, ToolText};
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::draft::{Argument, Draft, Intent, Items, NothingFits};
use crate::edges::LearnedEdges;
use crate::graph::Toolbox;
use crate::tool::ToolSpec;

/// The tools of the filesystem, memory, fetch, git and time servers, and of this gateway.
pub(super) const SERVERS: &str = include_str!("servers.json");
pub(super) const INTENTS: &str = include_str!("intents.json");

#[derive(Clone, Deserialize)]
pub(super) struct Server {
    pub(super) id: String,
    #[serde(default)]
    pub(super) title: String,
    pub(super) description: String,
    pub(super) input: Value,
    pub(super) output: Option<Value>,
}

/// An intent and what its plan must be like.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Case {
    pub(super) intent: String,
    #[serde(default)]
    context: Map<String, Value>,
    /// Tools that are there besides those of the servers.
    #[serde(default)]
    pub(super) with: Vec<Server>,
    /// The tools of the plan, in order; `a|b` where both are right.
    tools: Option<Vec<String>>,
    /// Tools that it has among others.
    #[serde(default)]
    includes: Vec<String>,
    /// Tools that it does not have.
    #[serde(default)]
    without: Vec<String>,
    /// By place and path, such as `0.path`; `$0.field` is an output, `$item` an item of `for_each`, `null` nothing.
    #[serde(default)]
    arguments: BTreeMap<String, Value>,
    #[serde(default)]
    for_each: BTreeMap<usize, Value>,
    /// The arguments that must be asked for, such as `0.message`.
    missing: Option<Vec<String>>,
    /// It may run without a question.
    #[serde(default)]
    pub(super) sure: bool,
    /// It may not run without a question: nothing fits, or something is missing or uncertain.
    #[serde(default)]
    unsure: bool,
    /// No tool fits.
    #[serde(default)]
    nothing: bool,
}

#[test]
fn intents_become_the_plans_that_a_person_expects() {
    let servers: Vec<Server> = serde_json::from_str(SERVERS).unwrap();
    let cases: Vec<Case> = serde_json::from_str(INTENTS).unwrap();
    assert!(cases.len() >= 40);
    let mut report = String::new();
    let servers_alone = Tools::new(servers.iter().collect());
    for case in &cases {
        let own =
            (!case.with.is_empty()).then(|| Tools::new(servers.iter().chain(&case.with).collect()));
        let plan = plan(own.as_ref().unwrap_or(&servers_alone), case);
        let faults = faults(case, &plan);
        if !faults.is_empty() {
            let shown = plan.as_ref().map_or_else(|_| "nothing fits".to_owned(), show);
            writeln!(report, "{}\n  {}\n{shown}", case.intent, faults.join("\n  ")).unwrap();
        }
    }
    assert!(report.is_empty(), "\n{report}");
}

/// Tools with their index, which is slow to build.
pub(super) struct Tools {
    index: ToolIndex,
    toolbox: Toolbox,
}

impl Tools {
    pub(super) fn new(tools: Vec<&Server>) -> Self {
        let parameters: Vec<Vec<(&str, &str)>> = tools
            .iter()
            .map(|tool| {
                let properties = tool.input["properties"].as_object().unwrap();
                properties
                    .iter()
                    .map(|(name, schema)| {
                        (name.as_str(), schema["description"].as_str().unwrap_or_default())
                    })
                    .collect()
            })
            .collect();
        let texts: Vec<ToolText<'_>> = tools
            .iter()
            .zip(&parameters)
            .map(|(tool, parameters)| ToolText {
                name: &tool.id,
                title: &tool.title,
                description: &tool.description,
                parameters,
            })
            .collect();
        let specs = tools.iter().map(|tool| {
            let output = tool.output.as_ref();
            let mut spec =
                ToolSpec::new(&tool.id, &tool.title, &tool.description, &tool.input, output);
            if output.is_none() {
                spec.returns_text();
            }
            spec
        });
        Self { index: ToolIndex::build(&texts, None), toolbox: Toolbox::new(specs.collect()) }
    }
}

pub(super) fn plan(tools: &Tools, case: &Case) -> Result<Draft, NothingFits> {
    let intent = Intent {
        text: &case.intent,
        context: &case.context,
        earlier: &[],
        learned: &LearnedEdges::default(),
        visible: &|_| true,
        today: date(2024, 1, 1),
    };
    tools.toolbox.draft(&intent, &|query, limit| {
        tools.index.search(query, limit).into_iter().map(|hit| (hit.index, hit.score)).collect()
    })
}

fn faults(case: &Case, plan: &Result<Draft, NothingFits>) -> Vec<String> {
    let mut faults = Vec::new();
    let draft = match plan {
        Err(_) if case.nothing || case.unsure => return faults,
        Err(_) => return vec!["nothing fits".to_owned()],
        Ok(_) if case.nothing => return vec!["expected that nothing fits".to_owned()],
        Ok(draft) => draft,
    };
    let is = |expected: &str, tool: &str| expected.split('|').any(|one| one == tool);
    let given: Vec<&str> = draft.tasks.iter().map(|task| task.tool.as_str()).collect();
    if let Some(tools) = &case.tools
        && (tools.len() != given.len()
            || !tools.iter().zip(&given).all(|(expected, tool)| is(expected, tool)))
    {
        return vec![format!("expected the tools {tools:?}")];
    }
    for tool in &case.includes {
        if !given.iter().any(|other| is(tool, other)) {
            faults.push(format!("expected {tool}"));
        }
    }
    for tool in &case.without {
        if given.contains(&tool.as_str()) {
            faults.push(format!("did not expect {tool}"));
        }
    }
    for (place, expected) in &case.arguments {
        let given = argument(draft, place);
        if given != *expected {
            faults.push(format!("{place} is {given}, expected {expected}"));
        }
    }
    for (task, expected) in &case.for_each {
        let items = match draft.tasks.get(*task).and_then(|task| task.for_each.as_ref()) {
            Some(Items::Values(values)) => Value::from(values.clone()),
            Some(Items::Output { task, field }) => Value::from(format!("${task}.{field}")),
            None => Value::Null,
        };
        if items != *expected {
            faults.push(format!("task {task} goes through {items}, expected {expected}"));
        }
    }
    let open = open(draft);
    if case.missing.as_ref().is_some_and(|missing| *missing != open) {
        faults.push(format!("missing is {open:?}, expected {:?}", case.missing));
    }
    let runs = open.is_empty() && draft.confidence >= 0.5;
    if case.sure && !runs || case.unsure && runs {
        faults.push(format!("confidence is {}", draft.confidence));
    }
    faults
}

fn open(draft: &Draft) -> Vec<String> {
    let tasks = draft.tasks.iter().enumerate();
    tasks
        .flat_map(|(place, task)| task.missing.iter().map(move |name| format!("{place}.{name}")))
        .collect()
}

fn argument(draft: &Draft, place: &str) -> Value {
    let (task, path) = place.split_once('.').unwrap();
    let task: usize = task.parse().unwrap();
    let Some(task) = draft.tasks.get(task) else { return Value::Null };
    let given = task.arguments.iter().find(|(name, _)| name.join(".") == path);
    given.map_or(Value::Null, |(_, argument)| written(argument))
}

fn written(argument: &Argument) -> Value {
    match argument {
        Argument::Literal(value) => value.clone(),
        Argument::Output { task, field } | Argument::OneItem { task, field } => {
            Value::from(format!("${task}.{field}"))
        }
        Argument::Item(None) => Value::from("$item"),
        Argument::Item(Some(field)) => Value::from(format!("$item.{field}")),
    }
}

fn show(draft: &Draft) -> String {
    let mut shown = format!("    confidence {:.2}\n", draft.confidence);
    for task in &draft.tasks {
        let arguments: Vec<String> = task
            .arguments
            .iter()
            .map(|(path, argument)| format!("{}={}", path.join("."), written(argument)))
            .collect();
        let others: Vec<String> = task
            .alternatives
            .iter()
            .map(|other| format!("{} {:.2}", other.tool, other.score))
            .collect();
        writeln!(
            shown,
            "    {}({}) margin {:.2}, missing {:?}, for_each {:?}, or {}",
            task.tool,
            arguments.join(", "),
            task.margin,
            task.missing,
            task.for_each,
            others.join(", ")
        )
        .unwrap();
    }
    shown
}
