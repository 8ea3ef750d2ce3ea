use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use proto::Limits;
use serde_json::json;
use strip::Catalog;
use strip::catalog::{LimitBounds, WireNames};
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;
use tokio_util::sync::DropGuard;
use toolpack::Toolpacks;

use crate::support::{Options, Setup, call, eventually, pack_text, runtime};

const CAT: &str = "execution: {kind: cli, cmd: [cat]}";

struct Watch {
    catalog: Arc<Catalog>,
    packs: Arc<Toolpacks>,
    /// Notified after the first scan.
    first: oneshot::Receiver<()>,
    _end: DropGuard,
}

fn watch(packs: &Arc<Toolpacks>) -> Watch {
    let limits = Limits::default();
    let catalog = Arc::new(Catalog::new(
        LimitBounds { default: limits, server_input: limits.max_input_bytes, max: limits },
        WireNames::default(),
    ));
    let cancel = CancellationToken::new();
    let (published, first) = oneshot::channel();
    tokio::spawn(Arc::clone(packs).watch(Arc::clone(&catalog), published, cancel.clone()));
    Watch { catalog, packs: Arc::clone(packs), first, _end: cancel.drop_guard() }
}

impl Watch {
    fn ids(&self) -> Vec<String> {
        let snapshot = self.catalog.snapshot();
        snapshot.entries().iter().map(|entry| entry.descriptor.id.to_string()).collect()
    }

    fn version(&self, name: &str) -> Option<String> {
        let snapshot = self.catalog.snapshot();
        let entry = snapshot.resolve(&format!("demo.{name}")).ok()?;
        Some(entry.descriptor.version.to_string())
    }

    async fn until_ids(&self, what: &str, ids: &[&str]) {
        eventually(what, || self.ids() == ids).await;
    }

    async fn data(&self, name: &str) -> serde_json::Value {
        let snapshot = self.catalog.snapshot();
        let tool = Arc::clone(&snapshot.resolve(&format!("demo.{name}")).unwrap().tool);
        let output = tool.run(&call(json!({}))).await.unwrap();
        (*output.data).clone()
    }
}

#[tokio::test]
async fn packs_are_added_changed_broken_and_removed() {
    let setup = Setup::new().await;
    setup.pack("a", CAT);
    let watch = watch(&setup.packs);
    watch.until_ids("the first pack", &["demo.a"]).await;

    setup.pack("b", CAT);
    watch.until_ids("a second pack", &["demo.a", "demo.b"]).await;
    setup.write("tools/new/folder/c.tool.yaml", &pack_text("c", CAT));
    watch.until_ids("a pack in a new folder", &["demo.a", "demo.b", "demo.c"]).await;
    setup.write("tools/new/folder/d.tool.yaml", &pack_text("d", CAT));
    watch.until_ids("another one there", &["demo.a", "demo.b", "demo.c", "demo.d"]).await;

    setup.write("tools/a.tool.yaml", &pack_text("a", CAT).replace("1.0.0", "1.1.0"));
    eventually("a new version", || watch.version("a").as_deref() == Some("1.1.0")).await;

    setup.write("tools/a.tool.yaml", "id: demo.a\nversion: [\n");
    // A scan during the write finds an empty file, which has no line to name.
    eventually(
        "the finding",
        || matches!(&watch.packs.findings()[..], [finding] if finding.line.is_some()),
    )
    .await;
    assert_eq!(watch.version("a").as_deref(), Some("1.1.0"));

    // Editors write another file and then rename it.
    setup.write("tools/.a.tmp", &pack_text("a", CAT).replace("1.0.0", "1.2.0"));
    fs::rename(setup.tools().join(".a.tmp"), setup.tools().join("a.tool.yaml")).unwrap();
    eventually("the fixed version", || watch.version("a").as_deref() == Some("1.2.0")).await;
    assert_eq!(watch.packs.findings(), []);

    fs::remove_file(setup.tools().join("b.tool.yaml")).unwrap();
    fs::remove_dir_all(setup.tools().join("new")).unwrap();
    watch.until_ids("packs that went", &["demo.a"]).await;
}

#[tokio::test]
async fn files_that_packs_refer_to_are_watched() {
    let setup = Setup::new().await;
    setup.write("schemas/in.json", r#"{"title":"one"}"#);
    setup.write("code/x.py", "print(1)");
    setup.write("tools/helper.py", "VALUE = 1\n");
    setup.write("tools/m.py", "import helper\ndef f(input):\n    return helper.VALUE\n");
    setup.write(
        "tools/x.tool.yaml",
        &pack_text("x", "execution: {kind: python, script: ../code/x.py, workers: 1}")
            .replace("inputSchema: {}", "inputSchema: {$ref: '../schemas/in.json'}"),
    );
    setup.pack("warm", "execution: {kind: python, module: 'm:f', workers: 1}");
    let watch = watch(&setup.packs);
    watch.until_ids("the packs", &["demo.warm", "demo.x"]).await;
    assert_eq!((watch.data("x").await, watch.data("warm").await), (json!(1), json!(1)));

    let revision = watch.catalog.snapshot().revision();
    setup.overwrite("code/x.py", "print(2)");
    eventually("the new script", || watch.catalog.snapshot().revision() > revision).await;
    assert_eq!(watch.data("x").await, json!(2));

    setup.write("schemas/in.json", r#"{"title":"two"}"#);
    eventually("the new schema", || {
        let snapshot = watch.catalog.snapshot();
        snapshot.resolve("demo.x").unwrap().descriptor.input_schema == json!({"title": "two"})
    })
    .await;

    // A module that the code imports: the same tool, but its workers load the code again.
    let warm = Arc::clone(&watch.catalog.snapshot().resolve("demo.warm").unwrap().tool);
    setup.overwrite("tools/helper.py", "VALUE = 2\n");
    let packs = Arc::clone(&watch.packs);
    eventually("the old worker goes", || {
        packs.tools().iter().all(|tool| tool.health().idle_workers == 0)
    })
    .await;
    assert_eq!(watch.data("warm").await, json!(2));
    assert!(Arc::ptr_eq(&warm, &watch.catalog.snapshot().resolve("demo.warm").unwrap().tool));
}

#[tokio::test]
async fn a_pack_that_waits_for_a_file_recovers() {
    let setup = Setup::new().await;
    setup.pack("x", "execution: {kind: python, script: ../late/x.py}");
    let watch = watch(&setup.packs);
    eventually("the finding", || watch.packs.findings().len() == 1).await;
    setup.write("late/x.py", "print(1)");
    watch.until_ids("the pack", &["demo.x"]).await;
}

#[tokio::test]
async fn a_folder_may_appear_later_and_appear_again() {
    let setup = Setup::new().await;
    let folder = setup.root().join("later/tools");
    let packs = Arc::new(Toolpacks::new(vec![folder.clone()], runtime(Options::default()).await));
    let watch = watch(&packs);
    for name in ["a", "b"] {
        setup.write(&format!("later/tools/{name}.tool.yaml"), &pack_text(name, CAT));
        watch.until_ids("the folder", &[&format!("demo.{name}")]).await;
        setup.write("later/tools/more.tool.yaml", &pack_text("more", CAT));
        watch.until_ids("a change in it", &[&format!("demo.{name}"), "demo.more"]).await;
        fs::remove_dir_all(&folder).unwrap();
        watch.until_ids("an empty catalog", &[]).await;
    }
}

#[tokio::test]
async fn the_first_scan_is_notified_once_it_is_published() {
    let setup = Setup::new().await;
    setup.pack("a", CAT).pack("b", CAT);
    let mut watch = watch(&setup.packs);
    (&mut watch.first).await.unwrap();
    assert_eq!(watch.ids(), ["demo.a", "demo.b"]);
}

#[tokio::test]
async fn a_first_scan_without_packs_is_notified_too() {
    let setup = Setup::new().await;
    watch(&setup.packs).first.await.unwrap();
}

/// With one thread, blocking work runs in order: the first scan, the write of the test, publishing.
#[test]
fn a_pack_added_after_the_first_scan_is_not_lost() {
    let host = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .max_blocking_threads(1)
        .build()
        .unwrap();
    host.block_on(async {
        let setup = Setup::new().await;
        let watch = watch(&setup.packs);
        tokio::task::yield_now().await;
        let late = setup.tools().join("late.tool.yaml");
        tokio::task::spawn_blocking(move || fs::write(late, pack_text("late", CAT)).unwrap())
            .await
            .unwrap();
        watch.until_ids("the late pack", &["demo.late"]).await;
    });
}

/// Eight folders, each edited 125 times. No edit may be lost, neither among many others nor during a periodic scan.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thousand_edits_under_load_are_all_noticed() {
    const CYCLES: usize = 5;
    const BURST: usize = 24;
    /// The documented delay, doubled for a machine that runs other tests.
    const BOUND: Duration = Duration::from_secs(4);
    let busy = Arc::new(AtomicBool::new(true));
    let load = Arc::clone(&busy);
    let load = std::thread::spawn(move || while load.load(Ordering::Relaxed) {});
    let edits = (0..8_u64).map(|folder| async move {
        let setup = Setup::new().await;
        setup.pack("x", CAT);
        let watch = watch(&setup.packs);
        watch.until_ids("the pack", &["demo.x"]).await;
        let mut version = 0;
        let edit = |version: usize| {
            let text = pack_text("x", CAT).replace("1.0.0", &format!("1.0.{version}"));
            setup.write("tools/.x.tmp", &text);
            fs::rename(setup.tools().join(".x.tmp"), setup.tools().join("x.tool.yaml")).unwrap();
            Instant::now()
        };
        let noticed = async |edited: Instant, version: usize| {
            let expected = format!("1.0.{version}");
            while watch.version("x").as_deref() != Some(&expected) {
                let late = edited.elapsed();
                assert!(
                    late < BOUND,
                    "folder {folder}: edit {version} is not served after {late:?}"
                );
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        for cycle in 0..CYCLES as u64 {
            let mut edited = Instant::now();
            for _ in 0..BURST {
                version += 1;
                edited = edit(version);
                tokio::time::sleep(Duration::from_millis(folder * 3)).await;
            }
            noticed(edited, version).await;
            // The watch scans a second after an edit was noticed, and again a second later.
            let pause = Duration::from_millis(2_000 + (folder * 37 + cycle * 61) % 150);
            tokio::time::sleep_until((edited + pause).into()).await;
            version += 1;
            noticed(edit(version), version).await;
        }
        version
    });
    let edits: usize = futures_util::future::join_all(edits).await.into_iter().sum();
    busy.store(false, Ordering::Relaxed);
    load.join().unwrap();
    assert_eq!(edits, 1_000);
}
