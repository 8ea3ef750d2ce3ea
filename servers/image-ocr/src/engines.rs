//! The engines that read prepared pictures: tesseract, or models.

use std::path::PathBuf;

use kit::{Ctx, Engine, Fault, Program};
use ocr::layout::Layout;
use ocr::prepare::Prepared;
use ocr::word::{Fragment, mean_confidence};

use crate::models::ModelFolder;
use crate::tesseract::Tesseract;

/// Below this mean confidence a text that may be upside down is also read the other way up.
const DOUBTFUL: f64 = 0.85;

/// The engine of this server, which its flags choose.
#[derive(Debug)]
pub(crate) struct Engines {
    tesseract: Tesseract,
    models: Option<ModelFolder>,
}

/// What an engine has read.
#[derive(Debug)]
pub(crate) struct Read {
    /// In the pixels of the prepared picture.
    pub(crate) layout: Layout,
    pub(crate) prepared: Prepared,
}

/// The engine for the pictures of one call.
#[derive(Debug)]
pub(crate) struct Chosen {
    pub(crate) engine: Engine,
    /// Those of tesseract, the main one first; none for models, which read all that they know.
    pub(crate) languages: Vec<String>,
}

impl Engines {
    pub(crate) fn new(tesseract: Option<PathBuf>, models: Option<PathBuf>) -> Self {
        Self { tesseract: Tesseract::new(tesseract), models: models.map(ModelFolder::new) }
    }

    pub(crate) fn program(&self) -> &Program {
        self.tesseract.program()
    }

    /// Whether pictures are prepared with their text at the size that tesseract reads best.
    pub(crate) fn scales(&self) -> bool {
        self.models.is_none()
    }

    /// The engine and languages of a call.
    pub(crate) async fn choose(&self, ctx: &Ctx, asked: &[String]) -> Result<Chosen, Fault> {
        match &self.models {
            Some(models) => {
                models.open().await?;
                let engine = Engine { name: "pp-ocr".to_owned(), version: None };
                Ok(Chosen { engine, languages: Vec::new() })
            }
            None => {
                let engine = ctx.engine(self.program()).await?;
                let languages = self.tesseract.choose_languages(ctx, asked).await?;
                Ok(Chosen { engine, languages })
            }
        }
    }

    /// Reads a picture. One that may be upside down is read both ways if the first makes little sense.
    pub(crate) async fn read(
        &self,
        ctx: &Ctx,
        chosen: &Chosen,
        prepared: Prepared,
    ) -> Result<Read, Fault> {
        let first = self.read_once(ctx, chosen, prepared).await?;
        let (sense, certain) = (sense(&first.layout), first.prepared.report.certain);
        if certain || first.prepared.report.character_height == 0.0 || sense.mean >= DOUBTFUL {
            return Ok(first);
        }
        let other = self.read_once(ctx, chosen, first.prepared.clone().upside_down()).await?;
        Ok(if self::sense(&other.layout).total > sense.total { other } else { first })
    }

    async fn read_once(
        &self,
        ctx: &Ctx,
        chosen: &Chosen,
        prepared: Prepared,
    ) -> Result<Read, Fault> {
        let (fragments, prepared): (Vec<Fragment>, Prepared) = match &self.models {
            Some(models) => models.read(prepared).await?,
            None => (self.tesseract.read(ctx, &chosen.languages, &prepared).await?, prepared),
        };
        let layout = Layout::of(fragments, &prepared.report.dashes);
        Ok(Read { layout, prepared })
    }
}

/// How much sense a text makes to the engine.
struct Sense {
    mean: f64,
    /// Of words that the engine is rather sure of.
    total: f64,
}

fn sense(layout: &Layout) -> Sense {
    let sure = layout.words().filter(|word| word.confidence > 0.5);
    let total = sure.map(|word| word.confidence * word.text.chars().count() as f64).sum();
    Sense { mean: mean_confidence(layout.words()).unwrap_or(0.0), total }
}
