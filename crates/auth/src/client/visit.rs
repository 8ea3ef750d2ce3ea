//! A browser's visit: it is asked first, goes to the authorization server, and comes back. Only the browser in which
//! somebody has read for whom the login is can end it: a link of the authorization server that was sent to somebody
//! else would bind their account to whoever sent it.

use std::collections::HashMap;
use std::sync::Arc;

use aws_lc_rs::digest;
use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use url::form_urlencoded;

use super::assertion::random_text;
use super::fault::Fault;
use super::keyring::Keyring;
use super::login::{PATIENCE, Pending};
use super::resource::shown;
use crate::Secret;

/// How many characters `random_text` has.
const KEY_LENGTH: usize = 43;

/// What the browser is shown when there is nothing more to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Landing {
    pub accepted: bool,
    /// Plain text, not yet fit for a page.
    pub text: String,
}

impl Landing {
    fn refused(text: impl Into<String>) -> Self {
        Self { accepted: false, text: text.into() }
    }

    fn twice() -> Self {
        Self::refused("This address says something twice; it is not used.")
    }

    fn unknown() -> Self {
        Self::refused(
            "This login is not known, was used already, or took longer than ten minutes. Ask for a new link.",
        )
    }
}

/// What a person is told before they go on, as plain text; and what their browser brings along then.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invitation {
    pub server: String,
    /// Who will use what the person agrees to.
    pub whom: String,
    /// Where the person will be asked.
    pub issuer: String,
    /// Fields of the form that goes on.
    pub state: String,
    pub check: String,
    /// The value of `Set-Cookie`.
    pub cookie: String,
}

impl Keyring {
    /// Asks the person who has opened a link, by the query of `/oauth/login` and the browser's cookies.
    pub fn invite(&self, query: &str, cookies: &str) -> Result<Invitation, Landing> {
        let mut fields = fields(query).ok_or_else(Landing::twice)?;
        let state = fields.remove("state").unwrap_or_default();
        let pending = self.pending();
        let login = under_way(&pending, &state)?;
        let jar = Jar::of(login, &state);
        let plain = |key: &&str| {
            key.len() == KEY_LENGTH
                && key.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_".contains(&b))
        };
        let known = jar.values(cookies).find(plain);
        let key = match known {
            // The same page in two tabs is the same browser.
            Some(known) => known.to_owned(),
            None => random_text().ok_or_else(|| {
                Landing::refused("This machine has no random numbers; nobody can log in.")
            })?,
        };
        Ok(Invitation {
            server: login.server.name().to_owned(),
            whom: login.whom(),
            issuer: login.authority.issuer.clone(),
            check: check(&key),
            cookie: jar.cookie(&key),
            state,
        })
    }

    /// Sends a browser on whose person has agreed, by the form of our page and the browser's cookies: says where to.
    pub fn depart(&self, form: &str, cookies: &str) -> Result<String, Landing> {
        let fields = fields(form).ok_or_else(Landing::twice)?;
        let state = fields.get("state").map_or("", String::as_str);
        let said = fields.get("check");
        let mut pending = self.pending();
        let jar = Jar::of(under_way(&pending, state)?, state);
        let key = jar.values(cookies).find(|key| said == Some(&check(key)));
        let (Some(login), Some(key)) = (pending.get_mut(state), key) else {
            return Err(Landing::refused(
                "This browser has not opened the login's page, or keeps no cookies. Open the link again, and go on from there.",
            ));
        };
        let key = proto::digest(key.as_bytes());
        if login.browser.is_some_and(|first| first != key) {
            return Err(Landing::refused(
                "This login goes on in another browser. Ask for a new link if that is not yours.",
            ));
        }
        login.browser = Some(key);
        Ok(login.away.clone())
    }

    /// Takes a browser's coming back: the query of `/oauth/callback`, and its cookies. A state counts once.
    pub async fn land(&self, query: &str, cookies: &str) -> Landing {
        let Some(mut fields) = fields(query) else { return Landing::twice() };
        let login = match self.arrived(fields.get("state").map_or("", String::as_str), cookies) {
            Ok(login) => login,
            Err(refused) => return refused,
        };
        let server = login.server.name().to_owned();
        if !login.authority.answers(fields.get("iss").map(String::as_str)) {
            tracing::warn!(server, "a login was answered by another issuer than it was sent to");
            return Landing::refused(
                "The answer is of another issuer than the login. It is not used.",
            );
        }
        if let Some(error) = fields.get("error") {
            return Landing::refused(format!("The login was refused: {}.", shown(error)));
        }
        let Some(code) = fields.remove("code").filter(|code| !code.is_empty()) else {
            return Landing::refused("The login brought no code.");
        };
        let whom = login.whom();
        // Goes on when the browser leaves: a code counts once.
        let finished = tokio::spawn(async move {
            let tokens = Arc::clone(&login.server);
            tokens.finish(login, Secret::new(code)).await
        });
        match finished.await.unwrap_or(Err(Fault::CutShort)) {
            Ok(()) => Landing {
                accepted: true,
                text: format!(
                    "The server {server} can now be used by {whom}. You may close this page."
                ),
            },
            Err(fault) => {
                tracing::warn!(server, %fault, "a login failed");
                Landing::refused(
                    "The authorization server gave no token. The gateway's log says why.",
                )
            }
        }
    }

    /// The login that a browser comes back from, if it is the browser that went.
    fn arrived(&self, state: &str, cookies: &str) -> Result<Pending, Landing> {
        let mut pending = self.pending();
        let login = under_way(&pending, state)?;
        let went = |key: &str| login.browser == Some(proto::digest(key.as_bytes()));
        if !Jar::of(login, state).values(cookies).any(went) {
            // The login stays, for the browser whose it is.
            tracing::warn!(
                server = login.server.name(),
                "a browser came back from a login that another one began"
            );
            return Err(Landing::refused(
                "This login was begun in another browser, and what was agreed to is not used. If somebody sent you a \
                 link, they may have tried to use your account. Ask for a link of your own.",
            ));
        }
        pending.remove(state).ok_or_else(Landing::unknown)
    }
}

fn under_way<'a>(
    pending: &'a HashMap<String, Pending>,
    state: &str,
) -> Result<&'a Pending, Landing> {
    pending.get(state).filter(|login| !login.is_over()).ok_or_else(Landing::unknown)
}

/// The fields of a query or a form; none if it says something twice.
pub(super) fn fields(text: &str) -> Option<HashMap<String, String>> {
    let mut fields = HashMap::new();
    for (name, value) in form_urlencoded::parse(text.as_bytes()).take(32) {
        if fields.insert(name.into_owned(), value.into_owned()).is_some() {
            return None;
        }
    }
    Some(fields)
}

/// The SHA-256 of a text, in letters that fit everywhere.
pub(super) fn sum(text: &str) -> String {
    BASE64_URL_SAFE_NO_PAD.encode(digest::digest(&digest::SHA256, text.as_bytes()).as_ref())
}

/// What the form says, and a page of another site cannot know.
fn check(key: &str) -> String {
    sum(&format!("the form of {key}"))
}

/// How the browser of one login is known again.
struct Jar {
    name: String,
    attributes: String,
}

impl Jar {
    fn of(login: &Pending, state: &str) -> Self {
        // One cookie for each login, so that two may be under way in one browser.
        let name = format!("powerstrip-login-{}", &sum(state)[..16]);
        let lives = PATIENCE.as_secs();
        let attributes = format!("Max-Age={lives}; HttpOnly; SameSite=Lax");
        if login.redirect_uri.starts_with("https:") {
            // With this prefix a neighbour of our host cannot put a cookie of its own in the place of ours.
            let attributes = format!("{attributes}; Path=/; Secure");
            return Self { name: format!("__Host-{name}"), attributes };
        }
        let path = url::Url::parse(&login.redirect_uri).ok();
        let path = path.as_ref().and_then(|url| url.path().strip_suffix("/callback"));
        let path = path.filter(|path| !path.is_empty()).unwrap_or("/");
        Self { name, attributes: format!("{attributes}; Path={path}") }
    }

    fn cookie(&self, key: &str) -> String {
        format!("{}={key}; {}", self.name, self.attributes)
    }

    /// The cookie's values; a browser that has several under different paths sends them all.
    fn values<'a>(&'a self, cookies: &'a str) -> impl Iterator<Item = &'a str> {
        let pairs = cookies.split(';').filter_map(|pair| pair.trim().split_once('='));
        pairs.filter(|(name, _)| *name == self.name).map(|(_, value)| value)
    }
}
