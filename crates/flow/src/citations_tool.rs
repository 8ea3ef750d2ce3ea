//! `citations.audit.check`.

use std::collections::BTreeMap;
use std::time::Duration;

use async_trait::async_trait;
use proto::{Code, Failure};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use strip::typed::{About, TypedOutput, TypedTool};
use strip::{Job, run_blocking};
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout_at};

use crate::load::{Loader, Origin};
use crate::search_tool::LIMITS;
use citations::{Audit, FindingKind, SourceText, Status, Style, audit, finish};

const ID: &str = "citations.audit.check";

/// More sources are refused.
const MAX_SOURCES: usize = 200;
/// How many links are checked.
const MAX_LINKS: usize = 100;
/// How many pages are read at once.
const AT_ONCE: usize = 8;
/// The time for downloads. The rest of a call's 60 seconds is for the audit itself.
const TIME: Duration = Duration::from_secs(40);

/// How many bytes each list of an answer may have, so that all of them stay below a tool's megabyte. The audit itself sees
/// everything.
const MAX_LIST_BYTES: usize = 300_000;

/// Checks the citations of a text.
pub struct CheckCitations {
    pub loader: Loader,
}

#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    #[schemars(length(min = 1))]
    markdown: String,
    /// Texts of cited works, to see whether they support the claims.
    #[serde(default)]
    #[schemars(length(max = 200))]
    sources: Vec<SourceInput>,
    #[serde(default)]
    style: Style,
    /// Whether to request the links of references.
    #[serde(default)]
    check_links: bool,
}

/// A cited work: `text`, `file_id` or `url`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SourceInput {
    /// The number of its reference, or its DOI, URL, title or key such as `doe2020`.
    #[schemars(length(min = 1, max = 500))]
    id: String,
    #[serde(default)]
    text: Option<String>,
    #[serde(default)]
    #[schemars(length(min = 1, max = 200))]
    file_id: Option<String>,
    #[serde(default)]
    #[schemars(length(min = 1, max = 8192))]
    url: Option<String>,
}

impl SourceInput {
    fn origin(self, at: usize) -> Result<(String, Origin), Failure> {
        match (self.text, self.file_id, self.url) {
            (Some(text), None, None) => Ok((self.id, Origin::Content(text))),
            (None, Some(file), None) => Ok((self.id, Origin::File(file))),
            (None, None, Some(url)) => Ok((self.id, Origin::Url(url))),
            _ => {
                let message = "a source has exactly one of `text`, `file_id` and `url`";
                let violations = json!([{"path": format!("/sources/{at}"), "message": message}]);
                Err(Failure::new(Code::InvalidInput, message)
                    .details(json!({"violations": violations})))
            }
        }
    }
}

#[async_trait]
impl TypedTool for CheckCitations {
    type Input = Input;
    type Output = Audit;

    fn about(&self) -> About {
        let description = "Checks references (APA, MLA, numeric) and citations of a Markdown text: missing, malformed, \
                           duplicate, unused, unsupported by their sources.";
        About {
            limits: LIMITS,
            open_world: true,
            ..About::reader(ID, "Check citations", description)
        }
    }

    async fn run(&self, input: Input, job: &Job) -> Result<TypedOutput<Audit>, Failure> {
        let Input { markdown, sources, style, check_links } = input;
        if sources.len() > MAX_SOURCES {
            let message =
                format!("{} sources are too many; {MAX_SOURCES} are checked", sources.len());
            return Err(Failure::new(Code::InvalidInput, message));
        }
        let origins: Result<Vec<_>, _> =
            sources.into_iter().enumerate().map(|(at, source)| source.origin(at)).collect();
        let deadline = Instant::now() + TIME;
        let mut warnings = Vec::new();
        let mut texts = Vec::new();
        for (id, loaded) in self.load_all(origins?, job, deadline).await {
            match loaded {
                Ok((url, text)) => texts.push(SourceText { id, url, text }),
                Err(failure) => {
                    warnings.push(format!("Source {id} was not read: {}", failure.message))
                }
            }
        }
        let bytes = texts.iter().map(|source| source.text.len()).sum::<usize>() + markdown.len();
        let mut audit = run_blocking(bytes, || audit(&markdown, &texts, style));
        audit.warnings.extend(warnings);
        if check_links {
            self.check_links(&mut audit, job, deadline).await;
        }
        let mut audit = finish(audit);
        let left_out = [
            keep_first(&mut audit.findings, "findings"),
            keep_first(&mut audit.references, "references"),
            keep_first(&mut audit.citations, "citations"),
        ];
        audit.warnings.extend(left_out.into_iter().flatten());
        Ok(audit.into())
    }
}

/// Keeps as many of the first entries as an answer has room for, and says how many that are.
fn keep_first<T: Serialize>(list: &mut Vec<T>, name: &str) -> Option<String> {
    let mut bytes = 0_usize;
    let kept = list.iter().take_while(|entry| {
        // cannot fail: entries are plain data. One that did would not be kept.
        bytes += serde_json::to_vec(entry).map_or(MAX_LIST_BYTES, |json| json.len() + 1);
        bytes <= MAX_LIST_BYTES
    });
    let (kept, all) = (kept.count(), list.len());
    list.truncate(kept);
    (kept < all).then(|| {
        format!("Of {all} {name}, only the first {kept} are listed; all of them were checked.")
    })
}

/// A document's address and text.
type Document = (Option<String>, String);

impl CheckCitations {
    /// Loads documents, several at once, in the order in which they were given.
    async fn load_all(
        &self,
        origins: Vec<(String, Origin)>,
        job: &Job,
        deadline: Instant,
    ) -> Vec<(String, Result<Document, Failure>)> {
        let mut loaded: BTreeMap<usize, (String, Result<Document, Failure>)> = BTreeMap::new();
        let mut waiting = origins.into_iter().enumerate();
        let mut running = JoinSet::new();
        loop {
            while running.len() < AT_ONCE
                && let Some((at, (id, origin))) = waiting.next()
            {
                if let Origin::Content(text) = origin {
                    loaded.insert(at, (id, Ok((None, text))));
                    continue;
                }
                let (loader, job) = (self.loader.clone(), job.clone());
                running.spawn(async move {
                    let outcome = match timeout_at(deadline, loader.load(origin, &job)).await {
                        Ok(outcome) => outcome.map(|document| (document.source.url, document.text)),
                        Err(_) => Err(Failure::new(Code::Timeout, "it did not arrive in time")),
                    };
                    (at, id, outcome)
                });
            }
            match running.join_next().await {
                Some(Ok((at, id, outcome))) => {
                    loaded.insert(at, (id, outcome));
                }
                Some(Err(error)) => tracing::warn!(%error, "a source could not be loaded"),
                None => break,
            }
        }
        loaded.into_values().collect()
    }

    /// Requests the links of references. Only an answer that there is no such page makes a link dead.
    async fn check_links(&self, audit: &mut Audit, job: &Job, deadline: Instant) {
        let links: Vec<(String, Origin)> = audit
            .references
            .iter()
            .filter_map(|reference| {
                Some((reference.index.to_string(), Origin::Url(link(&reference.parsed)?)))
            })
            .take(MAX_LINKS)
            .collect();
        let count =
            audit.references.iter().filter(|reference| link(&reference.parsed).is_some()).count();
        if count > links.len() {
            audit
                .warnings
                .push(format!("Only the first {MAX_LINKS} of {count} links were checked."));
        }
        let mut unknown = 0_usize;
        for (index, outcome) in self.load_all(links, job, deadline).await {
            let Err(failure) = outcome else { continue };
            if !is_dead(&failure) {
                unknown += 1;
                continue;
            }
            // cannot fail: the ids of links are indexes.
            let Some(reference) =
                index.parse::<usize>().ok().and_then(|index| audit.references.get_mut(index - 1))
            else {
                continue;
            };
            if matches!(reference.status, Status::Valid | Status::Unused) {
                reference.status = Status::Dead;
            }
            let url = link(&reference.parsed).unwrap_or_default();
            let kind = FindingKind::DeadLink;
            audit.findings.push(citations::Finding {
                kind,
                severity: kind.severity(),
                message: format!("There is no such page: {url}"),
                offset: None,
                reference: Some(reference.index),
            });
        }
        if unknown > 0 {
            audit.warnings.push(format!("{unknown} links could not be checked."));
        }
    }
}

fn link(parsed: &citations::Parsed) -> Option<String> {
    let url = parsed
        .url
        .clone()
        .or_else(|| parsed.doi.as_ref().map(|doi| format!("https://doi.org/{doi}")))?;
    Some(if url.contains("://") { url } else { format!("https://{url}") })
}

fn is_dead(failure: &Failure) -> bool {
    let status = failure.details.as_ref().and_then(|details| details["status"].as_u64());
    matches!(status, Some(404 | 410))
}
