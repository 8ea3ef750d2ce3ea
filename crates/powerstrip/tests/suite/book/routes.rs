use testkit::Gateway;

use crate::book::pages::root;

#[tokio::test]
async fn the_page_of_routes_names_every_route() {
    let page = std::fs::read_to_string(root().join("docs/src/reference/http.md")).unwrap();
    let gateway = Gateway::start().await;
    let document = gateway.get("/openapi.json").await.body;
    let paths: Vec<_> = document["paths"].as_object().unwrap().keys().cloned().collect();
    assert!(paths.len() > 15, "{paths:?}");
    let missing: Vec<_> = paths
        .iter()
        .filter(|path| !path.starts_with("/mcp/tool/"))
        .filter(|path| {
            // Rows about several routes below one path name the last part only: `…/content`.
            let last = path.rsplit('/').next().unwrap();
            !page.contains(&format!("`{path}`")) && !page.contains(&format!("`…/{last}`"))
        })
        .collect();
    assert!(missing.is_empty(), "not in docs/src/reference/http.md: {missing:#?}");
}
