//! Postal codes that words name or that follow a state; those after a place are found with the place.

use std::sync::LazyLock;

use regex::Regex;

use super::lists;
use super::network::regex;
use super::surroundings::Surroundings;
use super::{Finding, Kind};

static CODE: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"(?i)\b(?:\d{5}(?:[- ]\d{4}|-\d{3})?|\d{3} \d{2}|\d{4}(?: [a-z]{2})?|\d{6}|\d{2}-\d{3}|[a-z]\d[a-z] ?\d[a-z]\d|[a-z]{1,2}\d[a-z\d]? ?\d[a-z]{2})\b",
    )
});
static STATE: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"\b(?:A[KLRZ]|C[AOT]|D[CE]|FL|GA|HI|I[ADLN]|K[SY]|LA|M[ADEINOST]|N[CDEHJMVY]|O[HKR]|P[AR]|RI|S[CD]|T[NX]|UT|V[AT]|W[AIVY]) (\d{5}(?:-\d{4})?)\b",
    )
});

static CUES: LazyLock<Vec<&str>> = LazyLock::new(|| {
    lists::list(
        "zip|zipcode|zip code|postal|postal code|postcode|post code|plz|postleitzahl|cep|cap|code postal|\
     pin code|pincode|código postal|eircode",
    )
});

pub(super) fn find(around: &Surroundings<'_>, found: &mut Vec<Finding>) {
    for hit in CODE.find_iter(around.text) {
        if around.is_free(&hit.range()) && around.introduced_by(hit.start(), &CUES) {
            found.push(Finding::new(Kind::ZipCode, hit.range(), 0.9, "named as a postal code"));
        }
    }
    for hit in STATE.captures_iter(around.text) {
        if let Some(code) = hit.get(1)
            && around.is_free(&code.range())
        {
            found.push(Finding::new(
                Kind::ZipCode,
                code.range(),
                0.72,
                "five digits after a state",
            ));
        }
    }
}
