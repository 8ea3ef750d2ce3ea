//! Reads and watches the prompts folder.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use prompts::Snapshot;
use proto::{Finding, Severity};
use strip::Strip;
use tokio_util::sync::CancellationToken;

use crate::watch::watch;

/// Publishes the folder's prompts and those that are compiled in; a broken one keeps its last version.
pub(super) async fn load(strip: &Arc<Strip>, folder: &Path, reported: &Mutex<Vec<Finding>>) {
    let (strip, folder) = (Arc::clone(strip), folder.to_owned());
    let loaded = tokio::task::spawn_blocking(move || {
        let (prompts, findings) = Snapshot::load_keeping(&folder, &strip.prompts().snapshot());
        strip.prompts().replace(prompts.with_shipped());
        findings
    });
    match loaded.await {
        Ok(findings) => report(findings, reported),
        Err(error) => tracing::error!(%error, "the prompts could not be read"),
    }
}

/// Watches the folder until cancelled.
pub(super) async fn follow(
    strip: Arc<Strip>,
    folder: PathBuf,
    reported: Mutex<Vec<Finding>>,
    cancel: CancellationToken,
) {
    watch(folder.clone(), cancel, || load(&strip, &folder, &reported)).await;
}

/// Logs new findings, and those that were fixed.
fn report(findings: Vec<Finding>, reported: &Mutex<Vec<Finding>>) {
    let mut reported = reported.lock().unwrap_or_else(PoisonError::into_inner);
    for finding in findings.iter().filter(|finding| !reported.contains(finding)) {
        match finding.severity {
            Severity::Error => tracing::warn!(%finding, "a prompt cannot be used"),
            Severity::Warning | Severity::Advice => {
                tracing::debug!(%finding, "a prompt could be better")
            }
        }
    }
    for finding in reported
        .iter()
        .filter(|finding| finding.severity == Severity::Error && !findings.contains(finding))
    {
        tracing::info!(file = %finding.file.display(), "a prompt is fixed");
    }
    *reported = findings;
}
