//! The title, the company and the place of a job.

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::LazyLock;

use regex::{Captures, Regex};

use super::companies::clean_company;
use super::lines::Line;
use super::locations;
use super::mode;
use super::titles::{after_place, looks_like_title};
use super::words::{Field, Section, beginning};

/// What the head of a description, or its first sentences, say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Header {
    pub title: Option<String>,
    pub company: Option<String>,
    pub location: Option<String>,
    /// Whether a sentence says that a company is hiring.
    pub hiring: bool,
}

/// Of a sentence that may name a job, so many bytes are read.
const LONGEST_SENTENCE: usize = 600;

/// Nouns of roles, in lower case; a title has one.
const ROLES: &str = "accountant|administrator|adviser|advisor|agent|analyst|architect|artist|assistant|associate|attorney|auditor|barista|\
    bookkeeper|buyer|captain|caregiver|carer|cashier|chef|chief|cleaner|clerk|coach|consultant|controller|cook|coordinator|copywriter|\
    counsel|courier|cto|ceo|cfo|craftsman|dentist|designer|developer|devops|director|dispatcher|doctor|driver|economist|editor|\
    electrician|engineer|estimator|evangelist|executive|expert|fitter|foreman|generalist|guard|hairdresser|handyman|head|host|hostess|\
    intern|interpreter|inspector|instructor|investigator|janitor|joiner|journalist|judge|laborer|labourer|lawyer|lead|leader|lecturer|\
    librarian|machinist|manager|marketer|mason|master|mechanic|merchandiser|midwife|modeler|nanny|nurse|officer|operative|operator|\
    optician|owner|packer|painter|paralegal|paramedic|partner|pharmacist|photographer|physician|physiotherapist|picker|pilot|planner|\
    plumber|porter|practitioner|president|principal|producer|professor|programmer|psychologist|radiographer|receptionist|recruiter|\
    representative|researcher|roofer|scientist|secretary|seller|sister|solicitor|sommelier|specialist|strategist|superintendent|\
    supervisor|surgeon|surveyor|teacher|technician|technologist|tester|therapist|trader|trainee|trainer|translator|tutor|underwriter|\
    veterinarian|waiter|waitress|welder|worker|writer|ranger|student|member|baker|butcher|gardener|bartender|fellow|steward|\
    custodian|bäcker|bäckerin|leitung|gärtner|gärtnerin|metzger|friseur|friseurin|tischler|maler|maurer|schlosser|entwickler|entwicklerin|ingenieur|ingenieurin|leiter|leiterin|berater|beraterin|\
    kaufmann|kauffrau|kaufleute|fachkraft|pflegefachkraft|mitarbeiter|mitarbeiterin|sachbearbeiter|sachbearbeiterin|referent|\
    referentin|buchhalter|buchhalterin|verkäufer|verkäuferin|lehrer|lehrerin|arzt|ärztin|techniker|technikerin|mechaniker|\
    mechatroniker|fahrer|koch|köchin|erzieher|erzieherin|assistenz|assistentin|administratorin|architektin|designerin|werkstudent|\
    praktikant|praktikantin|auszubildende|pfleger|pflegerin|krankenpfleger|disponent|disponentin|lagerist|meister|elektriker|angestellte|angestellter|fachangestellte|fachangestellter|helfer|helferin|betreuer|betreuerin|\
    elektroniker|développeur|développeuse|ingénieur|ingénieure|chargé|chargée|chef|cheffe|responsable|comptable|infirmier|infirmière|\
    technicien|technicienne|conseiller|conseillère|vendeur|vendeuse|directeur|directrice|analyste|architecte|rédacteur|rédactrice|\
    gestionnaire|assistante|consultante|contrôleur|contrôleuse|auditrice|acheteur|acheteuse|professeur|médecin|préparateur|stagiaire|\
    alternant|alternante|conducteur|conductrice|planificateur|desarrollador|desarrolladora|programador|programadora|ingeniero|ingeniera|\
    analista|arquitecto|arquitecta|contable|enfermero|enfermera|técnico|técnica|jefe|jefa|gerente|director|directora|asesor|asesora|\
    vendedor|vendedora|consultor|consultora|diseñador|diseñadora|administrativo|administrativa|auxiliar|profesor|profesora|conductor|\
    conductora|mozo|operario|operaria|encargado|encargada|redactor|redactora|especialista|coordinador|coordinadora|becario|becaria|\
    médico|médica|cocinero|camarero|camarera|recepcionista|comercial|gestor|gestora|planificador";

static ROLE_SET: LazyLock<HashSet<&str>> = LazyLock::new(|| ROLES.split('|').collect());

/// Sentences that name a job. `t` is the title with what follows, `c` the company.
static HIRING: LazyLock<Vec<Regex>> = LazyLock::new(|| {
    [
        r"(?P<c>(?:\b(?:St|Dr|Mt)\.\s)?[^.;:!?\n]{2,60}?)\s+(?:is|are)\s+(?:now\s+|currently\s+|actively\s+|also\s+)?(?:hiring|looking\s+for|seeking|recruiting|searching\s+for|in\s+search\s+of|in\s+need\s+of|looking\s+to\s+(?:hire|appoint|recruit))\s+(?:for\s+)?(?P<t>.+)",
        r"(?:^|[.!?]\s+)(?:at\s+)?(?P<c>[^.;:!?\n]{2,60}?)\s+(?:seeks|needs|wants|hires|requires|recruits|sucht|suchen|recherche|recrute|busca|contrata|necesita|selecciona|precisa)\s+(?:ab\s+sofort\s+|zum\s+\S+\s+(?:Zeitpunkt\s+)?|(?:zum|ab|ab\s+dem)\s+\d{1,2}\.\s*\S+\s+(?:\d{4}\s+)?|derzeit\s+|actualmente\s+|actuellement\s+|pour\s+son\s+\S+\s+)?(?P<t>.+)",
        r"(?i)\b(?:we|our\s+\w+(?:\s+\w+)?)(?:'re|’re|\s+are)\s+(?:now\s+|currently\s+)?(?:hiring|looking\s+for|seeking|recruiting|searching\s+for)\s+(?:for\s+)?(?P<t>.+)",
        r"(?i)\b(?:we\s+(?:need|seek|want)|(?:join|work\s+for|work\s+with)\s+(?P<c>[^.,;:!?\n]{2,50}?)\s+as|join\s+\w+\s+team\s+as|want(?:ed)?:|apply\s+(?:now\s+)?(?:for|as)|opening\s+for|vacancy\s+for|opportunity\s+for|position\s+of|role\s+of|post\s+of)\s+(?P<t>.+)",
        r"(?i)\b(?:wir\s+suchen|suchen\s+wir|gesucht\s+wird|verstärkung\s+als|sucht\s+verstärkung\s+als|stelle\s+als|nous\s+recherchons|nous\s+recrutons|on\s+recrute|rejoignez-nous\s+(?:comme|en\s+tant\s+que)|poste\s+de|buscamos|estamos\s+buscando|necesitamos|contratamos|puesto\s+de|en\s+tant\s+que)\s+(?:ab\s+sofort\s+|zum\s+nächstmöglichen\s+zeitpunkt\s+|(?:zum|ab|ab\s+dem)\s+\d{1,2}\.\s*\S+\s+(?:\d{4}\s+)?|für\s+unseren?\s+\S+\s+\S+\s+|derzeit\s+|actuellement\s+|actualmente\s+)?(?P<t>.+)",
        r"(?i)^(?P<t>[^.;:!?\n]{3,60}?)\s+(?:want(?:ed)|needed|gesucht|recherchée?)\s*(?:$|[.!,:]|(?:in|at|for|now|urgently|asap|ab|für|im|à|pour)\b)",
        r"(?i)\b(?:as|als)\s+(?:our\s+(?:new\s+|next\s+)?|an?\s+|the\s+)(?P<t>.+)",
    ]
    .iter()
    // cannot fail: the patterns are constants, and a test uses them.
    .map(|pattern| Regex::new(pattern).expect("a pattern that compiles"))
    .collect()
});

static ARTICLE: LazyLock<Regex> = LazyLock::new(|| {
    // cannot fail: the pattern is a constant, and a test uses it.
    Regex::new(r"(?i)^(?:(?:an?|the|our|its|their|his|her|your|another|one|two|several|some|new|next|eine?n?|eine?[:/*_(]n\)?|einer|unseren?|une?|un\(e\)|un/e|un·e|una?|un/a|uno/a|talented|experienced|motivated|passionate|enthusiastic|skilled|dedicated|erfahrene[nr]?|engagierte[nr]?|motivierte[nr]?)\s+)+")
        .expect("a pattern that compiles")
});

/// Roles that are "in" a subject more often than in a place: "Lecturer in Computational Linguistics".
static HAS_SUBJECT: LazyLock<Regex> = LazyLock::new(|| {
    // cannot fail: the pattern is a constant, and a test uses it.
    Regex::new(
        r"(?i)\b(?:lecturer|professor|reader|fellow|fellowship|postdoc|postdoctoral\s+\w+|chair)$",
    )
    .expect("a pattern that compiles")
});

/// Where a title ends in a sentence.
static TITLE_END: LazyLock<Regex> = LazyLock::new(|| {
    // cannot fail: the pattern is a constant, and a test uses it.
    Regex::new(r"(?i)\s*(?:[,;:.!?(\n|]|\s[-–—]\s|\s(?:in|at|to|who|with|for|based|that|which|from|on|near|within|starting|you|für|im|am|bei|mit|der|die|das|zur|zum|ab|à|au|chez|pour|avec|qui|basée?|sur|dans|para|con|que|en|que|desde|whose|is|will|and\s+(?:you|we))\s|/\s).*$")
        .expect("a pattern that compiles")
});

static PLACE: LazyLock<Regex> = LazyLock::new(|| {
    let name = r"\p{Lu}[\p{L}'’.]+(?:[ -](?:\p{Lu}[\p{L}'’.]+|am|an|der|de|del|la|le|les|sur|upon|of|do|da)){0,3}";
    // cannot fail: the pattern is a constant, and a test uses it.
    Regex::new(&format!(
        r"(?:\b(?:[Bb]ased\s+in|[Ll]ocated\s+in|[Oo]ffices?\s+in|[Ii]n|(?i:near)|à|[Ee]n|[Aa]u|[Bb]ei|[Ss]tandort|[Bb]asé[e]?\s+à|[Cc]on\s+sede\s+en)\s+)(?P<p>{name}(?:,\s(?:\p{{Lu}}{{2}}\b|\p{{Lu}}\p{{Ll}}+))?)|\b(?:our|the|unser(?:em)?)\s+(?P<q>{name}(?:,\s\p{{Lu}}\p{{Ll}}+)?)\s+(?:(?:distribution\s+)?cent(?:er|re)|warehouse|plant|store|clinic|hospital|campus|facility|office|site|headquarters|hub|studio|branch|Büro|Standort)"
    ))
    .expect("a pattern that compiles")
});

static GENDER: LazyLock<Regex> = LazyLock::new(|| {
    // cannot fail: the pattern is a constant, and a test uses it.
    Regex::new(r"(?i)\s*[(\[]?\b(?:m\s?/\s?w\s?/\s?[dx]|w\s?/\s?m\s?/\s?[dx]|[mfhw]\s?/\s?[mfhw](?:\s?/\s?[dx])?|all genders|gn)\b[)\]]?|(?:[*:_]|/-?)in(?:nen)?\b|\((?:in|e|a)\)|·(?:e|ne|se|euse|rice|trice|ère)s?\b")
        .expect("a pattern that compiles")
});

/// Genders in brackets, which only job descriptions have.
static ALL_GENDERS: LazyLock<Regex> = LazyLock::new(|| {
    // cannot fail: the pattern is a constant, and a test uses it.
    Regex::new(r"(?i)[(\[]\s?(?:[mwfh]\s?[/|]\s?[mwfh]\s?[/|]\s?[dx]|[mwfhd]\s?[/|]\s?[mwfhd]\s?[/|]\s?[mwfhd]|all genders|gn)\s?[)\]]")
        .expect("a pattern that compiles")
});

/// Parts of the first lines that name neither a company nor a place.
static NO_NAME: LazyLock<Regex> = LazyLock::new(|| {
    // cannot fail: the pattern is a constant, and a test uses it.
    Regex::new(r"(?i)\b(?:ago|applicants?|months?|weeks?|days?|hours?|shifts?|stars?|reviews?|schichten?|turnos?|weekly|monthly|posted|apply|sign\s+in|log\s+in|menu|cookies|grade|entgeltgruppe|needed|required|vacanc(?:y|ies)|monate?n?|wochen?|stunden?|std|tagen?|mois|semaines?|jours?|meses|semanas|horas)\b|[%$€£#]\s?\d|\d\s?[%€]|[.!?]\s")
        .expect("a pattern that compiles")
});

/// A town with the abbreviation of its state: "Cedar Rapids, IA 52402".
static TOWN: LazyLock<Regex> = LazyLock::new(|| {
    // cannot fail: the pattern is a constant, and a test uses it.
    Regex::new(
        r"(?:^|[,·|]\s*)(?P<p>\p{Lu}[\p{L}.'’ -]{1,40},\s\p{Lu}{2})(?:\s\d{5})?\s*(?:$|[·|(])",
    )
    .expect("a pattern that compiles")
});

/// Parts of an organisation, which are no places.
static DIVISION: LazyLock<Regex> = LazyLock::new(|| {
    // cannot fail: the pattern is a constant, and a test uses it.
    Regex::new(r"(?i)\b(?:school|department|faculty|institute|division|service|services|abteilung|fakultät|institut|département|facultad|group|team|gmbh|ltd|inc)\b")
        .expect("a pattern that compiles")
});

/// Whether a text addresses all genders, as titles of jobs do.
pub(super) fn addresses_all_genders(text: &str) -> bool {
    ALL_GENDERS.is_match(text)
}

/// Whether a text has the noun of a role.
pub(crate) fn names_role(text: &str) -> bool {
    let text = GENDER.replace_all(text, " ").to_lowercase();
    let mut words =
        text.split(|sign: char| !sign.is_alphanumeric()).filter(|word| !word.is_empty());
    words.any(|word| {
        let singular = word.strip_suffix('s').unwrap_or(word);
        ROLE_SET.contains(word) || ROLE_SET.contains(singular)
            // German joins the noun to what is before it.
            || ["entwickler", "ingenieur", "leiter", "berater", "mitarbeiter", "fachkraft", "techniker", "verkäufer", "planer", "pfleger", "prüfer", "assistent", "kaufmann", "meister", "lehrer", "fahrer", "mechaniker", "manager", "angestellte", "helfer", "betreuer"]
                .iter()
                .any(|role| word.len() > role.len() && word.ends_with(role) || word.ends_with(&format!("{role}in")))
    })
}

/// Reads the head of a description.
pub(super) fn read(lines: &[Line]) -> Header {
    let mut header = Header::default();
    for (field, value) in lines.iter().filter_map(|line| line.field.as_ref()) {
        let slot = match field {
            Field::Title => &mut header.title,
            Field::Company => &mut header.company,
            Field::Location => &mut header.location,
            _ => continue,
        };
        let value =
            if *field == Field::Title { title_of(value) } else { clean_place(value, *field) };
        if slot.is_none() {
            *slot = value;
        }
    }
    read_first_lines(lines, &mut header, false);
    let guess = read_sentences(lines, &mut header);
    if header.title.is_none() {
        read_first_lines(lines, &mut header, true);
        if let Some(guess) = guess.filter(|_| header.title.is_none()) {
            header.hiring = true;
            header.title = guess.title;
            header.company = header.company.or(guess.company);
            header.location = header.location.or(guess.location);
        }
    }
    if header.location.is_none() {
        header.location =
            lines.iter().take(12).filter(may_name_place).find_map(|line| find_place(&line.text));
    }
    header
}

/// A place in a sentence, which is not what one has experience in.
fn find_place(text: &str) -> Option<String> {
    let text = locations::without_fields(text);
    place_in(&text).or_else(|| locations::of_office(&text))
}

/// Whether a line may name a place. Requirements are often "in" a field, which is no place.
fn may_name_place(line: &&Line) -> bool {
    !line.bullet && !matches!(line.section, Section::Must | Section::Nice)
}

/// Sentences such as "Calder & Voss is hiring a Data Engineer in Leeds". The result is what the first one says whose title
/// has no noun of a role.
fn read_sentences(lines: &[Line], header: &mut Header) -> Option<Header> {
    let mut guess = None;
    let free: Vec<&Line> = lines.iter().filter(|line| line.field.is_none()).collect();
    let sentences = free.iter().enumerate().flat_map(|(index, line)| {
        let next = free.get(index + 1).map_or("", |next| next.text.as_str());
        super::sentences::sentences(&line.text)
            .into_iter()
            .map(move |sentence| whole_sentence(sentence, next))
    });
    for sentence in sentences.take(40) {
        for pattern in HIRING.iter() {
            let Some(found) = pattern.captures(beginning(&sentence, LONGEST_SENTENCE)) else {
                continue;
            };
            let Some(after) = found.name("t") else { continue };
            let Some(title) = title_in_sentence(after.as_str()) else {
                guess = guess.or_else(|| guess_in_sentence(&found, after.as_str()));
                continue;
            };
            header.hiring = true;
            if header.company.is_none() {
                header.company =
                    found.name("c").and_then(|company| clean_company(company.as_str()));
            }
            if header.location.is_none() {
                header.location = find_place(after.as_str());
            }
            header.title.get_or_insert(title);
            // "Night nurse needed" does not name the company; the next sentence may.
            if header.company.is_some() || found.name("c").is_some() {
                return guess;
            }
            break;
        }
    }
    guess
}

/// A sentence with the line below it if the title is there: "Die Stadt sucht eine".
fn whole_sentence<'t>(sentence: &'t str, next: &str) -> Cow<'t, str> {
    let last = sentence.rsplit(' ').next().unwrap_or("");
    if ["a", "an", "eine", "einen", "ein", "un", "une", "una"].contains(&last) {
        Cow::Owned(format!("{sentence} {next}"))
    } else {
        Cow::Borrowed(sentence)
    }
}

fn title_in_sentence(after: &str) -> Option<String> {
    // "eine Medizinische Fachangestellte (m/w/d) in Teilzeit": the genders end a title.
    if let Some(genders) = ALL_GENDERS.find(after)
        && let title = ARTICLE.replace(after[..genders.start()].trim(), "")
        && (1..=8).contains(&title.split_whitespace().count())
        && title.starts_with(char::is_uppercase)
        && !title.contains(['.', ',', ';', ':', '!', '?'])
    {
        return Some(GENDER.replace_all(&title, "").trim().to_owned());
    }
    let after = GENDER.replace_all(after, " ");
    let after = ARTICLE.replace(after_place(after.trim()), "");
    let title = TITLE_END.replace(&after, "");
    let title = title.trim().trim_matches(['"', '“', '”', '\'', '*']).trim();
    let words = title.split_whitespace().count();
    (words > 0 && words <= 8 && names_role(title)).then(|| title.to_owned())
}

/// A title whose role no list has, by words with a capital after an article.
fn guess_in_sentence(found: &Captures<'_>, after: &str) -> Option<Header> {
    let rest = GENDER.replace_all(after, " ");
    let rest = after_place(rest.trim());
    let title = TITLE_END.replace(&rest[ARTICLE.find(rest)?.end()..], "");
    let title = title.trim();
    looks_like_title(title).then(|| Header {
        title: Some(title.to_owned()),
        company: found.name("c").and_then(|company| clean_company(company.as_str())),
        location: find_place(after),
        hiring: true,
    })
}

/// Whether the first line is a title whose role no list has: below it are the sections of a job.
fn is_unknown_title(line: &Line, lines: &[Line]) -> bool {
    let has = |section: Section| lines.iter().any(|line| line.section == section);
    let pays = |line: &Line| super::pay::find(&line.text, false).is_some_and(|(_, sure)| sure >= 4);
    has(Section::Must)
        && (has(Section::Nice) || has(Section::Responsibilities) && lines.iter().any(pays))
        && title_of(&line.text).is_some_and(|title| looks_like_title(&title))
}

/// The first lines: a title, then the company and the place. A title is guessed by its form if it has no noun of a role.
fn read_first_lines(lines: &[Line], header: &mut Header, guess: bool) {
    let free: Vec<&Line> = lines
        .iter()
        .take(6)
        .take_while(|line| line.field.is_none())
        .filter(|line| !line.bullet)
        .collect();
    let words = |text: &str| {
        text.split_whitespace().filter(|word| word.contains(char::is_alphanumeric)).count()
    };
    // "Acme | Data Engineer, Platform Engineer | Boston | Full-time | $180k": each part is short.
    let parted = |text: &str| text.matches(" | ").count() >= 3;
    let short = |line: &&&Line| {
        (words(&line.text) <= 14 || parted(&line.text)) && !line.text.ends_with(['.', '?'])
    };
    // Sentences are read as such.
    let sentence = |line: &Line| HIRING.iter().any(|pattern| pattern.is_match(&line.text));
    let named = |line: &Line| names_role(&line.text) || addresses_all_genders(&line.text);
    let title = |line: &&Line| short(&line) && named(line) && !sentence(line);
    let unknown = |line: &&Line| guess && is_unknown_title(line, lines) && !sentence(line);
    let at = free.iter().position(title).or_else(|| free.iter().take(1).position(unknown));
    let Some(at) = at else { return };
    let (parts, in_brackets) = split_brackets(&free[at].text);
    let role = parts.iter().position(|part| names_role(part)).unwrap_or(0);
    if header.title.is_none() {
        header.title = title_of(&parts[role]);
    }
    let rest =
        parts.iter().enumerate().filter(|(index, _)| *index != role).map(|(_, part)| part.clone());
    let near = free.iter().enumerate().filter(|(index, line)| {
        *index != at
            && (index.abs_diff(at) <= 2 || index.abs_diff(at) <= 4 && TOWN.is_match(&line.text))
            && short(line)
            && !line.text.ends_with('!')
            && !sentence(line)
    });
    let mut parts: Vec<String> = rest.filter(|part| is_name(part)).collect();
    for (_, line) in near {
        let mut text = Cow::Borrowed(line.text.as_str());
        if let Some(town) = TOWN.captures(&line.text).and_then(|found| found.name("p")) {
            // "Acme - Denver, CO"
            let dash = town.as_str().rfind(" - ").or_else(|| town.as_str().rfind(" – "));
            let start = dash.map_or(0, |at| at + " - ".len());
            let name = town.as_str().get(start..).unwrap_or("").trim_start();
            header.location.get_or_insert_with(|| name.to_owned());
            text = Cow::Owned(line.text[..town.start() + dash.unwrap_or(0)].to_owned());
        }
        parts.extend(segments(&text).into_iter().filter(|part| is_name(part)));
    }
    // Text in brackets after a title is its field, unless no other place or company is named.
    if parts.is_empty() {
        parts.extend(in_brackets.into_iter().filter(|part| is_name(part)));
    }
    // One word alone is a place more often than a company.
    if let [part] = parts.as_slice()
        && !part.contains(' ')
        && !free[at].text.contains(" at ")
    {
        header.location.get_or_insert_with(|| part.clone());
        return;
    }
    for part in parts {
        place_segment(&part, header);
    }
}

/// Whether a part of the first lines may name a company or a place.
fn is_name(part: &str) -> bool {
    let lower = part.to_lowercase();
    let capital = part.starts_with(|first: char| first.is_uppercase() || first.is_numeric());
    let mode = mode::remote(&lower).is_some() || mode::contract(&lower).is_some();
    let pay = super::pay::find(part, false).is_some();
    let name = capital && part.split_whitespace().count() <= 6 && !NO_NAME.is_match(part);
    let name = name && !lower.contains("time zone") && !lower.contains("timezone");
    // A field of work is a part of the title.
    let field = crate::skills::Lexicon::shipped().kind(&lower).is_some();
    let about =
        ["About ", "Über ", "À propos ", "Sobre "].iter().any(|lead| part.starts_with(lead));
    name && !mode && !pay && !field && !about && !names_role(part)
}

/// A name in the first lines: the company first, then the place.
fn place_segment(part: &str, header: &mut Header) {
    let part = part.trim().trim_end_matches(['.', ':']);
    let company = header.company.clone();
    if company.as_deref() == Some(part) || header.location.as_deref() == Some(part) {
        return;
    }
    let region = part.len() <= 3 && part.chars().all(char::is_uppercase);
    match (&company, &mut header.location) {
        (_, Some(place)) if region => place.push_str(&format!(", {part}")),
        (Some(_), None) if DIVISION.is_match(part) => {}
        (Some(_), slot @ None) => *slot = Some(part.to_owned()),
        (None, _) => header.company = Some(part.to_owned()),
        _ => {}
    }
}

/// The parts of a line, and those in its brackets.
fn split_brackets(line: &str) -> (Vec<String>, Vec<String>) {
    let Some((before, rest)) = line.split_once('(') else { return (segments(line), Vec::new()) };
    let (inside, after) = rest.split_once(')').unwrap_or((rest, ""));
    if GENDER.is_match(&format!("({inside})")) {
        return (segments(line), Vec::new());
    }
    (segments(&format!("{before} | {after}")), segments(inside))
}

/// The parts of a line of the head, split at dashes, bars, commas and brackets.
fn segments(line: &str) -> Vec<String> {
    let line = GENDER.replace_all(line, "");
    let mut parts = vec![String::new()];
    let cut = line
        .replace(" - ", " | ")
        .replace(" – ", " | ")
        .replace(" — ", " | ")
        .replace(" @ ", " | ")
        .replace(" at ", " | ");
    for sign in cut.chars() {
        match sign {
            '|' | ',' | '(' | ')' | '·' | '•' | ';' | '[' | ']' | '!' => {
                parts.push(String::new())
            }
            _ => parts.last_mut().into_iter().for_each(|part| part.push(sign)),
        }
    }
    let parts = parts.iter().map(|part| part.trim().to_owned());
    parts.filter(|part| part.contains(char::is_alphabetic)).collect()
}

/// A title without genders, places and ways of working.
fn title_of(value: &str) -> Option<String> {
    let value = super::sentences::sentences(value).into_iter().next()?;
    // "cook. $18 an hour"
    let value = match value.split_once(". ") {
        Some((title, rest)) if !rest.starts_with(char::is_alphabetic) => title,
        _ => value,
    };
    let parts = segments(value);
    let part = parts.iter().find(|part| names_role(part)).or(parts.first())?;
    let part = ARTICLE.replace(part, "");
    let part = part.trim_start_matches(|sign: char| !sign.is_alphanumeric());
    let part = match part.split_once(" in ") {
        Some((title, place))
            if place.starts_with(char::is_uppercase)
                && names_role(title)
                && !HAS_SUBJECT.is_match(title) =>
        {
            title
        }
        _ => part,
    };
    let part = part.split_once(": ").map_or(part, |(_, title)| title).trim();
    (!part.is_empty()).then(|| part.to_owned())
}

/// The value of a place or a company without the way of working.
fn clean_place(value: &str, field: Field) -> Option<String> {
    if field == Field::Company {
        return clean_company(value);
    }
    // "80% remote / 20% Zürich": the first part that is no way of working.
    value.split(['(', ';', '|', '/', '·']).find_map(place_of)
}

fn place_of(value: &str) -> Option<String> {
    let share = value.trim_start().trim_start_matches(|sign: char| sign.is_ascii_digit());
    let value = share.trim_start().strip_prefix('%').unwrap_or(value);
    let parts: Vec<&str> = value
        .split([','])
        .flat_map(|part| part.split(" - "))
        .flat_map(|part| part.split(" – "))
        .map(str::trim)
        .collect();
    let is_place = |part: &&str| {
        !part.is_empty() && mode::remote(&part.to_lowercase()).is_none() && !NO_NAME.is_match(part)
    };
    let parts: Vec<&str> = parts.into_iter().filter(is_place).collect();
    let place = parts.join(", ").trim_end_matches('.').to_owned();
    (!place.is_empty()).then_some(place)
}

/// A place in a sentence: "in Leeds", "our Leeds office".
fn place_in(text: &str) -> Option<String> {
    let found =
        PLACE.captures_iter(text).find_map(|found| found.name("p").or_else(|| found.name("q")))?;
    let place = found.as_str().trim_end_matches(['.', ',']);
    let lower = place.to_lowercase();
    let known = crate::skills::Lexicon::shipped().kind(&lower).is_some();
    let zone = ["cet", "cest", "utc", "gmt", "est", "pst"].contains(&lower.as_str());
    let mode = mode::contract(&lower).is_some();
    (!known
        && !zone
        && !mode
        && !MONTHS.split(' ').any(|month| month == lower)
        && mode::remote(&lower).is_none())
    .then(|| place.to_owned())
}

/// In lower case, separated by spaces.
const MONTHS: &str =
    "january february march april may june july august september october november december";
