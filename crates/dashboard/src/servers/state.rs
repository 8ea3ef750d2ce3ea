//! The state of a server in words.

use maud::{Markup, html};
use operations::servers::{Health, ServerState, ServerSummary, causes, lacks_program};

use crate::words::{Tone, inert, mark, message};

/// The state as a dot and a word.
pub(super) fn state_mark(state: ServerState) -> Markup {
    let tone = match state.health() {
        Health::Good => Tone::Good,
        Health::Doubtful => Tone::Doubtful,
        Health::Bad => Tone::Bad,
        Health::Changing | Health::Off => Tone::Quiet,
    };
    mark(tone, state.label())
}

/// What to do about a server that cannot be used.
pub(super) fn advice(server: &ServerSummary) -> Markup {
    html! {
        @match server.state {
            ServerState::NeedsSignIn => {
                "Sign in with " code { "powerstrip login " (inert(&server.name)) } "."
            }
            ServerState::NeedsSecret => {
                "The server starts by itself once the value is there. A variable of the process needs a restart of the gateway."
            }
            ServerState::Invalid => {
                "Correct its entry in the config file. The gateway applies the file when it is saved, and "
                code { "powerstrip check" } " finds mistakes before that."
            }
            ServerState::Down if lacks_program(server) => {
                @for cause in causes(std::slice::from_ref(server)) { "What to do: " (message(&cause.fix)) ". " }
                "The server is tried again by itself."
            }
            ServerState::Down if server.transport != "stdio" => {
                "Check that it runs and that its URL is right. It is tried again by itself."
            }
            ServerState::Down => {
                "Read its standard error below, fix the cause, then restart it. It is also tried again by itself."
            }
            ServerState::Degraded => { "Some of it works. Its log below says what does not." }
            ServerState::Disabled if server.disabled => {
                "It is disabled in the config file: its tools are not served."
            }
            _ => {}
        }
    }
}

/// The address of a server's page.
pub(super) fn server_page(name: &str) -> String {
    format!("/dashboard/servers/{}", crate::words::in_url(name))
}
