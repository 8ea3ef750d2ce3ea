mod bundled;
mod consent;

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use config::Config;
use gateway::install::read_recipe;
use operations::install::NewServer;
use serde_json::json;

use crate::context::Context;
use crate::exit::Usage;
use crate::installer::{self, Expected, Installer, Turn, describe_import, note_import};
use recipes::catalog::{self, Listing};
use recipes::mcp_registry::{self, RegistryServer};
use recipes::{PlanError, quoted};
use terminal::Style;

const EXAMPLES: &str = "\
Examples:
  powerstrip add docs -- npx -y @modelcontextprotocol/server-filesystem /srv/docs
  powerstrip add crm https://mcp.example.com/mcp -H 'X-Api-Key: ${CRM_KEY}'
  powerstrip add playwright                        from the catalog that ships with powerstrip
  powerstrip add files --from filesystem --arg /srv/docs
  powerstrip add --list search                     what the catalog has for `search`
  powerstrip add --bundled                         all capability servers that are installed

The entry is written to the config file; its comments and everything else stay. Secrets are not: a value of `-e` or \
`-H` that is a secret is stored in the vault, and `${NAME}` becomes `{env: NAME}`. A gateway that runs on this data \
folder starts the server at once.";

/// Add an MCP server to the config
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Add {
    /// The server's name; without a URL and a command, its name in the catalog.
    #[arg(required_unless_present_any = ["list", "bundled"])]
    name: Option<String>,
    /// The URL of a server.
    url: Option<String>,
    /// Further words, which are a mistake: a command goes after `--`.
    #[arg(hide = true)]
    rest: Vec<String>,
    /// The program of a server and its arguments.
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<String>,
    /// A variable of the program: `NAME=VALUE`, or `NAME` to pass it on.
    #[arg(short = 'e', long = "env", value_name = "NAME[=VALUE]")]
    env: Vec<String>,
    /// A header of every request: `Name: value`.
    #[arg(short = 'H', long = "header", value_name = "HEADER")]
    headers: Vec<String>,
    /// The transport of the URL.
    #[arg(long, value_name = "TRANSPORT", value_parser = ["auto", "streamable", "sse"])]
    transport: Option<String>,
    /// The working directory of the program [default: the current one].
    #[arg(long, value_name = "DIR")]
    cwd: Option<PathBuf>,
    /// Take the server of this name from the catalog or the registry.
    #[arg(long, value_name = "NAME", conflicts_with_all = ["url", "command"])]
    from: Option<String>,
    /// An argument that is added to the catalog's command; repeat for several.
    #[arg(long = "arg", value_name = "ARGUMENT", allow_hyphen_values = true)]
    arguments: Vec<String>,
    /// An MCP registry to search if the catalog does not have the server [default: `server_registry` of the config].
    #[arg(long, value_name = "URL")]
    registry: Option<String>,
    /// Replace a server of this name.
    #[arg(long)]
    force: bool,
    /// Do not ask before a server of a registry is added.
    #[arg(short, long)]
    yes: bool,
    /// Accept a server of a registry that is in a private network.
    #[arg(long)]
    allow_private: bool,
    /// Add all capability servers of Powerstrip that are installed: documents, pictures, compliance, jobs, texts.
    #[arg(long, conflicts_with_all = ["name", "url", "command", "from", "list"])]
    bundled: bool,
    /// List the servers of the catalog, or those that match NAME.
    #[arg(long)]
    list: bool,
}

impl Add {
    pub(crate) async fn run(self, context: &Context) -> anyhow::Result<ExitCode> {
        let installer = Installer::new(context);
        if self.list {
            return self.list(context, &installer).await;
        }
        if self.bundled {
            return bundled::add(context, &installer, self.force).await;
        }
        let new = self.request()?;
        let name = &new.name;
        let known = installer.servers()?;
        recipes::check_name(name, &known).map_err(planned)?;
        if !self.force && known.contains(name) {
            let usage = format!(
                "there is a server `{name}` in {} already; replace it with --force, or choose another name",
                installer.file().display()
            );
            return Err(Usage(usage).into());
        }
        let mut plan = recipes::plan(&new, &self.config(&installer)?).await.map_err(planned)?;
        if plan.recipe.gateway_flag.is_some() {
            plan.recipe.allow_gateway(&installer.gateway_url().await?);
        }
        let here = std::env::current_dir()?;
        let is_program = plan.recipe.entry.contains_key("command");
        if is_program && new.cwd.is_none() && installer.folder() != here {
            plan.recipe.entry.insert("cwd".to_owned(), json!(here));
        }
        let turn = installer.turn()?;
        let importer = installer.importer(self.force).await?;
        let mut imported = read_recipe(&importer, &plan, name, &here).map_err(planned)?;
        imported.relative_to(&installer.folder());
        if let Some(listed) = &plan.registry_name {
            self.ask(listed, &new, &plan, &imported, &importer.taken).await?;
        }
        let notes = std::mem::take(&mut imported.notes);
        notes.iter().for_each(|note| terminal::note(terminal::shown(note)));
        finish(context, &installer, imported, turn).await
    }

    /// Makes the request from the flags.
    fn request(&self) -> anyhow::Result<NewServer> {
        let name = self.name.clone().unwrap_or_default();
        if let Some(url) = &self.url {
            self.check_url(&name, url)?;
        }
        let here = std::env::current_dir()?;
        Ok(NewServer {
            env: self.given()?,
            headers: self.given_headers()?,
            name,
            command: self.command.clone(),
            url: self.url.clone(),
            from: self.from.clone(),
            arguments: self.arguments.clone(),
            transport: self.transport.clone(),
            cwd: self.cwd.as_ref().map(|cwd| here.join(cwd)),
            registry: self.registry.clone(),
            allow_private: self.allow_private,
            ..NewServer::default()
        })
    }

    /// The config, which says where a registry is and what may be reached; not read where neither is needed.
    fn config(&self, installer: &Installer<'_>) -> anyhow::Result<Config> {
        if self.url.is_some() || !self.command.is_empty() {
            Ok(Config::default())
        } else {
            Ok(installer.load()?.config)
        }
    }

    /// Says what to write for a command without `--`, as far as the words after it tell.
    fn check_url(&self, name: &str, url: &str) -> Result<(), Usage> {
        let Some(word) = self.rest.first() else { return Ok(()) };
        if url.contains("://") || url.contains("${") {
            return Err(Usage(format!("unexpected argument `{word}`: a server has one URL")));
        }
        // As typed: flags of the command, such as `-y`, were taken for ours.
        let words = std::env::args().skip_while(|word| word != url);
        let words: Vec<_> = words.map(|word| quoted(&word)).collect();
        Err(Usage(format!(
            "`{url}` is not a URL; a command goes after `--`: powerstrip add {name} -- {}",
            words.join(" ")
        )))
    }

    /// Variables that are given on the command line.
    fn given(&self) -> Result<BTreeMap<String, String>, Usage> {
        let pair = |text: &String| match text.split_once('=') {
            Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
            None if !text.is_empty() => Ok((text.clone(), format!("${{{text}}}"))),
            _ => Err(Usage(format!("`{text}` is not NAME=VALUE"))),
        };
        self.env.iter().map(pair).collect()
    }

    /// Headers that are given on the command line.
    fn given_headers(&self) -> Result<BTreeMap<String, String>, Usage> {
        let header = |text: &String| match text.split_once(':') {
            Some((name, value)) => Ok((name.trim().to_owned(), value.trim().to_owned())),
            None => Err(Usage(format!("`{text}` is not a header; write `Name: value`"))),
        };
        self.headers.iter().map(header).collect()
    }

    fn registry(&self, installer: &Installer<'_>) -> anyhow::Result<Option<String>> {
        match &self.registry {
            Some(url) => Ok(Some(url.clone())),
            None => Ok(installer.load()?.config.server_registry),
        }
    }

    async fn list(&self, context: &Context, installer: &Installer<'_>) -> anyhow::Result<ExitCode> {
        let word = self.name.as_deref().unwrap_or_default();
        let listed = catalog::search(word);
        let found = match self.registry(installer)? {
            Some(registry) if !word.is_empty() => {
                let config = installer.load()?.config;
                mcp_registry::search(&config, &registry, word).await?
            }
            _ => Vec::new(),
        };
        if context.global.json {
            let found: Vec<_> = found
                .iter()
                .map(|server| json!({"name": server.name, "about": server.about}))
                .collect();
            terminal::json(&json!({"catalog": listed, "registry": found}))?;
            return Ok(ExitCode::SUCCESS);
        }
        print_listings(&listed, &found, Style::stdout(&context.environment))?;
        Ok(ExitCode::SUCCESS)
    }
}

fn print_listings(listed: &[Listing], found: &[RegistryServer], style: Style) -> io::Result<()> {
    if listed.is_empty() && found.is_empty() {
        terminal::line("no server matches")?;
    }
    let width = listed.iter().map(|listing| listing.name.len()).max().unwrap_or(0);
    for listing in listed {
        let secrets = listing.secrets.keys().chain(listing.bearer.keys()).cloned();
        let secrets = secrets.collect::<Vec<_>>().join(", ");
        let needs = if secrets.is_empty() { String::new() } else { format!("; needs {secrets}") };
        let name = style.bold(format_args!("{:width$}", listing.name));
        terminal::line(format_args!("{name}  {}{needs}", listing.about))?;
        let details = [listing.target(), listing.homepage.clone(), listing.license.clone()];
        let details = details.into_iter().filter(|detail| !detail.is_empty());
        let details = details.collect::<Vec<_>>().join("  ");
        terminal::line(style.faint(format_args!("{:width$}  {details}", "")))?;
    }
    for server in found {
        terminal::line(format_args!("{}  {}", style.bold(&server.name), server.about))?;
    }
    Ok(())
}

fn planned(error: PlanError) -> anyhow::Error {
    match error {
        PlanError::Invalid(why) => Usage(why).into(),
        PlanError::Failed(error) => error,
    }
}

/// Writes the servers, waits for a running gateway and reports.
pub(super) async fn finish(
    context: &Context,
    installer: &Installer<'_>,
    imported: config::client_files::Imported,
    turn: Turn,
) -> anyhow::Result<ExitCode> {
    note_import(&imported);
    let disabled = |name: &String| imported.servers.get(name).is_some_and(|server| server.disabled);
    let expected: Vec<_> = imported
        .servers
        .keys()
        .map(|name| (name.clone(), if disabled(name) { Expected::Disabled } else { Expected::Up }))
        .collect();
    let summary = config::client_files::Imported {
        notes: imported.notes.clone(),
        refused: imported.refused.clone(),
        ..config::client_files::Imported::default()
    };
    // Before anything is written: with a config that cannot be read, the entries would come without their secrets.
    installer.load()?;
    let known = installer.servers()?;
    let is_replaced =
        |(name, state): &&(String, Expected)| *state == Expected::Up && known.contains(name);
    let replaced: Vec<_> =
        expected.iter().filter(is_replaced).map(|(name, _)| name.clone()).collect();
    let installed = installer.install(imported, turn).await?;
    let loaded = installer.load()?;
    installer::apply_replaced(&loaded, &replaced).await;
    let outcome = installer::wait(&loaded, &expected).await;
    if context.global.json {
        let mut described = describe_import(&summary, &installed);
        described["config"] = json!(installer.file());
        described["servers"] = outcome.json();
        terminal::json(&described)?;
        return Ok(ExitCode::SUCCESS);
    }
    let file = installer.file().display();
    for name in &installed.names {
        terminal::line(format_args!("added `{name}` to {file}"))?;
    }
    for name in &installed.stored {
        terminal::line(format_args!("stored the secret {name} in the vault"))?;
    }
    for (name, how) in &installed.missing {
        terminal::line(format_args!("missing secret {name}: {how}"))?;
    }
    if !installed.names.is_empty() {
        installer::report(&outcome, Style::stdout(&context.environment))?;
    }
    Ok(ExitCode::SUCCESS)
}
