//! The column "must not know" of ARCHITECTURE.md, checked through the whole graph of dependencies.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use serde_json::Value;

/// What the column's phrases mean: packages that a crate must not link, directly or through another.
const NOT_LINKED: [(&str, &[&str]); 19] = [
    ("HTTP", &["axum", "http", "hyper"]),
    ("a runtime", &["tokio"]),
    ("catalogs", &["strip"]),
    ("clap", &["clap"]),
    ("commands", &["powerstrip"]),
    ("doors", &["doors", "dashboard"]),
    ("files", &["files"]),
    ("how a tool runs", &["toolpack", "builtin", "upstream", "egress"]),
    ("how other tools run", &["toolpack", "upstream", "egress"]),
    ("how tools are made", &["toolpack", "builtin", "upstream"]),
    ("requests", &["strip"]),
    ("routes", &["doors", "dashboard"]),
    ("servers", &["upstream"]),
    ("the environment", &["environment"]),
    ("the gateway", &["strip", "gateway"]),
    ("the network", &["egress", "tokio"]),
    ("the running gateway", &["doors", "gateway"]),
    ("tools", &["strip"]),
    ("transports", &["doors", "upstream"]),
];

/// What a crate below hides, so that it is linked: packages that a crate must not depend on directly.
const NOT_USED: [(&str, &[&str]); 3] =
    [("SQL", &["sqlx"]), ("processes", &["egress"]), ("sockets", &["hyper", "tokio"])];

const NO_OTHER: &str = "any other crate of ours";

fn list(value: &Value) -> &[Value] {
    value.as_array().expect("a list")
}

fn text(value: &Value) -> &str {
    value.as_str().expect("a text")
}

/// The packages that ship with each package: its dependencies, without those of tests and builds.
pub(super) struct Graph<'a>(BTreeMap<&'a str, BTreeSet<&'a str>>);

impl<'a> Graph<'a> {
    pub(super) fn of(metadata: &'a Value) -> Self {
        let packages = list(&metadata["packages"]).iter();
        let names: BTreeMap<_, _> =
            packages.map(|package| (text(&package["id"]), text(&package["name"]))).collect();
        let mut arrows: BTreeMap<_, BTreeSet<_>> = BTreeMap::new();
        for node in list(&metadata["resolve"]["nodes"]) {
            let ships = |arrow: &&Value| {
                list(&arrow["dep_kinds"]).iter().any(|kind| kind["kind"].is_null())
            };
            let used = list(&node["deps"]).iter().filter(ships);
            let used = used.map(|arrow| names[text(&arrow["pkg"])]);
            arrows.entry(names[text(&node["id"])]).or_default().extend(used);
        }
        Self(arrows)
    }

    /// The shortest chain of arrows from one package to another.
    fn chain(&self, from: &'a str, to: &str) -> Option<Vec<&'a str>> {
        let mut chains = VecDeque::from([vec![from]]);
        let mut seen = BTreeSet::from([from]);
        while let Some(chain) = chains.pop_front() {
            for used in &self.0[chain[chain.len() - 1]] {
                let longer = [chain.as_slice(), &[used]].concat();
                if *used == to {
                    return Some(longer);
                }
                if seen.insert(used) {
                    chains.push_back(longer);
                }
            }
        }
        None
    }
}

/// What is wrong with the rows of the page's table of crates, whose names are `ours`.
pub(super) fn faults<'a>(page: &'a str, graph: &Graph<'a>, ours: &[&str]) -> Vec<String> {
    let mut faults = Vec::new();
    for row in page.lines().filter(|line| line.starts_with("| `")) {
        let cells: Vec<_> = row.trim_matches(['|', ' ']).split(" | ").collect();
        let [name, .., unknown] = cells[..] else { continue };
        let name = name.trim_matches('`');
        for phrase in unknown.split([';', ',']).map(str::trim).filter(|phrase| *phrase != "–") {
            let meaning = |table: &[(&str, &'static [&'static str])]| {
                table.iter().find(|(known, _)| *known == phrase).map(|(_, packages)| *packages)
            };
            let quoted = [phrase.trim_matches('`')];
            let (packages, direct) = if phrase == NO_OTHER {
                (ours, false)
            } else if let Some(packages) = meaning(&NOT_USED) {
                (packages, true)
            } else if let Some(packages) = meaning(&NOT_LINKED) {
                (packages, false)
            } else if ours.contains(&quoted[0]) {
                (&quoted[..], false)
            } else {
                faults.push(format!("`{name}`: no package is known for \"{phrase}\""));
                continue;
            };
            let others = packages.iter().filter(|other| **other != name);
            let chains = others.filter_map(|other| graph.chain(name, other));
            let known = chains.filter(|chain| !direct || chain.len() == 2);
            faults.extend(known.map(|chain| {
                format!("`{name}` must not know {phrase}, but: {}", chain.join(" → "))
            }));
        }
    }
    faults
}
