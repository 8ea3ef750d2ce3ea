//! Mistakes in tools, prompts, agents and config that can be found without running anything.

mod agents;

use std::collections::HashSet;
use std::path::Path;

use config::{Config, Fault, Loaded, Schemas};
use proto::{Clock, Finding, Severity, ToolId};

/// The tools of the research flow, which a toolpack of the same id replaces.
const RESEARCH_FLOW: [&str; 17] = [
    "citations.audit.check",
    "docs.load.fetch",
    "exports.render.markdown",
    "hitl.outline_review",
    "hitl.questions_merge",
    "knowledge:research_domain",
    "planner.multi_perspective",
    "rerank.results",
    "research.compose",
    "research.diff",
    "research.execute",
    "research.summarize",
    "vector.index.add",
    "vector.index.delete",
    "vector.index.list",
    "vector.query.search",
    "web.search.query",
];

/// Checks the tools, prompts and agents of a configuration without running anything.
pub fn check_config(loaded: &Loaded) -> Vec<Finding> {
    let (config, reserved) = (&loaded.config, reserved_ids());
    let research_flow: HashSet<ToolId> =
        RESEARCH_FLOW.iter().filter_map(|id| id.parse().ok()).collect();
    let mut findings = lint(config, &reserved);
    findings.extend(toolpack::replacements(&config.tools, &reserved, &research_flow));
    findings.extend(
        loaded
            .warnings
            .iter()
            .cloned()
            .map(|fault| Finding { severity: Severity::Warning, ..as_finding(fault) }),
    );
    findings.extend(loaded.invalid.values().flatten().cloned().map(as_finding));
    let mut known = toolpack::pack_ids(&config.tools, &reserved);
    known.extend(reserved);
    known.extend(research_flow);
    findings.extend(agents::check(loaded, &known));
    findings
}

/// Secrets that this process cannot find, without looking into the vault.
pub fn missing_secrets(loaded: &Loaded, severity: Severity) -> Vec<Finding> {
    let missing = loaded.missing_outside_vault().into_iter();
    missing.map(|fault| Finding { severity, ..as_finding(fault) }).collect()
}

/// The ids of built-in tools, which toolpacks cannot use.
pub fn reserved_ids() -> HashSet<ToolId> {
    let built_in = builtin::tools(Clock::default());
    built_in.iter().map(|tool| tool.descriptor().id.clone()).collect()
}

/// A fault of the config file as a finding.
pub fn as_finding(fault: Fault) -> Finding {
    let message = if fault.key.is_empty() {
        fault.message
    } else {
        format!("{}: {}", fault.key, fault.message)
    };
    Finding {
        severity: Severity::Error,
        file: fault.file.unwrap_or_default(),
        line: fault.line,
        message,
    }
}

/// Lints toolpacks and prompts.
fn lint(config: &Config, reserved: &HashSet<ToolId>) -> Vec<Finding> {
    // The default folder may be missing; a configured one must exist.
    let missing_default = |folder: &Path| !folder.exists() && folder.ends_with("tools");
    let tools: Vec<_> =
        config.tools.iter().filter(|folder| !missing_default(folder)).cloned().collect();
    let mut findings = toolpack::lint(&tools, reserved);
    if config.schemas == Schemas::AsIs {
        findings.extend(toolpack::unportable(&tools, reserved));
    }
    findings.extend(prompts::lint(&config.prompts));
    findings
}
