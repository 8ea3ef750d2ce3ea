//! Time zones by the place that people name.

use std::collections::HashMap;
use std::sync::LazyLock;

use language::words::fold;

const ZONES: &str = include_str!("zones.txt");

/// The zone of each place that only one zone is named after.
static BY_PLACE: LazyLock<HashMap<String, &'static str>> = LazyLock::new(|| {
    let mut zones: HashMap<String, Option<&'static str>> = HashMap::new();
    for zone in ZONES.lines().filter(|line| !line.starts_with('#')) {
        let place = zone.rsplit('/').next().unwrap_or(zone).replace('_', " ");
        zones.entry(fold(&place)).and_modify(|known| *known = None).or_insert(Some(zone));
    }
    zones.into_iter().filter_map(|(place, zone)| Some((place, zone?))).collect()
});

/// `Asia/Tokyo` for `Tokyo`; zones themselves and `UTC` stay as they are.
pub(crate) fn zone_of(text: &str) -> Option<&str> {
    let is_zone = text.contains('/') || matches!(text, "UTC" | "GMT");
    if is_zone { Some(text) } else { BY_PLACE.get(&fold(text)).copied() }
}

#[cfg(test)]
mod tests {
    use super::{BY_PLACE, zone_of};

    #[test]
    fn places_have_the_zone_that_is_named_after_them() {
        assert!(BY_PLACE.len() > 300);
        for (place, zone) in [
            ("Tokyo", Some("Asia/Tokyo")),
            ("new york", Some("America/New_York")),
            ("São Paulo", Some("America/Sao_Paulo")),
            ("Buenos Aires", Some("America/Argentina/Buenos_Aires")),
            ("Europe/London", Some("Europe/London")),
            ("UTC", Some("UTC")),
            ("Boston", None),
        ] {
            assert_eq!(zone_of(place), zone, "{place}");
        }
    }
}
