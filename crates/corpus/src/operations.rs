//! Operations on collections for the operator of a gateway.

use std::sync::Arc;

use ::operations::{Caller, NoInput, Operation, OperationError, Table};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    CollectionList, CollectionName, Collections, Embedded, Filter, Mode, Removed, Search,
    SearchResults, Selection,
};

/// The operations that need nothing but the database.
pub fn table(collections: &Arc<Collections>) -> Table {
    Table::default()
        .with::<ListCollections>(collections)
        .with::<SearchCollection>(collections)
        .with::<EmbedCollection>(collections)
        .with::<RemoveCollection>(collections)
}

/// A collection.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CollectionInput {
    pub name: String,
}

/// What to search for.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SearchQuery {
    pub name: String,
    pub query: String,
    pub limit: usize,
    pub mode: Mode,
}

pub struct ListCollections;

impl Operation for ListCollections {
    const NAME: &'static str = "powerstrip.collections.list";
    const SUMMARY: &'static str = "List the collections of text";
    type Service = Collections;
    type Input = NoInput;
    type Output = CollectionList;

    async fn run(
        collections: Arc<Collections>,
        caller: Caller,
        _: NoInput,
    ) -> Result<CollectionList, OperationError> {
        Ok(collections.list(caller.principal.tenant.as_str()).await?)
    }
}

pub struct SearchCollection;

impl Operation for SearchCollection {
    const NAME: &'static str = "powerstrip.collections.search";
    const SUMMARY: &'static str = "Search a collection";
    type Service = Collections;
    type Input = SearchQuery;
    type Output = SearchResults;

    async fn run(
        collections: Arc<Collections>,
        caller: Caller,
        SearchQuery { name, query, limit, mode }: SearchQuery,
    ) -> Result<SearchResults, OperationError> {
        let name: CollectionName = name.parse()?;
        let search =
            Search { query, collections: vec![name], limit, filter: Filter::default(), mode };
        Ok(collections.search(caller.principal.tenant.as_str(), &search).await?)
    }
}

pub struct EmbedCollection;

impl Operation for EmbedCollection {
    const NAME: &'static str = "powerstrip.collections.embed";
    const SUMMARY: &'static str = "Make the vectors of a collection with the configured model";
    type Service = Collections;
    type Input = CollectionInput;
    type Output = Embedded;

    async fn run(
        collections: Arc<Collections>,
        caller: Caller,
        CollectionInput { name }: CollectionInput,
    ) -> Result<Embedded, OperationError> {
        Ok(collections.embed(caller.principal.tenant.as_str(), &name.parse()?).await?)
    }
}

pub struct RemoveCollection;

impl Operation for RemoveCollection {
    const NAME: &'static str = "powerstrip.collections.remove";
    const SUMMARY: &'static str = "Delete a collection";
    type Service = Collections;
    type Input = CollectionInput;
    type Output = Removed;

    async fn run(
        collections: Arc<Collections>,
        caller: Caller,
        CollectionInput { name }: CollectionInput,
    ) -> Result<Removed, OperationError> {
        let tenant = caller.principal.tenant.as_str();
        Ok(collections.remove(tenant, &name.parse()?, &Selection::All).await?)
    }
}
