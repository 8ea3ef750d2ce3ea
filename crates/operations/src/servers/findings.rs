//! What is wrong with servers and their tools, as `powerstrip check` and the page of settings show it.

use std::path::Path;

use proto::{Finding, Severity};

use super::{Cause, ServerState, ServerSummary, causes, lacks_program};

/// Whether clients are sent input schemas as servers wrote them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SchemaUse {
    AsIs,
    Rewritten,
}

/// Warnings about servers: missing programs and secrets, hidden text, quarantined tools and schemas that a model API
/// refuses. Wrong entries are found in the config file itself, which may have changed since.
pub fn findings(servers: &[ServerSummary], config: &Path, schemas: SchemaUse) -> Vec<Finding> {
    let mut found = Vec::new();
    for server in servers {
        let mut warn = |message: String| {
            found.push(Finding {
                severity: Severity::Warning,
                file: config.to_owned(),
                line: None,
                message: format!("servers.{}: {message}", server.name),
            });
        };
        if server.state == ServerState::NeedsSecret || lacks_program(server) {
            for Cause { cause, fix, .. } in causes(std::slice::from_ref(server)) {
                warn(format!("{cause}; {fix}"));
            }
        }
        for hiding in &server.hidden_characters {
            warn(format!(
                "the definition of `{}` hides {} invisible characters",
                hiding.tool, hiding.characters
            ));
        }
        for held in &server.quarantined {
            warn(format!("`{}` is quarantined: {}", held.tool, held.reason));
        }
        if schemas == SchemaUse::AsIs
            && let Some(first) = server.unportable.first()
        {
            let refused = match server.unportable.len() {
                1 => "1 tool has an input schema".to_owned(),
                several => format!("{several} tools have input schemas"),
            };
            warn(format!(
                "{refused} that a model API refuses, and with it the whole request; `{}`: {}; `schemas: portable` \
                 rewrites them in lists",
                first.tool, first.reason
            ));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::ToolNote;
    use super::*;

    #[test]
    fn a_missing_program_and_a_refused_schema_are_warnings() {
        let note = ToolNote { tool: "crm:find".to_owned(), reason: "too deep".to_owned() };
        let servers = [
            ServerSummary {
                name: "files".to_owned(),
                state: ServerState::Down,
                last_error: Some("cannot be started: program `npx` was not found".to_owned()),
                ..ServerSummary::default()
            },
            ServerSummary {
                name: "crm".to_owned(),
                state: ServerState::Ready,
                unportable: vec![note],
                ..ServerSummary::default()
            },
            ServerSummary {
                name: "slow".to_owned(),
                state: ServerState::Down,
                last_error: Some("no answer within 10 s".to_owned()),
                ..ServerSummary::default()
            },
        ];
        let file = Path::new("powerstrip.yaml");
        let found = findings(&servers, file, SchemaUse::AsIs);
        let messages: Vec<_> = found.iter().map(|finding| finding.message.as_str()).collect();
        assert_eq!(messages.len(), 2, "{messages:?}");
        assert!(messages[0].starts_with("servers.files: the program `npx` is not installed; "));
        assert!(messages[1].starts_with("servers.crm: 1 tool has an input schema"), "{messages:?}");
        assert_eq!(findings(&servers, file, SchemaUse::Rewritten).len(), 1);
    }
}
