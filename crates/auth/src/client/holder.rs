use proto::Principal;

/// The owner of a token.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Holder {
    /// The gateway: one token for all users.
    Gateway,
    /// One person, whichever agent acts for them.
    Person { tenant: String, subject: String },
}

impl Holder {
    /// The person behind a call.
    pub fn person(principal: &Principal) -> Self {
        Self::Person {
            tenant: principal.tenant.as_str().to_owned(),
            subject: principal.subject.clone(),
        }
    }

    /// Tenant and owner, as stored in rows.
    pub(crate) fn parts(&self) -> (&str, &str) {
        match self {
            Self::Gateway => ("", ""),
            Self::Person { tenant, subject } => (tenant, subject),
        }
    }

    pub(super) fn of_parts(tenant: &str, owner: &str) -> Self {
        match (tenant, owner) {
            ("", "") => Self::Gateway,
            _ => Self::Person { tenant: tenant.to_owned(), subject: owner.to_owned() },
        }
    }
}
