pub(super) mod addresses;
pub(super) mod client;
pub(super) mod moved;
pub(super) mod moving;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context as _;
use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use config::client_files::ClientFile;
use config::clients::{Client, ENTRY, Endpoint, TOKEN_VARIABLE};
use serde_json::{Value, json};

use crate::context::Context;
use crate::exit::Usage;
use crate::handover;
use crate::installer::{self, Expected, Installer, note_narrowed};
use addresses::GatewayAddresses;
use client::{Route, disconnect_command, entry, path_of};
use moved::ConnectRecord;
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

impl Connect {
    pub(crate) async fn run(self, context: &Context) -> anyhow::Result<ExitCode> {
        let Some(client) = self.client else { return list(context).await };
        let path = client::file_of(client, self.file.as_deref(), &context.environment)?;
        let installer = Installer::new(context);
        let route = self.route(context, client, &installer).await?;
        let entry = entry(client, &route);
        let named = |why: String| anyhow::anyhow!("{}: {why}", path.display());
        if self.print {
            let mut fresh = ClientFile::new(client.format(), String::new()).map_err(named)?;
            fresh.set(&[client.section(), &self.name], &entry).map_err(named)?;
            terminal::note(format_args!("in {}:", path.display()));
            terminal::text(fresh.text())?;
            return Ok(ExitCode::SUCCESS);
        }
        let before = ClientFile::read(&path).map_err(named)?;
        let data_dir = installer.load()?.config.data_dir;
        let mut record = ConnectRecord::read(&data_dir, &client.to_string(), &path)?;
        let addresses = GatewayAddresses::find(&installer).await?;
        if before.get(&[client.section(), &self.name]).is_some()
            && !addresses.names_in(&before, client, &record).contains(&self.name)
        {
            return Err(Usage(format!(
                "{}: `{name}` is another server; name the gateway differently with --name, or rename that server",
                path.display(),
                name = self.name
            ))
            .into());
        }
        let mut file = before.clone();
        let (was_there, mut taken) = (path.exists(), None);
        if self.move_servers {
            taken = Some(self.take_servers(&installer, &path, &mut file, &mut record).await?);
        }
        file.set(&[client.section(), &self.name], &entry).map_err(named)?;
        if file != before {
            // Before the client's file changes: what is taken out must be somewhere else by then.
            let data_dir = installer.load()?.config.data_dir;
            let text_before = was_there.then(|| before.text());
            record.add(&self.name, &entry, text_before, file.text(), &data_dir)?;
        }
        let backup = if file == before {
            None
        } else {
            let written = file.write(&path).with_context(|| path.display().to_string())?;
            if written.narrowed {
                note_narrowed(&path);
            }
            written.backup
        };
        let outcome = match &taken {
            Some(taken) => {
                let up = taken.installed.names.iter().map(|name| (name.clone(), Expected::Up));
                Some(installer::wait(&installer.load()?, &up.collect::<Vec<_>>()).await)
            }
            None => None,
        };
        let moved = taken.as_ref().map(|taken| taken.installed.names.clone()).unwrap_or_default();
        let known = taken.as_ref().map(|taken| taken.known.clone()).unwrap_or_default();
        let loaded = installer.load()?;
        let broken = installer::broken_servers(&loaded, &known).await;
        if context.global.json {
            terminal::json(&json!({
                "client": client.to_string(), "file": path, "backup": backup, "changed": file != before,
                "entry": entry, "moved": moved, "known": known, "servers": outcome.map(|outcome| outcome.json()),
            }))?;
            return Ok(ExitCode::SUCCESS);
        }
        let shown = path.display();
        if file == before {
            terminal::line(format_args!("{client} is connected already ({shown})"))?;
        } else {
            terminal::line(format_args!("connected {client} ({shown})"))?;
        }
        if let Some(backup) = backup {
            terminal::line(format_args!("the file before: {}", backup.display()))?;
        }
        for name in &moved {
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
        for (name, how) in taken.iter().flat_map(|taken| &taken.installed.missing) {
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
        if file != before {
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
