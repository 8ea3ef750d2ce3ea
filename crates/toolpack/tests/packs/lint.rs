use std::collections::HashSet;
use std::path::PathBuf;

use proto::{Finding, Severity};
use toolpack::canned_calls;

use crate::support::{Setup, pack_text};

const GOOD: &str = "description: Counts the characters of a text, by alphabet.
inputSchema: {type: object, properties: {text: {type: string, description: The text}}}
outputSchema: {type: object}
execution: {kind: cli, cmd: [cat]}
examples: [{input: {text: a}, data: {}}]
";

fn lint(folders: &[PathBuf]) -> Vec<Finding> {
    toolpack::lint(folders, &HashSet::new())
}

fn good(id: &str) -> String {
    format!("id: {id}\nversion: 1.0.0\n{GOOD}")
}

#[tokio::test]
async fn a_good_pack_has_no_findings() {
    let setup = Setup::new().await;
    setup.write("tools/a.tool.yaml", &good("a.count"));
    assert_eq!(lint(&[setup.tools()]), []);
}

#[tokio::test]
async fn advice_names_file_and_line() {
    for (text, line, severity, words) in [
        (
            good("a").replace("Counts the characters of a text, by alphabet.", "Counts"),
            3,
            Severity::Advice,
            "description",
        ),
        (
            good("a").replace("description: Counts the characters of a text, by alphabet.\n", ""),
            1,
            Severity::Warning,
            "no description",
        ),
        (good("a").replace(", description: The text", ""), 4, Severity::Advice, "`text`"),
        (
            good("a").replace("examples: [{input: {text: a}, data: {}}]\n", ""),
            1,
            Severity::Advice,
            "examples",
        ),
        (good("a").replace("data: {}", "data: 3"), 1, Severity::Error, "example 1"),
        (
            good("a").replace("input: {text: a}", "input: {text: 3}"),
            1,
            Severity::Error,
            "`input/text`",
        ),
        (
            good("a").replace("characters", "charac\u{200b}ters"),
            1,
            Severity::Warning,
            "1 invisible",
        ),
        (good("a") + "caps: {network: [api.example.com]}\n", 8, Severity::Warning, "on or off"),
        (
            good("a").replace("{kind: cli, cmd: [cat]}", "{kind: http, url: '{{ input.q }}'}")
                + "caps: {network: [https]}\n",
            8,
            Severity::Warning,
            "callers choose",
        ),
        (
            good("a").replace("{kind: cli, cmd: [cat]}", "{kind: http, url: 'https://x/'}"),
            6,
            Severity::Warning,
            "caps.network",
        ),
        (
            good("a").replace("{kind: cli, cmd: [cat]}", "{kind: python, module: 'far:f'}"),
            6,
            Severity::Warning,
            "read all of",
        ),
        (
            good("a") + "file_strategy: passthrough\nfile_args: {data: x}\n",
            8,
            Severity::Error,
            "has no effect",
        ),
        (good("a").replace("[cat]", "[cat, '{{ env.X }}']"), 6, Severity::Error, "passthrough"),
        (
            good("a").replace("{type: object, properties", "{type: strnig, properties"),
            4,
            Severity::Error,
            "`inputSchema`",
        ),
        (
            good("a").replace("{type: object, properties", "{type: string, properties"),
            4,
            Severity::Error,
            "is an object",
        ),
        (
            good("a").replace("outputSchema: {type: object}", "outputSchema: {type: 5}"),
            5,
            Severity::Error,
            "`outputSchema`",
        ),
        (
            good("a").replace(
                "{type: object, properties: {text: {type: string, description: The text}}}",
                "{$ref: no.json}",
            ),
            4,
            Severity::Error,
            "is an object",
        ),
    ] {
        let setup = Setup::new().await;
        setup.write("tools/no.json", "false");
        setup.write("far.py", "def f(i):\n    return i\n");
        setup.write("tools/a.tool.yaml", &text);
        let findings = lint(&[setup.tools()]);
        let [finding] = &findings[..] else { panic!("{text}\n{findings:#?}") };
        assert_eq!((finding.line, finding.severity), (Some(line), severity), "{text}\n{finding}");
        assert!(finding.message.contains(words), "{finding}");
        assert_eq!(finding.file, setup.tools().join("a.tool.yaml"));
    }
}

#[tokio::test]
async fn look_alikes_are_named() {
    let setup = Setup::new().await;
    setup.write("tools/a.tool.yaml", &good("a.count"));
    setup.write("tools/b.tool.yaml", &good("b.characters").replace("by alphabet.", "by alphabet!"));
    setup.write(
        "tools/c.tool.yaml",
        &good("a-count").replace(
            "Counts the characters of a text, by alphabet.",
            "Something else entirely, about colours.",
        ),
    );
    let findings = lint(&[setup.tools()]);
    assert_eq!(findings.len(), 2, "{findings:#?}");
    assert!(findings.iter().all(|finding| finding.message.contains("`a.count`")));
}

#[tokio::test]
async fn errors_and_missing_folders_are_findings_too() {
    let setup = Setup::new().await;
    setup.write("tools/a.tool.yaml", "id: [");
    setup.write("tools/b.tool.yaml", &good("x"));
    setup.write("tools/c.tool.yaml", &good("x"));
    let findings = lint(&[setup.tools(), setup.root().join("none")]);
    assert_eq!(findings.len(), 3, "{findings:#?}");
}

#[tokio::test]
async fn examples_are_listed() {
    let setup = Setup::new().await;
    setup.write("tools/a.tool.yaml", &good("a.count"));
    setup.write("tools/b.tool.yaml", "id: [");
    setup.write("tools/c.tool.yaml", &pack_text("c", "execution: {kind: cli, cmd: [cat]}"));
    let calls = canned_calls(&[setup.tools()], &HashSet::new());
    let [call] = &calls[..] else { panic!("{calls:?}") };
    assert_eq!((call.tool.as_str(), call.major), ("a.count", 1));
    assert_eq!(call.input, serde_json::json!({"text": "a"}));
}

#[tokio::test]
async fn packs_that_are_not_served_are_named() {
    let setup = Setup::new().await;
    setup.write("tools/a.tool.yaml", &good("taken.name"));
    for major in 1..=4 {
        let text = good("x.many").replace("1.0.0", &format!("{major}.0.0"));
        setup.write(&format!("tools/v{major}.tool.yaml"), &text);
    }
    setup.write("tools/z.tool.yaml", &good("x.many").replace("1.0.0", "4.2.0"));
    let taken = HashSet::from(["taken.name".parse().unwrap()]);
    let findings = toolpack::lint(&[setup.tools()], &taken);
    let reported: Vec<_> = findings
        .iter()
        .map(|finding| {
            (finding.file.file_name().unwrap().to_str().unwrap(), finding.line, finding.severity)
        })
        .collect();
    assert_eq!(
        reported,
        [
            ("a.tool.yaml", Some(1), Severity::Error),
            ("v1.tool.yaml", Some(1), Severity::Warning),
            ("v2.tool.yaml", Some(1), Severity::Warning),
            ("z.tool.yaml", Some(1), Severity::Error),
        ],
        "{findings:#?}"
    );
    let majors: Vec<_> =
        canned_calls(&[setup.tools()], &taken).iter().map(|call| call.major).collect();
    assert_eq!(majors, [3, 4]);
}
