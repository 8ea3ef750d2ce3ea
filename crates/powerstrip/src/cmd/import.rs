use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use config::client_files::ClientFile;
use config::clients::{Client, ENTRY};
use serde_json::{Map, Value, json};

use super::add;
use super::connect::client::path_of;
use super::connect::moving::remove_gateways;
use crate::context::Context;
use crate::exit::Usage;
use crate::installer::{Installer, note_import};
use gateway::install::written_keys;
use terminal::table::{Cell, Table};
use terminal::{Style, Tone};

const EXAMPLES: &str = "\
Examples:
  powerstrip import ~/.cursor/mcp.json --write                add the servers to powerstrip.yaml
  powerstrip import .vscode/mcp.json                          print them as YAML
  powerstrip import cursor --write                            the file of a client, by its name
  powerstrip import                                           the files that are on this machine

It reads the files of Claude Code and Desktop, Cursor, VS Code, Windsurf, Zed, Cline, Codex, Gemini and others, with \
comments. `${NAME}` becomes `{env: NAME}`. With --write, secrets that the file contains are stored in the vault and \
written as `{secret: NAME}`; without it nothing is stored. An entry that cannot be used is reported; the others are taken.";

/// Import the servers of another MCP client
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Import {
    /// The configuration file of a client, or the client's name; without one, the files that exist are listed.
    file: Option<PathBuf>,
    /// Add the servers to the config file, instead of printing them.
    #[arg(long)]
    write: bool,
}

impl Import {
    pub(crate) async fn run(&self, context: &Context) -> anyhow::Result<ExitCode> {
        let Some(file) = &self.file else { return list(context) };
        let file = &find(file, context)?;
        let installer = Installer::new(context);
        let turn = self.write.then(|| installer.turn()).transpose()?;
        let mut importer = installer.importer(!self.write).await?;
        importer.skip.insert(ENTRY.to_owned());
        let named = |why: String| Usage(format!("{}: {why}", file.display()));
        let mut imported = importer.read(file).map_err(named)?;
        imported.relative_to(&installer.folder());
        // The entry that `connect` has written is this gateway.
        imported.notes.retain(|note| !note.starts_with(&format!("{ENTRY}: skipped")));
        let client_file = ClientFile::read(file).map_err(named)?;
        for name in remove_gateways(&mut imported, &installer, &client_file, file).await? {
            terminal::note(format_args!("`{name}` is this gateway and is left out"));
        }
        if imported.servers.is_empty() && !imported.refused.is_empty() {
            note_import(&imported);
            return Err(named("none of the servers can be used".to_owned()).into());
        }
        if imported.servers.is_empty() && imported.notes.is_empty() {
            terminal::note(format_args!("{}: there are no servers to import", file.display()));
            if !context.global.json {
                return Ok(ExitCode::SUCCESS);
            }
        }
        if let Some(turn) = turn {
            return add::finish(context, &installer, imported, turn).await;
        }
        if let Err(error) = installer.reuse_secrets(&mut imported).await {
            terminal::note(format_args!("the vault cannot be read: {error:#}"));
        }
        note_import(&imported);
        for name in imported.secrets.keys() {
            terminal::note(format_args!("with --write, the secret {name} is stored in the vault"));
        }
        for (name, how) in installer.missing_secrets(&imported).await {
            terminal::note(format_args!("missing secret {name}: {how}"));
        }
        let mut servers = Map::new();
        for (name, server) in &imported.servers {
            servers.insert(name.clone(), written_keys(server)?);
        }
        let section = json!({"servers": servers});
        if context.global.json {
            terminal::json(&section)?;
        } else {
            terminal::text(schema::yaml::to_string(&section)?)?;
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// The file itself, or that of the client of this name.
fn find(file: &Path, context: &Context) -> Result<PathBuf, Usage> {
    let name = file.to_str().filter(|name| !file.exists() && !name.contains(['/', '.']));
    let Some(name) = name else { return Ok(file.to_owned()) };
    match name.parse::<Client>() {
        Ok(client) => Ok(path_of(client, &context.environment).unwrap_or_else(|| file.to_owned())),
        Err(_) => {
            let hint = match schema::yaml::nearest(name, Client::ALL.map(Client::id)) {
                Some(near) => format!("did you mean `{near}`?"),
                None => "`powerstrip connect` lists the clients".to_owned(),
            };
            Err(Usage(format!("there is no file and no client `{name}`; {hint}")))
        }
    }
}

/// Lists the files of clients that exist here.
fn list(context: &Context) -> anyhow::Result<ExitCode> {
    let found = Client::ALL.into_iter().filter_map(|client| {
        let path = path_of(client, &context.environment).filter(|path| path.is_file())?;
        let file = ClientFile::read(&path).ok();
        let servers = file.and_then(|file| file.get(&[client.section()]));
        let servers = servers.as_ref().and_then(Value::as_object).into_iter().flatten();
        let servers = servers.filter(|(name, _)| *name != ENTRY).count();
        Some((client, servers, path))
    });
    let found: Vec<_> = found.collect();
    if context.global.json {
        let rows = found.iter().map(|(client, servers, path)| {
            json!({"client": client.to_string(), "servers": servers, "file": path})
        });
        terminal::json(&rows.collect::<Vec<_>>())?;
        return Ok(ExitCode::SUCCESS);
    }
    if found.is_empty() {
        terminal::line("no files of MCP clients were found; name one: `powerstrip import FILE`")?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut table = Table::new(["CLIENT", "SERVERS", "FILE"]).right(["SERVERS"]);
    for (client, servers, path) in &found {
        table.row([
            Cell::new(client).tone(Tone::Strong),
            Cell::new(servers),
            Cell::new(path.display()),
        ]);
    }
    table.print(Style::stdout(&context.environment))?;
    terminal::line("import the servers of one with `powerstrip import CLIENT --write`")?;
    Ok(ExitCode::SUCCESS)
}
