//! PDFs with ruled lines: invoices, forms and tables, made by hand.

use crate::layout::{at, pdf, read, read_as};
use documents::{Form, Limits, Options, extract};

fn line(x0: f64, y0: f64, x1: f64, y1: f64) -> String {
    format!("{x0} {y0} m {x1} {y1} l S\n")
}

/// A box with its lower left corner, and its lines from its upper left corner, the first of them smaller.
fn labelled(area: [f64; 4], label: &str, lines: &[&str]) -> String {
    let [x, y, width, height] = area;
    let mut page = format!("{x} {y} {width} {height} re S\n");
    page += &at(x + 3.0, y + height - 8.0, 6.0, label);
    for (number, text) in lines.iter().enumerate() {
        page += &at(x + 6.0, y + height - 20.0 - 12.0 * number as f64, 10.0, text);
    }
    page
}

fn column(x: f64, y: f64, lines: &[&str]) -> String {
    let line = |(number, text): (usize, &&str)| at(x, y - 14.0 * number as f64, 10.0, text);
    lines.iter().enumerate().map(line).collect()
}

#[test]
fn boxes_of_a_form_are_read_one_after_the_other() {
    let mut page = labelled([40.0, 700.0, 150.0, 30.0], "1 Number", &["123-45"]);
    page += &labelled([190.0, 700.0, 200.0, 30.0], "2 Country", &["Portugal"]);
    page += &labelled(
        [40.0, 620.0, 260.0, 80.0],
        "3 Name and address",
        &["Harbor Bakery", "44 Dock Street", "Portland"],
    );
    page += &labelled([300.0, 660.0, 90.0, 40.0], "4 Wages", &["52310.00"]);
    page += &labelled([390.0, 660.0, 90.0, 40.0], "5 Tax", &["6120.44"]);
    page += &labelled([300.0, 620.0, 90.0, 40.0], "6 Tips", &["100.00"]);
    page += &labelled([390.0, 620.0, 90.0, 40.0], "7 Dues", &["240.00"]);
    assert_eq!(
        read(&page).text,
        "1 Number\n123-45\n\n2 Country\nPortugal\n\n3 Name and address\nHarbor Bakery\n44 Dock Street\nPortland\n\n\
         4 Wages\n52310.00\n\n5 Tax\n6120.44\n\n6 Tips\n100.00\n\n7 Dues\n240.00"
    );
}

/// Addresses, a table, and totals next to a note, all within lines that meet.
fn invoice() -> String {
    let mut page = String::new();
    for y in [740.0, 660.0, 640.0, 620.0, 600.0, 540.0] {
        page += &line(60.0, y, 460.0, y);
    }
    page += &(line(60.0, 740.0, 60.0, 540.0) + &line(460.0, 740.0, 460.0, 540.0));
    page += &(line(260.0, 740.0, 260.0, 660.0) + &line(300.0, 660.0, 300.0, 540.0));
    page += &line(380.0, 660.0, 380.0, 540.0);
    page += &(line(300.0, 580.0, 460.0, 580.0) + &line(300.0, 560.0, 460.0, 560.0));
    page += &column(65.0, 725.0, &["Seller", "Kestrel Instruments", "7 Mill Lane", "Bristol"]);
    page += &column(265.0, 725.0, &["Buyer", "University of Leeds", "Accounts", "Leeds"]);
    let rows = [["Item", "Count", "Price"], ["Gauge", "2", "120.00"], ["Carriage", "1", "15.00"]];
    for (number, row) in rows.iter().enumerate() {
        for (x, cell) in [65.0, 305.0, 385.0].iter().zip(row) {
            page += &at(*x, 646.0 - 20.0 * number as f64, 10.0, cell);
        }
    }
    page += &column(
        65.0,
        588.0,
        &["Thank you for your order.", "Please pay within 14 days", "to our account."],
    );
    for (number, (name, value)) in
        [("Net", "135.00"), ("Tax", "27.00"), ("Total", "162.00")].iter().enumerate()
    {
        let y = 586.0 - 20.0 * number as f64;
        page += &(at(305.0, y, 10.0, name) + &at(385.0, y, 10.0, value));
    }
    page
}

#[test]
fn blocks_of_an_invoice_are_whole_and_its_rows_are_rows() {
    assert_eq!(
        read(&invoice()).text,
        "Seller\nKestrel Instruments\n7 Mill Lane\nBristol\n\nBuyer\nUniversity of Leeds\nAccounts\nLeeds\n\n\
         Item\tCount\tPrice\nGauge\t2\t120.00\nCarriage\t1\t15.00\n\n\
         Thank you for your order.\nPlease pay within 14 days\nto our account.\n\n\
         Net\t135.00\nTax\t27.00\nTotal\t162.00"
    );
    let markdown = read_as(&[&invoice()], Form::Markdown).text;
    assert!(markdown.contains("| Gauge | 2 | 120.00 |\n| Carriage |"), "{markdown}");
}

#[test]
fn boxes_with_a_gap_between_them_are_whole() {
    let mut page = "60 660 200 80 re S 300 660 200 80 re S\n".to_owned();
    page += &column(65.0, 725.0, &["Seller", "Kestrel Instruments", "7 Mill Lane"]);
    page += &column(305.0, 725.0, &["Buyer", "University of Leeds", "Accounts"]);
    page += &column(60.0, 630.0, &["The goods were sent in May", "and arrived in good order."]);
    let text = read(&page).text;
    assert_eq!(
        text,
        "Seller\nKestrel Instruments\n7 Mill Lane\n\nBuyer\nUniversity of Leeds\nAccounts\n\n\
         The goods were sent in May\nand arrived in good order."
    );
}

#[test]
fn columns_with_lines_only_between_them_are_read_row_by_row() {
    let mut page = String::new();
    for y in [720.0, 700.0, 620.0] {
        page += &line(60.0, y, 460.0, y);
    }
    for x in [60.0, 260.0, 360.0, 460.0] {
        page += &line(x, 720.0, x, 620.0);
    }
    for (x, head) in [(65.0, "Work"), (265.0, "Hours"), (365.0, "Charge")] {
        page += &at(x, 706.0, 10.0, head);
    }
    page += &column(
        65.0,
        686.0,
        &["Hull cleaning", "Antifouling, two coats,", "with primer", "Launch"],
    );
    for (number, (hours, charge)) in
        [(0, ("6", "270.00")), (1, ("9", "405.00")), (3, ("1", "60.00"))]
    {
        let y = 686.0 - 14.0 * number as f64;
        page += &(at(265.0, y, 10.0, hours) + &at(365.0, y, 10.0, charge));
    }
    assert_eq!(
        read(&page).text,
        "Work\tHours\tCharge\nHull cleaning\t6\t270.00\nAntifouling, two coats, with primer\t9\t405.00\nLaunch\t1\t60.00"
    );
}

#[test]
fn cells_over_several_rows_and_columns_stand_at_their_beginning() {
    let mut page = String::new();
    for y in [720.0, 680.0, 640.0] {
        page += &line(60.0, y, 460.0, y);
    }
    page += &(line(160.0, 700.0, 360.0, 700.0) + &line(160.0, 660.0, 460.0, 660.0));
    for x in [60.0, 160.0, 360.0, 460.0] {
        page += &line(x, 720.0, x, 640.0);
    }
    page += &line(260.0, 700.0, 260.0, 640.0);
    for (x, y, text) in [
        (65.0, 696.0, "Hall"),
        (165.0, 706.0, "Machines"),
        (165.0, 686.0, "good"),
        (265.0, 686.0, "bad"),
        (365.0, 696.0, "Remarks"),
        (65.0, 656.0, "North"),
        (165.0, 666.0, "14"),
        (265.0, 666.0, "1"),
        (365.0, 666.0, "no guard"),
        (165.0, 646.0, "6"),
        (265.0, 646.0, "0"),
        (365.0, 646.0, "none"),
    ] {
        page += &at(x, y, 10.0, text);
    }
    assert_eq!(
        read(&page).text,
        "Hall\tMachines\t\tRemarks\n\tgood\tbad\nNorth\t14\t1\tno guard\n\t6\t0\tnone"
    );
}

#[test]
fn characters_in_boxes_of_their_own_are_one_text() {
    let mut page = String::new();
    for (number, character) in "PT5000".chars().enumerate() {
        let x = 60.0 + 18.0 * number as f64;
        page += &format!("{x} 700 18 20 re S\n");
        page += &at(x + 5.0, 706.0, 11.0, &character.to_string());
    }
    assert_eq!(read(&page).text, "PT5000");
}

#[test]
fn text_in_a_frame_that_is_filled_between_two_boxes_is_seen() {
    let mut page = "0 g 60 650 200 60 re 61 651 198 58 re f*\n".to_owned();
    page += &column(70.0, 690.0, &["Questions? Call us", "on any day."]);
    assert_eq!(read(&page).text, "Questions? Call us\non any day.");
}

#[test]
fn very_many_lines_are_read_in_time() {
    let mut page = String::new();
    for number in 0..190 {
        let place = 20.0 + 3.5 * f64::from(number);
        page += &(line(20.0, place, 700.0, place) + &line(place, 20.0, place, 700.0));
        page += &at(place, place, 2.0, "x");
    }
    let options = Options::new("application/pdf");
    let start = std::time::Instant::now();
    extract(pdf(&[&page]), &options, &Limits::default()).unwrap();
    assert!(start.elapsed().as_secs() < 20, "{:?}", start.elapsed());
}

#[test]
fn a_box_that_begins_left_of_its_table_is_read() {
    // Open corners that meet nearly: the box around the middle of three words is no rectangle.
    let corners = [
        [114.2, 628.6, 114.2, 635.3],
        [114.2, 635.3, 126.1, 635.3],
        [126.1, 635.3, 126.1, 622.0],
        [172.2, 628.6, 172.2, 635.3],
        [172.2, 635.3, 184.2, 635.3],
        [184.2, 635.3, 184.2, 622.0],
        [184.2, 622.0, 172.2, 622.0],
        [128.7, 610.9, 128.7, 617.9],
        [128.7, 617.9, 220.2, 617.9],
        [220.2, 617.9, 220.2, 604.0],
    ];
    let mut page: String =
        corners.iter().map(|[x0, y0, x1, y1]| line(*x0, *y0, *x1, *y1)).collect();
    for (x, y, text) in
        [(155.0, 625.0, "x"), (175.7, 625.0, "y"), (196.4, 625.0, "z"), (181.2, 607.0, "under it")]
    {
        page += &at(x, y, 10.0, text);
    }
    let read = read(&page).text;
    let mut words: Vec<&str> = read.split_whitespace().collect();
    words.sort_unstable();
    assert_eq!(words, ["it", "under", "x", "y", "z"], "{read}");
}

#[test]
fn words_that_are_broken_within_a_cell_are_joined() {
    let mut page = String::new();
    for y in [700.0, 660.0, 620.0] {
        page += &line(50.0, y, 350.0, y);
    }
    for x in [50.0, 200.0, 350.0] {
        page += &line(x, 620.0, x, 700.0);
    }
    page += &column(55.0, 690.0, &["Support for agen-", "cies"]);
    page += &column(205.0, 690.0, &["In train-", "ing and well-"]);
    page += &column(205.0, 662.0, &["known cases"]);
    page += &column(55.0, 650.0, &["August"]);
    page += &column(205.0, 640.0, &["a well-known day"]);
    let read = read(&page).text;
    assert!(read.contains("Support for agencies"), "{read}");
    assert!(read.contains("In training and well-known cases"), "{read}");
}
