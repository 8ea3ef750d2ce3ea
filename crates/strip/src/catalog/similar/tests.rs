use super::*;

#[test]
fn similar_names_are_suggested_and_others_are_not() {
    let ids: Vec<ToolId> = [
        "files:read_text_file",
        "files:write_file",
        "browser:navigate",
        "demo.echo",
        "crm:get_header",
        "text.stats",
    ]
    .iter()
    .map(|id| id.parse().unwrap())
    .collect();
    for (name, expected) in [
        ("files:read_txt_file", "files:read_text_file"),
        ("files__read_text_fil", "files:read_text_file"),
        ("read_file", "files:read_text_file"),
        ("ReadTextFile", "files:read_text_file"),
        ("playwright:navigate", "browser:navigate"),
        ("navigat", "browser:navigate"),
        ("demo.ecko", "demo.echo"),
        ("demo_echo", "demo.echo"),
        ("textstats", "text.stats"),
        ("get_weather", ""),
        ("crm:delete_everything", ""),
        ("send_mail", ""),
        ("x", ""),
        ("", ""),
    ] {
        let found = nearest(name, ids.iter());
        assert_eq!(found.first().map_or("", |id| id.as_str()), expected, "{name}");
    }
}
