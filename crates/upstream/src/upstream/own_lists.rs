//! What callers' own processes and sessions list: it is offered to their callers in place of the server's list.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use proto::canonical;
use serde_json::Value;
use strip::Tool;
use strip::servers::{ClientIdentity, InstanceKey, Notice, NoticeKind, Offering};
use tokio::task::JoinSet;
use tokio::time::{sleep, sleep_until, timeout};

use super::Upstream;
use crate::backoff::Backoff;
use crate::caller::Caller;
use crate::error::TransportError;
use crate::instances::{Announced, DueListing, InstanceEvent};
use crate::listing::{self, Offer};
use crate::tool::UpstreamTool;

/// The limits of what one instance offers in addition to the server's list, and how many instances offer something else.
const MAX_OWN_TOOLS: usize = 256;
const MAX_OWN_BYTES: usize = 1024 * 1024;
const MAX_OWN_LISTS: usize = 256;

/// The longest wait before an instance whose caller watches resources is started again.
const LONGEST_WAIT: Duration = Duration::from_secs(60);

/// The lists of one instance; none where they equal those that the server offers to all.
#[derive(Default)]
struct OwnLists {
    tools: Option<Vec<Arc<UpstreamTool>>>,
    offering: Option<Arc<Offering>>,
}

/// The instances that offer something else, with their numbers and tools.
type Published = HashMap<InstanceKey, (u64, Vec<Arc<UpstreamTool>>)>;

/// A listing that has ended.
type Listed = (DueListing, Result<(Announced, OwnLists), TransportError>);

impl Upstream {
    /// Lists the tools of callers' instances when these announce changes, and keeps the instances at which resources are
    /// watched.
    pub(super) async fn keep_own_lists(self: Arc<Self>) {
        let mut listings: JoinSet<Listed> = JoinSet::new();
        let mut keepers: JoinSet<()> = JoinSet::new();
        let mut published = Published::new();
        let instances = Arc::clone(&self.server.context.instances);
        loop {
            tokio::select! {
                () = self.stop.cancelled() => break,
                event = instances.next() => match event {
                    InstanceEvent::List(due) => {
                        let upstream = Arc::clone(&self);
                        let before = published.get(&due.key).map(|(_, tools)| tools.clone());
                        listings.spawn(async move {
                            sleep_until(due.not_before).await;
                            let listed = upstream.list_own(&due, before.unwrap_or_default()).await;
                            (due, listed)
                        });
                    }
                    InstanceEvent::Ended(key, number) => {
                        if published.get(&key).is_some_and(|(known, _)| *known == number) {
                            published.remove(&key);
                            self.publish_own(key, OwnLists::default()).await;
                        }
                    }
                    InstanceEvent::Watch(key, client) => {
                        let upstream = Arc::clone(&self);
                        keepers.spawn(async move { upstream.keep_watching(key, &client).await });
                    }
                },
                Some(Ok((due, listed))) = listings.join_next() => {
                    let changed = match listed {
                        Ok((announced, own)) if instances.lives(&due) => {
                            self.accept_own(&due, announced, own, &mut published).await
                        }
                        Ok(_) => false,
                        Err(error) => {
                            tracing::debug!(server = self.name(), %error, "a caller's instance cannot be listed");
                            false
                        }
                    };
                    instances.end_listing(&due, changed);
                }
                Some(_) = keepers.join_next() => {}
            }
        }
        for key in published.into_keys() {
            self.publish_own(key, OwnLists::default()).await;
        }
    }

    /// Offers to its caller what an instance lists. Returns whether that has changed.
    async fn accept_own(
        &self,
        due: &DueListing,
        announced: Announced,
        own: OwnLists,
        published: &mut Published,
    ) -> bool {
        let differs = own.tools.is_some() || own.offering.is_some();
        if differs && published.len() >= MAX_OWN_LISTS && !published.contains_key(&due.key) {
            tracing::warn!(
                server = self.name(),
                "more than {MAX_OWN_LISTS} callers' instances list something else; the further ones are not listed"
            );
            return false;
        }
        if differs {
            let tools = own.tools.clone().unwrap_or_default();
            published.insert(due.key, (due.number, tools));
        } else {
            published.remove(&due.key);
        }
        let changed = self.publish_own(due.key, own).await;
        self.pass_on(Some(due.key), announced.without(changed));
        changed.any()
    }

    /// Replaces what an instance offers, and returns which lists have changed.
    async fn publish_own(&self, key: InstanceKey, own: OwnLists) -> Announced {
        let other = self.deps.servers.publish_own(self.name(), key, own.offering);
        let (name, publish) = (self.server.name.clone(), Arc::clone(&self.deps.publish_own));
        let tools = own
            .tools
            .map(|tools| tools.into_iter().map(|tool| tool as Arc<dyn Tool>).collect::<Vec<_>>());
        // Compiling schemas takes long.
        let tools = tokio::task::spawn_blocking(move || publish(&name, key, tools)).await;
        Announced { tools: tools.unwrap_or(false), prompts: other, resources: other }
    }

    /// Passes on that lists may have changed although the gateway sees no difference.
    pub(super) fn pass_on(&self, instance: Option<InstanceKey>, announced: Announced) {
        let kinds = [
            (announced.tools, NoticeKind::Tools),
            (announced.prompts, NoticeKind::Prompts),
            (announced.resources, NoticeKind::Resources),
        ];
        for (_, kind) in kinds.into_iter().filter(|(is_announced, _)| *is_announced) {
            self.deps.servers.notify(Notice { server: self.name().into(), instance, kind });
        }
    }

    /// Lists what a caller's instance offers.
    async fn list_own(
        &self,
        due: &DueListing,
        own_before: Vec<Arc<UpstreamTool>>,
    ) -> Result<(Announced, OwnLists), TransportError> {
        let instances = &self.server.context.instances;
        let announced = instances.take_announced(due).unwrap_or_default();
        let (limit, transport) = (self.deps.timing.list, &self.server.transport);
        let shared =
            self.last_list().ok_or_else(|| TransportError::lost("there is no list yet"))?;
        let fetching = async {
            let caller = Some(&due.caller);
            let tools = listing::fetch(transport, caller).await?;
            let stated = &shared.other.capabilities;
            let other = listing::fetch_other(self.name(), transport, caller, stated, &shared.other);
            Ok::<_, TransportError>((tools, other.await))
        };
        let fetched = timeout(limit, fetching).await;
        let (tools, other) = fetched.unwrap_or(Err(TransportError::TimedOut(limit)))?;
        let shared_tools = self.listed().tools.clone();
        let (server, raw) = (Arc::clone(&self.server), tools.clone());
        let before = [shared_tools.as_slice(), &own_before].concat();
        let made = tokio::task::spawn_blocking(move || Offer::of(&raw, &server, &before)).await;
        let offer = made.unwrap_or_default();
        let known: HashSet<_> = shared_tools.iter().map(Arc::as_ptr).collect();
        let (mut own, mut more, mut bytes) = (Vec::new(), 0, 0);
        for tool in offer.tools {
            if !known.contains(&Arc::as_ptr(&tool)) {
                more += 1;
                bytes += canonical::len(tool.listed());
                if more > MAX_OWN_TOOLS || bytes > MAX_OWN_BYTES {
                    tracing::warn!(
                        server = self.name(),
                        "a caller's instance lists too many tools of its own; the rest is left out"
                    );
                    break;
                }
            }
            own.push(tool);
        }
        let is_shared = more == 0 && own.len() == known.len();
        Ok((
            announced,
            OwnLists {
                tools: (!is_shared).then_some(own),
                offering: self.own_offering(&tools, other),
            },
        ))
    }

    /// What an instance offers in addition to tools, if that is not what the server offers to all.
    fn own_offering(
        &self,
        tools: &[Arc<Value>],
        other: crate::deps::OtherOfferings,
    ) -> Option<Arc<Offering>> {
        let shared = self.server.offering.load_full();
        let apps = listing::apps(tools);
        let crate::deps::OtherOfferings { prompts, resources, templates, .. } = other;
        let size =
            |list: &[Arc<Value>]| list.iter().map(|entry| canonical::len(entry)).sum::<usize>();
        let is_shared = prompts == shared.prompts
            && resources == shared.resources
            && templates == shared.templates
            && apps == shared.apps;
        let total = size(&prompts) + size(&resources) + size(&templates);
        let allowed = size(&shared.prompts)
            + size(&shared.resources)
            + size(&shared.templates)
            + MAX_OWN_BYTES;
        if is_shared || total > allowed {
            return None;
        }
        let now = self.deps.offered_at();
        let claims = shared.claims.renew(&prompts, &resources, &templates, &apps, now);
        let offering =
            Offering { prompts, resources, templates, apps, claims, ..Offering::clone(&shared) };
        Some(Arc::new(offering))
    }

    /// Keeps the instance of a client for as long as it watches resources there.
    async fn keep_watching(&self, key: InstanceKey, client: &ClientIdentity) {
        let (server, instances) = (&self.server, &self.server.context.instances);
        let mut backoff = Backoff::new(self.deps.timing.backoff, LONGEST_WAIT);
        while !instances.stop_watching(key) {
            let personal = server.personal_values(&client.principal).await;
            let held = match (Caller::of_client(client, &server.config), personal) {
                (Some(caller), Ok(personal)) => {
                    let caller = caller.with_personal(personal);
                    server.transport.keep(&caller, instances.watched(key)).await
                }
                // Without a secret of theirs there is no instance.
                _ => Err(TransportError::Expired),
            };
            match held {
                Ok(()) => backoff.reset(),
                Err(error) => {
                    tracing::debug!(server = self.name(), %error, "a watched instance ended");
                    sleep(backoff.next()).await;
                }
            }
        }
    }
}
