//! What flags and the environment say over the file.

use std::path::PathBuf;

use crate::environment::Environment;
use crate::{Fault, Listen};

/// Settings from outside the file; unset ones leave the file's word.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Overrides {
    pub config: Option<PathBuf>,
    pub data_dir: Option<PathBuf>,
    pub tools: Vec<PathBuf>,
    pub prompts: Option<PathBuf>,
    pub listen: Option<Listen>,
    /// Servers beside those of the file.
    pub mcp_json: Option<PathBuf>,
}

impl Overrides {
    /// What the environment says.
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

    /// These settings, and where they are silent, those.
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
