//! The column "must not know" of ARCHITECTURE.md, checked through the whole graph of dependencies.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use serde_json::Value;

/// The meaning of the column's phrases: packages that a crate must not link, directly or through another.
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

/// Packages that a crate links through a crate below which hides them, but must not depend on directly.
const NOT_USED: [(&str, &[&str]); 3] = [
    ("SQL of its own", &["sqlx"]),
    ("processes of its own", &["egress"]),
    ("sockets of its own", &["hyper", "tokio"]),
];

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

/// The faults of the page's table of crates, which has one row for each crate of `ours`.
pub(super) fn faults<'a>(page: &'a str, graph: &Graph<'a>, ours: &[&str]) -> Vec<String> {
    let rows = page.lines().filter(|line| line.starts_with("| `"));
    let rows: Vec<_> = rows.filter_map(cells).collect();
    let listed = rows.iter().map(|(name, _)| *name);
    let mut faults = differences(listed, ours.iter().copied());
    for (name, unknown) in rows {
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

/// The name of a crate and what it must not know, from a row of the table.
fn cells(row: &str) -> Option<(&str, &str)> {
    let cells: Vec<_> = row.trim_matches(['|', ' ']).split(" | ").collect();
    let [name, _, unknown] = cells[..] else { return None };
    Some((name.trim_matches('`'), unknown))
}

/// The names that only one of the lists has, or that the first has twice.
fn differences<'a>(
    listed: impl Iterator<Item = &'a str>,
    ours: impl Iterator<Item = &'a str>,
) -> Vec<String> {
    let mut missing: BTreeSet<_> = ours.collect();
    let surplus = listed.filter(|name| !missing.remove(name)).collect::<Vec<_>>();
    let surplus = surplus.iter().map(|name| format!("`{name}` is no crate, or is listed twice"));
    surplus.chain(missing.iter().map(|name| format!("`{name}` has no row"))).collect()
}
