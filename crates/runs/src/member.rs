use std::sync::Arc;

use proto::{Failure, Principal};
use store::RunCallRow;

use crate::kind::{CallRole, Kind};
use crate::run::Run;
use crate::{RunChange, RunOf, Runs, TRIES};

/// A call's membership in its run, until it is dropped.
pub struct Member {
    runs: Runs,
    run: Arc<Run>,
    number: u64,
    started_ms: u64,
}

impl Runs {
    /// Joins a call of this tool to its run. With `keeps_calls` the calls of the run are recorded from then on.
    pub async fn enter(
        &self,
        of: &RunOf,
        principal: &Principal,
        tool: &Arc<str>,
        role: CallRole,
        keeps_calls: bool,
    ) -> Result<Member, Failure> {
        let now = self.now();
        let mut tries = TRIES;
        let (run, number) = loop {
            tries -= 1;
            let run = self.join(of, principal).await?;
            match run.admit(now, tool, role) {
                Ok(number) => break (run, number),
                // The current run was completed a moment ago: begin the next one.
                Err(_) if run.kind() == Kind::Current && tries > 0 => continue,
                Err(over) => return Err(over),
            }
        };
        if keeps_calls {
            run.keep_calls();
        }
        Ok(Member { runs: self.clone(), run, number, started_ms: now })
    }
}

impl Member {
    /// The run that the call has joined.
    pub fn run(&self) -> &Arc<Run> {
        &self.run
    }

    /// The time by the clock of all runs.
    pub fn now(&self) -> u64 {
        self.runs.now()
    }

    /// When the call began.
    pub fn started_ms(&self) -> u64 {
        self.started_ms
    }

    /// Records the call in its run. The end of the membership does the rest, also for a call whose caller has left.
    pub fn note(&self, call: RunCallRow) {
        self.runs.note(call);
        self.runs.notify(&self.run, RunChange::Called);
    }
}

impl Drop for Member {
    fn drop(&mut self) {
        self.run.leave(self.number, self.runs.now());
        self.runs.keep(&self.run);
    }
}
