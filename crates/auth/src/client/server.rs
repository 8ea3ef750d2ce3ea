//! The tokens of one server: loaded, renewed one at a time, and sent to that server only.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use arc_swap::ArcSwapOption;
use egress::http::{Client, Rule};
use http::{HeaderMap, HeaderValue};
use store::VaultSlot;
use tokio::sync::Notify;
use tokio::task::JoinHandle;
use tokio::time::Instant;

use super::authority::{Authority, is_same_issuer};
use super::challenge::BearerChallenge;
use super::config::{ClientConfig, Grant};
use super::dpop::{DPOP_NONCE, ProofOf};
use super::fault::Fault;
use super::holder::Holder;
use super::oauth_client::OAuthClient;
use super::token::{DPOP_SCHEME, StoredToken, Token};

/// The kind of a token's row in the vault.
const KIND: &str = "token";

/// The pause after a failure; a refused token that is younger than this is not replaced.
const RETRY_AFTER: Duration = Duration::from_secs(3);

/// A longer nonce is not kept.
const MAX_NONCE_BYTES: usize = 1024;

/// A server that may ask for tokens.
pub struct TokenServer<'a> {
    pub name: &'a str,
    pub urls: Vec<String>,
    /// Whether all users share one token.
    pub shared: bool,
    /// Without a config, people log in if the server asks for a token.
    pub config: Option<ClientConfig>,
}

/// The metadata of a server and of its authorization server.
#[derive(Clone)]
pub(super) struct Discovered {
    pub(super) metadata_url: Option<String>,
    pub(super) resource: String,
    pub(super) scopes: Vec<String>,
    pub(super) authority: Arc<Authority>,
    pub(super) since: Instant,
}

/// The tokens of one server.
pub struct ServerTokens {
    pub(super) oauth: Arc<OAuthClient>,
    pub(super) name: Arc<str>,
    pub(super) urls: Vec<String>,
    pub(super) config: ClientConfig,
    /// May reach the hosts that the config names, and the public internet.
    pub(super) http: Client,
    /// Whether each person has a token of their own.
    personal: bool,
    /// False until the server has asked for a token, unless the config says that it will.
    armed: AtomicBool,
    slots: Mutex<HashMap<Holder, Arc<Slot>>>,
    pub(super) discovered: Mutex<Option<Discovered>>,
    /// The value that the server wants to see in the next proof.
    proof_nonce: Mutex<Option<HeaderValue>>,
    logged_in: Notify,
}

/// One holder's token.
#[derive(Default)]
pub(super) struct Slot {
    current: ArcSwapOption<Token>,
    /// Whether the vault was searched.
    loaded: AtomicBool,
    /// Held during a token request, so that there is one at a time.
    work: tokio::sync::Mutex<LastRequest>,
}

#[derive(Default)]
struct LastRequest {
    failed: Option<(Instant, Fault)>,
}

impl LastRequest {
    /// A fault so recent that a retry would fail as well.
    fn recent_fault(&self) -> Option<Fault> {
        let (at, fault) = self.failed.as_ref()?;
        let repeats = !matches!(fault, Fault::LoginRequired { .. });
        (repeats && at.elapsed() < RETRY_AFTER).then(|| fault.clone())
    }

    fn note<T>(&mut self, outcome: &Result<T, Fault>) {
        self.failed = outcome.as_ref().err().map(|fault| (Instant::now(), fault.clone()));
    }
}

impl ServerTokens {
    /// The tokens of a server, stored in the client's vault.
    pub fn new(oauth: Arc<OAuthClient>, server: TokenServer<'_>, http: &Client) -> Arc<Self> {
        let TokenServer { name, urls, shared, config } = server;
        let armed = AtomicBool::new(config.is_some());
        let config = config.unwrap_or_default();
        // The server and the configured issuer may have private addresses; hosts that metadata names may not.
        let provider = config.identity_provider.as_ref().map(|provider| &provider.issuer);
        let named = urls.iter().chain(&config.issuer).chain(provider);
        let policy = named
            .filter_map(|url| Rule::for_url(url).ok())
            .fold(http.policy().clone(), |policy, rule| policy.allowing(rule));
        Arc::new(Self {
            oauth,
            name: name.into(),
            urls,
            personal: config.grant == Grant::AuthorizationCode && !shared,
            config,
            http: http.with_policy(policy),
            armed,
            slots: Mutex::default(),
            discovered: Mutex::default(),
            proof_nonce: Mutex::default(),
            logged_in: Notify::new(),
        })
    }

    /// The server's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Waits for the next login.
    pub async fn next_login(&self) {
        self.logged_in.notified().await;
    }

    /// The `Authorization` header for a caller, renewed if it is due; `None` if there is no token yet.
    pub async fn authorization(self: &Arc<Self>, caller: &Holder) -> Option<HeaderValue> {
        if !self.armed.load(Ordering::Relaxed) {
            return None;
        }
        let holder = self.holder(caller).await?;
        let slot = self.slot(&holder);
        let usable = |token: &Token| !token.is_due(self.now()) || !self.can_renew(token);
        match &*slot.current.load() {
            Some(token) if usable(token) => return Some(token.header.clone()),
            None if slot.loaded.load(Ordering::Relaxed) => return None,
            _ => {}
        }
        // Spawned, so that a used-up refresh token is not lost when the caller disconnects.
        let _ = self.renew_aside(holder, Arc::clone(&slot)).await;
        slot.current.load().as_ref().map(|token| token.header.clone())
    }

    fn renew_aside(self: &Arc<Self>, holder: Holder, slot: Arc<Slot>) -> JoinHandle<()> {
        let this = Arc::clone(self);
        tokio::spawn(async move { this.renew_if_due(&holder, &slot).await })
    }

    /// The `DPoP` header of one request with this `Authorization`, if that token is bound to a key.
    pub fn proof(
        &self,
        authorization: &HeaderValue,
        method: &str,
        url: &str,
    ) -> Option<HeaderValue> {
        if !authorization.as_bytes().starts_with(DPOP_SCHEME.as_bytes()) {
            return None;
        }
        let nonce = self.proof_nonce.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let slots = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
        let mut tokens = slots.values().filter_map(|slot| slot.current.load_full());
        let token = tokens.find(|token| token.header == *authorization)?;
        let of = ProofOf {
            method,
            url,
            nonce: nonce.as_ref().and_then(|nonce| nonce.to_str().ok()),
            token: Some(&token.stored.access),
        };
        let proof = token.proof_key.as_ref()?.proof(&of, self.now() / 1_000)?;
        HeaderValue::try_from(proof).ok()
    }

    /// Keeps the nonce that the server wants to see in the next proof.
    pub fn note_nonce(&self, headers: &HeaderMap) {
        if let Some(nonce) = headers.get(DPOP_NONCE).filter(|nonce| nonce.len() <= MAX_NONCE_BYTES)
        {
            let mut known = self.proof_nonce.lock().unwrap_or_else(PoisonError::into_inner);
            *known = Some(nonce.clone());
        }
    }

    /// Answers a challenge: on success there is a token other than the one that was sent.
    pub async fn answer_challenge(
        self: &Arc<Self>,
        caller: &Holder,
        url: &str,
        challenge: BearerChallenge,
        sent: Option<HeaderValue>,
    ) -> Result<(), Fault> {
        self.armed.store(true, Ordering::Relaxed);
        let Some(holder) = self.holder(caller).await else {
            // The gateway itself cannot log in; a person must.
            return Err(Fault::LoginRequired { server: Arc::clone(&self.name), link: None });
        };
        let is_own = holder == *caller;
        let obtained = self.obtain_aside(holder, url.to_owned(), challenge, sent);
        let outcome = obtained.await.unwrap_or(Err(Fault::Interrupted));
        outcome.map_err(|fault| match fault {
            // A link is only for the person who will own the token.
            Fault::LoginRequired { server, .. } if !is_own => {
                Fault::LoginRequired { server, link: None }
            }
            fault => fault,
        })
    }

    fn obtain_aside(
        self: &Arc<Self>,
        holder: Holder,
        url: String,
        challenge: BearerChallenge,
        sent: Option<HeaderValue>,
    ) -> JoinHandle<Result<(), Fault>> {
        let this = Arc::clone(self);
        tokio::spawn(async move { this.obtain(&holder, &url, &challenge, sent.as_ref()).await })
    }

    async fn obtain(
        self: &Arc<Self>,
        holder: &Holder,
        url: &str,
        challenge: &BearerChallenge,
        sent: Option<&HeaderValue>,
    ) -> Result<(), Fault> {
        let slot = self.slot(holder);
        let mut work = slot.work.lock().await;
        self.load(holder, &slot).await;
        let current = slot.current.load_full();
        if current.as_ref().is_some_and(|token| Some(&token.header) != sent) {
            // Another call has got a token, or the vault had one.
            return Ok(());
        }
        if challenge.lacks_nonce() && current.is_some() {
            // The same token with another proof.
            return Ok(());
        }
        if let Some(fault) = work.recent_fault() {
            return Err(fault);
        }
        if let Some(token) = &current
            && !challenge.lacks_scopes()
            && token.is_new(RETRY_AFTER)
            && !self.has_moved(&token.stored.terms.issuer, url, challenge).await
        {
            return Err(Fault::TokenRejected);
        }
        let outcome = self.replace(holder, current.as_deref(), url, challenge).await;
        work.note(&outcome);
        self.store(holder, &slot, outcome?).await
    }

    /// Renews a token that is due, before a request is refused because of it.
    async fn renew_if_due(self: &Arc<Self>, holder: &Holder, slot: &Slot) {
        let mut work = slot.work.lock().await;
        self.load(holder, slot).await;
        let Some(token) = slot.current.load_full() else { return };
        if !token.is_due(self.now()) || !self.can_renew(&token) || work.recent_fault().is_some() {
            return;
        }
        let outcome = self.renew(&token.stored).await;
        work.note(&outcome);
        match outcome {
            Ok(stored) => {
                let _ = self.store(holder, slot, stored).await;
            }
            Err(fault) => {
                tracing::warn!(server = &*self.name, %fault, "a token could not be renewed");
            }
        }
    }

    /// Uses a token from now on, and saves it.
    async fn store(&self, holder: &Holder, slot: &Slot, stored: StoredToken) -> Result<(), Fault> {
        let token = Token::issued(stored)?;
        let place = self.place(holder, &token.stored.terms.issuer);
        if let Err(fault) = self.oauth.save(place, &token.stored).await {
            // The token stays usable until the gateway ends.
            tracing::warn!(server = &*self.name, %fault, "a token could not be stored");
        }
        slot.loaded.store(true, Ordering::Relaxed);
        slot.current.store(Some(Arc::new(token)));
        Ok(())
    }

    /// Stores the token of a finished login.
    pub(super) async fn accept_login(
        &self,
        holder: &Holder,
        stored: StoredToken,
    ) -> Result<(), Fault> {
        let slot = self.slot(holder);
        let mut work = slot.work.lock().await;
        self.store(holder, &slot, stored).await?;
        work.failed = None;
        self.armed.store(true, Ordering::Relaxed);
        self.logged_in.notify_one();
        Ok(())
    }

    /// Loads the token from the vault, once.
    async fn load(&self, holder: &Holder, slot: &Slot) {
        if slot.loaded.load(Ordering::Relaxed) {
            return;
        }
        let stored = self.oauth.load::<StoredToken>(KIND, &self.name).await;
        let (tenant, owner) = holder.parts();
        let own = stored
            .into_iter()
            .filter(|(place, stored)| {
                place.tenant == tenant && place.owner == owner && self.is_ours(stored)
            })
            .find_map(|(_, stored)| match Token::from_vault(stored) {
                Ok(token) => Some(token),
                Err(fault) => {
                    tracing::warn!(server = %self.name, %fault, "a token of the vault cannot be used: log in again");
                    None
                }
            });
        if let Some(token) = own.filter(|token| !token.is_over(self.now()) || self.can_renew(token))
        {
            slot.current.store(Some(Arc::new(token)));
        }
        slot.loaded.store(true, Ordering::Relaxed);
    }

    /// Whether a stored token fits the current config, and is not of an earlier server of the same name.
    fn is_ours(&self, stored: &StoredToken) -> bool {
        let terms = &stored.terms;
        let named = self.config.issuer.as_ref();
        let same_issuer = named.is_none_or(|named| is_same_issuer(named, &terms.issuer));
        let same_client = self.config.client_id.as_ref().is_none_or(|id| *id == terms.client.id);
        self.urls.contains(&terms.url) && same_issuer && same_client
    }

    /// The owner of the token for a caller's request. The gateway's own requests, such as for the list of tools, use the
    /// token of any person who has logged in.
    async fn holder(&self, caller: &Holder) -> Option<Holder> {
        if !self.personal {
            return Some(Holder::Gateway);
        }
        if *caller != Holder::Gateway {
            return Some(caller.clone());
        }
        let in_use = {
            let slots = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
            let with_token = slots.iter().find(|(_, slot)| slot.current.load().is_some());
            with_token.map(|(holder, _)| holder.clone())
        };
        if in_use.is_some() {
            return in_use;
        }
        let stored = self.oauth.load::<StoredToken>(KIND, &self.name).await;
        let first = stored.into_iter().find(|(_, stored)| self.is_ours(stored));
        first.map(|(place, _)| Holder::of_parts(&place.tenant, &place.owner))
    }

    /// Whether the gateway's own requests may use the token of one person among several. Without other users than the
    /// local one there is only one person.
    pub fn uses_one_of_many(&self) -> bool {
        let slots = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
        let local = (crate::LOCAL_TENANT, crate::LOCAL_SUBJECT);
        let among_several = |holder: &Holder| self.oauth.is_multi_user() || holder.parts() != local;
        let mut used = slots.iter().filter(|(_, slot)| slot.current.load().is_some());
        self.personal && used.any(|(holder, _)| among_several(holder))
    }

    fn slot(&self, holder: &Holder) -> Arc<Slot> {
        let mut slots = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(slot) = slots.get(holder) {
            return Arc::clone(slot);
        }
        Arc::clone(slots.entry(holder.clone()).or_default())
    }

    fn place(&self, holder: &Holder, issuer: &str) -> VaultSlot {
        let (tenant, owner) = holder.parts();
        VaultSlot {
            kind: KIND,
            server: self.name.to_string(),
            tenant: tenant.to_owned(),
            owner: owner.to_owned(),
            issuer: issuer.to_owned(),
        }
    }

    /// Whether the next token needs no person.
    fn can_renew(&self, token: &Token) -> bool {
        token.stored.refresh.is_some() || self.config.grant != Grant::AuthorizationCode
    }

    pub(super) fn now(&self) -> u64 {
        self.oauth.clock().unix_ms()
    }
}
