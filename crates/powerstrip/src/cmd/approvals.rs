use std::collections::BTreeSet;
use std::process::ExitCode;

use anyhow::Context as _;
use approvals::operations::{
    ApprovalPage, ApprovalQuery, ById, Decide, DecideInput, ListApprovals, ListRules, RemoveRule,
    ShowApproval, WaitForChange,
};
use approvals::{ApprovalState, ApprovalView, DamagedRow, Extent, RuleView, Standing, Verdict};
use clap::{Args, Subcommand};
use config::Span;
use operations::NoInput;
use proto::clean;
use serde_json::json;

use crate::access::Access;
use crate::context::Context;
use crate::telemetry::Telemetry;
use terminal::table::{Cell, Record, Table, truncate};
use terminal::{Style, Tone, shown, time};

const EXAMPLES: &str = "\
Examples:
  powerstrip approvals                                 list calls that wait for a decision
  powerstrip approvals show 3f2a91c0                   one approval with its whole arguments
  powerstrip approvals approve 3f2a91c0
  powerstrip approvals reject 3f2a91c0 --reason 'not this customer'
  powerstrip approvals approve 3f2a91c0 --standing --for 8h
  powerstrip approvals watch                           print changes until Ctrl-C

The first eight characters of an id are enough. Arguments are shown whole; invisible characters, and those that would
act on the terminal, are written as escapes such as \\u202e.";

/// How much of the arguments a list shows.
const LONGEST_ARGUMENTS: usize = 100;

/// How many approvals are fetched at once.
const PAGE: u32 = 100;

/// Decide about calls that wait for approval
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ApprovalsCommand {
    #[command(subcommand)]
    action: Option<Action>,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// List waiting calls
    #[command(visible_alias = "list")]
    Ls {
        /// Include decided calls, newest first.
        #[arg(long)]
        all: bool,
    },
    /// Show one with its whole arguments
    Show {
        /// The approval's id, or its first eight characters.
        id: String,
    },
    /// Approve a call, once
    Approve(Approve),
    /// Reject a call
    Reject {
        /// The approval's id, or its first eight characters.
        id: String,
        /// The reason that the caller gets.
        #[arg(long)]
        reason: Option<String>,
    },
    /// List standing rules, or remove one
    Rules {
        #[command(subcommand)]
        action: Option<RulesAction>,
    },
    /// Watch approvals
    Watch,
}

#[derive(Debug, Args)]
struct Approve {
    /// The approval's id, or its first eight characters.
    id: String,
    /// Approve equal calls of this caller without asking, until the rule ends.
    #[arg(long)]
    standing: bool,
    /// Make the standing rule hold for any arguments, not only these.
    #[arg(long, requires = "standing")]
    any_arguments: bool,
    /// Make the standing rule hold for the run of this call only.
    #[arg(long, requires = "standing")]
    this_run: bool,
    /// How long the standing rule holds, such as `8h` [default: 1h].
    #[arg(long = "for", value_name = "TIME", requires = "standing")]
    lasts: Option<Span>,
}

#[derive(Debug, Subcommand)]
enum RulesAction {
    /// List standing rules
    #[command(visible_alias = "list")]
    Ls,
    /// Remove a standing rule
    Rm {
        /// The rule's id, as `rules` lists it.
        id: String,
    },
}

impl ApprovalsCommand {
    pub(crate) async fn run(self, context: &Context) -> anyhow::Result<ExitCode> {
        let loaded = context.load()?;
        let telemetry = Telemetry::start(&loaded, context, Telemetry::QUIET)?;
        let printer =
            Printer { style: Style::stdout(&context.environment), as_json: context.global.json };
        let action = self.action.unwrap_or(Action::Ls { all: false });
        let done = match Access::open_existing(context, &loaded).await? {
            Some(access) => {
                let done = action.run(&access, printer).await;
                access.close().await;
                done
            }
            None => action.run_without_data(printer),
        };
        telemetry.flush().await;
        done.map(|()| ExitCode::SUCCESS)
    }
}

impl Action {
    /// There are no approvals where there is no data folder.
    fn run_without_data(self, printer: Printer) -> anyhow::Result<()> {
        match self {
            Self::Ls { .. } => printer.list(&[]),
            Self::Rules { action: None | Some(RulesAction::Ls) } => printer.rules(&[]),
            _ => anyhow::bail!("there are no approvals"),
        }
    }

    async fn run(self, access: &Access, printer: Printer) -> anyhow::Result<()> {
        match self {
            Self::Ls { all } => {
                let page = if all { newest(access).await? } else { waiting(access).await? };
                printer.list(&page.approvals)?;
                note_damaged("approval", &page.damaged);
                Ok(())
            }
            Self::Show { id } => printer.whole(&access.run::<ShowApproval>(&ById { id }).await?),
            Self::Approve(approve) => {
                printer.one(&access.run::<Decide>(&approve.into_input()).await?)
            }
            Self::Reject { id, reason } => {
                let input = DecideInput { id, decision: Verdict::Reject, reason, standing: None };
                printer.one(&access.run::<Decide>(&input).await?)
            }
            Self::Rules { action: None | Some(RulesAction::Ls) } => {
                let listed = access.run::<ListRules>(&NoInput {}).await?;
                printer.rules(&listed.rules)?;
                note_damaged("rule", &listed.damaged);
                Ok(())
            }
            Self::Rules { action: Some(RulesAction::Rm { id }) } => {
                let removed = access.run::<RemoveRule>(&ById { id }).await?;
                if printer.as_json {
                    Ok(terminal::record(&removed)?)
                } else {
                    Ok(terminal::line("the rule is removed")?)
                }
            }
            Self::Watch => watch(access, printer).await,
        }
    }
}

impl Approve {
    fn into_input(self) -> DecideInput {
        let standing = self.standing.then(|| Standing {
            arguments: if self.any_arguments { Extent::Any } else { Extent::These },
            run: self.this_run,
            seconds: self.lasts.map(|span| span.0.as_secs()),
        });
        DecideInput { id: self.id, decision: Verdict::Approve, reason: None, standing }
    }
}

/// The newest approvals, decided or not.
async fn newest(access: &Access) -> anyhow::Result<ApprovalPage> {
    let query = ApprovalQuery { state: Some("all".to_owned()), after: None, limit: Some(PAGE) };
    access.run::<ListApprovals>(&query).await
}

/// All waiting approvals, page by page: none is hidden behind those of other callers.
async fn waiting(access: &Access) -> anyhow::Result<ApprovalPage> {
    let mut query = ApprovalQuery { limit: Some(PAGE), ..ApprovalQuery::default() };
    let mut all = access.run::<ListApprovals>(&query).await?;
    while let Some(next) = all.next.take() {
        query.after = Some(next);
        let page = access.run::<ListApprovals>(&query).await?;
        all.approvals.extend(page.approvals);
        all.damaged.extend(page.damaged);
        all.next = page.next;
    }
    Ok(all)
}

/// Names what a list leaves out, because its stored row cannot be read.
pub(super) fn note_damaged(what: &str, rows: &[DamagedRow]) {
    for DamagedRow { id, column, .. } in rows {
        terminal::note(format_args!(
            "the stored {what} {} is damaged: its {column} cannot be read",
            shown(id)
        ));
    }
}

/// Prints approvals that appear and those that no longer wait. Every round compares whole lists, so none is missed.
async fn watch(access: &Access, printer: Printer) -> anyhow::Result<()> {
    let mut known = BTreeSet::new();
    loop {
        let approvals = waiting(access).await?.approvals;
        for approval in approvals.iter().filter(|approval| !known.contains(&approval.id)) {
            printer.event(approval)?;
        }
        let now: BTreeSet<_> = approvals.into_iter().map(|approval| approval.id).collect();
        for id in known.difference(&now).cloned() {
            printer.event(&access.run::<ShowApproval>(&ById { id }).await?)?;
        }
        known = now;
        access.run::<WaitForChange>(&NoInput {}).await?;
    }
}

/// Prints approvals for people or programs.
#[derive(Clone, Copy)]
struct Printer {
    style: Style,
    as_json: bool,
}

impl Printer {
    fn list(self, approvals: &[ApprovalView]) -> anyhow::Result<()> {
        if self.as_json {
            return Ok(terminal::record(&approvals)?);
        }
        if approvals.is_empty() {
            return Ok(terminal::line("no call waits for a decision")?);
        }
        let mut table =
            Table::new(["ID", "TOOL", "STATE", "CALLER", "ARGUMENTS"]).cut(["CALLER", "ARGUMENTS"]);
        for approval in approvals {
            table.row([
                Cell::new(&approval.id),
                Cell::new(&approval.tool).tone(Tone::Strong),
                state(approval),
                Cell::new(caller(&approval.tenant, &approval.owner, approval.agent.as_deref())),
                Cell::new(arguments(approval)).tone(Tone::Faint),
            ]);
            if let Some(reason) = &approval.request_reason {
                table.detail(Cell::new(format_args!("asked because: {reason}")));
            }
        }
        Ok(table.print(self.style)?)
    }

    fn one(self, approval: &ApprovalView) -> anyhow::Result<()> {
        if self.as_json { Ok(terminal::record(approval)?) } else { self.brief(approval) }
    }

    /// One line, also as JSON.
    fn event(self, approval: &ApprovalView) -> anyhow::Result<()> {
        if self.as_json { Ok(terminal::record_line(approval)?) } else { self.brief(approval) }
    }

    fn brief(self, approval: &ApprovalView) -> anyhow::Result<()> {
        terminal::line(format_args!(
            "{}  {}  {}  {}  {}",
            shown(&approval.id),
            self.style.bold(shown(&approval.tool)),
            shown(&caller(&approval.tenant, &approval.owner, approval.agent.as_deref())),
            state(approval).painted(self.style),
            self.style.faint(shown(&arguments(approval)))
        ))?;
        Ok(())
    }

    fn whole(self, approval: &ApprovalView) -> anyhow::Result<()> {
        if self.as_json {
            return Ok(terminal::record(approval)?);
        }
        let mut record = Record::new();
        let tool = format!("{} {}", approval.tool, approval.version);
        record.field("tool", Cell::new(tool).tone(Tone::Strong));
        record.field("id", Cell::new(&approval.id));
        record.field("state", state(approval));
        let caller = caller(&approval.tenant, &approval.owner, approval.agent.as_deref());
        record.field("caller", Cell::new(caller));
        record.field("door", Cell::new(&approval.door));
        record.field("trace", Cell::new(&approval.trace));
        record.field("definition", Cell::new(approval.definition));
        record.maybe("code", approval.code.as_ref().map(|code| format!("sha256 {code}")));
        let key = approval.idempotency_key.as_ref();
        record.maybe("key", key.map(|key| clean::visible_json(&json!(key).to_string())));
        record.maybe("asked because", approval.request_reason.as_ref());
        record.maybe("run", approval.run.as_ref());
        record.maybe("decided by", approval.decided_by.as_ref());
        record.maybe("via", approval.decided_via.as_ref());
        record.maybe("reason", approval.reason.as_ref());
        for file in &approval.files {
            let text = format!("{}, {} bytes, sha256 {}", file.name, file.size, file.sha256);
            record.field("file", Cell::new(text));
        }
        record.maybe("files", approval.files_error.as_ref());
        record.field("arguments", Cell::new(format_args!("sha256 {}", approval.arguments_digest)));
        record.print(self.style)?;
        let shown = approval.shown.as_ref().or(approval.arguments_error.as_ref());
        terminal::line(shown.context("the gateway did not send the arguments of this call")?)?;
        Ok(())
    }

    fn rules(self, rules: &[RuleView]) -> anyhow::Result<()> {
        if self.as_json {
            return Ok(terminal::record(&rules)?);
        }
        if rules.is_empty() {
            return Ok(terminal::line("no standing rules: every gated call is asked about")?);
        }
        let headers = ["ID", "TOOL", "CALLER", "ENDS IN", "USED", "BY", "RUN", "ARGUMENTS"];
        let mut table = Table::new(headers).right(["USED"]).cut(["CALLER", "BY", "ARGUMENTS"]);
        for RuleView { rule, .. } in rules {
            let arguments = match &rule.arguments {
                Some(arguments) => Cell::new(one_line(&clean::visible_json(arguments))),
                None => Cell::new("any arguments").tone(Tone::Doubtful),
            };
            table.row([
                Cell::new(&rule.id),
                Cell::new(&rule.tool).tone(Tone::Strong),
                Cell::new(caller(&rule.tenant, &rule.owner, rule.agent.as_deref())),
                Cell::new(time::left(rule.expires_unix_ms)),
                Cell::new(rule.uses),
                Cell::new(&rule.created_by),
                Cell::maybe(rule.run.as_deref()),
                arguments,
            ]);
        }
        Ok(table.print(self.style)?)
    }
}

fn state(approval: &ApprovalView) -> Cell {
    match approval.state {
        ApprovalState::Pending => {
            let left = time::left(approval.deadline_unix_ms);
            Cell::new(format_args!("waits, {left} left")).tone(Tone::Doubtful)
        }
        state @ (ApprovalState::Approved | ApprovalState::Consumed) => {
            Cell::new(state).tone(Tone::Good)
        }
        state => Cell::new(state).tone(Tone::Bad),
    }
}

fn arguments(approval: &ApprovalView) -> String {
    match (&approval.shown, &approval.arguments_error) {
        (Some(shown), _) => one_line(shown),
        (None, Some(_)) => "damaged arguments".to_owned(),
        (None, None) => format!("{} bytes of arguments", approval.arguments_bytes),
    }
}

/// Enough of the arguments to recognise the call; `show` has all.
fn one_line(arguments: &str) -> String {
    let words: Vec<_> = arguments.split_whitespace().collect();
    truncate(&words.join(" "), LONGEST_ARGUMENTS)
}

fn caller(tenant: &str, owner: &str, agent: Option<&str>) -> String {
    let agent = agent.map(|agent| format!(" as {agent}")).unwrap_or_default();
    format!("{tenant}/{owner}{agent}")
}
