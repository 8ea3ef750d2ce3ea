//! The log messages of a call arrive before its answer, all of them, and with it on one stream.

use serde_json::{Value, json};
use testkit::Gateway;

use crate::servers::peer::{LegacyPeer, Peer};
use crate::servers::support::{HttpFixture, over_http, over_stdio, wait_until_listed};

const ROUNDS: usize = 10;

/// The messages that the fixture server logs during a call.
const LOGGED: [&str; 3] =
    ["Tool execution started", "Tool processing data", "Tool execution completed"];

#[tokio::test]
async fn all_log_messages_of_a_call_precede_its_answer() {
    let far = HttpFixture::start().await;
    let config = format!("servers:\n{}{}", over_stdio("near"), over_http("far", &far.url));
    let gateway = Gateway::with().config(&config).start().await;
    for server in ["near", "far"] {
        let tool = format!("{server}__test_tool_with_logging");
        wait_until_listed(&gateway, &tool).await;
        // The session's own stream is open, which is where the messages must not go.
        for capabilities in [json!({}), json!({"elicitation": {}, "sampling": {}})] {
            let peer = LegacyPeer::open(&gateway, capabilities.clone()).await;
            let _stream = peer.listen().await;
            for round in 0..ROUNDS {
                let mut logged = Vec::new();
                let params = json!({"name": tool, "arguments": {}});
                let answer = peer
                    .request("tools/call", params, |message| {
                        logged.push(message["params"]["data"].clone());
                        None::<Value>
                    })
                    .await;
                assert!(answer["result"]["content"].is_array(), "{answer}");
                assert_eq!(logged, LOGGED, "{server}, {capabilities}, round {round}");
            }
        }
        let mut modern = Peer::modern(&gateway);
        for round in 0..ROUNDS {
            let meta = json!({"io.modelcontextprotocol/logLevel": "info"});
            let received = modern.call(&tool, json!({}), meta).await;
            let logged: Vec<_> =
                received.notices("notifications/message").map(|log| &log["data"]).collect();
            assert_eq!(logged, LOGGED, "{server}, round {round}");
        }
    }
}
