//! The operations of this crate.

use std::sync::Arc;

use ::operations::{Audience, Caller, NoInput, Operation, OperationError, Table};

use crate::agents::AgentReport;
use crate::files::operations::FileService;
use crate::{Strip, files, runs};

/// All operations that work on a strip.
pub fn table(strip: &Arc<Strip>) -> Table {
    let approvals = strip.approvals().map(approvals::operations::table).unwrap_or_default();
    approvals
        .merge(runs::operations::table(strip))
        .merge(files::operations::table(&Arc::new(FileService::of_strip(strip))))
        .with::<ListAgents>(strip)
}

pub struct ListAgents;

impl Operation for ListAgents {
    const NAME: &'static str = "powerstrip.agents";
    const SUMMARY: &'static str = "List the agents and the tools that each may call";
    const AUDIENCE: Audience = Audience::LocalUser;
    type Service = Strip;
    type Input = NoInput;
    type Output = Vec<AgentReport>;

    async fn run(
        strip: Arc<Strip>,
        _: Caller,
        _: NoInput,
    ) -> Result<Vec<AgentReport>, OperationError> {
        Ok(strip.agent_reports())
    }
}
