//! The log says why a pack is not served.

use testkit::{Gateway, eventually};

use crate::boundary::packs::pack;

async fn logs(gateway: &Gateway, needles: &[&str]) {
    eventually("the log names it", || async {
        let log = gateway.log();
        log.lines().any(|line| needles.iter().all(|needle| line.contains(needle))).then_some(())
    })
    .await;
}

#[tokio::test]
async fn the_log_names_tools_that_are_not_served_and_why() {
    let run = "{ kind: cli, cmd: [cat] }";
    let gateway = Gateway::with()
        .file("tools/taken.tool.yaml", &pack("demo.echo", run, ""))
        .file("tools/v1.tool.yaml", &pack("many.majors", run, ""))
        .file("tools/v2.tool.yaml", &pack("many.majors", run, "").replace("1.0.0", "2.0.0"))
        .file("tools/v3.tool.yaml", &pack("many.majors", run, "").replace("1.0.0", "3.0.0"))
        .start()
        .await;
    logs(&gateway, &["not served", "toolpacks", "demo.echo", "already taken by built-in"]).await;
    logs(&gateway, &["not served", "toolpacks", "many.majors", "version 1.0.0"]).await;
    gateway.write(
        "tools/bad.tool.yaml",
        "id: bad.schema\nversion: 1.0.0\ndescription: A tool that takes no object at all.\n\
         inputSchema: {type: string}\noutputSchema: {}\nexecution: {kind: cli, cmd: [cat]}\n",
    );
    logs(&gateway, &["not served", "bad.schema", "input is an object"]).await;
    let count = gateway.log().matches("already taken by built-in").count();
    assert_eq!(count, 1, "a known fault is logged once");
}
