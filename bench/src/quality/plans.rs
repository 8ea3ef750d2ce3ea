//! Whether requests become the right plans.

mod gold;
mod peer;
mod score;

use std::path::PathBuf;
use std::time::Instant;

use anyhow::ensure;
use clap::Args;
use jiff::civil::date;
use language::tools::{ToolIndex, ToolText};
use planner::draft::Items;
use planner::{Argument, Draft, EdgeKey, Intent, LearnedEdges, Toolbox};
use serde::Serialize;
use serde_json::Map;

use crate::stats::percentile;
use gold::{Call, Given, Gold};
use score::Totals;

/// Measure whether requests become the right plans; prints one line of JSON.
#[derive(Debug, Args)]
#[command(after_help = "\
The tools are a list of `{\"name\": …, \"description\": …, \"parameters\": {NAME: {…}}, \"output_parameters\": {NAME: {…}}}`, \
the plans a list of `{\"input\": …, \"output\": [{\"name\": …, \"arguments\": {…}, \"label\": …}]}`.")]
pub(crate) struct Plans {
    /// The tools.
    #[arg(long, value_name = "FILE")]
    tools: PathBuf,
    /// The requests and their plans.
    #[arg(long, value_name = "FILE")]
    plans: PathBuf,
    /// Learn from every other plan first, and measure the rest.
    #[arg(long)]
    history: bool,
    /// Print each plan that differs, on standard error.
    #[arg(long)]
    verbose: bool,
    /// Add tools of this file, one JSON object a line as for `tool-retrieval`, until there are 1,000.
    #[arg(long, value_name = "FILE")]
    among: Option<PathBuf>,
    /// Measure only every other plan, from the first (`even`) or the second (`odd`).
    #[arg(long, value_name = "HALF")]
    half: Option<Half>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Half {
    Even,
    Odd,
}

/// Averages over all requests, from 0 to 1.
#[derive(Debug, Serialize)]
pub(super) struct Figures {
    node_f1: f64,
    edge_f1: f64,
    arg_acc: f64,
    /// The tools that BM25 ranks first, chained by rank.
    peer: Averages,
    plans: usize,
    tools: usize,
    p50_us: f64,
    search_p50_us: f64,
    /// How many searches a plan takes as long as; at most 5 among 1,000 tools.
    searches: f64,
}

/// How many tools `--among` offers.
const CATALOG: usize = 1_000;

#[derive(Debug, Serialize)]
pub(super) struct Averages {
    node_f1: f64,
    edge_f1: f64,
    arg_acc: f64,
}

/// Plans every request and compares.
pub(super) fn measure(asked: &Plans) -> anyhow::Result<Figures> {
    let mut tools = gold::tools(&asked.tools)?;
    if let Some(file) = &asked.among {
        gold::add_tools(&mut tools, file, CATALOG)?;
    }
    let rows = gold::plans(&asked.plans)?;
    ensure!(!rows.is_empty(), "{} has no plans", asked.plans.display());
    let toolbox = Toolbox::new(tools.iter().map(gold::Tool::spec).collect());
    let index = index(&tools);
    let mut learned = LearnedEdges::default();
    if asked.history {
        for row in rows.iter().step_by(2) {
            learn(row, &mut learned);
        }
    }
    let half = if asked.history { Some(Half::Odd) } else { asked.half };
    let measured: Vec<&Gold> = rows
        .iter()
        .enumerate()
        .filter(|(place, _)| half.is_none_or(|half| (place % 2 == 0) == (half == Half::Even)))
        .map(|(_, row)| row)
        .collect();
    let depth =
        measured.iter().map(|row| row.calls.len()).sum::<usize>() as f64 / measured.len() as f64;
    let find = |text: &str, limit: usize| -> Vec<(usize, f32)> {
        index.search(text, limit).into_iter().map(|hit| (hit.index, hit.score)).collect()
    };
    let (mut ours, mut peers) = (Totals::default(), Totals::default());
    let (mut spent, mut searched) = (Vec::new(), Vec::new());
    for row in measured {
        let start = Instant::now();
        let hits = index.search(&row.request, 10);
        searched.push(start.elapsed().as_secs_f64() * 1e6);
        drop(hits);
        let context = Map::new();
        let intent = Intent {
            text: &row.request,
            context: &context,
            earlier: &[],
            learned: &learned,
            visible: &|_| true,
            today: date(2024, 1, 1),
        };
        let start = Instant::now();
        let draft = toolbox.draft(&intent, &find).unwrap_or_default();
        spent.push(start.elapsed().as_secs_f64() * 1e6);
        let calls = calls(&draft);
        let score = score::compare(&row.calls, &calls);
        if asked.verbose && !score.is_perfect() {
            show(row, &calls, &score);
        }
        ours.add(&score);
        let chained = peer::chain(&row.request, depth.round() as usize, &index, &tools);
        peers.add(&score::compare(&row.calls, &chained));
    }
    let plans = ours.count;
    let Averages { node_f1, edge_f1, arg_acc } = ours.averages();
    let p50_us = percentile(&mut spent, 50.0);
    let search_p50_us = percentile(&mut searched, 50.0);
    Ok(Figures {
        node_f1,
        edge_f1,
        arg_acc,
        peer: peers.averages(),
        plans,
        tools: tools.len(),
        p50_us: p50_us.round(),
        search_p50_us: search_p50_us.round(),
        searches: (10.0 * p50_us / search_p50_us).round() / 10.0,
    })
}

fn index(tools: &[gold::Tool]) -> ToolIndex {
    let parameters: Vec<Vec<(&str, &str)>> = tools.iter().map(gold::Tool::parameters).collect();
    let texts: Vec<ToolText<'_>> = tools
        .iter()
        .zip(&parameters)
        .map(|(tool, parameters)| ToolText {
            name: &tool.name,
            title: "",
            description: &tool.description,
            parameters,
        })
        .collect();
    ToolIndex::build(&texts, None)
}

/// Counts the edges of a plan once each.
fn learn(row: &Gold, learned: &mut LearnedEdges) {
    for call in &row.calls {
        for (name, given) in &call.arguments {
            if let Given::Output { tool, field } = given {
                let edge = EdgeKey {
                    from_tool: tool.clone(),
                    from_field: field.clone(),
                    to_tool: call.tool.clone(),
                    to_argument: name.clone(),
                };
                learned.insert(edge, 1.0);
            }
        }
    }
}

/// A draft in the form of the gold plans.
fn calls(draft: &Draft) -> Vec<Call> {
    let output = |task: usize, field: &str| Given::Output {
        tool: draft.tasks[task].tool.clone(),
        field: field.to_owned(),
    };
    draft
        .tasks
        .iter()
        .map(|task| {
            let mut literals = Map::new();
            let mut arguments = Vec::new();
            for (path, argument) in &task.arguments {
                match (argument, &task.for_each) {
                    (Argument::Literal(value), _) => {
                        planner::insert(&mut literals, path, value.clone())
                    }
                    (Argument::Output { task, field } | Argument::OneItem { task, field }, _) => {
                        arguments.push((path.join("."), output(*task, field)));
                    }
                    (Argument::Item(inner), Some(Items::Output { task, field })) => {
                        let field = if field.is_empty() {
                            inner.as_deref().unwrap_or_default()
                        } else {
                            field
                        };
                        arguments.push((path.join("."), output(*task, field)));
                    }
                    (Argument::Item(_), Some(Items::Values(values))) => {
                        planner::insert(&mut literals, path, values.clone().into());
                    }
                    (Argument::Item(_), None) => {}
                }
            }
            arguments
                .extend(literals.into_iter().map(|(name, value)| (name, Given::Literal(value))));
            Call { tool: task.tool.clone(), arguments }
        })
        .collect()
}

#[expect(clippy::print_stderr, reason = "the figures go to standard output")]
fn show(row: &Gold, calls: &[Call], score: &score::Score) {
    eprintln!(">> {}\n   {score:?}", row.request);
    for (title, calls) in [("gold", row.calls.as_slice()), ("ours", calls)] {
        for call in calls {
            let given: Vec<String> =
                call.arguments.iter().map(|(name, given)| format!("{name}={given}")).collect();
            eprintln!("   {title} {}({})", call.tool, given.join(", "));
        }
    }
}
