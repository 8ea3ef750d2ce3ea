//! The workflows that are quarantined.

use anyhow::Context as _;
use config::Loaded;
use gateway::database;
use operations::workflows::{WorkflowQuery, WorkflowState};
use store::{Claim, DATABASE_FILE, DataFolder, WorkflowFilter, WorkflowPhase};
use workflow::operations::ListWorkflows;

use super::CheckResult;
use crate::owner::OwnerProcess;

/// How many ids are named.
const NAMED: usize = 5;

/// The most that are counted.
const COUNTED: u32 = 500;

/// A warning if workflows are quarantined, or cannot be read.
pub(super) async fn check(loaded: &Loaded) -> Option<CheckResult> {
    let detail = match quarantined(loaded).await {
        Ok(ids) if ids.is_empty() => return None,
        Ok(ids) => describe(&ids),
        Err(error) => format!("workflows cannot be read: {error:#}"),
    };
    Some(CheckResult { what: "workflows", ok: true, warning: true, detail })
}

fn describe(ids: &[String]) -> String {
    let named = ids.iter().take(NAMED).map(String::as_str).collect::<Vec<_>>().join(", ");
    let more = if ids.len() > NAMED { ", …" } else { "" };
    format!(
        "{} quarantined, because gateway processes died while they were active: {named}{more}. `powerstrip workflows show ID` \
         shows one; `powerstrip workflows continue ID --force` and `powerstrip workflows abort ID` end it",
        ids.len()
    )
}

/// The ids, from the process that owns the data folder, or from the database if there is none.
async fn quarantined(loaded: &Loaded) -> anyhow::Result<Vec<String>> {
    let folder = &loaded.config.data_dir;
    if let Some(owner) = OwnerProcess::find(folder).await {
        let state = Some(WorkflowState::Quarantined);
        let query = WorkflowQuery { state, limit: Some(COUNTED), ..WorkflowQuery::default() };
        let found = owner.run::<ListWorkflows>(&query).await?.workflows;
        return Ok(found.into_iter().map(|workflow| workflow.workflow_id).collect());
    }
    // Opening creates a database, and this command only looks.
    if loaded.database_url()?.is_none() && !folder.join(DATABASE_FILE).exists() {
        return Ok(Vec::new());
    }
    let Claim::Owner(_held) = DataFolder::claim(folder)? else { return Ok(Vec::new()) };
    let database = database::open(loaded, folder).await.context("the database cannot be opened")?;
    let filter = WorkflowFilter {
        phase: Some(WorkflowPhase::Paused),
        quarantined: true,
        limit: Some(COUNTED),
        ..WorkflowFilter::default()
    };
    let found = database.workflows(&filter).await;
    database.close().await;
    Ok(found?.iter().map(ToString::to_string).collect())
}
