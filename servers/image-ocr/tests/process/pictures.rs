//! Pictures and documents of known text.

use image::{DynamicImage, GrayImage, ImageFormat};
use ocr::affine::Affine;
use ocr::grey::{Grey, Turn};
use ocr::searchable::{Recognized, Searchable, write};
use pdf_writer::{Content, Finish as _, Name, Pdf, Rect, Ref, Str};

/// The size of a page as a picture: 500 by 250 points, 200 pixels to the inch.
pub(crate) const SIZE: (i64, i64) = (1388, 694);

/// A PDF with lines of text.
pub(crate) fn pdf(lines: &[&str]) -> Vec<u8> {
    let rows: Vec<Vec<(f32, &str)>> = lines.iter().map(|line| vec![(72.0, *line)]).collect();
    pdf_of(&rows)
}

/// A PDF with two columns: what is before and after many blanks.
pub(crate) fn columns(rows: &[&str]) -> Vec<u8> {
    let cells = rows.iter().map(|row| {
        let (left, right) = row.split_once("   ").unwrap();
        vec![(72.0, left), (300.0, right.trim())]
    });
    pdf_of(&cells.collect::<Vec<_>>())
}

fn pdf_of(rows: &[Vec<(f32, &str)>]) -> Vec<u8> {
    let [catalog, tree, page, font, content] = [1, 2, 3, 4, 5].map(Ref::new);
    let mut pdf = Pdf::new();
    pdf.catalog(catalog).pages(tree);
    pdf.pages(tree).kids([page]).count(1);
    let mut written = pdf.page(page);
    written.media_box(Rect::new(0.0, 0.0, 500.0, 250.0)).parent(tree).contents(content);
    written.resources().fonts().pair(Name(b"F"), font);
    written.finish();
    pdf.type1_font(font).base_font(Name(b"Helvetica"));
    let mut drawn = Content::new();
    let mut y = 200.0;
    for row in rows {
        for (x, text) in row {
            drawn.begin_text().set_font(Name(b"F"), 14.0).next_line(*x, y);
            drawn.show(Str(text.as_bytes())).end_text();
        }
        y -= 22.0;
    }
    pdf.stream(content, &drawn.finish());
    pdf.finish()
}

/// The picture of a text, turned clockwise, as PNG.
pub(crate) fn png(lines: &[&str], turn: Turn) -> Vec<u8> {
    png_file(&ocr::pages::draw(pdf(lines), 0).unwrap().turned(turn).0)
}

/// The picture of a PDF's first page as PNG.
pub(crate) fn png_of(pdf: &[u8]) -> Vec<u8> {
    png_file(&ocr::pages::draw(pdf.to_vec(), 0).unwrap())
}

fn png_file(grey: &Grey) -> Vec<u8> {
    let (width, height) = (grey.width().try_into().unwrap(), grey.height().try_into().unwrap());
    let picture = GrayImage::from_raw(width, height, grey.pixels().to_vec()).unwrap();
    let mut file = std::io::Cursor::new(Vec::new());
    DynamicImage::ImageLuma8(picture).write_to(&mut file, ImageFormat::Png).unwrap();
    file.into_inner()
}

/// A picture of a few lines that is this many pixels high, such as one of a whole web page.
pub(crate) fn tall(lines: &[&str], height: usize) -> Vec<u8> {
    const WIDTH: usize = 200;
    let drawn = ocr::pages::draw(pdf(lines), 0).unwrap();
    // Where the lines begin.
    let rows = drawn.pixels().chunks_exact(drawn.width()).map(|row| &row[190..190 + WIDTH]);
    let mut pixels = rows.collect::<Vec<_>>().concat();
    pixels.resize(WIDTH * height, 255);
    png_file(&Grey::new(WIDTH, height, pixels))
}

/// A PDF of which the text is a picture.
pub(crate) fn scan(lines: &[&str]) -> Vec<u8> {
    let (width, height) = (1388, 694);
    let page = Recognized { page: 0, width, height, origin: Affine::IDENTITY, words: Vec::new() };
    write(png(lines, Turn::None), &Searchable { pages: vec![page] }).unwrap()
}

/// A small file that claims to have 400 megapixels.
pub(crate) fn bomb() -> Vec<u8> {
    let mut file = std::io::Cursor::new(Vec::new());
    DynamicImage::new_rgb8(2, 2).write_to(&mut file, ImageFormat::Bmp).unwrap();
    let mut file = file.into_inner();
    file[18..26].copy_from_slice(&[0x20, 0x4e, 0, 0, 0x20, 0x4e, 0, 0]);
    file
}
