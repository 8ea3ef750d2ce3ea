//! The frame around every page.

use axum::body::Body;
use axum::response::Response;
use http::header::CONTENT_TYPE;
use http::{HeaderValue, StatusCode};
use maud::{DOCTYPE, Markup, PreEscaped, html};

use crate::assets::{ICON, SCRIPT, STYLE};
use crate::theme::Theme;
use crate::viewer::Viewer;
use crate::words::inert;

/// A room of the dashboard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Room {
    Overview,
    Catalog,
    Approvals,
    Runs,
    Files,
    Calls,
    Prompts,
    Settings,
}

/// Each room: its name, its address, the key that goes there after `g`, and its picture.
pub(super) const ROOMS: [(Room, &str, &str, &str, &str); 8] = [
    (
        Room::Overview,
        "Overview",
        "/dashboard",
        "o",
        "M3 3h7v9H3zM14 3h7v5h-7zM14 12h7v9h-7zM3 16h7v5H3z",
    ),
    (Room::Catalog, "Catalog", "/dashboard/catalog", "c", "M4 5h16M4 12h16M4 19h10"),
    (
        Room::Approvals,
        "Approvals",
        "/dashboard/approvals",
        "a",
        "M12 3a9 9 0 1 0 9 9M12 7v5l3 2M15 4l2 2 4-4",
    ),
    (
        Room::Runs,
        "Runs",
        "/dashboard/runs",
        "r",
        "M4 6h5v5H4zM15 4h5v5h-5zM15 15h5v5h-5zM9 8h6M9 9l6 8",
    ),
    (Room::Files, "Files", "/dashboard/files", "f", "M6 3h8l5 5v13H6zM14 3v5h5"),
    (Room::Calls, "Calls", "/dashboard/calls", "l", "M3 12h4l3-8 4 16 3-8h4"),
    (Room::Prompts, "Prompts", "/dashboard/prompts", "p", "M4 5h16v11H9l-5 4z"),
    (
        Room::Settings,
        "Settings check",
        "/dashboard/settings",
        "s",
        "M9 12l2 2 4-5M12 3l7 3v6c0 5-3 8-7 9-4-1-7-4-7-9V6z",
    ),
];

/// One page.
pub(super) struct Page<'a> {
    pub(super) title: &'a str,
    pub(super) room: Option<Room>,
    /// What the page is redrawn for; empty if it stands as it is.
    pub(super) live: &'a str,
    /// Every so many seconds it is redrawn; zero for never.
    pub(super) poll: u32,
    pub(super) body: Markup,
}

impl<'a> Page<'a> {
    /// A page that stands as it is.
    pub(super) fn new(title: &'a str, room: Room, body: Markup) -> Self {
        Self { title, room: Some(room), live: "", poll: 0, body }
    }

    pub(super) fn show(self, viewer: &Viewer) -> Response {
        self.show_as(viewer, StatusCode::OK)
    }

    pub(super) fn show_as(self, viewer: &Viewer, status: StatusCode) -> Response {
        let markup = html! {
            (DOCTYPE)
            html lang="en" data-theme=(viewer.theme.word()) {
                (head(self.title))
                body data-live=(self.live) data-poll=(self.poll) {
                    a.skip href="#main" { "Skip to the page" }
                    header.top {
                        (brand())
                        span #top-waiting data-swap {
                            @if viewer.waiting > 0 {
                                a.badge href="/dashboard/approvals" { (viewer.waiting) " waiting" }
                            }
                        }
                        button.menu type="button" popovertarget="nav" aria-label="Menu" { (icon("M4 6h16M4 12h16M4 18h16")) }
                    }
                    (navigation(viewer, self.room))
                    main #main tabindex="-1" { (self.body) }
                    (keys())
                }
            }
        };
        respond(status, markup)
    }
}

/// A page that says what went wrong.
pub(super) fn trouble(viewer: &Viewer, status: StatusCode, title: &str, text: &str) -> Response {
    let body = html! {
        div.empty {
            p.empty-title { (title) }
            div.empty-next { p { (inert(text)) } p { a href="/dashboard" { "Go to the overview" } } }
        }
    };
    Page { title, room: None, live: "", poll: 0, body }.show_as(viewer, status)
}

/// A page for somebody who has not signed in.
pub(super) fn bare(title: &str, status: StatusCode, body: Markup) -> Response {
    let markup = html! {
        (DOCTYPE)
        html lang="en" data-theme="system" {
            (head(title))
            body.bare { main.card #main { (brand()) (body) } }
        }
    };
    respond(status, markup)
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

fn navigation(viewer: &Viewer, room: Option<Room>) -> Markup {
    html! {
        nav #nav popover aria-label="Rooms" {
            (brand())
            ul.rooms #rooms data-swap {
                @for (here, name, place, key, picture) in ROOMS {
                    li {
                        a href=(place) data-key=(key) aria-current=[(room == Some(here)).then_some("page")] {
                            (icon(picture)) span { (name) }
                            @if here == Room::Approvals && viewer.waiting > 0 {
                                span.badge { (viewer.waiting) }
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
                        legend.hidden { "Colours" }
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
                    form method="post" action="/dashboard/sign-out" {
                        (csrf(viewer))
                        button.link type="submit" { "Sign out" }
                    }
                }
                button.link.keys type="button" popovertarget="keys" { "Keyboard " kbd { "?" } }
            }
        }
    }
}

fn keys() -> Markup {
    html! {
        div #keys popover role="dialog" aria-label="Keyboard" {
            h2 { "Keyboard" }
            dl.keys {
                div { dt { kbd { "/" } } dd { "search" } }
                @for (_, name, _, key, _) in ROOMS {
                    div { dt { kbd { "g" } " " kbd { (key) } } dd { (name) } }
                }
                div { dt { kbd { "?" } } dd { "this list" } }
                div { dt { kbd { "Esc" } } dd { "close it" } }
            }
        }
    }
}

/// What proves that a form is of this session. Over plain HTTP no page says it, for browsers send cookies to every port
/// of a host, and whoever listens there could read pages with them: the browser has it from when its person signed in.
pub(super) fn csrf(viewer: &Viewer) -> Markup {
    let token = if viewer.secure { viewer.session.csrf() } else { "" };
    html! { input type="hidden" name="csrf" value=(token); }
}

/// A small picture; it says nothing that the words beside it do not.
pub(super) fn icon(path: &str) -> Markup {
    html! {
        svg.icon viewBox="0 0 24 24" width="18" height="18" aria-hidden="true" focusable="false" {
            path d=(path) fill="none" stroke="currentColor" stroke-width="1.75"
                stroke-linecap="round" stroke-linejoin="round" {}
        }
    }
}

/// The head of a page: its title, a line below it, and what can be done.
pub(super) fn heading(title: Markup, below: Markup, actions: Markup) -> Markup {
    html! {
        header.page-head {
            div { h1 { (title) } p.below { (below) } }
            div.actions { (actions) }
        }
    }
}
