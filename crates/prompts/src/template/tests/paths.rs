use serde_json::json;

use super::render;

/// Each name of a path costs a step for each item, and each path of `sort` a copy of each text.
#[test]
fn long_paths_of_attributes_are_refused() {
    for expression in [
        "[{'a': 'x' * 1000000}] | sort(attribute='a,' * 20000 ~ 'a')",
        "(['a'] * 2000) | map(attribute='0.' * 20000 ~ '0') | list",
        "(['a'] * 2000) | selectattr('0.' * 20000 ~ '0') | list",
        "(['a'] * 2000) | rejectattr('0.' * 20000 ~ '0') | list",
        "(['a'] * 2000) | groupby('0.' * 20000 ~ '0')",
        "(['a'] * 2000) | groupby(attribute='0.' * 20000 ~ '0')",
        "(['a'] * 2000) | unique(attribute='0.' * 20000 ~ '0')",
        "(['a'] * 2000) | join('', '0.' * 20000 ~ '0')",
        "(['a'] * 2000) | join('', attribute='0.' * 20000 ~ '0')",
        "(['ab'] * 20) | sort(attribute='0,' * 5000 ~ '0')",
    ] {
        let refused = render(&format!("{{{{ {expression} }}}}"), &json!({}));
        let error = refused.expect_err(expression).to_string();
        assert!(error.contains("16 names"), "{expression}: {error}");
    }
    let given = json!({"list": [{"a": {"b": 2}}, {"a": {"b": 1}}]});
    assert_eq!(render("{{ (list | sort(attribute='a.b,a'))[0].a.b }}", &given).unwrap(), "1");
}
