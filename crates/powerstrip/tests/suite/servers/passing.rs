//! Prompts, resources, completions, subscriptions, progress, log messages and tasks of a server, through the gateway.

use serde_json::{Value, json};
use testkit::{Gateway, mcp};

use crate::servers::peer::{LegacyPeer, Peer};
use crate::servers::support::{HttpFixture, fixture, over_http, over_stdio, wait_until_listed};

fn names(listed: &Value, list: &str, key: &str) -> Vec<String> {
    let entries =
        listed["result"][list].as_array().unwrap_or_else(|| panic!("no {list}: {listed}"));
    entries.iter().map(|entry| entry[key].as_str().expect("a name").to_owned()).collect()
}

#[tokio::test]
async fn prompts_and_resources_of_two_servers_coexist() {
    let far = HttpFixture::start().await;
    let go = tempfile::tempdir().expect("a folder");
    let go = go.path().join("go");
    // Its lists arrive after those of the other server.
    let script = format!(
        "while [ ! -e {} ]; do sleep 0.05; done; exec {}",
        go.display(),
        fixture().display()
    );
    let alpha = format!("  alpha: {{ command: sh, args: [-c, '{script}'] }}\n");
    let config = format!("servers:\n{alpha}{}", over_http("beta", &far.url));
    let gateway = Gateway::with().config(&config).start().await;
    wait_until_listed(&gateway, "beta__greet").await;
    std::fs::write(&go, "").expect("a file");
    wait_until_listed(&gateway, "alpha__greet").await;
    let url = gateway.url("/mcp");

    let prompts = mcp(&url, "prompts/list", json!({})).await;
    let prompts = names(&prompts, "prompts", "name");
    // Prompts that the gateway's own tools use are nothing for a client's menu.
    assert!(!prompts.iter().any(|name| name.starts_with("research/")), "{prompts:?}");
    for server in ["alpha", "beta"] {
        let name = format!("{server}__test_prompt_with_arguments");
        assert!(prompts.contains(&name), "{prompts:?}");
        let arguments = json!({"arg1": "one", "arg2": "two"});
        let params = json!({"name": name, "arguments": arguments});
        let got = mcp(&url, "prompts/get", params).await;
        let text = got["result"]["messages"][0]["content"]["text"].as_str().unwrap_or_default();
        assert!(text.contains("arg1='one', arg2='two'"), "{got}");
    }
    let complete = json!({
        "ref": {"type": "ref/prompt", "name": "beta__test_prompt_with_arguments"},
        "argument": {"name": "arg1", "value": "par"},
    });
    let completed = mcp(&url, "completion/complete", complete).await;
    assert_eq!(completed["result"]["completion"]["values"], json!(["paris", "park", "party"]));

    // The first server that offers a URI keeps it; the second one's is prefixed with its name.
    let resources = mcp(&url, "resources/list", json!({})).await;
    let uris = names(&resources, "resources", "uri");
    assert!(uris.contains(&"test://static-text".to_owned()), "{uris:?}");
    assert!(uris.contains(&"alpha+test://static-text".to_owned()), "{uris:?}");
    assert!(!uris.contains(&"beta+test://static-text".to_owned()), "{uris:?}");
    for uri in [
        "test://static-text",
        "alpha+test://static-text",
        "beta+test://static-text",
        "test://template/5/data",
    ] {
        let read = mcp(&url, "resources/read", json!({"uri": uri})).await;
        let content = &read["result"]["contents"][0];
        assert_eq!(content["uri"], json!(uri), "{read}");
        assert!(content["text"].is_string(), "{read}");
    }
    let templates = mcp(&url, "resources/templates/list", json!({})).await;
    let templates = names(&templates, "resourceTemplates", "uriTemplate");
    let files = "powerstrip://files/{id}";
    assert_eq!(templates, ["alpha+test://template/{id}/data", "test://template/{id}/data", files]);

    for missing in ["other://nowhere", "beta+test://no-such"] {
        let read = mcp(&url, "resources/read", json!({"uri": missing})).await;
        assert_eq!(read["error"]["code"], json!(-32602), "{missing}: {read}");
    }
    let unknown = mcp(&url, "prompts/get", json!({"name": "beta__none"})).await;
    assert_eq!(unknown["error"]["code"], json!(-32602), "{unknown}");
    let incomplete = json!({"name": "beta__test_prompt_with_arguments", "arguments": {}});
    let refused = mcp(&url, "prompts/get", incomplete).await;
    assert_eq!(refused["error"]["code"], json!(-32602), "{refused}");
}

#[tokio::test]
async fn last_known_lists_are_served_while_a_server_is_down() {
    let far = HttpFixture::start().await;
    let config = format!("servers:\n{}", over_http("beta", &far.url));
    let gateway = Gateway::with().config(&config).start().await;
    wait_until_listed(&gateway, "beta__greet").await;
    let _place = far.kill().await;
    let url = gateway.url("/mcp");
    let listed = mcp(&url, "resources/list", json!({})).await;
    assert!(names(&listed, "resources", "uri").contains(&"test://static-text".to_owned()));
    let uri = "test://static-text";
    let read = mcp(&url, "resources/read", json!({"uri": uri})).await;
    assert!(read["error"]["message"].as_str().is_some_and(|m| m.contains("`beta`")), "{read}");
}

#[tokio::test]
async fn capabilities_reflect_the_servers() {
    let bare = Gateway::start().await;
    let stated = mcp(&bare.url("/mcp"), "server/discover", json!({})).await;
    // Files are resources that never change, so there are no subscriptions.
    assert_eq!(stated["result"]["capabilities"]["resources"], json!({}), "{stated}");
    let listed = mcp(&bare.url("/mcp"), "resources/list", json!({})).await;
    assert_eq!(listed["result"]["resources"], json!([]), "{listed}");

    let gateway =
        Gateway::with().config(&format!("servers:\n{}", over_stdio("near"))).start().await;
    wait_until_listed(&gateway, "near__greet").await;
    let stated = mcp(&gateway.url("/mcp"), "server/discover", json!({})).await;
    let capabilities = &stated["result"]["capabilities"];
    assert_eq!(capabilities["resources"]["subscribe"], json!(true), "{stated}");
    assert!(capabilities["logging"].is_object(), "{stated}");
    assert!(capabilities["extensions"]["io.modelcontextprotocol/tasks"].is_object(), "{stated}");
}

#[tokio::test]
async fn progress_and_log_messages_reach_only_their_caller() {
    let gateway = Gateway::with()
        .config(&format!(
            "servers:\n  near: {{ command: '{}', prefix: false }}\n",
            fixture().display()
        ))
        .start()
        .await;
    wait_until_listed(&gateway, "greet").await;
    let mut modern = Peer::modern(&gateway);
    let received =
        modern.call("test_tool_with_progress", json!({}), json!({"progressToken": "token-1"}));
    let received = received.await;
    let steps: Vec<&Value> = received.notices("notifications/progress").collect();
    assert_eq!(steps.len(), 3, "{received:?}");
    for (step, done) in steps.iter().zip([0.0, 50.0, 100.0]) {
        assert_eq!(step["progressToken"], json!("token-1"));
        assert_eq!(step["progress"].as_f64(), Some(done));
    }
    let silent = modern.call("test_tool_with_progress", json!({}), json!({})).await;
    assert_eq!(silent.notices("notifications/progress").count(), 0, "{silent:?}");
    assert_eq!(silent.answer["result"]["content"][0]["text"], json!("Progress was reported."));

    let level = |level: &str| json!({"io.modelcontextprotocol/logLevel": level});
    for (meta, expected) in [(level("info"), 3), (level("error"), 0), (json!({}), 0)] {
        let received = modern.call("test_tool_with_logging", json!({}), meta).await;
        assert_eq!(received.notices("notifications/message").count(), expected, "{received:?}");
    }
}

#[tokio::test]
async fn a_task_belongs_to_its_owner_and_can_be_found_again() {
    let gateway =
        Gateway::with().config(&format!("servers:\n{}", over_stdio("near"))).start().await;
    wait_until_listed(&gateway, "near__slow_compute").await;
    let mut peer = Peer::modern(&gateway);
    peer.capabilities = json!({"extensions": {"io.modelcontextprotocol/tasks": {}}});
    let begun =
        peer.call("near__slow_compute", json!({"seconds": 0, "label": "it"}), json!({})).await;
    let id = begun.answer["result"]["taskId"].as_str().expect("a task").to_owned();
    assert!(id.starts_with("near."), "{id}");
    let done = testkit::eventually("the task is done", || async {
        let mut peer = Peer::modern(&gateway);
        peer.capabilities = json!({"extensions": {"io.modelcontextprotocol/tasks": {}}});
        let state = peer.ask("tasks/get", json!({"taskId": id})).await.answer;
        (state["result"]["status"] == "completed").then_some(state)
    })
    .await;
    assert_eq!(done["result"]["taskId"], json!(id), "{done}");
    assert!(done.to_string().contains("it is done."), "{done}");
    let mut altered = id.clone();
    altered.pop();
    for foreign in [altered.as_str(), "near.x.y", "none.x"] {
        let refused = peer.ask("tasks/get", json!({"taskId": foreign})).await.answer;
        assert_eq!(refused["error"]["code"], json!(-32602), "{foreign}: {refused}");
    }
    // Without the tasks extension there is no task: the server answers when the work is done.
    let plain =
        Peer::modern(&gateway).call("near__slow_compute", json!({"seconds": 0}), json!({})).await;
    assert!(plain.answer["result"]["content"].is_array(), "{plain:?}");
}

#[tokio::test]
async fn subscribers_are_notified_of_changed_resources() {
    let far = HttpFixture::start().await;
    let config = format!("servers:\n{}{}", over_stdio("alpha"), over_http("beta", &far.url));
    let gateway = Gateway::with().config(&config).start().await;
    wait_until_listed(&gateway, "alpha__greet").await;
    wait_until_listed(&gateway, "beta__greet").await;
    for (server, uri) in
        [("alpha", "alpha+test://watched-resource"), ("beta", "beta+test://watched-resource")]
    {
        let mut listening = Peer::modern(&gateway)
            .listen(json!({"resourceSubscriptions": [uri], "promptsListChanged": true}))
            .await;
        let legacy = LegacyPeer::open(&gateway, json!({})).await;
        let mut standing = legacy.listen().await;
        let subscribed = legacy.request("resources/subscribe", json!({"uri": uri}), |_| None).await;
        assert!(subscribed["result"].is_object(), "{subscribed}");
        let no_such = json!({"uri": "other://nowhere"});
        let refused = legacy.request("resources/subscribe", no_such, |_| None).await;
        assert!(refused["error"].is_object(), "{refused}");

        // The subscription reaches the server shortly after.
        let trigger = format!("{server}__test_trigger_resource_update");
        let stream = async {
            let received = listening.next("notifications/resources/updated").await;
            assert_eq!(received["params"]["uri"], json!(uri), "{received}");
            let received = standing.next("notifications/resources/updated").await;
            assert_eq!(received["params"]["uri"], json!(uri), "{received}");
        };
        let telling = async {
            loop {
                Peer::modern(&gateway).call(&trigger, json!({}), json!({})).await;
                tokio::time::sleep(std::time::Duration::from_millis(50)).await;
            }
        };
        tokio::select! {
            () = stream => {}
            () = telling => {}
            () = tokio::time::sleep(std::time::Duration::from_secs(20)) => panic!("no notification arrived"),
        }
        let trigger = format!("{server}__test_trigger_prompt_change");
        Peer::modern(&gateway).call(&trigger, json!({}), json!({})).await;
        let changed = listening.next("notifications/prompts/list_changed");
        tokio::time::timeout(std::time::Duration::from_secs(20), changed)
            .await
            .expect("a notification");
    }
}
