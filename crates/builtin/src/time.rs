use async_trait::async_trait;
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
    pub(super) time: String,
    /// The day of the week there.
    #[schemars(extend("enum" = WEEKDAYS))]
    weekday: &'static str,
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
            None => 0,
            Some(text) => offset_minutes(&text).ok_or_else(|| {
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

/// Minutes east of UTC; offsets beyond 14 hours do not exist.
fn offset_minutes(text: &str) -> Option<i64> {
    let sign = if text.starts_with('-') { -1 } else { 1 };
    let (hours, minutes) = text.get(1..)?.split_once(':')?;
    let (hours, minutes): (i64, i64) = (hours.parse().ok()?, minutes.parse().ok()?);
    let total = hours * 60 + minutes;
    (minutes < 60 && total <= 14 * 60).then_some(sign * total)
}

pub(super) fn describe(unix_ms: u64, offset_minutes: i64) -> Moment {
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
    let time =
        format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{milli:03}{zone}");
    Moment { time, weekday, unix_ms }
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
