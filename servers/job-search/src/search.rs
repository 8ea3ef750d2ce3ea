//! The tool `generate_search_queries`.

use kit::{Ctx, Fault};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::boards::Board;
use crate::queries::{self, Search};

/// How many skills of a profile are searched for.
const PROFILE_SKILLS: usize = 6;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// The answer of `parse_job_description`.
    job: Option<ParsedJob>,
    /// The answer of `resume-profile-mcp:extract_profile`.
    profile: Option<Profile>,
    /// The name of a role.
    #[schemars(length(min = 1, max = 100))]
    role: Option<String>,
    /// All boards by default, as far as the limit allows.
    #[schemars(length(min = 1, max = 6))]
    boards: Option<Vec<Board>>,
    /// Where to search, instead of the place of the job.
    #[schemars(length(min = 1, max = 100))]
    location: Option<String>,
    /// How many queries at most.
    #[serde(default = "five")]
    #[schemars(range(min = 1, max = 20))]
    limit: usize,
}

fn five() -> usize {
    5
}

/// The fields of a job that queries are made of; others are ignored.
#[derive(Deserialize, JsonSchema)]
struct ParsedJob {
    title: Option<String>,
    #[serde(default)]
    #[schemars(length(max = 200))]
    must: Vec<String>,
    #[serde(default)]
    #[schemars(length(max = 200))]
    nice: Vec<String>,
    location: Option<String>,
}

/// The fields of a profile that queries are made of; others are ignored.
#[derive(Deserialize, JsonSchema)]
struct Profile {
    #[serde(default)]
    experience: Vec<Position>,
    #[serde(default)]
    skills: Vec<String>,
}

#[derive(Deserialize, JsonSchema)]
struct Position {
    title: Option<String>,
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct Output {
    queries: Vec<Query>,
    /// Names of the role, the given one first.
    titles: Vec<String>,
    /// Other names of skills.
    synonyms: Vec<Synonyms>,
    /// Must-haves that no query had room for.
    skipped: Vec<Skipped>,
}

#[derive(Serialize, JsonSchema)]
struct Query {
    board: Board,
    query: String,
    /// The page with the results, where the board has a stable address.
    #[serde(skip_serializing_if = "Option::is_none")]
    url: Option<String>,
    /// The must-haves and titles that occur in the query.
    covers: Vec<String>,
}

#[derive(Serialize, JsonSchema)]
struct Synonyms {
    skill: String,
    names: Vec<String>,
}

#[derive(Serialize, JsonSchema)]
struct Skipped {
    what: String,
    why: String,
    fix: String,
}

pub(crate) async fn generate(input: Input, _ctx: Ctx) -> Result<Output, Fault> {
    let boards = boards(input.boards, input.limit)?;
    let mut search = search(input.job, input.profile, input.role)?;
    search.place = input.location.or(search.place);
    let written = queries::write(&search, &boards, input.limit);
    let place = search.place.as_deref();
    let terms = search.must.iter().chain(&search.nice);
    let synonyms = terms.map(|term| Synonyms { skill: term.clone(), names: names(term) });
    Ok(Output {
        titles: queries::titles(&queries::clean(&search.title)),
        synonyms: synonyms.filter(|entry| !entry.names.is_empty()).collect(),
        skipped: written.left_out.into_iter().map(skipped).collect(),
        queries: written
            .queries
            .into_iter()
            .map(|query| Query {
                url: query.board.url(&query.text, place),
                board: query.board,
                query: query.text,
                covers: query.covers,
            })
            .collect(),
    })
}

fn names(term: &str) -> Vec<String> {
    careers::skills::synonyms(term).into_iter().map(str::to_owned).collect()
}

fn skipped(what: String) -> Skipped {
    Skipped {
        what,
        why: "no query of these boards has room for it".to_owned(),
        fix: "raise `limit`, name another board, or shorten the term".to_owned(),
    }
}

fn boards(boards: Option<Vec<Board>>, limit: usize) -> Result<Vec<Board>, Fault> {
    let Some(mut boards) = boards else {
        return Ok(Board::ALL.into_iter().take(limit).collect());
    };
    let mut seen = std::collections::HashSet::new();
    boards.retain(|board| seen.insert(*board));
    if boards.len() > limit {
        return Err(Fault::invalid_input(format!(
            "/limit: {} boards need at least as many queries",
            boards.len()
        )));
    }
    Ok(boards)
}

fn search(
    job: Option<ParsedJob>,
    profile: Option<Profile>,
    role: Option<String>,
) -> Result<Search, Fault> {
    let search = match (job, profile, role) {
        (Some(job), None, None) => {
            let Some(title) = job.title else {
                return Err(Fault::invalid_input("/job/title: the job has no title"));
            };
            Search { title, must: job.must, nice: job.nice, place: job.location }
        }
        (None, Some(profile), None) => {
            let Some(title) = profile.experience.into_iter().find_map(|position| position.title)
            else {
                return Err(Fault::invalid_input(
                    "/profile/experience: the profile has no position with a title",
                ));
            };
            let must = profile.skills.into_iter().take(PROFILE_SKILLS).collect();
            Search { title, must, ..Search::default() }
        }
        (None, None, Some(title)) => Search { title, ..Search::default() },
        _ => return Err(Fault::invalid_input("/role: give one of `job`, `profile` and `role`")),
    };
    if !search.title.contains(char::is_alphanumeric) {
        return Err(Fault::invalid_input("/role: it has no words"));
    }
    Ok(search)
}
