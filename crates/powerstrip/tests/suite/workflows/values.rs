//! Values of intents at the boundary, with the tools of all capability servers: none is dropped silently.

use std::fmt::Write as _;

use reqwest::Method;
use serde_json::{Value, json};
use testkit::{Gateway, eventually, mcp_tools, sibling_program};

use crate::workflows::support::{as_admin, call};

const SERVERS: [&str; 9] = [
    "resume-profile-mcp",
    "job-search-mcp",
    "doc-parser-mcp",
    "media-transform-mcp",
    "video-subtitle-mcp",
    "audit-compliance-mcp",
    "social-intelligence-mcp",
    "image-ocr-mcp",
    "text-analysis-mcp",
];

/// A gateway with the nine servers, which it starts itself.
async fn gateway() -> Gateway {
    let mut config = "servers:\n".to_owned();
    for server in SERVERS {
        let program = sibling_program(server);
        let program = program.display();
        writeln!(config, "  {server}: {{ command: '{program}', args: [--stdio, --keep, 'off'] }}")
            .unwrap();
    }
    let gateway = Gateway::with().config(&config).start().await;
    eventually("all servers list their tools", || async {
        let tools = mcp_tools(&gateway.url("/mcp")).await;
        let has = |server: &str| {
            let prefix = format!("{server}__");
            tools.iter().any(|tool| tool["name"].as_str().unwrap().starts_with(&prefix))
        };
        SERVERS.into_iter().all(has).then_some(())
    })
    .await;
    gateway
}

async fn plan(gateway: &Gateway, intent: &str) -> testkit::Response {
    as_admin(gateway, Method::POST, "/v1/workflows/plan", &json!({"intent": intent})).await
}

/// The arguments and lists of a plan, without the names of tools and tasks.
fn arguments(plan: &Value) -> String {
    let tasks = plan["tasks"].as_array().unwrap_or_else(|| panic!("{plan:#}"));
    tasks.iter().map(|task| format!("{}{}", task["arguments"], task["for_each"])).collect()
}

fn names(plan: &Value, value: &str) -> bool {
    let reasons = plan["reasons"].as_array().unwrap();
    reasons.iter().any(|reason| reason.as_str().unwrap().contains(value))
}

/// Numbers that look random; equal for each run.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 33
    }

    fn of<'a>(&mut self, among: &[&'a str]) -> &'a str {
        among[usize::try_from(self.next()).unwrap() % among.len()]
    }

    /// A value as an intent writes it, and the text by which it is found again.
    fn value(&mut self) -> (String, String) {
        let (number, other) = (self.next() % 90_000 + 10_000, self.next());
        let plain = |text: String| (text.clone(), text);
        match self.next() % 6 {
            0 => (format!("\"zq {number} vx\""), format!("zq {number} vx")),
            1 | 2 => plain(format!("file_{:032x}", u128::from(other) << 70 | u128::from(number))),
            3 => plain(format!("https://zq{number}.example/vx")),
            4 => plain(number.to_string()),
            _ => plain(format!("zq{number}@vx.example")),
        }
    }
}

const REQUESTS: [&str; 24] = [
    "Tailor the resume",
    "Parse the résumé",
    "Extract the profile of",
    "Score the fit of the résumé",
    "Rank the jobs for the résumé",
    "Parse the job description",
    "Generate search queries for the role",
    "Extract the text of",
    "Extract the tables of the document",
    "Show the metadata of",
    "Convert to PDF the document",
    "Generate a DOCX of",
    "Merge the PDF files",
    "Extract the subtitles of the video",
    "Generate a transcript of",
    "Check the quality of the text",
    "Find personal data in",
    "Redact the document",
    "Compare the documents",
    "Analyze the creative",
    "Score the virality of the post",
    "Read the text of the image",
    "Extract keywords from",
    "Summarize the text",
];

const JOINTS: [&str; 8] =
    [" and ", " with ", " to the role ", " for ", " in ", ", then redact ", " as ", ". Summarize "];

#[tokio::test]
async fn every_value_of_an_intent_is_an_argument_or_is_named() {
    let gateway = gateway().await;
    let mut numbers = Numbers(7);
    let mut dropped = Vec::new();
    let mut planned = 0;
    for round in 0..240 {
        let mut intent = REQUESTS[round % REQUESTS.len()].to_owned();
        let mut values = Vec::new();
        for place in 0..=numbers.next() % 4 {
            let (written, value) = numbers.value();
            let joint = if place == 0 { " " } else { numbers.of(&JOINTS) };
            write!(intent, "{joint}{written}").unwrap();
            values.push(value);
        }
        let answer = plan(&gateway, &intent).await;
        if answer.status != 200 {
            // Nothing fits, which says so.
            assert_eq!(answer.status, 400, "{intent}: {answer:?}");
            continue;
        }
        planned += 1;
        let (plan, given) = (&answer.body, arguments(&answer.body));
        for value in values {
            let is_named = names(plan, &value) && plan["confidence"].as_f64().unwrap() < 0.5;
            if !given.contains(&value) && !is_named {
                dropped.push(format!("`{value}` of `{intent}`: {plan:#}"));
            }
        }
    }
    assert!(planned > 120, "only {planned} intents have a plan");
    assert!(dropped.is_empty(), "{} dropped, the first: {}", dropped.len(), dropped[0]);
}

#[tokio::test]
async fn the_file_of_an_intent_reaches_its_tool_and_a_value_too_many_waits() {
    let gateway = gateway().await;
    let file = format!("file_{:032x}", 0x4711_u128);
    let intent = format!("Tailor the resume file {file} to the role \"Data Engineer\"");
    let printed = gateway.run(&["plan", &intent, "--json"]).await.json_of(0);
    assert_eq!(printed["tasks"][0]["tool"], "resume-profile-mcp:tailor_resume", "{printed:#}");
    assert_eq!(printed["tasks"][0]["arguments"]["file_id"], json!(file), "{printed:#}");
    assert_eq!(printed["tasks"][0]["arguments"]["target_role"], "Data Engineer", "{printed:#}");

    let more = format!("{intent} and \"with love\"");
    let printed = gateway.run(&["plan", &more]).await;
    let printed = printed.ok();
    assert!(printed.contains("No task of the plan uses \"with love\""), "{printed}");
    let waiting = call(&gateway, "execute_dag", json!({"intent": more})).await;
    assert_eq!(waiting["status"], "planned", "{waiting:#}");
    assert_eq!(waiting["tasks"][0]["arguments"]["file_id"], json!(file), "{waiting:#}");
    assert!(names(&waiting, "with love"), "{waiting:#}");
    assert!(waiting["confidence"].as_f64().unwrap() < 0.5, "{waiting:#}");

    // A file for a tool that takes none.
    let lost = format!("Generate search queries for the role \"Baker\" with {file}");
    let waiting = call(&gateway, "execute_dag", json!({"intent": lost})).await;
    let taken = waiting["tasks"][0]["arguments"].to_string().contains(&file);
    assert!(waiting["status"] == "planned" && (taken || names(&waiting, &file)), "{waiting:#}");
}
