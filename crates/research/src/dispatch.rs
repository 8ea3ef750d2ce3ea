//! Calls a tool by its name with JSON, for adapters.

use futures_util::future::BoxFuture;
use proto::{Code, Failure};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::research::{Call, Research};

impl Research {
    /// Calls the tool of this name. The input is checked as its schema says.
    ///
    /// Boxed, so that the tools are compiled in this crate and not in each adapter.
    pub fn call<'a>(
        &'a self,
        tool: &'a str,
        input: Value,
        call: &'a Call<'_>,
    ) -> BoxFuture<'a, Result<Value, Failure>> {
        Box::pin(self.dispatch(tool, input, call))
    }

    async fn dispatch(&self, tool: &str, input: Value, call: &Call<'_>) -> Result<Value, Failure> {
        match tool {
            "web_search" => to_json(self.web_search(from_json(input)?, call).await?),
            "scrape_page" => to_json(self.scrape_page(from_json(input)?, call).await?),
            "search_and_scrape" => to_json(self.search_and_scrape(from_json(input)?, call).await?),
            "image_search" => to_json(self.image_search(from_json(input)?, call).await?),
            "news_search" => to_json(self.news_search(from_json(input)?, call).await?),
            "academic_search" => to_json(self.academic_search(from_json(input)?, call).await?),
            "patent_search" => to_json(self.patent_search(from_json(input)?, call).await?),
            "sequential_search" => to_json(self.sequential_search(from_json(input)?, call).await?),
            _ => Err(Failure::new(
                Code::NotFound,
                format!("There is no web research tool `{tool}`."),
            )),
        }
    }
}

fn from_json<T: DeserializeOwned>(input: Value) -> Result<T, Failure> {
    serde_json::from_value(input).map_err(|error| {
        Failure::new(Code::InvalidInput, format!("The input does not fit the tool: {error}"))
    })
}

fn to_json(output: impl Serialize) -> Result<Value, Failure> {
    serde_json::to_value(output)
        .map_err(|error| Failure::new(Code::Internal, "The output is not JSON.").caused_by(error))
}
