use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use ::http::HeaderValue;
use proto::{Scrubber, secrets_of};
use strip::servers::Servers;
use tokio::sync::{Notify, watch};

use crate::broken::Broken;
use crate::config::Kind;
use crate::config::ServerConfig;
use crate::http::HttpLink;
use crate::openapi::OpenApiLink;
use crate::rpc::{Answer, Ask, RpcError};
use crate::status::Status;
use crate::stdio::StdioLink;
use crate::who::Who;
use crate::{Deps, Era};

/// The largest answer that is read, and the longest line or event.
pub(crate) const MAX_ANSWER_BYTES: usize = 8 * 1024 * 1024;

/// How a server is reached.
pub(crate) enum Link {
    Http(HttpLink),
    Stdio(StdioLink),
    OpenApi(OpenApiLink),
}

/// What a server tells without being asked.
pub(crate) struct News {
    /// One of its lists may have changed.
    pub(crate) changed: Notify,
    /// The resources that somebody wants to hear of.
    pub(crate) watched: watch::Sender<BTreeSet<String>>,
    /// Takes the server's secrets out of what it says.
    pub(crate) scrubber: Scrubber,
    secrets: Vec<String>,
    /// The same with the token that was used last.
    with_token: Mutex<Option<(HeaderValue, Scrubber)>>,
    server: String,
    servers: Arc<Servers>,
}

impl News {
    pub(crate) fn new(server: &str, config: &ServerConfig, servers: &Arc<Servers>) -> Self {
        let secrets = config.secrets();
        Self {
            scrubber: Scrubber::new(&secrets),
            secrets,
            with_token: Mutex::default(),
            changed: Notify::new(),
            watched: watch::Sender::default(),
            server: server.to_owned(),
            servers: Arc::clone(servers),
        }
    }

    /// Takes out the token of a request, too.
    pub(crate) fn scrubber_with(&self, token: Option<&HeaderValue>) -> Scrubber {
        let Some(token) = token else { return self.scrubber.clone() };
        let mut known = self.with_token.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, scrubber)) = known.as_ref().filter(|(known, _)| known == token) {
            return scrubber.clone();
        }
        let text = token.to_str().unwrap_or_default();
        let of_token = secrets_of("authorization", text);
        let scrubber = Scrubber::new(self.secrets.iter().chain(&of_token));
        *known = Some((token.clone(), scrubber.clone()));
        scrubber
    }

    /// Tells whoever listens that a resource has changed.
    pub(crate) fn updated(&self, uri: &str) {
        self.servers.updated(&self.server, uri);
    }
}

impl Link {
    /// Whether what is listed may be what one person among several is shown.
    pub(crate) fn is_listed_as_somebody(&self) -> bool {
        match self {
            Self::Http(link) => link.is_listed_as_somebody(),
            Self::Stdio(_) | Self::OpenApi(_) => false,
        }
    }

    pub(crate) fn new(
        name: &str,
        config: &Arc<ServerConfig>,
        deps: &Deps,
        news: &Arc<News>,
    ) -> Self {
        if config.kind == Kind::Openapi {
            Self::OpenApi(OpenApiLink::new(name, config, deps))
        } else if config.command.is_some() {
            Self::Stdio(StdioLink::new(name, config, deps, news))
        } else {
            Self::Http(HttpLink::new(name, config, deps, news))
        }
    }

    /// Asks and waits for the answer; dropping the future tells the server that nobody waits any more.
    /// `None` is the gateway itself, or everybody where a server is shared.
    pub(crate) async fn ask(&self, who: Option<&Who>, ask: &Ask<'_>) -> Result<Answer, Broken> {
        match self {
            Self::Http(link) => link.ask(who, ask).await,
            Self::Stdio(link) => link.ask(who, ask).await,
            // Its tools and its list are asked for otherwise; it has nothing else.
            Self::OpenApi(_) => Ok(Err(RpcError::unknown_method(ask.method))),
        }
    }

    /// The server's era, once it is known.
    pub(crate) fn era(&self) -> Option<Era> {
        match self {
            Self::Http(link) => link.era(),
            Self::Stdio(link) => link.era(),
            Self::OpenApi(_) => None,
        }
    }

    /// Takes over what an earlier gateway knew of the server's era.
    pub(crate) fn expect(&self, era: Option<Era>) {
        match self {
            // One request finds it out.
            Self::Http(_) | Self::OpenApi(_) => {}
            Self::Stdio(link) => link.expect(era),
        }
    }

    /// Waits until the server should be listed although nothing says that its list has changed. `listed` tells
    /// whether there is a list at all, `wait` how long the timer runs.
    pub(crate) async fn due(&self, listed: bool, wait: Duration) {
        match self {
            Self::Http(link) => link.due(wait).await,
            Self::Stdio(link) => link.due(listed, wait).await,
            Self::OpenApi(link) => link.due(wait).await,
        }
    }

    /// Does what has to be done beside calls, until the link is stopped.
    pub(crate) async fn tend(&self) {
        match self {
            Self::Http(link) => link.tend().await,
            Self::Stdio(link) => link.tend().await,
            Self::OpenApi(_) => {}
        }
    }

    /// Begins to end every process, without waiting for it.
    pub(crate) fn abandon(&self) {
        match self {
            Self::Http(link) => link.abandon(),
            Self::Stdio(link) => link.abandon(),
            Self::OpenApi(_) => {}
        }
    }

    /// Ends every process and session; answers when they are gone.
    pub(crate) async fn stop(&self) {
        match self {
            Self::Http(link) => link.stop().await,
            Self::Stdio(link) => link.stop().await,
            Self::OpenApi(_) => {}
        }
    }

    /// Fills in what the transport knows.
    pub(crate) fn describe(&self, status: &mut Status) {
        match self {
            Self::Http(link) => link.describe(status),
            Self::Stdio(link) => link.describe(status),
            Self::OpenApi(link) => link.describe(status),
        }
    }
}
