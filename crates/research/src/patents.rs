//! `patent_search`: a web search over Google Patents.

mod number;
mod page;
mod query;

use std::collections::HashSet;
use std::time::Duration;

use proto::Failure;
use search::providers::{Kind, Query};
use serde_json::json;

use crate::cache;
use crate::input::{check_count, check_query, check_years, invalid};
use crate::research::{Call, INCOMPLETE_TTL, Research};
use crate::tools::{Patent, PatentOffice, PatentSearch, PatentSearchOutput, PatentSearchType};
use page::FoundPatent;

const TTL: Duration = Duration::from_secs(24 * 3_600);

const SITE: &str = "patents.google.com";

/// Results are filtered by office, year and family afterwards.
const OVERFETCH: usize = 20;

impl Research {
    /// Searches patents.
    pub async fn patent_search(
        &self,
        input: PatentSearch,
        call: &Call<'_>,
    ) -> Result<PatentSearchOutput, Failure> {
        check_query(&input.query)?;
        let count = check_count(input.num_results)?;
        check_years(input.year_from, input.year_to)?;
        let names = [
            ("assignee", &input.assignee, 200),
            ("inventor", &input.inventor, 200),
            ("cpc_code", &input.cpc_code, 30),
        ];
        for (field, value, max) in names {
            let length = value.as_ref().map_or(1, |value| value.trim().chars().count());
            if !(1..=max).contains(&length) {
                return Err(invalid(field, format!("must have 1 to {max} characters")));
            }
        }
        let query = Query {
            text: query::text(&input),
            count: OVERFETCH,
            sites: vec![SITE.to_owned()],
            ..Query::default()
        };
        let key =
            cache::key("patent", None, &json!({"input": input, "route": self.router().route()}));
        let searching = self.cached_with_ttl(key, |research| async move {
            research.find_patents(query, count, input).await
        });
        call.run(searching).await
    }

    /// The patents, and for how long they are kept.
    async fn find_patents(
        self,
        query: Query,
        count: usize,
        input: PatentSearch,
    ) -> Result<(PatentSearchOutput, Duration), Failure> {
        let now = self.parts().clock.unix_ms();
        let found = self.router().search(Kind::Web, &query).await?;
        let mut warnings = found.warnings;
        let ttl = if found.incomplete { INCOMPLETE_TTL } else { TTL };
        let patents = found.hits.into_iter().filter_map(|hit| page::read(hit, now));
        let mut numbers = HashSet::new();
        let mut patents: Vec<FoundPatent> = patents
            .filter(|found| is_of_office(&found.patent, input.patent_office))
            .filter(|found| numbers.insert(found.patent.number.clone()))
            .filter(|found| is_of_years(found, &input))
            .collect();
        if input.search_type == PatentSearchType::Landscape {
            patents.sort_by_key(|found| std::cmp::Reverse(found.date));
            let (all, mut families) = (patents.len(), HashSet::new());
            patents.retain(|found| families.insert(found.family.clone()));
            let same = all - patents.len();
            if same > 0 {
                let what = if same == 1 { "patent was" } else { "patents were" };
                warnings.push(format!(
                    "{same} {what} left out: results of the same family, by title or number, are listed once."
                ));
            }
        }
        patents.truncate(count);
        let years = input.year_from.is_some() || input.year_to.is_some();
        if years && patents.iter().any(|found| found.year().is_none()) {
            warnings.push(
                "The year of some patents is not known, so that it could not be checked."
                    .to_owned(),
            );
        }
        let found = PatentSearchOutput {
            query: input.query,
            search_type: input.search_type,
            result_count: patents.len(),
            patents: patents.into_iter().map(|found| found.patent).collect(),
            warnings,
        };
        Ok((found, ttl))
    }
}

/// Numbers begin with the code of their office.
fn is_of_office(patent: &Patent, office: PatentOffice) -> bool {
    let prefix = match office {
        PatentOffice::All => "",
        PatentOffice::Us => "US",
        PatentOffice::Ep => "EP",
        PatentOffice::Wo => "WO",
        PatentOffice::Jp => "JP",
        PatentOffice::Cn => "CN",
        PatentOffice::Kr => "KR",
    };
    patent.number.starts_with(prefix)
}

/// A patent whose year is not known is kept.
fn is_of_years(found: &FoundPatent, input: &PatentSearch) -> bool {
    found.year().is_none_or(|year| {
        input.year_from.is_none_or(|from| year >= from) && input.year_to.is_none_or(|to| year <= to)
    })
}
