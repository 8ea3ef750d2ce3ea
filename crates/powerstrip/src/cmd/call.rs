mod arguments;
mod gate;

use std::io;
use std::path::Path;
use std::pin::pin;
use std::process::ExitCode;

use anyhow::Context as _;
use clap::Args;
use config::{Loaded, Span};
use proto::{Envelope, ErrorItem};
use serde_json::Value;
use tokio_util::sync::CancellationToken;
use url::Url;

use crate::access::Access;
use crate::context::Context;
use crate::exit::{FAILED, Usage};
use crate::telemetry::Telemetry;
use remote::Invocation;
use remote::parse_url;
use terminal::{Style, marked, shown};

const EXAMPLES: &str = "\
Examples:
  powerstrip call demo.echo message=hello
  powerstrip call text.stats text='a b' limit:=3          `:=` takes JSON: numbers, true, lists, objects
  powerstrip call demo.echo --input '{\"message\":\"hi\"}'
  powerstrip call json.select --input @query.json
  cat query.json | powerstrip call json.select --input - --json
  powerstrip call text.stats --input '{\"text\":\"a b\"}' --url http://127.0.0.1:7777

The answer's data goes to standard output, with --json the whole envelope; what went wrong goes to standard error.
If a gateway runs on the same data folder, the call goes through it; otherwise the command holds the strip for this one
call. Records of deterministic tools are in memory, so --verify is of use with a running gateway.";

/// The largest input that is read.
const MAX_INPUT_BYTES: u64 = 64 << 20;

/// Call a tool and print its answer
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct CallCommand {
    /// The tool: an id (`demo.echo`), pinned (`demo.echo@1`), a wire name or a short URI.
    tool: String,
    /// Fields of the input: `KEY=TEXT`, or `KEY:=JSON` for numbers, booleans, lists and objects.
    #[arg(value_name = "KEY=VALUE")]
    arguments: Vec<String>,
    /// The input: JSON, `@FILE` to read it from a file, `-` to read it from standard input.
    #[arg(long, short, value_name = "JSON|@FILE|-", conflicts_with = "arguments")]
    input: Option<String>,
    /// Run a recorded call again and compare: differing answers fail with NONDETERMINISTIC.
    #[arg(long)]
    verify: bool,
    /// A key of your own: however often a call with it is sent, it runs once.
    #[arg(long, value_name = "KEY")]
    idempotency_key: Option<String>,
    /// Give up after this long, if the tool's own limit is not shorter: `500ms`, `10s`. Waiting for approval counts.
    #[arg(long, value_name = "TIME")]
    timeout: Option<Span>,
    /// The run that the call belongs to, by a name of your own; without one it is a run by itself.
    #[arg(long, value_name = "NAME", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    run: Option<String>,
    /// Call through the gateway at this URL.
    #[arg(long, value_name = "URL", value_parser = parse_url)]
    url: Option<Url>,
    /// Call as this agent of the config: only the tools of its skills are there.
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,
}

impl CallCommand {
    pub(crate) async fn run(self, context: &Context) -> anyhow::Result<ExitCode> {
        let loaded = context.load()?;
        let invocation = Invocation {
            input: match &self.input {
                Some(text) => input(text)?,
                None => arguments::read(&self.arguments)?,
            },
            tool: self.tool,
            verify: self.verify,
            idempotency_key: self.idempotency_key,
            timeout: self.timeout.map(|span| span.0),
            run: self.run,
        };
        let target = Target { url: self.url.as_ref(), agent: self.agent.as_deref() };
        let texts = arguments::texts(&self.arguments);
        let reread = |refused: &Envelope| {
            let input = arguments::reread(&invocation.input, &texts, refused)?;
            Some(Invocation { input, ..invocation.clone() })
        };
        let envelope = invoke_again(context, &loaded, &invocation, target, &reread).await?;
        let code = print(&envelope, context)?;
        if !context.global.json {
            arguments::advice(&texts, &envelope).iter().for_each(terminal::note);
        }
        Ok(code)
    }
}

/// Through which gateway and as which agent a call is made.
#[derive(Clone, Copy, Default)]
pub(crate) struct Target<'a> {
    pub(crate) url: Option<&'a Url>,
    pub(crate) agent: Option<&'a str>,
}

/// Calls a tool until it answers, or the user interrupts it.
pub(crate) async fn invoke(
    context: &Context,
    loaded: &Loaded,
    invocation: &Invocation,
    target: Target<'_>,
) -> anyhow::Result<Envelope> {
    invoke_again(context, loaded, invocation, target, &|_| None).await
}

/// Calls a tool, and once more if `again` makes another call of its answer. The first answer counts if the other input does
/// not fit the schema better.
async fn invoke_again(
    context: &Context,
    loaded: &Loaded,
    invocation: &Invocation,
    target: Target<'_>,
    again: &dyn Fn(&Envelope) -> Option<Invocation>,
) -> anyhow::Result<Envelope> {
    let telemetry = Telemetry::start(loaded, context, Telemetry::QUIET)?;
    let access = Access::open_as(context, loaded, target.url, target.agent).await?;
    let cancel = CancellationToken::new();
    let interrupted = cancel.clone();
    tokio::spawn(async move {
        if tokio::signal::ctrl_c().await.is_ok() {
            interrupted.cancel();
        }
    });
    let style = Style::stderr(&context.environment);
    let mut answer = invoke_once(&access, invocation, &cancel, style).await;
    if let Ok(first) = &answer
        && let Some(other) = again(first)
    {
        let second = invoke_once(&access, &other, &cancel, style).await;
        let left = second.as_ref().map_or(0, arguments::count_violations);
        if left < arguments::count_violations(first) {
            answer = second;
        }
    }
    access.close().await;
    telemetry.flush().await;
    answer
}

async fn invoke_once(
    access: &Access,
    invocation: &Invocation,
    cancel: &CancellationToken,
    style: Style,
) -> anyhow::Result<Envelope> {
    let mut answer = pin!(access.invoke(invocation, cancel.clone()));
    tokio::select! {
        biased;
        answer = &mut answer => answer,
        late = gate::watch(access, invocation, style) => {
            cancel.cancel();
            // The call ends, and leaves its audit row; a pending approval stays.
            let _ = answer.await;
            Ok(late)
        }
    }
}

fn input(text: &str) -> anyhow::Result<Value> {
    let text = match text.strip_prefix('@') {
        Some(file) => userfiles::read_text(Path::new(file), MAX_INPUT_BYTES)
            .with_context(|| format!("--input {text}: cannot read the file"))?,
        None if text == "-" => {
            let bytes = userfiles::read_all(io::stdin(), MAX_INPUT_BYTES);
            let bytes = bytes.context("--input -: cannot read standard input")?;
            String::from_utf8(bytes).context("--input -: cannot read standard input")?
        }
        None => text.to_owned(),
    };
    if let Some(path) = proto::big_integers(text.as_bytes()).first() {
        let usage = format!(
            "--input: the integer at `{}` does not fit into 64 bits and would be rounded; write it as text",
            proto::clean::line(path)
        );
        return Err(Usage(usage).into());
    }
    serde_json::from_str(&text)
        .map_err(|error| Usage(format!(
            "--input is not JSON: {error}; write a JSON object in quotes, such as '{{\"message\":\"hi\"}}', or @FILE, or -"
        )).into())
}

fn print(envelope: &Envelope, context: &Context) -> anyhow::Result<ExitCode> {
    if context.global.json {
        terminal::json(envelope)?;
    } else {
        print_problems(envelope, context);
        if envelope.ok {
            terminal::json(&*envelope.data)?;
        }
    }
    Ok(if envelope.ok { ExitCode::SUCCESS } else { FAILED })
}

/// Prints warnings and errors to standard error.
pub(crate) fn print_problems(envelope: &Envelope, context: &Context) {
    let style = Style::stderr(&context.environment);
    for warning in &envelope.meta.warnings {
        terminal::note(format_args!("{} {}", style.doubtful("warning:"), marked(warning)));
    }
    for error in &envelope.errors {
        explain(error, style);
    }
}

/// The message, and each way in which the input breaks the schema below it.
fn explain(error: &ErrorItem, style: Style) {
    let violations = arguments::violations(error);
    // The message lists the violations too, for those who see nothing else.
    let listed = violations.first().map(|(path, message)| format!("{path}: {message}"));
    let message = listed.and_then(|listed| error.message.find(&listed));
    let message = message.map_or(&*error.message, |at| error.message[..at].trim_end_matches(": "));
    terminal::note(format_args!("{} {}", style.bad(error.label()), marked(message)));
    let mark = if error.answered_by().is_some() { "  | " } else { "  " };
    for (path, message) in violations {
        let path = if path.is_empty() { "/" } else { path };
        terminal::note(format_args!("{mark}{}: {}", shown(path), shown(message)));
    }
    if error.retryable {
        terminal::note(style.faint("  the same call may succeed later"));
    }
}
