use std::path::Path;

use super::{Part, Places, parse};

fn parts(value: &str) -> Result<Vec<Part>, String> {
    parse(value, &Places { home: Some("/home/ada"), workspace: Path::new("/srv/project") })
}

fn text(text: &str) -> Part {
    Part::Text(text.to_owned())
}

fn variable(name: &str, default: Option<&str>) -> Part {
    Part::Variable { name: name.to_owned(), default: default.map(str::to_owned) }
}

#[test]
fn values_are_split_at_their_variables() {
    assert_eq!(parts("plain $5 {x}").unwrap(), [text("plain $5 {x}")]);
    assert_eq!(parts("${TOKEN}").unwrap(), [variable("TOKEN", None)]);
    assert_eq!(parts("Bearer ${env:T}").unwrap(), [text("Bearer "), variable("T", None)]);
    assert_eq!(parts("{env:T}").unwrap(), [variable("T", None)]);
    assert_eq!(parts("$API_KEY").unwrap(), [variable("API_KEY", None)]);
    assert_eq!(parts("Bearer $KEY").unwrap(), [text("Bearer "), variable("KEY", None)]);
    assert_eq!(parts("pa$$word").unwrap(), [text("pa$$word")]);
    assert_eq!(
        parts("http://${HOST:-localhost}:${PORT:-80}/x").unwrap(),
        [
            text("http://"),
            variable("HOST", Some("localhost")),
            text(":"),
            variable("PORT", Some("80")),
            text("/x")
        ]
    );
    assert_eq!(parts("${X:-{\"a\": 1}}").unwrap(), [variable("X", Some("{\"a\": 1}"))]);
    assert_eq!(parts("${X:-}").unwrap(), [variable("X", Some(""))]);
    assert_eq!(parts("${input:api-key}").unwrap(), [Part::Input("api-key".to_owned())]);
    assert_eq!(
        parts("${HOME}/a:${workspaceFolder}${/}b:${workspaceFolderBasename}").unwrap(),
        [text("/home/ada/a:/srv/project/b:project")]
    );
    assert_eq!(parts("${open").unwrap(), [text("${open")]);
    assert!(parts("${command:pick}").unwrap_err().contains("`${command:pick}`"));
}
