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
    junio julio agosto septiembre octubre noviembre diciembre";

fn is_in(list: &str, word: &str) -> bool {
    list.split_whitespace().any(|listed| listed == word)
}

/// Whether a word is a number or a month.
pub(super) fn is_number(word: &str) -> bool {
    is_in(NUMBERS, &word.to_lowercase())
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
