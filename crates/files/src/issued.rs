//! Which server issued which reference, for callers that pass it to a tool of another server.

use std::time::Duration;

use proto::{Failure, Principal};
use store::ForeignReference;

use super::failures::storage_failed;
use super::files::{Files, millis};

/// How long the server of a reference is remembered.
const REMEMBERED: Duration = Duration::from_secs(24 * 3600);

/// A reference in the answer of a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IssuedReference {
    pub reference: String,
    /// The resource by which it can be read.
    pub uri: Option<String>,
}

impl Files {
    /// Remembers the references that a server issued to a caller.
    pub async fn remember_issued(
        &self,
        caller: &Principal,
        server: &str,
        issued: Vec<IssuedReference>,
    ) -> Result<(), Failure> {
        let expires_ms = self.clock.unix_ms().saturating_add(millis(REMEMBERED));
        let rows: Vec<_> = issued
            .into_iter()
            .map(|IssuedReference { reference, uri }| ForeignReference {
                tenant: caller.tenant.clone(),
                subject: caller.subject.clone(),
                agent: caller.agent.clone(),
                uri,
                reference,
                server: server.to_owned(),
                expires_ms,
            })
            .collect();
        self.database.remember_references(&rows).await.map_err(storage_failed)
    }

    /// The servers that issued a reference to this caller.
    pub async fn issuers(
        &self,
        caller: &Principal,
        reference: &str,
    ) -> Result<Vec<ForeignReference>, Failure> {
        let now = self.clock.unix_ms();
        self.database.foreign_references(caller, reference, now).await.map_err(storage_failed)
    }
}
