use proptest::prelude::{any, prop, proptest};
use serde_json::{Value, json};

use super::ClientFile;
use crate::clients::Format;

fn file(format: Format, text: &str) -> ClientFile {
    ClientFile::new(format, text.to_owned()).unwrap()
}

fn set(text: &str) -> String {
    let mut file = file(Format::Json, text);
    let entry = json!({"url": "http://x/mcp"});
    file.set(&["mcpServers", "powerstrip"], &entry).unwrap();
    let once = file.text().to_owned();
    file.set(&["mcpServers", "powerstrip"], &entry).unwrap();
    assert_eq!(file.text(), once);
    once
}

#[test]
fn json_keeps_its_comments_and_form() {
    let entry = "\"powerstrip\": {\n      \"url\": \"http://x/mcp\"\n    }";
    assert_eq!(set(""), format!("{{\n  \"mcpServers\": {{\n    {entry}\n  }}\n}}\n"));
    assert_eq!(set("{}\n"), format!("{{\n  \"mcpServers\": {{\n    {entry}\n  }}\n}}\n"));
    assert_eq!(
        set("{\"a\": 1}"),
        "{\"a\": 1, \"mcpServers\": {\"powerstrip\":{\"url\":\"http://x/mcp\"}}}"
    );
    assert_eq!(
        set(
            "// top\n{\n  \"mcpServers\": {\n    // mine\n    \"a\": {\"url\": \"y\"} // last\n  }\n}\n"
        ),
        format!(
            "// top\n{{\n  \"mcpServers\": {{\n    // mine\n    \"a\": {{\"url\": \"y\"}}, // last\n    {entry}\n  }}\n}}\n"
        )
    );
    assert_eq!(
        set("{\n\t\"theme\": \"x\",\n\t\"mcpServers\": {\n\t\t\"a\": {}, /* b */\n\t},\n}"),
        "{\n\t\"theme\": \"x\",\n\t\"mcpServers\": {\n\t\t\"a\": {}, /* b */\n\t\t\"powerstrip\": {\n\t\t\t\"url\": \"http://x/mcp\"\n\t\t},\n\t},\n}"
    );
    assert_eq!(
        set(
            "{\n  \"mcpServers\": {\n    \"powerstrip\": {\"command\": \"old\"}, // here\n    \"b\": {}\n  }\n}"
        ),
        format!("{{\n  \"mcpServers\": {{\n    {entry}, // here\n    \"b\": {{}}\n  }}\n}}")
    );
    let mut broken = file(Format::Json, "{\"mcpServers\": []}");
    assert!(broken.set(&["mcpServers", "a"], &json!({})).is_err());
    assert!(ClientFile::new(Format::Json, "[]".to_owned()).is_err());
    assert!(ClientFile::new(Format::Json, "{".to_owned()).is_err());
}

#[test]
fn json_entries_are_removed_alone() {
    let text = "{\n  // keep\n  \"mcpServers\": {\n    \"a\": {}, // a\n    \"b\": {\"x\": 1},\n    \"c\": {}, // c\n  },\n}\n";
    let without = |names: &[&str]| {
        let mut file = file(Format::Json, text);
        for name in names {
            file.remove(&["mcpServers", name]).unwrap();
        }
        file.get(&["mcpServers"]).unwrap()
    };
    assert_eq!(without(&["a"]), json!({"b": {"x": 1}, "c": {}}));
    assert_eq!(without(&["b"]), json!({"a": {}, "c": {}}));
    assert_eq!(without(&["a", "b", "c", "d"]), json!({}));
}

#[test]
fn a_json_entry_that_was_added_is_removed_without_a_trace() {
    for text in [
        "{\n  \"mcpServers\": {\n    \"b\": {\"command\": \"cat\"} // about b\n  }\n}\n",
        "{\n  \"mcpServers\": {\n    \"b\": {\"command\": \"cat\"}, // about b\n  },\n}\n",
        "{\n  \"mcpServers\": {\n    \"b\": {} /* about b */\n    // end\n  }\n}\n",
        "{\"mcpServers\": {\"b\": {\"command\": \"cat\"} /* b */}}",
    ] {
        let mut file = file(Format::Json, &set(text));
        file.remove(&["mcpServers", "powerstrip"]).unwrap();
        assert_eq!(file.text(), text);
    }
}

#[test]
fn toml_tables_are_set_and_removed_alone() {
    let text = "# mine\nmodel = \"x\" # model\n\n[mcp_servers.a]\ncommand = \"x\"\n\n# env of a\n[mcp_servers.a.env]\nK = \"1\"\n\n# other\n[tools]\nlist = [\n  [1, 2],\n]\n";
    let mut edited = file(Format::Toml, text);
    let entry = json!({"url": "http://x/mcp"});
    edited.set(&["mcp_servers", "powerstrip"], &entry).unwrap();
    assert_eq!(
        edited.text(),
        format!("{text}\n[mcp_servers.powerstrip]\nurl = \"http://x/mcp\"\n")
    );
    edited.set(&["mcp_servers", "powerstrip"], &json!({"command": "p", "args": ["a b"]})).unwrap();
    assert_eq!(
        edited.text(),
        format!("{text}\n[mcp_servers.powerstrip]\nargs = [\"a b\"]\ncommand = \"p\"\n")
    );
    edited.remove(&["mcp_servers", "a"]).unwrap();
    assert!(
        edited
            .text()
            .starts_with("# mine\nmodel = \"x\" # model\n\n\n# env of a\n\n# other\n[tools]\n")
    );
    let mut fresh = file(Format::Toml, "");
    fresh.set(&["mcp_servers", "powerstrip"], &entry).unwrap();
    assert_eq!(fresh.text(), "[mcp_servers.powerstrip]\nurl = \"http://x/mcp\"\n");
    let mut inline = file(Format::Toml, "mcp_servers = { a = { command = \"x\" } }\n");
    assert!(inline.remove(&["mcp_servers", "a"]).is_err());
}

#[test]
fn toml_that_only_looks_like_a_table_stays() {
    let entry = json!({"url": "http://x/mcp", "a": [1, 2.5, true, {"b": "'\\\"\u{7f}\n"}]});
    for text in [
        "a = '''\n[mcp_servers.p]\nurl = 1\n'''\n",
        "a = \"\"\"\n[mcp_servers.p]\n\"\"\"\n[b]\n",
        "a = [\n  [\"mcp_servers.p\"],\n]\n",
        "# [mcp_servers.p]\n[x] # [mcp_servers.p]\n",
        "[[list]]\na = 1\n\n[[list]]\na = 2\n",
        "[\"mcp_servers.p\"]\na = 1\n",
        "\u{feff}[x]\r\na = 1 # b\r\n",
        "[mcp_servers.\"p.q\"]\na = 2025-01-01\n",
    ] {
        let mut edited = file(Format::Toml, text);
        edited.set(&["mcp_servers", "p"], &entry).unwrap();
        assert_eq!(edited.get(&["mcp_servers", "p"]), Some(entry.clone()), "{text}");
        assert!(edited.text().starts_with(text), "{text}: {}", edited.text());
        edited.remove(&["mcp_servers", "p"]).unwrap();
        assert_eq!(edited.text().trim_end(), text.trim_end());
    }
}

#[test]
fn toml_tables_are_found_however_they_are_written() {
    let before = "\u{feff}# first\r\nm = 1\r\n";
    let after = "# next\r\n  [ other ]\r\nx = \"\"\"\r\n[no]\r\n\"\"\"";
    for table in [
        "[mcp_servers.p]\n",
        "[ mcp_servers . \"p\" ] # header\r\n  a = [\r\n 1, # one\r\n ] # end\r\n",
        "[mcp_servers.'p']\nb.c.d = 1\nb.c.e = '''\n[x]\n'''\n",
        "[mcp_servers.p.env]\nK = 1\n[mcp_servers.p]\nc = { a = 1 }\n",
        "[mcp_servers.p]\n[[mcp_servers.p.list]]\na = 1\n[[mcp_servers.p.list]]\n",
    ] {
        let mut edited = file(Format::Toml, &format!("{before}{table}{after}"));
        edited.set(&["mcp_servers", "p"], &json!({"url": "u"})).unwrap();
        let expected = "[mcp_servers.p]\nurl = \"u\"\n";
        assert_eq!(edited.text(), format!("{before}{expected}{after}"), "{table}");
        edited.remove(&["mcp_servers", "p"]).unwrap();
        assert_eq!(edited.text(), format!("{before}{after}"), "{table}");
    }
    let unusual =
        ["mcp_servers.p.a = 1\n", "[mcp_servers]\np.a = 1\n", "[mcp_servers]\np = {a = 1}\n"];
    for text in unusual {
        let mut edited = file(Format::Toml, text);
        assert!(edited.set(&["mcp_servers", "p"], &json!({"url": "u"})).is_err(), "{text}");
        assert_eq!(edited.text(), text);
    }
}

#[test]
fn a_file_is_backed_up_before_it_is_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("new/mcp.json");
    let write = |number: u8| {
        let before = ClientFile::read(&path).unwrap();
        let mut after = before.clone();
        after.set(&["a"], &json!(number)).unwrap();
        let mut replacement = before.replacement(&path).unwrap();
        replacement.back_up().unwrap();
        assert!(replacement.lock().unwrap());
        replacement.write(&after).unwrap().unwrap().backup
    };
    assert_eq!(write(1), None);
    let first = std::fs::read_to_string(&path).unwrap();
    let backup = write(2).unwrap();
    assert_eq!(std::fs::read_to_string(&backup).unwrap(), first);
    assert_ne!(write(3).unwrap(), backup);
}

#[test]
fn a_file_that_was_changed_since_it_was_read_is_not_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mcp.json");
    for (read, now) in [(None, "{}"), (Some("{}"), "{\"new\": 1}")] {
        if let Some(text) = read {
            std::fs::write(&path, text).unwrap();
        }
        let before = ClientFile::read(&path).unwrap();
        let mut after = before.clone();
        after.set(&["a"], &json!(1)).unwrap();
        let replacement = before.replacement(&path).unwrap();
        assert!(replacement.lock().unwrap());
        std::fs::write(&path, now).unwrap();
        assert!(replacement.write(&after).unwrap().is_none());
        drop(replacement);
        assert!(!before.replacement(&path).unwrap().lock().unwrap());
        assert_eq!(std::fs::read_to_string(&path).unwrap(), now);
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}

proptest! {
    #[test]
    fn other_keys_stay_whatever_they_are(keys in prop::collection::btree_map("[a-z\"\\\\é ]{0,5}", any::<Option<i16>>(), 0..4), text in any::<String>()) {
        let mut document = json!({"other": text, "mcpServers": {"known": {}}});
        for (key, value) in &keys {
            document["mcpServers"][format!("k{key}")] = json!({"value": value});
        }
        for text in [document.to_string(), serde_json::to_string_pretty(&document).unwrap()] {
            let mut file = file(Format::Json, &text);
            file.set(&["mcpServers", "powerstrip"], &json!({"url": "x"})).unwrap();
            file.remove(&["mcpServers", "known"]).unwrap();
            let mut expected: Value = document.clone();
            expected["mcpServers"].as_object_mut().unwrap().remove("known");
            expected["mcpServers"]["powerstrip"] = json!({"url": "x"});
            assert_eq!(file.get(&[]).unwrap(), expected);
            file.remove(&["mcpServers", "powerstrip"]).unwrap();
        }
    }
}
