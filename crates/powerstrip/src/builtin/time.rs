use async_trait::async_trait;
use proto::{Clock, Code, Descriptor};
use serde_json::{Value, json};
use strip::{Failure, Job, Output, Tool};

use super::sheet::Sheet;

/// Returns the current time.
pub(super) struct Now {
    descriptor: Descriptor,
    clock: Clock,
}

const WEEKDAYS: [&str; 7] =
    ["Thursday", "Friday", "Saturday", "Sunday", "Monday", "Tuesday", "Wednesday"];

impl Now {
    pub(super) fn new(clock: Clock) -> Self {
        let descriptor = Sheet {
            id: "time.now",
            title: "Current time",
            description: "Returns the current date and time, in UTC or at a given offset from it, with the weekday. \
                          Use it whenever an answer depends on what day or time it is.",
            deterministic: false,
            input: json!({
                "type": "object",
                "properties": {
                    "offset": {
                        "type": "string",
                        "description": "The offset from UTC, such as `+02:00` or `-05:30`; UTC if absent.",
                        "pattern": "^[+-][0-9]{2}:[0-9]{2}$",
                    },
                },
                "additionalProperties": false,
            }),
            output: json!({
                "type": "object",
                "properties": {
                    "time": {"type": "string", "format": "date-time", "description": "Date and time (RFC 3339)."},
                    "weekday": {"type": "string", "enum": WEEKDAYS, "description": "The day of the week there."},
                    "unixMs": {"type": "integer", "description": "Milliseconds since 1970, UTC."},
                },
                "required": ["time", "weekday", "unixMs"],
                "additionalProperties": false,
            }),
        }
        .descriptor();
        Self { descriptor, clock }
    }
}

#[async_trait]
impl Tool for Now {
    fn descriptor(&self) -> &Descriptor {
        &self.descriptor
    }

    async fn run(&self, call: &Job) -> Result<Output, Failure> {
        let offset = match call.request.input["offset"].as_str() {
            None => 0,
            Some(text) => offset_minutes(text).ok_or_else(|| {
                Failure::new(
                    Code::InvalidInput,
                    format!("`{text}` is not an offset from UTC: at most 14 hours"),
                )
                .details(
                    json!({"violations": [{"path": "/offset", "message": "at most 14:00 from UTC"}]}),
                )
            })?,
        };
        Ok(Output::new(describe(self.clock.unix_ms(), offset)))
    }
}

/// Minutes east of UTC; offsets beyond 14 hours do not exist.
fn offset_minutes(text: &str) -> Option<i64> {
    let sign = if text.starts_with('-') { -1 } else { 1 };
    let (hours, minutes) = text.get(1..)?.split_once(':')?;
    let (hours, minutes): (i64, i64) = (hours.parse().ok()?, minutes.parse().ok()?);
    let total = hours * 60 + minutes;
    (minutes < 60 && total <= 14 * 60).then_some(sign * total)
}

pub(super) fn describe(unix_ms: u64, offset_minutes: i64) -> Value {
    let ms = i64::try_from(unix_ms).unwrap_or(i64::MAX / 2) + offset_minutes * 60_000;
    let (days, of_day) = (ms.div_euclid(86_400_000), ms.rem_euclid(86_400_000));
    let (year, month, day) = civil(days);
    let (hour, minute, second, milli) =
        (of_day / 3_600_000, of_day / 60_000 % 60, of_day / 1000 % 60, of_day % 1000);
    let zone = match offset_minutes {
        0 => "Z".to_owned(),
        offset => {
            let sign = if offset < 0 { '-' } else { '+' };
            format!("{sign}{:02}:{:02}", offset.abs() / 60, offset.abs() % 60)
        }
    };
    let weekday = usize::try_from(days.rem_euclid(7)).map_or(WEEKDAYS[0], |day| WEEKDAYS[day]);
    json!({
        "time": format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{milli:03}{zone}"),
        "weekday": weekday,
        "unixMs": unix_ms,
    })
}

/// The date of a day counted from 1970-01-01, in the proleptic Gregorian calendar (Hinnant's algorithm).
fn civil(days: i64) -> (i64, i64, i64) {
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let of_era = shifted.rem_euclid(146_097);
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    (year, month, day)
}
