//! Places: towns without street and postal code, and the calling codes of their countries.

use std::collections::HashMap;
use std::sync::LazyLock;

use regex::Regex;

use super::dates::fold;

fn pattern(source: &str) -> Regex {
    // cannot fail: the patterns are constants, and a test uses them.
    Regex::new(source).expect("a pattern that compiles")
}

/// Countries and regions, then large towns behind `;`, in lower case without accents, by calling code.
const PLACES: &[(&str, &str)] = &[
    (
        "1",
        "usa|us|u.s.|u.s.a.|united states|united states of america|estados unidos|etats-unis|vereinigte staaten|canada|kanada|alabama|alaska|\
         arizona|arkansas|california|colorado|connecticut|delaware|florida|hawaii|idaho|illinois|indiana|iowa|kansas|kentucky|\
         louisiana|maine|maryland|massachusetts|michigan|minnesota|mississippi|missouri|montana|nebraska|nevada|new hampshire|new jersey|\
         new mexico|new york|north carolina|north dakota|ohio|oklahoma|oregon|pennsylvania|rhode island|south carolina|south dakota|\
         tennessee|texas|utah|vermont|virginia|washington|west virginia|wisconsin|wyoming|ontario|quebec|british columbia|alberta|manitoba|\
         saskatchewan|nova scotia;new york city|nyc|los angeles|chicago|houston|philadelphia|phoenix|san antonio|san diego|dallas|austin|\
         san francisco|bay area|san francisco bay area|seattle|denver|boston|atlanta|miami|detroit|portland|minneapolis|las vegas|baltimore|\
         pittsburgh|toronto|montreal|vancouver|calgary|ottawa|edmonton|brooklyn|washington dc|washington d.c.",
    ),
    (
        "44",
        "uk|u.k.|united kingdom|great britain|england|scotland|wales|northern ireland|grossbritannien|royaume-uni|reino unido;london|leeds|\
         manchester|birmingham|glasgow|edinburgh|liverpool|bristol|sheffield|cardiff|belfast|nottingham|newcastle|oxford|cambridge|brighton",
    ),
    (
        "49",
        "germany|deutschland|allemagne|alemania|alemanha|germania|bavaria|bayern;berlin|hamburg|munich|munchen|koln|cologne|frankfurt|frankfurt am main|\
         stuttgart|dusseldorf|leipzig|dortmund|essen|bremen|dresden|hannover|nurnberg|nuremberg|bonn|mannheim|karlsruhe",
    ),
    (
        "33",
        "france|frankreich|francia|franca;paris|lyon|marseille|toulouse|nice|nantes|strasbourg|montpellier|bordeaux|lille|rennes|grenoble",
    ),
    (
        "34",
        "spain|espana|spanien|espagne|espanha;madrid|barcelona|valencia|sevilla|seville|zaragoza|malaga|bilbao|murcia|granada|alicante",
    ),
    (
        "41",
        "switzerland|schweiz|suisse|svizzera|suiza|suica;zurich|geneva|geneve|genf|basel|bern|berne|lausanne|luzern|winterthur",
    ),
    ("43", "austria|osterreich|autriche;wien|vienna|graz|linz|salzburg|innsbruck"),
    (
        "31",
        "netherlands|the netherlands|nederland|niederlande|pays-bas;amsterdam|rotterdam|utrecht|den haag|the hague|eindhoven",
    ),
    (
        "39",
        "italy|italia|italien|italie;rome|roma|milan|milano|turin|torino|bologna|naples|napoli|firenze|florence|genova|venezia",
    ),
    (
        "32",
        "belgium|belgique|belgie|belgien|belgica;brussels|bruxelles|brussel|antwerp|antwerpen|ghent|gent|liege|namur",
    ),
    ("353", "ireland|irland|irlande|irlanda;dublin|cork|galway|limerick"),
    ("351", "portugal;lisbon|lisboa|porto|braga|coimbra|faro|aveiro"),
    (
        "55",
        "brazil|brasil|brasilien|bresil|minas gerais|parana|santa catarina|bahia;sao paulo|rio de janeiro|belo horizonte|brasilia|salvador|curitiba|porto alegre|recife|fortaleza|\
         campinas|florianopolis|minas gerais|parana|santa catarina|bahia",
    ),
    (
        "52",
        "mexico|mexique|mexiko;ciudad de mexico|mexico city|cdmx|guadalajara|monterrey|puebla|tijuana",
    ),
    ("54", "argentina|argentine|argentinien;buenos aires|rosario|mendoza"),
    ("56", "chile|chili;santiago de chile"),
    ("57", "colombia|colombie|kolumbien;bogota|medellin|cali|barranquilla"),
    ("51", "peru;lima|arequipa"),
    ("598", "uruguay;montevideo"),
    ("593", "ecuador;quito|guayaquil"),
    ("48", "poland|polska|polen|pologne;warsaw|warszawa|krakow|wroclaw|gdansk|poznan|lodz"),
    ("420", "czech republic|czechia|tschechien;praha|prague|brno"),
    ("421", "slovakia;bratislava"),
    ("36", "hungary|ungarn;budapest"),
    ("40", "romania|rumanien;bucharest|bucuresti|cluj-napoca"),
    ("359", "bulgaria|bulgarien;sofia"),
    ("30", "greece|griechenland;athens|thessaloniki"),
    ("90", "turkey|turkiye|turkei;istanbul|i̇stanbul|ankara|izmir|i̇zmir"),
    ("380", "ukraine;kyiv|kiev|lviv|kharkiv"),
    ("7", "russia|russland;moscow|moskau|saint petersburg"),
    ("46", "sweden|sverige|schweden|suede;stockholm|goteborg|gothenburg|malmo|uppsala"),
    ("47", "norway|norge|norwegen|norvege;oslo|bergen|trondheim|stavanger"),
    ("45", "denmark|danmark|danemark;copenhagen|kobenhavn|aarhus|odense"),
    ("358", "finland|suomi|finnland|finlande;helsinki|espoo|tampere|turku"),
    ("372", "estonia;tallinn|tartu"),
    ("371", "latvia;riga"),
    ("370", "lithuania;vilnius|kaunas"),
    ("385", "croatia|kroatien;zagreb"),
    ("381", "serbia|serbien;belgrade|novi sad"),
    ("386", "slovenia|slowenien;ljubljana"),
    ("352", "luxembourg|luxemburg"),
    ("354", "iceland;reykjavik"),
    (
        "91",
        "india|indien|inde|karnataka|maharashtra|tamil nadu|kerala|telangana|gujarat|uttar pradesh|west bengal;\
         mumbai|delhi|new delhi|bangalore|bengaluru|hyderabad|chennai|pune|kolkata|ahmedabad|gurgaon|gurugram|noida",
    ),
    ("92", "pakistan;karachi|lahore|islamabad"),
    ("880", "bangladesh;dhaka"),
    ("94", "sri lanka;colombo"),
    ("977", "nepal;kathmandu"),
    ("86", "china;beijing|shanghai|shenzhen|guangzhou|hangzhou|chengdu"),
    ("852", "hong kong"),
    ("886", "taiwan;taipei"),
    ("81", "japan;tokyo|osaka|kyoto|yokohama"),
    ("82", "south korea|korea;seoul|busan"),
    ("65", "singapore|singapur"),
    ("60", "malaysia;kuala lumpur|penang"),
    ("62", "indonesia;jakarta|bandung|bali"),
    ("63", "philippines;manila|quezon city|cebu|cebu city"),
    ("66", "thailand;bangkok"),
    ("84", "vietnam;hanoi|ho chi minh city"),
    (
        "61",
        "australia|australien|australie|nsw|victoria|queensland|new south wales;sydney|melbourne|brisbane|perth|adelaide|canberra",
    ),
    ("64", "new zealand|neuseeland;auckland|wellington|christchurch"),
    (
        "27",
        "south africa|sudafrika|afrique du sud|gauteng|western cape;cape town|johannesburg|durban|pretoria",
    ),
    ("234", "nigeria;lagos|abuja|ibadan|port harcourt"),
    ("254", "kenya;nairobi|mombasa"),
    ("233", "ghana;accra|kumasi"),
    ("256", "uganda;kampala"),
    ("255", "tanzania;dar es salaam"),
    ("251", "ethiopia;addis ababa"),
    ("20", "egypt|agypten|egypte;cairo|alexandria"),
    ("212", "morocco|maroc|marokko;casablanca|rabat|marrakech"),
    ("216", "tunisia|tunisie;tunis"),
    ("213", "algeria|algerie;algiers|alger"),
    ("221", "senegal;dakar"),
    ("225", "cote d'ivoire|ivory coast;abidjan"),
    ("972", "israel;tel aviv|jerusalem|haifa"),
    ("971", "uae|united arab emirates;dubai|abu dhabi|sharjah"),
    ("966", "saudi arabia;riyadh|jeddah"),
    ("974", "qatar;doha"),
    ("961", "lebanon;beirut"),
    ("962", "jordan;amman"),
    ("98", "iran;tehran"),
];

/// A country, region or town.
#[derive(Clone, Copy, Debug)]
struct Known {
    code: &'static str,
    town: bool,
}

static KNOWN: LazyLock<HashMap<&str, Known>> = LazyLock::new(|| {
    let mut known = HashMap::new();
    for (code, names) in PLACES {
        let (regions, towns) = names.split_once(';').unwrap_or((names, ""));
        known.extend(towns.split('|').map(|name| (name, Known { code, town: true })));
        known.extend(regions.split('|').map(|name| (name, Known { code, town: false })));
    }
    known.remove("");
    known
});

/// The domains of countries, by calling code.
const DOMAINS: &str = "uk=44 de=49 fr=33 es=34 ch=41 at=43 nl=31 it=39 be=32 ie=353 pt=351 br=55 mx=52 ar=54 cl=56 pe=51 pl=48 cz=420 hu=36 \
    ro=40 gr=30 tr=90 se=46 no=47 dk=45 fi=358 in=91 jp=81 cn=86 au=61 nz=64 za=27 ng=234 ke=254 sg=65 my=60 ph=63 ca=1 us=1";

/// A state or province of the United States, Canada, Australia or Brazil, in two or three capitals.
const STATES: &str = "AL AK AZ AR CA CO CT DE FL GA HI ID IL IN IA KS KY LA ME MD MA MI MN MS MO MT NE NV NH NJ NM NY NC ND OH OK OR PA RI SC SD \
    TN TX UT VT VA WA WV WI WY DC ON QC BC AB MB SK NS NB NL PE YT NSW VIC QLD TAS ACT SP RJ MG RS DF CE GO ES PB RN";

static POSTAL: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"\b[A-Z]{1,2}\d[A-Z\d]?\s?\d[A-Z]{2}\b|\b[A-Z]\d[A-Z]\s?\d[A-Z]\d\b|\b(?:[A-Z]{1,2}-)?\d{4,6}(?:-\d{3,4})?\b(?:\s[A-Z]{2}\b)?|\b\d{3}\s\d{2}\b",
    )
});

/// Words of streets: before their names, after them, and at the end of a compound.
static STREET: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)^(?:\d+\w?,?\s+)?(?:rue|avenue|av\.?|ave\.?|boulevard|bd|chemin|impasse|allée|quai|cours|route|calle|c/|avda\.?|avenida|plaza|paseo|ronda|carrer|rua|travessa|largo|via|viale|piazza|corso|ul\.|ulica)\s|\b(?:street|st|road|rd|avenue|ave|lane|ln|drive|dr|close|walk|way|boulevard|blvd|court|ct|terrace|crescent|square|grove|gardens|parkway|pkwy|highway|hwy|mews|caddesi|cad|sokak|sok)\.?(?:\s+(?:apt|unit|suite|flat|no|nw|ne|sw|se|n|s|e|w)\b.*|\s*#.*)?(?:\s+\d+\w?)?$|(?:straße|strasse|str\.|weg|gasse|platz|allee|ufer|damm|gata|gatan|vägen|vej|gade|straat|laan|plein)(?:\s+\d.*)?$|^(?:apt|apartment|flat|unit|suite|p\.?\s?o\.?\s+box|postfach|piso|bloco|no\.?)\b",
    )
});

/// A place without street and postal code.
pub(super) fn place(text: &str) -> Option<String> {
    let text = text.trim().trim_end_matches(['.', ',']);
    let text = text.replace(" - ", ", ").replace(" – ", ", ").replace(" / ", ", ");
    let parts: Vec<String> = text
        .split(',')
        .map(str::trim)
        .filter(|part| !is_street(part))
        .map(without_postal_code)
        .filter(|part| !part.is_empty())
        .collect();
    let named = |part: &String| {
        part.split_whitespace().count() <= 4
            && part.starts_with(|first: char| first.is_alphabetic() && !first.is_lowercase())
            && part.chars().all(|sign| {
                sign.is_alphabetic() || matches!(sign, ' ' | '-' | '\'' | '.' | '’' | '(' | ')')
            })
    };
    ((1..=4).contains(&parts.len()) && parts.iter().all(named)).then(|| parts.join(", "))
}

fn without_postal_code(part: &str) -> String {
    let part = POSTAL.replace_all(part, " ");
    let part = part.trim_matches(|sign: char| sign.is_ascii_digit() || matches!(sign, ' ' | '-'));
    part.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Whether a text has a postal code with the name of a town.
pub(super) fn has_postal_code(text: &str) -> bool {
    text.split(',').any(|part| {
        let part = part.trim();
        !is_street(part) && POSTAL.is_match(part) && part.contains(char::is_alphabetic)
    })
}

/// Whether a part of an address is a street, or the number of a house.
fn is_street(part: &str) -> bool {
    let digits = part.chars().take_while(char::is_ascii_digit).count();
    let house = (1..=3).contains(&digits)
        && part[digits..]
            .trim_start_matches(|sign: char| sign.is_ascii_lowercase())
            .starts_with([' ', '-', '/'])
        && part[digits..].contains(char::is_alphabetic)
        && !part[digits..].contains(|sign: char| sign.is_ascii_digit());
    let region = part.get(..3).is_some_and(|state| is_state(state.trim()));
    let ends = part.ends_with(|sign: char| sign.is_ascii_digit())
        && part.contains(char::is_alphabetic)
        && !region
        && !part.split_whitespace().any(is_state)
        && !POSTAL.is_match(part);
    let floor = part.contains(['º', 'ª']);
    house || ends || floor || STREET.is_match(part)
}

fn is_state(word: &str) -> bool {
    word.len() > 1 && STATES.split_whitespace().any(|state| state == word)
}

/// Whether a text ends with a country, a state or a town that is known.
pub(super) fn is_known(text: &str) -> bool {
    let Some(place) = place(text) else { return false };
    place
        .split(", ")
        .enumerate()
        .any(|(at, part)| at > 0 && is_state(part) || code_of(part).is_some())
}

/// Whether a line is nothing but a place: "Seattle, WA", "Leeds, UK", "Remote".
pub(super) fn is_place(text: &str) -> bool {
    let text = text.trim().trim_matches(['(', ')']);
    let lower = fold(text);
    let remote = [
        "remote",
        "hybrid",
        "on-site",
        "onsite",
        "homeoffice",
        "home office",
        "teletravail",
        "remoto",
    ]
    .contains(&lower.as_str());
    let Some(place) = place(text).filter(|_| text.split_whitespace().count() <= 6) else {
        return remote;
    };
    // A part that was left out as a street may be a company: "Harbour & Lane, Mumbai".
    if place.split(", ").count() < text.split(", ").count()
        && !text.contains(|sign: char| sign.is_ascii_digit())
    {
        return false;
    }
    let town = |part: &str| known(part).is_some();
    let region = |part: &str| is_state(part) || known(part).is_some_and(|known| !known.town);
    match place.split(", ").collect::<Vec<_>>().as_slice() {
        [one] => town(one),
        [first, last] => region(last) || town(last) && town(first),
        [first, second, last] => region(last) && (region(second) || town(first)),
        _ => false,
    }
}

fn known(part: &str) -> Option<Known> {
    KNOWN.get(fold(part).trim_matches(['(', ')', '.'])).copied()
}

fn code_of(part: &str) -> Option<&'static str> {
    known(part).map(|known| known.code)
}

/// The calling code of the country of a place, or of a mail address.
pub(super) fn calling_code(location: Option<&str>, email: Option<&str>) -> Option<&'static str> {
    let by_place = location.and_then(|place| {
        let mut parts = place.split(", ").collect::<Vec<_>>().into_iter().rev();
        parts.find_map(|part| {
            code_of(part).or_else(|| match part {
                "SP" | "RJ" | "MG" | "RS" | "DF" => Some("55"),
                "NSW" | "VIC" | "QLD" | "TAS" => Some("61"),
                state if is_state(state) => Some("1"),
                _ => None,
            })
        })
    });
    by_place.or_else(|| {
        let domain = email?.rsplit('.').next()?.to_lowercase();
        DOMAINS
            .split_whitespace()
            .find_map(|row| row.split_once('=').filter(|(name, _)| *name == domain))
            .map(|(_, code)| code)
    })
}
