mod consent;

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use serde_json::{Map, Value, json};

use crate::context::Context;
use crate::exit::Usage;
use crate::installer::{self, Expected, Installer, describe_import, note_import};
use recipes::Recipe;
use recipes::catalog::{self, Listing};
use recipes::mcp_registry::{self, Options, RegistryServer};
use terminal::Style;

const EXAMPLES: &str = "\
Examples:
  powerstrip add docs -- npx -y @modelcontextprotocol/server-filesystem /srv/docs
  powerstrip add crm https://mcp.example.com/mcp -H 'X-Api-Key: ${CRM_KEY}'
  powerstrip add playwright                        from the catalog that ships with powerstrip
  powerstrip add files --from filesystem --arg /srv/docs
  powerstrip add --list search                     what the catalog has for `search`

The entry is written to the config file; its comments and everything else stay. Secrets are not: a value of `-e` or \
`-H` that is a secret is stored in the vault, and `${NAME}` becomes `{env: NAME}`. A gateway that runs on this data \
folder starts the server at once.";

/// Add an MCP server to the config
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Add {
    /// The server's name; without a URL and a command, its name in the catalog.
    #[arg(required_unless_present = "list")]
    name: Option<String>,
    /// The URL of a server.
    url: Option<String>,
    /// The program of a server and its arguments.
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<String>,
    /// A variable of the program: `NAME=VALUE`, or `NAME` to pass it on.
    #[arg(short = 'e', long = "env", value_name = "NAME[=VALUE]")]
    env: Vec<String>,
    /// A header of every request: `Name: value`.
    #[arg(short = 'H', long = "header", value_name = "HEADER")]
    headers: Vec<String>,
    /// The transport of the URL: `auto`, `streamable` or `sse`.
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
    /// List the servers of the catalog, or those that match NAME.
    #[arg(long)]
    list: bool,
}

/// A server that was looked up by its name.
struct Found {
    recipe: Recipe,
    /// Its name in the registry; none if it is from the catalog that ships with the program.
    registry_name: Option<String>,
}

impl Add {
    pub(crate) async fn run(self, context: &Context) -> anyhow::Result<ExitCode> {
        let installer = Installer::new(context);
        if self.list {
            return self.list(context, &installer).await;
        }
        let name = self.name.clone().unwrap_or_default();
        let given = self.given()?;
        proto::check_server_name(&name).map_err(|why| Usage(why.to_string()))?;
        let known = installer.servers()?;
        proto::check_look_alike(&name, known.iter().map(String::as_str))
            .map_err(|why| Usage(why.to_string()))?;
        if !self.force && known.contains(&name) {
            let usage = format!(
                "there is a server `{name}` in {} already; replace it with --force, or choose another name",
                installer.file().display()
            );
            return Err(Usage(usage).into());
        }
        let mut from_registry = None;
        let mut recipe = match (self.command.split_first(), &self.url) {
            (Some(_), Some(_)) => {
                return Err(Usage("a server has a URL or a command, not both".to_owned()).into());
            }
            (Some((program, args)), None) => {
                let entry = json!({"command": program, "args": args});
                Recipe { entry: object(entry), ..Recipe::default() }
            }
            (None, Some(url)) => {
                if !url.contains("://") && !url.contains("${") {
                    let usage = format!(
                        "`{url}` is not a URL; a command goes after `--`: powerstrip add {name} -- {url}"
                    );
                    return Err(Usage(usage).into());
                }
                Recipe { entry: object(json!({"url": url})), ..Recipe::default() }
            }
            (None, None) => {
                let listed_name = self.from.as_deref().unwrap_or(&name);
                let found = self.look_up(&installer, listed_name, &given).await?;
                from_registry = found.registry_name;
                found.recipe
            }
        };
        self.complete(&mut recipe, &given, &installer)?;
        let importer = installer.importer(self.force).await?;
        let here = std::env::current_dir()?.join("mcp.json");
        let mut imported = importer.read_document(&recipe.document(&name), &here).map_err(Usage)?;
        imported.relative_to(&installer.folder());
        if let Some((_, why)) = imported.refused.first() {
            return Err(Usage(format!("{name}: {why}")).into());
        }
        if !imported.servers.contains_key(&name) {
            let usage = format!(
                "`{name}` cannot name a server: use letters, digits, `-`, `.` and single `_`"
            );
            return Err(Usage(usage).into());
        }
        if let Some(listed) = &from_registry {
            self.ask(listed, &recipe, &imported, &importer.taken).await?;
        }
        let notes = std::mem::take(&mut imported.notes);
        notes.iter().for_each(terminal::note);
        finish(context, &installer, imported).await
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

    /// Adds what the flags say.
    fn complete(
        &self,
        recipe: &mut Recipe,
        given: &BTreeMap<String, String>,
        installer: &Installer<'_>,
    ) -> anyhow::Result<()> {
        let entry = &mut recipe.entry;
        let program = entry.contains_key("command");
        if !given.is_empty() {
            if !program {
                return Err(Usage("-e is for programs; a URL takes headers, -H".to_owned()).into());
            }
            let env = entry.entry("env").or_insert_with(|| json!({}));
            for (name, value) in given {
                env[name] = json!(value);
                recipe.inputs.retain(|(id, _)| id != name);
            }
        }
        for header in &self.headers {
            let (name, value) = header
                .split_once(':')
                .ok_or_else(|| Usage(format!("`{header}` is not a header; write `Name: value`")))?;
            if program {
                return Err(
                    Usage("-H is for URLs; a program takes variables, -e".to_owned()).into()
                );
            }
            let headers = entry.entry("headers").or_insert_with(|| json!({}));
            headers[name.trim()] = json!(value.trim());
        }
        if let Some(transport) = self.transport.as_ref().filter(|transport| *transport != "auto") {
            entry.insert("type".to_owned(), json!(transport));
        }
        let here = std::env::current_dir()?;
        let cwd = self
            .cwd
            .clone()
            .or_else(|| (program && installer.folder() != here).then(|| here.clone()));
        if let Some(cwd) = cwd {
            entry.insert("cwd".to_owned(), json!(here.join(cwd)));
        }
        Ok(())
    }

    /// Finds a server in the catalog, or else in the registry.
    async fn look_up(
        &self,
        installer: &Installer<'_>,
        name: &str,
        given: &BTreeMap<String, String>,
    ) -> anyhow::Result<Found> {
        let listed = catalog::listings();
        if let Some(listing) = listed.iter().find(|listing| listing.name == name) {
            let recipe = listing.recipe(&self.arguments, given).map_err(Usage)?;
            return Ok(Found { recipe, registry_name: None });
        }
        let Some(registry) = self.registry(installer)? else {
            let names: Vec<_> = listed.iter().map(|listing| listing.name.as_str()).collect();
            let near = schema::yaml::nearest(name, names);
            let hint =
                near.map_or_else(|| ".".to_owned(), |near| format!("; did you mean `{near}`?"));
            let usage = format!(
                "the catalog has no server `{name}`{hint} See `powerstrip add --list`, or give its command \
                 (`powerstrip add {name} -- COMMAND`) or its URL (`powerstrip add {name} URL`)"
            );
            return Err(Usage(usage).into());
        };
        let config = installer.load()?.config;
        let found = mcp_registry::search(&config, &registry, name).await?;
        let server = choose(&found, name, &registry)?;
        let options =
            Options { arguments: &self.arguments, given, allow_private: self.allow_private };
        let recipe = server.recipe(&options).map_err(Usage)?;
        Ok(Found { recipe, registry_name: Some(server.name.clone()) })
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
        let details = format!("{}  {}  {}", listing.target(), listing.homepage, listing.license);
        terminal::line(style.faint(format_args!("{:width$}  {details}", "")))?;
    }
    for server in found {
        terminal::line(format_args!("{}  {}", style.bold(&server.name), server.about))?;
    }
    Ok(())
}

/// The server of this name, or the only one whose name ends with it.
fn choose<'a>(
    found: &'a [RegistryServer],
    name: &str,
    registry: &str,
) -> Result<&'a RegistryServer, Usage> {
    if let Some(exact) = found.iter().find(|server| server.name == name) {
        return Ok(exact);
    }
    let short: Vec<_> = found.iter().filter(|server| server.short_name() == name).collect();
    if let [only] = short[..] {
        return Ok(only);
    }
    let all: Vec<_> = if short.is_empty() { found.iter().collect() } else { short };
    let names: Vec<_> = all.iter().take(8).map(|server| format!("`{}`", server.name)).collect();
    Err(Usage(match names.is_empty() {
        true => format!("neither the catalog nor {registry} has a server `{name}`"),
        false => format!("{registry} has several: name one with --from: {}", names.join(", ")),
    }))
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}

/// Writes the servers, waits for a running gateway and reports.
pub(super) async fn finish(
    context: &Context,
    installer: &Installer<'_>,
    imported: config::client_files::Imported,
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
    let installed = installer.install(imported).await?;
    let outcome = installer::wait(&installer.load()?, &expected).await;
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
