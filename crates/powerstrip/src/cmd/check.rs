mod missing;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, bail};
use auth::LocalAccess;
use clap::Args;
use config::{BadConfig, Config, FILE_NAME, Loaded, Overrides, Schemas};
use gateway::findings::{as_finding, check_config, missing_secrets, reserved_ids};
use gateway::server_operations::ListServers;
use gateway::{Foundation, Freshness, Gateway};
use operations::Operation as _;
use operations::servers::{SchemaUse, ServerList, findings};
use proto::{Finding, Severity};
use serde::Serialize;
use serde_json::json;
use store::{Claim, DataFolder};
use strip::{Door, Request, Strip};
use toolpack::CannedCall;

use crate::context::Context;
use crate::exit::FAILED;
use crate::owner::greet;
use terminal::Style;

const EXAMPLES: &str = "\
Examples:
  powerstrip check                    the tools, prompts and config of this folder
  powerstrip check my-project --run   also run the examples in the packs and compare their answers
  powerstrip check --strict --json    for CI: warnings fail, too

Exit codes: 0 nothing is wrong, 1 something is. Advice alone never fails.";

/// Find mistakes in tools, prompts and config
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Check {
    /// A folder with a powerstrip.yaml, or with `tools` and `prompts` in it, or a folder of tools [default: this one].
    dir: Option<PathBuf>,
    /// Run the `examples` of each pack and compare: each answer must be as written, twice in a row if the tool is
    /// deterministic.
    #[arg(long)]
    run: bool,
    /// Let warnings fail, too.
    #[arg(long)]
    strict: bool,
}

impl Check {
    pub(crate) async fn run(self, context: &Context) -> anyhow::Result<ExitCode> {
        let mut is_running = false;
        let (loaded, mut findings) = match context.load_with(self.flags(context)?) {
            Ok(loaded) => {
                let served_findings = served(&loaded.config, &config_file(&loaded)).await;
                is_running = served_findings.is_some();
                (Some(loaded), served_findings.unwrap_or_default())
            }
            Err(BadConfig(faults)) => (None, faults.into_iter().map(as_finding).collect()),
        };
        let mut checked = Checked { unusable: true, ..Checked::default() };
        if let Some(loaded) = &loaded {
            findings.extend(check_config(loaded));
            if !is_running {
                // Advice: the gateway may get them elsewhere, and starts without the servers that need them.
                findings.extend(missing_secrets(loaded, Severity::Advice));
                findings.extend(missing::find(context, loaded, &config_file(loaded)).await);
            }
            checked = Checked::of(loaded);
            if self.run {
                let calls = toolpack::canned_calls(&loaded.config.tools, &reserved_ids());
                checked.examples_run = calls.len();
                findings.extend(run_examples(loaded, &calls, context).await?);
            }
        }
        let fails = |finding: &Finding| match finding.severity {
            Severity::Error => true,
            Severity::Warning => self.strict,
            Severity::Advice => false,
        };
        let failed = findings.iter().any(fails);
        if context.global.json {
            terminal::json(&json!({"ok": !failed, "findings": findings, "checked": checked}))?;
        } else {
            print(&findings, &checked, Style::stdout(&context.environment))?;
        }
        Ok(if failed { FAILED } else { ExitCode::SUCCESS })
    }

    /// The flags under which the folder's own settings hold.
    fn flags(&self, context: &Context) -> anyhow::Result<Overrides> {
        let mut flags = context.global.overrides();
        let Some(dir) = &self.dir else { return Ok(flags) };
        if !dir.is_dir() {
            bail!("{} is not a folder", dir.display());
        }
        let file = dir.join(FILE_NAME);
        if file.is_file() {
            flags.config.get_or_insert(file);
            return Ok(flags);
        }
        let (tools, prompts) = (dir.join("tools"), dir.join("prompts"));
        if tools.is_dir() || prompts.is_dir() {
            if flags.tools.is_empty() {
                flags.tools = vec![tools];
            }
            flags.prompts.get_or_insert(prompts);
        } else {
            flags.tools = vec![dir.clone()];
        }
        Ok(flags)
    }
}

/// The files, servers and tools that were checked.
#[derive(Default, Serialize)]
struct Checked {
    /// The config file; none if there is none, or if it cannot be used.
    config: Option<PathBuf>,
    /// Whether the config file cannot be used, so that nothing else was checked.
    unusable: bool,
    tools: usize,
    prompts: usize,
    servers: usize,
    agents: usize,
    /// The examples that the toolpacks contain.
    examples: usize,
    /// How many of them were run.
    examples_run: usize,
}

impl Checked {
    fn of(loaded: &Loaded) -> Self {
        let (config, reserved) = (&loaded.config, reserved_ids());
        Self {
            config: loaded.file.clone(),
            unusable: false,
            tools: toolpack::pack_ids(&config.tools, &reserved).len(),
            prompts: prompts::Snapshot::load(&config.prompts).0.prompts().len(),
            servers: config.servers.len(),
            agents: config.agents.len(),
            examples: toolpack::canned_calls(&config.tools, &reserved).len(),
            examples_run: 0,
        }
    }

    /// What was checked and what was run, in a sentence each.
    fn summary(&self) -> String {
        if self.unusable {
            return "the config file cannot be used, so nothing else was checked".to_owned();
        }
        let config = match &self.config {
            Some(file) => file.display().to_string(),
            None => "the defaults (no config file)".to_owned(),
        };
        let counts = [
            (self.tools, "tool", "tools"),
            (self.prompts, "prompt", "prompts"),
            (self.servers, "server's settings", "servers' settings"),
            (self.agents, "agent", "agents"),
        ];
        let counts = counts.iter().filter(|(count, ..)| *count > 0);
        let counts = counts.map(|(count, one, many)| format!(", {}", counted(*count, one, many)));
        let checked = format!("checked {config}{}", counts.collect::<String>());
        let examples = match (self.examples, self.examples_run) {
            (0, 0) => "no examples to run".to_owned(),
            (there, 0) => format!("ran none of {there} examples (`--run` runs them)"),
            (_, 1) => "ran 1 example".to_owned(),
            (_, run) => format!("ran {run} examples"),
        };
        format!("{checked}; {examples}")
    }
}

/// What a gateway that runs on the data folder has found in its servers and their tools; none if there is no gateway.
/// None is started for it.
async fn served(settings: &Config, config: &Path) -> Option<Vec<Finding>> {
    let data = &settings.data_dir;
    if !data.exists() {
        return None;
    }
    let owner = greet(data, json!({"door": "cli"})).await.ok().flatten()?;
    let listed = owner.request(ListServers::NAME, json!({})).await.ok()?;
    let listed: ServerList = serde_json::from_value(listed).ok()?;
    let schemas = match settings.schemas {
        Schemas::AsIs => SchemaUse::AsIs,
        Schemas::Portable => SchemaUse::Rewritten,
    };
    Some(findings(&listed.servers, config, schemas))
}

/// The config file, also where there is none yet.
fn config_file(loaded: &Loaded) -> PathBuf {
    loaded.file.clone().unwrap_or_else(|| FILE_NAME.into())
}

/// Runs the canned calls of all packs on a data folder that goes away again.
async fn run_examples(
    loaded: &Loaded,
    calls: &[CannedCall],
    context: &Context,
) -> anyhow::Result<Vec<Finding>> {
    let scratch = tempfile::tempdir().context("no folder for the run")?;
    let Claim::Owner(folder) = DataFolder::claim(scratch.path())? else {
        bail!("the folder for the run is in use");
    };
    let loaded = loaded.without_servers();
    let process = context.process();
    let foundation = Foundation::open(&process, &loaded, folder).await?;
    let gateway = Gateway::open(&process, &loaded, foundation, Freshness::Once).await?;
    let mut findings = Vec::new();
    for call in calls {
        findings.extend(try_example(gateway.strip(), call).await);
    }
    gateway.close().await;
    Ok(findings)
}

async fn try_example(strip: &Strip, canned: &CannedCall) -> Option<Finding> {
    let tool = format!("{}@{}", canned.tool, canned.major);
    let ask = |verify| {
        let mut call =
            Request::new(&tool, canned.input.clone(), LocalAccess::default().user(), Door::Cli);
        call.verify = verify;
        // A tool that acts may ask for a key; each example is a deed of its own.
        call.idempotency_key = (!canned.deterministic).then(|| call.trace.to_string());
        strip.call(call)
    };
    let message = match ask(false).await.result {
        // Answers that change from call to call cannot be compared.
        Ok(data) if *data == canned.data && !canned.deterministic => return None,
        Ok(data) if *data == canned.data => match ask(true).await.result {
            Ok(_) => return None,
            Err(failure) => failure.to_string(),
        },
        Ok(data) => format!("expected {}, got {data}", canned.data),
        Err(failure) => failure.to_string(),
    };
    let message = format!("`{tool}` with {}: {message}", canned.input);
    Some(Finding { severity: Severity::Error, file: canned.file.clone(), line: None, message })
}

fn print(findings: &[Finding], checked: &Checked, style: Style) -> anyhow::Result<()> {
    let count = |severity| findings.iter().filter(|finding| finding.severity == severity).count();
    for finding in findings {
        let place = match (finding.file.as_os_str().is_empty(), finding.line) {
            (true, _) => String::new(),
            (false, Some(line)) => format!("{}:{line}: ", finding.file.display()),
            (false, None) => format!("{}: ", finding.file.display()),
        };
        let word = match finding.severity {
            Severity::Error => style.bad("error"),
            Severity::Warning => style.doubtful("warning"),
            Severity::Advice => style.faint("advice"),
        };
        terminal::line(format_args!("{}{word}: {}", style.bold(place), finding.message))?;
    }
    terminal::line(style.faint(checked.summary()))?;
    let (errors, warnings, advice) =
        (count(Severity::Error), count(Severity::Warning), count(Severity::Advice));
    let verdict = if findings.is_empty() {
        style.good("nothing is wrong")
    } else {
        let counts = [
            (errors, "error", "errors"),
            (warnings, "warning", "warnings"),
            (advice, "piece of advice", "pieces of advice"),
        ];
        let counts = counts.into_iter().filter(|(count, ..)| *count > 0);
        let counts = counts.map(|(count, one, many)| counted(count, one, many));
        counts.collect::<Vec<_>>().join(", ")
    };
    terminal::line(verdict)?;
    Ok(())
}

fn counted(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}
