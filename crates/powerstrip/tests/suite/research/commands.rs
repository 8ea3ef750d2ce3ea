use testkit::{CommandOutput, Gateway, powerstrip_binary};
use tokio::process::Command;

use crate::research::support::Web;

#[tokio::test]
async fn search_prints_results_for_people_and_json_for_programs() {
    let web = Web::start().await;
    let gateway = web.gateway().start().await;
    let printed = gateway.run(&["search", "ocean", "tides"]).await;
    let text = printed.ok();
    let expected = format!(" 1. Tides at /articles/1\n    {}\n", web.site.url("/articles/1"));
    assert!(text.starts_with(&expected), "{text}");
    assert!(text.contains("    A page about /articles/1.\n\n 2. Tides"), "{text}");
    assert_eq!(web.providers.last("searxng").parameter("q").as_deref(), Some("ocean tides"));

    let json = gateway.run(&["search", "ocean tides", "-n", "2", "--json"]).await.json_of(0);
    assert_eq!(json["data"]["resultCount"], 2, "{json}");
    let wrong = gateway.run(&["search", "tides", "-n", "11"]).await;
    assert!(wrong.failed(2).contains("11"), "{wrong:?}");
}

#[tokio::test]
async fn scrape_prints_the_page_and_says_what_it_is_on_stderr() {
    let web = Web::start().await;
    let gateway = web.gateway().start().await;
    let url = web.site.url("/articles/1");
    let printed = gateway.run(&["scrape", &url]).await;
    assert!(printed.ok().contains("tides"), "{printed:?}");
    assert!(printed.stderr.contains("How ocean tides work, part 1"), "{printed:?}");
    assert!(printed.stderr.contains("html · ") && printed.stderr.contains(" bytes"), "{printed:?}");

    let cut = gateway.run(&["scrape", &url, "--max-length", "200"]).await;
    assert!(cut.ok().len() <= 201 && cut.stderr.contains("was cut"), "{cut:?}");
    let json = gateway.run(&["scrape", &url, "--json"]).await.json_of(0);
    assert_eq!(json["data"]["contentType"], "html", "{json}");
    assert!(json["data"]["citation"]["formatted"]["apa"].is_string(), "{json}");

    let missing = gateway.run(&["scrape", &web.site.url("/status/404")]).await;
    assert!(missing.failed(1).contains("NOT_FOUND"), "{missing:?}");
}

#[tokio::test]
async fn commands_work_without_a_running_gateway() {
    let web = Web::start().await;
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("powerstrip.yaml"), web.config("")).unwrap();
    let mut command = Command::new(powerstrip_binary());
    command.args(["scrape", &web.site.url("/articles/2")]).current_dir(folder.path());
    let printed = CommandOutput::from(command.output().await.unwrap());
    assert!(printed.ok().contains("tides"), "{printed:?}");
}

#[tokio::test]
async fn text_prints_the_main_content_as_markdown_with_links_that_work() {
    let gateway = Gateway::start().await;
    let article = "Tides are the rise and fall of sea levels caused by the moon, the sun and the rotation of the earth. "
        .repeat(6);
    let page = format!(
        "<!doctype html><title>Tides</title><nav><a href=/home>Home page of this site</a></nav><article><h1>Tides</h1>\
         <p>{article}</p><p>{article} See <a href='more.html'>more about tides</a>.</p></article><footer>Imprint</footer>"
    );
    gateway.write("page.html", &page);
    let arguments =
        ["text", "page.html", "--main", "--markdown", "--url", "https://example.com/sea/"];
    let printed = gateway.run(&arguments).await;
    let text = printed.ok();
    assert!(text.contains("[more about tides](https://example.com/sea/more.html)"), "{text}");
    assert!(!text.contains("Home page") && !text.contains("Imprint"), "{text}");
    let whole = gateway.run(&["text", "page.html"]).await;
    assert!(whole.ok().contains("Imprint"), "{whole:?}");
}
