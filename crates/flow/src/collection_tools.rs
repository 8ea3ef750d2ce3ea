//! The tools `vector.index.*` and `vector.query.search`.

use std::sync::Arc;

use async_trait::async_trait;
use proto::{Code, Descriptor, Failure, canonical};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use strip::typed::{About, TypedOutput, TypedTool, typed};
use strip::{EmptyTexts, Job, Output, Part, Tool};
use uuid::Uuid;

use crate::load::{Loader, Origin};
use crate::search_tool::LIMITS;
use corpus::document::{self, DocumentFacts};
use corpus::{
    Added, CollectionList, CollectionName, Collections, Filter, Item, MAX_LIMIT, MAX_QUERY_CHARS,
    MAX_SOURCE_BYTES, Mode, Removed, Search, SearchResults, Selection,
};

const MAX_SEARCHED: usize = 8;
const MAX_FILTER_KEYS: usize = 8;
const MAX_IDS: usize = 500;

/// The tools.
pub fn tools(collections: &Arc<Collections>, loader: &Loader) -> Vec<Arc<dyn Tool>> {
    let collections = || Arc::clone(collections);
    vec![
        typed(AddToCollection { collections: collections(), loader: loader.clone() }),
        Arc::new(StoredTool::deleting(typed(DeleteFromCollection { collections: collections() }))),
        Arc::new(StoredTool::reading(
            typed(ListCollections { collections: collections() }),
            collections(),
        )),
        Arc::new(StoredTool::reading(
            typed(SearchCollections { collections: collections() }),
            collections(),
        )),
    ]
}

fn about(id: &'static str, title: &'static str, description: &'static str) -> About {
    About { limits: LIMITS, ..About::reader(id, title, description) }
}

fn tenant(job: &Job) -> &str {
    job.request().principal.tenant.as_str()
}

fn invalid(path: &str, message: impl std::fmt::Display) -> Failure {
    let place = if path.is_empty() { String::new() } else { format!("{path}: ") };
    Failure::new(Code::InvalidInput, format!("{place}{message}")).details(json!({"path": path}))
}

/// Adds texts to a collection.
pub struct AddToCollection {
    pub collections: Arc<Collections>,
    pub loader: Loader,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AddInput {
    /// Created if it does not exist: 1 to 64 of a-z, 0-9, `_` and `-`.
    #[schemars(length(min = 1, max = 64))]
    pub collection: String,
    #[schemars(length(min = 1, max = 500))]
    pub items: Option<Vec<Item>>,
    /// Adds a page or file, instead of what the collection had of it before.
    #[serde(default)]
    #[schemars(with = "LoadInput")]
    pub load: Option<LoadInput>,
}

/// A document: one of both.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LoadInput {
    #[schemars(length(min = 1, max = 2000))]
    pub url: Option<String>,
    #[schemars(length(min = 1, max = 200))]
    pub file_id: Option<String>,
}

#[async_trait]
impl TypedTool for AddToCollection {
    type Input = AddInput;
    type Output = Added;

    fn about(&self) -> About {
        let description =
            "Adds texts, a page or a file to a collection that `vector.query.search` searches.";
        let about = about("vector.index.add", "Add to a collection", description);
        About { read_only: false, idempotent: true, open_world: true, ..about }
    }

    async fn run(&self, input: AddInput, job: &Job) -> Result<TypedOutput<Added>, Failure> {
        let name: CollectionName = input.collection.parse()?;
        name.check_writable(job.run.id())?;
        let added = match (input.items, input.load) {
            (Some(items), None) => self.collections.add(tenant(job), &name, items).await?,
            (None, Some(load)) => self.load(&name, load, job).await?,
            (None, None) => return Err(invalid("/items", "give `items` or `load`")),
            (Some(_), Some(_)) => {
                return Err(invalid("/load", "`items` is given as well; give one"));
            }
        };
        Ok(added.into())
    }
}

impl AddToCollection {
    async fn load(
        &self,
        name: &CollectionName,
        load: LoadInput,
        job: &Job,
    ) -> Result<Added, Failure> {
        let (source, origin) = match (load.url, load.file_id) {
            // In the collection of a run, URLs come from a search.
            (Some(url), None) if name.is_of_run() => (url.clone(), Origin::Found(url)),
            (Some(url), None) => (url.clone(), Origin::Url(url)),
            (None, Some(id)) => (id.clone(), Origin::File(id)),
            (None, None) => return Err(invalid("/load", "give `url` or `file_id`")),
            (Some(_), Some(_)) => {
                return Err(invalid("/load/file_id", "`url` is given as well; give one"));
            }
        };
        if source.len() > MAX_SOURCE_BYTES {
            let message = format!("it has {} bytes; {MAX_SOURCE_BYTES} are allowed", source.len());
            return Err(invalid("/load/url", message));
        }
        let loaded = self.loader.load(origin, job).await?;
        let warnings = loaded.warnings;
        let facts = DocumentFacts {
            title: loaded.source.title,
            author: loaded.source.author,
            site: loaded.site,
            published_at: loaded.source.published_at,
            url: loaded.source.url,
            language: loaded.source.language,
        };
        let items = document::items(&source, &loaded.text, &facts, None);
        if items.is_empty() {
            return Err(Failure::new(Code::InvalidInput, format!("`{source}` has no text")));
        }
        let mut added = self.collections.replace_source(tenant(job), name, &source, items).await?;
        added.warnings.splice(..0, warnings);
        Ok(added)
    }
}

/// Deletes texts of a collection.
pub struct DeleteFromCollection {
    pub collections: Arc<Collections>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DeleteInput {
    #[schemars(length(min = 1, max = 64))]
    pub collection: String,
    #[schemars(length(min = 1, max = 500))]
    pub ids: Option<Vec<String>>,
    /// Deletes all that comes from here.
    #[schemars(length(min = 1, max = 2000))]
    pub source: Option<String>,
    /// Deletes the whole collection.
    #[serde(default)]
    pub all: bool,
}

#[async_trait]
impl TypedTool for DeleteFromCollection {
    type Input = DeleteInput;
    type Output = Removed;

    fn about(&self) -> About {
        let description =
            "Deletes texts of a collection by `ids` or `source`, or the collection (`all`).";
        let about = about("vector.index.delete", "Delete from a collection", description);
        About { read_only: false, idempotent: true, ..about }
    }

    async fn run(&self, input: DeleteInput, job: &Job) -> Result<TypedOutput<Removed>, Failure> {
        let name: CollectionName = input.collection.parse()?;
        name.check_writable(job.run.id())?;
        let selection = match (input.ids, input.source, input.all) {
            (Some(ids), None, false) if ids.len() <= MAX_IDS => Selection::Ids(ids),
            (Some(ids), None, false) => {
                let message = format!("{} ids; {MAX_IDS} are allowed", ids.len());
                return Err(invalid("/ids", message));
            }
            (None, Some(source), false) => Selection::Source(source),
            (None, None, true) => Selection::All,
            (None, None, false) => {
                return Err(invalid("", "name what to delete: `ids`, `source` or `all`"));
            }
            _ => return Err(invalid("", "name only one of `ids`, `source` and `all`")),
        };
        Ok(self.collections.remove(tenant(job), &name, &selection).await?.into())
    }
}

/// Lists collections.
pub struct ListCollections {
    pub collections: Arc<Collections>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListInput {}

#[async_trait]
impl TypedTool for ListCollections {
    type Input = ListInput;
    type Output = CollectionList;

    fn about(&self) -> About {
        let description = "Lists the collections that `vector.query.search` can search.";
        about("vector.index.list", "List collections", description).deterministic()
    }

    async fn run(&self, _: ListInput, job: &Job) -> Result<TypedOutput<CollectionList>, Failure> {
        Ok(self.collections.list(tenant(job)).await?.into())
    }
}

/// Searches collections.
pub struct SearchCollections {
    pub collections: Arc<Collections>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SearchInput {
    #[schemars(length(min = 1, max = 2000))]
    pub query: String,
    #[schemars(length(min = 1, max = 8))]
    pub collections: Vec<String>,
    #[serde(default = "default_limit")]
    #[schemars(range(min = 1, max = 100))]
    pub limit: usize,
    #[serde(default)]
    #[schemars(with = "Filter")]
    pub filter: Option<Filter>,
    #[serde(default)]
    pub mode: Mode,
}

fn default_limit() -> usize {
    10
}

#[async_trait]
impl TypedTool for SearchCollections {
    type Input = SearchInput;
    type Output = SearchResults;

    fn about(&self) -> About {
        let description =
            "Finds texts in collections by words and, with a model for vectors, by meaning.";
        about("vector.query.search", "Search collections", description).deterministic()
    }

    async fn run(
        &self,
        input: SearchInput,
        job: &Job,
    ) -> Result<TypedOutput<SearchResults>, Failure> {
        let chars = input.query.chars().take(MAX_QUERY_CHARS + 1).count();
        if input.query.trim().is_empty() || chars > MAX_QUERY_CHARS {
            return Err(invalid(
                "/query",
                format!("a query has 1 to {MAX_QUERY_CHARS} characters"),
            ));
        }
        if !(1..=MAX_SEARCHED).contains(&input.collections.len()) {
            return Err(invalid("/collections", format!("name 1 to {MAX_SEARCHED} collections")));
        }
        if !(1..=MAX_LIMIT).contains(&input.limit) {
            return Err(invalid("/limit", format!("it is 1 to {MAX_LIMIT}")));
        }
        let filter = input.filter.unwrap_or_default();
        if filter.meta.as_ref().is_some_and(|meta| meta.len() > MAX_FILTER_KEYS) {
            return Err(invalid("/filter/meta", format!("it has at most {MAX_FILTER_KEYS} keys")));
        }
        let mut collections = Vec::with_capacity(input.collections.len());
        for name in &input.collections {
            let name: CollectionName = name.parse()?;
            name.check_readable(job.run.id())?;
            collections.push(name);
        }
        let search = Search {
            query: input.query,
            collections,
            limit: input.limit,
            filter,
            mode: input.mode,
        };
        Ok(self.collections.search(tenant(job), &search).await?.into())
    }
}

/// A tool whose answers depend on what is stored.
struct StoredTool {
    descriptor: Descriptor,
    tool: Arc<dyn Tool>,
    /// Set for tools that read: their recorded answers end with the next change.
    read: Option<Arc<Collections>>,
}

/// A tool that reads the collections that its input names: its recorded answers end with their next change.
pub(crate) fn reading(tool: Arc<dyn Tool>, collections: &Arc<Collections>) -> Arc<dyn Tool> {
    Arc::new(StoredTool::reading(tool, Arc::clone(collections)))
}

impl StoredTool {
    fn reading(tool: Arc<dyn Tool>, collections: Arc<Collections>) -> Self {
        Self { descriptor: tool.descriptor().clone(), tool, read: Some(collections) }
    }

    fn deleting(tool: Arc<dyn Tool>) -> Self {
        let mut descriptor = tool.descriptor().clone();
        descriptor.annotations.destructive_hint = Some(true);
        Self { descriptor, tool, read: None }
    }
}

#[async_trait]
impl Tool for StoredTool {
    fn descriptor(&self) -> &Descriptor {
        &self.descriptor
    }

    fn part(&self) -> Part {
        self.tool.part()
    }

    fn cache_key(&self, input: &Value) -> Result<Option<String>, Failure> {
        let Some(collections) = &self.read else { return Ok(None) };
        let names = input.get("collections").and_then(Value::as_array);
        let of_run = |name: &Value| {
            let name = name.as_str().and_then(|name| name.parse::<CollectionName>().ok());
            name.is_some_and(|name| name.check_readable(None).is_err())
        };
        if names.is_some_and(|names| names.iter().any(of_run)) {
            // Only its run reads it: no other call may find the answer.
            return Ok(Some(Uuid::new_v4().to_string()));
        }
        let revisions = match names {
            Some(names) => collections.revision_key(Some(names.iter().filter_map(Value::as_str))),
            None => collections.revision_key(None::<std::iter::Empty<&str>>),
        };
        let input = String::from_utf8_lossy(&canonical::bytes(input)).into_owned();
        Ok(Some(format!("{revisions} {input}")))
    }

    fn empty_texts(&self) -> EmptyTexts {
        self.tool.empty_texts()
    }

    /// A hundred long texts may be more than an answer can have.
    fn stores_excess(&self) -> bool {
        self.read.is_some()
    }

    async fn run(&self, job: &Job) -> Result<Output, Failure> {
        self.tool.run(job).await
    }
}
