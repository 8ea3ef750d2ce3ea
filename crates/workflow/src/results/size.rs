use dag::core::{Address, WHOLE};
use dag::paths;
use dag::plan::Plan;
use proto::canonical;

use super::{Results, Slot};
use crate::calls::MAX_OUTPUT;

impl Results {
    /// About how many bytes of JSON the output of a task has, with those of its items and of the tasks within it. Nothing is
    /// read from the database.
    pub(crate) fn output_bytes(&self, plan: &Plan, address: &Address) -> usize {
        let Some((_, task)) = paths::find(plan, address) else { return 0 };
        let item = address.last().map_or(WHOLE, |step| step.item);
        let result = self.task(address).unwrap_or_default();
        if task.task.for_each.is_some() && item == WHOLE {
            let items = i64::try_from(result.note.items.unwrap_or(0)).unwrap_or(0);
            return (0..items).map(|item| self.output_bytes(plan, &address.item(item))).sum();
        }
        if let Some(inner) = &task.workflow {
            let places = 0..inner.tasks.len();
            return places.map(|place| self.output_bytes(plan, &address.child(place))).sum();
        }
        match (&result.output, &result.note.large) {
            (Slot::Nothing, _) => 0,
            (Slot::Here(value), _) => canonical::len(value),
            (Slot::Uncommitted(_) | Slot::Stored, large) => {
                let bytes = large.as_ref().and_then(|large| large["bytes"].as_u64());
                bytes.and_then(|bytes| usize::try_from(bytes).ok()).unwrap_or(MAX_OUTPUT)
            }
        }
    }
}
