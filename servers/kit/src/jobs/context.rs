//! What the work of a job may use.

use std::sync::Arc;

use bytes::Bytes;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::base::Base;
use crate::fetch::Fetched;
use crate::program::{Engine, Program, Ran, Task};
use crate::stored::ReferenceStore;
use crate::{Fault, StoredBytes, StoredRef};

/// How far a job is: a part from 0 to 1, and what it does.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Step {
    pub(super) progress: f64,
    pub(super) name: String,
}

/// A running job. It has no caller: what a caller must know goes into its result.
#[derive(Debug, Clone)]
pub struct JobCtx {
    pub(super) base: Arc<Base>,
    pub(super) references: ReferenceStore,
    pub(super) cancel: CancellationToken,
    pub(super) step: watch::Sender<Step>,
}

impl JobCtx {
    /// Says what the job does now, and which part of it is done, from 0 to 1.
    pub fn step(&self, progress: f64, name: &str) {
        self.step.send_replace(Step { progress: progress.clamp(0.0, 1.0), name: name.to_owned() });
    }

    /// Downloads a file, as the part of the job up to `until`.
    pub async fn fetch(&self, url: &str, until: f64) -> Result<Fetched, Fault> {
        self.step(0.0, "downloading");
        self.base.fetch(url, |part| self.step(part * until, "downloading")).await
    }

    /// Runs a program to its end, without a shell and without the network.
    pub async fn run(&self, program: &Program, task: Task) -> Result<Ran, Fault> {
        self.base.run(program, task, &self.cancel).await
    }

    /// Fails with UNSUPPORTED where a program is missing, before other work is done.
    pub async fn require(&self, program: &Program) -> Result<(), Fault> {
        program.locate(self.base.runner().await?).await.map(drop)
    }

    /// The name and version of a program; UNSUPPORTED where it is missing.
    pub async fn engine(&self, program: &Program) -> Result<Engine, Fault> {
        program.engine(self.base.runner().await?).await
    }

    /// Stores bytes under an id that begins with `prefix`.
    pub async fn store_as(
        &self,
        prefix: &'static str,
        bytes: impl Into<Bytes>,
        media_type: &str,
        name: &str,
    ) -> Result<StoredRef, Fault> {
        self.references.store(prefix, bytes.into(), media_type, name).await
    }

    /// The bytes of a reference.
    pub async fn load(&self, ref_id: &str) -> Result<StoredBytes, Fault> {
        self.references.find(ref_id).await
    }
}
