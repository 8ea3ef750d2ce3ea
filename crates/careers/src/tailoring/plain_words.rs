//! Words that state no fact wherever they are: verbs of work and small words; and words that state a number.

use crate::skills::Lexicon;

/// Words that begin sentences of résumés, in four languages.
const SMALL: &str = "a about across after all also always an and another any as at because before between both by consistently currently daily \
    during each ensuring every for from further highly i in including into its it key main mainly many more most my of on one-on-one onto or \
    other our over own overall part quickly regularly responsible several so strong successfully such that the their then these they this \
    those through throughout to together towards under until up using via was we were when where which while who with within without you your \
    aber als am an auch auf aus außerdem bei dabei das dem den der des die durch eigene ein eine einer für gemeinsam hierbei im in mit nach \
    sowie über und unter verantwortlich von vor zu zudem zum zur zusammen avec dans de depuis des du en et la le les par pour sur un une au \
    aux como con del desde el las los para por que se sin y";

/// Past forms that no rule gives.
const IRREGULAR: &str = "began bought brought built chose cut dealt did drew drove gave got grew had held hit kept laid led left made met oversaw \
    paid put ran rebuilt rose saw sent set shot showed shown sold sought spent spoke spun struck supervised taught took undertook was \
    went were won wrote";

/// Numbers in words, parts, multiples and months, in four languages.
const NUMBERS: &str = "two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen \
    twenty thirty forty fifty sixty seventy eighty ninety hundred hundreds thousand thousands million millions billion billions dozen dozens \
    double doubled doubling triple tripled tripling quadruple quadrupled twice thrice half halved halving third quarter decade decades percent \
    zwei drei vier fünf sechs sieben acht neun zehn elf zwölf zwanzig dreißig vierzig fünfzig hundert tausend million millionen milliarden \
    dutzend doppelt verdoppelt verdreifacht halbiert hälfte drittel viertel jahrzehnt prozent deux trois quatre cinq sept huit neuf dix onze \
    douze quinze vingt trente quarante cinquante cent mille millions milliard milliards douzaine doublé triplé moitié tiers décennie dos tres \
    cuatro cinco seis siete ocho nueve diez once doce quince veinte treinta cuarenta cincuenta cien ciento mil millón millones docena \
    duplicado triplicado mitad tercio década january february april june july august september october november december januar februar märz \
    mai juni juli oktober dezember janvier février avril juin juillet août septembre octobre novembre décembre enero febrero marzo abril mayo \
    junio julio agosto septiembre octubre noviembre diciembre quattro otto nove dieci venti trenta quaranta cinquanta cento mila \
    milioni dois três quatro sete oito dez vinte trinta quarenta cinquenta cem milhão milhões twintig dertig veertig vijftig honderd duizend \
    twee drie acht tien два две три четыре пять шесть семь восемь девять десять двадцать тридцать сорок пятьдесят сто тысяча тысяч миллион \
    trillion trillions multimillion lakh crore doubles triples quadruples quintuple quintupled sextupled halves fourth fifth sixth seventh \
    eighth ninth tenth hunderte hunderten hunderter tausende tausenden treize quatorze seize soixante centaine centaines dizaine dizaines \
    vingtaine trentaine millier milliers trece catorce dieciséis sesenta setenta ochenta noventa doscientos quinientos centenares decenas \
    docenas undici dodici tredici quindici sessanta settanta ottanta novanta duecento centinaia migliaia sessenta oitenta milhares centenas";

/// What German numbers are made of, which are one word.
const PARTS: &str = "ein zwei zwo drei vier fünf sechs sech sieben sieb acht neun zehn elf zwölf zwanzig dreißig vierzig fünfzig sechzig siebzig \
    achtzig neunzig hundert tausend und";

/// Endings of multiples, such as `tenfold`.
const MULTIPLES: [&str; 7] = ["fold", "fach", "fache", "fachen", "facher", "faches", "mal"];

/// Ranks, which are claims in lower case too.
const RANKS: &str = "chief president vice vp svp evp ceo cto cfo coo cio cmo chairman chairwoman founder cofounder co-founder owner director \
    professor manager geschäftsführer geschäftsführerin vorstand inhaber inhaberin gründer gründerin leiter leiterin direktor direktorin \
    professorin pdg directeur directrice fondateur fondatrice président présidente professeur directora fundador fundadora presidente \
    presidenta profesor profesora";

/// Degrees, licences and prizes.
const CREDENTIALS: &str = "phd ph.d dphil doctorate doctoral msc bsc mba llm llb bachelor bachelors masters diploma magna summa laude nobel pulitzer honours honors distinction prize \
    award awarded award-winning awards winner winning laureate medal patent patents patented certified chartered accredited licensed licenced \
    fellow fellowship doktor dr promoviert diplom magister staatsexamen preis preisträger auszeichnung zertifiziert patentiert doctorat \
    docteur diplôme diplômé prix brevet certifié certifiée doctorado licenciatura licenciado licenciada máster premio patente certificado \
    certificada";

/// Words between a role and an employer, a number of years or a skill.
const LINKS: &str = "at ex former formerly previously previous late once with for from by since bei chez ehemals ehemalig ehemalige ehemaliger \
    früher vormals mit von seit ancien ancienne anciennement avec depuis antiguo antigua anteriormente con desde presso";

/// Words that deny, in six languages.
const DENIALS: &str = "not no never none without neither nor cannot hardly barely nicht nie niemals ohne weder pas jamais sans aucun aucune \
    nunca jamás sin ningún ninguno ninguna não sem nenhum nenhuma non senza nessun nessuno nessuna";

/// Words that limit what they stand by.
const LIMITS: &str = "basic basics beginner elementary limited rudimentary expected unfinished incomplete discontinued withdrawn \
    partly partially occasionally grundkenntnisse grundlegende anfänger anfängerin abgebrochen teilweise notions débutant débutante scolaire \
    básico básica básicos principiante inacabado basico basica elementare scolastico";

/// Pictures of numbers, which are not numeric characters.
pub(super) const NUMBER_SIGNS: [char; 2] = ['🔟', '💯'];

/// Numerals of Chinese and Japanese; the one for 1 is a part of many words.
const NUMERALS: &str = "二三四五六七八九十百千万萬亿億零〇两兩壱弐参";

fn is_in(list: &str, word: &str) -> bool {
    list.split_whitespace().any(|listed| listed == word)
}

/// Whether a word is a number, a multiple or a month.
pub(super) fn is_number(word: &str) -> bool {
    let word = word.to_lowercase();
    let is_one = |word: &str| is_in(NUMBERS, word) || is_compound(word);
    is_one(&word) || MULTIPLES.iter().any(|ending| word.strip_suffix(ending).is_some_and(is_one))
}

/// Whether a word is a German number of several parts, such as `zweihundert`.
fn is_compound(word: &str) -> bool {
    let mut rest = word;
    let mut counts = false;
    while !rest.is_empty() {
        let fitting = PARTS.split_whitespace().filter(|part| rest.starts_with(part));
        let Some(part) = fitting.max_by_key(|part| part.len()) else { return false };
        counts |= !matches!(part, "ein" | "und" | "sech" | "sieb");
        rest = &rest[part.len()..];
    }
    counts
}

/// Whether a character is a numeral of Chinese or Japanese.
pub(super) fn is_numeral(sign: char) -> bool {
    NUMERALS.contains(sign)
}

/// Whether a word is a rank, a degree or a prize.
pub(super) fn is_claim(word: &str) -> bool {
    is_in(RANKS, &word.to_lowercase()) || is_credential(word)
}

/// Whether a word is a degree, a licence or a prize.
pub(super) fn is_credential(word: &str) -> bool {
    is_in(CREDENTIALS, &word.to_lowercase())
}

/// Whether a word links a role with an employer or the like.
pub(super) fn is_link(word: &str) -> bool {
    is_in(LINKS, &word.to_lowercase())
}

/// Whether a word denies.
pub(super) fn denies(word: &str) -> bool {
    let word = word.to_lowercase().replace('’', "'");
    is_in(DENIALS, &word) || word.ends_with("n't") || word.starts_with("kein")
}

/// Whether a word limits the words next to it.
pub(super) fn limits(word: &str) -> bool {
    is_in(LIMITS, &word.to_lowercase())
}

/// Whether a word states nothing by itself.
pub(super) fn is_small(word: &str) -> bool {
    is_in(SMALL, &word.to_lowercase())
}

/// Whether a word is a small one, or a form of a verb of work.
pub(super) fn is_plain(word: &str) -> bool {
    let word = word.to_lowercase();
    let lexicon = Lexicon::shipped();
    if is_in(SMALL, &word)
        || is_in(IRREGULAR, &word)
        || lexicon.is_verb(&word)
        || lexicon.is_gerund(&word)
    {
        return true;
    }
    let is_verb = |stem: &str| {
        let mut shorter = stem.chars();
        let last = shorter.next_back();
        let doubled = last.is_some() && shorter.clone().next_back() == last;
        lexicon.is_verb(stem)
            || lexicon.is_verb(&format!("{stem}e"))
            || doubled && lexicon.is_verb(shorter.as_str())
            || stem.strip_suffix('i').is_some_and(|stem| lexicon.is_verb(&format!("{stem}y")))
    };
    ["ed", "s", "es"].iter().any(|ending| word.strip_suffix(ending).is_some_and(is_verb))
}

/// Whether a German noun is no name: by its ending.
pub(super) fn is_german_noun(word: &str) -> bool {
    let endings = [
        "ung", "ungen", "heit", "heiten", "keit", "keiten", "schaft", "schaften", "tion", "tionen",
        "tät", "nis", "nisse",
    ];
    let lower = word.to_lowercase();
    let capital = word.chars().skip(1).all(char::is_lowercase);
    capital && lower.chars().count() > 6 && endings.iter().any(|ending| lower.ends_with(ending))
}
