use std::net::TcpListener;

use serde_json::{Value, json};
use testkit::{Gateway, ReservedPort, eventually};

use crate::commands::project::{Project, run_in};

#[tokio::test]
async fn serve_prints_how_to_connect() {
    let gateway = Gateway::start().await;
    let (address, needles) =
        (gateway.address().to_owned(), ["44 tools", "sandbox T", "/mcp/tool/demo.echo"]);
    let banner = eventually("the banner", || async {
        let log = gateway.log();
        needles.iter().all(|needle| log.contains(needle)).then_some(log)
    })
    .await;
    assert!(
        banner
            .contains(&format!("claude mcp add --transport http powerstrip http://{address}/mcp")),
        "{banner}"
    );
    assert!(banner.contains("mcpServers") && banner.contains("inspector"), "{banner}");
}

#[tokio::test]
async fn serves_without_config_and_stops_on_sigterm() {
    let gateway = Gateway::start().await;
    assert_eq!(gateway.get("/mcp/discover").await.status, 200);
    let answer = gateway.call("demo.echo", &json!({"message": "hi"})).await;
    assert_eq!(answer.body["data"], json!({"message": "hi"}));
    assert_eq!(gateway.stop().await, Some(0));
}

/// A gateway with a tool that creates a file when it starts and then takes this many seconds.
async fn slow_gateway(seconds: u32) -> Gateway {
    Gateway::with()
        .file(
            "tools/slow.tool.yaml",
            "id: slow.nap\nversion: 1.0.0\ndescription: Sleeps for a while and says so.\n\
             caps: { files: { write: [./marks] } }\n\
             inputSchema: {type: object}\noutputSchema: {type: object}\n\
             execution: {kind: python, script: ./nap.py}\n",
        )
        .file(
            "tools/nap.py",
            &format!(
                "import os, sys, time\nsys.stdin.readline()\n\
                 open(os.path.join(os.path.dirname(__file__), 'marks', 'begun'), 'w').close()\n\
                 time.sleep({seconds})\nprint('{{\"slept\": true}}')\n"
            ),
        )
        .file("tools/marks/.keep", "")
        .start()
        .await
}

/// Calls the tool and returns once it has started.
async fn start_call(gateway: &Gateway) -> tokio::task::JoinHandle<Option<Value>> {
    let url = gateway.url("/mcp/tool/slow.nap");
    let call = tokio::spawn(async move {
        let answer = reqwest::Client::new().post(url).json(&json!({})).send().await.ok()?;
        answer.json().await.ok()
    });
    let mark = gateway.folder().join("tools/marks/begun");
    eventually("the call is under way", || async { mark.exists().then_some(()) }).await;
    call
}

#[tokio::test]
async fn running_calls_finish_at_shutdown() {
    let gateway = slow_gateway(1).await;
    let call = start_call(&gateway).await;
    assert_eq!(gateway.stop().await, Some(0));
    assert_eq!(call.await.unwrap().unwrap()["data"], json!({"slept": true}));
}

#[tokio::test]
async fn a_second_signal_ends_it_at_once() {
    // Longer than the drain time and the time between two signals.
    let gateway = slow_gateway(25).await;
    let call = start_call(&gateway).await;
    let pid = rustix::process::Pid::from_raw(gateway.pid().cast_signed()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    eventually("the first signal was handled", || async {
        gateway.log().contains("stopping").then_some(())
    })
    .await;
    assert!(!call.is_finished());
    assert_eq!(gateway.stop().await, Some(130));
    assert_eq!(call.await.unwrap(), None);
}

#[test]
fn a_port_in_use_is_explained() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let ended = Project::new().run(&["serve", "--listen", &address]);
    let stderr = ended.failed(1);
    assert!(
        stderr.contains(&address)
            && stderr.contains("already in use")
            && stderr.contains("--listen"),
        "{stderr}"
    );
}

/// As after `kill -9`: the port is free once the kernel has ended the last thread of the old process.
#[tokio::test]
async fn a_port_that_becomes_free_is_waited_for() {
    let port = ReservedPort::reserve();
    let taken = TcpListener::bind(port.address()).unwrap();
    let freed = tokio::task::spawn_blocking(move || {
        std::thread::sleep(std::time::Duration::from_millis(700));
        drop(taken);
    });
    let gateway = Gateway::with().at(&port).start().await;
    freed.await.unwrap();
    assert_eq!(gateway.address(), port.address());
    assert_eq!(gateway.get("/healthz").await.status, 200);
}

#[tokio::test]
async fn a_data_folder_is_served_once() {
    let gateway = Gateway::start().await;
    let folder = gateway.folder().to_owned();
    let ended = tokio::task::spawn_blocking(move || {
        run_in(&folder, &["serve", "--listen", "127.0.0.1:0"], "", &[])
    })
    .await
    .unwrap();
    let stderr = ended.failed(1);
    assert!(stderr.contains("already served") && stderr.contains(gateway.address()), "{stderr}");
    assert!(stderr.contains(&gateway.pid().to_string()), "{stderr}");
    assert_eq!(gateway.get("/healthz").await.status, 200, "the first gateway keeps running");
}

#[tokio::test]
async fn tools_cannot_call_the_gateway_itself() {
    let gateway = Gateway::with().config("egress: { allow: [127.0.0.1] }").start().await;
    let pack = format!(
        "id: self.call\nversion: 1.0.0\ndescription: Calls the gateway that it runs in.\n\
         caps: {{ network: ['127.0.0.1'] }}\ninputSchema: {{type: object}}\noutputSchema: {{type: object}}\n\
         execution: {{kind: http, url: '{}'}}\n",
        gateway.url("/mcp/tool/time.now")
    );
    gateway.write("tools/self.tool.yaml", &pack);
    let answer = eventually("the tool is there", || async {
        let answer = gateway.call("self.call", &json!({})).await;
        (answer.status != 404).then_some(answer)
    })
    .await;
    assert_eq!(answer.body["ok"], false, "{answer:?}");
    assert!(
        answer.body["errors"][0]["message"].as_str().unwrap().contains("listener of this gateway"),
        "{answer:?}"
    );
}
