use std::sync::Arc;

use arc_swap::ArcSwap;
use strip::Failure;
use strip::servers::Offering;

use crate::config::ServerConfig;
use crate::context::ServerContext;
use crate::deps::Deps;
use crate::error::TransportError;
use crate::journal::Journal;
use crate::request_state::StateSigner;
use crate::suspended::SuspendedCalls;
use crate::transport::Transport;

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
        let context = Arc::new(ServerContext::new(name, &config, &deps.servers, journal));
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

    /// Notes why a call got no answer; the failure for the caller names neither hosts nor secrets.
    pub(crate) fn fail(&self, error: TransportError) -> Failure {
        if !matches!(error, TransportError::Down { .. }) {
            self.context.journal.note_error(error.to_string());
        }
        error.failure(&self.name).scrub(&self.context.scrubber)
    }
}
