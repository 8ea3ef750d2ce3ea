//! The claims of a token, and the principal made from them. Headers and paths never contribute to a principal.

use std::sync::Arc;

use proto::{Principal, TenantId, Via};
use serde_json::{Map, Value};

use crate::LOCAL_TENANT;
use crate::fault::TokenFault;
use crate::options::{AccessOptions, IssuerOptions, ScopeNames};

/// The tolerated difference between the clocks of two machines.
const LEEWAY_S: f64 = 30.0;

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
        if !self.is_audience(claims.get("aud")) {
            return Err(TokenFault::Audience);
        }
        let until_unix_ms = check_time(claims, now_ms)?;
        let principal = Principal {
            tenant: self.tenant(claims)?,
            subject: subject(claims)?,
            agent: self.agent(claims)?,
            scopes: self.scopes(claims),
            via: self.via(claims),
        };
        Ok(Bearer { principal: Arc::new(principal), until_unix_ms })
    }

    fn via(&self, claims: &Map<String, Value>) -> Via {
        let client = word(claims.get("client_id")).or_else(|| word(claims.get("azp")));
        Via::Token { issuer: self.issuer.issuer.clone(), client: client.map(str::to_owned) }
    }

    fn is_audience(&self, claim: Option<&Value>) -> bool {
        // URL parsers append a slash to a URL without a path.
        let ours = |given: &str| {
            let given = given.strip_suffix('/').unwrap_or(given);
            match self.issuer.audience.as_slice() {
                [] => given.strip_prefix(&self.public_url).is_some_and(is_door),
                named => named.iter().any(|own| own.strip_suffix('/').unwrap_or(own) == given),
            }
        };
        match claim {
            Some(Value::String(one)) => ours(one),
            Some(Value::Array(many)) => many.iter().filter_map(Value::as_str).any(ours),
            _ => false,
        }
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

/// Whether a path below the public URL is a door of this gateway; the host may serve others as well.
fn is_door(path: &str) -> bool {
    path.is_empty() || path == "/mcp" || path.starts_with("/agents/") && path.ends_with("/mcp")
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
        let subject = word(Some(subject)).map(str::to_owned);
        return subject.ok_or_else(|| TokenFault::Claim("sub".to_owned()));
    }
    // A program without a user is identified by its client id.
    let client = word(claims.get("client_id")).map(|client| format!("client:{client}"));
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
