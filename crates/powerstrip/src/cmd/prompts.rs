use std::process::ExitCode;

use anyhow::bail;
use clap::{Args, Subcommand};
use config::Loaded;
use proto::{ListedPrompt, PromptRef};
use serde_json::{Value, json};
use url::Url;

use crate::access::Access;
use crate::context::Context;
use crate::exit::{FAILED, Usage};
use crate::telemetry::Telemetry;
use remote::parse_url;
use terminal::table::{Cell, Table};
use terminal::{Style, Tone};

const EXAMPLES: &str = "\
Examples:
  powerstrip prompts                                                  what prompts there are
  powerstrip prompts get research/summary@1                           a prompt as it is written
  powerstrip prompts render research/summary --arguments '{\"topic\":\"tea\"}'
  powerstrip prompts pin                                              write the digests of new versions to REGISTRY.yaml";

/// List, show, fill in or pin prompts
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct PromptsCommand {
    #[command(subcommand)]
    what: Option<What>,
    /// Ask the gateway at this URL.
    #[arg(long, value_name = "URL", global = true, value_parser = parse_url)]
    url: Option<Url>,
}

#[derive(Debug, Subcommand)]
enum What {
    /// List prompts with their versions
    #[command(visible_alias = "list")]
    Ls,
    /// Print a prompt's body; with --json also its spec
    Get {
        /// The prompt: `domain/name`, with `@N` for a certain version.
        name: PromptRef,
    },
    /// Print a prompt filled in with arguments
    Render {
        /// The prompt: `domain/name`, with `@N` for a certain version.
        name: PromptRef,
        /// The arguments, as a JSON object.
        #[arg(long, value_name = "JSON", default_value = "{}")]
        arguments: String,
    },
    /// Write the digests of bodies that have none yet to REGISTRY.yaml
    Pin,
}

impl PromptsCommand {
    pub(crate) async fn run(self, context: &Context) -> anyhow::Result<ExitCode> {
        let loaded = context.load()?;
        let what = self.what.unwrap_or(What::Ls);
        if let What::Pin = what {
            return pin(context, &loaded);
        }
        let telemetry = Telemetry::start(&loaded, context, Telemetry::QUIET)?;
        let access = Access::open(context, &loaded, self.url.as_ref()).await?;
        let answered = answer(&access, what, context).await;
        access.close().await;
        telemetry.flush().await;
        answered.map(|()| ExitCode::SUCCESS)
    }
}

async fn answer(access: &Access, what: What, context: &Context) -> anyhow::Result<()> {
    let as_json = context.global.json;
    match what {
        What::Ls => {
            let prompts = access.discovery().await?.prompts;
            if as_json {
                terminal::json(&prompts)?
            } else {
                list(&prompts, Style::stdout(&context.environment))?
            }
        }
        What::Get { name } => {
            let prompt = access.prompt(&name).await?;
            if as_json {
                terminal::json(&prompt)?
            } else {
                terminal::text(prompt["body"].as_str().unwrap_or_default())?
            }
        }
        What::Render { name, arguments } => {
            let arguments: Value = serde_json::from_str(&arguments)
                .map_err(|error| Usage(format!("--arguments is not JSON: {error}")))?;
            let text = access.render(&name, &arguments).await?;
            if as_json {
                terminal::json(&json!({"prompt": name.to_string(), "text": text}))?
            } else {
                terminal::text(with_newline(text))?
            }
        }
        What::Pin => bail!("prompts are pinned where their files are"),
    }
    Ok(())
}

fn with_newline(mut text: String) -> String {
    if !text.ends_with('\n') {
        text.push('\n');
    }
    text
}

pub(super) fn list(prompts: &[ListedPrompt], style: Style) -> anyhow::Result<()> {
    if prompts.is_empty() {
        return Ok(terminal::line("no prompts: `powerstrip new prompt DOMAIN/NAME` begins one")?);
    }
    let mut table = Table::new(["PROMPT", "VERSIONS", "DESCRIPTION"]);
    for prompt in prompts {
        let mut majors: Vec<_> =
            prompt.versions.iter().map(|version| format!("v{}", version.major)).collect();
        majors.sort();
        let newest = prompt.versions.iter().max_by_key(|version| version.major);
        let description = newest.map_or("", |version| version.description.as_str());
        table.row([
            Cell::new(prompt.id.trim_start_matches("mcp.prompt:")).tone(Tone::Strong),
            Cell::new(majors.join(" ")).tone(Tone::Faint),
            Cell::new(super::tools::first_sentence(description)),
        ]);
    }
    Ok(table.print(style)?)
}

fn pin(context: &Context, loaded: &Loaded) -> anyhow::Result<ExitCode> {
    match prompts::pin(&loaded.config.prompts) {
        Ok(pinned) => {
            let names: Vec<_> = pinned.iter().map(ToString::to_string).collect();
            if context.global.json {
                terminal::json(&json!({"pinned": names}))?;
            } else if names.is_empty() {
                terminal::line("every version is pinned already")?;
            }
            for name in names.iter().filter(|_| !context.global.json) {
                terminal::line(format_args!("pinned {name}"))?;
            }
            Ok(ExitCode::SUCCESS)
        }
        Err(findings) => {
            for finding in &findings {
                terminal::note(finding);
            }
            Ok(FAILED)
        }
    }
}
