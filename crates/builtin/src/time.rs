use async_trait::async_trait;
use proto::time::{self, Offset};
use proto::{Clock, Code, Failure};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use strip::Job;
use strip::typed::{About, TypedOutput, TypedTool};

/// Returns the current time.
pub(super) struct Now {
    pub(super) clock: Clock,
}

const WEEKDAYS: [&str; 7] =
    ["Thursday", "Friday", "Saturday", "Sunday", "Monday", "Tuesday", "Wednesday"];

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {
    /// Such as `+02:00`.
    #[schemars(regex(pattern = "^[+-][0-9]{2}:[0-9]{2}$"))]
    offset: Option<String>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Moment {
    /// Date and time (RFC 3339).
    #[schemars(extend("format" = "date-time"))]
    time: String,
    /// The day of the week there.
    #[schemars(extend("enum" = WEEKDAYS))]
    weekday: String,
    /// Milliseconds since 1970, UTC.
    unix_ms: u64,
}

#[async_trait]
impl TypedTool for Now {
    type Input = Input;
    type Output = Moment;

    fn about(&self) -> About {
        let description =
            "Returns the current date, time and weekday, in UTC or at an offset from it.";
        About::reader("time.now", "Current time", description)
    }

    async fn run(&self, input: Input, _: &Job) -> Result<TypedOutput<Moment>, Failure> {
        let offset = match input.offset {
            None => Offset::UTC,
            Some(text) => offset(&text).ok_or_else(|| {
                Failure::new(
                    Code::InvalidInput,
                    format!("`{text}` is not an offset from UTC: at most 14 hours"),
                )
                .details(
                    json!({"violations": [{"path": "/offset", "message": "at most 14:00 from UTC"}]}),
                )
            })?,
        };
        Ok(describe(self.clock.unix_ms(), offset).into())
    }
}

/// An offset from UTC; those beyond 14 hours do not exist.
fn offset(text: &str) -> Option<Offset> {
    let sign = if text.starts_with('-') { -1 } else { 1 };
    let (hours, minutes) = text.get(1..)?.split_once(':')?;
    let (hours, minutes): (i32, i32) = (hours.parse().ok()?, minutes.parse().ok()?);
    let total = hours * 60 + minutes;
    let exists = minutes < 60 && total <= 14 * 60;
    exists.then(|| Offset::from_seconds(sign * total * 60).ok()).flatten()
}

fn describe(unix_ms: u64, offset: Offset) -> Moment {
    let at = time::timestamp(unix_ms);
    let time = if offset == Offset::UTC {
        time::rfc3339(unix_ms)
    } else {
        format!("{:.3}", at.display_with_offset(offset))
    };
    let weekday = offset.to_datetime(at).strftime("%A").to_string();
    Moment { time, weekday, unix_ms }
}
