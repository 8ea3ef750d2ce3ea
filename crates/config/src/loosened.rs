//! Finds protections that a changed config removes. They are logged and audited, because they may be mistakes.

use crate::agents::{Approve, Skill};
use crate::{Config, Payloads, Sandbox};

/// The keys that protect less than before: `auth`, approvals, limits, the sandbox, what is kept of calls.
pub fn loosened(before: &Config, now: &Config) -> Vec<String> {
    let mut keys = Vec::new();
    if before.auth.is_some() && now.auth.is_none() {
        keys.push("auth".to_owned());
    }
    let strictness = |sandbox| match sandbox {
        Sandbox::Off => 0,
        Sandbox::Auto => 1,
        Sandbox::Required => 2,
    };
    if strictness(now.sandbox) < strictness(before.sandbox) {
        keys.push("sandbox".to_owned());
    }
    if before.audit.payloads == Payloads::Off && now.audit.payloads == Payloads::Redacted {
        keys.push("audit.payloads".to_owned());
    }
    for (name, skill) in &before.skills {
        keys.extend(gates_removed(name, skill, now.skills.get(name)));
    }
    let kept = now.limits.set_keys();
    keys.extend(before.limits.set_keys().into_iter().filter(|limit| !kept.contains(limit)));
    keys
}

/// The keys of a skill that no longer require approval.
fn gates_removed(name: &str, before: &Skill, now: Option<&Skill>) -> Vec<String> {
    let asks = |skill: &Skill| {
        !skill.auto_approve || skill.approve.values().any(|approve| *approve == Approve::Always)
    };
    if !asks(before) {
        return Vec::new();
    }
    let Some(now) = now else { return vec![format!("skills.{name}")] };
    let mut keys = Vec::new();
    if !before.auto_approve && now.auto_approve {
        keys.push(format!("skills.{name}.auto_approve"));
    }
    if !before.servers.is_subset(&now.servers) {
        keys.push(format!("skills.{name}.servers"));
    }
    if before.tools.iter().any(|tools| !now.tools.contains(tools)) {
        keys.push(format!("skills.{name}.tools"));
    }
    for (tools, approve) in &before.approve {
        if *approve == Approve::Always && now.approve.get(tools) != Some(approve) {
            keys.push(format!("skills.{name}.approve.{}", tools.0));
        }
    }
    for (tools, approve) in &now.approve {
        if *approve == Approve::Never && !before.approve.contains_key(tools) {
            keys.push(format!("skills.{name}.approve.{}", tools.0));
        }
    }
    keys
}

#[cfg(test)]
mod tests;
