//! The same questions in German. The topic comes first and is not inflected: `Mülltrennung: Wie fing es an?`

use super::families::{Family, Template};

const fn ask(text: &'static str, concept: &'static str) -> Template {
    Template { text, concept }
}

pub(super) static GENERIC: Family = Family {
    name: "",
    heading: "{n}",
    why: "Betrachtet das Thema unter dem Gesichtspunkt „{n}“.",
    words: &[],
    questions: [
        ask("Was ist unter dem Gesichtspunkt „{n}“ am wichtigsten?", "{n}"),
        ask("Welche Zahlen und Fakten gibt es zu „{n}“?", "Zahlen und Fakten"),
        ask("Welche Probleme gibt es bei „{n}“, und wie werden sie gelöst?", "Probleme"),
        ask("Welche Beispiele zeigen, wie wichtig „{n}“ ist?", "Beispiele"),
        ask("Wer entscheidet über „{n}“?", "Entscheidungen"),
        ask("Was hat sich bei „{n}“ in den letzten Jahren geändert?", "Veränderungen"),
        ask("Worüber wird bei „{n}“ gestritten?", "Streitpunkte"),
        ask("Was ist über „{n}“ noch nicht bekannt?", "offene Fragen"),
    ],
    keyword: "Was verbindet {k} mit „{n}“?",
};

pub(super) static FAMILIES: [Family; 5] = [
    Family {
        name: "history",
        heading: "Geschichte und Anfänge",
        why: "Wie es dazu kam, erklärt vieles von dem, was heute geschieht.",
        words: &["geschicht", "geschichte", "ursprung", "historisch", "vergangenheit"],
        questions: [
            ask("Wie fing es an, und warum?", "Anfänge"),
            ask("Welche Wendepunkte gab es in der Geschichte?", "Wendepunkte"),
            ask("Wie hat sich das Denken darüber gewandelt?", "Wandel"),
            ask("Welche Menschen und Einrichtungen haben die Entwicklung geprägt?", "Vorreiter"),
            ask("Was wurde früher versucht, und mit welchem Ergebnis?", "frühere Versuche"),
            ask("Durch welche Ereignisse wurde das Thema bekannt?", "Ereignisse"),
            ask("Worin irrten sich frühe Beschreibungen?", "frühe Beschreibungen"),
            ask("Was unterscheidet früher von heute?", "früher und heute"),
        ],
        keyword: "Welche Geschichte hat {k}?",
    },
    Family {
        name: "methods",
        heading: "Methoden und Messung",
        why: "Ergebnisse sind nur so gut wie die Methoden dahinter.",
        words: &["methode", "methoden", "verfahren", "messung", "forschung"],
        questions: [
            ask("Mit welchen Methoden wird das untersucht?", "Methoden"),
            ask("Wie werden die Wirkungen gemessen?", "Messung"),
            ask("Was bewährt sich in der Praxis?", "Praxis"),
            ask("Welche Daten und Werkzeuge werden gebraucht?", "Daten und Werkzeuge"),
            ask("Wo liegen die Grenzen der üblichen Verfahren?", "Grenzen"),
            ask("Worin unterscheiden sich die wichtigsten Ansätze?", "Ansätze"),
            ask("Welche Normen und Richtlinien gelten?", "Normen"),
            ask("Welche Fehler kommen in Untersuchungen häufig vor?", "Fehlerquellen"),
        ],
        keyword: "Wie berücksichtigen Untersuchungen {k}?",
    },
    Family {
        name: "equity",
        heading: "Gerechtigkeit und Betroffene",
        why: "Fragt, wer den Nutzen hat und wer die Lasten trägt.",
        words: &["gerechtigkeit", "teilhabe", "gleichheit", "fairness", "betroffene"],
        questions: [
            ask("Wer ist am stärksten betroffen?", "Betroffene"),
            ask("Wie sind Nutzen und Lasten zwischen Arm und Reich verteilt?", "Verteilung"),
            ask("Was würde zu mehr Gerechtigkeit führen?", "Gerechtigkeit"),
            ask("Wer entscheidet mit?", "Mitsprache"),
            ask("Welche Gruppen fehlen in der Debatte?", "fehlende Gruppen"),
            ask("Wie unterscheiden sich die Folgen nach Region und Land?", "Regionen"),
            ask("Was hindert Menschen daran, einen Nutzen zu haben?", "Hürden"),
            ask("Welche Rolle spielen Alter, Gesundheit und Einkommen?", "Verletzlichkeit"),
        ],
        keyword: "Wer gewinnt und wer verliert durch {k}?",
    },
    Family {
        name: "evidence",
        heading: "Belege und offene Fragen",
        why: "Trennt, was gut belegt ist, von dem, was es nicht ist.",
        words: &["belege", "beleg", "daten", "wissenschaft", "studie", "studien", "fakten"],
        questions: [
            ask("Was sagen die Belege?", "Ergebnisse"),
            ask("Wie stark und wie einheitlich sind die Ergebnisse der Studien?", "Belegstärke"),
            ask("Was ist ungewiss oder umstritten?", "offene Fragen"),
            ask("Welche Zahlen beschreiben die Wirkung am besten?", "Kennzahlen"),
            ask("Was zeigen Übersichten und Langzeitstudien?", "Langzeitstudien"),
            ask("Welche Behauptungen sind nicht durch Daten gestützt?", "schwache Behauptungen"),
            ask("Wo widersprechen sich die Quellen?", "Widersprüche"),
            ask("Welche Fallstudien zeigen die Wirkung am deutlichsten?", "Fallstudien"),
        ],
        keyword: "Was sagen Messungen und Studien über {k}?",
    },
    Family {
        name: "cost",
        heading: "Kosten und Wirtschaft",
        why: "Nennt Zahlen zu Kosten und Ertrag.",
        words: &["kosten", "wirtschaft", "geld", "preis", "finanzen", "cost"],
        questions: [
            ask("Was kostet es, und wer bezahlt?", "Kosten"),
            ask("Welche Ersparnis ist zu erwarten?", "Ersparnis"),
            ask("Was kosten die Alternativen im Vergleich?", "Kostenvergleich"),
            ask("Was treibt die Kosten nach oben oder unten?", "Kostentreiber"),
            ask("Wie haben sich Preise und Ausgaben entwickelt?", "Preise"),
            ask("Welche Förderung und welche Abgaben gibt es?", "Förderung"),
            ask("Welche versteckten Kosten gibt es?", "versteckte Kosten"),
            ask("Woher kommt das Geld?", "Finanzierung"),
        ],
        keyword: "Welche wirtschaftliche Rolle spielt {k}?",
    },
];
