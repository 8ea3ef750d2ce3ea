//! Questions of runs and their answers; the end of runs; and runs as people see them.

use std::sync::Arc;

use proto::{Code, Failure, FileId, Principal, SlotType, TenantId, TraceId};
use serde_json::{Value, json};
use store::{Listed, NamedRun, QuestionRow, QuestionState, RunFilter, Settlement};

use super::kind::{Kind, State, is_id};
use super::run::Run;
use super::{
    IDLE, QuestionView, RunCall, RunChange, RunDetails, RunSummary, Runs, no_such_run, unavailable,
    unreadable, unwritable,
};

/// The most questions of a run.
const MAX_QUESTIONS: usize = 100;

/// A question to ask in a run.
pub struct NewQuestion<'a> {
    pub slot_id: &'a str,
    pub slot_type: SlotType,
    pub prompt: String,
    pub options: Vec<String>,
    /// The [`AnswerCheck`] that an answer must pass beyond its type.
    pub check: Option<&'static str>,
}

/// Says what is wrong with a text that answers a question, such as `line 3: …`.
pub type AnswerCheck = fn(&str) -> Result<(), String>;

impl Runs {
    /// Adds a check that questions may name. An answer that fails it is refused, and its question stays open.
    pub fn add_check(&self, name: &'static str, check: AnswerCheck) {
        self.checks().insert(name, check);
    }

    /// The runs that a filter lets through, the last touched first. A filter without a tenant is the operator's.
    pub async fn list(&self, filter: &RunFilter) -> Result<Listed<RunSummary>, Failure> {
        self.flush().await.map_err(unwritable)?;
        let listed = self.0.database.runs(filter).await.map_err(unavailable)?;
        Ok(listed.map(|row| RunSummary::of(row, self.now())))
    }

    /// The id of a run that is named by its id or by the name that a caller gave it, the caller's own run first. Control
    /// tools and batches return the name.
    pub async fn id_of(
        &self,
        by: &Principal,
        tenant: Option<&str>,
        run: &str,
    ) -> Result<String, Failure> {
        if is_id(run) {
            return Ok(run.to_owned());
        }
        self.flush().await.map_err(unwritable)?;
        let named = self.0.database.runs_named(tenant, run).await.map_err(unavailable)?;
        let owner = |row: &NamedRun| (row.tenant.clone(), row.subject.clone());
        let own = (by.tenant.to_string(), by.subject.clone());
        let found = named.iter().find(|row| owner(row) == own).or(named.first());
        let found = found.ok_or_else(|| no_such_run(run))?;
        let is_only = owner(found) == own || named.iter().all(|row| owner(row) == owner(found));
        if !is_only {
            let message = format!("several callers have a run `{run}`; name it by its id");
            return Err(Failure::new(Code::NotFound, message));
        }
        Ok(found.id.clone())
    }

    /// A run of this tenant (of any, for the operator) with its questions and calls.
    pub async fn show(&self, tenant: Option<&str>, id: &str) -> Result<RunDetails, Failure> {
        self.flush().await.map_err(unwritable)?;
        let row = self.0.database.run(tenant, id).await.map_err(unreadable(id))?;
        let row = row.ok_or_else(|| no_such_run(id))?;
        let questions = self.0.database.run_questions(id).await.map_err(unreadable(id))?;
        let calls = self.0.database.run_calls(id).await.map_err(unreadable(id))?;
        let in_flight = self.known().of_id(id).map(|run| run.in_flight()).unwrap_or_default();
        Ok(RunDetails {
            run: RunSummary::of(row, self.now()),
            in_flight,
            questions: questions.into_iter().map(QuestionView::from).collect(),
            calls: calls.into_iter().map(RunCall::from).collect(),
        })
    }

    /// Answers a question of a run of this tenant, or of any for the operator. The first answer counts; agents cannot answer.
    pub async fn answer(
        &self,
        by: &Principal,
        tenant: Option<&str>,
        (run, slot): (&str, &str),
        value: &Value,
    ) -> Result<QuestionView, Failure> {
        if by.agent.is_some() {
            let message = "a question to a person is not answered by an agent";
            return Err(Failure::new(Code::Denied, message));
        }
        let found = self.by_id(tenant, run).await?.ok_or_else(|| no_such_run(run))?;
        let settled = self.settle(&found, slot, Some(value), &by.subject).await?;
        Ok(settled.into())
    }

    /// Asks a question, or returns the one that was asked for the same slot before.
    pub async fn ask(&self, run: &Arc<Run>, new: NewQuestion<'_>) -> Result<QuestionRow, Failure> {
        let _one_at_a_time = run.asking.lock().await;
        if let Some(asked) = self.question(run, new.slot_id).await? {
            let same = asked.slot_type == new.slot_type
                && asked.prompt == new.prompt
                && asked.options == new.options
                && asked.check.as_deref() == new.check;
            if !same {
                let message = format!(
                    "slot `{}` was asked for with another question in this run; choose a new `slot_id` for a new question",
                    new.slot_id
                );
                return Err(Failure::new(Code::InvalidInput, message));
            }
            return Ok(asked);
        }
        if run.questions().len() >= MAX_QUESTIONS {
            let message = format!("a run asks at most {MAX_QUESTIONS} questions");
            return Err(Failure::new(Code::RateLimit, message).retryable(false));
        }
        let question = QuestionRow {
            id: TraceId::random().to_string(),
            run: run.id().to_owned(),
            tenant: run.owner().tenant.clone(),
            slot_id: new.slot_id.to_owned(),
            slot_type: new.slot_type,
            prompt: new.prompt,
            options: new.options,
            check: new.check.map(str::to_owned),
            state: QuestionState::Open,
            answer: None,
            answered_by: None,
            asked_unix_ms: self.now(),
            settled_unix_ms: None,
        };
        // A flush that read the run before the question must not be committed after it: the run would be listed as open.
        let no_flush = self.0.writing.lock().await;
        let mut row = run.row(self.now(), IDLE);
        State::Waiting.as_str().clone_into(&mut row.state);
        self.0.database.ask_question(&row, &question).await.map_err(unwritable)?;
        run.add_question(question.clone());
        drop(no_flush);
        self.notify(run, RunChange::Asked);
        Ok(question)
    }

    /// The question of a slot. If its call was cancelled while it was written, only the database has it.
    async fn question(&self, run: &Arc<Run>, slot: &str) -> Result<Option<QuestionRow>, Failure> {
        if let Some(known) = run.question(slot) {
            return Ok(Some(known));
        }
        let written = self.0.database.run_questions(run.id()).await;
        let written = written.map_err(unreadable(run.id()))?;
        let found = written.into_iter().find(|question| question.slot_id == slot);
        if let Some(question) = &found {
            run.add_question(question.clone());
        }
        Ok(found)
    }

    /// Settles a question with an answer, or with none if the person declined.
    pub async fn settle(
        &self,
        run: &Arc<Run>,
        slot: &str,
        value: Option<&Value>,
        by: &str,
    ) -> Result<QuestionRow, Failure> {
        let mut known = run.question(slot);
        if known.is_none() {
            // A question is in the database, and so in lists, before it is in memory; the lock is held until it is.
            let _asked = run.asking.lock().await;
            known = self.question(run, slot).await?;
        }
        let Some(mut question) = known else {
            let shown: String = slot.chars().take(100).collect();
            let message = format!("the run `{}` asks nothing for slot `{shown}`", run.called());
            return Err(Failure::new(Code::NotFound, message));
        };
        if question.state != QuestionState::Open {
            return Err(settled_before(&question));
        }
        if let Some(value) = value {
            let mut faults = question.slot_type.faults(&question.options, value);
            let is_file = question.slot_type == SlotType::File && faults.is_empty();
            if is_file && !self.is_file(run, value).await? {
                faults.push(format!("there is no file {value}"));
            }
            if let (Some(name), Some(text), []) = (&question.check, value.as_str(), &faults[..]) {
                // The tool that asked checks its answer again, should its check be gone.
                let check = self.checks().get(name.as_str()).copied();
                faults.extend(check.and_then(|check| check(text).err()));
            }
            if !faults.is_empty() {
                let message = format!("the answer does not fit: {}", faults.join("; "));
                return Err(Failure::new(Code::InvalidInput, message)
                    .details(json!({"faults": faults, "slot_type": question.slot_type.as_str()})));
            }
        }
        let is_answered = value.is_some();
        let state = if is_answered { QuestionState::Answered } else { QuestionState::Declined };
        let now = self.now();
        let settlement = Settlement {
            question: &question.id,
            state,
            answer: value,
            by: Some(by),
            at_unix_ms: now,
        };
        // The database decides which of two answers was the first.
        if !self.0.database.settle_question(settlement).await.map_err(unwritable)? {
            return Err(settled_before(&run.question(slot).unwrap_or(question)));
        }
        question.state = state;
        question.answer = value.cloned();
        question.answered_by = Some(by.to_owned());
        question.settled_unix_ms = Some(now);
        run.replace_question(question.clone());
        self.keep(run);
        self.notify(run, RunChange::Answered);
        let _ = self.0.answered.send(run.id().to_owned());
        Ok(question)
    }

    /// Adds an artifact to a run.
    pub fn stored(&self, run: &Arc<Run>, file: &str) {
        run.add_artifact(file);
        self.keep(run);
        self.notify(run, RunChange::Stored);
    }

    /// Whether an answer names a file of the run's tenant.
    async fn is_file(&self, run: &Run, value: &Value) -> Result<bool, Failure> {
        let Some(id) = value.as_str().and_then(|id| id.parse::<FileId>().ok()) else {
            return Ok(false);
        };
        let tenant = TenantId::new(&run.owner().tenant);
        let found =
            self.0.database.file(&tenant, &id, self.now()).await.map_err(unreadable(run.id()))?;
        Ok(found.is_some())
    }

    /// Writes the end of a run, and withdraws its open questions.
    pub async fn completed(&self, run: &Arc<Run>, artifacts: &[&str]) -> Result<(), Failure> {
        if run.kind() == Kind::Alone {
            return Ok(());
        }
        for artifact in artifacts {
            run.add_artifact(artifact);
        }
        let now = self.now();
        let row = run.row(now, IDLE);
        if let Err(error) = self.0.database.save_runs(&[row], &[]).await {
            run.reopen();
            return Err(unwritable(error));
        }
        self.withdraw_questions(run).await;
        self.notify(run, RunChange::Completed);
        Ok(())
    }

    /// Withdraws the open questions of a run that has ended.
    pub(super) async fn withdraw_questions(&self, run: &Arc<Run>) {
        let now = self.now();
        for mut question in
            run.questions().into_iter().filter(|asked| asked.state == QuestionState::Open)
        {
            let settlement = Settlement {
                question: &question.id,
                state: QuestionState::Withdrawn,
                answer: None,
                by: None,
                at_unix_ms: now,
            };
            match self.0.database.settle_question(settlement).await {
                Ok(true) => {
                    question.state = QuestionState::Withdrawn;
                    question.settled_unix_ms = Some(now);
                    run.replace_question(question);
                }
                // It was answered meanwhile.
                Ok(false) => {}
                Err(error) => {
                    let (run, slot) = (run.id(), &question.slot_id);
                    tracing::warn!(%error, run, slot, "an open question of an ended run could not be withdrawn");
                }
            }
        }
    }
}

fn settled_before(question: &QuestionRow) -> Failure {
    let state = match question.state {
        QuestionState::Open => QuestionState::Answered,
        other => other,
    };
    let message = format!("the question for slot `{}` was {state} before", question.slot_id);
    Failure::new(Code::InvalidInput, message).details(json!({"state": state.as_str()}))
}
