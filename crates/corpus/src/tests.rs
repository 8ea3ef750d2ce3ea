use std::collections::BTreeMap;
use std::path::Path;

use language::model::StaticModel;
use proptest::prelude::*;
use proto::{Clock, Code};
use serde_json::json;
use store::Database;
use tempfile::TempDir;

use super::rank::{QueryWords, Totals, rounded};
use super::*;

const ACME: &str = "acme";

struct Setup {
    folder: Option<TempDir>,
    collections: Collections,
}

impl Setup {
    async fn sqlite() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let database = Database::open(folder.path()).await.unwrap();
        Self { folder: Some(folder), collections: on(database) }
    }

    /// None, and a line in the output, without a server.
    async fn postgres() -> Option<Self> {
        let database = Database::connect(&testkit::new_database()?).await.unwrap();
        Some(Self { folder: None, collections: on(database) })
    }

    async fn add(&self, collection: &str, items: Vec<Item>) -> Added {
        self.collections.add(ACME, &name(collection), items).await.unwrap()
    }

    async fn found(&self, query: &str, mode: Mode) -> Vec<String> {
        let found = self.collections.search(ACME, &search(query, &["city"], mode)).await.unwrap();
        found.results.into_iter().map(|hit| hit.id).collect()
    }

    async fn fault(&self, query: &str, mode: Mode) -> Failure {
        self.collections.search(ACME, &search(query, &["city"], mode)).await.unwrap_err()
    }
}

fn on(database: Database) -> Collections {
    Collections::new(database, Clock::default(), CollectionSettings::default())
}

fn name(text: &str) -> CollectionName {
    text.parse().unwrap()
}

fn item(id: &str, text: &str) -> Item {
    Item { id: Some(id.to_owned()), text: text.to_owned(), ..Item::default() }
}

fn search(query: &str, collections: &[&str], mode: Mode) -> Search {
    Search {
        query: query.to_owned(),
        collections: collections.iter().map(|text| name(text)).collect(),
        limit: MAX_LIMIT,
        filter: Filter::default(),
        mode,
    }
}

/// A model whose words lie on a circle.
fn embedder(folder: &Path, label: &str, turn: f32) -> Embedder {
    const WORDS: [&str; 5] = ["[UNK]", "heat", "warmth", "tree", "snow"];
    let angles = [0.0, 0.0, 0.1, 1.2, 3.0];
    let vocabulary: BTreeMap<_, _> = WORDS.iter().zip(0..).collect();
    let tokenizer = json!({
        "version": "1.0", "truncation": null, "padding": null, "added_tokens": [],
        "normalizer": {"type": "Lowercase"}, "pre_tokenizer": {"type": "Whitespace"},
        "post_processor": null, "decoder": null,
        "model": {"type": "WordLevel", "unk_token": "[UNK]", "vocab": vocabulary},
    });
    let numbers =
        angles.iter().flat_map(|angle: &f32| [(angle + turn).cos(), (angle + turn).sin()]);
    let data: Vec<u8> = numbers.flat_map(f32::to_le_bytes).collect();
    let header =
        json!({"embeddings": {"dtype": "F32", "shape": [5, 2], "data_offsets": [0, data.len()]}});
    let header = header.to_string().into_bytes();
    let length = (header.len() as u64).to_le_bytes();
    std::fs::write(folder.join("tokenizer.json"), tokenizer.to_string()).unwrap();
    std::fs::write(folder.join("model.safetensors"), [&length[..], &header, &data].concat())
        .unwrap();
    Embedder::of_static(StaticModel::open(folder).unwrap(), label)
}

/// A search that finds it must not fail, and a file is stored again whose metadata is lost.
#[tokio::test]
async fn a_damaged_chunk_is_left_out_of_searches() {
    let setup = Setup::sqlite().await;
    let of =
        |id: &str| Item { source: Some(format!("{id}.md")), ..item(id, "Trees cool the city.") };
    setup.add("city", ["a", "b", "c", "d"].map(of).into()).await;
    let folder = setup.folder.as_ref().map(|folder| folder.path().join("powerstrip.db"));
    let damages = [
        "meta = '{' WHERE id = 'a'",
        "text = x'00ff' WHERE id = 'b'",
        "terms = x'00' WHERE id = 'c'",
    ];
    for damage in damages {
        let sql = format!("UPDATE collection_chunks SET {damage}");
        drop(testkit::SqliteConnection::execute(folder.as_ref().unwrap(), &sql));
    }
    assert_eq!(setup.found("trees", Mode::Words).await, ["d"]);
    let lost = setup.collections.meta_of_source(ACME, &name("city"), "a.md").await.unwrap();
    assert_eq!(lost, None);
}

#[tokio::test]
async fn words_are_found_by_their_stems() {
    let setup = Setup::sqlite().await;
    let added = setup
        .add(
            "city",
            vec![
                item("a", "Trees cool the streets of a city in summer."),
                item("b", "A cool roof reflects light; roofs are painted white."),
                item("c", "Die Bäume kühlen die Straßen der Stadt und der Vorstadt."),
            ],
        )
        .await;
    assert_eq!((added.added, added.replaced, added.total, added.revision), (3, 0, 3, 1));
    assert!(added.embedding.is_none() && added.warnings.is_empty());
    assert_eq!(setup.found("cooling", Mode::Words).await, ["a", "b"]);
    assert_eq!(setup.found("tree street", Mode::Words).await, ["a"]);
    assert_eq!(setup.found("Straße", Mode::Words).await, ["c"], "the language of that chunk");
    assert_eq!(setup.found("the of and", Mode::Words).await, [""; 0]);
    assert_eq!(setup.found("\" OR * NEAR( roof", Mode::Words).await, ["b"]);
}

#[tokio::test]
async fn another_tenants_collection_does_not_exist() {
    let setup = Setup::sqlite().await;
    setup.add("city", vec![item("a", "heat")]).await;
    let search = search("heat", &["city"], Mode::Words);
    let missing = setup.collections.search("globex", &search).await.unwrap_err();
    assert_eq!(missing.code, Code::NotFound);
    let remove = setup.collections.remove("globex", &name("city"), &Selection::All).await;
    assert_eq!(remove.unwrap_err().code, Code::NotFound);
    assert_eq!(
        setup.collections.embed("globex", &name("city")).await.unwrap_err().code,
        Code::NotFound
    );
    assert!(setup.collections.list("globex").await.unwrap().collections.is_empty());
    assert_eq!(setup.collections.list(ACME).await.unwrap().collections[0].name, "city");
}

#[tokio::test]
async fn two_tenants_collections_share_nothing_but_a_name() {
    let setup = Setup::sqlite().await;
    setup.add("city", vec![item("a", "heat of acme")]).await;
    let theirs = vec![item("a", "heat of globex"), item("b", "more heat of globex")];
    setup.collections.add("globex", &name("city"), theirs).await.unwrap();
    let texts = async |tenant: &str| {
        let found = setup.collections.search(tenant, &search("heat", &["city"], Mode::Words)).await;
        found.unwrap().results.into_iter().map(|hit| hit.text).collect::<Vec<_>>()
    };
    assert_eq!(texts(ACME).await, ["heat of acme"]);
    assert!(texts("globex").await.iter().all(|text| text.ends_with("globex")));
    setup.collections.remove("globex", &name("city"), &Selection::All).await.unwrap();
    assert_eq!(texts(ACME).await, ["heat of acme"]);
}

#[tokio::test]
async fn limits_name_both_numbers() {
    let setup = Setup::sqlite().await;
    let settings = CollectionSettings { max_chunks: 1, ..CollectionSettings::default() };
    setup.collections.apply(settings, None);
    let items = vec![item("a", "heat"), item("b", "tree")];
    let refused = setup.collections.add(ACME, &name("city"), items).await.unwrap_err();
    assert_eq!(refused.code, Code::InvalidInput);
    assert!(refused.message.contains("2 chunks; 1 are allowed"), "{}", refused.message);
    let settings = CollectionSettings { max_bytes: 10, ..CollectionSettings::default() };
    setup.collections.apply(settings, None);
    let items = vec![item("a", "heat in the city")];
    let refused = setup.collections.add(ACME, &name("city"), items).await.unwrap_err();
    assert!(refused.message.contains("bytes; 10 are allowed"), "{}", refused.message);
}

#[tokio::test]
async fn items_that_cannot_be_stored_are_named() {
    let setup = Setup::sqlite().await;
    let long = "x".repeat(MAX_TEXT_CHARS + 1);
    let meta = json!({"k": "x".repeat(20_000)}).as_object().cloned();
    for (items, path) in [
        (vec![], "/items"),
        (vec![item("a", "x"); 501], "/items"),
        (vec![item("a", "heat"), item("b", " \n")], "/items/1/text"),
        (vec![item("a", &long)], "/items/0/text"),
        (vec![item("", "heat")], "/items/0/id"),
        (vec![Item { meta, ..item("a", "heat") }], "/items/0/meta"),
        (vec![Item { source: Some(long), ..item("a", "heat") }], "/items/0/source"),
    ] {
        let refused = setup.collections.add(ACME, &name("city"), items).await.unwrap_err();
        assert_eq!(refused.code, Code::InvalidInput);
        assert_eq!(refused.details.unwrap()["path"], path);
    }
    let text = "x".repeat(MAX_TEXT_CHARS);
    let same = vec![item("a", "heat"), item("a", &text)];
    assert_eq!(setup.add("city", same).await.total, 1, "the last of one id counts");
}

#[tokio::test]
async fn hybrid_search_finds_what_has_other_words() {
    let setup = Setup::sqlite().await;
    let folder = tempfile::tempdir().unwrap();
    setup.collections.set_embedder(Some(embedder(folder.path(), "one", 0.0)));
    let added = setup
        .add(
            "city",
            vec![item("a", "warmth"), item("b", "tree"), item("c", "snow"), item("d", "xyzzy")],
        )
        .await;
    assert_eq!(added.embedding.unwrap().dimensions, 2);
    assert_eq!(setup.found("heat", Mode::Words).await, [""; 0]);
    assert_eq!(setup.found("heat", Mode::Vectors).await, ["a", "b", "c"]);
    assert_eq!(setup.found("heat", Mode::Hybrid).await, ["a", "b", "c"]);
    assert_eq!(setup.found("heat snow", Mode::Hybrid).await[0], "c", "the word counts more");
    // The matrix in memory follows changes.
    setup.add("city", vec![item("e", "heat")]).await;
    assert_eq!(setup.found("heat", Mode::Vectors).await, ["e", "a", "b", "c"]);
    let gone = Selection::Ids(vec!["a".to_owned()]);
    setup.collections.remove(ACME, &name("city"), &gone).await.unwrap();
    setup.add("city", vec![item("b", "snow")]).await;
    assert_eq!(setup.found("heat", Mode::Vectors).await, ["e", "b", "c"]);

    let filter = Filter { source: Some("elsewhere".to_owned()), meta: None };
    let filtered = Search { filter, ..search("heat", &["city"], Mode::Vectors) };
    assert!(setup.collections.search(ACME, &filtered).await.unwrap().results.is_empty());
}

#[tokio::test]
async fn vectors_of_another_model_are_made_again_by_embed() {
    let setup = Setup::sqlite().await;
    let folder = tempfile::tempdir().unwrap();
    setup.add("city", vec![item("a", "warmth"), item("b", "xyzzy")]).await;
    let fault = setup.fault("heat", Mode::Vectors).await;
    assert_eq!(fault.code, Code::Unsupported);
    let found =
        setup.collections.search(ACME, &search("warmth", &["city"], Mode::Hybrid)).await.unwrap();
    assert_eq!((found.mode, found.results.len(), found.warnings.len()), (Mode::Words, 1, 1));
    assert!(found.warnings[0].contains("embeddings.path"), "{:?}", found.warnings);

    setup.collections.set_embedder(Some(embedder(folder.path(), "one", 0.0)));
    let fault = setup.fault("heat", Mode::Vectors).await;
    assert_eq!(fault.code, Code::Unsupported);
    assert!(fault.message.contains("powerstrip collections embed city"), "{}", fault.message);
    let embedded = setup.collections.embed(ACME, &name("city")).await.unwrap();
    assert_eq!((embedded.made, embedded.vectors, embedded.chunks), (1, 1, 2), "xyzzy is unknown");
    assert_eq!(setup.found("heat", Mode::Vectors).await, ["a"]);

    setup.collections.set_embedder(Some(embedder(folder.path(), "one", 1.0)));
    for mode in [Mode::Vectors, Mode::Hybrid] {
        let fault = setup.fault("heat", mode).await;
        assert_eq!(fault.code, Code::InvalidInput);
        assert!(fault.message.contains("powerstrip collections embed city"), "{}", fault.message);
    }
    let refused = setup.collections.add(ACME, &name("city"), vec![item("c", "tree")]).await;
    assert_eq!(refused.unwrap_err().code, Code::InvalidInput);
    assert_eq!(setup.found("warmth", Mode::Words).await, ["a"], "words need no model");
    setup.collections.embed(ACME, &name("city")).await.unwrap();
    assert_eq!(setup.found("heat", Mode::Hybrid).await, ["a"]);
}

#[tokio::test]
async fn matrices_stay_within_their_memory() {
    let setup = Setup::sqlite().await;
    let folder = tempfile::tempdir().unwrap();
    setup.collections.set_embedder(Some(embedder(folder.path(), "one", 0.0)));
    for name in ["city", "town"] {
        setup.add(name, (0..50).map(|n| item(&n.to_string(), "heat")).collect()).await;
    }
    // Two bytes, a scale and a number for each chunk.
    let settings = CollectionSettings { memory: 50 * 14 + 10, ..CollectionSettings::default() };
    setup.collections.apply(settings, None);
    for collection in ["city", "town", "city"] {
        let search = search("heat", &[collection], Mode::Vectors);
        let found = setup.collections.search(ACME, &search).await.unwrap();
        assert_eq!(found.results.len(), 50);
        assert_eq!(setup.collections.matrices.bytes(), 50 * 14, "one leaves for the other");
    }
    let settings = CollectionSettings { memory: 100, ..CollectionSettings::default() };
    setup.collections.apply(settings, None);
    setup.add("city", vec![item("x", "heat")]).await;
    assert_eq!(setup.found("heat", Mode::Vectors).await.len(), 51, "too large to stay, and found");
}

#[tokio::test]
async fn a_change_ends_recorded_answers_of_its_collection_only() {
    let setup = Setup::sqlite().await;
    let key = |name: &'static str| setup.collections.revision_key(Some([name].into_iter()));
    let all = || setup.collections.revision_key(None::<std::iter::Empty<&str>>);
    let before = (key("city"), key("town"), all());
    setup.add("city", vec![item("a", "heat")]).await;
    assert_ne!(key("city"), before.0);
    assert_eq!(key("town"), before.1);
    assert_ne!(all(), before.2);
    let folder = tempfile::tempdir().unwrap();
    setup.collections.set_embedder(Some(embedder(folder.path(), "one", 0.0)));
    assert_ne!(key("town"), before.1, "another model");
}

#[tokio::test]
async fn a_source_is_replaced_as_a_whole() {
    let setup = Setup::sqlite().await;
    let part = |n: usize| Item {
        source: Some("a.md".to_owned()),
        id: Some(format!("{n:04}")),
        text: format!("heat number {n}"),
        meta: None,
    };
    let replace = async |count: usize| {
        let items = (0..count).map(part).collect();
        setup.collections.replace_source(ACME, &name("city"), "a.md", items).await.unwrap()
    };
    assert_eq!(replace(1_200).await.total, 1_200);
    setup.add("city", vec![item("other", "heat")]).await;
    let fewer = replace(3).await;
    assert_eq!((fewer.added, fewer.replaced, fewer.total), (0, 3, 4));
    assert_eq!(replace(0).await.total, 1);
}

#[tokio::test]
async fn a_document_that_was_added_in_part_is_not_taken_for_complete() {
    let setup = Setup::sqlite().await;
    let at_most = |max_chunks| CollectionSettings { max_chunks, ..CollectionSettings::default() };
    let part = |n: usize| Item {
        source: Some("a.md".to_owned()),
        text: format!("heat number {n}"),
        meta: json!({"digest": "d1", "index": n}).as_object().cloned(),
        id: None,
    };
    let add = async || {
        let items = (0..1_100).map(part).collect();
        setup.collections.replace_source(ACME, &name("city"), "a.md", items).await
    };
    let digest = async || {
        let meta = setup.collections.meta_of_source(ACME, &name("city"), "a.md").await.unwrap();
        meta.unwrap().get(document::DIGEST).cloned()
    };
    setup.collections.apply(at_most(600), None);
    assert_eq!(add().await.unwrap_err().code, Code::InvalidInput);
    assert_eq!(digest().await, None, "chunks are missing");
    setup.collections.apply(at_most(2_000), None);
    let added = add().await.unwrap();
    assert_eq!((added.added + added.replaced, added.total), (1_100, 1_100));
    assert_eq!(digest().await, Some(json!("d1")));
}

/// The order that the ranking alone gives, without an engine.
fn expected(items: &[Item], query: &str) -> Vec<String> {
    let stems: Vec<_> = items.iter().map(|item| terms::of_chunk(&item.text)).collect();
    let languages: std::collections::BTreeSet<_> =
        stems.iter().map(|stems| stems.language).collect();
    let mut counts = std::collections::HashMap::new();
    for term in terms::of_query(query, languages.into_iter()) {
        let has = |stems: &&terms::ChunkStems| stems.terms.split(' ').any(|own| own == term);
        let df = stems.iter().filter(has).count() as u64;
        if df > 0 {
            counts.insert(term, df);
        }
    }
    let words = stems.iter().map(|stems| stems.length).sum();
    let query = QueryWords::new(Totals { chunks: items.len() as u64, words }, &counts);
    let mut ranked: Vec<_> = items
        .iter()
        .zip(&stems)
        .map(|(item, stems)| (rounded(query.fit(&stems.terms, stems.length)), item.id.clone()))
        .filter(|(score, _)| *score > 0.0)
        .collect();
    ranked.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    ranked.into_iter().filter_map(|(_, id)| id).take(MAX_LIMIT).collect()
}

fn corpus() -> impl Strategy<Value = (Vec<String>, Vec<String>)> {
    let word = prop::sample::select(vec![
        "heat",
        "heats",
        "island",
        "islands",
        "tree",
        "roof",
        "cooling",
        "Städte",
        "Stadt",
        "1e5",
        "x86",
        "0u00e9",
        "東京",
        "ночь",
        "हिन्दी",
        "café",
        "2024",
        "a",
        "the",
        "und",
        "OR",
        "\"",
        "*",
    ]);
    let text =
        |most| prop::collection::vec(word.clone(), 1..most).prop_map(|words| words.join(" "));
    (prop::collection::vec(text(14), 1..25), prop::collection::vec(text(6), 1..6))
}

/// Both engines give the order of the ranking, as long as fewer chunks match than each returns.
#[test]
fn engines_agree_on_the_order_of_random_corpora() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let (sqlite, postgres) =
        runtime.block_on(async { (Setup::sqlite().await, Setup::postgres().await) });
    let number = std::cell::Cell::new(0);
    let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig::with_cases(40));
    let result = runner.run(&corpus(), |(texts, queries)| {
        number.set(number.get() + 1);
        let collection = format!("c{}", number.get());
        let items: Vec<_> =
            texts.iter().enumerate().map(|(n, text)| item(&format!("{n:02}"), text)).collect();
        runtime.block_on(async {
            for setup in [Some(&sqlite), postgres.as_ref()].into_iter().flatten() {
                setup.add(&collection, items.clone()).await;
                for query in &queries {
                    let search = search(query, &[&collection], Mode::Words);
                    let found = setup.collections.search(ACME, &search).await.unwrap();
                    let ids: Vec<_> = found.results.into_iter().map(|hit| hit.id).collect();
                    prop_assert_eq!(ids, expected(&items, query), "{}", query);
                }
                setup.collections.remove(ACME, &name(&collection), &Selection::All).await.unwrap();
            }
            Ok::<(), TestCaseError>(())
        })
    });
    result.unwrap();
}

#[tokio::test]
async fn several_collections_are_ranked_together() {
    let setup = Setup::sqlite().await;
    setup.add("city", vec![item("a", "heat"), item("b", "heat tree")]).await;
    setup.add("town", vec![item("a", "heat")]).await;
    let found =
        setup.collections.search(ACME, &search("heat", &["town", "city"], Mode::Words)).await;
    let found = found.unwrap();
    let ranked: Vec<_> = found
        .results
        .iter()
        .map(|hit| (hit.rank, hit.collection.as_str(), hit.id.as_str()))
        .collect();
    assert_eq!(ranked, [(1, "city", "a"), (2, "town", "a"), (3, "city", "b")]);
    assert_eq!(found.revisions, BTreeMap::from([("city".to_owned(), 1), ("town".to_owned(), 1)]));
    let unknown = search("heat", &["city", "none"], Mode::Words);
    let missing = setup.collections.search(ACME, &unknown).await.unwrap_err();
    assert!(missing.code == Code::NotFound && missing.message.contains("`none`"));
}
