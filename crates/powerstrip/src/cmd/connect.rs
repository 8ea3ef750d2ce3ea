pub(super) mod addresses;
pub(super) mod client;
pub(super) mod moving;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context as _;
use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use config::client_files::{ClientFile, Written};
use config::clients::{Client, ENTRY, Endpoint, TOKEN_VARIABLE};
use gateway::connect_record::ConnectRecord;
use serde_json::{Value, json};

use crate::context::Context;
use crate::exit::Usage;
use crate::installer::{self, Expected, Installed, Installer, note_narrowed};
use addresses::GatewayAddresses;
use client::{Route, disconnect_command, entry, path_of};
use gateway::handover;
use moving::Taken;
use terminal::table::{Cell, Table};
use terminal::{Style, Tone};

const EXAMPLES: &str = "\
Examples:
  powerstrip connect claude-code                  write the gateway into ~/.claude.json
  powerstrip connect cursor --print               show what would be written
  powerstrip connect vscode --move                put the client's own servers behind the gateway
  powerstrip connect cursor --move --as files=docs   call the server `files` of the client `docs`
  powerstrip connect claude-desktop --agent analyst
  powerstrip connect                              the clients and their files

The rest of the client's file stays as it is, and the file is copied before it is changed (`.bak`). Clients that can \
use a URL get the gateway's; it has to run: `powerstrip serve`. Others start `powerstrip stdio` themselves. \
`powerstrip disconnect CLIENT` undoes it, and puts moved servers back.";

/// How often a file is edited that other programs change meanwhile.
pub(super) const MAX_TRIES: u32 = 3;

/// Connect an MCP client to the gateway
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Connect {
    /// The client; without one, all clients are listed.
    #[arg(value_name = "CLIENT")]
    client: Option<Client>,
    /// Print the configuration instead of writing it.
    #[arg(long)]
    print: bool,
    /// Move the client's servers to the gateway.
    #[arg(long = "move", conflicts_with = "print")]
    move_servers: bool,
    /// The gateway's name for a server that is moved; repeat for several.
    #[arg(long = "as", value_name = "NAME=OTHER", requires = "move_servers", value_parser = moving::renaming)]
    names: Vec<(String, String)>,
    /// The client's configuration file [default: where the client keeps it].
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,
    /// The name of the gateway in the client.
    #[arg(long, default_value = ENTRY, value_parser = NonEmptyStringValueParser::new())]
    name: String,
    /// Offer only the tools of this agent.
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,
    /// Let the client start `powerstrip stdio`.
    #[arg(long, conflicts_with = "http")]
    stdio: bool,
    /// Let the client connect to the gateway's URL.
    #[arg(long)]
    http: bool,
}

/// What became of the client's file.
struct Edited {
    /// `None` if the gateway was in the file already.
    written: Option<Written>,
    /// The servers that were taken out and that the config had already.
    known: Vec<String>,
}

impl Connect {
    pub(crate) async fn run(self, context: &Context) -> anyhow::Result<ExitCode> {
        let Some(client) = self.client else { return list(context).await };
        let path = client::file_of(client, self.file.as_deref(), &context.environment)?;
        let installer = Installer::new(context);
        let route = self.route(context, client, &installer).await?;
        let entry = entry(client, &route);
        if self.print {
            let named = |why: String| anyhow::anyhow!("{}: {why}", path.display());
            let mut fresh = ClientFile::new(client.format(), String::new()).map_err(named)?;
            fresh.set(&[client.section(), &self.name], &entry).map_err(named)?;
            terminal::note(format_args!("in {}:", path.display()));
            terminal::text(fresh.text())?;
            return Ok(ExitCode::SUCCESS);
        }
        let mut installed = Installed::default();
        let edited = self.edit(client, &path, &installer, &entry, &mut installed).await;
        let Edited { written, known } = edited.map_err(|error| {
            let names: Vec<_> = installed.names.iter().map(|name| format!("`{name}`")).collect();
            if names.is_empty() {
                return error;
            }
            error.context(format!(
                "{names}: added to {config}, but not taken out of the client's file; once the cause is removed, run this \
                 command again, which adds none of them twice",
                names = names.join(", "),
                config = installer.file().display(),
            ))
        })?;
        let outcome = if self.move_servers {
            let up = installed.names.iter().map(|name| (name.clone(), Expected::Up));
            Some(installer::wait(&installer.load()?, &up.collect::<Vec<_>>()).await)
        } else {
            None
        };
        let (moved, changed) = (&installed.names, written.is_some());
        let backup = written.and_then(|written| written.backup);
        let loaded = installer.load()?;
        let broken = installer::broken_servers(&loaded, &known).await;
        if context.global.json {
            terminal::json(&json!({
                "client": client.to_string(), "file": path, "backup": backup, "changed": changed,
                "entry": entry, "moved": moved, "known": known, "servers": outcome.map(|outcome| outcome.json()),
            }))?;
            return Ok(ExitCode::SUCCESS);
        }
        let shown = path.display();
        if changed {
            terminal::line(format_args!("connected {client} ({shown})"))?;
        } else {
            terminal::line(format_args!("{client} is connected already ({shown})"))?;
        }
        if let Some(backup) = backup {
            terminal::line(format_args!("the file before: {}", backup.display()))?;
        }
        for name in moved {
            let (name, file) = (terminal::shown(name), installer.file().display());
            terminal::line(format_args!("moved `{name}` to {file}"))?;
        }
        for name in &known {
            let name = terminal::shown(name);
            terminal::line(format_args!("removed `{name}`: the gateway has it already"))?;
        }
        let style = Style::stdout(&context.environment);
        for cause in &broken {
            let text = format!("{} does not work there: {}", cause.servers.join(", "), cause.cause);
            terminal::line(style.doubtful(text))?;
            terminal::line(&cause.fix)?;
        }
        for (name, how) in &installed.missing {
            let (name, how) = (terminal::shown(name), terminal::shown(how));
            terminal::line(format_args!("missing secret {name}: {how}"))?;
        }
        match (&outcome, &route) {
            (Some(outcome), _) if !moved.is_empty() => {
                installer::report(outcome, style)?;
            }
            (Some(outcome), _) if outcome.is_running() => {}
            (_, Route::Http { .. })
                if handover::served_at(&loaded.config.data_dir).await.is_none() =>
            {
                terminal::line("the gateway has to run: `powerstrip serve`")?
            }
            _ => {}
        }
        if changed {
            terminal::line(format_args!("restart {client}, or reload its servers"))?;
            let named = self.file.as_ref().map(|_| path.as_path());
            let undo = disconnect_command(client, named, &self.name);
            terminal::line(format_args!("undo it with `{undo}`"))?;
        }
        if matches!(route, Route::Stdio { .. }) && !installer.file().exists() {
            terminal::line(format_args!(
                "there is no {} yet: once you have added servers, run this command again, so that {client} uses them \
                 also while no gateway runs",
                installer.file().display()
            ))?;
        }
        Ok(ExitCode::SUCCESS)
    }

    /// Writes the gateway into the client's file, and adds servers that are moved to the config. If another program
    /// changes the file meanwhile, its new text is edited.
    async fn edit(
        &self,
        client: Client,
        path: &Path,
        installer: &Installer<'_>,
        entry: &Value,
        installed: &mut Installed,
    ) -> anyhow::Result<Edited> {
        for _ in 0..MAX_TRIES {
            if let Some(edited) = self.try_edit(client, path, installer, entry, installed).await? {
                return Ok(edited);
            }
        }
        Err(changing(path))
    }

    /// Returns `None` if another program has changed the file since it was read.
    async fn try_edit(
        &self,
        client: Client,
        path: &Path,
        installer: &Installer<'_>,
        entry: &Value,
        installed: &mut Installed,
    ) -> anyhow::Result<Option<Edited>> {
        let named = |why: String| anyhow::anyhow!("{}: {why}", path.display());
        let unusual = |why: String| named(format!("{why} (see --print)"));
        let shown = || path.display().to_string();
        let (was_there, before) = (path.exists(), ClientFile::read(path).map_err(named)?);
        let data_dir = installer.load()?.config.data_dir;
        let mut record = ConnectRecord::read(&data_dir, client.id(), path)?;
        let addresses = GatewayAddresses::find(installer).await?;
        let keys = [client.section(), self.name.as_str()];
        let there = before.get(&keys);
        if there.as_ref().is_some_and(|known| !addresses.is_gateway(&self.name, known, &record)) {
            let (shown, name) = (path.display(), &self.name);
            return Err(Usage(format!(
                "{shown}: `{name}` is another server; name the gateway differently with --name, or rename that server"
            ))
            .into());
        }
        let new = record.merge(&self.name, there, entry);
        let mut file = before.clone();
        // Nothing is moved if the file cannot be edited.
        file.clone().set(&keys, &new).map_err(unusual)?;
        let (mut taken, mut turn) = (Taken::default(), None);
        if self.move_servers {
            turn = Some(installer.turn()?);
            taken = self.take_servers(installer, path, &mut file, &mut record).await?;
        }
        file.set(&keys, &new).map_err(unusual)?;
        let mut replacement = None;
        if file != before {
            // Nothing is moved if no file can be written there.
            let mut prepared = before.replacement(path).with_context(shown)?;
            prepared.back_up().with_context(shown)?;
            replacement = Some(prepared);
        }
        if let Some((imported, turn)) = taken.imported.zip(turn) {
            let added = installer.install(imported, turn).await?;
            installed.names.extend(added.names);
            installed.stored.extend(added.stored);
            installed.missing.extend(added.missing);
        }
        // What an earlier try has added is in the config by now.
        taken.known.retain(|name| !installed.names.contains(name));
        let Some(replacement) = replacement else {
            return Ok(Some(Edited { written: None, known: taken.known }));
        };
        // Not before: the config file may be in the same folder, and is edited under the same lock.
        if !replacement.lock().with_context(shown)? {
            return Ok(None);
        }
        // Before the client's file changes: what is taken out must be somewhere else by then.
        let data_dir = installer.load()?.config.data_dir;
        let text_before = was_there.then(|| before.text());
        record.add(&self.name, entry, text_before, file.text(), &data_dir)?;
        let written = replacement.write(&file).with_context(shown)?;
        if written.as_ref().is_some_and(|written| written.narrowed) {
            note_narrowed(path);
        }
        Ok(written.map(|written| Edited { written: Some(written), known: taken.known }))
    }

    /// How the client reaches the gateway.
    async fn route(
        &self,
        context: &Context,
        client: Client,
        installer: &Installer<'_>,
    ) -> anyhow::Result<Route> {
        let config = installer.load()?.config;
        if let Some(agent) = self.agent.as_ref().filter(|agent| !config.agents.contains_key(*agent))
        {
            return Err(Usage(format!("the config has no agent `{agent}`")).into());
        }
        let address = match &config.public_url {
            Some(url) => Some(url.trim_end_matches('/').to_owned()),
            None if config.listen.0.port() == 0 => None,
            // `serve --listen` may have chosen another address than the config.
            None => Some(
                handover::served_at(&config.data_dir)
                    .await
                    .unwrap_or_else(|| format!("http://{}", config.listen.0)),
            ),
        };
        let program = std::env::current_exe().context("the path of this program is unknown")?;
        let needs_key = config.auth.is_some();
        // With a key, a process that the client starts is simpler: it needs none.
        let url_fits = client != Client::ClaudeDesktop && !needs_key && address.is_some();
        if self.http && client == Client::ClaudeDesktop {
            let usage = "the file of claude-desktop names programs only; leave out --http";
            return Err(Usage(usage.to_owned()).into());
        }
        if self.http || (url_fits && !self.stdio) {
            let base_url = address.ok_or_else(|| {
                Usage(
                    "the gateway listens on a random port; set `listen` or use --stdio".to_owned(),
                )
            })?;
            if needs_key {
                terminal::note(format_args!(
                    "the gateway needs a key: make one with `powerstrip keys add` and set {TOKEN_VARIABLE} where \
                     the client runs"
                ));
            }
            let agent = self.agent.as_ref().map(|agent| format!("/agents/{agent}/mcp"));
            let path = agent.unwrap_or_else(|| "/mcp".to_owned());
            let program = program.to_string_lossy().into_owned();
            return Ok(Route::Http { endpoint: Endpoint { base_url, needs_key, program }, path });
        }
        let mut args = vec!["stdio".to_owned()];
        let mut add = |flag: &str, path: &Path| -> anyhow::Result<()> {
            args.extend([
                flag.to_owned(),
                std::path::absolute(path)?.to_string_lossy().into_owned(),
            ]);
            Ok(())
        };
        if installer.file().exists() {
            add("--config", installer.file())?;
        }
        if !installer.file().exists() || context.global.data_dir.is_some() {
            add("--data-dir", &config.data_dir)?;
        }
        if !installer.file().exists() {
            for folder in &config.tools {
                add("--tools", folder)?;
            }
        }
        if let Some(agent) = &self.agent {
            args.extend(["--agent".to_owned(), agent.clone()]);
        }
        Ok(Route::Stdio { program, args })
    }
}

/// The error for a file that other programs changed during each try.
pub(super) fn changing(path: &Path) -> anyhow::Error {
    anyhow::anyhow!(
        "{}: another program changes this file all the time, so it was left as it is; run this command again, or close \
         that program before",
        path.display()
    )
}

async fn list(context: &Context) -> anyhow::Result<ExitCode> {
    let installer = Installer::new(context);
    let data_dir = installer.load()?.config.data_dir;
    let addresses = GatewayAddresses::find(&installer).await?;
    let is_connected = |client: Client, path: &Path| {
        let Ok(file) = ClientFile::read(path) else { return false };
        let id = client.to_string();
        // Without a record, entries are still known by their addresses.
        let record = ConnectRecord::read(&data_dir, &id, path)
            .unwrap_or_else(|_| ConnectRecord::new(&id, path));
        !addresses.names_in(&file, client, &record).is_empty()
    };
    let rows: Vec<_> = Client::ALL
        .into_iter()
        .map(|client| {
            let path = path_of(client, &context.environment);
            let connected = path.as_deref().is_some_and(|path| is_connected(client, path));
            (client, path, connected)
        })
        .collect();
    if context.global.json {
        let rows: Vec<Value> = rows
            .iter()
            .map(|(client, path, connected)| {
                json!({"client": client.to_string(), "file": path, "connected": connected})
            })
            .collect();
        terminal::json(&rows)?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut table = Table::new(["CLIENT", "STATE", "FILE"]);
    for (client, path, connected) in rows {
        let (state, tone) =
            if connected { ("connected", Tone::Good) } else { ("not connected", Tone::Faint) };
        table.row([
            Cell::new(client).tone(Tone::Strong),
            Cell::new(state).tone(tone),
            Cell::maybe(path.map(|path| path.display().to_string())),
        ]);
    }
    table.print(Style::stdout(&context.environment))?;
    Ok(ExitCode::SUCCESS)
}
