//! Findings about the settings and this machine, as `powerstrip check` and `powerstrip doctor` print them.

use std::path::{Path, PathBuf};

use auth::scope;
use axum::extract::State;
use maud::{Markup, html};
use operations::servers::{self, SchemaUse, ServerState, causes, lacks_program};
use proto::{Finding, Severity};
use strip::catalog::SchemaForm;

use crate::layout::{Page, PageResult, Section, heading};
use crate::service::Checkup;
use crate::state::Dashboard;
use crate::viewer::Viewer;
use crate::words::{Tone, count, empty, inert, mark, message};

pub(super) async fn page(State(dashboard): State<Dashboard>, viewer: Viewer) -> PageResult {
    // The page shows paths, hosts and programs of this machine.
    viewer.require(scope::METRICS_READ)?;
    let Some(service) = &dashboard.parts.service else {
        return Err(viewer.missing("This gateway cannot check its settings."));
    };
    let mut checkup = service.checkup().await;
    checkup.findings.extend(about_servers(&dashboard, &viewer, &checkup.findings));
    checkup.findings.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
    let snapshot = dashboard.parts.strip.catalog().snapshot();
    let hidden: usize = snapshot.entries().iter().map(|entry| entry.hidden_characters).sum();
    let hiding = snapshot.entries().iter().filter(|entry| entry.hidden_characters > 0).count();
    let below = html! { "powerstrip " (env!("CARGO_PKG_VERSION")) " · " (count(checkup.findings.len(), "finding", "findings")) };
    let body = html! {
        (heading(html! { "Settings check" }, below, html! {}))
        (findings(&checkup.findings))
        h2 { "This gateway" }
        dl.facts {
            div { dt { "Sandbox" } dd { (mark(Tone::Good, &checkup.sandbox.0)) " " span.soft { (checkup.sandbox.1) } } }
            @for (what, ok, more) in &checkup.facts {
                div { dt { (inert(what)) } dd { (mark(if *ok { Tone::Good } else { Tone::Bad }, if *ok { "ok" } else { "not ok" })) " " span.soft { (inert(more)) } } }
            }
            div { dt { "Hidden text" } dd {
                @if hidden == 0 { (mark(Tone::Good, "none")) " " span.soft { "no tool has invisible characters in its definition" } }
                @else { (mark(Tone::Doubtful, "found")) " " span.soft { (hidden) " invisible characters removed from " (count(hiding, "tool", "tools")) } }
            } }
            div { dt { "Quarantine" } dd {
                @if snapshot.quarantined().is_empty() { (mark(Tone::Good, "empty")) }
                @else { (mark(Tone::Doubtful, &count(snapshot.quarantined().len(), "tool", "tools"))) " " a href="/dashboard/catalog" { "Review" } }
            } }
            div { dt { "Not served" } dd {
                @if snapshot.faults().is_empty() { (mark(Tone::Good, "none")) }
                @else { ul.plain { @for fault in snapshot.faults() { li { code { (inert(fault.tool.as_str())) } ": " (inert(&fault.reason)) } } } }
            } }
        }
        (programs(&checkup))
        h2 { "Config in force" }
        p.soft { "Defaults, file, environment and flags, without secrets." }
        pre.code tabindex="0" { (inert(&checkup.config)) }
        p.soft { code { "powerstrip config docs" } " prints the manual page of all settings." }
    };
    Page { live: "catalog", ..Page::new("Settings check", Section::Settings, body) }.show(&viewer)
}

/// What `check` and `doctor` say about the servers, without what the config file itself already showed.
fn about_servers(dashboard: &Dashboard, viewer: &Viewer, known: &[Finding]) -> Vec<Finding> {
    let mut servers = dashboard.parts.console.servers().servers;
    let schemas = match dashboard.parts.strip.schema_form(viewer.principal()) {
        SchemaForm::AsIs => SchemaUse::AsIs,
        SchemaForm::Portable => SchemaUse::Rewritten,
    };
    let is_known = |name: &str| {
        let (entry, field) = (format!("servers.{name}:"), format!("servers.{name}."));
        let mut messages = known.iter().map(|finding| &finding.message);
        messages.any(|text| text.starts_with(&entry) || text.starts_with(&field))
    };
    // The missing variable of a server is a finding of the file.
    servers.retain(|server| {
        let in_file = matches!(server.state, ServerState::NeedsSecret | ServerState::Invalid);
        !(in_file && is_known(&server.name))
    });
    let mut found = servers::findings(&servers, Path::new(""), schemas);
    servers.retain(|server| server.state != ServerState::NeedsSecret && !lacks_program(server));
    found.extend(causes(&servers).into_iter().map(|cause| Finding {
        severity: Severity::Warning,
        file: PathBuf::new(),
        line: None,
        message: format!("{}: {}; {}", cause.servers.join(", "), cause.cause, cause.fix),
    }));
    found
}

fn findings(findings: &[Finding]) -> Markup {
    if findings.is_empty() {
        return empty(
            "No problems found",
            html! { p { "Tools, prompts, servers and config were checked just now." } },
        );
    }
    html! {
        ul.rows {
            @for finding in findings {
                @let (tone, word) = match finding.severity {
                    Severity::Error => (Tone::Bad, "error"),
                    Severity::Warning => (Tone::Doubtful, "warning"),
                    Severity::Advice => (Tone::Quiet, "advice"),
                };
                li { div.row {
                    span.row-name.wrap { (message(&finding.message)) }
                    span.row-more { (inert(&finding.file.display().to_string())) @if let Some(line) = finding.line { ":" (line) } }
                    (mark(tone, word))
                } }
            }
        }
    }
}

fn programs(checkup: &Checkup) -> Markup {
    html! {
        h2 { "Programs on this machine" }
        p.soft { "All of them are optional." }
        dl.facts {
            @for (name, version, unlocks) in &checkup.programs {
                div { dt { (name) } dd { @match version {
                    Some(version) => { (mark(Tone::Good, "found")) " " span.soft { (inert(version)) } }
                    None => { (mark(Tone::Quiet, "missing")) " " span.soft { "needed for " (message(unlocks)) } }
                } } }
            }
        }
    }
}
