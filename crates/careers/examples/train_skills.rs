//! Learns the weights of `careers::skills` from labelled sentences.
//!
//! `train_skills SENTENCES.jsonl --folds 5 > PREDICTIONS.jsonl` predicts each posting with weights that were learned from
//! the others; `train_skills SENTENCES.jsonl --out WEIGHTS.bin` learns from all. A row is
//! `{id, posting, text, spans: [{type, start, end}]}`, offsets in characters.
#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a program for developers, which stops at the first fault"
)]

use std::collections::{BTreeSet, HashMap};
use std::io::Write as _;

use careers::skills::features::Sentence;
use careers::skills::model::{LABELS, Label, Model};
use careers::skills::tokens::{Token, tokens};
use serde_json::{Value, json};

const EPOCHS: usize = 14;
const RATE: f32 = 0.06;
/// Features of fewer words are left out, which keeps the file small.
const MIN_WORDS: usize = 3;

struct Row {
    id: Value,
    posting: String,
    text: String,
    tokens: Vec<Token>,
    features: Vec<Vec<u32>>,
    labels: Vec<usize>,
}

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let text = std::fs::read_to_string(&args[0]).unwrap();
    let rows: Vec<Row> =
        text.lines().map(|line| row(&serde_json::from_str(line).unwrap())).collect();
    match args[1].as_str() {
        "--out" => {
            let all: Vec<&Row> = rows.iter().collect();
            std::fs::write(&args[2], train(&all).write()).unwrap();
        }
        _ => cross_validate(&rows, args[2].parse().unwrap()),
    }
}

fn cross_validate(rows: &[Row], folds: usize) {
    let postings: BTreeSet<&str> = rows.iter().map(|row| row.posting.as_str()).collect();
    let fold: HashMap<&str, usize> =
        postings.iter().enumerate().map(|(index, posting)| (*posting, index * 7 % folds)).collect();
    let mut out = std::io::stdout().lock();
    for held in 0..folds {
        let (test, rest): (Vec<&Row>, Vec<&Row>) =
            rows.iter().partition(|row| fold[row.posting.as_str()] == held);
        // Through bytes, so that rounding is measured too.
        let model = Model::read(&train(&rest).write());
        for row in test {
            writeln!(out, "{}", predict(&model, row)).unwrap();
        }
    }
}

fn predict(model: &Model, row: &Row) -> Value {
    let breaks: Vec<bool> = row.tokens.iter().map(|token| token.after_comma).collect();
    let labels = model.label(&row.features, &breaks);
    let mut spans: Vec<(String, usize, usize)> = Vec::new();
    let mut before = Label::Outside;
    for (token, label) in row.tokens.iter().zip(&labels) {
        let kind = match label {
            Label::Outside => None,
            Label::BeginSkill | Label::InSkill => Some("skill"),
            Label::BeginKnowledge | Label::InKnowledge => Some("knowledge"),
        };
        let inside = matches!(label, Label::InSkill | Label::InKnowledge);
        if let Some(kind) = kind {
            let count = |byte: usize| row.text[..byte].chars().count();
            match spans.last_mut() {
                Some(span) if inside && before != Label::Outside => span.2 = count(token.end),
                _ => spans.push((kind.to_owned(), count(token.start), count(token.end))),
            }
        }
        before = *label;
    }
    let spans: Vec<Value> = spans
        .iter()
        .map(|(kind, start, end)| json!({"type": kind, "start": start, "end": end}))
        .collect();
    json!({"id": row.id, "spans": spans})
}

fn row(value: &Value) -> Row {
    let text = value["text"].as_str().unwrap().to_owned();
    let tokens = tokens(&text, 0);
    let sentence = Sentence::new(&text, tokens.clone());
    let features = sentence.features();
    let labels = labels(&text, &tokens, value["spans"].as_array().unwrap());
    let posting = value["posting"].as_str().unwrap().to_owned();
    Row { id: value["id"].clone(), posting, tokens, features, labels, text }
}

/// The labels of tokens; of nested spans the longest counts.
fn labels(text: &str, tokens: &[Token], spans: &[Value]) -> Vec<usize> {
    let bytes: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
    let mut spans: Vec<(usize, usize, bool)> = spans
        .iter()
        .map(|span| {
            let offset = |key: &str| bytes[span[key].as_u64().unwrap() as usize];
            (offset("start"), offset("end"), span["type"] == "skill")
        })
        .collect();
    spans.sort_by_key(|(start, end, _)| std::cmp::Reverse(end - start));
    let mut labels = vec![0; tokens.len()];
    for (start, end, skill) in spans {
        let mut inside: Vec<usize> = (0..tokens.len())
            .filter(|at| tokens[*at].start < end && tokens[*at].end > start)
            .collect();
        let sign =
            |at: &usize| !text[tokens[*at].start..tokens[*at].end].contains(char::is_alphanumeric);
        while inside.last().is_some_and(sign) {
            inside.pop();
        }
        if inside.iter().any(|at| labels[*at] != 0) {
            continue;
        }
        let first = if skill { Label::BeginSkill } else { Label::BeginKnowledge } as usize;
        for (count, at) in inside.iter().enumerate() {
            labels[*at] = first + usize::from(count > 0);
        }
    }
    labels
}

/// A weight with the sum of its squared gradients.
#[derive(Clone, Copy, Default)]
struct Weight {
    value: f32,
    squares: f32,
}

impl Weight {
    /// One step of AdaGrad.
    fn step(&mut self, gradient: f32) {
        self.squares += gradient * gradient;
        self.value += gradient * RATE / (self.squares.sqrt() + 1e-6);
    }
}

#[derive(Default)]
struct Training {
    features: HashMap<u32, [Weight; LABELS]>,
    transitions: [[Weight; LABELS]; LABELS],
}

fn train(rows: &[&Row]) -> Model {
    let mut counts: HashMap<u32, usize> = HashMap::new();
    for feature in rows.iter().flat_map(|row| row.features.iter().flatten()) {
        *counts.entry(*feature).or_default() += 1;
    }
    counts.retain(|_, count| *count >= MIN_WORDS);
    let mut training = Training::default();
    training.features.extend(counts.keys().map(|feature| (*feature, Default::default())));
    let mut order: Vec<usize> = (0..rows.len()).collect();
    let mut random = 88_172_645_463_325_252_u64;
    for _ in 0..EPOCHS {
        for at in (1..order.len()).rev() {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            order.swap(at, (random % (at as u64 + 1)) as usize);
        }
        for index in &order {
            learn(&mut training, rows[*index]);
        }
    }
    let value = |weights: &[Weight; LABELS]| weights.map(|weight| weight.value);
    Model {
        features: training.features.iter().map(|(hash, weights)| (*hash, value(weights))).collect(),
        transitions: training.transitions.each_ref().map(value),
    }
}

fn learn(training: &mut Training, row: &Row) {
    let count = row.labels.len();
    if count == 0 {
        return;
    }
    let emissions: Vec<[f32; LABELS]> =
        row.features.iter().map(|features| emission(training, features)).collect();
    let between = |before: usize, label: usize| training.transitions[before][label].value;
    let mut forward = vec![[0.0_f32; LABELS]; count];
    forward[0] = emissions[0];
    for at in 1..count {
        for label in 0..LABELS {
            let paths: [f32; LABELS] =
                std::array::from_fn(|before| forward[at - 1][before] + between(before, label));
            forward[at][label] = log_sum(&paths) + emissions[at][label];
        }
    }
    let mut backward = vec![[0.0_f32; LABELS]; count];
    for at in (0..count - 1).rev() {
        for before in 0..LABELS {
            let paths: [f32; LABELS] = std::array::from_fn(|label| {
                between(before, label) + emissions[at + 1][label] + backward[at + 1][label]
            });
            backward[at][before] = log_sum(&paths);
        }
    }
    let total = log_sum(&forward[count - 1]);
    let mut pairs = [[0.0_f32; LABELS]; LABELS];
    for at in 1..count {
        for (before, pairs) in pairs.iter_mut().enumerate() {
            for (label, pair) in pairs.iter_mut().enumerate() {
                let path = forward[at - 1][before]
                    + between(before, label)
                    + emissions[at][label]
                    + backward[at][label];
                *pair -= (path - total).exp();
            }
        }
        pairs[row.labels[at - 1]][row.labels[at]] += 1.0;
    }
    for at in 0..count {
        let gradient: [f32; LABELS] = std::array::from_fn(|label| {
            let own = if row.labels[at] == label { 1.0 } else { 0.0 };
            own - (forward[at][label] + backward[at][label] - total).exp()
        });
        for feature in &row.features[at] {
            let Some(weights) = training.features.get_mut(feature) else { continue };
            for (weight, gradient) in weights.iter_mut().zip(gradient) {
                weight.step(gradient);
            }
        }
    }
    for (weights, gradients) in training.transitions.iter_mut().zip(pairs) {
        for (weight, gradient) in weights.iter_mut().zip(gradients) {
            weight.step(gradient);
        }
    }
}

fn emission(training: &Training, features: &[u32]) -> [f32; LABELS] {
    let mut sum = [0.0; LABELS];
    for weights in features.iter().filter_map(|feature| training.features.get(feature)) {
        for (sum, weight) in sum.iter_mut().zip(weights) {
            *sum += weight.value;
        }
    }
    sum
}

fn log_sum(values: &[f32; LABELS]) -> f32 {
    let most = values.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    most + values.iter().map(|value| (value - most).exp()).sum::<f32>().ln()
}
