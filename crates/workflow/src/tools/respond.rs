//! `approval_response`: who may decide about the calls of a checkpoint, and how they do.

use std::sync::Arc;

use approvals::{
    ApprovalRow, Approvals, DecideError, Decider, Decision, Terms, Verdict, question, reach,
    run_to_end,
};
use operations::Caller;
use proto::{APPROVALS_DECIDE, Code, Failure};
use serde_json::{Value, json};
use strip::{AskMode, Output, Reply};
use uuid::Uuid;

use super::ToolCall;
use crate::failures::{not_found, unavailable};
use crate::inputs::ApprovalResponse;
use crate::service::{Accepted, Command, Live};
use crate::workflows::Wait;

/// How a response is turned into decisions.
enum Right {
    /// The owner withdraws its request, which needs no right.
    Cancel,
    /// A person who may decide.
    Decide,
    /// The person at the owner's own client decides.
    AskClient,
}

/// The outcome of asking a client.
enum Asked {
    Decided,
    /// Its person closed the form: the checkpoint stays.
    Closed,
    /// It answers with its next request.
    Question(Output),
}

impl ToolCall<'_> {
    pub(super) async fn respond(
        &self,
        id: Uuid,
        response: ApprovalResponse,
    ) -> Result<Output, Failure> {
        self.check_reach(id).await?;
        let live = self.workflows.load(id).await?.ok_or_else(|| not_found(id))?;
        let strip = &self.workflows.service().strip;
        let approvals = strip.approvals().cloned().ok_or_else(|| not_found(id))?;
        let ApprovalResponse { checkpoint_id, approved, feedback } = response;
        let right = self.right(&live, approved, &approvals.terms())?;
        if self.workflows.is_over(&live).await? {
            return Err(not_found(id));
        }
        let command = || Command::Respond { checkpoint_id: checkpoint_id.clone() };
        let sent = self.workflows.send(id, command).await?;
        let Some((live, Accepted::Approvals { ids, version })) = sent else {
            return Err(not_found(id));
        };
        let feedback = feedback.filter(|text| !text.trim().is_empty());
        let verdict = if approved { Verdict::Approve } else { Verdict::Reject };
        match right {
            Right::Cancel => {
                let (ids, by) = (ids.clone(), Arc::clone(&self.job.request().principal));
                let cancelled =
                    async move { approvals.cancel(&ids, &by, feedback.as_deref()).await };
                run_to_end(cancelled).await.map_err(unavailable)?;
            }
            Right::Decide => {
                let decider = Decider::Person(Arc::clone(&self.job.request().principal));
                decide(&approvals, &ids, decider, Decision::once(verdict, feedback)).await?;
            }
            Right::AskClient => match self.ask_client(&approvals, &ids, &checkpoint_id).await? {
                Asked::Decided => {}
                Asked::Closed => return self.wait(&live, None, None).await,
                Asked::Question(question) => return Ok(question),
            },
        }
        let wait = Wait { longest: None, seen: Some(version), settled: &ids };
        self.workflows.wait(&live, self.job, wait).await
    }

    /// NOT_FOUND for a workflow that the caller cannot decide about and does not own, before it is read.
    async fn check_reach(&self, id: Uuid) -> Result<(), Failure> {
        let principal = &self.job.request().principal;
        if principal.agent.is_none() && principal.holds(APPROVALS_DECIDE) {
            let caller = Caller::local(Arc::clone(principal));
            self.workflows.check_tenant(&caller, id).await
        } else {
            self.workflows.check_owner(principal, id).await
        }
    }

    /// What the caller may do. A workflow that it may not decide about and does not own does not exist for it.
    fn right(&self, live: &Live, approved: bool, terms: &Terms) -> Result<Right, Failure> {
        let principal = &self.job.request().principal;
        let owns = live.owner.is_same_caller(principal);
        let reaches = reach(principal).is_none_or(|tenant| tenant == live.owner.tenant.as_str());
        let decides = principal.agent.is_none() && principal.holds(APPROVALS_DECIDE) && reaches;
        // Without `auth` every local caller is the same user, whose client asks its person.
        let same_credential = owns && live.owner.via == principal.via;
        match (owns, decides && !same_credential) {
            (true, _) if !approved => Ok(Right::Cancel),
            (_, true) => Ok(Right::Decide),
            (true, false) if terms.elicitation && self.can_ask() => Ok(Right::AskClient),
            (true, false) => Err(denied(live.workflow, terms)),
            (false, false) => Err(not_found(live.workflow)),
        }
    }

    pub(super) fn can_ask(&self) -> bool {
        let client = self.job.client.as_ref();
        client.is_some_and(|client| question::can_show_forms(client.capabilities()))
    }

    /// Has the person at the caller's client decide.
    async fn ask_client(
        &self,
        approvals: &Arc<Approvals>,
        ids: &[String],
        checkpoint_id: &str,
    ) -> Result<Asked, Failure> {
        let job = self.job;
        let Some(client) = &job.client else { return Ok(Asked::Closed) };
        let mut rows = Vec::new();
        for id in ids {
            rows.extend(approvals.get(None, id).await.map_err(unavailable)?);
        }
        let answer = match client.ask_mode() {
            AskMode::Direct => client.ask(question::METHOD, form(&rows)).await.ok(),
            AskMode::Rounds => {
                // The answer to the form of another checkpoint is none to this one.
                let name = format!("{}.{checkpoint_id}", question::NAME);
                let resume = job.resume.as_ref();
                let Some(answer) = resume.and_then(|resume| resume.responses.get(&name)) else {
                    return Ok(Asked::Question(round(&rows, &name)));
                };
                Some(answer.clone())
            }
        };
        let Some(decision) = answer.as_ref().and_then(question::decided) else {
            return Ok(Asked::Closed);
        };
        let decider = Decider::Client(Arc::clone(&job.request().principal));
        decide(approvals, ids, decider, decision).await?;
        Ok(Asked::Decided)
    }
}

/// Decides about all of them, even if the caller disconnects.
async fn decide(
    approvals: &Arc<Approvals>,
    ids: &[String],
    decider: Decider,
    decision: Decision,
) -> Result<(), Failure> {
    let (approvals, ids) = (Arc::clone(approvals), ids.to_vec());
    run_to_end(async move { decide_each(&approvals, &ids, &decider, &decision).await }).await
}

async fn decide_each(
    approvals: &Arc<Approvals>,
    ids: &[String],
    decider: &Decider,
    decision: &Decision,
) -> Result<(), Failure> {
    for id in ids {
        match approvals.decide(id, decider, decision.clone()).await {
            // Another decision or the deadline came first, and counts.
            Ok(_) | Err(DecideError::Over(_) | DecideError::Unknown(_)) => {}
            Err(DecideError::Store(error)) => return Err(unavailable(error)),
            Err(refused @ DecideError::Invalid(_)) => {
                return Err(Failure::new(Code::InvalidInput, refused.to_string()));
            }
            Err(refused @ DecideError::Damaged(_)) => {
                return Err(Failure::new(Code::Internal, refused.to_string()));
            }
            Err(refused @ (DecideError::Agent | DecideError::OwnCall)) => {
                return Err(Failure::new(Code::Denied, refused.to_string()));
            }
        }
    }
    Ok(())
}

/// One form for all calls of a checkpoint.
fn form(rows: &[ApprovalRow]) -> Value {
    let mut forms = rows.iter().map(question::form);
    let mut form = forms.next().unwrap_or_default();
    for other in forms {
        let (message, more) = (form["message"].as_str(), other["message"].as_str());
        let both =
            format!("{}\n\n---\n\n{}", message.unwrap_or_default(), more.unwrap_or_default());
        form["message"] = both.into();
    }
    form
}

fn round(rows: &[ApprovalRow], name: &str) -> Output {
    let asked = json!({"method": question::METHOD, "params": form(rows)});
    let native = json!({
        "resultType": "input_required",
        "inputRequests": {name: asked},
    });
    let data = json!({"approvals": rows.iter().map(|row| &row.id).collect::<Vec<_>>()});
    Output { native: Some(Arc::new(native)), reply: Reply::NeedsInput, ..Output::new(data) }
}

fn denied(workflow: Uuid, terms: &Terms) -> Failure {
    let place = match &terms.dashboard {
        Some(url) => format!("a person decides at {url}/approvals"),
        None => "a person decides with `powerstrip approvals`".to_owned(),
    };
    let message =
        format!("the credential that started a workflow cannot approve its calls: {place}");
    let mut details = json!({"workflow_id": workflow.to_string()});
    if let Some(url) = &terms.dashboard {
        details["dashboard"] = format!("{url}/approvals").into();
    }
    Failure::new(Code::Denied, message).details(details)
}
