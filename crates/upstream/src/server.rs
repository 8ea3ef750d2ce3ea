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
use crate::status::Status;
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
        let personal = self.admit(job).await?;
        Ok(Caller::of_job(job, &self.config).map(|caller| caller.with_personal(personal)))
    }

    /// The secrets that a call uses. Every request of a caller passes here before it is sent, so this is the place to
    /// refuse it.
    pub(crate) async fn admit(&self, job: &Job) -> Result<Option<Arc<PersonalValues>>, Failure> {
        self.personal_values(&job.request().principal).await
    }

    /// The person's own secrets for this server.
    pub(crate) async fn personal_values(
        &self,
        principal: &Principal,
    ) -> Result<Option<Arc<PersonalValues>>, Failure> {
        // A value that a person has not stored is no error of the server.
        self.context.personal.of(principal).await.map_err(|error| error.failure(&self.name))
    }

    /// Its name and kind, without a state.
    pub(crate) fn describe(&self) -> Status {
        Status {
            name: self.name.clone(),
            transport: match &self.config {
                config if config.command.is_some() => "stdio",
                // A wrong entry may name neither a program nor a URL.
                config if !config.invalid.is_empty() && config.all_urls().next().is_none() => {
                    "unknown"
                }
                _ => "http",
            },
            prefix: self.config.prefix,
            announced: self.config.is_announced(),
            ..Status::default()
        }
    }

    /// The state of its processes and connections.
    pub(crate) fn status(&self) -> Status {
        let mut status = self.describe();
        self.transport.describe(&mut status);
        status
    }

    /// Notes why a call got no answer; the failure for the caller names neither hosts nor secrets.
    pub(crate) fn fail(&self, error: TransportError) -> Failure {
        if !matches!(error, TransportError::Down { .. }) {
            self.context.journal.note_error(error.to_string());
        }
        error.failure(&self.name).scrub(&self.context.scrubber)
    }
}
