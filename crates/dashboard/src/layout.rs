//! The layout of every page.

use axum::body::Body;
use axum::response::Response;
use http::header::CONTENT_TYPE;
use http::{HeaderValue, StatusCode};
use maud::{DOCTYPE, Markup, PreEscaped, html};

use crate::assets::{ICON, SCRIPT, STYLE};
use crate::headers;
use crate::paths::SECRETS;
use crate::theme::Theme;
use crate::viewer::Viewer;
use crate::words::{inert, message};

/// A section of the dashboard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Section {
    Overview,
    Servers,
    Catalog,
    Calls,
    Approvals,
    Runs,
    Files,
    Prompts,
    Agents,
    Connect,
    Secrets,
    Keys,
    Settings,
}

impl Section {
    /// Whether only an operator can open it.
    fn is_for_operators(self) -> bool {
        matches!(self, Self::Secrets | Self::Keys)
    }
}

/// Each section: its name, its path, its keyboard shortcut after `g`, and its icon.
pub(super) const SECTIONS: [(Section, &str, &str, &str, &str); 13] = [
    (
        Section::Overview,
        "Overview",
        "/dashboard",
        "o",
        "M3 3h7v9H3zM14 3h7v5h-7zM14 12h7v9h-7zM3 16h7v5H3z",
    ),
    (
        Section::Servers,
        "Servers",
        "/dashboard/servers",
        "v",
        "M4 4h16v6H4zM4 14h16v6H4zM8 7h.01M8 17h.01",
    ),
    (Section::Catalog, "Catalog", "/dashboard/catalog", "c", "M4 5h16M4 12h16M4 19h10"),
    (Section::Calls, "Calls", "/dashboard/calls", "l", "M3 12h4l3-8 4 16 3-8h4"),
    (
        Section::Approvals,
        "Approvals",
        "/dashboard/approvals",
        "a",
        "M12 3a9 9 0 1 0 9 9M12 7v5l3 2M15 4l2 2 4-4",
    ),
    (
        Section::Runs,
        "Runs",
        "/dashboard/runs",
        "r",
        "M4 6h5v5H4zM15 4h5v5h-5zM15 15h5v5h-5zM9 8h6M9 9l6 8",
    ),
    (Section::Files, "Files", "/dashboard/files", "f", "M6 3h8l5 5v13H6zM14 3v5h5"),
    (Section::Prompts, "Prompts", "/dashboard/prompts", "p", "M4 5h16v11H9l-5 4z"),
    (
        Section::Agents,
        "Agents and skills",
        "/dashboard/agents",
        "k",
        "M12 4v3M6 7h12v11H6zM9 12h.01M15 12h.01M3 12v3M21 12v3M10 15h4",
    ),
    (
        Section::Connect,
        "Connect",
        "/dashboard/connect",
        "n",
        "M9 3v5M15 3v5M6 8h12v3a6 6 0 0 1-12 0zM12 17v4",
    ),
    (
        Section::Secrets,
        "Secrets",
        "/dashboard/vault",
        "e",
        "M6 11h12v9H6zM9 11V8a3 3 0 0 1 6 0v3M12 15v2",
    ),
    (
        Section::Keys,
        "Keys",
        "/dashboard/keys",
        "y",
        "M8 12a4 4 0 1 0 0 .01M12 12h9M18 12v4M15 12v3",
    ),
    (
        Section::Settings,
        "Settings check",
        "/dashboard/settings",
        "s",
        "M9 12l2 2 4-5M12 3l7 3v6c0 5-3 8-7 9-4-1-7-4-7-9V6z",
    ),
];

/// A page, or the error page to show instead.
pub(super) type PageResult = Result<Response, Response>;

/// One page.
pub(super) struct Page<'a> {
    pub(super) title: &'a str,
    pub(super) section: Option<Section>,
    /// The topics whose changes redraw the page; empty for none.
    pub(super) live: &'a str,
    /// The interval in seconds after which it is redrawn; zero for never.
    pub(super) poll: u32,
    pub(super) body: Markup,
}

impl<'a> Page<'a> {
    /// A page that is not redrawn.
    pub(super) fn new(title: &'a str, section: Section, body: Markup) -> Self {
        Self { title, section: Some(section), live: "", poll: 0, body }
    }

    pub(super) fn show(self, viewer: &Viewer) -> PageResult {
        self.show_as(viewer, StatusCode::OK)
    }

    pub(super) fn show_as(self, viewer: &Viewer, status: StatusCode) -> PageResult {
        Ok(self.render(viewer, status))
    }

    pub(super) fn render(self, viewer: &Viewer, status: StatusCode) -> Response {
        let markup = html! {
            (DOCTYPE)
            html lang="en" data-theme=(viewer.theme.word()) {
                (head(self.title))
                body data-live=(self.live) data-poll=(self.poll) {
                    a.skip href="#main" { "Skip to content" }
                    header.top {
                        (brand())
                        span #top-waiting data-swap {
                            @if let Some(pending) = viewer.pending_badge() {
                                a.badge href="/dashboard/approvals" { (pending) " pending" }
                            }
                        }
                        button.menu type="button" popovertarget="nav" aria-label="Menu" { (icon("M4 6h16M4 12h16M4 18h16")) }
                    }
                    (navigation(viewer, self.section))
                    main #main tabindex="-1" { (self.body) }
                    (keys(viewer))
                    // What the script says to screen readers.
                    div.hidden #said role="status" {}
                }
            }
        };
        respond(status, markup)
    }
}

/// A page with an error message.
pub(super) fn error_page(viewer: &Viewer, status: StatusCode, title: &str, text: &str) -> Response {
    let body = html! {
        div.empty {
            p.empty-title { (title) }
            div.empty-next { p { (message(text)) } p { a href="/dashboard"{ "Go to the overview" } } }
        }
    };
    Page { title, section: None, live: "", poll: 0, body }.render(viewer, status)
}

/// A page without navigation, for browsers without a session.
pub(super) fn bare_page(title: &str, status: StatusCode, body: Markup) -> Response {
    let markup = html! {
        (DOCTYPE)
        html lang="en" data-theme="system" {
            (head(title))
            body.bare { main.card #main { (brand()) (body) } }
        }
    };
    respond(status, markup)
}

/// A page without navigation, for something that does not exist or that the browser may not see.
pub(super) fn bare_refusal(status: StatusCode, text: &str) -> Response {
    let title = if status == StatusCode::NOT_FOUND { "Not found" } else { "Access denied" };
    let body = html! {
        h1 { (title) }
        p { (inert(text)) }
        div.buttons { a.button href="/dashboard" { "Open the dashboard" } }
    };
    let mut response = bare_page(title, status, body);
    headers::guard(response.headers_mut());
    response
}

/// A page without navigation, with an error message.
pub(super) fn bare_error(status: StatusCode, text: &str) -> Response {
    let mut response = bare_page("Error", status, html! { h1 { "Request failed" } p { (text) } });
    headers::guard(response.headers_mut());
    response
}

fn respond(status: StatusCode, markup: Markup) -> Response {
    let mut response = Response::new(Body::from(markup.into_string()));
    *response.status_mut() = status;
    let kind = HeaderValue::from_static("text/html; charset=utf-8");
    response.headers_mut().insert(CONTENT_TYPE, kind);
    response
}

fn head(title: &str) -> Markup {
    html! {
        head {
            meta charset="utf-8";
            meta name="viewport" content="width=device-width, initial-scale=1";
            meta name="color-scheme" content="light dark";
            title { (inert(title)) " · Powerstrip" }
            link rel="icon" href=(ICON.url()) type="image/svg+xml";
            link rel="stylesheet" href=(STYLE.url());
            script src=(SCRIPT.url()) defer {}
        }
    }
}

fn brand() -> Markup {
    html! {
        a.brand href="/dashboard" {
            (PreEscaped(include_str!("assets/icon.svg")))
            span { "Powerstrip" }
        }
    }
}

fn navigation(viewer: &Viewer, current: Option<Section>) -> Markup {
    html! {
        nav #nav popover aria-label="Sections" {
            (brand())
            ul.sections #sections data-swap {
                @for (section, name, path, key, shape) in sections(viewer) {
                    li {
                        a href=(path) data-key=(key) aria-current=[(current == Some(section)).then_some("page")] {
                            (icon(shape)) span { (name) }
                            @if section == Section::Approvals
                                && let Some(pending) = viewer.pending_badge()
                            {
                                span.badge { (pending) }
                            }
                        }
                    }
                }
            }
            div.foot {
                form.switch method="post" action="/dashboard/theme" {
                    (csrf(viewer))
                    input type="hidden" name="next" value=(viewer.here);
                    fieldset {
                        legend.hidden { "Theme" }
                        @for (theme, name) in Theme::ALL {
                            button type="submit" name="theme" value=(theme.word())
                                aria-pressed=(if viewer.theme == theme { "true" } else { "false" }) { (name) }
                        }
                    }
                }
                div.who {
                    span title=(inert(viewer.principal().tenant.as_str())) {
                        (inert(&viewer.principal().subject))
                    }
                    a.link href=(SECRETS) { "My secrets" }
                    form method="post" action="/dashboard/sign-out" {
                        (csrf(viewer))
                        button.link type="submit" { "Sign out" }
                    }
                }
                button.link.keys type="button" popovertarget="keys" { "Shortcuts " kbd { "?" } }
            }
        }
    }
}

/// The sections that a viewer can open.
fn sections(
    viewer: &Viewer,
) -> impl Iterator<Item = (Section, &'static str, &'static str, &'static str, &'static str)> {
    let operator = viewer.is_operator();
    SECTIONS.into_iter().filter(move |(section, ..)| operator || !section.is_for_operators())
}

fn keys(viewer: &Viewer) -> Markup {
    html! {
        div #keys popover role="dialog" aria-label="Keyboard shortcuts" {
            h2 { "Keyboard shortcuts" }
            dl.keys {
                div { dt { kbd { "/" } } dd { "search" } }
                div { dt { kbd { "j" } " " kbd { "k" } } dd { "next and previous approval" } }
                div { dt { kbd { "Enter" } } dd { "open the approval" } }
                div { dt { kbd { "a" } " " kbd { "r" } } dd { "approve or reject: press twice" } }
                @for (_, name, _, key, _) in sections(viewer) {
                    div { dt { kbd { "g" } " " kbd { (key) } } dd { (name) } }
                }
                div { dt { kbd { "?" } } dd { "show this list" } }
                div { dt { kbd { "Esc" } } dd { "close" } }
            }
        }
    }
}

/// The CSRF token of the session. Over plain HTTP no page contains it: browsers send cookies to every port of a host, so
/// another server on this host could fetch pages with them. The script has stored the token at sign-in.
pub(super) fn csrf(viewer: &Viewer) -> Markup {
    let token = if viewer.secure { viewer.session.csrf() } else { "" };
    html! { input type="hidden" name="csrf" value=(token); }
}

/// A decorative icon.
pub(super) fn icon(path: &str) -> Markup {
    html! {
        svg.icon viewBox="0 0 24 24" width="18" height="18" aria-hidden="true" focusable="false" {
            path d=(path) fill="none" stroke="currentColor" stroke-width="1.75"
                stroke-linecap="round" stroke-linejoin="round" {}
        }
    }
}

/// The head of a page: its title, a line below it, and its actions.
pub(super) fn heading(title: Markup, below: Markup, actions: Markup) -> Markup {
    html! {
        header.page-head {
            div { h1 { (title) } p.below { (below) } }
            div.actions { (actions) }
        }
    }
}
