use proptest::collection::vec;
use proptest::prelude::{
    Just, Strategy, any, prop, prop_assert, prop_assert_eq, prop_oneof, proptest,
};
use serde_json::{Map, Value, json};

use super::{EditError, parse, remove_server, server_names, set_disabled, set_server, update};

fn npx() -> Value {
    json!({
        "command": "npx", "args": ["-y", "@scope/server", "/srv/docs"],
        "env": {"TOKEN": {"secret": "TOKEN"}, "MODE": "on"},
    })
}

#[test]
fn a_server_is_added_to_every_form_of_file() {
    let added = |yaml: &str| set_server(yaml, "files", &npx()).unwrap();
    let entry = "  files:\n    command: npx\n    args: [\"-y\", \"@scope/server\", /srv/docs]\n    env:\n      MODE: \"on\"\n      TOKEN: { secret: TOKEN }\n";
    assert_eq!(added(""), format!("servers:\n{entry}"));
    assert_eq!(added("# mine"), format!("# mine\nservers:\n{entry}"));
    assert_eq!(added("{}\n"), format!("servers:\n{entry}"));
    assert_eq!(
        added("listen: 1 # x\n\n# end\n"),
        format!("listen: 1 # x\nservers:\n{entry}\n# end\n")
    );
    assert_eq!(
        added("servers: {} # none\nlisten: 1\n"),
        format!("servers: # none\n{entry}listen: 1\n")
    );
    assert_eq!(added("servers:\nlisten: 1"), format!("servers:\n{entry}listen: 1"));
    assert_eq!(
        added("servers:\n  a: {url: http://x}  # a\n    # about a\n\n  # about listen\nlisten: 1"),
        format!(
            "servers:\n  a: {{url: http://x}}  # a\n    # about a\n{entry}\n  # about listen\nlisten: 1"
        )
    );
    assert_eq!(
        added("servers:\r\n  a: {url: http://x}\r\n"),
        format!("servers:\n  a: {{url: http://x}}\n{entry}").replace('\n', "\r\n")
    );
    let flow = added("{\"listen\": 1, \"servers\": {\"a\": {\"url\": \"http://x\"}}}");
    assert_eq!(parse(&flow).unwrap()["servers"]["files"], npx());
    let flow = added("{\"listen\": 1}");
    assert_eq!(parse(&flow).unwrap()["servers"]["files"], npx());
}

#[test]
fn an_entry_is_replaced_and_removed_alone() {
    let yaml = "servers:\n    # about a\n    a: # local\n        command: x # old\n        # env: {}\n    b:\n        url: http://b\n# end\n";
    assert_eq!(
        set_server(yaml, "a", &json!({"url": "http://a"})).unwrap(),
        "servers:\n    # about a\n    a: # local\n      url: http://a\n        # env: {}\n    b:\n        url: http://b\n# end\n"
    );
    assert_eq!(
        remove_server(yaml, "a").unwrap(),
        "servers:\n    # about a\n    b:\n        url: http://b\n# end\n"
    );
    let one = remove_server(yaml, "b").unwrap();
    assert_eq!(remove_server(&one, "a").unwrap(), "servers: {}\n    # about a\n# end\n");
    assert_eq!(
        remove_server("servers: {a: {url: x}, b: {url: y}}", "a").unwrap(),
        "servers: {b: {url: y}}"
    );
    assert_eq!(
        remove_server("servers: {a: {url: x}, b: {url: y}}", "b").unwrap(),
        "servers: {a: {url: x}}"
    );
    assert!(matches!(remove_server(yaml, "c"), Err(EditError::NoServer(_))));
}

#[test]
fn disabling_writes_one_key_and_enabling_takes_it_back() {
    for yaml in [
        "servers:\n  a:\n    url: http://x # x\n  # about b\n  b: {url: http://y}\n",
        "servers: {a: {url: http://x}, b: {url: http://y}}",
        "servers:\n  a: {\"url\": \"http://x\"}",
        "servers:\n  a:\n    url: http://x\n    args:\n    - |\n      x\n\n  b: {url: http://y}",
    ] {
        let off = set_disabled(yaml, "a", true).unwrap();
        assert_eq!(parse(&off).unwrap()["servers"]["a"]["disabled"], true, "{off}");
        assert_eq!(set_disabled(&off, "a", true).unwrap(), off);
        let on = set_disabled(&off, "a", false).unwrap();
        assert_eq!(on.trim_end(), yaml.trim_end());
    }
    let kept = "servers:\n  a:\n    disabled: true # until Monday\n    url: http://x\n";
    assert_eq!(set_disabled(kept, "a", false).unwrap(), kept.replace("true", "false"));
    let empty = set_disabled("servers:\n  a:\n", "a", true).unwrap();
    assert_eq!(empty, "servers:\n  a:\n    disabled: true\n");
}

#[test]
fn forms_that_cannot_be_edited_are_refused() {
    let referred = "servers:\n  a: &base\n    url: http://x\n  b: *base\n";
    assert!(matches!(remove_server(referred, "a"), Err(EditError::Unsupported(_))));
    assert!(matches!(set_disabled(referred, "b", true), Err(EditError::Unsupported(_))));
    assert!(matches!(set_server("- 1\n", "a", &npx()), Err(EditError::Unsupported(_))));
    assert!(matches!(set_server("servers: [1]\n", "a", &npx()), Err(EditError::Unsupported(_))));
    let error = set_server("a: [\n", "a", &npx()).unwrap_err();
    assert!(matches!(error, EditError::Invalid { .. }), "{error}");
}

#[test]
fn a_file_is_replaced_with_its_mode_and_through_links() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let folder = tempfile::tempdir().unwrap();
    let (file, link) = (folder.path().join("real.yaml"), folder.path().join("powerstrip.yaml"));
    let add = |text: &str| set_server(text, "files", &npx());
    update(&file, add).unwrap();
    assert_eq!(server_names(&std::fs::read_to_string(&file).unwrap()).unwrap(), ["files"]);
    std::fs::set_permissions(&file, PermissionsExt::from_mode(0o600)).unwrap();
    symlink(&file, &link).unwrap();
    update(&link, |text| remove_server(text, "files")).unwrap();
    assert!(std::fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "servers: {}\n");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2);
}

/// Values as they occur in entries, with awkward text.
fn scalars() -> impl Strategy<Value = Value> {
    prop_oneof![
        "[a-zA-Z0-9_./:@{}#&*!|>'\"%,\\[\\]? \\\\-]{0,24}".prop_map(Value::String),
        any::<String>().prop_map(Value::String),
        Just(json!("true")),
        Just(json!("0x1F")),
        Just(json!("1e3")),
        Just(json!("null")),
        any::<bool>().prop_map(Value::Bool),
        any::<u32>().prop_map(|number| json!(number)),
    ]
}

fn servers() -> impl Strategy<Value = Value> {
    let map = |values: Vec<(String, Value)>| Value::Object(Map::from_iter(values));
    (
        scalars(),
        vec(scalars(), 0..4),
        vec(("[A-Z_]{1,9}", scalars()), 0..3),
        prop::option::of("[A-Z]{1,8}"),
    )
        .prop_map(move |(command, args, env, secret)| {
            let mut env = map(env);
            if let Some(secret) = secret {
                env["KEY"] = json!({"secret": secret});
            }
            json!({"command": command, "args": args, "env": env})
        })
}

/// One entry in one of the forms that people write, at an indentation.
fn entry(indent: usize, name: &str, form: u8, comment: &str) -> String {
    let (pad, deep) = (" ".repeat(indent), " ".repeat(indent * 2));
    match form % 6 {
        0 => format!("{pad}{name}: {{ url: \"http://x/#1\", only: [a, 'b'] }}  # {comment}\n"),
        1 => format!(
            "{pad}{name}:\n{deep}command: x # {comment}\n{deep}args:\n{deep}- a\n{deep}- 'b # c'\n"
        ),
        2 => format!(
            "{pad}# {comment}\n{pad}{name}:  # {comment}\n\n{deep}# inner\n{deep}url: http://x\n\n"
        ),
        3 => format!(
            "{pad}\"{name}\":\n{deep}command: |-\n{deep}  many\n\n{deep}  # not a comment\n"
        ),
        4 => format!(
            "{pad}{name}:\n{deep}args: [a,\n{deep}  b, # {comment}\n{deep}  c]\n{deep}# below\n"
        ),
        _ => format!("{pad}'{name}': {{\"command\": \"x\",\n{deep}\"args\": []}}\n"),
    }
}

/// A file with servers `s0`, `s1`, … between other settings.
fn files() -> impl Strategy<Value = (String, usize)> {
    (vec((any::<u8>(), "[a-zü:# ]{0,8}"), 1..5), 1..5_usize, any::<[bool; 4]>()).prop_map(
        |(forms, indent, [before, after, newline, crlf])| {
            let mut text = String::from("# first\n");
            if before {
                text.push_str("---\nlisten: 127.0.0.1:1 # port\n\nlimits: {timeout: 3s}\n");
            }
            text.push_str("servers: # ours\n");
            for (at, (form, comment)) in forms.iter().enumerate() {
                text.push_str(&entry(indent, &format!("s{at}"), *form, comment));
            }
            if after {
                text.push_str("# agents\nagents:\n  a: {skills: []}\n");
            }
            text.push_str("# last\n");
            let text = if newline { text } else { text.trim_end().to_owned() };
            (if crlf { text.replace('\n', "\r\n") } else { text }, forms.len())
        },
    )
}

/// How many bytes two texts share at their beginning and end together.
fn shared(a: &str, b: &str) -> usize {
    let front = a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count();
    let (a, b) = (&a.as_bytes()[front..], &b.as_bytes()[front..]);
    front + a.iter().rev().zip(b.iter().rev()).take_while(|(a, b)| a == b).count()
}

proptest! {
    #[test]
    fn adding_changes_nothing_else((yaml, _) in files(), server in servers(), name in "[a-z][a-z0-9_.-]{0,9}") {
        let name = format!("new-{name}");
        let edited = set_server(&yaml, &name, &server).unwrap();
        let mut expected = parse(&yaml).unwrap();
        expected["servers"][&name] = server;
        prop_assert_eq!(parse(&edited).unwrap(), expected);
        prop_assert_eq!(shared(&yaml, &edited), yaml.len(), "{}", edited);
        prop_assert_eq!(remove_server(&edited, &name).unwrap(), yaml);
    }

    #[test]
    fn replacing_and_removing_touch_one_entry((yaml, count) in files(), server in servers(), pick in any::<prop::sample::Index>()) {
        let name = format!("s{}", pick.index(count));
        let mut expected = parse(&yaml).unwrap();
        expected["servers"][&name] = server.clone();
        let replaced = set_server(&yaml, &name, &server).unwrap();
        prop_assert_eq!(parse(&replaced).unwrap(), expected.clone());
        for line in ["# first", "# last", "# ours"] {
            prop_assert!(replaced.contains(line));
        }
        expected["servers"].as_object_mut().unwrap().remove(&name);
        let removed = remove_server(&yaml, &name).unwrap();
        prop_assert_eq!(parse(&removed).unwrap(), expected);
        let added = if count == 1 { " {}".len() } else { 0 };
        if added == 0 {
            prop_assert_eq!(shared(&yaml, &removed), removed.len(), "{}", removed);
        }
        prop_assert!(removed.len() < yaml.len() + added);
    }

    #[test]
    fn disabling_and_enabling_restore_the_file((yaml, count) in files(), pick in any::<prop::sample::Index>()) {
        let name = format!("s{}", pick.index(count));
        let off = set_disabled(&yaml, &name, true).unwrap();
        let mut expected = parse(&yaml).unwrap();
        expected["servers"][&name]["disabled"] = json!(true);
        prop_assert_eq!(parse(&off).unwrap(), expected);
        prop_assert_eq!(shared(&yaml, &off), yaml.len());
        prop_assert_eq!(set_disabled(&off, &name, false).unwrap(), yaml);
    }
}
