//! Texts that describe no job, among them those with words and forms of one.

use crate::jobs::parse;

#[test]
fn texts_of_other_kinds_are_no_jobs() {
    for text in TEXTS {
        assert_eq!(parse(text).job, None, "{text}");
    }
}

const TEXTS: [&str; 22] = [
    // News.
    "Harbour bridge closes for repairs\n\nThe council said on Tuesday that the bridge in Selby will close for two years. The work costs £4.2 million, up from £3 million in 2021.",
    "Voltara is looking for a Way out after two years of losses. The company in Leeds has 400 staff and a revenue of £30 million, its chief executive said.",
    "Der Verein sucht einen neuen Standort in Köln. Seit zehn Jahren trainieren die Kinder in der alten Halle, die nun abgerissen wird.",
    "La ville de Nantes recherche un terrain pour son marché. Les commerçants demandent au moins 40 places et un accès facile.",
    // Mails.
    "Hi Tom,\n\nwe need a Plan B for Friday: the room in Leeds is gone. Could you call the venue and ask for a price? I would love it if you also bring the projector.\n\nBest,\nAnn",
    "Dear all,\n\nplease send your expenses by Friday. You need receipts for everything over £20. Questions? Ask Priya, she is in the office on Mondays and at home otherwise.\n",
    "Hallo Jana,\n\nwir suchen eine Wohnung in Graz, 3 Zimmer, bis zu 1.200 € im Monat. Balkon wäre schön. Kennst du jemanden?\n\nLiebe Grüße",
    "Bonjour,\n\nNous cherchons une Maison à louer près de Lyon pour l'été. Vous avez une idée ? Un jardin serait un plus.",
    // Recipes.
    "# Pumpkin Soup\n\n## What you need\n- 1 kg pumpkin\n- 2 onions\n- 300 ml cream\n\n## Nice to have\n- roasted seeds\n\n## Preparation\n1. Chop the pumpkin.\n2. Cook for 40 minutes.",
    "Linseneintopf\n\nZutaten\n- 250 g Linsen\n- 2 Karotten\n\nIdealerweise\n- ein Lorbeerblatt\n\nDie Linsen waschen und eine Stunde kochen.",
    "| Ingredient | Amount | Optional |\n|---|---|---|\n| flour | 300 g | no |\n| walnuts | 50 g | yes |\n",
    // Résumés.
    "Maria Keller\nHamburg\n\nProfile\nData analyst with 8 years of experience.\n\nExperience\nData Analyst, Northbeam, 2019 – present\nJunior Analyst, Hollis, 2016 – 2019\n\nSkills\n- SQL\n- Python\n\nEducation\nMSc Statistics, 2014 – 2016",
    "# Tom Adeyemi\n\ntom@example.com | Leeds\n\n## Skills\n- Excel\n- SAP\n\n## Responsibilities\n- Led a team of five\n\n## Experience\n- Acme, 2012 – 2020\n- Orbit, 2020 – present\n",
    "Lucía Prieto\nValencia\n\nExperiencia\nClínica Azahar, 2015 – 2022\nHospital Norte, 2010 – 2015\n\nConocimientos\n- Triage\n- Excel\n\nIdiomas\n- Inglés",
    // Manuals, products, contracts, minutes.
    "# Quillpack\n\nA packer for trees.\n\n## Requirements\n- Python 3.9\n- git\n\n## Optional\n- numpy\n\n## Usage\nRun `quillpack build` and push to the remote.",
    "Trailmaster 300\n\nThe boot for long days.\n\nRequirements\n- Wax it once a month\n\nOptional\n- Insoles\n\nPrice: £140.00",
    "Item\tColour\tLocation\tRate\nLamp\tgreen\tRoom 4\t12\nChair\tred\tRoom 9\t8\n",
    "| Name | City | Company |\n|---|---|---|\n| Ann Lee | Leeds | Northbeam |\n| Raj Patel | Bristol | Hollis |\n",
    "Rental agreement\n\nThe tenant pays £900 per month. The contract is fixed for two years. Pets are not allowed. Repairs are the duty of the owner.",
    "Minutes of 4 May\n\nLocation\nRoom 12\n\nTime\n10:00\n\nTasks\n- Ann: book the hall\n- Raj: call the printer\n\nNext meeting in June.",
    "Course: Introduction to Statistics\nLocation: Leeds\nRequirements: Algebra, R\nDuration: 12 weeks\nThe exam is in person.",
    "Gesucht: Kater Mimo, grau, seit Montag in Graz vermisst. Er ist sehr scheu. Belohnung 50 €.",
];
