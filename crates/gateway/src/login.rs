//! Logging in to a protected server.

use std::sync::Arc;

use auth::client::OAuthClient;
use operations::{Audience, Caller, Operation, OperationError, Table};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use upstream::Upstreams;

use super::servers;

/// What the operation works on.
pub struct LoginService {
    pub(super) upstreams: Arc<Upstreams>,
    pub(super) keyring: Arc<OAuthClient>,
}

/// The operation.
pub(super) fn table(service: &Arc<LoginService>) -> Table {
    Table::default().with::<LogIn>(service)
}

/// Names the server to log in to.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LogInInput {
    pub server: String,
    /// A link that was given out before: `failed` then says why its login failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link: Option<String>,
}

/// Where to log in to a server.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct LoginStatus {
    /// The link to follow; null if no login is needed.
    pub login: Option<String>,
    /// Why the login with the link of the input failed, if it did.
    pub failed: Option<String>,
}

pub struct LogIn;

impl Operation for LogIn {
    const NAME: &'static str = "powerstrip.login";
    const SUMMARY: &'static str =
        "Return the link for logging in to a server; null if none is needed";
    const AUDIENCE: Audience = Audience::LocalUser;
    type Service = LoginService;
    type Input = LogInInput;
    type Output = LoginStatus;

    async fn run(
        service: Arc<LoginService>,
        caller: Caller,
        LogInInput { server, link }: LogInInput,
    ) -> Result<LoginStatus, OperationError> {
        let failed = link.and_then(|link| service.keyring.login_failure(&link));
        if failed.is_some() {
            return Ok(LoginStatus { login: None, failed });
        }
        let login = servers::login(&service.upstreams, &server, &caller.principal).await?;
        Ok(LoginStatus { login, failed })
    }
}
