use proto::Clock;

use crate::sql::{Row, Value, in_transaction, query, value_rows};
use crate::{Database, StoreError};

/// How many pins one statement carries: each definition may have a hundred kilobytes.
const CHUNK: usize = 200;

/// Which definition of a server's tool is trusted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pin {
    pub server: String,
    /// The server's own name for the tool.
    pub tool: String,
    /// The version of the way in which the digests were made.
    pub form: u32,
    /// Digests of the parts of the definition.
    pub digests: String,
}

/// A stored pin that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DamagedPin {
    /// None if it cannot be read either, as of `tool`.
    pub server: Option<String>,
    pub tool: Option<String>,
}

/// All stored pins, without the definitions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StoredPins {
    pub pins: Vec<Pin>,
    pub damaged: Vec<DamagedPin>,
}

/// A pin and its definition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PinnedDefinition {
    pub pin: Pin,
    /// The definition as JSON.
    pub definition: String,
}

impl Database {
    /// Every pin, without the definitions.
    pub async fn pins(&self) -> Result<StoredPins, StoreError> {
        let select = query("SELECT server, tool, form, digests FROM pins");
        let mut stored = StoredPins::default();
        for row in &self.sql.all(select).await? {
            match read(row) {
                Ok(pin) => stored.pins.push(pin),
                Err(error) if error.damaged_column().is_some() => {
                    let text = |column| row.get::<String>(column).ok();
                    let (server, tool) = (text("server"), text("tool"));
                    tracing::error!(
                        %error, table = "pins", ?server, ?tool,
                        "a stored row is damaged: tools that it may be about wait for approval"
                    );
                    stored.damaged.push(DamagedPin { server, tool });
                }
                Err(error) => return Err(error),
            }
        }
        Ok(stored)
    }

    /// The definition that is pinned for a server's tool, as JSON.
    pub async fn pinned_definition(
        &self,
        server: &str,
        tool: &str,
    ) -> Result<Option<String>, StoreError> {
        let select = query("SELECT definition FROM pins WHERE server = $1 AND tool = $2");
        let row = self.sql.first(select.bind(server).bind(tool)).await?;
        row.map(|row| row.get("definition")).transpose()
    }

    /// Stores pins of tools that were seen for the first time, all or none. A tool that has one keeps it, unless it is of
    /// an earlier form.
    pub async fn add_pins(&self, pins: &[PinnedDefinition]) -> Result<(), StoreError> {
        let renew = " ON CONFLICT (server, tool) DO UPDATE SET form = excluded.form, digests = excluded.digests, \
             definition = excluded.definition WHERE pins.form < excluded.form";
        self.save_pins(pins, false, renew).await
    }

    /// Stores pins that a person approved, all or none, in place of those before.
    pub async fn approve_pins(&self, pins: &[PinnedDefinition]) -> Result<(), StoreError> {
        let replace = " ON CONFLICT (server, tool) DO UPDATE SET form = excluded.form, digests = excluded.digests, \
             definition = excluded.definition, approved = excluded.approved, at_ms = excluded.at_ms";
        self.save_pins(pins, true, replace).await
    }

    async fn save_pins(
        &self,
        pins: &[PinnedDefinition],
        approved: bool,
        on_conflict: &str,
    ) -> Result<(), StoreError> {
        let now = Clock::default().unix_ms();
        in_transaction!(self.sql, |transaction| {
            for some in pins.chunks(CHUNK) {
                query("INSERT INTO pins (server, tool, form, digests, definition, approved, at_ms) VALUES ")
                    .push(&value_rows(some.len(), 7))
                    .push(on_conflict)
                    .bind_all(some.iter().flat_map(|pin| values(pin, approved, now)))
                    .once()
                    .execute(transaction.connection())
                    .await?;
            }
        })
    }
}

fn read(row: &Row) -> Result<Pin, StoreError> {
    Ok(Pin {
        server: row.get("server")?,
        tool: row.get("tool")?,
        form: row.get("form")?,
        digests: row.get("digests")?,
    })
}

fn values(
    PinnedDefinition { pin, definition }: &PinnedDefinition,
    approved: bool,
    now: u64,
) -> [Value<'_>; 7] {
    [
        (&pin.server).into(),
        (&pin.tool).into(),
        pin.form.into(),
        (&pin.digests).into(),
        definition.into(),
        approved.into(),
        now.into(),
    ]
}
