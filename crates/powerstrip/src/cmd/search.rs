use std::process::ExitCode;

use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use remote::{Invocation, parse_url};
use serde_json::{Map, Value, json};
use terminal::Style;
use url::Url;

use super::call::{Target, invoke, print_problems};
use crate::context::Context;
use crate::exit::FAILED;

const EXAMPLES: &str = "\
Examples:
  powerstrip search rust async runtimes
  powerstrip search \"heat pumps\" --news --time week
  powerstrip search \"attention is all you need\" --academic
  powerstrip search borrow checker --site doc.rust-lang.org -n 10 --json

Without a key, DuckDuckGo is asked. The key of another provider, such as `BRAVE_API_KEY`, or `SEARXNG_URL` gives better
results; `research.search` in powerstrip.yaml sets their order. Read a result with `powerstrip scrape URL`.";

/// Search the web and print the results
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct SearchCommand {
    /// What to search for.
    #[arg(required = true, value_parser = NonEmptyStringValueParser::new())]
    query: Vec<String>,
    /// Search news instead of the web.
    #[arg(long, conflicts_with = "academic")]
    news: bool,
    /// Search scientific publications instead of the web.
    #[arg(long)]
    academic: bool,
    /// How many results, 1 to 10.
    #[arg(long, short = 'n', value_name = "COUNT", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=10))]
    count: u32,
    /// Only pages of this domain.
    #[arg(long, value_name = "DOMAIN", conflicts_with = "academic")]
    site: Option<String>,
    /// Only pages of the last `day`, `week`, `month` or `year`.
    #[arg(long, value_name = "RANGE", conflicts_with = "academic", value_parser = ["day", "week", "month", "year"])]
    time: Option<String>,
    /// Only pages in this language, such as `de`.
    #[arg(long, value_name = "CODE", conflicts_with_all = ["news", "academic"])]
    language: Option<String>,
    /// Only pages of this country, such as `CH`.
    #[arg(long, value_name = "CODE", conflicts_with_all = ["news", "academic"])]
    country: Option<String>,
    /// Only the domains of this lens.
    #[arg(long, value_name = "NAME", conflicts_with_all = ["news", "academic"])]
    lens: Option<String>,
    /// Search through the gateway at this URL.
    #[arg(long, value_name = "URL", value_parser = parse_url)]
    url: Option<Url>,
}

impl SearchCommand {
    pub(crate) async fn run(self, context: &Context) -> anyhow::Result<ExitCode> {
        let loaded = context.load()?;
        let (tool, input) = self.call();
        let invocation = Invocation::of(format!("web-research:{tool}"), input);
        let target = Target { url: self.url.as_ref(), agent: None };
        let envelope = invoke(context, &loaded, &invocation, target).await?;
        if context.global.json {
            terminal::json(&envelope)?;
        } else {
            print_problems(&envelope, context);
            terminal::research::warnings(&envelope.data, Style::stderr(&context.environment));
            terminal::research::results(&envelope.data, Style::stdout(&context.environment))?;
        }
        Ok(if envelope.ok { ExitCode::SUCCESS } else { FAILED })
    }

    fn call(&self) -> (&'static str, Value) {
        let mut input = Map::new();
        input.insert("query".to_owned(), self.query.join(" ").into());
        input.insert("num_results".to_owned(), json!(self.count));
        let (tool, options) = if self.news {
            ("news_search", vec![("freshness", &self.time), ("news_source", &self.site)])
        } else if self.academic {
            ("academic_search", Vec::new())
        } else {
            let options = vec![
                ("time_range", &self.time),
                ("site", &self.site),
                ("language", &self.language),
                ("country", &self.country),
                ("lens", &self.lens),
            ];
            ("web_search", options)
        };
        for (name, value) in options {
            if let Some(value) = value {
                input.insert(name.to_owned(), value.clone().into());
            }
        }
        (tool, Value::Object(input))
    }
}
