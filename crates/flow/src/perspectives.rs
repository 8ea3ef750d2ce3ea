//! Plans research on a topic: perspectives, questions, a mind map and an outline.

mod families;
mod german;
mod ids;
mod keywords;
mod model;
pub mod tool;
mod topic;

use std::collections::HashSet;

use language::words::{fold, stem, words};
use notes::text::{capitalize, is_invisible};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use self::ids::{node_id, perspective_id, question_id};

use self::families::Family;
use self::keywords::Keyword;
use self::topic::Topic;
use crate::graph::{Edge, Graph, Node, NodeKind};
use crate::outline::{Outline, OutlineQuestion, OutlineSection, Perspective, Question};
use notes::Chunk;
use notes::intent::{Intent, language_of};

/// The perspectives of a topic unless the caller names others.
pub const DEFAULT_PERSPECTIVES: [&str; 4] = ["history", "methods", "equity", "evidence"];

/// The most perspectives, and questions of each.
pub const MAX_PERSPECTIVES: usize = 8;
pub const MAX_QUESTIONS: usize = 8;

/// How well the sentences of a keyword must fit a perspective that asks about it.
const LEAST_FIT: f64 = 0.3;

/// The most concepts of one question.
const MAX_CONCEPTS: usize = 2;

/// The topic and options of a plan of questions.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    pub topic: &'a str,
    /// Empty for [`DEFAULT_PERSPECTIVES`].
    pub perspectives: &'a [String],
    pub per_perspective: usize,
    /// The best chunks of the caller's collections on the topic.
    pub chunks: &'a [Chunk],
}

/// A plan of the research on a topic.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Plan {
    pub perspectives: Vec<Perspective>,
    pub questions: Vec<Question>,
    pub graph: Graph,
    pub outline: Outline,
    pub method: Method,
    /// The prompts that a model was given.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub prompts: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// Whether templates or a model wrote the questions.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Method {
    Templates,
    Model,
}

/// Plans research without a model.
pub fn plan(request: Request<'_>) -> Plan {
    let language =
        language_of(request.topic, request.chunks.iter().map(|chunk| chunk.text.as_str()));
    let topic = Topic::parse(request.topic, language);
    let names = names(request.perspectives);
    let mut keywords = keywords::of_chunks(request.chunks, topic.words(), topic.language);
    let mut planner = Planner { topic: &topic, used: HashSet::new() };
    let mut sections: Vec<Section> =
        names.iter().map(|name| planner.section(name, request.per_perspective)).collect();
    planner.ask_about_keywords(&mut sections, &mut keywords);
    planner.add_concepts(&mut sections, keywords);
    build(&topic, &sections)
}

/// The names of the perspectives, each once.
fn names(given: &[String]) -> Vec<String> {
    let mut seen = HashSet::new();
    let trimmed = |name: &String| {
        let visible: String = name.chars().filter(|c| !is_invisible(*c)).collect();
        visible.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let mut names: Vec<String> = given
        .iter()
        .map(trimmed)
        .filter(|name| !name.is_empty() && seen.insert(fold(name)))
        .take(MAX_PERSPECTIVES)
        .collect();
    if names.is_empty() {
        names.extend(DEFAULT_PERSPECTIVES.map(str::to_owned));
    }
    names
}

/// A perspective and its questions while the plan is made.
struct Section {
    name: String,
    heading: String,
    why: String,
    keyword: &'static str,
    questions: Vec<Planned>,
}

struct Planned {
    text: String,
    concepts: Vec<String>,
}

struct Planner<'a> {
    topic: &'a Topic,
    /// The texts so far: no question is asked twice.
    used: HashSet<String>,
}

impl Planner<'_> {
    fn section(&mut self, name: &str, count: usize) -> Section {
        let count = count.clamp(1, MAX_QUESTIONS);
        let (families, generic): (&'static [Family], &'static Family) = if self.topic.is_german() {
            (&german::FAMILIES, &german::GENERIC)
        } else {
            (&families::FAMILIES, &families::GENERIC)
        };
        let family = family(families, name).unwrap_or(generic);
        let mut questions = Vec::new();
        // A second perspective of one family, such as `cost` and `budget`, goes on with the general questions.
        for template in family.questions.iter().chain(&generic.questions) {
            let text = self.topic.ask(&template.text.replace("{n}", &lower(name)));
            if questions.len() < count && self.used.insert(text.clone()) {
                questions
                    .push(Planned { text, concepts: vec![template.concept.replace("{n}", name)] });
            }
        }
        let own = family.name == fold(name);
        Section {
            name: name.to_owned(),
            heading: if own { family.heading.to_owned() } else { capitalize(name) },
            why: self.topic.remark(&family.why.replace("{n}", &lower(name))),
            keyword: family.keyword,
            questions,
        }
    }

    /// Of three questions of a perspective, the last is about a keyword of the caller's documents.
    fn ask_about_keywords(&mut self, sections: &mut [Section], keywords: &mut Vec<Keyword>) {
        for section in sections {
            let count = section.questions.len() / 3;
            let intent = Intent::of(&self.topic.ask(section.keyword), self.topic.language);
            for turn in 0..count {
                let best = keywords
                    .iter()
                    .enumerate()
                    .map(|(at, keyword)| (at, keyword.fit(&intent)))
                    .filter(|(_, fit)| *fit >= LEAST_FIT)
                    .max_by(|a, b| a.1.total_cmp(&b.1).then(b.0.cmp(&a.0)));
                // A keyword that the documents do not use in this way would lead away from the perspective.
                let Some((best, _)) = best else { break };
                let keyword = keywords.remove(best);
                let template = section.keyword.replace("{n}", &lower(&section.name));
                let text = self.topic.ask(&template.replace("{k}", &keyword.phrase));
                if self.used.insert(text.clone()) {
                    let at = section.questions.len() - 1 - turn;
                    section.questions[at] = Planned { text, concepts: vec![keyword.phrase] };
                }
            }
        }
    }

    /// The concepts of the other questions come from the documents too, where they fit.
    fn add_concepts(&self, sections: &mut [Section], keywords: Vec<Keyword>) {
        let mut keywords = keywords.into_iter().take(24).collect::<Vec<_>>();
        for _ in 0..MAX_CONCEPTS {
            for question in sections.iter_mut().flat_map(|section| &mut section.questions) {
                if question.concepts.len() >= MAX_CONCEPTS {
                    continue;
                }
                let intent = Intent::of(&question.text, self.topic.language);
                let best = keywords
                    .iter()
                    .enumerate()
                    .map(|(at, keyword)| (at, keyword.fit(&intent)))
                    .max_by(|a, b| a.1.total_cmp(&b.1).then(b.0.cmp(&a.0)));
                if let Some((at, _)) = best.filter(|(_, fit)| *fit > 0.0) {
                    question.concepts.push(keywords.remove(at).phrase);
                }
            }
        }
    }
}

/// The family that a perspective's name belongs to.
fn family(families: &'static [Family], name: &str) -> Option<&'static Family> {
    let exact = families.iter().find(|family| family.name == fold(name));
    exact.or_else(|| {
        // The first word that is known decides: `legal risk` is about law.
        words(name).iter().map(|word| stem(word)).find_map(|word| {
            families
                .iter()
                .find(|family| family.words.iter().any(|known| stem(&fold(known)) == word))
        })
    })
}

/// A name in the middle of a sentence: `Legal risk` without its capital, `GDPR` and `EU law` as they are.
fn lower(name: &str) -> String {
    let mut characters = name.chars();
    match characters.next() {
        Some(first) if characters.clone().next().is_some_and(char::is_lowercase) => {
            first.to_lowercase().chain(characters).collect()
        }
        _ => name.to_owned(),
    }
}

fn build(topic: &Topic, sections: &[Section]) -> Plan {
    let mut graph = GraphBuilder::default();
    let root = graph.node(NodeKind::Topic, &topic.title, None);
    let (mut perspectives, mut questions) = (Vec::new(), Vec::new());
    let mut outline = Outline { title: topic.title.clone(), sections: Vec::new() };
    for section in sections {
        let id = perspective_id(&section.name);
        let perspective = graph.node(NodeKind::Perspective, &section.name, Some(&root));
        graph.edge(&root, &perspective, "has");
        let mut listed = Vec::new();
        for (priority, planned) in (1..).zip(&section.questions) {
            let node = graph.node(NodeKind::Question, &planned.text, Some(&perspective));
            graph.edge(&perspective, &node, "asks");
            for concept in &planned.concepts {
                let concept = graph.node(NodeKind::Concept, concept, Some(&node));
                graph.edge(&node, &concept, "about");
            }
            listed.push(OutlineQuestion { id: node.clone(), text: planned.text.clone() });
            questions.push(Question {
                id: node,
                text: planned.text.clone(),
                perspective: id.clone(),
                priority,
            });
        }
        perspectives.push(Perspective {
            id: id.clone(),
            name: section.name.clone(),
            why: section.why.clone(),
        });
        outline.sections.push(OutlineSection {
            id,
            heading: section.heading.clone(),
            questions: listed,
        });
    }
    Plan {
        perspectives,
        questions,
        graph: graph.graph,
        outline,
        method: Method::Templates,
        prompts: Vec::new(),
        warnings: Vec::new(),
    }
}

#[derive(Default)]
struct GraphBuilder {
    graph: Graph,
    known: HashSet<String>,
}

impl GraphBuilder {
    /// Adds a node unless it is there, and returns its id.
    fn node(&mut self, kind: NodeKind, label: &str, parent: Option<&str>) -> String {
        let id = node_id(kind, label);
        if self.known.insert(id.clone()) {
            let parent = parent.map(str::to_owned);
            self.graph.nodes.push(Node { id: id.clone(), label: label.to_owned(), kind, parent });
        }
        id
    }

    fn edge(&mut self, from: &str, to: &str, kind: &str) {
        let edge = Edge { from: from.to_owned(), to: to.to_owned(), kind: kind.to_owned() };
        if !self.graph.edges.contains(&edge) {
            self.graph.edges.push(edge);
        }
    }
}

#[cfg(test)]
mod tests;
