//! How to connect each client to this gateway.

use axum::extract::{Query, State};
use maud::{Markup, html};
use serde::Deserialize;

use crate::layout::{Page, PageResult, Section, heading};
use crate::service::ClientSetup;
use crate::snippet::snippet;
use crate::state::Dashboard;
use crate::viewer::Viewer;
use crate::words::{in_url, inert};

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Params {
    /// The id of the client to show.
    client: String,
}

pub(super) async fn page(
    State(dashboard): State<Dashboard>,
    Query(params): Query<Params>,
    viewer: Viewer,
) -> PageResult {
    let needs_key = dashboard.parts.access.is_guarded();
    let clients = match &dashboard.parts.service {
        Some(service) => service.client_setups(&viewer.base_url, needs_key),
        None => Vec::new(),
    };
    let chosen = clients.iter().find(|client| client.id == params.client).or(clients.first());
    let url = format!("{}/mcp", viewer.base_url);
    let below = html! { "One address for every MCP client. Each sees the tools that its key or agent may use." };
    let body = html! {
        (heading(html! { "Connect" }, below, html! {}))
        h2 { "MCP address" }
        (snippet("mcp-url", &url, "the MCP address"))
        @if needs_key {
            p.hint {
                "Callers need a key. Create one with " code { "powerstrip keys add NAME" } " and put it into the variable "
                code { "POWERSTRIP_TOKEN" } " of the client."
            }
        }
        @if let Some(client) = chosen {
            h2 #clients { "Client" }
            nav.tabs aria-labelledby="clients" {
                @for one in &clients {
                    a href=(format!("/dashboard/connect?client={}", in_url(&one.id)))
                        aria-current=[(one.id == client.id).then_some("page")] { (one.title) }
                }
            }
            (setup(client))
        }
        h2 { "Other programs" }
        p { "Any MCP SDK works with the address above. Without MCP, call a tool over plain HTTP:" }
        (snippet("plain", &crate::curl::command(&viewer.base_url, "demo.echo", &serde_json::json!({"message": "hello"}), needs_key), "the curl command"))
        p.hint { "The API is described at " a href="/openapi.json" { "/openapi.json" } "." }
        @if !dashboard.parts.strip.agents().agents.is_empty() {
            p.hint { "Each agent has its own address: see " a href="/dashboard/agents" { "Agents and skills" } "." }
        }
    };
    Page::new("Connect", Section::Connect, body).show(&viewer)
}

fn setup(client: &ClientSetup) -> Markup {
    html! {
        section.setup {
            @if let Some(command) = &client.command {
                p { "Run this once:" }
                (snippet("command", command, &format!("the command for {}", client.title)))
                p { "Or add this to " code { (inert(&client.file)) } ":" }
            } @else {
                p { "Add this to " code { (inert(&client.file)) } ":" }
            }
            (snippet("entry", &client.snippet, &format!("the configuration of {}", client.title)))
            @if let Some(elsewhere) = &client.file_elsewhere { p.hint { (inert(elsewhere)) } }
            p { "Powerstrip can write the file for you; with " code { "--move" } " it also puts the servers of " (client.title) " behind the gateway:" }
            (snippet("connect", &format!("powerstrip connect {}\npowerstrip connect {} --move", client.id, client.id), "the powerstrip command"))
            p.hint { "Restart " (client.title) " afterwards." }
        }
    }
}
