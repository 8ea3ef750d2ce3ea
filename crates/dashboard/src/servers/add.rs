//! Adding a server: the catalog with a search, and the form.

use std::collections::BTreeMap;

use auth::scope;
use axum::extract::{Query, State};
use axum::response::Response;
use http::StatusCode;
use maud::{Markup, html};
use operations::install::{FoundServer, NewServer, ServerInstaller};
use proto::Secret;
use serde::Deserialize;

use super::review::review_page;
use crate::layout::{Page, PageResult, Section, csrf, error_page, heading};
use crate::paths::ADD_SERVER;
use crate::posted::{PostedForm, see_other};
use crate::state::Dashboard;
use crate::viewer::Viewer;
use crate::words::{empty, in_url, inert, message, short};

/// The fields of secrets, followed by the secret's name; and those of variables that the catalog asks for.
const SECRET: &str = "secret/";
const VARIABLE: &str = "env/";

/// The fields that are folded away while they are empty.
const FURTHER: [&str; 3] = ["env", "headers", "cwd"];

#[derive(Default, Deserialize)]
#[serde(default)]
pub(crate) struct Params {
    /// What to search for.
    q: String,
    /// The server that was chosen from the catalog or the registry.
    from: String,
}

pub(super) fn installer<'a>(
    dashboard: &'a Dashboard,
    viewer: &Viewer,
) -> Result<&'a dyn ServerInstaller, Response> {
    viewer.require(scope::ADMIN)?;
    let installer = dashboard.parts.installer.as_deref();
    installer.ok_or_else(|| viewer.missing("Servers cannot be added to this gateway."))
}

pub(crate) async fn page(
    State(dashboard): State<Dashboard>,
    Query(params): Query<Params>,
    viewer: Viewer,
) -> PageResult {
    let installer = installer(&dashboard, &viewer)?;
    let word = if params.from.is_empty() { &params.q } else { &params.from };
    let (found, fault) = match installer.find(word.trim()).await {
        Ok(found) => (found, None),
        Err(error) => (Vec::new(), Some(error.message)),
    };
    let chosen = found.iter().find(|server| server.name == params.from);
    if !params.from.is_empty() && chosen.is_none() {
        let text = fault.unwrap_or_else(|| "The catalog has no such server.".to_owned());
        return Err(error_page(&viewer, StatusCode::NOT_FOUND, "Not found", &text));
    }
    let below = html! { "From the catalog, or by its command or URL. Nothing is started before you have seen what it runs." };
    let actions = html! { a href="/dashboard/servers" { "All servers" } };
    let body = match chosen {
        Some(server) => html! {
            (heading(html! { "Add " (inert(&server.name)) }, message(&server.about), html! { a href=(ADD_SERVER) { "Choose another" } }))
            (chosen_form(server, &viewer))
        },
        None => html! {
            (heading(html! { "Add a server" }, below, actions))
            (own_form(&viewer, &|_| ""))
            div.section-head { h2 { "Catalog" } }
            form.search action=(ADD_SERVER) method="get" data-instant {
                label.hidden for="q" { "Search the catalog" }
                input #q type="search" name="q" value=(params.q) placeholder="Search the catalog" data-search autocomplete="off";
                kbd { "/" }
            }
            div #found data-swap {
                @if let Some(fault) = &fault { p.fault role="alert" { (message(fault)) } }
                @else if found.is_empty() { (empty("No results", html! { p { "Search for another word, or give the command or URL of the server above." } })) }
                @else { ul.rows { @for server in &found { (row(server)) } } }
            }
        },
    };
    Page::new("Add a server", Section::Servers, body).show(&viewer)
}

fn row(server: &FoundServer) -> Markup {
    let needs: Vec<_> = server.secrets.keys().map(String::as_str).collect();
    html! {
        li {
            a.row href=(format!("{ADD_SERVER}?from={}", in_url(&server.name))) {
                span.row-name { (short(&server.name, 80)) }
                span.row-more {
                    (message(&short(&server.about, 160)))
                    @if !server.target.is_empty() { " · " code { (short(&server.target, 100)) } }
                    @if !needs.is_empty() { " · needs " (short(&needs.join(", "), 80)) }
                }
                span.row-end { @if server.in_registry { "registry" } @else { (short(&server.license, 20)) } }
            }
        }
    }
}

/// The form for a command or a URL, with what was typed into its fields before.
fn own_form<'a>(viewer: &Viewer, typed: &dyn Fn(&str) -> &'a str) -> Markup {
    let field = |name, label, placeholder| filled_field(name, label, placeholder, typed(name));
    let lines = |name, label, placeholder| filled_area(name, label, placeholder, typed(name));
    html! {
        form.panel method="post" action=(ADD_SERVER) autocomplete="off" {
            (csrf(viewer))
            div.pair {
                (name_field(typed("name")))
                (field("url", "URL", "https://mcp.example.com/mcp"))
            }
            div.pair {
                (field("program", "or program", "npx"))
                (lines("arguments", "Arguments, one per line", "-y\n@modelcontextprotocol/server-filesystem\n/srv/docs"))
            }
            details.block open[FURTHER.iter().any(|name| !typed(name).is_empty())] {
                summary { "Variables, headers and more" }
                div.pair {
                    (lines("env", "Variables of the program, one per line", "API_KEY=…\nMODE=fast"))
                    (lines("headers", "Headers of every request, one per line", "X-Api-Key: …"))
                }
                div.pair {
                    (field("cwd", "Working directory of the program", "the folder of the config file"))
                    label for="transport" { "Transport of the URL"
                        select #transport name="transport" {
                            @for choice in ["auto", "streamable", "sse"] { option value=(choice) selected[choice == typed("transport")] { (choice) } }
                        }
                    }
                }
            }
            p.hint { "Values that are secrets are stored in the vault, not in the config file." }
            div.buttons { button.primary type="submit" { "Review" } }
        }
    }
}

/// The form for a server of the catalog or the registry.
fn chosen_form(server: &FoundServer, viewer: &Viewer) -> Markup {
    let last = server.name.rsplit('/').next().unwrap_or(&server.name);
    html! {
        form.panel method="post" action=(ADD_SERVER) autocomplete="off" {
            (csrf(viewer))
            input type="hidden" name="from" value=(server.name);
            @if !server.target.is_empty() { p { code { (inert(&server.target)) } } }
            (name_field(last))
            @if let Some(what) = &server.arguments { (lines("arguments", &format!("Arguments, one per line: {what}"), "")) }
            @for (name, what) in &server.env { (field(&format!("{VARIABLE}{name}"), &format!("{name}: {what}"), "")) }
            @for (name, what) in &server.secrets { (secret_field(name, what)) }
            @if server.in_registry {
                (lines("arguments", "Further arguments, one per line", ""))
                (lines("env", "Variables, one per line", "NAME=VALUE"))
                p.hint { "Others wrote this entry. The next page shows all that it runs, sends and sets." }
            }
            @if !server.homepage.is_empty() {
                p.hint { a href=(server.homepage) rel="noreferrer noopener" { (inert(&server.homepage)) } " · " (inert(&server.license)) }
            }
            div.buttons { button.primary type="submit" { "Review" } }
        }
    }
}

fn name_field(value: &str) -> Markup {
    html! {
        label for="name" { "Name" input #name name="name" value=(value) required maxlength="64" spellcheck="false" autocapitalize="off"; }
    }
}

fn field(name: &str, label: &str, placeholder: &str) -> Markup {
    filled_field(name, label, placeholder, "")
}

fn filled_field(name: &str, label: &str, placeholder: &str, value: &str) -> Markup {
    html! { label for=(name) { (label) input #(name) name=(name) value=(value) placeholder=(placeholder) spellcheck="false" autocapitalize="off"; } }
}

fn lines(name: &str, label: &str, placeholder: &str) -> Markup {
    filled_area(name, label, placeholder, "")
}

fn filled_area(name: &str, label: &str, placeholder: &str, text: &str) -> Markup {
    html! { label for=(name) { (label) textarea.code #(name) name=(name) rows="3" placeholder=(placeholder) spellcheck="false" { (text) } } }
}

/// A secret that the server needs; empty if the vault has it or it is stored later.
pub(super) fn secret_field(name: &str, what: &str) -> Markup {
    let id = format!("{SECRET}{name}");
    html! { label for=(id) { (inert(name)) ": " (inert(what)) input #(id) type="password" name=(id) autocomplete="off" spellcheck="false"; } }
}

/// The secrets of a form.
pub(super) fn posted_secrets(posted: &PostedForm) -> impl Iterator<Item = (String, Secret)> {
    let fields = posted.fields().iter();
    let given = fields.filter(|(_, value)| !value.is_empty());
    given.filter_map(|(name, value)| {
        Some((name.strip_prefix(SECRET)?.to_owned(), Secret::new(value.as_str())))
    })
}

/// Keeps what the form says, and redirects to its review; a form that cannot be used is shown again.
pub(crate) async fn draft(State(dashboard): State<Dashboard>, posted: PostedForm) -> PageResult {
    let viewer = &posted.viewer;
    let installer = installer(&dashboard, viewer)?;
    let new = read(&posted).map_err(|why| refused(&posted, &why))?;
    // What comes from the catalog or a registry is looked up once, for the review.
    if new.from.is_none() {
        let preview = installer.preview(&new).await;
        preview.map_err(|error| refused(&posted, &error.message))?;
    }
    let id = dashboard.drafts.add(&viewer.session, new, viewer.now_ms);
    Ok(see_other(&review_page(&id)))
}

fn refused(posted: &PostedForm, why: &str) -> Response {
    let (viewer, title) = (&posted.viewer, "The server cannot be added");
    if !posted.text("from").is_empty() {
        return error_page(viewer, StatusCode::UNPROCESSABLE_ENTITY, title, why);
    }
    let actions = html! { a href=(ADD_SERVER) { "Start over" } };
    let body = html! {
        (heading(html! { "Add a server" }, html! { (title) }, actions))
        p.fault role="alert" { (message(why)) }
        (own_form(viewer, &|name| posted.text(name)))
    };
    let page = Page::new("Add a server", Section::Servers, body);
    page.render(viewer, StatusCode::UNPROCESSABLE_ENTITY)
}

fn read(posted: &PostedForm) -> Result<NewServer, String> {
    let given = |name: &str| {
        let text = posted.text(name).trim();
        (!text.is_empty()).then(|| text.to_owned())
    };
    let arguments: Vec<_> = filled_lines(posted, "arguments").map(str::to_owned).collect();
    let from = given("from");
    let (command, arguments) = match given("program") {
        Some(program) => ([vec![program], arguments].concat(), Vec::new()),
        None if from.is_none() && !arguments.is_empty() => {
            return Err("Arguments need a program.".to_owned());
        }
        None => (Vec::new(), arguments),
    };
    let url = given("url");
    if from.is_none() && command.is_empty() && url.is_none() {
        return Err("Give a URL or a program, or choose a server of the catalog.".to_owned());
    }
    let mut env: BTreeMap<_, _> =
        filled_lines(posted, "env").map(variable).collect::<Result<_, _>>()?;
    env.extend(posted.fields().iter().filter_map(|(name, value)| {
        let name = name.strip_prefix(VARIABLE).filter(|_| !value.trim().is_empty())?;
        Some((name.to_owned(), value.trim().to_owned()))
    }));
    Ok(NewServer {
        name: posted.text("name").trim().to_owned(),
        command,
        url,
        from,
        arguments,
        env,
        headers: filled_lines(posted, "headers").map(header).collect::<Result<_, _>>()?,
        transport: given("transport"),
        cwd: given("cwd").map(Into::into),
        secrets: posted_secrets(posted).collect(),
        ..NewServer::default()
    })
}

fn filled_lines<'a>(posted: &'a PostedForm, name: &str) -> impl Iterator<Item = &'a str> {
    posted.text(name).lines().map(str::trim).filter(|line| !line.is_empty())
}

fn variable(line: &str) -> Result<(String, String), String> {
    match line.split_once('=') {
        Some((name, value)) if !name.trim().is_empty() => {
            Ok((name.trim().to_owned(), value.trim().to_owned()))
        }
        // The value may be a secret, so it is not repeated.
        _ => Err("A line of the variables is not NAME=VALUE.".to_owned()),
    }
}

fn header(line: &str) -> Result<(String, String), String> {
    match line.split_once(':') {
        Some((name, value)) if !name.trim().is_empty() => {
            Ok((name.trim().to_owned(), value.trim().to_owned()))
        }
        _ => Err("A line of the headers is not `Name: value`.".to_owned()),
    }
}
