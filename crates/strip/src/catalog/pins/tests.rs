use proto::{Annotations, Caps, RequestedLimits};
use semver::Version;

use super::{
    DamagedPin, Descriptor, FIRST_FORM, FIRST_PARTS, FORM, MAX_PINS, Pin, Pinning, Pins,
    QuarantineReason, StoredPins, Value, Verdict, json, pin,
};

const OURS: Pinning<'static> =
    Pinning { server: "crm", tool: "search", first_use: true, announced: false, listed: None };

fn search() -> Descriptor {
    Descriptor {
        unprefixed: false,
        id: "crm:search".parse().expect("an id"),
        version: Version::new(1, 0, 0),
        title: None,
        description: "Searches.".to_owned(),
        input_schema: json!({"type": "object", "required": ["b", "a"],
            "properties": {"a": {"description": "text"}, "b": {"enum": ["x", "y"]}}}),
        output_schema: None,
        deterministic: false,
        limits: RequestedLimits::default(),
        caps: Caps::default(),
        annotations: Annotations::default(),
        implementation: None,
        meta: None,
        extra: serde_json::Map::new(),
        files: None,
    }
}

fn pinned() -> Pins {
    let mut pins = Pins::default();
    let Verdict::FirstSeen(first) = pins.judge(OURS, &search()) else { panic!("not trusted") };
    assert_eq!(*first, pin(OURS, &search()));
    assert!(pins.add(*first, false));
    pins
}

/// The parts that are reported as changed; none if the tool is trusted.
fn changed(pins: &Pins, change: impl FnOnce(&mut Descriptor)) -> Vec<&'static str> {
    let mut other = search();
    change(&mut other);
    match pins.judge(OURS, &other) {
        Verdict::Trusted => Vec::new(),
        Verdict::FirstSeen(_) | Verdict::Renewed(_) | Verdict::Crowded => panic!("it is pinned"),
        Verdict::Refused { why, changed, .. } => {
            assert_eq!(why, QuarantineReason::Changed);
            changed
        }
    }
}

#[test]
fn every_part_that_is_shown_counts_and_what_is_the_operators_does_not() {
    let stored = pinned().take_new();
    let pins = Pins::from_stored(stored.into_iter().map(|one| one.pin));
    assert_eq!(changed(&pins, |_| {}), Vec::<&str>::new());
    let none = changed(&pins, |tool| {
        tool.id = "crm:find".parse().expect("an id");
        tool.unprefixed = true;
        tool.deterministic = true;
        tool.limits.max_input_bytes = Some(7);
        tool.input_schema["required"] = json!(["a", "b"]);
    });
    assert_eq!(none, Vec::<&str>::new());

    assert_eq!(changed(&pins, |tool| tool.title = Some("S".into())), ["title"]);
    assert_eq!(changed(&pins, |tool| tool.description.push('\u{200b}')), ["description"]);
    let nested = |tool: &mut Descriptor| {
        tool.input_schema["properties"]["a"]["description"] = json!("text <!-- x -->");
    };
    assert_eq!(changed(&pins, nested), ["inputSchema"]);
    let order = |tool: &mut Descriptor| {
        tool.input_schema["properties"]["b"]["enum"] = json!(["y", "x"]);
    };
    assert_eq!(changed(&pins, order), ["inputSchema"]);
    assert_eq!(changed(&pins, |tool| tool.output_schema = Some(json!({}))), ["outputSchema"]);
    let both = |tool: &mut Descriptor| {
        tool.annotations.read_only_hint = Some(true);
        tool.description.clear();
    };
    assert_eq!(changed(&pins, both), ["description", "annotations"]);
    let meta = |meta: Value| move |tool: &mut Descriptor| tool.meta = meta.as_object().cloned();
    assert_eq!(changed(&pins, meta(json!({"ui": {"resourceUri": "ui://evil"}}))), ["_meta"]);
    assert_eq!(changed(&pins, meta(json!({"traceparent": "00-1-2-01"}))), Vec::<&str>::new());
}

#[test]
fn pins_cover_listed_keys_beyond_the_descriptor() {
    let pins = pinned();
    for (key, value) in [
        ("icons", json!([{"src": "https://evil.example/icon.png"}])),
        ("execution", json!({"taskSupport": "required"})),
        ("annotations", json!({"vendorHint": true})),
    ] {
        let listed = json!({"name": "search", key: value});
        let verdict = pins.judge(Pinning { listed: Some(&listed), ..OURS }, &search());
        let Verdict::Refused { changed, .. } = verdict else { panic!("{key} is not pinned") };
        assert_eq!(changed, [key]);
    }
    let same = json!({"name": "search", "annotations": {"readOnlyHint": 7}});
    let verdict = pins.judge(Pinning { listed: Some(&same), ..OURS }, &search());
    assert!(matches!(verdict, Verdict::Trusted), "a known hint of the wrong type is ignored");
}

#[test]
fn a_pin_of_the_first_form_is_renewed_where_it_fits() {
    let now = pin(OURS, &search()).pin;
    let first =
        Pin { form: FIRST_FORM, digests: now.digests[..64 * FIRST_PARTS].to_owned(), ..now };
    let mut pins = Pins::from_stored([first.clone()]).with_announced(["crm".to_owned()], 1);
    let changed = pins.judge(OURS, &Descriptor { title: Some("S".to_owned()), ..search() });
    let Verdict::Refused { changed, .. } = changed else { panic!("the title has changed") };
    assert_eq!(changed, ["title"]);

    let listed = json!({"name": "search", "icons": [], "annotations": {"vendorHint": true}});
    let announced = Pinning { listed: Some(&listed), announced: true, ..OURS };
    let Verdict::Renewed(renewed) = pins.judge(announced, &search()) else { panic!("not renewed") };
    assert_eq!(renewed.pin.form, FORM);
    assert!(pins.add(*renewed, true), "it needs no room");
    assert!(matches!(pins.judge(announced, &search()), Verdict::Trusted));
    assert!(matches!(pins.judge(OURS, &search()), Verdict::Refused { .. }), "icons are pinned now");
}

#[test]
fn a_new_tool_waits_where_the_operator_is_strict() {
    let strict = Pinning { first_use: false, ..OURS };
    let verdict = Pins::default().judge(strict, &search());
    assert!(matches!(verdict, Verdict::Refused { why: QuarantineReason::New, .. }));
    assert!(matches!(pinned().judge(strict, &search()), Verdict::Trusted));
    // Another server's tool of the same name is another tool.
    let other =
        Pinning { server: "cr", tool: "search", first_use: true, announced: false, listed: None };
    assert!(matches!(pinned().judge(other, &search()), Verdict::FirstSeen(_)));
}

#[test]
fn ever_new_names_come_to_an_end() {
    let mut pins = Pins::default();
    let one = pin(OURS, &search()).pin;
    for number in 0..MAX_PINS {
        pins.set(&Pin { tool: number.to_string(), ..one.clone() });
    }
    let verdict = pins.judge(OURS, &search());
    assert!(matches!(verdict, Verdict::Refused { why: QuarantineReason::TooMany, .. }));
    let known = Pinning { tool: "7", ..OURS };
    assert!(matches!(pins.judge(known, &search()), Verdict::Trusted));
}

#[test]
fn servers_that_name_themselves_share_one_room() {
    let stored = |server: &str| Pin { server: server.into(), ..pin(OURS, &search()).pin };
    let mut pins = Pins::from_stored([stored("one"), stored("ours")])
        .with_announced(["one".to_owned(), "empty".to_owned()], 3);
    let announced =
        |server, tool| Pinning { server, tool, first_use: true, announced: true, listed: None };
    for (server, tool) in [("two", "a"), ("one", "b")] {
        let Verdict::FirstSeen(first) = pins.judge(announced(server, tool), &search()) else {
            panic!("{server} has room")
        };
        assert!(pins.add(*first, true));
    }
    for server in ["one", "two", "three"] {
        let verdict = pins.judge(announced(server, "c"), &search());
        assert!(matches!(verdict, Verdict::Crowded), "{server}");
        assert!(!pins.add(pin(announced(server, "c"), &search()), true), "also if judged before");
    }
    assert_eq!(pins.take_new().len(), 2, "of what is refused nothing is kept");
    assert!(matches!(pins.judge(announced("two", "a"), &search()), Verdict::Trusted));
    let configured = Pinning { server: "ours", tool: "c", ..OURS };
    assert!(matches!(pins.judge(configured, &search()), Verdict::FirstSeen(_)));
}

#[test]
fn a_pin_that_cannot_be_read_trusts_nothing() {
    let good = pin(OURS, &search()).pin;
    assert!(matches!(Pins::from_stored([good.clone()]).judge(OURS, &search()), Verdict::Trusted));
    for bad in [
        Pin { form: FORM + 1, ..good.clone() },
        Pin { digests: good.digests[64..].to_owned(), ..good.clone() },
        Pin { digests: good.digests.replace(|c: char| c.is_ascii_digit(), "é"), ..good.clone() },
        Pin { digests: String::new(), ..good.clone() },
    ] {
        let verdict = Pins::from_stored([bad]).judge(OURS, &search());
        assert!(matches!(verdict, Verdict::Refused { why: QuarantineReason::Changed, .. }));
    }
}

/// Trusted at first use, a tool whose pin is lost could have changed without anyone noticing.
#[test]
fn tools_that_a_damaged_pin_may_be_about_are_trusted_only_once_they_are_approved() {
    let text = |text: &str| Some(text.to_owned());
    let elsewhere = Pinning { server: "ours", ..OURS };
    for (server, tool, why, is_local) in [
        (text("crm"), text("search"), QuarantineReason::Changed, true),
        (text("crm"), None, QuarantineReason::New, true),
        (None, text("search"), QuarantineReason::New, false),
        (None, None, QuarantineReason::New, false),
    ] {
        let damaged = vec![DamagedPin { server, tool }];
        let good = pin(Pinning { tool: "good", ..OURS }, &search()).pin;
        let mut pins = Pins::open(StoredPins { pins: vec![good], damaged });
        let verdict = pins.judge(OURS, &search());
        assert!(matches!(verdict, Verdict::Refused { why: found, .. } if found == why));
        let other = pins.judge(elsewhere, &search());
        assert_eq!(matches!(other, Verdict::FirstSeen(_)), is_local);
        let known = pins.judge(Pinning { tool: "good", ..OURS }, &search());
        assert!(matches!(known, Verdict::Trusted), "its own pin can be read");
        pins.set(&pin(OURS, &search()).pin);
        assert!(matches!(pins.judge(OURS, &search()), Verdict::Trusted), "approved");
    }
}
