use serde_json::json;

use super::{Row, Target, Unit, Verdict, markdown, number};

#[test]
fn numbers_show_what_matters() {
    for (value, shown) in [
        (0.0, "0.000"),
        (0.6149, "0.615"),
        (-0.25, "-0.250"),
        (7.126, "7.13"),
        (42.04, "42.0"),
        (999.4, "999"),
        (1000.0, "1,000"),
        (23_410.6, "23,411"),
        (1_234_567.0, "1,234,567"),
        (-12_345.0, "-12,345"),
    ] {
        assert_eq!(number(value), shown);
    }
}

#[test]
fn bounds_are_judged_at_their_edge() {
    let judged = |value, target| Row::new("r", value, Unit::Ratio).target(target).verdict();
    assert_eq!(judged(0.6, Target::AtLeast(0.6)), Verdict::Ok);
    assert_eq!(judged(0.599, Target::AtLeast(0.6)), Verdict::Miss);
    assert_eq!(judged(5.0, Target::AtMost(5.0)), Verdict::Ok);
    assert_eq!(judged(5.01, Target::AtMost(5.0)), Verdict::Miss);
    assert_eq!(judged(40.0, Target::Below(40.0)), Verdict::Miss);
    assert_eq!(judged(f64::NAN, Target::AtLeast(0.6)), Verdict::Miss);
    assert_eq!(Row::new("r", 1.0, Unit::Ratio).verdict(), Verdict::NoTarget);
    assert_eq!(Row::not_measured("r", "why").verdict(), Verdict::NotMeasured);
    assert_eq!(Row::skipped("r", "why").verdict(), Verdict::Skipped);
}

#[test]
fn rows_become_a_markdown_table() {
    let rows = [
        Row::new("calls a|b", 0.7, Unit::Ratio)
            .target(Target::AtLeast(0.6))
            .fact("gateway", 12_345.0, Unit::PerSecond)
            .fact("gateway p50", 0.5, Unit::Millis),
        Row::new("memory", 41.2, Unit::Megabytes).target(Target::Below(40.0)),
        Row::not_measured("python", "no\npython3"),
        Row::skipped("another", "install it").target(Target::AtLeast(2.0)),
        Row::new("added", 85.04, Unit::Micros).fact("each", 12.5, Unit::Kilobytes),
    ];
    assert_eq!(
        markdown(&rows),
        "| row | figure | target | | measured |\n\
         |---|--:|--:|---|---|\n\
         | calls a\\|b | 0.700× | ≥ 0.600× | ok | gateway 12,345/s · gateway p50 0.500 ms |\n\
         | memory | 41.2 MB | < 40.0 MB | **miss** |  |\n\
         | python | – | – | not measured | no python3 |\n\
         | another | – | ≥ 2.00× | skipped | install it |\n\
         | added | 85.0 µs | – |  | each 12.5 kB |\n"
    );
}

#[test]
fn rows_become_json() {
    let row = Row::new("memory", 41.0, Unit::Megabytes).target(Target::Below(40.0)).fact(
        "of children",
        2.0,
        Unit::Megabytes,
    );
    assert_eq!(
        serde_json::to_value(&row).unwrap(),
        json!({
            "row": "memory", "value": 41.0, "unit": "megabytes", "target": {"below": 40.0},
            "verdict": "miss",
            "facts": [{"name": "of children", "value": 2.0, "unit": "megabytes"}],
        })
    );
    assert_eq!(
        serde_json::to_value(Row::not_measured("python", "why")).unwrap(),
        json!({"row": "python", "why": "why", "target": null, "verdict": "not_measured", "facts": []})
    );
}
