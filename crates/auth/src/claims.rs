//! The claims of a token, and the principal made from them. Headers and paths never contribute to a principal.

use std::sync::Arc;

use proto::{Audience, Principal, TenantId, Via};
use serde_json::{Map, Value};

use crate::LOCAL_TENANT;
use crate::fault::TokenFault;
use crate::options::{AccessOptions, IssuerOptions, ScopeNames};

/// The tolerated difference between the clocks of two machines.
const LEEWAY_S: f64 = 30.0;

/// How the subjects of the gateway's keys begin, and those of programs without a user.
pub(crate) const KEY: &str = "key:";
const CLIENT: &str = "client:";

const MAX_WORD: usize = 256;
const MAX_SCOPES: usize = 200;

/// The rules by which claims are read.
#[derive(Clone, Debug)]
pub(crate) struct Rules {
    issuer: IssuerOptions,
    public_url: String,
    scopes: ScopeNames,
}

/// An admitted bearer, and the end of the admission.
#[derive(Clone, Debug)]
pub(crate) struct Bearer {
    pub(crate) principal: Arc<Principal>,
    pub(crate) until_unix_ms: u64,
}

impl Rules {
    pub(crate) fn new(issuer: &IssuerOptions, options: &AccessOptions) -> Self {
        Self {
            issuer: issuer.clone(),
            public_url: options.public_url.clone(),
            scopes: options.scopes.clone(),
        }
    }

    /// The bearer of a token with a valid signature.
    pub(crate) fn bearer(
        &self,
        claims: &Map<String, Value>,
        now_ms: u64,
    ) -> Result<Bearer, TokenFault> {
        if claims.get("iss").and_then(Value::as_str) != Some(&self.issuer.issuer) {
            return Err(TokenFault::Issuer);
        }
        self.identified(claims, now_ms)
    }

    /// The bearer of a token that its issuer has just confirmed; `iss` may be missing.
    pub(crate) fn introspected(
        &self,
        claims: &Map<String, Value>,
        now_ms: u64,
    ) -> Result<Bearer, TokenFault> {
        match claims.get("iss") {
            None => self.identified(claims, now_ms),
            Some(_) => self.bearer(claims, now_ms),
        }
    }

    fn identified(&self, claims: &Map<String, Value>, now_ms: u64) -> Result<Bearer, TokenFault> {
        let audience = self.audience(claims.get("aud")).ok_or(TokenFault::Audience)?;
        let until_unix_ms = check_time(claims, now_ms)?;
        let principal = Principal {
            tenant: self.tenant(claims)?,
            subject: subject(claims)?,
            agent: self.agent(claims)?,
            scopes: self.scopes(claims),
            via: self.via(claims, audience),
        };
        Ok(Bearer { principal: Arc::new(principal), until_unix_ms })
    }

    fn via(&self, claims: &Map<String, Value>, audience: Audience) -> Via {
        let client = word(claims.get("client_id")).or_else(|| word(claims.get("azp")));
        let (issuer, client) = (self.issuer.issuer.clone(), client.map(str::to_owned));
        Via::Token { issuer, client, audience }
    }

    /// The audience of the token; none if it is for another resource.
    fn audience(&self, claim: Option<&Value>) -> Option<Audience> {
        let given: Vec<&str> = match claim {
            Some(Value::String(one)) => vec![one],
            Some(Value::Array(many)) => many.iter().filter_map(Value::as_str).collect(),
            _ => Vec::new(),
        };
        let mut agents = Vec::new();
        for door in given.into_iter().filter_map(|given| self.door(given)) {
            match door {
                Door::Gateway => return Some(Audience::Gateway),
                Door::Agent(agent) => agents.push(agent.to_owned()),
            }
        }
        agents.sort();
        agents.dedup();
        (!agents.is_empty()).then_some(Audience::Agents(agents))
    }

    /// The door that an audience names; none if it is not of this gateway.
    fn door<'a>(&self, given: &'a str) -> Option<Door<'a>> {
        // URL parsers append a slash to a URL without a path.
        let given = given.strip_suffix('/').unwrap_or(given);
        let door = given.strip_prefix(&self.public_url).and_then(Door::of);
        let mut named = self.issuer.audience.iter();
        if self.issuer.audience.is_empty() {
            return door;
        }
        let is_named = named.any(|own| own.strip_suffix('/').unwrap_or(own) == given);
        is_named.then(|| door.unwrap_or(Door::Gateway))
    }

    fn tenant(&self, claims: &Map<String, Value>) -> Result<TenantId, TokenFault> {
        let Some(name) = &self.issuer.tenant_claim else {
            return Ok(TenantId::new(&self.issuer.issuer));
        };
        // A token cannot claim the local user's tenant.
        word(find(claims, name))
            .filter(|tenant| *tenant != LOCAL_TENANT)
            .map(TenantId::new)
            .ok_or_else(|| TokenFault::Claim(name.clone()))
    }

    fn agent(&self, claims: &Map<String, Value>) -> Result<Option<String>, TokenFault> {
        let Some(name) = &self.issuer.agent_claim else { return Ok(None) };
        match find(claims, name) {
            None | Some(Value::Null) => Ok(None),
            claim => match word(claim) {
                Some(agent) => Ok(Some(agent.to_owned())),
                None => Err(TokenFault::Claim(name.clone())),
            },
        }
    }

    fn scopes(&self, claims: &Map<String, Value>) -> Vec<String> {
        let mut scopes = Vec::new();
        for claim in ["scope", "scp"] {
            scopes
                .extend(words(claims.get(claim)).map(|name| self.scopes.resolve(name).to_owned()));
        }
        if let Some(roles) = &self.issuer.roles_claim {
            let known = words(find(claims, roles)).filter_map(|role| self.issuer.roles.get(role));
            scopes.extend(known.flatten().cloned());
        }
        scopes.retain(|scope| crate::scope::check(scope).is_ok());
        scopes.sort();
        scopes.dedup();
        scopes.truncate(MAX_SCOPES);
        scopes
    }
}

/// A door that a token can be for.
enum Door<'a> {
    /// `/mcp` is the door of all callers, so that its tokens are for the gateway.
    Gateway,
    Agent(&'a str),
}

impl<'a> Door<'a> {
    /// The door at a path below the public URL; the host may serve others as well.
    fn of(path: &'a str) -> Option<Self> {
        if path.is_empty() || path == "/mcp" {
            return Some(Self::Gateway);
        }
        let agent = path.strip_prefix("/agents/")?.strip_suffix("/mcp")?;
        (!agent.is_empty() && !agent.contains('/')).then_some(Self::Agent(agent))
    }
}

/// When the token expires, if it is valid now.
pub(crate) fn check_time(claims: &Map<String, Value>, now_ms: u64) -> Result<u64, TokenFault> {
    let now = now_ms as f64 / 1000.0;
    let expires = claims.get("exp").and_then(Value::as_f64);
    let expires = expires.ok_or_else(|| TokenFault::Claim("exp".to_owned()))?;
    if now >= expires + LEEWAY_S {
        return Err(TokenFault::Expired);
    }
    match claims.get("nbf") {
        None => {}
        Some(begins) => {
            let begins = begins.as_f64().ok_or_else(|| TokenFault::Claim("nbf".to_owned()))?;
            if now < begins - LEEWAY_S {
                return Err(TokenFault::Early);
            }
        }
    }
    // The cast saturates.
    Ok(((expires + LEEWAY_S) * 1000.0) as u64)
}

fn subject(claims: &Map<String, Value>) -> Result<String, TokenFault> {
    if let Some(subject) = claims.get("sub") {
        // Subjects of the gateway's keys, and of programs that the provider identifies by their client id.
        let reserved = |subject: &&str| subject.starts_with(KEY) || subject.starts_with(CLIENT);
        let subject = word(Some(subject)).filter(|subject| !reserved(subject));
        return subject.map(str::to_owned).ok_or_else(|| TokenFault::Claim("sub".to_owned()));
    }
    // A program without a user is identified by its client id.
    let client = word(claims.get("client_id")).map(|client| format!("{CLIENT}{client}"));
    client.ok_or_else(|| TokenFault::Claim("sub".to_owned()))
}

/// A claim by its name, or else by a dotted path.
fn find<'a>(claims: &'a Map<String, Value>, name: &str) -> Option<&'a Value> {
    if let Some(claim) = claims.get(name) {
        return Some(claim);
    }
    let mut steps = name.split('.');
    let first = claims.get(steps.next()?)?;
    steps.try_fold(first, |claim, step| claim.as_object()?.get(step))
}

/// A claim that can be used as a name.
fn word(claim: Option<&Value>) -> Option<&str> {
    let plain = |text: &&str| {
        (1..=MAX_WORD).contains(&text.len())
            && text.trim() == *text
            && !text.chars().any(char::is_control)
    };
    claim.and_then(Value::as_str).filter(plain)
}

/// The words of a space-separated string or of a list.
fn words(claim: Option<&Value>) -> impl Iterator<Item = &str> {
    let (text, list) = match claim {
        Some(Value::String(text)) => (text.as_str(), None),
        Some(Value::Array(list)) => ("", Some(list)),
        _ => ("", None),
    };
    text.split(' ')
        .chain(list.into_iter().flatten().filter_map(Value::as_str))
        .filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests;
