//! Collections from files, without and next to a running gateway.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;

use serde_json::Value;
use testkit::Gateway;

use crate::commands::owner::run;
use crate::commands::project::Project;

fn files(answer: &Value) -> Vec<(String, &str)> {
    let files = answer.as_array().unwrap().iter();
    files
        .map(|file| {
            let source = file["source"].as_str().unwrap();
            let name = source.rsplit('/').next().unwrap().to_owned();
            (name, file["status"].as_str().unwrap())
        })
        .collect()
}

#[test]
fn a_folder_is_read_once_and_what_changed_again() {
    let project = Project::new();
    assert!(project.run(&["collections"]).ok().contains("no collections"));
    project
        .write("notes/roofs.md", "---\ntitle: Cool roofs\ndate: 2024-05-03\n---\n# Roofs\n\nWhite roofs reflect the light.\n")
        .write("notes/deep/trees.txt", "Trees cool the streets of a city.")
        .write("notes/.hidden.md", "secret roofs")
        .write("notes/picture.bin", "\0\u{1}\u{2}\u{3}");
    let added = project.run(&["collections", "add", "city", "notes", "--json"]);
    let added = added.json_of(0);
    let seen = files(&added);
    assert!(seen.contains(&("roofs.md".to_owned(), "added")), "{added}");
    assert!(seen.contains(&("trees.txt".to_owned(), "added")), "{added}");
    assert!(!seen.iter().any(|(name, _)| name == ".hidden.md"), "{added}");

    project.write("notes/deep/trees.txt", "Trees give shade.");
    let again =
        project.run(&["collections", "add", "city", "notes/roofs.md", "notes/deep", "--json"]);
    let again = again.json_of(0);
    assert_eq!(
        files(&again),
        [("roofs.md".to_owned(), "unchanged"), ("trees.txt".to_owned(), "added")]
    );

    let found = project.run(&["collections", "search", "city", "white", "roof", "--json"]);
    let found = found.json_of(0);
    assert_eq!(found["results"][0]["meta"]["title"], "Cool roofs", "{found}");
    assert_eq!(found["results"][0]["meta"]["publishedAt"], "2024-05-03", "{found}");
    assert_eq!(found["mode"], "words", "there is no model");
    let street = project.run(&["collections", "search", "city", "street", "--json"]).json_of(0);
    assert_eq!(street["results"].as_array().unwrap().len(), 0, "the old text is gone");
    let shown = project.run(&["collections", "search", "city", "shade"]);
    assert!(shown.ok().contains("Trees give shade."), "{shown:?}");

    let missing = project.run(&["collections", "search", "none", "shade"]);
    assert!(missing.stderr.contains("there is no collection `none`"), "{missing:?}");
    let embed = project.run(&["collections", "embed", "city"]);
    assert!(embed.stderr.contains("embeddings.path"), "{embed:?}");
    let refused = project.run(&["collections", "add", "run_1", "notes"]);
    assert!(refused.stderr.contains("belongs to a run"), "{refused:?}");

    assert!(project.run(&["collections", "rm", "city"]).ok().contains("city is deleted"));
    assert!(project.run(&["collections", "ls"]).ok().contains("no collections"));
}

#[test]
fn a_file_that_cannot_be_named_is_skipped() {
    let project = Project::new();
    project.write("notes/trees.txt", "Trees cool the streets of a city.");
    let odd = OsStr::from_bytes(b"notes/name\xff.txt");
    std::fs::write(project.path().join(odd), "Roofs reflect light.").unwrap();
    let added = project.run(&["collections", "add", "city", "notes"]);
    assert!(added.ok().contains("name\u{fffd}.txt: its path is not UTF-8"), "{added:?}");
    assert!(added.stdout.contains("1 file added with 1 chunk, 0 unchanged, 1 skipped"));
    let again = project.run(&["collections", "add", "city", "notes/../notes/trees.txt"]);
    assert!(again.ok().contains("1 unchanged"), "{again:?}");
}

#[test]
fn a_query_may_begin_with_hyphens_and_warnings_are_no_results() {
    let project = Project::new();
    project.write("node.txt", "Node takes --max-old-space-size in megabytes.");
    project.run(&["collections", "add", "html", "node.txt"]).ok();
    let search = ["collections", "search", "html", "--max-old-space-size", "megabytes", "--json"];
    let found = project.run(&search).json_of(0);
    assert_eq!(found["results"].as_array().unwrap().len(), 1, "{found}");
    let shown = project.run(&["collections", "search", "html", "--max-old-space-size"]);
    assert!(shown.ok().contains("Node takes") && !shown.stdout.contains("warning:"), "{shown:?}");
    assert!(shown.stderr.contains("warning:"), "there is no model for vectors: {shown:?}");
}

#[tokio::test]
async fn commands_ask_the_running_gateway() {
    let gateway = Gateway::start().await;
    let folder = gateway.folder();
    std::fs::write(folder.join("trees.txt"), "Trees cool the streets of a city.").unwrap();
    const ADD: &[&str] = &["collections", "add", "city", "trees.txt"];
    assert!(run(folder, ADD).await.ok().contains("1 file added"));
    assert!(run(folder, ADD).await.ok().contains("1 unchanged"));
    assert!(run(folder, &["collections"]).await.ok().contains("city"));
    let found = run(folder, &["collections", "search", "city", "tree"]).await;
    assert!(found.ok().contains("Trees cool"), "{found:?}");
    assert_eq!(gateway.stop().await, Some(0));
}
