//! Collections: chunks, the counts of their terms, and the word index.

use serde_json::{Map, Value, json};
use store::{
    AddedChunks, ChunkFilter, ChunkRow, ChunkSelector, CollectionLimits, CollectionRow, Database,
    NewChunks, VectorModel,
};

use crate::support::{on_both_engines, principal};

const LIMITS: CollectionLimits =
    CollectionLimits { chunks: 1_000, bytes: 1_000_000, collections: 3 };

fn chunk(id: &str, terms: &str) -> ChunkRow {
    ChunkRow {
        id: id.to_owned(),
        text: format!("text of {id}"),
        terms: terms.to_owned(),
        length: terms.split(' ').count() as u64,
        meta: Map::new(),
        source: None,
        vector: None,
    }
}

fn new<'a>(tenant: &'a str, collection: &'a str, chunks: &'a [ChunkRow]) -> NewChunks<'a> {
    NewChunks {
        tenant,
        collection,
        chunks,
        replaced_source: None,
        languages: &["en"],
        model: None,
        limits: LIMITS,
        now_unix_ms: 5,
    }
}

async fn add(database: &Database, new: NewChunks<'_>) -> (u64, u64, CollectionRow) {
    match database.add_chunks(new).await.unwrap() {
        AddedChunks::Stored { added, replaced, collection } => (added, replaced, collection),
        other => panic!("{other:?}"),
    }
}

async fn found(database: &Database, row: &CollectionRow, terms: &[&str]) -> Vec<String> {
    filtered(database, row, terms, ChunkFilter::default()).await
}

async fn filtered(
    database: &Database,
    row: &CollectionRow,
    terms: &[&str],
    filter: ChunkFilter<'_>,
) -> Vec<String> {
    let terms: Vec<_> = terms.iter().map(|term| ((*term).to_owned(), 1)).collect();
    let seqs = database.chunks_with_terms(row.seq, &terms, filter, 200).await.unwrap();
    let mut ids: Vec<_> =
        database.chunk_contents(&seqs).await.unwrap().into_iter().map(|chunk| chunk.id).collect();
    ids.sort();
    ids
}

async fn df(database: &Database, row: &CollectionRow, term: &str) -> u64 {
    let counts = database.term_counts(row.seq, &[term.to_owned()]).await.unwrap();
    counts.get(term).copied().unwrap_or_default()
}

fn object(value: Value) -> Map<String, Value> {
    value.as_object().cloned().unwrap()
}

on_both_engines! {
    async fn chunks_are_added_replaced_and_removed_with_their_terms(test) {
        let database = test.open().await;
        let first = [chunk("a", "heat island heat"), chunk("b", "heat tree"), chunk("c", "0u6c34 1e5 123")];
        let (added, replaced, row) = add(&database, new("acme", "city", &first)).await;
        assert_eq!((added, replaced, row.chunks, row.words, row.revision), (3, 0, 3, 8, 1));
        assert_eq!(df(&database, &row, "heat").await, 2);
        assert_eq!(found(&database, &row, &["heat"]).await, ["a", "b"]);
        assert_eq!(found(&database, &row, &["0u6c34"]).await, ["c"]);
        assert_eq!(found(&database, &row, &["1e5"]).await, ["c"]);
        assert_eq!(found(&database, &row, &["123", "tree"]).await, ["b", "c"]);

        let second = [chunk("a", "cool roof")];
        let second = NewChunks { languages: &["de", "en"], ..new("acme", "city", &second) };
        let (added, replaced, row) = add(&database, second).await;
        assert_eq!((added, replaced, row.chunks, row.words, row.revision), (0, 1, 3, 7, 2));
        assert_eq!(row.languages, ["de", "en"]);
        assert_eq!((df(&database, &row, "heat").await, df(&database, &row, "island").await), (1, 0));
        assert_eq!(found(&database, &row, &["heat", "island"]).await, ["b"]);
        assert_eq!(found(&database, &row, &["roof"]).await, ["a"]);

        let ids = ["b".to_owned(), "unknown".to_owned()];
        let removed =
            database.remove_chunks("acme", "city", ChunkSelector::Ids(&ids), 6).await.unwrap().unwrap();
        assert_eq!((removed.deleted, removed.collection.chunks, removed.collection.revision), (1, 2, 3));
        assert_eq!(found(&database, &row, &["heat"]).await, [""; 0]);
        assert_eq!(df(&database, &row, "heat").await, 0);
        let again =
            database.remove_chunks("acme", "city", ChunkSelector::Ids(&ids), 6).await.unwrap().unwrap();
        assert_eq!((again.deleted, again.collection.revision), (0, 3), "nothing changed");

        let all = database.remove_chunks("acme", "city", ChunkSelector::All, 7).await.unwrap().unwrap();
        assert_eq!((all.deleted, all.collection.chunks), (2, 0));
        assert_eq!(database.collection("acme", "city").await.unwrap(), None);
        assert_eq!(database.remove_chunks("acme", "city", ChunkSelector::All, 8).await.unwrap(), None);
        for table in [
            "SELECT count(*) FROM collection_chunks",
            "SELECT count(*) FROM collection_terms",
            test.pick("SELECT count(*) FROM collection_words", "SELECT 0::bigint"),
        ] {
            assert_eq!(test.number(table).await, 0, "{table}");
        }
    }

    async fn a_collection_belongs_to_its_tenant(test) {
        let database = test.open().await;
        let (_, _, ours) = add(&database, new("acme", "city", &[chunk("a", "heat")])).await;
        let (_, _, theirs) = add(&database, new("globex", "city", &[chunk("b", "heat")])).await;
        assert_eq!(found(&database, &ours, &["heat"]).await, ["a"]);
        assert_eq!(found(&database, &theirs, &["heat"]).await, ["b"]);
        assert_eq!(database.collections("acme").await.unwrap().rows, std::slice::from_ref(&ours));
        assert_eq!(database.collection("initech", "city").await.unwrap(), None);
        database.remove_chunks("globex", "city", ChunkSelector::All, 6).await.unwrap();
        assert_eq!(database.collection("acme", "city").await.unwrap(), Some(ours));
    }

    async fn filters_compare_the_source_and_whole_values(test) {
        let database = test.open().await;
        let with = |id: &str, source: Option<&str>, meta: Value| ChunkRow {
            source: source.map(str::to_owned),
            meta: object(meta),
            ..chunk(id, "heat")
        };
        let chunks = [
            with("a", Some("https://a.example/"), json!({"year": 2024, "tag": "x"})),
            with("b", Some("https://a.example/"), json!({"year": "2024"})),
            with("c", None, json!({"year": 20_245, "in": {"year": 2024}})),
        ];
        let (_, _, row) = add(&database, new("acme", "city", &chunks)).await;
        let source = ChunkFilter { source: Some("https://a.example/"), meta: None };
        assert_eq!(filtered(&database, &row, &["heat"], source).await, ["a", "b"]);
        let meta = object(json!({"year": 2024}));
        let meta = ChunkFilter { source: None, meta: Some(&meta) };
        assert_eq!(filtered(&database, &row, &["heat"], meta).await, ["a"]);
        let both = object(json!({"year": "2024", "tag": "x"}));
        let both = ChunkFilter { source: None, meta: Some(&both) };
        assert_eq!(filtered(&database, &row, &["heat"], both).await, [""; 0]);
        assert_eq!(database.filtered_chunks(row.seq, source).await.unwrap().len(), 2);
        let source = "https://a.example/";
        let newer = [with("a", Some(source), json!({})), with("d", Some(source), json!({}))];
        let newer = NewChunks { replaced_source: Some(source), ..new("acme", "city", &newer) };
        let (added, replaced, row) = add(&database, newer).await;
        assert_eq!((added, replaced, row.chunks), (1, 1, 3), "b is gone");
        assert_eq!(df(&database, &row, "heat").await, 3);
        assert_eq!(found(&database, &row, &["heat"]).await, ["a", "c", "d"]);
        assert_eq!(database.meta_of_source(row.seq, source).await.unwrap(), Some(Map::new()));
        let removed = database.remove_chunks("acme", "city", ChunkSelector::Source(source), 6).await;
        assert_eq!(removed.unwrap().unwrap().deleted, 2);
    }

    async fn limits_count_what_would_be_stored(test) {
        let database = test.open().await;
        let chunks: Vec<_> = (0..4).map(|n| chunk(&n.to_string(), "heat")).collect();
        let limits = CollectionLimits { chunks: 5, ..LIMITS };
        add(&database, NewChunks { limits, ..new("acme", "a", &chunks) }).await;
        let other = NewChunks { limits, ..new("acme", "b", &chunks) };
        assert_eq!(database.add_chunks(other).await.unwrap(), AddedChunks::TooManyChunks(8));
        assert_eq!(database.collection("acme", "b").await.unwrap(), None, "all or none");
        let (added, replaced, row) = add(&database, NewChunks { limits, ..new("acme", "a", &chunks) }).await;
        assert_eq!((added, replaced), (0, 4), "replacing takes no room");
        let limits = CollectionLimits { bytes: row.bytes, ..LIMITS };
        let more = [chunk("5", "heat")];
        let more = database.add_chunks(NewChunks { limits, ..new("acme", "a", &more) }).await.unwrap();
        assert!(matches!(more, AddedChunks::TooManyBytes(bytes) if bytes > row.bytes), "{more:?}");
        for name in ["b", "c", "run_0123"] {
            add(&database, new("acme", name, &chunks[..1])).await;
        }
        let fourth = database.add_chunks(new("acme", "d", &chunks)).await.unwrap();
        assert_eq!(fourth, AddedChunks::TooManyCollections(4));
        let names = database.collections("acme").await.unwrap().rows.into_iter().map(|row| row.name);
        assert_eq!(names.collect::<Vec<_>>(), ["a", "b", "c"], "not that of the run");
    }

    async fn vectors_follow_the_model_of_their_collection(test) {
        let database = test.open().await;
        let (one, two) = (model("one"), model("two"));
        let vector = Some(vec![0, 0, 128, 63, 0, 0, 0, 0]);
        let chunks = [ChunkRow { vector, ..chunk("a", "heat") }, chunk("b", "tree")];
        let (_, _, row) = add(&database, NewChunks { model: Some(&one), ..new("acme", "city", &chunks) }).await;
        assert_eq!((row.vectors, row.model.as_ref()), (1, Some(&one)));
        let refused = database.add_chunks(new("acme", "city", &chunks)).await.unwrap();
        assert_eq!(refused, AddedChunks::OtherModel(Some(one.clone())));
        let stored = database.chunk_vectors(row.seq, 0, 10).await.unwrap();
        assert_eq!(stored.len(), 1);
        let terms = database.chunk_terms(&[stored[0].0], true).await.unwrap();
        assert_eq!((terms[0].id.as_str(), terms[0].vector.as_ref()), ("a", Some(&stored[0].1)));

        assert!(database.set_vector_model("acme", "city", &two, 6).await.unwrap());
        assert!(!database.set_vector_model("globex", "city", &two, 6).await.unwrap());
        let bare = database.chunks_without_vector(row.seq, 0, 10).await.unwrap();
        assert_eq!(bare.len(), 2);
        let vectors: Vec<_> = bare.iter().map(|(seq, _)| (*seq, vec![0; 8])).collect();
        assert!(!database.set_vectors("acme", "city", &one, &vectors, 7).await.unwrap(), "another model");
        assert!(database.set_vectors("acme", "city", &two, &vectors, 7).await.unwrap());
        let now = database.collection("acme", "city").await.unwrap().unwrap();
        assert_eq!((now.vectors, now.bytes, now.revision, now.removed), (2, row.bytes + 8, 3, 3));
        let ids = ["a".to_owned(), "b".to_owned()];
        let removed = database.remove_chunks("acme", "city", ChunkSelector::Ids(&ids), 8).await;
        assert_eq!(removed.unwrap().unwrap().collection.bytes, 0);
    }

    async fn the_collection_of_a_run_is_deleted_with_the_run(test) {
        let database = test.open().await;
        let run = |id: &str, touched| store::RunRow {
            id: id.to_owned(),
            tenant: "acme".to_owned(),
            subject: principal("ann", None).subject,
            agent: None,
            kind: "workflow".to_owned(),
            name: None,
            state: "completed".to_owned(),
            summary: None,
            artifacts: Vec::new(),
            data_tools: 0,
            created_unix_ms: 1,
            touched_unix_ms: touched,
        };
        database.save_runs(&[run("run_1", 3), run("run_2", 9)], &[]).await.unwrap();
        for name in ["run_1", "run_2", "city"] {
            add(&database, new("acme", name, &[chunk("a", "heat")])).await;
        }
        add(&database, new("globex", "run_1", &[chunk("a", "heat")])).await;
        assert_eq!(database.forget_runs(5).await.unwrap(), 1);
        assert_eq!(database.collection("acme", "run_1").await.unwrap(), None);
        for (tenant, name) in [("acme", "run_2"), ("acme", "city"), ("globex", "run_1")] {
            assert!(database.collection(tenant, name).await.unwrap().is_some(), "{tenant} {name}");
        }
    }

    async fn no_more_candidates_than_the_limit_and_the_heaviest_terms_first(test) {
        let database = test.open().await;
        let mut chunks: Vec<_> = (0..300).map(|n| chunk(&format!("{n:03}"), "heat wave")).collect();
        chunks[299].terms = "heat rare".to_owned();
        let (_, _, row) = add(&database, new("acme", "city", &chunks)).await;
        let terms = [("rare".to_owned(), 5_000), ("heat".to_owned(), 1)];
        let seqs = database.chunks_with_terms(row.seq, &terms, ChunkFilter::default(), 10).await.unwrap();
        assert_eq!(seqs.len(), 10);
        assert_eq!(database.chunk_contents(&seqs[..1]).await.unwrap()[0].id, "299");
    }
}

fn model(name: &str) -> VectorModel {
    VectorModel { name: name.to_owned(), dimensions: 2 }
}
