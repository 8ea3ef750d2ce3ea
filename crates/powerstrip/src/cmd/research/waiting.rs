//! What to do when the research waits for a person.

use std::collections::BTreeSet;
use std::path::PathBuf;

use anyhow::Context as _;
use config::Loaded;
use runs::QuestionView;
use strip::runs::operations::{RunId, ShowRun};

use super::artifacts::{DRAFT, OutputFolder, slug};
use crate::access::Access;
use gateway::handover;

/// Explains how to answer, once for each question.
pub(super) struct Attendant<'a> {
    access: &'a Access,
    loaded: &'a Loaded,
    folder: &'a OutputFolder,
    run: String,
    explained: BTreeSet<String>,
}

impl<'a> Attendant<'a> {
    pub(super) fn new(
        access: &'a Access,
        loaded: &'a Loaded,
        folder: &'a OutputFolder,
        workflow: &str,
    ) -> Self {
        let run = format!("run_{}", workflow.replace('-', ""));
        Self { access, loaded, folder, run, explained: BTreeSet::new() }
    }

    /// Explains the questions that are open, or where to approve.
    pub(super) async fn explain(&mut self) -> anyhow::Result<()> {
        let run = self.access.run::<ShowRun>(&RunId { id: self.run.clone() }).await?;
        let open = run.questions.iter().filter(|question| question.state == "open");
        let new: Vec<_> =
            open.filter(|question| !self.explained.contains(&question.slot_id)).collect();
        if new.is_empty() && run.questions.is_empty() {
            if self.explained.insert("approvals".to_owned()) {
                terminal::note("A call needs an approval: `powerstrip approvals` lists it.");
            }
            return Ok(());
        }
        for question in new {
            self.explained.insert(question.slot_id.clone());
            self.tell(question).await?;
        }
        Ok(())
    }

    async fn tell(&self, question: &QuestionView) -> anyhow::Result<()> {
        let (run, slot) = (&self.run, &question.slot_id);
        terminal::note(terminal::shown(&question.prompt));
        if let (Some(text), "document") = (question.options.first(), question.slot_type.as_str()) {
            let path = self.write_draft(slot, text)?;
            let path = path.display();
            terminal::note(format_args!("  Edit {path}, then answer in another terminal:"));
            terminal::note(format_args!(
                "  powerstrip runs answer {run} --slot {slot} --file {path}"
            ));
        } else {
            terminal::note(format_args!(
                "  powerstrip runs answer {run} --slot {slot} --text ANSWER"
            ));
        }
        if let Some(url) = handover::served_at(&self.loaded.config.data_dir).await {
            let url = url.trim_end_matches('/');
            terminal::note(format_args!("  or on its page: {url}/dashboard/runs/{run}"));
        }
        terminal::note("Waiting for the answer …");
        Ok(())
    }

    /// Writes the text that a question begins with.
    fn write_draft(&self, slot: &str, text: &str) -> anyhow::Result<PathBuf> {
        self.folder.create()?;
        let kind = if slot.contains("question") { "questions" } else { "outline" };
        let mut path = self.folder.path().join(format!("{kind}{DRAFT}"));
        if path.exists() {
            // A second question of the same kind keeps its own draft.
            path = self.folder.path().join(format!("{}{DRAFT}", slug(slot)));
        }
        if path.exists() {
            // An earlier call wrote it, and a person may have edited it.
            return Ok(path);
        }
        userfiles::create_new(&path, text.as_bytes())
            .with_context(|| format!("{} cannot be written", path.display()))?;
        Ok(path)
    }
}
