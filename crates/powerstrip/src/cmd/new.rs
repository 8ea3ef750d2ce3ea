use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context as _, bail};
use clap::{Args, Subcommand, ValueEnum};
use proto::{Discovery, PromptRef, ToolId};
use serde_json::json;
use tokio::time::Instant;
use url::Url;

use crate::context::Context;
use crate::owner::OwnerProcess;

const EXAMPLES: &str = "\
Examples:
  powerstrip new tool weather.now --kind python    tools/weather.now.tool.yaml and tools/weather_now.py
  powerstrip new tool crm.lookup --kind http --url https://crm.example.com/lookup
  powerstrip new prompt research/summary           prompts/packs/research/summary.v1.md and its spec
  powerstrip new server my-server                  an MCP server in Python, in the folder my-server";

/// Begin a tool, a prompt or an MCP server that works at once
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct New {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// A tool in the tools folder
    Tool {
        /// The tool's id, such as `weather.now`.
        name: ToolId,
        /// How the tool runs.
        #[arg(long, value_enum, default_value_t = Kind::Cli)]
        kind: Kind,
        /// The service behind a tool of kind `http` [default: a public echo service].
        #[arg(long, value_name = "URL")]
        url: Option<Url>,
    },
    /// A prompt in the prompts folder
    Prompt {
        /// The prompt's domain and name, such as `research/summary`.
        name: PromptRef,
    },
    /// An MCP server of your own, in Python, in a new folder
    Server {
        /// The server's name, also its folder's.
        name: String,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Kind {
    /// A command.
    Cli,
    /// A Python script.
    Python,
    /// A JavaScript function, run by Node.
    Node,
    /// A PHP function.
    Php,
    /// A web service.
    Http,
}

/// How long a running gateway may take to find a new tool.
const PICK_UP: Duration = Duration::from_secs(5);

const POLL: Duration = Duration::from_millis(50);

/// Gives back what it is sent, under `json`.
const ECHO_SERVICE: &str = "https://postman-echo.com/post";

/// Files to be written, none of which may exist yet.
struct Draft(Vec<(PathBuf, String)>);

impl New {
    pub(crate) async fn run(self, context: &Context) -> anyhow::Result<ExitCode> {
        let (draft, hint) = match &self.what {
            What::Tool { name, kind, url } => {
                let config = context.load()?.config;
                let folder = config.tools.first().cloned().unwrap_or_else(|| "tools".into());
                let hint = format!("powerstrip call {name} --input '{{\"name\":\"Ada\"}}'");
                let draft = tool(&folder, name, *kind, url.as_ref())?;
                draft.write()?;
                wait_until_served(&config.data_dir, name).await;
                return report(context, &draft, &hint);
            }
            What::Prompt { name } => {
                let folder = context.load()?.config.prompts;
                let hint =
                    format!("powerstrip prompts render {name} --arguments '{{\"topic\":\"tea\"}}'");
                let draft = prompt(&folder, name)?;
                draft.write()?;
                if let Err(findings) = prompts::pin(&folder) {
                    let shown: Vec<_> = findings.iter().map(ToString::to_string).collect();
                    bail!("the prompt is written, but could not be pinned:\n{}", shown.join("\n"));
                }
                return report(context, &draft, &hint);
            }
            What::Server { name } => (server(name)?, format!("cd {name} && python3 -m unittest")),
        };
        draft.write()?;
        report(context, &draft, &hint)
    }
}

/// Waits until a gateway that runs on the data folder, if any, has found a new tool, so that it can be called at once.
async fn wait_until_served(data_dir: &Path, tool: &ToolId) {
    let owner = if data_dir.exists() { OwnerProcess::find(data_dir).await } else { None };
    let Some(owner) = owner else { return };
    let deadline = Instant::now() + PICK_UP;
    while Instant::now() < deadline {
        match owner.ask::<Discovery>("mcp.discover", json!({})).await {
            Ok(found) if found.tools.iter().any(|listed| listed.name == tool.as_str()) => return,
            Ok(_) => tokio::time::sleep(POLL).await,
            Err(_) => return,
        }
    }
}

fn report(context: &Context, draft: &Draft, hint: &str) -> anyhow::Result<ExitCode> {
    let files: Vec<_> = draft.0.iter().map(|(path, _)| path).collect();
    if context.global.json {
        terminal::json(&json!({"files": files, "try": hint}))?;
    } else {
        for file in files {
            terminal::line(format_args!("wrote {}", file.display()))?;
        }
        terminal::line(format_args!("try:  {hint}"))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn tool(folder: &Path, id: &ToolId, kind: Kind, url: Option<&Url>) -> anyhow::Result<Draft> {
    if id.server().is_some() {
        bail!(
            "`{id}` names a tool of a server; a tool of your own has a dotted id, such as `{}`",
            id.name()
        );
    }
    if url.is_some() && kind != Kind::Http {
        bail!("--url is for tools of kind http; add `--kind http`");
    }
    let (pack, code) = match kind {
        Kind::Cli => (include_str!("../scaffold/cli.tool.yaml").to_owned(), None),
        Kind::Python => {
            let code = Some(("py", include_str!("../scaffold/tool.py")));
            (include_str!("../scaffold/python.tool.yaml").to_owned(), code)
        }
        Kind::Node => {
            let code = Some(("js", include_str!("../scaffold/tool.js")));
            (include_str!("../scaffold/node.tool.yaml").to_owned(), code)
        }
        Kind::Php => {
            let code = Some(("php", include_str!("../scaffold/tool.php")));
            (include_str!("../scaffold/php.tool.yaml").to_owned(), code)
        }
        Kind::Http => (http_pack(url)?, None),
    };
    let file = id.as_str().replace(['.', '-'], "_");
    let pack = pack.replace("@ID@", id.as_str()).replace("@FILE@", &file);
    let mut files = vec![(folder.join(format!("{id}.tool.yaml")), pack)];
    if let Some((ending, code)) = code {
        files.push((folder.join(format!("{file}.{ending}")), code.to_owned()));
    }
    Ok(Draft(files))
}

fn http_pack(url: Option<&Url>) -> anyhow::Result<String> {
    let template = include_str!("../scaffold/http.tool.yaml");
    let text = url.map_or(ECHO_SERVICE, Url::as_str);
    let url: Url = text.parse()?;
    let host = match (url.scheme(), url.host_str()) {
        ("http" | "https", Some(host)) => host.to_owned(),
        _ => bail!("`{text}` is not the http or https URL of a service"),
    };
    let place = url.port().map_or_else(|| host.clone(), |port| format!("{host}:{port}"));
    let mut pack = template.replace("@URL@", text).replace("@HOST@", &format!("\"{place}\""));
    if text == ECHO_SERVICE {
        pack.push_str("# The service wraps what it was sent.\nonSuccess: { path: \"$.json\" }\n");
    }
    Ok(pack)
}

fn prompt(folder: &Path, name: &PromptRef) -> anyhow::Result<Draft> {
    if name.major.is_some_and(|major| major != 1) {
        bail!(
            "a new prompt begins at major 1; copy the body to `{}.vN.md` for the next one",
            name.name
        );
    }
    let pack = folder.join("packs").join(&name.domain);
    Ok(Draft(vec![
        (
            pack.join(format!("{}.v1.md", name.name)),
            include_str!("../scaffold/prompt.md").to_owned(),
        ),
        (
            pack.join(format!("{}.spec.yaml", name.name)),
            include_str!("../scaffold/prompt.spec.yaml").to_owned(),
        ),
    ]))
}

fn server(name: &str) -> anyhow::Result<Draft> {
    let fits = name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'));
    if name.is_empty() || !fits || name.starts_with('-') || name.contains("__") {
        bail!("`{name}` cannot name a server: letters, digits, `-` and single `_` can");
    }
    let folder = Path::new(name);
    let files = [
        ("server.py", include_str!("../scaffold/server.py")),
        ("test_server.py", include_str!("../scaffold/test_server.py")),
        ("README.md", include_str!("../scaffold/server.md")),
    ];
    Ok(Draft(files.map(|(file, text)| (folder.join(file), text.replace("@NAME@", name))).into()))
}

impl Draft {
    /// Writes all files, or none: what exists already is never touched.
    fn write(&self) -> anyhow::Result<()> {
        let mut written = Vec::new();
        for (path, text) in &self.0 {
            if let Err(error) = write_new(path, text) {
                for path in written {
                    // Remove the files of an incomplete pack as far as possible.
                    let _ = fs::remove_file(path);
                }
                return Err(error);
            }
            written.push(path);
        }
        Ok(())
    }
}

fn write_new(path: &Path, text: &str) -> anyhow::Result<()> {
    let shown = path.display();
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    }
    match userfiles::create_new(path, text.as_bytes()) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            bail!("{shown} exists already and is left as it is")
        }
        Err(error) => Err(error).with_context(|| format!("cannot write {shown}")),
    }
}
