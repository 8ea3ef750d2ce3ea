//! The list of servers.

use auth::scope;
use axum::extract::State;
use maud::{Markup, html};
use operations::servers::{Cause, ServerSummary, causes, lacks_program};

use super::state::{server_page, state_mark};
use crate::layout::{Page, PageResult, Section, heading};
use crate::paths::ADD_SERVER;
use crate::state::Dashboard;
use crate::viewer::Viewer;
use crate::words::{count, empty, inert, message, short};

pub(crate) async fn page(State(dashboard): State<Dashboard>, viewer: Viewer) -> PageResult {
    viewer.require(scope::METRICS_READ)?;
    let servers = dashboard.parts.console.servers().servers;
    let broken = servers.iter().filter(|server| server.state.is_broken()).count();
    let below = html! {
        (count(servers.len(), "server", "servers"))
        @if broken > 0 { " · " span.warn { (broken) " with problems" } }
    };
    let body = html! {
        (heading(html! { "Servers" }, below, add_link(&viewer)))
        div #servers-list data-swap {
            (problems(&causes(&servers)))
            (rows(&servers, &viewer))
        }
        @if !servers.is_empty() {
            p.hint.after {
                "Servers are removed on the host, with " code { "powerstrip remove" } " or in " code { "powerstrip.yaml" } "."
            }
        }
    };
    Page { poll: 3, live: "catalog", ..Page::new("Servers", Section::Servers, body) }.show(&viewer)
}

fn add_link(viewer: &Viewer) -> Markup {
    html! { @if viewer.is_operator() { a.button.primary href=(ADD_SERVER) { "Add a server" } } }
}

/// Why servers cannot be used and what to do, each cause once.
fn problems(causes: &[Cause]) -> Markup {
    html! {
        @for cause in causes {
            section.notice.warning {
                p { strong { (short(&cause.servers.join(", "), 160)) } ": " (message(&short(&cause.cause, 240))) }
                p.hint { (message(&cause.fix)) }
            }
        }
    }
}

/// The servers as a list, or what to do if there are none.
pub(crate) fn rows(servers: &[ServerSummary], viewer: &Viewer) -> Markup {
    if servers.is_empty() {
        return empty(
            "No MCP servers yet",
            html! {
                @if viewer.is_operator() { p { a href=(ADD_SERVER) { "Add one here" } ", or on the host of the gateway:" } }
                @else { p { "An operator adds them, here or on the host of the gateway:" } }
                pre { code { "powerstrip add files -- npx -y @modelcontextprotocol/server-filesystem .\npowerstrip import ~/.cursor/mcp.json --write" } }
                p { "The built-in tools and your tool packs work without servers." }
            },
        );
    }
    html! { ul.rows { @for server in servers { (row(server, viewer)) } } }
}

fn row(server: &ServerSummary, viewer: &Viewer) -> Markup {
    let name = &server.name;
    let link = if viewer.may(scope::METRICS_READ) {
        server_page(name)
    } else {
        format!("/dashboard/catalog?server={}", crate::words::in_url(name))
    };
    // Errors of servers contain hosts and paths.
    let error = server.reason.as_ref().or(server.last_error.as_ref());
    let error = error.filter(|_| viewer.may(scope::METRICS_READ) && server.state.is_broken());
    html! {
        li {
            a.row href=(link) {
                span.row-name { (short(name, 60)) }
                span.row-more {
                    (inert(&server.kind)) " · " (count(server.tools, "tool", "tools"))
                    @if !server.quarantined.is_empty() {
                        " · " span.warn { (count(server.quarantined.len(), "tool", "tools")) " in quarantine" }
                    }
                    @if server.restarts > 0 && !lacks_program(server) { " · " (count(usize::try_from(server.restarts).unwrap_or(usize::MAX), "restart", "restarts")) }
                    @if let Some(error) = error { " · " (message(&short(error, 140))) }
                }
                (state_mark(server.state))
            }
        }
    }
}
