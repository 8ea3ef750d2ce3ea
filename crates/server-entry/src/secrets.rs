//! The secret values in a server's entry.

use auth::client::SubjectToken;
use egress::http::Target;
use proto::secrets_of;

use crate::entry::ServerConfig;

impl ServerConfig {
    /// Every secret value that is removed from the server's messages: of its variables and headers, the queries of its
    /// URLs, and the credentials for tokens.
    pub fn secrets(&self) -> Vec<String> {
        let mut secrets: Vec<String> = self
            .env
            .iter()
            .chain(&self.headers)
            .flat_map(|(name, value)| secrets_of(name, value))
            .collect();
        for url in self.all_urls().chain(self.base_url.as_deref()).chain(self.document.as_deref()) {
            if let Ok(target) = Target::parse(url) {
                let pairs = target.url().query_pairs();
                secrets.extend(pairs.flat_map(|(name, value)| secrets_of(&name, &value)));
            }
        }
        secrets.extend(self.hidden.iter().cloned());
        if let Some(auth) = &self.auth {
            let given = match &auth.subject {
                Some(SubjectToken::Given(token)) => Some(token),
                Some(SubjectToken::File(_)) | None => None,
            };
            let known = auth.client_secret.iter().chain(&auth.private_key).chain(given);
            secrets.extend(known.map(|secret| secret.expose().to_owned()));
        }
        secrets
    }
}
