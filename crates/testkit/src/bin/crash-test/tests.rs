//! The checks find what they are there for.

use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::ledger::Ledger;
use crate::record::Record;
use crate::rng::Rng;
use crate::spec::{Kind, Spec};

/// A workflow whose first task only works.
fn spec() -> Spec {
    let plain = |spec: &Spec| {
        let task = &spec.tasks[0];
        task.kind == Kind::Work && task.parts.is_none() && !task.gated && spec.abort_at.is_none()
    };
    (0..).map(|seed| Spec::random("w1".to_owned(), &mut Rng::new(seed))).find(plain).unwrap()
}

fn ledger(lines: &[(&str, &str, &str)]) -> Ledger {
    let mut text = String::new();
    for (what, key, generation) in lines {
        let line = json!({"what": what, "key": key, "task": "w1.t0", "tool": "work", "generation": generation});
        writeln!(text, "{line}").unwrap();
    }
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), text).unwrap();
    Ledger::read(file.path()).unwrap()
}

fn answer(output: Value) -> Value {
    let result = json!({"task_id": "t0", "status": "success", "output": output});
    json!({"workflow_id": "id", "status": "layer_complete", "layer_index": 0, "layer_results": [result]})
}

#[test]
fn a_repeated_run_is_found() {
    let (spec, mut record) = (spec(), Record::default());
    record.observe(&spec, &answer(json!({"key": "id/t0/1", "runs": 2}))).unwrap();
    let begin = |generation| ("begin", "id/t0/1", generation);
    let after_a_crash = ledger(&[begin("1-0"), begin("1-1"), ("end", "id/t0/1", "1-1")]);
    after_a_crash.check(&spec, &record).unwrap();
    after_a_crash.check_end(&spec, &record).unwrap();
    let message = |ledger: Ledger| ledger.check(&spec, &record).unwrap_err();
    assert!(
        message(ledger(&[begin("1-0"), begin("1-0")])).contains("ran 2 times under gateway 1-0")
    );
    let again = ledger(&[begin("1-0"), begin("1-1"), begin("1-2")]);
    assert!(message(again).contains("complete after 2 runs and ran 3 times"));
    let lost = ledger(&[begin("1-0")]);
    assert!(lost.check_end(&spec, &record).unwrap_err().contains("never ran to its end"));
    let keys = ledger(&[begin("1-0"), begin("1-1"), ("begin", "id/t0/2", "1-1")]);
    assert!(message(keys).contains("several keys"));
    assert!(message(ledger(&[("begin", "other/t0/1", "1-0")])).contains("with the key other"));
}

#[test]
fn a_changed_answer_is_found() {
    let spec = spec();
    let first = answer(json!({"key": "id/t0/1", "runs": 1}));
    let observe = |change: &dyn Fn(&mut Value)| {
        let mut record = Record::default();
        record.observe(&spec, &first).unwrap();
        record.observe(&spec, &first).unwrap();
        let mut changed = first.clone();
        change(&mut changed);
        record.observe(&spec, &changed).unwrap_err()
    };
    assert!(observe(&|it| it["workflow_id"] = json!("other")).contains("became other"));
    assert!(
        observe(&|it| it["layer_results"][0]["output"]["runs"] = json!(2))
            .contains("the output of t0 was")
    );
    assert!(observe(&|it| it["layer_results"][0]["status"] = json!("failed")).contains("changed"));
    let mut record = Record::default();
    let mut later = first.clone();
    later["layer_index"] = json!(1);
    record.observe(&spec, &later).unwrap();
    assert!(record.observe(&spec, &first).unwrap_err().contains("layer 1 was acknowledged"));
}
