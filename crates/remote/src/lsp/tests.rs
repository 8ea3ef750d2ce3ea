use super::*;

#[tokio::test]
async fn a_client_learns_that_its_server_disconnected() {
    let (client, server) = tokio::io::duplex(1024);
    let client = LspClient::connect(client);
    let (asked, ()) = tokio::join!(client.request("mcp.discover", json!({})), async {
        tokio::task::yield_now().await;
        drop(server);
    });
    assert!(matches!(asked, Err(LspError::Closed)), "{asked:?}");
    let again = client.request("mcp.discover", json!({})).await;
    assert!(matches!(again, Err(LspError::Closed)), "{again:?}");
}
