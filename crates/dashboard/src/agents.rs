//! Agents, their skills, and the tools that each agent may call.

use auth::scope;
use axum::extract::State;
use maud::{Markup, html};
use strip::agents::{AgentReport, Approve, Skill};

use crate::layout::{Page, PageResult, Section, heading};
use crate::snippet::snippet;
use crate::state::Dashboard;
use crate::time;
use crate::viewer::Viewer;
use crate::words::{count, empty, in_url, inert, tool_page};

const EXAMPLE: &str = "\
skills:
  support:
    servers: [crm]
    tools: ['mail.*']
    auto_approve: false
agents:
  helpdesk:
    skills: [support]";

pub(super) async fn page(State(dashboard): State<Dashboard>, viewer: Viewer) -> PageResult {
    viewer.require(scope::TOOLS_READ)?;
    let strip = &dashboard.parts.strip;
    let (profiles, agents) = (strip.agents(), strip.agent_reports());
    let below = html! {
        (count(agents.len(), "agent", "agents")) " · " (count(profiles.skills.len(), "skill", "skills"))
    };
    let body = html! {
        (heading(html! { "Agents and skills" }, below, html! {}))
        @if agents.is_empty() && profiles.skills.is_empty() {
            (empty("No agents yet", html! {
                p { "A skill is a set of tools. An agent has skills, and an address at which it sees only their tools. Both are named in " code { "powerstrip.yaml" } ":" }
                pre { code { (EXAMPLE) } }
            }))
        } @else {
            h2 { "Agents" }
            @if agents.is_empty() { p.soft { "No agent uses these skills yet." } }
            @for agent in &agents { (agent_card(agent, &viewer)) }
            h2 { "Skills" }
            @for (name, skill) in &profiles.skills {
                @let users: Vec<_> = agents.iter().filter(|agent| agent.skills.contains(name)).collect();
                (skill_card(&dashboard, name, skill, &users))
            }
        }
    };
    Page { live: "catalog", ..Page::new("Agents and skills", Section::Agents, body) }.show(&viewer)
}

fn agent_card(agent: &AgentReport, viewer: &Viewer) -> Markup {
    let id = format!("agent-{}", agent.name);
    let url = format!("{}/agents/{}/mcp", viewer.base_url, in_url(&agent.name));
    html! {
        section.rule aria-labelledby=(id) {
            div.rule-head {
                h3 #(id) { (inert(&agent.name)) }
                span.tags {
                    @if agent.discovery == "search" { span.tag title="Its list has search tools instead of all tools" { "search" } }
                    @for skill in &agent.skills { a.tag href=(format!("#skill-{}", in_url(skill))) { (inert(skill)) } }
                }
            }
            (snippet(&format!("url-{}", agent.name), &url, &format!("the address of {}", agent.name)))
            details {
                summary {
                    (count(agent.tools.len(), "tool", "tools"))
                    @if !agent.approval.is_empty() { ", " (agent.approval.len()) " with approval" }
                }
                ul.columns-list {
                    @for tool in &agent.tools {
                        li {
                            a href=(tool_page(tool.as_str())) { code { (inert(tool.as_str())) } }
                            @if agent.approval.contains(tool) { " " span.tag { "approval" } }
                        }
                    }
                }
            }
        }
    }
}

/// The page of a server; a built-in family has none, so its tools in the catalog.
fn server_link(dashboard: &Dashboard, name: &str) -> String {
    let servers = dashboard.parts.console.servers().servers;
    if servers.iter().any(|server| server.name == name) {
        format!("/dashboard/servers/{}", in_url(name))
    } else {
        format!("/dashboard/catalog?server={}", in_url(name))
    }
}

fn skill_card(dashboard: &Dashboard, name: &str, skill: &Skill, users: &[&AgentReport]) -> Markup {
    let snapshot = dashboard.parts.strip.catalog().snapshot();
    let tools = snapshot
        .entries()
        .iter()
        .filter(|entry| entry.superseded_by.is_none() && skill.holds(&entry.descriptor.id))
        .count();
    html! {
        section.rule #{ "skill-" (name) } aria-labelledby=(format!("title-{name}")) {
            div.rule-head {
                h3 #{ "title-" (name) } { (inert(name)) }
                span.soft { (count(tools, "tool", "tools")) }
            }
            dl.facts.flat {
                @if !skill.servers.is_empty() {
                    div { dt { "Servers" } dd { @for server in &skill.servers {
                        a.tag href=(server_link(dashboard, server)) { (inert(server)) } " "
                    } } }
                }
                @if !skill.tools.is_empty() {
                    div { dt { "Tools" } dd { @for pattern in &skill.tools { code.tag { (inert(pattern.as_str())) } " " } } }
                }
                div { dt { "Approval" } dd {
                    @if skill.auto_approve { "not required" }
                    @else { "required within " (time::uptime(skill.approval_timeout.as_secs())) }
                    @for (pattern, approve) in &skill.approve {
                        br;
                        code { (inert(pattern.as_str())) } " "
                        @match approve { Approve::Always => "always", Approve::Never => "never" }
                    }
                } }
                div { dt { "Agents" } dd {
                    @if users.is_empty() { span.soft { "none" } }
                    @for (at, agent) in users.iter().enumerate() { @if at > 0 { ", " } (inert(&agent.name)) }
                } }
            }
        }
    }
}
