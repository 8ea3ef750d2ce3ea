//! The tokens of one server: found, renewed one at a time, and given to nobody but that server.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use arc_swap::ArcSwapOption;
use egress::http::{Client, Rule};
use http::HeaderValue;
use store::VaultPlace;
use tokio::sync::Notify;
use tokio::time::Instant;

use super::challenge::Bearer;
use super::config::{ClientConfig, Grant};
use super::fault::Fault;
use super::grants::Discovered;
use super::holder::Holder;
use super::keyring::Keyring;
use super::token::{Kept, Token};

/// The kind of row that a token is kept as.
const KIND: &str = "token";

/// After a failure nothing is tried for this long; and a token younger than this that is refused is not replaced.
const HOLD: Duration = Duration::from_secs(3);

/// Where the tokens of one server come from.
pub struct ServerTokens {
    pub(super) keyring: Arc<Keyring>,
    pub(super) name: Arc<str>,
    pub(super) urls: Vec<String>,
    pub(super) config: ClientConfig,
    /// May reach what the config names, and the public internet.
    pub(super) http: Client,
    /// Whether each person has a token of their own.
    personal: bool,
    /// Nothing is looked for before the server has asked, unless the config says that it will.
    armed: AtomicBool,
    slots: Mutex<HashMap<Holder, Arc<Slot>>>,
    pub(super) discovered: Mutex<Option<Discovered>>,
    logged_in: Notify,
}

/// One holder's token.
#[derive(Default)]
pub(super) struct Slot {
    current: ArcSwapOption<Token>,
    /// Whether the vault was asked.
    looked: AtomicBool,
    /// Held while a token is had, so that it is had once.
    work: tokio::sync::Mutex<Work>,
}

#[derive(Default)]
struct Work {
    failed: Option<(Instant, Fault)>,
}

impl Work {
    /// What went wrong a moment ago, and would again.
    fn fault(&self) -> Option<Fault> {
        let (at, fault) = self.failed.as_ref()?;
        let lasting = !matches!(fault, Fault::Login { .. });
        (lasting && at.elapsed() < HOLD).then(|| fault.clone())
    }

    fn note<T>(&mut self, outcome: &Result<T, Fault>) {
        self.failed = outcome.as_ref().err().map(|fault| (Instant::now(), fault.clone()));
    }
}

impl ServerTokens {
    pub(super) fn new(
        keyring: Arc<Keyring>,
        name: &str,
        urls: Vec<String>,
        shared: bool,
        config: Option<ClientConfig>,
        http: &Client,
    ) -> Arc<Self> {
        let armed = AtomicBool::new(config.is_some());
        let config = config.unwrap_or_default();
        // The server itself and the issuer that the config names may be anywhere; what metadata names may not.
        let named = urls.iter().chain(&config.issuer);
        let policy = named
            .filter_map(|url| Rule::for_url(url).ok())
            .fold(http.policy().clone(), |policy, rule| policy.allowing(rule));
        Arc::new(Self {
            keyring,
            name: name.into(),
            urls,
            personal: config.grant == Grant::AuthorizationCode && !shared,
            config,
            http: http.with_policy(policy),
            armed,
            slots: Mutex::default(),
            discovered: Mutex::default(),
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

    /// The token to send for a caller, renewed if its time has come; none if there is none yet.
    pub async fn bearer(self: &Arc<Self>, caller: &Holder) -> Option<HeaderValue> {
        if !self.armed.load(Ordering::Relaxed) {
            return None;
        }
        let holder = self.holder(caller).await?;
        let slot = self.slot(&holder);
        let ready = |token: &Token| !token.is_due(self.now()) || !self.renews(token);
        match &*slot.current.load() {
            Some(token) if ready(token) => return Some(token.header.clone()),
            None if slot.looked.load(Ordering::Relaxed) => return None,
            _ => {}
        }
        // Goes on when the caller leaves: a refresh token that was used up must not be lost.
        let (this, at) = (Arc::clone(self), Arc::clone(&slot));
        let _ = tokio::spawn(async move { this.freshen(&holder, &at).await }).await;
        slot.current.load().as_ref().map(|token| token.header.clone())
    }

    /// Answers a challenge: afterwards there is a token that the request has not been sent with.
    pub async fn challenged(
        self: &Arc<Self>,
        caller: &Holder,
        url: &str,
        challenge: Bearer,
        sent: Option<HeaderValue>,
    ) -> Result<(), Fault> {
        self.armed.store(true, Ordering::Relaxed);
        let Some(holder) = self.holder(caller).await else {
            // The gateway itself cannot log in; somebody has to.
            return Err(Fault::Login { server: Arc::clone(&self.name), link: None });
        };
        let asked_for_self = holder == *caller;
        let (this, url) = (Arc::clone(self), url.to_owned());
        let work = async move { this.answer(&holder, &url, &challenge, sent.as_ref()).await };
        let outcome = tokio::spawn(work).await.unwrap_or(Err(Fault::CutShort));
        outcome.map_err(|fault| match fault {
            // A link is for the person whose token it will be.
            Fault::Login { server, .. } if !asked_for_self => Fault::Login { server, link: None },
            fault => fault,
        })
    }

    async fn answer(
        self: &Arc<Self>,
        holder: &Holder,
        url: &str,
        challenge: &Bearer,
        sent: Option<&HeaderValue>,
    ) -> Result<(), Fault> {
        let slot = self.slot(holder);
        let mut work = slot.work.lock().await;
        self.look(holder, &slot).await;
        let current = slot.current.load_full();
        if current.as_ref().is_some_and(|token| Some(&token.header) != sent) {
            // Another call was faster, or it was in the vault.
            return Ok(());
        }
        if let Some(fault) = work.fault() {
            return Err(fault);
        }
        if !challenge.wants_more() && current.as_ref().is_some_and(|token| token.is_new(HOLD)) {
            return Err(Fault::Unaccepted);
        }
        let outcome = self.replace(holder, current.as_deref(), url, challenge).await;
        work.note(&outcome);
        self.settle(holder, &slot, outcome?).await
    }

    /// Renews a token whose time has come, before anybody is refused because of it.
    async fn freshen(self: &Arc<Self>, holder: &Holder, slot: &Slot) {
        let mut work = slot.work.lock().await;
        self.look(holder, slot).await;
        let Some(token) = slot.current.load_full() else { return };
        if !token.is_due(self.now()) || !self.renews(&token) || work.fault().is_some() {
            return;
        }
        let outcome = self.renew(&token.kept).await;
        work.note(&outcome);
        match outcome {
            Ok(kept) => {
                let _ = self.settle(holder, slot, kept).await;
            }
            Err(fault) => {
                tracing::warn!(server = &*self.name, %fault, "a token could not be renewed");
            }
        }
    }

    /// Puts a token in use and keeps it.
    async fn settle(&self, holder: &Holder, slot: &Slot, kept: Kept) -> Result<(), Fault> {
        let token = Token::issued(kept)?;
        let place = self.place(holder, &token.kept.terms.issuer);
        if let Err(fault) = self.keyring.keep(place, &token.kept).await {
            // It works without, until the gateway ends.
            tracing::warn!(server = &*self.name, %fault, "a token could not be kept");
        }
        slot.looked.store(true, Ordering::Relaxed);
        slot.current.store(Some(Arc::new(token)));
        Ok(())
    }

    /// Takes the token of a finished login.
    pub(super) async fn take(&self, holder: &Holder, kept: Kept) -> Result<(), Fault> {
        let slot = self.slot(holder);
        let mut work = slot.work.lock().await;
        self.settle(holder, &slot, kept).await?;
        work.failed = None;
        self.armed.store(true, Ordering::Relaxed);
        self.logged_in.notify_one();
        Ok(())
    }

    /// Asks the vault, once.
    async fn look(&self, holder: &Holder, slot: &Slot) {
        if slot.looked.load(Ordering::Relaxed) {
            return;
        }
        let kept = self.keyring.kept::<Kept>(KIND, &self.name).await;
        let (tenant, owner) = holder.parts();
        let own = kept
            .into_iter()
            .filter(|(place, kept)| {
                place.tenant == tenant && place.owner == owner && self.is_ours(kept)
            })
            .find_map(|(_, kept)| Token::kept(kept).ok());
        if let Some(token) = own.filter(|token| !token.is_over(self.now()) || self.renews(token)) {
            slot.current.store(Some(Arc::new(token)));
        }
        slot.looked.store(true, Ordering::Relaxed);
    }

    /// Whether what is kept is for this server as the config has it now, and not for one that had its name before.
    fn is_ours(&self, kept: &Kept) -> bool {
        let terms = &kept.terms;
        let same_issuer = self.config.issuer.as_ref().is_none_or(|issuer| *issuer == terms.issuer);
        let same_client = self.config.client_id.as_ref().is_none_or(|id| *id == terms.client.id);
        self.urls.contains(&terms.url) && same_issuer && same_client
    }

    /// Whose token a caller's request is sent with. The gateway's own questions, such as for the list of tools, are
    /// asked with the token of somebody who has logged in.
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
        let kept = self.keyring.kept::<Kept>(KIND, &self.name).await;
        let first = kept.into_iter().find(|(_, kept)| self.is_ours(kept));
        first.map(|(place, _)| Holder::of_parts(&place.tenant, &place.owner))
    }

    /// Whether the gateway's own questions may be asked with the token of one person among several: where everybody is
    /// the local user there is but one.
    pub fn lends(&self) -> bool {
        let slots = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
        let local = (crate::LOCAL_TENANT, crate::LOCAL_SUBJECT);
        let among_several = |holder: &Holder| self.keyring.serves_many() || holder.parts() != local;
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

    fn place(&self, holder: &Holder, issuer: &str) -> VaultPlace {
        let (tenant, owner) = holder.parts();
        VaultPlace {
            kind: KIND,
            server: self.name.to_string(),
            tenant: tenant.to_owned(),
            owner: owner.to_owned(),
            issuer: issuer.to_owned(),
        }
    }

    /// Whether the next token can be had without anybody's help.
    fn renews(&self, token: &Token) -> bool {
        token.kept.refresh.is_some() || self.config.grant != Grant::AuthorizationCode
    }

    pub(super) fn now(&self) -> u64 {
        self.keyring.clock().unix_ms()
    }
}
