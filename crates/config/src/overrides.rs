//! Settings from flags and environment variables, which override the file.

use std::path::PathBuf;

use environment::Environment;

use crate::{Fault, Listen};

/// Settings from outside the file; an unset one keeps the file's value.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Overrides {
    pub config: Option<PathBuf>,
    pub data_dir: Option<PathBuf>,
    pub tools: Vec<PathBuf>,
    pub prompts: Option<PathBuf>,
    pub listen: Option<Listen>,
    /// An `mcpServers` JSON file whose servers are added to those of the config.
    pub mcp_json: Option<PathBuf>,
}

impl Overrides {
    /// The settings of the environment.
    pub fn of(environment: &Environment) -> Result<Self, Fault> {
        let listen =
            environment.text("POWERSTRIP_LISTEN").map(|text| text.parse()).transpose().map_err(
                |error: crate::listen::InvalidListen| Fault {
                    file: None,
                    line: None,
                    key: "POWERSTRIP_LISTEN".to_owned(),
                    message: error.to_string(),
                },
            )?;
        Ok(Self {
            config: environment.path("POWERSTRIP_CONFIG"),
            data_dir: environment.path("POWERSTRIP_DATA_DIR"),
            tools: environment.paths("POWERSTRIP_TOOLS"),
            prompts: environment.path("POWERSTRIP_PROMPTS"),
            listen,
            mcp_json: None,
        })
    }

    /// These settings, completed by those of `beneath`.
    pub fn or(self, beneath: Self) -> Self {
        Self {
            config: self.config.or(beneath.config),
            data_dir: self.data_dir.or(beneath.data_dir),
            tools: if self.tools.is_empty() { beneath.tools } else { self.tools },
            prompts: self.prompts.or(beneath.prompts),
            listen: self.listen.or(beneath.listen),
            mcp_json: self.mcp_json.or(beneath.mcp_json),
        }
    }
}
