use std::sync::Arc;

use serde_json::Value;

use super::server::Offering;
use crate::catalog::OwnTools;

/// What a client's own instances of servers list at one moment, where that differs from what the servers list for all.
#[derive(Default)]
pub struct OwnLists {
    pub(crate) tools: Vec<Arc<OwnTools>>,
    /// By the servers' names.
    pub(crate) offerings: Vec<(String, Arc<Offering>)>,
}

impl OwnLists {
    pub fn same_tools(&self, other: &Self) -> bool {
        let same = |(a, b): (&Arc<OwnTools>, &Arc<OwnTools>)| Arc::ptr_eq(a, b);
        self.tools.len() == other.tools.len() && self.tools.iter().zip(&other.tools).all(same)
    }

    pub fn same_prompts(&self, other: &Self) -> bool {
        self.same_offerings(other, |offering| [&offering.prompts, &offering.prompts])
    }

    pub fn same_resources(&self, other: &Self) -> bool {
        self.same_offerings(other, |offering| [&offering.resources, &offering.templates])
    }

    fn same_offerings(&self, other: &Self, lists: fn(&Offering) -> [&Vec<Arc<Value>>; 2]) -> bool {
        self.offerings.len() == other.offerings.len()
            && self.offerings.iter().zip(&other.offerings).all(|((server, one), (named, two))| {
                server == named && (Arc::ptr_eq(one, two) || lists(one) == lists(two))
            })
    }
}
