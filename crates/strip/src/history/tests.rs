use proto::{TenantId, Via};

use super::*;

fn caller(subject: &str, agent: Option<&str>) -> Principal {
    Principal {
        tenant: TenantId::new("t"),
        subject: subject.to_owned(),
        agent: agent.map(str::to_owned),
        scopes: Vec::new(),
        via: Via::Local,
    }
}

#[test]
fn each_caller_has_a_history_of_its_own() {
    let history = History::default();
    let [often, once] = ["a.often", "a.once"].map(|id| id.parse::<ToolId>().expect("an id"));
    for _ in 0..4 {
        history.note(&caller("ann", None), &often);
    }
    history.note(&caller("ann", None), &once);
    let mut lately = history.recent(&caller("ann", None));
    lately.sort_by(|a, b| b.1.total_cmp(&a.1));
    assert_eq!(lately, [(often, 1.0), (once, 0.25)]);
    assert!(history.recent(&caller("ann", Some("analyst"))).is_empty());
    assert!(history.recent(&caller("bob", None)).is_empty());
}

#[test]
fn memory_is_bounded_and_old_use_forgotten() {
    let history = History::default();
    let id = |number: usize| format!("a.t{number}").parse::<ToolId>().expect("an id");
    let ann = caller("ann", None);
    history.note(&ann, &id(0));
    for number in 1..=CALLS {
        history.note(&ann, &id(number));
    }
    let lately = history.recent(&ann);
    assert_eq!(lately.len(), CALLS);
    assert!(lately.iter().all(|(tool, _)| *tool != id(0)));
    for number in 0..CALLERS {
        history.note(&caller(&number.to_string(), None), &id(1));
    }
    assert!(history.recent(&ann).is_empty(), "she has not called for longest");
}
