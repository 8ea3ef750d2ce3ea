//! `sequential_search`: keeps track of research in several steps.

use std::time::Duration;

use proto::time::rfc3339;
use proto::{Code, Failure};
use search::links::web_url;
use search::text::clip;
use serde_json::json;
use uuid::Uuid;

use crate::input::invalid;
use crate::research::{Call, Research};
use crate::sessions::{NotStored, Owner, Session};
use crate::tools::{
    KnowledgeGap, ResearchSource, ResearchStep, SequentialSearch, SequentialSearchOutput,
};

/// The most bytes of a session, so that its output fits the tool's limit of 1 MB.
const MAX_BYTES: usize = 700_000;

/// How often a step is tried again when another step of the session was stored meanwhile.
const ATTEMPTS: usize = 10;

impl Research {
    /// Records a step of research.
    pub async fn sequential_search(
        &self,
        input: SequentialSearch,
        call: &Call<'_>,
    ) -> Result<SequentialSearchOutput, Failure> {
        check(&input)?;
        let owner = Owner { tenant: call.tenant.to_owned(), subject: call.subject.to_owned() };
        call.run(self.record(&input, &owner)).await
    }

    async fn record(
        &self,
        input: &SequentialSearch,
        owner: &Owner,
    ) -> Result<SequentialSearchOutput, Failure> {
        let sessions = &self.parts().sessions;
        let now = rfc3339(self.parts().clock.unix_ms());
        if input.step_number == 1 && input.session_id.is_none() && !input.is_revision {
            let mut session = new_session(input, owner, &now);
            add_step(&mut session, input, &now)?;
            return match sessions.open(session.clone()).await {
                Ok(()) => Ok(output(session, input)),
                Err(NotStored::Full { wait }) => Err(full(wait)),
                Err(NotStored::Stale) => Err(gone(Some(&session.id), sessions.ttl())),
            };
        }
        for _ in 0..ATTEMPTS {
            let session = match &input.session_id {
                Some(id) => sessions.load(owner, id).await,
                None => sessions.latest_open(owner).await,
            };
            let mut session =
                session.ok_or_else(|| gone(input.session_id.as_deref(), sessions.ttl()))?;
            add_step(&mut session, input, &now)?;
            session.version += 1;
            match sessions.save(session.clone()).await {
                Ok(()) => return Ok(output(session, input)),
                Err(NotStored::Full { wait }) => return Err(full(wait)),
                // Another step was stored meanwhile.
                Err(NotStored::Stale) => {}
            }
        }
        Err(Failure::new(
            Code::Unavailable,
            "Other steps of this session are stored at the moment. Try again.",
        ))
    }
}

/// Checks what the schema also states, and what it cannot.
fn check(input: &SequentialSearch) -> Result<(), Failure> {
    let length = |field: &str, text: &str, max: usize| match text.chars().count() {
        0 => Err(invalid(field, "must not be empty")),
        count if count > max => {
            Err(invalid(field, format!("has {count} characters; at most {max} are allowed")))
        }
        _ => Ok(()),
    };
    length("searchStep", input.search_step.trim(), 10_000)?;
    for (field, number) in [
        ("stepNumber", Some(input.step_number)),
        ("totalStepsEstimate", input.total_steps_estimate),
        ("revisesStep", input.revises_step),
        ("branchFromStep", input.branch_from_step),
    ] {
        if number == Some(0) {
            return Err(invalid(field, "must be 1 or more"));
        }
    }
    if let Some(gap) = &input.knowledge_gap {
        length("knowledgeGap", gap, 5_000)?;
    }
    if let Some(branch) = &input.branch_id {
        length("branchId", branch, 100)?;
        if input.branch_from_step.is_none() {
            return Err(invalid(
                "branchId",
                "needs `branchFromStep`, the step from which the branch starts",
            ));
        }
    }
    if input.revises_step.is_some() && !input.is_revision {
        return Err(invalid("revisesStep", "needs `isRevision: true`"));
    }
    if let Some(source) = &input.source {
        if web_url(&source.url).is_none() {
            return Err(invalid("source/url", "must be an http or https URL"));
        }
        length("source/url", &source.url, 8_192)?;
        length("source/title", source.title.as_deref().unwrap_or("-"), 1_000)?;
    }
    Ok(())
}

fn new_session(input: &SequentialSearch, owner: &Owner, now: &str) -> Session {
    Session {
        id: Uuid::new_v4().to_string(),
        owner: owner.clone(),
        question: input.search_step.trim().to_owned(),
        total_steps_estimate: input.step_number,
        estimate_given: false,
        steps: Vec::new(),
        sources: Vec::new(),
        gaps: Vec::new(),
        started_at: now.to_owned(),
        completed_at: None,
        version: 0,
    }
}

/// Adds what a call says to a session.
fn add_step(session: &mut Session, input: &SequentialSearch, now: &str) -> Result<(), Failure> {
    let exists = |number: u32| session.steps.iter().any(|step| step.step_number == number);
    let number = input.step_number;
    let repeated = session
        .steps
        .iter()
        .any(|step| step.step_number == number && step.branch_id == input.branch_id);
    if repeated && !input.is_revision {
        let why = format!(
            "step {number} exists; set `isRevision: true` to revise it, or use the next number"
        );
        return Err(invalid("stepNumber", why));
    }
    if let Some(missing) = input.branch_from_step.filter(|step| !exists(*step)) {
        return Err(invalid(
            "branchFromStep",
            format!("there is no step {missing} in this session"),
        ));
    }
    let revises = if input.is_revision { Some(input.revises_step.unwrap_or(number)) } else { None };
    if let Some(missing) = revises.filter(|step| !exists(*step)) {
        let field = if input.revises_step.is_some() { "revisesStep" } else { "stepNumber" };
        return Err(invalid(
            field,
            format!("there is no step {missing} in this session that could be revised"),
        ));
    }
    session.steps.push(ResearchStep {
        step_number: number,
        description: input.search_step.trim().to_owned(),
        is_revision: input.is_revision.then_some(true),
        revises_step: revises,
        branch_id: input.branch_id.clone(),
        branch_from_step: input.branch_from_step,
        timestamp: now.to_owned(),
    });
    if let Some(source) = &input.source
        && !session.sources.iter().any(|known| known.url == source.url)
    {
        let title = source.title.clone().filter(|title| !title.trim().is_empty());
        session.sources.push(ResearchSource {
            url: source.url.clone(),
            title,
            found_in_step: number,
        });
    }
    if let Some(gap) = &input.knowledge_gap {
        session.gaps.push(KnowledgeGap { description: gap.clone(), found_in_step: number });
    }
    match input.total_steps_estimate {
        Some(estimate) => {
            session.total_steps_estimate = estimate;
            session.estimate_given = true;
        }
        None if !session.estimate_given => session.total_steps_estimate = number,
        None => {}
    }
    session.completed_at = (!input.next_step_needed).then(|| now.to_owned());
    // cannot fail: a session has texts, numbers and lists of them.
    let bytes = serde_json::to_vec(session).map_or(usize::MAX, |bytes| bytes.len());
    if bytes > MAX_BYTES {
        let message =
            format!("This session is full ({bytes} bytes). Open a new one with `stepNumber: 1`.");
        return Err(Failure::new(Code::InvalidInput, message));
    }
    Ok(())
}

fn output(session: Session, input: &SequentialSearch) -> SequentialSearchOutput {
    SequentialSearchOutput {
        session_id: session.id,
        question: session.question,
        current_step: input.step_number,
        total_steps_estimate: session.total_steps_estimate,
        is_complete: session.completed_at.is_some(),
        steps: session.steps,
        sources: session.sources,
        gaps: session.gaps,
        started_at: session.started_at,
        completed_at: session.completed_at,
        warnings: Vec::new(),
    }
}

/// The same answer for sessions that do not exist, have expired or are another caller's.
fn gone(id: Option<&str>, ttl: Duration) -> Failure {
    let message = match id {
        Some(id) => format!(
            "There is no session `{}`. Sessions end after {} without a step, or earlier if other tenants need room; open one \
             with `stepNumber: 1`.",
            clip(id, 100),
            describe(ttl)
        ),
        None => "You have no open session. Open one with `stepNumber: 1`.".to_owned(),
    };
    Failure::new(Code::NotFound, message)
}

fn describe(time: Duration) -> String {
    match time.as_secs() {
        60 => "1 minute".to_owned(),
        seconds if seconds >= 60 && seconds % 60 == 0 => format!("{} minutes", seconds / 60),
        seconds => format!("{seconds} seconds"),
    }
}

fn full(wait: Duration) -> Failure {
    let message = "Too many research sessions are open. Complete one with `nextStepNeeded: false`, or try again later.";
    let details = json!({"retryAfterMs": wait.as_millis() as u64});
    Failure::new(Code::RateLimit, message).retry_after(wait).details(details)
}
