use std::collections::BTreeSet;
use std::process::ExitCode;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use clap::{Args, Subcommand};
use config::Span;
use operations::NoInput;
use proto::clean;
use serde_json::json;
use strip::approval::operations::{
    ApprovalQuery, ById, Decide, DecideInput, ListApprovals, ListRules, RemoveRule, ShowApproval,
    WaitForChange,
};
use strip::approval::{ApprovalRuleRow, ApprovalState, ApprovalView, Extent, Standing, Verdict};

use crate::access::Access;
use crate::context::Context;
use crate::output::{self, Style, shown};
use crate::telemetry::Telemetry;

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
    Ls {
        /// Include decided calls, newest first.
        #[arg(long)]
        all: bool,
    },
    /// Show one with its whole arguments
    Show { id: String },
    /// Approve a call, once
    Approve(Approve),
    /// Reject a call
    Reject {
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
    /// Remove a standing rule
    Rm { id: String },
}

impl ApprovalsCommand {
    pub(crate) async fn run(self, context: &Context) -> anyhow::Result<ExitCode> {
        let loaded = context.load()?;
        let telemetry = Telemetry::start(&loaded, context, Telemetry::QUIET)?;
        let access = Access::open(context, &loaded, None).await?;
        let printer =
            Printer { style: Style::stdout(&context.environment), as_json: context.global.json };
        let action = self.action.unwrap_or(Action::Ls { all: false });
        let done = action.run(&access, printer).await;
        access.close().await;
        telemetry.flush().await;
        done.map(|()| ExitCode::SUCCESS)
    }
}

impl Action {
    async fn run(self, access: &Access, printer: Printer) -> anyhow::Result<()> {
        match self {
            Self::Ls { all } => {
                let approvals = if all { newest(access).await? } else { waiting(access).await? };
                printer.list(&approvals)
            }
            Self::Show { id } => printer.whole(&access.run::<ShowApproval>(&ById { id }).await?),
            Self::Approve(approve) => {
                printer.one(&access.run::<Decide>(&approve.into_input()).await?)
            }
            Self::Reject { id, reason } => {
                let input = DecideInput { id, decision: Verdict::Reject, reason, standing: None };
                printer.one(&access.run::<Decide>(&input).await?)
            }
            Self::Rules { action: None } => {
                printer.rules(&access.run::<ListRules>(&NoInput {}).await?.rules)
            }
            Self::Rules { action: Some(RulesAction::Rm { id }) } => {
                let removed = access.run::<RemoveRule>(&ById { id }).await?;
                match printer.as_json {
                    true => output::json(&removed)?,
                    false => output::line("the rule is removed")?,
                }
                Ok(())
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
async fn newest(access: &Access) -> anyhow::Result<Vec<ApprovalView>> {
    let query = ApprovalQuery { state: Some("all".to_owned()), after: None, limit: Some(PAGE) };
    Ok(access.run::<ListApprovals>(&query).await?.approvals)
}

/// All waiting approvals, page by page: none is hidden behind those of other callers.
async fn waiting(access: &Access) -> anyhow::Result<Vec<ApprovalView>> {
    let mut approvals = Vec::new();
    let mut query = ApprovalQuery { limit: Some(PAGE), ..ApprovalQuery::default() };
    loop {
        let page = access.run::<ListApprovals>(&query).await?;
        approvals.extend(page.approvals);
        query.after = page.next;
        if query.after.is_none() {
            return Ok(approvals);
        }
    }
}

/// Prints approvals that appear and those that no longer wait. Every round compares whole lists, so none is missed.
async fn watch(access: &Access, printer: Printer) -> anyhow::Result<()> {
    let mut known = BTreeSet::new();
    loop {
        let approvals = waiting(access).await?;
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
            return Ok(output::json(&approvals)?);
        }
        if approvals.is_empty() {
            output::line("no call waits for a decision")?;
        }
        approvals.iter().try_for_each(|approval| self.brief(approval))
    }

    fn one(self, approval: &ApprovalView) -> anyhow::Result<()> {
        if self.as_json { Ok(output::json(approval)?) } else { self.brief(approval) }
    }

    /// One line, also as JSON.
    fn event(self, approval: &ApprovalView) -> anyhow::Result<()> {
        if self.as_json { Ok(output::line(json!(approval))?) } else { self.brief(approval) }
    }

    fn brief(self, approval: &ApprovalView) -> anyhow::Result<()> {
        let state = match approval.state {
            ApprovalState::Pending => {
                let left = time_left(approval.deadline_unix_ms);
                self.style.doubtful(format_args!("waits, {left} left"))
            }
            state @ (ApprovalState::Approved | ApprovalState::Consumed) => self.style.good(state),
            state => self.style.bad(state),
        };
        let arguments = approval.shown.as_deref().map(one_line);
        let arguments =
            arguments.unwrap_or_else(|| format!("{} bytes of arguments", approval.arguments_bytes));
        output::line(format_args!(
            "{}  {}  {}  {}  {}",
            shown(&approval.id),
            self.style.bold(shown(&approval.tool)),
            caller(&approval.tenant, &approval.owner, approval.agent.as_deref()),
            state,
            self.style.faint(arguments)
        ))?;
        Ok(())
    }

    fn whole(self, approval: &ApprovalView) -> anyhow::Result<()> {
        if self.as_json {
            return Ok(output::json(approval)?);
        }
        let head = |name: &str, value: String| output::line(format_args!("{name:<12}{value}"));
        let title = format!("{} {}", shown(&approval.tool), shown(&approval.version));
        output::line(self.style.bold(title))?;
        head("id", shown(&approval.id))?;
        head("state", approval.state.to_string())?;
        head("caller", caller(&approval.tenant, &approval.owner, approval.agent.as_deref()))?;
        head("door", shown(&approval.door))?;
        head("trace", shown(&approval.trace))?;
        head("definition", approval.definition.to_string())?;
        if let Some(code) = &approval.code {
            head("code", format!("sha256 {code}"))?;
        }
        if let Some(key) = &approval.idempotency_key {
            head("key", clean::visible_json(&json!(key).to_string()))?;
        }
        if approval.state == ApprovalState::Pending {
            head("time left", time_left(approval.deadline_unix_ms))?;
        }
        for (name, value) in [
            ("run", &approval.run),
            ("decided by", &approval.decided_by),
            ("via", &approval.decided_via),
            ("reason", &approval.reason),
        ] {
            if let Some(value) = value {
                head(name, shown(value))?;
            }
        }
        for file in &approval.files {
            let (name, digest) = (shown(&file.name), shown(&file.sha256));
            head("file", format!("{name}, {} bytes, sha256 {digest}", file.size))?;
        }
        head("arguments", format!("sha256 {}", approval.arguments_sum))?;
        output::line(approval.shown.as_deref().unwrap_or_default())?;
        Ok(())
    }

    fn rules(self, rules: &[ApprovalRuleRow]) -> anyhow::Result<()> {
        if self.as_json {
            return Ok(output::json(&rules)?);
        }
        if rules.is_empty() {
            output::line("no standing rules: every gated call is asked about")?;
        }
        for rule in rules {
            let arguments = match &rule.arguments {
                Some(arguments) => one_line(&clean::visible_json(arguments)),
                None => self.style.doubtful("any arguments"),
            };
            let run = rule.run.as_deref().map(|run| format!(", run {}", shown(run)));
            output::line(format_args!(
                "{}  {}  {}{}  {arguments}  by {}, used {} times, ends in {}",
                shown(&rule.id),
                self.style.bold(shown(&rule.tool)),
                caller(&rule.tenant, &rule.owner, rule.agent.as_deref()),
                run.unwrap_or_default(),
                shown(&rule.created_by),
                rule.uses,
                time_left(rule.expires_unix_ms),
            ))?;
        }
        Ok(())
    }
}

/// Enough of the arguments to recognise the call; `show` has all.
fn one_line(arguments: &str) -> String {
    let words: Vec<_> = arguments.split_whitespace().collect();
    let line = words.join(" ");
    match line.char_indices().nth(100) {
        Some((end, _)) => format!("{} …", &line[..end]),
        None => line,
    }
}

fn caller(tenant: &str, owner: &str, agent: Option<&str>) -> String {
    let agent = agent.map(|agent| format!(" as {}", shown(agent))).unwrap_or_default();
    format!("{}/{}{agent}", shown(tenant), shown(owner))
}

fn time_left(until_unix_ms: u64) -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let seconds = Duration::from_millis(until_unix_ms).saturating_sub(now).as_secs();
    match seconds {
        0..120 => format!("{seconds} s"),
        120..7_200 => format!("{} min", seconds / 60),
        _ => format!("{} h", seconds / 3_600),
    }
}
