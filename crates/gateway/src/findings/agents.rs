//! Skills whose patterns match no tool, and embeddings models that cannot be read.

use std::collections::HashSet;

use config::Loaded;
use language::model::StaticModel;
use proto::{Finding, Pattern, Severity, ToolId};
use strip::agents::FINDERS;

/// Checks agents and skills without contacting a server. `known` are the tools that need no server.
pub(super) fn check(loaded: &Loaded, known: &HashSet<ToolId>) -> Vec<Finding> {
    let config = &loaded.config;
    let warning = |message: String| Finding {
        severity: Severity::Warning,
        file: loaded.file.clone().unwrap_or_default(),
        line: None,
        message,
    };
    let discovery: HashSet<ToolId> = FINDERS.iter().filter_map(|id| id.parse().ok()).collect();
    // The tools of a server are unknown until it answers.
    let may_match = |pattern: &Pattern| {
        known.iter().chain(&discovery).any(|id| pattern.matches(id))
            || config.servers.keys().any(|server| pattern.reaches(server))
    };
    let mut findings = Vec::new();
    for (name, skill) in &config.skills {
        let named = skill.tools.iter().map(|tools| ("tools", tools));
        let approved = skill.approve.keys().map(|tools| ("approve", tools));
        for (key, tools) in named.chain(approved) {
            if !may_match(&tools.0) {
                let message =
                    format!("skills.{name}.{key}: `{}` names no tool at present", tools.0);
                findings.push(warning(message));
            }
        }
    }
    if let Some(folder) = &config.embeddings.path
        && let Err(error) = StaticModel::open(folder)
    {
        findings.push(warning(format!("embeddings.path: {error}; tools are found by words only")));
    }
    findings
}
