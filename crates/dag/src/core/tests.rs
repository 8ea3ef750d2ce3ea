mod model;

use std::sync::Arc;

use proptest::prelude::*;

use super::*;
use crate::{OnError, Retry};
use model::{Choices, Model};

fn node(layer: usize, depends_on: &[usize]) -> Node {
    Node { layer, depends_on: depends_on.to_vec(), ..Node::default() }
}

/// A DAG of the given rows; layers follow from the dependencies.
fn graph(mut nodes: Vec<Node>) -> Arc<Graph> {
    for place in 0..nodes.len() {
        let before = nodes[place].depends_on.iter().map(|other| nodes[*other].layer + 1).max();
        nodes[place].layer = before.unwrap_or(0);
    }
    let layers = nodes.iter().map(|node| node.layer + 1).max().unwrap_or(0);
    Arc::new(Graph { nodes, layers })
}

fn rules(per_layer: bool) -> Rules {
    Rules { per_layer, parallel: 8 }
}

fn event(kind: EventKind) -> Event {
    Event { at_unix_ms: 1, new_id: "chk_1".to_owned(), kind }
}

fn started(graph: Arc<Graph>, per_layer: bool) -> (State, Vec<Action>) {
    let (state, actions) = step(State::new(graph, rules(per_layer)), event(EventKind::Committed));
    assert_eq!(actions, [Action::CheckOwner]);
    step(state, event(EventKind::OwnerChecked(Ok(()))))
}

fn called(cell: Address, outcome: CallOutcome) -> Event {
    event(EventKind::Called { cell, undo: false, outcome })
}

const FAILED: CallOutcome = CallOutcome::Failed { retryable: false };

#[test]
fn a_layer_is_committed_before_the_next_one_starts() {
    let graph = graph(vec![node(0, &[]), node(1, &[0])]);
    let (state, actions) = started(graph, false);
    let first = Address::task(0);
    let call = Action::Call { cell: first.clone(), undo: false };
    assert_eq!(actions, [Action::StartLayer { layer: 0 }, call]);
    let (state, actions) = step(state, called(first, CallOutcome::Success));
    assert!(matches!(&actions[..], [Action::Record(_), Action::Save]), "{actions:?}");
    let (state, actions) = step(state, event(EventKind::Committed));
    assert_eq!(actions, [Action::CheckOwner]);
    let (_, actions) = step(state, event(EventKind::OwnerChecked(Ok(()))));
    let call = Action::Call { cell: Address::task(1), undo: false };
    assert_eq!(actions, [Action::StartLayer { layer: 1 }, call]);
}

#[test]
fn a_failure_pauses_or_is_undone_in_reverse_order() {
    let undone = |per_layer| {
        let mut nodes = vec![node(0, &[]), node(0, &[0]), node(0, &[1])];
        nodes[0].compensates = true;
        nodes[1].compensates = true;
        let mut model = Model::new(graph(nodes), rules(per_layer), Choices::default());
        model.outcome = |cell, _| match cell.root_task() {
            Some(2) => FAILED,
            _ => CallOutcome::Success,
        };
        model.run_until_quiet();
        model
    };
    let mut model = undone(true);
    for _ in 0..2 {
        model.command(EventKind::Continue { checkpoint_id: None });
        model.run_until_quiet();
    }
    assert_eq!(model.state.pause().unwrap().kind, PauseKind::TaskFailed);
    let model = undone(false);
    assert_eq!(model.state.outcome(), Some(&Outcome::Failed));
    assert_eq!(model.undone, [Address::task(1), Address::task(0)]);
}

#[test]
fn a_retried_task_brings_back_those_that_were_skipped() {
    let nodes = vec![node(0, &[]), node(0, &[0]), node(0, &[1])];
    let mut model = Model::new(graph(nodes), rules(true), Choices::default());
    model.outcome = |cell, attempt| match (cell.root_task(), attempt) {
        (Some(0), 1) => FAILED,
        _ => CallOutcome::Success,
    };
    model.run_until_quiet();
    for _ in 0..2 {
        model.command(EventKind::Continue { checkpoint_id: None });
        model.run_until_quiet();
    }
    let skipped = Stage::Ended(Verdict::Skipped);
    let stages: Vec<_> = model.state.root.tasks.iter().map(|task| task.stage).collect();
    assert_eq!(stages, [Stage::Ended(Verdict::Failed), skipped, skipped]);
    model.command(EventKind::Retry { task: 0 });
    model.run_until_quiet();
    assert_eq!(model.state.pause().unwrap().kind, PauseKind::Layer);
    for _ in 0..3 {
        model.command(EventKind::Continue { checkpoint_id: None });
        model.run_until_quiet();
    }
    assert_eq!(model.state.outcome(), Some(&Outcome::Complete));
    assert!(model.state.root.tasks.iter().all(|task| task.stage == Stage::Ended(Verdict::Success)));
}

#[test]
fn an_owner_who_is_gone_stops_everything() {
    let graph = graph(vec![node(0, &[]), node(0, &[0])]);
    let (state, _) = step(State::new(graph, rules(false)), event(EventKind::Committed));
    let gone = EventKind::OwnerChecked(Err("the key was revoked".to_owned()));
    let (state, actions) = step(state, event(gone));
    assert_eq!(actions, [Action::Save]);
    let (state, actions) = step(state, event(EventKind::Committed));
    assert!(actions.is_empty());
    let (state, actions) = step(state, event(EventKind::Continue { checkpoint_id: None }));
    assert_eq!(actions, [Action::Repeat]);
    assert!(matches!(state.pause().unwrap().kind, PauseKind::OwnerGone { .. }));
}

#[test]
fn a_rejection_pauses_and_other_tasks_may_follow() {
    let base = graph(vec![node(0, &[]), node(0, &[0])]);
    let (state, _) = started(base, false);
    let first = Address::task(0);
    let (state, actions) = step(state, called(first.clone(), CallOutcome::Parked));
    assert!(matches!(&actions[..], [Action::Record(_), Action::Save]), "{actions:?}");
    let (state, _) = step(state, event(EventKind::Committed));
    assert_eq!(state.pause().unwrap().kind, PauseKind::Approval);
    let rejected = EventKind::Settled { cell: first, undo: false, approved: false, feedback: None };
    let (state, _) = step(state, event(rejected));
    let (state, _) = step(state, event(EventKind::OwnerChecked(Ok(()))));
    let (state, _) = step(state, event(EventKind::Committed));
    assert_eq!(state.pause().unwrap().kind, PauseKind::Rejected);
    let (state, actions) = step(state, event(EventKind::Continue { checkpoint_id: None }));
    assert_eq!(actions, [Action::Repeat]);
    let more = graph(vec![node(0, &[]), node(0, &[0]), node(0, &[])]);
    let mut more = (*more).clone();
    more.nodes[2].layer = 1;
    let (state, _) = step(state, event(EventKind::Extend { graph: Arc::new(more) }));
    let (state, _) = step(state, event(EventKind::Committed));
    let (state, _) = step(state, event(EventKind::Continue { checkpoint_id: None }));
    let (_, actions) = step(state, event(EventKind::OwnerChecked(Ok(()))));
    let call = Action::Call { cell: Address::task(2), undo: false };
    assert!(actions.contains(&call), "{actions:?}");
}

#[test]
fn a_question_stays_when_all_approvals_of_its_layer_are_decided() {
    for approved in [true, false] {
        let (state, _) = started(graph(vec![node(0, &[]), node(0, &[])]), false);
        let (gated, asking) = (Address::task(0), Address::task(1));
        let (state, _) = step(state, called(asking.clone(), CallOutcome::Asking));
        let (state, _) = step(state, called(gated.clone(), CallOutcome::Parked));
        let (state, _) = step(state, event(EventKind::Committed));
        assert_eq!(state.pause().unwrap().kind, PauseKind::Approval);
        let settled =
            EventKind::Settled { cell: gated.clone(), undo: false, approved, feedback: None };
        let (state, _) = step(state, event(settled));
        let (mut state, _) = step(state, event(EventKind::OwnerChecked(Ok(()))));
        if approved {
            (state, _) = step(state, called(gated, CallOutcome::Success));
        }
        let (state, _) = step(state, event(EventKind::Committed));
        assert_eq!(state.pause().unwrap().kind, PauseKind::Input, "approved: {approved}");
        assert_eq!(state.root.cell(&asking).unwrap().stage, CellStage::Asking);
    }
}

#[test]
fn an_abort_that_a_crash_interrupts_is_carried_out_after_it() {
    let graph = graph(vec![node(0, &[])]);
    let (state, _) = started(Arc::clone(&graph), false);
    let cell = Address::task(0);
    let (state, actions) = step(state, called(cell, CallOutcome::Parked));
    let parked = actions.into_iter().find_map(|action| match action {
        Action::Record(record) => Some(record),
        _ => None,
    });
    let (state, _) = step(state, event(EventKind::Committed));
    let (state, actions) = step(state, event(EventKind::Abort { reason: "no".to_owned() }));
    assert!(actions.contains(&Action::Submit) && actions.contains(&Action::Save), "{actions:?}");
    // The crash comes after the submitted state, and before the last commit, which deletes it.
    let state = rebuild(graph, state.saved(), parked.into_iter().collect());
    let (state, _) = step(state, event(EventKind::Committed));
    assert_eq!(state.outcome(), None);
    let (state, actions) = step(state, event(EventKind::OwnerChecked(Ok(()))));
    assert!(actions.contains(&Action::Save), "{actions:?}");
    let (state, _) = step(state, event(EventKind::Committed));
    let aborted = Outcome::Aborted { reason: "no".to_owned(), completed_layers: 0 };
    assert_eq!(state.outcome(), Some(&aborted));
    assert_eq!(state.root.tasks[0].stage, Stage::Ended(Verdict::Failed));
}

/// A task with a list, for each item of which these nodes run.
#[test]
fn only_an_operator_leads_out_of_quarantine() {
    let (mut state, _) = started(graph(vec![node(0, &[]), node(0, &[])]), false);
    (state, _) = step(state, called(Address::task(0), CallOutcome::Parked));
    let pause = |reason: &str| Pause {
        checkpoint_id: "chk_q".to_owned(),
        kind: PauseKind::Quarantined { reason: reason.to_owned() },
    };
    state.phase = Phase::Paused(pause("it crashed"));
    for command in [
        EventKind::Continue { checkpoint_id: Some("chk_q".to_owned()) },
        EventKind::Modify { task: 1 },
        EventKind::Skip { task: 1 },
    ] {
        let (_, actions) = step(state.clone(), event(command));
        assert_eq!(actions, [Action::Refuse(Refusal::Quarantined)]);
    }
    let cell = Address::task(0);
    let approved = EventKind::Settled { cell, undo: false, approved: true, feedback: None };
    let (state, actions) = step(state, event(approved));
    assert_eq!(actions, [Action::Submit], "nothing runs");
    let (released, actions) = step(state.clone(), event(EventKind::Release));
    assert_eq!(actions, [Action::Submit, Action::CheckOwner]);
    let (_, actions) = step(released, event(EventKind::OwnerChecked(Ok(()))));
    let called = |cell| Action::Call { cell, undo: false };
    assert!(actions.contains(&called(Address::task(0))), "{actions:?}");
    let (aborted, _) = step(state, event(EventKind::Abort { reason: "enough".to_owned() }));
    assert!(aborted.ending.is_some() && aborted.pause().is_none());
}

fn each(nodes: Vec<Node>) -> Node {
    let inner = (!nodes.is_empty()).then(|| graph(nodes));
    Node { for_each: true, graph: inner, ..node(0, &[]) }
}

fn opened(state: State, task: &Address, items: usize) -> (State, Vec<Action>) {
    let prepared = EventKind::Prepared { task: task.clone(), outcome: Prepared::Items(items) };
    step(state, event(prepared))
}

#[test]
fn lists_of_one_layer_share_the_limit() {
    let lists = graph((0..6).map(|_| each(Vec::new())).collect());
    let (mut state, _) = started(Arc::clone(&lists), false);
    let mut records = Vec::new();
    for task in 0..6 {
        let (next, actions) = opened(state, &Address::task(task), 250);
        state = next;
        records.extend(actions.into_iter().filter_map(|action| match action {
            Action::Record(record) => Some(record),
            _ => None,
        }));
        let open = if task == 0 { Stage::Open } else { Stage::Ended(Verdict::Failed) };
        assert_eq!(state.root.tasks[task].stage, open, "list {task}");
    }
    assert_eq!(state.size(), 255);
    let rebuilt = rebuild(lists, state.saved(), records);
    let full = Some(Overflow { items: 247, weight: 1, free: 246 });
    assert_eq!(rebuilt.overflow(&Address::task(5), 247), full, "it counts after a restart, too");
    assert_eq!(rebuilt.overflow(&Address::task(5), 246), None);
}

#[test]
fn lists_within_sub_workflows_count() {
    let outer = Address::task(0);
    let (state, _) = started(graph(vec![each(vec![each(Vec::new())])]), false);
    assert_eq!(state.overflow(&outer, 251), Some(Overflow { items: 251, weight: 2, free: 500 }));
    let (mut state, _) = opened(state, &outer, 10);
    assert_eq!(state.size(), 20);
    for item in 0..2 {
        let cell = outer.item(item);
        let entered = EventKind::Entered { cell: cell.clone(), fits: true };
        (state, _) = step(state, event(entered));
        (state, _) = opened(state, &cell.child(0), 300);
    }
    let stage = |item| state.root.tasks[0].cells[&item].stage;
    assert_eq!([stage(0), stage(1)], [CellStage::Inside, CellStage::Ended(Verdict::Failed)]);
    assert_eq!(state.size(), 319);
}

fn any_node(depth: usize) -> BoxedStrategy<Node> {
    let flags = (any::<bool>(), any::<bool>(), any::<bool>(), 0..3_u8, 0..2_u32);
    let plain = flags.prop_map(|(conditional, for_each, compensates, on_error, max)| Node {
        conditional,
        for_each,
        compensates,
        on_error: match on_error {
            0 => OnError::Fail,
            1 => OnError::Skip,
            _ => OnError::Continue,
        },
        retry: (max > 0).then_some(Retry { max, backoff_ms: 1 }),
        ..Node::default()
    });
    if depth == 0 {
        return plain.boxed();
    }
    let nested = (plain.clone(), any_graph(depth - 1));
    let nested = nested.prop_map(|(node, graph)| Node { graph: Some(graph), ..node });
    prop_oneof![3 => plain, 1 => nested].boxed()
}

fn any_graph(depth: usize) -> BoxedStrategy<Arc<Graph>> {
    let row = (any_node(depth), any::<[bool; 6]>());
    prop::collection::vec(row, 1..6)
        .prop_map(|rows| {
            let nodes = rows.into_iter().enumerate().map(|(place, (mut node, depends))| {
                node.depends_on = (0..place).filter(|other| depends[*other]).collect();
                node
            });
            graph(nodes.collect())
        })
        .boxed()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_500, ..ProptestConfig::default() })]

    /// Whatever the DAG, the outcomes, the commands and the crashes: what is committed never runs again, layers come in
    /// order, the id of a checkpoint covers only what was shown under it, nothing starts after an abort, compensation runs
    /// in reverse order, and every workflow comes to an end.
    #[test]
    fn nothing_is_lost_and_nothing_runs_twice(
        graph in any_graph(2),
        per_layer in any::<bool>(),
        parallel in 1..9_usize,
        choices in prop::collection::vec(any::<u32>(), 0..300),
    ) {
        let mut model =
            Model::new(graph, Rules { per_layer, parallel }, Choices::of(choices));
        model.run_randomly();
        model.run_to_the_end();
    }
}
