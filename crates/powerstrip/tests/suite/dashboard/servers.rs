//! The pages of servers and failed calls: what they show, and who may change a server.

use reqwest::StatusCode;
use serde_json::json;
use testkit::{Gateway, GatewayBuilder, GuardedGateway, eventually};

use crate::dashboard::support::{NOTES, Person};

/// A stdio server that works as long as `notes.json` exists, and one that never starts.
pub(crate) fn with_servers() -> GatewayBuilder {
    Gateway::with().file("notes.py", NOTES).file("notes.json", "{\"milk\": \"two bottles\"}").config(
        "servers:\n  notes: { command: python3, args: [notes.py] }\n  \
         crm: { command: sh, args: [-c, \"echo 'crm: no \\u202elicence <b>file</b>' >&2; exit 3\"] }\n",
    )
}

/// Waits until the page of a server contains a text.
async fn page_with(person: &Person<'_>, server: &str, text: &str) -> String {
    eventually(text, || async {
        let page = person.get(&format!("/dashboard/servers/{server}")).await;
        page.text.contains(text).then_some(page.text)
    })
    .await
}

#[tokio::test]
async fn a_broken_server_shows_its_error_and_what_it_wrote() {
    let gateway = with_servers().start().await;
    let person = Person::signed_in(&gateway).await;
    // It is started again and again, so it is not down at every moment.
    let page = page_with(&person, "crm", ">down<").await;
    assert!(page.contains("no licence &lt;b&gt;file&lt;/b&gt;"), "as inert text: {page}");
    assert!(!page.contains('\u{202e}'), "without hidden characters: {page}");
    eventually("the overview shows the problem", || async {
        let overview = person.get("/dashboard").await.text;
        let shown =
            overview.contains("needs attention") && overview.contains("1 server with problems");
        shown.then_some(())
    })
    .await;
    let list = person.get("/dashboard/servers").await.text;
    assert!(list.contains("href=\"/dashboard/servers/notes\""), "{list}");
    assert_eq!(person.get("/dashboard/servers/none").await.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn a_form_that_cannot_be_used_is_shown_again_with_what_was_typed() {
    let gateway = Gateway::with().config("servers: {}\n").start().await;
    let person = Person::signed_in(&gateway).await;
    let csrf = person.csrf();
    let post = async |fields: &[(&str, &str)]| {
        let fields = [&[("csrf", csrf.as_str()), ("name", "mem")], fields].concat();
        let answer = person.post("/dashboard/add-server", &fields).await;
        assert_eq!(answer.status, StatusCode::UNPROCESSABLE_ENTITY, "{}", answer.text);
        assert!(answer.text.contains("value=\"mem\""), "{}", answer.text);
        answer.text
    };
    let page = post(&[("url", "mcp.example.com"), ("headers", "X-Team: a<b")]).await;
    assert!(page.contains("write <code>https://mcp.example.com</code>"), "{page}");
    assert!(page.contains("value=\"mcp.example.com\"") && page.contains("X-Team: a&lt;b"));
    let page = post(&[("arguments", "--port")]).await;
    assert!(page.contains("Arguments need a program") && page.contains(">--port<"), "{page}");
}

#[tokio::test]
async fn descriptions_in_lists_show_code_as_code() {
    let gateway = Gateway::with().config("servers: {}\n").start().await;
    let person = Person::signed_in(&gateway).await;
    for (path, code) in [
        ("/dashboard/add-server?q=atlassian", "<code>powerstrip login atlassian</code>"),
        ("/dashboard/catalog?q=hitl.outline_review", "<code>status: waiting</code>"),
    ] {
        let page = person.get(path).await.text;
        assert!(page.contains(code), "{path}: {page}");
    }
}

#[tokio::test]
async fn a_wrong_entry_shows_what_to_correct() {
    let gateway = Gateway::with().config("servers:\n  odd: { comand: x }\n").start().await;
    let person = Person::signed_in(&gateway).await;
    let page = person.get("/dashboard/servers/odd").await.text;
    assert!(
        page.contains(">invalid entry<") && page.contains("did you mean <code>command</code>?"),
        "{page}"
    );
    assert!(page.contains("powerstrip.yaml:") && page.contains("powerstrip check"), "{page}");
    assert!(!page.contains("value=\"restart\""), "a restart cannot help: {page}");
    let overview = person.get("/dashboard").await.text;
    assert!(overview.contains("1 server with problems"), "{overview}");
    assert!(overview.contains("odd</a> (invalid entry)"), "{overview}");
    let settings = person.get("/dashboard/settings").await.text;
    assert!(settings.contains("servers.odd.comand"), "{settings}");
    assert!(settings.contains("powerstrip config docs") && !settings.contains("docs/src"));
    let stored =
        gateway.run_with_input(&["secret", "set", "some_key"], "value-of-some-key\n").await;
    stored.ok();
    let vault = person.get("/dashboard/vault").await.text;
    assert!(vault.contains("entry <code>odd</code> cannot be read"), "{vault}");
    assert!(!vault.contains("used by the config"), "{vault}");
}

#[tokio::test]
async fn a_missing_program_is_named_with_what_to_do() {
    let config =
        "servers:\n  npm: { command: npxx }\nskills: { web: { servers: [web-research] } }\n";
    let gateway = Gateway::with().config(config).start().await;
    let person = Person::signed_in(&gateway).await;
    let page = page_with(&person, "npm", "did you mean <code>npx</code>?").await;
    assert!(page.contains("Failed starts") && !page.contains("Restarts"), "{page}");
    assert!(!page.contains("Read its standard error"), "it wrote nothing: {page}");
    let list = person.get("/dashboard/servers").await.text;
    assert!(list.contains("class=\"notice warning\"") && !list.contains("restart"), "{list}");
    let settings = person.get("/dashboard/settings").await.text;
    assert!(settings.contains("servers.npm: ") && !settings.contains("No problems"), "{settings}");
    let agents = person.get("/dashboard/agents").await.text;
    assert!(agents.contains("href=\"/dashboard/catalog?server=web-research\""), "{agents}");
}

#[tokio::test]
async fn an_operator_restarts_disables_and_enables_a_server_with_audit_rows() {
    let gateway = with_servers().start().await;
    let person = Person::signed_in(&gateway).await;
    let csrf = person.csrf();
    page_with(&person, "notes", ">ready<").await;
    let change = async |action: &str| {
        let fields = [("csrf", csrf.as_str()), ("do", action)];
        person.post("/dashboard/servers/notes", &fields).await
    };
    let config = || std::fs::read_to_string(gateway.folder().join("powerstrip.yaml")).unwrap();
    let before = config();

    let restarted = change("restart").await;
    assert_eq!(restarted.status, StatusCode::SEE_OTHER, "{}", restarted.text);
    page_with(&person, "notes", ">ready<").await;
    assert_eq!(change("disable").await.status, StatusCode::SEE_OTHER);
    let page = page_with(&person, "notes", ">disabled<").await;
    assert!(page.contains("value=\"enable\"") && !page.contains("value=\"restart\""), "{page}");
    assert!(config().contains("disabled: true"), "{}", config());
    assert_eq!(change("enable").await.status, StatusCode::SEE_OTHER);
    page_with(&person, "notes", ">ready<").await;
    assert!(!config().contains("disabled: true"), "{}", config());
    assert_eq!(before.lines().next(), config().lines().next(), "the rest of the file stays");
    assert_eq!(change("delete").await.status, StatusCode::NOT_FOUND);

    for operation in ["servers.restart:notes", "servers.disable:notes", "servers.enable:notes"] {
        eventually(operation, || async {
            let page = person.get(&format!("/dashboard/calls?q={operation}")).await.text;
            page.contains("<a href=\"/dashboard/calls/").then_some(())
        })
        .await;
    }
}

#[tokio::test]
async fn only_an_operator_changes_a_server() {
    let setup = GuardedGateway::start(with_servers(), "").await;
    let claims = json!({"org": "acme", "sub": "ann", "scope": "tools:read metrics:read"});
    let ann = Person::with(&setup.gateway, &setup.token(claims)).await;
    let page = ann.get("/dashboard/servers/notes").await;
    assert_eq!(page.status, StatusCode::OK);
    assert!(!page.text.contains("value=\"restart\""), "{}", page.text);
    let csrf = ann.csrf();
    for action in ["restart", "disable", "enable"] {
        let fields = [("csrf", csrf.as_str()), ("do", action)];
        let refused = ann.post("/dashboard/servers/notes", &fields).await;
        assert_eq!(refused.status, StatusCode::FORBIDDEN, "{action}");
    }
    let claims = json!({"org": "acme", "sub": "lou", "scope": "tools:read"});
    let lou = Person::with(&setup.gateway, &setup.token(claims)).await;
    assert_eq!(lou.get("/dashboard/servers/notes").await.status, StatusCode::FORBIDDEN);
    assert_eq!(lou.get("/dashboard/servers").await.status, StatusCode::FORBIDDEN);
}

#[tokio::test]
async fn a_failed_call_shows_its_message_and_can_be_tried_again() {
    let gateway = with_servers().config("audit: { payloads: redacted }\n").start().await;
    let person = Person::signed_in(&gateway).await;
    eventually("the tools of the server are listed", || async {
        let listed = gateway.get("/mcp/discover").await.body.to_string();
        listed.contains("notes:read").then_some(())
    })
    .await;
    let answer = gateway.call("notes:read", &json!({"name": "bread"})).await;
    let trace = answer.body["meta"]["traceId"].as_str().unwrap().to_owned();
    let call = eventually("the failed call is in the trail", || async {
        let page = person.get(&format!("/dashboard/calls/{trace}")).await;
        (page.status == StatusCode::OK).then_some(page.text)
    })
    .await;
    assert!(call.contains("there is no note <code>bread</code>"), "its message: {call}");
    assert!(call.contains("notes: bread was asked for"), "standard error: {call}");
    let again = format!("/dashboard/tools/notes%3Aread?again={trace}");
    assert!(call.contains(&again) && call.contains("Try again with this input"), "{call}");
    assert!(person.get(&again).await.text.contains(">bread</textarea>"), "the form has the input");
    let listed = person.get("/dashboard/calls?q=no+note&range=15m&server=notes").await.text;
    assert!(listed.contains(&trace), "it is found by its message: {listed}");
    let others = person.get("/dashboard/calls?q=no+note&server=crm").await.text;
    assert!(!others.contains(&trace), "{others}");
}

#[tokio::test]
async fn browsers_get_pages_and_programs_get_json() {
    let gateway = Gateway::start().await;
    let get = async |path: &str, accept: &str| {
        let client = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none());
        let request = client.build().unwrap().get(gateway.url(path)).header("accept", accept);
        request.send().await.unwrap()
    };
    let browser = "text/html,application/xhtml+xml,*/*;q=0.8";
    let root = get("/", browser).await;
    assert_eq!(
        (root.status(), &root.headers()["location"]),
        (StatusCode::SEE_OTHER, &"/dashboard".parse().unwrap())
    );
    for path in ["/nothing", "/dashboard/nothing", "/mcp/prompt/a/b"] {
        let page = get(path, browser).await;
        assert_eq!(page.status(), StatusCode::NOT_FOUND, "{path}");
        assert!(
            page.headers()["content-type"].to_str().unwrap().starts_with("text/html"),
            "{path}"
        );
        assert!(
            page.headers()["content-security-policy"]
                .to_str()
                .unwrap()
                .contains("default-src 'none'")
        );
        let text = page.text().await.unwrap();
        assert!(text.contains("Not found") && text.contains(path), "{text}");
        let answer = get(path, "application/json").await;
        assert_eq!(answer.status(), StatusCode::NOT_FOUND, "{path}");
        assert_eq!(answer.headers()["content-type"], "application/json", "{path}");
    }
}

#[tokio::test]
async fn a_failed_call_shows_its_own_lines_of_the_log_first() {
    let gateway = with_servers().start().await;
    let person = Person::signed_in(&gateway).await;
    page_with(&person, "notes", ">ready<").await;
    let ask = async |name: &str| {
        let answer = gateway.call("notes:read", &json!({"name": name})).await.body;
        page_with(&person, "notes", &format!("{name} was asked for")).await;
        answer["meta"]["traceId"].as_str().unwrap().to_owned()
    };
    ask("early").await;
    let failed = ask("bread").await;
    ask("late").await;
    let place = format!("/dashboard/calls/{failed}");
    let page = eventually("the call is listed", || async {
        let page = person.get(&place).await;
        (page.status == StatusCode::OK).then_some(page.text)
    })
    .await;
    let (own, rest) = page.split_once("The rest of its log").expect("the rest comes after it");
    assert!(own.contains("bread was asked for"), "{own}");
    assert!(!own.contains("early was asked for") && !own.contains("late was asked for"), "{own}");
    assert!(rest.contains("early was asked for") && rest.contains("late was asked for"), "{rest}");
}
