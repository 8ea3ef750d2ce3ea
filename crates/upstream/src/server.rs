use std::sync::Arc;

use arc_swap::ArcSwap;
use proto::{Failure, Principal};
use server_entry::ServerConfig;
use strip::Job;
use strip::servers::Offering;

use crate::caller::Caller;
use crate::context::ServerContext;
use crate::deps::Deps;
use crate::error::TransportError;
use crate::journal::Journal;
use crate::personal::PersonalValues;
use crate::suspended::SuspendedCalls;
use crate::transport::Transport;
use auth::request_state::StateSigner;

/// One server as its tools use it.
pub(crate) struct Server {
    pub(crate) name: String,
    pub(crate) config: Arc<ServerConfig>,
    pub(crate) transport: Arc<Transport>,
    pub(crate) context: Arc<ServerContext>,
    /// What it offers in addition to tools.
    pub(crate) offering: ArcSwap<Offering>,
    pub(crate) signer: StateSigner,
    pub(crate) suspended: SuspendedCalls,
}

impl Server {
    pub(crate) fn new(
        name: &str,
        config: ServerConfig,
        deps: &Deps,
        journal: Arc<Journal>,
    ) -> Self {
        let config = Arc::new(config);
        let context = Arc::new(ServerContext::new(name, &config, deps, journal));
        Self {
            name: name.to_owned(),
            transport: Arc::new(Transport::new(name, &config, deps, &context)),
            config,
            context,
            offering: ArcSwap::default(),
            signer: StateSigner::new(deps.clock.clone()),
            suspended: SuspendedCalls::default(),
        }
    }

    /// The caller whose session or process serves a call, with their own secrets; none where all callers share one.
    pub(crate) async fn caller_of(&self, job: &Job) -> Result<Option<Caller>, Failure> {
        let caller = Caller::of_job(job, &self.config);
        let personal = self.personal_values(&job.request().principal).await?;
        Ok(caller.map(|caller| caller.with_personal(personal)))
    }

    /// The person's own secrets for this server.
    pub(crate) async fn personal_values(
        &self,
        principal: &Principal,
    ) -> Result<Option<Arc<PersonalValues>>, Failure> {
        // What one person has not stored is no error of the server.
        self.context.personal.of(principal).await.map_err(|error| error.failure(&self.name))
    }

    /// Notes why a call got no answer; the failure for the caller names neither hosts nor secrets.
    pub(crate) fn fail(&self, error: TransportError) -> Failure {
        if !matches!(error, TransportError::Down { .. }) {
            self.context.journal.note_error(error.to_string());
        }
        error.failure(&self.name).scrub(&self.context.scrubber)
    }
}
