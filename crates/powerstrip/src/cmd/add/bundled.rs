//! `powerstrip add --bundled`: all capability servers that are installed.

use std::collections::BTreeMap;
use std::process::ExitCode;

use config::client_files::Imported;
use gateway::install::read_recipe;
use recipes::{Plan, bundled, catalog};

use super::{finish, planned};
use crate::context::Context;
use crate::exit::Usage;
use crate::installer::Installer;

/// Writes an entry for each capability server that is installed and not in the config yet.
pub(super) async fn add(
    context: &Context,
    installer: &Installer<'_>,
    force: bool,
) -> anyhow::Result<ExitCode> {
    let turn = installer.turn()?;
    let known = installer.servers()?;
    let importer = installer.importer(force).await?;
    let folder = installer.folder();
    let mut all: Option<Imported> = None;
    let mut missing = Vec::new();
    for listing in catalog::bundled() {
        let name = listing.name.as_str();
        if known.contains(name) && !force {
            terminal::note(format_args!("`{name}` is in the config already; --force replaces it"));
            continue;
        }
        if bundled::locate(name).is_none() {
            missing.push(listing.name);
            continue;
        }
        let mut recipe = listing.recipe(&[], &BTreeMap::new()).map_err(Usage)?;
        if recipe.gateway_flag.is_some() {
            recipe.allow_gateway(&installer.gateway_url().await?);
        }
        let plan = Plan { recipe, registry_name: None };
        let imported = read_recipe(&importer, &plan, name, &folder).map_err(planned)?;
        match &mut all {
            Some(all) => all.servers.extend(imported.servers),
            None => all = Some(imported),
        }
    }
    if !missing.is_empty() {
        terminal::note(format_args!(
            "not installed: {}; {}",
            missing.join(", "),
            bundled::HOW_TO_INSTALL
        ));
    }
    match all {
        Some(mut all) => {
            all.relative_to(&folder);
            finish(context, installer, all, turn).await
        }
        None if missing.is_empty() => Ok(ExitCode::SUCCESS),
        None => {
            Err(Usage("no capability server is installed that could be added".to_owned()).into())
        }
    }
}
