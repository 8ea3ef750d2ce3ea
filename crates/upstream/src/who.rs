use std::hash::{Hash, Hasher};
use std::sync::Arc;

use auth::client::Holder;
use proto::Principal;

/// For whom a session or process is kept. What a caller may do now is no part of it, who they are is.
#[derive(Clone, Debug)]
pub(crate) struct Who(Arc<Principal>);

impl Who {
    pub(crate) fn new(principal: &Arc<Principal>) -> Self {
        Self(Arc::clone(principal))
    }

    /// Whose tokens are used.
    pub(crate) fn holder(&self) -> Holder {
        Holder::person(&self.0)
    }

    fn parts(&self) -> (&str, &str, Option<&str>) {
        (self.0.tenant.as_str(), &self.0.subject, self.0.agent.as_deref())
    }
}

impl PartialEq for Who {
    fn eq(&self, other: &Self) -> bool {
        self.parts() == other.parts()
    }
}

impl Eq for Who {}

impl Hash for Who {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.parts().hash(state);
    }
}
