use std::sync::Arc;

use proto::{Audience, Principal, Via};

/// The caller as an agent; `None` if its token names another agent.
pub fn as_agent(principal: &Arc<Principal>, agent: &str) -> Option<Arc<Principal>> {
    match principal.agent.as_deref() {
        Some(own) if own == agent => Some(Arc::clone(principal)),
        Some(_) => None,
        None => {
            let mut principal = Principal::clone(principal);
            principal.agent = Some(agent.to_owned());
            Some(Arc::new(principal))
        }
    }
}

/// Whether the credential of a caller is for this path. A token for the doors of agents opens those only.
pub(crate) fn opens(principal: &Principal, path: &str) -> bool {
    let Via::Token { audience: Audience::Agents(agents), .. } = &principal.via else { return true };
    let door = path.strip_prefix("/agents/").and_then(|rest| rest.split_once('/'));
    door.is_some_and(|(agent, _)| agents.iter().any(|known| known == agent))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::LocalAccess;

    #[test]
    fn an_agent_cannot_become_another_agent() {
        let user = LocalAccess::default().user();
        let analyst = as_agent(&user, "analyst").expect("the user may act as any agent");
        assert_eq!(analyst.agent.as_deref(), Some("analyst"));
        assert_eq!((&analyst.tenant, &analyst.subject), (&user.tenant, &user.subject));
        assert_eq!(as_agent(&analyst, "analyst"), Some(Arc::clone(&analyst)));
        assert_eq!(as_agent(&analyst, "writer"), None);
    }
}
