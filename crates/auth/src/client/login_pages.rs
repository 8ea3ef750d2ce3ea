//! The pages of a login in a browser: it confirms, goes to the authorization server and returns. A login ends only in the
//! browser that confirmed it: an attacker who sends their own authorization link to another person would otherwise bind
//! that person's account to the attacker.

use std::collections::HashMap;
use std::sync::Arc;

use proto::Secret;
use url::form_urlencoded;

use super::fault::Fault;
use super::login::{PendingLogin, TIMEOUT};
use super::oauth_client::OAuthClient;
use super::resource::printable;
use crate::random::{random_text, sha256_text};

/// The length of `random_text`.
const KEY_LENGTH: usize = 43;

/// The last page of a login.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoginOutcome {
    pub accepted: bool,
    /// Plain text, not escaped for HTML.
    pub text: String,
    /// The authorization server's page to go to again, instead of showing the text.
    pub retry_at: Option<String>,
}

impl LoginOutcome {
    fn refused(text: impl Into<String>) -> Self {
        Self { accepted: false, text: text.into(), retry_at: None }
    }

    fn accepted(text: String) -> Self {
        Self { accepted: true, text, retry_at: None }
    }

    fn retry(url: String) -> Self {
        let text = "The login continues at the authorization server.".to_owned();
        Self { accepted: false, text, retry_at: Some(url) }
    }

    fn repeated_field() -> Self {
        Self::refused("This address repeats a field and was ignored.")
    }

    fn unknown() -> Self {
        Self::refused(
            "This login is not known, was used already, or took longer than ten minutes. Ask for a new link.",
        )
    }
}

/// The page that asks a person to confirm a login, as plain text, with its form fields and cookie.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoginPrompt {
    pub server: String,
    /// The user or users who will use the token.
    pub grantee: String,
    /// The authorization server.
    pub issuer: String,
    /// Fields of the form.
    pub state: String,
    pub check: String,
    /// The value of `Set-Cookie`.
    pub cookie: String,
}

impl OAuthClient {
    /// Opens a login's link, by the query of `/oauth/login` and the browser's cookies.
    pub fn open_login(&self, query: &str, cookies: &str) -> Result<LoginPrompt, LoginOutcome> {
        let mut fields = fields(query).ok_or_else(LoginOutcome::repeated_field)?;
        let state = fields.remove("state").unwrap_or_default();
        let pending = self.pending();
        let login = find(&pending, &state)?;
        let cookie = LoginCookie::of(login, &state);
        let well_formed = |key: &&str| {
            key.len() == KEY_LENGTH
                && key.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_".contains(&b))
        };
        let key = match cookie.values(cookies).find(well_formed) {
            // Two tabs of one browser share the cookie.
            Some(known) => known.to_owned(),
            None => random_text().ok_or_else(|| {
                LoginOutcome::refused("Login is not possible: this machine has no random numbers.")
            })?,
        };
        Ok(LoginPrompt {
            server: login.params.server.name().to_owned(),
            grantee: login.grantee(),
            issuer: login.params.authority.issuer.clone(),
            check: check(&key),
            cookie: cookie.header(&key),
            state,
        })
    }

    /// Confirms a login, by the form of its page and the browser's cookies; returns the URL to redirect to.
    pub fn confirm_login(&self, form: &str, cookies: &str) -> Result<String, LoginOutcome> {
        let fields = fields(form).ok_or_else(LoginOutcome::repeated_field)?;
        let state = fields.get("state").map_or("", String::as_str);
        let sent = fields.get("check");
        let mut pending = self.pending();
        let cookie = LoginCookie::of(find(&pending, state)?, state);
        let key = cookie.values(cookies).find(|key| sent == Some(&check(key)));
        let (Some(login), Some(key)) = (pending.get_mut(state), key) else {
            return Err(LoginOutcome::refused(
                "This browser has not opened the login's page, or does not accept cookies. Open the link again, and continue from there.",
            ));
        };
        let key = proto::digest(key.as_bytes());
        if login.browser.is_some_and(|first| first != key) {
            return Err(LoginOutcome::refused(
                "This login continues in another browser. Ask for a new link if that is not yours.",
            ));
        }
        login.browser = Some(key);
        Ok(login.authorize_url.clone())
    }

    /// Finishes a login, by the query of `/oauth/callback` and the browser's cookies. Each state is accepted once.
    pub async fn finish_login(&self, query: &str, cookies: &str) -> LoginOutcome {
        let Some(mut fields) = fields(query) else { return LoginOutcome::repeated_field() };
        let state = fields.remove("state").unwrap_or_default();
        let login = match self.take_login(&state, cookies) {
            Ok(login) => login,
            Err(refused) => return refused,
        };
        let (server, link) = (login.params.server.name().to_owned(), Arc::clone(&login.link));
        let outcome = self.use_answer(login, &state, fields).await;
        if !outcome.accepted && outcome.retry_at.is_none() {
            tracing::warn!(server, why = outcome.text, "a login failed");
            self.note_failed_login(link, &outcome.text);
        }
        outcome
    }

    /// Exchanges the code of an authorization response, or says why there is none.
    async fn use_answer(
        &self,
        login: PendingLogin,
        state: &str,
        mut fields: HashMap<String, String>,
    ) -> LoginOutcome {
        let server = login.params.server.name().to_owned();
        if !login.params.authority.accepts_iss(fields.get("iss").map(String::as_str)) {
            return LoginOutcome::refused(match fields.get("iss") {
                Some(iss) => format!(
                    "The answer is of another issuer than the login: {}, not {}. It is not used.",
                    printable(iss),
                    login.params.authority.issuer
                ),
                None => "The answer does not name its issuer, as this authorization server says it does. It is not used."
                    .to_owned(),
            });
        }
        if let Some(error) = fields.get("error") {
            let said = fields.get("error_description").map_or("", String::as_str);
            return self.refused_answer(login, state, error, said).await;
        }
        let Some(code) = fields.remove("code").filter(|code| !code.is_empty()) else {
            return LoginOutcome::refused("The login brought no code.");
        };
        let grantee = login.grantee();
        // Spawned, so that a code that was sent is used even if the browser disconnects.
        let finished = tokio::spawn(async move {
            let target = Arc::clone(&login.params.server);
            target.finish(login, Secret::new(code)).await
        });
        match finished.await.unwrap_or(Err(Fault::Interrupted)) {
            Ok(()) => LoginOutcome::accepted(format!(
                "The server {server} can now be used by {grantee}. You may close this page."
            )),
            Err(fault) => LoginOutcome::refused(format!("There is no token: {fault}.")),
        }
    }

    /// What follows from an authorization response with an error.
    async fn refused_answer(
        &self,
        mut login: PendingLogin,
        state: &str,
        error: &str,
        said: &str,
    ) -> LoginOutcome {
        let (code, said) = (printable(error), printable(said));
        let said = if said.is_empty() { said } else { format!(": {said}") };
        if login.params.terms.resource.is_some() && Fault::is_about_resource(&code, &said) {
            // Only where the operator has paired server and issuer: otherwise a server could have tokens issued that are
            // good for more than itself.
            if login.params.authority.trusted && login.drop_resource(state).is_ok() {
                let url = login.authorize_url.clone();
                self.pending().insert(state.to_owned(), login);
                return LoginOutcome::retry(url);
            }
            let fault = Fault::ResourceRefused { code, said };
            return LoginOutcome::refused(format!("The login was refused: {fault}."));
        }
        if matches!(&*code, "invalid_client" | "unauthorized_client") {
            let authority = Arc::clone(&login.params.authority);
            Arc::clone(&login.params.server).forget_client(authority).await;
        }
        LoginOutcome::refused(format!("The login was refused: `{code}`{said}."))
    }

    /// Removes the login that a browser returns from, if that browser confirmed it.
    fn take_login(&self, state: &str, cookies: &str) -> Result<PendingLogin, LoginOutcome> {
        let mut pending = self.pending();
        let login = find(&pending, state)?;
        let confirmed = |key: &str| login.browser == Some(proto::digest(key.as_bytes()));
        if !LoginCookie::of(login, state).values(cookies).any(confirmed) {
            // The login stays pending for the browser that confirmed it.
            tracing::warn!(
                server = login.params.server.name(),
                "a browser came back from a login that another one began"
            );
            return Err(LoginOutcome::refused(
                "This login was begun in another browser, and its answer is not used. If another person sent you a \
                 link, they may have tried to use your account. Ask for a link of your own.",
            ));
        }
        pending.remove(state).ok_or_else(LoginOutcome::unknown)
    }
}

fn find<'a>(
    pending: &'a HashMap<String, PendingLogin>,
    state: &str,
) -> Result<&'a PendingLogin, LoginOutcome> {
    pending.get(state).filter(|login| !login.is_over()).ok_or_else(LoginOutcome::unknown)
}

/// The fields of a query or a form; `None` if a field is repeated.
pub(super) fn fields(text: &str) -> Option<HashMap<String, String>> {
    let mut fields = HashMap::new();
    for (name, value) in form_urlencoded::parse(text.as_bytes()).take(32) {
        if fields.insert(name.into_owned(), value.into_owned()).is_some() {
            return None;
        }
    }
    Some(fields)
}

/// A form field that a page of another site cannot know.
fn check(key: &str) -> String {
    sha256_text(&format!("the form of {key}"))
}

/// The cookie that identifies the browser of one login.
struct LoginCookie {
    name: String,
    attributes: String,
}

impl LoginCookie {
    fn of(login: &PendingLogin, state: &str) -> Self {
        // One cookie per login, so that two can be pending in one browser.
        let name = format!("powerstrip-login-{}", &sha256_text(state)[..16]);
        let lifetime = TIMEOUT.as_secs();
        let attributes = format!("Max-Age={lifetime}; HttpOnly; SameSite=Lax");
        let redirect_uri = &login.params.redirect_uri;
        if redirect_uri.starts_with("https:") {
            // With this prefix other hosts of the domain cannot overwrite the cookie.
            let attributes = format!("{attributes}; Path=/; Secure");
            return Self { name: format!("__Host-{name}"), attributes };
        }
        let path = url::Url::parse(redirect_uri).ok();
        let path = path.as_ref().and_then(|url| url.path().strip_suffix("/callback"));
        let path = path.filter(|path| !path.is_empty()).unwrap_or("/");
        Self { name, attributes: format!("{attributes}; Path={path}") }
    }

    fn header(&self, key: &str) -> String {
        format!("{}={key}; {}", self.name, self.attributes)
    }

    /// The cookie's values; a browser that has several under different paths sends them all.
    fn values<'a>(&'a self, cookies: &'a str) -> impl Iterator<Item = &'a str> {
        let pairs = cookies.split(';').filter_map(|pair| pair.trim().split_once('='));
        pairs.filter(|(name, _)| *name == self.name).map(|(_, value)| value)
    }
}
