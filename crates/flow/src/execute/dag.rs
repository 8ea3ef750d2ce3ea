//! The workflow of one report.

use dag::{Dag, OnError, Task};
use serde_json::{Map, Value, json};

use super::input::Input;

/// Web results that are asked for per question.
const HITS_PER_QUESTION: u32 = 10;
/// The most lists that `rerank.results` merges.
const MOST_LISTS: usize = 20;
/// Chunks that are searched per question. All are read for notes: one that fits the question worse may contradict another.
const FOUND_CHUNKS: u32 = 20;

/// The tasks whose outputs make up the answer.
pub(super) const PLAN: &str = "plan";
pub(super) const MERGE: &str = "merge_questions";
pub(super) const SEARCH: &str = "search";
pub(super) const RANK: &str = "rank";
pub(super) const READ: &str = "read";
pub(super) const FIND: &str = "find";
pub(super) const ORDER: &str = "order";
pub(super) const NOTES: &str = "notes";
pub(super) const REVIEW: &str = "review_outline";
pub(super) const FIND_ADDED: &str = "find_added";
pub(super) const NOTES_ADDED: &str = "notes_added";
pub(super) const COMPOSE: &str = "compose";
pub(super) const REPORT: &str = "report";
pub(super) const AUDIT: &str = "audit";

/// What each task that stores an artifact stores: its id, the artifact's kind and its format.
pub(super) const STORED: [(&str, &str, &str); 4] = [
    ("store_outline", "outline", "markdown"),
    ("store_bibliography", "bibliography", "markdown"),
    ("store_map", "map", "svg"),
    ("store_map_json", "map", "json"),
];

/// The id of the task that stores the report in a format.
pub(super) fn stores_report(format: &str) -> String {
    format!("store_report_{format}")
}

/// The settings of a report that its caller does not choose.
pub(super) struct Setting<'a> {
    /// The collection that holds what the run reads.
    pub(super) collection: &'a str,
    /// The day on which the sources are read, such as `2026-11-18`.
    pub(super) accessed: &'a str,
}

/// The tasks of a report.
pub(super) fn dag(input: &Input, setting: &Setting<'_>) -> Dag {
    let mut tasks = vec![plan(input)];
    let mut outline = output(PLAN, "outline");
    let mut questions = output(PLAN, "questions");
    if input.merge_questions {
        let arguments = json!({"questions": questions, "outline": outline});
        tasks.push(task(MERGE, "hitl.questions_merge", arguments));
        outline = output(MERGE, "outline");
        questions = output(MERGE, "questions");
    }
    if input.sources.web {
        tasks.extend(web_tasks(input, setting, &questions));
    }
    tasks.extend(note_tasks(input, setting, &questions));
    let chosen = if input.rerank { ORDER } else { FIND };
    let mut compose = Task::default();
    let (mut found, mut noted) =
        (format!("tasks.{chosen}.output"), format!("tasks.{NOTES}.output"));
    if input.approve_outline {
        let review = task(REVIEW, "hitl.outline_review", json!({"outline": outline}));
        tasks.push(Task { depends_on: vec![NOTES.to_owned()], ..review });
        outline = output(REVIEW, "outline");
        compose.when = Some(format!("tasks.{REVIEW}.output.status != 'rejected'"));
        tasks.extend(added_tasks(input, setting, if input.merge_questions { MERGE } else { PLAN }));
        found = format!("[{found}, tasks.{FIND_ADDED}.output] | flatten");
        noted = format!("[{noted}, tasks.{NOTES_ADDED}.output] | flatten");
    }
    let arguments = json!({
        "outline": outline,
        "notes": format!("{{{{ {noted} | select | map(attribute='notes') | flatten }}}}"),
        "sources": format!(
            "{{{{ {found} | select | map(attribute='results') | flatten | unique(attribute='source') | map('omit', 'text') | list }}}}"
        ),
        "graph": output(PLAN, "graph"),
        "accessed": setting.accessed,
    });
    tasks.push(Task { when: compose.when, ..task(COMPOSE, "research.compose", arguments) });
    tasks.extend(publishing_tasks(input));
    Dag { name: Some(name_of(&input.topic)), tasks }
}

/// How people call the workflow.
fn name_of(topic: &str) -> String {
    let topic: String = topic.trim().chars().take(80).collect();
    format!("Research: {topic}")
}

fn plan(input: &Input) -> Task {
    let mut arguments = json!({
        "topic": literal(input.topic.trim()),
        "per_perspective": input.depth.questions_per_perspective(),
    });
    if let Some(names) = &input.perspectives {
        arguments["perspectives"] = names.iter().map(|name| literal(name)).collect();
    }
    if !input.sources.collections.is_empty() {
        arguments["collections"] = literals(&input.sources.collections);
    }
    task(PLAN, "planner.multi_perspective", arguments)
}

/// Searches the web for each question and reads the best pages into the run's collection.
fn web_tasks(input: &Input, setting: &Setting<'_>, questions: &str) -> [Task; 3] {
    let search = for_each(
        questions,
        task(
            SEARCH,
            "web.search.query",
            json!({"query": "{{ item.text }}", "limit": HITS_PER_QUESTION}),
        ),
    );
    let rank = task(
        RANK,
        "rerank.results",
        json!({
            "query": literal(input.topic.trim()),
            "lists": format!(
                "{{{{ (tasks.{SEARCH}.output | select | map(attribute='results') | list)[:{MOST_LISTS}] }}}}"
            ),
            "limit": input.most_sources(),
            "features": input.rerank,
        }),
    );
    let read = for_each(
        &output(RANK, "results"),
        task(
            READ,
            "vector.index.add",
            json!({"collection": setting.collection, "load": {"url": "{{ item.url }}"}}),
        ),
    );
    [search, rank, read]
}

/// Finds the chunks for the questions that a person has added to the outline, in what was read, and takes notes of them.
fn added_tasks(input: &Input, setting: &Setting<'_>, planned: &str) -> [Task; 2] {
    let added = format!(
        "{{{{ tasks.{REVIEW}.output.outline.sections | map(attribute='questions') | flatten \
         | rejectattr('id', 'in', tasks.{planned}.output.questions | map(attribute='id') | list) | list }}}}"
    );
    // A person may ask about more than the topic.
    let notes = task(NOTES_ADDED, "research.summarize", notes_of(FIND_ADDED));
    [find(FIND_ADDED, input, setting, &added), for_each(&added, notes)]
}

/// Searches what is to be read for each question.
fn find(id: &str, input: &Input, setting: &Setting<'_>, questions: &str) -> Task {
    let mut collections: Vec<String> = Vec::new();
    if input.sources.web {
        collections.push(setting.collection.to_owned());
    }
    collections.extend(input.sources.collections.iter().cloned());
    collections.truncate(8);
    let search = json!({"query": "{{ item.text }}", "collections": literals(&collections), "limit": FOUND_CHUNKS});
    for_each(questions, task(id, "vector.query.search", search))
}

/// The input of a task that takes notes: the results of another task for the same question.
fn notes_of(found: &str) -> Value {
    json!({
        "question": "{{ item.text }}",
        "chunks": format!("{{{{ tasks.{found}.output[index].results }}}}"),
    })
}

/// Finds the chunks for each question and takes notes of them.
fn note_tasks(input: &Input, setting: &Setting<'_>, questions: &str) -> Vec<Task> {
    let depends_on = if input.sources.web { vec![READ.to_owned()] } else { Vec::new() };
    let mut tasks = vec![Task { depends_on, ..find(FIND, input, setting, questions) }];
    let mut chosen = FIND;
    if input.rerank {
        chosen = ORDER;
        let order = json!({
            "query": "{{ item.text }}",
            "lists": [format!("{{{{ tasks.{FIND}.output[index].results }}}}")],
        });
        tasks.push(for_each(questions, task(ORDER, "rerank.results", order)));
    }
    let mut notes = notes_of(chosen);
    notes["topic"] = literal(input.topic.trim());
    tasks.push(for_each(questions, task(NOTES, "research.summarize", notes)));
    tasks
}

/// Renders the report, checks its citations, and stores the artifacts.
fn publishing_tasks(input: &Input) -> Vec<Task> {
    let document = output(COMPOSE, "document");
    let report = task(
        REPORT,
        "exports.render.markdown",
        json!({"document": document, "format": "markdown"}),
    );
    let audit = task(
        AUDIT,
        "citations.audit.check",
        json!({
            "markdown": output(REPORT, "content"),
            "sources": output(COMPOSE, "evidence"),
            "style": "numeric",
        }),
    );
    let mut tasks = vec![report, Task { on_error: OnError::Continue, ..audit }];
    let stored = [
        ("outline.md", output(COMPOSE, "outline_markdown")),
        ("bibliography.md", output(COMPOSE, "bibliography_markdown")),
        ("map.svg", output(COMPOSE, "map_svg")),
        ("map.json", format!("{{{{ tasks.{COMPOSE}.output.graph | tojson }}}}")),
    ];
    for ((id, _, _), (file_name, content)) in STORED.into_iter().zip(stored) {
        let mut stored = store(id, file_name, "content", content);
        stored.depends_on = vec![COMPOSE.to_owned()];
        tasks.push(stored);
    }
    for format in input.stored_formats() {
        let (name, file_name) = (format.name(), format!("report.{}", format.extension()));
        let stored = stores_report(name);
        if name == "markdown" {
            tasks.push(store(&stored, &file_name, "content", output(REPORT, "content")));
            continue;
        }
        let id = format!("report_{name}");
        let render = json!({"document": document, "format": name});
        let rendered = if name == "html" { "content" } else { "ref_id" };
        let field = if name == "html" { "content" } else { "content_ref_id" };
        let stored = store(&stored, &file_name, field, output(&id, rendered));
        let render = task(&id, "exports.render.markdown", render);
        tasks.push(Task { on_error: OnError::Skip, ..render });
        tasks.push(stored);
    }
    tasks
}

fn store(id: &str, file_name: &str, field: &str, content: String) -> Task {
    task(id, "powerstrip:store_artifact", json!({"file_name": file_name, field: content}))
}

fn task(id: &str, tool: &str, arguments: Value) -> Task {
    let arguments = match arguments {
        Value::Object(arguments) => arguments,
        _ => Map::new(),
    };
    Task { id: id.to_owned(), tool: Some(tool.to_owned()), arguments, ..Task::default() }
}

/// The task for each item of a list; an item that fails leaves a gap.
fn for_each(list: &str, task: Task) -> Task {
    Task { for_each: Some(list.into()), on_error: OnError::Continue, ..task }
}

/// The expression of a field of a task's output.
fn output(task: &str, field: &str) -> String {
    format!("{{{{ tasks.{task}.output.{field} }}}}")
}

/// A caller's text as an argument: braces in it are no template.
fn literal(text: &str) -> Value {
    if text.contains("{{") || text.contains("{%") || text.contains("{#") {
        // cannot fail: a text is always JSON.
        let quoted = Value::from(text).to_string();
        return format!("{{{{ {quoted} }}}}").into();
    }
    text.into()
}

fn literals(texts: &[String]) -> Value {
    texts.iter().map(|text| literal(text)).collect()
}
