//! A plan before it is checked: tasks, their arguments, and what is known about them.

use jiff::civil::Date;
use serde_json::{Map, Value};

use crate::choose::Choosing;
use crate::edges::LearnedEdges;
use crate::fill::{Fits, Scene};
use crate::forbidden::Prohibition;
use crate::graph::Toolbox;
use crate::mention::{MAX_MENTIONS, mentions};
use crate::steps::{masked, prohibited};
use crate::tool::ToolSpec;

/// What to plan for.
#[derive(Clone, Copy)]
pub struct Intent<'a> {
    pub text: &'a str,
    /// Values that the caller knows.
    pub context: &'a Map<String, Value>,
    /// The tasks that are there already, in order.
    pub earlier: &'a [Earlier],
    pub learned: &'a LearnedEdges,
    /// Which tools the caller may use, by index.
    pub visible: &'a dyn Fn(usize) -> bool,
    pub today: Date,
}

/// A task that is there already.
#[derive(Clone, Debug)]
pub struct Earlier {
    pub id: String,
    pub tool: ToolSpec,
    /// Its output is a list, with one item for each call.
    pub is_list: bool,
}

/// Searches tools by a text: indices in the toolbox with scores, best first.
pub type Find<'a> = &'a dyn Fn(&str, usize) -> Vec<(usize, f32)>;

/// Where an argument comes from. Tasks are numbered from the first earlier one.
#[derive(Clone, Debug, PartialEq)]
pub enum Argument {
    Literal(Value),
    Output {
        task: usize,
        field: String,
    },
    /// A list with this one output.
    OneItem {
        task: usize,
        field: String,
    },
    /// The item of `for_each`, or a field of it.
    Item(Option<String>),
}

/// What `for_each` goes through.
#[derive(Clone, Debug, PartialEq)]
pub enum Items {
    Values(Vec<Value>),
    /// An output, or one field of it if it is named.
    Output {
        task: usize,
        field: String,
    },
}

/// One planned call.
#[derive(Clone, Debug)]
pub struct DraftTask {
    pub id: String,
    pub tool: String,
    /// By path within the arguments.
    pub arguments: Vec<(Vec<String>, Argument)>,
    pub for_each: Option<Items>,
    /// The names of required arguments that nothing fills; fields of objects are separated by `.`.
    pub missing: Vec<String>,
    pub alternatives: Vec<Alternative>,
    /// How far the tool is ahead of the next one, from 0 to 1.
    pub margin: f32,
    /// The share of required arguments that are filled.
    pub filled: f32,
    pub reason: String,
}

/// Another tool for a task.
#[derive(Clone, Debug, PartialEq)]
pub struct Alternative {
    pub tool: String,
    /// As a share of the score of the chosen tool.
    pub score: f32,
}

/// A plan.
#[derive(Clone, Debug, Default)]
pub struct Draft {
    /// In the order in which they can run.
    pub tasks: Vec<DraftTask>,
    /// The ids of all tasks, earlier ones first.
    pub ids: Vec<String>,
    /// From 0 to 1.
    pub confidence: f32,
    /// Sentences about parts of the intent that have no task.
    pub notes: Vec<String>,
}

/// No tool fits the intent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NothingFits {
    /// The nearest tools, best first.
    pub nearest: Vec<String>,
    /// Whether the intent forbids something, for which no tool is called.
    pub forbids: bool,
}

impl Toolbox {
    /// Plans an intent.
    pub fn draft(&self, intent: &Intent<'_>, find: Find<'_>) -> Result<Draft, NothingFits> {
        let all = mentions(intent.text, intent.today);
        let forbidden = prohibited(intent.text, &all);
        // Forbidden actions are no part of the request.
        let mut text = masked(intent.text, &forbidden);
        let prohibitions: Vec<Prohibition> =
            forbidden.iter().map(|part| Prohibition::new(intent.text, part, &all, &text)).collect();
        let mut values = if forbidden.is_empty() { all } else { mentions(&text, intent.today) };
        // Quotes are not known there, so that nothing of it may be taken for a step.
        let unread = values.get(MAX_MENTIONS - 1).map(|last| text.split_off(last.end));
        let has_words = |end: &&str| end.contains(char::is_alphanumeric);
        let unread = unread.as_deref().map(str::trim).filter(has_words);
        // `demo.echo` looks like a file, but names a tool.
        let is_tool = |text: &str| {
            let mut tools = self.tools.iter().enumerate();
            tools.any(|(place, tool)| tool.id == text && (intent.visible)(place))
        };
        values.retain(|value| value.quoted || !is_tool(&value.text));
        let scene = Scene {
            text: &text,
            whole: intent.text,
            mentions: &values,
            forbidden: prohibitions,
            unread,
            context: intent.context,
            toolbox: self,
            learned: intent.learned,
            visible: intent.visible,
            fits: Fits::default(),
        };
        Choosing::new(&scene, intent.earlier, find).draft()
    }
}

#[cfg(test)]
mod tests;
