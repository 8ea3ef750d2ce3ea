use std::collections::BTreeSet;
use std::process::ExitCode;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use clap::{Args, Subcommand};
use config::Span;
use proto::clean;
use serde_json::{Value, json};

use crate::access::Access;
use crate::context::Context;
use crate::gateway::approvals::{DECIDE, LIST, NEXT, REMOVE_RULE, RULES, SHOW};
use crate::output::{self, Style, field as text};
use crate::telemetry::Telemetry;

const EXAMPLES: &str = "\
Examples:
  powerstrip approvals                                 what waits for a decision
  powerstrip approvals show 3f2a91c0                       all of one, with its whole arguments
  powerstrip approvals approve 3f2a91c0
  powerstrip approvals reject 3f2a91c0 --reason 'not this customer'
  powerstrip approvals approve 3f2a91c0 --standing --for 8h
  powerstrip approvals watch                           tell what comes, until Ctrl-C

The first eight letters of an id are enough. Arguments are shown whole; what could not be seen, or would act on the terminal,
is written as escapes such as \\u202e.";

/// Decide about calls that wait for a person
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ApprovalsCommand {
    #[command(subcommand)]
    action: Option<Action>,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// List what waits
    Ls {
        /// Also what was decided, the newest first.
        #[arg(long)]
        all: bool,
    },
    /// Show one, whole
    Show { id: String },
    /// Let a call run, once
    Approve(Approve),
    /// Refuse a call
    Reject {
        id: String,
        /// What the caller is told.
        #[arg(long)]
        reason: Option<String>,
    },
    /// List standing rules, or take one out
    Rules {
        #[command(subcommand)]
        action: Option<RulesAction>,
    },
    /// Tell what comes and goes
    Watch,
}

#[derive(Debug, Args)]
struct Approve {
    id: String,
    /// Let equal calls of this caller through without asking, until the rule ends.
    #[arg(long)]
    standing: bool,
    /// A standing rule for whatever arguments, not only these.
    #[arg(long, requires = "standing")]
    any_arguments: bool,
    /// A standing rule for the run of this call only.
    #[arg(long, requires = "standing")]
    this_run: bool,
    /// How long a standing rule holds, such as `8h` [default: 1h].
    #[arg(long = "for", value_name = "TIME", requires = "standing")]
    lasts: Option<Span>,
}

#[derive(Debug, Subcommand)]
enum RulesAction {
    /// Take a standing rule out
    Rm { id: String },
}

impl ApprovalsCommand {
    pub(crate) async fn run(self, context: &Context) -> anyhow::Result<ExitCode> {
        let loaded = context.load()?;
        let telemetry = Telemetry::start(&loaded, context, Telemetry::QUIET)?;
        let access = Access::open(context, &loaded, None).await?;
        let action = self.action.unwrap_or(Action::Ls { all: false });
        let done = action.run(&access, context).await;
        access.close().await;
        telemetry.flush().await;
        done.map(|()| ExitCode::SUCCESS)
    }
}

impl Action {
    async fn run(self, access: &Access, context: &Context) -> anyhow::Result<()> {
        let (style, as_json) = (Style::stdout(&context.environment), context.global.json);
        let (method, params) = match &self {
            Self::Ls { all } => (LIST, json!({"all": all})),
            Self::Show { id } => (SHOW, json!({"id": id})),
            Self::Approve(approve) => (DECIDE, approve.params()),
            Self::Reject { id, reason } => {
                (DECIDE, json!({"id": id, "decision": "reject", "reason": reason}))
            }
            Self::Rules { action: None } => (RULES, json!({})),
            Self::Rules { action: Some(RulesAction::Rm { id }) } => {
                (REMOVE_RULE, json!({"id": id}))
            }
            Self::Watch => return watch(access, style, as_json).await,
        };
        let answer = match &self {
            Self::Ls { all: false } => waiting(access).await?,
            _ => access.operate(method, params).await?,
        };
        if as_json {
            output::json(&answer)?;
            return Ok(());
        }
        match self {
            Self::Ls { .. } => {
                let rows = answer.as_array().map_or(&[][..], Vec::as_slice);
                if rows.is_empty() {
                    output::line("nothing waits for a decision")?;
                }
                rows.iter().try_for_each(|row| brief(row, style))?;
            }
            Self::Show { .. } => whole(&answer, style)?,
            Self::Approve(_) | Self::Reject { .. } => brief(&answer, style)?,
            Self::Rules { action: None } => rules(&answer, style)?,
            Self::Rules { action: Some(_) } => output::line("the rule is taken out")?,
            Self::Watch => {}
        }
        Ok(())
    }
}

impl Approve {
    fn params(&self) -> Value {
        let standing = self.standing.then(|| {
            json!({
                "arguments": if self.any_arguments { "any" } else { "these" },
                "run": self.this_run,
                "seconds": self.lasts.as_ref().map(|span| span.0.as_secs()),
            })
        });
        json!({"id": self.id, "decision": "approve", "standing": standing})
    }
}

/// All that waits, page after page: nothing stands behind what others have sent.
async fn waiting(access: &Access) -> anyhow::Result<Value> {
    let (mut rows, mut after) = (Vec::new(), Value::Null);
    loop {
        let page = access.operate(LIST, json!({"all": false, "after": after})).await?;
        let page = page.as_array().cloned().unwrap_or_default();
        let Some(last) = page.last() else { return Ok(rows.into()) };
        after = json!([last["createdUnixMs"], last["id"]]);
        rows.extend(page);
    }
}

/// Tells what comes and goes. What is listed is what counts: nothing is missed, however long a round takes.
async fn watch(access: &Access, style: Style, as_json: bool) -> anyhow::Result<()> {
    let mut known = BTreeSet::new();
    loop {
        let rows = waiting(access).await?;
        let rows = rows.as_array().cloned().unwrap_or_default();
        let now: BTreeSet<_> = rows.iter().map(|row| text(row, "id")).collect();
        for row in rows.iter().filter(|row| !known.contains(&text(row, "id"))) {
            if as_json { output::line(row)? } else { brief(row, style)? }
        }
        for gone in known.difference(&now) {
            let row = access.operate(SHOW, json!({"id": gone})).await?;
            if as_json { output::line(&row)? } else { brief(&row, style)? }
        }
        known = now;
        access.operate(NEXT, json!({})).await?;
    }
}

fn brief(row: &Value, style: Style) -> anyhow::Result<()> {
    let state = match text(row, "state").as_str() {
        "pending" => style.doubtful(format_args!("waits, {} left", left(row))),
        state @ ("approved" | "consumed") => style.good(state),
        state => style.bad(state),
    };
    let shown = row["shown"].as_str().map(one_line).unwrap_or_else(|| {
        format!("{} bytes of arguments", row["argumentsBytes"].as_u64().unwrap_or_default())
    });
    output::line(format_args!(
        "{}  {}  {}  {}  {}",
        text(row, "id"),
        style.bold(text(row, "tool")),
        caller(row),
        state,
        style.faint(shown)
    ))?;
    Ok(())
}

fn whole(row: &Value, style: Style) -> anyhow::Result<()> {
    let head = |name: &str, value: String| output::line(format_args!("{name:<12}{value}"));
    output::line(style.bold(format_args!("{} {}", text(row, "tool"), text(row, "version"))))?;
    head("id", text(row, "id"))?;
    head("state", text(row, "state"))?;
    head("caller", caller(row))?;
    head("door", text(row, "door"))?;
    head("trace", text(row, "trace"))?;
    head("definition", text(row, "definition"))?;
    if row["code"].is_string() {
        head("code", format!("sha256 {}", text(row, "code")))?;
    }
    if let Some(key) = row["idempotencyKey"].as_str() {
        head("key", clean::visible_json(&json!(key).to_string()))?;
    }
    if text(row, "state") == "pending" {
        head("time left", left(row))?;
    }
    for (name, field) in
        [("run", "run"), ("decided by", "decidedBy"), ("via", "decidedVia"), ("reason", "reason")]
    {
        if row[field].is_string() {
            head(name, text(row, field))?;
        }
    }
    for file in row["files"].as_array().into_iter().flatten() {
        let size = file["size"].as_u64().unwrap_or_default();
        let said = format!("{}, {size} bytes, sha256 {}", text(file, "name"), text(file, "sha256"));
        head("file", said)?;
    }
    head("arguments", format!("sha256 {}", text(row, "argumentsSum")))?;
    // Written as escapes where it could not be seen or would act; all of it is here.
    output::line(row["shown"].as_str().unwrap_or_default())?;
    Ok(())
}

fn rules(rules: &Value, style: Style) -> anyhow::Result<()> {
    let rules = rules.as_array().map_or(&[][..], Vec::as_slice);
    if rules.is_empty() {
        output::line("no standing rules: every gated call is asked about")?;
    }
    for rule in rules {
        let which = match rule["arguments"].as_str() {
            Some(arguments) => one_line(&clean::visible_json(arguments)),
            None => style.doubtful("any arguments"),
        };
        let run = rule["run"]
            .as_str()
            .map(|_| format!(", run {}", text(rule, "run")))
            .unwrap_or_default();
        output::line(format_args!(
            "{}  {}  {}{run}  {which}  by {}, used {} times, ends in {}",
            text(rule, "id"),
            style.bold(text(rule, "tool")),
            caller(rule),
            text(rule, "createdBy"),
            rule["uses"].as_u64().unwrap_or_default(),
            span(rule["expiresUnixMs"].as_u64().unwrap_or_default()),
        ))?;
    }
    Ok(())
}

/// Enough of the arguments to know which call it is; `show` has all.
fn one_line(shown: &str) -> String {
    let words: Vec<_> = shown.split_whitespace().collect();
    let line = words.join(" ");
    match line.char_indices().nth(100) {
        Some((end, _)) => format!("{} …", &line[..end]),
        None => line,
    }
}

fn caller(row: &Value) -> String {
    let agent = row["agent"].as_str().map(|_| format!(" as {}", text(row, "agent")));
    format!("{}/{}{}", text(row, "tenant"), text(row, "owner"), agent.unwrap_or_default())
}

fn left(row: &Value) -> String {
    span(row["deadlineUnixMs"].as_u64().unwrap_or_default())
}

fn span(until_unix_ms: u64) -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let seconds = Duration::from_millis(until_unix_ms).saturating_sub(now).as_secs();
    match seconds {
        0..120 => format!("{seconds} s"),
        120..7_200 => format!("{} min", seconds / 60),
        _ => format!("{} h", seconds / 3_600),
    }
}
