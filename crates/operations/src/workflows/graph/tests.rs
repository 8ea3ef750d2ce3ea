use proptest::prelude::{any, proptest};

use super::*;

fn task(id: &str, layer: usize, depends_on: &[&str]) -> GraphTask {
    let depends_on = depends_on.iter().map(|&id| id.to_owned()).collect();
    GraphTask { id: id.to_owned(), layer, depends_on, ..GraphTask::default() }
}

#[test]
fn layers_are_columns_and_states_are_named() {
    let mut first = task("list", 0, &[]);
    first.tool = "files:list@1".to_owned();
    first.status = "success".to_owned();
    first.duration_ms = Some(1_250);
    let view = GraphView {
        title: "nightly".to_owned(),
        tasks: vec![first, task("a", 1, &["list"]), task("b", 1, &["list", "gone"])],
    };
    let drawn = svg(&view);
    for part in ["<title>nightly</title>", "Layer 0", "Layer 1", "success · 1.2 s", "files:list@1"]
    {
        assert!(drawn.contains(part), "{part}: {drawn}");
    }
    assert_eq!(drawn.matches("marker-end").count(), 2);
    assert_eq!(drawn.matches("class=\"task\"").count(), 3);
    assert!(!svg(&GraphView::default()).is_empty());
}

proptest! {
    #[test]
    fn nothing_in_a_name_becomes_markup(name in any::<String>()) {
        let hostile = format!("{name}\"><script>alert(1)</script>\u{1b}[2J");
        let mut one = task(&hostile, 0, &[&hostile]);
        one.tool = hostile.clone();
        one.status = hostile.clone();
        let drawn = svg(&GraphView { title: hostile, tasks: vec![one] });
        assert!(!drawn.contains("<script") && !drawn.contains('\u{1b}'));
        assert_eq!(drawn.matches("<g ").count(), 1);
        assert_eq!(drawn.matches("<rect").count(), 2);
    }
}
