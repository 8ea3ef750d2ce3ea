use super::without_places;

#[test]
fn callers_do_not_learn_where_a_server_is() {
    for (error, shown) in [
        (
            "cannot connect to 10.1.2.3: Connection refused",
            "cannot connect to …: Connection refused",
        ),
        ("cannot connect to [::1]:7101: refused", "cannot connect to …: refused"),
        ("GET https://a.example/mcp?k=1 failed", "GET … failed"),
        ("localhost:7101 (/srv/app/server.js)", "… (…)"),
        (
            "it ended with exit code 1: Error: CRM_KEY is not set.",
            "it ended with exit code 1: Error: CRM_KEY is not set.",
        ),
        ("No such file or directory (os error 2)", "No such file or directory (os error 2)"),
        ("", ""),
    ] {
        assert_eq!(without_places(error), shown, "{error}");
    }
    assert!(without_places(&"word ".repeat(1_000)).len() < 500);
}
