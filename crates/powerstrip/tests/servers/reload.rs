//! Servers come and go with the config file, and those that stay notice nothing.

use serde_json::json;
use testkit::{Gateway, eventually};

use crate::support::{HttpFixture, command, listed, offers, over_http, over_stdio};

#[tokio::test]
async fn a_changed_config_adds_and_removes_servers() {
    let far = HttpFixture::start().await;
    let stays = format!("listen: 127.0.0.1:0\nservers:\n{}", over_stdio("near"));
    let gateway =
        Gateway::with().config(&format!("servers:\n{}", over_stdio("near"))).start().await;
    offers(&gateway, "near__greet").await;
    let sessions = command(&gateway, &["servers"]).await;

    gateway.write("powerstrip.yaml", &format!("{stays}{}", over_http("far", &far.url)));
    offers(&gateway, "far__greet").await;
    let answer = gateway.call("far:greet", &json!({"name": "Ada"})).await.body;
    assert_eq!(answer["ok"], json!(true), "{answer}");

    gateway.write("powerstrip.yaml", &format!("{stays}  odd: {{ comand: x }}\n"));
    eventually("the log names the key", || async {
        gateway.log().contains("servers.odd.comand").then_some(())
    })
    .await;
    assert!(listed(&gateway).await.contains(&"far__greet".to_owned()), "nothing has changed");

    gateway.write("powerstrip.yaml", &stays);
    eventually("the removed server's tools are gone", || async {
        (!listed(&gateway).await.iter().any(|name| name.starts_with("far__"))).then_some(())
    })
    .await;
    let after = command(&gateway, &["servers"]).await;
    assert_eq!(after[0]["name"], json!("near"));
    assert_eq!(after[0]["restarts"], sessions[0]["restarts"], "it was left in peace");
    assert_eq!(after.as_array().map(Vec::len), Some(1), "{after}");
}
