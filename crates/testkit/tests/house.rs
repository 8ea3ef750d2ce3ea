//! The rules that ARCHITECTURE.md and the style guide state, checked against Cargo's metadata and the source tree.

#[path = "house/absences.rs"]
mod absences;
#[path = "house/arrows.rs"]
mod arrows;
#[path = "house/imports.rs"]
mod imports;
#[path = "house/pages.rs"]
mod pages;
#[path = "house/recipes.rs"]
mod recipes;
#[path = "house/reexports.rs"]
mod reexports;
#[path = "house/riddles.rs"]
mod riddles;
#[path = "house/serde_defaults.rs"]
mod serde_defaults;
#[path = "house/suite.rs"]
mod suite;
#[path = "house/words.rs"]
mod words;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use arrows::ARROWS;

/// Libraries of which a second copy would cost every user build time and memory.
const ONE_COPY: [&str; 12] = [
    "axum",
    "hyper",
    "jiff",
    "jsonschema",
    "reqwest",
    "rmcp",
    "rustls",
    "serde_json",
    "sqlx",
    "tokio",
    "toml_edit",
    "tracing-subscriber",
];

/// Libraries that must not come in, and what takes their place.
const BANNED: [(&str, &str); 4] = [
    ("openssl", "rustls with aws-lc-rs"),
    ("native-tls", "rustls with aws-lc-rs"),
    ("ring", "aws-lc-rs"),
    ("serde_yaml", "serde-saphyr"),
];

/// Sets pages of PDFs for capability servers. What comes in below it may be banned elsewhere or come twice, and never reaches
/// the gateway.
const TYPESETTER: [&str; 3] = ["typst", "typst-layout", "typst-pdf"];

/// Licences that we can ship. A dependency needs one of its alternatives, and all of its parts, to be here.
const LICENCES: [&str; 14] = [
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC0-1.0",
    "CDLA-Permissive-2.0",
    "ISC",
    "MIT",
    "MIT-0",
    "MPL-2.0",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
];

/// The path from the root of the repository, for messages.
fn shown(path: &Path) -> String {
    path.strip_prefix(root()).unwrap_or(path).display().to_string()
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn cargo(arguments: &[&str]) -> Vec<u8> {
    let output = Command::new(env!("CARGO"))
        .args(arguments)
        .args(["--locked", "--offline"])
        .current_dir(root())
        .output()
        .expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}

fn metadata() -> Value {
    let text = cargo(&["metadata", "--format-version", "1"]);
    serde_json::from_slice(&text).expect("cargo metadata is JSON")
}

fn packages(metadata: &Value) -> &Vec<Value> {
    metadata["packages"].as_array().expect("a list of packages")
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_default()
}

#[test]
fn arrows_point_down_only() {
    let metadata = metadata();
    let ours: BTreeMap<_, _> = packages(&metadata)
        .iter()
        .filter(|package| package["source"].is_null())
        .map(|package| (text(package, "name"), package))
        .collect();
    let allowed: BTreeMap<_, _> = ARROWS.iter().copied().collect();
    assert_eq!(
        ours.keys().collect::<Vec<_>>(),
        allowed.keys().collect::<Vec<_>>(),
        "a new crate states its arrows here and in ARCHITECTURE.md"
    );
    for (name, package) in &ours {
        for dependency in package["dependencies"].as_array().expect("a list") {
            let used = text(dependency, "name");
            // Tests may reach for more: `kind` is null for what ships.
            if ours.contains_key(used) && dependency["kind"].is_null() {
                assert!(allowed[name].contains(&used), "`{name}` must not know `{used}`");
            }
        }
    }
}

#[test]
fn no_crate_exports_another_one() {
    let ours: Vec<_> = ARROWS.iter().map(|(name, _)| *name).collect();
    let mut found = BTreeSet::new();
    for folder in crate_folders() {
        let manifest = std::fs::read_to_string(folder.join("Cargo.toml")).expect("a manifest");
        let line = manifest.lines().find_map(|line| line.strip_prefix("name = \""));
        let name = line.and_then(|name| name.strip_suffix('"')).expect("the name of a package");
        for file in sources(&folder.join("src")) {
            let code = std::fs::read_to_string(&file).expect("a source file");
            let other = reexports::reexported(&code, &ours).into_iter();
            found
                .extend(other.filter(|other| *other != name).map(|other| (name.to_owned(), other)));
        }
    }
    let allowed = reexports::ALLOWED
        .iter()
        .flat_map(|(name, others, _)| others.iter().map(|other| ((*name).to_owned(), *other)));
    assert_eq!(found, allowed.collect(), "name the other crate where its items are used");
}

#[test]
fn crates_link_nothing_that_they_must_not_know() {
    let page = std::fs::read_to_string(root().join("ARCHITECTURE.md")).expect("ARCHITECTURE.md");
    let ours: Vec<_> = ARROWS.iter().map(|(name, _)| *name).collect();
    let faults = absences::faults(&page, &absences::Graph::of(&metadata()), &ours);
    assert!(faults.is_empty(), "{faults:#?}");
}

#[test]
fn big_libraries_come_once_and_banned_ones_never() {
    let versions = built();
    for name in ONE_COPY {
        assert_eq!(
            versions.get(name).map_or(0, BTreeSet::len),
            1,
            "{name}: {:?}",
            versions.get(name)
        );
    }
    for (name, instead) in BANNED {
        assert!(!versions.contains_key(name), "`{name}` came in; {instead} takes its place");
    }
}

#[test]
fn the_gateway_links_no_typesetter() {
    let gateway = tree(&["-p", "powerstrip", "-e", "normal,build"]);
    for name in TYPESETTER.iter().chain(&["serde_yaml"]) {
        assert!(!gateway.contains_key(*name), "`{name}` is part of the gateway");
    }
    assert!(gateway.contains_key("tokio"), "the tree of the gateway was not read");
}

/// Names and versions of all that is built on any platform, but for what is below the typesetter.
fn built() -> BTreeMap<String, BTreeSet<String>> {
    let mut arguments = vec!["--workspace", "--target", "all"];
    arguments.extend(TYPESETTER.iter().flat_map(|name| ["--prune", *name]));
    tree(&arguments)
}

/// The part of the dependency tree that these arguments choose. The lock file also holds what no feature enables.
fn tree(arguments: &[&str]) -> BTreeMap<String, BTreeSet<String>> {
    let shape = ["tree", "--prefix", "none", "--format", "{p}"];
    let tree = cargo(&[&shape[..], arguments].concat());
    let mut versions: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for line in String::from_utf8_lossy(&tree).lines() {
        if let [name, version, ..] = line.split(' ').collect::<Vec<_>>()[..] {
            versions.entry(name.to_owned()).or_default().insert(version.to_owned());
        }
    }
    versions
}

#[test]
fn every_licence_is_one_that_we_can_ship() {
    for package in packages(&metadata()) {
        let licence = text(package, "license");
        let (name, ours) = (text(package, "name"), package["source"].is_null());
        assert!(
            ours || !licence.is_empty() || package["license_file"].is_string(),
            "{name} has no licence"
        );
        assert!(licence.is_empty() || shippable(licence), "{name}: {licence}");
    }
}

fn shippable(expression: &str) -> bool {
    // `(A OR B) AND C`: every part must offer one alternative that we know.
    let expression = expression.replace('/', " OR ");
    expression.split(" AND ").all(|part| {
        part.split(" OR ").any(|licence| LICENCES.contains(&licence.trim_matches(['(', ')', ' '])))
    })
}

#[test]
fn files_stay_small_and_flat() {
    let mut faults = Vec::new();
    for file in sources(&root()) {
        let lines = lines_of(&file);
        if lines > 500 {
            faults.push(format!("{} has {lines} lines", shown(&file)));
        }
        if file.file_name().is_some_and(|name| name == "mod.rs") {
            faults.push(format!("{}: use `foo.rs` and `foo/`", shown(&file)));
        }
    }
    assert!(faults.is_empty(), "{faults:#?}");
}

/// A change that needs more room than this moves something into a crate of its own.
const MOST_LINES_OF_A_CRATE: usize = 12_000;

#[test]
fn crates_stay_small() {
    for folder in crate_folders() {
        let files = sources(&folder.join("src")).into_iter().filter(|file| !is_test(file));
        let lines: usize = files.map(|file| lines_of(&file)).sum();
        assert!(lines <= MOST_LINES_OF_A_CRATE, "{} has {lines} lines", shown(&folder));
    }
}

#[test]
fn no_import_circle_has_more_than_three_files() {
    let mut circles = Vec::new();
    for folder in crate_folders() {
        for circle in imports::circles(&folder.join("src"), 3) {
            circles.push(format!("{}: {}", shown(&folder), circle.join(", ")));
        }
    }
    assert!(circles.is_empty(), "move what these files share into a file of its own: {circles:#?}");
}

#[test]
fn code_and_docs_use_plain_words() {
    let mut found = Vec::new();
    let mut exceptions = BTreeSet::from_iter(words::ALLOWED);
    for file in files(&root()).into_iter().filter(|file| words::is_ours(file)) {
        let text = std::fs::read_to_string(&file).expect("a text file");
        for (line, word) in words::occurrences(&text) {
            found.push(format!("{}:{line}: {word}", shown(&file)));
        }
        exceptions.retain(|phrase| !words::excuses(phrase, &text));
    }
    assert!(found.is_empty(), "see docs/src/reference/glossary.md: {found:#?}");
    assert!(exceptions.is_empty(), "no text needs these exceptions: {exceptions:#?}");
}

#[test]
fn docs_and_names_name_their_subject() {
    let mut found = Vec::new();
    let mut unclear = BTreeSet::new();
    for file in crate_folders().iter().flat_map(|folder| sources(folder)) {
        let code = std::fs::read_to_string(&file).expect("a source file");
        let path = shown(&file);
        if !file.ends_with("house/riddles.rs") {
            let lines = riddles::riddles(&code).into_iter();
            found.extend(lines.map(|(line, why)| format!("{path}:{line}: {why}")));
            let names = riddles::unclear_types(&code).into_iter();
            unclear.extend(names.map(|name| format!("{path}: {name}")));
        }
    }
    assert!(found.is_empty(), "{found:#?}");
    let known = riddles::NOT_RENAMED.map(str::to_owned).into();
    assert_eq!(unclear, known, "name a type so that a newcomer can guess its meaning");
}

/// Programs for tests and measurements, which store and show nothing.
const TEST_PROGRAMS: [&str; 3] = ["bench", "fixture", "testkit"];

#[test]
fn no_error_of_serde_becomes_a_default_without_a_reason() {
    let mut found = Vec::new();
    for folder in crate_folders() {
        if TEST_PROGRAMS.iter().any(|name| folder.ends_with(name)) {
            continue;
        }
        for file in sources(&folder.join("src")).into_iter().filter(|file| !is_test(file)) {
            let text = std::fs::read_to_string(&file).expect("a source file");
            let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or(&text);
            let lines = serde_defaults::silent_defaults(code);
            found.extend(lines.iter().map(|line| format!("{}:{line}", shown(&file))));
        }
    }
    assert!(
        found.is_empty(),
        "return the error, or say above the line `// cannot fail: why` or `// may fail: why`: {found:#?}"
    );
}

#[test]
fn no_damage_of_stored_data_looks_like_its_absence() {
    let (mut found, mut reasons) = (Vec::new(), Vec::new());
    for name in serde_defaults::STORED {
        let folder = root().join("crates").join(name).join("src");
        for file in sources(&folder).into_iter().filter(|file| !is_test(file)) {
            let text = std::fs::read_to_string(&file).expect("a source file");
            let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or(&text);
            let lines = serde_defaults::hidden_damage(code);
            found.extend(lines.iter().map(|line| format!("{}:{line}", shown(&file))));
            let given = code.lines().map(str::trim);
            let given = given.filter_map(|line| line.strip_prefix(serde_defaults::MAY_FAIL));
            reasons.extend(given.map(str::to_owned));
        }
    }
    assert!(found.is_empty(), "return an error that names what is damaged: {found:#?}");
    let known = serde_defaults::STORED_MAY_FAIL;
    assert_eq!(reasons, known, "what is stored may fail to be read only for a reason in the list");
}

fn is_test(file: &Path) -> bool {
    file.ends_with("tests.rs") || file.iter().any(|part| part == "tests")
}

fn crate_folders() -> Vec<PathBuf> {
    let mut folders = vec![root().join("bench")];
    for group in ["crates", "servers"] {
        let entries = std::fs::read_dir(root().join(group)).expect("a folder of crates").flatten();
        folders.extend(entries.map(|entry| entry.path()).filter(|path| path.join("src").is_dir()));
    }
    folders
}

fn lines_of(file: &Path) -> usize {
    std::fs::read_to_string(file).expect("a source file").lines().count()
}

fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut files = files(folder);
    files.retain(|file| file.extension().is_some_and(|extension| extension == "rs"));
    files
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).expect("a folder").flatten() {
        let (path, name) = (entry.path(), entry.file_name());
        let skipped = ["target", "node_modules", "book"].iter().any(|skipped| name == *skipped);
        if path.is_dir() && !skipped && !name.to_string_lossy().starts_with('.') {
            found.extend(files(&path));
        } else if path.is_file() {
            found.push(path);
        }
    }
    found
}

/// Ways to reach a file that `userfiles` replaces: they follow links, block on pipes and read without end.
const RAW_FILE_ACCESS: [&str; 7] = [
    "fs::write(",
    "fs::copy(",
    "fs::read(",
    "fs::read_to_string(",
    "File::create(",
    "File::open(",
    "OpenOptions",
];

#[test]
fn files_of_people_are_read_and_written_by_one_crate() {
    let folders = ["config/src", "recipes/src", "remote/src", "terminal/src", "powerstrip/src/cmd"];
    let files = folders.iter().flat_map(|folder| sources(&root().join("crates").join(folder)));
    for file in files.filter(|file| !is_test(file)) {
        let text = std::fs::read_to_string(&file).expect("a source file");
        let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or(&text);
        for raw in RAW_FILE_ACCESS {
            assert!(!code.contains(raw), "{}: use `userfiles` instead of `{raw}`", shown(&file));
        }
    }
}
