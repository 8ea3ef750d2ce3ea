//! Country calling codes of ITU-T E.164 and how many digits follow them.

use std::ops::RangeInclusive;
use std::sync::LazyLock;

/// Region, calling code, and the shortest and longest national number.
const TABLE: &str = "US 1 10 10|CA 1 10 10|RU 7 10 10|KZ 7 10 10|EG 20 8 10|ZA 27 9 9|GR 30 10 10|NL 31 9 9|\
     BE 32 8 9|FR 33 9 9|ES 34 9 9|HU 36 8 9|IT 39 6 12|RO 40 9 9|CH 41 9 9|AT 43 4 13|GB 44 9 10|\
     DK 45 8 8|SE 46 7 10|NO 47 8 8|PL 48 9 9|DE 49 5 13|PE 51 8 9|MX 52 10 11|CU 53 8 8|AR 54 10 11|\
     BR 55 10 11|CL 56 9 9|CO 57 8 10|VE 58 10 10|MY 60 8 10|AU 61 9 9|ID 62 8 12|PH 63 8 10|\
     NZ 64 8 10|SG 65 8 8|TH 66 8 9|JP 81 9 10|KR 82 8 10|VN 84 9 10|CN 86 10 11|TR 90 10 10|\
     IN 91 10 10|PK 92 9 10|AF 93 9 9|LK 94 9 9|MM 95 7 10|IR 98 10 10|SS 211 9 9|MA 212 9 9|\
     DZ 213 8 9|TN 216 8 8|LY 218 8 9|GM 220 7 7|SN 221 9 9|ML 223 8 8|CI 225 10 10|GH 233 9 9|\
     NG 234 7 10|CM 237 8 9|AO 244 9 9|SD 249 9 9|RW 250 9 9|ET 251 9 9|SO 252 7 9|KE 254 9 10|\
     TZ 255 9 9|UG 256 9 9|MZ 258 8 9|ZM 260 9 9|MG 261 9 9|RE 262 9 9|ZW 263 8 10|NA 264 8 9|\
     GL 299 6 6|GI 350 8 8|PT 351 9 9|LU 352 5 11|IE 353 7 9|IS 354 7 9|AL 355 8 9|MT 356 8 8|\
     CY 357 8 8|FI 358 5 12|BG 359 7 9|LT 370 8 8|LV 371 8 8|EE 372 7 8|MD 373 8 8|AM 374 8 8|\
     BY 375 9 10|AD 376 6 9|MC 377 8 9|SM 378 6 10|UA 380 9 9|RS 381 7 9|ME 382 8 8|XK 383 8 9|\
     HR 385 8 9|SI 386 8 8|BA 387 8 8|MK 389 8 8|CZ 420 9 9|SK 421 9 9|LI 423 7 9|BZ 501 7 7|\
     GT 502 8 8|SV 503 8 8|HN 504 8 8|NI 505 8 8|CR 506 8 8|PA 507 7 8|HT 509 8 8|GP 590 9 9|\
     BO 591 8 8|GY 592 7 7|EC 593 8 9|PY 595 8 9|SR 597 6 7|UY 598 8 8|TL 670 7 8|BN 673 7 7|\
     PG 675 7 8|FJ 679 7 7|HK 852 8 8|MO 853 8 8|KH 855 8 9|LA 856 8 10|BD 880 8 10|TW 886 8 9|\
     MV 960 7 7|LB 961 7 8|JO 962 8 9|SY 963 8 9|IQ 964 8 10|KW 965 7 8|SA 966 8 9|YE 967 7 9|\
     OM 968 8 8|PS 970 8 9|AE 971 8 9|IL 972 8 9|BH 973 8 8|QA 974 7 8|BT 975 7 8|MN 976 8 8|\
     NP 977 8 10|TJ 992 9 9|TM 993 8 8|AZ 994 9 9|GE 995 9 9|KG 996 9 9|UZ 998 9 9";

struct Row {
    region: &'static str,
    code: &'static str,
    lengths: RangeInclusive<usize>,
}

static CODES: LazyLock<Vec<Row>> = LazyLock::new(|| TABLE.split('|').filter_map(row).collect());

fn row(text: &'static str) -> Option<Row> {
    let mut cells = text.split(' ');
    let (region, code) = (cells.next()?, cells.next()?);
    let (shortest, longest) = (cells.next()?.parse().ok()?, cells.next()?.parse().ok()?);
    Some(Row { region, code, lengths: shortest..=longest })
}

/// Whether digits begin with a calling code that so many digits may follow. A trunk zero after the code counts as one.
pub(super) fn fits(digits: &str) -> bool {
    CODES.iter().any(|row| {
        digits.strip_prefix(row.code).is_some_and(|rest| {
            row.lengths.contains(&rest.len())
                || rest.starts_with('0') && row.lengths.contains(&(rest.len() - 1))
        })
    })
}

/// Whether digits are as long as a number within a region, with or without its trunk zero.
pub(super) fn fits_national(region: &str, digits: &str) -> bool {
    let rest = digits.strip_prefix('0').unwrap_or(digits);
    let mut rows = CODES.iter().filter(|row| row.region.eq_ignore_ascii_case(region));
    rows.any(|row| rest.len() >= 7 && row.lengths.contains(&rest.len()))
}
