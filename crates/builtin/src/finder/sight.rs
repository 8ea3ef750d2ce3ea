use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use proto::Principal;
use strip::agents::{Profiles, View};
use strip::catalog::{Entry, Snapshot};

use super::index::{Index, Words};

/// Which of the indexed tools each agent may see, computed once per view and index.
#[derive(Default)]
pub(super) struct Sights(Mutex<HashMap<String, Sight>>);

struct Sight {
    tools: Arc<Snapshot>,
    words: Arc<Words>,
    visible: Arc<[bool]>,
}

impl Sights {
    /// Whether this caller sees each tool, by position; `None` if it sees all.
    pub(super) fn of(
        &self,
        principal: &Principal,
        view: &View,
        index: &Index,
        profiles: &Profiles,
    ) -> Option<Arc<[bool]>> {
        let Some(agent) = &principal.agent else {
            return (!Arc::ptr_eq(view.tools(), &index.catalog)).then(|| seen(view, &index.words));
        };
        let mut sights = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(sight) = sights.get(agent)
            && Arc::ptr_eq(&sight.tools, view.tools())
            && Arc::ptr_eq(&sight.words, &index.words)
        {
            return Some(Arc::clone(&sight.visible));
        }
        let visible = seen(view, &index.words);
        let (tools, words) = (Arc::clone(view.tools()), Arc::clone(&index.words));
        sights.retain(|agent, _| profiles.agents.contains_key(agent));
        sights.insert(agent.clone(), Sight { tools, words, visible: Arc::clone(&visible) });
        Some(visible)
    }
}

/// The index may be older than the view: tools that were removed or replaced are not visible.
fn seen(view: &View, words: &Words) -> Arc<[bool]> {
    let there = |entry: &Arc<Entry>| {
        view.tools().resolve(entry.descriptor.id.as_str()).is_ok_and(|now| Arc::ptr_eq(now, entry))
    };
    words.entries.iter().map(there).collect()
}
