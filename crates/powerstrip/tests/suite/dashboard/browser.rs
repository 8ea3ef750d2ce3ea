//! Scenarios in a real Chromium, each a script in `browser/`. Without Chromium or its driver they are skipped with a
//! note.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use serde_json::json;
use testkit::{Gateway, GatewayBuilder, McpServer, OidcProvider};
use tokio::process::Command;

use crate::dashboard::support::{NOTES, gateway};

/// As `scripts/test` installs it.
const PACKAGE: &str = "playwright-core@1.65.0";

const AXE: &str = "axe-core@4.14.0";

/// Where `scripts/test` installs a package.
fn modules(package: &str) -> PathBuf {
    let home = std::env::var_os("HOME").map(PathBuf::from).unwrap_or_default();
    let cache = std::env::var_os("XDG_CACHE_HOME").map_or(home.join(".cache"), PathBuf::from);
    cache.join("powerstrip/node-tools").join(package).join("node_modules")
}

/// The driver and the browser.
fn programs() -> Result<(PathBuf, PathBuf), &'static str> {
    let modules = modules(PACKAGE);
    if !modules.join("playwright-core").is_dir() {
        return Err("playwright-core, which scripts/test installs");
    }
    let places = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
    let browser = places.iter().map(Path::new).find(|place| place.exists());
    Ok((modules, browser.ok_or("Chromium, which scripts/test installs")?.to_owned()))
}

async fn run_scenario(name: &str) {
    run_scenario_at(name, gateway(), &[]).await;
}

async fn run_scenario_at(name: &str, gateway: GatewayBuilder, environment: &[(&str, &str)]) {
    let (modules, browser) = match programs() {
        Ok(programs) => programs,
        Err(missing) => {
            testkit::skip_without(missing);
            return;
        }
    };
    let gateway = gateway.start().await;
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let target = testkit::powerstrip_binary();
    let target = target.parent().and_then(Path::parent).unwrap();
    let output = Command::new("node")
        .arg(here.join("tests/suite/dashboard/browser").join(name))
        .env("MODULES", modules)
        .env("CHROMIUM", browser)
        .env("GATEWAY", gateway.url(""))
        .env("TOKEN", gateway.admin_token())
        .env("FOLDER", gateway.folder())
        .env("POWERSTRIP", testkit::powerstrip_binary())
        .env("SCREENS", target.join("screens"))
        .envs(environment.iter().copied())
        .stdin(Stdio::null())
        .kill_on_drop(true)
        .output()
        .await
        .expect("node runs");
    assert!(
        output.status.success(),
        "{name}\n{}\n{}\n{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
        gateway.log()
    );
}

#[tokio::test]
async fn a_question_of_a_run_is_answered_on_its_page() {
    run_scenario("question.mjs").await;
}

#[tokio::test]
async fn users_sign_in_and_out() {
    run_scenario("sign_in.mjs").await;
}

#[tokio::test]
async fn users_sign_in_at_a_real_identity_provider() {
    // On the same site, the browser would send all cookies with every request.
    let Some(provider) = OidcProvider::start_as_another_site().await else { return };
    let auth = format!(
        "auth: {{ issuer: '{}', tenant_claim: org, sign_in: {{ client_id: dashboard }} }}",
        provider.issuer()
    );
    let gateway = gateway().config(&auth).env("POWERSTRIP_LOG", "debug");
    run_scenario_at("provider.mjs", gateway, &[("ISSUER", provider.issuer())]).await;
}

#[tokio::test]
async fn approvals_are_decided_and_expire_in_two_tabs() {
    run_scenario("approvals.mjs").await;
}

#[tokio::test]
async fn a_tool_with_a_nested_schema_can_be_tried() {
    run_scenario("try_it.mjs").await;
}

#[tokio::test]
async fn hostile_arguments_stay_inert() {
    run_scenario("hostile.mjs").await;
}

#[tokio::test]
async fn every_control_is_reachable_by_keyboard() {
    run_scenario("keyboard.mjs").await;
}

/// A gateway with something on every page.
fn furnished() -> GatewayBuilder {
    let servers = "servers:\n  notes: { command: python3, args: [notes.py], env: { NOTES_KEY: { secret: NOTES_KEY } } }\n  \
        crm: { command: sh, args: [-c, \"echo 'crm: the licence file is missing' >&2; exit 3\"] }\n";
    gateway().file("notes.py", NOTES).file("notes.json", "{}").config(servers)
}

#[tokio::test]
async fn every_page_fits_every_screen() {
    run_scenario_at("pages.mjs", furnished(), &[]).await;
}

#[tokio::test]
async fn no_page_has_serious_accessibility_findings() {
    let axe = modules(AXE).join("axe-core/axe.min.js");
    if !axe.is_file() {
        testkit::skip_without("axe-core, which scripts/test installs");
        return;
    }
    let axe = axe.to_string_lossy();
    run_scenario_at("axe.mjs", furnished(), &[("AXE", &axe)]).await;
}

#[tokio::test]
async fn approvals_are_decided_by_keyboard() {
    run_scenario("decide.mjs").await;
}

#[tokio::test]
async fn secrets_and_keys_are_managed_on_their_pages() {
    run_scenario_at("vault.mjs", furnished(), &[]).await;
}

#[tokio::test]
async fn servers_are_watched_restarted_and_switched() {
    let tool =
        json!({"name": "ping", "description": "Answers.", "inputSchema": {"type": "object"}});
    let remote = McpServer::start(vec![tool]).await;
    let config = format!(
        "audit: {{ payloads: redacted }}\nservers:\n  notes:\n    command: python3\n    args: [notes.py]\n    env: \
         {{ NOTES_KEY: {{ secret: NOTES_KEY }} }}\n  remote: {{ url: '{}' }}\n",
        remote.url()
    );
    let notes = "{\"milk\": \"two bottles\"}";
    let gateway = Gateway::with().file("notes.py", NOTES).file("notes.json", notes).config(&config);
    run_scenario_at("servers.mjs", gateway, &[]).await;
}

#[tokio::test]
async fn a_server_is_added_in_the_browser() {
    let notes = "{\"milk\": \"two bottles\"}";
    let gateway = Gateway::with()
        .file("notes.py", NOTES)
        .file("notes.json", notes)
        .config("# Stays.\nservers: {}\n");
    run_scenario_at("add_server.mjs", gateway, &[]).await;
}
