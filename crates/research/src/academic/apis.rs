//! The APIs of publications, each with its breaker.

use std::sync::Arc;

use egress::http::Client;
use futures_util::future::join_all;
use proto::Clock;
use search::providers::{Api, Fault};
use search::router::{Guard, Guards};
use search::settings::ProviderName;

use super::arxiv::Arxiv;
use super::crossref::Crossref;
use super::openalex::Openalex;
use super::pubmed::Pubmed;
use super::semantic_scholar::SemanticScholar;
use super::source::{Page, Search, Source};
use crate::settings::Settings;

/// The APIs with their breakers.
pub(crate) struct Academic {
    sources: Vec<Slot>,
    clock: Clock,
}

struct Slot {
    source: Box<dyn Source>,
    api: Api,
    guard: Arc<Guard>,
}

impl Academic {
    /// The APIs that can be asked: all but OpenAlex work without a key.
    pub(crate) fn new(
        settings: &Settings,
        client: &Client,
        clock: &Clock,
        guards: &Guards,
    ) -> Self {
        let own = |name| settings.search.provider(name);
        let mailto = own(ProviderName::Crossref).mailto;
        let mut sources: Vec<Box<dyn Source>> = vec![
            Box::new(Crossref { mailto }),
            Box::new(Arxiv),
            Box::new(Pubmed { key: own(ProviderName::Pubmed).key }),
            Box::new(SemanticScholar { key: own(ProviderName::SemanticScholar).key }),
        ];
        if let Some(key) = own(ProviderName::Openalex).key {
            sources.push(Box::new(Openalex { key }));
        }
        let slots = sources.into_iter().filter_map(|source| {
            let (name, own) = (source.name(), own(source.name()));
            let api = Api::new(client, name, own.url.as_ref(), settings.timeouts.search)?;
            let guard = guards.of(name, &own, clock);
            Some(Slot { source, api, guard })
        });
        Self { sources: slots.collect(), clock: clock.clone() }
    }

    /// Asks the APIs for which `chosen` holds, all at once.
    pub(super) async fn search(
        &self,
        search: &Search,
        chosen: impl Fn(ProviderName) -> bool,
    ) -> Vec<ApiAnswer> {
        let slots = self.sources.iter().filter(|slot| chosen(slot.source.name()));
        let asked = slots.map(|slot| async {
            let now = self.clock.unix_ms();
            let page = slot.guard.run(slot.source.search(&slot.api, search, now)).await;
            ApiAnswer { name: slot.source.name(), page }
        });
        join_all(asked).await
    }
}

/// The answer of one API.
pub(super) struct ApiAnswer {
    pub(super) name: ProviderName,
    pub(super) page: Result<Page, Fault>,
}
